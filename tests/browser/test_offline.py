"""Without a connection: the desk opens and goes on, undo works, and no text is kept longer than it is needed."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect
from steps.online import admit
from web.served import Served, serving

from browser.conftest import TERMS
from browser.hosts import Host
from browser.sitting import HASTE_MS, STEP_MS, answer, await_pair, await_sent, by_key, enter, intercept, pair
from browser.studies import ENGLISH, build
from browser.test_connection import CUT, Given, give, stored
from browser.windows import PATIENCE_MS, Windows, come_in
from fcpair.study import Study

REFUSED = ("status of 40[0139]", *CUT)
HELD = """async () => {
  const held = {};
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      held[new URL(request.url).pathname] = await (await cache.match(request)).text();
    }
  }
  return { ...held, ...localStorage };
}"""
WORKERS = "async () => (await navigator.serviceWorker.getRegistrations()).length"


def held(page: Page) -> dict[str, str]:
    """All that the browser keeps for the study: cached pages and files, and local storage."""
    return dict(page.evaluate(HELD))


def texts(page: Page) -> dict[str, Any] | None:
    """The texts that the browser keeps."""
    found = held(page).get("/kept-texts")
    return None if found is None else dict(json.loads(found))


NOTHING_ANSWERED = "async () => !(await (await caches.match('/kept-texts')).json()).answered.length"


def until(page: Page, holds: str) -> None:
    """Wait until something asynchronous holds; `wait_for_function` takes any promise for true."""
    end = monotonic() + PATIENCE_MS / 1000
    while not page.evaluate(holds):
        assert monotonic() < end, holds
        page.wait_for_timeout(STEP_MS)


def await_kept(page: Page) -> None:
    """Wait until the desk can be opened again without a connection."""
    until(
        page,
        """async () => Boolean((await caches.match("/kept-texts")) && (await caches.match(location.pathname))
          && navigator.serviceWorker.controller)""",
    )


def seconds(path: str | Path) -> list[float]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT seconds FROM judgement ORDER BY id")]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example corpus with 60 pairs for ana alone: more than are kept ahead."""
    return build(tmp_path_factory.mktemp("large"), ENGLISH, 12, ("ana",))


