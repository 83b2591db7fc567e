"""The queue of cases: what an adjudicator is shown, that nobody is overruled unseen, that nothing shows too early."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from servers import copy_study

from fcpair.errors import ConflictError
from fcpair.grid import AdjudicationQueue
from fcpair.params import Adjudicate
from fcpair.records import Rule
from fcpair.steps.adjudication.case_queues import visiting_order
from fcpair.study import Study
from fcpair.work_records import ConflictCase, QueueCounts
from steps.deciding import adjudicators, decision_on, first_case
from steps.small import ANNOTATORS, NAMES, At, open_work, record, standing, with_grid, write_csv

CHOICES = ("not_appropriate", "appropriate", "irreconcilable")


def test_each_pair_that_waits_is_shown_once_with_its_labels_and_no_name_and_those_of_one_hs_together(at: At) -> None:
    study = at("labelled")
    grid, queue = study.grid(), AdjudicationQueue(study.grid())
    judy, vera = adjudicators(study, "judy", "vera")
    case, waiting = first_case(study, judy), grid.waiting_pairs()
    conflict = grid.desk.conflict(case.cell_id)
    assert (case.hs, case.cn, case.answers) == (conflict.hs, conflict.cn, conflict.answers)
    assert case.hs.language == "en"
    assert case.choices == CHOICES
    assert (case.decision_id, case.outcome, case.note, case.flagged) == (None, None, "", False)
    assert case.cell_id != first_case(study, vera).cell_id
    shown: list[ConflictCase] = []
    while following := queue.next(judy):
        assert not any(name in repr(following) for name in ANNOTATORS)
        shown.append(following)
        queue.decide(judy, decision_on(following))
    assert len(shown) > 5
    assert sorted(case.cell_id for case in shown) == waiting
    assert queue.state(judy) == QueueCounts(0, False, 0, len(shown), 0)
    messages = [case.hs.body for case in shown]
    changes = sum(message != following for message, following in pairwise(messages))
    assert changes <= len(set(messages))  # one HS may stand at the border of two shares


@settings(max_examples=10)
@given(answered=st.sets(st.integers(0, 41)), seed=st.integers(0, 2))
def test_a_pair_with_an_open_label_is_never_shown(
    answered: set[int], seed: int, files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("open")
    study, grid = with_grid(Study(copy_study(files["dealt"], folder / "study.db")))
    (judy,) = adjudicators(study, "judy")
    work = open_work(study)
    rows = [(who, pair, NAMES[(at + seed) % 3]) for at, (who, pair) in enumerate(work) if at in answered]
    if rows:
        record(study, folder, rows)
        grid.adjudicate(Adjudicate("majority"))
    open_pairs = {pair for _, pair in open_work(study)}
    for pair in range(1, 25):
        if pair in open_pairs:
            with pytest.raises(ConflictError, match="still being labelled"):
                AdjudicationQueue(grid).case(judy, pair)
    waiting = set(grid.waiting_pairs())
    state = AdjudicationQueue(grid).state(judy)
    assert (state.waiting, state.not_due) == (len(waiting - open_pairs), bool(open_pairs))
    assert not {decided.cell_id for decided in AdjudicationQueue(grid).decisions()} & open_pairs
    while case := AdjudicationQueue(grid).next(judy):
        assert case.cell_id in waiting - open_pairs
        AdjudicationQueue(grid).decide(judy, decision_on(case))


# -- deciding; who may decide what, at which door, is tested in `tests/doors`


@pytest.mark.server
def test_of_two_who_decide_at_the_same_moment_one_is_told_about_the_other(at: At) -> None:
    study, grid = with_grid(at("labelled"))
    people = adjudicators(study, "judy", "vera")
    for pair in grid.waiting_pairs():
        cases = [AdjudicationQueue(grid).case(person, pair) for person in people]
        with ThreadPoolExecutor(2) as threads:
            taken = threads.map(
                lambda act: _attempt(lambda: AdjudicationQueue(grid).decide(act[0], decision_on(act[1]))),
                zip(people, cases, strict=True),
            )
            assert sorted(taken) == [False, True]
        assert len(grid.explain(pair).decisions) == 1


ACTS = st.lists(st.tuples(st.sampled_from(("look", "decide", "undo")), st.booleans(), st.integers(0, 1)), max_size=14)


@pytest.mark.slow
@settings(max_examples=10)
@given(acts=ACTS)
def test_nobody_overrules_a_decision_that_they_have_not_seen(
    acts: list[tuple[str, bool, int]], files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Two people act on two pairs in any order; a decision is taken exactly if it rests on what stands."""
    study = Study(copy_study(files["labelled"], tmp_path_factory.mktemp("two") / "study.db"))
    grid, queue = study.grid(), AdjudicationQueue(study.grid())
    people = adjudicators(study, "judy", "vera")
    pairs = grid.waiting_pairs()[:2]
    seen: dict[tuple[int, int], ConflictCase] = {}
    stands: dict[int, tuple[int, int]] = {}  # by pair: who decided, and the number of the decision
    for number, (act, second, which) in enumerate(acts):
        who, pair = people[second], pairs[which]
        mine = stands.get(pair, (who, 0))[0] == who
        if act == "look":
            taken = _attempt(lambda who=who, pair=pair: seen.update({(who, pair): queue.case(who, pair)}))  # type: ignore[misc]
            assert taken == mine
        elif act == "undo":
            taken = _attempt(lambda who=who, pair=pair, number=number: queue.undo(who, pair, f"undo-{number}"))  # type: ignore[misc]
            assert taken == (pair in stands and mine)
            if taken:
                del stands[pair]
        elif case := seen.get((who, pair)):
            ruling = decision_on(case, request_id=f"decide-{number}")
            taken = _attempt(lambda who=who, ruling=ruling: AdjudicationQueue(grid).decide(who, ruling))  # type: ignore[misc]
            assert taken == (mine and stands.get(pair, (who, None))[1] == case.decision_id)
            if taken:
                stands[pair] = (who, AdjudicationQueue(grid).decisions(who, limit=1)[0].decision_id)
    assert {decided.cell_id: decided.decision_id for decided in AdjudicationQueue(grid).decisions()} == {
        pair: decision for pair, (_, decision) in stands.items()
    }


