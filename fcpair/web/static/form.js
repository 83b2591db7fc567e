// A form that is saved: its questions, one block each, for one cell, for all cells of a row, or for a list of rows.

import { helpLine, make, replaced, textOf, worded } from "./make.js";
import { ask } from "./questions.js";

const { t, number } = globalThis.fcpairLanguage;

export const SKIP = "skip";

// A form of one question has that one's answer for its own; of several, each by its name.
const asValue = (form, answer) => (form.length > 1 ? (answer ?? {}) : { [form[0].name]: answer });
const WRITTEN = ["text", "edit", "curate"]; // kinds of questions whose answer the server checks
const EDITED = ["edit", "curate"]; // and those that are about a text that is given
const asAnswer = (form, value) => (form.length > 1 ? value : value[form[0].name]);

export class Form {
  #place;
  #form = [];
  #texts = {}; // what is read in place of names of rows and columns
  #isSingleColumn = false;
  #cells = []; // { task, blocks, skip }
  #blocks = [];
  #before = new Map(); // what each block, and each box that skips, held after the last change
  #changed;
  #mayPutAway;

  // `save()` is called when the keys ask for it, `changed()` when anything is chosen or typed; `mayPutAway()` asks the
  // person whether a text that they wrote is to be given up.
  constructor(place, { save, changed, mayPutAway }) {
    this.#place = place;
    this.#changed = changed;
    this.#mayPutAway = mayPutAway;
    place.addEventListener("input", ({ target }) => this.#take(target));
    place.addEventListener("typed", ({ target }) => {
      if (target.querySelector("[type=radio]")) this.#goOn(this.#blockOf(target)); // of several, more may be chosen
    });
    place.addEventListener("focusin", ({ target }) => this.#hear(this.#blockOf(target)));
    place.addEventListener("keydown", (event) => {
      const field = event.target.matches("textarea") ? event.ctrlKey || event.metaKey : event.target.type === "number";
      if (event.key === "Enter" && field && !event.isComposing) save();
    });
  }

  // Asks a round's form on cells; `answerOf(task)` is what is put in to begin with, if only in part, or null.
  show({ form, screen, texts, single_column }, tasks, answerOf) {
    const isRow = screen !== "cell";
    [this.#form, this.#texts, this.#isSingleColumn] = [form, texts, single_column];
    this.#cells = tasks.map((task, at) => this.#cell(task, isRow, { position: at + 1, isAmongOthers: tasks.length > 1 }));
    this.#blocks = this.#cells.flatMap((cell) => cell.blocks);
    const elements = screen === "list" ? listed(this.#cells, texts) : this.#cells.flatMap((cell) => cell.elements);
    this.#place.replaceChildren(...(this.#isNamedByColumns(isRow) ? introduction(form[0]) : []), ...elements);
    for (const { task, blocks, skip } of this.#cells) {
      const answer = answerOf(task);
      if (skip) skip.checked = answer === SKIP;
      const value = asValue(form, answer === SKIP ? null : answer);
      for (const block of blocks) block.question.value = value[block.name] ?? null;
      this.#unfold(blocks);
    }
    this.#remember();
    this.#hear(this.#heard().find(isOpen) ?? this.#heard()[0]);
  }

  clear() {
    this.#place.replaceChildren();
    [this.#cells, this.#blocks] = [[], []];
    this.#remember();
  }

  // What is in it: of each task the answer as far as it goes.
  get answers() {
    const asked = ({ blocks }) => blocks.filter(({ element }) => !element.hidden);
    const given = (cell) => Object.fromEntries(asked(cell).map(({ name, question }) => [name, question.value]));
    const answer = (cell) => (cell.skip?.checked ? SKIP : asAnswer(this.#form, given(cell)));
    return new Map(this.#cells.map((cell) => [cell.task, answer(cell)]));
  }

  // Whether nothing is missing; what is, is said beside the question.
  check() {
    const problemOf = (block) => block.question.problem || (this.#isRepeated(block) ? t("Please choose another answer than above.") : "");
    const wrong = this.#blocks.filter((block) => isAsked(block) && problemOf(block));
    for (const block of this.#blocks) this.#complain(block, wrong.includes(block) ? problemOf(block) : "");
    wrong[0]?.question.inputs[0].focus();
    return !wrong.length;
  }

  // Whether a question has the answer of the one that it may not be like.
  #isRepeated({ cell, unlike, question }) {
    const other = unlike && cell.blocks.find(({ name }) => name === unlike);
    return Boolean(other && isAsked(other) && other.question.value === question.value);
  }

  // Whether somebody has written a text that counts as it stands.
  get isWritten() {
    return this.#blocks.some(isWritten);
  }

  // Whether a text is asked for, which the server checks.
  get writes() {
    return this.#form.some(({ kind }) => WRITTEN.includes(kind));
  }

  // Says what the server remarked on the text of a task: as hints while one writes, and why it was not taken in the end.
  remark(task, remarks, { final }) {
    const block = this.#blocks.find(({ cell, hasText }) => hasText && cell.task === task);
    if (!block) return;
    const refused = remarks.filter(({ refuses }) => refuses);
    const hints = final ? remarks.filter(({ refuses }) => !refuses) : remarks;
    block.remarks.replaceChildren(...hints.map(({ sentence }) => make("li", {}, sentence)));
    this.#complain(block, final ? refused.map(({ sentence }) => sentence).join(" ") : "");
    if (final && refused.length) block.question.inputs[0].focus();
  }

  // Whether the columns of a row name what is asked.
  #isNamedByColumns(isRow) {
    return isRow && this.#form.length === 1 && !this.#isSingleColumn;
  }

  #cell(task, isRow, { position, isAmongOthers }) {
    const column = task.column ?? { body: number(position), direction: "ltr" }; // where the column is hidden
    const heading = replaced(column, this.#texts);
    const hasHeading = isRow && !this.#isSingleColumn;
    const help = this.#texts[column.body]?.help;
    const cell = { task, blocks: [], elements: [], skip: null };
    const id = `cell-${task.assignment_id}`;
    const isAlone = this.#isNamedByColumns(isRow);
    for (const question of this.#form) {
      const legend = { id: `${id}-${question.name}` };
      const named = isAlone ? textOf("legend", heading, legend) : make("legend", legend, worded(question.text, question.name));
      const lines = helpLine(isAlone ? help : question.help, `${legend.id}-help`);
      const labelledby = hasHeading && !isAlone ? `${id} ${legend.id}` : legend.id;
      const { row, column, original } = task;
      cell.blocks.push(this.#block(question, [named, ...lines], { id: legend.id, labelledby, row, column, original }));
      cell.blocks.at(-1).cell = cell;
    }
    cell.elements = cell.blocks.map((block) => block.element);
    const box = isAmongOthers ? [skipBox(cell)] : [];
    if (isAlone) cell.blocks[0].question.element.append(...box);
    else if (hasHeading) cell.elements = [cellOf(heading, id, [...helpLine(help), ...cell.elements, ...box])];
    else if (box.length) cell.elements.push(...box);
    return cell;
  }

  #block(asked, [legend, ...help], about) {
    const question = ask(asked, about);
    const problem = make("p", { class: "problem", role: "alert" });
    const isAbove = about.original?.body === about.row.body; // where the row itself is edited
    const isGiven = EDITED.includes(asked.kind) && about.original && !isAbove;
    const given = isGiven ? [original(about.original, about.id)] : [];
    const attributes = { class: `asked ${asked.kind}`, "aria-describedby": help[0]?.id ?? null };
    const element = make("fieldset", attributes, legend, ...help, ...given, question.element, problem);
    const remarks = make("ul", { class: "remarks", "aria-live": "polite" });
    const hasText = WRITTEN.includes(asked.kind);
    if (hasText) problem.before(remarks);
    return { name: asked.name, when: asked.when, unlike: asked.unlike, question, element, problem, remarks, hasText };
  }

  #complain({ problem, question }, sentence) {
    problem.textContent = sentence;
    const [field] = question.inputs;
    if (field.matches("textarea, [type=number]")) field.setAttribute("aria-invalid", sentence !== "");
  }

  // Takes a change. What would put away a text that somebody wrote is undone, and asked about first.
  async #take(target) {
    const block = this.#blockOf(target);
    const cell = this.#cells.find(({ skip }) => skip === target) ?? block?.cell;
    const box = cell?.skip ?? {};
    if (cell && target !== box) box.checked = false;
    if (cell) this.#unfold(cell.blocks);
    const isLost = (one) => this.#before.get(one)?.isWritten && !isWritten(one);
    if (!target.matches("textarea") && cell?.blocks.some(isLost)) {
      const wanted = [block?.question.value, box.checked];
      this.#put(cell, block, [this.#before.get(block)?.value, this.#before.get(box)]);
      if (!(await this.#mayPutAway())) return;
      this.#put(cell, block, wanted);
    }
    this.#settle(target, block, cell);
    this.#changed();
  }

  // Puts a value into one question of a cell, and says whether the cell is skipped.
  #put({ blocks, skip }, block, [value, isSkipped]) {
    if (block) block.question.value = value;
    if (skip) skip.checked = isSkipped;
    this.#unfold(blocks);
    if (block) this.#hear(block);
  }

  // After a change: what was wrong with a question is no longer said, and the keys go on to what follows where one press
  // answered this; not before more digits may follow on those that were typed.
  #settle(target, block, cell) {
    this.#remember();
    for (const one of cell?.blocks ?? []) if (one === block || target === cell.skip) this.#complain(one, "");
    const isSeveral = target.type === "checkbox" && target !== cell?.skip;
    if (isSeveral || target.closest("[data-typing]")) this.#hear(block);
    else this.#goOn(block ?? cell?.blocks.at(-1));
  }

  #remember() {
    const boxes = this.#cells.flatMap(({ skip }) => (skip ? [[skip, skip.checked]] : []));
    const held = this.#blocks.map((one) => [one, { value: one.question.value, isWritten: isWritten(one) }]);
    this.#before = new Map([...boxes, ...held]);
  }

  // The keys go on from one question: to what follows and is open, else to what is open before it. Where nothing is,
  // they stay with its choices; from a text they go to the choices that follow, or to none.
  #goOn(block) {
    const all = this.#heard();
    const after = all.filter((one) => this.#blocks.indexOf(one) > this.#blocks.indexOf(block));
    const open = after.find(isOpen) ?? (after.length && !block.question.hearKeys ? after[0] : all.find(isOpen));
    const next = open ?? (block.question.hearKeys ? block : null);
    if (next && next !== block) next.element.scrollIntoView({ block: "nearest" });
    this.#hear(next);
  }

  // Shows the questions of a cell that are asked after what has been answered, and no others. What was typed in one stays.
  #unfold(blocks) {
    const said = {};
    for (const { name, when, question, element } of blocks) {
      element.hidden = when !== undefined && !when.answers.includes(said[when.question]);
      if (!element.hidden) said[name] = question.value;
    }
  }

  #blockOf(element) {
    return this.#blocks.find((block) => block.element.contains(element));
  }

  // The questions that are asked now and have choices.
  #heard() {
    return this.#blocks.filter((block) => block.question.hearKeys && isAsked(block));
  }

  // Lets one question hear the keys, or none; a text leaves it as it is.
  #hear(block) {
    if (block && !block.question.hearKeys) return;
    for (const one of this.#blocks) one.question.hearKeys?.(one === block);
  }
}

const isAsked = ({ element, cell }) => !element.hidden && !cell.skip?.checked;
const isOpen = ({ question }) => question.isOpen;
const isWritten = (block) => isAsked(block) && Boolean(block.question.isWritten);

// One of several cells can be skipped alone; all of them by the button of the screen.
function skipBox(cell) {
  cell.skip = make("input", { type: "checkbox", "data-skips": "" });
  return make("label", { class: "option skips" }, cell.skip, make("span", {}, t("skip this")));
}

// What is asked in all columns of a row, where the study has words for it.
function introduction({ name, text, help }) {
  return text || help ? [make("div", { class: "introduction" }, ...(text ? [make("p", {}, worded(text, name))] : []), ...helpLine(help))] : [];
}

const cellOf = (column, id, elements) =>
  make("fieldset", { class: "cell" }, textOf("legend", column, { id }), ...elements);

// Cells under the text of their row.
function listed(cells, texts) {
  const rows = [];
  for (const cell of cells) {
    const last = rows.at(-1);
    if (last?.[0].task.row.body === cell.task.row.body) last.push(cell);
    else rows.push([cell]);
  }
  return rows.map((row) =>
    make("fieldset", { class: "listed" }, textOf("legend", replaced(row[0].task.row, texts)), ...row.flatMap((cell) => cell.elements)),
  );
}

function original(text, id) {
  const heading = make("h3", { id: `${id}-original` }, t("As it was given"));
  return make("section", { class: "original", "aria-labelledby": heading.id }, heading, textOf("p", text, { class: "given" }));
}
