// The lead's pages: panels are read anew by themselves, until the reader stops it or leaves the page in the
// background. A panel that has not changed is left alone, and so is one in which somebody is reading or typing. They are
// read one after the other, because the server lets those who answer go first: it may say when to come back.

const { t, tn } = globalThis.fcpairLanguage;
const EVERY_MS = 20_000;
const BUSY = 503;
const LATER_S = 3; // where the server does not say when
const STOPPED = "fcpair-lead-stopped";
const panels = [...document.querySelectorAll("[data-panel]")];
const now = document.getElementById("refresh-now");
const stop = document.getElementById("refresh-stop");
const said = document.getElementById("refreshing");
let stopped = sessionStorage.getItem(STOPPED) === "yes";
let due = []; // panels that are still to be read, the first of them now
let reading = false;

function refresh() {
  due = [...due, ...panels.filter((panel) => !due.includes(panel))];
  readNext();
}

function readNext() {
  while (!reading && due.length) {
    if (due[0].contains(document.activeElement)) {
      due.shift();
      continue;
    }
    reading = true;
    htmx.trigger(due[0], "refresh");
  }
}

// After a panel comes the next, or the same one again when the server has time for it.
function goOn({ detail }) {
  detail.elt.removeAttribute("aria-busy");
  if (detail.elt !== due[0]) return;
  const busy = detail.xhr.status === BUSY;
  if (!busy) due.shift();
  const wait_s = busy ? Number(detail.xhr.getResponseHeader("Retry-After")) || LATER_S : 0;
  setTimeout(() => {
    reading = false;
    readNext();
  }, 1000 * wait_s);
}

function show() {
  stop.setAttribute("aria-pressed", String(stopped));
  said.textContent = stopped
    ? t("The page stays as it is.")
    : tn("The page is kept up to date, every %(n)s second.", "The page is kept up to date, every %(n)s seconds.", EVERY_MS / 1000);
}

function tick() {
  if (!stopped && !document.hidden) refresh();
}

function keepUpToDate() {
  stop.addEventListener("click", () => {
    stopped = !stopped;
    sessionStorage.setItem(STOPPED, stopped ? "yes" : "no");
    show();
    tick();
  });
  now.addEventListener("click", refresh);
  document.addEventListener("visibilitychange", tick);
  setInterval(tick, EVERY_MS);
  now.hidden = stop.hidden = false;
  show();
}

if (panels.length) keepUpToDate();

document.addEventListener("htmx:configRequest", (event) => {
  const shown = event.detail.elt.querySelector("[data-digest]");
  if (shown) event.detail.parameters.seen = shown.dataset.digest;
});
document.addEventListener("htmx:beforeRequest", (event) => event.detail.elt.setAttribute("aria-busy", "true"));
document.addEventListener("htmx:afterRequest", goOn);

// What was scrolled stays so, and what was opened.
let scrolled = [];
let opened = [];
document.addEventListener("htmx:beforeSwap", (event) => {
  scrolled = [...event.detail.target.querySelectorAll(".scroll")].map((region) => [region.scrollLeft, region.scrollTop]);
  opened = [...event.detail.target.querySelectorAll("details")].map((part) => part.open);
});
document.addEventListener("htmx:afterSwap", (event) => {
  event.detail.target.querySelectorAll("details").forEach((part, at) => {
    part.open = opened[at] ?? part.open;
  });
  event.detail.target.querySelectorAll(".scroll").forEach((region, at) => {
    [region.scrollLeft, region.scrollTop] = scrolled[at] ?? [0, 0];
  });
});

// A link to a panel that has moved to a page of its own leads there.
function followPanel() {
  const name = CSS.escape(location.hash.slice(1));
  if (!name || document.getElementById(location.hash.slice(1))) return;
  const links = ["main ", ""].map((place) => document.querySelector(`${place}[data-panels~="${name}"]`)); // tabs first
  const link = links.find(Boolean);
  if (link && link.href !== location.href.split("#")[0]) location.replace(link.href + location.hash);
}

followPanel();

// A link to a page of facts shows these in a drawer, where it names one; in a new tab, or where they cannot be had, it
// leads to the page.
async function showInDrawer(event) {
  const link = event.target.closest("a[data-drawer]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const name = link.dataset.drawer;
  const body = document.getElementById(`${name}-body`);
  body.replaceChildren();
  const how = { source: body, target: body, select: `#${name}-facts`, swap: "ignoreTitle:true" };
  await htmx.ajax("GET", link.href, how);
  if (!body.childElementCount) return location.assign(link.href);
  document.getElementById(`${name}-title`).textContent = link.dataset.title;
  const menu = link.closest("[popover]"); // it closes now, and the focus comes back to its button
  if (menu) document.querySelector(`[popovertarget="${menu.id}"]`).focus();
  document.getElementById(name).showPopover();
  document.querySelector(`#${name} > header button`).focus();
}

document.addEventListener("click", showInDrawer);

// A form that takes seconds says that it is at work, and is not sent twice.
for (const form of document.querySelectorAll("form[data-busy]")) {
  const show = (isBusy, button) => {
    form.dataset.isBusy = isBusy ? "yes" : "";
    button?.setAttribute("aria-busy", isBusy);
    document.getElementById(form.dataset.busy).hidden = !isBusy;
  };
  form.addEventListener("submit", (event) => {
    if (form.dataset.isBusy) event.preventDefault();
    else show(true, event.submitter);
  });
  addEventListener("pageshow", () => show(false, form.querySelector("[aria-busy=true]"))); // also when one comes back to it
}
