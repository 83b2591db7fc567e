"""What a key says is what is stored: numbers as they are written, labels alike for everybody, and no text put away."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from conftest import one_short
from playwright.sync_api import Page, expect
from steps import forms
from steps.online import admit, give
from steps.scales import rated

from browser.axe import violations
from browser.hosts import Host
from browser.sitting import HASTE_MS, await_pair, await_sent, tab_to
from browser.test_connection import CUT
from browser.test_forms import TEXT, box, stored
from browser.test_offline import await_kept
from browser.windows import Windows
from fcpair.grid import AdjudicationQueue
from fcpair.params import Annotate, Validate
from fcpair.records import Role
from fcpair.stages.questions import parse_question
from fcpair.stages.questions.labels import APPROPRIATENESS
from fcpair.study import Study

HALVES = "warmth: scale(1,5,0.5)"
WHOLE = "warmth: scale(1,5,1)"
SCALES = ("scale(1,5,0.5)", "scale(0,10,1)", "scale(-2,2,0.5)", "scale(0,1,0.25)", "scale(-3,3,1)", "scale(0,100,10)")
ASK = """async (asked) => {
  const { ask } = await import("/static/questions.js");
  const question = ask(asked, { id: "tried", labelledby: "", row: {}, column: {}, original: null });
  document.getElementById("form").replaceChildren(question.element);
  document.getElementById("answers").replaceChildren();
  question.hearKeys?.(true);
  window.tried = question;
}"""
EDITED = "Most of them pay for it too."
Sit = Callable[..., Page]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study of all forms, and two who rate on one screen a cell, and one who writes after a question."""
    made = forms.build(tmp_path_factory.mktemp("keys"))
    with closing(Study(made)) as study:
        study.add_people(["hal", "whit"], Role.RATER)
        study.add_people(["gwen"], Role.WRITER)
        for who, form in (("hal", HALVES), ("whit", WHOLE)):
            forms.add_grid(study, who, ("warmth",))
            forms.add_round(study, who, "rate", who, form)
        forms.add_round(study, "write", "gated", "gwen", forms.GATED)
    return made


