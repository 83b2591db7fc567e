"""Answers in files: whose they are, where they come from, and whether their column was sorted apart from its rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.files.tables.tabular import read_table
from fcpair.params import Adjudicate, Assign, Simulate, Validate
from fcpair.records import Role, RunRecord, Tier
from fcpair.study import Study
from steps.small import (
    CNS,
    SELECTED,
    VALIDATORS,
    At,
    assert_refused,
    check,
    label_of,
    labels_of,
    open_work,
    record,
    with_grid,
    write_csv,
)


def left_out(name: str, n: int) -> str:
    return f"{name} was dismissed, so the answers of {name} are left out ({n})"


def test_labels_of_who_was_dismissed_are_left_out(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    answers = [(who, pair, label_of(pair, who)) for who, pair in open_work(study)]
    of_ana = [answer for answer in answers if answer[0] == "ana"]
    record(study, tmp_path, answers)
    study.dismiss("ana")
    for supersede in (False, True):
        run = record(study, tmp_path, answers, supersede=supersede)
        assert run.counts == {"answers": 0, "skips": 0, "already_there": len(answers) - len(of_ana)}
        assert run.notes == (left_out("ana", len(of_ana)),)
        assert not any(who == "ana" for _, who in labels_of(study))
    run = record(study, tmp_path, of_ana)
    assert run.counts == {"answers": 0, "skips": 0, "already_there": 0}
    assert run.notes == (left_out("ana", len(of_ana)),)


@pytest.mark.parametrize("open_", [False, True])
def test_nobody_who_was_dismissed_takes_what_is_free_or_brings_their_own_work(
    at: At, tmp_path: Path, open_: bool
) -> None:
    study = at("paired")
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    rows = [{"hs": SELECTED[0], "cn": CNS[12], "annotator": who, "label": "appropriate"} for who in ("ana", "ben")]
    path = write_csv(tmp_path / "labels.csv", rows)
    if open_:
        study.grid().assign(Assign(open=True))
    else:
        study.grid().import_labels(path)
    study.dismiss("ana", reason="Thank you.")
    assert study.grid().import_labels(path).notes == (left_out("ana", 1),)
    assert [(who, label) for (_, who), label in labels_of(study).items()] == [("ben", "appropriate")]


def simulated(at: At) -> Study:
    study = at("dealt")
    study.grid().simulate(Simulate(skips=0, seed=1))
    return study


def repeated(study: Study, folder: Path, **more: str) -> Path:
    """A file with every label that the study has, as if somebody had given the same."""
    rows = [{"pair": pair, "annotator": who, "label": label} for (pair, who), label in labels_of(study).items()]
    return write_csv(folder / "same.csv", [row | more for row in rows])


@pytest.mark.server
def test_real_labels_equal_to_simulated_ones_are_recorded_as_real(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(simulated(at))
    (pair, who), label = next(iter(labels_of(study).items()))
    record(study, tmp_path, [(who, pair, label)])
    note = "41 of 42 judgements are SIMULATED; figures that rest on them are not about people"
    assert study.status()["simulated"] == note
    assert grid.tiers().table().n_simulated == 41
    path = repeated(study, tmp_path)
    assert grid.import_labels(path).counts == {"answers": 41, "skips": 0, "already_there": 1}
    assert grid.import_labels(path).counts == {"answers": 0, "skips": 0, "already_there": 42}
    assert set(grid.labels()["origin"]) == {"imported"}
    state = study.status()
    assert (state["judgements"], state["simulated"]) == ({"imported": 42}, None)
    grid.adjudicate(Adjudicate("majority"))
    study.add_people(list(VALIDATORS), Role.VALIDATOR)
    grid.assign_validation(Validate(seed=1))
    check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    assert not grid.tier(Tier.BRONZE)["simulated"].any()


def test_a_simulated_answer_equal_to_a_real_one_is_refused_and_with_supersede_recorded(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("labelled"))
    same = repeated(study, tmp_path, origin="simulated")
    match = "has answered pair 1 already, but the answers in the file are simulated; --supersede"
    assert_refused(study, lambda: grid.import_labels(same), InputError, match)
    assert grid.import_labels(same, supersede=True).counts["answers"] == 42
    assert study.status()["judgements"] == {"simulated": 42}


def filled_in(path: Path, column: str, *words: str) -> pd.DataFrame:
    """A sheet with the words in turn, so that nothing is sorted."""
    sheet = read_table(path).drop(columns="line")
    return sheet.assign(**{column: [words[at * 7 % 11 % len(words)] for at in range(len(sheet))]})


def sorted_alone(sheet: pd.DataFrame, column: str) -> pd.DataFrame:
    """The sheet after somebody has sorted this column, and nothing else."""
    return sheet.assign(**{column: sorted(sheet[column])})


def notes_on(take: Callable[[Path], RunRecord], sheet: pd.DataFrame, folder: Path) -> tuple[str, ...]:
    sheet.to_csv(folder / "sent-back.csv", index=False)
    return take(folder / "sent-back.csv").notes


def test_labels_that_were_sorted_alone(at: At, tmp_path: Path) -> None:
    grid = at("dealt").grid()
    grid.sheets.write_labels(tmp_path)
    sheet = filled_in(tmp_path / "ana.csv", "label", "appropriate", "not_appropriate")
    take = partial(grid.import_labels, supersede=True)
    for harmless in (sheet, sheet.sort_values("label", kind="stable")):
        assert notes_on(take, harmless, tmp_path) == ()
    (note,) = notes_on(take, sorted_alone(sheet, "label"), tmp_path)
    assert note == (
        "column `label` (ana) is sorted, but its rows are not: if it was sorted on its own, its 14 answers are next "
        "to the wrong pairs. Compare some with their texts; import a corrected file with --supersede"
    )


def test_verdicts_and_decisions_that_were_sorted_alone(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("labelled"))
    grid.adjudicate(Adjudicate("majority"))
    for pair in grid.waiting_pairs():
        grid.decide(pair, 2, by="ada")
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    grid.sheets.write_verdicts(tmp_path)
    sheet = filled_in(tmp_path / "vera.csv", "verdict", "agree", "disagree")
    assert notes_on(grid.import_verdicts, sheet, tmp_path) == ()
    (note,) = notes_on(partial(grid.import_verdicts, supersede=True), sorted_alone(sheet, "verdict"), tmp_path)
    assert "column `verdict` (vera) is sorted" in note
    grid = at("labelled").grid()
    decisions = pd.DataFrame([{"pair": pair, "label": "0" if pair < 13 else "2"} for pair in range(1, 25)])
    (note,) = notes_on(grid.import_outcomes, decisions.assign(adjudicator="ada"), tmp_path)
    assert "column `label` (ada) is sorted" in note
    assert "24 answers" in note
    (note,) = notes_on(partial(grid.import_outcomes, supersede=True), decisions, tmp_path)
    assert note.startswith("column `label` is sorted")