def _attempt(act: Callable[[], object]) -> bool:
    try:
        act()
    except ConflictError:
        return False
    return True


@given(n=st.integers(0, 60), of=st.integers(1, 9))
def test_every_adjudicator_comes_past_every_pair_once(n: int, of: int) -> None:
    for at in range(of):
        assert sorted(visiting_order(n, at, of)) == list(range(n))


@given(of=st.integers(1, 9), more=st.integers(0, 60))
def test_all_adjudicators_begin_at_different_pairs(of: int, more: int) -> None:
    assert len({visiting_order(of + more, at, of)[0] for at in range(of)}) == of


@given(n=st.integers(2, 60), turns=st.lists(st.integers(0, 1), max_size=60))
def test_two_adjudicators_meet_at_the_last_pair_alone(n: int, turns: list[int]) -> None:
    """Whatever the pace of each."""
    ways, left = (visiting_order(n, 0, 2), visiting_order(n, 1, 2)), set(range(n))
    for turn in turns[: n - 1]:
        before_them = [next(pair for pair in way if pair in left) for way in ways]
        assert before_them[0] != before_them[1]
        left.discard(before_them[turn])


@pytest.mark.server
def test_the_list_says_what_is_decided_and_by_whom_newest_first_and_in_pages(at: At, tmp_path: Path) -> None:
    study = at("decided")
    queue = AdjudicationQueue(study.grid())
    judy, vera = adjudicators(study, "judy", "vera")
    for person, outcome in ((judy, "appropriate"), (vera, "irreconcilable")):
        queue.decide(person, decision_on(first_case(study, person), outcome))
    whole = queue.decisions()
    assert [(decision.by, decision.outcome) for decision in whole[:2]] == [
        ("vera", "irreconcilable"),
        ("judy", "appropriate"),
    ]
    assert {(decision.by, decision.rule) for decision in whole[2:]} == {(None, Rule.UNANIMOUS), (None, Rule.MAJORITY)}
    assert {decision.cell_id: decision.outcome for decision in whole[2:]} == {
        pair: NAMES[code] for pair, (rule, code) in standing(study).items() if rule != "person" and code is not None
    }
    assert [decision.by for decision in queue.decisions(judy)] == ["judy"]
    pages = [queue.decisions(limit=7)]
    while pages[-1]:
        pages.append(queue.decisions(limit=7, before=pages[-1][-1].decision_id))
    assert [decision for page in pages for decision in page] == whole
    assert len(whole) == len(standing(study))
    pair = study.grid().waiting_pairs()[0]
    path = write_csv(tmp_path / "d.csv", [{"pair": pair, "label": "2", "adjudicator": "judy"}])
    study.grid().import_outcomes(path)
    imported = queue.decisions()[0]
    assert (imported.by, imported.rule) == ("judy", Rule.IMPORTED)
    assert [decision.rule for decision in queue.decisions(judy)] == [Rule.PERSON]  # a file's is nobody's own
