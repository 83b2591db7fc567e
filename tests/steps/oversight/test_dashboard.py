"""The lead's view: right figures at every stage, nothing written, nobody held up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from fcpair.params import Adjudicate, Annotate, Simulate
from fcpair.records import Role, Visitor
from fcpair.steps.base import figure_cache
from fcpair.steps.oversight.activity import StageActivity
from fcpair.steps.oversight.dashboard import Monitor
from fcpair.study import Study
from steps.online import admit, give
from steps.small import STAGES, dump

At = Callable[[str], Study]


def answer(study: Study, visitor: Visitor, n: int, *, seconds: float | None = None) -> list[int]:
    """Answer the next `n` pairs online; returns them."""
    desk = study.work_queue(Annotate())
    answered = []
    for _ in range(n):
        task = desk.tasks(visitor)[0]
        give(desk, visitor, "appropriate", task.assignment_id, seconds=seconds)
        answered.append(task.cell_id)
    return answered


def change(study: Study, visitor: Visitor, *, seconds: float | None = None) -> None:
    """Change the latest answer online."""
    desk = study.work_queue(Annotate())
    give(desk, visitor, "not_sure", desk.answers(visitor)[0].assignment_id, seconds=seconds)


def stage(study: Study, name: str, now: datetime | None = None) -> StageActivity:
    return next(one for one in Monitor(study.grid()).stages(now) if one.name == name)


@pytest.mark.server
@pytest.mark.parametrize("reached", STAGES)
def test_every_panel_has_something_to_say_at_every_stage_and_writes_nothing(at: At, reached: str) -> None:
    study = at(reached)
    before = dump(study)
    monitor = Monitor(study.grid())
    monitor.stages()
    monitor.exposures()
    monitor.speed()
    monitor.flags()
    monitor.people()
    assert (monitor.cell_map() is None) == (STAGES.index(reached) < STAGES.index("paired"))
    has_labels = STAGES.index(reached) >= STAGES.index("labelled")
    assert (monitor.agreement() is not None) == (monitor.decisions().tiers is not None) == has_labels
    assert dump(study) == before


def test_progress_counts_each_persons_work(at: At) -> None:
    study = at("dealt")
    answer(study, admit(study, "ana"), 3)
    label = stage(study, "label")
    by_name = {one.name: one for one in label.people}
    assert (by_name["ana"].done, by_name["ana"].open, by_name["ana"].n_today) == (3, 11, 3)
    assert (by_name["ben"].done, by_name["ben"].open, by_name["ben"].n_today) == (0, 14, 0)
    assert (label.done, label.open, label.vacant) == (3, 39, 0)


def test_the_end_by_the_daily_rate_rests_on_the_answers_online(at: At) -> None:
    study = at("dealt")
    answer(study, admit(study, "ana"), 3)
    now = datetime.now(UTC) + timedelta(hours=1)
    label = stage(study, "label", now)
    assert label.per_day == 3
    assert label.end_at == pytest.approx((now + timedelta(days=13)).timestamp())
    assert [one.outlook.per_day for one in label.people] == [3, 0, 0]
    assert label.last_end is None
    assert label.longest_left_s is None


def test_a_week_without_answers_leaves_the_end_undefined(at: At) -> None:
    study = at("dealt")
    answer(study, admit(study, "ana"), 3)
    label = stage(study, "label", datetime.now(UTC) + timedelta(days=8))
    assert (label.per_day, label.end_at) == (0, None)


def test_answers_from_files_have_neither_pace_nor_day(at: At) -> None:
    label = stage(at("labelled"), "label")
    assert [(one.done, one.n_today, one.outlook.pace_s) for one in label.people] == [(14, 0, None)] * 3


def test_going_back_to_an_answer_is_not_progress(at: At) -> None:
    study = at("dealt")
    ana = admit(study, "ana")
    answer(study, ana, 2)
    change(study, ana)
    label = stage(study, "label")
    assert label.done == 2
    assert label.people[0].n_today == 3
    assert label.per_day == 2


def test_adjudicators_have_one_queue(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    waiting = grid.waiting_pairs()
    grid.decide(waiting[0], 2, by="judy")
    adjudicating = stage(study, "adjudicate")
    assert (adjudicating.done, adjudicating.open) == (1, len(waiting) - 1)
    assert [(one.name, one.done, one.n_today) for one in adjudicating.people] == [("judy", 1, 1)]


def test_a_skip_that_nobody_can_take_is_told(at: At) -> None:
    study = at("dealt")
    study.retire("ana")
    study.retire("ben")
    assert stage(study, "label").vacant > 0


@pytest.mark.server
def test_exposure_counts_pairs_texts_and_decisions(at: At) -> None:
    grid = at("labelled").grid()
    grid.decide(grid.waiting_pairs()[0], 2, by="judy")
    found = {one.name: read for one, read in Monitor(grid).exposures()}
    assert (found["ana"].n_pairs, found["ana"].n_hs, found["ana"].n_today) == (14, 4, 0)
    assert (found["judy"].n_pairs, found["judy"].n_hs, found["judy"].n_today) == (1, 1, 1)


def test_simulated_people_have_read_nothing(at: At) -> None:
    grid = at("dealt").grid()
    grid.simulate(Simulate(seed=3))
    assert {read.n_pairs for _, read in Monitor(grid).exposures()} == {0}
    assert "SIMULATED" in str(grid.desk.simulated_note)


def test_answers_faster_than_reading_are_found_newest_first(at: At) -> None:
    study = at("dealt")
    ana, ben = admit(study, "ana"), admit(study, "ben")
    fast = answer(study, ana, 2, seconds=0.2)
    answer(study, ana, 1, seconds=30.0)
    answer(study, ben, 1)
    found = Monitor(study.grid()).speed()
    assert [(one.name, one.n_timed, one.n_too_fast) for one in found.people] == [("ana", 3, 2)]
    assert [one.cell_id for one in found.newest] == fast[::-1]
    assert all(one.seconds < one.least_s for one in found.newest)


def test_changing_an_answer_quickly_is_not_reading_fast(at: At) -> None:
    study = at("dealt")
    ana = admit(study, "ana")
    answer(study, ana, 1, seconds=30.0)
    change(study, ana, seconds=0.1)
    assert [(one.n_timed, one.n_too_fast) for one in Monitor(study.grid()).speed().people] == [(1, 0)]


def test_a_quick_skip_is_not_reading_fast(at: At) -> None:
    """Nobody has to read what they do not want to judge."""
    study = at("dealt")
    ana = admit(study, "ana")
    give(study.work_queue(Annotate()), ana, "skip", seconds=0.1)
    assert Monitor(study.grid()).speed().people == ()


@pytest.mark.server
def test_a_skip_does_not_take_the_stage_on(at: At) -> None:
    study = at("dealt")
    ana = admit(study, "ana")
    answer(study, ana, 2)
    give(study.work_queue(Annotate()), ana, "skip")
    assert stage(study, "label").per_day == 2


def test_a_pair_counts_for_the_one_whose_decision_stands(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    pair = grid.waiting_pairs()[0]
    grid.decide(pair, 2, by="judy")
    grid.take_back(pair, by="judy")
    grid.decide(pair, 0, by="jack")
    assert [(one.name, one.done) for one in stage(study, "adjudicate").people] == [("judy", 0), ("jack", 1)]


@pytest.mark.server
def test_flags_say_who_noted_what_and_whether_it_stands(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    study.add_people(["judy"], Role.ADJUDICATOR)
    pair = grid.waiting_pairs()[0]
    with study._store.write() as tx:
        from fcpair.steps.adjudication import adjudicate
        from fcpair.steps.people.people import find_person

        adjudicate.record_decision(tx, pair, None, find_person(tx, "judy"), "what of irony?", flagged=True)
    flag = Monitor(grid).flags()[0]
    assert (flag.cell_id, flag.outcome, flag.by, flag.note, flag.stands) == (
        pair,
        "discarded",
        "judy",
        "what of irony?",
        True,
    )
    grid.take_back(pair, by="judy")
    assert [one.stands for one in Monitor(grid).flags()] == [False]


def test_figures_are_those_of_the_study(at: At) -> None:
    grid = at("checked").grid()
    monitor = Monitor(grid)
    tiers = monitor.decisions().tiers
    assert monitor.agreement() == grid.agreement()
    assert monitor.alpha() == grid.agreement().alpha
    assert tiers is not None
    *tables, _of_verdicts = grid.tiers().table().tables
    assert [pd.DataFrame(rows).to_dict() for rows in tiers.tables] == [table.to_dict() for table in tables]


def test_figures_follow_what_happens_and_are_kept_while_nothing_does(at: At) -> None:
    grid = at("labelled").grid()
    monitor = Monitor(grid)
    before = parts(monitor)
    assert all(one is old for one, old in zip(parts(monitor), before, strict=True))
    grid.adjudicate(Adjudicate("majority"))
    assert not any(one is old for one, old in zip(parts(monitor), before, strict=True))


def parts(monitor: Monitor) -> list[object]:
    return [monitor.alpha(), monitor.agreement(), monitor.decisions(), monitor.people(), monitor.cell_map()]


@pytest.mark.server
def test_what_takes_long_is_not_made_at_every_change(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_cache, "SLOW_S", 0.0)
    monkeypatch.setattr(figure_cache, "REST_FACTOR", 1e6)
    grid = at("labelled").grid()
    monitor = Monitor(grid)
    before = parts(monitor)
    grid.adjudicate(Adjudicate("majority"))
    assert all(one is old for one, old in zip(parts(monitor), before, strict=True))


@pytest.mark.server
def test_looking_holds_up_nobody_who_answers(at: At) -> None:
    """An answer is saved while the lead's transaction is open, and the lead goes on seeing one state of the study."""
    study = at("dealt")
    study.share()
    ana = admit(study, "ana")
    monitor = Monitor(study.grid())
    with study._store.read() as tx:
        from fcpair.store.answers import activity_log

        before = activity_log.change_marks(tx)
        writer = threading.Thread(target=answer, args=(study, ana, 1))
        writer.start()
        writer.join(timeout=60)
        assert not writer.is_alive()
        assert activity_log.change_marks(tx) == before
    assert monitor.marks() != before
    study.close()
