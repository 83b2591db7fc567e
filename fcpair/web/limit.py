"""How often one address may try a door before it has to wait."""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Callable
from ipaddress import IPv4Address, ip_address, ip_network
from threading import Lock
from time import monotonic

from fcpair.errors import FcpairError

UNREADABLE = "?"
_SUBSCRIBER = 64  # bits of an IPv6 address that a subscriber is given; the rest they choose, anew for each attempt


def neighbourhood(address: str) -> str:
    """What an address is counted as: an IPv4 address alone, an IPv6 address with all others of its /64.

    What is no address counts as one and the same, since whoever sends it through a proxy can make up another.
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return UNREADABLE
    if isinstance(parsed, IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((int(parsed), _SUBSCRIBER), strict=False))


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
