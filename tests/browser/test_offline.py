"""Without a connection: the desk opens and goes on, undo works, and no text is kept longer than it is needed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from awaited import until
from playwright.sync_api import Page, expect
from steps.online import admit
from web.served import Served, serving

from browser import acts
from browser.hosts import ENGLISH, TERMS, Host, Serve, build, given, query
from browser.windows import CUT, REFUSED, Windows
from fcpair.study import Study

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
NO_WORKER = f"async () => !(await caches.keys()).length && !(await ({WORKERS})())"
NO_TEXTS = "async () => !(await caches.has('fcpair-kept'))"
NOTHING_ANSWERED = "async () => !(await (await caches.match('/kept-texts')).json()).answered.length"
LATE_MS = 6_000  # what comes within five seconds was sent at once
TWO_HOURS_FAST = """(() => {
  const real = Date, ahead = 7_200_000;
  globalThis.Date = class extends real {
    constructor(...given) { super(...(given.length ? given : [real.now() + ahead])); }
    static now() { return real.now() + ahead; }
  };
})()"""
A_DAY_LATER = """async () => {
  const cache = await caches.open("fcpair-kept");
  for (const key of await cache.keys()) {
    const found = await cache.match(key);
    const headers = new Headers(found.headers);
    headers.set("x-fcpair-kept-at", Date.now() - 24 * 3600 * 1000);
    await cache.put(key, new Response(await found.text(), { headers }));
  }
}"""


def held(page: Page) -> dict[str, str]:
    """All that the browser keeps for the study: cached pages and files, and local storage."""
    return dict(page.evaluate(HELD))


def texts(page: Page) -> dict[str, Any] | None:
    kept = held(page).get("/kept-texts")
    return None if kept is None else dict(json.loads(kept))


def outbox(page: Page) -> str | None:
    return next((value for key, value in held(page).items() if key.startswith("fcpair-outbox")), None)


def sit(host: Host, windows: Windows, **options: Any) -> Page:
    """Ana at her desk, which could be opened without a connection by now."""
    page = windows.sit(host, "ana", **{"forgive": REFUSED, **options})
    acts.await_kept(page)
    return page


def go_back(page: Page) -> None:
    shown = acts.pair(page)
    page.keyboard.press("u")
    page.wait_for_function("(cn) => document.getElementById('cn').innerText !== cn", arg=shown[1])


def avoid_food(page: Page) -> None:
    """Wish to read nothing about food any more."""
    page.goto("/settings")
    page.locator("[name=topic][value=food]").check()
    page.get_by_role("button", name="Save").click()


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
    with serving(path) as started:
        yield started


@pytest.fixture
def followed(serve: Serve, example: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    """The example study, whose server takes up terms soon that are set elsewhere."""
    monkeypatch.setattr("fcpair.web.app.UPKEEP_S", 0.05)
    return serve(example)


def set_terms(served: Host, **terms: Any) -> None:
    served.study.save_terms(**terms)
    until(lambda: all(getattr(served.app.state.context.annotate, name) == value for name, value in terms.items()))


def test_pairs_are_answered_and_undone_while_the_server_is_killed_and_arrive_once(
    path: Path, start: Callable[..., Served], windows: Windows
) -> None:
    study = Study(path)
    admit(study, "ana")
    token = study.access.invite("ana")
    study.close()
    served = start()

    def kill() -> None:
        served.process.kill()
        served.process.wait()

    page = windows.open(served.url, token, forgive=CUT)
    page.on("dialog", lambda dialog: dialog.accept())
    acts.enter(page)
    acts.await_kept(page)
    kill()
    acts.reload(page)
    answered = acts.answer(page, *["appropriate", "not_sure"] * 8)
    acts.reload(page)
    answered += acts.answer(page, *["not_appropriate"] * 14)
    for _ in range(2):
        go_back(page)
    assert acts.pair(page) == answered[28][:2]
    expect(page.locator("#answered")).to_have_text("not appropriate")
    answered[28:29] = acts.answer(page, "appropriate")
    expect(page.locator("#count")).to_have_text("30 answered, 30 open")
    expect(page.locator("#banner-text")).to_have_text("Not sent yet: 30 answers are kept in this page.")
    sums = [item["seconds"] for item in json.loads(outbox(page) or "")]
    served = start("--port", str(urlsplit(served.url).port))
    page.evaluate(acts.COMES_BACK)
    acts.await_sent(page)
    assert given(path) == answered
    assert [row[0] for row in query(path, "SELECT seconds FROM judgement ORDER BY id")] == sums
    assert len(set(sums)) > 1
    assert held(page).keys() & {"/annotate", "/kept-texts"} == {"/annotate", "/kept-texts"}
    acts.until_page(page, NOTHING_ANSWERED)
    answered += acts.answer(page, "appropriate")
    kill()
    answered += acts.answer(page, "not_sure")
    expect(page.locator("#banner-text")).to_contain_text("Not sent yet")
    served = start("--port", str(urlsplit(served.url).port))
    page.evaluate(acts.COMES_BACK)
    acts.await_sent(page)
    assert given(path) == answered


def test_undo_reaches_what_was_answered_before_a_reload_without_a_connection(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows)
    sent = acts.answer(page, "appropriate")
    acts.await_sent(page)
    acts.offline(page)
    (first,) = acts.answer(page, "not_sure")
    go_back(page)
    go_back(page)
    assert acts.pair(page) == sent[0][:2]  # on this page, also what the server has
    acts.reload(page)
    go_back(page)
    assert acts.pair(page) == first[:2]
    page.keyboard.press("u")
    expect(page.locator("#banner-text")).to_have_text("Earlier answers need a connection.")
    page.context.set_offline(False)


def test_what_was_sent_after_an_outage_has_both_times_on_the_page_of_its_pair(desk: Host, windows: Windows) -> None:
    """The answers that were sent at once have one; a clock that is two hours fast is put right by the server's."""
    page = sit(desk, windows)
    acts.answer(page, "appropriate")
    acts.await_sent(page)
    acts.intercept(page, "**/api/judgements", lambda route: route.abort())  # Chromium lets a new page send for a moment
    acts.offline(page)
    acts.answer(page, "not_sure")
    acts.reload(page)  # it is kept with the answer
    page.wait_for_timeout(LATE_MS)
    page.unroute("**/api/judgements")
    acts.offline(page, cut=False)
    acts.await_sent(page)
    page.add_init_script(TWO_HOURS_FAST)
    acts.reload(page)
    acts.rest(page)
    acts.answer(page, "appropriate")
    acts.await_sent(page)
    rows = query(
        desk.study.place,
        "SELECT cell_id, at, judgement.answered_at FROM judgement JOIN assignment ON assignment.id = assignment_id "
        "ORDER BY judgement.id",
    )
    assert [row[2] is not None for row in rows] == [False, True, False]
    pair, came, own = rows[1]
    assert own < came
    lead = windows.show(desk, "lea", f"/lead/pair/{pair}")
    time = lead.get_by_role("rowheader").filter(has_text="received")
    expect(time).to_have_text(re.compile(r"answered \d+ \w+ \d{4}, [\d:]+.*received \d+ \w+ \d{4}, [\d:]+"))
    assert time.locator("time").evaluate_all("(all) => all.map((one) => one.dateTime)") == [own, came]


