// The export menu: one sentence or all of them, in every format, to a file or to the clipboard.

import { element, make, makeButton } from "./dom.js";
import { hideError, showError, toast } from "./messages.js";
import { copy, save, toPng } from "./out.js";

const LONGEST_NAME = 40; // characters

const FORMATS = {
  "CoNLL-U": { suffix: "conllu", type: "text/plain" },
  SVG: { suffix: "svg", type: "image/svg+xml", isPicture: true },
  PNG: { suffix: "png", type: "image/png", isPicture: true },
  TikZ: { suffix: "tex", type: "text/plain" },
  JSON: { suffix: "json", type: "application/json" },
};

/** Returns a file name for a text: its first words. */
function nameFor(text) {
  const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  let name = "";
  for (const word of words.slice(0, 5)) if (name.length + word.length < LONGEST_NAME) name += (name && "-") + word;
  return name.toLowerCase() || "parsed";
}

export class ExportMenu {
  /** list: the list of sentences; draw: returns drawings of sentences; result: returns what is shown. */
  constructor(list, { draw, result }) {
    Object.assign(this, { list, draw, result, copying: 0 });
    this.scope = "one";
    this.rows = Object.entries(FORMATS).map(([name, format]) => this.makeRow(name, format));
    element("formats").append(...this.rows.map(({ row }) => row));
    for (const radio of document.querySelectorAll("input[name=scope]")) {
      radio.addEventListener("change", () => this.setScope(radio.value));
    }
  }

  makeRow(name, { suffix }) {
    const act = (action) => () => this.run(name, action);
    const buttons = [
      makeButton("Copy", act("copy"), { label: `Copy ${name}`, className: "small" }),
      makeButton("Save", act("save"), { label: `Save ${name}`, className: "small" }),
    ];
    return { name, buttons, row: make("div", "format", make("b", "", name), make("span", "quiet", `.${suffix}`), ...buttons) };
  }

  /** Updates the menu for the sentence that is open. */
  update() {
    const { length } = this.list.sentences;
    element("scope-one").textContent = `Sentence ${this.list.current?.number ?? 1}`;
    element("scope-all").textContent = `All ${length.toLocaleString("en")}`;
    element("scopes").hidden = length < 2;
    this.setScope(length < 2 ? "one" : this.scope);
  }

  setScope(scope) {
    this.scope = scope;
    for (const radio of document.querySelectorAll("input[name=scope]")) radio.checked = radio.value === scope;
    for (const { name, buttons, row } of this.rows) {
      const isOff = scope === "all" && Boolean(FORMATS[name].isPicture);
      row.classList.toggle("off", isOff);
      for (const control of buttons) control.disabled = isOff;
    }
    element("picture-note").hidden = scope !== "all";
  }

  async run(name, action) {
    hideError();
    const mine = ++this.copying;
    const sentences = this.scope === "all" ? this.list.sentences : [this.list.current];
    const fileName = this.fileName(FORMATS[name].suffix);
    try {
      const content = await this.content(name, sentences);
      if (mine !== this.copying) return;
      if (content === null) toast("This tree is too large to draw");
      else if (action === "save") save(fileName, content, FORMATS[name].type);
      else toast((await copy(content)) ? `${name} copied` : "The browser does not allow copying");
    } catch (failure) {
      showError(failure);
    }
  }

  fileName(suffix) {
    const { name, text, gold, sentences } = this.result();
    const stem = name || nameFor(text || gold ? sentences[0].text : "");
    return `${stem}${this.scope === "one" && sentences.length > 1 ? `-${this.list.current.number}` : ""}.${suffix}`;
  }

  /** Returns the sentences in a format; null if one is too large to draw. */
  async content(name, sentences) {
    const { model } = this.result();
    if (name === "CoNLL-U") return sentences.map((sentence) => sentence.conllu).join("");
    if (name === "JSON") {
      const trees = sentences.map((sentence) => ({ tokens: sentence.toJson() }));
      return JSON.stringify(this.scope === "all" ? { model, sentences: trees } : { model, ...trees[0] }, null, 1);
    }
    const kind = name === "TikZ" ? "tikz" : "svg";
    const drawings = (await this.draw(sentences, [kind], "light")).map((pictures) => pictures[kind]);
    if (drawings.includes(undefined)) return null;
    return name === "PNG" ? toPng(drawings[0]) : drawings.join("\n");
  }
}
