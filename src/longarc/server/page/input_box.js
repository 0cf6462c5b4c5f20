// A box for text or CoNLL-U, into which a file can be opened or dropped.

import { element } from "./dom.js";
import { showError } from "./messages.js";

export const LARGE_FILES = "Use the command line for large files.";

/** Whether the first row looks like CoNLL-U. Malformed files count too, so that their errors name the line. */
export function isConllu(text) {
  return /^(?:[^\S\n]*(?:#.*)?\n)*[^\S\n]*\d+(?:-\d+|\.\d+)?\t/.test(text);
}

export class InputBox {
  /** id: of the text area; limit: returns the largest number of bytes; opened: is called after a file was opened. */
  constructor(id, limit, opened) {
    this.area = element(id);
    this.home = this.area.closest(".box");
    this.kind = this.home.querySelector(".kind");
    this.file = this.home.querySelector("input[type=file]");
    this.limit = limit;
    this.opened = opened;
    this.name = ""; // of the file, without its suffix
    this.area.addEventListener("input", () => {
      this.name = "";
      this.showKind();
    });
    this.home.querySelector(".open-file").addEventListener("click", () => this.file.click());
    this.file.addEventListener("change", () => {
      this.open(this.file.files[0]);
      this.file.value = "";
    });
    this.home.addEventListener("dragover", (event) => event.preventDefault());
    this.home.addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      this.open(event.dataTransfer.files[0]);
    });
  }

  get text() {
    return this.area.value;
  }

  set(text, name = "") {
    this.area.value = text;
    this.name = name;
    this.showKind();
  }

  get isConllu() {
    return isConllu(this.text);
  }

  get isEmpty() {
    return !this.text.trim();
  }

  showKind() {
    this.kind.textContent = this.isEmpty ? "" : this.isConllu ? "CoNLL-U" : "text";
    this.area.classList.toggle("table", this.isConllu);
  }

  async open(file) {
    if (!file) return;
    if (file.size > this.limit()) {
      showError({ status: 413, message: `${file.name} is too large for this page.`, hint: LARGE_FILES });
      return;
    }
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      this.set(text, file.name.replace(/\.[^.]*$/, ""));
    } catch {
      showError({ status: 422, message: `${file.name} is not a UTF-8 text file.`, hint: "Convert it to UTF-8 first." });
      return;
    }
    await this.opened();
  }

  selectLine(number) {
    const lines = this.text.split("\n");
    const start = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
    this.area.focus();
    this.area.setSelectionRange(start, start + (lines[number - 1] ?? "").length);
    this.area.scrollTop = ((number - 0.5) / lines.length) * this.area.scrollHeight - this.area.clientHeight / 2;
  }
}
