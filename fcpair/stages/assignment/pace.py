"""Pace of a person's answers, the time that the rest will take, and whether they can have read what they answered.

Times are POSIX seconds, ascending. The pages on which people answer use this, and load neither numpy nor pandas.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice, pairwise
from math import inf
from operator import itemgetter
from statistics import median

from fcpair.records import LISTED
from fcpair.sentences import say

# A gap between two answers that is longer than this, in seconds, is a pause: it tells no pace and ends a sitting.
PAUSE_S = 600.0

# Answers of one list are sent one after the other; a gap that is longer than this, in seconds, parts two lists.
LIST_GAP_S = 2.0

# A pace is the median of this many of the newest intervals: it follows a person who gets quicker or tires, and one
# long gap, such as a telephone call, does not move it.
LAST_INTERVALS = 50

LEAST_INTERVALS = 5  # fewer intervals than this tell no pace

# Why a pace is undefined.
NO_PACE = say(
    "fewer than %(least)s intervals of at most %(most)s minutes between answers on the pages",
    least=LEAST_INTERVALS,
    most=int(PAUSE_S // 60),
)

RATE_DAYS = 7  # the daily rhythm is counted over this many days
DAY_S = 86_400.0


def pace_s(times: Sequence[float]) -> float | None:
    """Seconds a pair: the median of the newest intervals between answers, no pauses; None if too few (`NO_PACE`)."""
    intervals = (times[index] - times[index - 1] for index in range(len(times) - 1, 0, -1))  # the newest first
    newest = list(islice((interval for interval in intervals if interval <= PAUSE_S), LAST_INTERVALS))
    return median(newest) if len(newest) >= LEAST_INTERVALS else None


def spread_batch_times(answers: Iterable[tuple[float, Hashable | None]]) -> list[float]:
    """The times of answers; those with one key, one after the other, share the time since the others: the answers on a
    row, which come together, and those on a list of rows (LISTED), which come within moments. None is a key of its own.
    """
    numbered: list[tuple[float, Hashable | None]] = []  # with keys that tell one list from the next
    n, before = 0, -inf
    for time, key in answers:
        n += key == LISTED and time - before > LIST_GAP_S
        numbered.append((time, (LISTED, n) if key == LISTED else key))
        before = time
    times: list[float] = []
    for key, group in groupby(numbered, key=itemgetter(1)):
        group_times = [time for time, _ in group]
        if key is None:
            times += group_times
        elif times:
            last, share = times[-1], (group_times[-1] - times[-1]) / len(group_times)
            times += [last + at * share for at in range(1, len(group_times) + 1)]
        else:  # it is not known when the first of them was begun
            times.append(group_times[-1])
    return times


def left_s(n_open: int, pace: float | None) -> float | None:
    """Seconds of work that `n_open` pairs need at `pace` seconds a pair; 0 where none is open, None without a pace."""
    return 0.0 if not n_open else None if pace is None else n_open * pace


@dataclass(frozen=True)
class TimeEstimate:
    """Time estimate for somebody who has `n_open` pairs to answer, at `pace_s` seconds a pair; `left_s` is None without
    it. `per_day` is the answers a day over the last `RATE_DAYS` days; `end_at`, a POSIX time, is None without any.
    """

    n_open: int
    pace_s: float | None
    left_s: float | None
    per_day: float
    end_at: float | None


def estimate_time(n_open: int, times: Sequence[float], new: Sequence[float], now: float) -> TimeEstimate:
    """Estimate the time left to somebody who answered at `times`, of these at `new` a pair for the first time."""
    pace, daily = pace_s(times), answers_per_day(new, now)
    return TimeEstimate(n_open, pace, left_s(n_open, pace), daily, end_time(n_open, daily, now))


def end_time(n_open: int, daily: float, now: float) -> float | None:
    """POSIX time at which `n_open` pairs will be answered at `daily` answers a day; None where none is answered."""
    return now if not n_open else now + n_open / daily * DAY_S if daily else None


def answers_per_day(times: Sequence[float], now: float) -> float:
    """Answers a day over the last `RATE_DAYS` days, or since the first answer if that is later, but at least a day."""
    if not times:
        return 0.0
    since = now - RATE_DAYS * DAY_S
    days = min(float(RATE_DAYS), max(1.0, (now - times[0]) / DAY_S))
    return sum(at > since for at in times) / days


def last_end(estimates: Sequence[TimeEstimate]) -> float | None:
    """POSIX time at which the last of several people will be done; None where nobody has work, or an end is unknown."""
    return _most(estimate.end_at for estimate in estimates if estimate.n_open)


def longest_left(estimates: Sequence[TimeEstimate]) -> float | None:
    """The seconds of work of whoever has most, each at their own pace; None as for `last_end`."""
    return _most(estimate.left_s for estimate in estimates if estimate.n_open)


def _most(numbers: Iterable[float | None]) -> float | None:
    most = max((math.inf if number is None else number for number in numbers), default=math.inf)
    return None if most == math.inf else most


# Words a minute in silent reading of English non-fiction, the mean over 190 studies. Source: Brysbaert (2019), DOI
# 10.1016/j.jml.2019.104047.
MEAN_WPM = 238.0

FASTEST_WPM = 700.0  # words a minute that nobody reads with understanding: about three times `MEAN_WPM`


def start_of_day(now: datetime) -> datetime:
    """The last midnight before a time that knows its zone, where the server is."""
    day = now.astimezone().date()
    return datetime(day.year, day.month, day.day).astimezone()  # whose offset may be another than that of `now`


@dataclass(frozen=True)
class Sitting:
    """`n` answers that follow one another without a pause; `start` and `end` are the times of the first and last."""

    start: float
    end: float
    n: int

    @property
    def length_s(self) -> float:
        """From the first answer to the last; 0 for one answer alone, whose reading time nobody knows."""
        return self.end - self.start


def split_sittings(times: Sequence[float]) -> list[Sitting]:
    """The answers at `times` parted where more than `PAUSE_S` passed between two of them, oldest first."""
    pauses = [at for at, (before, after) in enumerate(pairwise(times), 1) if after - before > PAUSE_S]
    bounds = pairwise([0, *pauses, len(times)]) if times else ()
    return [Sitting(times[begin], times[end - 1], end - begin) for begin, end in bounds]


@dataclass(frozen=True)
class Exposure:
    """Texts that a person has read: `n_pairs` pairs with `n_hs` distinct HS. `n_today` answers and `today_s` seconds
    fall on this day; `total_s`, the length of all sittings, is a lower bound: it has no reading of first pairs.
    """

    n_pairs: int
    n_hs: int
    n_today: int
    today_s: float
    total_s: float
    longest: Sitting | None


def measure_exposure(n_pairs: int, n_hs: int, times: Sequence[float], day_start: float) -> Exposure:
    """The exposure of a person who read `n_pairs` distinct pairs with `n_hs` distinct HS, and answered at `times`."""
    all_sittings = split_sittings(times)
    return Exposure(
        n_pairs,
        n_hs,
        n_today=len(times) - bisect_left(times, day_start),
        today_s=math.fsum(
            sitting.end - max(sitting.start, day_start) for sitting in all_sittings if sitting.end >= day_start
        ),
        total_s=math.fsum(sitting.length_s for sitting in all_sittings),
        longest=max(all_sittings, key=lambda sitting: sitting.length_s, default=None),
    )


def n_words(text: str) -> int:
    """Number of words of a text, separated by white space; scripts without it count as few, so nobody is wronged."""
    return len(text.split())


def least_reading_s(words: int) -> float:
    """The seconds in which nobody can have read so many words: of a pair the CN's, as the HS may be known already."""
    return words * 60.0 / FASTEST_WPM
