"""Questionnaires on a screen or in a list, templates before their reviewers, and questions in other words."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from conftest import one_short
from playwright.sync_api import Page, expect
from steps.asked import surveyed as asked
from steps.small import write_csv
from steps.test_survey import review

from browser import acts
from browser.axe import violations
from browser.hosts import Host, Serve
from browser.layout import IS_WIDER
from browser.windows import PHONE, SMALL, TOUCH, WIDE, Windows
from fcpair.params import Annotate, Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.stages.survey import survey_plans
from fcpair.study import Study
from fcpair.words import Words

STATEMENTS = [f"Statement {at} is mild." for at in range(11)] + ["شب‌بیدارها تنبل‌اند."]


def survey(serve: Serve, folder: Path, *, listed: bool = True) -> Host:
    """A survey of twelve statements and two questions that one person is asked."""
    file = write_csv(folder / "statements.csv", [{"statement": text} for text in STATEMENTS])
    with closing(Study.create(folder / "survey.db", Setup(title="Owls"))) as study:
        study.import_survey(survey_plans("survey", file, as_list=listed, suggest=""))
        study.add_people(["rae"], Role.RESPONDENT)
        study.open_survey("survey")
    return serve(folder / "survey.db", Annotate(demographics=("Gender: woman | man | another",)))


def said(served: Host) -> dict[tuple[str, str], str]:
    given = served.study.grid("survey").answers()
    return dict(zip(zip(given["row"], given["column"], strict=True), given["answer"], strict=True))


def shown(page: Page) -> list[str]:
    return page.locator(".listed > legend").all_inner_texts()


def test_a_list_is_answered_by_keys_gone_back_to_and_one_answer_changed(
    serve: Serve, windows: Windows, tmp_path: Path
) -> None:
    served = survey(serve, tmp_path)
    page = windows.sit(served, "rae")
    first = shown(page)
    assert len(set(first)) == 10
    for statement in page.locator(".listed").all():
        assert statement.locator(".asked > legend").all_text_contents() == ["heard", "believed"]
    assert not violations(page)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("An answer is missing here.")).to_have_count(19)
    page.keyboard.press("2")
    acts.reload(page)
    assert shown(page) == first
    values = page.locator("#form :checked").evaluate_all("(them) => them.map((one) => one.value)")
    assert values == ["yes", "no"]
    acts.rest(page)
    acts.type_keys(page, "13" * 9)
    page.keyboard.press("Enter")
    acts.await_sent(page)
    given = said(served)
    assert {row for row, _ in given} == set(first)
    assert [given[first[0], question] for question in ("heard", "believed")] == ["yes", "no"]
    assert all((given[row, "heard"], given[row, "believed"]) == ("yes", "decline") for row in first[1:])
    last = shown(page)
    assert sorted([*first, *last]) == sorted(STATEMENTS)
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_be_visible()
    assert shown(page) == first
    expect(page.locator("#form :checked")).to_have_count(20)
    acts.rest(page)
    page.locator(".listed").nth(4).get_by_role("group", name="believed").get_by_text("no", exact=True).click()
    acts.save(page)
    changed = said(served)
    assert len(changed) == 20
    assert [place for place in given if changed[place] != given[place]] == [(first[4], "believed")]
    acts.type_keys(page, "1111")
    page.locator(".listed").first.get_by_text("skip").first.click()  # one question of a list
    acts.save(page)
    expect(page).to_have_url("/thanks")
    assert list(said(served).values()).count("") == 1


def test_statements_of_a_list_are_hidden_until_somebody_asks(serve: Serve, windows: Windows, tmp_path: Path) -> None:
    served = survey(serve, tmp_path)
    page = windows.sit(served, "rae")
    legends = page.locator(".listed > legend")
    page.locator("#blur-choice").check()
    page.locator("#hs-name").click()
    for legend in legends.all():
        expect(legend).to_have_attribute("aria-hidden", "true")
    acts.type_keys(page, "1" * 20)
    page.keyboard.press("Enter")
    expect(legends.first).to_have_attribute("aria-hidden", "false")
    assert said(served) == {}
    acts.save_by_enter(page)
    assert len(said(served)) == 20
    expect(legends.first).to_have_attribute("aria-hidden", "true")
    legends.first.click()
    expect(legends.first).to_have_attribute("aria-hidden", "false")


@pytest.mark.parametrize("listed", [True, False])
def test_a_questionnaire_fits_a_phone(serve: Serve, windows: Windows, tmp_path: Path, *, listed: bool) -> None:
    served = survey(serve, tmp_path, listed=listed)
    page = windows.sit(served, "rae", **TOUCH)
    assert not page.evaluate(IS_WIDER)
    for option in page.locator(".option").all():
        place = option.bounding_box()
        assert place
        assert min(place["width"], place["height"]) >= 44
    for option in page.get_by_text("decline").all():
        option.tap()
    page.get_by_role("button", name="Save").tap()
    acts.await_sent(page)
    assert set(said(served).values()) == {"decline"}
    assert len(said(served)) == (20 if listed else 2)
    assert not page.evaluate(IS_WIDER)


def test_a_template_is_read_line_by_line_and_why_it_is_unfit_is_asked(
    serve: Serve, windows: Windows, tmp_path: Path
) -> None:
    with closing(review(tmp_path, "a1", "other")) as study:
        study.grid().assign_round("review")
    served = serve(tmp_path / "s.db")
    page = windows.sit(served, "other")
    names = [line.split(":")[0] for line in page.locator("#hs").inner_text().splitlines()]
    parts = ["Statement", "Context", "Then", "Question", "Other question", "Options", "Stereotyped"]
    assert names[:7] == parts
    expect(acts.box(page)).to_be_hidden()
    page.get_by_role("group", name="fit").get_by_text("no", exact=True).click()
    acts.box(page).fill("The names give it away.")
    assert not violations(page)
    acts.save(page)
    given = served.study.grid().answers()
    assert given[["fit", "why"]].to_numpy().tolist() == [["no", "The names give it away."]]


@pytest.mark.parametrize("viewport", one_short(PHONE, WIDE))
def test_the_lead_reads_the_results_on_any_screen(
    serve: Serve, windows: Windows, tmp_path: Path, viewport: Any
) -> None:
    asked(tmp_path).close()
    page = windows.show(serve(tmp_path / "survey.db"), "lea", "/lead#results", viewport=viewport)
    results = page.locator("#results")
    expect(results.get_by_role("heading", name="What people said")).to_be_visible()
    assert results.locator(".forest").count() == 3
    expect(results.get_by_role("img")).to_have_accessible_name(re.compile("The table below has the numbers.$"))
    assert not page.evaluate(IS_WIDER)
    assert not violations(page)


# Wordings

ROWS = SidePlan(names=("Night owls are lazy.", "Cyclists think the road is theirs."))
YES_NO = "answer: one_of(yes,no,decline?)"
ASK = RoundPlan("ask", YES_NO, role="respondent", answers=0, screen="row", in_order=True)
RATE = RoundPlan("rate", "kind: scale(1,5,1,positive=4); why: text()", role="rater", answers=0)
ONE = RoundPlan("one", YES_NO, role="annotator", answers=0)
WORDED = (
    GridPlan("ask", ROWS, SidePlan(names=("heard", "believed")), (ASK,), row_name="statement"),
    GridPlan("one", ROWS, SidePlan(names=("reply",)), (ONE,)),
    GridPlan("rate", ROWS, SidePlan(names=("reply",)), (RATE,)),
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


def test_questions_options_and_sides_are_shown_by_their_wordings_and_sent_by_their_names(
    serve: Serve, windows: Windows, tmp_path: Path
) -> None:
    with closing(Study.create(tmp_path / "words.db", grids=WORDED)) as study:
        for name, role in {"rob": Role.RESPONDENT, "ana": Role.ANNOTATOR, "rae": Role.RATER}.items():
            study.add_people([name], role)
        for grid in WORDED:
            study.grid(grid.name).pair()
            study.grid(grid.name).assign_round()
        study.save_words(WORDS)
    served = serve(tmp_path / "words.db", Annotate())
    page = windows.sit(served, "rob", viewport=SMALL)
    form = page.locator("#form")
    expect(page.locator("#hs-name")).to_have_text("What is said")
    expect(form.locator(".introduction")).to_contain_text("Say what is true of you.Guess if you cannot know.")
    heard = page.get_by_role("group", name="Have you heard this?")
    expect(heard).to_have_accessible_description("Anywhere, ever.")
    expect(heard.get_by_role("radio", name="Yes, it is")).to_be_visible()
    expect(page.get_by_role("group", name="believed")).to_be_visible()
    assert not page.evaluate(IS_WIDER)
    assert violations(page) == []
    acts.type_keys(page, "12")
    page.keyboard.press("Enter")
    acts.await_sent(page)
    saved = page.evaluate("fetch('/api/answers?n=2').then((reply) => reply.json())")
    assert [task["answer"] for task in saved["tasks"]] == ["no", "yes"]

    page = windows.sit(served, "ana")
    expect(page.get_by_role("heading", name="column")).to_be_hidden()  # as there is a single one
    expect(page.locator("#cn")).to_be_hidden()
    answers = page.get_by_role("group", name="آیا مهربان است؟")
    expect(answers).to_have_accessible_description("One answer.")
    expect(page.locator("#asked")).to_have_attribute("dir", "rtl")
    expect(answers.get_by_role("button")).to_have_text(["1 Yes, it is", "2 نهNot at all", "3 پاسخ نمی‌دهم"])
    assert violations(page) == []
    acts.answer(page, "yes")
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("Yes, it is")
    page.keyboard.press("f")
    acts.rest(page)
    acts.answer(page, "yes")
    expect(page.get_by_role("heading", level=1)).to_have_text("سپاسگزاریم، این آخرین متن بود")

    page = windows.sit(served, "rae", viewport=SMALL)
    scale = page.get_by_role("group", name="How kind is it?")
    expect(scale.get_by_role("radio", name="1 cruel")).to_be_visible()
    expect(scale.get_by_role("radio", name="5 very kind")).to_be_visible()
    expect(scale.locator("label")).to_have_text(["1 cruel", "2", "3", "4", "5 very kind"])
    expect(page.get_by_role("group", name="why")).to_be_visible()
    assert not page.evaluate(IS_WIDER)
    assert violations(page) == []
