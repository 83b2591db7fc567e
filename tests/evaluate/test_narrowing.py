"""Which unjudged pairs narrow the bounds most: hand-computed."""

from __future__ import annotations

import numpy as np

from fcpair.evaluate.evaluation import TierLabels, narrowing
from fcpair.evaluate.judged_rankings import NEGATIVE, POSITIVE, UNJUDGED
from fcpair.evaluate.measures import parse_measure
from fcpair.evaluate.systems import Ranking


def found(labels: list[int], order: list[list[int]], measure: str) -> list[float]:
    tier = TierLabels("gold", "strict", np.array([labels], np.int8), np.ones(1, np.bool_))
    rankings = [Ranking(np.array([each]), np.array([np.arange(len(each), 0.0, -1)])) for each in order]
    gains: list[float] = narrowing(tier, rankings, [parse_measure(measure)], "zero")[0].tolist()
    return gains


def test_what_a_measure_reads_narrows_its_bounds_and_what_it_does_not_read_nothing() -> None:
    """Precision@2 of `?, 0, ?`: between 0 and 1/2 by the first, whichever label it gets; the third is below the cut."""
    assert found([UNJUDGED, NEGATIVE, UNJUDGED], [[0, 1, 2]], "Precision@2") == [0.5, 0, 0]


def test_a_pair_that_systems_have_higher_up_narrows_more_in_the_mean() -> None:
    """Precision@1 reads the first of one system and the second of the other: 1/2 of a width of 1 each."""
    assert found([UNJUDGED, UNJUDGED, POSITIVE], [[0, 1, 2], [1, 0, 2]], "Precision@1") == [0.5, 0.5, 0]
    assert found([UNJUDGED, UNJUDGED, POSITIVE], [[0, 1, 2], [0, 1, 2]], "Precision@1") == [1, 0, 0]


def test_the_first_pair_settles_the_reciprocal_rank_only_where_it_is_positive() -> None:
    """MRR@3 of `?, ?, +` is between 1/3 and 1: 2/3 wide. The first, if positive, leaves nothing, else 1/3 to 1/2: so
    (2/3 + 1/2) / 2. The second leaves 1/2 to 1 or 1/3 to 1: so (1/6 + 0) / 2.
    """
    gains = found([UNJUDGED, UNJUDGED, POSITIVE], [[0, 1, 2]], "MRR@3")
    assert np.allclose(gains, [7 / 12, 1 / 12, 0])
