"""Turns of threads that write: one at a time, in the order in which they came, but for those that go first."""

from __future__ import annotations

from collections import deque
from threading import Lock


class FairLock:
    """A lock that is handed from one thread to the next, so that nobody waits for those who came later.

    Who takes it `first` waits for whoever has it, and for nobody else who waits. `patience_s` is how long one who
    writes waits at most.
    """

    def __init__(self, patience_s: float) -> None:
        self.patience_s = patience_s
        self._lock = Lock()
        self._taken = False
        self._waiting: deque[Lock] = deque()  # each is locked until its thread's turn has come

    def acquire(self, patience_s: float, *, first: bool = False) -> bool:
        """Wait for one's turn, at most so many seconds; whether it came."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            if patience_s <= 0:
                return False
            turn = Lock()
            turn.acquire()
            self._waiting.insert(0 if first else len(self._waiting), turn)
        if turn.acquire(timeout=patience_s):
            return True
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return False
            return True  # it came at the last moment

    def release(self) -> None:
        """Hand the turn on."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False
