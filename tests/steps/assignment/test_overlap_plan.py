"""Plans of a study's own overlap: what it knows, what is assigned already, and what is written into its recipe."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from fcpair.errors import InputError, StageError
from fcpair.params import Adjudicate, Assign, Plan
from steps.calibrated import calibrated
from steps.people.known import controls, qualification
from steps.plans import WRITTEN, study_of
from steps.small import ANNOTATORS, At, assert_refused, label_of, open_work, record, with_grid, write_csv


def test_a_plan_begins_with_the_texts_the_people_and_the_overlap_of_the_study(at: At) -> None:
    """Of 24 pairs six have two people and six three."""
    study = at("dealt")
    plan = study.grid().plan()
    assert (plan.grid.n_hs, plan.grid.n_cn, plan.grid.n_annotators) == (4, 6, 3)
    assert plan.basis[0] == "from the study: 4 HS, 6 CN, 3 annotators"
    assert plan.assigned == {2: 0.25, 3: 0.25}
    assert [rung.share for rung in plan.rungs] == [0.5, 0.75, 1.0]
    assert plan.rungs[0].expected.labels == 42
    assert plan.rungs[1].overlap == {2: 0.5, 3: 0.25}
    assigned = plan.grid.assigned
    assert assigned is not None
    assert assigned.by_labels == {1: 12, 2: 6, 3: 6}
    several = [divmod(pair - 1, 6) for pair, n in Counter(pair for _, pair in open_work(study)).items() if n > 1]
    assert assigned.of_hs == tuple(n for _, n in sorted(Counter(hs for hs, _ in several).items()))
    assert sorted(assigned.of_cn) == sorted(Counter(cn for _, cn in several).values())


def test_what_is_given_goes_before_what_the_study_knows_and_raises_no_overlap_of_it(at: At) -> None:
    study = at("dealt")
    plan = study.grid().plan(hs=40, cn=60, annotators=5, seconds=12.0, width=1.0)
    assert (plan.grid.n_hs, plan.grid.n_cn, plan.grid.n_annotators, plan.grid.seconds) == (40, 60, 5, 12.0)
    assert (plan.assigned, plan.next_step) == ({}, None)
    plan = study.grid().plan(Plan(hs=40, width=1.0))
    assert plan.next_step is None
    assert_refused(study, lambda: study.grid().save.overlap(plan), StageError, "the plan is for a grid of another size")


def test_the_seconds_of_a_label_are_the_median_of_five_or_more(at: At, tmp_path: Path) -> None:
    study, grid = at("dealt"), at("dealt").grid()
    rows = [
        {"pair": pair, "annotator": who, "label": "2", "seconds": n_seconds}
        for n_seconds, (who, pair) in zip((3, 4, 7, 12, 19), open_work(study)[:5], strict=True)
    ]
    grid.import_labels(write_csv(tmp_path / "four.csv", rows[:4]))
    assert grid.plan().grid.seconds == 30
    grid.import_labels(write_csv(tmp_path / "fifth.csv", rows[4:]))
    assert grid.plan().grid.seconds == 7


@pytest.mark.slow
def test_the_pilot_is_a_file_else_the_labels_of_the_study_else_the_first_answers_of_a_calibration(
    at: At, tmp_path: Path
) -> None:
    """All three answered four pairs: alpha is 7/18, and 24/35 after the discussion, which the plan leaves out."""
    study = at("paired")
    calibrated(study)
    grid = study.grid()
    plan = grid.plan()
    assert plan.basis[1] == "the pilot is the calibration: what people answered before its discussion"
    assert plan.basis[2].startswith("from a pilot: 4 pairs with several labels")
    assert plan.basis[2].endswith("Krippendorff's alpha, nominal 0.389")
    assert plan.assigned == {}
    rows = [
        {"hs_id": f"h{hs}", "cn_id": f"c{cn}", "annotator": who, "label": label_of(hs * cn, who)}
        for hs in range(5)
        for cn in range(7)
        for who in ANNOTATORS
    ]
    pilot = write_csv(tmp_path / "pilot.csv", rows)
    of_file = "from a pilot: 35 pairs with several labels, of 5 HS and 7 CN"
    assert grid.plan(pilot=pilot).basis[1].startswith(of_file)
    grid.assign(Assign(overlap={2: 0.25, 3: 0.25}, seed=1))
    record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in open_work(study)])
    assert grid.plan().basis[1].startswith("from a pilot: 12 pairs with several labels, of 4 HS and 6 CN")
    assert grid.plan(pilot=pilot).basis[1].startswith(of_file)


def test_known_pairs_and_calibrations_are_no_overlap(at: At, tmp_path: Path) -> None:
    """Everybody has answered four pairs, qualifies on two, and has control pairs; the shards are as without."""
    study = at("paired")
    calibrated(study)
    grid = study.grid()
    grid.save.qualification(qualification(study, tmp_path, known_pairs=2))
    grid.save.controls(controls(study, tmp_path))
    run = grid.assign(Assign(overlap={2: 0.25, 3: 0.25}, seed=1))
    assert run.counts["qualification"] == 6
    assert int(str(run.counts["controls"])) >= 3
    assigned = grid.plan().grid.assigned
    assert assigned is not None
    assert assigned.by_labels == {1: 12, 2: 6, 3: 6}
    assert sum(assigned.of_hs) == sum(assigned.of_cn) == 12


def test_what_is_assigned_may_be_enough(at: At) -> None:
    study = at("labelled")
    plan = study.grid().plan(width=2.0)
    assert plan.recommended == plan.assigned
    enough = "what is assigned is enough, and an overlap can only be raised"
    assert plan.next_step == enough
    refusal = f"the recipe stays as it is: {enough}"
    assert_refused(study, lambda: study.grid().save.overlap(plan), StageError, refusal)
    read = json.loads(json.dumps(plan.as_dict()))
    assert (read["assigned"], read["likeliest_share"], read["next_step"]) == ({"2": 0.25, "3": 0.25}, 0.5, enough)


def test_the_advised_step_raises_the_overlap_to_where_it_is_enough(at: At) -> None:
    study, grid = with_grid(at("dealt"))
    plan = grid.plan()
    widths = next(rung.widths for rung in plan.rungs if rung.share == pytest.approx(1.0))
    wish = next(interval.width for interval in widths if interval.name == plan.figure) or float("nan")
    plan = grid.plan(width=wish * 1.02)
    assert plan.recommended is not None
    assert plan.next_step is not None
    assert sum(plan.recommended.values()) > 0.5
    flags = " ".join(f"--overlap {n}:{share:g}" for n, share in plan.recommended.items())
    assert plan.next_step == f"`fcpair assign --more {flags}` raises the overlap"
    assert_refused(study, lambda: grid.save.overlap(plan), StageError, "`fcpair assign --more --overlap 2:")
    grid.assign(Assign(overlap=dict(plan.recommended)), more=True)
    again = grid.plan(width=wish * 1.02)
    assert again.recommended == again.assigned
    assert sum(again.assigned.values()) == pytest.approx(sum(plan.recommended.values()), abs=1 / 24)


def test_a_recommendation_is_written_into_the_recipe_and_a_second_one_replaces_it(at: At) -> None:
    study, grid = with_grid(at("paired"))
    no_wish = grid.plan(annotators=3)
    assert_refused(study, lambda: grid.save.overlap(no_wish), InputError, "give the `width` that is wished for")
    for wish in (1.6, 1.3):
        plan = grid.plan(annotators=3, width=wish)
        run = grid.save.overlap(plan)
        assert plan.recommended is not None
        assert plan.next_step is None
        assert run.counts["overlap"] == {str(n): share for n, share in plan.recommended.items()}
        assert grid.recipe_options(Assign).overlap == plan.recommended


def test_a_plan_needs_texts_and_people_and_a_grid_that_is_not_planned(at: At, tmp_path: Path) -> None:
    with pytest.raises(StageError, match="in a planned grid each round says how many answers"):
        study_of(tmp_path, WRITTEN).grid("write").plan()
    with pytest.raises(InputError, match=r"not known yet how many texts and people .* give `hs`, `cn`, `annotators`"):
        at("empty").grid().plan()


@pytest.mark.slow
def test_what_people_decided_gets_no_more_labels_and_that_is_said(at: At) -> None:
    grid = at("labelled").grid()
    grid.adjudicate(Adjudicate())
    for pair in grid.waiting_pairs()[:2]:
        grid.decide(pair, 2, by="petra")
    assert "2 pairs that somebody has decided get no further labels" in grid.plan().basis
