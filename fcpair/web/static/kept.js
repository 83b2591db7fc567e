// What the desk needs to go on without a connection: its page and files, the texts of the next pairs, and those of
// answers that are not sent yet, so that these can be undone. It is kept in Cache Storage, which the service worker
// (worker.js) reads too; browsers have both on https and localhost only, and elsewhere nothing is kept. Texts are kept
// until their answer is with the server, and no longer than a day after the server gave them.

import "./kept-names.js";

const names = globalThis.fcpairKept;
const WORKER = "/worker.js";
const TEXTS = "/kept-texts";

function isPossible() {
  return "serviceWorker" in navigator && "caches" in globalThis;
}

export class Kept {
  #place;
  #version;
  #forgotten = false;
  #last = Promise.resolve(); // writings take place one after the other

  // `place` is one person's in one study; `version` is that of the files, empty where the study wants nothing kept.
  constructor(place, version) {
    this.#place = place;
    this.#version = version;
    if (!version) forgetAll();
    else if (isPossible()) {
      new BroadcastChannel(names.CHANNEL).addEventListener("message", () => (this.#forgotten = true));
    }
  }

  get isOn() {
    return Boolean(this.#version) && isPossible() && !this.#forgotten;
  }

  #write(act) {
    if (this.isOn) this.#last = this.#last.then(act).catch(() => {}); // a full disk: it goes on without
    return this.#last;
  }

  // Keeps this page as the server has it now, with the files that it consists of.
  keepPage() {
    return this.#write(async () => {
      await navigator.serviceWorker.register(WORKER);
      const response = await fetch(location.pathname);
      const body = await response.text();
      const desk = new DOMParser().parseFromString(body, "text/html").getElementById("desk")?.dataset;
      if (desk?.files === "") return this.#switchOff();
      if (!response.ok || desk?.place !== this.#place || desk.files !== this.#version) return;
      await this.#keepFiles();
      const headers = new Headers(response.headers); // the content security policy among them
      headers.set(names.AT, Date.now());
      await this.#put(location.pathname, new Response(body, { headers }));
    });
  }

  async #keepFiles() {
    const files = await caches.open(names.FILES + this.#version);
    const loaded = performance.getEntriesByType("resource").map(({ name }) => new URL(name));
    const own = loaded.filter((url) => url.origin === location.origin && url.pathname.startsWith("/static/"));
    for (const url of new Set([...own.map(String), names.NO_CONNECTION, names.NOT_SENT, names.NOT_LEFT])) {
      if (!(await files.match(url))) await files.add(url);
    }
    for (const name of await caches.keys()) {
      if (name.startsWith(names.FILES) && name !== names.FILES + this.#version) await caches.delete(name);
    }
  }

  async #put(key, response) {
    const cache = await caches.open(names.PAGE);
    if (this.isOn) await cache.put(key, response);
    if (!this.isOn) await caches.delete(names.PAGE); // forgotten meanwhile, by another page
  }

  // Keeps the open pairs, and the answered ones whose answers are in `unsent`; `at` is when the server gave them.
  keepTexts({ open, answered, unsent, progress, exhausted, at }) {
    return this.#write(async () => {
      const waiting = new Set(unsent.map((item) => item.assignment_id));
      const known = [...((await this.#texts())?.answered ?? []), ...answered]; // another window may have kept some
      const kept = new Map(known.map((task) => [task.assignment_id, task]));
      const texts = [...kept.values()].filter((task) => waiting.has(task.assignment_id));
      const [place, version] = [this.#place, this.#version];
      const body = JSON.stringify({ place, version, at, open, answered: texts, progress, exhausted });
      await this.#put(TEXTS, new Response(body, { headers: { "Content-Type": "application/json" } }));
    });
  }

  async #texts() {
    const found = await (await (await caches.open(names.PAGE)).match(TEXTS))?.json();
    const isOurs = found?.place === this.#place && found.version === this.#version; // another's may look different
    return isOurs && names.isFresh(found.at) ? found : null;
  }

  // What was kept, less what has been answered since: as `keepTexts` takes it; null where nothing is.
  async restore(unsent) {
    if (!this.isOn) return null;
    const found = await this.#texts().catch(() => null);
    if (!found) return null;
    const given = new Map(unsent.map((item) => [item.assignment_id, item]));
    const texts = new Map([...found.open, ...found.answered].map((task) => [task.assignment_id, task]));
    const answered = [...given.values()].filter((item) => texts.has(item.assignment_id));
    return {
      ...found,
      open: found.open.filter((task) => !given.has(task.assignment_id)),
      answered: answered.map(({ assignment_id, answer, note, shown }) => ({
        ...texts.get(assignment_id),
        answer,
        note,
        given: shown,
        outdated: false,
      })),
    };
  }

  // The study wants nothing kept any more, since this page was made.
  #switchOff() {
    this.#forgotten = true;
    return forgetAll();
  }

  // Deletes texts and page, here and in every window, and keeps no more until the page is loaded again.
  async forget() {
    this.#forgotten = true;
    if (isPossible()) await names.forget();
  }
}

// Deletes everything that any desk has kept in this browser, but for answers that are not sent yet.
export async function forgetAll() {
  if (!isPossible()) return;
  await names.forget();
  for (const name of await caches.keys()) if (name.startsWith(names.FILES)) await caches.delete(name);
  const registration = await navigator.serviceWorker.getRegistration();
  if (registration?.active?.scriptURL === new URL(WORKER, location.origin).href) await registration.unregister();
}
