// All conflicts of one row on one screen. The page works without this. With it, each decision is sent at once while its
// case stays where it is, with its own undo, and the focus goes on; see outbox.js for what happens when one cannot be sent.
// The keys of an answer, of the note and of the flag are those of the case that is marked: the one with the focus, or the
// first that is open.

import { Api } from "./api.js";
import { rulingOf, sendDecision, undoing } from "./decisions.js";
import { inWords, make } from "./make.js";
import { Outbox, requestId } from "./outbox.js";
import { Pause } from "./pause.js";
import { veil, veiled } from "./veil.js";

const { t, tn, digits } = globalThis.fcpairLanguage;
const TOO_SOON_MS = 250; // the second half of a double click is no decision on the next case
const FIELDS = "textarea, input, select, summary, dialog *";
const STEPS = { ArrowDown: 1, ArrowUp: -1 };
const NOT_THEIRS = t("Your task has changed since this page was loaded, or somebody else has signed in in this browser.");

const element = (id) => document.getElementById(id);
const { place, csrf, grid, pausePairs, pauseMinutes } = element("desk").dataset;
const api = new Api(csrf);
const pause = new Pause(Number(pausePairs), Number(pauseMinutes));
const outbox = new Outbox(place, { send, onSent, onUnsent, onElsewhere: markSent });

let current = null; // the case that hears the keys
let made = []; // decided here, the newest last: each `item` with its `form`
let readyAt = 0; // from when a press is a decision
let isTroubled = false;

const cases = () => [...document.querySelectorAll(".row-case")];
const undoneElsewhere = element("undo-word")?.textContent; // what the server would take back
const isDecided = (form) => form.classList.contains("decided");
const part = (form, name) => form.querySelector(`.row-${name}`);
const caseOf = (cellId) => element(`case-${cellId}`);
const numberOf = (form) => Number(form.elements.cell_id.value);

function say(sentence, link = "") {
  element("banner").replaceChildren(sentence, ...(link ? [" ", make("a", { href: "/" }, link)] : []));
  element("banner").classList.toggle("empty", !sentence);
}

// Lets a case hear the keys, and no other.
function mark(form) {
  current = form;
  for (const one of cases()) {
    const isIt = one === form;
    one.classList.toggle("marked", isIt);
    one.querySelector(".answers").classList.toggle("hears", isIt && !isDecided(one));
    for (const field of one.querySelectorAll("[data-of-case]")) {
      if (isIt && !isDecided(one)) field.dataset.key = field.dataset.ofCase;
      else delete field.dataset.key;
    }
  }
}

// Goes to a case: it is marked, and whoever listens hears which it is.
function goTo(form) {
  mark(form);
  form.querySelector(".case-name").focus({ preventScroll: true });
  form.scrollIntoView({ block: "nearest" });
  readyAt = performance.now() + TOO_SOON_MS;
}

// The next open case after one, from the top again after the last; none where all are decided.
function nextOpen(form) {
  const all = cases();
  const at = all.indexOf(form);
  return [...all.slice(at + 1), ...all.slice(0, at + 1)].find((one) => !isDecided(one)) ?? null;
}

function decide(form, outcome) {
  if (!isTroubled) say("");
  const draft = form.elements.note.dataset.draft;
  const decided_at = new Date().toISOString(); // it may be sent much later
  const item = { request_id: requestId(), decided_at, grid, draft, ...rulingOf(form, outcome) };
  outbox.add(item);
  made.push({ item, form });
  showDecided(form, item);
  const due = pause.answered();
  setTimeout(() => outbox.flush()); // after the page has been painted
  goOn(form);
  if (due) propose(due);
}

function goOn(form) {
  const next = nextOpen(form);
  if (next) return goTo(next);
  mark(null);
  element("row-end").hidden = false;
  element("row-end").focus();
}

function showDecided(form, { outcome }) {
  form.classList.add("decided");
  part(form, "outcome").textContent = inWords(outcome);
  part(form, "undo").setAttribute("aria-label", [t("Undo"), t("%(noun)s %(number)s", { number: digits(numberOf(form)) })].join(": "));
  part(form, "decided").hidden = false;
  part(form, "open").hidden = true;
  showStanding();
}

function showOpen(form) {
  form.classList.remove("decided");
  part(form, "decided").hidden = true;
  part(form, "open").hidden = false;
  showStanding();
}

// How far the row is, and what U would take back.
function showStanding() {
  const all = cases();
  const n = all.filter(isDecided).length;
  element("row-count").textContent = t("%(n)s of %(all)s decided", { n, all: all.length });
  element("row-end").hidden = n < all.length;
  const last = made.at(-1)?.item;
  element("undo").hidden = !last && !element("undo").getAttribute("action");
  element("undo-word").textContent = last ? undoing(last) : undoneElsewhere;
}

// Takes a decision back: before it is sent, or behind it.
function undo({ item, form }) {
  const { cell_id, outcome, request_id } = item;
  made = made.filter((one) => one.item !== item);
  if (!outbox.withdraw(request_id)) outbox.add({ request_id: requestId(), grid, isUndo: true, cell_id, outcome });
  showOpen(form);
  goTo(form);
  outbox.flush();
}