@pytest.fixture
def path(large: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "offline.db"
    copy.write_bytes(large.read_bytes())
    return copy


@pytest.fixture
def start(path: Path) -> Iterator[Callable[..., Served]]:
    """Serve it in a process of its own."""
    with serving(path) as started:
        yield started


def token(path: Path) -> str:
    """ana's, who has consented."""
    study = Study(path)
    admit(study, "ana")
    invited = study.access.invite("ana")
    study.close()
    return invited


def stop(served: Served) -> None:
    served.process.kill()
    served.process.wait()


def go_back(page: Page) -> None:
    """One step back, from one answered pair to the one before too."""
    shown = pair(page)
    page.keyboard.press("u")
    page.wait_for_function("(cn) => document.getElementById('cn').innerText !== cn", arg=shown[1])


def test_thirty_pairs_are_answered_and_two_undone_while_the_server_is_gone(
    path: Path, start: Callable[..., Served], windows: Windows
) -> None:
    invited = token(path)
    served = start()
    page = windows.open(served.url, invited, forgive=CUT)
    page.on("dialog", lambda dialog: dialog.accept())
    enter(page)
    await_kept(page)
    stop(served)
    page.reload()
    await_pair(page)
    given: Given = give(page, *["appropriate", "not_sure"] * 8)
    page.reload()
    await_pair(page)
    given += give(page, *["not_appropriate"] * 14)
    for _ in range(2):
        go_back(page)
    assert pair(page) == given[28][:2]
    expect(page.locator("#answered")).to_have_text("not appropriate")
    given[28] = give(page, "appropriate")[0]
    expect(page.locator("#count")).to_have_text("30 answered, 30 open")
    expect(page.locator("#banner-text")).to_have_text("Not sent yet: 30 answers are kept in this page.")
    (waiting,) = [value for key, value in held(page).items() if key.startswith("fcpair-outbox")]
    sums = [item["seconds"] for item in json.loads(waiting)]
    start("--port", str(urlsplit(served.url).port))
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")  # as when somebody comes back to the window
    await_sent(page)
    assert stored(path) == given
    assert seconds(path) == sums
    assert len(set(sums)) > 1
    assert held(page).keys() & {"/annotate", "/kept-texts"} == {"/annotate", "/kept-texts"}
    until(page, NOTHING_ANSWERED)


def test_undo_reaches_what_was_answered_before_a_reload_without_a_connection(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=CUT)
    page.on("dialog", lambda dialog: dialog.accept())
    enter(page)
    sent = give(page, "appropriate")
    await_sent(page)
    await_kept(page)
    page.context.set_offline(True)
    (first,) = give(page, "not_sure")
    go_back(page)
    go_back(page)
    assert pair(page) == sent[0][:2]  # on this page, also what the server has
    page.reload()
    await_pair(page)
    go_back(page)
    assert pair(page) == first[:2]
    page.keyboard.press("u")
    expect(page.locator("#banner-text")).to_have_text("Earlier answers need a connection.")
    page.context.set_offline(False)


def test_fifty_pairs_are_at_hand_and_no_more_than_a_limit_leaves(
    host: Callable[..., Host], large: Path, windows: Windows
) -> None:
    page = windows.open((free := host(large)).url, free.token("ana"))
    enter(page)
    await_kept(page)
    assert len(texts(page)["open"]) == 50  # type: ignore[index]
    limited = host(large, replace(TERMS, daily_limit=7))
    page = windows.open(limited.url, limited.token("ana"))
    enter(page)
    await_kept(page)
    assert len(texts(page)["open"]) == 7  # type: ignore[index]


def test_a_text_goes_when_its_answer_is_with_the_server(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    enter(page)
    await_kept(page)
    (given,) = give(page, "appropriate")
    await_sent(page)
    until(page, NOTHING_ANSWERED)
    kept = texts(page)
    assert kept is not None
    assert len(kept["open"]) == 14
    assert given[:2] not in [(one["row"]["body"], one["column"]["body"]) for one in kept["open"]]


def test_nothing_is_kept_after_leaving(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=CUT)
    enter(page)
    answer(page, "appropriate")
    await_sent(page)
    await_kept(page)
    page.get_by_role("button", name="Leave").click()
    page.wait_for_url("**/join")
    until(page, "async () => !(await caches.keys()).length")
    until(page, f"async () => !(await ({WORKERS})())")
    assert held(page) == {}
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0


def test_nothing_is_kept_where_the_lead_does_not_want_it(
    host: Callable[..., Host], example: Path, windows: Windows
) -> None:
    off = host(example, replace(TERMS, offline=False))
    page = windows.open(off.url, off.token("ana"), forgive=CUT)
    enter(page)
    answer(page, "appropriate")
    await_sent(page)
    assert held(page) == {}
    assert page.evaluate(WORKERS) == 0
    page.context.set_offline(True)
    with pytest.raises(Exception, match="ERR_INTERNET_DISCONNECTED"):
        page.reload()
    page.context.set_offline(False)


def sit_while_it_is_switched_off(path: Path, start: Callable[..., Served], windows: Windows) -> Page:
    """An annotator's page with pairs at hand, after the server was started again to keep nothing."""
    invited = token(path)
    served = start()
    page = windows.open(served.url, invited, forgive=CUT)
    enter(page)
    await_kept(page)
    stop(served)
    start("--port", str(urlsplit(served.url).port), "--offline", "false")
    return page


def test_what_was_kept_goes_when_the_lead_has_switched_it_off(
    path: Path, start: Callable[..., Served], windows: Windows
) -> None:
    page = sit_while_it_is_switched_off(path, start, windows)
    page.reload()
    await_pair(page)
    until(page, f"async () => !(await caches.keys()).length && !(await ({WORKERS})())")
    assert held(page) == {}


def test_the_desk_keeps_nothing_more_once_the_lead_has_switched_it_off_while_it_was_open(
    path: Path, start: Callable[..., Served], windows: Windows
) -> None:
    """Nobody loads the page again, and no answer meets the server while it is down."""
    page = sit_while_it_is_switched_off(path, start, windows)
    for _ in range(3):
        answer(page, "appropriate")
        await_sent(page)
    until(page, f"async () => !(await caches.keys()).length && !(await ({WORKERS})())")
    assert held(page) == {}


def test_answers_beyond_a_limit_lowered_meanwhile_are_refused_and_said_before_the_end(
    path: Path, start: Callable[..., Served], windows: Windows
) -> None:
    invited = token(path)
    served = start()
    page = windows.open(served.url, invited, forgive=REFUSED)
    enter(page)
    await_kept(page)
    stop(served)
    given = give(page, *["appropriate"] * 6)
    start("--port", str(urlsplit(served.url).port), "--daily-limit", "4")
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    expect(page.locator("#waiting")).to_have_text("There are no more pairs for you now.")
    expect(page.locator("#banner-text")).to_have_text(
        "2 answers were not taken. The last: You have read 4 pairs today, as many as one person may read in a day. "
        "Please come back tomorrow."
    )
    assert stored(path) == given[:4]
    page.get_by_role("link", name="Go to the last page").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for today")


@pytest.mark.parametrize("act", ["revoke", "role"])
def test_what_is_kept_goes_when_somebody_may_not_read_it_any_more(desk: Host, windows: Windows, act: str) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=REFUSED)
    page.on("dialog", lambda dialog: dialog.accept())
    enter(page)
    await_kept(page)
    if act == "revoke":
        desk.study.access.revoke("ana")
        answer(page, "appropriate")
        expect(page.locator("#banner-text")).to_contain_text("You are no longer signed in.")
    else:
        desk.study.hand_over("ana")
        desk.study.change_role("ana", desk.study.people[2].role)
        page.reload()
    until(page, "async () => !(await caches.has('fcpair-kept'))")


def test_what_is_kept_goes_when_somebody_changes_what_they_wish_to_read(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=CUT)
    enter(page)
    await_kept(page)
    page.goto("/settings")
    assert texts(page) is not None
    page.locator("[name=topic][value=food]").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Saved.")
    until(page, "async () => !(await caches.has('fcpair-kept'))")
    page.context.set_offline(True)
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("No connection")
    page.context.set_offline(False)


def test_after_a_day_nothing_opens_any_more(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=CUT)
    enter(page)
    await_kept(page)
    page.evaluate(
        """async () => {
          const cache = await caches.open("fcpair-kept");
          for (const key of await cache.keys()) {
            const found = await cache.match(key);
            const headers = new Headers(found.headers);
            headers.set("x-fcpair-kept-at", Date.now() - 24 * 3600 * 1000);
            await cache.put(key, new Response(await found.text(), { headers }));
          }
        }"""
    )
    page.context.set_offline(True)
    page.goto("/annotate")
    expect(page.get_by_role("heading", level=1)).to_have_text("No connection")
    assert texts(page) is None
    page.context.set_offline(False)


def test_another_person_on_the_same_device_neither_sees_nor_sends_what_the_first_left(
    desk: Host, windows: Windows
) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=CUT)
    page.on("dialog", lambda dialog: dialog.accept())
    enter(page)
    await_kept(page)
    page.context.set_offline(True)
    give(page, "appropriate")
    intercept(page, "**/api/judgements", lambda route: route.abort())
    page.context.set_offline(False)
    come_in(page, desk.token("ben"))
    await_pair(page)
    await_kept(page)
    page.unroute("**/api/judgements")
    kept = texts(page)
    assert kept is not None
    assert kept["answered"] == []
    page.context.set_offline(True)
    page.reload()
    await_pair(page)
    page.context.set_offline(False)
    bens = {one.assignment_id for one in desk.study.work_queue(TERMS).tasks(visitor(desk.study, "ben"), 50)}
    assert {one["assignment_id"] for one in kept["open"]} <= bens
    assert stored(desk.study.place) == []


