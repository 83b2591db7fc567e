// The desk: one pair a screen, all pairs of a row, or a list of rows. The next pairs are at hand before they are needed, and an answer is
// sent while the next pair is being read; see outbox.js for what happens when it cannot be sent, kept.js for what is kept
// meanwhile, and begun.js for what is typed and not saved.

import { Api, meaning, sentence } from "./api.js";
import { Begun } from "./begun.js";
import { SKIP } from "./form.js";
import { Goal } from "./goal.js";
import { Kept } from "./kept.js";
import { Outbox, requestId } from "./outbox.js";
import { Pause } from "./pause.js";
import { veiled } from "./veil.js";
import { View } from "./view.js";
import { Watch } from "./watch.js";

const REFRESHED_AFTER = 3; // answers; then the server is asked again, which may have changed what is open
const RESTORED_AFTER_MS = 3_000;
const PAGE_KEPT_AGAIN_AFTER_MS = 3_600_000;
const MOST_ANSWERS = 50; // that the server gives at once
const UNFIT = 422; // the answer is not one to the form
const CONFLICT = 409; // the study has moved on, as where the pair was answered on another device
const LARGEST_OLD = 2 ** 52; // number of a task, as pages had them up to fcpair 0.7; those of now are larger
const MOST_RENUMBERED = 1_000; // that the server takes at once
const FORETOLD_AFTER_MS = 1_200; // without a key
const MOST_SHOWN = 20; // answers that the server takes
const TOO_SOON_MS = 250; // the second half of a double click is no answer on the next pair

const { place, rounds, blurred, guidelines, pausePairs, pauseMinutes, files, ahead } =
  document.getElementById("desk").dataset;
const { t, tn, number } = globalThis.fcpairLanguage;
const NEWER_GUIDELINES = t("The guidelines have changed since this page was loaded. Reload it to read them.");
const NOT_THEIRS = t("Your task has changed since this page was loaded, or somebody else has signed in in this browser.");
const ELSEWHERE = t("You have just answered %(this_noun)s in another window. Press Forward to leave it as it is.");
const USED_UP = t("You have answered all the %(nouns)s that were at hand. More will come when the connection is back.");
const api = new Api(document.getElementById("desk").dataset.csrf);
const begun = new Begun(place);
const goal = new Goal(place);
const view = new View(blurred === "true", rounds, { save, changed: typed, goal });
const watch = new Watch();
const pause = new Pause(Number(pausePairs), Number(pauseMinutes));
const outbox = new Outbox(place, { send, onSent, onUnsent, onElsewhere, merge, prepare: renumber });
const kept = new Kept(place, files);
const pauseScreen = document.getElementById("pause-screen");

let queue = []; // open pairs, the one to answer first
let past = []; // answered pairs in the order of their first answers; what is `stale` the server has otherwise by now
let at = null; // which of `past` is on the screen; null when the open pair is
let progress = null;
let exhausted = false; // the server has no more open pairs, or gives no more because of a limit
let fetchedAt = 0; // when the server gave what is at hand
let keptPage = { version: "", at: 0 }; // of this page, as it was kept last
let nAnswered = 0; // since then
let nRefused = 0; // of the answers sent since the last one was given
let nKept = 0; // of these, until that is said
let shownAt = 0;
let troubled = false; // something could not be sent, and nobody has said yet that it has been since
let outside = ""; // where nobody is signed in, or somebody else: what that means for the answers
let walking = false;
let looking = false; // the server is asked whether it takes a text
let foretelling = null; // the clock that runs while somebody types

const elsewhere = new Set(); // what another window has answered since it is on the screen, until it may be replaced
const open = () => queue.slice(0, view.nTogether(queue));
const numbers = (tasks) => tasks.map((task) => task.assignment_id).join();

// What is on the screen. Of the answered pairs of a row, those around `at` that were answered one after the other.
function current() {
  if (at === null) return open();
  const before = past.slice(0, at + 1).reverse();
  const until = before.findIndex((one) => one.stale);
  return before.slice(0, view.nTogether(until < 0 ? before : before.slice(0, until))).reverse();
}

function show() {
  const tasks = current();
  if (!tasks.length) return;
  const last = at === null ? past.findLast(({ stale }) => !stale) : null;
  view.show(tasks, at !== null, (task) => begun.of(task.assignment_id), last);
  watch.restart();
  shownAt = performance.now();
}

