// The adjudicators' page works without this. With it, the next cases are at hand before they are needed, and a decision
// is sent while the next case is being read; see outbox.js for what happens when it cannot be sent. What the server
// refuses comes back, with what was typed and the reason.

import { Api, meaning } from "./api.js";
import { sendDecision } from "./decisions.js";
import { Sheet, fetchSheet } from "./case-sheet.js";
import { inWords, make } from "./make.js";
import { Outbox, requestId } from "./outbox.js";
import { Pause } from "./pause.js";
import { veil, veiled } from "./veil.js";

const { t, tn, digits } = globalThis.fcpairLanguage;
const AHEAD = 2; // cases at hand: each that is shown later may be out of date by then
const TOO_SOON_MS = 250; // the second half of a double click is no decision on the next pair
const CAME_BACK_MS = 1_000; // nor is a press that was meant for the case before which another came back
const AGAIN_MS = 3_000;
const MOST_AHEAD = 50; // not decided, or not sent, that the server goes on from
const MOST_MADE = 50; // decisions that can be taken back without asking for their case again
const SIGNED_OUT = [200, 401]; // what another page than the one that was asked for comes with
const NOT_THEIRS = t("Your task has changed since this page was loaded, or somebody else has signed in in this browser.");

const element = (id) => document.getElementById(id);
const { place, csrf, grid, case: example, pausePairs, pauseMinutes } = element("desk").dataset;
const api = new Api(csrf);
const pause = new Pause(Number(pausePairs), Number(pauseMinutes));
const outbox = new Outbox(place, { send, onSent, onUnsent, onElsewhere });

let shown = new Sheet(element("case-sheet"), location.pathname + location.search);
let ahead = []; // the sheets that come next
let made = []; // what was decided in this page, the newest last: each `item` with the sheet that it was decided on
let awaited = null; // where the case is that is shown as soon as it is there
let readyAt = 0; // from when a press is a decision on the case on the screen
let pauseDue = null; // why, until it is proposed
let nActs = 0;
let nSaved = 0; // until that is said
let filling = null;
let isToFill = false;
let refilling = null;
let isTroubled = false; // something could not be sent, and nobody has said yet that it has been since

const addressOf = (pair) => example.replace("/0", `/${pair}`); // in this grid and queue
const isHere = (item) => item.grid === grid;
const undecided = () => outbox.items.filter((item) => isHere(item) && !item.isUndo).map((item) => item.cell_id);

function say(sentence, link = "") {
  if (!sentence && !element("banner").hasChildNodes()) return;
  element("banner").replaceChildren(sentence, ...(link ? [" ", make("a", { href: "/" }, link)] : []));
  element("banner").classList.toggle("empty", !sentence);
}

// On a small screen the banner lies over the sheet, which leaves as much room as it takes.
function makeRoom([{ target }]) {
  element("desk").style.setProperty("--said", `${target.offsetHeight}px`);
}

// Puts a sheet on the screen; a press counts after `delay_ms`.
function present(sheet, delay_ms = TOO_SOON_MS) {
  element("case-sheet").replaceWith(sheet.part);
  shown = sheet;
  awaited = null;
  history.replaceState(null, "", sheet.address);
  if (element("reveal")) show(false);
  readyAt = performance.now() + delay_ms;
  window.scrollTo(0, 0);
  document.dispatchEvent(new Event("fcpair:shown"));
  element("case-name").focus({ preventScroll: true });
  if (pauseDue && sheet.pair) propose(pauseDue);
}

// Goes on to a sheet that was made before, with what is known by now: all of it before the browser lays it out.
function presentKept(sheet) {
  sheet.takeProgress(shown);
  offerUndoOn(sheet);
  present(sheet);
}

function offerUndoOn(sheet) {
  if (made.length) sheet.offerUndo(made.at(-1).item);
}

// Shows the case that comes next, or that it is on its way.
function goOn() {
  const next = ahead.shift();
  if (next) return presentKept(next);
  const { onward } = shown;
  presentKept(shown.waiting());
  awaited = onward;
  sayWhatIsAwaited();
}

// What is on the screen and not decided comes next.
function putAside() {
  if (shown.pair) ahead.unshift(shown);
}

// Keeps a decision until the server has it, and shows the next case.
function decide(outcome) {
  const decided_at = new Date().toISOString(); // it may be sent much later
  const item = { request_id: requestId(), decided_at, grid, draft: shown.form.elements.note.dataset.draft, ...shown.ruling(outcome) };
  if (!isTroubled) say("");
  element("said").textContent = "";
  nActs += 1;
  outbox.add(item);
  made = [...made.slice(1 - MOST_MADE), { item, sheet: shown }];
  pauseDue = pause.answered() ?? pauseDue;
  goOn();
  setTimeout(sendOn); // after the next case has been painted
}

function sendOn() {
  outbox.flush();
  if (!ahead.length) fill();
}

