"""The desk asks any form: several labels, a scale for all cells of a row, a text, an edit; and keeps what was begun."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from steps import forms
from steps.corpus.test_localising import ROWS, localised
from steps.online import admit, give

from browser.axe import IS_WIDER, violations
from browser.hosts import Host
from browser.sitting import HASTE_MS, await_pair, await_sent, by_key, enter, intercept, tab_to
from browser.test_connection import CUT
from browser.test_offline import await_kept
from browser.windows import Windows
from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.stages.answers.curation import characters_changed, words_changed
from fcpair.stages.questions import n_words

TEXT = "Most of them pay for the road like anybody else."
PERSIAN = "من هر روز چای را بی‌قند می‌خورم و راضی هستم."
ROWS_ONE = forms.ROWS[:1]
SMALL = {"width": 360, "height": 640}
DRAFTS = "() => Object.keys(localStorage).filter((key) => key.startsWith('fcpair-draft')).length"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return forms.build(tmp_path_factory.mktemp("forms"))


def stored(served: Host) -> list[tuple[int, Any]]:
    """The number of the cell and the answer of each judgement, in the order in which they came."""
    query = (
        "SELECT cell_id & 4294967295, value FROM judgement JOIN assignment ON assignment.id = assignment_id "
        "LEFT JOIN answer ON answer.id = answer_id ORDER BY judgement.id"
    )
    with closing(sqlite3.connect(served.study.place)) as connection:
        found = connection.execute(query).fetchall()
    return [(cell, None if value is None else json.loads(value)) for cell, value in found]


def texts(served: Host) -> list[str]:
    """What was written in the study."""
    with closing(sqlite3.connect(served.study.place)) as connection:
        query = "SELECT body FROM text JOIN answer ON answer.text_id = text.id ORDER BY answer.id"
        return [body for (body,) in connection.execute(query)]


def save(page: Page) -> None:
    """Press Save, and wait until the server has what is saved."""
    page.get_by_role("button", name="Save").click()
    await_sent(page)


def box(page: Page) -> Any:
    return page.locator("#form textarea")


# Several labels


def test_several_labels_are_chosen_by_keys_and_sent_by_enter(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("rob")
    expect(page.get_by_role("group", name="types")).to_contain_text("Choose 1 to 2.")
    for key in "132":
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Please choose at most 2; 3 are chosen.")
    page.keyboard.press("2")
    expect(page.locator("#form :checked")).to_have_count(2)
    page.keyboard.press("Enter")
    await_sent(page)
    assert stored(served) == [(1, {"types": ["facts", "question"]})]
    expect(page.locator("#hs")).to_have_text(forms.PERSIAN)
    expect(page.locator("#form :checked")).to_have_count(0)


def test_an_answer_with_several_labels_is_changed_by_going_back(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("rob")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_contain_text("Your answer on this pair: as it is below.")
    expect(page.get_by_role("checkbox", name="facts")).to_be_checked()
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator("#earlier")).to_be_hidden()
    await_sent(page)
    assert stored(served)[-1] == (1, {"types": ["facts", "question"]})
    assert served.study.work_queue(Annotate()).progress(admit(served.study, "rob")).done == 1


# All cells of a row


def test_a_row_is_rated_by_keys_on_one_screen_and_saved_cell_by_cell(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("rae")
    expect(page.locator("#hs")).to_have_text(forms.ROWS[0])
    expect(page.locator("#form legend")).to_have_text(["fluent", "specific", "respectful"])
    for key in "51.":
        page.keyboard.press(key)
    page.get_by_role("group", name="respectful").get_by_text("3.5", exact=True).click()
    save(page)
    assert stored(served) == [(1, {"rating": 5}), (2, {"rating": 1.5}), (3, {"rating": 3.5})]
    expect(page.locator("#hs")).to_have_text(forms.PERSIAN)
    expect(page.locator("#count")).to_have_text("3 answered, 6 open")
    page.keyboard.press("u")
    expect(page.locator("#hs")).to_have_text(forms.ROWS[0])
    expect(page.locator("#form :checked")).to_have_count(3)
    page.reload()
    await_pair(page)
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_be_visible()
    assert page.locator("#form :checked").evaluate_all("(all) => all.map((one) => one.value)") == ["5", "1.5", "3.5"]
    page.get_by_role("group", name="specific").get_by_text("4.5", exact=True).click()
    page.wait_for_timeout(HASTE_MS)
    save(page)
    assert stored(served)[3:] == [(2, {"rating": 4.5})]
    expect(page.locator("#earlier")).to_be_hidden()


def test_a_row_with_a_gap_is_not_saved_and_the_gap_is_named(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("rae")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="specific").get_by_role("alert")).to_have_text("An answer is missing here.")
    page.get_by_role("group", name="specific").get_by_text("skip").click()
    expect(page.get_by_role("alert")).to_have_count(1)  # of the last cell
    page.keyboard.press("4")
    save(page)
    assert stored(served) == [(1, {"rating": 1}), (2, None), (3, {"rating": 4})]


def test_a_row_is_skipped_as_a_whole(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("rae")
    page.keyboard.press("s")
    await_sent(page)
    assert stored(served) == [(1, None), (2, None), (3, None)]


def test_a_long_scale_is_a_field(served: Host, sit: Callable[..., Page]) -> None:
    forms.add_grid(served.study, "long", ("warmth",), ROWS_ONE)
    forms.add_round(served.study, "long", "long", "wren", "warmth: scale(0,100,0.5)")
    with closing(sqlite3.connect(served.study.place)) as connection:  # wren has nothing else to do
        connection.execute("UPDATE assignment SET status = 'withdrawn' WHERE round_id < (SELECT max(id) FROM round)")
        connection.commit()
    page = sit("wren")
    field = page.get_by_role("spinbutton", name="warmth")
    field.fill("101")
    field.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("Expected a number from 0 to 100 by 0.5.")
    field.fill("99.5")
    field.press("Enter")
    await_sent(page)
    assert stored(served) == [(1, {"warmth": 99.5})]


# A text


def test_words_are_counted_as_the_server_does_and_too_few_are_not_saved(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("wren")
    box(page).fill("Too few words.")
    expect(page.locator(".count")).to_have_text("3 words · 3 more needed")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").first).to_have_text("3 more words are needed: at least 6.")
    expect(box(page)).to_be_focused()
    expect(box(page)).to_have_attribute("aria-invalid", "true")
    for text in (PERSIAN, TEXT, "\u00a0one\u2028two\ufeffthree\u200cfour  five"):
        box(page).fill(text)
        expect(page.locator(".count")).to_contain_text(f"{n_words(text)} word")
    assert stored(served) == []


def test_a_text_and_its_types_are_saved_from_the_keyboard(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("wren")
    tab_to(page, "#form textarea")
    page.keyboard.type(TEXT)
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    tab_to(page, "#save")
    page.keyboard.press("Enter")
    await_sent(page)
    assert stored(served) == [(1, {"text": TEXT, "types": ["humour"]})]
    assert texts(served) == [TEXT]
    expect(page.locator("#hs")).to_have_text(forms.PERSIAN)
    expect(box(page)).to_have_attribute("dir", "rtl")
    page.wait_for_timeout(HASTE_MS)
    box(page).fill(PERSIAN)
    box(page).press("Control+Enter")
    await_sent(page)
    assert texts(served) == [TEXT, PERSIAN]


def test_what_is_begun_survives_a_reload_and_coming_back_and_goes_when_it_is_saved(
    served: Host, sit: Callable[..., Page]
) -> None:
    page = sit("wren")
    box(page).fill(TEXT)
    page.get_by_text("facts").last.click()
    page.keyboard.press("n")
    page.keyboard.type("a note")
    page.reload()
    await_pair(page)
    expect(box(page)).to_have_value(TEXT)
    context = page.context
    page.close()
    page = context.new_page()
    enter(page)
    expect(box(page)).to_have_value(TEXT)
    expect(page.get_by_role("checkbox", name="facts")).to_be_checked()
    expect(page.locator("#note")).to_have_value("a note")
    page.wait_for_timeout(HASTE_MS)
    save(page)
    assert stored(served) == [(1, {"text": TEXT, "types": ["facts"]})]
    expect(box(page)).to_have_value("")
    assert page.evaluate(DRAFTS) == 0


def test_a_text_is_begun_reloaded_and_saved_without_a_connection(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("wren", forgive=CUT)
    page.on("dialog", lambda dialog: dialog.accept())
    await_kept(page)
    page.context.set_offline(True)
    box(page).fill(TEXT)
    page.reload()
    await_pair(page)
    expect(box(page)).to_have_value(TEXT)
    page.wait_for_timeout(HASTE_MS)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#banner-text")).to_contain_text("Not sent yet: 1 answer is kept")
    box(page).fill(PERSIAN)
    page.reload()
    await_pair(page)
    expect(page.locator("#hs")).to_have_text(forms.PERSIAN)
    expect(box(page)).to_have_value(PERSIAN)
    page.context.set_offline(False)
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    await_sent(page)
    assert stored(served) == [(1, {"text": TEXT, "types": []})]
    expect(box(page)).to_have_value(PERSIAN)


def test_a_text_that_the_server_refuses_is_in_its_box_again(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("wren", forgive=("status of 422",))
    refusal = {"status": 422, "json": {"detail": "the text is about something else"}}
    intercept(page, "**/api/judgements", lambda route: route.fulfill(**refusal), times=1)
    box(page).fill(TEXT)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#banner-text")).to_have_text("The text is about something else.")
    page.reload()
    await_pair(page)
    expect(page.locator("#hs")).to_have_text(forms.ROWS[0])
    expect(box(page)).to_have_value(TEXT)


def test_who_leaves_takes_along_what_they_began(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("wren")
    box(page).fill(TEXT)
    assert page.evaluate(DRAFTS) == 1
    page.get_by_role("button", name="Leave").click()
    asked = page.get_by_role("dialog", name="Leave now?")
    expect(asked).to_contain_text("What you have begun and not saved will be deleted.")
    asked.get_by_role("button", name="Stay").click()
    expect(asked).to_be_hidden()
    assert page.evaluate(DRAFTS) == 1
    page.get_by_role("button", name="Leave").click()
    page.keyboard.press("l")
    page.wait_for_url("**/join")
    assert page.evaluate(DRAFTS) == 0


def test_an_answer_that_an_older_page_left_is_sent(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("wren")
    assignment = page.evaluate("async () => (await (await fetch('/api/next')).json()).tasks[0].assignment_id")
    older = {"request_id": "request-of-old", "assignment_id": assignment, "answer": "skip", "note": "", "seconds": 1}
    older |= {"decision_id": None, "guideline_version": 1, "again": False}
    place = page.locator("#desk").get_attribute("data-place")
    page.evaluate("([place, items]) => localStorage.setItem(place, JSON.stringify(items))", [place, [older]])
    page.reload()
    await_pair(page)
    await_sent(page)
    assert stored(served) == [(1, None)]


# An edit


@pytest.fixture
def written(served: Host) -> Host:
    """Wren has written on two cells."""
    wren = admit(served.study, "wren")
    for _ in range(2):
        give(served.study.work_queue(Annotate()), wren, {"text": TEXT, "types": []})
    return served


def test_an_edit_begins_with_the_original_which_stays_in_sight(written: Host, sit: Callable[..., Page]) -> None:
    page = sit("ana")
    original = page.get_by_role("region", name="As it was given")
    expect(original).to_contain_text(TEXT)
    expect(box(page)).to_have_value(TEXT)
    expect(page.locator(".count")).to_contain_text("unchanged, which is an answer too")
    save(page)
    page.wait_for_timeout(HASTE_MS)
    box(page).fill("Most of them pay for it.")
    expect(page.locator(".count")).to_have_text("6 words")
    expect(original).to_contain_text(TEXT)
    save(page)
    assert [answer for _, answer in stored(written)[2:]] == [{"text": TEXT}, {"text": "Most of them pay for it."}]
    expect(page).to_have_url("/thanks")


# Accept, edit or reject


@pytest.fixture
def curating(written: Host) -> Host:
    """What wren has written is given to cleo, too."""
    written.study.add_people(["cleo"], Role.ANNOTATOR)
    forms.add_round(written.study, "write", "sift", "cleo", "text: curate(off_topic,rude,min_words=4)", edits="write")
    return written


def test_a_text_is_accepted_edited_and_rejected_from_the_keyboard(curating: Host, sit: Callable[..., Page]) -> None:
    page = sit("cleo")
    expect(page.get_by_role("region", name="As it was given")).to_contain_text(TEXT)
    expect(box(page)).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("An answer is missing here.")
    page.keyboard.press("2")
    tab_to(page, "#form textarea")
    edited = "Many of them pay for the road like anybody else, I think."
    page.keyboard.press("Control+a")
    page.keyboard.type(edited)
    changes = page.get_by_role("region", name="What you changed")
    said = f"{words_changed(TEXT, edited)} words and {characters_changed(TEXT, edited)} characters changed"
    expect(changes).to_contain_text(said)
    expect(changes.locator("del")).to_have_text(["removed: Most", "removed: else."])
    expect(changes.locator("ins")).to_have_text(["added: Many", "added: else, I think."])
    page.reload()
    await_pair(page)
    expect(page.get_by_role("radio", name="Edit")).to_be_checked()
    expect(box(page)).to_have_value(edited)
    page.wait_for_timeout(HASTE_MS)
    for key in ("3", "d", "Enter"):  # the page asks whether the edit is to be dropped
        page.keyboard.press(key)
    expect(page.get_by_role("alert")).to_have_text("Please choose a reason.")
    page.reload()
    await_pair(page)
    expect(page.get_by_role("radio", name="Reject")).to_be_checked()
    page.keyboard.press("2")
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("Enter")
    await_sent(page)
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page).to_have_url("/thanks")
    assert [answer for _, answer in stored(curating)[2:]] == [{"text": {"reject": "rude"}}, {"text": TEXT}]
    assert curating.study.grid("write").answers("sift")["act"].tolist() == ["rejected", "accepted"]


def test_curating_fits_a_phone_of_360_px_in_both_directions_and_axe_finds_nothing(
    curating: Host, sit: Callable[..., Page]
) -> None:
    page = sit("cleo", viewport=SMALL, has_touch=True, is_mobile=True)
    for act in ("Accept", "Reject", "Edit"):
        page.get_by_text(act, exact=True).click()
        if act == "Edit":
            box(page).fill(PERSIAN)
            expect(page.get_by_role("region", name="What you changed").locator("p").first).to_have_attribute(
                "dir", "rtl"
            )
        assert violations(page) == []
        assert not page.evaluate(IS_WIDER)
        for option in page.locator(".option:visible, #save").all():
            place = option.bounding_box()
            assert place
            assert min(place["width"], place["height"]) >= 44


def test_a_row_that_is_edited_is_shown_once_with_what_was_translated(
    tmp_path: Path, host: Callable[..., Host], windows: Windows
) -> None:
    served = host(Path(localised(tmp_path).place))
    page = windows.open(served.url, served.token("wren"))
    enter(page)
    row, (first, *_) = page.locator("#hs").inner_text(), ROWS
    before = page.get_by_role("region", name="Before translation")
    expect(box(page)).to_have_value(row)
    expect(box(page)).to_have_attribute("dir", "rtl")
    expect(page.get_by_role("region", name="As it was given")).to_have_count(0)
    for _ in range(len(ROWS)):
        page.wait_for_timeout(HASTE_MS)
        if page.locator("#hs").inner_text() == first["machine"]:
            expect(before.locator("p")).to_have_text(first["english"])
            expect(before.locator("p")).to_have_attribute("lang", "en")
            expect(before.locator("p")).to_have_attribute("dir", "ltr")
            assert violations(page) == []
        save(page)
    assert sorted(answer["text"] for _, answer in stored(served)) == sorted(one["machine"] for one in ROWS)


# How it looks and sounds

FORMS = {"rob": "any_of", "rae": "scale", "wren": "text", "ana": "edit"}


@pytest.mark.parametrize("who", FORMS, ids=list(FORMS.values()))
def test_axe_finds_nothing(written: Host, sit: Callable[..., Page], who: str) -> None:
    page = sit(who)
    page.get_by_role("button", name="Save").click()
    assert violations(page) == []


@pytest.mark.parametrize("who", FORMS, ids=list(FORMS.values()))
def test_all_is_there_on_a_phone_of_360_px(written: Host, sit: Callable[..., Page], who: str) -> None:
    page = sit(who, viewport=SMALL, has_touch=True, is_mobile=True)
    assert not page.evaluate(IS_WIDER)
    for option in page.locator(".option, #save").all():
        place = option.bounding_box()
        assert place
        assert min(place["width"], place["height"]) >= 44
        assert place["x"] + place["width"] <= SMALL["width"]


def test_what_is_hidden_is_shown_before_it_is_answered(served: Host, sit: Callable[..., Page]) -> None:
    page = sit("rob")
    page.locator("#blur-choice").check()
    page.locator("#hs-name").click()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "false")
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("Enter")
    await_sent(page)
    assert stored(served) == [(1, {"types": ["facts"]})]


def test_markup_in_columns_choices_and_originals_is_text(served: Host, sit: Callable[..., Page]) -> None:
    odd = "<img src=x onerror='window.ran = 1'>"
    forms.add_grid(served.study, "odd", (odd,))
    forms.add_round(served.study, "odd", "odd", "rob", f'kind: any_of("{odd}",b)', screen="row")
    page = sit("rob")
    for _ in forms.ROWS:
        page.wait_for_timeout(HASTE_MS)
        by_key(page, "[data-answer=skip]")
    expect(page.locator("#form legend")).to_contain_text(odd)
    expect(page.locator("#form .options")).to_contain_text(odd)
    assert page.evaluate("() => [window.ran, document.querySelectorAll('main img').length]") == [None, 0]
