// The lead's overview: panels are read anew by themselves, until the reader stops it or leaves the page in the
// background. A panel that has not changed is left alone, and so is one in which somebody is reading or typing.

const EVERY_MS = 20_000;
const STOPPED = "fcpair-lead-stopped";
const panels = [...document.querySelectorAll("[data-panel]")];
const now = document.getElementById("refresh-now");
const stop = document.getElementById("refresh-stop");
const said = document.getElementById("refreshing");
let stopped = sessionStorage.getItem(STOPPED) === "yes";

function refresh() {
  for (const panel of panels) {
    if (!panel.contains(document.activeElement)) htmx.trigger(panel, "refresh");
  }
}

function show() {
  stop.setAttribute("aria-pressed", String(stopped));
  said.textContent = stopped ? "The page stays as it is." : `The page is kept up to date, every ${EVERY_MS / 1000} seconds.`;
}

function tick() {
  if (!stopped && !document.hidden) refresh();
}

stop.addEventListener("click", () => {
  stopped = !stopped;
  sessionStorage.setItem(STOPPED, stopped ? "yes" : "no");
  show();
  tick();
});
now.addEventListener("click", refresh);
document.addEventListener("visibilitychange", tick);
setInterval(tick, EVERY_MS);

document.addEventListener("htmx:configRequest", (event) => {
  const shown = event.detail.elt.querySelector("[data-digest]");
  if (shown) event.detail.parameters.seen = shown.dataset.digest;
});
document.addEventListener("htmx:beforeRequest", (event) => event.detail.elt.setAttribute("aria-busy", "true"));
document.addEventListener("htmx:afterRequest", (event) => event.detail.elt.removeAttribute("aria-busy"));

// What was scrolled sideways stays so.
let scrolled = [];
document.addEventListener("htmx:beforeSwap", (event) => {
  scrolled = [...event.detail.target.querySelectorAll(".scroll")].map((region) => region.scrollLeft);
});
document.addEventListener("htmx:afterSwap", (event) => {
  event.detail.target.querySelectorAll(".scroll").forEach((region, at) => {
    region.scrollLeft = scrolled[at] ?? 0;
  });
});

now.hidden = stop.hidden = false;
show();
