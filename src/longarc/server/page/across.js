// The tree across the page: the server's drawing, with a group for each word that can be lit.

import { makeSvg } from "./dom.js";
import { familyOf } from "./sentence.js";

const PADDING = 5; // around a word

/** Makes a drawing part of the page, without its style element: the page has the same rules in drawing.css. */
export function drawAcross(drawing, sentence) {
  const bare = drawing.replace(/<style>[^]*?<\/style>/, "");
  const parsed = new DOMParser().parseFromString(bare, "image/svg+xml").documentElement;
  const svg = document.importNode(parsed, true);
  svg.setAttribute("class", `drawing longarc-${document.documentElement.dataset.theme ?? "auto"}`);
  svg.removeAttribute("role");
  svg.setAttribute("aria-hidden", "false");
  for (const part of svg.querySelectorAll("title, desc, .paper")) part.remove();
  const words = groupWords(svg, sentence);
  const arcs = new Map();
  for (const part of svg.querySelectorAll("[data-dependent]")) {
    const node = Number(part.getAttribute("data-dependent"));
    part.setAttribute("aria-hidden", "true");
    part.style.setProperty("--certainty", sentence.word(node)?.probability ?? 1);
    arcs.set(node, [...(arcs.get(node) ?? []), part]);
  }
  const size = { width: Number(svg.getAttribute("width")), height: Number(svg.getAttribute("height")) };
  return { element: svg, list: svg, words, arcs, ...size };
}

/** Joins the form, the tag and the features of each word in a group. */
function groupWords(svg, sentence) {
  const words = [null];
  for (const text of [...svg.querySelectorAll(":scope > text:not(.caption)")]) {
    if (text.classList.contains("form")) {
      const word = makeSvg("g", { class: "node", "data-family": familyOf(sentence.word(words.length).upos) });
      text.before(word);
      words.push(word);
    }
    words.at(-1).append(text);
  }
  return words;
}

/** Draws the backgrounds of the words, once the drawing is on the page and its texts have a size. */
export function addBackgrounds({ words }) {
  for (const word of words.slice(1)) {
    const box = word.getBBox();
    word.prepend(makeSvg("rect", {
      class: "pill", x: box.x - PADDING, y: box.y - 1, width: box.width + 2 * PADDING, height: box.height + 5, rx: 6,
    }));
  }
}
