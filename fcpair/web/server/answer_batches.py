"""Batches of what several people ask for at once; above all, answers on their way into the study."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import perf_counter
from typing import Generic, TypeVar

from fcpair.errors import BusyError

Item = TypeVar("Item")
Result = TypeVar("Result")
Act = Callable[[Sequence[Item]], Sequence[Result | Exception]]
QUICK_S = 0.01  # what takes no longer than this may keep others from reading; a thread would cost more


class Batches(Generic[Item, Result]):
    """Does what is asked one batch at a time; what is asked meanwhile is in the next one, which shares a transaction.

    That is done in a thread of their own, as those of the pages may all be taken. What can be done `quickly` is done on
    the spot, as long as the last batch took no time; where that raises, nothing was done.
    """

    def __init__(self, name: str, act: Act[Item, Result], quickly: Act[Item, Result] | None = None) -> None:
        self._act, self._quickly = act, quickly
        self._took_s = 0.0
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
                items, begun = [one for one, _ in batch], perf_counter()
                results: Sequence[Result | Exception] = []
                if self._quickly and self._took_s <= QUICK_S:
                    with suppress(Exception):  # told when it happens again, if there is time
                        results = self._quickly(items)
                results = results or await thread(self._thread, self._act_on_batch, items)
                self._took_s = (perf_counter() - begun) / len(items)
                for (_, outcome), one in zip(batch, results, strict=True):
                    if outcome.done():  # its sender has gone; it is stored, and a repeat is answered from the receipt
                        continue
                    if isinstance(one, Exception):
                        outcome.set_exception(one)
                    else:
                        outcome.set_result(one)
        finally:
            self._working = None

    def _act_on_batch(self, batch: Sequence[Item]) -> Sequence[Result | Exception]:
        try:
            return self._act(batch)
        except BusyError as error:
            return [error] * len(batch)  # one by one, they would wait just as long
        except Exception as error:
            if len(batch) == 1:
                return [error]
            # Nothing of the batch was done. Whatever the matter is with one of it, the others shall not suffer.
            return [made for act in batch for made in self._act_on_batch([act])]
