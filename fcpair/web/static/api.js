// The JSON API, as the pages use it: with the session's cookie and its guard against forged requests.

const { t } = globalThis.fcpairLanguage;
const PATIENCE_MS = 15_000;
const UNFIT = 422;
const CLOCK_MS = 5_000; // a clock that is off by less is right; a reply that took longer tells nothing

let ahead_ms = 0; // how much this device's clock is ahead of the server's

// Learns that from a reply to what was sent at a time.
export function compareClocks(reply, sent_ms) {
  const now_ms = Date.now();
  const apart_ms = now_ms - Date.parse(reply.headers.get("date"));
  if (now_ms - sent_ms < CLOCK_MS) ahead_ms = Math.abs(apart_ms) > CLOCK_MS ? apart_ms : 0;
}

export class Api {
  constructor(csrf) {
    this.csrf = csrf;
  }

  // Gives `{ status, body }`; status 0 stands for a server that could not be reached.
  async call(method, path, body) {
    const headers = { "X-CSRF-Token": this.csrf };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const sent_ms = Date.now();
      const response = await fetch(path, { method, headers, signal, body: body && JSON.stringify(body) });
      compareClocks(response, sent_ms);
      const text = await response.text();
      return { status: response.status, body: text ? JSON.parse(text) : null };
    } catch {
      return { status: 0, body: null };
    }
  }

  // Sends what somebody did at the time `name` of it, by the clock of this device, which may be wrong: it is put right by
  // the server's. What they did counts, whatever the server makes of that time.
  async submit(path, name, { [name]: at, ...done }) {
    const time = at && new Date(Date.parse(at) - ahead_ms).toISOString();
    const reply = await this.call("POST", path, time ? { ...done, [name]: time } : done);
    const isForTime = time && reply.status === UNFIT && String(reply.body?.detail).includes(time);
    return isForTime ? this.call("POST", path, done) : reply;
  }

  // What `fetch` sends a form of the page with.
  form(form) {
    return { method: "POST", headers: { "X-CSRF-Token": this.csrf }, body: new URLSearchParams(new FormData(form)) };
  }

  // The desk's page as it would be if it were loaded now, and what it would be told; `desk` is null when it would be
  // another page, and `isIn` says whether somebody is signed in to whom that is shown.
  async desk(path) {
    try {
      const response = await fetch(path);
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const desk = page.getElementById("desk")?.dataset ?? null;
      return { status: response.status, page, desk, isIn: page.querySelector("header.site") !== null };
    } catch {
      return { status: 0, desk: null };
    }
  }

  // Somebody may have come in anew in this browser since the page was loaded, which the server refuses like any forged
  // request. The desk's own address says with what to send something now, if the session is that of the person whose
  // outbox is at `place`: "same" or "renewed", with the `page`; else "stop", or "later" where the server does not say.
  async session(path, place) {
    const { status, page, desk, isIn } = await this.desk(path);
    if (meaning(status) === "later") return { session: "later" };
    if (desk?.place !== place) return { session: "stop", isIn };
    const session = desk.csrf === this.csrf ? "same" : "renewed";
    this.csrf = desk.csrf;
    return { session, page };
  }
}

// What a reply means for whoever waits for it: "done", "later" (ask again), "stop" (nobody is signed in), or "refused".
export function meaning(status) {
  if (status >= 200 && status < 300) return "done";
  if (status === 0 || status === 429 || status >= 500) return "later";
  return status === 401 ? "stop" : "refused";
}

// What the server says about why it refused.
export function sentence(reply) {
  const detail = reply.body?.detail;
  if (typeof detail !== "string") return t("This answer could not be used.");
  return detail[0].toUpperCase() + detail.slice(1) + (/[.!?]$/.test(detail) ? "" : ".");
}
