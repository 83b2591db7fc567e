"""The docket: what an adjudicator is shown, that nobody is overruled unseen, and that nothing shows before its time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from servers import copy_study

from fcpair.errors import ConflictError, FcpairError, InputError, RefusedError, UnknownIdError
from fcpair.grid import AdjudicationQueue
from fcpair.params import Adjudicate, Validate
from fcpair.records import Role, Rule
from fcpair.steps.adjudication.case_queues import visiting_order
from fcpair.study import Study
from fcpair.work_records import ConflictCase, DecisionRequest, QueueCounts
from steps.docket import adjudicators, decide, decision_on, first_case
from steps.online import admit
from steps.small import ANNOTATORS, NAMES, assert_refused, check, dump, open_work, record, standing, write_csv

At = Callable[[str], Study]
CHOICES = ("not_appropriate", "appropriate", "irreconcilable")


# -- what is shown


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


def test_only_pairs_that_wait_can_be_looked_at_and_one_can_go_on_from_each_and_come_back(at: At) -> None:
    study = at("decided")
    queue, (judy,) = AdjudicationQueue(study.grid()), adjudicators(study, "judy")
    settled = next(pair for pair, (rule, _) in standing(study).items() if rule == "unanimous")
    with pytest.raises(ConflictError, match=f"pair {settled} has been decided by a rule meanwhile"):
        queue.case(judy, settled)
    for number in (0, 25, 2**70):
        with pytest.raises(UnknownIdError, match=f"there is no pair {number}"):
            queue.case(judy, number)
    first = first_case(study, judy)
    seen = [first.cell_id]
    for _ in range(queue.state(judy).waiting):
        case = queue.next(judy, after=seen[-1])
        assert case is not None
        seen.append(case.cell_id)
    assert sorted(seen[:-1]) == study.grid().waiting_pairs()
    assert seen[-1] == first.cell_id


def test_only_current_labels_that_differ_need_a_decision(at: At, tmp_path: Path) -> None:
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    record(study, tmp_path, [("ana", 1, "2"), ("ben", 1, "2"), *((who, 2, "skip") for who in ANNOTATORS)])
    queue, (judy,) = AdjudicationQueue(study.grid()), adjudicators(study, "judy")
    for pair, message in (
        (1, "the labels of pair 1 agree"),
        (2, "pair 2 has no label"),
        (3, "pair 3 has no label"),
    ):
        with pytest.raises(ConflictError, match=message):
            queue.case(judy, pair)
    assert queue.state(judy) == QueueCounts(0, False, 0, 0, 0)
    assert queue.next(judy) is None
    record(study, tmp_path, [("ana", 3, "2"), ("ben", 3, "0")])
    assert first_case(study, judy).cell_id == 3
    record(study, tmp_path, [("ben", 3, "2")], supersede=True)
    assert queue.next(judy) is None


@settings(max_examples=10)
@given(answered=st.sets(st.integers(0, 41)), seed=st.integers(0, 2))
def test_a_pair_with_an_open_label_is_never_shown(
    answered: set[int], seed: int, files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("open")
    study = Study(copy_study(files["dealt"], folder / "study.db"))
    grid = study.grid()
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
    assert not {one.cell_id for one in AdjudicationQueue(grid).decisions()} & open_pairs
    while case := AdjudicationQueue(grid).next(judy):
        assert case.cell_id in waiting - open_pairs
        AdjudicationQueue(grid).decide(judy, decision_on(case))


# -- who may


def test_only_adjudicators_who_are_there_and_have_consented_have_a_docket(at: At) -> None:
    study = at("labelled")
    queue, pair = AdjudicationQueue(study.grid()), study.grid().waiting_pairs()[0]
    people: list[tuple[int, str]] = []
    for role in (Role.ANNOTATOR, Role.VALIDATOR, Role.LEAD):
        study.add_people([f"nora-{role}"], role)
        people.append((admit(study, f"nora-{role}").id, "only invited adjudicators"))
    people += [(person, "only invited adjudicators") for person in adjudicators(study, "judy")]
    study.retire("judy")
    study.add_people(["jack"], Role.ADJUDICATOR)
    visitor = study.access.by_token(study.access.invite("jack"))
    assert visitor is not None
    people.append((visitor.id, "agree to take part first"))
    for person, message in people:
        for call in (
            partial(queue.state, person),
            partial(queue.next, person),
            partial(queue.case, person, pair),
            partial(queue.decide, person, DecisionRequest("a-request", pair, "appropriate")),
            partial(queue.undo, person, pair, "a-request"),
        ):
            assert_refused(study, call, RefusedError, message)


def test_who_labelled_a_pair_does_not_decide_it(at: At) -> None:
    study = at("labelled")
    queue = AdjudicationQueue(study.grid())
    study.change_role("cleo", Role.ADJUDICATOR)
    cleo, judy = admit(study, "cleo").id, *adjudicators(study, "judy")
    rows = study.grid().labels()
    own = set(rows["pair"][rows["annotator"] == "cleo"].tolist()) & set(study.grid().waiting_pairs())
    state = queue.state(cleo)
    assert own
    assert state.for_others == len(own)
    assert state.waiting == queue.state(judy).waiting - len(own)
    pair = min(own)
    with pytest.raises(RefusedError, match=f"`cleo` labelled pair {pair}"):
        queue.case(cleo, pair)
    decide_it = partial(queue.decide, cleo, DecisionRequest("a-request", pair, "appropriate"))
    assert_refused(study, decide_it, RefusedError, "labelled")
    while case := queue.next(cleo):
        assert case.cell_id not in own
        queue.decide(cleo, decision_on(case))


def test_who_validates_a_pair_does_not_decide_it(at: At, tmp_path: Path) -> None:
    study = at("decided")
    grid = study.grid()
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    pair = next(pair for pair, (rule, _) in standing(study).items() if rule == "unanimous")
    check(study, tmp_path, [("vera", pair, "agree")])
    study.hand_over("vera")
    study.change_role("vera", Role.ADJUDICATOR)
    vera = admit(study, "vera").id
    decide_it = partial(AdjudicationQueue(grid).decide, vera, DecisionRequest("a-request", pair, "appropriate"))
    assert_refused(study, decide_it, RefusedError, "validate")


# -- deciding


def test_a_decision_is_kept_with_its_note_and_flag_and_leaves_no_run(at: At) -> None:
    study = at("labelled")
    queue, (judy,) = AdjudicationQueue(study.grid()), adjudicators(study, "judy")
    before = study.log()
    for outcome in ("not_sure", "skip", "", "2", "reopened"):
        request = decision_on(first_case(study, judy), outcome)
        message = "is not an outcome; expected one of not_"
        assert_refused(study, partial(queue.decide, judy, request), InputError, message)
    for n, (outcome, code) in enumerate({"not_appropriate": 0, "appropriate": 2, "irreconcilable": None}.items(), 1):
        case = first_case(study, judy)
        reply = queue.decide(judy, decision_on(case, outcome, note="irony, نه", flagged=True))
        assert standing(study)[case.cell_id] == ("person", code)
        kept, *others = queue.decisions(judy)
        assert len(others) == n - 1
        assert (kept.decision_id, kept.cell_id) == (reply["decision_id"], reply["cell_id"])
        assert (kept.outcome, kept.rule, kept.by) == (outcome, Rule.PERSON, "judy")
        assert (kept.note, kept.flagged) == ("irony, نه", True)
    queue.undo(judy, case.cell_id, "another-request")
    study.grid().decide(case.cell_id, 2, by="judy")
    assert study.grid().take_back(case.cell_id, by="judy") is False
    assert study.log() == before


def test_a_request_that_comes_again_is_answered_alike_and_its_id_serves_for_nothing_else(at: At) -> None:
    study = at("labelled")
    queue, (judy,) = AdjudicationQueue(study.grid()), adjudicators(study, "judy")
    case = first_case(study, judy)
    first = queue.decide(judy, decision_on(case, request_id="a-request"))
    after = dump(study)
    assert queue.decide(judy, decision_on(case, request_id="a-request")) == first
    assert dump(study) == after
    for changed in (
        decision_on(case, "irreconcilable", "a-request"),
        decision_on(case, request_id="a-request", note="other"),
        decision_on(case, request_id="a-request", flagged=True),
    ):
        assert_refused(study, partial(queue.decide, judy, changed), ConflictError, "request id")
    assert_refused(study, partial(queue.undo, judy, case.cell_id, "a-request"), ConflictError, "request id")
    taken_back = queue.undo(judy, case.cell_id, "undo-request")
    after = dump(study)
    assert queue.undo(judy, case.cell_id, "undo-request") == taken_back
    assert queue.decide(judy, decision_on(case, request_id="a-request")) == first
    assert dump(study) == after


def test_one_s_own_decision_can_be_changed_and_taken_back_but_not_unseen(at: At) -> None:
    study = at("labelled")
    grid, queue = study.grid(), AdjudicationQueue(study.grid())
    judy, joan = adjudicators(study, "judy", "joan")
    case, waiting = first_case(study, judy), grid.waiting_pairs()
    reply = queue.decide(judy, decision_on(case, note="first", flagged=True))
    assert case.cell_id not in grid.waiting_pairs()
    again = queue.case(judy, case.cell_id)
    assert (again.decision_id, again.outcome) == (reply["decision_id"], "appropriate")
    assert (again.note, again.flagged) == ("first", True)
    queue.decide(judy, decision_on(again, "irreconcilable"))
    assert standing(study)[case.cell_id] == ("person", None)
    assert [row["rule"] for row in grid.explain(case.cell_id).decisions] == ["person", "person"]
    again = queue.case(judy, case.cell_id)
    queue.undo(judy, case.cell_id, "undo-request")
    assert grid.waiting_pairs() == waiting
    assert queue.case(judy, case.cell_id) == case
    assert [row["rule"] for row in grid.explain(case.cell_id).decisions] == ["person", "person", "reopened"]
    assert queue.decisions() == []
    assert queue.state(judy).decided == 0
    unseen = partial(queue.decide, judy, decision_on(again))
    assert_refused(study, unseen, ConflictError, "taken back since it was shown")
    queue.decide(judy, decision_on(case, request_id="third", note="irony", flagged=True))
    queue.undo(judy, case.cell_id, "undo-again")
    again, others = queue.case(judy, case.cell_id), queue.case(joan, case.cell_id)
    assert (again.outcome, again.note, again.flagged) == (None, "irony", True)
    assert (others.note, others.flagged) == ("", False)
    grid.decide(case.cell_id, 2, by="judy", seen=grid.desk.conflict(case.cell_id, by="judy"))
    assert queue.decisions(judy)[0].flagged


def test_a_pair_that_somebody_else_decided_meanwhile_is_not_decided_again(at: At) -> None:
    study = at("labelled")
    queue = AdjudicationQueue(study.grid())
    judy, vera = adjudicators(study, "judy", "vera")
    case = first_case(study, judy)
    decide(study, vera, case.cell_id)
    message = f"pair {case.cell_id} has been decided by vera meanwhile"
    assert_refused(study, partial(queue.decide, judy, decision_on(case)), ConflictError, message)
    with pytest.raises(ConflictError, match=message):
        queue.case(judy, case.cell_id)


@pytest.mark.server
def test_of_two_who_decide_at_the_same_moment_one_is_told_about_the_other(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    people = adjudicators(study, "judy", "vera")
    for pair in grid.waiting_pairs():
        cases = [AdjudicationQueue(grid).case(person, pair) for person in people]
        with ThreadPoolExecutor(2) as threads:
            taken = threads.map(
                lambda one: _attempt(lambda: AdjudicationQueue(grid).decide(one[0], decision_on(one[1]))),
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
    assert {one.cell_id: one.decision_id for one in AdjudicationQueue(grid).decisions()} == {
        pair: decision for pair, (_, decision) in stands.items()
    }


def _attempt(act: Callable[[], object]) -> bool:
    try:
        act()
    except ConflictError:
        return False
    return True


def test_only_one_s_own_decision_is_taken_back(at: At) -> None:
    study = at("decided")
    queue = AdjudicationQueue(study.grid())
    judy, vera = adjudicators(study, "judy", "vera")
    case = first_case(study, vera)
    queue.decide(vera, decision_on(case))
    settled = next(pair for pair, (rule, _) in standing(study).items() if rule == "unanimous")
    refused: tuple[tuple[int, type[FcpairError], str], ...] = (
        (case.cell_id, ConflictError, f"pair {case.cell_id} has been decided by vera"),
        (settled, ConflictError, "a rule has decided"),
        (study.grid().waiting_pairs()[0], ConflictError, "has no current decision"),
        (99, UnknownIdError, "there is no pair 99"),
    )
    for pair, error, message in refused:
        assert_refused(study, partial(queue.undo, judy, pair, f"undo-{pair}"), error, message)


# -- the way through


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


# -- what is decided


@pytest.mark.server
def test_the_list_says_what_is_decided_and_by_whom_newest_first_and_in_pages(at: At) -> None:
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


@pytest.mark.server
def test_a_decision_from_a_file_is_nobody_s_own(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    grid = study.grid()
    (judy,) = adjudicators(study, "judy")
    pair = grid.waiting_pairs()[0]
    grid.import_outcomes(write_csv(tmp_path / "d.csv", [{"pair": pair, "label": "2", "adjudicator": "judy"}]))
    assert [(one.by, one.rule) for one in AdjudicationQueue(grid).decisions()] == [("judy", Rule.IMPORTED)]
    assert AdjudicationQueue(grid).decisions(judy) == []
    with pytest.raises(ConflictError, match=rf"pair {pair} has been decided by judy \(in a file\)"):
        AdjudicationQueue(grid).case(judy, pair)
