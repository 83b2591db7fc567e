// What stands around the texts. They get the height that they need, in steps, so that the answers stand below them, and
// seldom move from one pair to the next. On a small screen a long text scrolls in its own part. A part of which something
// lies further down says so, by `data-more`, and those that scroll can be reached by Tab.

const { t } = globalThis.fcpairLanguage;
const PARTS = ".words, .labels";
const STEP_PX = 64;
const LEAST_PX = 4; // less than this is the space below the last line

function mark(part) {
  const beyond = part.scrollHeight - part.clientHeight;
  const isMore = beyond - part.scrollTop > LEAST_PX;
  if (!isMore) part.parentElement.removeAttribute("data-more");
  else if (!part.parentElement.dataset.more) part.parentElement.dataset.more = t("more");
  if (beyond > LEAST_PX && part.ariaHidden !== "true") part.tabIndex = 0;
  else part.removeAttribute("tabindex");
}

// Tells the sheet how high the texts are when nothing limits them.
function fit(texts) {
  const parts = [...texts.querySelectorAll(PARTS)];
  const places = parts.map(({ scrollTop }) => scrollTop);
  texts.classList.add("free");
  const height = Math.ceil(texts.offsetHeight / STEP_PX) * STEP_PX;
  texts.classList.remove("free");
  texts.style.setProperty("--texts", `${height}px`);
  parts.forEach((part, at) => (part.scrollTop = places[at]));
}

function markAll() {
  document.querySelectorAll(".texts").forEach(fit);
  document.querySelectorAll(PARTS).forEach(mark);
}

const CHANGES = { childList: true, characterData: true, subtree: true, attributeFilter: ["hidden", "open", "aria-hidden"] };
new MutationObserver(markAll).observe(document.getElementById("desk"), CHANGES);
new ResizeObserver(markAll).observe(document.body);
window.addEventListener("resize", markAll);
document.addEventListener("input", markAll); // a note grows with its lines
document.addEventListener("scroll", ({ target }) => target.matches?.(PARTS) && mark(target), { capture: true });
markAll();

// The guidelines beside the texts, or on a small screen over the lower part of the page. The keys of the answers are
// heard while they are open. That they are open is kept in this browser where there is room for them, and how far they
// were read in this tab.

const OPEN = "fcpair-guidelines";
const PLACE = "fcpair-guidelines-place";
const guidelines = document.getElementById("guidelines");
const roomy = matchMedia("(min-width: 68.75rem)"); // 1100 px
const opener = () => document.getElementById("guidelines-open"); // another one with each case that is shown

function keep(storage, key, value) {
  try {
    window[storage].setItem(key, value); // where nothing may be kept, already its name is refused
  } catch {
    // it holds for this page
  }
}

function kept(storage, key) {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

function show(isOpen) {
  guidelines.hidden = !isOpen;
  opener()?.setAttribute("aria-expanded", isOpen);
  if (isOpen) guidelines.scrollTop = Number(kept("sessionStorage", PLACE)); // what is hidden forgets it
}

function toggle() {
  const isOpen = guidelines.hidden;
  const hadFocus = guidelines.contains(document.activeElement);
  show(isOpen);
  keep("localStorage", OPEN, isOpen ? "yes" : "no");
  if (isOpen) guidelines.focus({ preventScroll: true }); // so that arrow keys scroll them
  else if (hadFocus) opener()?.focus({ preventScroll: true });
}

function press(event) {
  if (!event.target.closest("#guidelines-open, #guidelines-close")) return;
  event.preventDefault(); // without this script, the guidelines have a page of their own
  toggle();
}

function close(event) {
  const isElsewhere = document.querySelector("dialog:modal") || event.target.matches("textarea, input, select");
  if (event.key === "Escape" && !guidelines.hidden && !isElsewhere) toggle();
}

document.addEventListener("click", press);
document.addEventListener("keydown", close);
document.addEventListener("fcpair:shown", () => show(!guidelines.hidden));
guidelines.addEventListener("scroll", () => keep("sessionStorage", PLACE, guidelines.scrollTop));
if (roomy.matches && kept("localStorage", OPEN) === "yes") show(true);
