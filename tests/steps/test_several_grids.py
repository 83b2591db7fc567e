"""A side of what was written in several grids: texts of people and of models are rated side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.errors import StageError
from fcpair.params import Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import load_recipe
from fcpair.records import Role
from fcpair.study import Study
from steps.online import at_desk, give
from steps.small import write_csv

ROWS = ("Tea is odd.", "Cats are cold.")
WRITE = GridPlan(
    "write", SidePlan(names=ROWS), SidePlan(names=("reply",)), (RoundPlan("write", "text: text()", role="writer"),)
)
RATE = RoundPlan("rate", "rating: scale(1,5,1)", role="rater")


def propose(said: Path) -> GridPlan:
    models = (f"plain=canned:{said}(row=HS,reply=CN,several=first)",)
    return GridPlan(
        "replies", SidePlan(names=ROWS), SidePlan(names=("plain",)), (RoundPlan("say", "text: text()", models=models),)
    )


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Wren has written to both statements, and the model has a reply to each, of several in its file."""
    rows = [{"HS": row, "CN": f"{row} {how}"} for row in ROWS for how in ("I do not think so.", "Not at all.")]
    said = Path(write_csv(tmp_path / "released.csv", rows))
    rate = GridPlan("rate", SidePlan(answers=("write", "replies")), SidePlan(names=("kind",)), (RATE,))
    study = Study.create(tmp_path / "study.db", Setup(title="t"), grids=[WRITE, propose(said), rate])
    study.add_people(["wren"], Role.WRITER)
    study.add_people(["rob"], Role.RATER)
    study.grid("write").pair()
    study.grid("write").assign_round()
    study.grid("replies").pair()
    return study


@pytest.mark.server
def test_a_side_has_what_was_written_in_each_grid_and_says_by_whom(study: Study) -> None:
    desk, visitor = at_desk(study, "wren")
    rate = study.grid("rate")
    tasks = desk.tasks(visitor, 9)
    with pytest.raises(StageError, match="2 answers are still open in round `write` of grid `write`"):
        rate.pair()
    for task in tasks:
        give(desk, visitor, f"{task.row.body} Is it?", task.assignment_id)
    with pytest.raises(StageError, match="round `say` of grid `replies` comes first"):
        rate.pair()
    study.grid("replies").generate("say")
    rate.pair()
    rate.assign_round()
    desk, visitor = at_desk(study, "rob")
    for task in desk.tasks(visitor, 9):
        give(desk, visitor, 3, task.assignment_id)
    table = rate.answers().sort_values("cell")
    assert table["row"].tolist() == [f"{row} {how}" for how in ("Is it?", "I do not think so.") for row in ROWS]
    assert table["source"].tolist() == ["people", "people", "plain", "plain"]
    assert table["answered"].tolist() == [*ROWS, *ROWS]


def test_a_recipe_names_one_grid_or_several_and_is_no_other_study_the_second_time(tmp_path: Path) -> None:
    place = tmp_path / "recipe.toml"
    grids = "".join(
        f'[[grid]]\nname = "{name}"\nrows = {{ names = ["Tea is odd, says {name}."] }}\n'
        'columns = { names = ["reply"] }\n'
        f'[[grid.round]]\nname = "write"\nform = "text()"\nrole = "writer"\npeople = 1\n'
        for name in ("one", "two")
    )
    rated = (
        '[[grid]]\nname = "rate"\nrows = { answers = ["one", "two"] }\ncolumns = { names = ["kind"] }\n'
        '[[grid.round]]\nname = "rate"\nform = "scale(1,5,1)"\nrole = "rater"\npeople = 1\n'
    )
    place.write_text(f'[study]\ntitle = "t"\n[simulate]\nskips = 0\nseed = 1\n{grids}{rated}', "utf-8")
    recipe = load_recipe(place)
    study = Study.create(tmp_path / "study.db", recipe.setup, grids=recipe.grids)
    assert list(study.walk(recipe))
    assert len(study.grid("rate").answers()) == 2
    assert not [run for run in study.walk(load_recipe(place)) if run.stage == "pair"]
