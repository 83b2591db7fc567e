// The JSON API, as the pages use it: with the session's cookie and its guard against forged requests.

const PATIENCE_MS = 15_000;

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
      const response = await fetch(path, { method, headers, signal, body: body && JSON.stringify(body) });
      const text = await response.text();
      return { status: response.status, body: text ? JSON.parse(text) : null };
    } catch {
      return { status: 0, body: null };
    }
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
  if (typeof detail !== "string") return "This answer could not be used.";
  return detail[0].toUpperCase() + detail.slice(1) + (/[.!?]$/.test(detail) ? "" : ".");
}
