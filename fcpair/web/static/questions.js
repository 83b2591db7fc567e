// The questions of a form on the screen, kind by kind, from what the server says of each (`Form.as_json`). A question
// has an `element`, a `value` (what is chosen or typed so far, null while nothing is) and a `problem`: a sentence that
// says why the value is no answer yet, or "".

import { changed, difference, wordsOf } from "./difference.js";
import { directionOf, inWords, make, worded } from "./make.js";

const { t, tn } = globalThis.fcpairLanguage;
const MOST_BUTTONS = 21; // of a scale; one that is longer is a field
const LONGEST_TEXT = 20_000;

export const nWords = (text) => wordsOf(text).length; // as the server counts
const inNumber = (n) => tn("%(n)s word", "%(n)s words", n);
const inCharacters = (n) => tn("%(n)s character", "%(n)s characters", n);
const same = (one, other) => one.normalize("NFC").trim() === other.normalize("NFC").trim();

// Whether an answer to the question is one press of a button.
export function isPressed({ kind, choices }) {
  return kind === "one_of" || (kind === "scale" && choices.length <= MOST_BUTTONS);
}

// Whether what is typed for one choice may go on to another's.
export function goesOn(keys) {
  const ways = keys.flat();
  return ways.some((one) => ways.some((other) => other !== one && other.startsWith(one)));
}

// What people read of the answer that has this name; after a number, its wording.
export function textOfChoice({ kind, choices = [], texts = [] }, name) {
  const text = texts[choices.indexOf(String(name))];
  if (!text) return inWords(name);
  return kind === "scale" ? `${name} (${text})` : text;
}

// What stands on a choice: its number and its wording, or its wording in place of its name, and a line of help.
export function captionOf({ kind, choices, texts, helps }, at) {
  const [text, help] = [texts?.[at], helps?.[at]];
  const number = kind === "scale" && text ? [`${choices[at]} `] : [];
  const line = help ? [make("small", { class: "help", dir: directionOf(help) }, help)] : [];
  return [...number, worded(text, choices[at]), ...line];
}

// The colour that the study gives a choice, beside its words; see fcpair.css.
export const colourOf = ({ colours }, at) => ({ "data-colour": colours?.[at] ?? null });

// What the server is to be sent for the name of a choice.
export const valueOf = (question, name) => (question.kind === "scale" ? Number(name) : name);

class Choices {
  constructor(question, type, { id }) {
    const options = question.choices.map((name, at) => {
      const [ways, key] = [question.keys[at].join(" "), question.keys[at][0] ?? name];
      const shown = key === name ? [] : [make("kbd", { "aria-hidden": true }, key.toUpperCase())];
      const input = make("input", { type, name: id, value: name, "data-key": ways || null });
      return make("label", { class: "option", ...colourOf(question, at) }, input, ...shown, make("span", {}, ...captionOf(question, at)));
    });
    this.question = question;
    this.element = make("div", { class: "options", "data-n": question.choices.length }, ...options);
    this.inputs = [...this.element.querySelectorAll("input")];
  }

  get checked() {
    return this.inputs.filter((input) => input.checked).map((input) => valueOf(this.question, input.value));
  }

  set checked(values) {
    for (const input of this.inputs) input.checked = values.includes(valueOf(this.question, input.value));
  }

  // Lets the choices be made by their keys, or no longer; see keys.js.
  hearKeys(hears) {
    this.element.classList.toggle("hears", hears);
  }

  // Whether nothing is chosen yet.
  get isOpen() {
    return this.checked.length === 0;
  }
}

class One extends Choices {
  constructor(question, about) {
    super(question, "radio", about);
  }

  get value() {
    return this.checked[0] ?? null;
  }

  set value(value) {
    this.checked = [value];
  }

  get problem() {
    return this.value === null ? t("An answer is missing here.") : "";
  }
}

class Several extends Choices {
  constructor(question, about) {
    super(question, "checkbox", about);
    this.always = question.always ? about.column.body : null;
    const fixed = this.inputs.find((input) => input.value === this.always);
    if (fixed) Object.assign(fixed, { checked: true, disabled: true });
    fixed?.parentElement.querySelector("kbd")?.remove();
    const { min, max, choices } = question;
    const range = min === max ? tn("Choose exactly %(n)s.", "Choose exactly %(n)s.", min) : t("Choose %(min)s to %(max)s.", { min, max });
    const said = min || max < choices.length ? range : t("Choose any number, or none.");
    this.element.prepend(make("p", { class: "hint" }, said));
  }

