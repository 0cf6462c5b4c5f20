// The page: sends the input to the server, shows the trees, and keeps the address and the history up to date.

import { element, make, makeButton, scrollBehavior } from "./dom.js";
import { COMPARISON, EXAMPLES } from "./examples.js";
import { ExportMenu } from "./export_menu.js";
import { InputBox, LARGE_FILES } from "./input_box.js";
import { linkTo, LONGEST, readLink } from "./link.js";
import { hideError, showError, toast } from "./messages.js";
import { options, setOption } from "./options.js";
import { copy } from "./out.js";
import { Sentence } from "./sentence.js";
import { SentenceList } from "./sentence_list.js";
import { ask, Failure, setToken, takeToken } from "./server.js";
import { Stepper, title } from "./stepper.js";
import { TreeView } from "./tree_view.js";
import { hideCard } from "./word_card.js";

const AT_ONCE = 20; // trees to draw per request
const RECENT = 10; // results that Back shows without asking the server again
const CTRL = /Mac|iP(hone|ad|od)/.test(navigator.platform) ? "⌘" : "Ctrl";
const HINTS = {
  parse: `${CTRL} + Enter parses. You can drop a file.`,
  compare: "Drop or paste two files. Text is parsed first; without text, the model parses the gold words.",
};

const model = element("model");
let limits = null;
let models = [];
let view = "parse"; // or "compare"
let result = null; // what is shown: the request, the model's name and the sentences
const latest = { parse: null, compare: null }; // the last result of each view
const recent = new Map(); // results by request
let tree = null; // the TreeView of the open sentence
// The number of the latest request of each kind: responses to older ones are dropped.
let [running, opening] = [0, 0];

const largest = () => limits?.request_bytes ?? Infinity;
const input = new InputBox("input", largest, () => view === "parse" && run());
const gold = new InputBox("gold", largest, () => run());
const stepper = new Stepper(updateAddress, () => list.open?.querySelector(".step-through")?.focus());
const list = new SentenceList(element("list"), { fillRow, fillOpen, opened });
const exports = new ExportMenu(list, { draw, result: () => result });

// ---------------------------------------------------------------------------------------------------------------------
// Start and history.

async function start({ keepsText = false } = {}) {
  takeToken();
  try {
    await loadModels(readLink().model);
  } catch (failure) {
    showError(failure);
    return;
  }
  if (keepsText && !input.isEmpty) await run();
  else await restore();
}

/** Shows what the address and the history entry describe. */
async function restore() {
  clearTimeout(updateAddress.timer);
  const wanted = { ...readLink(), ...history.state };
  hideError();
  setView(wanted.view);
  input.set(wanted.text, wanted.name);
  gold.set(wanted.gold);
  setChecks(wanted);
  if (models.some(({ name }) => name === wanted.model)) model.value = wanted.model;
  showModel();
  drop();
  if (!wanted.text && !wanted.gold) {
    clear();
    return;
  }
  if ((await run({ push: false, sentence: wanted.sentence || 1 })) && wanted.step !== null) await step(wanted);
}

async function loadModels(requested) {
  const served = await ask("api/models");
  limits = served.limits;
  models = served.models;
  model.replaceChildren(...models.map(({ name }) => new Option(name, name)));
  const isServed = models.some(({ name }) => name === requested);
  model.value = isServed ? requested : served.default;
  if (requested && !isServed) toast(`This server has no model ${requested}; using ${served.default}`);
  element("version").textContent = `Longarc ${served.version}.`;
  showModel();
}

/** Shows the full name of the model's treebank, its system and its licence. */
function showModel() {
  const { treebank, system, licence } = models.find(({ name }) => name === model.value) ?? {};
  element("about-model").textContent = [treebank, system && title(system)].filter(Boolean).join(" · ");
  element("about-model").title = licence ?? "";
}

