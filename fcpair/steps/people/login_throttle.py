"""Limits on trying wrong tokens: counted by the study, so by all servers together and across restarts."""

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
from fcpair.store.people.login_attempts import TimeSpan

MAX_FAILURES = 20
"""So many attempts from one neighbourhood may fail in any WINDOW_S seconds."""

MAX_FAILURES_IN_ALL = 1_200
"""... and so many from everywhere, so that strangers with many addresses fill no disk."""

WINDOW_S = 60
MAX_WAITING = 16
"""So many threads of a process wait at most to count one while somebody else writes."""

RETRY_S = 2
UNREADABLE = "?"
_SUBSCRIBER = 64  # bits of an IPv6 address that a subscriber is given; the rest they choose, anew for each attempt


class LoginThrottle:
    """Attempts to come in that failed. Nothing here looks at a right token, nor writes for one.

    Where one cannot be counted, because somebody else writes for long, too many come at once or the disk is full, it
    is refused as if there had been too many: else whoever brings that about could go on uncounted. Nobody is shut out
    by that, as right tokens never come here.
    """

    def __init__(self, store: Store, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._store, self._clock = store, clock
        self._slots = BoundedSemaphore(MAX_WAITING)

    def count_failure(self, address: str) -> None:
        """Count an attempt from an address that failed; one that is refused is not counted, and writes nothing.

        Raises TooManyError when there were MAX_FAILURES from the address's neighbourhood, or MAX_FAILURES_IN_ALL from
        everywhere, in the last WINDOW_S seconds, or where it cannot be counted now.
        """
        if not self._slots.acquire(blocking=False):
            raise TooManyError(RETRY_S)
        try:
            with self._store.read() as tx:
                place = _neighbourhood_key(runs.secret(tx), address)
                self._check_limits(tx, place)
            self._write_failure(place)
        except StudyError as error:
            raise TooManyError(RETRY_S) from error
        finally:
            self._slots.release()

    def _write_failure(self, place: str) -> None:
        with self._store.write(alone=False, grows=False) as tx:
            login_attempts.hold_counting(tx)
            now = self._check_limits(tx, place)  # again, as others were counted meanwhile
            login_attempts.forget_outside(tx, _counting_span(now))
            login_attempts.add(tx, place, _format_time(now))

    def _check_limits(self, tx: Tx, place: str) -> datetime:
        now = self._clock()
        for most, scope in ((MAX_FAILURES, place), (MAX_FAILURES_IN_ALL, None)):
            n, oldest = login_attempts.tally(tx, _counting_span(now), scope)
            if n >= most and oldest is not None:
                wait_s = (datetime.fromisoformat(oldest) - now).total_seconds() + WINDOW_S
                raise TooManyError(min(max(math.ceil(wait_s), 1), WINDOW_S))
        return now

    def delete_expired(self) -> None:
        """Delete what does not count any more; where that cannot be done now, the next time does it."""
        with suppress(StudyError):
            span = _counting_span(self._clock())
            with self._store.read() as tx:
                if not login_attempts.has_outside(tx, span):
                    return
            with self._store.write(alone=False, grows=False) as tx:
                login_attempts.forget_outside(tx, span)


def neighbourhood(address: str) -> str:
    """Neighbourhood that an address is counted as: an IPv4 address alone, an IPv6 address with all others of its /64.

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


def _neighbourhood_key(secret: str, address: str) -> str:
    """A neighbourhood as it is kept: it tells nothing to whoever has not the study's secret, too."""
    return hmac.digest(secret.encode(), f"door {neighbourhood(address)}".encode(), "sha256").hex()


def _counting_span(now: datetime) -> TimeSpan:
    """When what counts was; a clock that runs ahead by no more than WINDOW_S does not let anybody off."""
    window = timedelta(seconds=WINDOW_S)
    return _format_time(now - window), _format_time(now + window)


def _format_time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
