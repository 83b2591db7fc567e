// Answers on their way: kept in localStorage until the server has them, so that a reload or a lost connection loses
// none. They are sent in order, one at a time; a repeated one carries the same request id and is stored once. So are
// decisions.

const LONGEST_WAIT_MS = 30_000;

export class Outbox {
  #place;
  #items = []; // what is kept when the browser lets nothing be stored
  #send;
  #onSent;
  #onUnsent;
  #onElsewhere;
  #merge;
  #prepare;
  #sending = null;
  #underWay = null; // the request id of what is being sent
  #failures = 0;
  #timer = null;

  // `send(item)` gives "done" (the server has it, or will never take it), "later" or "stop"; `onSent()`, called when
  // nothing is left, gives the same about what it asks of the server; `onUnsent(n)` hears how many are kept,
  // and `onElsewhere(items)` what another window of this browser has put there. `merge(before, item)` gives what takes
  // the place of an item that is not under way when another is added, null where both are sent. `prepare()` is called
  // before any is sent, and gives what `send` does.
  constructor(place, { send, onSent, onUnsent, onElsewhere, merge = () => null, prepare = () => "done" }) {
    this.#place = place;
    this.#send = send;
    this.#onSent = onSent;
    this.#onUnsent = onUnsent;
    this.#onElsewhere = onElsewhere;
    this.#merge = merge;
    this.#prepare = prepare;
    window.addEventListener("storage", ({ key, newValue }) => {
      if (key === place && newValue) this.#onElsewhere([...JSON.parse(newValue), ...this.items]);
    });
    for (const moment of ["online", "focus"]) window.addEventListener(moment, () => this.flush());
  }

  get items() {
    try {
      return JSON.parse(localStorage.getItem(this.#place) ?? "[]");
    } catch {
      return this.#items;
    }
  }

  #keep(items) {
    this.#items = items;
    try {
      if (items.length) localStorage.setItem(this.#place, JSON.stringify(items));
      else localStorage.removeItem(this.#place);
    } catch {
      // A full disk or a browser that keeps nothing: the answers stay in this page.
    }
  }

  add(item) {
    const items = this.items;
    for (const before of items) {
      const merged = before.request_id === this.#underWay ? null : this.#merge(before, item);
      if (merged) return this.#keep(items.map((one) => (one === before ? merged : one)));
    }
    this.#keep([...items, item]);
  }

  // Puts what `change` gives of each item in its place; nothing where that is null.
  change(change) {
    this.#keep(this.items.map(change).filter(Boolean));
  }

  // Takes back what the server cannot have yet; whether that could be done.
  withdraw(requestId) {
    const items = this.items;
    const isUntried = items.some((one) => one.request_id === requestId && !one.isTried);
    if (isUntried) this.#keep(items.filter((one) => one.request_id !== requestId));
    return isUntried;
  }

  // Sends what is there; true when nothing is left. Several callers share one sending.
  flush() {
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = null));
    return this.#sending;
  }

  async #sendAll() {
    clearTimeout(this.#timer);
    const readiness = await this.#prepare();
    if (readiness !== "done") return this.#wait(readiness);
    do {
      for (let item = this.items[0]; item; item = this.items[0]) {
        this.#underWay = item.request_id;
        this.#keep(this.items.map((one) => (one.request_id === item.request_id ? { ...one, isTried: true } : one)));
        const outcome = await this.#send(item);
        this.#underWay = null;
        if (outcome !== "done") return this.#wait(outcome);
        this.#failures = 0;
        this.#keep(this.items.filter((one) => one.request_id !== item.request_id));
      }
      const outcome = await this.#onSent();
      if (outcome !== "done") return this.#wait(outcome);
    } while (this.items.length); // answered while onSent was asking
    return true;
  }

  #wait(outcome) {
    this.#failures += 1;
    if (outcome === "later") {
      this.#onUnsent(this.items.length);
      const wait = Math.min(1000 * 2 ** (this.#failures - 1), LONGEST_WAIT_MS);
      this.#timer = setTimeout(() => this.flush(), wait);
    }
    return false;
  }
}

// crypto.randomUUID is there on https and localhost only; random values are there everywhere.
export function requestId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
