// A sentence with its tree, read from CoNLL-U.

const COLUMNS = ["id", "form", "lemma", "upos", "xpos", "feats", "head", "relation", "deps", "misc"];

/** Returns the words of one sentence; multiword tokens and empty nodes are left out. */
function readWords(conllu) {
  return conllu.split("\n").filter((line) => /^\d+\t/.test(line)).map((line) => {
    const word = Object.fromEntries(line.replace(/\r$/, "").split("\t").map((cell, index) => [COLUMNS[index], cell]));
    return { ...word, id: Number(word.id), head: /^\d+$/.test(word.head) ? Number(word.head) : null };
  });
}

export class Sentence {
  /** response: a sentence of /api/parse or /api/compare; tokens: the parser's, with their probabilities. */
  constructor(response, number, tokens = response.tokens) {
    this.number = number;
    this.conllu = response.conllu;
    this.gold = response.gold ?? null;
    this.differing = response.differing ?? [];
    this.tokens = tokens ?? null;
    this.length = tokens?.length ?? response.words;
    this.wrongHeads = this.gold === null ? 0 : response.words - response.correct_heads;
  }

  /** The words, from node 1 at index 0; in a comparison each with its gold head and relation. */
  get words() {
    this.cachedWords ??= readWords(this.conllu).map((word, index) => ({
      ...word, probability: this.tokens?.[index]?.probability ?? null,
    }));
    if (this.gold && !this.hasGold) {
      this.hasGold = true;
      readWords(this.gold).forEach(({ head, relation }, index) => {
        Object.assign(this.cachedWords[index], { gold_head: head, gold_relation: relation });
      });
    }
    return this.cachedWords;
  }

  get text() {
    this.cachedText ??= this.conllu.match(/^# text = (.*)$/m)?.[1] ?? this.words
      .map((word) => word.form + (/(^|\|)SpaceAfter=No(\||$)/.test(word.misc) ? "" : " ")).join("").trim();
    return this.cachedText;
  }

  word(node) {
    return this.words[node - 1];
  }

  dependents(node) {
    return this.words.filter((word) => word.head === node).map((word) => word.id);
  }

  /** Returns the word and everything below it. */
  subtree(node) {
    const nodes = [node];
    for (const above of nodes) nodes.push(...this.dependents(above).filter((below) => !nodes.includes(below)));
    return nodes;
  }

  toJson() {
    return this.words.map(({ deps, ...word }) => word);
  }
}

/** Returns the family of a part of speech; words of a family have the same colour. */
export function familyOf(upos) {
  if (["NOUN", "PROPN", "PRON"].includes(upos)) return "nominal";
  if (["VERB", "AUX"].includes(upos)) return "verbal";
  if (["ADJ", "ADV", "NUM"].includes(upos)) return "modifier";
  if (["DET", "ADP", "CCONJ", "SCONJ", "PART"].includes(upos)) return "function";
  return "other";
}
