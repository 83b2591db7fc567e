"""Percentile intervals of figures that are drawn again and again, and the reasons where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fcpair.records import Figure
from fcpair.stages.stats.intervals import LEVEL, block_sizes, with_note

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MAX_UNDEFINED_SHARE = (
    0.05  # the share of draws that may leave a figure undefined; those are left out, and the note says so
)
NO_WIDTH = 1e-12
FEW = 10  # of what is drawn: percentiles over fewer are too narrow more often than not


def resample_sums(sums: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """The total of as many clusters as there are, drawn with replacement: blocks of shape (n_draws, n_sums).

    `sums` (n_clusters, n_sums) is what each cluster adds. Clusters that add the same are drawn together, which changes
    no probability, so that the order of the clusters changes nothing either.
    """
    rng = np.random.default_rng(seed)
    kinds, times = np.unique(sums, axis=0, return_counts=True)
    for n in block_sizes(draws, len(kinds)):
        yield rng.multinomial(len(sums), times / len(sums), n) @ kinds


def with_percentiles(figure: Figure, values: Floats, basis: str) -> Figure:
    """The figure with the central 95 % of what was drawn, shape (n_draws,), or the reason for none in its note.

    Draws in which the figure is undefined (NaN) are left out if they are at most one in twenty. `basis` says what was
    drawn. Source: Efron (1979), DOI 10.1214/aos/1176344552.
    """
    if figure.value is None:
        return figure
    defined = values[~np.isnan(values)]
    n_undefined = len(values) - len(defined)
    if n_undefined > MAX_UNDEFINED_SHARE * len(values):
        return with_note(figure, f"no interval: undefined in {n_undefined:,} of {len(values):,} draws of {basis}")
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    if high - low < NO_WIDTH:
        return with_note(figure, f"no interval: every draw of {basis} gives the same, so the error cannot be estimated")
    left_out = f", {plural(n_undefined, 'undefined draw')} left out" if n_undefined else ""
    return replace(with_note(figure, f"interval from {basis}{left_out}"), low=float(low), high=float(high))


def plural(n: int, word: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{n:,} {word}{'s' * (n != 1)}"


def describe_sample(n: int, word: str) -> str:
    """Describe what an interval rests on, and say that it is likely too narrow where that is little."""
    return plural(n, word) + ", so few that it is likely too narrow" * (n < FEW)
