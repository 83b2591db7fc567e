"""Agreement before a discussion and after it, side by side, on answers whose alpha is known by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fcpair.params import Adjudicate, Assign
from fcpair.records import Role
from fcpair.study import Study
from steps.calibrated import AGAIN, ALPHA, ALPHA_AFTER, FIRST, answer_all, begin, calibrated, discussing
from steps.online import give
from steps.small import ANNOTATORS, label_of, open_work, record

At = Callable[[str], Study]
ALPHA_NAME = "Krippendorff's alpha, nominal"
pytestmark = pytest.mark.server


def alphas(study: Study) -> tuple[Any, Any]:
    """Alpha before and after, as the result has it."""
    rows = [row for row in study.grid().calibration.measure().rows() if row["figure"] == ALPHA_NAME]
    assert len(rows) == 1
    return rows[0]["before"], rows[0]["after"]


def test_both_answers_have_the_agreement_that_one_works_out_by_hand(at: At) -> None:
    study = at("paired")
    calibrated(study)
    before, after = alphas(study)
    assert before == pytest.approx(ALPHA)
    assert after == pytest.approx(ALPHA_AFTER)


def test_each_figure_has_an_interval_before_and_after(at: At) -> None:
    study = at("paired")
    calibrated(study)
    row = next(row for row in study.grid().calibration.measure().rows() if row["figure"] == ALPHA_NAME)
    assert row["before_low"] < ALPHA < row["before_high"]
    assert row["after_low"] < ALPHA_AFTER < row["after_high"]
    assert (row["before_n"], row["after_n"]) == (4, 4)


def test_agreement_by_round_is_over_the_whole_batch_in_both(at: At) -> None:
    study = at("paired")
    calibrated(study)
    figures = {}
    for name in ("calibrate", "calibrate again"):
        (block,) = study.grid().agreement(round=name)
        assert block.agreement is not None
        assert (block.agreement.n_pairs, block.agreement.n_labels) == (4, 12)
        figures[name] = block.agreement.alpha.value
    assert figures == {"calibrate": pytest.approx(ALPHA), "calibrate again": pytest.approx(ALPHA_AFTER)}


def test_the_first_figures_stay_when_second_answers_come_in(at: At) -> None:
    study = at("paired")
    visitors = discussing(study)
    assert alphas(study) == (pytest.approx(ALPHA), pytest.approx(ALPHA))
    answer_all(study, visitors, AGAIN)
    assert alphas(study) == (pytest.approx(ALPHA), pytest.approx(ALPHA_AFTER))


def test_there_is_nothing_after_before_the_discussion_is_open(at: At) -> None:
    study = at("paired")
    visitors = begin(study)
    result = study.grid().calibration.measure()
    assert (result.figures, result.n_differing, result.n_differing_after) == ((), 0, None)
    answer_all(study, visitors, FIRST)
    assert alphas(study) == (pytest.approx(ALPHA), None)
    assert study.grid().calibration.measure().n_differing == 2


def test_it_says_who_has_answered_what(at: At) -> None:
    study = at("paired")
    visitors = discussing(study)
    give(study.work_queue(), visitors["ben"], "skip")
    result = study.grid().calibration.measure()
    people = {one.name: (one.answered, one.open, one.again, one.again_open) for one in result.people}
    assert people == {"ana": (4, 0, 0, 2), "ben": (4, 0, 0, 1), "cleo": (4, 0, 0, 2)}
    assert (result.round, result.phase, result.counts, result.n_pairs) == ("label", "discuss", "neither", 4)


def test_who_skips_the_second_time_has_no_answer_after_the_discussion(at: At) -> None:
    study = at("paired")
    visitors = discussing(study)
    give(study.work_queue(), visitors["ben"], "skip")
    (block,) = study.grid().agreement(round="calibrate again")
    assert block.agreement is not None
    assert block.agreement.n_labels == 11


def test_the_pairs_on_which_people_differ_are_counted_before_and_after(at: At) -> None:
    study = at("paired")
    calibrated(study)
    result = study.grid().calibration.measure()
    assert (result.n_differing, result.n_differing_after) == (2, 1)
    assert repr(result) == ("<CalibrationResult: 4 pairs, closed; people differ on 2, on 1 after the discussion>")


def decided(study: Study, folder: Path) -> dict[str, str]:
    """What the study comes to once its pairs are labelled and decided: labels, tiers and agreement."""
    grid = study.grid()
    grid.assign(Assign(overlap={2: 0.5}, seed=1))
    record(study, folder, [(who, pair, label_of(pair, who)) for who, pair in open_work(study)])
    grid.adjudicate(Adjudicate("majority"))
    figures = [(figure.name, figure.value, figure.n) for figure in grid.agreement().pooled]
    labels = grid.labels()[["pair", "annotator", "label"]].to_csv()
    return {"labels": labels, "tiers": grid.tiers().table().pair_frame().to_csv(), "agreement": str(figures)}


def test_no_tier_no_figure_and_no_export_has_an_answer_of_a_calibration(at: At, tmp_path: Path) -> None:
    study = at("paired")
    calibrated(study)
    with_calibration = decided(study, tmp_path)
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    assert decided(study, tmp_path) == with_calibration
