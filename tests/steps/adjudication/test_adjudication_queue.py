"""The docket: what an adjudicator is shown, that nobody is overruled unseen, and that nothing shows before its time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
from steps.online import admit
from steps.small import ANNOTATORS, NAMES, assert_refused, dump, open_work, record, standing, write_csv

At = Callable[[str], Study]
CHOICES = ("not_appropriate", "appropriate", "irreconcilable")


def adjudicators(study: Study, *names: str) -> list[int]:
    """New adjudicators who were invited and have consented; their ids."""
    study.add_people(list(names), Role.ADJUDICATOR)
    return [admit(study, name).id for name in names]


def first_case(study: Study, person: int) -> ConflictCase:
    case = AdjudicationQueue(study.grid()).next(person)
    assert case is not None
    return case


def rule(
    case: ConflictCase, outcome: str = "appropriate", request_id: str | None = None, **more: object
) -> DecisionRequest:
    given = {"note": "", "flagged": False, **more}
    return DecisionRequest(
        request_id or f"on-{case.cell_id}-{case.decision_id}-{outcome}",
        case.cell_id,
        outcome,
        str(given["note"]),
        bool(given["flagged"]),
        case.decision_id,
    )


# -- what is shown


def test_a_case_has_the_texts_the_labels_and_what_can_be_decided(at: At) -> None:
    study = at("labelled")
    (judy,) = adjudicators(study, "judy")
    case = first_case(study, judy)
    conflict = study.grid().desk.conflict(case.cell_id)
    assert (case.hs, case.cn, case.answers) == (conflict.hs, conflict.cn, conflict.answers)
    assert case.hs.language == "en"
    assert case.choices == CHOICES
    assert (case.decision_id, case.outcome, case.note, case.flagged) == (None, None, "", False)


def test_no_name_of_an_annotator_is_in_any_case(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    (judy,) = adjudicators(study, "judy")
    for pair in grid.waiting_pairs():
        assert not any(name in repr(AdjudicationQueue(grid).case(judy, pair)) for name in ANNOTATORS)


def test_what_waits_is_what_the_keyboard_would_show(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    (judy,) = adjudicators(study, "judy")
    waiting, shown = grid.waiting_pairs(), []
    while case := AdjudicationQueue(grid).next(judy):
        shown.append(case.cell_id)
        AdjudicationQueue(grid).decide(judy, rule(case))
    assert len(shown) > 5
    assert sorted(shown) == waiting
    assert AdjudicationQueue(grid).state(judy) == QueueCounts(0, False, 0, len(shown), 0)


def test_only_pairs_that_wait_can_be_looked_at(at: At) -> None:
    study = at("decided")
    grid = study.grid()
    (judy,) = adjudicators(study, "judy")
    settled = next(pair for pair, kept in standing(study).items() if kept[0] == "unanimous")
    with pytest.raises(ConflictError, match=f"pair {settled} has been decided by a rule meanwhile"):
        AdjudicationQueue(grid).case(judy, settled)
    for number in (0, 25, 2**70):
        with pytest.raises(UnknownIdError, match=f"there is no pair {number}"):
            AdjudicationQueue(grid).case(judy, number)


def test_labels_that_agree_and_labels_that_are_missing_need_no_decision(at: At, tmp_path: Path) -> None:
    study = at("paired")
    grid = study.grid()
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    record(study, tmp_path, [("ana", 1, "2"), ("ben", 1, "2"), *((who, 2, "skip") for who in ANNOTATORS)])
    (judy,) = adjudicators(study, "judy")
    for pair, said in ((1, "the labels of pair 1 agree"), (2, "pair 2 has no label"), (3, "pair 3 has no label")):
        with pytest.raises(ConflictError, match=said):
            AdjudicationQueue(grid).case(judy, pair)
    assert AdjudicationQueue(grid).state(judy) == QueueCounts(0, False, 0, 0, 0)
    assert AdjudicationQueue(grid).next(judy) is None


def test_only_the_current_labels_count(at: At, tmp_path: Path) -> None:
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    (judy,) = adjudicators(study, "judy")
    record(study, tmp_path, [("ana", 1, "2"), ("ben", 1, "0")])
    assert first_case(study, judy).cell_id == 1
    record(study, tmp_path, [("ben", 1, "2")], supersede=True)
    assert AdjudicationQueue(study.grid()).next(judy) is None


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
        AdjudicationQueue(grid).decide(judy, rule(case))


# -- who may


def test_a_decision_that_is_taken_back_leaves_its_note_and_its_flag(at: At) -> None:
    study = at("labelled")
    judy, joan = adjudicators(study, "judy", "joan")
    case = first_case(study, judy)
    docket = AdjudicationQueue(study.grid())
    assert (case.note, case.flagged) == ("", False)
    docket.decide(judy, rule(case, note="irony", flagged=True))
    docket.undo(judy, case.cell_id, "request-undo")
    again, others = docket.case(judy, case.cell_id), docket.case(joan, case.cell_id)
    assert (again.outcome, again.note, again.flagged) == (None, "irony", True)
    assert (others.note, others.flagged) == ("", False)
    study.grid().decide(case.cell_id, 2, by="judy", seen=study.grid().desk.conflict(case.cell_id, by="judy"))
    assert docket.decisions(judy)[0].flagged


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.VALIDATOR, Role.LEAD])
def test_only_adjudicators_have_a_docket(at: At, role: Role) -> None:
    study = at("labelled")
    study.add_people(["nora"], role)
    assert_nothing_opens(study, admit(study, "nora").id, "only invited adjudicators")


def test_nothing_is_shown_before_consent(at: At) -> None:
    study = at("labelled")
    study.add_people(["judy"], Role.ADJUDICATOR)
    visitor = study.access.by_token(study.access.invite("judy"))
    assert visitor is not None
    assert_nothing_opens(study, visitor.id, "agree to take part first")


def test_who_has_left_decides_nothing_more(at: At) -> None:
    study = at("labelled")
    (judy,) = adjudicators(study, "judy")
    study.retire("judy")
    assert_nothing_opens(study, judy, "only invited adjudicators")


def assert_nothing_opens(study: Study, person: int, said: str) -> None:
    grid = study.grid()
    docket, pair = AdjudicationQueue(grid), grid.waiting_pairs()[0]
    calls: tuple[Callable[[], object], ...] = (
        lambda: docket.state(person),
        lambda: docket.next(person),
        lambda: docket.case(person, pair),
        lambda: docket.decide(person, DecisionRequest("a-request", pair, "appropriate")),
        lambda: docket.undo(person, pair, "a-request"),
    )
    for call in calls:
        assert_refused(study, call, RefusedError, said)


def test_who_labelled_a_pair_does_not_decide_it(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    study.change_role("cleo", Role.ADJUDICATOR)
    cleo, judy = admit(study, "cleo").id, *adjudicators(study, "judy")
    own = {pair for (pair, who) in _labelled_by(study) if who == "cleo"} & set(grid.waiting_pairs())
    state = AdjudicationQueue(grid).state(cleo)
    assert own
    assert state.for_others == len(own)
    assert state.waiting == AdjudicationQueue(grid).state(judy).waiting - len(own)
    pair = min(own)
    with pytest.raises(RefusedError, match=f"`cleo` labelled pair {pair}"):
        AdjudicationQueue(grid).case(cleo, pair)
    assert_refused(
        study,
        lambda: AdjudicationQueue(grid).decide(cleo, DecisionRequest("a-request", pair, "appropriate")),
        RefusedError,
        "labelled",
    )
    while case := AdjudicationQueue(grid).next(cleo):
        assert case.cell_id not in own
        AdjudicationQueue(grid).decide(cleo, rule(case))


def _labelled_by(study: Study) -> set[tuple[int, str]]:
    rows = study.grid().labels()
    return set(zip(rows["pair"].tolist(), rows["annotator"].tolist(), strict=True))


def test_who_validates_a_pair_does_not_decide_it(at: At, tmp_path: Path) -> None:
    study = at("decided")
    grid = study.grid()
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    pair = next(pair for pair, kept in standing(study).items() if kept[0] == "unanimous")
    rows = [{"pair": pair, "validator": "vera", "verdict": "agree"}]
    grid.import_verdicts(write_csv(tmp_path / "v.csv", rows))
    study.hand_over("vera")
    study.change_role("vera", Role.ADJUDICATOR)
    vera = admit(study, "vera").id
    assert_refused(
        study,
        lambda: AdjudicationQueue(grid).decide(vera, DecisionRequest("a-request", pair, "appropriate")),
        RefusedError,
        "validate",
    )


# -- deciding


@pytest.mark.parametrize(("outcome", "code"), [("not_appropriate", 0), ("appropriate", 2), ("irreconcilable", None)])
def test_a_decision_is_kept_with_its_note_and_flag(at: At, outcome: str, code: int | None) -> None:
    study = at("labelled")
    grid = study.grid()
    (judy,) = adjudicators(study, "judy")
    case = first_case(study, judy)
    reply = AdjudicationQueue(grid).decide(judy, rule(case, outcome, note="irony, نه", flagged=True))
    assert standing(study)[case.cell_id] == ("person", code)
    (kept,) = AdjudicationQueue(grid).decisions(judy)
    assert (kept.decision_id, kept.cell_id) == (reply["decision_id"], reply["cell_id"])
    assert (kept.outcome, kept.rule, kept.by) == (outcome, Rule.PERSON, "judy")
    assert (kept.note, kept.flagged) == ("irony, نه", True)


def test_neither_a_decision_nor_taking_it_back_leaves_a_run(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    (judy,) = adjudicators(study, "judy")
    case, before = first_case(study, judy), study.log()
    AdjudicationQueue(grid).decide(judy, rule(case))
    AdjudicationQueue(grid).undo(judy, case.cell_id, "another-request")
    grid.decide(case.cell_id, 2, by="judy")
    assert grid.take_back(case.cell_id, by="judy") is False
    assert study.log() == before


@pytest.mark.parametrize("outcome", ["not_sure", "skip", "", "2", "reopened"])
def test_only_a_choice_of_the_case_is_an_outcome(at: At, outcome: str) -> None:
    study = at("labelled")
    (judy,) = adjudicators(study, "judy")
    ruling = rule(first_case(study, judy), outcome)
    assert_refused(
        study,
        lambda: AdjudicationQueue(study.grid()).decide(judy, ruling),
        InputError,
        "is not an outcome; expected one of not_",
    )


def test_a_request_that_comes_again_is_answered_alike_and_stored_once(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    (judy,) = adjudicators(study, "judy")
    case = first_case(study, judy)
    first = AdjudicationQueue(grid).decide(judy, rule(case))
    after = dump(study)
    assert AdjudicationQueue(grid).decide(judy, rule(case)) == first
    assert dump(study) == after
    taken_back = AdjudicationQueue(grid).undo(judy, case.cell_id, "undo-request")
    after = dump(study)
    assert AdjudicationQueue(grid).undo(judy, case.cell_id, "undo-request") == taken_back
    assert AdjudicationQueue(grid).decide(judy, rule(case)) == first
    assert dump(study) == after


def test_a_request_id_serves_for_one_thing_only(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    (judy,) = adjudicators(study, "judy")
    case = first_case(study, judy)
    AdjudicationQueue(grid).decide(judy, rule(case, request_id="a-request"))
    changed = (
        rule(case, "irreconcilable", request_id="a-request"),
        rule(case, request_id="a-request", note="other"),
        rule(case, request_id="a-request", flagged=True),
    )
    for ruling in changed:
        assert_refused(study, lambda one=ruling: AdjudicationQueue(grid).decide(judy, one), ConflictError, "request id")  # type: ignore[misc]
    assert_refused(
        study, lambda: AdjudicationQueue(grid).undo(judy, case.cell_id, "a-request"), ConflictError, "request id"
    )


def test_one_s_own_decision_can_be_looked_at_and_changed(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    (judy,) = adjudicators(study, "judy")
    case = first_case(study, judy)
    reply = AdjudicationQueue(grid).decide(judy, rule(case, note="first", flagged=True))
    again = AdjudicationQueue(grid).case(judy, case.cell_id)
    assert (again.decision_id, again.outcome) == (reply["decision_id"], "appropriate")
    assert (again.note, again.flagged) == ("first", True)
    AdjudicationQueue(grid).decide(judy, rule(again, "irreconcilable"))
    assert standing(study)[case.cell_id] == ("person", None)
    assert [row["rule"] for row in grid.explain(case.cell_id).decisions] == ["person", "person"]


def test_a_pair_that_somebody_else_decided_meanwhile_is_not_decided_again(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    judy, vera = adjudicators(study, "judy", "vera")
    case = first_case(study, judy)
    seen = AdjudicationQueue(grid).case(vera, case.cell_id)
    AdjudicationQueue(grid).decide(vera, rule(seen))
    said = f"pair {case.cell_id} has been decided by vera meanwhile"
    assert_refused(study, lambda: AdjudicationQueue(grid).decide(judy, rule(case)), ConflictError, said)
    with pytest.raises(ConflictError, match=said):
        AdjudicationQueue(grid).case(judy, case.cell_id)


@pytest.mark.server
def test_of_two_who_decide_at_the_same_moment_one_is_told_about_the_other(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    people = adjudicators(study, "judy", "vera")
    for pair in grid.waiting_pairs():
        cases = [AdjudicationQueue(grid).case(person, pair) for person in people]
        with ThreadPoolExecutor(2) as threads:
            taken = threads.map(
                lambda one: _attempt(lambda: AdjudicationQueue(grid).decide(one[0], rule(one[1]))),
                zip(people, cases, strict=True),
            )
            assert sorted(taken) == [False, True]
        assert len(grid.explain(pair).decisions) == 1


def test_a_decision_that_was_taken_back_elsewhere_is_not_changed_unseen(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    (judy,) = adjudicators(study, "judy")
    case = first_case(study, judy)
    AdjudicationQueue(grid).decide(judy, rule(case))
    again = AdjudicationQueue(grid).case(judy, case.cell_id)
    grid.take_back(case.cell_id, by="judy")
    ruling = rule(again, "irreconcilable")
    assert_refused(
        study, lambda: AdjudicationQueue(grid).decide(judy, ruling), ConflictError, "taken back since it was shown"
    )


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
            ruling = rule(case, request_id=f"decide-{number}")
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


# -- taking back


def test_a_decision_taken_back_waits_again(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    (judy,) = adjudicators(study, "judy")
    case, waiting = first_case(study, judy), grid.waiting_pairs()
    AdjudicationQueue(grid).decide(judy, rule(case))
    assert case.cell_id not in grid.waiting_pairs()
    AdjudicationQueue(grid).undo(judy, case.cell_id, "undo-request")
    assert grid.waiting_pairs() == waiting
    assert AdjudicationQueue(grid).case(judy, case.cell_id) == case
    assert [row["rule"] for row in grid.explain(case.cell_id).decisions] == ["person", "reopened"]
    assert AdjudicationQueue(grid).decisions() == []
    assert AdjudicationQueue(grid).state(judy).decided == 0


def test_only_one_s_own_decision_is_taken_back(at: At) -> None:
    study = at("decided")
    grid = study.grid()
    judy, vera = adjudicators(study, "judy", "vera")
    case = first_case(study, vera)
    AdjudicationQueue(grid).decide(vera, rule(case))
    settled = next(pair for pair, kept in standing(study).items() if kept[0] == "unanimous")
    refused: tuple[tuple[int, type[FcpairError], str], ...] = (
        (case.cell_id, ConflictError, f"pair {case.cell_id} has been decided by vera"),
        (settled, ConflictError, "a rule has decided"),
        (grid.waiting_pairs()[0], ConflictError, "has no current decision"),
        (99, UnknownIdError, "there is no pair 99"),
    )
    for pair, error, said in refused:
        assert_refused(study, lambda pair=pair: AdjudicationQueue(grid).undo(judy, pair, f"undo-{pair}"), error, said)  # type: ignore[misc]


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


def test_two_adjudicators_begin_apart_and_the_pairs_of_one_hs_stay_together(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    judy, vera = adjudicators(study, "judy", "vera")
    assert first_case(study, judy).cell_id != first_case(study, vera).cell_id
    seen = []
    while case := AdjudicationQueue(grid).next(judy):
        seen.append(case.hs.body)
        AdjudicationQueue(grid).decide(judy, rule(case))
    changes = sum(one != other for one, other in pairwise(seen))
    assert changes <= len(set(seen))  # one HS may stand at the border of two shares


def test_one_can_go_on_from_a_pair_and_come_back_to_it(at: At) -> None:
    study = at("decided")
    grid = study.grid()
    (judy,) = adjudicators(study, "judy")
    first = first_case(study, judy)
    seen = [first.cell_id]
    for _ in range(AdjudicationQueue(grid).state(judy).waiting):
        case = AdjudicationQueue(grid).next(judy, after=seen[-1])
        assert case is not None
        seen.append(case.cell_id)
    assert sorted(seen[:-1]) == grid.waiting_pairs()
    assert seen[-1] == first.cell_id


# -- what is decided


@pytest.mark.server
def test_the_list_says_what_is_decided_and_by_whom_newest_first(at: At) -> None:
    study = at("decided")
    grid = study.grid()
    judy, vera = adjudicators(study, "judy", "vera")
    for who, outcome in ((judy, "appropriate"), (vera, "irreconcilable")):
        AdjudicationQueue(grid).decide(who, rule(first_case(study, who), outcome))
    newest, before, *rest = AdjudicationQueue(grid).decisions()
    assert [(newest.by, newest.outcome), (before.by, before.outcome)] == [
        ("vera", "irreconcilable"),
        ("judy", "appropriate"),
    ]
    assert {(one.by, one.rule) for one in rest} == {(None, Rule.UNANIMOUS), (None, Rule.MAJORITY)}
    assert {one.cell_id: one.outcome for one in rest} == {
        pair: NAMES[code] for pair, (kept, code) in standing(study).items() if kept != "person" and code is not None
    }
    assert [one.by for one in AdjudicationQueue(grid).decisions(judy)] == ["judy"]


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


@pytest.mark.server
def test_the_list_comes_in_pages(at: At) -> None:
    study = at("decided")
    grid = study.grid()
    whole = AdjudicationQueue(grid).decisions()
    pages = [AdjudicationQueue(grid).decisions(limit=7)]
    while pages[-1]:
        pages.append(AdjudicationQueue(grid).decisions(limit=7, before=pages[-1][-1].decision_id))
    assert [one for page in pages for one in page] == whole
    assert len(whole) == len(standing(study))
