"""Whole studies through the pages: from an empty folder, from invite links to tiers, and a calibration."""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import walk
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect
from steps.small import open_work

from browser import acts
from browser.axe import violations
from browser.hosts import ENGLISH, Host, Serve, build
from browser.windows import SMALL, Windows
from fcpair.cli import main
from fcpair.params import Simulate
from fcpair.recipe import load_recipe
from fcpair.records import Role
from fcpair.study import Study

NO, YES = "not_appropriate", "appropriate"


# By the script that makes the pictures of docs/tutorials/lead.md, from an empty folder


def look(_page: Page, _name: str) -> None:
    """Take no picture."""


def remake(folder: Path, respondents: list[str]) -> tuple[Study, Study]:
    """The study, and another that the recipe makes which its lead has downloaded."""
    with zipfile.ZipFile(folder / "recipe.zip") as archive:
        archive.extractall(folder)
    recipe = load_recipe(folder / "recipe" / "recipe.toml")
    again = Study.create(folder / "again.db", recipe.setup, grids=recipe.grids)
    if respondents:
        again.add_people(respondents, Role.RESPONDENT)
    list(again.walk(recipe))
    return Study(folder / "study.db"), again


def work_of(study: Study) -> list[tuple[str, int]]:
    """How many pairs or questions each annotator or respondent was given."""
    given = {Role.ANNOTATOR.value, Role.RESPONDENT.value}
    return sorted((row["name"], row["open"] + row["done"]) for row in study.workload() if row["role"] in given)


def n_rows(path: Path) -> int:
    with path.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.DictReader(file))


@pytest.mark.torch
@pytest.mark.long
def test_a_study_of_pairs_from_an_empty_folder_to_gold(browser: Browser, tmp_path: Path) -> None:
    walk.lead_pairs(browser, tmp_path, walk.Shape(2, 5, annotators=3, validators=2), look)
    study, again = remake(tmp_path, [])
    with closing(study), closing(again):
        assert n_rows(tmp_path / "gold.csv") == len(study.grid().tier("gold")) > 0
        assert work_of(again) == work_of(study)
        assert [check.name for check in study.doctor(study.place).checks if check.found] == []


def test_a_survey_from_an_empty_folder_to_its_results(browser: Browser, tmp_path: Path) -> None:
    walk.lead_survey(browser, tmp_path, ["p1", "p2"], look)
    study, again = remake(tmp_path, ["p1", "p2"])
    with closing(study), closing(again):
        assert n_rows(tmp_path / "answers.csv") == 2 * 16
        assert work_of(again) == work_of(study)


# From invite links to tiers


def turns(served: Host, pages: dict[str, Page], say: Callable[[int, str], str], *, checks: bool = False) -> None:
    """Let people answer in turn what they have open, by keys and by mouse, until nothing is left."""
    explained = {number: served.study.grid().explain(number) for _, number in open_work(served.study, checks=checks)}
    numbers = {(texts.hs, texts.cn): number for number, texts in explained.items()}
    while names := sorted({name for name, _ in open_work(served.study, checks=checks)}):
        for name in names:
            number = numbers[acts.pair(pages[name])]
            acts.answer(pages[name], say(number, name), by=acts.by_mouse if number % 2 else acts.by_key)
            acts.await_sent(pages[name])
    for page in pages.values():
        expect(page).to_have_url(re.compile("/thanks$"))


def test_annotators_an_adjudicator_two_validators_and_a_lead(serve: Serve, tmp_path: Path, windows: Windows) -> None:
    """Ana says yes to all of eight pairs, of which six are ben's, too; he says no to three, and one is discarded.

    Validators disagree with one that both said yes to. So by hand seven are Bronze, six Silver, four of these have two
    labels, and of two these are also what was decided.
    """
    served = serve(build(tmp_path, ENGLISH[:2], 4, ("ana", "ben"), overlap={2: 0.75}))
    served.study.add_people(["walt"], Role.VALIDATOR)
    people: dict[int, set[str]] = {}
    for name, number in open_work(served.study):
        people.setdefault(number, set()).add(name)
    *differ, disputed, _, _ = sorted(number for number, names in people.items() if len(names) == 2)
    assert (len(people), len(differ)) == (8, 3)
    desks = {name: windows.open(served.url) for name in ("ana", "ben")}
    command = ["people", "invite", "ana", "--study", str(served.study.place), "--url", served.url]
    printed = CliRunner().invoke(main, command).stdout
    link = re.fullmatch(rf"ana: {served.url}/join#(\S+)\n", printed)
    assert link, printed
    for name, token in (("ana", link[1]), ("ben", served.token("ben", consent=False))):
        acts.come_in(desks[name], token)
        acts.consent(desks[name])
        acts.await_pair(desks[name])
    turns(served, desks, lambda number, name: NO if name == "ben" and number in differ else YES)

    lead = windows.show(served, "lea", "/lead/conflicts/policy")
    notice = lead.locator("main").get_by_role("status")
    lead.get_by_role("button", name="Apply the policy").click()
    expect(notice).to_contain_text("new decisions by the policy")
    judy = windows.show(served, "judy", "/adjudicate")
    for left in range(len(differ), 0, -1):
        expect(judy.locator(".progress")).to_contain_text(f"{left} wait")
        number = int(judy.locator("#case-name").inner_text().removeprefix("Pair "))
        assert sorted(judy.locator("li strong").all_inner_texts()) == ["appropriate", "not appropriate"]
        acts.decide(judy, "[data-key=x]" if number == differ[-1] else f"[name=outcome][value={YES}]")
    expect(judy.locator("#case-name")).to_have_text("Nothing is waiting for you")

    lead.goto("/lead/conflicts/validation")
    lead.get_by_role("button", name="Assign the pairs").click()
    expect(notice).to_contain_text("pairs were assigned to")
    desks = {name: windows.show(served, name, "/validate") for name in ("vera", "walt")}
    for page in desks.values():
        expect(page.locator("#label")).to_have_text("appropriate")
    turns(served, desks, lambda number, _: "disagree" if number == disputed else "agree", checks=True)
    lead.goto("/lead")
    rows = lead.locator("#tiers table").first.locator("tbody tr").all()
    shown = {row.locator("th").inner_text().lower(): int(row.locator("td").first.inner_text()) for row in rows}
    assert shown == {"diamond": 2, "gold": 4, "silver": 6, "bronze": 7}
    sizes = served.study.grid().tiers().table().tables[0]
    assert dict(zip(sizes["tier"], sizes["pairs"], strict=True)) == shown


def test_a_calibration_leads_from_its_first_pairs_to_the_discussion_and_to_answers_again(
    serve: Serve, windows: Windows
) -> None:
    served = serve("paired")
    served.study.add_people(["dora"], Role.ANNOTATOR)
    grid = served.study.grid()
    grid.calibration.start(pairs=4, seed=2)
    page = windows.sit(served, "ana", viewport=SMALL)
    expect(page.locator("#calibration-first")).to_contain_text("everybody answers these pairs first")
    assert violations(page) == []
    grid.simulate(Simulate(accuracy=0.5, skips=0, seed=1))
    grid.calibration.open_discussion()
    page.goto("/discussion")
    page.keyboard.press("a")
    page.wait_for_url("**/annotate")
    expect(page.locator("#calibration-again")).to_be_visible()
    assert violations(page) == []
    before = len(served.codes)
    acts.answer(page, YES)
    acts.await_sent(page)
    assert len(served.codes) == before + 1
    page.wait_for_load_state("networkidle")  # a window that is closed while its page is being left never closes
