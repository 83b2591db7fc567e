// What is on the screen of the desk. Nothing here knows the server.

import { Form, SKIP } from "./form.js";
import { directionOf, helpLine, make, replaced, worded } from "./make.js";
import { captionOf, colourOf, goesOn, isPressed, textOfChoice, valueOf } from "./questions.js";
import { veil } from "./veil.js";

const element = (id) => document.getElementById(id);
const shown = (id, visible) => (element(id).hidden = !visible);
const { t, tn } = globalThis.fcpairLanguage;
const KINDS = { error: t("Error"), warning: t("Warning"), remark: t("Note") }; // of what is said above the texts
const TOO_FEW = t("time left: known after a few more answers");
const MOST_LISTED = 20; // questions on a list; of a longer row all the same
const HOW_TO_SAVE = [
  ["1", t("and so on: choose in the question that shows its keys: the one with the focus, or the next open one")],
  ["0", t("to 9 where a question has numbers: type the number; for a half, type the point alone (3.5 is 3 and the point)")],
  ["Enter", t("save; while you write, Ctrl Enter")],
];

export class View {
  #blurred;
  #rounds;
  #form;
  #goal;
  #forgetBanner = null;

  // `rounds` is what the person can be asked, as the server says it, with their `goal`; of a form that is saved, `save()`
  // and `changed()` are called as Form says.
  constructor(blurred, rounds, { goal, ...acts }) {
    this.#goal = goal;
    this.#blurred = blurred;
    this.#rounds = JSON.parse(rounds);
    this.#form = new Form(element("form"), { ...acts, mayPutAway });
  }

  get note() {
    return element("note").value;
  }

  // What is put in so far, by task; nothing where an answer is one press.
  get answers() {
    return this.#form.answers;
  }

  // Whether all is put in; what is missing is said.
  check() {
    return this.#form.check();
  }

  // Whether the screen may be skipped: who has written something is asked first.
  async maySkip() {
    return !this.#form.isWritten || mayPutAway();
  }

  // Whether the answer that another window gave may be replaced; `task` is null where several would be.
  mayReplace(task) {
    const question = task && this.#roundOf(task)?.form;
    const isName = task && (task.answer === SKIP || (question.length === 1 && isPressed(question[0])));
    const answer = isName ? `“${textOfChoice(question[0], task.answer)}”` : "";
    return agrees(
      `${t("Answered in another window")} ${answer}`.trim(),
      t("You have just answered %(this_noun)s in another window. Do you want to replace that answer by this one?"),
      t("Keep that one"),
      t("Replace it"),
    );
  }

  // Whether a text is asked for now, which the server checks; and what it remarked on that of a task, see Form.
  get writes() {
    return this.#form.writes;
  }

  remark(task, remarks, how) {
    this.#form.remark(task, remarks, how);
  }

