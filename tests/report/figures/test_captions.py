"""What is said of tests that cannot be significant."""

from __future__ import annotations

from evaluate.outcomes import outcome

from fcpair.evaluate.systems import Random
from fcpair.report.figures.evaluation_figures import significance_cautions

FOUR, THREE = (tuple(Random(seed=seed) for seed in range(n)) for n in (4, 3))


def test_six_pairs_of_systems_need_more_than_100_resamples() -> None:
    """6 / 101 is above 0.05, and 6 / 121 is the first below."""
    assert list(significance_cautions(outcome(FOUR, resamples=100, n_hs=20))) == [
        "no test can reach p < 0.05: the least p of 100 resamples is 1 / 101, and Holm's correction multiplies it by "
        "the 6 pairs of systems of a tier and measure; it takes --resamples 120 or more"
    ]


def test_enough_resamples_and_hs_need_no_caution() -> None:
    assert list(significance_cautions(outcome(FOUR, resamples=120, n_hs=20))) == []
    assert list(significance_cautions(outcome(THREE, resamples=100, n_hs=20))) == []


def test_too_few_hs_are_named_with_how_many_it_takes_and_resamples_are_not() -> None:
    """6 * 2 / 2**7 is above 0.05, and 6 * 2 / 2**8 below."""
    found = list(significance_cautions(outcome(FOUR, ("gold", "bronze"), resamples=100, n_hs=7)))
    assert [one.partition(":")[0] for one in found] == [
        "no test on gold can reach p < 0.05",
        "no test on bronze can reach p < 0.05",
    ]
    assert "the least p of 7 HS is 2 / 128" in found[0]
    assert found[0].endswith("it takes 8 HS, however often it is resampled")
    assert list(significance_cautions(outcome(FOUR, resamples=120, n_hs=8))) == []


def test_one_system_has_no_tests_to_warn_of() -> None:
    assert list(significance_cautions(outcome(FOUR[:1], resamples=100, n_hs=5))) == []
