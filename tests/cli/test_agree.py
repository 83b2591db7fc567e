"""Agreement on the command line: blocks for the parts of a round, and for columns and rows."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from steps.online import at_desk, give

from cli.conftest import Fcpair
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study

At = Callable[[str], Path]


def written(path: Path) -> None:
    """Two writers have answered a text and its types on each of four cells."""
    sides = SidePlan(names=("Tea is best.", "Cats are best.")), SidePlan(names=("facts", "humour"))
    form = "text: text(); types: any_of(facts,humour)"
    plan = GridPlan("write", *sides, (RoundPlan("write", form, "writer", answers=2),))
    with closing(Study.create(path, grids=[plan])) as study:
        study.grid().pair()
        study.add_people(["wen", "wil"], Role.WRITER)
        study.grid().assign_round()
        for who in ("wen", "wil"):
            desk, visitor = at_desk(study, who)
            for task in desk.tasks(visitor, 9):
                types = ["facts"] if task.cell_id % 2 or who == "wil" else ["humour"]
                give(desk, visitor, {"text": f"By {who}.", "types": types}, task.assignment_id)


def test_a_form_has_a_block_for_each_part_without_asking(study: Path, fcpair: Fcpair) -> None:
    written(study)
    printed = fcpair("agreement").stdout
    assert printed == fcpair("agreement", "--round", "write").stdout
    heads = ("text\n", "types: facts\nAgreement: 8 labels on 4 pairs", "types: humour\nAgreement: 8 labels on 4 pairs")
    places = [printed.index(head) for head in heads]
    assert places == sorted(places)
    assert "undefined, because two people write two texts" in printed
    assert "intervals for new rows and columns, the same two" in " ".join(printed.split())


def test_blocks_as_json_and_csv_have_their_names(study: Path, fcpair: Fcpair) -> None:
    written(study)
    found = json.loads(fcpair("agreement", "--by", "column", "--format", "json").stdout)
    assert (found["round"], found["simulated"]) == ("write", None)
    named = [(one["part"], one["of"]) for one in found["blocks"]]
    assert named == [
        ("text", ""),
        *((f"types: {part}", of) for part in ("facts", "humour") for of in ("facts", "humour")),
    ]
    rows = list(csv.DictReader(io.StringIO(fcpair("agreement", "--by", "column", "--format", "csv").stdout)))
    assert list(dict.fromkeys((row["part"], row["of"]) for row in rows)) == named
    assert (rows[0]["figure"], rows[0]["value"]) == ("agreement", "")


def test_a_column_of_the_first_grid_is_named_by_its_text(at: At, fcpair: Fcpair) -> None:
    with closing(Study.open(at("checked"))) as study:
        first = study.grid().explain(1)
    printed = fcpair("agreement", "--by", "row").stdout
    assert f"label: {first.hs}\nAgreement:" in printed
    assert "intervals for new CN, the same annotators" in printed
    assert fcpair("agreement", "--by", "grid").stdout == fcpair("agreement").stdout


def test_a_round_that_is_not_there_is_an_error_that_names_those_that_are(at: At, fcpair: Fcpair) -> None:
    at("checked")
    assert "its rounds: label, validate" in fcpair("agreement", "--round", "pilot", code=2).stderr