def test_fifty_pairs_are_at_hand_and_no_more_than_a_limit_leaves(serve: Serve, large: Path, windows: Windows) -> None:
    for terms, n in ((TERMS, 50), (replace(TERMS, daily_limit=7), 7)):
        kept = texts(sit(serve(large, terms), windows))
        assert kept is not None
        assert len(kept["open"]) == n


def test_what_is_kept_is_of_this_version_and_goes_with_answers_and_with_who_leaves(
    desk: Host, windows: Windows
) -> None:
    page = windows.show(desk, "ana", "/guidelines", forgive=CUT)
    page.evaluate("async () => { await caches.open('fcpair-files-older'); }")
    acts.enter(page)
    acts.await_kept(page)
    assert page.evaluate("async () => (await caches.keys()).filter((one) => one.includes('files')).length") == 1
    assert not page.evaluate("async () => caches.has('fcpair-files-older')")
    policy = page.evaluate("async () => (await caches.match('/annotate')).headers.get('content-security-policy')")
    assert policy == page.request.get("/annotate").headers["content-security-policy"]
    manifest = page.request.get(str(page.locator("link[rel=manifest]").get_attribute("href"))).json()
    assert (manifest["name"], manifest["start_url"], manifest["display"]) == ("Mild prejudices", "/", "standalone")
    for icon in manifest["icons"]:
        reply = page.request.get(icon["src"])
        assert (reply.status, reply.headers["content-type"]) == (200, icon["type"])
    (answered,) = acts.answer(page, "appropriate")
    acts.await_sent(page)
    acts.until_page(page, NOTHING_ANSWERED)
    kept = texts(page)
    assert kept is not None
    assert len(kept["open"]) == 14
    assert answered[:2] not in [(one["row"]["body"], one["column"]["body"]) for one in kept["open"]]
    page.get_by_role("button", name="Leave").click()
    page.wait_for_url("**/join")
    acts.until_page(page, NO_WORKER)
    assert held(page) == {}
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0


