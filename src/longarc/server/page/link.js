// Stores the view in the fragment of the address, so that a link reproduces it.

export const LONGEST = 20000; // characters of text

export function readLink() {
  const fields = new URLSearchParams(location.hash.slice(1));
  return {
    text: fields.get("text") ?? "",
    model: fields.get("model"),
    sentence: toNumber(fields.get("sentence")),
    step: toNumber(fields.get("step")),
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
  if (view.text.length > LONGEST) return null;
  const fields = new URLSearchParams({ model: view.model, text: view.text });
  if (!view.tags) fields.set("tags", "0");
  if (view.features) fields.set("features", "1");
  if (view.sentence) {
    fields.set("sentence", view.sentence);
    fields.set("step", view.step);
    fields.set("mode", view.mode);
  }
  const address = new URL(location.href);
  address.hash = fields.toString();
  return address.href;
}
