// How much somebody wants to do today, as they set out themselves: kept in this browser for the day, and gone with it. It
// asks for nothing: when it is reached, that is said once, with the way to stop.

const PLACE = "fcpair-goal/";
const NONE = { n: null, isTold: false };

const today = () => new Date().toDateString();

export class Goal {
  #place;
  #here = NONE; // where the browser lets nothing be stored

  // `place` is one person's in one study.
  constructor(place) {
    this.#place = PLACE + place;
  }

  get #kept() {
    try {
      const kept = JSON.parse(localStorage.getItem(this.#place)) ?? this.#here;
      return kept.day === today() ? kept : NONE;
    } catch {
      return this.#here.day === today() ? this.#here : NONE;
    }
  }

  #keep(goal) {
    this.#here = { ...goal, day: today() };
    try {
      localStorage.setItem(this.#place, JSON.stringify(this.#here));
    } catch {
      // a full disk or a browser that keeps nothing: it stays in this page
    }
  }

  // The number; null where there is none for today.
  get n() {
    return this.#kept.n;
  }

  // Sets it, where `nDone` are done today already: what is reached by then is not said again.
  set(n, nDone) {
    const isNumber = Number.isInteger(n) && n > 0;
    this.#keep({ n: isNumber ? n : null, isTold: isNumber && nDone >= n });
  }

  // Whether it has just been reached; that is so once.
  isReachedBy(nDone) {
    const { n, isTold } = this.#kept;
    if (n === null || isTold || nDone < n) return false;
    this.#keep({ n, isTold: true });
    return true;
  }
}
