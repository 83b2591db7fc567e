"""Notes in the log: what they keep, which are refused, and where they are not to be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.errors import FcpairError, InputError, UnknownIdError
from fcpair.params import Note
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.report.table_rows import log_lines
from fcpair.steps.oversight.status import LONGEST_NOTE
from fcpair.study import Study
from steps.publication.releasing import full_form

At = Callable[[str], Study]
TALKED = "Two annotators talked on Tuesday."


def test_a_note_is_a_run_with_its_text_and_its_pair(at: At) -> None:
    study = at("dealt")
    run = study.grid().desk.add_note(text=TALKED, pair=5)
    assert study.log()[-1] == run
    assert (run.stage, run.params, run.counts) == ("note", {"text": TALKED, "pair": 5}, {})
    assert run.told == "a note about pair 5 was added to the log"
    assert study.grid().desk.add_note(Note(TALKED)).told == "a note was added to the log"


def test_a_note_changes_nothing_else(at: At) -> None:
    study = at("checked")
    before = study.status()
    study.grid().desk.add_note(text=TALKED)
    assert study.status() == before


def test_a_note_on_a_planned_grid_names_it(tmp_path: Path) -> None:
    sides = SidePlan(names=("a", "b")), SidePlan(names=("c",))
    plan = GridPlan("rate", *sides, (RoundPlan("rate", "label: one_of(no,yes+)"),))
    study = Study.create(tmp_path / "study.db", grids=[plan])
    study.grid().pair()
    assert study.grid().desk.add_note(text=TALKED, pair=2).params["grid"] == "rate"


@pytest.mark.parametrize(
    ("note", "error", "parameter", "message"),
    [
        (Note(), InputError, "text", "the note is empty; write what happened"),
        (Note(" \n"), InputError, "text", "the note is empty"),
        (Note("x" * (LONGEST_NOTE + 1)), InputError, "text", "the note has 2,001 characters; expected at most 2,000"),
        (Note(TALKED, 25), UnknownIdError, "pair", "there is no pair 25; the pairs of the grid are numbered from 1 to"),
        (Note(TALKED, 2**62), UnknownIdError, "pair", "there is no pair"),
    ],
)
def test_a_refused_note_leaves_no_run_and_names_the_parameter(
    at: At, note: Note, error: type[FcpairError], parameter: str, message: str
) -> None:
    study = at("dealt")
    n_runs = len(study.log())
    with pytest.raises(error, match=message) as refused:
        study.grid().desk.add_note(note)
    assert refused.value.parameter == parameter
    assert len(study.log()) == n_runs


def test_no_release_publishes_a_note(at: At, tmp_path: Path) -> None:
    study = at("checked")
    study.grid().desk.add_note(text=TALKED, pair=5)
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    assert TALKED not in (tmp_path / "v1" / "runs.jsonl").read_text("utf-8")


def test_notes_in_a_row_are_lines_of_their_own_in_the_report(at: At) -> None:
    grid = at("dealt").grid()
    runs = tuple(grid.desk.add_note(text=TALKED, pair=pair) for pair in (5, 6))
    assert [line.n for line in log_lines(runs)] == [1, 1]
