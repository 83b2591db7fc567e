"""Limits of what one person may read: one rule for those who label, check and decide."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from fcpair.errors import RefusedError
from fcpair.grid import AdjudicationQueue, ConflictCase, DecisionRequest
from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.steps.people.people import ReadingAllowance
from fcpair.study import Study
from steps.online import admit, at_desk, give
from steps.small import NAMES, At, assert_refused


def queue_of(
    study: Study, name: str, daily_limit: int | None = None, total_limit: int | None = None
) -> tuple[AdjudicationQueue, int]:
    """A queue on terms with these limits, and an adjudicator."""
    study.add_people([name], Role.ADJUDICATOR)
    return AdjudicationQueue(study.grid()).with_terms(
        Annotate(daily_limit=daily_limit, total_limit=total_limit)
    ), admit(study, name).id


def first(queue: AdjudicationQueue, person: int) -> ConflictCase:
    case = queue.next(person)
    assert case is not None
    return case


def decide(queue: AdjudicationQueue, person: int, case: ConflictCase, outcome: str = "appropriate") -> None:
    request = f"on-{case.cell_id}-{case.decision_id}-{outcome}"
    queue.decide(person, DecisionRequest(request, case.cell_id, outcome, seen_decision_id=case.decision_id))


@pytest.fixture
def next_day(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lets a day pass: what has been done so far was done before midnight."""
    return lambda: monkeypatch.setattr("fcpair.steps.people.people._midnight", lambda: "2999-01-01")


def test_the_room_is_what_the_nearer_limit_leaves() -> None:
    for given, room in {
        (3, 9, None, None): None,
        (3, 9, 5, None): 2,
        (3, 9, 5, 10): 1,
        (3, 9, None, 4): 0,
        (7, 9, 5, None): 0,
    }.items():
        allowance = ReadingAllowance(*given)
        assert allowance.n_remaining == room
        assert (allowance.limit is None) == (room != 0)
    assert ReadingAllowance(2, 9, 2, None).limit == (
        "You have read 2 pairs today, as many as one person may read in a day. Please come back tomorrow."
    )
    assert ReadingAllowance(2, 1_200, 2, 1_200).limit == (
        "You have read 1,200 pairs, as many as one person may read in this study. Thank you."
    )


def test_limits_hold_for_those_who_decide(at: At, next_day: Callable[[], None]) -> None:
    study = at("labelled")
    queue, judy = queue_of(study, "judy", daily_limit=2)
    in_all, june = queue_of(study, "june", total_limit=1)
    decide(in_all, june, first(in_all, june))
    for _ in range(2):
        decide(queue, judy, first(queue, judy))
    assert queue.next(judy) is None
    waiting = study.grid().waiting_pairs()[0]
    for call in (
        lambda: queue.case(judy, waiting),
        lambda: queue.decide(judy, DecisionRequest("r-1234567", waiting, NAMES[0])),
    ):
        assert_refused(study, call, RefusedError, "You have read 2 pairs today")
    assert queue.state(judy).waiting > 0
    next_day()
    assert queue.reading_allowance(judy) == ReadingAllowance(0, 2, 2, None)
    assert queue.next(judy) is not None
    assert in_all.next(june) is None
    assert "in this study" in str(in_all.reading_allowance(june).limit)


def test_what_one_has_decided_can_be_changed_and_taken_back_at_the_limit(at: At) -> None:
    study = at("labelled")
    queue, judy = queue_of(study, "judy", daily_limit=1)
    case = first(queue, judy)
    ruling = DecisionRequest("request-1", case.cell_id, "appropriate")
    assert queue.decide(judy, ruling) == queue.decide(judy, ruling)  # though it reaches the limit by itself
    decide(queue, judy, queue.case(judy, case.cell_id), "not_appropriate")
    queue.undo(judy, case.cell_id, "undo-1234")
    assert queue.reading_allowance(judy) == ReadingAllowance(1, 1, 1, None)  # one pair, whatever was done to it
    decide(queue, judy, queue.case(judy, case.cell_id), "irreconcilable")
    assert queue.decisions(judy)[0].outcome == "irreconcilable"
    _, june = queue_of(study, "june")
    assert queue.next(june) is not None, "the limit of one is not that of another"
    study.change_role("judy", Role.VALIDATOR)
    visitor = study.access.by_id(judy)
    assert visitor is not None
    assert study.work_queue(Annotate(daily_limit=1)).progress(visitor).limit is not None


def test_progress_tells_the_limits_and_who_labels_and_then_decides_has_one_allowance(at: At) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana", Annotate(daily_limit=3, total_limit=9))
    give(desk, ana, NAMES[0])
    give(desk, ana, "skip")
    progress = desk.progress(ana)
    assert (progress.today, progress.daily_limit, progress.read, progress.total_limit) == (2, 3, 2, 9)
    assert progress.limit is None
    study.hand_over("ana")
    study.change_role("ana", Role.ADJUDICATOR)
    queue = AdjudicationQueue(study.grid()).with_terms(Annotate(daily_limit=2))
    assert queue.reading_allowance(ana.id) == ReadingAllowance(2, 2, 2, None)
    assert queue.next(ana.id) is None


@pytest.fixture
def clock_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Lets the clock of the server, with which answers and decisions are noted, go wrong by this much."""

    def set_(wrong: timedelta) -> None:
        def now() -> str:
            return (datetime.now(UTC) + wrong).isoformat(timespec="milliseconds")

        for module in ("answers.task_queries", "adjudications"):
            monkeypatch.setattr(f"fcpair.store.{module}.now", now)

    return set_


def test_a_limit_that_rests_on_a_time_that_lies_ahead_by_more_than_a_minute_says_so(
    at: At, clock_of: Callable[[timedelta], None]
) -> None:
    study = at("dealt")
    desk, ben = at_desk(study, "ben", Annotate(daily_limit=1))
    clock_of(timedelta(minutes=1))
    give(desk, ben, NAMES[0])
    assert str(desk.progress(ben).limit).endswith("Please come back tomorrow.")
    assert not any("clock" in note for note in study.status()["notes"])
    desk, ana = at_desk(study, "ana", Annotate(daily_limit=3))
    clock_of(timedelta(days=2))
    give(desk, ana, NAMES[0])
    give(desk, ana, NAMES[0])
    clock_of(timedelta())
    assert desk.progress(ana).limit is None
    give(desk, ana, NAMES[0])
    assert desk.progress(ana).limit == (
        "You have read 3 pairs today, as many as one person may read in a day. The recorded time of 2 of them is in "
        "the future: a clock was or is wrong. Please tell the people who run the study."
    )
    (note,) = (note for note in study.status()["notes"] if "clock" in note)
    ahead = (datetime.now(UTC) + timedelta(days=2)).strftime("%Y-%m-%d")
    assert note.startswith(f"somebody's newest answer is dated in the future ({ahead} ")