def visitor(study: Study, name: str) -> Any:
    return study.access.by_id(next(one.id for one in study.people if one.name == name))


def test_an_answer_on_what_somebody_else_has_by_now_is_refused_and_said(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=REFUSED)
    page.on("dialog", lambda dialog: dialog.accept())
    enter(page)
    await_kept(page)
    page.context.set_offline(True)
    page.reload()
    give(page, "appropriate", "not_sure")
    desk.study.hand_over("ana", "ben")
    page.context.set_offline(False)
    expect(page.locator("#banner-text")).to_contain_text("2 answers were not taken. The last: This pair has been given")
    expect(page.get_by_role("link", name="Go to the last page")).to_be_visible()  # ana has no pair left
    assert stored(desk.study.place) == []


def test_the_start_page_leads_to_the_desk_and_others_say_why_they_do_not_open(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=CUT)
    enter(page)
    await_kept(page)
    page.context.set_offline(True)
    page.goto("/guidelines")
    expect(page.get_by_role("heading", level=1)).to_have_text("No connection")
    page.get_by_role("link", name="Back to your work").click()
    await_pair(page)
    assert urlsplit(page.url).path == "/annotate"
    page.context.set_offline(False)


def test_a_window_that_was_open_meanwhile_keeps_no_more(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=REFUSED)  # the open pair may be one of those
    enter(page)
    await_kept(page)
    other = page.context.new_page()
    other.goto("/settings")
    other.locator("[name=topic][value=food]").check()
    other.get_by_role("button", name="Save").click()
    expect(other.get_by_role("status")).to_have_text("Saved.")
    answer(page, "appropriate")
    await_sent(page)
    page.wait_for_timeout(HASTE_MS)
    assert texts(page) is None


