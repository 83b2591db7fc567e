"""Answers on their way into the study: written at once where that is quick, else together while others go on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import perf_counter

from fcpair.errors import BusyError, UnexaminedError
from fcpair.records import Submission, Visitor
from fcpair.study import Desk

Reply = dict[str, int]
Answers = Sequence[tuple[Visitor, Submission]]
QUICK_S = 0.01  # what takes no longer than this may keep others from reading; a thread would cost more


class Intake:
    """Hands answers to the desk, one batch at a time, and acknowledges each when its batch is on disk.

    On a quick disk that is done on the spot. Where the disk is slow, or somebody else is writing, it is done in a
    thread, so that nobody is kept from reading, and the answers that come meanwhile share the next transaction. That
    thread is the intake's own: those of the pages may all be taken by others.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._waiting: list[tuple[Visitor, Submission, asyncio.Future[Reply]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "intake")
        self._took_s = 0.0

    async def submit(self, visitor: Visitor, submission: Submission) -> Reply:
        """Record an answer; see `Desk.submit` for the reply and for what is raised.

        A text is held against the checks of its round in a thread: that takes too long for everybody to wait.
        """
        while True:
            outcome: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
            self._waiting.append((visitor, submission, outcome))
            if self._writing is None:
                self._writing = asyncio.create_task(self._write())
            try:
                return await outcome
            except UnexaminedError:
                await asyncio.to_thread(self._desk.examine, visitor, submission)
                submission = replace(submission, examined=True)

    async def _write(self) -> None:
        thread = asyncio.get_running_loop().run_in_executor
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                answers = [(who, what) for who, what, _ in batch]
                replies = self._at_once(answers) or await thread(self._thread, self._record, answers)
                for (_, _, outcome), reply in zip(batch, replies, strict=True):
                    _settle(outcome, reply)
        finally:
            self._writing = None

    def _at_once(self, batch: Answers) -> Sequence[Reply | Exception]:
        """The replies, if they can be had quickly; otherwise none, and nothing is written."""
        if self._took_s > QUICK_S:
            return []
        try:
            return self._timed(batch, wait=False)
        except Exception:  # told when it happens again, where there is time
            return []

    def _timed(self, batch: Answers, *, wait: bool) -> Sequence[Reply | Exception]:
        begun = perf_counter()
        replies = self._desk.submit_all(batch, wait=wait)
        self._took_s = (perf_counter() - begun) / len(batch)
        return replies

    def _record(self, batch: Answers) -> Sequence[Reply | Exception]:
        try:
            return self._timed(batch, wait=True)
        except BusyError as error:
            return [error] * len(batch)  # one by one, they would wait just as long
        except Exception as error:
            if len(batch) == 1:
                return [error]
            # Nothing of the batch was written. Whatever the matter is with one answer, the others shall not suffer.
            return [reply for one in batch for reply in self._record([one])]


def _settle(outcome: asyncio.Future[Reply], reply: Reply | Exception) -> None:
    if outcome.done():  # whoever sent it has gone; it is stored, and a repeated request is answered from the receipt
        return
    if isinstance(reply, Exception):
        outcome.set_exception(reply)
    else:
        outcome.set_result(reply)
