"""Search in what is decided: each condition alone and together, and the labels that a decision rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.grid import AdjudicationQueue, DecidedCase, DecisionRequest, DecisionSearch
from fcpair.params import Adjudicate
from fcpair.records import Role, Status
from fcpair.store.assignment import assignments, rounds
from fcpair.study import Study
from steps.online import admit
from steps.small import record

pytestmark = pytest.mark.server  # the same is found in each database
At = Callable[[str], Study]


@pytest.fixture
def study(at: At) -> Study:
    """Where labels agree a rule has decided; of the rest judy and jack have decided a pair each, jack's flagged."""
    study = at("labelled")
    study.add_people(["judy", "jack"], Role.ADJUDICATOR)
    study.grid().adjudicate(Adjudicate("manual"))
    decide(study, "judy", "appropriate")
    decide(study, "jack", "irreconcilable", flagged=True)
    return study


def decide(study: Study, name: str, outcome: str, *, flagged: bool = False) -> None:
    """Have somebody decide the next case."""
    queue, person = AdjudicationQueue(study.grid()), admit(study, name).id
    case = queue.next(person)
    assert case is not None
    queue.decide(person, DecisionRequest(f"request-of-{name}", case.cell_id, outcome, flagged=flagged))


def search(study: Study, words: str = "", **conditions: str | bool) -> list[DecidedCase]:
    return AdjudicationQueue(study.grid()).decisions(search=DecisionSearch(words, **conditions))  # type: ignore[arg-type]


def texts(case: DecidedCase) -> str:
    return f"{case.hs.body} {case.cn.body}".lower()


def test_every_word_must_occur_in_the_hs_or_the_cn_whatever_its_capitals(study: Study) -> None:
    everything = search(study)
    first = everything[0]
    words = [max(body.split(), key=len) for body in (first.hs.body, first.cn.body)]
    expected = [case for case in everything if all(word.lower() in texts(case) for word in words)]
    assert search(study, f"  {words[0].upper()}\t{words[1].lower()} ") == expected
    assert first in expected
    assert len(expected) < len(everything)
    assert search(study, f"{words[0]} zebra") == []


@pytest.mark.parametrize("outcome", ["appropriate", "not_appropriate", "irreconcilable"])
def test_an_outcome_is_searched_by_its_name(study: Study, outcome: str) -> None:
    decisions = search(study, outcome=outcome)
    assert decisions
    assert decisions == [case for case in search(study) if case.outcome == outcome]


@pytest.mark.parametrize("by", ["judy", "jack"])
def test_a_person_s_decisions_are_searched_by_their_name(study: Study, by: str) -> None:
    assert [case.by for case in search(study, by=by)] == [by]


def test_what_no_person_decided_is_searched_too(study: Study) -> None:
    assert search(study, by=DecisionSearch.NO_PERSON) == [case for case in search(study) if case.by is None]


def test_conditions_hold_together_and_pages_go_on(study: Study) -> None:
    queue, wanted = AdjudicationQueue(study.grid()), DecisionSearch("a", "appropriate", DecisionSearch.NO_PERSON)
    found = queue.decisions(search=wanted)
    pages = [found[0], *queue.decisions(None, 50, found[0].decision_id, wanted)]
    assert pages == found
    assert all((case.outcome, case.by) == ("appropriate", None) for case in found)


def test_flagged_decisions_are_searched(study: Study) -> None:
    assert [case.by for case in search(study, flagged=True)] == ["jack"]


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"outcome": "not_sure"}, "`not_sure` is not an outcome; expected one of"),
        ({"by": "zoe"}, "nobody called `zoe` decides here; expected one of jack, judy"),
        ({"by": "ana"}, "nobody called `ana` decides here"),  # who only labels
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(
    study: Study, conditions: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        search(study, **conditions)


def test_a_decision_has_the_labels_of_its_pair_by_name(study: Study) -> None:
    rows = study.grid().labels()
    for case in search(study):
        assert case.labels == Counter(rows["label"][rows["pair"] == case.cell_id])


def relabel(study: Study, folder: Path, case: DecidedCase, label: str) -> int:
    """Have all who labelled a pair label it again; returns how many they are."""
    rows = study.grid().labels()
    annotators = rows["annotator"][rows["pair"] == case.cell_id].tolist()
    record(study, folder, [(name, case.cell_id, label) for name in annotators], supersede=True)
    return len(annotators)


def test_a_person_s_decision_keeps_the_labels_that_it_was_made_on(study: Study, tmp_path: Path) -> None:
    (case,) = search(study, by="judy")
    n = relabel(study, tmp_path, case, "appropriate")
    (kept,) = search(study, by="judy")
    assert kept.labels == case.labels != {"appropriate": n}


def test_a_rule_s_decision_has_the_labels_that_it_follows_now(study: Study, tmp_path: Path) -> None:
    case = search(study, outcome="appropriate", by=DecisionSearch.NO_PERSON)[0]
    n = relabel(study, tmp_path, case, "not_appropriate")
    assert {one.cell_id: one.labels for one in search(study)}[case.cell_id] == {"not_appropriate": n}


def test_no_label_is_told_while_somebody_has_still_to_label_the_pair(study: Study) -> None:
    (case,) = search(study, by="judy")
    (nora,) = study.add_people(["nora"], Role.ANNOTATOR)
    rows = pd.DataFrame({"cell_id": [case.cell_id], "person_id": nora.id, "status": Status.OPEN.value, "position": 1})
    with study._store.write() as tx:
        assignments.add_assignments(tx, rows, rounds.primary(tx))
    assert case.labels
    assert [again.labels for again in search(study, by="judy")] == [{}]
