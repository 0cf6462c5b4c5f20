// Messages to the reader: errors above the trees, and short notes at the bottom of the window.

import { element, make } from "./dom.js";

export function showError(failure) {
  if (failure.status === undefined) throw failure; // a bug: leave it to the console
  const box = element("message");
  const prefix = failure.line ? `Line ${failure.line}: ` : "";
  const text = make("p", "", make("b", "", prefix + failure.message));
  if (failure.hint) text.append(` ${failure.hint}`);
  box.replaceChildren(text);
  box.hidden = false;
  element("ask-token").hidden = failure.status !== 401;
  if (failure.status === 401) element("token").focus();
}

export function hideError() {
  element("message").hidden = true;
  element("ask-token").hidden = true;
}

let timer = 0;

export function toast(text) {
  const box = element("toast");
  box.textContent = text;
  box.classList.add("seen");
  clearTimeout(timer);
  timer = setTimeout(() => box.classList.remove("seen"), 2500);
}
