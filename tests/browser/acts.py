"""What somebody does who sits before a page: first visits, keys, answers, and waiting until the page has taken them."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Error, Locator, Page, expect

PATIENCE_MS = 15_000
HASTE_MS = 300  # a little more than the time for which pages ignore answers on what they have just shown
STEP_MS = 40
MOST_TABS = 60
MARK = """() => [location.pathname, document.querySelector("#count")?.textContent,
  document.querySelector("#earlier")?.hidden].join()"""
ELSEWHERE = "elsewhere"
PROBE, INTERCEPTED = "/api/openapi.json?intercepted", "intercepted"
SUBMIT = "**/api/judgements"
COMES_BACK = "() => window.dispatchEvent(new Event('focus'))"  # as when somebody comes back to the window
By = Callable[[Page, str], None]


def resize(page: Page, size: dict[str, int]) -> None:
    page.set_viewport_size({"width": size["width"], "height": size["height"]})


def come_in(page: Page, token: str) -> None:
    """Open an invite link, and wait until it has led in."""
    page.goto(f"/join#{token}")
    page.wait_for_url(lambda url: urlsplit(url).path != "/join")


def consent(page: Page) -> None:
    page.get_by_role("checkbox", name="I have read this").check()
    page.get_by_role("button", name="Begin").click()


def by_key(page: Page, selector: str) -> None:
    """Press the key of a button that may have gone meanwhile."""
    for button in page.query_selector_all(selector):
        page.keyboard.press(str(button.get_attribute("data-key")))


def by_mouse(page: Page, selector: str) -> None:
    """Click a button that may have gone meanwhile."""
    for button in page.query_selector_all(selector):
        if button.is_visible():
            button.click()


def by_touch(page: Page, selector: str) -> None:
    for button in page.query_selector_all(selector):
        button.tap()


def rest(page: Page) -> None:
    """Wait until the page takes an answer on what it has just shown."""
    page.wait_for_timeout(HASTE_MS)


def press(page: Page, *keys: str) -> None:
    """Press keys, each when the page takes an answer again on what it has just shown."""
    for key in keys:
        rest(page)
        page.keyboard.press(key)


def type_keys(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def tab_to(page: Page, selector: str) -> None:
    for _ in range(MOST_TABS):
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {selector}")


def await_pair(page: Page) -> None:
    expect(page.locator("#pair")).to_be_visible()


def enter(page: Page, path: str = "/annotate") -> None:
    page.goto(path)
    await_pair(page)


def reload(page: Page) -> None:
    page.reload()
    await_pair(page)


def pair(page: Page) -> tuple[str, str]:
    await_pair(page)
    return page.locator("#hs").inner_text(), page.locator("#cn").inner_text()


def answer(page: Page, *names: str, by: By = by_key) -> list[tuple[str, str, str]]:
    """Answer the pair on the screen, then the next; the texts and the answer of each.

    What comes within a quarter of a second after the pair before is ignored, so that a double click is no answer:
    try until the page has taken it.
    """
    given = []
    for name in names:
        given.append((*pair(page), name))
        act_until_taken(page, lambda selector=f'[data-answer="{name}"]': by(page, selector))  # type: ignore[misc]
    return given


def decide(page: Page, selector: str) -> None:
    """Press the key of an adjudicator's button once, and wait for what is shown then and until the server has it."""
    case = page.locator("#case-name")
    shown = case.inner_text()
    page.wait_for_timeout(HASTE_MS)
    by_key(page, selector)
    expect(case).not_to_have_text(re.compile(f"^{re.escape(shown)}$|on its way"))
    await_sent(page)


def box(page: Page) -> Locator:
    """Where a text is written."""
    return page.locator("#form textarea")


def save(page: Page) -> None:
    """Press Save, and wait until the server has what is saved and the page takes answers again."""
    page.get_by_role("button", name="Save").click()
    await_sent(page)
    page.wait_for_timeout(HASTE_MS)


def save_by_enter(page: Page) -> None:
    """Save what is chosen by the keyboard, and wait until the server has it."""
    press(page, "Enter")
    await_sent(page)
    page.wait_for_timeout(HASTE_MS)


def act_until_taken(page: Page, act: Callable[[], None]) -> None:
    """Do something until the desk shows that it has taken it, which it does at once."""
    place, before, end = page.url, _mark(page), monotonic() + PATIENCE_MS / 1000
    while (mark := _mark(page)) == before:
        assert monotonic() < end, f"the page does not take it: {before}"
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


def until_page(page: Page, holds: str) -> None:
    """Wait until something asynchronous holds; `wait_for_function` takes any promise for true."""
    end = monotonic() + PATIENCE_MS / 1000
    while not page.evaluate(holds):
        assert monotonic() < end, holds
        page.wait_for_timeout(STEP_MS)


def await_kept(page: Page) -> None:
    """Wait until the desk can be opened again without a connection."""
    until_page(
        page,
        """async () => Boolean((await caches.match("/kept-texts")) && (await caches.match(location.pathname))
          && navigator.serviceWorker.controller)""",
    )


def offline(page: Page, cut: bool = True) -> None:
    page.context.set_offline(cut)
    if not cut:
        page.evaluate(COMES_BACK)


def intercept(
    page: Page, address: str | re.Pattern[str], handle: Callable[..., object], *, times: int | None = None
) -> None:
    """Have requests of an open page handled here, once the browser, which may still send some, hands them all over."""
    page.route(f"**{PROBE}", lambda route: route.fulfill(body=INTERCEPTED))
    page.route(address, handle, times=times)
    end = monotonic() + PATIENCE_MS / 1000
    while page.evaluate("async (address) => (await fetch(address)).text()", PROBE) != INTERCEPTED:
        assert monotonic() < end, "requests are not intercepted"


def refuse(page: Page, detail: str) -> None:
    """Have the next answer of a desk refused with this reason."""
    refusal = {"status": 422, "json": {"detail": detail}}
    intercept(page, SUBMIT, lambda route: route.fulfill(**refusal), times=1)


def lose_the_reply(route: Any) -> None:
    """Let the server have a request, and nobody its reply."""
    route.fetch()
    route.abort()