function undoLast(event) {
  const last = made.at(-1);
  if (!last) return; // what was decided on another page, the server takes back
  event.preventDefault();
  undo(last);
}

function send(item) {
  return sendDecision(api, place, item, { onSaved, signedOut, comeBack });
}

function onSaved() {
  element("said").textContent = t("Saved.");
}

// What the server refused is asked for again as it is now, with what was typed; or it says why it cannot be decided.
async function comeBack(item, reason) {
  const form = item.grid === grid ? caseOf(item.cell_id) : null;
  made = made.filter((one) => one.item.request_id !== item.request_id);
  if (!form) {
    say(`${digits(item.cell_id)}: ${reason}`);
    return "done";
  }
  const now = await fetchCase(item.cell_id);
  if (now === undefined) return "later";
  const typed = { note: form.elements.note.value, flagged: form.elements.flagged.checked };
  const shown = now ?? form;
  form.replaceWith(shown);
  shown.elements.note.value = typed.note;
  shown.elements.flagged.checked = typed.flagged;
  showOpen(shown);
  part(shown, "open").prepend(make("p", { class: "notice error", "data-word": t("Error"), role: "alert" }, reason));
  if (now) goTo(shown);
  else shown.querySelectorAll(".answers button").forEach((button) => (button.disabled = true));
  return "done";
}

// A case as the server has it; null where it does not wait any more, undefined where the server does not say.
async function fetchCase(cellId) {
  try {
    const response = await fetch(`/adjudicate/row?${new URLSearchParams({ pair: cellId, ...(grid ? { grid } : {}) })}`);
    if (!response.ok) return undefined;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const form = page.getElementById(`case-${cellId}`);
    return form && document.adoptNode(form);
  } catch {
    return undefined;
  }
}

function onSent() {
  if (isTroubled) say("");
  isTroubled = false;
  return "done";
}

function onUnsent(n) {
  isTroubled = true;
  say(tn("Not sent yet: %(n)s decision is kept in this browser.", "Not sent yet: %(n)s decisions are kept in this browser.", n));
}

// `isAnother` says that somebody is signed in whose page this is not.
function signedOut(isAnother = false) {
  isTroubled = true;
  say(isAnother ? NOT_THEIRS : t("You are no longer signed in."), isAnother ? t("Go on") : t("Sign in again"));
}

// Decided before a reload, or in another window, and not sent yet.
function markSent(items) {
  for (const item of items) {
    const form = item.grid === grid && !item.isUndo ? caseOf(item.cell_id) : null;
    if (!form || isDecided(form)) continue;
    made.push({ item, form });
    showDecided(form, item);
  }
}

// A press is no decision when it comes too soon, or while the text of the row is hidden: then it shows that.
function submit(event) {
  const { target: form, submitter } = event;
  if (form.id === "undo") return undoLast(event);
  const isUnveiling = form.id === "unveil";
  if (!isUnveiling && !form.matches(".row-case")) return;
  event.preventDefault();
  if (performance.now() < readyAt && !isUnveiling) return;
  if (isUnveiling || veiled()) show(veiled());
  else if (submitter?.value) decide(form, submitter.value);
}

function show(visible) {
  veil(!visible);
  readyAt = performance.now() + TOO_SOON_MS;
}

function propose(reason) {
  element("pause-reason").textContent = reason;
  element("pause-screen").showModal();
}

function endPause() {
  pause.start();
  readyAt = performance.now() + TOO_SOON_MS;
}

// The arrows go from case to case, where they do nothing else.
function step(event) {
  if (event.key === "Enter" && event.target.matches(".row-note input")) event.preventDefault(); // no decision
  const by = STEPS[event.key];
  if (!by || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  if (event.target.matches(FIELDS) || document.querySelector("dialog[open]")) return;
  const all = cases();
  const next = all[current ? all.indexOf(current) + by : by > 0 ? 0 : all.length - 1];
  if (!next) return;
  event.preventDefault();
  goTo(next);
}

function follow({ target }) {
  const form = target.closest(".row-case");
  if (form && form !== current) mark(form);
}

async function press(event) {
  const { target } = event;
  const button = target.closest(".row-undo");
  if (button) return undo(made.find(({ form }) => form === button.form));
  const opener = target.closest("#pause, #onward");
  if (opener) event.preventDefault();
  if (opener?.id === "pause") propose(t("You asked for a pause."));
  if (opener?.id === "onward" && (await outbox.flush())) location.assign(opener.getAttribute("href"));
  if (target.id === "hs" && veiled()) show(true);
}

document.addEventListener("submit", submit);
document.addEventListener("keydown", step);
document.addEventListener("focusin", follow);
document.addEventListener("click", press);
element("pause-end").addEventListener("click", () => element("pause-screen").close());
element("pause-screen").addEventListener("close", endPause);
window.addEventListener("beforeunload", (event) => outbox.items.length && event.preventDefault());

if (cases().length) {
  markSent(outbox.items);
  showStanding();
  mark(cases().find((form) => !isDecided(form)) ?? null);
}
outbox.flush();
