"""Batches of what several people ask for at once; above all, answers on their way into the study."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import perf_counter
from typing import Generic, TypeVar

from fcpair.errors import BusyError, UnexaminedError
from fcpair.records import Visitor
from fcpair.study import WorkQueue
from fcpair.work_records import Submission

Item = TypeVar("Item")
Result = TypeVar("Result")
Reply = dict[str, int]
Answers = Sequence[tuple[Visitor, Submission]]
QUICK_S = 0.01  # what takes no longer than this may keep others from reading; a thread would cost more


class Batches(Generic[Item, Result]):
    """Does what is asked one batch at a time; what is asked meanwhile is in the next one, which shares a transaction.

    That is done in a thread, so that nobody is kept from reading. The thread is their own: those of the pages may all
    be taken by others.
    """

    def __init__(self, name: str, act: Callable[[Sequence[Item]], Sequence[Result | Exception]]) -> None:
        self._act = act
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._working: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, name)

    async def add(self, item: Item) -> Result:
        """Add an item, and return its result when its batch is done; raises what went wrong with it."""
        outcome: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, outcome))
        if self._working is None:
            self._working = asyncio.create_task(self._work())
        return await outcome

    async def _work(self) -> None:
        thread = asyncio.get_running_loop().run_in_executor
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                items = [one for one, _ in batch]
                results = self._try_quickly(items) or await thread(self._thread, self._act_on_batch, items)
                for (_, outcome), one in zip(batch, results, strict=True):
                    _set_outcome(outcome, one)
        finally:
            self._working = None

    def _try_quickly(self, _batch: Sequence[Item]) -> Sequence[Result | Exception]:
        """Results of a batch, if they can be had quickly; otherwise nothing, and nothing is done."""
        return []

    def _act_on_batch(self, batch: Sequence[Item]) -> Sequence[Result | Exception]:
        try:
            return self._act(batch)
        except BusyError as error:
            return [error] * len(batch)  # one by one, they would wait just as long
        except Exception as error:
            if len(batch) == 1:
                return [error]
            # Nothing of the batch was done. Whatever the matter is with one of it, the others shall not suffer.
            return [made for one in batch for made in self._act_on_batch([one])]


class AnswerIntake(Batches[tuple[Visitor, Submission], Reply]):
    """Hands answers to the desk, and acknowledges each when its batch is on disk.

    On a quick disk that is done on the spot; in the thread where the disk is slow, or somebody else is writing.
    """

    def __init__(self, desk: WorkQueue) -> None:
        super().__init__("intake", self._submit_timed)
        self._desk = desk
        self._took_s = 0.0

    async def submit(self, visitor: Visitor, submission: Submission) -> Reply:
        """Record an answer; see `Submissions.submit` for the reply and for what is raised.

        A text is held against the checks of its round in a thread: that takes too long for everybody to wait.
        """
        while True:
            try:
                return await self.add((visitor, submission))
            except UnexaminedError:
                await asyncio.to_thread(self._desk.run_text_checks, visitor, submission)
                submission = replace(submission, examined=True)

    def _try_quickly(self, batch: Answers) -> Sequence[Reply | Exception]:
        if self._took_s > QUICK_S:
            return []
        try:
            return self._submit_timed(batch, wait=False)
        except Exception:  # told when it happens again, where there is time
            return []

    def _submit_timed(self, batch: Answers, *, wait: bool = True) -> Sequence[Reply | Exception]:
        begun = perf_counter()
        replies = self._desk.submit_all(batch, wait=wait)
        self._took_s = (perf_counter() - begun) / len(batch)
        return replies


def _set_outcome(outcome: asyncio.Future[Result], result: Result | Exception) -> None:
    if outcome.done():  # whoever sent it has gone; it is stored, and a repeated request is answered from the receipt
        return
    if isinstance(result, Exception):
        outcome.set_exception(result)
    else:
        outcome.set_result(result)
