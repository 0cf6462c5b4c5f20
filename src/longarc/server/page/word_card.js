// The card beside the word that is lit: its lemma, features, relation and probability.

import { element } from "./dom.js";

const GAP = 10; // pixels between the word and the card

const card = element("word-card");

/** Shows facts beside a word: under it, or to its right if words are under each other. Phones show them at the bottom. */
export function showCard(facts, word, isBeside) {
  card.replaceChildren(...facts);
  card.hidden = false;
  const box = word.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = card;
  const [right, bottom] = [document.documentElement.clientWidth - width - GAP, window.innerHeight - height - GAP];
  const fitsBelow = box.bottom + GAP <= bottom;
  const top = isBeside ? Math.min(bottom, box.top) : fitsBelow ? box.bottom + GAP : box.top - height - GAP;
  const left = isBeside ? box.right + GAP : box.left + box.width / 2 - width / 2;
  card.style.top = `${Math.max(GAP, top)}px`;
  card.style.left = `${Math.max(GAP, Math.min(right, left))}px`;
}

export function hideCard() {
  card.hidden = true;
}
