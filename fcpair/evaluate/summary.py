"""The spread of each system over the tiers, as in FC-CONAN's Table 4."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

import numpy as np

from fcpair.arrays import Floats
from fcpair.evaluate.measures import AVERAGED, Measure
from fcpair.evaluate.outcome import Score, Spread

AVERAGE = "average"
ZERO_MEAN = "the mean is 0, so there is no coefficient of variation"


def tier_spreads(scores: Sequence[Score], measures: Sequence[Measure]) -> Iterator[Spread]:
    """The spread of each system and measure over the tiers; nothing where there are fewer than two tiers.

    Args:
        scores: of every system, tier and measure.
        measures: those to summarise, in order. Where HitRatio, MRR, NDCG and MAP are all among them at one cut, a last
            row averages over these four.
    """
    four = [measure for measure in measures if measure.word in AVERAGED and measure.short_name == measure.word]
    have_one_cut = len(four) == len(AVERAGED) and len({measure.depth for measure in four}) == 1
    averaged = [str(measure) for measure in four] if have_one_cut else []
    for system, expected in dict.fromkeys((score.system, score.expected) for score in scores):
        system_scores = [score for score in scores if (score.system, score.expected) == (system, expected)]
        rows = [
            _spread_over_tiers([score for score in system_scores if score.measure == str(measure)])
            for measure in measures
        ]
        if not rows or rows[0].n_tiers < 2:
            return
        yield from rows
        if averaged:
            yield _average([row for row in rows if row.measure in averaged])


def _spread_over_tiers(scores: Sequence[Score]) -> Spread:
    first, known_scores = scores[0], [score.score for score in scores if score.score is not None]
    if len(known_scores) < len(scores):
        why = next(score.undefined for score in scores if score.score is None)
        return Spread(first.system, first.measure, len(scores), None, None, None, None, first.expected, why)
    values = np.array(known_scores)
    mean, minimum, maximum = (round(float(value), 4) for value in (values.mean(), values.min(), values.max()))
    cv = _variation(values)
    why = ZERO_MEAN if cv is None else None
    return Spread(first.system, first.measure, len(scores), mean, minimum, maximum, cv, first.expected, why)


def _variation(values: Floats) -> float | None:
    """The population standard deviation in percent of the mean, to one decimal; None where the mean is 0."""
    mean = float(values.mean())
    return round(100 * float(values.std()) / mean, 1) if mean else None


def _average(rows: Sequence[Spread]) -> Spread:
    first = rows[0]
    return Spread(
        first.system,
        AVERAGE,
        first.n_tiers,
        mean=_mean([row.mean for row in rows], 4),
        minimum=_mean([row.minimum for row in rows], 4),
        maximum=_mean([row.maximum for row in rows], 4),
        cv=_mean([row.cv for row in rows], 3),
        expected=first.expected,
        undefined=next((row.undefined for row in rows if row.undefined), None),
    )


def _mean(column: Sequence[float | None], decimals: int) -> float | None:
    """The mean of rounded figures, rounded in decimal arithmetic, a half to the even digit: 0.17665 is 0.1766."""
    known = [Decimal(str(value)) for value in column if value is not None]
    return float(round(sum(known, Decimal()) / len(known), decimals)) if len(known) == len(column) else None
