"""What is given on a sheet is about what the sheet showed: an older sheet says nothing of what came since."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.files.tables.tabular import read_table, write_table
from fcpair.params import Adjudicate
from fcpair.study import Study
from steps.small import assert_refused, open_work, record, standing, write_csv

At = Callable[[str], Study]


def verdict_sheet(study: Study, folder: Path) -> pd.DataFrame:
    study.grid().sheets.write_verdicts(folder / "sheets")
    return read_table(folder / "sheets" / "vera.csv").drop(columns="line")


def decide(study: Study, folder: Path, pair: int, label: str) -> None:
    study.grid().import_outcomes(write_csv(folder / "d.csv", [{"pair": pair, "label": label}]), supersede=True)


def other(label: str) -> str:
    return "not_appropriate" if label == "appropriate" else "appropriate"


def stale(at: At, folder: Path) -> tuple[Study, pd.DataFrame, int]:
    """vera's sheet, filled in, on which the label of the first pair is not the one that it has now."""
    study = at("checking")
    sheet = verdict_sheet(study, folder).assign(verdict="agree")
    pair = int(sheet["pair"][0])
    decide(study, folder, pair, other(sheet["label"][0]))
    return study, sheet, pair


@pytest.mark.parametrize("supersede", [False, True])
def test_a_verdict_on_a_label_that_the_pair_has_no_more_is_refused(at: At, tmp_path: Path, supersede: bool) -> None:
    study, sheet, pair = stale(at, tmp_path)
    write_table(sheet, tmp_path / "back.csv")
    said = f"the label of pair {pair} has changed since this sheet was written; leave its `verdict` empty"
    assert_refused(
        study,
        lambda: study.grid().import_verdicts(tmp_path / "back.csv", supersede=supersede),
        InputError,
        f"back.csv:2: {said}",
    )


def test_a_verdict_on_a_pair_that_has_no_label_now_is_refused(at: At, tmp_path: Path) -> None:
    study = at("checking")
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority"))
    by_majority = [pair for pair, (rule, _) in standing(study).items() if rule == "majority"]
    sheet = verdict_sheet(study, tmp_path).assign(verdict="agree")
    grid.adjudicate(Adjudicate("manual"))
    gone = sheet[sheet["pair"].astype(int).isin(by_majority)]
    assert len(gone), "vera has a pair that only the majority decided"
    write_table(gone, tmp_path / "back.csv")
    assert_refused(study, lambda: grid.import_verdicts(tmp_path / "back.csv"), InputError, "has changed since")


def test_a_verdict_is_refused_where_no_pair_has_a_label_any_more(at: At, tmp_path: Path) -> None:
    study = at("checking")
    sheet = verdict_sheet(study, tmp_path).assign(verdict="agree")
    for run in study.log():
        if run.stage == "label import":
            study.grid().withdraw(run.id, "labels")
    write_table(sheet, tmp_path / "back.csv")
    assert_refused(study, lambda: study.grid().import_verdicts(tmp_path / "back.csv"), InputError, "being labelled")


def test_the_rest_of_such_a_sheet_and_a_new_one_are_taken(at: At, tmp_path: Path) -> None:
    study, sheet, pair = stale(at, tmp_path)
    write_table(sheet.assign(verdict=["", *sheet["verdict"][1:]]), tmp_path / "back.csv")
    assert study.grid().import_verdicts(tmp_path / "back.csv").counts["answers"] == len(sheet) - 1
    study.grid().sheets.write_verdicts(tmp_path / "new")
    new = read_table(tmp_path / "new" / "vera.csv").drop(columns="line")
    assert new["pair"].astype(int).tolist() == [pair]
    write_table(new.assign(verdict="disagree"), tmp_path / "new.csv")
    assert study.grid().import_verdicts(tmp_path / "new.csv").counts["answers"] == 1
    assert not [one for who, one in open_work(study, checks=True) if who == "vera"]


def test_a_label_that_changed_back_is_no_change(at: At, tmp_path: Path) -> None:
    study, sheet, pair = stale(at, tmp_path)
    decide(study, tmp_path, pair, sheet["label"][0])
    write_table(sheet, tmp_path / "back.csv")
    assert study.grid().import_verdicts(tmp_path / "back.csv").counts["answers"] == len(sheet)


def test_a_skip_on_an_older_sheet_is_a_skip(at: At, tmp_path: Path) -> None:
    study, sheet, _ = stale(at, tmp_path)
    write_table(sheet[:1].assign(verdict="skip"), tmp_path / "back.csv")
    assert study.grid().import_verdicts(tmp_path / "back.csv").counts["skips"] == 1


def test_a_sheet_that_was_taken_is_read_again_whatever_the_labels_are_now(at: At, tmp_path: Path) -> None:
    study = at("checking")
    grid = study.grid()
    sheet = verdict_sheet(study, tmp_path).assign(verdict="agree")
    write_table(sheet, tmp_path / "back.csv")
    grid.import_verdicts(tmp_path / "back.csv")
    decide(study, tmp_path, int(sheet["pair"][0]), other(sheet["label"][0]))
    assert grid.import_verdicts(tmp_path / "back.csv").counts["already_there"] == len(sheet)


def conflict_sheet(study: Study, folder: Path) -> pd.DataFrame:
    study.grid().write_conflicts(folder / "c.csv", by="eva")
    return read_table(folder / "c.csv").drop(columns="line")


@pytest.mark.parametrize("supersede", [False, True])
def test_a_decision_on_labels_that_have_changed_is_refused(at: At, tmp_path: Path, supersede: bool) -> None:
    study = at("decided")
    grid = study.grid()
    sheet = conflict_sheet(study, tmp_path).assign(label="irreconcilable")
    pair = int(sheet["pair"][0])
    labels = grid.labels()
    mine = labels[labels["pair"] == pair].iloc[0]
    now = "not_sure" if mine["label"] != "not_sure" else "appropriate"
    record(study, tmp_path, [(mine["annotator"], pair, now)], supersede=True)
    write_table(sheet, tmp_path / "back.csv")
    said = f"the labels of pair {pair} have changed since this sheet was written; leave its `label` empty"
    assert_refused(
        study,
        lambda: grid.import_outcomes(tmp_path / "back.csv", supersede=supersede),
        InputError,
        f"back.csv:2: {said}",
    )
    write_table(sheet[1:], tmp_path / "rest.csv")
    assert grid.import_outcomes(tmp_path / "rest.csv").counts["imported"] == len(sheet) - 1


def test_a_workbook_with_notes_is_what_it_was(at: At, tmp_path: Path) -> None:
    grid = at("decided").grid()
    labels = grid.labels()
    row = labels[labels["pair"] == grid.waiting_pairs()[0]].iloc[0]
    given = {"pair": row["pair"], "annotator": row["annotator"], "label": row["label"]}
    grid.import_labels(write_csv(tmp_path / "l.csv", [given | {"label": "skip"}]), supersede=True)
    noted = given | {"note": "= two\r\nlines,\tand\x1b more"}
    grid.import_labels(write_csv(tmp_path / "l.csv", [noted]), supersede=True)
    grid.write_conflicts(tmp_path / "c.xlsx", by="eva")
    sheet = read_table(tmp_path / "c.xlsx").drop(columns="line").assign(label="irreconcilable")
    assert "lines" in "".join(sheet["labels"])
    write_table(sheet, tmp_path / "back.csv")
    assert grid.import_outcomes(tmp_path / "back.csv").counts["imported"] == len(sheet)
