"""Many at once, by several servers of one study: nothing is lost or doubled, and nobody waits for ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random
from threading import Barrier
from typing import Any

import pytest
from servers import execute

from fcpair.errors import ConflictError, RefusedError
from fcpair.params import Annotate, Assign
from fcpair.records import Role, Submission, Visitor
from fcpair.steps.docket import Docket, Ruling
from fcpair.study import Study
from steps.online import admit
from steps.small import ANNOTATORS, VALIDATORS

At = Callable[[str], Study]
ANSWERS = ("appropriate", "not_sure", "not_appropriate")
AGREE = ("agree", "disagree")


@contextmanager
def servers_of(study: Study, n: int) -> Iterator[list[Study]]:
    """The study as `n` servers have it, each with its own connections."""
    opened = [Study.open(Path(study.place)) for _ in range(n)]
    for one in opened:
        one.share()
    try:
        yield opened
    finally:
        for one in opened:
            one.close()


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """What acts return, or raise, that begin at the same moment."""
    ready = Barrier(len(acts))

    def begun(act: Callable[[], Any]) -> Any:
        ready.wait(30)
        try:
            return act()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(begun, acts))


def is_sound(study: Study) -> bool:
    health = Study.doctor(study.address)
    assert [one for one in health.checks if one.found] == []
    return health.sound


def work_through(study: Study, visitor: Visitor, words: tuple[str, ...], seed: int) -> dict[str, int]:
    """Answer all that one person has open, some of it in batches with a skip, some twice; what was acknowledged."""
    desk, random = study.desk(Annotate()), Random(seed)
    acknowledged: dict[str, int] = {}
    for number in count():
        tasks = desk.tasks(visitor, random.randint(1, 3))
        if not tasks or number > 60:
            return acknowledged
        given = [
            Submission(
                f"{visitor.name}-{number}-{at}",
                task.assignment_id,
                "skip" if random.random() < 0.1 else random.choice(words),
                decision_id=task.decision_id,
            )
            for at, task in enumerate(tasks)
        ]
        for one, reply in zip(given, desk.submit_all([(visitor, one) for one in given]), strict=True):
            if isinstance(reply, dict):
                acknowledged[one.request_id] = reply["assignment_id"]
                again = desk.submit(visitor, one) if random.random() < 0.3 else reply
                assert again == reply
            else:
                assert isinstance(reply, (ConflictError, RefusedError)), reply
    raise AssertionError


@pytest.mark.parametrize("seed", [1, 2])
def test_what_many_answer_by_three_servers_is_there_once(at: At, seed: int) -> None:
    study = at("dealt")
    visitors = [admit(study, name) for name in ANNOTATORS]
    with servers_of(study, 3) as opened:
        acts = [
            lambda one=one, visitor=visitor, at=at: work_through(one, visitor, ANSWERS, seed + at)
            for at, (one, visitor) in enumerate(zip(opened, visitors, strict=True))
        ]
        replies = at_once(*acts)
    assert [type(one) for one in replies] == [dict] * 3
    receipts = execute(study.place, "SELECT request_id, number FROM receipt ORDER BY number")
    assert {request for request, _ in receipts} == {request for one in replies for request in one}
    assert [number for _, number in receipts] == list(range(1, len(receipts) + 1))
    assert execute(study.place, "SELECT count(*), max(id) FROM judgement") == [(len(receipts), len(receipts))]
    assert is_sound(study)


def test_one_request_that_comes_by_three_servers_at_once_is_stored_once(at: At) -> None:
    study = at("dealt")
    visitor = admit(study, "ana")
    task = study.desk(Annotate()).tasks(visitor)[0]
    same = Submission("the same", task.assignment_id, "appropriate")
    with servers_of(study, 3) as opened:
        replies = at_once(*(lambda one=one: one.desk(Annotate()).submit(visitor, same) for one in opened))
    assert replies == [replies[0]] * 3
    assert isinstance(replies[0], dict)
    assert execute(study.place, "SELECT count(*) FROM judgement") == [(1,)]
    assert is_sound(study)


def test_of_two_who_decide_one_pair_at_once_one_decides(at: At) -> None:
    study = at("labelled")
    study.add_people(["ada", "abe"], Role.ADJUDICATOR)
    ada, abe = (admit(study, name) for name in ("ada", "abe"))
    with servers_of(study, 2) as opened:
        dockets = [Docket(one.grid()) for one in opened]
        while case := dockets[0].next(ada.id):
            ruling = Ruling(f"r-{case.cell_id}", case.cell_id, next(iter(case.choices)), seen_answer_id=case.answer_id)
            replies = at_once(
                *(
                    lambda one=one, who=who, ruling=ruling: one.decide(who.id, ruling)
                    for one, who in zip(dockets, (ada, abe), strict=True)
                )
            )
            assert Counter(type(one) for one in replies) == {dict: 1, ConflictError: 1}
    assert is_sound(study)


def test_who_labels_and_who_validates_never_meet_on_a_pair(at: At) -> None:
    study = at("checking")
    people = [(admit(study, name), AGREE) for name in VALIDATORS]
    with servers_of(study, 2) as opened:
        replies = at_once(
            *(
                lambda one=one, who=who, words=words: work_through(one, who, words, 7)
                for one, (who, words) in zip(opened, people, strict=True)
            )
        )
    assert [type(one) for one in replies] == [dict] * 2
    assert is_sound(study)


def ask_and_answer(study: Study, visitor: Visitor, seed: int, skips: float = 0.1) -> set[int]:
    """Ask for pairs until nothing is free any more; the pairs answered."""
    desk, random = study.desk(Annotate()), Random(seed)
    answered: set[int] = set()
    for number in count():
        tasks = desk.tasks(visitor, random.choice([1, 2, 10]))
        if not tasks:
            return answered
        for at, task in enumerate(tasks[: random.randint(1, len(tasks))]):
            said = "skip" if random.random() < skips else random.choice(ANSWERS)
            desk.submit(visitor, Submission(f"{visitor.name}-{seed}-{number}-{at}", task.assignment_id, said))
            answered |= set() if said == "skip" else {task.cell_id}
    raise AssertionError


def test_many_who_ask_two_servers_at_once_are_given_each_pair_as_often_as_was_asked(at: At) -> None:
    study = at("paired")
    names = [f"a{at:02d}" for at in range(1, 13)]
    study.add_people(names, Role.ANNOTATOR)
    study.grid().assign(Assign(open=True, overlap={2: 0.25, 5: 0.5}, seed=3))
    visitors = [admit(study, name) for name in names]
    with servers_of(study, 2) as opened:
        acts = [
            lambda one=opened[at % 2], visitor=visitor, at=at: ask_and_answer(one, visitor, at)
            for at, visitor in enumerate(visitors)
        ]
        answered = at_once(*acts)
    assert [type(one) for one in answered] == [set] * len(names)
    answered += [ask_and_answer(study, visitor, 99, skips=0) for visitor in visitors]  # what was skipped at the end
    given = Counter(cell_id for one in answered for cell_id in one)
    assert Counter(given.values()) == Counter({1: 6, 2: 6, 5: 12})
    assert execute(study.place, "SELECT count(*) FROM slot") == [(0,)]
    assert execute(study.place, "SELECT count(*) FROM assignment WHERE status = 'done'") == [(given.total(),)]
    assert is_sound(study)