function typed() {
  keepBegun();
  clearTimeout(foretelling);
  if (view.writes) foretelling = setTimeout(foretell, FORETOLD_AFTER_MS);
}

// Asks the server what it would say of the texts on the screen. Without a connection it says nothing, and decides later.
async function remarksOn(final) {
  const tasks = current();
  const answers = view.answers;
  const ask = async (task) => {
    const given = { assignment_id: task.assignment_id, answer: answers.get(task), final };
    if (given.answer === SKIP) return [];
    const reply = await api.call("POST", "/api/check", given);
    return reply.status === 200 ? reply.body.remarks : [];
  };
  const said = await Promise.all(tasks.map(ask));
  return new Map(tasks.map((task, at) => [task, said[at]]));
}

async function foretell() {
  for (const [task, remarks] of await remarksOn(false)) view.remark(task, remarks, { final: false });
}

function setLooking(isLooking) {
  looking = isLooking;
  document.getElementById("save").setAttribute("aria-busy", isLooking);
}

// Whether the server takes the texts on the screen; what it does not take is said beside them.
async function isTaken() {
  const said = await remarksOn(true);
  for (const [task, remarks] of said) view.remark(task, remarks, { final: true });
  return ![...said.values()].flat().some(({ refuses }) => refuses);
}

function keepBegun() {
  const answers = view.answers;
  for (const task of current()) begun.keep(task.assignment_id, { answer: answers.get(task) ?? null, note: view.note });
}

// Sends what was pressed, on all that is on the screen.
async function answer(name) {
  const asked = numbers(current());
  if (!isReady(name) || !(await mayReplace()) || (name === SKIP && !(await view.maySkip())) || numbers(current()) !== asked) return;
  record(new Map(current().map((task) => [task, view.pressed(task, name)])));
}

// Sends what is chosen and typed, on each pair what is its own; of a row that was answered before, what has changed.
async function save() {
  if (looking || !isReady() || !view.check() || !(await mayReplace())) return;
  if (view.writes) {
    clearTimeout(foretelling);
    setLooking(true);
    const isFine = await isTaken().finally(() => setLooking(false));
    if (!isFine) return;
  }
  const answers = view.answers;
  const says = (answer, note) => JSON.stringify([answer, note]);
  const isNew = ([task, answer]) => at === null || says(answer, view.note) !== says(task.answer, task.note);
  record(answers.size > 1 ? new Map([...answers].filter(isNew)) : answers);
}

// Whether an answer can be taken now; what is hidden is shown first.
function isReady(name) {
  if (!current().length || walking || performance.now() - shownAt < TOO_SOON_MS) return false;
  const unsent = outbox.items.filter((item) => !item.again).map((item) => item.assignment_id);
  if (at === null && open().some((task) => unsent.includes(task.assignment_id))) {
    onElsewhere(outbox.items); // which this window has not heard of, as it was asleep
    return false;
  }
  if (veiled() && name !== SKIP) return reveal();
  return true;
}

// Whether what is on the screen may get another answer than that of another window, which nobody has looked for here.
async function mayReplace() {
  const tasks = current().filter(({ assignment_id }) => elsewhere.has(assignment_id));
  const isMeant = !tasks.length || (await view.mayReplace(tasks.length === 1 ? tasks[0] : null));
  elsewhere.clear();
  if (!isMeant) forward();
  return isMeant;
}

// Keeps the answers on the pairs on the screen, and shows the next.
function record(answers) {
  if (!troubled) view.banner("");
  [nRefused, nKept] = [0, 0];
  const again = at !== null;
  const note = view.note;
  const seconds = Math.round(watch.ms / answers.size) / 1000;
  const answered_at = new Date().toISOString(); // it may be sent much later
  for (const { assignment_id } of current()) begun.forget(assignment_id);
  for (const [task, answer] of answers) {
    const { assignment_id, decision_id } = task;
    const given = { assignment_id, decision_id, answer, note, seconds, answered_at };
    const shown = again ? [...(task.given ?? []), task.answer].slice(-MOST_SHOWN) : null; // the server may have any of them yet
    outbox.add({ request_id: requestId(), ...given, guideline_version: Number(guidelines), again, shown });
    const place = again ? past.indexOf(task) : past.length;
    past[place] = { ...task, answer, note, outdated: false, given: shown };
    if (!again) count(answer);
  }
  at = null;
  if (!again) {
    queue.splice(0, answers.size);
    nAnswered += answers.size;
  }
  keepTexts();
  view.say(answers.size ? "" : t("Nothing was changed."));
  if (queue.length) show();
  else wait();
  const due = [...answers].map(() => pause.answered()).at(-1);
  if (goal.isReachedBy(progress.today) && queue.length) sayGoal();
  else if (due && queue.length) propose(due);
  outbox.flush();
}

