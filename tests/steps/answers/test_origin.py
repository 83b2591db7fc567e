"""Where an answer comes from belongs to what it is: simulated and real ones never stand for one another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.params import Adjudicate, Simulate, Validate
from fcpair.records import Role, Tier
from fcpair.study import Study
from steps.small import VALIDATORS, assert_refused, labels_of, open_work, record, write_csv

At = Callable[[str], Study]


def simulated(at: At) -> Study:
    study = at("dealt")
    study.grid().simulate(Simulate(skips=0, seed=1))
    return study


def repeated(study: Study, folder: Path, origin: str | None = None) -> Path:
    """A file with every label that the study has, as if somebody had given the same."""
    rows = [{"pair": pair, "annotator": who, "label": label} for (pair, who), label in labels_of(study).items()]
    return write_csv(folder / "same.csv", [row | ({"origin": origin} if origin else {}) for row in rows])


def test_a_real_answer_equal_to_a_simulated_one_is_recorded_as_real(at: At, tmp_path: Path) -> None:
    study = simulated(at)
    grid = study.grid()
    run = grid.import_labels(repeated(study, tmp_path))
    assert run.counts == {"answers": 42, "skips": 0, "already_there": 0}
    assert set(grid.labels()["origin"]) == {"imported"}
    state = study.status()
    assert (state["judgements"], state["simulated"]) == ({"imported": 42}, None)


def test_the_note_counts_current_answers_only(at: At, tmp_path: Path) -> None:
    study = simulated(at)
    (pair, who), label = next(iter(labels_of(study).items()))
    record(study, tmp_path, [(who, pair, label)])
    assert study.status()["simulated"] == (
        "41 of 42 judgements are SIMULATED; figures that rest on them are not about people"
    )
    assert study.grid().tiers().table().n_simulated == 41


@pytest.mark.server
def test_tiers_rest_on_real_labels_once_they_are_in(at: At, tmp_path: Path) -> None:
    study = simulated(at)
    grid = study.grid()
    grid.import_labels(repeated(study, tmp_path))
    grid.adjudicate(Adjudicate("majority"))
    study.add_people(list(VALIDATORS), Role.VALIDATOR)
    grid.assign_validation(Validate(seed=1))
    rows = [{"pair": pair, "validator": who, "verdict": "agree"} for who, pair in open_work(study, checks=True)]
    grid.import_verdicts(write_csv(tmp_path / "v.csv", rows))
    assert not grid.tier(Tier.BRONZE)["simulated"].any()


def test_a_simulated_answer_equal_to_a_real_one_is_refused_and_with_supersede_recorded(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    grid = study.grid()
    same = repeated(study, tmp_path, origin="simulated")
    match = "these pairs have been answered already, but the answers in the file are simulated; --supersede"
    assert_refused(study, lambda: grid.import_labels(same), InputError, match)
    assert grid.import_labels(same, supersede=True).counts["answers"] == 42
    assert study.status()["judgements"] == {"simulated": 42}


def test_a_real_answer_that_differs_from_a_simulated_one_needs_supersede(at: At, tmp_path: Path) -> None:
    study = simulated(at)
    (pair, who), label = next(iter(labels_of(study).items()))
    other = "0" if label == "appropriate" else "2"
    with pytest.raises(InputError, match="differently; --supersede"):
        record(study, tmp_path, [(who, pair, other)])
    record(study, tmp_path, [(who, pair, other)], supersede=True)
    assert study.status()["judgements"] == {"imported": 1, "simulated": 41}


def test_the_same_real_file_twice_changes_nothing(at: At, tmp_path: Path) -> None:
    study = simulated(at)
    grid = study.grid()
    path = repeated(study, tmp_path)
    grid.import_labels(path)
    assert grid.import_labels(path).counts == {"answers": 0, "skips": 0, "already_there": 42}


def test_an_equal_verdict_by_a_person_is_recorded_as_real(at: At, tmp_path: Path) -> None:
    study = at("checking")
    grid = study.grid()
    rows = [
        {"pair": pair, "validator": who, "verdict": "agree", "origin": "simulated"}
        for who, pair in open_work(study, checks=True)
    ]
    grid.import_verdicts(write_csv(tmp_path / "v.csv", rows))
    assert study.status()["judgements"] == {"imported": 42, "simulated": 19}
    real = [{name: value for name, value in row.items() if name != "origin"} for row in rows]
    assert grid.import_verdicts(write_csv(tmp_path / "v.csv", real)).counts["answers"] == 19
    assert study.status()["judgements"] == {"imported": 61}