function setView(name) {
  view = name;
  const isCompare = view === "compare";
  for (const tab of document.querySelectorAll("[data-view]")) {
    if (tab.dataset.view === view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  element("gold-box").hidden = !isCompare;
  element("composer").classList.toggle("comparing", isCompare);
  element("input-label").textContent = isCompare ? "Trees or text" : "Text or CoNLL-U";
  input.area.placeholder = isCompare
    ? "Paste or drop trees or text, or leave this empty to parse the gold words"
    : "Type or paste a few sentences or a treebank";
  element("hint").textContent = HINTS[view];
  element("parse").textContent = isCompare ? "Compare" : "Parse";
  showExamples();
}

/** Changes to another view, with its last result. */
function changeView(name) {
  if (name === view) return;
  hideError();
  drop();
  setView(name);
  if (latest[view]) {
    const { text, gold: goldText, name: fileName } = latest[view];
    input.set(text, fileName);
    gold.set(goldText);
    show(latest[view]);
  } else {
    clear();
  }
  pushAddress();
}

/** Ignores the response to the request that is running. */
function drop() {
  running += 1;
  showBusy(false);
}

function clear() {
  result = null;
  hideCard();
  stepper.hide();
  document.body.append(stepper.home);
  list.clear();
  element("results").hidden = true;
  document.body.classList.remove("has-result");
  showExamples();
  input.area.focus({ preventScroll: true });
}

function showExamples() {
  const home = element("examples");
  home.hidden = result !== null;
  const start = (text, goldText = "") => {
    input.set(text);
    gold.set(goldText);
    run();
  };
  const example = (name, text, action) => {
    const card = makeButton(make("b", "", name), action, { className: "example" });
    card.append(make("span", "", text));
    return card;
  };
  const examples = view === "parse"
    ? EXAMPLES.map(({ title: name, text }) => example(name, text, () => start(text)))
    : [example("Two readings", "She saw the ship with a telescope.", () => start(COMPARISON.text, COMPARISON.gold))];
  home.replaceChildren(make("p", "quiet", view === "parse" ? "Or try an example:" : "Or try an example of a comparison:"),
    make("div", "example-cards", ...examples));
}

function currentView() {
  return { view, text: result?.text ?? "", gold: result?.gold ?? "", model: result?.model ?? model.value,
    sentence: list.current?.number ?? 0, step: stepper.isOpen ? stepper.tick : null, mode: stepper.mode,
    tags: options.tags, features: options.features };
}

/** Returns the history entry of the current view; texts that are too long for the address are part of it. */
function entry() {
  const link = linkTo(currentView());
  const name = result?.name ?? "";
  if (link !== null) return [{ name }, link];
  return [{ name, view, text: result.text, gold: result.gold }, location.pathname + location.search];
}

function pushAddress() {
  clearTimeout(updateAddress.timer);
  const [state, address] = entry();
  history.pushState(state, "", address);
}

/** Updates the address, so that it can be copied and reloaded. */
function updateAddress() {
  if (result === null) return;
  clearTimeout(updateAddress.timer);
  // Browsers limit how often the address may change, and playing changes it often.
  updateAddress.timer = setTimeout(() => {
    const [state, address] = entry();
    history.replaceState(state, "", address);
  }, 150);
}

async function copyLink() {
  const link = linkTo(currentView());
  if (link === null) toast(`A link can hold up to ${LONGEST.toLocaleString("en")} characters of text`);
  else toast((await copy(link)) ? "Link copied" : "The browser does not allow copying");
}

// ---------------------------------------------------------------------------------------------------------------------
// Parsing and comparing.

/** Parses or compares what is in the boxes; returns whether that succeeded. */
async function run({ push = true, sentence = 1 } = {}) {
  hideError();
  const isCompare = view === "compare";
  if (isCompare ? gold.isEmpty : input.isEmpty) {
    toast(isCompare ? "Paste or drop gold trees first" : "Type or paste some text first");
    (isCompare ? gold : input).area.focus();
    return false;
  }
  const request = { view, text: input.text, gold: isCompare ? gold.text : "", name: input.name || gold.name };
  const mine = ++running;
  showBusy(true);
  try {
    if (limits === null) await loadModels(model.value);
    request.model = model.value;
    const key = JSON.stringify([view, request.model, request.text, request.gold]);
    const sentences = recent.get(key) ?? (await (isCompare ? compare(request) : parse(request)));
    if (mine !== running) return false;
    recent.delete(key);
    recent.set(key, sentences);
    if (recent.size > RECENT) recent.delete(recent.keys().next().value);
    show({ ...request, sentences }, sentence);
  } catch (failure) {
    if (mine === running) fail(failure);
    return false;
  } finally {
    if (mine === running) showBusy(false);
  }
  if (push) pushAddress();
  else updateAddress();
  return true;
}

async function parse({ text, model: name }) {
  const content = input.isConllu ? { conllu: text } : { text };
  const response = await askWithin("api/parse", { ...content, model: name, probabilities: true });
  return response.sentences.map((sentence, index) => new Sentence(sentence, index + 1));
}

async function compare({ text, gold: goldText, model: name }) {
  if (!gold.isConllu) throw new Failure(422, "The gold trees are not in CoNLL-U.", "Paste or drop a treebank.");
  let conllu = text;
  let parsed = [];
  if (!input.isConllu) {
    const content = input.isEmpty ? { conllu: goldText } : { text };
    parsed = (await askWithin("api/parse", { ...content, model: name, probabilities: true })).sentences;
    conllu = parsed.map((sentence) => sentence.conllu).join("");
  }
  try {
    const response = await askWithin("api/compare", { conllu, gold: goldText });
    return response.sentences.map((sentence, index) => new Sentence(sentence, index + 1, parsed[index]?.tokens));
  } catch (failure) {
    if (failure.status === 422 && !input.isEmpty && !input.isConllu) {
      failure.hint = "The model splits the text otherwise. Clear the text to parse the words of the gold trees.";
      failure.line = null;
    }
    throw failure;
  }
}

/** Sends a request unless it is larger than the server allows. */
async function askWithin(path, body) {
  const bytes = sizeOf(body);
  if (bytes > limits.request_bytes) {
    const most = Math.floor(limits.request_bytes / 1024);
    throw new Failure(413, `The text is too long: ${Math.ceil(bytes / 1024)} kB, at most ${most} kB.`, LARGE_FILES);
  }
  return ask(path, body);
}

function sizeOf(body) {
  return new Blob([JSON.stringify(body)]).size;
}

function fail(failure) {
  showError(failure);
  if (failure.line) (/^gold:/i.test(failure.message) ? gold : input).selectLine(failure.line);
}

/** Disables the trees while they are about to be replaced. */
function showBusy(busy) {
  element("parse").disabled = busy;
  element("results").inert = busy;
  document.body.classList.toggle("busy", busy);
}

// ---------------------------------------------------------------------------------------------------------------------
// The result.

function show(shown, number = 1) {
  result = latest[shown.view] = shown;
  document.body.append(stepper.home); // keep it: it may be in the sentence that is removed
  stepper.hide();
  element("results").hidden = false;
  document.body.classList.add("has-result");
  element("summary").textContent = summary(result);
  const differ = result.sentences.some((sentence) => sentence.differing.length);
  element("differences-only").hidden = !(result.view === "compare" && differ && result.sentences.length > 1);
  element("only-differences").checked = false;
  showExamples();
  showList(number);
}

function summary({ view: kind, sentences }) {
  const count = (number, name) => `${number.toLocaleString("en")} ${name}${number === 1 ? "" : "s"}`;
  const words = sentences.reduce((sum, sentence) => sum + sentence.length, 0);
  const text = `${count(sentences.length, "sentence")}, ${count(words, "word")}`;
  if (kind === "parse" || !words) return text;
  const share = (wrong) => `${(100 * (1 - wrong / words)).toFixed(1)} %`;
  const arcs = sentences.reduce((sum, sentence) => sum + sentence.differing.length, 0);
  const heads = sentences.reduce((sum, sentence) => sum + sentence.wrongHeads, 0);
  return `${text}; heads right: ${share(heads)}, with the relation: ${share(arcs)}`;
}

function showList(number) {
  const only = element("only-differences").checked;
  const sentences = only ? result.sentences.filter((sentence) => sentence.differing.length) : result.sentences;
  element("keys").hidden = sentences.length < 2;
  list.show(sentences, number);
  exports.update();
}

function rowButton(sentence, isOpen) {
  const text = make("span", "text", sentence.text);
  text.dir = "auto";
  const row = makeButton(make("span", "number", sentence.number), () => {}, { className: "row-button" });
  row.append(text, note(sentence));
  row.setAttribute("aria-expanded", String(isOpen));
  row.tabIndex = isOpen ? 0 : -1;
  return row;
}

/** Returns what the end of a row shows: the number of words, or of differences. */
function note(sentence) {
  if (sentence.gold === null) return make("span", "note", `${sentence.length} word${sentence.length === 1 ? "" : "s"}`);
  const wrong = sentence.differing.length;
  if (!wrong) return make("span", "note right", "✓ same");
  return make("span", "note wrong", `${wrong} of ${sentence.length} differ${wrong === 1 ? "s" : ""}`);
}

function fillRow(item, sentence) {
  item.append(rowButton(sentence, false));
}

function fillOpen(sentence, ready) {
  stepper.hide();
  document.body.append(stepper.home);
  const holder = make("div", "holder");
  const content = make("article", "sentence", rowButton(sentence, true), holder);
  content.setAttribute("aria-label", `Sentence ${sentence.number}`);
  showTree(sentence, holder).then(ready);
  return content;
}

function opened(sentence) {
  exports.update();
  updateAddress();
  const neighbours = [list.index - 1, list.index + 1].map((index) => list.sentences[index]);
  // Draw them in advance; errors are shown when they are opened.
  for (const neighbour of neighbours) if (neighbour) drawingOf(neighbour).catch(() => {});
}

async function showTree(sentence, holder) {
  try {
    const pictures = await drawingOf(sentence);
    if (list.current !== sentence) return;
    const walk = makeButton("Step through", () => step(), {
      label: `Step through sentence ${sentence.number}`, className: "step-through",
    });
    walk.hidden = sentence.gold !== null;
    const tooLarge = `Trees of more than ${limits.drawn_words} words are not drawn.`;
    tree = new TreeView(sentence, pictures, { tooLarge, actions: [walk] });
    const hadFocus = holder.querySelector(".step-through")?.matches(":focus");
    holder.replaceChildren(tree.element);
    if (hadFocus) walk.focus();
    if (holder.isConnected) tree.start();
  } catch (failure) {
    showError(failure);
  }
}

/** Returns the drawings of a sentence with the current options; they are made once. */
function drawingOf(sentence) {
  const key = `${options.tags} ${options.features}`;
  if (sentence.drawing?.key !== key) {
    const pictures = draw([sentence], ["svg", "text"]).then(([first]) => first);
    sentence.drawing = { key, pictures };
    pictures.catch(() => { sentence.drawing = null; });
  }
  return sentence.drawing.pictures;
}

/** Fetches drawings of sentences, in several requests if they are many or large. */
async function draw(sentences, pictures, theme = "auto") {
  const join = (texts) => texts.join("");
  const body = { conllu: join(sentences.map((sentence) => sentence.conllu)), pictures, theme,
    tags: options.tags, features: options.features };
  if (sentences[0].gold !== null) body.against = join(sentences.map((sentence) => sentence.gold));
  const half = Math.ceil(sentences.length / 2);
  if (half < sentences.length && (sentences.length > AT_ONCE || sizeOf(body) > limits.request_bytes)) {
    const first = await draw(sentences.slice(0, half), pictures, theme);
    return [...first, ...(await draw(sentences.slice(half), pictures, theme))];
  }
  return (await ask("api/draw", body)).sentences;
}

// ---------------------------------------------------------------------------------------------------------------------
// The stepper.

/** Opens the stepper for the open sentence. */
async function step(where = {}) {
  const mine = ++opening;
  const [sentence, item] = [list.current, list.open];
  if (!sentence) return;
  hideError();
  if (sentence.length > limits.step_words) {
    toast(`Only sentences of up to ${limits.step_words} words can be stepped through`);
    return;
  }
  try {
    const response = await ask("api/steps", { conllu: sentence.conllu, model: result.model });
    if (mine !== opening || !item.isConnected || list.open !== item) return; // superseded by a later request
    stepper.open(response, item.querySelector(".holder"), { ...where, step: where.step ?? 0 });
    list.onResize();
    stepper.home.focus({ preventScroll: true });
    stepper.home.scrollIntoView({ block: "start", behavior: scrollBehavior() });
  } catch (failure) {
    showError(failure);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Controls and keys.

function setChecks({ tags, features }) {
  Object.assign(options, { tags, features });
  for (const name of ["tags", "features", "colours", "shading"]) element(name).checked = options[name];
}

for (const name of ["tags", "features", "colours", "shading"]) {
  element(name).addEventListener("change", (event) => {
    setOption(name, event.target.checked);
    updateAddress();
    if (!list.current) return;
    if (name === "tags" || name === "features") showTree(list.current, list.open.querySelector(".holder"));
    else tree?.showOptions();
  });
}

for (const tab of document.querySelectorAll("[data-view]")) {
  tab.addEventListener("click", () => changeView(tab.dataset.view));
}
element("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
element("ask-token").addEventListener("submit", async (event) => {
  event.preventDefault();
  setToken(element("token").value);
  element("token").value = "";
  hideError();
  if (limits === null) await start({ keepsText: true });
  else await run();
});
element("composer").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
model.addEventListener("change", () => {
  showModel();
  if (result) run();
});
element("only-differences").addEventListener("change", () => showList(list.current?.number));
element("copy-link").addEventListener("click", copyLink);

for (const menu of document.querySelectorAll("details.menu")) {
  const close = () => { menu.open = false; };
  document.addEventListener("pointerdown", (event) => !menu.contains(event.target) && close());
  menu.addEventListener("focusout", (event) => event.relatedTarget && !menu.contains(event.relatedTarget) && close());
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    close();
    menu.querySelector("summary").focus();
  });
}

document.addEventListener("keydown", (event) => {
  const by = { j: 1, k: -1 }[event.key];
  if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=range])")) return;
  if (element("results").hidden || element("results").inert) return;
  event.preventDefault();
  list.move(by);
});
// Also fires when the reader edits the fragment of the address.
window.addEventListener("popstate", () => restore());

start();
