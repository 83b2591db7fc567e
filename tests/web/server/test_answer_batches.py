"""Answers that come together: one transaction, and nobody suffers for what is the matter with another's answer."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from threading import Event, Thread, current_thread
from typing import Any
from unittest.mock import Mock

import pytest
from awaited import PATIENCE_S, a_turn
from steps.online import admit

from fcpair.errors import RefusedError
from fcpair.params import Annotate
from fcpair.records import Visitor
from fcpair.steps.answers.work_queue import WorkQueue
from fcpair.study import Study
from fcpair.web.server import answer_batches
from fcpair.web.server.answer_batches import Batches
from fcpair.work_records import Submission
from web.conftest import Site

Reply = dict[str, int]
Intake = Batches[tuple[Visitor, Submission], Reply]


class Counting(WorkQueue):
    """A desk that notes how many answers come in each transaction, and cannot store some."""

    def __init__(self, study: Study, broken: str = "") -> None:
        super().__init__(study, Annotate())
        self.batches: list[int] = []
        self.broken = broken

    def submit_all(  # type: ignore[override]
        self, given: Sequence[tuple[Visitor, Submission]], *, wait: bool = True
    ) -> list[Reply | Exception]:
        if any(what.request_id == self.broken for _, what in given):
            raise RuntimeError("what nobody thought of")
        replies: list[Reply | Exception] = [*super().submit_all(given, wait=wait)]
        self.batches.append(len(given))
        return replies


def intake_of(desk: WorkQueue) -> Intake:
    return Batches("intake", desk.submit_all, partial(desk.submit_all, wait=False))


def answers_of(study: Study, name: str, n: int) -> list[tuple[Visitor, Submission]]:
    visitor = admit(study, name)
    tasks = study.work_queue(Annotate()).tasks(visitor, n)
    return [(visitor, Submission(f"{name}-{at}", one.assignment_id, "not_sure")) for at, one in enumerate(tasks)]


def send(intake: Intake, answers: Sequence[tuple[Visitor, Submission]]) -> list[Reply | BaseException]:
    """Send all at once; what each was answered."""

    async def all_at_once() -> list[Reply | BaseException]:
        return await asyncio.gather(*(intake.add(one) for one in answers), return_exceptions=True)

    return asyncio.run(all_at_once())


def test_answers_that_come_together_share_a_transaction(site: Site) -> None:
    desk = Counting(site.study)
    replies = send(intake_of(desk), answers_of(site.study, "ana", 5))
    assert sum(desk.batches) == 5
    assert len(desk.batches) <= 2
    assert len({reply["judgement_id"] for reply in replies if isinstance(reply, dict)}) == 5


def test_one_answer_that_is_refused_or_cannot_be_stored_keeps_no_other_out(site: Site) -> None:
    intake = intake_of(Counting(site.study, broken="ben-0"))
    (first, *ana), (broken, *ben) = answers_of(site.study, "ana", 3), answers_of(site.study, "ben", 2)
    of_another = first[0], Submission("x", ben[0][1].assignment_id, "skip")
    replies = send(intake, [first, of_another, broken, *ben])
    assert [type(reply) for reply in replies] == [dict, RefusedError, RuntimeError, dict]
    assert isinstance(send(intake, [broken])[0], RuntimeError)
    assert [type(reply) for reply in send(intake, ana)] == [dict, dict]  # the next batch after a failure
    assert len(site.study.grid().labels()) == 4


def test_whoever_gives_up_waiting_has_their_answer_stored_once(site: Site) -> None:
    intake, (first, second) = intake_of(Counting(site.study)), answers_of(site.study, "ana", 2)

    async def give_up() -> Reply:
        leaving = asyncio.create_task(intake.add(first))
        await a_turn()
        leaving.cancel()
        await intake.add(second)
        with pytest.raises(asyncio.CancelledError):
            await leaving
        return await intake.add(first)

    assert asyncio.run(give_up())["judgement_id"] > 0
    assert len(site.study.grid().labels()) == 2


def test_what_is_asked_while_others_wait_is_done_together_and_one_failure_is_nobody_else_s() -> None:
    begun, goes_on = Event(), Event()
    batches: list[list[int]] = []

    def halves(batch: Sequence[int]) -> list[int | Exception]:
        batches.append(list(batch))
        begun.set()
        assert goes_on.wait(PATIENCE_S)
        return [12 // one for one in batch]

    async def several() -> list[int | BaseException]:
        shared = Batches("halves", halves)
        first = asyncio.create_task(shared.add(1))
        assert await asyncio.to_thread(begun.wait, PATIENCE_S)
        others = [asyncio.create_task(shared.add(one)) for one in (2, 0, 3)]
        await a_turn()
        goes_on.set()
        return await asyncio.gather(first, *others, return_exceptions=True)

    first, second, broken, third = asyncio.run(several())
    assert (first, second, third) == (12, 6, 4)
    assert isinstance(broken, ZeroDivisionError)
    assert batches == [[1], [2, 0, 3], [2], [0], [3]]


def test_who_reads_does_not_wait_for_another_process_that_writes(site: Site) -> None:
    site.study.share()
    waiting: list[Thread] = []
    waits = Event()

    class Patient(Counting):
        def submit_all(self, *given: Any, wait: bool = True) -> list[Reply | Exception]:  # type: ignore[override]
            if wait:
                waiting.append(current_thread())
                waits.set()
            return super().submit_all(*given, wait=wait)

    intake, (first, second) = intake_of(Patient(site.study)), answers_of(site.study, "ana", 2)

    async def meanwhile() -> list[Reply]:
        with closing(sqlite3.connect(site.study.place, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            answers = [asyncio.create_task(intake.add(one)) for one in (first, second)]
            assert await asyncio.to_thread(waits.wait, PATIENCE_S)
            assert not any(answer.done() for answer in answers)
            other.execute("ROLLBACK")
        return await asyncio.gather(*answers)

    assert len({reply["judgement_id"] for reply in asyncio.run(meanwhile())}) == 2
    assert current_thread() not in waiting


def test_a_slow_disk_keeps_nobody_from_reading_and_is_waited_for_together(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Mock(return_value=0.0)
    monkeypatch.setattr(answer_batches, "perf_counter", clock)

    class Slow(Counting):
        def submit_all(self, *given: Any, **options: Any) -> list[Reply | Exception]:  # type: ignore[override]
            clock.return_value += 0.05
            return super().submit_all(*given, **options)

    desk = Slow(site.study)
    intake, answers = intake_of(desk), answers_of(site.study, "ana", 9)

    async def one_and_then_many() -> None:
        await intake.add(answers[0])  # tells that it is slow
        await asyncio.gather(*(intake.add(one) for one in answers[1:]))

    asyncio.run(one_and_then_many())
    assert desk.batches[0] == 1
    assert len(desk.batches) <= 3