  // What is asked of a task; undefined where this page does not know it.
  #roundOf(task) {
    const blind = task.decision_id !== null && task.shown === null;
    const isIts = (one) => one.grid === task.grid && one.round === task.round && one.blind === blind;
    return this.#rounds.find(isIts);
  }

  isAsked(task) {
    return this.#roundOf(task) !== undefined;
  }

  // Whether people qualify by a task, and read how they did before anything else.
  qualifiesBy(task) {
    return Boolean(this.#roundOf(task)?.qualifies);
  }

  set rounds(rounds) {
    this.#rounds = JSON.parse(rounds);
  }

  // How many of these tasks are on one screen: the first, or where the round says so, all that follow of its row, or of a
  // list with whole rows.
  nTogether([first, ...others]) {
    const screen = first && this.#roundOf(first)?.screen;
    if (screen !== "row" && screen !== "list") return first ? 1 : 0;
    const round = ({ grid, round }) => JSON.stringify([grid, round]);
    const place = (one) => JSON.stringify([round(one), one.row.body, one.answered?.body]);
    const tasks = [first, ...others];
    const isEnd = (one, at) => place(one) !== place(tasks[at + 1] ?? { row: {} });
    const ends = tasks.flatMap((one, at) => (isEnd(one, at) ? [at + 1] : []));
    if (screen === "row") return ends[0];
    return ends.findLast((n) => n <= MOST_LISTED && round(tasks[n - 1]) === round(first)) ?? ends[0];
  }

  // What the server is to be told when the button of this name is pressed.
  pressed(task, name) {
    return name === SKIP ? SKIP : valueOf(this.#roundOf(task).form[0], name);
  }

  // Shows a pair, or the pairs of a row, or of several; `earlier` when they have been answered before. `begunOf(task)` has the answer
  // and the note that were begun, null where none were; `last` is what was answered before, where it can be undone.
  show(tasks, earlier, begunOf, last) {
    const [task] = tasks;
    const round = this.#roundOf(task);
    this.#text("hs", replaced(task.row, round.texts), worded(round.row_text, round.row_name));
    if (task.column) this.#text("cn", replaced(task.column, round.texts), worded(round.column_text, round.column_name));
    element("cn-help").replaceChildren(...helpLine(round.texts[task.column?.body]?.help));
    for (const part of ["first", "again"]) shown(`calibration-${part}`, round.calibration === part);
    shown("before", task.answered !== null);
    if (task.answered) this.#text("answered-text", task.answered);
    shown("untranslated", task.untranslated !== null);
    if (task.untranslated) this.#text("untranslated-text", task.untranslated);
    shown("hs", round.screen !== "list");
    element("cn").parentElement.hidden = round.screen !== "cell" || task.column === null || round.single_column;
    element("note").value = begunOf(task)?.note ?? task.note;
    element("note").closest("details").open = element("note").value !== "";
    element("label").replaceChildren(worded(round.texts[task.shown]?.text, task.shown ?? ""));
    shown("label-line", task.shown !== null);
    shown("stands", !task.outdated);
    shown("outdated", task.outdated);
    shown("earlier", earlier);
    shown("forward", earlier);
    this.#offerUndo(last);
    const isOnePress = round.screen === "cell" && round.form.length === 1 && isPressed(round.form[0]);
    const below = begunOf(task) ? t("as you saved it; below is what you have not saved yet") : t("as it is below");
    const said = isOnePress || task.answer === SKIP ? textOfChoice(round.form[0], task.answer ?? "") : below;
    for (const id of ["answered", "lost"]) element(id).textContent = said;
    element("answers").replaceChildren(...(isOnePress ? buttons(round.form[0]) : []));
    if (isOnePress) this.#form.clear();
    else this.#form.show(round, tasks, (one) => begunOf(one)?.answer ?? one.answer);
    this.veil(this.#blurred);
    shown("save", !isOnePress);
    element("skip-word").textContent = tasks.length > 1 ? t("Skip all") : t("Skip");
    element("pair").classList.toggle("saved", !isOnePress);
    this.#keys(isOnePress ? keysOf(round.form[0]) : HOW_TO_SAVE);
    for (const button of document.querySelectorAll("[data-answer]")) {
      const isIt = button.dataset.answer === String(task.answer) && !task.outdated;
      if (earlier) button.setAttribute("aria-pressed", isIt);
      else button.removeAttribute("aria-pressed");
    }
    shown("waiting", false);
    shown("end", false);
    shown("reopen", false);
    shown("pair", true);
    window.scrollTo(0, 0);
    document.querySelector("#pair > .case").scrollTop = 0;
    element("hs-name").focus({ preventScroll: true });
  }

  // Says on the button what it undoes, where that is one answer.
  #offerUndo(last) {
    const question = last && this.#roundOf(last)?.form;
    const answer = question?.length === 1 || last?.answer === SKIP ? last.answer : null;
    const isName = ["string", "number"].includes(typeof answer) && (answer === SKIP || question[0].choices);
    shown("last", isName);
    element("last").replaceChildren(...(isName ? [make("bdi", {}, `“${textOfChoice(question[0], answer)}”`)] : []));
    element("back").title = isName ? t("Your last answer was “%(answer)s”.", { answer: textOfChoice(question[0], answer) }) : "";
  }

  #keys(keys) {
    document.querySelectorAll("dl [data-of-form]").forEach((line) => line.remove());
    const lines = keys.map(([key, what]) =>
      make("div", { "data-of-form": "" }, make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)),
    );
    document.querySelector(".keys dl").prepend(...lines);
  }

  #text(side, text, name) {
    if (name) element(`${side}-name`).replaceChildren(name);
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
    this.waiting(t("There are no more %(nouns)s for you now."), how);
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

  // Where pairs go to whoever asks (`more` says whether there are any), nobody has a share of which something is left.
  progress({ open, done, skipped, left_s, more = null, ...reading }) {
    shown("bar", more === null);
    element("bar").max = Math.max(done + skipped + open, 1);
    element("bar").value = done + skipped;
    const own = more === null ? tn("%(n)s open", "%(n)s open", open) : tn("%(n)s assigned to you", "%(n)s assigned to you", open);
    const counts = [tn("%(n)s answered", "%(n)s answered", done)];
    if (skipped) counts.push(tn("%(n)s skipped", "%(n)s skipped", skipped));
    element("count").textContent = [...counts, more ? t("more when you like") : own].join(t(", "));
    const time = left_s === null ? TOO_FEW : t("%(time)s left", { time: duration(left_s) });
    element("left").textContent = more === null ? time : "";
    element("reading").textContent = allowance(reading, this.#goal.n);
  }

  // For screen readers alone.
  say(sentence) {
    element("said").textContent = sentence;
  }

  // For everybody, until it is taken away: an error, a warning, or a note where it is `passing`, which leaves by itself.
  banner(sentence, { passing = false, link = "", kind = passing ? "remark" : "warning" } = {}) {
    clearTimeout(this.#forgetBanner);
    element("banner-text").textContent = sentence;
    element("banner-text").toggleAttribute("data-word", Boolean(sentence));
    if (sentence) element("banner-text").dataset.word = KINDS[kind];
    for (const one of Object.keys(KINDS)) element("banner").classList.toggle(one, sentence && one === kind);
    element("banner-link").textContent = link;
    shown("banner-link", link !== "");
    element("banner").classList.toggle("empty", !sentence);
    if (passing) this.#forgetBanner = setTimeout(() => this.banner(""), 8000);
  }
}

// "12 of 40 today · 112 of 400 in all": what has been read, and how much one may read, or wants to. A limit stands above
// a goal.
function allowance({ today, read, daily_limit, total_limit }, goal) {
  const isWithin = goal !== null && (daily_limit === null || goal < daily_limit);
  const most = isWithin ? goal : daily_limit;
  const beyond = isWithin && daily_limit !== null ? [t("(%(n)s at most)", { n: daily_limit })] : [];
  const done = most === null ? t("%(n)s today", { n: today }) : t("%(n)s of %(limit)s today", { n: today, limit: most });
  const day = [done, ...beyond].join(" ");
  return total_limit === null ? day : [day, t("%(n)s of %(limit)s in all", { n: read, limit: total_limit })].join(" · ");
}

// "about 35 minutes": no more exact than a pace can be.
export function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes <= 1) return t("about a minute");
  const inMinutes = (n) => tn("about %(n)s minute", "about %(n)s minutes", n);
  if (minutes < 90) return inMinutes(minutes <= 20 ? minutes : Math.round(minutes / 5) * 5);
  return tn("about %(n)s hour", "about %(n)s hours", Math.round(minutes / 30) / 2);
}

