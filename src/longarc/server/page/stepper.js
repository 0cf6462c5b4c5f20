// The stepper: shows two derivations of one tree side by side, step by step or playing.

import { Configuration, listName } from "./configuration.js";
import { element, make, percent, scrollBehavior } from "./dom.js";
import { Frame } from "./frame.js";

const TICK = 900; // milliseconds per step while playing

export function title(system) {
  return system === "nl-covington" ? "NL-Covington" : system.charAt(0).toUpperCase() + system.slice(1);
}

/** Formats Left-Arc_2 as in the paper, with a subscript. */
function transition(name) {
  const [word, k] = name.split("_");
  const node = make("span", "transition", word);
  if (k) node.append(make("sub", "", k));
  return node;
}

/** Formats a list of nodes as in the paper's tables; keeps the end of a long list where transitions act. */
function row(name, nodes) {
  let parts = nodes;
  if (nodes.length > 5) {
    parts = name === "Buffer" ? [...nodes.slice(0, 2), "…", nodes.at(-1)] : [nodes[0], "…", ...nodes.slice(-2)];
  }
  return parts.length ? `[${parts.join(", ")}]` : "[ ]";
}

/** Formats an arc as in the paper's tables: the words in order, with an arrow to the dependent. */
function arrow(arc) {
  if (!arc) return "";
  return arc.head < arc.dependent ? `${arc.head} → ${arc.dependent}` : `${arc.dependent} ← ${arc.head}`;
}

/** Whether most letters are written from right to left; the drawings use the same rule. */
function isRightToLeft(words) {
  const letters = words.join("").match(/\p{L}/gu) ?? [];
  return 2 * letters.filter((letter) => /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(letter)).length > letters.length;
}

