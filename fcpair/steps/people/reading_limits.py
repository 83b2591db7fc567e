"""Limits on the pairs a person may read, by page, API or dialogue: one rule for all who answer or decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fcpair.errors import LimitError
from fcpair.params import Annotate
from fcpair.stages.assignment.reading_load import start_of_day
from fcpair.steps.base.context import effective_options
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.answers import task_queries
from fcpair.store.database.store import latest_plausible_time

BEGINNING = ""  # before every time
CLOCK_NOTE = (
    "The recorded time of {} of them is in the future: a clock was or is wrong. Please tell the people who run the "
    "study."
)
LIMITS = ("daily_limit", "total_limit")


@dataclass(frozen=True)
class ReadingAllowance:
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
    def n_remaining(self) -> int | None:
        """Number of pairs that the person may still read now; None without a limit."""
        limits = ((self.today, self.daily_limit), (self.read, self.total_limit))
        remainders = [limit - n for n, limit in limits if limit is not None]
        return max(min(remainders), 0) if remainders else None

    @property
    def limit(self) -> str | None:
        """A sentence when a limit is reached."""
        if self.total_limit is not None and self.read >= self.total_limit:
            return f"You have read {_format_pairs(self.read)}, as many as one person may read in this study. Thank you."
        if self.daily_limit is not None and self.today >= self.daily_limit:
            when = CLOCK_NOTE.format(self.ahead) if self.ahead else "Please come back tomorrow."
            return f"You have read {_format_pairs(self.today)} today, as many as one person may read in a day. {when}"
        return None

    def to_dict(self) -> dict[str, Any]:
        """Fields that are shown: `today`, `read`, `daily_limit`, `total_limit`, `limit`."""
        names = ("today", "read", "daily_limit", "total_limit", "limit")
        return {name: getattr(self, name) for name in names}


def reading_allowance(tx: Tx, person_id: int, annotate: Annotate, *, decides: bool = False) -> ReadingAllowance:
    """Count the pairs that a person has read, and may read on these terms.

    Decisions have no index by person, so they are looked for where they can matter: for somebody who `decides`, and
    where there is a limit.
    """
    counts = [task_queries.pairs_read]
    if decides or has_limit(annotate):
        counts.append(disputes.n_pairs_decided)
    today, read = (sum(count(tx, person_id, since) for count in counts) for since in (_midnight(), BEGINNING))
    full = annotate.daily_limit is not None and today >= annotate.daily_limit
    ahead = sum(count(tx, person_id, latest_plausible_time()) for count in counts) if full else 0
    return ReadingAllowance(today, read, annotate.daily_limit, annotate.total_limit, ahead)


def has_limit(annotate: Annotate) -> bool:
    """Whether these terms limit what one person may read."""
    return (annotate.daily_limit, annotate.total_limit) != (None, None)


def limit_reached(tx: Tx, person_id: int, annotate: Annotate) -> str | None:
    """A sentence when a person has reached a limit; nothing is counted where there is none."""
    return reading_allowance(tx, person_id, annotate).limit if has_limit(annotate) else None


def may_read_more(tx: Tx, person_id: int, annotate: Annotate, n_ahead: int) -> bool:
    """Whether a person may read another pair after `n_ahead` that they have before them."""
    n_remaining = n_readable(tx, person_id, annotate)
    return n_remaining is None or n_remaining > n_ahead


def n_readable(tx: Tx, person_id: int, annotate: Annotate) -> int | None:
    """Number of pairs that a person may still read now; None without a limit, and then nothing is counted."""
    return reading_allowance(tx, person_id, annotate).n_remaining if has_limit(annotate) else None


def check_reading_limit(tx: Tx, person_id: int, annotate: Annotate, cell_id: int) -> None:
    """Raise LimitError where somebody who decides has reached a limit; what they have decided once, they have read."""
    limit = limit_reached(tx, person_id, annotate)
    if limit and not disputes.has_decided(tx, cell_id, person_id):
        raise LimitError(limit)


def loosened_limits(tx: Tx, annotate: Annotate) -> Iterator[tuple[str, int | str | None, int | str]]:
    """The limits that these terms would loosen, and the opt-out that they would end: key, new and own value."""
    study_terms = effective_options(tx, Annotate, {})
    for key in LIMITS:
        new_limit, limit = getattr(annotate, key), getattr(study_terms, key)
        if limit is not None and (new_limit is None or new_limit > limit):
            yield key, new_limit, limit
    if study_terms.opt_out is not None and annotate.opt_out != study_terms.opt_out:
        yield "opt_out", annotate.opt_out, study_terms.opt_out


def _format_pairs(n: int) -> str:
    return "1 pair" if n == 1 else f"{n:,} pairs"


def _midnight() -> str:
    """The last midnight where the server is, as the study keeps times."""
    return start_of_day(datetime.now(UTC)).astimezone(UTC).isoformat(timespec="milliseconds")