  get isOpen() {
    return this.checked.every((name) => name === this.always);
  }

  get value() {
    return this.checked;
  }

  set value(value) {
    this.checked = [...(value ?? []), ...(this.always === null ? [] : [this.always])];
  }

  get problem() {
    const { min, max } = this.question;
    const n = this.value.length;
    if (!n && min) return t("Please choose at least %(min)s; none are chosen.", { min });
    if (n < min) return tn("Please choose at least %(min)s; %(n)s is chosen.", "Please choose at least %(min)s; %(n)s are chosen.", n, { min });
    return n > max ? tn("Please choose at most %(max)s; %(n)s is chosen.", "Please choose at most %(max)s; %(n)s are chosen.", n, { max }) : "";
  }
}

class Typed {
  constructor(question, { labelledby }) {
    const { low, high, step } = question;
    const said = (value) => textOfChoice(question, value);
    this.range = { low: said(low), high: said(high), step };
    const limits = { type: "number", inputmode: "decimal", min: low, max: high, step };
    this.input = make("input", { ...limits, "aria-labelledby": labelledby });
    this.element = make("div", {}, make("p", { class: "hint" }, t("A number from %(low)s to %(high)s by %(step)s.", this.range)), this.input);
    this.inputs = [this.input];
  }

  get value() {
    return this.input.value === "" ? null : this.input.valueAsNumber;
  }

  set value(value) {
    this.input.value = value ?? "";
  }

  get problem() {
    return this.value !== null && this.input.checkValidity() ? "" : t("Expected a number from %(low)s to %(high)s by %(step)s.", this.range);
  }
}

class Written {
  constructor(question, { id, labelledby, row, original }) {
    Object.assign(this, { question, row, original });
    const count = make("p", { class: "count", id: `${id}-count` });
    const field = { rows: 4, maxlength: LONGEST_TEXT, lang: (original ?? row).language ?? "" };
    this.input = make("textarea", { ...field, "aria-labelledby": labelledby, "aria-describedby": count.id });
    this.input.addEventListener("input", () => this.#follow());
    this.inputs = [this.input];
    this.count = count;
    this.element = make("div", { class: "written" }, this.input, count);
    this.value = null;
  }

  get value() {
    return this.input.value;
  }

  set value(value) {
    this.input.value = value ?? this.original?.body ?? "";
    this.#follow();
  }

  // Whether somebody has written here.
  get isWritten() {
    return !same(this.value, this.original?.body ?? "");
  }

  // The line below the text, and the way the text runs, follow what is typed.
  #follow() {
    this.input.dir = directionOf(this.value) ?? (this.original ?? this.row).direction;
    this.count.textContent = [inNumber(nWords(this.value)), this.#limits(), this.#unchanged()]
      .filter(Boolean)
      .join(" · ");
  }

  #limits() {
    const { min_words: least, max_words: most } = this.question;
    const n = nWords(this.value);
    if (n < least) return tn("%(n)s more needed", "%(n)s more needed", least - n);
    if (most !== null && n > most) return tn("%(n)s too many", "%(n)s too many", n - most);
    return most === null ? "" : tn("at most %(n)s", "at most %(n)s", most);
  }

  #unchanged() {
    return this.original && same(this.value, this.original.body) ? t("unchanged, which is an answer too") : "";
  }

  get problem() {
    return problemOf(this.value, this.question);
  }
}

// Why a text is no answer; "" where it is one.
function problemOf(text, { min_words: least, max_words: most, reasons }) {
  const n = nWords(text);
  if (n < least) return tn("%(n)s more word is needed: at least %(least)s.", "%(n)s more words are needed: at least %(least)s.", least - n, { least });
  if (most !== null && n > most) return tn("%(n)s word too many: at most %(most)s.", "%(n)s words too many: at most %(most)s.", n - most, { most });
  if (reasons && /^\s*reject\s*(:|$)/i.test(text)) return t("To reject the text, press Reject.");
  return /^\s*skip\s*$/i.test(text) ? t("To skip, press Skip.") : "";
}

