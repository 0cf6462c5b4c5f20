// A list of sentences, one of them open. Only the rows in view are on the page, so that thousands stay smooth.

import { make } from "./dom.js";

const ROW = 44; // pixels, as in the style sheet
const BEYOND = 400; // pixels above and below the window for which rows are made too

export class SentenceList {
  /** fillRow: adds the contents of a closed row; fillOpen: returns the contents of the open one; opened: is told. */
  constructor(home, { fillRow, fillOpen, opened }) {
    Object.assign(this, { home, fillRow, fillOpen, opened });
    this.rows = new Map(); // the closed rows on the page, by index
    this.sentences = [];
    this.index = -1; // of the open sentence
    this.open = null; // its element
    this.height = ROW;
    this.sizes = new ResizeObserver(() => this.onResize());
    const update = () => {
      this.waiting ??= requestAnimationFrame(() => {
        this.waiting = undefined;
        this.render();
      });
    };
    window.addEventListener("scroll", update, { passive: true });
    window.addEventListener("resize", update);
    home.addEventListener("click", (event) => {
      const row = event.target.closest(".item");
      if (event.target.closest(".row-button") && row !== this.open) {
        this.openAt(Number(row.dataset.index), { focus: true, lowest: 1 });
      }
    });
    home.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!by || !event.target.matches(".row-button")) return;
      event.preventDefault();
      this.move(by);
    });
  }

  get current() {
    return this.sentences[this.index] ?? null;
  }

  /** Shows sentences and opens the one with a number, or the first. */
  show(sentences, number = 1) {
    this.clear();
    this.sentences = sentences;
    this.height = ROW;
    this.home.style.setProperty("--digits", String(sentences.at(-1)?.number ?? 1).length);
    if (!sentences.length) return;
    const index = sentences.findIndex((sentence) => sentence.number >= number);
    this.openAt(index < 0 ? 0 : index, { scroll: index > 0 });
  }

  clear() {
    this.sizes.disconnect();
    this.home.replaceChildren();
    this.home.style.height = "0";
    this.rows.clear();
    this.open = null;
    this.index = -1;
  }

  move(by) {
    const index = Math.max(0, Math.min(this.sentences.length - 1, this.index + by));
    if (index !== this.index) this.openAt(index, { focus: true });
  }

  /** Opens a sentence. Its row stays where the row was that was clicked, or where the row was that was open before.

  `lowest`: the lowest place in the window where it may stay. */
  openAt(index, { focus = false, scroll = true, lowest = 0.3 } = {}) {
    const before = this.rows.get(index) ?? this.open;
    const place = before?.getBoundingClientRect().top;
    const item = this.makeItem(index, "item open");
    item.style.minHeight = `${this.height}px`; // until the tree is there, so that nothing jumps
    item.append(this.fillOpen(this.sentences[index], () => { item.style.minHeight = ""; }));
    this.sizes.disconnect();
    this.open?.remove();
    this.rows.get(index)?.remove();
    this.rows.delete(index);
    this.index = index;
    this.open = item;
    this.place(this.open, index);
    this.home.append(this.open);
    this.sizes.observe(this.open);
    this.onResize();
    if (scroll) this.keepPlace(place, lowest);
    if (focus) this.open.querySelector(".row-button").focus({ preventScroll: true });
    this.opened(this.sentences[index]);
  }

  keepPlace(place, lowest) {
    const top = this.open.getBoundingClientRect().top;
    const isNear = place !== undefined && place > 60 && place < lowest * window.innerHeight;
    window.scrollBy({ top: top - (isNear ? place : 0.15 * window.innerHeight), behavior: "instant" });
    this.render();
  }

  onResize() {
    this.height = Math.max(ROW, this.open.offsetHeight);
    this.home.style.height = `${this.top(this.sentences.length)}px`;
    for (const [index, row] of this.rows) this.place(row, index);
    this.render();
  }

  /** Returns the distance of a row from the top of the list. */
  top(index) {
    return index * ROW + (index > this.index ? this.height - ROW : 0);
  }

  indexAt(y) {
    const openTop = this.index * ROW;
    if (y < openTop + ROW) return Math.floor(y / ROW);
    return Math.max(this.index, Math.floor((y - this.height + ROW) / ROW));
  }

  place(row, index) {
    row.style.top = `${this.top(index)}px`;
  }

  makeItem(index, className) {
    const item = make("div", className);
    item.dataset.index = index;
    item.setAttribute("role", "listitem");
    item.setAttribute("aria-posinset", index + 1);
    item.setAttribute("aria-setsize", this.sentences.length);
    return item;
  }

  /** Makes the rows that are in view and removes the others. */
  render() {
    if (!this.open) return;
    const start = -this.home.getBoundingClientRect().top;
    const first = Math.max(0, this.indexAt(start - BEYOND));
    const last = Math.min(this.sentences.length - 1, this.indexAt(start + window.innerHeight + BEYOND));
    for (const [index, row] of this.rows) {
      if (index >= first && index <= last) continue;
      row.remove();
      this.rows.delete(index);
    }
    const fresh = document.createDocumentFragment();
    for (let index = first; index <= last; index += 1) {
      if (index === this.index || this.rows.has(index)) continue;
      const row = this.makeItem(index, "item");
      this.fillRow(row, this.sentences[index]);
      this.place(row, index);
      this.rows.set(index, row);
      fresh.append(row);
    }
    this.home.append(fresh);
  }
}
