// On a small screen a long text scrolls in its own part. A part of which something lies further down says so, by
// `data-more`, and those that scroll can be reached by Tab.

const { t } = globalThis.fcpairLanguage;
const PARTS = ".words, .labels";
const LEAST_PX = 4; // less than this is the space below the last line

function mark(part) {
  const beyond = part.scrollHeight - part.clientHeight;
  const isMore = beyond - part.scrollTop > LEAST_PX;
  if (!isMore) part.parentElement.removeAttribute("data-more");
  else if (!part.parentElement.dataset.more) part.parentElement.dataset.more = t("more");
  if (beyond > LEAST_PX && part.ariaHidden !== "true") part.tabIndex = 0;
  else part.removeAttribute("tabindex");
}

const markAll = () => document.querySelectorAll(PARTS).forEach(mark);

const CHANGES = { childList: true, characterData: true, subtree: true, attributeFilter: ["hidden", "open", "aria-hidden"] };
new MutationObserver(markAll).observe(document.getElementById("desk"), CHANGES);
new ResizeObserver(markAll).observe(document.body);
window.addEventListener("resize", markAll);
document.addEventListener("input", markAll); // a note grows with its lines
document.addEventListener("scroll", ({ target }) => target.matches?.(PARTS) && mark(target), { capture: true });
markAll();