class Panel {
  constructor(derivation, words, goTo) {
    this.steps = derivation.steps;
    this.initial = derivation.initial;
    this.byModel = derivation.by === "model";
    this.system = derivation.system;
    this.attached = derivation.attached;
    this.arcs = this.steps.map((step) => step.taken.arc);
    const arcs = [...this.arcs.filter(Boolean), ...this.attached];
    this.picture = new Configuration(words, arcs, isRightToLeft(words));
    this.element = make("section", `panel ${derivation.by}`);
    this.element.setAttribute("aria-label", title(this.system));
    const head = make("header");
    head.append(make("h3", "", title(this.system)),
      make("p", "by", this.byModel ? "the model’s choices" : "the oracle’s way to the same tree"));
    this.count = make("p", "count");
    head.append(this.count);
    this.frame = new Frame();
    this.scroller = this.frame.scroller;
    this.scroller.addEventListener("scroll", () => this.placeNames(), { passive: true });
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "group");
    this.scroller.setAttribute("aria-label", "Configuration");
    this.scroller.append(this.picture.element);
    this.taken = make("div", "taken");
    this.table = this.makeTable(goTo);
    this.element.append(head, this.frame.element, this.taken, this.table);
  }

  makeTable(goTo) {
    const details = make("details");
    details.open = matchMedia("(min-width: 60rem)").matches;
    const summary = make("summary", "", "All configurations");
    const table = make("table");
    const head = make("tr");
    const names = Object.keys(this.initial);
    for (const title of ["Tran.", ...names.map(listName), "Arc"]) {
      const cell = make("th", "", title);
      cell.scope = "col";
      head.append(cell);
    }
    this.rows = [null, ...this.steps].map((step, index) => {
      const line = make("tr");
      const first = make("td");
      const button = make("button", "plain");
      button.type = "button";
      button.append(step ? transition(step.taken.name) : "start");
      button.addEventListener("click", () => goTo(this, index));
      first.append(button);
      line.append(first);
      const lists = step ? step.lists : this.initial;
      for (const name of names) line.append(make("td", "", row(name, lists[name])));
      line.append(make("td", "", arrow(step?.taken.arc)));
      return line;
    });
    const top = make("thead");
    top.append(head);
    const body = make("tbody");
    body.append(...this.rows);
    table.append(top, body);
    this.listing = make("div", "listing");
    this.listing.append(table);
    details.append(summary, this.listing);
    return details;
  }

  /** Shows the configuration after `index` steps; those after `before` are marked as new. */
  show(index, before) {
    const lists = index ? this.steps[index - 1].lists : this.initial;
    const arcs = this.arcs.slice(0, index).filter(Boolean);
    const fresh = this.arcs.slice(Math.min(before, index), index).filter(Boolean);
    if (index === this.steps.length) {
      arcs.push(...this.attached);
      fresh.push(...this.attached);
    }
    this.picture.show(lists, arcs, fresh);
    this.count.replaceChildren(make("b", "", String(index)), ` of ${this.steps.length} transitions`);
    this.showTaken(index, Math.min(before, index));
    this.rows.forEach((line, number) => {
      line.className = number === index ? "now" : "";
      if (number === index) line.setAttribute("aria-current", "step");
      else line.removeAttribute("aria-current");
    });
    this.follow(lists.Buffer?.[0] ?? this.picture.forms.length - 1, this.rows[index]);
  }

  /** Scrolls to the first word of the buffer and to the row of the table. */
  follow(node, line) {
    const behavior = scrollBehavior();
    const { width } = this.frame;
    this.picture.fit(width);
    this.scroller.scrollTo({ left: this.picture.scrollTo(node, width), behavior });
    this.placeNames();
    this.frame.showEdges();
    const top = line.offsetTop - this.listing.clientHeight / 2;
    this.listing.scrollTo({ top, behavior });
  }

  placeNames() {
    this.picture.placeNames(this.scroller.scrollLeft, this.frame.width);
  }

  showTaken(index, before) {
    if (index === 0) {
      this.taken.replaceChildren(make("p", "quiet", "The initial configuration."));
      return;
    }
    if (!this.byModel) {
      const line = make("p", "chips");
      for (const step of this.steps.slice(index > before ? before : index - 1, index)) {
        const chip = make("span", step.taken.arc ? "chip arc" : "chip");
        chip.append(transition(step.taken.name));
        if (step.taken.arc) chip.append(` ${step.taken.arc.relation}`);
        line.append(chip);
      }
      const idle = this.steps.slice(0, index).filter((step) => step.taken.name === "No-Arc").length;
      const note = idle ? `No-Arc so far: ${idle}. NL-Covington needs none.` : "";
      this.taken.replaceChildren(line, make("p", "quiet", note));
      return;
    }
    const step = this.steps[index - 1];
    const list = make("ol", "choices");
    [step.taken, ...step.alternatives].forEach((choice, rank) => {
      const item = make("li", rank ? "" : "best");
      const name = make("span", "name");
      name.append(transition(choice.name));
      if (choice.arc) {
        const { head, dependent, relation } = choice.arc;
        const forms = this.picture.forms;
        name.append(make("span", "relation", ` ${relation}`));
        const words = make("span", "words");
        words.append(make("bdi", "", forms[head]), " → ", make("bdi", "", forms[dependent]));
        name.append(words);
      }
      const bar = make("span", "bar");
      const [any, exact] = [make("i"), make("i")];
      any.style.width = `${100 * choice.any_relation}%`;
      exact.style.width = `${100 * choice.probability}%`;
      bar.append(any, exact);
      bar.setAttribute("aria-hidden", "true");
      item.append(name, bar, make("span", "share", percent(choice.probability)));
      if (choice.arc) item.title = `${percent(choice.any_relation)} with any relation`;
      list.append(item);
    });
    if (!step.alternatives.length) list.append(make("li", "quiet", "No other transition was legal."));
    this.taken.replaceChildren(list);
  }
}

export class Stepper {
  /** changed: is called after each step; closed: is called when the reader closes the stepper. */
  constructor(changed, closed) {
    Object.assign(this, { changed, closed });
    this.home = element("stepper");
    this.tick = 0;
    this.mode = "together";
    this.timer = 0;
    element("first").addEventListener("click", () => this.go(0));
    element("back").addEventListener("click", () => this.go(this.tick - 1));
    element("next").addEventListener("click", () => this.go(this.tick + 1));
    element("last").addEventListener("click", () => this.go(Infinity));
    element("play").addEventListener("click", () => this.play(!this.timer));
    element("slider").addEventListener("input", (event) => this.go(Number(event.target.value)));
    element("close-stepper").addEventListener("click", () => this.close());
    for (const radio of document.querySelectorAll("input[name=mode]")) {
      radio.addEventListener("change", () => this.setMode(radio.value));
    }
    // After a click on a mode, return the focus to the stepper and its keys; keyboard users keep theirs.
    element("modes").addEventListener("click", (event) => {
      if (event.detail) setTimeout(() => this.home.focus({ preventScroll: true }));
    });
    document.addEventListener("keydown", (event) => this.onKey(event));
  }

