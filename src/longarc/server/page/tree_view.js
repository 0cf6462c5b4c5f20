// One tree: across or down the page, with zoom, words that can be lit, and a line of details about a word.

import { addBackgrounds, drawAcross } from "./across.js";
import { drawDown } from "./down.js";
import { make, makeButton, scrollBehavior } from "./dom.js";
import { Frame } from "./frame.js";
import { LAYOUTS, options, setOption } from "./options.js";
import { hideCard, showCard } from "./word_card.js";
import { describe, details } from "./word_details.js";

const SMALLEST = 0.8; // the smallest scale that is chosen automatically
const TOO_WIDE = 1.25; // trees that would still be this much wider than a large frame go down the page
const NARROW = 600; // pixels; in a frame that is narrower, all trees that do not fit go down the page
const [LEAST, MOST, ZOOM] = [0.15, 3, 1.25];
const NAMES = { auto: "Auto", across: "Across", down: "Down" };
const TITLES = {
  auto: "Across the page if the tree fits, else down", across: "Words in a row", down: "A word per line, as in a terminal",
};
const HINT = "Point at a word to see its head, its dependents and its details. Arrow keys walk through the tree.";
const TOUCH_HINT = "Tap a word to see its head, its dependents and its details.";

export class TreeView {
  /** pictures: the drawings of the sentence, empty if it is too large; actions: more buttons for the toolbar. */
  constructor(sentence, pictures, { tooLarge, actions = [] }) {
    this.sentence = sentence;
    this.pictures = pictures;
    this.zoom = null; // chosen by the reader; null is automatic
    this.current = 1; // the word that Tab leads to
    this.frame = new Frame();
    this.scroller = this.frame.scroller;
    const hint = matchMedia("(hover: hover)").matches ? HINT : TOUCH_HINT;
    this.hint = make("p", "quiet tree-hint", hint);
    this.element = make("div", "tree");
    if (!pictures.svg) {
      this.element.append(toolbar(actions), make("p", "quiet", tooLarge));
      return;
    }
    this.element.append(toolbar([this.makeLayouts(), this.makeZoom()], actions), this.frame.element, this.hint);
    this.scroller.addEventListener("keydown", (event) => this.onKey(event));
    this.scroller.addEventListener("pointerover", (event) => this.light(this.nodeAt(event.target)));
    this.scroller.addEventListener("pointerleave", () => this.light(this.focused));
    this.scroller.addEventListener("focusin", (event) => this.light(this.nodeAt(event.target)));
    this.scroller.addEventListener("focusout", () => setTimeout(() => this.light(this.focused)));
    this.scroller.addEventListener("scroll", () => this.lit && this.showCard(), { passive: true });
    this.resizing = new ResizeObserver(() => this.onResize());
  }

