// Keys for whatever says which key it has: a button or link with data-key="s" is pressed by that key, a field with
// data-key="n" gets the focus. While a dialog covers the page, only what is in it hears the keys.
//
// The choices of a question (`.options`, `.answers`) have all the ways to type them, data-key="3. 3.5", as the server says
// (stages/questions/base.py). They are heard where the question `hears`. A choice is made as soon as its keys are typed,
// and gives place when what is typed goes on to another one's. A press of a button cannot be taken back so: where keys
// of one go on to another's, what is typed moves the focus to its button, and Enter presses that.

const SWITCH = "fcpair-keys";
const CHOICES = ".options, .answers";
const SIGNS = { ",": ".", "٫": ".", "−": "-", "؟": "?" }; // said by other keyboards
const HELD = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock", "NumLock"]);

let typed = null; // { group, text, bearer }: what was typed last at a question, and chosen by it

function isField(element) {
  return element.matches("textarea, select, [contenteditable], input:not([type=checkbox], [type=radio])");
}

// The keys that a press can mean, the likelier first: what the layout says where it says a Latin letter, a digit or a
// sign; else, or where nothing hears that sign, what is printed on the key of a Latin keyboard, so that a Persian or an
// AZERTY keyboard answers by the same keys. Enter is one of them where it does nothing by itself.
function keysOf(event) {
  if (event.key === "Enter") return event.target.matches("a, button, summary, [role]") ? [] : ["enter"];
  if (/^[a-z0-9]$/i.test(event.key)) return [event.key.toLowerCase()];
  const sign = SIGNS[event.key] ?? event.key;
  const printed = /^(?:Digit|Numpad|Key)(.)$/.exec(event.code);
  return [...(/^[.?-]$/.test(sign) ? [sign] : []), ...(printed ? [printed[1].toLowerCase()] : [])];
}

let switched = null; // "on" or "off" where the browser lets nothing be stored

function areOff() {
  try {
    return localStorage.getItem(SWITCH) === "off";
  } catch {
    return switched === "off";
  }
}

function turn(to) {
  switched = to;
  try {
    localStorage.setItem(SWITCH, to);
  } catch {
    // it holds for this page
  }
}

const ways = (bearer) => bearer.dataset.key.split(" ");
const isThere = (one) => !one.disabled && (one.getClientRects().length > 0 || one.closest("details"));

// What can be typed at a question and begins so, way by way with its bearer.
function begun(group, text) {
  const bearers = [...group.querySelectorAll("[data-key]")].filter(isThere);
  return bearers.flatMap((bearer) => ways(bearer).map((way) => ({ way, bearer }))).filter(({ way }) => way.startsWith(text));
}

// Whether something that can be typed at a question begins what else can be typed there.
function mayGoOn(group) {
  const all = begun(group, "").map(({ way }) => way);
  return all.some((one) => all.some((other) => other !== one && other.startsWith(one)));
}

// Takes one key for what is typed at the questions in `scope`; whether it belongs there.
function type(key, scope) {
  const isGoingOn = typed && scope.contains(typed.group) && begun(typed.group, typed.text + key).length > 0;
  if (isGoingOn) return take(typed.group, typed.text + key, typed.bearer);
  finish();
  const group = [...scope.querySelectorAll(CHOICES)].find((one) => one.matches(".hears") && begun(one, key).length > 0);
  return Boolean(group) && take(group, key, null);
}

function take(group, text, before) {
  const all = begun(group, text);
  const bearer = all.find(({ way }) => way === text)?.bearer ?? null;
  group.toggleAttribute("data-typing", all.some(({ way }) => /^\d/.test(way.slice(text.length)))); // digits may follow
  typed = { group, text, bearer: bearer ?? before };
  if (!bearer || bearer === before) return true;
  if (before?.type === "checkbox") before.click();
  if (bearer.matches("button") && mayGoOn(group)) bearer.focus();
  else bearer.click();
  return true;
}

// Nothing goes on from here to what was typed.
function finish() {
  const group = typed?.group;
  typed = null;
  if (!group?.hasAttribute("data-typing")) return;
  group.removeAttribute("data-typing");
  group.dispatchEvent(new CustomEvent("typed", { bubbles: true }));
}

function press(event) {
  if (event.key === "Escape" && isField(event.target)) event.target.blur();
  if (event.repeat || HELD.has(event.key)) return;
  if (event.ctrlKey || event.altKey || event.metaKey || isField(event.target) || areOff()) return finish();
  const scope = document.querySelector("dialog:modal") ?? document;
  const keys = keysOf(event);
  if (!keys.some((key) => type(key, scope) || act(key, scope))) return keys.length ? undefined : finish();
  event.preventDefault();
}

// Presses what has that key and is no choice of a question; whether there is anything.
function act(key, scope) {
  const bearers = [...scope.querySelectorAll(`[data-key="${key}"]`)].filter((one) => !one.closest(CHOICES));
  const bearer = bearers.find(isThere);
  if (!bearer) return false;
  if (bearer.matches("summary")) return toggle(bearer);
  bearer.closest("details")?.setAttribute("open", ""); // what is folded away is unfolded by its key
  if (isField(bearer)) show(bearer);
  else bearer.click();
  return true;
}

// Gives a field the focus, and moves the page no further than to show it.
function show(field) {
  field.focus({ preventScroll: true });
  field.scrollIntoView({ block: "nearest" });
}

// Unfolds or folds what a line heads, and shows it wherever it is on the page.
function toggle(summary) {
  summary.click();
  summary.focus();
  summary.parentElement.scrollIntoView({ block: "nearest" });
  return true;
}

// Single-letter keys get in the way of some speech and switch input, so that they can be turned off.
function offerSwitch(box) {
  box.checked = !areOff();
  box.addEventListener("change", () => turn(box.checked ? "on" : "off"));
}

document.addEventListener("keydown", press);
document.addEventListener("click", ({ isTrusted }) => isTrusted && finish()); // by the person, and when it has hit
document.querySelectorAll("input[data-keys-switch]").forEach(offerSwitch);
