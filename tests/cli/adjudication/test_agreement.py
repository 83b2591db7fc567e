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


def answered(path: Path, plan: GridPlan, people: list[str], answer: Callable[[str, int], object]) -> None:
    """A study in which all of these people have answered each cell, by its number and theirs."""
    with closing(Study.create(path, grids=[plan])) as study:
        study.grid().pair()
        study.add_people(people, Role(plan.rounds[0].role))
        study.grid().assign_round()
        for who in people:
            desk, visitor = at_desk(study, who)
            for task in desk.tasks(visitor, 40):
                give(desk, visitor, answer(who, task.cell_id), task.assignment_id)


def written(path: Path) -> None:
    """Two writers have answered a text and its types on each of four cells."""
    sides = SidePlan(names=("Tea is best.", "Cats are best.")), SidePlan(names=("facts", "humour"))
    form = "text: text(); types: any_of(facts,humour)"
    plan = GridPlan("write", *sides, (RoundPlan("write", form, "writer", answers=2),))

    def answer(who: str, cell: int) -> dict[str, object]:
        return {"text": f"By {who}.", "types": ["facts"] if cell % 2 or who == "wil" else ["humour"]}

    answered(path, plan, ["wen", "wil"], answer)


def test_a_form_has_a_block_for_each_part_without_asking(study: Path, fcpair: Fcpair) -> None:
    written(study)
    printed = fcpair("agreement").stdout
    assert printed == fcpair("agreement", "--round", "write").stdout
    heads = ("text\n", "types: facts\nAgreement: 8 labels on 4 pairs", "types: humour\nAgreement: 8 labels on 4 pairs")
    places = [printed.index(head) for head in heads]
    assert places == sorted(places)
    assert "undefined, because two people write different texts" in printed
    assert "intervals for new rows and columns, the same two" in " ".join(printed.split())


def test_blocks_as_json_and_csv_have_their_names(study: Path, fcpair: Fcpair) -> None:
    written(study)
    found = json.loads(fcpair("agreement", "--blocks", "column", "--format", "json").stdout)
    assert (found["round"], found["simulated"]) == ("write", None)
    named = [(one["part"], one["of"]) for one in found["blocks"]]
    assert named == [
        ("text", ""),
        *((f"types: {part}", of) for part in ("facts", "humour") for of in ("facts", "humour")),
    ]
    rows = list(csv.DictReader(io.StringIO(fcpair("agreement", "--blocks", "column", "--format", "csv").stdout)))
    assert list(dict.fromkeys((row["part"], row["of"]) for row in rows)) == named
    assert (rows[0]["figure"], rows[0]["value"]) == ("agreement", "")


def test_a_column_of_the_first_grid_is_named_by_its_text(at: At, fcpair: Fcpair) -> None:
    with closing(Study(at("checked"))) as study:
        first = study.grid().explain(1)
    printed = fcpair("agreement", "--blocks", "row").stdout
    assert f"label: {first.hs}\nAgreement:" in printed
    assert "intervals for new CN, the same annotators" in printed
    assert fcpair("agreement", "--blocks", "grid").stdout == fcpair("agreement").stdout


def skewed(path: Path) -> None:
    """Two raters have answered each of 40 cells, nearly always alike: 78 of 80 answers are no."""
    sides = (
        SidePlan(names=tuple(f"Row {at}." for at in range(10))),
        SidePlan(names=tuple(f"Column {at}." for at in range(4))),
    )
    plan = GridPlan("rate", *sides, (RoundPlan("rate", "fit: one_of(no, yes)", "rater", answers=2),))

    def answer(who: str, cell: int) -> str:
        return "yes" if cell == 7 or (cell, who) == (9, "ben") else "no"

    answered(path, plan, ["ana", "ben"], answer)


def test_every_format_warns_of_labels_that_are_nearly_all_of_one_class(study: Path, fcpair: Fcpair) -> None:
    skewed(study)
    caution = "96 % of the labels are no, and kappas rest on the few others"
    found = fcpair("agreement")
    assert f"Warning: {caution}" in " ".join(found.stderr.split())
    assert f"Warning: fit: {caution}" in " ".join(fcpair("agreement", "--round", "rate").stderr.split())
    data = json.loads(fcpair("agreement", "--format", "json").stdout)
    (block,) = json.loads(fcpair("agreement", "--round", "rate", "--format", "json").stdout)["blocks"]
    assert all(one["cautions"][0].startswith(caution) for one in (data, block))
    rows = csv.DictReader(io.StringIO(fcpair("agreement", "--format", "csv").stdout))
    assert all(row["cautions"].startswith(caution) for row in rows)


def test_a_round_that_is_not_there_is_an_error_that_names_those_that_are(at: At, fcpair: Fcpair) -> None:
    at("checked")
    assert "its rounds: label, validate" in fcpair("agreement", "--round", "pilot", code=2).stderr


def test_kappa_on_bins_is_printed_beside_the_weighted_one(study: Path, fcpair: Fcpair) -> None:
    """ana's 1, 2, 4, 5 and ben's 1.5, 2.5, 4.5, 4: in bins L L H H and L M H H; 3 of 4, by chance 3/8, kappa 0.6."""
    plan = GridPlan(
        "rate",
        SidePlan(names=("Tea is best.", "Cats are best.")),
        SidePlan(names=("fluent", "kind")),
        (RoundPlan("rate", "rating: scale(1,5,0.5)", "rater", answers=2),),
    )
    with closing(Study.create(study, grids=[plan])) as opened:
        opened.grid().pair()
        opened.add_people(["ana", "ben"], Role.RATER)
        opened.grid().assign_round()
        for who, ratings in (("ana", (1, 2, 4, 5)), ("ben", (1.5, 2.5, 4.5, 4))):
            desk, visitor = at_desk(opened, who)
            for task in desk.tasks(visitor, 9):
                give(desk, visitor, ratings[task.cell_id - 1], task.assignment_id)
    bins = ("--bin", "1-2", "--bin", "2.5-3.5", "--bin", "4-5")
    printed = " ".join(fcpair("agreement", "--weights", "quadratic", *bins).stdout.split())
    assert "Cohen's kappa on bins 1-2, 2.5-3.5, 4-5, unweighted, of every two annotators" in printed
    rows = list(csv.DictReader(io.StringIO(fcpair("agreement", *bins, "--format", "csv").stdout)))
    kappas = {row["figure"]: row["value"] for row in rows if "ana and ben" in row["figure"]}
    assert round(float(kappas["Cohen's kappa on bins, ana and ben"]), 9) == 0.6
    assert round(float(kappas["Cohen's kappa, ana and ben"]) * 15, 9) == -1
    assert "no bin has 2.5" in fcpair("agreement", "--bin", "1-2", "--bin", "3-5", code=2).stderr


def test_options_of_a_call_that_only_looks_are_said_to_be_its_own(at: At, fcpair: Fcpair) -> None:
    """They are in no log, and neither in `methods` nor in the report, which go by the study's own."""
    at("checked")
    note = "`fcpair methods` and `fcpair report` go by the study's own"
    assert note not in fcpair("agreement").stderr
    assert note in " ".join(fcpair("agreement", "--indefinite", "drop").stderr.split())
    assert note not in fcpair("partition").stderr
    assert "into the section [partition]" in " ".join(fcpair("partition", "--diamond", "majority").stderr.split())
