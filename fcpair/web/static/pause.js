// When a pause is due: after so many pairs or so many minutes of work since the last one. Ten minutes without an
// answer were a pause. The count outlives a reload, not the tab.

const { t, tn, nNouns } = globalThis.fcpairLanguage;
const IDLE_MS = 10 * 60_000;
const PLACE = "fcpair-since-pause";

export class Pause {
  #pairs;
  #minutes;
  #here = null; // the count where the browser lets nothing be stored

  constructor(pairs, minutes) {
    this.#pairs = pairs;
    this.#minutes = minutes;
  }

  #count() {
    const none = { answered: 0, worked_ms: 0, last: Date.now() };
    try {
      return JSON.parse(sessionStorage.getItem(PLACE)) ?? none;
    } catch {
      return this.#here ?? none;
    }
  }

  #keep(count) {
    this.#here = count;
    try {
      sessionStorage.setItem(PLACE, JSON.stringify(count));
    } catch {
      // it holds for this page
    }
  }

  // Counts one answer; returns why a pause is due, or null.
  answered() {
    const count = this.#count();
    const gap = Date.now() - count.last;
    if (gap > IDLE_MS) return this.start(1);
    count.answered += 1;
    count.worked_ms += gap;
    count.last = Date.now();
    this.#keep(count);
    if (count.answered >= this.#pairs) {
      return t("You have answered %(n_nouns)s since your last pause.", { n_nouns: nNouns(count.answered) });
    }
    const minutes = Math.round(count.worked_ms / 60_000);
    return minutes >= this.#minutes ? tn("You have been at work for %(n)s minute.", "You have been at work for %(n)s minutes.", minutes) : null;
  }

  // Begins to count anew, after a pause.
  start(answered = 0) {
    this.#keep({ answered, worked_ms: 0, last: Date.now() });
    return null;
  }
}
