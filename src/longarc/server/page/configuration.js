// Draws a configuration: the words, brackets for the lists that hold them, and the arcs so far above them.
// Everything is drawn once; showing another step only changes classes and brackets.

import { makeSvg as make } from "./dom.js";

const FONT = getComputedStyle(document.body).fontFamily;
const FORM_FONT = `15px ${FONT}`;
const LABEL_FONT = `11px ${FONT}`;
const NAME_FONT = `bold 14px ${FONT}`;
const LEVEL = 22;
const FIRST_LEVEL = 26;
const GAP = 16;
const PORT = 6;
const SMALLEST = 0.7; // the smallest scale of a picture that scrolls
const SMALLEST_FIT = 0.6; // the smallest scale of a picture that fits
const MARGIN = 14;
const WORD_HEIGHT = 28;
const LISTS = { "λ1": "left", "λ2": "passed", Stack: "left", Buffer: "buffer" };

function measurer() {
  const context = document.createElement("canvas").getContext("2d");
  return (text, font) => {
    context.font = font;
    return context.measureText(text).width;
  };
}

/** Assigns a level to each arc: above the arcs that it spans, and different from those that it crosses. */
function levelsOf(arcs) {
  const placed = [];
  const ends = (arc) => [Math.min(arc.head, arc.dependent), Math.max(arc.head, arc.dependent)];
  const length = (arc) => Math.abs(arc.head - arc.dependent);
  for (const arc of [...arcs].sort((one, other) => length(one) - length(other))) {
    const [low, high] = ends(arc);
    const near = placed.filter(({ from, to }) => from < high && to > low);
    const spanned = near.filter(({ from, to }) => from >= low && to <= high);
    let level = 1 + Math.max(0, ...spanned.map((other) => other.level));
    const taken = new Set(near.filter((other) => !spanned.includes(other)).map((other) => other.level));
    while (taken.has(level)) level += 1;
    placed.push({ arc, from: low, to: high, level });
  }
  return new Map(placed.map(({ arc, level }) => [arc, level]));
}

/** Computes the offset of each arc end from the middle of its word, so that arcs at one word do not touch. */
function portsOf(arcs) {
  const ends = new Map();
  for (const arc of arcs) {
    for (const [here, there] of [[arc.head, arc.dependent], [arc.dependent, arc.head]]) {
      if (!ends.has(here)) ends.set(here, []);
      ends.get(here).push({ arc, side: Math.sign(there - here), reach: here - there, isHead: here === arc.head });
    }
  }
  const ports = new Map(arcs.map((arc) => [arc, { start: 0, end: 0 }]));
  for (const ordered of ends.values()) {
    ordered.sort((one, other) => one.side - other.side || one.reach - other.reach);
    ordered.forEach(({ arc, isHead }, rank) => {
      ports.get(arc)[isHead ? "start" : "end"] = (rank - (ordered.length - 1) / 2) * PORT;
    });
  }
  return ports;
}

export class Configuration {
  /** words: the forms; arcs: all arcs of the derivation, in order. */
  constructor(words, arcs, rightToLeft) {
    const measure = measurer();
    this.forms = ["ROOT", ...words];
    this.widths = this.forms.map((form) => Math.max(20, measure(form, FORM_FONT) + 14));
    this.levels = levelsOf(arcs);
    this.ports = portsOf(arcs);
    const labels = arcs.map((arc) => measure(arc.relation, LABEL_FONT) + 14);
    this.centres = this.place(arcs, labels);
    this.width = this.centres.at(-1) + this.widths.at(-1) / 2 + MARGIN;
    if (rightToLeft) this.centres = this.centres.map((x) => this.width - x);
    this.sign = rightToLeft ? -1 : 1;
    this.direction = rightToLeft ? "rtl" : "ltr";
    this.top = FIRST_LEVEL + Math.max(0, ...this.levels.values()) * LEVEL + 6;
    this.height = this.top + WORD_HEIGHT + 46;
    this.element = make("svg", {
      viewBox: `0 0 ${this.width} ${this.height}`, role: "img", class: "configuration",
    });
    this.drawn = new Map(arcs.map((arc, index) => [arc, this.drawArc(arc, labels[index])]));
    this.words = this.forms.map((form, node) => this.drawWord(form, node));
    this.brackets = make("g");
    this.names = []; // of the lists: the text, its width, and the edges of the brackets
    this.measure = measure;
    this.element.append(...[...this.drawn.values()].map(({ line }) => line), ...this.words,
      ...[...this.drawn.values()].map(({ label }) => label), this.brackets);
  }

