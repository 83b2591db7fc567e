"""Plans of a study's own overlap: what it knows, what is assigned already, and what is written into its recipe."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.errors import InputError, StageError
from fcpair.params import Adjudicate, Assign, Plan
from fcpair.stages.assignment.overlap_plan import OverlapPlan
from fcpair.study import Study
from steps.calibrated import FIRST, answer_all, begin, calibrated
from steps.people.known import controls, qualification
from steps.plans import WRITTEN, study_of
from steps.small import ANNOTATORS, assert_refused, label_of, open_work, record, write_csv

At = Callable[[str], Study]


def width(plan: OverlapPlan, share: float) -> float:
    rung = next(rung for rung in plan.rungs if rung.share == pytest.approx(share))
    return next(one.width for one in rung.widths if one.name == plan.figure) or float("nan")


def test_texts_and_people_are_those_of_the_study(at: At) -> None:
    plan = at("dealt").grid().plan()
    assert (plan.grid.n_hs, plan.grid.n_cn, plan.grid.n_annotators) == (4, 6, 3)
    assert plan.basis[0] == "from the study: 4 HS, 6 CN, 3 annotators"


def test_what_is_given_goes_before_what_the_study_knows(at: At) -> None:
    plan = at("dealt").grid().plan(hs=40, cn=60, annotators=5, seconds=12.0)
    assert (plan.grid.n_hs, plan.grid.n_cn, plan.grid.n_annotators, plan.grid.seconds) == (40, 60, 5, 12.0)
    assert plan.assigned == {}


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
def test_labels_of_the_study_are_its_pilot_and_a_file_goes_before_them(at: At, tmp_path: Path) -> None:
    grid = at("labelled").grid()
    assert grid.plan().basis[1].startswith("from a pilot: 12 pairs with several labels, of 4 HS and 6 CN")
    rows = [
        {"hs_id": f"h{hs}", "cn_id": f"c{cn}", "annotator": who, "label": label_of(hs * cn, who)}
        for hs in range(5)
        for cn in range(7)
        for who in ANNOTATORS
    ]
    plan = grid.plan(pilot=write_csv(tmp_path / "pilot.csv", rows))
    assert plan.basis[1].startswith("from a pilot: 35 pairs with several labels, of 5 HS and 7 CN")


def test_without_two_pairs_with_several_labels_the_plan_rests_on_what_is_assumed(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    record(study, tmp_path, [(who, pair, "2") for who, pair in open_work(study) if who == "ana"])
    assert any(sentence.startswith("assumed: 20.0% of labels positive") for sentence in study.grid().plan().basis)


@pytest.mark.slow
def test_before_there_are_labels_the_first_answers_of_a_calibration_are_the_pilot(at: At) -> None:
    """All three answered four pairs: alpha is 7/18, and 24/35 after the discussion, which the plan leaves out."""
    study = at("paired")
    calibrated(study)
    plan = study.grid().plan()
    assert plan.basis[1] == "the pilot is the calibration: what people answered before its discussion"
    assert plan.basis[2].startswith("from a pilot: 4 pairs with several labels")
    assert plan.basis[2].endswith("Krippendorff's alpha, nominal 0.389")
    assert plan.assigned == {}


@pytest.mark.slow
def test_a_calibration_is_the_pilot_once_two_of_its_pairs_have_several_answers(at: At) -> None:
    study = at("paired")
    visitors = begin(study)
    answer_all(study, {"ana": visitors["ana"]}, FIRST)
    assert "assumed" in study.grid().plan().basis[1]
    answer_all(study, {"ben": visitors["ben"]}, FIRST)
    assert "the pilot is the calibration" in study.grid().plan().basis[1]


@pytest.mark.slow
def test_labels_of_the_study_and_a_file_go_before_a_calibration(at: At, tmp_path: Path) -> None:
    study = at("paired")
    calibrated(study)
    rows = [
        {"hs_id": hs, "cn_id": cn, "annotator": who, "label": label_of(hs * cn, who)}
        for hs in range(5)
        for cn in range(7)
        for who in ANNOTATORS
    ]
    plan = study.grid().plan(pilot=write_csv(tmp_path / "pilot.csv", rows))
    assert plan.basis[1].startswith("from a pilot: 35 pairs with several labels")
    study.grid().assign(Assign(overlap={2: 0.25, 3: 0.25}, seed=1))
    record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in open_work(study)])
    assert study.grid().plan().basis[1].startswith("from a pilot: 12 pairs with several labels")


def test_no_overlap_below_what_is_assigned_is_planned(at: At) -> None:
    """Of 24 pairs six have two people and six three."""
    plan = at("dealt").grid().plan()
    assert plan.assigned == {2: 0.25, 3: 0.25}
    assert [rung.share for rung in plan.rungs] == [0.5, 0.75, 1.0]
    assert plan.rungs[0].expected.labels == 42
    assert plan.rungs[1].overlap == {2: 0.5, 3: 0.25}


def test_the_pairs_that_are_assigned_are_counted_by_their_texts(at: At) -> None:
    study = at("dealt")
    assigned = study.grid().plan().grid.assigned
    assert assigned is not None
    assert assigned.by_labels == {1: 12, 2: 6, 3: 6}
    people_of: dict[int, int] = Counter(pair for _, pair in open_work(study))
    several = [divmod(pair - 1, 6) for pair, n in people_of.items() if n > 1]
    assert assigned.of_hs == tuple(n for _, n in sorted(Counter(hs for hs, _ in several).items()))
    assert sorted(assigned.of_cn) == sorted(Counter(cn for _, cn in several).values())


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
    study = at("dealt")
    plan = study.grid().plan(width=1.9)
    assert plan.recommended == plan.assigned
    assert plan.next_step == "what is assigned is enough, and an overlap can only be raised"
    refusal = "the recipe stays as it is: what is assigned is enough, and an overlap can only be raised"
    assert_refused(study, lambda: study.grid().save.overlap(plan), StageError, refusal)


def test_the_advised_step_raises_the_overlap_to_where_it_is_enough(at: At) -> None:
    study = at("dealt")
    grid = study.grid()
    wish = width(grid.plan(), 1.0) * 1.02
    plan = grid.plan(width=wish)
    assert plan.recommended is not None
    assert plan.next_step is not None
    assert sum(plan.recommended.values()) > 0.5
    flags = " ".join(f"--overlap {n}:{share:g}" for n, share in plan.recommended.items())
    assert plan.next_step == f"`fcpair assign --more {flags}` raises the overlap"
    assert_refused(study, lambda: grid.save.overlap(plan), StageError, "`fcpair assign --more --overlap 2:")
    grid.assign(Assign(overlap=dict(plan.recommended)), more=True)
    again = grid.plan(width=wish)
    assert again.recommended == again.assigned
    assert sum(again.assigned.values()) == pytest.approx(sum(plan.recommended.values()), abs=1 / 24)


def test_where_all_pairs_have_one_person_each_the_step_is_named_too(at: At) -> None:
    study = at("paired")
    study.grid().assign(Assign(annotators=3))
    plan = study.grid().plan(width=1.9)
    assert plan.assigned == {}
    assert "`fcpair assign --more --overlap 2:" in str(plan.next_step)


@pytest.mark.slow
def test_what_people_decided_gets_no_more_labels_and_that_is_said(at: At) -> None:
    grid = at("labelled").grid()
    grid.adjudicate(Adjudicate())
    for pair in grid.waiting_pairs()[:2]:
        grid.decide(pair, 2, by="petra")
    assert "2 pairs that somebody has decided get no further labels" in grid.plan().basis


def test_a_recommendation_is_written_into_the_recipe_and_a_second_one_replaces_it(at: At) -> None:
    grid = at("paired").grid()
    for wish in (1.6, 1.3):
        plan = grid.plan(annotators=3, width=wish)
        run = grid.save.overlap(plan)
        assert plan.recommended is not None
        assert plan.next_step is None
        assert run.counts["overlap"] == {str(n): share for n, share in plan.recommended.items()}
        assert grid.recipe_options(Assign).overlap == plan.recommended


def test_a_plan_without_a_wish_has_nothing_to_save(at: At) -> None:
    study = at("paired")
    plan = study.grid().plan(annotators=3)
    assert_refused(study, lambda: study.grid().save.overlap(plan), InputError, "give the `width` that is wished for")


def test_a_plan_for_a_grid_of_another_size_raises_no_overlap(at: At) -> None:
    study = at("dealt")
    plan = study.grid().plan(Plan(hs=40, width=1.0))
    assert plan.next_step is None
    assert_refused(study, lambda: study.grid().save.overlap(plan), StageError, "the plan is for a grid of another size")


def test_planned_grids_say_themselves_how_many_answers_a_cell_gets(tmp_path: Path) -> None:
    grid = study_of(tmp_path, WRITTEN).grid("write")
    with pytest.raises(StageError, match="in a planned grid each round says how many answers"):
        grid.plan()


def test_what_is_not_known_yet_is_asked_for(at: At) -> None:
    with pytest.raises(InputError, match=r"not known yet how many texts and people .* give `hs`, `cn`, `annotators`"):
        at("empty").grid().plan()


def test_a_plan_is_ready_for_json(at: At) -> None:
    plan = json.loads(json.dumps(at("labelled").grid().plan(width=2.0).as_dict()))
    assert plan["assigned"] == {"2": 0.25, "3": 0.25}
    assert plan["likeliest_share"] == 0.5
    assert plan["next_step"].startswith("what is assigned is enough")
