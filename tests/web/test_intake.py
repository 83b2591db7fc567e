"""Answers that come together: one transaction, and nobody suffers for what is the matter with another's answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from steps.online import admit

from fcpair.errors import RefusedError
from fcpair.params import Annotate
from fcpair.records import Submission, Visitor
from fcpair.steps.desk import Desk
from fcpair.study import Study
from fcpair.web.intake import Intake, Reply
from web.conftest import Site


class Counting(Desk):
    """A desk that notes how many answers come in each transaction, and cannot store some."""

    def __init__(self, study: Study, broken: str = "") -> None:
        super().__init__(study._store, Annotate())
        self.batches: list[int] = []
        self.broken = broken

    def submit_all(self, given: Sequence[tuple[Visitor, Submission]]) -> list[Reply | Exception]:  # type: ignore[override]
        self.batches.append(len(given))
        if any(what.request_id == self.broken for _, what in given):
            raise RuntimeError("what nobody thought of")
        return list(super().submit_all(given))


def answers_of(study: Study, name: str, n: int) -> list[tuple[Visitor, Submission]]:
    visitor = admit(study, name)
    tasks = study.desk(Annotate()).tasks(visitor, n)
    return [(visitor, Submission(f"{name}-{at}", one.assignment_id, "not_sure")) for at, one in enumerate(tasks)]


def send(intake: Intake, answers: Sequence[tuple[Visitor, Submission]]) -> list[Reply | BaseException]:
    """Send all at once; what each was answered."""

    async def all_at_once() -> list[Reply | BaseException]:
        return await asyncio.gather(*(intake.submit(*one) for one in answers), return_exceptions=True)

    return asyncio.run(all_at_once())


def test_answers_that_come_together_share_a_transaction(site: Site) -> None:
    desk = Counting(site.study)
    replies = send(Intake(desk), answers_of(site.study, "ana", 5))
    assert sum(desk.batches) == 5
    assert len(desk.batches) <= 2
    assert len({reply["judgement_id"] for reply in replies if isinstance(reply, dict)}) == 5


def test_an_answer_that_is_refused_is_told_to_its_sender_alone(site: Site) -> None:
    ana, ben = answers_of(site.study, "ana", 2), answers_of(site.study, "ben", 1)
    (visitor, _), (_, theirs) = ana[0], ben[0]
    replies = send(
        Intake(Counting(site.study)), [ana[0], (visitor, Submission("x", theirs.assignment_id, "skip")), *ben]
    )
    assert [type(reply) for reply in replies] == [dict, RefusedError, dict]


def test_an_answer_that_cannot_be_stored_does_not_keep_the_others_out(site: Site) -> None:
    desk = Counting(site.study, broken="ben-0")
    replies = send(Intake(desk), [*answers_of(site.study, "ana", 2), *answers_of(site.study, "ben", 2)])
    assert [type(reply) for reply in replies] == [dict, dict, RuntimeError, dict]
    assert len(site.study.labels()) == 3


def test_whoever_gives_up_waiting_has_their_answer_stored_once(site: Site) -> None:
    intake, (first, second) = Intake(Counting(site.study)), answers_of(site.study, "ana", 2)

    async def give_up() -> Reply:
        leaving = asyncio.create_task(intake.submit(*first))
        await asyncio.sleep(0)
        leaving.cancel()
        await intake.submit(*second)
        with pytest.raises(asyncio.CancelledError):
            await leaving
        return await intake.submit(*first)

    assert asyncio.run(give_up())["judgement_id"] > 0
    assert len(site.study.labels()) == 2


def test_the_next_batch_is_written_after_a_failure(site: Site) -> None:
    intake = Intake(Counting(site.study, broken="ana-0"))
    first, second = answers_of(site.study, "ana", 2)
    assert isinstance(send(intake, [first])[0], RuntimeError)
    assert isinstance(send(intake, [second])[0], dict)
