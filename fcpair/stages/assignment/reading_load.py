"""Cost to a person of taking part, in texts and hours, and whether they can have read what they answered.

Times are POSIX seconds, ascending. Plain Python, as in `pace`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from fcpair.stages.assignment.pace import PAUSE_S

MEAN_WPM = 238.0
"""Words a minute in silent reading of English non-fiction, the mean over 190 studies.

Source: Brysbaert (2019), DOI 10.1016/j.jml.2019.104047.
"""

FASTEST_WPM = 700.0
"""Words a minute that nobody reads with understanding: about three times `MEAN_WPM`."""


def start_of_day(now: datetime) -> datetime:
    """The last midnight before a time that knows its zone, where the server is."""
    local_now = now.astimezone()
    return datetime(
        local_now.year, local_now.month, local_now.day
    ).astimezone()  # whose offset may be another than that of `here`


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
    """Texts that a person has read: `n_pairs` pairs with `n_hs` distinct HS, and when.

    `n_today` answers and `today_s` seconds fall on the day that began at `day_start`; `total_s` is the length of all
    sittings together, which leaves out the reading of each sitting's first pair and so is a lower bound; `longest` is
    None for a person without an answer whose time is known.
    """

    n_pairs: int
    n_hs: int
    n_today: int
    today_s: float
    total_s: float
    longest: Sitting | None


def measure_exposure(read_pairs: Iterable[tuple[int, int]], times: Sequence[float], day_start: float) -> Exposure:
    """The exposure of a person who read the pairs `read_pairs`, each as (cell_id, hs_id), and answered at `times`."""
    pairs, all_sittings = set(read_pairs), split_sittings(times)
    today = [at for at in times if at >= day_start]
    return Exposure(
        n_pairs=len({pair for pair, _ in pairs}),
        n_hs=len({hs for _, hs in pairs}),
        n_today=len(today),
        today_s=math.fsum(one.end - max(one.start, day_start) for one in all_sittings if one.end >= day_start),
        total_s=math.fsum(one.length_s for one in all_sittings),
        longest=max(all_sittings, key=lambda one: one.length_s, default=None),
    )


def n_words(text: str) -> int:
    """Number of words of a text, separated by white space; scripts without it count as few, so nobody is wronged."""
    return len(text.split())


def least_reading_s(words: int) -> float:
    """The seconds below which nobody can have read so many words."""
    return words * 60.0 / FASTEST_WPM


def is_too_fast(seconds: float, words: int) -> bool:
    """Whether an answer came sooner than its CN of so many words can be read.

    The CN alone counts, because the HS may be known from the pair before.
    """
    return seconds < least_reading_s(words)
