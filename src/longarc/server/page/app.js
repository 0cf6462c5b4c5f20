// The page: what is typed goes to the server, trees come back.

import { linkTo, LONGEST, readLink } from "./link.js";
import { copy, save } from "./out.js";
import { ask, setToken, takeToken } from "./server.js";
import { Stepper } from "./stepper.js";

const AT_ONCE = 20; // trees that are drawn together
const SMALLEST = 0.7; // as far as a tree shrinks before it scrolls
const element = (id) => document.getElementById(id);
const [input, model] = [element("input"), element("model")];

let limits = null;
let result = null; // the server's answer, with the text that it answers
// Numbers of what was asked for last: what an older request brings is dropped.
let [newest, drawing, opening, copying] = [0, 0, 0, 0];
let drawn = 0;
let stepping = 0; // the number of the sentence in the stepper

const stepper = new Stepper(remember);

/** Whether a text is in columns; one that only looks like it should get an error with its line. */
function isConllu(text) {
  return /^(?:[^\S\n]*(?:#.*)?\n)*[^\S\n]*\d+(?:-\d+|\.\d+)?\t/.test(text);
}

function request(text) {
  return isConllu(text) ? { conllu: text } : { text };
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages.

function complain(failure) {
  if (failure.status === undefined) throw failure; // a mistake of ours belongs in the console
  const box = element("message");
  const place = failure.line ? `Line ${failure.line}: ` : "";
  const text = document.createElement("p");
  text.append(Object.assign(document.createElement("b"), { textContent: place + failure.message }));
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

function forget() {
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
    complain(failure);
    return;
  }
  if (view.text && (await parse()) && view.sentence) await step(view.sentence, view);
}

async function loadModels(wanted) {
  const offered = await ask("api/models");
  limits = offered.limits;
  model.replaceChildren(...offered.models.map(({ name, treebank }) =>
    new Option(treebank && treebank !== name ? `${name} (${treebank})` : name, name)));
  const isOffered = offered.models.some(({ name }) => name === wanted);
  model.value = isOffered ? wanted : offered.default;
  if (wanted && !isOffered) toast(`${wanted} is not offered here; this is ${offered.default}`);
  element("version").textContent = `Longarc ${offered.version}.`;
}

async function parse() {
  forget();
  const text = input.value;
  if (!text.trim()) {
    toast("Type or paste a text first");
    input.focus();
    return false;
  }
  const mine = ++newest;
  showBusy(true);
  try {
    if (limits === null) await loadModels(model.value);
    const body = { ...request(text), model: model.value, probabilities: true };
    const bytes = sizeOf(body);
    if (bytes > limits.request_bytes) {
      const most = Math.floor(limits.request_bytes / 1024);
      complain({ status: 413, message: `The text is too long: ${Math.ceil(bytes / 1024)} kB, at most ${most} kB.`,
        hint: "longarc parse takes files of any size." });
      return false;
    }
    const answer = await ask("api/parse", body);
    if (mine !== newest) return false;
    result = { text, ...answer };
    stepper.isOpen && stepper.close();
    stepping = 0;
    await showResult();
  } catch (failure) {
    if (mine === newest) complain(failure);
    return false;
  } finally {
    if (mine === newest) showBusy(false);
  }
  remember();
  return true;
}

/** Trees that are about to be replaced cannot be worked with. */
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
  document.body.append(stepper.home); // it may be among the trees that go now
  element("trees").replaceChildren();
  element("results").hidden = false;
  drawn = 0;
  await showMore();
}

function articles() {
  return [...element("trees").querySelectorAll(":scope > article")];
}

/** Draws the trees that are there anew, where they are. */
async function redraw() {
  const mine = ++drawing;
  remember();
  try {
    const pictures = await draw(result.sentences.slice(0, drawn), "svg");
    if (mine !== drawing) return;
    articles().forEach((tree, index) => tree.querySelector(".scroller").replaceChildren(picture(pictures[index].svg)));
    if (drawn === 0) await showMore();
  } catch (failure) {
    if (mine === drawing) complain(failure);
  }
}

/** Draws the next trees. */
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
    complain(failure);
  }
  element("more").hidden = drawn >= result.sentences.length;
}

