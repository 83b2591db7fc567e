"""Answers in files of people who were dismissed: they are left out at every door, and it is said."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from fcpair.params import Assign
from fcpair.records import Role
from fcpair.study import Study
from steps import forms
from steps.small import CNS, SELECTED, check, label_of, labels_of, open_work, record, write_csv

At = Callable[[str], Study]


def left_out(name: str, n: int) -> str:
    return f"{name} was dismissed, so the answers of {name} are left out ({n})"


@pytest.mark.parametrize("supersede", [False, True])
def test_labels_that_were_set_aside_do_not_come_back(at: At, tmp_path: Path, supersede: bool) -> None:
    study = at("dealt")
    answers = [(who, pair, label_of(pair, who)) for who, pair in open_work(study)]
    n = sum(who == "ana" for who, _, _ in answers)
    record(study, tmp_path, answers)
    study.dismiss("ana")
    run = record(study, tmp_path, answers, supersede=supersede)
    assert run.counts == {"answers": 0, "skips": 0, "already_there": len(answers) - n}
    assert run.notes == (left_out("ana", n),)
    assert not any(who == "ana" for _, who in labels_of(study))


def test_a_file_of_nobody_else_brings_nothing(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    answers = [(who, pair, label_of(pair, who)) for who, pair in open_work(study) if who == "ana"]
    study.dismiss("ana", reason="Thank you.")
    run = record(study, tmp_path, answers)
    assert run.counts == {"answers": 0, "skips": 0, "already_there": 0}
    assert run.notes == (left_out("ana", len(answers)),)


def test_the_cells_of_others_are_still_compared_with_their_rows(at: At, tmp_path: Path) -> None:
    """A column that was sorted alone is noticed though rows in front of it were left out."""
    study = at("dealt")
    pairs = {name: [pair for who, pair in open_work(study) if who == name] for name in ("ana", "ben")}
    study.dismiss("ana", reason="Thank you.")
    halves = [(pair, "appropriate" if at < 7 else "not_appropriate") for at, pair in enumerate(pairs["ben"])]
    of_ana = [("ana", pair, "not_sure" if pair % 2 else "appropriate") for pair in pairs["ana"]]
    run = record(study, tmp_path, [*of_ana, *(("ben", *half) for half in halves)])
    assert run.counts["answers"] == len(halves)
    assert [note.startswith("column `label` of ben is sorted") for note in run.notes] == [True, False]
    assert {pair: label for (pair, who), label in labels_of(study).items() if who == "ben"} == dict(halves)


def test_nobody_who_was_dismissed_takes_what_is_free(at: At, tmp_path: Path) -> None:
    study = at("paired")
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    study.grid().assign(Assign(open=True))
    study.dismiss("ana", reason="Thank you.")
    answers = [(who, pair, "appropriate") for pair in (1, 2) for who in ("ana", "ben")]
    assert record(study, tmp_path, answers).notes == (left_out("ana", 2),)
    assert labels_of(study) == {(1, "ben"): "appropriate", (2, "ben"): "appropriate"}


def test_answers_that_bring_their_own_work(at: At, tmp_path: Path) -> None:
    study = at("paired")
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    rows = [{"hs": SELECTED[0], "cn": CNS[12], "annotator": who, "label": "appropriate"} for who in ("ana", "ben")]
    path = write_csv(tmp_path / "labels.csv", rows)
    study.grid().import_labels(path)
    study.dismiss("ana")
    assert study.grid().import_labels(path).notes == (left_out("ana", 1),)
    assert [who for _, who in labels_of(study)] == ["ben"]


def test_answers_to_a_form(tmp_path: Path) -> None:
    with closing(Study(forms.build(tmp_path))) as study:
        study.add_people(["ria"], Role.RATER)
        grid = study.grid("rate")
        path = write_csv(tmp_path / "rated.csv", [{"cell": cell, "by": "rae", "rating": "4"} for cell in range(1, 10)])
        assert grid.import_answers(path, "rate").counts["answers"] == 9
        study.dismiss("rae")
        run = grid.import_answers(path, "rate")
        assert (run.counts["answers"], run.notes) == (0, (left_out("rae", 9),))
        assert grid.answers("rate").empty


def test_verdicts_of_who_has_none_yet(at: At, tmp_path: Path) -> None:
    study = at("checking")
    verdicts = [(who, pair, "agree") for who, pair in open_work(study, checks=True)]
    name = verdicts[0][0]
    n = sum(who == name for who, _, _ in verdicts)
    study.dismiss(name, reason="Thank you.")
    run = check(study, tmp_path, [verdict for verdict in verdicts if verdict[0] == name])
    assert (run.counts["answers"], run.notes) == (0, (left_out(name, n),))
