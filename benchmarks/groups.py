"""How often `fcpair groups` errs where two groups of annotators do not differ: p too small, intervals that miss 0."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import numpy as np

from benchmarks.asking_coverage import Design, labels
from benchmarks.measure import SEED, Figure
from fcpair.stages.stats.group_differences import compare_annotator_groups

REPETITIONS = 1000
PEOPLE = (5, 8)  # in each group
N_ITEMS = 40
LEVEL, COVERAGE = 0.1, 0.95


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Compare groups that do not differ; the limits allow for chance, by three standard errors."""
    return [figure for people in PEOPLE for figure in _of(people, repetitions)]


def _of(people: int, n: int) -> list[Figure]:
    rng = np.random.default_rng([SEED, people])
    studies = [labels(rng, Design((people, people), N_ITEMS, 1.0), 0.0) for _ in range(n)]
    found = [compare_annotator_groups(one, ["group"], seed=at)[0].differences[0] for at, one in enumerate(studies)]
    below = np.mean([one.p <= LEVEL for one in found if one.p is not None])
    held = np.mean([one.low <= 0 <= one.high for one in found if one.low is not None and one.high is not None])
    what = f"{people} and {people} annotators"
    return [
        Figure("groups", f"{what}: share of p up to {LEVEL}", float(below), "at most", _end(LEVEL, 3, n)),
        Figure("groups", f"{what}: intervals that hold 0", float(held), "at least", _end(COVERAGE, -3, n)),
    ]


def _end(share: float, errors: float, n: int) -> float:
    """A share, and so many standard errors of it in `n` studies more."""
    return share + errors * sqrt(share * (1 - share) / n)
