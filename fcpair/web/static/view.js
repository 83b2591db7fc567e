// What is on the screen of the desk. Nothing here knows the server.

import { veil } from "./veil.js";

const element = (id) => document.getElementById(id);
const shown = (id, visible) => (element(id).hidden = !visible);
const TOO_FEW = "time left: known after a few more answers";
const ANSWER_SETS = ["fieldset[data-asks-for]", "dl [data-asks-for]"]; // the buttons, and what the keys do
const answerSets = () => [...document.querySelectorAll(ANSWER_SETS)];
const asks = (set, task) => set.dataset.asksFor === (task.label === null ? "label" : "verdict"); // unseen, it is asked
const inWords = (answer) => answer.replaceAll("_", " ");

export class View {
  #blurred;
  #forgetBanner = null;
  #task = null; // on the screen

  constructor(blurred) {
    this.#blurred = blurred;
  }

  get note() {
    return element("note").value;
  }

  // Shows a pair; `earlier` when it is one that has been answered before.
  pair(task, earlier) {
    this.#text("hs", task.hs);
    this.#text("cn", task.cn);
    this.veil(this.#blurred);
    element("note").value = task.note;
    element("note").closest("details").open = task.note !== "";
    element("label").textContent = inWords(task.label ?? "");
    shown("label-line", task.label !== null);
    for (const id of ["answered", "lost"]) element(id).textContent = inWords(task.answer ?? "");
    shown("stands", !task.outdated);
    shown("outdated", task.outdated);
    shown("earlier", earlier);
    shown("forward", earlier);
    this.#task = task;
    this.#showAnswers();
    for (const button of document.querySelectorAll("[data-answer]")) {
      if (earlier) button.setAttribute("aria-pressed", button.dataset.answer === task.answer && !task.outdated);
      else button.removeAttribute("aria-pressed");
    }
    shown("waiting", false);
    shown("end", false);
    shown("reopen", false);
    shown("pair", true);
    window.scrollTo(0, 0);
    element("hs-name").focus({ preventScroll: true });
  }

  // Whether there are buttons for what is asked of the pair.
  hasAnswersFor(task) {
    return answerSets().some((set) => asks(set, task));
  }

  // Puts the buttons of a page that was loaded later in the place of those that are there, and what it says of keys.
  takeAnswersOf(page) {
    for (const sets of ANSWER_SETS) {
      const [first, ...others] = document.querySelectorAll(sets);
      others.forEach((set) => set.remove());
      first.replaceWith(...page.querySelectorAll(sets));
    }
    this.#showAnswers();
  }

  #showAnswers() {
    for (const set of answerSets()) set.hidden = !this.#task || !asks(set, this.#task);
  }

  #text(side, text) {
    const place = element(side);
    place.textContent = text.body;
    place.scrollTop = 0;
    place.dir = text.direction;
    place.lang = text.language ?? "";
  }

  // Instead of a pair: why there is none, and the way back to one's own answers where there are any.
  waiting(sentence, { undoable = false } = {}) {
    element("waiting").textContent = sentence;
    shown("waiting", true);
    shown("end", false);
    shown("reopen", undoable);
    shown("pair", false);
  }

  // Instead of a pair: there is none left, and the way on.
  end(how) {
    this.waiting("There is no further pair for you now.", how);
    shown("end", true);
  }

  // Hides the HS, or shows it.
  veil(hidden) {
    veil(hidden);
    shown("reveal", hidden || this.#blurred);
  }

  set blurred(blurred) {
    this.#blurred = blurred;
    this.veil(blurred);
  }

  progress({ open, done, skipped, left_s, ...reading }) {
    element("bar").max = Math.max(done + skipped + open, 1);
    element("bar").value = done + skipped;
    element("count").textContent = `${done} answered, ${skipped ? `${skipped} skipped, ` : ""}${open} open`;
    element("left").textContent = left_s === null ? TOO_FEW : `${duration(left_s)} left`;
    element("reading").textContent = allowance(reading);
  }

  // For screen readers alone.
  say(sentence) {
    element("said").textContent = sentence;
  }

  // For everybody, until it is taken away; `passing` ones leave by themselves.
  banner(sentence, { passing = false, link = "" } = {}) {
    clearTimeout(this.#forgetBanner);
    element("banner-text").textContent = sentence;
    element("banner-link").textContent = link;
    shown("banner-link", link !== "");
    element("banner").classList.toggle("empty", !sentence);
    if (passing) this.#forgetBanner = setTimeout(() => this.banner(""), 8000);
  }
}

// "12 of 40 today · 112 of 400 in all": what has been read, and how much one may read.
function allowance({ today, read, daily_limit, total_limit }) {
  const day = daily_limit === null ? `${today} today` : `${today} of ${daily_limit} today`;
  return total_limit === null ? day : `${day} · ${read} of ${total_limit} in all`;
}

// "about 35 minutes": no more exact than a pace can be.
export function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes <= 1) return "about a minute";
  if (minutes <= 20) return `about ${minutes} minutes`;
  if (minutes < 90) return `about ${Math.round(minutes / 5) * 5} minutes`;
  return `about ${Math.round(minutes / 30) / 2} hours`;
}
