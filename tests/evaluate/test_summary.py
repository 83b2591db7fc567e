"""The spread of a system over the tiers."""

from __future__ import annotations

import pytest

from fcpair.evaluate.evaluation import ZERO_MEAN, tier_spreads
from fcpair.evaluate.measures import parse_measure
from fcpair.evaluate.outcome import AVERAGE, Score

FOUR = [parse_measure(name) for name in ("HitRatio", "MRR", "NDCG", "MAP")]


def scores(values: dict[str, list[float]]) -> list[Score]:
    return [
        Score(f"tier-{at}", "tfidf", measure, 45, value)
        for measure, row in values.items()
        for at, value in enumerate(row)
    ]


def test_a_measure_is_rounded_to_four_decimals_and_its_variation_to_one() -> None:
    (row,) = tier_spreads(scores({"MRR@10": [0.1, 0.2, 0.60004]}), [parse_measure("MRR")])
    # mean 0.300013, population standard deviation 0.216045
    assert (row.mean, row.minimum, row.maximum, row.cv, row.n_tiers) == (0.3, 0.1, 0.6, 72.0, 3)


def test_the_average_is_taken_over_the_rounded_figures() -> None:
    flat = {str(measure): [value, value + 0.1] for measure, value in zip(FOUR, (0.1, 0.2, 0.3, 0.4), strict=True)}
    *_, average = tier_spreads(scores(flat), FOUR)
    assert (average.measure, average.mean, average.minimum, average.maximum) == (AVERAGE, 0.3, 0.25, 0.35)
    # 0.05 over 0.15, 0.25, 0.35, 0.45: 33.3, 20.0, 14.3, 11.1
    assert average.cv == pytest.approx(19.675)


def test_there_is_no_average_unless_the_four_measures_have_one_cut() -> None:
    measures = [*FOUR[:3], parse_measure("MAP@5")]
    rows = list(tier_spreads(scores({str(measure): [0.1, 0.2] for measure in measures}), measures))
    assert [row.measure for row in rows] == ["HitRatio@10", "MRR@10", "NDCG@10", "MAP@5"]


def test_map_that_is_divided_in_another_way_is_not_averaged() -> None:
    measures = [*FOUR[:3], parse_measure("MAP(by=all)")]
    rows = list(tier_spreads(scores({str(measure): [0.1, 0.2] for measure in measures}), measures))
    assert AVERAGE not in {row.measure for row in rows}


def test_one_tier_has_no_spread() -> None:
    assert list(tier_spreads(scores({"MRR@10": [0.1]}), [parse_measure("MRR")])) == []


def test_a_mean_of_0_has_no_coefficient_of_variation() -> None:
    (row,) = tier_spreads(scores({"MRR@10": [0.0, 0.0]}), [parse_measure("MRR")])
    assert (row.mean, row.cv, row.undefined) == (0.0, None, ZERO_MEAN)


def test_an_average_over_an_undefined_variation_is_undefined_too() -> None:
    values = {str(measure): [0.0, 0.0] if measure is FOUR[0] else [0.1, 0.2] for measure in FOUR}
    *_, average = tier_spreads(scores(values), FOUR)
    assert (average.cv, average.undefined) == (None, ZERO_MEAN)


def test_an_expectation_has_a_spread_of_its_own() -> None:
    run = scores({"MRR@10": [0.1, 0.2]})
    expected = [Score(one.tier, one.system, one.measure, one.n, 0.3, expected=True) for one in run]
    rows = list(tier_spreads([*run, *expected], [parse_measure("MRR")]))
    assert [(row.expected, row.mean) for row in rows] == [(False, 0.15), (True, 0.3)]
