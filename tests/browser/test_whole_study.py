"""Two whole studies in the browser, by the script that makes the pictures of docs/tutorials/lead.md."""

from __future__ import annotations

import csv
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
import walk
from playwright.sync_api import Browser, Page

from fcpair.recipe import load_recipe
from fcpair.records import Role
from fcpair.study import Study


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
    """How many rows a table has below its header."""
    with path.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.DictReader(file))


@pytest.mark.torch
@pytest.mark.long
def test_a_study_of_pairs_from_an_empty_folder_to_gold(browser: Browser, tmp_path: Path) -> None:
    walk.lead_pairs(browser, tmp_path, walk.Shape(2, 8, annotators=3, validators=2), look)
    study, again = remake(tmp_path, [])
    with closing(study), closing(again):
        assert n_rows(tmp_path / "gold.csv") == len(study.grid().tier("gold")) > 0
        assert work_of(again) == work_of(study)
        assert [one.name for one in study.doctor(study.place).checks if one.found] == []


def test_a_survey_from_an_empty_folder_to_its_results(browser: Browser, tmp_path: Path) -> None:
    walk.lead_survey(browser, tmp_path, ["p1", "p2"], look)
    study, again = remake(tmp_path, ["p1", "p2"])
    with closing(study), closing(again):
        assert n_rows(tmp_path / "answers.csv") == 2 * 16
        assert work_of(again) == work_of(study)
