"""How many pairs one person may read, on a page, by the API or in a dialogue: one rule for all who answer or decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fcpair.errors import LimitError
from fcpair.params import Annotate
from fcpair.stages.assignment.reading_load import start_of_day
from fcpair.steps.base.context import own
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.answers import task_queries
from fcpair.store.database.store import soon

EVER = ""  # before every time
AHEAD = "The time noted for {} of them has not come yet: a clock was or is wrong. Please tell those who run the study."
LIMITS = ("daily_limit", "total_limit")


@dataclass(frozen=True)
class Allowance:
    """The pairs that a person has read since midnight (`today`) and in all (`read`), and how many one may read.

    A pair is read when it is answered, skipped or decided; None stands for no limit. `ahead` of those of today are
    kept with a time that has not come yet, because a clock was wrong; it is counted where it fills the daily limit.
    """

    today: int
    read: int
    daily_limit: int | None
    total_limit: int | None
    ahead: int = 0

    @property
    def room(self) -> int | None:
        """How many more pairs the person may read now; None without a limit."""
        limits = ((self.today, self.daily_limit), (self.read, self.total_limit))
        room = [limit - n for n, limit in limits if limit is not None]
        return max(min(room), 0) if room else None

    @property
    def limit(self) -> str | None:
        """A sentence when a limit is reached."""
        if self.total_limit is not None and self.read >= self.total_limit:
            return f"You have read {_pairs(self.read)}, as many as one person may read in this study. Thank you."
        if self.daily_limit is not None and self.today >= self.daily_limit:
            when = AHEAD.format(self.ahead) if self.ahead else "Please come back tomorrow."
            return f"You have read {_pairs(self.today)} today, as many as one person may read in a day. {when}"
        return None

    def shown(self) -> dict[str, Any]:
        """What is shown of it: `today`, `read`, `daily_limit`, `total_limit`, `limit`."""
        kept = ("today", "read", "daily_limit", "total_limit", "limit")
        return {name: getattr(self, name) for name in kept}


def allowance(tx: Tx, person_id: int, annotate: Annotate, *, decides: bool = False) -> Allowance:
    """What a person has read, and may read on these terms.

    Decisions have no index by person, so they are looked for where they can matter: for somebody who `decides`, and
    where there is a limit.
    """
    counts = [task_queries.pairs_read]
    if decides or limited(annotate):
        counts.append(disputes.pairs_decided)
    today, read = (sum(count(tx, person_id, since) for count in counts) for since in (_midnight(), EVER))
    full = annotate.daily_limit is not None and today >= annotate.daily_limit
    ahead = sum(count(tx, person_id, soon()) for count in counts) if full else 0
    return Allowance(today, read, annotate.daily_limit, annotate.total_limit, ahead)


def limited(annotate: Annotate) -> bool:
    """Whether these terms limit what one person may read."""
    return (annotate.daily_limit, annotate.total_limit) != (None, None)


def limit_reached(tx: Tx, person_id: int, annotate: Annotate) -> str | None:
    """A sentence when a person has reached a limit; nothing is counted where there is none."""
    return allowance(tx, person_id, annotate).limit if limited(annotate) else None


def check_room(tx: Tx, person_id: int, annotate: Annotate, cell_id: int) -> None:
    """Raise LimitError where somebody who decides has reached a limit; what they have decided once, they have read."""
    limit = limit_reached(tx, person_id, annotate)
    if limit and not disputes.has_decided(tx, cell_id, person_id):
        raise LimitError(limit)


def loosened(tx: Tx, annotate: Annotate) -> Iterator[tuple[str, int | str | None, int | str]]:
    """The limits that these terms would loosen, and the opt-out that they would end: key, new and own value."""
    there = own(tx, Annotate, {})
    for key in LIMITS:
        wanted, limit = getattr(annotate, key), getattr(there, key)
        if limit is not None and (wanted is None or wanted > limit):
            yield key, wanted, limit
    if there.opt_out is not None and annotate.opt_out != there.opt_out:
        yield "opt_out", annotate.opt_out, there.opt_out


def _pairs(n: int) -> str:
    return "1 pair" if n == 1 else f"{n:,} pairs"


def _midnight() -> str:
    """The last midnight where the server is, as the study keeps times."""
    return start_of_day(datetime.now(UTC)).astimezone(UTC).isoformat(timespec="milliseconds")
