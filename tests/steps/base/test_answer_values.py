"""Labels coming in from files: what is taken, what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.files.tables.tabular import read_table, write_table
from fcpair.params import Assign, Pair
from fcpair.records import Role
from fcpair.study import Study
from steps.small import ANNOTATORS, HS, At, Rows, dump, labels_of, open_work, record, with_grid, write_csv


def row_of(pair: object = 1, annotator: str = "ana", label: str = "2", **more: str) -> dict[str, object]:
    return {"pair": pair, "annotator": annotator, "label": label, **more}


def rejects(study: Study, folder: Path, rows: Rows, *messages: str, supersede: bool = False) -> None:
    """A file of these rows is refused with all these findings, and the study is exactly as it was."""
    before = dump(study)
    with pytest.raises(InputError) as caught:
        study.grid().import_labels(write_csv(folder / "l.csv", rows), supersede=supersede)
    for message in messages:
        assert message in str(caught.value)
    assert dump(study) == before


def work_of(study: Study, name: str) -> list[int]:
    return [pair for who, pair in open_work(study) if who == name]


def test_a_row_without_a_label_was_not_seen_rather_than_skipped(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    first, skipped, unseen = work_of(study, "ana")[:3]
    run = record(
        study, tmp_path, [("ana", unseen, ""), ("ana", first, " 2 "), ("ana", skipped, "skip"), ("ana", unseen, " ")]
    )
    assert run.counts.items() >= {"answers": 1, "skips": 1, "already_there": 0}.items()
    assert labels_of(study) == {(first, "ana"): "appropriate", (skipped, "ana"): "skip"}
    assert unseen in work_of(study, "ana")


def test_a_filled_in_sheet_is_read_back_and_an_untouched_one_or_one_with_other_texts_is_refused(
    at: At, tmp_path: Path
) -> None:
    """A pair is known by its number, or by its two texts in any form of the same text."""
    study, grid = with_grid(at("dealt"))
    grid.sheets.write_labels(tmp_path)
    before = dump(study)
    with pytest.raises(InputError, match=r"ana.csv: no row has an answer in `label`"):
        grid.import_labels(tmp_path / "ana.csv")
    with (tmp_path / "ana.csv").open(encoding="utf-8", newline="") as file:
        rows = [{**row, "label": "2"} for row in csv.DictReader(file)]
    changed = [{**rows[0], "hs": "People who like trains cannot be trusted."}, {**rows[1], "cn": ""}, *rows[2:]]
    with pytest.raises(InputError, match=f":2: pair {rows[0]['pair']} has other texts in this study") as refusal:
        grid.import_labels(write_csv(tmp_path / "ana.csv", changed))
    assert len(refusal.value.findings) == 1
    assert dump(study) == before
    decomposed = {"hs": rows[0]["hs"], "cn": rows[0]["cn"].replace("é", "e\u0301") + "  "}
    grid.import_labels(write_csv(tmp_path / "l.csv", [{**decomposed, "annotator": "ana", "label": "not_sure"}]))
    assert labels_of(study) == {(int(rows[0]["pair"]), "ana"): "not_sure"}
    sheet = read_table(tmp_path / "ben.csv").drop(columns="line").assign(label="2", note="=fine, نه")
    write_table(sheet, tmp_path / "ben.csv")
    assert grid.import_labels(tmp_path / "ben.csv").counts["answers"] == 14
    labels = grid.labels()
    assert set(labels[labels["annotator"] == "ben"]["note"]) == {"=fine, نه"}
    assert work_of(study, "ben") == []


def test_what_is_no_label_of_the_study_is_refused_with_its_line(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    (mine, other), stray = work_of(study, "ana")[:2], min(set(range(1, 25)) - set(work_of(study, "ana")))
    refuse = partial(rejects, study, tmp_path)
    for supersede in (False, True):
        refuse([row_of(stray)], f"l.csv:2: pair {stray} was not assigned to ana", supersede=supersede)
    refuse([row_of(annotator="anna")], "l.csv:2: no annotator is called `anna`; did you mean `ana`?")
    refuse([row_of(annotator=" ")], "l.csv:2: column `annotator` is empty")
    refuse([row_of(label="maybe")], "l.csv:2: unknown label `maybe`; expected one of", "not_sure", "skip")
    for pair in ("25", "999999999999", "0"):
        refuse([row_of(pair)], f"l.csv:2: pair {pair} is not in the grid")
    strange = [{"hs": hs, "cn": "Nobody said this.", "annotator": "ana", "label": "2"} for hs in (HS[0], "Nor this.")]
    refuse(strange, f"l.csv:2: pair `{HS[0][:39]}", "l.csv:3: pair `Nor this.` x `Nobody said this.`")
    rows = [row_of(mine)] * 2 + [row_of(99), row_of(annotator="nobody"), row_of(stray), row_of(other, label="maybe")]
    refuse(rows, "5 things are wrong", "l.csv:3:", "l.csv:4:", "l.csv:5:", "l.csv:6:", "l.csv:7:")
    assert labels_of(study) == {}, "a good row does not get in with a bad one"


def test_an_undealt_study_takes_the_labels_of_its_annotators_one_file_after_the_other(at: At, tmp_path: Path) -> None:
    undealt = at("paired")
    undealt.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    undealt.add_people(["vera"], Role.VALIDATOR)
    rejects(undealt, tmp_path, [row_of(annotator="zoe")], "no annotator is called `zoe`; there are ana, ben, cleo")
    rejects(undealt, tmp_path, [row_of(annotator="vera")], "no annotator is called `vera`")
    rejects(undealt, tmp_path, [row_of(), row_of(99)], "pair 99 is not in the grid")
    record(undealt, tmp_path, [("ana", 1, "2"), ("ana", 7, "1")])
    record(undealt, tmp_path, [("ben", 1, "0")])
    run = record(undealt, tmp_path, [("ana", 1, "2"), ("ana", 2, "2")])
    assert run.counts == {"answers": 1, "skips": 0, "already_there": 1}
    assert labels_of(undealt) == {
        (1, "ana"): "appropriate",
        (1, "ben"): "not_appropriate",
        (2, "ana"): "appropriate",
        (7, "ana"): "not_sure",
    }


def test_a_grid_that_was_made_anew_after_dealing_is_to_be_dealt_again(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    study.grid().pair(Pair(), redo=True)
    rejects(study, tmp_path, [row_of()], "pair 1 was not assigned to ana")
    study.grid().assign(Assign())
    assert study.status()["rounds"]["label"]["open"] == 24
