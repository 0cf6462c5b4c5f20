// The view as the fragment of the address, so that a link shows what its sender saw.

export const LONGEST = 20000;

export function readLink() {
  const found = new URLSearchParams(location.hash.slice(1));
  return {
    text: found.get("text") ?? "",
    model: found.get("model"),
    sentence: Number(found.get("sentence")) || 0,
    step: Number(found.get("step")) || 0,
    mode: found.get("mode") === "race" ? "race" : "together",
  };
}

/** The address of a view; null where the text is too long for one. */
export function linkTo(view) {
  if (view.text.length > LONGEST) return null;
  const fields = new URLSearchParams({ model: view.model, text: view.text });
  if (view.sentence) {
    fields.set("sentence", view.sentence);
    fields.set("step", view.step);
    fields.set("mode", view.mode);
  }
  const address = new URL(location.href);
  address.hash = fields.toString();
  return address.href;
}
