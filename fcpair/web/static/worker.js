// The service worker: opens the desk when the server cannot be reached. What is kept for that is written by the desk
// (kept.js); here it is only read, and forgotten. Whatever the server says in time goes before what is kept.

importScripts("/static/kept-names.js");

const kept = self.fcpairKept;
const DESKS = new Set(["/annotate", "/validate"]);
const PATIENCE_MS = 4_000;
const REFUSED = new Set([401, 403]);
const NOT_REACHED = new Set([502, 504]); // says what stands before the server
const LEAVE = "/leave";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin) return;
  if (request.mode === "navigate" && request.method === "POST") event.respondWith(send(request, pathname));
  else if (request.mode === "navigate") event.respondWith(open(request, pathname));
  else if (pathname.startsWith("/static/")) event.respondWith(file(request));
});

async function open(request, pathname) {
  const page = await keptPage(pathname);
  const response = await reached(request, page ? PATIENCE_MS : null);
  if (response && response.status < 500) {
    const isShut = response.type === "opaqueredirect" || REFUSED.has(response.status);
    if (DESKS.has(pathname) && isShut) await kept.forget();
    return response;
  }
  return page ?? response ?? (await caches.match(kept.NO_CONNECTION)) ?? Response.error();
}

// Who sends a form leaves, comes in, agrees, or changes what they wish to read: what is kept is out of date as soon as
// the server has it. Who leaves wants it gone in any case, and is told when they have not left.
async function send(request, pathname) {
  const leaves = pathname === LEAVE;
  if (leaves) await kept.forget();
  const response = await reached(request, null);
  if (response && response.status < 500) {
    await kept.forget();
    return response;
  }
  if (response && !leaves && !NOT_REACHED.has(response.status)) return response; // the server says why
  return (await caches.match(leaves ? kept.NOT_LEFT : kept.NOT_SENT)) ?? response ?? Response.error();
}

// The server's response; null when there is none, or none in time.
async function reached(request, patience_ms) {
  const response = fetch(request).catch(() => null);
  return patience_ms === null ? response : Promise.race([response, after(patience_ms)]);
}

function after(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms, null));
}

// The desk as it is kept, or from the start page the way there; null where there is none, or none that is fresh.
async function keptPage(pathname) {
  if (pathname !== "/" && !DESKS.has(pathname)) return null;
  const cache = await caches.open(kept.PAGE);
  const [desk] = (await cache.keys()).map(({ url }) => new URL(url).pathname).filter((one) => DESKS.has(one));
  const page = desk && (await cache.match(desk));
  if (page && !kept.isFresh(page.headers.get(kept.AT))) {
    await kept.forget();
    return null;
  }
  if (pathname === "/") return page ? Response.redirect(desk, 303) : null;
  return pathname === desk ? page : null;
}

async function file(request) {
  const found = await caches.match(request);
  if (!found) return fetch(request);
  const response = await reached(request, PATIENCE_MS);
  return response?.ok ? response : found;
}
