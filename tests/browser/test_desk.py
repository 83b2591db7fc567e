"""What only a browser shows about the desk: what is there without a wait, what is remembered, keys, and how it ends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import one_short
from playwright.sync_api import Browser, Page, Route, expect
from steps.people.known import assign_with_known_pairs
from steps.small import dump

from browser import acts
from browser.axe import violations
from browser.hosts import Host, Serve, query
from browser.layout import IS_WIDER
from browser.windows import CUT, SMALL, TOUCH, Windows
from fcpair.params import Assign

THANKS = re.compile("/thanks$")
SIGNED_OUT = "You are no longer signed in. "
WORD = "(place) => getComputedStyle(document.querySelector(place), '::before').content"
COLOUR = "() => getComputedStyle(document.getElementById('banner')).borderInlineStartColor"
HEAR = """() => new MutationObserver(() => hear(document.querySelector('#said').textContent)).observe(
  document.querySelector('#said'), {childList: true, characterData: true, subtree: true})"""
OLDER_PAGE = """([place, sent, begun]) => {
  const [old, note] = [JSON.stringify, "typed before the upgrade"];
  const item = { request_id: "request-of-0.7", assignment_id: sent, decision_id: null, answer: "not_sure", note: "",
    seconds: 2, again: false };
  localStorage.setItem(place, old([item]));
  localStorage.setItem(`fcpair-draft/answer/${place}/${begun}`, old({ answer: null, note, at: Date.now() }));
}"""


def test_an_annotator_gets_from_the_link_to_the_thanks_by_keys_alone(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url)
    acts.come_in(page, desk.token("ana", consent=False))
    expect(page).to_have_url(re.compile("/welcome$"))
    expect(page.locator("section.warning")).to_have_attribute("data-word", "Warning")
    acts.tab_to(page, "#question-0")
    page.keyboard.type("30")
    acts.tab_to(page, "#question-1")
    page.keyboard.type("Frisian")
    acts.tab_to(page, "[name=consent]")
    page.keyboard.press("Space")
    acts.tab_to(page, "form[action='/welcome'] [type=submit]")
    page.keyboard.press("Enter")
    acts.await_pair(page)
    total = int(str(page.locator("#bar").get_attribute("max")))
    press_until_taken(page, "1")
    page.keyboard.press("n")
    page.keyboard.type("1 or 3?")
    page.keyboard.press("Enter")
    press_until_taken(page, "2")
    page.keyboard.press("g")
    expect(page.locator("#guidelines")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("p")
    expect(page.locator("#pause-screen")).to_be_visible()
    page.keyboard.press("c")
    press_until_taken(page, "u")
    expect(page.locator("#answered")).to_have_text("not sure")
    expect(page.locator("#note")).to_have_value("1 or 3?")
    for _ in range(total - 2):
        press_until_taken(page, "3")
    acts.answer(page, "skip")
    expect(page).to_have_url(THANKS)
    labels = desk.study.grid().labels()["label"].tolist()
    assert sorted(labels) == ["appropriate"] * (total - 2) + ["not_appropriate"] + ["skip"]


def press_until_taken(page: Page, key: str) -> None:
    acts.act_until_taken(page, lambda: page.keyboard.press(key))


def test_the_first_visit_and_some_answers_by_touch(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, **TOUCH)
    acts.come_in(page, desk.token("ana", consent=False))
    assert not page.evaluate(IS_WIDER)
    page.get_by_role("checkbox", name="I have read this").tap()
    page.get_by_role("button", name="Begin").tap()
    for name in ("appropriate", "not_appropriate", "skip"):
        acts.answer(page, name, by=acts.by_touch)
        assert not page.evaluate(IS_WIDER)
    acts.await_sent(page)
    assert sorted(desk.study.grid().labels()["label"].tolist()) == ["appropriate", "not_appropriate", "skip"]


def test_keys_can_be_listed_and_turned_off_and_the_first_tab_leads_past_the_navigation(
    desk: Host, windows: Windows
) -> None:
    page = windows.show(desk, "ana", "/guidelines", viewport=SMALL)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    acts.enter(page)
    keys, summary = page.locator("details.keys dl"), page.locator("details.keys summary")
    for key in ("?", "؟"):
        expect(keys).to_be_hidden()
        page.evaluate("(key) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))", key)
        expect(keys).to_be_visible()
        expect(summary).to_be_focused()
        expect(summary).to_be_in_viewport()
        page.keyboard.press("?")
    expect(keys).to_be_hidden()
    page.keyboard.press("Enter")
    acts.tab_to(page, "[data-keys-switch]")
    for shown in (False, True):
        page.keyboard.press("Space")
        page.keyboard.press("g")
        expect(page.locator("#guidelines")).to_be_visible(visible=shown)


def test_the_next_pair_is_there_before_the_server_has_the_answer(desk: Host, windows: Windows) -> None:
    page = windows.sit(desk, "ana")
    held: list[Route] = []
    acts.intercept(page, acts.SUBMIT, lambda route: held.extend([route]))
    shown = acts.pair(page)
    with page.expect_request(acts.SUBMIT):
        acts.answer(page, "appropriate")
    assert acts.pair(page) != shown
    assert desk.codes == []
    held.pop().continue_()
    acts.await_sent(page)
    assert len(desk.codes) == 1


def test_an_own_key_stores_what_its_button_says_and_the_number_that_it_replaces_nothing(
    desk: Host, windows: Windows
) -> None:
    desk.study.save_words(options={"appropriate": {"key": "a", "colour": "green"}, "not_appropriate": {"key": "d"}})
    page = windows.sit(desk, "ana")
    expect(page.locator("#answers button")).to_have_text(["D not appropriate", "2 not sure", "A appropriate"])
    expect(page.locator("#answers [data-colour=green]")).to_have_text("A appropriate")
    shown = acts.pair(page)
    acts.press(page, "1", "3")
    assert acts.pair(page) == shown
    press_until_taken(page, "a")
    press_until_taken(page, "2")
    press_until_taken(page, "d")
    acts.await_sent(page)
    names = [answer["label"] for _, answer in desk.answers]
    assert names == ["appropriate", "not_sure", "not_appropriate"]


def test_the_hint_stands_below_the_goal_and_lists_of_the_guidelines_have_their_marks(
    desk: Host, windows: Windows
) -> None:
    desk.study.edit_guidelines("- one\n- two\n\n1. first\n", by="lea")
    page = windows.sit(desk, "ana")
    field, hint = (page.locator(place).bounding_box() for place in ("#goal", "#goal-help"))
    assert field
    assert hint
    assert hint["y"] >= field["y"] + field["height"]
    page.keyboard.press("g")
    marks = "(all) => all.map((it) => [getComputedStyle(it).display, getComputedStyle(it).listStyleType])"
    expected = [["list-item", "square"]] * 2 + [["list-item", "decimal"]]
    assert page.locator("#guidelines li").evaluate_all(marks) == expected


def test_a_double_press_is_one_answer(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    page.clock.install(time=0)
    acts.enter(page)
    page.clock.pause_at(50)  # as in test_decisions.py
    page.keyboard.press("1")
    page.keyboard.press("1")
    expect(page.locator("#count")).to_have_text("1 answered, 14 open")
    page.clock.run_for(300)
    page.keyboard.press("1")
    expect(page.locator("#count")).to_have_text("2 answered, 13 open")


def test_a_hidden_text_is_hidden_anew_for_each_pair_and_over_a_reload(desk: Host, windows: Windows) -> None:
    page = windows.sit(desk, "ana")
    text = page.locator("#hs")
    with page.expect_response("**/api/settings"):
        page.locator("#blur-choice").check()
    expect(text).to_have_attribute("aria-hidden", "true")
    page.keyboard.press("b")
    expect(text).to_have_attribute("aria-hidden", "false")
    acts.reload(page)
    expect(text).to_have_attribute("aria-hidden", "true")
    assert "blur" in str(text.evaluate("(text) => getComputedStyle(text).filter"))
    page.keyboard.press("b")
    acts.answer(page, "appropriate")
    expect(text).to_have_attribute("aria-hidden", "true")


def test_undo_leads_back_also_to_another_day_and_a_new_answer_is_a_new_judgement(desk: Host, windows: Windows) -> None:
    page = windows.sit(desk, "ana", viewport=SMALL)
    undo, left = page.locator("#back"), page.locator("#left")
    expect(undo).to_have_text("Undo  U")
    expect(left).to_have_text("time left: known after a few more answers")
    first = acts.pair(page)
    acts.answer(page, "not_appropriate")
    expect(undo).to_have_text("Undo “not appropriate” U")
    expect(undo).to_have_attribute("title", "Your last answer was “not appropriate”.")
    assert not page.evaluate(IS_WIDER)
    second = acts.pair(page)
    press_until_taken(page, "u")
    assert acts.pair(page) == first
    expect(page.locator("#answered")).to_have_text("not appropriate")
    expect(page.locator("[data-answer=not_appropriate]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#last")).to_be_hidden()
    assert violations(page) == []
    acts.answer(page, "not_sure")
    assert acts.pair(page) == second
    acts.await_sent(page)
    (assignment, code), (again, changed) = desk.codes
    assert (assignment, code, changed) == (again, 0, 1)
    assert desk.study.grid().labels()["label"].tolist() == ["not_sure"]
    expect(page.locator("#count")).to_have_text("1 answered, 14 open")
    last = acts.answer(page, *["appropriate"] * 7, "skip")[-1]
    expect(undo).to_have_text("Undo “skip” U")
    acts.await_sent(page)
    acts.reload(page)
    expect(left).to_have_text("about a minute left")
    acts.press(page, "u")  # once: the server is asked for it, and a second press may come when it has answered
    expect(page.locator("#earlier")).to_be_visible()
    assert acts.pair(page) == last[:2]
    expect(page.locator("#answered")).to_have_text("skip")
    page.keyboard.press("f")
    expect(page.locator("#earlier")).to_be_hidden()
    assert acts.pair(page) != last[:2]


def test_who_is_signed_out_is_told_so_and_what_they_answered_is_sent_when_they_come_in(
    desk: Host, windows: Windows
) -> None:
    page = windows.sit(desk, "ana", forgive=("status of 401",))
    desk.study.access.revoke("ana")
    acts.answer(page, "appropriate")
    expect(page.locator("#banner-text")).to_contain_text(f"{SIGNED_OUT}One answer is kept")
    acts.answer(page, "appropriate")
    expect(page.locator("#count")).to_have_text("2 answered, 13 open")
    kept = "2 answers are kept in this browser, and sent when you sign in again."
    expect(page.locator("#waiting")).to_have_text(kept)
    expect(page.locator("#banner-text")).to_have_text(f"{SIGNED_OUT}{kept}")
    page.goto("/annotate")
    expect(page).to_have_url(re.compile("/join$"))
    assert desk.codes == []
    page.goto(f"/join#{desk.study.access.invite('ana')}")  # on the page where the form is already
    acts.await_pair(page)
    acts.await_sent(page)
    assert len(desk.codes) == 2


@pytest.mark.parametrize("when", one_short("meanwhile", "before"))
def test_who_is_signed_out_at_the_last_pair_reads_that_and_no_thanks(desk: Host, windows: Windows, when: str) -> None:
    page = windows.sit(desk, "ana", forgive=("status of 401",))
    acts.answer(page, *["appropriate"] * 14)
    acts.await_sent(page)
    if when == "before":
        desk.study.access.revoke("ana")
    else:
        page.route("**/api/next*", lambda route: (desk.study.access.revoke("ana"), route.continue_())[1])
    acts.press(page, "1")
    expect(page.locator("#waiting")).to_contain_text("sent when you sign in again" if when == "before" else SIGNED_OUT)
    expect(page.locator("#banner-text")).to_contain_text(SIGNED_OUT)
    acts.press(page, "u", "f")
    expect(page.locator("#waiting")).to_be_visible()
    expect(page).to_have_url(re.compile("/annotate$"))


def test_the_guidelines_stay_open_beside_the_texts_where_they_were_read_while_answers_are_given(
    desk: Host, windows: Windows
) -> None:
    page = windows.sit(desk, "ana", viewport={"width": 1366, "height": 768})
    guidelines = page.locator("#guidelines")
    page.keyboard.press("g")
    expect(guidelines).to_be_focused()
    guidelines.evaluate("(part) => part.scrollTo(0, 200)")
    acts.answer(page, "appropriate")
    acts.await_sent(page)
    expect(guidelines).to_be_visible()
    acts.reload(page)
    expect(guidelines).to_be_visible()
    assert guidelines.evaluate("(part) => part.scrollTop") == 200
    texts, beside = page.locator(".texts").bounding_box(), guidelines.bounding_box()
    assert texts
    assert beside
    assert texts["x"] + texts["width"] <= beside["x"]
    page.keyboard.press("Escape")
    expect(guidelines).to_be_hidden()


def test_what_a_page_of_fcpair_0_7_kept_is_sent_and_shown_after_one_reload(desk: Host, windows: Windows) -> None:
    page = windows.sit(desk, "ana")
    place = page.locator("#desk").get_attribute("data-place")
    assert page.locator("#desk").get_attribute("data-outbox") is None  # by which older pages see that they are old
    (first,), (second,) = query(
        desk.study.place,
        "SELECT assignment.id FROM assignment JOIN person ON person.id = person_id "
        "WHERE person.name = 'ana' AND status = 'open' ORDER BY position LIMIT 2",
    )
    page.evaluate(OLDER_PAGE, [place, first, second])
    acts.reload(page)
    acts.await_sent(page)
    assert desk.codes == [(first, 1)]
    expect(page.locator("#note")).to_have_value("typed before the upgrade")


def test_only_who_leaves_with_an_answer_that_is_not_sent_is_asked(desk: Host, windows: Windows) -> None:
    page = windows.sit(desk, "ana", forgive=CUT)
    acts.answer(page, "appropriate")
    acts.await_sent(page)
    page.get_by_role("button", name="Leave").click()
    page.wait_for_url("**/join")
    acts.come_in(page, desk.token("ana"))
    acts.await_pair(page)
    acts.intercept(page, acts.SUBMIT, lambda route: route.abort())
    acts.answer(page, "appropriate")
    expect(page.locator("#banner-text")).to_contain_text("Not sent yet")
    page.get_by_role("button", name="Leave").click()
    asked = page.get_by_role("dialog", name="Leave now?")
    expect(asked).to_contain_text("1 answer is not sent yet. It stays in this browser")
    assert violations(page) == []
    page.keyboard.press("l")
    page.wait_for_url("**/join")


def test_errors_warnings_and_notes_differ_by_a_word_and_a_colour_and_what_was_refused_is_not_said_to_be_kept(
    desk: Host, windows: Windows
) -> None:
    page = windows.sit(desk, "ana", forgive=("status of 422", *CUT))
    banner, colours, heard = page.locator("#banner-text"), set(), list[str]()
    page.expose_function("hear", lambda text: heard.extend([text]))
    page.evaluate(HEAR)
    progress = page.locator("#count").inner_text()
    acts.refuse(page, "this cannot be")
    page.keyboard.press("3")
    expect(banner).to_have_text("This cannot be.")
    assert page.evaluate(WORD, "#banner-text") == '"Error: "'
    expect(banner).to_have_attribute("data-word", "Error")
    colours.add(page.evaluate(COLOUR))
    acts.intercept(page, acts.SUBMIT, lambda route: route.abort(), times=1)
    expect(page.locator("#count")).to_have_text(progress)  # what was refused is open again
    assert not any("ept" in text for text in heard)
    assert desk.codes == []
    acts.answer(page, "appropriate")
    expect(banner).to_have_attribute("data-word", "Warning")
    colours.add(page.evaluate(COLOUR))
    expect(banner).to_have_text("All your answers have been sent.")
    expect(banner).to_have_attribute("data-word", "Note")
    colours.add(page.evaluate(COLOUR))
    assert len(colours) == 3
    assert violations(page) == []
    expect(banner).to_have_text("", timeout=15_000)
    assert banner.get_attribute("data-word") is None


# Pairs for whoever asks


def test_pairs_come_as_long_as_any_is_free_and_who_leaves_in_between_is_told_so(
    serve: Serve, example: Path, windows: Windows
) -> None:
    served = serve(example)
    served.study.grid().assign(Assign(open=True, seed=1), redo=True)
    page = windows.sit(served, "ana")
    count = page.locator("#count")
    expect(count).to_have_text("0 answered, more when you like")
    expect(page.locator("#bar")).to_be_hidden()
    for n in range(1, 13):  # more than one holds at once
        acts.answer(page, "appropriate")
        expect(count).to_contain_text(f"{n} answered, ")
    acts.await_sent(page)
    page.goto("/thanks")
    expect(page.locator("h1")).to_have_text("Thank you for today")
    expect(page.locator("main")).to_contain_text("There are more: come back when you like")
    page.get_by_role("link", name="Go on").click()
    acts.await_pair(page)


# Before the first real pair


def test_a_practice_round_is_done_by_keys_keeps_nothing_and_leads_to_the_first_pair(
    desk: Host, windows: Windows
) -> None:
    cats = {"row": "Cats are dull.", "column": "Mine juggles.", "answer": "appropriate", "explanation": "A case."}
    tea = {"row": "Tea is vile.", "column": "You are vile.", "answer": "not_appropriate", "explanation": "It insults."}
    desk.study.save_practice(items=(cats, tea))
    page = windows.open(desk.url, desk.token("ana"), viewport=SMALL)
    before, result = dump(desk.study), page.locator("#result-name")
    page.goto("/practice")
    page.keyboard.press("3")
    expect(page.get_by_role("heading", name="The guidelines say the same: “appropriate”")).to_be_focused()
    expect(page.locator("#result")).to_contain_text("A case.")
    assert violations(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_text("Pair 2 of 2, for practice")).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("?")
    expect(page.locator(".keys dl")).to_be_visible()
    page.keyboard.press("2")
    expect(result).to_contain_text("The guidelines say “not appropriate”; you said “not sure”")
    page.wait_for_load_state()
    page.keyboard.press("u")
    expect(page.locator("#result")).to_have_count(0)
    page.wait_for_load_state()
    page.keyboard.press("1")
    expect(result).to_contain_text("The guidelines say the same")
    page.wait_for_load_state()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing of it was kept.")).to_be_visible()
    assert dump(desk.study) == before
    page.wait_for_load_state()
    page.keyboard.press("Enter")
    acts.await_pair(page)


def test_who_has_qualified_by_keys_reads_what_was_right_and_begins(
    desk: Host, windows: Windows, tmp_path: Path
) -> None:
    assign_with_known_pairs(desk.study, tmp_path)
    page = windows.open(desk.url, desk.token("ana"), viewport=SMALL)
    for _ in range(2):
        acts.enter(page)
        acts.press(page, "2")
        page.wait_for_timeout(400)
    page.wait_for_url("**/qualification")
    expect(page.get_by_role("status")).to_contain_text("decide how to go on")
    assert violations(page) == []
    desk.study.grid().desk.let_on("ana")
    page.reload()
    page.wait_for_load_state()
    page.keyboard.press("Enter")
    acts.await_pair(page)
    kept = page.evaluate("JSON.stringify({...localStorage})") + page.content()
    assert "known:controls" not in kept


# The watch over the windows


@pytest.mark.parametrize(
    ("act", "problem"),
    [
        ("console.error('oh')", "console: oh"),
        ("setTimeout(() => { throw new Error('oh') })", "error: oh"),
        ("fetch('http://fcpair.example/x').catch(() => null)", "request: http://fcpair.example/x"),
    ],
)
def test_what_goes_wrong_or_elsewhere_is_told_but_what_is_forgiven(
    browser: Browser, desk: Host, act: str, problem: str
) -> None:
    windows = Windows(browser)
    for forgive in ((), ("^console: oh$",)):
        page = windows.open(desk.url, forgive=forgive)
        page.evaluate(act)
        page.evaluate("() => new Promise((done) => setTimeout(done))")
    assert sum(one.startswith(problem) for one in windows.close()) == (1 if "console" in act else 2)


def test_the_browser_is_as_playwright_would_have_it_and_draws_no_pages_but_ours(
    browser: Browser, windows: Windows, desk: Host
) -> None:
    session = browser.new_browser_cdp_session()
    line = session.send("SystemInfo.getInfo")["commandLine"]
    of_playwright, ours = (set(one.split(",")) for one in re.findall(r"--disable-features=(\S+)", line))
    assert of_playwright - ours == set()
    windows.show(desk, "ana", "/settings")
    targets = session.send("Target.getTargets")["targetInfos"]
    assert [one["url"] for one in targets if one["type"] != "service_worker"] == [f"{desk.url}/settings"]
