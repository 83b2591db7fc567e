"""Effect of the missing labels: each measure under every reading of an unjudged pair, and its exact bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fcpair.evaluate.graded import highest_ndcg, lowest_ndcg
from fcpair.evaluate.judged_rankings import POSITIVE, UNJUDGED, Judged, assume_relevant, drop_unjudged
from fcpair.evaluate.measure_base import Measure


@dataclass(frozen=True)
class Readings:
    """A measure's values, each of shape `(n_hs,)`; all but `score` are None for a measure that is not `bounded`.

    `score`: every unjudged pair counts as not appropriate (the usual figure). `left_out`: unjudged pairs are taken out
    of the ranking. `right`: every unjudged pair of the pool counts as appropriate, and has the greatest grade. `lowest`
    and `highest`: the least and the greatest value that any labels of the unjudged pairs could give.

    Where a measure only `rises`, `lowest` is `score` and `highest` is `right`. The others divide by something that
    grows with the number of positives, so that a positive below the cut lowers them: there `score` need not be the
    least, nor `right` the greatest value.
    """

    score: NDArray[np.float64]
    left_out: NDArray[np.float64] | None = None
    right: NDArray[np.float64] | None = None
    lowest: NDArray[np.float64] | None = None
    highest: NDArray[np.float64] | None = None


def readings(measure: Measure, judged: Judged) -> Readings:
    """The measure under every reading of the unjudged pairs."""
    score = measure(judged)
    if not measure.bounded:
        return Readings(score)
    right = measure(assume_relevant(judged))
    ends = (score, right) if measure.rises else _lowest_and_highest(measure, judged)
    return Readings(score, measure(drop_unjudged(judged)), right, *ends)


def _lowest_and_highest(measure: Measure, judged: Judged) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not (judged.graded and measure.graded):
        return lowest_value(measure, judged), highest_value(measure, judged)
    unjudged = judged.labels[:, : measure.depth] == UNJUDGED
    below, k = judged.n_unjudged - unjudged.sum(axis=1), measure.depth or judged.labels.shape[1]
    return lowest_ndcg(judged.graded, unjudged, below, k), highest_ndcg(judged.graded, unjudged, k)


def highest_value(measure: Measure, judged: Judged) -> NDArray[np.float64]:
    """The greatest value that labels of the unjudged pairs could give, shape `(n_hs,)`.

    With a given number of new positives above the cut a measure is greatest when they stand highest, and a new positive
    below the cut never helps: so as many readings are tried as there are unjudged ranks above the cut, plus none.
    """
    unjudged = judged.labels[:, : measure.depth] == UNJUDGED
    nth = np.cumsum(unjudged, axis=1)
    none = np.zeros_like(judged.n_unjudged)
    values = (_measure_turned(measure, judged, unjudged & (nth <= n), none) for n in _possible_counts(unjudged))
    return np.asarray(np.max(np.stack(list(values)), axis=0))


def lowest_value(measure: Measure, judged: Judged) -> NDArray[np.float64]:
    """The least value that labels of the unjudged pairs could give, shape `(n_hs,)`.

    It is reached when every unjudged pair below the cut is positive, which never helps, and of those above the cut some
    of the lowest: again as many readings are tried as there are unjudged ranks above the cut, plus none.
    """
    unjudged = judged.labels[:, : measure.depth] == UNJUDGED
    nth_from_below = np.cumsum(unjudged[:, ::-1], axis=1)[:, ::-1]
    below = judged.n_unjudged - unjudged.sum(axis=1)
    values = (
        _measure_turned(measure, judged, unjudged & (nth_from_below <= n), below) for n in _possible_counts(unjudged)
    )
    return np.asarray(np.min(np.stack(list(values)), axis=0))


def _possible_counts(unjudged: NDArray[np.bool_]) -> range:
    return range(int(unjudged.sum(axis=1).max(initial=0)) + 1)


def _measure_turned(
    measure: Measure, judged: Judged, is_turned: NDArray[np.bool_], below: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The measure when the ranks in `is_turned`, and so many pairs below the cut, are positive after all."""
    n_new = is_turned.sum(axis=1) + below
    labels = np.where(is_turned, np.int8(POSITIVE), judged.labels[:, : measure.depth])
    counts = {"n_positive": judged.n_positive + n_new, "n_unjudged": judged.n_unjudged - n_new}
    return measure(replace(judged, labels=labels, **counts))