// What is hidden has not been read, and is not answered: the first press shows it. Who skips need not read it.
function reveal() {
  view.veil(false);
  view.say(t("The text is shown. Press again to answer."));
  shownAt = performance.now();
  return false;
}

function wait() {
  view.waiting(whyNone(), { undoable: isUndoable() });
}

function isUndoable() {
  return past.length > 0 || progress?.done + progress?.skipped > 0;
}

function whyNone() {
  if (outside) return outside;
  if (exhausted) return t("Your answers are being sent."); // whether it was the last, the server says
  return troubled ? USED_UP : t("%(Next_noun)s is on its way.");
}

function keepTexts() {
  if (!progress) return; // nothing is known yet, and what was kept may be needed
  kept.keepTexts({ open: queue, answered: past, unsent: outbox.items, progress, exhausted, at: fetchedAt });
}

function count(answer) {
  const kind = answer === SKIP ? "skipped" : "done";
  const { open, today, read } = progress;
  progress = { ...progress, open: open - 1, today: today + 1, read: read + 1, [kind]: progress[kind] + 1 };
  view.progress(progress);
}

// What was answered on the same pair and not sent gives place; the seconds of both looks are added up. The server may
// have that one, where it was sent and no reply came: then the new one `mayReplace` it.
function merge(before, item) {
  if (before.assignment_id !== item.assignment_id) return null;
  const seconds = Math.round((before.seconds + item.seconds) * 1000) / 1000;
  const { again, mayReplace, isTried } = before;
  return { ...item, seconds, again, mayReplace: mayReplace || isTried };
}

// Sends one answer; see Outbox for what it gives.
async function send({ again, mayReplace = false, isTried, ...item }) {
  if (item.assignment_id <= LARGEST_OLD) return "later"; // of a window that an older fcpair filled: see renumber
  const reply = await api.submit("/api/judgements", "answered_at", { ...item, again: again || mayReplace });
  const outcome = meaning(reply.status);
  if (outcome === "stop") signedOut();
  if (outcome === "done" && reply.body.guideline_version > Number(guidelines)) view.banner(NEWER_GUIDELINES);
  if (outcome === "done") [nKept, outside] = [nKept + 1, ""];
  if (outcome !== "refused") return outcome;
  if (reply.status === 403) {
    const { session } = await sessionNow();
    if (session === "renewed") return send({ again, mayReplace, ...item });
    if (session !== "same") return session;
  }
  const canBeMended = reply.status === UNFIT || (reply.status === CONFLICT && item.answer !== SKIP);
  if (canBeMended) begun.keep(item.assignment_id, item); // and sent again
  drop(item);
  nRefused += 1;
  const why = sentence(reply);
  const said = nRefused === 1 ? why : tn("%(n)s answer was not taken. The last: %(why)s", "%(n)s answers were not taken. The last: %(why)s", nRefused, { why });
  view.banner(said, { kind: "error" });
  return "done";
}

