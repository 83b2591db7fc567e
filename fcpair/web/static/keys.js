// Keys for whatever says which key it has: a button or link with data-key="1" is pressed by that key, a field with
// data-key="n" gets the focus. While a dialog is open, only what is in it hears the keys.

const SWITCH = "fcpair-keys";

function isField(element) {
  return element.matches("textarea, select, [contenteditable], input:not([type=checkbox], [type=radio])");
}

// What the layout says where it says a Latin letter or digit; else what is printed on the key of a Latin keyboard, so
// that a Persian or an AZERTY keyboard answers by the same keys. Enter is one of them where it does nothing by itself.
function keyOf(event) {
  if (event.key === "Enter") return event.target.matches("a, button, summary, [role]") ? null : "enter";
  if (/^[a-z0-9]$/i.test(event.key)) return event.key.toLowerCase();
  const printed = /^(?:Digit|Numpad|Key)(.)$/.exec(event.code);
  return printed ? printed[1].toLowerCase() : null;
}

function areOff() {
  return localStorage.getItem(SWITCH) === "off";
}

function press(event) {
  if (event.key === "Escape" && isField(event.target)) event.target.blur();
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || isField(event.target) || areOff()) return;
  const key = keyOf(event);
  if (key === null) return;
  const scope = document.querySelector("dialog[open]") ?? document;
  const bearers = [...scope.querySelectorAll(`[data-key="${key}"]`)];
  const bearer = bearers.find((one) => !one.disabled && (one.getClientRects().length > 0 || one.closest("details")));
  if (!bearer) return;
  event.preventDefault();
  bearer.closest("details")?.setAttribute("open", ""); // what is folded away is unfolded by its key
  if (isField(bearer)) bearer.focus();
  else bearer.click();
}

// Single-letter keys get in the way of some speech and switch input, so that they can be turned off.
function offerSwitch(box) {
  box.checked = !areOff();
  box.addEventListener("change", () => localStorage.setItem(SWITCH, box.checked ? "on" : "off"));
}

document.addEventListener("keydown", press);
document.querySelectorAll("input[data-keys-switch]").forEach(offerSwitch);
