"""Measures straight from arrays: scores and labels of a pool, without a study."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fcpair.arrays import Floats
from fcpair.errors import InputError
from fcpair.evaluate.judged_rankings import NEGATIVE, POSITIVE, UNJUDGED, label_ranking
from fcpair.evaluate.measures import Measure
from fcpair.stages.corpus.nearest_neighbours import top_columns

BLOCK_CELLS = 1_000_000  # ranked at once: 8 MB of scores, and as much again to sort them


def measure_arrays(scores: Floats, labels: NDArray[np.int8], measures: Sequence[Measure]) -> Floats:
    """Measure a ranking that is given by scores, many HS at once.

    Args:
        scores: of each HS (row) and CN of the pool (column), the higher the better, shape `(n_hs, n_cn)`; ties are
            broken by the order of the columns.
        labels: of the same shape, 1 appropriate, 0 not appropriate, -1 unjudged (which counts as not appropriate).
        measures: as `parse_measure` reads them; only as many ranks are sorted as they read.

    Returns:
        One row per HS, one column per measure, shape `(n_hs, n_measures)`; their means are what is reported.

    Raises InputError for shapes that differ, no HS or no CN, a score that is NaN, another label.
    """
    if scores.ndim != 2 or scores.shape != labels.shape or not scores.size:
        raise InputError(f"scores and labels have the shapes {scores.shape} and {labels.shape}; expected the same two")
    if np.isnan(scores).any():
        raise InputError(f"{int(np.isnan(scores).sum())} scores are NaN; expected a number for every HS and CN")
    if labels.dtype.kind not in "biu" or labels.min() < UNJUDGED or labels.max() > POSITIVE:
        raise InputError(f"labels must be {POSITIVE}, {NEGATIVE} or {UNJUDGED}")
    depth = min(max((measure.depth or scores.shape[1] for measure in measures), default=1), scores.shape[1])
    rows = max(1, BLOCK_CELLS // scores.shape[1])
    measured = []
    for block in (slice(start, start + rows) for start in range(0, len(scores), rows)):
        order = top_columns(scores[block].astype(np.float64, copy=False), depth)
        judged = label_ranking(order, labels[block].astype(np.int8, copy=False))
        measured.append(np.array([measure(judged) for measure in measures]).reshape(len(measures), len(order)).T)
    return np.concatenate(measured)