// What pages of fcpair 0.7 kept in this browser has old numbers of tasks: it gets those of now. What the server does not
// take under these is not sent, and stays among what was begun.
async function renumber() {
  const isOld = (id) => id <= LARGEST_OLD;
  const old = [...outbox.items.map((item) => item.assignment_id), ...begun.ids].filter(isOld);
  if (!old.length) return "done";
  const reply = await api.call("POST", "/api/renumber", { assignment_ids: [...new Set(old)].slice(0, MOST_RENUMBERED) });
  const outcome = meaning(reply.status);
  if (outcome === "stop") signedOut();
  if (outcome === "stop" || outcome === "later") return outcome;
  if (outcome === "refused") {
    const { session } = await sessionNow();
    if (session === "renewed") return renumber();
    if (session !== "same") return session;
  }
  const numbers = reply.body?.assignment_ids ?? {};
  begun.renumber(numbers);
  const lost = outbox.items.filter((item) => isOld(item.assignment_id) && !(item.assignment_id in numbers));
  for (const item of lost) begun.keep(item.assignment_id, item);
  const isLost = new Set(lost.map((item) => item.request_id));
  outbox.change((item) =>
    isLost.has(item.request_id) ? null : { ...item, assignment_id: numbers[item.assignment_id] ?? item.assignment_id },
  );
  if (lost.length) view.banner(sentence(reply), { kind: "error" });
  return "done";
}

async function sessionNow() {
  const now = await api.session(location.pathname, place);
  if (now.session === "stop") signedOut(now.isIn);
  return now;
}

// Forgets an answer that the server will never take, and what was at hand besides the open pair: it may be outdated.
// On the same pair the server may have another answer, one that was given before or on another device, or another label.
function drop(item) {
  past = past.map((one) => (one.assignment_id === item.assignment_id ? { ...one, stale: true } : one));
  queue = open();
  nAnswered = REFRESHED_AFTER;
  exhausted = false;
  troubled = false; // what the server says is news enough
  if (at !== null) forward();
}

// All answers are with the server: the moment to fetch more pairs.
async function onSent() {
  if (troubled && !outside) view.banner(t("All your answers have been sent."), { passing: true });
  troubled = false;
  sayWhatIsKept();
  if (outside || !queue.length || nAnswered >= REFRESHED_AFTER) return fetchNext();
  keepTexts();
  return "done";
}

// For screen readers: what the server has, and never what it has not.
function sayWhatIsKept() {
  const left = !progress || progress.more ? "" : ` ${tn("%(n)s left.", "%(n)s left.", progress.open)}`;
  const some = tn("%(n)s of %(all)s answers is kept.", "%(n)s of %(all)s answers are kept.", nKept, { all: nKept + nRefused });
  if (nKept) view.say(nRefused ? some : `${t("Kept.")}${left}`);
  nKept = 0;
}

// Another window of this browser has answered what is open here, or given another answer. Where that is on the screen,
// it stays there, as what was answered: whoever answers it once more is asked whether they mean to.
function onElsewhere(items) {
  const isShownChanged = takeChanges(items);
  const given = new Map(items.filter(({ again }) => !again).map((item) => [item.assignment_id, item]));
  const isGiven = ({ assignment_id }) => given.has(assignment_id);
  const gone = queue.filter(isGiven);
  if (isShownChanged) return showElsewhere();
  if (!gone.length) return;
  const isShown = at === null && open().some(isGiven);
  queue = queue.filter((task) => !isGiven(task));
  for (const task of gone) {
    const { answer, note } = given.get(task.assignment_id);
    past.push({ ...task, answer, note });
    count(answer);
  }
  keepTexts();
  if (isShown) at = past.length - 1;
  if (current().some(isGiven)) showElsewhere();
}

// Takes over what another window has answered otherwise since; whether something of that is on the screen.
function takeChanges(items) {
  const says = ({ answer, note }) => JSON.stringify([answer, note]);
  const newest = new Map(items.map((item) => [item.assignment_id, item]));
  const shown = at === null ? [] : current().map((task) => task.assignment_id);
  let isShown = false;
  past = past.map((task) => {
    const item = newest.get(task.assignment_id);
    if (!item || task.stale || says(item) === says(task)) return task;
    isShown ||= shown.includes(task.assignment_id);
    return { ...task, answer: item.answer, note: item.note, given: item.shown };
  });
  return isShown;
}

function showElsewhere() {
  for (const { assignment_id } of current()) elsewhere.add(assignment_id);
  show();
  view.banner(ELSEWHERE);
}

function onUnsent(n) {
  troubled = true;
  const unsent = tn("Not sent yet: %(n)s answer is kept in this page.", "Not sent yet: %(n)s answers are kept in this page.", n);
  view.banner(n ? unsent : t("The server cannot be reached. Trying again."));
  keepTexts();
  if (progress && !current().length) wait();
}

