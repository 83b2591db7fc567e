"""Answers on their way into the study: those that come while others are being written share the next transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from fastapi.concurrency import run_in_threadpool

from fcpair.records import Submission, Visitor
from fcpair.steps.desk import Desk

Reply = dict[str, int]


class Intake:
    """Hands answers to the desk, one batch at a time, and acknowledges each when its batch is on disk.

    The disk is waited for once for a batch, and in a thread, so that neither a slow disk nor another process that is
    writing keeps anybody from reading.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._waiting: list[tuple[Visitor, Submission, asyncio.Future[Reply]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def submit(self, visitor: Visitor, submission: Submission) -> Reply:
        """Record an answer; see `Desk.submit` for the reply and for what is raised."""
        outcome: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((visitor, submission, outcome))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return await outcome

    async def _write(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                replies = await run_in_threadpool(self._record, [(who, what) for who, what, _ in batch])
                for (_, _, outcome), reply in zip(batch, replies, strict=True):
                    _settle(outcome, reply)
        finally:
            self._writing = None

    def _record(self, batch: Sequence[tuple[Visitor, Submission]]) -> Sequence[Reply | Exception]:
        try:
            return self._desk.submit_all(batch)
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
