// The view as the fragment of the address, so that a link shows what its sender saw.

export const LONGEST = 20000;

export function readLink() {
  const found = new URLSearchParams(location.hash.slice(1));
  return {
    text: found.get("text") ?? "",
    model: found.get("model"),
    sentence: whole(found.get("sentence")),
    step: whole(found.get("step")),
    mode: found.get("mode") === "race" ? "race" : "together",
    tags: found.get("tags") !== "0",
    features: found.get("features") === "1",
  };
}

function whole(text) {
  return /^\d{1,6}$/.test(text ?? "") ? Number(text) : 0;
}

/** The address of a view; null where the text is too long for one. */
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