// `isAnother` says that somebody is signed in whose page this is not.
function signedOut(isAnother = false) {
  troubled = true;
  kept.forget();
  queue = open(); // what is on the screen may stay there
  const n = outbox.items.length;
  const unsent = tn(
    "One answer is kept in this browser, and sent when you sign in again.",
    "%(n)s answers are kept in this browser, and sent when you sign in again.",
    n,
  );
  const why = isAnother ? NOT_THEIRS : t("You are no longer signed in.");
  outside = n ? unsent : why;
  if (progress && !current().length) wait();
  view.banner(`${why} ${n ? unsent : ""}`, { link: isAnother ? t("Go on") : t("Sign in again"), kind: "error" });
}

async function fetchNext() {
  const atHand = queue.slice(0, ahead);
  const have = atHand.map(({ assignment_id: id, decision_id }) => (decision_id === null ? id : `${id}.${decision_id}`));
  const address = `/api/next?n=${ahead}${have.length ? `&have=${have}` : ""}`;
  const [reply, far] = await Promise.all([api.call("GET", address), api.call("GET", "/api/progress")]);
  const outcome = meaning(reply.status);
  if (outcome === "stop") signedOut();
  if (outcome === "refused") {
    kept.forget();
    view.waiting(sentence(reply));
    await sessionNow(); // says more, and the way on, where it is another's page by now
  }
  if (outcome !== "done") return outcome === "refused" ? "stop" : outcome;
  if (far.status !== 200) return "later";
  if (!reply.body.tasks.every((task) => view.isAsked(task))) {
    const { session, page } = await sessionNow();
    if (!page) return session;
    // the pairs were dealt anew since this one was loaded, blind where they were not, say
    view.rounds = page.getElementById("desk").dataset.rounds;
  }
  const tasks = new Map([...atHand, ...reply.body.tasks].map((task) => [task.assignment_id, task]));
  take(reply.body.order.map((id) => tasks.get(id)), far.body);
  keepPage(far.body.desk_version);
  return "done";
}

// Keeps the page as the server has it now, when that has changed (the study may want nothing kept any more) or what was
// kept grows old.
function keepPage(version) {
  if (version === keptPage.version && Date.now() - keptPage.at < PAGE_KEPT_AGAIN_AFTER_MS) return;
  keptPage = { version, at: Date.now() };
  kept.keepPage();
}

// Puts what the server has open in the place of what was at hand. What is on the screen changes only if something of it
// was taken back, or another pair of its row has come.
function take(tasks, now) {
  if (outside) view.banner("");
  outside = "";
  const before = open();
  const unsent = outbox.items.filter((item) => !item.again);
  const answered = new Set(unsent.map((item) => item.assignment_id));
  const left = tasks.filter((task) => !answered.has(task.assignment_id));
  const kept = new Map(before.map((task) => [task.assignment_id, task]));
  queue = left.map((task) => kept.get(task.assignment_id) ?? task);
  if (hasQualified(before)) return location.assign("/qualification");
  exhausted = !tasks.length || (tasks.length < Number(ahead) && !now.more);
  fetchedAt = Date.now();
  nAnswered = 0;
  progress = now;
  unsent.forEach((item) => count(item.answer));
  view.progress(progress);
  keepTexts();
  if (at === null && !walking && (numbers(open()) !== numbers(before) || !before.length)) settle();
}

// Whether the last pair of a qualification has just been answered, and the server has it.
function hasQualified(before) {
  const last = past.at(-1);
  return !before.length && !outbox.items.length && last && view.qualifiesBy(last) && !queue.some((task) => view.qualifiesBy(task));
}

// Puts what was kept in the place of what the server does not give now.
async function restore() {
  const found = await kept.restore(outbox.items);
  if (!found || progress) return;
  ({ open: queue, answered: past, progress, exhausted, at: fetchedAt } = found);
  view.progress(progress);
  settle();
}

// The first pair after there was none, or the end; what was refused stays to be read.
function settle() {
  if (queue.length) show();
  else if (outside || !exhausted || outbox.items.length) wait();
  else if (nRefused) view.end({ undoable: isUndoable() });
  else location.assign("/thanks");
}

// One step back through one's own answers.
async function back() {
  if (walking) return;
  walking = true;
  elsewhere.clear();
  const found = await earlier();
  if (found) at = past.indexOf(found);
  walking = false;
  if (at === null) settle();
  else show();
}