  /** Computes the middle of each word, with room for the words and for the labels between neighbours. */
  place(arcs, labels) {
    const centres = [MARGIN + this.widths[0] / 2];
    for (let node = 1; node < this.forms.length; node += 1) {
      let x = centres[node - 1] + (this.widths[node - 1] + this.widths[node]) / 2 + GAP;
      arcs.forEach((arc, index) => {
        const low = Math.min(arc.head, arc.dependent);
        if (Math.max(arc.head, arc.dependent) === node) x = Math.max(x, centres[low] + labels[index] + 26);
      });
      centres.push(x);
    }
    return centres;
  }

  drawArc(arc, width) {
    const along = (arc.dependent > arc.head ? 1 : -1) * this.sign;
    const start = this.centres[arc.head] + this.ports.get(arc).start * this.sign;
    const end = this.centres[arc.dependent] + this.ports.get(arc).end * this.sign;
    const foot = this.top - 3;
    const top = this.top - FIRST_LEVEL - (this.levels.get(arc) - 1) * LEVEL;
    const bend = Math.min(18, Math.abs(end - start) / 2) * along;
    const fall = Math.min(18, foot - top);
    const line = make("g", { class: "step-arc" });
    line.append(
      make("path", {
        d: `M${start} ${foot}V${top + fall}Q${start} ${top} ${start + bend} ${top}H${end - bend}` +
          `Q${end} ${top} ${end} ${top + fall}V${foot - 6}`,
      }),
      make("polygon", { points: `${end},${foot} ${end - 3.5},${foot - 8} ${end + 3.5},${foot - 8}` }),
    );
    const label = make("g", { class: "step-arc" });
    const middle = (start + end) / 2;
    label.append(
      make("rect", { x: middle - width / 2 + 3, y: top - 8, width: width - 6, height: 16 }),
      make("text", { x: middle, y: top + 4, class: "relation" }, arc.relation),
    );
    return { line, label };
  }

  drawWord(form, node) {
    const group = make("g", { class: "word" });
    const [x, width] = [this.centres[node], this.widths[node]];
    group.append(
      make("rect", { x: x - width / 2, y: this.top, width, height: WORD_HEIGHT, rx: 6 }),
      make("text", { x, y: this.top + 19, class: node ? "form" : "form root", direction: this.direction }, form),
      make("text", { x, y: this.top + WORD_HEIGHT + 13, class: "number" }, String(node)),
    );
    return group;
  }

  /** Shows the lists of words and the arcs so far, and marks the new ones. */
  show(lists, arcs, fresh) {
    const current = new Set(arcs);
    const recent = new Set(fresh);
    for (const [arc, { line, label }] of this.drawn) {
      for (const part of [line, label]) {
        part.setAttribute("class", `step-arc${current.has(arc) ? " made" : ""}${recent.has(arc) ? " fresh" : ""}`);
      }
    }
    const home = new Map();
    for (const [name, nodes] of Object.entries(lists)) for (const node of nodes) home.set(node, LISTS[name] ?? "left");
    const [ahead, behind] = [lists.Buffer?.[0], (lists["λ1"] ?? lists.Stack ?? []).at(-1)];
    this.words.forEach((word, node) => {
      const focus = ahead !== undefined && (node === ahead || node === behind) ? " focus" : "";
      word.setAttribute("class", `word ${home.get(node) ?? "gone"}${focus}`);
    });
    this.names = [];
    this.brackets.replaceChildren(...Object.entries(lists).flatMap(([name, nodes]) => this.bracket(name, nodes)));
    this.element.setAttribute("aria-label", Object.entries(lists)
      .map(([name, nodes]) => `${name}: ${nodes.map((node) => this.forms[node]).join(" ") || "empty"}`).join("; "));
  }

