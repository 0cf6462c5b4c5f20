// The page: sends the input to the server and shows the trees.

import { linkTo, LONGEST, readLink } from "./link.js";
import { copy, save } from "./out.js";
import { ask, setToken, takeToken } from "./server.js";
import { Stepper } from "./stepper.js";

const AT_ONCE = 20; // trees to draw per request
const SMALLEST = 0.7; // the smallest scale of a tree; narrower screens scroll
const LARGE_FILES = "Use the command line for large files.";
const element = (id) => document.getElementById(id);
const [input, model] = [element("input"), element("model")];

let limits = null;
let result = null; // the server's response and the text that was parsed
// The number of the latest request of each kind: responses to older ones are dropped.
let [parsing, drawing, opening, copying] = [0, 0, 0, 0];
let drawn = 0; // how many trees are shown
let stepping = 0; // the number of the sentence in the stepper

const stepper = new Stepper(updateAddress);

/** Whether the first row looks like CoNLL-U. Malformed files count too, so that their errors name the line. */
function isConllu(text) {
  return /^(?:[^\S\n]*(?:#.*)?\n)*[^\S\n]*\d+(?:-\d+|\.\d+)?\t/.test(text);
}

function request(text) {
  return isConllu(text) ? { conllu: text } : { text };
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages.

function showError(failure) {
  if (failure.status === undefined) throw failure; // a bug: leave it to the console
  const box = element("message");
  const prefix = failure.line ? `Line ${failure.line}: ` : "";
  const text = document.createElement("p");
  text.append(Object.assign(document.createElement("b"), { textContent: prefix + failure.message }));
  if (failure.hint) text.append(` ${failure.hint}`);
  box.replaceChildren(text);
  box.hidden = false;
  element("ask-token").hidden = failure.status !== 401;
  if (failure.status === 401) element("token").focus();
  if (failure.line) selectLine(failure.line);
}

function selectLine(number) {
  const lines = input.value.split("\n");
  const start = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
  input.focus();
  input.setSelectionRange(start, start + (lines[number - 1] ?? "").length);
  input.scrollTop = ((number - 0.5) / lines.length) * input.scrollHeight - input.clientHeight / 2;
}

function toast(text) {
  const box = element("toast");
  box.textContent = text;
  box.classList.add("seen");
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => box.classList.remove("seen"), 2500);
}

function hideError() {
  element("message").hidden = true;
  element("ask-token").hidden = true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Parsing.

async function start({ keepsText = false } = {}) {
  takeToken();
  const view = readLink();
  if (view.text && !(keepsText && input.value)) input.value = view.text;
  [element("tags").checked, element("features").checked] = [view.tags, view.features];
  showKind();
  try {
    await loadModels(view.model);
  } catch (failure) {
    showError(failure);
    return;
  }
  if (view.text && (await parse()) && view.sentence) await step(view.sentence, view);
}

async function loadModels(requested) {
  const served = await ask("api/models");
  limits = served.limits;
  model.replaceChildren(...served.models.map(({ name, treebank }) =>
    new Option(treebank && treebank !== name ? `${name} (${treebank})` : name, name)));
  const isServed = served.models.some(({ name }) => name === requested);
  model.value = isServed ? requested : served.default;
  if (requested && !isServed) toast(`This server has no model ${requested}; using ${served.default}`);
  element("version").textContent = `Longarc ${served.version}.`;
}

async function parse() {
  hideError();
  const text = input.value;
  if (!text.trim()) {
    toast("Type or paste some text first");
    input.focus();
    return false;
  }
  const mine = ++parsing;
  showBusy(true);
  try {
    if (limits === null) await loadModels(model.value);
    const body = { ...request(text), model: model.value, probabilities: true };
    const bytes = sizeOf(body);
    if (bytes > limits.request_bytes) {
      const most = Math.floor(limits.request_bytes / 1024);
      showError({ status: 413, message: `The text is too long: ${Math.ceil(bytes / 1024)} kB, at most ${most} kB.`,
        hint: LARGE_FILES });
      return false;
    }
    const response = await ask("api/parse", body);
    if (mine !== parsing) return false;
    result = { text, ...response };
    stepper.isOpen && stepper.close();
    stepping = 0;
    await showResult();
  } catch (failure) {
    if (mine === parsing) showError(failure);
    return false;
  } finally {
    if (mine === parsing) showBusy(false);
  }
  updateAddress();
  return true;
}

/** Disables the trees while they are about to be replaced. */
function showBusy(busy) {
  element("parse").disabled = busy;
  element("results").inert = busy;
  document.body.classList.toggle("busy", busy);
}

async function showResult() {
  const sentences = result.sentences;
  const words = sentences.reduce((sum, sentence) => sum + sentence.tokens.length, 0);
  const count = (number, name) => `${number.toLocaleString("en")} ${name}${number === 1 ? "" : "s"}`;
  element("summary").textContent = `${count(sentences.length, "sentence")}, ${count(words, "word")}`;
  document.body.append(stepper.home); // keep it: it may be among the trees that are removed
  element("trees").replaceChildren();
  element("results").hidden = false;
  drawn = 0;
  await showMore();
}

function articles() {
  return [...element("trees").querySelectorAll(":scope > article")];
}

/** Redraws the trees that are shown. */
async function redraw() {
  const mine = ++drawing;
  updateAddress();
  try {
    const pictures = await draw(result.sentences.slice(0, drawn), "svg");
    if (mine !== drawing) return;
    articles().forEach((tree, index) => tree.querySelector(".scroller").replaceChildren(picture(pictures[index].svg)));
    if (drawn === 0) await showMore();
  } catch (failure) {
    if (mine === drawing) showError(failure);
  }
}

/** Draws and appends the next trees. */
async function showMore() {
  const mine = ++drawing;
  const next = result.sentences.slice(drawn, drawn + AT_ONCE);
  try {
    const pictures = await draw(next, "svg");
    if (mine !== drawing) return;
    next.forEach((sentence, index) => {
      element("trees").append(article(sentence, drawn + index + 1, pictures[index].svg));
    });
    drawn += next.length;
  } catch (failure) {
    if (mine !== drawing) return;
    showError(failure);
  }
  element("more").hidden = drawn >= result.sentences.length;
}

/** Fetches drawings of sentences, in several requests if they are many or large. */
async function draw(sentences, kind, theme = "auto") {
  if (!sentences.length) return [];
  const conllu = sentences.map((sentence) => sentence.conllu).join("");
  const [tags, features] = [element("tags").checked, element("features").checked];
  const body = { conllu, pictures: [kind], theme, tags, features };
  const half = Math.ceil(sentences.length / 2);
  if (half < sentences.length && (sentences.length > AT_ONCE || sizeOf(body) > limits.request_bytes)) {
    const first = await draw(sentences.slice(0, half), kind, theme);
    return [...first, ...(await draw(sentences.slice(half), kind, theme))];
  }
  return (await ask("api/draw", body)).sentences;
}

function sizeOf(body) {
  return new Blob([JSON.stringify(body)]).size;
}

function article(sentence, number, svg) {
  const card = document.createElement("article");
  card.className = "card tree";
  const heading = document.createElement("h2");
  heading.dir = "auto";
  const text = sentence.conllu.match(/^# text = (.*)$/m)?.[1] ?? sentence.tokens.map((token) => token.form).join(" ");
  heading.append(Object.assign(document.createElement("span"), { className: "number", textContent: number }), text);
  const figure = document.createElement("div");
  figure.className = "scroller";
  figure.tabIndex = 0;
  figure.setAttribute("role", "group");
  figure.setAttribute("aria-label", `Tree of sentence ${number}`);
  figure.append(picture(svg));
  const actions = document.createElement("div");
  actions.className = "row actions";
  const formats = {
    "CoNLL-U": () => sentence.conllu,
    SVG: async () => (await draw([sentence], "svg", "light"))[0].svg,
    TikZ: async () => (await draw([sentence], "tikz"))[0].tikz,
    JSON: () => JSON.stringify(toJson(sentence), null, 1),
  };
  const copies = Object.entries(formats).map(([name, text]) =>
    button(name, `Copy sentence ${number} as ${name}`, () => copyText(name, text())));
  const gap = Object.assign(document.createElement("span"), { className: "grow" });
  const walk = button("Step through", `Step through sentence ${number}`, () => step(number));
  walk.classList.add("primary");
  actions.append("Copy", ...copies, gap, walk);
  card.append(heading, figure, actions);
  return card;
}

/** Makes a drawing part of the page, without its style element: the page has the same rules in drawing.css. */
function picture(text) {
  if (!text) return `Trees of more than ${limits.drawn_words} words are not drawn.`;
  const bare = text.replace(/<style>[^]*?<\/style>/, "");
  const svg = new DOMParser().parseFromString(bare, "image/svg+xml").documentElement;
  const width = Number(svg.getAttribute("width"));
  svg.style.width = `clamp(${SMALLEST * width}px, 100%, ${width}px)`;
  const title = svg.querySelector("title");
  svg.setAttribute("aria-label", title?.textContent ?? "Tree");
  title?.remove();
  return document.importNode(svg, true);
}

function button(text, label, action) {
  const control = document.createElement("button");
  control.type = "button";
  control.textContent = text;
  control.setAttribute("aria-label", label);
  control.addEventListener("click", async () => {
    hideError();
    try {
      await action();
    } catch (failure) {
      showError(failure);
    }
  });
  return control;
}

// ---------------------------------------------------------------------------------------------------------------------
// Copying and links.

async function copyText(name, pendingText) {
  const mine = ++copying;
  const text = await pendingText;
  if (mine !== copying) return;
  if (text === undefined) toast("This tree is too large to draw");
  else toast((await copy(text)) ? `${name} copied` : "The browser does not allow copying");
}

function toJson({ tokens }) {
  return { model: result.model, tokens };
}

async function copyLink() {
  const link = linkTo(view());
  if (link === null) toast(`A link can hold up to ${LONGEST.toLocaleString("en")} characters of text`);
  else await copyText("Link", link);
}

function view() {
  return { text: result?.text ?? input.value, model: result?.model ?? model.value,
    sentence: stepper.isOpen ? stepping : 0, step: stepper.tick, mode: stepper.mode,
    tags: element("tags").checked, features: element("features").checked };
}

/** Updates the address, so that it can be copied and reloaded. */
function updateAddress() {
  if (result === null) return;
  clearTimeout(updateAddress.timer);
  // Browsers limit how often the address may change, and playing changes it often.
  updateAddress.timer = setTimeout(() => {
    history.replaceState(null, "", linkTo(view()) ?? location.pathname + location.search);
  }, 150);
}

// ---------------------------------------------------------------------------------------------------------------------
// The stepper.

async function step(number, where = {}) {
  const mine = ++opening;
  const sentence = result.sentences[number - 1];
  for (let before = -1; sentence && before < drawn && drawn < number;) {
    before = drawn;
    await showMore();
  }
  const tree = articles()[number - 1];
  if (!sentence || !tree) return;
  if (sentence.tokens.length > limits.step_words) {
    toast(`Only sentences of up to ${limits.step_words} words can be stepped through`);
    return;
  }
  const response = await ask("api/steps", { conllu: sentence.conllu, model: result.model });
  if (mine !== opening || !tree.isConnected) return; // superseded by a later request
  stepping = number;
  stepper.opener = tree.querySelector(".actions .primary");
  stepper.open(response, tree, where);
  stepper.home.focus({ preventScroll: true });
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  stepper.home.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
}

// ---------------------------------------------------------------------------------------------------------------------
// Files and keys.

async function openFile(file) {
  if (!file) return;
  if (limits && file.size > limits.request_bytes) {
    showError({ status: 413, message: `${file.name} is too large for this page.`, hint: LARGE_FILES });
    return;
  }
  try {
    input.value = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    showError({ status: 422, message: `${file.name} is not a UTF-8 text file.`, hint: "Convert it to UTF-8 first." });
    return;
  }
  showKind();
  await parse();
}

function showKind() {
  element("kind").textContent = input.value.trim() ? (isConllu(input.value) ? "CoNLL-U" : "text") : "";
}

function saveAll(kind) {
  const { model, sentences } = result;
  if (kind === "conllu") {
    save("parsed.conllu", sentences.map((sentence) => sentence.conllu).join(""), "text/plain");
  } else {
    save("parsed.json", JSON.stringify({ model, sentences: sentences.map(toJson) }, null, 1), "application/json");
  }
}

element("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  parse();
});
element("ask-token").addEventListener("submit", async (event) => {
  event.preventDefault();
  setToken(element("token").value);
  element("token").value = "";
  hideError();
  if (limits === null) await start({ keepsText: true });
  else await parse();
});
input.addEventListener("input", showKind);
input.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) parse();
});
element("composer").addEventListener("dragover", (event) => event.preventDefault());
element("composer").addEventListener("drop", (event) => {
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  openFile(event.dataTransfer.files[0]);
});
element("open").addEventListener("click", () => element("file").click());
element("file").addEventListener("change", (event) => {
  openFile(event.target.files[0]);
  event.target.value = "";
});
model.addEventListener("change", () => result && parse());
element("more").addEventListener("click", () => {
  hideError();
  showMore();
});
element("tags").addEventListener("change", () => result && redraw());
element("features").addEventListener("change", () => result && redraw());
element("save-conllu").addEventListener("click", () => saveAll("conllu"));
element("save-json").addEventListener("click", () => saveAll("json"));
element("copy-link").addEventListener("click", copyLink);
window.addEventListener("hashchange", () => start());

start();
