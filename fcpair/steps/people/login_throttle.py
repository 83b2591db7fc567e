"""How often a wrong token may be tried: counted by the study, so by all servers together and across restarts."""

from __future__ import annotations

import hmac
import math
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, ip_address, ip_network
from threading import BoundedSemaphore

from fcpair.errors import StudyError, TooManyError
from fcpair.store import Store, Tx
from fcpair.store.oversight import runs
from fcpair.store.people import login_attempts
from fcpair.store.people.login_attempts import Span

MOST = 20
"""So many attempts from one neighbourhood may fail in any WINDOW_S seconds."""

MOST_IN_ALL = 1_200
"""... and so many from everywhere, so that strangers with many addresses fill no disk."""

WINDOW_S = 60
AT_ONCE = 16
"""So many threads of a process wait at most to count one while somebody else writes."""

AGAIN_S = 2
UNREADABLE = "?"
_SUBSCRIBER = 64  # bits of an IPv6 address that a subscriber is given; the rest they choose, anew for each attempt


class Attempts:
    """Attempts to come in that failed. Nothing here looks at a right token, nor writes for one.

    Where one cannot be counted, because somebody else writes for long, too many come at once or the disk is full, it
    is refused as if there had been too many: else whoever brings that about could go on uncounted. Nobody is shut out
    by that, as right tokens never come here.
    """

    def __init__(self, store: Store, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._store, self._clock = store, clock
        self._free = BoundedSemaphore(AT_ONCE)

    def add(self, address: str) -> None:
        """Count an attempt from an address that failed; one that is refused is not counted, and writes nothing.

        Raises TooManyError when there were MOST from the address's neighbourhood, or MOST_IN_ALL from everywhere, in
        the last WINDOW_S seconds, or where it cannot be counted now.
        """
        if not self._free.acquire(blocking=False):
            raise TooManyError(AGAIN_S)
        try:
            with self._store.read() as tx:
                place = _place(runs.secret(tx), address)
                self._check(tx, place)
            self._count(place)
        except StudyError as error:
            raise TooManyError(AGAIN_S) from error
        finally:
            self._free.release()

    def _count(self, place: str) -> None:
        with self._store.write(alone=False, grows=False) as tx:
            login_attempts.hold(tx)
            now = self._check(tx, place)  # again, as others were counted meanwhile
            login_attempts.forget_others(tx, _span(now))
            login_attempts.add(tx, place, _kept(now))

    def _check(self, tx: Tx, place: str) -> datetime:
        now = self._clock()
        for most, where in ((MOST, place), (MOST_IN_ALL, None)):
            n, oldest = login_attempts.tally(tx, _span(now), where)
            if n >= most and oldest is not None:
                wait_s = (datetime.fromisoformat(oldest) - now).total_seconds() + WINDOW_S
                raise TooManyError(min(max(math.ceil(wait_s), 1), WINDOW_S))
        return now

    def forget(self) -> None:
        """Delete what does not count any more; where that cannot be done now, the next time does it."""
        with suppress(StudyError):
            span = _span(self._clock())
            with self._store.read() as tx:
                if not login_attempts.has_others(tx, span):
                    return
            with self._store.write(alone=False, grows=False) as tx:
                login_attempts.forget_others(tx, span)


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


def _place(secret: str, address: str) -> str:
    """A neighbourhood as it is kept: it tells nothing to whoever has not the study's secret, too."""
    return hmac.digest(secret.encode(), f"door {neighbourhood(address)}".encode(), "sha256").hex()


def _span(now: datetime) -> Span:
    """When what counts was; a clock that runs ahead by no more than WINDOW_S does not let anybody off."""
    window = timedelta(seconds=WINDOW_S)
    return _kept(now - window), _kept(now + window)


def _kept(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
