"""What does not fit on a page: a page that scrolls sideways, a control that is cut off, an act out of sight."""

from __future__ import annotations

from typing import cast

from playwright.sync_api import Page

from browser import acts

SIZES = tuple(
    {"width": width, "height": height} for width, height in ((375, 667), (1024, 768), (1366, 768), (1920, 1080))
)
# A control may be beyond the edge of what scrolls sideways, such as a table; not of what cuts off, nor of the page.
CUT = """() => {
  const controls = "a[href], button, input, select, textarea, summary, [role=button], [role=tab]";
  const clips = /hidden|clip/, scrolls = /auto|scroll/;
  const words = (it) => it.innerText || it.value || it.ariaLabel || it.name || "";
  const name = (it) => `${it.tagName.toLowerCase()} ${words(it).slice(0, 40)}`;
  const cut = [];
  for (const control of document.querySelectorAll(controls)) {
    if (!control.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })) continue;
    if (control.closest(".skip-link, .visually-hidden, [popover]:not(:popover-open):not(.side)")) continue;
    const own = control.getBoundingClientRect();
    if (!own.width || !own.height || (own.width <= 1 && own.height <= 1)) continue;
    const frozen = control.closest(".acts");
    const isOut = (left, right) => own.left < left - 1 || own.right > right + 1;
    let isReached = false;
    for (let around = control.parentElement; around && around !== document.body; around = around.parentElement) {
      const { overflowX } = getComputedStyle(around);
      const box = around.getBoundingClientRect();
      if (scrolls.test(overflowX) && !(frozen && around.contains(frozen))) isReached = true;
      if (!isReached && (clips.test(overflowX) || scrolls.test(overflowX)) && isOut(box.left, box.right)) {
        cut.push(`${name(control)} is cut off by .${around.className}`);
        break;
      }
    }
    if (!isReached && isOut(0, document.documentElement.clientWidth)) cut.push(`${name(control)} is beside the window`);
    if (control.matches("button, [role=button]") && control.scrollWidth > control.clientWidth + 2) {
      cut.push(`${name(control)} is narrower than its words`);
    }
  }
  return cut;
}"""
IS_WIDER = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def misfits(page: Page) -> list[str]:
    """What does not fit on the page as it is now, at each of SIZES; the page has its former size afterwards."""
    before, found = page.viewport_size, []
    for size in SIZES:
        acts.resize(page, size)
        wide = ["the page scrolls sideways"] if page.evaluate(IS_WIDER) else []
        found += [f"{size['width']} px: {problem}" for problem in (*wide, *cast("list[str]", page.evaluate(CUT)))]
    if before is not None:
        acts.resize(page, {"width": before["width"], "height": before["height"]})
    return found
