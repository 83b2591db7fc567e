"""Questions, options and sides are shown by their wordings, each in its direction; what is sent are the names."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.axe import IS_WIDER, violations
from browser.hosts import Host
from browser.sitting import HASTE_MS, answer, await_sent, enter
from browser.windows import Windows
from fcpair.params import Annotate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study
from fcpair.words import Words

ROWS = SidePlan(names=("Night owls are lazy.", "Cyclists think the road is theirs."))
YES_NO = "answer: one_of(yes,no,decline?)"
SMALL = {"width": 320, "height": 640}
ASK = GridPlan(
    "ask",
    ROWS,
    SidePlan(names=("heard", "believed")),
    (RoundPlan("ask", YES_NO, role="respondent", answers=0, screen="row", in_order=True),),
    row_name="statement",
)
ONE = GridPlan("one", ROWS, SidePlan(names=("reply",)), (RoundPlan("one", YES_NO, role="annotator", answers=0),))
RATE = GridPlan(
    "rate",
    ROWS,
    SidePlan(names=("reply",)),
    (RoundPlan("rate", "kind: scale(1,5,1,positive=4); why: text()", role="rater", answers=0),),
)
WORDS = Words(
    language="fa",
    questions={
        "ask/answer": {"text": "Say what is true of you.", "help": "Guess if you cannot know."},
        "one/answer": {"text": {"en": "Is it kind?", "fa": "آیا مهربان است؟"}, "help": "One answer."},
        "kind": "How kind is it?",
    },
    options={"yes": "Yes, it is", "one/answer/no": {"text": {"fa": "نه"}, "help": "Not at all"}, "kind/1": "cruel"}
    | {"kind/5": "very kind"},
    sides={"statement": "What is said", "heard": {"text": "Have you heard this?", "help": "Anywhere, ever."}},
)
PEOPLE = {"rob": Role.RESPONDENT, "ana": Role.ANNOTATOR, "rae": Role.RATER}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with closing(Study.create(tmp_path_factory.mktemp("words") / "study.db", grids=[ASK, ONE, RATE])) as study:
        for name, role in PEOPLE.items():
            study.add_people([name], role)
        for name in ("ask", "one", "rate"):
            study.grid(name).pair()
            study.grid(name).assign_round()
        return Path(study.place)


@pytest.fixture
def worded(path: Path, host: Callable[..., Host], windows: Windows) -> Callable[..., Page]:
    """Seats somebody at a desk of the study with WORDS."""
    served = host(path, Annotate())
    served.study.save_words(WORDS)

    def sit(name: str, **options: Any) -> Page:
        page = windows.open(served.url, served.token(name), **options)
        enter(page)
        page.wait_for_timeout(HASTE_MS)
        return page

    return sit


def test_the_columns_of_a_row_are_asked_in_their_words(worded: Callable[..., Page]) -> None:
    page = worded("rob", viewport=SMALL)
    form = page.locator("#form")
    expect(page.locator("#hs-name")).to_have_text("What is said")
    expect(form.locator(".introduction")).to_contain_text("Say what is true of you.Guess if you cannot know.")
    heard = page.get_by_role("group", name="Have you heard this?")
    expect(heard).to_have_accessible_description("Anywhere, ever.")
    expect(heard.get_by_role("radio", name="Yes, it is")).to_be_visible()
    expect(page.get_by_role("group", name="believed")).to_be_visible()
    assert not page.evaluate(IS_WIDER)
    assert violations(page) == []
    for key in ("1", "2", "Enter"):
        page.keyboard.press(key)
    await_sent(page)
    saved = page.evaluate("fetch('/api/answers?n=2').then((reply) => reply.json())")
    assert [task["answer"] for task in saved["tasks"]] == ["no", "yes"]


def test_one_press_answers_a_worded_question_and_a_single_column_is_not_shown(worded: Callable[..., Page]) -> None:
    page = worded("ana")
    expect(page.get_by_role("heading", name="column")).to_be_hidden()
    expect(page.locator("#cn")).to_be_hidden()
    answers = page.get_by_role("group", name="آیا مهربان است؟")
    expect(answers).to_have_accessible_description("One answer.")
    expect(page.locator("#asked")).to_have_attribute("dir", "rtl")
    expect(answers.get_by_role("button")).to_have_text(["1 Yes, it is", "2 نهNot at all", "3 پاسخ نمی‌دهم"])
    assert violations(page) == []
    answer(page, "yes")
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("Yes, it is")


def test_ends_of_a_scale_have_words_for_eyes_and_screen_readers(worded: Callable[..., Page]) -> None:
    page = worded("rae", viewport=SMALL)
    scale = page.get_by_role("group", name="How kind is it?")
    expect(scale.get_by_role("radio", name="1 cruel")).to_be_visible()
    expect(scale.get_by_role("radio", name="5 very kind")).to_be_visible()
    expect(scale.locator("label")).to_have_text(["1 cruel", "2", "3", "4", "5 very kind"])
    expect(page.get_by_role("group", name="why")).to_be_visible()
    assert not page.evaluate(IS_WIDER)
    assert violations(page) == []


def test_the_last_of_a_persons_units_is_called_by_its_noun(worded: Callable[..., Page]) -> None:
    page = worded("ana")
    for _ in ROWS.names:
        answer(page, "yes")
        page.wait_for_timeout(HASTE_MS)
    expect(page.get_by_role("heading", level=1)).to_have_text("سپاسگزاریم، این آخرین متن بود")