  /** Draws a bracket under each run of words in a list, and the name of the list. */
  bracket(name, nodes) {
    const runs = [];
    for (const node of nodes) {
      if (runs.length && runs.at(-1).at(-1) === node - 1) runs.at(-1).push(node);
      else runs.push([node]);
    }
    const y = this.top + WORD_HEIGHT + 20;
    const kind = LISTS[name] ?? "left";
    const spans = runs.map((run) => {
      const edges = [run[0], run.at(-1)].flatMap((node) =>
        [this.centres[node] - this.widths[node] / 2, this.centres[node] + this.widths[node] / 2]);
      return { from: Math.min(...edges), to: Math.max(...edges) };
    });
    if (!spans.length) return [];
    const text = make("text", { y: y + 19, class: `list ${kind}` });
    this.names.push({ name: listName(name), text, spans, half: this.measure(`‹ ${listName(name)}`, NAME_FONT) / 2 });
    return [...spans.map(({ from, to }) => make("path", { class: `bracket ${kind}`, d: `M${from} ${y}v4H${to}v-4` })), text];
  }

  /** Moves the names of the lists into view: under the part of the list that is in view, or to the edge before it. */
  placeNames(scrolled, width) {
    const [start, end] = [scrolled / this.scale, Math.min((scrolled + width) / this.scale, this.width)];
    const places = this.names.map(({ name, text, spans, half }) => {
      const inView = spans.map(({ from, to }) => ({ from: Math.max(from, start), to: Math.min(to, end), all: to - from }));
      const roomy = inView.find(({ from, to, all }) => to - from >= Math.min(all, 2 * half));
      const { from, to } = roomy ?? inView.reduce((one, other) => (other.to - other.from > one.to - one.from ? other : one));
      const isBefore = spans.at(-1).to <= start && spans[0].to <= start;
      const isAfter = !isBefore && from >= to;
      const x = Math.max(start + half, Math.min(end - half, isBefore ? start : isAfter ? end : (from + to) / 2));
      return { x, half, text, content: isBefore ? `‹ ${name}` : isAfter ? `${name} ›` : name };
    });
    places.sort((one, other) => one.x - other.x);
    for (let rank = 1; rank < places.length; rank += 1) {
      const [one, other] = [places[rank - 1], places[rank]];
      other.x = Math.max(other.x, one.x + one.half + other.half);
    }
    for (let rank = places.length - 1, edge = end; rank >= 0; rank -= 1) {
      const place = places[rank];
      place.x = Math.min(place.x, edge - place.half);
      edge = place.x - place.half;
      place.text.setAttribute("x", place.x);
      place.text.textContent = place.content;
    }
  }

  /** Scales the picture to a width, unless it would become unreadable. */
  fit(width) {
    const fit = width / this.width;
    this.scale = fit >= SMALLEST_FIT ? Math.min(1, fit) : SMALLEST;
    this.element.setAttribute("width", this.width * this.scale);
    this.element.setAttribute("height", this.height * this.scale);
    // Room at the end, so that the start of a word can be scrolled to the left edge even there.
    const hidden = this.width * this.scale - width;
    const room = hidden > 1 ? (this.starts().find((x) => x >= hidden) ?? hidden) - hidden : 0;
    this.element.style.marginRight = hidden > 1 ? `${room}px` : "";
  }

  /** Returns the left edges of the words, for scrolling. */
  starts() {
    const edges = this.centres.map((x, node) => (x - this.widths[node] / 2 - 12) * this.scale).sort((a, b) => a - b);
    return [0, ...edges.slice(1)];
  }

  /** Returns how far to scroll to show a node, without cutting the word at the left edge. */
  scrollTo(node, width) {
    const left = (this.centres[node] ?? 0) * this.scale - 0.6 * width;
    return this.starts().filter((x) => x <= Math.max(0, left)).at(-1);
  }
}

/** Returns the name of a list with subscripts. */
export function listName(list) {
  return list.replace("λ1", "λ₁").replace("λ2", "λ₂");
}
