// The tree down the page: the terminal's drawing with a word per line, as lines instead of characters.

import { make, makeSvg, percent } from "./dom.js";
import { familyOf } from "./sentence.js";

const ROW = 30; // pixels, as in the style sheet
const [CELL, NARROW_CELL] = [6, 4]; // pixels per character of the terminal's drawing
const CORNER = 6;
const ARROW = "►";
const JOINTS = /[┬┼┴]/; // where a word's line meets the line that joins its dependents

/** Draws the tree; the columns of the lines are those of the server's text drawing. */
export function drawDown(drawing, sentence, options, isNarrow) {
  const cell = isNarrow ? NARROW_CELL : CELL;
  const rows = drawing.replaceAll("\u200e", "").split("\n").slice(0, sentence.length);
  const trunks = [0, ...rows.map((row) => (row.search(JOINTS) + 0.5) * cell)];
  const tip = (Math.max(...rows.map((row) => row.indexOf(ARROW))) + 1) * cell + 4;
  const svg = makeSvg("svg", { width: tip + 2, height: rows.length * ROW, class: "lines", "aria-hidden": "true" });
  const list = make("div", "down");
  list.style.setProperty("--lines", `${tip + 8}px`);
  const words = [null];
  const arcs = new Map();
  for (const word of sentence.words) {
    const arc = makeSvg("g", { class: arcClass(word, sentence) });
    const y = middle(word.id);
    arc.append(makeSvg("path", { d: path(word, trunks, tip) }),
      makeSvg("polygon", { points: `${tip},${y} ${tip - 7},${y - 3.5} ${tip - 7},${y + 3.5}` }));
    arc.style.setProperty("--certainty", word.probability ?? 1);
    if (word.head !== null) svg.append(arc);
    arcs.set(word.id, [arc]);
    words.push(line(word, sentence, options));
  }
  list.append(svg, ...words.slice(1));
  return { element: list, list, words, arcs };
}

function middle(node) {
  return (node - 0.5) * ROW;
}

function path({ id, head }, trunks, tip) {
  const y = middle(id);
  if (!head) return `M0 ${y}H${tip - 6}`;
  const x = trunks[head];
  const down = id > head ? 1 : -1;
  return `M${x} ${middle(head)}V${y - down * CORNER}Q${x} ${y} ${x + CORNER} ${y}H${tip - 6}`;
}

/** Whether a word between the ends of the arc is not below its head. */
function crosses({ id, head }, sentence) {
  if (!head) return false;
  const below = new Set(sentence.subtree(head));
  for (let node = Math.min(id, head) + 1; node < Math.max(id, head); node += 1) if (!below.has(node)) return true;
  return false;
}

function arcClass(word, sentence) {
  const wrong = sentence.differing.includes(word.id);
  const kind = wrong ? (word.gold_head === word.head ? " wrong-relation" : " wrong-head") : "";
  return `arc${crosses(word, sentence) ? " crossing" : ""}${kind}`;
}

function line(word, sentence, { tags, features }) {
  const row = make("div", "node");
  row.dataset.family = familyOf(word.upos);
  const cell = (className, text) => make("span", className, text === "_" ? "" : text ?? "");
  row.append(cell("form", word.form));
  row.firstChild.dir = "auto";
  row.append(cell("tag", tags ? (word.upos === "_" ? word.xpos : word.upos) : ""), cell("relation", word.relation));
  row.append(cell("share", percent(word.probability)));
  const notes = features ? word.feats.replaceAll("|", " ") : "";
  row.append(sentence.differing.includes(word.id) ? cell("gold", `gold: ${goldArc(word, sentence)}`) : cell("feature", notes));
  return row;
}

/** Returns the gold arc in words: `nsubj of reads (2)`, or just `root`. */
export function goldArc({ gold_head: head, gold_relation: relation }, sentence) {
  if (head === null) return "no head";
  return head ? `${relation} of ${sentence.word(head).form} (${head})` : relation;
}
