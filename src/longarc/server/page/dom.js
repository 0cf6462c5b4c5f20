// Helpers to build the document. All text is inserted as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export const element = (id) => document.getElementById(id);

export function make(tag, className = "", ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

export function makeSvg(tag, attributes = {}, text = "") {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text) node.textContent = text;
  return node;
}

/** Makes a button; `label` is its name for screen readers if the text is not enough. */
export function makeButton(text, action, { label = "", className = "" } = {}) {
  const node = make("button", className, text);
  node.type = "button";
  if (label) node.setAttribute("aria-label", label);
  node.addEventListener("click", action);
  return node;
}

/** Returns how to scroll: at once for readers who prefer less motion. */
export function scrollBehavior() {
  return calm.matches ? "auto" : "smooth";
}

export function percent(share) {
  if (share === null) return "";
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${(100 * share).toFixed(share > 0.9995 ? 0 : 1)} %`;
}
