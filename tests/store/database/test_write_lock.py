"""Threads that write wait for their turn, and answers go first."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, Semaphore
from typing import SupportsIndex

import pytest

from fcpair.store.database.store import FairLock

pytestmark = pytest.mark.files

PATIENCE_S = 10.0


class Line(deque[Lock]):
    """Those who wait; `joined` counts how many have come."""

    def __init__(self) -> None:
        super().__init__()
        self.joined = Semaphore(0)

    def insert(self, i: SupportsIndex, x: Lock) -> None:
        super().insert(int(i), x)
        self.joined.release()


def in_line(turns: FairLock, *names: str, first: frozenset[str] = frozenset()) -> list[str]:
    """The order in which threads that ask one after the other get their turn, while somebody else has it."""
    order: list[str] = []

    def write(name: str) -> None:
        assert turns.acquire(PATIENCE_S, first=name in first)
        order.append(name)
        turns.release()

    turns._waiting = line = Line()
    assert turns.acquire(0)
    with ThreadPoolExecutor(len(names)) as pool:
        for name in names:
            pool.submit(write, name)
            assert line.joined.acquire(timeout=PATIENCE_S)
        turns.release()
    return order


def test_who_came_first_is_first() -> None:
    assert in_line(FairLock(30), "one", "two", "three", "four") == ["one", "two", "three", "four"]


def test_an_answer_goes_before_all_that_wait() -> None:
    assert in_line(FairLock(30), "one", "two", "answer", first=frozenset({"answer"})) == ["answer", "one", "two"]


def test_who_gives_up_keeps_nobody_waiting() -> None:
    turns = FairLock(30)
    assert turns.acquire(0)
    assert not turns.acquire(0)
    assert not turns.acquire(0.01)
    turns.release()
    assert in_line(turns, "one") == ["one"]