  get isOpen() {
    return !this.home.hidden;
  }

  open(response, tree, { step = 0, mode = "together" } = {}) {
    this.play(false);
    const goTo = (panel, index) => this.goTo(panel, index);
    this.panels = response.derivations.map((derivation) => new Panel(derivation, response.words, goTo));
    // Without its No-Arc transitions, Covington's derivation is NL-Covington's.
    this.long = this.panels.find((panel) => panel.system === "covington");
    this.short = this.panels.find((panel) => panel.system === "nl-covington");
    this.aligned = Boolean(this.long && this.short);
    element("modes").hidden = !this.aligned;
    element("panels").replaceChildren(...this.panels.map((panel) => panel.element));
    tree.after(this.home);
    this.home.hidden = false;
    element("comparison").textContent = this.compare();
    this.setMode(this.aligned ? mode : "race");
    this.go(step);
  }

  close() {
    this.hide();
    this.changed();
    this.closed();
  }

  hide() {
    this.play(false);
    this.home.hidden = true;
  }

  compare() {
    return this.panels
      .map((panel) => `${title(panel.system)} ${panel.steps.length}`).join(" · ") + " transitions";
  }

  setMode(mode) {
    this.mode = mode;
    for (const radio of document.querySelectorAll("input[name=mode]")) radio.checked = radio.value === mode;
    this.marks = null;
    if (mode === "together") {
      // The number of Covington's steps that match 0, 1, 2 … steps of NL-Covington.
      this.marks = [0];
      this.long.steps.forEach((step, index) => {
        if (step.taken.name !== "No-Arc") this.marks.push(index + 1);
      });
    }
    this.length = mode === "together" ? this.short.steps.length : Math.max(...this.panels.map((p) => p.steps.length));
    element("slider").max = this.length;
    this.go(Math.min(this.tick, this.length));
  }

  /** Returns how many steps a panel has taken at a tick. */
  index(panel, tick) {
    if (tick === this.length) return panel.steps.length; // includes words attached without a transition
    if (this.marks && panel === this.long) return this.marks[Math.min(tick, this.marks.length - 1)];
    return Math.min(tick, panel.steps.length);
  }

  goTo(panel, index) {
    let tick = index;
    if (this.marks && panel === this.long) tick = this.marks.findIndex((mark) => mark >= index);
    this.go(tick);
  }

  go(tick) {
    this.tick = Math.max(0, Math.min(this.length, tick));
    for (const panel of this.panels) {
      panel.show(this.index(panel, this.tick), this.index(panel, Math.max(0, this.tick - 1)));
      panel.element.classList.toggle("done", this.index(panel, this.tick) === panel.steps.length);
    }
    element("slider").value = this.tick;
    element("slider").setAttribute("aria-valuetext", `step ${this.tick} of ${this.length}`);
    element("position").textContent = `${this.tick} / ${this.length}`;
    element("back").disabled = element("first").disabled = this.tick === 0;
    element("next").disabled = element("last").disabled = this.tick === this.length;
    if (this.tick === this.length) this.play(false);
    this.changed();
  }

  play(playing) {
    clearInterval(this.timer);
    this.timer = 0;
    if (playing) {
      if (this.tick === this.length) this.go(0);
      this.timer = setInterval(() => this.go(this.tick + 1), TICK);
    }
    element("play").textContent = playing ? "Pause" : "Play";
  }

  onKey(event) {
    if (!this.isOpen || event.altKey || event.ctrlKey || event.metaKey) return;
    const target = event.target;
    if (target !== document.body && !this.home.contains(target)) return;
    if (target.matches("input:not([type=range])") && event.key !== "Escape") return;
    const moves = {
      ArrowRight: () => this.go(this.tick + 1), ArrowLeft: () => this.go(this.tick - 1),
      Home: () => this.go(0), End: () => this.go(Infinity), Escape: () => this.close(),
    };
    if (event.key === " " && !target.matches("button, summary, a")) moves[" "] = () => this.play(!this.timer);
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  }
}