def type_(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def save_by_enter(page: Page) -> None:
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("Enter")
    await_sent(page)


# Numbers

TYPED = [("3", 3), *one_short(("3.5", 3.5), ("3.", 3.5), ("35", 5), ("3,5", 3.5), ("5", 5))]


@pytest.mark.parametrize("printed", SCALES)
def test_every_number_is_typed_as_the_page_says(sit: Sit, printed: str) -> None:
    page = sit("rae")
    asked = parse_question(printed).as_json()
    for name, keys in zip(asked["choices"], asked["keys"], strict=True):
        for way in keys:
            page.evaluate(ASK, {"name": "tried", **asked})
            type_(page, way)
            assert page.evaluate("window.tried.value") == float(name), way


@pytest.mark.parametrize("typed", TYPED, ids=str)
def test_a_half_can_follow_before_a_number_is_stored(served: Host, sit: Sit, typed: tuple[str, float]) -> None:
    keys, number = typed
    page = sit("hal")
    expect(page.locator("#answers .hint")).to_have_text("Type the number; Enter answers with it.")
    expect(page.locator('[data-answer="3.5"] kbd')).to_have_text("3.")
    type_(page, keys)
    expect(page.locator(f'[data-answer="{number}"]')).to_be_focused()
    assert stored(served) == []
    save_by_enter(page)
    assert stored(served) == [(1, {"warmth": number})]
    assert violations(page) == []


def test_a_digit_answers_at_once_where_nothing_can_follow(served: Host, sit: Sit) -> None:
    page = sit("whit")
    page.keyboard.press("5")
    await_sent(page)
    assert stored(served) == [(1, {"warmth": 5})]


def test_a_row_of_halves_is_typed_without_a_pause(served: Host, sit: Sit) -> None:
    page = sit("rae")
    type_(page, "3.42.5")
    save_by_enter(page)
    assert stored(served) == [(1, {"rating": 3.5}), (2, {"rating": 4}), (3, {"rating": 2.5})]


def test_a_half_is_typed_without_a_connection_too(served: Host, sit: Sit) -> None:
    page = sit("hal", forgive=CUT)
    page.on("dialog", lambda dialog: dialog.accept())
    await_kept(page)
    page.context.set_offline(True)
    page.reload()
    await_pair(page)
    page.wait_for_timeout(HASTE_MS)
    type_(page, "2.")
    page.keyboard.press("Enter")
    expect(page.locator("#banner-text")).to_contain_text("Not sent yet: 1 answer is kept")
    page.context.set_offline(False)
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    await_sent(page)
    assert stored(served) == [(1, {"warmth": 2.5})]


def test_who_decides_types_a_half(tmp_path: Path, host: Callable[..., Host], windows: Windows) -> None:
    study = rated(tmp_path)
    study.add_people(["judy"], Role.ADJUDICATOR)
    study.close()
    served = host(tmp_path / "study.db")
    page = windows.open(served.url, served.token("judy"))
    page.goto("/adjudicate")
    case = page.locator("#case-name")
    first = case.inner_text()
    page.wait_for_timeout(HASTE_MS)
    type_(page, "3.")
    expect(case).to_have_text(first)
    page.keyboard.press("Enter")
    expect(case).not_to_have_text(first)
    await_sent(page)
    (decided,) = AdjudicationQueue(served.study.grid()).decisions()
    assert decided.outcome == "3.5"


# Labels


def test_a_label_has_one_key_for_all(host: Callable[..., Host], files: dict[str, Path], windows: Windows) -> None:
    shown: dict[str, dict[str, str]] = {}
    roles = (("ana", "dealt", "/annotate"), ("judy", "labelled", "/adjudicate"), ("vera", "checking", "/validate"))
    for who, stage, place in roles:
        served = host(files[stage])
        if who == "vera":
            served.study.grid().assign_validation(Validate(blind=True, seed=1), redo=True)
        page = windows.open(served.url, served.token(who))
        page.goto(place)
        await_pair(page)
        name = "value" if who == "judy" else "data-answer"
        buttons = page.locator(".answers button")
        shown[who] = dict(
            buttons.evaluate_all(f"(all) => all.map((one) => [one.getAttribute('{name}'), one.dataset.key])")
        )
    assert shown["ana"] == {"not_appropriate": "1", "not_sure": "2", "appropriate": "3"}
    assert shown["vera"] == shown["ana"]
    assert shown["judy"] == {"not_appropriate": "1", "appropriate": "3", "irreconcilable": "x"}
    assert {one.name: APPROPRIATENESS.keys[one.code][0] for one in APPROPRIATENESS} == shown["ana"]


# Texts


def gated(page: Page) -> None:
    """Say that it is unkind, and write the text that is asked for then."""
    page.keyboard.press("1")
    box(page).fill(TEXT)
    page.keyboard.press("Escape")


def test_a_key_after_the_text_belongs_to_what_follows_it(served: Host, sit: Sit) -> None:
    page = sit("gwen")
    gated(page)
    page.keyboard.press("2")
    expect(page.get_by_role("radio", name="yes")).to_be_checked()
    expect(box(page)).to_have_value(TEXT)
    expect(page.get_by_role("checkbox", name="facts")).to_be_disabled()
    expect(page.locator(".option", has_text="facts").locator("kbd")).to_have_count(0)
    save_by_enter(page)
    assert stored(served) == [(1, {"unkind": "yes", "text": TEXT, "types": ["facts", "humour"]})]


def test_what_would_put_away_a_text_asks_first(served: Host, sit: Sit) -> None:
    page = sit("gwen")
    gated(page)
    tab_to(page, "#form input[value=yes]")
    page.keyboard.press("2")
    dialog = page.get_by_role("dialog", name="What you wrote")
    expect(dialog).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Enter")  # pressed without a look, as to save: the text stays
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("radio", name="yes")).to_be_checked()
    expect(box(page)).to_have_value(TEXT)
    page.get_by_role("group", name="unkind").get_by_text("no", exact=True).click()
    page.keyboard.press("d")
    expect(box(page)).to_be_hidden()
    expect(page.get_by_role("radio", name="no")).to_be_checked()
    save_by_enter(page)
    assert stored(served) == [(1, {"unkind": "no", "text": None, "types": None})]


def test_a_skip_asks_where_something_is_written(served: Host, sit: Sit) -> None:
    page = sit("gwen")
    gated(page)
    page.keyboard.press("s")
    page.keyboard.press("k")
    expect(box(page)).to_have_value(TEXT)
    assert stored(served) == []
    page.keyboard.press("s")
    page.keyboard.press("d")
    await_sent(page)
    assert stored(served) == [(1, None)]


def test_an_edit_is_not_given_up_by_a_key(served: Host, sit: Sit) -> None:
    give(served.study.work_queue(Annotate()), admit(served.study, "wren"), {"text": TEXT, "types": []})
    served.study.add_people(["cleo"], Role.ANNOTATOR)
    forms.add_round(served.study, "write", "sift", "cleo", "text: curate(off_topic,rude,min_words=4)", edits="write")
    page = sit("cleo")
    page.keyboard.press("2")
    box(page).fill(EDITED)
    page.keyboard.press("Escape")
    for key in "13":
        page.keyboard.press(key)
        page.keyboard.press("k")
        expect(page.get_by_role("radio", name="Edit")).to_be_checked()
        expect(box(page)).to_have_value(EDITED)
    page.keyboard.press("1")
    page.keyboard.press("d")
    save_by_enter(page)
    assert stored(served)[1:] == [(1, {"text": TEXT})]
