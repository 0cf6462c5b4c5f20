// Stores the view in the fragment of the address, so that a link reproduces it.

export const LONGEST = 20000; // characters of text

export function readLink() {
  const fields = new URLSearchParams(location.hash.slice(1));
  return {
    view: fields.get("view") === "compare" ? "compare" : "parse",
    text: fields.get("text") ?? "",
    gold: fields.get("gold") ?? "",
    model: fields.get("model"),
    sentence: toNumber(fields.get("sentence")),
    step: fields.has("step") ? toNumber(fields.get("step")) : null,
    mode: fields.get("mode") === "race" ? "race" : "together",
    tags: fields.get("tags") !== "0",
    features: fields.get("features") === "1",
  };
}

function toNumber(text) {
  return /^\d{1,6}$/.test(text ?? "") ? Number(text) : 0;
}

/** Returns the address of a view; null if its text is too long. */
export function linkTo(view) {
  if (view.text.length + view.gold.length > LONGEST) return null;
  const fields = new URLSearchParams();
  if (view.view === "compare") fields.set("view", "compare");
  if (view.model) fields.set("model", view.model);
  if (view.text) fields.set("text", view.text);
  if (view.gold && view.view === "compare") fields.set("gold", view.gold);
  if (!view.tags) fields.set("tags", "0");
  if (view.features) fields.set("features", "1");
  if (view.sentence > 1 || view.step !== null) fields.set("sentence", view.sentence);
  if (view.step !== null) {
    fields.set("step", view.step);
    fields.set("mode", view.mode);
  }
  const address = new URL(location.href);
  address.hash = fields.toString();
  return address.href;
}
