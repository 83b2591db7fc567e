"""Rankings written as text: `+` positive, `-` negative, `?` unjudged, `.` a rank at which nothing stands."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from fcpair.evaluate.judged_rankings import ABSENT, NEGATIVE, POSITIVE, UNJUDGED, Judged
from fcpair.evaluate.measures import Measure

SIGNS = {"+": POSITIVE, "-": NEGATIVE, "?": UNJUDGED, ".": ABSENT}


def ranked(labels: str, below: str = "") -> Judged:
    """One HS: what stands at each rank, best first, and what else is in the pool."""
    return stacked([(labels, below)])


def stacked(rows: Iterable[tuple[str, str]]) -> Judged:
    """Several HS, each a ranking and what else is in its pool; all rankings have as many ranks."""
    rows = list(rows)
    pools = [labels + below for labels, below in rows]
    counts = [np.array([pool.count(sign) for pool in pools], np.int64) for sign in "+-?"]
    return Judged(codes(labels for labels, _ in rows), counts[0], counts[1], counts[2])


def codes(rows: Iterable[str]) -> NDArray[np.int8]:
    return np.array([[SIGNS[sign] for sign in row] for row in rows], np.int8)


def value(measure: Measure, labels: str, below: str = "") -> float:
    return float(measure(ranked(labels, below))[0])


@st.composite
def rankings(draw: st.DrawFn, max_pool: int = 12) -> tuple[str, str]:
    """What stands at each rank, and the rest of the pool; now and then the ranking is cut, or has ranks of nothing."""
    pool = draw(st.text("+-?", min_size=1, max_size=max_pool))
    n_ranked = draw(st.integers(0, len(pool)))
    n_absent = draw(st.integers(0 if n_ranked else 1, 2))
    labels = draw(st.permutations([*pool[:n_ranked], *"." * n_absent]))
    return "".join(labels), pool[n_ranked:]