  /** Draws the tree; the element has to be on the page. */
  start() {
    if (!this.pictures.svg) return;
    this.resizing.observe(this.frame.element);
    this.draw();
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Layout and size.

  makeLayouts() {
    const group = make("div", "segments");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Layout");
    this.layouts = LAYOUTS.map((layout) => {
      const choice = makeButton(NAMES[layout], () => {
        setOption("layout", layout);
        this.draw();
      });
      choice.title = TITLES[layout];
      return choice;
    });
    group.append(...this.layouts);
    return group;
  }

  makeZoom() {
    this.scaleOutput = make("output", "scale");
    this.fitButton = makeButton("Fit", () => this.setZoom(this.fit, true), { label: "Fit to width" });
    this.zooms = make("div", "segments zooms",
      makeButton("−", () => this.setZoom(this.scale / ZOOM), { label: "Zoom out" }), this.scaleOutput,
      makeButton("+", () => this.setZoom(this.scale * ZOOM), { label: "Zoom in" }), this.fitButton);
    this.zooms.setAttribute("role", "group");
    this.zooms.setAttribute("aria-label", "Zoom");
    return this.zooms;
  }

  get fit() {
    return Math.max(LEAST, Math.min(1, this.frame.width / this.picture.width));
  }

  /** Whether the tree goes down the page. */
  get isDown() {
    if (options.layout !== "auto") return options.layout === "down";
    const { width } = this.frame;
    const natural = Number(/ width="([\d.]+)"/.exec(this.pictures.svg)[1]);
    return SMALLEST * natural > (width < NARROW ? 1 : TOO_WIDE) * width;
  }

  draw() {
    const { svg, text } = this.pictures;
    this.drawnDown = this.isDown;
    this.picture = this.drawnDown ? drawDown(text, this.sentence, options, this.frame.width < NARROW) : drawAcross(svg, this.sentence);
    this.scroller.replaceChildren(this.picture.element);
    this.layouts.forEach((choice, rank) => choice.setAttribute("aria-pressed", String(LAYOUTS[rank] === options.layout)));
    this.zooms.hidden = this.drawnDown;
    if (!this.drawnDown) {
      addBackgrounds(this.picture);
      this.resize();
    }
    this.makeList();
    this.showOptions();
    this.light(null);
    this.frame.showEdges();
  }

  onResize() {
    if (this.drawnDown !== this.isDown) this.draw();
    else if (!this.drawnDown) this.resize();
    this.frame.showEdges();
  }

  setZoom(scale, isFit = false) {
    this.zoom = isFit ? "fit" : Math.max(LEAST, Math.min(MOST, scale));
    this.resize();
    this.frame.showEdges();
  }

  resize() {
    const middle = (this.scroller.scrollLeft + this.frame.width / 2) / (this.scroller.scrollWidth || 1);
    if (this.zoom === "fit") this.scale = this.fit;
    else this.scale = this.zoom ?? Math.max(SMALLEST, this.fit);
    const { element, width, height } = this.picture;
    element.setAttribute("width", width * this.scale);
    element.setAttribute("height", height * this.scale);
    this.scaleOutput.textContent = `${Math.round(100 * this.scale)} %`;
    this.fitButton.setAttribute("aria-pressed", String(Math.abs(this.scale - this.fit) < 0.005));
    if (this.zoom !== null) this.scroller.scrollLeft = middle * this.scroller.scrollWidth - this.frame.width / 2;
  }

  /** Applies the options that need no new drawing. */
  showOptions() {
    this.frame.element.classList.toggle("coloured", options.colours);
    this.frame.element.classList.toggle("shaded", options.shading);
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Words.

  makeList() {
    const { list, words } = this.picture;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-orientation", this.drawnDown ? "vertical" : "horizontal");
    list.setAttribute("aria-label", `Tree: ${this.sentence.text}`);
    words.forEach((word, node) => {
      if (!node) return;
      word.setAttribute("role", "option");
      word.setAttribute("aria-label", describe(this.sentence.word(node), this.sentence));
      word.setAttribute("data-node", node);
      word.setAttribute("tabindex", node === this.current ? 0 : -1);
    });
  }

  nodeAt(target) {
    return Number(target.closest?.("[data-node], [data-dependent]")?.getAttribute("data-node")) || null;
  }

  get focused() {
    return this.scroller.contains(document.activeElement) ? this.nodeAt(document.activeElement) : null;
  }

  /** Lights a word, its head, its dependents and everything below it, and shows its details. */
  light(node) {
    if (!this.element.isConnected) return; // another tree has taken its place
    const { words, arcs, list } = this.picture;
    const { sentence } = this;
    list.classList.toggle("lit", node !== null);
    const head = node && sentence.word(node).head;
    const dependents = new Set(node ? sentence.dependents(node) : []);
    const below = new Set(node ? sentence.subtree(node) : []);
    words.forEach((word, other) => {
      if (!other) return;
      word.classList.toggle("self", other === node);
      word.classList.toggle("head", Boolean(node) && other === head);
      word.classList.toggle("dependent", dependents.has(other));
      word.classList.toggle("below", below.has(other));
      word.setAttribute("aria-selected", String(other === node));
      for (const arc of arcs.get(other) ?? []) {
        arc.classList.toggle("to-head", other === node);
        arc.classList.toggle("to-dependent", dependents.has(other));
        arc.classList.toggle("within", below.has(other) && other !== node);
      }
    });
    this.lit = node;
    this.showCard();
  }

  /** Shows the card of the word that is lit, where the word is now. */
  showCard() {
    if (!this.lit) {
      hideCard();
      return;
    }
    const word = this.picture.words[this.lit];
    const part = this.drawnDown ? word.querySelector(".share") : word;
    showCard(details(this.sentence.word(this.lit), this.sentence), part, this.drawnDown);
  }

  focus(node) {
    const { words } = this.picture;
    if (!words[node]) return;
    words[this.current].setAttribute("tabindex", -1);
    this.current = node;
    words[node].setAttribute("tabindex", 0);
    words[node].focus({ preventScroll: true });
    words[node].scrollIntoView({ block: "nearest", inline: "center", behavior: scrollBehavior() });
  }

  onKey(event) {
    const node = this.nodeAt(event.target);
    if (!node || event.altKey || event.ctrlKey || event.metaKey) return;
    const { sentence, drawnDown } = this;
    const [back, on] = drawnDown ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
    const [up, down] = drawnDown ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const moves = {
      [back]: () => this.focus(node - 1), [on]: () => this.focus(node + 1),
      [up]: () => this.focus(sentence.word(node).head), [down]: () => this.focus(sentence.dependents(node)[0]),
      Home: () => this.focus(1), End: () => this.focus(sentence.length),
      Escape: () => {
        event.target.blur();
        this.light(null);
      },
    };
    if (!drawnDown) {
      moves["+"] = moves["="] = () => this.setZoom(this.scale * ZOOM);
      moves["-"] = () => this.setZoom(this.scale / ZOOM);
      moves["0"] = () => this.setZoom(this.fit, true);
    }
    if (!moves[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    moves[event.key]();
  }
}

function toolbar(...groups) {
  const bar = make("div", "row toolbar");
  groups.forEach((group, rank) => {
    if (rank) bar.append(make("span", "grow"));
    bar.append(...group);
  });
  return bar;
}
