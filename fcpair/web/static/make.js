// An element with attributes (those that are null are left out) and children; strings become text, never markup.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// The name of an answer or of a question, as people read it.
export const inWords = (name) => String(name).replaceAll("_", " ");

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
