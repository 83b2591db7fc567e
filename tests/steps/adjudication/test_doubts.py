"""The order by doubt is worked out beside the work: nobody waits for it, and it holds as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event

import pytest

from fcpair.errors import StudyError
from fcpair.grid import AdjudicationQueue, CaseOrder, CaseQueue, DecisionRequest
from fcpair.records import Role
from fcpair.stages.adjudication.aggregate import LabelData
from fcpair.steps.adjudication import case_queues
from fcpair.study import Study
from steps.online import admit

At = Callable[[str], Study]
DOUBT = CaseOrder.DOUBT


@pytest.fixture
def study(at: At) -> Study:
    """A study whose labels are all in, with one adjudicator."""
    study = at("labelled")
    if "judy" not in {one.name for one in study.people}:
        study.add_people(["judy"], Role.ADJUDICATOR)
    return study


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """No model is fitted until this is set."""
    event, estimate = Event(), case_queues.estimate_doubts

    def estimate_when_released(labels: LabelData) -> dict[int, float]:
        event.wait()
        return estimate(labels)

    monkeypatch.setattr(case_queues, "estimate_doubts", estimate_when_released)
    yield event
    event.set()


def ranked_pairs(study: Study) -> list[int]:
    return list(study.grid().desk.agenda("judy", order="doubt").pairs)


def next_pair(docket: AdjudicationQueue, person: int, after: int | None = None, order: CaseOrder = DOUBT) -> int:
    case = docket.next(person, after, order=order)
    assert case
    return case.cell_id


def test_while_the_model_is_fitted_cases_come_and_go_in_the_usual_order(study: Study, released: Event) -> None:
    docket, judy = AdjudicationQueue(study.grid()), admit(study, "judy").id
    pair, seen = next_pair(docket, judy), []
    while pair not in seen:
        seen.append(pair)
        assert pair == next_pair(docket, judy, seen[-2] if len(seen) > 1 else None, CaseOrder.SPREAD)
        pair = next_pair(docket, judy, pair)
    assert sorted(seen) == study.grid().waiting_pairs()
    case = docket.case(judy, seen[0])
    docket.decide(judy, DecisionRequest("request-1", case.cell_id, "appropriate", seen_answer_id=case.answer_id))
    assert docket.state(judy).decided == 1
    assert not docket.is_ranked
    released.set()
    docket.wait_for_ranking()
    assert docket.is_ranked
    assert next_pair(docket, judy) == next(one for one in ranked_pairs(study) if one != seen[0])


def test_who_went_on_before_the_order_was_there_goes_on_at_its_beginning(study: Study, released: Event) -> None:
    """Without those at hand: these come again only at their place in it."""
    docket, judy = AdjudicationQueue(study.grid()), admit(study, "judy").id
    first = next_pair(docket, judy)
    second = next_pair(docket, judy, first)
    released.set()
    docket.wait_for_ranking()
    ranked = ranked_pairs(study)
    start = next(at for at, pair in enumerate(ranked) if pair not in (first, second))
    assert {next_pair(docket, judy, second) for _ in range(3)} == {ranked[start]}  # a request may be repeated
    walked = [ranked[start]]
    for _ in ranked:
        walked.append(next_pair(docket, judy, walked[-1]))
    assert walked == [*ranked, *ranked][start : start + len(walked)]


def test_cases_that_were_flagged_end_with_the_last_in_a_new_order_too(study: Study, released: Event) -> None:
    docket, judy = AdjudicationQueue(study.grid()), admit(study, "judy").id
    pairs = study.grid().waiting_pairs()[:3]
    for pair in pairs:
        answer_id = docket.case(judy, pair).answer_id
        docket.decide(
            judy,
            DecisionRequest(f"request-{pair}", pair, "appropriate", "look", flagged=True, seen_answer_id=answer_id),
        )
    first = docket.next(judy, queue=CaseQueue.FLAGGED, order=DOUBT)
    assert first
    released.set()
    docket.wait_for_ranking()
    shown, case = [first.cell_id], docket.next(judy, first.cell_id, queue=CaseQueue.FLAGGED, order=DOUBT)
    while case:
        shown.append(case.cell_id)
        case = docket.next(judy, case.cell_id, queue=CaseQueue.FLAGGED, order=DOUBT)
    assert set(shown) == set(pairs)
    assert len(shown) <= len(pairs) + 1


def test_a_process_that_leaves_it_to_another_fits_nothing(study: Study, released: Event) -> None:
    released.set()
    docket, judy = AdjudicationQueue(study.grid()), admit(study, "judy").id
    assert docket.next(judy, order=DOUBT, estimates=False) == docket.next(judy, order=CaseOrder.SPREAD)
    docket.wait_for_ranking()
    assert not docket.is_ranked


def test_where_the_study_could_not_be_read_the_next_request_tries_again(
    study: Study, released: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    released.set()
    docket, judy = AdjudicationQueue(study.grid()), admit(study, "judy").id
    with monkeypatch.context() as patch:

        def fail(_: object) -> None:
            raise StudyError("the disk is gone")

        patch.setattr(case_queues, "load_label_data", fail)
        next_pair(docket, judy)
        docket.wait_for_ranking()
        assert not docket.is_ranked
    next_pair(docket, judy)
    docket.wait_for_ranking()
    assert next_pair(docket, judy) == ranked_pairs(study)[0]
