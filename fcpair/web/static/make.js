// An element with attributes (those that are null are left out) and children; strings become text, never markup.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// The name of an answer or of a question, as people read it.
export const inWords = (name) => globalThis.fcpairLanguage.nameOf(String(name).replaceAll("_", " "));

// What the study wants people to read in place of a name, where it says anything; the text runs its own way.
export const worded = (text, name) => (text ? make("bdi", { dir: directionOf(text) }, text) : inWords(name));

// A text of the study, or what is read in its place where it is a name with a wording (`texts` of a round).
export function replaced(text, texts) {
  const wording = texts[text.body]?.text;
  return wording ? { body: wording, language: null, direction: directionOf(wording) ?? text.direction } : text;
}

// A line of help below what it is about; nothing where there is none.
export const helpLine = (help, id = null) => (help ? [make("p", { class: "help", id, dir: directionOf(help) }, help)] : []);

// Which way most letters of a text run; null where it has none.
export function directionOf(text) {
  const letters = text.match(/\p{L}/gu) ?? [];
  const leftward = letters.filter((one) => /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/.test(one)).length;
  if (!letters.length) return null;
  return leftward > letters.length - leftward ? "rtl" : "ltr";
}

// An element that shows a text of the study.
export function textOf(tag, text, attributes = {}) {
  return make(tag, { dir: text.direction, lang: text.language ?? "", ...attributes }, text.body);
}
