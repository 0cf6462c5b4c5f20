// What is known about a word: the facts on its card, and its name for screen readers.

import { goldArc } from "./down.js";
import { make, percent } from "./dom.js";

const present = (cell) => (cell && cell !== "_" ? cell : "");

/** Returns the arc of a word in words: `nsubj of reads`, or just `root`. */
function arcOf(word, sentence) {
  if (word.head === null) return "no head";
  return word.head ? `${word.relation} of ${sentence.word(word.head).form}` : word.relation;
}

export function describe(word, sentence) {
  const parts = [word.form, present(word.upos) || present(word.xpos), arcOf(word, sentence)];
  if (present(word.lemma)) parts.push(`lemma ${word.lemma}`);
  if (present(word.feats)) parts.push(word.feats.replaceAll("|", ", "));
  if (word.probability !== null) parts.push(`probability ${percent(word.probability)}`);
  if (sentence.differing.includes(word.id)) parts.push(`gold: ${goldArc(word, sentence)}`);
  return parts.filter(Boolean).join("; ");
}

/** Returns the contents of the card. */
export function details(word, sentence) {
  const tags = [present(word.upos), present(word.xpos)].filter((tag, rank, all) => tag && all.indexOf(tag) === rank);
  const form = make("bdi", "form", word.form);
  const first = make("span", "fact word-name", form, make("span", "tag", ` ${tags.join(" · ")}`));
  const facts = [first];
  if (word.probability !== null) facts.push(fact("probability", "probability", percent(word.probability)));
  facts.push(fact("relation", "relation", arc(word, sentence)));
  if (present(word.lemma)) facts.push(fact("lemma", "lemma", make("bdi", "", word.lemma)));
  if (present(word.feats)) facts.push(fact("features", "features", word.feats.replaceAll("|", " ")));
  if (sentence.differing.includes(word.id)) facts.push(fact("gold", "gold", goldArc(word, sentence)));
  return facts;
}

function fact(className, name, content) {
  return make("span", `fact ${className}`, make("span", "name", `${name} `), content);
}

function arc(word, sentence) {
  if (!word.head) return arcOf(word, sentence);
  return make("span", "", `${word.relation} of `, make("bdi", "head-name", sentence.word(word.head).form));
}
