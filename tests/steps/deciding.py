"""Adjudicators who decide online, one case after the other."""

from __future__ import annotations

from fcpair.grid import AdjudicationQueue
from fcpair.records import Role
from fcpair.study import Study
from fcpair.work_records import ConflictCase, DecisionRequest
from steps.online import admit


def adjudicators(study: Study, *names: str) -> list[int]:
    """New adjudicators who were invited and have consented; their ids."""
    study.add_people(list(names), Role.ADJUDICATOR)
    return [admit(study, name).id for name in names]


def first_case(study: Study, person: int) -> ConflictCase:
    """The case that somebody is shown first."""
    case = AdjudicationQueue(study.grid()).next(person)
    assert case is not None
    return case


def decision_on(
    case: ConflictCase,
    outcome: str = "appropriate",
    request_id: str | None = None,
    *,
    note: str = "",
    flagged: bool = False,
) -> DecisionRequest:
    """What somebody sends who decides a case that they see, with a request id of its own if none is given."""
    request_id = request_id or f"on-{case.cell_id}-{case.decision_id}-{outcome}"
    return DecisionRequest(request_id, case.cell_id, outcome, note, flagged, case.decision_id, case.answer_id)


def decide(
    study: Study, person: int, pair: int, outcome: str = "appropriate", *, note: str = "", flagged: bool = False
) -> None:
    """Have somebody look at a pair and decide it."""
    queue = AdjudicationQueue(study.grid())
    queue.decide(person, decision_on(queue.case(person, pair), outcome, note=note, flagged=flagged))


def wait_for_ranking(queue: AdjudicationQueue) -> None:
    """Wait for the order by doubt that is being worked out, if one is."""
    if (fit := queue._ranking._fit) is not None:
        fit.join()