def test_nothing_is_kept_where_the_lead_does_not_want_it(serve: Serve, example: Path, windows: Windows) -> None:
    page = windows.sit(serve(example, replace(TERMS, offline=False)), "ana", forgive=CUT)
    acts.answer(page, "appropriate")
    acts.await_sent(page)
    assert held(page) == {}
    assert page.evaluate(WORKERS) == 0
    acts.offline(page)
    with pytest.raises(Exception, match="ERR_INTERNET_DISCONNECTED"):
        page.reload()
    page.context.set_offline(False)


@pytest.mark.parametrize("act", ["load the page again", "answer on the page that is open"])
def test_what_was_kept_goes_when_the_lead_has_switched_it_off(followed: Host, windows: Windows, act: str) -> None:
    page = sit(followed, windows)
    set_terms(followed, offline=False)
    if act.startswith("load"):
        acts.reload(page)
    else:
        for _ in range(3):
            acts.answer(page, "appropriate")
            acts.await_sent(page)
    acts.until_page(page, NO_WORKER)
    assert held(page) == {}


def test_answers_beyond_a_limit_lowered_meanwhile_are_refused_and_said_before_the_end(
    followed: Host, windows: Windows
) -> None:
    page = sit(followed, windows)
    acts.offline(page)
    answered = acts.answer(page, *["appropriate"] * 6)
    set_terms(followed, daily_limit=4)
    acts.offline(page, cut=False)
    expect(page.locator("#waiting")).to_have_text("There are no more pairs for you now.")
    expect(page.locator("#banner-text")).to_have_text(
        "2 answers were not taken. The last: You have read 4 pairs today, as many as one person may read in a day. "
        "Please come back tomorrow."
    )
    assert followed.given == answered[:4]
    page.get_by_role("link", name="Go to the last page").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for today")


@pytest.mark.parametrize("act", ["revoke", "role"])
def test_what_is_kept_goes_when_somebody_may_not_read_it_any_more(desk: Host, windows: Windows, act: str) -> None:
    page = sit(desk, windows)
    if act == "revoke":
        desk.study.access.revoke("ana")
        acts.answer(page, "appropriate")
        expect(page.locator("#banner-text")).to_contain_text("You are no longer signed in.")
    else:
        desk.study.hand_over("ana")
        desk.study.change_role("ana", desk.study.people[2].role)
        page.reload()
    acts.until_page(page, NO_TEXTS)


def test_pages_and_forms_without_a_connection_say_why_and_a_change_of_wishes_drops_the_texts(
    desk: Host, windows: Windows
) -> None:
    page = sit(desk, windows)
    acts.offline(page)
    page.goto("/guidelines")
    expect(page.get_by_role("heading", level=1)).to_have_text("No connection")
    page.get_by_role("link", name="Back to your work").click()
    acts.await_pair(page)
    assert urlsplit(page.url).path == "/annotate"
    page.context.set_offline(False)
    page.goto("/settings")
    page.locator("[name=topic][value=food]").check()
    acts.offline(page)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("This did not reach the server")
    expect(page.locator("main")).to_contain_text("nothing was changed")
    assert texts(page) is not None
    page.get_by_role("link", name="Back to your work").click()
    acts.await_pair(page)
    page.context.set_offline(False)
    avoid_food(page)
    expect(page.get_by_role("status")).to_have_text("Saved.")
    acts.until_page(page, NO_TEXTS)
    acts.offline(page)
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("No connection")
    page.context.set_offline(False)