// Asks whether what somebody wrote is to be given up; it is not where they close the question.
const mayPutAway = () =>
  agrees(t("What you wrote"), t("If you go on with this answer, the text that you wrote is not kept."), t("Keep my text"), t("Drop it"));

// Whether somebody answers a question of the page by yes, which is the second of its buttons, and has the key D.
function agrees(name, text, no, yes) {
  const dialog = element("asks");
  element("asks-name").textContent = name;
  element("asks-text").textContent = text;
  element("asks-no").replaceChildren(`${no} `, make("kbd", {}, "K"));
  element("asks-yes").replaceChildren(`${yes} `, make("kbd", {}, "D"));
  return new Promise((resolve) => {
    const close = (isYes) => {
      dialog.close();
      resolve(isYes);
    };
    element("asks-no").onclick = () => close(false);
    element("asks-yes").onclick = () => close(true);
    dialog.oncancel = () => resolve(false);
    dialog.showModal();
  });
}

// All answers look alike: none is the expected one. What is asked stands above them where the study has words for it.
function buttons(question) {
  const { choices, keys, text, help } = question;
  const button = (name, at) => {
    const attributes = { type: "button", class: "outline", "data-answer": name, "data-key": keys[at].join(" ") || null };
    const [key] = keys[at];
    return make("button", { ...attributes, ...colourOf(question, at) }, ...(key ? [make("kbd", {}, key.toUpperCase()), " "] : []), ...captionOf(question, at));
  };
  const hint = goesOn(keys) ? [make("p", { class: "hint" }, t("Type the number; Enter answers with it."))] : [];
  const asked = text ? [make("p", { class: "introduction", id: "asked", dir: directionOf(text) }, text)] : [];
  const legend = text ? [] : [make("legend", { class: "visually-hidden" }, t("Your answer"))];
  const lines = helpLine(help, "asked-help");
  const about = { "aria-labelledby": text ? "asked" : null, "aria-describedby": help ? "asked-help" : null };
  return [...asked, ...lines, make("fieldset", { class: "answers hears", ...about }, ...legend, ...hint, ...choices.map(button))];
}

const keysOf = (question) =>
  question.choices.flatMap((name, at) => (question.keys[at].length ? [[question.keys[at][0].toUpperCase(), textOfChoice(question, name)]] : []));