/** The drawings of sentences, by as many requests as it takes. */
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
  const made = document.createElement("article");
  made.className = "card tree";
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
    JSON: () => JSON.stringify(plain(sentence), null, 1),
  };
  const copies = Object.entries(formats).map(([name, text]) =>
    button(name, `Copy sentence ${number} as ${name}`, () => copied(name, text())));
  const gap = Object.assign(document.createElement("span"), { className: "grow" });
  const walk = button("Step through", `Step through sentence ${number}`, () => step(number));
  walk.classList.add("primary");
  actions.append("Copy", ...copies, gap, walk);
  made.append(heading, figure, actions);
  return made;
}

/** A drawing as part of the page, with the page's copy of its style. */
function picture(text) {
  if (!text) return `A tree of more than ${limits.drawn_words} words is not drawn.`;
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
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", async () => {
    forget();
    try {
      await action();
    } catch (failure) {
      complain(failure);
    }
  });
  return made;
}

// ---------------------------------------------------------------------------------------------------------------------
// Out of the page.

async function copied(what, coming) {
  const mine = ++copying;
  const text = await coming;
  if (mine !== copying) return;
  if (text === undefined) toast("This tree is too long to be drawn");
  else toast((await copy(text)) ? `${what} copied` : "The browser does not let this page copy");
}

function plain({ tokens }) {
  return { model: result.model, tokens };
}

async function copyLink() {
  const link = linkTo(view());
  if (link === null) toast(`More than ${LONGEST.toLocaleString("en")} characters do not fit into a link`);
  else await copied("Link", link);
}

function view() {
  return { text: result?.text ?? input.value, model: result?.model ?? model.value,
    sentence: stepper.isOpen ? stepping : 0, step: stepper.tick, mode: stepper.mode,
    tags: element("tags").checked, features: element("features").checked };
}

/** Keeps the address up to date, so that it can be copied and reloaded. */
function remember() {
  if (result === null) return;
  clearTimeout(remember.timer);
  // Browsers allow so many changes of the address a second, and playing makes many.
  remember.timer = setTimeout(() => {
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
  const place = articles()[number - 1];
  if (!sentence || !place) return;
  if (sentence.tokens.length > limits.step_words) {
    toast(`Only sentences of up to ${limits.step_words} words can be stepped through`);
    return;
  }
  const answer = await ask("api/steps", { conllu: sentence.conllu, model: result.model });
  if (mine !== opening || !place.isConnected) return; // something else was asked for meanwhile
  stepping = number;
  stepper.opener = place.querySelector(".actions .primary");
  stepper.open(answer, place, where);
  stepper.home.focus({ preventScroll: true });
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  stepper.home.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
}

// ---------------------------------------------------------------------------------------------------------------------
// Files and keys.

async function openFile(file) {
  if (!file) return;
  if (limits && file.size > limits.request_bytes) {
    const hint = "longarc parse takes files of any size.";
    complain({ status: 413, message: `${file.name} is too large for this page.`, hint });
    return;
  }
  try {
    input.value = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    complain({ status: 422, message: `${file.name} is not a text in UTF-8.`, hint: "longarc parse takes --encoding." });
    return;
  }
  showKind();
  await parse();
}

function showKind() {
  element("kind").textContent = input.value.trim() ? (isConllu(input.value) ? "CoNLL-U" : "text") : "";
}

function whole(kind) {
  const { model, sentences } = result;
  if (kind === "conllu") {
    save("parsed.conllu", sentences.map((sentence) => sentence.conllu).join(""), "text/plain");
  } else {
    save("parsed.json", JSON.stringify({ model, sentences: sentences.map(plain) }, null, 1), "application/json");
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
  forget();
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
  forget();
  showMore();
});
element("tags").addEventListener("change", () => result && redraw());
element("features").addEventListener("change", () => result && redraw());
element("save-conllu").addEventListener("click", () => whole("conllu"));
element("save-json").addEventListener("click", () => whole("json"));
element("copy-link").addEventListener("click", copyLink);
window.addEventListener("hashchange", () => start());

start();