def test_where_the_browser_has_no_service_worker_the_desk_works_as_ever(desk: Host, windows: Windows) -> None:
    """As at http:// on a local network."""
    page = windows.open(desk.url, desk.token("ana"), forgive=CUT)
    page.add_init_script("delete Navigator.prototype.serviceWorker; delete globalThis.caches;")
    enter(page)
    page.context.set_offline(True)
    given = give(page, "appropriate", "not_sure", "appropriate", "appropriate", "appropriate", "appropriate")
    page.context.set_offline(False)
    await_sent(page)
    assert stored(desk.study.place) == given
    assert page.evaluate("() => Object.keys(localStorage)") == []


def test_files_of_another_version_are_dropped(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    page.goto("/guidelines")
    page.evaluate("async () => { await caches.open('fcpair-files-older'); }")
    enter(page)
    await_kept(page)
    assert page.evaluate("async () => (await caches.keys()).filter((one) => one.includes('files')).length") == 1
    assert not page.evaluate("async () => caches.has('fcpair-files-older')")


def test_the_kept_page_has_the_same_content_security_policy(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    enter(page)
    await_kept(page)
    policy = page.evaluate("async () => (await caches.match('/annotate')).headers.get('content-security-policy')")
    assert policy == page.request.get("/annotate").headers["content-security-policy"]


def test_the_manifest_names_the_study_and_its_icons_are_there(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    enter(page)
    manifest = page.request.get(str(page.locator("link[rel=manifest]").get_attribute("href"))).json()
    assert (manifest["name"], manifest["start_url"], manifest["display"]) == ("Mild prejudices", "/", "standalone")
    for icon in manifest["icons"]:
        found = page.request.get(icon["src"])
        assert (found.status, found.headers["content-type"]) == (200, icon["type"])


def test_the_last_answer_at_hand_can_be_undone_without_a_connection(
    host: Callable[..., Host], example: Path, windows: Windows
) -> None:
    limited = host(example, replace(TERMS, daily_limit=2))
    page = windows.open(limited.url, limited.token("ana"), forgive=CUT)
    enter(page)
    await_kept(page)
    page.context.set_offline(True)
    given = give(page, "appropriate", "not_sure")
    expect(page.locator("#waiting")).to_have_text("That was the last pair. Your answers are being sent.")
    page.get_by_role("button", name="Undo").click()
    assert pair(page) == given[1][:2]
    expect(page.locator("#answered")).to_have_text("not sure")
    page.wait_for_timeout(HASTE_MS)
    by_key(page, "[data-answer=not_appropriate]")
    given[1] = (*given[1][:2], "not_appropriate")
    expect(page.locator("#pair")).to_be_hidden()
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("not appropriate")
    page.keyboard.press("f")
    expect(page.locator("#pair")).to_be_hidden()
    page.context.set_offline(False)
    page.wait_for_url("**/thanks")
    assert stored(limited.study.place) == given


def test_nothing_is_offered_to_be_undone_before_there_is_an_answer(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=CUT)
    page.route("**/api/next?*", lambda route: route.abort())
    page.goto("/annotate")
    expect(page.locator("#banner-text")).to_have_text("The server cannot be reached. Trying again.")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)


def outbox(page: Page) -> str | None:
    return next((value for key, value in held(page).items() if key.startswith("fcpair-outbox")), None)


def test_who_leaves_without_a_connection_is_told_that_they_are_still_signed_in(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=CUT)
    enter(page)
    await_kept(page)
    page.context.set_offline(True)
    given = give(page, "appropriate")
    unsent = outbox(page)
    assert unsent
    page.get_by_role("button", name="Leave").click()
    page.get_by_role("dialog", name="Leave now?").get_by_role("button", name="Leave").click()  # and nothing else asks
    expect(page.get_by_role("heading", level=1)).to_have_text("You have not left yet")
    expect(page.locator("main")).to_contain_text("You are still signed in in this browser")
    assert texts(page) is None
    assert outbox(page) == unsent
    page.context.set_offline(False)
    page.get_by_role("link", name="Back to your work").click()
    await_pair(page)
    await_sent(page)
    assert stored(desk.study.place) == given
    page.get_by_role("button", name="Leave").click()
    page.wait_for_url("**/join")
    page.goto("/annotate")
    expect(page).to_have_url(re.compile("/join$"))


def test_a_form_that_does_not_reach_the_server_changes_nothing_and_the_pairs_stay(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=CUT)
    enter(page)
    await_kept(page)
    page.goto("/settings")
    page.locator("[name=topic][value=food]").check()
    page.context.set_offline(True)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("This did not reach the server")
    expect(page.locator("main")).to_contain_text("nothing was changed")
    assert texts(page) is not None
    page.get_by_role("link", name="Back to your work").click()
    await_pair(page)
    page.context.set_offline(False)
