"""What somebody opted out of is on no page of theirs; and what comes back when they opt in is what was taken."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from conftest import one_short
from sqlalchemy import select, update

from fcpair.errors import ConflictError, RefusedError
from fcpair.grid import AdjudicationQueue
from fcpair.params import Annotate, Assign
from fcpair.records import Known, Role, Status
from fcpair.steps.oversight.doctor import examine
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import texts
from fcpair.store.database.tables import assignment, text
from fcpair.study import Study
from steps.calibrated import FIRST, NO, answer_all, begin, discussing
from steps.online import admit, at_desk, give
from steps.people.known import assign_with_known_pairs, right_answer
from steps.small import ANNOTATORS, CNS, SELECTED, At

TOPIC = "topic"
TEA = SELECTED[::2]
pytestmark = pytest.mark.server


def about_tea(study: Study) -> Study:
    """Half of the HS are about tea, the others about rain."""
    with study._store.write() as tx:
        for hs in SELECTED:
            tx.execute(update(text).where(text.c.body == hs).values(meta={TOPIC: "tea" if hs in TEA else "rain"}))
    return study


def leave_out(study: Study, name: str, *topics: str) -> None:
    """Have somebody opt out of these topics, and in again to all others."""
    study.access.opt_out(next(one.id for one in study.people if one.name == name), TOPIC, topics)


def qualified(study: Study, folder: Path) -> Study:
    """The small study with control pairs, where everybody has qualified."""
    assign_with_known_pairs(about_tea(study), folder)
    for name in ANNOTATORS:
        desk, visitor = at_desk(study, name)
        for task in desk.tasks(visitor, 50):
            give(desk, visitor, right_answer(task.cell_id), task.assignment_id)
    return study


@pytest.mark.parametrize("seed", one_short(*range(4)))
def test_what_comes_back_is_what_was_taken_in_its_place_whatever_others_did(at: At, tmp_path: Path, seed: int) -> None:
    """Control pairs go to nobody else: did anything else stay away, they were what is left."""
    study, drawn = qualified(at("dealt"), tmp_path), random.Random(seed)
    desk, ana = at_desk(study, "ana")
    before = desk.tasks(ana, 50)
    with study._store.read() as tx:
        (control_round,) = rounds.of_known_pairs(tx, use=Known.CONTROLS)
        control_pairs = set(assignments.assignments(tx, control_round).query("person_id == @ana.id")["cell_id"])
    assert any(task.row.body in TEA for task in before if task.cell_id in control_pairs)
    leave_out(study, "ana", "tea")
    assert desk.tasks(ana, 50) == [task for task in before if task.row.body not in TEA]
    for name in ("ben", "cleo"):
        other = admit(study, name)
        for task in desk.tasks(other, 50)[:: -1 if seed % 2 else 1]:
            if drawn.random() < 0.8:
                give(desk, other, drawn.choice(["appropriate", "skip", "not_sure"]), task.assignment_id)
    leave_out(study, "ana")
    tasks = desk.tasks(ana, 50)
    assert tasks[: len(before)] == before  # behind them may be what others skipped
    for task in tasks:
        give(desk, ana, "appropriate", task.assignment_id)
    assert [task.assignment_id for task in desk.answers(ana, n=50)] == [task.assignment_id for task in tasks][::-1]
    found = [fault for check in examine(study.place).checks for fault in check.found]
    assert {fault for fault in found if not fault.startswith("text")} == set()  # `about_tea` has changed some


def test_only_what_the_opt_out_took_comes_back(at: At) -> None:
    """What the lead gave to others before is theirs."""
    study = about_tea(at("dealt"))
    desk, ana = at_desk(study, "ana")
    study.hand_over("ana")
    leave_out(study, "ana", "tea")
    leave_out(study, "ana")
    assert desk.tasks(ana, 50) == []


@pytest.mark.parametrize("again", [False, True])
def test_nothing_comes_back_of_a_round_of_a_calibration_that_is_closed(at: At, again: bool) -> None:
    study = about_tea(at("paired"))
    visitors = discussing(study) if again else begin(study)
    desk = study.work_queue()
    taken = [task for task in desk.tasks(visitors["ana"], 50) if task.row.body in TEA]
    assert taken
    leave_out(study, "ana", "tea")
    if not again:
        for name in ("ben", "cleo"):
            for at_, task in enumerate(desk.tasks(visitors[name], 50)):
                give(desk, visitors[name], FIRST[name][at_], task.assignment_id)
    study.grid().calibration.close(early=True) if again else study.grid().calibration.open_discussion(early=True)
    leave_out(study, "ana")
    assert {task.assignment_id for task in desk.tasks(visitors["ana"], 50)}.isdisjoint(
        task.assignment_id for task in taken
    )
    with study._store.write() as tx:  # as an earlier version left it
        tx.execute(update(assignment).where(assignment.c.id == taken[0].assignment_id).values(status=Status.OPEN.value))
    with pytest.raises(ConflictError, match="the discussion has begun, or is over"):
        give(desk, visitors["ana"], NO, taken[0].assignment_id)


def test_nothing_comes_back_of_a_qualification_that_is_over(at: At, tmp_path: Path) -> None:
    """Who has read what was right there could change their answers else."""
    study = at("dealt")
    assign_with_known_pairs(study, tmp_path)
    desk, ana = at_desk(study, "ana")
    first, second = (task.row for task in desk.tasks(ana, 50))
    assert first != second
    with study._store.write() as tx:
        tx.execute(update(text).where(text.c.body == first.body).values(meta={TOPIC: "tea"}))
    leave_out(study, "ana", "tea")
    for task in desk.tasks(ana, 50):
        give(desk, ana, right_answer(task.cell_id), task.assignment_id)
    shard = desk.tasks(ana, 50)
    assert shard[0].round == "label"
    leave_out(study, "ana")
    assert {task.round for task in desk.tasks(ana, 50)} == {"label"}


def test_in_open_assignment_one_may_ask_again_for_what_was_taken(at: At) -> None:
    study = about_tea(at("paired"))
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    study.grid().assign(Assign(open=True))
    desk, ana = at_desk(study, "ana")
    taken = {task.cell_id for task in desk.tasks(ana, 50) if task.row.body in TEA}
    leave_out(study, "ana", "tea")
    assert {task.row.body for task in desk.tasks(ana, 50)}.isdisjoint(TEA)
    leave_out(study, "ana")
    with study._store.read() as tx:
        held = tx.execute(select(assignment.c.until).where(assignment.c.status == Status.OPEN.value)).scalars().all()
    assert None not in held
    answered = set()
    while tasks := desk.tasks(ana):
        give(desk, ana, "appropriate", tasks[0].assignment_id)
        answered.add(tasks[0].cell_id)
    assert taken <= answered


def test_the_discussion_shows_nothing_of_a_topic_that_somebody_left_out_and_does_not_ask_again(at: At) -> None:
    study = about_tea(at("paired"))
    visitors = begin(study)
    answer_all(study, visitors, FIRST)
    leave_out(study, "ana", "tea", "rain")
    study.grid().calibration.open_discussion()
    desk = study.work_queue()
    assert desk.tasks(visitors["ana"], 50) == []
    assert desk.tasks(visitors["ben"], 50) != []
    assert study.discussions(visitors["ana"]) == []
    assert not study.has_discussion(visitors["ana"])
    leave_out(study, "ana")
    assert len(desk.tasks(visitors["ana"], 50)) == 2
    (before,) = study.discussions(visitors["ana"])
    rain = [pair for pair in before.pairs if pair.row.body not in TEA]
    assert len(rain) < len(before.pairs)
    leave_out(study, "ana", "tea")
    assert [pair for discussion in study.discussions(visitors["ana"]) for pair in discussion.pairs] == rain
    assert len(study.discussions(visitors["ben"])[0].pairs) == len(before.pairs)


def test_own_answers_on_a_topic_are_not_shown_once_it_is_left_out(at: At) -> None:
    study = about_tea(at("dealt"))
    desk, ana = at_desk(study, "ana")
    for task in desk.tasks(ana, 50):
        give(desk, ana, "appropriate", task.assignment_id)
    answered = desk.answers(ana, n=50)
    leave_out(study, "ana", "tea")
    rain = [task for task in answered if task.row.body not in TEA]
    assert desk.answers(ana, n=50) == rain
    assert desk.answers(ana, before=rain[0].assignment_id) == rain[1:2]


def test_the_review_of_a_qualification_shows_nothing_of_it(at: At, tmp_path: Path) -> None:
    study = qualified(at("dealt"), tmp_path)
    ana = admit(study, "ana")
    (before,) = study.review_qualifications(ana)
    leave_out(study, "ana", "tea")
    (review,) = study.review_qualifications(ana)
    assert (review.right, review.answered) == (before.right, before.answered) == (2, 2)
    assert review.pairs == tuple(pair for pair in before.pairs if pair.row not in TEA)


def test_adjudicators_are_shown_no_case_and_no_decision_on_it(at: At) -> None:
    study = about_tea(at("decided"))
    study.add_people(["judy"], Role.VALIDATOR)
    judy = admit(study, "judy").id
    leave_out(study, "judy", "tea")
    study.change_role("judy", Role.ADJUDICATOR)
    queue = AdjudicationQueue(study.grid())
    everything = queue.decisions(limit=50)
    assert {case.hs.body for case in everything} == {*SELECTED}
    assert queue.decisions(limit=50, reader=judy) == [case for case in everything if case.hs.body not in TEA]
    pair = next(pair for pair in study.grid().waiting_pairs() if study.grid().explain(pair).hs in TEA)
    with pytest.raises(RefusedError, match=f"`judy` opted out of a topic of pair {pair}"):
        queue.case(judy, pair)


def test_the_text_that_a_side_answers_is_shown_with_it_and_so_left_out_too(at: At) -> None:
    study = about_tea(at("dealt"))
    with study._store.write() as tx:
        ids = texts.texts_of(tx, "hs").set_index("body")["id"]
        tx.execute(update(text).where(text.c.body == CNS[12]).values(answers_id=int(ids[TEA[0]])))
    desk, ana = at_desk(study, "ana", Annotate())
    tasks = desk.tasks(ana, 50)
    answering = [task for task in tasks if task.column and task.column.body == CNS[12] and task.row.body not in TEA]
    assert [task.answered and task.answered.body for task in answering] == [TEA[0]] * len(answering) != []
    leave_out(study, "ana", "tea")
    assert desk.tasks(ana, 50) == [task for task in tasks if task.row.body not in TEA and task not in answering]