def test_after_a_day_nothing_opens_any_more(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows)
    page.evaluate(A_DAY_LATER)
    acts.offline(page)
    page.goto("/annotate")
    expect(page.get_by_role("heading", level=1)).to_have_text("No connection")
    assert texts(page) is None
    page.context.set_offline(False)


def test_another_person_on_the_same_device_neither_sees_nor_sends_what_the_first_left(
    desk: Host, windows: Windows
) -> None:
    page = sit(desk, windows)
    acts.offline(page)
    acts.answer(page, "appropriate")
    acts.intercept(page, acts.SUBMIT, lambda route: route.abort())
    page.context.set_offline(False)
    acts.come_in(page, desk.token("ben"))
    acts.await_pair(page)
    acts.await_kept(page)
    page.unroute(acts.SUBMIT)
    kept = texts(page)
    assert kept is not None
    assert kept["answered"] == []
    acts.offline(page)
    acts.reload(page)
    page.context.set_offline(False)
    bens = {one.assignment_id for one in desk.study.work_queue(TERMS).tasks(desk.visitor("ben"), 50)}
    assert {one["assignment_id"] for one in kept["open"]} <= bens
    assert desk.given == []


def test_an_answer_on_what_somebody_else_has_by_now_is_refused_and_said(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows)
    acts.offline(page)
    acts.reload(page)
    acts.answer(page, "appropriate", "not_sure")
    desk.study.hand_over("ana", "ben")
    page.context.set_offline(False)
    expect(page.locator("#banner-text")).to_contain_text("2 answers were not taken. The last: This pair has been given")
    page.get_by_role("link", name="Go to the last page").click()  # ana has no pair left
    expect(page).to_have_url(re.compile("/thanks$"))
    assert desk.given == []


def test_a_window_that_was_open_meanwhile_keeps_no_more(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows)  # the open pair may be one of those
    other = page.context.new_page()
    avoid_food(other)
    expect(other.get_by_role("status")).to_have_text("Saved.")
    acts.answer(page, "appropriate")
    acts.await_sent(page)
    acts.rest(page)
    assert texts(page) is None


def test_where_the_browser_has_no_service_worker_the_desk_works_as_ever(desk: Host, windows: Windows) -> None:
    """As at http:// on a local network; and nothing can be undone before there is an answer."""
    page = windows.open(desk.url, desk.token("ana"), forgive=CUT)
    page.add_init_script("delete Navigator.prototype.serviceWorker; delete globalThis.caches;")
    page.route("**/api/next?*", lambda route: route.abort())
    page.goto("/annotate")
    expect(page.locator("#banner-text")).to_have_text("The server cannot be reached. Trying again.")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    page.unroute("**/api/next?*")
    acts.await_pair(page)
    acts.offline(page)
    answered = acts.answer(page, "appropriate", "not_sure", *["appropriate"] * 4)
    page.context.set_offline(False)
    acts.await_sent(page)
    assert desk.given == answered
    assert page.evaluate("() => Object.keys(localStorage)") == []


def test_the_last_answer_at_hand_can_be_undone_without_a_connection(
    serve: Serve, example: Path, windows: Windows
) -> None:
    limited = serve(example, replace(TERMS, daily_limit=2))
    page = sit(limited, windows)
    acts.offline(page)
    answered = acts.answer(page, "appropriate", "not_sure")
    expect(page.locator("#waiting")).to_have_text("Your answers are being sent.")
    page.get_by_role("button", name="Undo").click()
    assert acts.pair(page) == answered[1][:2]
    expect(page.locator("#answered")).to_have_text("not sure")
    acts.rest(page)
    acts.by_key(page, "[data-answer=not_appropriate]")
    answered[1] = (*answered[1][:2], "not_appropriate")
    expect(page.locator("#pair")).to_be_hidden()
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("not appropriate")
    page.keyboard.press("f")
    expect(page.locator("#pair")).to_be_hidden()
    page.context.set_offline(False)
    page.wait_for_url("**/thanks")
    assert limited.given == answered


def test_who_leaves_without_a_connection_is_told_that_they_are_still_signed_in(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows)
    acts.offline(page)
    answered = acts.answer(page, "appropriate")
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
    acts.await_pair(page)
    acts.await_sent(page)
    assert desk.given == answered
    page.get_by_role("button", name="Leave").click()
    page.wait_for_url("**/join")
    page.goto("/annotate")
    expect(page).to_have_url(re.compile("/join$"))