// A text that was given is accepted, edited or rejected. The value is the kept text, or an object with the reason of the
// rejection, null while there is none; whether a text was edited is seen by comparing it with the original.
class Curated {
  constructor(question, about) {
    const { id } = about;
    Object.assign(this, { question, original: about.original?.body ?? "" });
    const { acts, reasons: choices, ...more } = question;
    [this.accept, this.edit, this.reject] = acts.choices;
    this.acts = new Choices(acts, "radio", { id: `${id}-act` });
    this.reasons = new Choices({ ...more, choices }, "radio", { id: `${id}-reason` });
    this.written = new Written(question, about);
    this.changes = new Changes(this.original, about);
    this.why = make("fieldset", { class: "why" }, make("legend", {}, t("Why is it rejected?")), this.reasons.element);
    this.editing = make("div", { class: "editing" }, this.written.element, this.changes.element);
    this.element = make("div", { class: "curated" }, this.acts.element, this.editing, this.why);
    this.element.addEventListener("input", () => this.#follow());
    this.value = null;
  }

  get act() {
    return this.acts.checked[0] ?? null;
  }

  get isOpen() {
    return this.act === null || (this.act === this.reject && this.reasons.isOpen);
  }

  get isWritten() {
    return this.act === this.edit && this.written.isWritten;
  }

  // The fields on which the answer rests now, of which the first gets the focus where something is wrong.
  get inputs() {
    if (this.act === this.edit) return this.written.inputs;
    return this.act === this.reject ? this.reasons.inputs : this.acts.inputs;
  }

  get value() {
    if (this.act === this.reject) return { reject: this.reasons.checked[0] ?? null };
    if (this.act === this.edit) return this.written.value;
    return this.act === this.accept ? this.original : null;
  }

  set value(value) {
    const isText = typeof value === "string";
    const kept = isText && same(value, this.original) ? this.accept : this.edit;
    this.acts.checked = value === null ? [] : [isText ? kept : this.reject];
    this.reasons.checked = value !== null && !isText ? [value.reject] : [];
    this.written.value = isText ? value : null;
    this.#follow();
  }

  #follow() {
    this.editing.hidden = this.act !== this.edit;
    this.why.hidden = this.act !== this.reject;
    if (this.act === this.edit) this.changes.show(this.written.value, this.written.input.dir);
  }

  hearKeys(hears) {
    this.acts.hearKeys(hears && this.act !== this.reject);
    this.reasons.hearKeys(hears && this.act === this.reject);
  }

  get problem() {
    if (this.act === null) return t("An answer is missing here.");
    if (this.act === this.reject) return this.reasons.checked.length ? "" : t("Please choose a reason.");
    const problem = problemOf(this.value, this.question);
    return this.act === this.accept && problem ? t("It cannot be accepted as it is. %(problem)s", { problem }) : problem;
  }
}

// What was changed, as one types: both texts in one, and how much it is.
class Changes {
  constructor(original, { id, original: given }) {
    const heading = make("h3", { id: `${id}-changes` }, t("What you changed"));
    this.original = original;
    this.text = make("p", { class: "given", lang: given?.language ?? "" });
    this.count = make("p", { class: "count" });
    const of = { class: "changes", "aria-labelledby": heading.id };
    this.element = make("section", of, heading, this.text, this.count);
  }

  show(edited, direction) {
    const { words, characters } = changed(this.original, edited);
    const isCounted = words !== null && characters !== null;
    this.element.hidden = words === 0 && characters === 0;
    this.text.dir = direction;
    this.text.replaceChildren(...difference(this.original, edited));
    this.count.textContent = isCounted
      ? t("%(words)s and %(characters)s changed", { words: inNumber(words), characters: inCharacters(characters) })
      : t("too much has changed to be counted here");
  }
}

const KINDS = { one_of: One, scale: One, any_of: Several, text: Written, edit: Written, curate: Curated };

// The question on the screen; `about` has an `id` of its own, the ids of what names it (`labelledby`), and the texts
// `row`, `column` and `original` (null where there is none).
export function ask(question, about) {
  const kind = question.kind === "scale" && !isPressed(question) ? Typed : KINDS[question.kind];
  return new kind(question, about);
}
