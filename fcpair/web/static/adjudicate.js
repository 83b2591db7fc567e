// The adjudicators' page works without this. With it, only the part that changes is exchanged, and what was typed stays
// where it is when the server cannot be reached: the form keeps its request id, so that sending it again is safe.

import { Pause } from "./pause.js";
import { veil, veiled } from "./veil.js";

const CONFLICT = 409;
const TOO_MANY = 429;
const TOO_SOON_MS = 250; // the second half of a double click is no decision on the next pair
const RETRY = "What you typed is still here; please choose again.";

const element = (id) => document.getElementById(id);
const { pausePairs, pauseMinutes } = element("desk").dataset;
const pause = new Pause(Number(pausePairs), Number(pauseMinutes));

let shownAt = -TOO_SOON_MS; // when the present pair was put in place of another, or its HS was shown

function say(sentence) {
  element("banner").textContent = sentence;
  element("banner").classList.toggle("empty", !sentence);
}

// On a small screen the banner lies over the sheet, which leaves as much room as it takes.
function makeRoom([{ target }]) {
  element("desk").style.setProperty("--said", `${target.offsetHeight}px`);
}

// What an error page says, as far as it is one of ours.
function reason(reply) {
  const page = new DOMParser().parseFromString(reply.responseText, "text/html");
  return page.querySelector("main p")?.textContent.trim() || `The server answered ${reply.status}.`;
}

// A decision that was overtaken is answered with a page as well: why, and what waits now.
function admitConflict({ detail }) {
  if (detail.xhr.status !== CONFLICT) return;
  detail.shouldSwap = true;
  detail.isError = false;
}

// What the server could not take now it may take later; what it refused, it will refuse again.
function fail({ detail }) {
  const passing = detail.xhr.status >= 500 || detail.xhr.status === TOO_MANY;
  say(`${reason(detail.xhr)} ${passing ? RETRY : ""}`);
}

// A press is no decision when it comes too soon, or while the HS is hidden: then it shows it.
function look(event) {
  const asked = event.submitter?.id === "reveal";
  const first = event.target.id === "pair" && (asked || veiled());
  const soon = performance.now() - shownAt < TOO_SOON_MS;
  if (!first && !soon) return;
  event.preventDefault();
  event.stopPropagation();
  if (first && !soon) show(veiled());
}

// Shows the HS or hides it; the form says whether it is hidden.
function show(visible) {
  veil(!visible);
  element("pair").elements.veiled.disabled = visible;
  shownAt = performance.now();
}

function arrive({ detail }) {
  say("");
  element("case-name").focus({ preventScroll: true });
  const { path, verb } = detail.requestConfig;
  const due = verb === "post" && path.split("?")[0] === "/adjudicate" && detail.xhr.status === 200 ? pause.answered() : null;
  if (due && element("pair")) propose(due);
}

function propose(reason) {
  element("pause-reason").textContent = reason;
  element("pause-screen").showModal();
}

function endPause() {
  pause.start();
  shownAt = performance.now();
}

// Enter in the box of the flag is no decision.
function ignoreEnter(event) {
  if (event.key === "Enter" && event.target.matches("#pair input")) event.preventDefault();
}

// What opens over the page leads to a page of its own where this does not run.
function open(event) {
  const opener = event.target.closest("#guidelines-open, #pause");
  if (opener) event.preventDefault();
  if (opener?.id === "guidelines-open") element("guidelines").showModal();
  if (opener?.id === "pause") propose("You asked for a pause.");
  if (event.target.id === "hs" && veiled()) show(true);
}

new ResizeObserver(makeRoom).observe(element("banner"));
document.addEventListener("htmx:beforeSwap", admitConflict);
document.addEventListener("htmx:afterSwap", () => (shownAt = performance.now()));
document.addEventListener("htmx:afterSettle", arrive);
document.addEventListener("submit", look, { capture: true });
document.addEventListener("htmx:sendError", () => say(`The server cannot be reached. ${RETRY}`));
document.addEventListener("htmx:timeout", () => say(`The server does not answer. ${RETRY}`));
document.addEventListener("htmx:responseError", fail);
document.addEventListener("keydown", ignoreEnter);
document.addEventListener("click", open);
element("guidelines-close").addEventListener("click", () => element("guidelines").close());
element("pause-end").addEventListener("click", () => element("pause-screen").close());
element("pause-screen").addEventListener("close", endPause);
