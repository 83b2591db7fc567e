"""Rows that are from one source are answered by the same people, whatever becomes of these."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import InputError, RecipeError, StageError
from fcpair.params import Annotate, Setup, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan, Source
from fcpair.recipe import load_recipe
from fcpair.records import Role
from fcpair.study import Study
from steps.online import admit, column_of
from steps.small import write_csv

KINDS = ("books", "letters", "songs")
CRITERIA = ("kind", "clear", "short", "apt")
RATE = RoundPlan(
    "rate", "rating: scale(1,5,0.5)", role="rater", answers=2, screen="row", together="source", people=6, seed=4
)


def study_of(folder: Path, n: int = 6) -> Study:
    """Three sources of four texts each, to be rated by four criteria, and so many raters."""
    sources = []
    for kind in KINDS:
        rows = [{"text": f"The {at} of the {kind} is fine."} for at in ("first", "second", "third", "last")]
        sources.append(Source(Path(write_csv(folder / f"{kind}.csv", rows)), "text", language="en"))
    plan = GridPlan("rate", SidePlan(sources=tuple(sources)), SidePlan(names=CRITERIA), (RATE,))
    study = Study.create(folder / "study.db", Setup(title="Rated"), grids=[plan])
    study.grid().pair()
    study.add_people([f"r{at}" for at in range(1, n + 1)], Role.RATER)
    return study


def raters(answers: pd.DataFrame) -> dict[str, set[str]]:
    """Of each source those who rated anything from it."""
    return {str(source): set(rows) for source, rows in answers.groupby("source")["by"]}


def test_the_same_two_rate_all_texts_from_a_source_with_criteria_in_another_order_on_each(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    study.grid().assign_round()
    desk, orders = study.work_queue(Annotate()), set()
    for name in ("r1", "r2", "r3", "r4", "r5", "r6"):
        tasks = desk.tasks(admit(study, name), 16)
        for at in range(0, 16, 4):
            assert len({task.row.body for task in tasks[at : at + 4]}) == 1
            orders.add(tuple(column_of(task) for task in tasks[at : at + 4]))
    assert len(orders) > 8
    study.grid().simulate(Simulate(skips=0.0, seed=1))
    answers = study.grid().answers()
    by_source = raters(answers)
    assert [len(by_source[kind]) for kind in KINDS] == [2, 2, 2]
    assert len(set.union(*by_source.values())) == 6
    assert len(answers) == 3 * 4 * len(CRITERIA) * 2


@pytest.mark.server
def test_who_takes_over_has_all_that_was_left_from_a_source(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    study.grid().assign_round()
    study.retire("r1")
    study.grid().simulate(Simulate(skips=0.0, seed=1))
    by_source = raters(study.grid().answers())
    assert [len(by_source[kind]) for kind in KINDS] == [2, 2, 2]
    assert "r1" not in set.union(*by_source.values())


def test_too_few_raters_and_rows_that_are_from_nowhere_are_refused(tmp_path: Path) -> None:
    with pytest.raises((InputError, StageError), match="2 people, but there"):
        study_of(tmp_path, 1).grid().assign_round()
    plan = GridPlan("rate", SidePlan(names=("Tea is warm.", "Cats are cold.")), SidePlan(names=CRITERIA), (RATE,))
    study = Study.create(tmp_path / "nowhere.db", Setup(title="Rated"), grids=[plan])
    study.grid().pair()
    study.add_people([f"r{at}" for at in range(6)], Role.RATER)
    with pytest.raises(StageError, match="2 rows have no source, so it is unknown who should answer them"):
        study.grid().assign_round()


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ('together = "group"', "'group'"),
        ('together = "source"\nanswers = 0', "omit `once_per_row` and models"),
        ('together = "source"\nonce_per_row = true', "omit `once_per_row` and models"),
    ],
)
def test_what_cannot_be_is_refused_in_a_recipe(tmp_path: Path, said: str, problem: str) -> None:
    place = tmp_path / "recipe.toml"
    place.write_text(
        '[[grid]]\nname = "rate"\nrows = { names = ["Tea is warm."] }\ncolumns = { names = ["kind"] }\n'
        f'[[grid.round]]\nname = "rate"\nform = "scale(1,5,1)"\n{said}\n',
        "utf-8",
    )
    with pytest.raises(RecipeError, match=problem):
        load_recipe(place)
