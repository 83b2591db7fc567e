"""How often one address may try a door before it has to wait."""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock
from time import monotonic

from fcpair.errors import FcpairError


class TooManyError(FcpairError, PermissionError):
    """Too many attempts from one address; `wait_s` is how long it has to wait."""

    def __init__(self, wait_s: int) -> None:
        self.wait_s = wait_s
        super().__init__(f"too many attempts that failed came from your address; try again in {wait_s} seconds")


class Limit:
    """At most `n` counted attempts from an address in any `window_s` seconds.

    Only what is counted is remembered, for at most `addresses` addresses, so that strangers cannot fill the memory.
    """

    def __init__(
        self, n: int = 20, window_s: float = 60, addresses: int = 10_000, clock: Callable[[], float] = monotonic
    ) -> None:
        self._n, self._window_s, self._addresses, self._clock = n, window_s, addresses, clock
        self._counted: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = Lock()

    def check(self, address: str) -> None:
        """Raise TooManyError when the address has to wait."""
        with self._lock:
            times = self._counted.get(address)
            if times is None or len(times) < self._n:
                return
            wait_s = times[0] + self._window_s - self._clock()
        if wait_s > 0:
            raise TooManyError(math.ceil(wait_s))

    def count(self, address: str) -> None:
        """Count an attempt."""
        with self._lock:
            self._counted.setdefault(address, deque(maxlen=self._n)).append(self._clock())
            self._counted.move_to_end(address)
            while len(self._counted) > self._addresses:
                self._counted.popitem(last=False)