// The answered pair before the one on the screen. One that is stale and cannot be had now is passed over.
async function earlier() {
  const before = () => past.slice(0, at === null ? past.length : at + 1 - current().length);
  if (before().at(-1)?.stale) await refresh();
  return before().findLast((one) => !one.stale) ?? fetchEarlier();
}

// Puts what the server has now in the place of what is stale.
async function refresh() {
  if (!(await outbox.flush())) return; // it cannot go back from an answer that it does not have
  const later = past[past.findLastIndex((one) => one.stale) + 1];
  const before = later ? `&before=${later.assignment_id}` : "";
  const reply = await api.call("GET", `/api/answers?n=${MOST_ANSWERS}${before}`);
  const found = new Map(reply.body?.tasks?.map((task) => [task.assignment_id, task]));
  past = past.map((one) => (one.stale && found.get(one.assignment_id)) || one);
}

async function fetchEarlier() {
  await outbox.flush(); // the server can only go back from an answer that it has
  const before = past.length ? `&before=${past[0].assignment_id}` : "";
  const reply = await api.call("GET", `/api/answers?n=${MOST_ANSWERS}${before}`);
  const tasks = reply.body?.tasks ?? [];
  const found = tasks.slice(0, view.nTogether(tasks)).reverse();
  past = [...found, ...past];
  if (!found.length) {
    view.banner(reply.status === 200 ? t("There is no earlier answer.") : t("Earlier answers need a connection."), {
      passing: true,
    });
  }
  return found.at(-1);
}

function forward() {
  at = null;
  elsewhere.clear();
  settle();
}

function propose(reason) {
  watch.hold();
  document.getElementById("pause-reason").textContent = reason;
  pauseScreen.showModal();
}

// The goal of today is reached: that is all, and the way to stop.
function sayGoal() {
  watch.hold();
  document.getElementById("goal-number").textContent = number(goal.n);
  document.getElementById("goal-reached").showModal();
}

function setGoal({ target }) {
  goal.set(target.valueAsNumber, progress?.today ?? 0);
  target.value = goal.n ?? "";
  if (progress) view.progress(progress);
}

function endPause() {
  pause.start();
  shownAt = performance.now();
  watch.release();
}

async function rememberBlur(event) {
  view.blurred = event.target.checked;
  const reply = await api.call("PUT", "/api/settings", { blurred: event.target.checked });
  if (meaning(reply.status) === "done") kept.keepPage();
  else view.banner(t("This choice could not be saved; it applies to this page only."));
}

// Whether somebody has been asked already whether they want to leave, see leave.js.
const isLeaving = () => "leaving" in document.documentElement.dataset;

function on(id, type, act) {
  document.getElementById(id).addEventListener(type, act);
}

function leaveNote(event) {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  event.target.blur();
}

function press({ target }) {
  const button = target.closest("[data-answer]");
  if (button) answer(button.dataset.answer);
}

on("pair", "click", press);
on("save", "click", save);
on("note", "input", keepBegun);
on("back", "click", back);
on("reopen", "click", back);
on("forward", "click", forward);
on("reveal", "click", () => view.veil(!veiled()));
for (const id of ["hs", "answered-text", "untranslated-text"]) on(id, "click", () => veiled() && reveal());
on("form", "click", ({ target }) => target.closest(".listed > .veiled") && reveal());
on("blur-choice", "change", rememberBlur);
on("note", "keydown", leaveNote);
on("pause", "click", () => propose(t("You asked for a pause.")));
on("pause-end", "click", () => pauseScreen.close());
on("pause-screen", "close", endPause);
on("goal", "change", setGoal);
on("bar", "click", () => document.getElementById("goal").focus());
on("goal-close", "click", () => document.getElementById("goal-reached").close());
on("goal-reached", "close", endPause);
document.getElementById("goal").value = goal.n ?? "";
window.addEventListener("beforeunload", (event) => outbox.items.length && !isLeaving() && event.preventDefault());

if (location.hash === "#answers") back();
const late = new Promise((resolve) => setTimeout(resolve, RESTORED_AFTER_MS, false));
Promise.race([outbox.flush(), late]).then((isDone) => isDone || restore());
