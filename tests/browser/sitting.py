"""What somebody does who sits before a page: first visits, answers, and waiting until the page has taken them."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import monotonic

from playwright.sync_api import Error, Page, expect

from browser.windows import PATIENCE_MS

By = Callable[[Page, str], None]
MARK = """() => [location.pathname, document.querySelector("#count")?.textContent,
  document.querySelector("#earlier")?.hidden].join()"""
ELSEWHERE = "elsewhere"
STEP_MS = 40
HASTE_MS = 300  # a little more than the time for which pages ignore answers on what they have just shown
MOST_TABS = 60
PROBE, INTERCEPTED = "/api/openapi.json?intercepted", "intercepted"


def by_key(page: Page, selector: str) -> None:
    """Press the key of a button that may have gone meanwhile."""
    for button in page.query_selector_all(selector):
        page.keyboard.press(str(button.get_attribute("data-key")))


def by_mouse(page: Page, selector: str) -> None:
    """Click a button that may have gone meanwhile."""
    for button in page.query_selector_all(selector):
        if button.is_visible():
            button.click()


def consent(page: Page) -> None:
    """Agree to the terms on the page of the first visit."""
    page.get_by_role("checkbox", name="I have read this").check()
    page.get_by_role("button", name="Begin").click()


def await_pair(page: Page) -> None:
    """Wait until there is a pair to answer."""
    expect(page.locator("#pair")).to_be_visible()


def pair(page: Page) -> tuple[str, str]:
    """The texts on the screen."""
    await_pair(page)
    return page.locator("#hs").inner_text(), page.locator("#cn").inner_text()


def answer(page: Page, name: str, by: By = by_key) -> None:
    """Answer the pair on the screen.

    What comes within a quarter of a second after the pair before is ignored, so that a double click is no answer:
    try until the page has taken it.
    """
    await_pair(page)
    act_until_taken(page, lambda: by(page, f'[data-answer="{name}"]'))


def decide(page: Page, selector: str) -> None:
    """Press the key of an adjudicator's button once, and wait for what is shown then and until the server has it."""
    case = page.locator("#case-name")
    shown = case.inner_text()
    page.wait_for_timeout(HASTE_MS)
    by_key(page, selector)
    expect(case).not_to_have_text(re.compile(f"^{re.escape(shown)}$|on its way"))
    await_sent(page)


def act_until_taken(page: Page, act: Callable[[], None]) -> None:
    """Do something until the desk shows that it has taken it, which it does at once."""
    place, before, until = page.url, _mark(page), monotonic() + PATIENCE_MS / 1000
    while (mark := _mark(page)) == before:
        assert monotonic() < until, f"the page does not take it: {before}"
        act()
        page.wait_for_timeout(STEP_MS)
    if mark == ELSEWHERE:  # a window that is closed while its page is being left never closes
        page.wait_for_url(lambda url: url != place)


def _mark(page: Page) -> str:
    """What changes on the page when an answer has been taken."""
    try:
        return str(page.evaluate(MARK))
    except Error:  # the page is being left, as it is after the last answer
        return ELSEWHERE


def await_sent(page: Page) -> None:
    """Wait until the server has all answers."""
    page.wait_for_function(
        """() => !document.querySelector("#save[aria-busy=true]") && !Object.keys(localStorage).some(
          (key) => key.startsWith('fcpair-outbox') && localStorage[key] !== '[]')"""
    )


def intercept(
    page: Page, address: str | re.Pattern[str], handle: Callable[..., object], *, times: int | None = None
) -> None:
    """Have requests of an open page handled here, once the browser, which may still send some, hands them all over."""
    page.route(f"**{PROBE}", lambda route: route.fulfill(body=INTERCEPTED))
    page.route(address, handle, times=times)
    until = monotonic() + PATIENCE_MS / 1000
    while page.evaluate("async (address) => (await fetch(address)).text()", PROBE) != INTERCEPTED:
        assert monotonic() < until, "requests are not intercepted"


def enter(page: Page, path: str = "/annotate") -> None:
    """Sit down at the desk."""
    page.goto(path)
    await_pair(page)


def tab_to(page: Page, selector: str) -> None:
    """Move the focus to what `selector` names, by Tab alone."""
    for _ in range(MOST_TABS):
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {selector}")