// Takes the last decision back: before it is sent, behind it, or on the server alone where this page does not know it.
function undo(form) {
  const last = made.pop();
  if (!last) return go(form.getAttribute("action"), api.form(form));
  const { cell_id, outcome, request_id } = last.item;
  nActs += 1;
  if (!outbox.withdraw(request_id)) outbox.add({ request_id: requestId(), grid, isUndo: true, cell_id, outcome });
  putAside();
  last.sheet.dropUndo();
  presentKept(last.sheet);
  outbox.flush();
}

// Shows what only the server can: it has to have everything first.
async function go(address, options) {
  const acts = nActs;
  if (!(await outbox.flush()) || acts !== nActs) return;
  const { status, sheet, reason } = await fetchSheet(address, options);
  if (acts !== nActs) return;
  if (!sheet) return meaning(status) === "done" ? location.assign(address) : say(t("%(reason)s Please try again.", { reason }));
  nActs += 1;
  say("");
  if (options && sheet.pair !== shown.pair) putAside();
  ahead = ahead.filter(({ pair }) => pair !== sheet.pair);
  present(sheet);
  fill();
}

// Sends one decision, or that it is taken back; see Outbox for what it gives.
function send(item) {
  return sendDecision(api, place, item, { onSaved: () => (nSaved += 1), signedOut, comeBack });
}

// Shows a case again on which a decision was refused, or where it cannot be decided any more, what was typed.
async function comeBack(item, reason) {
  const { status, sheet } = isHere(item) ? await fetchSheet(addressOf(item.cell_id)) : { status: 404 };
  if (meaning(status) === "later") return "later";
  const isAgain = status === 200 && sheet?.pair === item.cell_id;
  const typed = isHere(item) && shown.pair === item.cell_id ? shown.ruling("") : item;
  made = made.filter((one) => one.item.request_id !== item.request_id);
  withdrawUndo(item);
  ahead = ahead.filter((one) => one.pair !== item.cell_id);
  nActs += 1;
  isTroubled = false;
  if (!isAgain) return tellRefused(typed, item, reason);
  if (shown.pair !== item.cell_id) putAside();
  if (!item.isUndo) sheet.ask(typed, t("%(reason)s What you typed is still here; please decide again.", { reason }));
  offerUndoOn(sheet);
  present(sheet, CAME_BACK_MS);
  say(item.isUndo ? reason : "");
  element("note").dispatchEvent(new Event("input", { bubbles: true })); // a draft again
  return "done";
}

// What was to take a refused decision back has nothing to take back.
function withdrawUndo(item) {
  const isIts = (one) => one.isUndo && one.cell_id === item.cell_id && one.grid === item.grid;
  const next = item.isUndo ? null : outbox.items.find(isIts);
  if (next) outbox.withdraw(next.request_id);
}

// Says over the page what was refused for good; it stays until it has been read.
function tellRefused(typed, { cell_id, isUndo, outcome, grid: name }, reason) {
  const values = { number: digits(cell_id), grid: name };
  const work = name ? t("%(noun)s %(number)s of %(grid)s", values) : t("%(noun)s %(number)s", values);
  const facts = { work, label: inWords(outcome), reason };
  const undoing = t("Taking back %(work)s was not taken (%(label)s). %(reason)s", facts);
  const lines = [isUndo ? undoing : t("Your decision on %(work)s was not taken (%(label)s). %(reason)s", facts)];
  if (typed.note) lines.push(t("What you typed: %(note)s", { note: typed.note }));
  element("refused-lines").append(...lines.map((line) => make("p", { dir: "auto" }, line)));
  if (!element("refused").open) element("refused").showModal();
  if (shown.pair === cell_id && isHere({ grid: name })) goOn();
  return "done";
}

// All decisions are with the server: the moment to ask how far everything is, and for what comes next.
function onSent() {
  if (isTroubled) say("");
  isTroubled = false;
  sayWhatIsAwaited();
  if (nSaved) element("said").textContent = t("Saved.");
  nSaved = 0;
  fill();
  return "done";
}

function onUnsent(n) {
  isTroubled = true;
  say(tn("Not sent yet: %(n)s decision is kept in this browser.", "Not sent yet: %(n)s decisions are kept in this browser.", n));
  sayWhatIsAwaited();
}

// In the place of a case that is awaited: that it is on its way, or what it waits for.
function sayWhatIsAwaited() {
  if (!awaited) return;
  element("case-name").textContent = isTroubled
    ? t("%(Next_noun)s comes when your decisions can be sent.")
    : t("%(Next_noun)s is on its way.");
}

// Another window of this browser has decided what is at hand here.
function onElsewhere() {
  const pairs = undecided();
  ahead = ahead.filter(({ pair }) => !pairs.includes(pair));
}

// `isAnother` says that somebody is signed in whose page this is not.
function signedOut(isAnother = false) {
  isTroubled = true;
  ahead = [];
  const n = outbox.items.length;
  const kept = tn(
    "One decision is kept in this browser, and sent when you sign in again.",
    "%(n)s decisions are kept in this browser, and sent when you sign in again.",
    n,
  );
  const why = isAnother ? NOT_THEIRS : t("You are no longer signed in.");
  say(`${why} ${n ? kept : ""}`, isAnother ? t("Go on") : t("Sign in again"));
}

