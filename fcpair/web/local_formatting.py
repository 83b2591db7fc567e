"""Numbers, shares, intervals, dates and time spans as pages write them, in the language of the page.

In English they are what a report says, see `report/formatting.py`; other languages have the same figures, rounded the
same way, with digits and signs of their own.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

from fcpair.records import Figure
from fcpair.report import formatting
from fcpair.web.languages import ENGLISH, Language
from fcpair.web.page_phrases import mark

BOUNDS = mark("%(low)s to %(high)s")
HOURS = mark("%(hours)s h %(minutes)s min")
MINUTES = mark("%(minutes)s min")
SECONDS = mark("%(seconds)s s")
_FIGURE = re.compile(r"([<>] )?-?[\d,]+(\.\d+)?( %)?")
_BOUNDS = re.compile(r"(-?[\d.]+) to (-?[\d.]+)")


class LocalFormatting:
    """Writes figures in one language; where there is no value, a dash."""

    NOTHING = formatting.NOTHING

    def __init__(self, language: Language) -> None:
        self.language = language

    def count(self, n: int) -> str:
        """A count: `5,805`."""
        return self.language.figure(formatting.count(n))

    def decimal(self, value: float | None, places: int = 3) -> str:
        """A figure with so many decimals."""
        return self.language.figure(formatting.decimal(value, places))

    def share(self, part: int, whole: int) -> str:
        """A share in percent. Only none is 0.0 %, and only all is 100.0 %."""
        return self.language.percent(formatting.share(part, whole))

    def cell(self, written: str) -> str:
        """A cell of a table that a report has written; what is more than a figure stays as it is."""
        if bounds := _BOUNDS.fullmatch(written):
            low, high = map(self.language.figure, bounds.groups())
            return self.language.gettext(BOUNDS, low=low, high=high)
        return self.language.percent(written) if _FIGURE.fullmatch(written) else written

    def interval(self, figure: Figure) -> str:
        """The bounds of a figure's interval."""
        return self.bounds(figure.low, figure.high)

    def bounds(self, low: float | None, high: float | None) -> str:
        """From one figure to another."""
        if low is None or high is None:
            return formatting.NOTHING
        return self.language.gettext(BOUNDS, low=self.decimal(low), high=self.decimal(high))

    def moment(self, at: str) -> str:
        """A time of the study to the second: `2025-03-01 12:00:00 UTC`."""
        return formatting.moment(at) if self.language is ENGLISH else f"{self.language.moment(at)} UTC"

    def day(self, at: float) -> str:
        """The day of a POSIX time in UTC: `2 March 2026 (UTC)`."""
        return f"{self.long_date(datetime.fromtimestamp(at, UTC).date())} (UTC)"

    def short_date(self, day: str) -> str:
        """A day in ISO 8601, such as 2026-03-02."""
        return day if self.language is ENGLISH else self.language.short_date(date.fromisoformat(day))

    def long_date(self, day: date) -> str:
        """A day: `2 March 2026`."""
        return f"{day.day} {day:%B %Y}" if self.language is ENGLISH else self.language.long_date(day)

    def duration(self, seconds: float | None) -> str:
        """A time span in words: `2 h 05 min`, `14 min`, `40 s`."""
        if seconds is None:
            return formatting.NOTHING
        gettext, digits = self.language.gettext, self.language.digits
        if seconds < 60:
            return gettext(SECONDS, seconds=digits(f"{seconds:.0f}"))
        hours, minutes = divmod(round(seconds / 60), 60)
        if not hours:
            return gettext(MINUTES, minutes=minutes)
        return gettext(HOURS, hours=hours, minutes=digits(f"{minutes:02d}"))

    def named(self, name: str) -> str:
        """A choice's name as people read it: `not appropriate`."""
        return self.language.answer_name(name)

    def settings(self, values: dict[str, Any]) -> list[tuple[str, str]]:
        """Parameters or counts of a run as a report has them: their names are those of the recipe, in English."""
        return formatting.settings(values)

    def file_name(self, path: str) -> str:
        """The last part of a whole path."""
        return formatting.file_name(path)
