"""Planned grids on the command line: `fcpair run`, `fcpair grids`, `fcpair assign --round`, `fcpair status`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Fcpair

RECIPE = """
[study]
title = "Write and rate"

[[grid]]
name = "write"
rows = { file = "statements.csv", column = "statement" }
columns = { names = ["facts", "humour"] }
[[grid.round]]
name = "write"
role = "writer"
form = "text(min_words=2)"
once_per_row = true

[[grid]]
name = "rate"
rows = { answers = "write" }
columns = { names = ["fluent", "kind"] }
[[grid.round]]
name = "rate"
role = "rater"
form = "one_of(no,yes+)"
answers = 2
people = 3
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    (tmp_path / "statements.csv").write_text("statement\nTea is odd.\nCats are odd.\nChess is odd.\n", "utf-8")
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE, "utf-8")
    return path


def test_a_recipe_of_grids_from_the_first_run_to_the_end(fcpair: Fcpair, recipe: Path) -> None:
    result = fcpair("run", recipe, code=0)
    waits = "round `write` of grid `write` waits for people: `fcpair people add NAME --role writer`, then `fcpair"
    assert result.stdout.splitlines() == [
        "pair: grid `write` was made: 6 cells of 3 rows and 2 columns",
        f"next: {waits} assign --grid write --round write`",
    ]
    fcpair("people", "add", "ana", "ben", "--role", "writer", code=0)
    assert fcpair("assign", "--grid", "write", "--round", "write", code=0).stdout.startswith(
        "assign: 6 answers of round `write` were assigned to 2 people, in 6 cells of grid `write`"
    )
    recipe.write_text(f"{RECIPE}\n[simulate]\nskips = 0\n", "utf-8")
    lines = fcpair("run", recipe, code=0).stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["simulate", "pair", "assign", "simulate", "next"]


def test_the_grids_as_a_table_and_as_data(fcpair: Fcpair, recipe: Path) -> None:
    fcpair("run", recipe, code=0)
    lines = fcpair("grids", code=0).stdout.splitlines()
    assert [line.split() for line in lines if line.startswith(("  write", "  rate"))] == [
        ["write", "3", "2", "6", "write", "writer", "-", "-", "-"],
        ["rate", "0", "0", "0", "rate", "rater", "-", "-", "-"],
    ]
    listed = json.loads(fcpair("grids", "--format", "json", code=0).stdout)
    assert [(one["name"], one["cells"], one["rounds"][0]["dealt"]) for one in listed] == [
        ("write", 6, False),
        ("rate", 0, False),
    ]
    assert fcpair("grids", "--format", "csv", code=0).stdout.splitlines()[0] == (
        "grid,rows,columns,cells,round,role,open,done,vacant"
    )


def test_the_status_covers_planned_grids(fcpair: Fcpair, recipe: Path) -> None:
    fcpair("run", recipe, code=0)
    fcpair("people", "add", "ana", "ben", "--role", "writer", code=0)
    fcpair("run", recipe, code=0)
    told = fcpair("status", code=0).stdout
    assert "Write and rate: grids" in told
    assert "Next: open answers in round `write` of grid `write`: 6 (ana 3, ben 3); `fcpair serve`" in told
    facts = fcpair("status", "--format", "csv", code=0).stdout.splitlines()
    assert "grids,write / write,open,6" in facts
    state = json.loads(fcpair("status", "--format", "json", code=0).stdout)
    assert (state["stages"], state["grids"][0]["rounds"][0]["open"]) == ({}, 6)


def test_main_is_a_grid_among_the_others(fcpair: Fcpair) -> None:
    fcpair("init", code=0)
    lines = fcpair("grids", code=0).stdout.splitlines()
    assert [line.split()[4:6] for line in lines if line.startswith("  main")] == [
        ["label", "annotator"],
        ["validate", "validator"],
    ]


def test_a_changed_plan_is_refused_with_what_differs(fcpair: Fcpair, recipe: Path) -> None:
    fcpair("run", recipe, code=0)
    recipe.write_text(RECIPE.replace("answers = 2", "answers = 3"), "utf-8")
    told = fcpair("run", recipe, code=2).stderr
    assert "grid rate, round rate  answers  3       2" in told


def test_a_round_takes_no_options_of_main(fcpair: Fcpair, recipe: Path) -> None:
    fcpair("run", recipe, code=0)
    told = fcpair("assign", "--grid", "write", "--round", "write", "--annotators", "3", code=2).stderr
    assert "a round is assigned as planned" in told


def test_no_model_is_added_as_a_person(fcpair: Fcpair) -> None:
    fcpair("init", code=0)
    assert "'model' is not one of" in fcpair("people", "add", "m", "--role", "model", code=2).stderr
