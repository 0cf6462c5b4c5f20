// Examples to click on before anything is parsed.

const LONG = "When the committee that the mayor had appointed in the spring finally met on Tuesday, the chairman, who had "
  + "been travelling for most of the summer and had not read the report, asked every member to explain in a few words "
  + "why the old bridge that nobody had wanted to build in the first place should now be painted green again.";

const STORY = "The lighthouse keeper kept a diary. Every evening she wrote down the weather and the ships that had "
  + "passed. One night a boat arrived which nobody had expected. Its captain asked for tea, a map and a new lamp. "
  + "She gave him all three. He left a parrot in return, and it still talks about storms.";

export const EXAMPLES = [
  { title: "A crossing arc", text: "What did the captain talk about?" },
  { title: "A long sentence", text: LONG },
  { title: "A short story", text: STORY },
];

const row = (id, [form, upos, head, relation]) =>
  [id, form, "_", upos, "_", "_", head, relation, "_", form === "telescope" ? "SpaceAfter=No" : "_"].join("\t");
const tree = (...words) => `${words.map((word, index) => row(index + 1, word)).join("\n")}\n\n`;
const WORDS = [["She", "PRON"], ["saw", "VERB"], ["the", "DET"], ["ship", "NOUN"], ["with", "ADP"], ["a", "DET"],
  ["telescope", "NOUN"], [".", "PUNCT"]];
const withArcs = (heads, relations) => tree(...WORDS.map((word, index) => [...word, heads[index], relations[index]]));

/** Two readings of one sentence. */
export const COMPARISON = {
  gold: withArcs([2, 0, 4, 2, 7, 7, 2, 2], ["nsubj", "root", "det", "obj", "case", "det", "obl", "punct"]),
  text: withArcs([2, 0, 4, 2, 7, 7, 4, 2], ["nsubj", "root", "det", "obj", "case", "det", "nmod", "punct"]),
};
