"""Answers over the days, of those that are wanted: a line with axes, and its outlook to the end, as a part of a page.

Time runs from left to right in every language. Places are percentages, so that words keep their size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import accumulate

from fcpair.report.figures.forest import round_ticks

MOST_DAYS, MOST_COUNTS = 6, 5  # that are named on an axis
HEAD_ROOM = 1.06  # above the highest value


@dataclass(frozen=True)
class DayChart:
    """Days with answers: of each its date, their number and how many there were by its end, of those `wanted`; the
    `end` is the day on which the last comes at the present rate, if there is one.
    """

    rows: tuple[tuple[date, int, int], ...]
    wanted: int
    end: date | None

    @cached_property
    def begin(self) -> date:
        """The day before the first, with whose end the line begins."""
        return self.rows[0][0] - timedelta(days=1)

    @cached_property
    def n_days(self) -> int:
        """Length of the axis."""
        return (max(filter(None, (self.rows[-1][0], self.end))) - self.begin).days

    @property
    def top(self) -> float:
        """Value at the top of the axis."""
        return HEAD_ROOM * max(self.wanted, self.rows[-1][2])

    def across(self, day: date) -> float:
        """Place of the end of a day, in percent from the left."""
        return round(100 * (day - self.begin).days / self.n_days, 2)

    def down(self, total: float) -> float:
        """Place of a number of answers, in percent from the top."""
        return round(100 * (1 - total / self.top), 2)

    @property
    def line(self) -> list[tuple[float, float]]:
        """The points of the line, which rises on days with answers."""
        points, before = [(0.0, 100.0)], 0
        for day, _, total in self.rows:
            points += [(self.across(day - timedelta(days=1)), self.down(before)), (self.across(day), self.down(total))]
            before = total
        return points

    @property
    def outlook(self) -> list[tuple[float, float]]:
        """The points of the line from the last answer to the end; none where that is not known, or the same day."""
        is_later = self.end and self.end > self.rows[-1][0]
        return [self.line[-1], (self.across(self.end), self.down(self.wanted))] if self.end and is_later else []

    @property
    def days(self) -> list[date]:
        """The days that the axis names."""
        step = -(-self.n_days // MOST_DAYS)
        return [self.begin + timedelta(days=at) for at in range(self.n_days, -1, -step)][::-1]

    @property
    def counts(self) -> list[int]:
        """The numbers that the axis names."""
        return sorted({round(tick) for tick in round_ticks(0, self.top, MOST_COUNTS)})


def chart_days(by_day: Sequence[tuple[str, int]], wanted: int, end_at: float | None) -> DayChart | None:
    """The chart of the answers of each day, of so many that are `wanted`; None if there are none yet."""
    if not by_day or not wanted:
        return None
    totals = accumulate(n for _, n in by_day)
    rows = tuple((date.fromisoformat(day), n, total) for (day, n), total in zip(by_day, totals, strict=True))
    end = datetime.fromtimestamp(end_at, UTC).date() if end_at and rows[-1][2] < wanted else None
    return DayChart(rows, wanted, end)