// Asks the server for what comes after the last sheet at hand until enough are there. Several callers share one asking.
function fill() {
  isToFill = true;
  clearTimeout(refilling);
  filling ??= fillUp().finally(() => (filling = null));
}

async function fillUp() {
  while (isToFill) {
    isToFill = false;
    if (!(await fetchNext())) refilling = setTimeout(fill, AGAIN_MS);
  }
}

const tail = () => awaited ?? (ahead.at(-1) ?? shown).onward;

// Whether the server has said what comes next.
async function fetchNext() {
  const [address, acts, before, madeBefore] = [tail(), nActs, undecided(), [...made]];
  const isSettled = !outbox.items.length;
  const nAhead = before.length + ahead.length + (shown.pair ? 1 : 0);
  if (!address || nAhead > MOST_AHEAD) return true;
  const { status, sheet, reason } = await fetchSheet(`${address}&ahead=${nAhead}`);
  if (!sheet) return lack(status, reason);
  sheet.address = address;
  const since = made.filter((one) => !madeBefore.includes(one)).map(({ item }) => item.cell_id); // and sent, it may be
  if (tail() !== address) isToFill = true;
  else take(sheet, { mayEnd: isSettled && acts === nActs, decided: [...before, ...undecided(), ...since] });
  return true;
}

// There is no next case because of the connection, of who is signed in, or of the server.
function lack(status, reason) {
  const isPassing = meaning(status) === "later";
  if (SIGNED_OUT.includes(status)) signedOut();
  else if (!isPassing) say(reason);
  else if (awaited && !isTroubled) say(t("%(reason)s Trying again.", { reason }));
  return !isPassing;
}

// Takes what the server has next. That there is none counts where the server knows all that is `decided` here.
function take(sheet, { mayEnd, decided }) {
  const isNew = sheet.pair && ![shown, ...ahead].some(({ pair }) => pair === sheet.pair) && !decided.includes(sheet.pair);
  if (mayEnd) {
    shown.takeProgress(sheet);
    if (!made.length && !shown.undoesItself) shown.takeUndo(sheet);
  }
  if (awaited && (isNew || mayEnd)) {
    say("");
    presentKept(sheet);
    isToFill = Boolean(sheet.pair);
  } else if (isNew && ahead.length < AHEAD) {
    ahead.push(sheet);
    isToFill = ahead.length < AHEAD;
  }
}

// A press is no decision when it comes too soon, or while the HS is hidden: then it shows it.
function submit(event) {
  const { target, submitter } = event;
  if (target.id !== "pair" && target.id !== "undo") return;
  event.preventDefault();
  if (performance.now() < readyAt) return;
  if (target.id === "undo") undo(target);
  else if (submitter?.id === "reveal" || veiled()) show(veiled());
  else if (submitter?.value) decide(submitter.value);
}

// Shows the HS or hides it; the form says whether it is hidden.
function show(visible) {
  veil(!visible);
  element("pair").elements.veiled.disabled = visible;
  readyAt = performance.now() + TOO_SOON_MS;
}

function propose(reason) {
  pauseDue = null;
  element("pause-reason").textContent = reason;
  element("pause-screen").showModal();
}

function endPause() {
  pause.start();
  readyAt = performance.now() + TOO_SOON_MS;
}

// Enter in the box of the flag is no decision.
function ignoreEnter(event) {
  if (event.key === "Enter" && event.target.matches(".note input")) event.preventDefault();
}

// What opens over the page leads to a page of its own where this does not run.
function open(event) {
  const opener = event.target.closest("#pause, #later, #whole-row");
  if (opener) event.preventDefault();
  if (opener?.id === "pause") propose(t("You asked for a pause."));
  if (opener?.id === "later") leave();
  if (opener?.id === "whole-row") leaveFor(opener.getAttribute("href"));
  if (event.target.id === "hs" && veiled()) show(true);
}

// Goes to another page when the server has everything: it shows what is left.
async function leaveFor(address) {
  if (await outbox.flush()) location.assign(address);
}

// Goes on without a decision.
function leave() {
  if (!ahead.length) return go(shown.onward);
  goOn();
  fill();
}

new ResizeObserver(makeRoom).observe(element("banner"));
document.addEventListener("submit", submit);
document.addEventListener("keydown", ignoreEnter);
document.addEventListener("click", open);
element("pause-end").addEventListener("click", () => element("pause-screen").close());
element("pause-screen").addEventListener("close", endPause);
element("refused-close").addEventListener("click", () => element("refused").close());
element("refused").addEventListener("close", () => element("refused-lines").replaceChildren());
window.addEventListener("beforeunload", (event) => outbox.items.length && event.preventDefault());

// Decided before a reload, and not sent yet.
if (undecided().includes(shown.pair)) {
  goOn();
  fill();
}
outbox.flush();
