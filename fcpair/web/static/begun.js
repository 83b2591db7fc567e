// What is begun and not saved, a form or a note, by the number of its task: kept in this browser, so that a reload, a
// lost connection or a closed window costs nothing. It goes when it is saved, when its person leaves (see draft.js), or
// after a month.

const PLACE = "fcpair-draft/answer/";
const LONGEST_MS = 30 * 24 * 3600 * 1000;

export class Begun {
  #place;
  #here = new Map(); // what this page knows, also where the browser lets nothing be stored

  // `place` is one person's in one study.
  constructor(place) {
    this.#place = `${PLACE}${place}/`;
    try {
      Object.keys(localStorage).filter(isOld).forEach((key) => localStorage.removeItem(key));
    } catch {
      // nothing is stored, so nothing is old
    }
  }

  keep(id, { answer, note }) {
    this.#here.set(id, { answer, note });
    try {
      localStorage.setItem(this.#place + id, JSON.stringify({ answer, note, at: Date.now() }));
    } catch {
      // a full disk or a browser that keeps nothing: it stays in this page
    }
  }

  // What was begun on a task, as it was given to `keep`; null where nothing was.
  of(id) {
    try {
      return JSON.parse(localStorage.getItem(this.#place + id)) ?? this.#here.get(id) ?? null;
    } catch {
      return this.#here.get(id) ?? null;
    }
  }

  // The numbers of the tasks on which something is kept.
  get ids() {
    try {
      const keys = Object.keys(localStorage).filter((key) => key.startsWith(this.#place));
      return keys.map((key) => Number(key.slice(this.#place.length)));
    } catch {
      return [];
    }
  }

  // Gives what is kept under old numbers the new ones, by which nothing has been kept yet.
  renumber(numbers) {
    for (const [old, id] of Object.entries(numbers)) {
      const kept = this.of(old);
      if (kept && !this.of(id)) this.keep(id, kept);
      this.forget(old);
    }
  }

  forget(id) {
    this.#here.delete(id);
    try {
      localStorage.removeItem(this.#place + id);
    } catch {
      // nothing is stored
    }
  }
}

function isOld(key) {
  if (!key.startsWith(PLACE)) return false;
  return !(Date.now() - JSON.parse(localStorage.getItem(key)).at < LONGEST_MS);
}
