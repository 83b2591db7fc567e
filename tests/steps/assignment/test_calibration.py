"""Calibration: everybody answers a first batch, those who differ answer once more, and both answers are kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from fcpair.errors import ConflictError, FcpairError, InputError, StageError, UnknownIdError
from fcpair.params import Assign, Calibration
from fcpair.records import Role
from fcpair.steps.people import eligibility
from fcpair.store.assignment import open_slots, rounds
from fcpair.study import Study
from steps.calibrated import AGAIN, FIRST, NO, YES, answer_all, batch, begin, calibrated, discussing
from steps.online import admit, give
from steps.small import ANNOTATORS, At, assert_refused, labels_of, open_work, with_grid

pytestmark = pytest.mark.server


def values(study: Study, round_: str) -> dict[tuple[int, str], str]:
    """What is stored as answered in a round."""
    rows = study.grid().answers(round_)
    return {(row["cell"], row["by"]): row["label"] for _, row in rows.iterrows() if row["label"]}


def first_answers(pairs: list[int]) -> dict[tuple[int, str], str]:
    return {(pair, name): label for name in ANNOTATORS for pair, label in zip(pairs, FIRST[name], strict=True)}


def test_everybody_is_given_the_same_batch_which_is_drawn_by_its_seed(at: At) -> None:
    drawn = []
    for _ in range(2):
        study = at("paired")
        visitors = begin(study)
        desk = study.work_queue()
        cells = {name: sorted(task.cell_id for task in desk.tasks(visitor, 50)) for name, visitor in visitors.items()}
        assert list(cells) == list(ANNOTATORS)
        assert cells["ana"] == cells["ben"] == cells["cleo"] == batch(study)
        assert len(set(cells["ana"])) == 4
        drawn.append(cells)
    assert drawn[0] == drawn[1]


def test_those_who_differ_answer_once_more_and_their_first_answers_stay(at: At) -> None:
    study = at("paired")
    visitors = discussing(study)
    pairs, desk, before = batch(study), study.work_queue(), values(study, "calibrate")
    for visitor in visitors.values():
        tasks = desk.tasks(visitor, 50)
        assert [(task.cell_id, task.round) for task in tasks] == [(pairs[at], "calibrate again") for at in (1, 3)]
        assert desk.answers(visitor, n=50) == []
    answer_all(study, visitors, AGAIN)
    assert values(study, "calibrate") == before
    again = {(pairs[at], name): AGAIN[name][n] for n, at in enumerate((1, 3)) for name in ANNOTATORS}
    assert values(study, "calibrate again") == again
    assert [task.round for task in desk.answers(visitors["ana"], n=50)] == ["calibrate again"] * 2


def test_who_skipped_a_pair_is_not_asked_about_it_again(at: At) -> None:
    study = at("paired")
    visitors = begin(study)
    answer_all(study, visitors, {**FIRST, "cleo": (YES, "skip", NO, NO)})
    run = study.grid().calibration.open_discussion()
    assert run.counts == {"pairs": 4, "differing": 1, "assignments": 3, "withdrawn": 0}


def test_no_first_answer_is_given_or_changed_once_the_discussion_is_open(at: At) -> None:
    study = at("paired")
    visitors = begin(study)
    desk = study.work_queue()
    answered, left_open = (desk.tasks(visitors[name])[0].assignment_id for name in ("ana", "ben"))
    give(desk, visitors["ana"], YES, answered)
    give(desk, visitors["ana"], NO, answered)  # an ordinary change of mind
    study.grid().calibration.open_discussion(early=True)
    for name, assignment in (("ana", answered), ("ben", left_open)):
        with pytest.raises(ConflictError, match="so your first answer stands"):
            give(desk, visitors[name], YES, assignment)
    assert list(values(study, "calibrate").values()) == [NO]


def test_by_default_neither_answer_is_a_label_but_both_stay_and_who_read_a_pair_does_not_validate_it(at: At) -> None:
    study = at("paired")
    calibrated(study)
    grid = study.grid()
    assert_refused(study, lambda: grid.pair(redo=True), StageError, "judgements are never discarded")
    study.retire("cleo")
    grid.assign(Assign(seed=1))
    assert labels_of(study) == {}
    assert len({pair for _, pair in open_work(study)}) == 24
    with study._store.read() as tx:
        candidates = open_slots.candidates(tx, Role.ANNOTATOR)
        barred = eligibility.ineligibility_matrix(tx, np.array(batch(study)), candidates, rounds.validation(tx))
    assert barred.all()
    grid.assign(Assign(seed=2), redo=True)  # which rests on none of the answers
    assert len(values(study, "calibrate")) == 12


@pytest.mark.parametrize("counts", ["first", "second"])
def test_the_answers_that_count_are_labels_and_their_pairs_are_not_assigned(at: At, counts: str) -> None:
    study = at("paired")
    calibrated(study, counts)
    pairs = batch(study)
    run = study.grid().assign(Assign(seed=1))
    expected = first_answers(pairs)
    if counts == "second":
        expected |= {(pairs[at], name): AGAIN[name][n] for n, at in enumerate((1, 3)) for name in ANNOTATORS}
    assert labels_of(study) == expected
    assert {pair for _, pair in open_work(study)} == set(range(1, 25)) - set(pairs)
    assert run.notes == ("4 pairs have the answers of the calibration that count, so they were not assigned",)
    if counts == "first":
        columns = ["cell", "by", "label", "note", "seconds", "time", "origin"]
        first, labels = (
            study.grid().answers(name)[columns].sort_values(["cell", "by"]) for name in ("calibrate", "label")
        )
        assert first.values.tolist() == labels.values.tolist()
        assert set(labels["origin"]) == {"online"}


def test_second_answers_left_out_early_leave_the_first_ones_whose_pairs_nobody_may_ask_for(at: At) -> None:
    study = at("paired")
    discussing(study, "second")
    run = study.grid().calibration.close(early=True)
    assert run.counts == {"second_answers": 0, "withdrawn": 6}
    study.grid().assign(Assign(open=True, seed=1))
    assert labels_of(study) == first_answers(batch(study))
    assert study.status()["overlap"] == {"1": 20, "3": 4}


def test_somebody_who_comes_while_the_first_answers_are_open_gets_the_batch_and_no_later(at: At) -> None:
    study = at("paired")
    visitors = begin(study)
    study.add_people(["dora"], Role.ANNOTATOR)
    dora = admit(study, "dora")
    assert len(study.work_queue().tasks(dora, 50)) == 4
    answer_all(study, {**visitors, "dora": dora}, {**FIRST, "dora": FIRST["ana"]})
    study.grid().calibration.open_discussion()
    study.add_people(["emma"], Role.ANNOTATOR)
    assert study.work_queue().tasks(admit(study, "emma"), 50) == []


def test_each_act_is_refused_before_and_after_its_time(at: At) -> None:
    study, grid = with_grid(at("paired"))
    refused: Callable[..., None] = lambda call, match, error=StageError: assert_refused(study, call, error, match)  # noqa: E731
    refused(grid.calibration.open_discussion, "there is no calibration")
    refused(grid.calibration.close, "there is no calibration")
    refused(grid.calibration.measure, "there is no calibration")
    visitors = begin(study)
    refused(lambda: grid.calibration.start(pairs=4), "calibrating themselves for round `label` of grid `main` already")
    refused(lambda: grid.assign(Assign()), "people are calibrating themselves for round `label`")
    refused(lambda: grid.assign(Assign(open=True)), "people are calibrating themselves for round `label`")
    refused(grid.calibration.open_discussion, "nobody has answered round `calibrate` yet")
    refused(grid.calibration.close, "the discussion has not been opened")
    give(study.work_queue(), visitors["ana"], YES)
    refused(grid.calibration.open_discussion, "are open: ana 3, ben 4, cleo 4; `--early` goes on without them")
    grid.calibration.open_discussion(early=True)
    refused(grid.calibration.open_discussion, "the discussion has been opened already")
    grid.calibration.close()
    refused(grid.calibration.close, "the calibration has been closed already")
    refused(lambda: grid.calibration.start(pairs=4), "has been calibrated for round `label`")


def test_a_batch_that_cannot_be_is_refused(at: At) -> None:
    refused: tuple[tuple[Calibration, type[FcpairError], str], ...] = (
        (Calibration(pairs=25), InputError, "25 pairs cannot be drawn; there are 24"),
        (Calibration(pairs=24, counts="first"), InputError, "none would be left to assign"),
        (Calibration(round="other"), UnknownIdError, "there is no round `other`"),
        (Calibration(round="validate"), InputError, "is not one that people can calibrate themselves for"),
    )
    study = at("paired")
    study.add_people(["ana"], Role.ANNOTATOR)
    assert_refused(study, lambda: study.grid().calibration.start(pairs=4), InputError, "needs two or more")
    study.add_people(["ben", "cleo"], Role.ANNOTATOR)
    for options, error, match in refused:
        assert_refused(study, partial(study.grid().calibration.start, options), error, match)


def test_pairs_that_are_made_anew_before_anybody_answers_are_calibrated_anew(at: At) -> None:
    study = at("paired")
    begin(study)
    study.grid().pair(redo=True)
    assert study.grid().calibration.start(Calibration(pairs=4, seed=2)).counts["assignments"] == 12
