// The adjudicators' page works without this. With it, only the part that changes is exchanged, and what was typed stays
// where it is when the server cannot be reached: the form keeps its request id, so that sending it again is safe.

const CONFLICT = 409;
const TOO_MANY = 429;
const TOO_SOON_MS = 250; // the second half of a double click is no decision on the next pair
const RETRY = "What you typed is still here; please choose again.";

let shownAt = -TOO_SOON_MS; // when the present pair was put in place of another

const element = (id) => document.getElementById(id);

function say(sentence) {
  element("banner").textContent = sentence;
  element("banner").classList.toggle("empty", !sentence);
}

// What an error page says, as far as it is one of ours.
function reason(reply) {
  const page = new DOMParser().parseFromString(reply.responseText, "text/html");
  return page.querySelector("main p")?.textContent.trim() || `The server answers ${reply.status}.`;
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

function refuseHaste(event) {
  if (performance.now() - shownAt >= TOO_SOON_MS) return;
  event.preventDefault();
  event.stopPropagation();
}

function arrive() {
  say("");
  element("case-name").focus({ preventScroll: true });
}

// Enter in the box of the flag is no decision.
function ignoreEnter(event) {
  if (event.key === "Enter" && event.target.matches("#pair input")) event.preventDefault();
}

function openGuidelines(event) {
  if (!event.target.closest("#guidelines-open")) return;
  event.preventDefault();
  element("guidelines").showModal();
}

document.addEventListener("htmx:beforeSwap", admitConflict);
document.addEventListener("htmx:afterSwap", () => (shownAt = performance.now()));
document.addEventListener("htmx:afterSettle", arrive);
document.addEventListener("submit", refuseHaste, { capture: true });
document.addEventListener("htmx:sendError", () => say(`The server cannot be reached. ${RETRY}`));
document.addEventListener("htmx:timeout", () => say(`The server does not answer. ${RETRY}`));
document.addEventListener("htmx:responseError", fail);
document.addEventListener("keydown", ignoreEnter);
document.addEventListener("click", openGuidelines);
element("guidelines-close").addEventListener("click", () => element("guidelines").close());
