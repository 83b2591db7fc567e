"""A questionnaire in the browser, a statement a screen or a list of them, and templates before their reviewers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import one_short
from playwright.sync_api import Page, expect
from steps.asked import surveyed as asked
from steps.small import write_csv
from steps.surveys.test_items import review

from browser.axe import IS_WIDER, violations
from browser.hosts import Host
from browser.sitting import HASTE_MS, await_sent, enter
from browser.windows import PHONE, Windows
from fcpair.params import Annotate, Setup
from fcpair.records import Role
from fcpair.stages.surveys.survey import survey_plans
from fcpair.study import Study

TOUCH: dict[str, Any] = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
STATEMENTS = [f"Statement {at} is mild." for at in range(11)] + ["شب‌بیدارها تنبل‌اند."]
ASKED = Annotate(demographics=("Gender: woman | man | another",))


def surveyed(folder: Path, *, listed: bool) -> Path:
    """A survey of twelve statements and two questions that one person is asked, in a file."""
    file = write_csv(folder / "statements.csv", [{"statement": text} for text in STATEMENTS])
    study = Study.create(folder / "survey.db", Setup(title="Owls"))
    study.import_survey(survey_plans("survey", file, as_list=listed, suggest=""))
    study.add_people(["rae"], Role.RESPONDENT)
    study.open_survey("survey")
    study.close()
    return folder / "survey.db"


@pytest.fixture
def sit(host: Callable[..., Host], windows: Windows, tmp_path: Path) -> Callable[..., tuple[Host, Page]]:
    """The respondent at their desk."""

    def sit(*, listed: bool, **options: Any) -> tuple[Host, Page]:
        served = host(surveyed(tmp_path, listed=listed), ASKED)
        page = windows.open(served.url, served.token("rae"), **options)
        enter(page)
        page.wait_for_timeout(HASTE_MS)
        return served, page

    return sit


def said(served: Host) -> dict[tuple[str, str], str]:
    given = served.study.grid("survey").answers()
    return dict(zip(zip(given["row"], given["column"], strict=True), given["answer"], strict=True))


def shown(page: Page) -> list[str]:
    return page.locator(".listed > legend").all_inner_texts()


def test_a_list_has_whole_statements_with_their_questions_in_order(sit: Callable[..., tuple[Host, Page]]) -> None:
    _, page = sit(listed=True)
    assert len(set(shown(page))) == 10
    for statement in page.locator(".listed").all():
        assert statement.locator(".asked > legend").all_text_contents() == ["heard", "believed"]
    assert not violations(page)


def test_a_list_is_answered_by_keys_and_what_is_missing_is_said(sit: Callable[..., tuple[Host, Page]]) -> None:
    served, page = sit(listed=True)
    first = shown(page)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("An answer is missing here.")).to_have_count(19)
    for key in "2" + "13" * 9:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    await_sent(page)
    given = said(served)
    assert {row for row, _ in given} == set(first)
    assert [given[first[0], question] for question in ("heard", "believed")] == ["yes", "no"]
    assert all((given[row, "heard"], given[row, "believed"]) == ("yes", "decline") for row in first[1:])
    assert sorted([*first, *shown(page)]) == sorted(STATEMENTS)


def test_a_list_can_be_gone_back_to_and_one_answer_changed(sit: Callable[..., tuple[Host, Page]]) -> None:
    served, page = sit(listed=True)
    first = shown(page)
    for _ in range(20):
        page.keyboard.press("1")
    page.keyboard.press("Enter")
    await_sent(page)
    page.keyboard.press("u")
    expect(page.locator("#earlier")).to_be_visible()
    assert shown(page) == first
    expect(page.locator("#form :checked")).to_have_count(20)
    page.wait_for_timeout(HASTE_MS)
    page.locator(".listed").nth(4).get_by_role("group", name="believed").get_by_text("no", exact=True).click()
    page.get_by_role("button", name="Save").click()
    await_sent(page)
    given = said(served)
    assert len(given) == 20
    assert [place for place, answer in given.items() if answer == "no"] == [(first[4], "believed")]


def test_one_question_of_a_list_can_be_skipped(sit: Callable[..., tuple[Host, Page]]) -> None:
    served, page = sit(listed=True)
    for _ in range(20):
        page.keyboard.press("1")
    page.locator(".listed").first.get_by_text("skip").first.click()
    page.get_by_role("button", name="Save").click()
    await_sent(page)
    assert list(said(served).values()).count("") == 1


def test_statements_of_a_list_are_hidden_until_somebody_asks(sit: Callable[..., tuple[Host, Page]]) -> None:
    served, page = sit(listed=True)
    page.locator("#blur-choice").check()
    page.locator("#hs-name").click()
    for legend in page.locator(".listed > legend").all():
        expect(legend).to_have_attribute("aria-hidden", "true")
    for _ in range(20):
        page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator(".listed > legend").first).to_have_attribute("aria-hidden", "false")
    assert said(served) == {}
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("Enter")
    await_sent(page)
    assert len(said(served)) == 20
    expect(page.locator(".listed > legend").first).to_have_attribute("aria-hidden", "true")
    page.locator(".listed > legend").first.click()
    expect(page.locator(".listed > legend").first).to_have_attribute("aria-hidden", "false")


@pytest.mark.parametrize("listed", [True, False])
def test_a_questionnaire_fits_a_phone(sit: Callable[..., tuple[Host, Page]], *, listed: bool) -> None:
    served, page = sit(listed=listed, **TOUCH)
    assert not page.evaluate(IS_WIDER)
    for option in page.locator(".option").all():
        place = option.bounding_box()
        assert place
        assert min(place["width"], place["height"]) >= 44
    for option in page.get_by_text("decline").all():
        option.tap()
    page.get_by_role("button", name="Save").tap()
    await_sent(page)
    assert set(said(served).values()) == {"decline"}
    assert len(said(served)) == (20 if listed else 2)
    assert not page.evaluate(IS_WIDER)


def test_what_was_begun_on_a_list_is_there_after_loading_again(sit: Callable[..., tuple[Host, Page]]) -> None:
    _, page = sit(listed=True)
    first = shown(page)
    for key in "123":
        page.keyboard.press(key)
    page.reload()
    enter(page)
    assert shown(page) == first
    values = page.locator("#form :checked").evaluate_all("(them) => them.map((one) => one.value)")
    assert values == ["yes", "no", "decline"]


def test_a_template_is_read_line_by_line_and_why_it_is_unfit_is_asked(
    host: Callable[..., Host], windows: Windows, tmp_path: Path
) -> None:
    study = review(tmp_path, "a1", "other")
    study.grid().assign_round("review")
    study.close()
    served = host(tmp_path / "s.db")
    page = windows.open(served.url, served.token("other"))
    enter(page)
    lines = page.locator("#hs").inner_text().splitlines()
    assert lines[0].startswith("Statement: ")
    assert [line.split(":")[0] for line in lines[1:7]] == [
        *("Context", "Then", "Question", "Other question"),
        *("Options", "Stereotyped"),
    ]
    expect(page.locator("#form textarea")).to_be_hidden()
    page.wait_for_timeout(HASTE_MS)
    page.get_by_role("group", name="fit").get_by_text("no", exact=True).click()
    page.locator("#form textarea").fill("The names give it away.")
    assert not violations(page)
    page.get_by_role("button", name="Save").click()
    await_sent(page)
    given = served.study.grid().answers()
    assert given[["fit", "why"]].to_numpy().tolist() == [["no", "The names give it away."]]


@pytest.mark.parametrize("viewport", one_short(PHONE, {"width": 1280, "height": 800}))
def test_the_lead_reads_the_results_on_any_screen(
    host: Callable[..., Host], windows: Windows, tmp_path: Path, viewport: Any
) -> None:
    asked(tmp_path).close()
    served = host(tmp_path / "survey.db")
    page = windows.open(served.url, served.token("lea"), viewport=viewport)
    page.goto(f"{served.url}/lead#results")
    results = page.locator("#results")
    expect(results.get_by_role("heading", name="What people said")).to_be_visible()
    assert results.locator(".forest").count() == 3
    expect(results.get_by_role("img")).to_have_accessible_name(re.compile("The table below has the numbers.$"))
    assert not page.evaluate(IS_WIDER)
    assert not violations(page)
