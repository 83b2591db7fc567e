"""How many HS tell systems apart, from a study: its own evaluation is where the standard deviation comes from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import nct, t

from fcpair.errors import InputError
from fcpair.params import Evaluate, Power
from fcpair.recipe import Recipe
from fcpair.steps.oversight.study_recipe import save_recipe
from fcpair.steps.release.evaluate import score_each_hs
from fcpair.study import Study
from steps.small import assert_refused, dump

At = Callable[[str], Study]
TWO, THREE = ("tfidf", "random"), ("tfidf", "random", "bm25")


def scores_of(study: Study, systems: tuple[str, ...]) -> npt.NDArray[np.float64]:
    """NDCG@10 of each HS by each system on the largest tier, which is all that Diamond has here."""
    return score_each_hs(study.grid(), Evaluate(systems=systems, cutoff=10), "NDCG")[1]


def test_the_standard_deviation_is_that_of_the_difference_over_hs(at: At) -> None:
    study = at("checked")
    first, second = scores_of(study, TWO).T
    plan = study.grid().plan_power(systems=TWO, difference=0.3)
    deviations = (first - second) - (first - second).mean()
    assert plan.sd == pytest.approx(np.sqrt((deviations**2).sum() / (len(first) - 1)))
    assert plan.basis == (f"standard deviation {plan.sd:.4f}: of tfidf and random on the {len(first)} HS of diamond",)
    assert plan.options.comparisons == 1


def test_scores_are_those_that_an_evaluation_prints(at: At) -> None:
    study = at("checked")
    scores = study.grid().evaluate(systems=TWO, tiers=["diamond"], measures=["NDCG@10"], resamples=100).scores
    printed = {score.system: score.score for score in scores if not score.expected}
    assert [printed[name] for name in TWO] == pytest.approx(scores_of(study, TWO).mean(axis=0))


def test_of_three_systems_the_two_that_differ_most_count_and_all_three_comparisons(at: At) -> None:
    study = at("checked")
    scores = scores_of(study, THREE)
    sds = [np.std(scores[:, a] - scores[:, b], ddof=1) for a, b in ((0, 1), (0, 2), (1, 2))]
    plan = study.grid().plan_power(systems=THREE, difference=0.3)
    assert plan.sd == pytest.approx(max(sds))
    assert plan.options.comparisons == 3
    assert plan.needed.hs >= study.grid().plan_power(sd=plan.sd, difference=0.3).needed.hs


def test_the_power_is_that_of_the_paired_t_test(at: At) -> None:
    """Against scipy's noncentral t, in a study of four HS whose power is said, too."""
    plan = at("checked").grid().plan_power(sd=0.2, difference=0.1)

    def power(n: int) -> float:
        bound, shift = t.isf(0.025, n - 1), 0.1 / 0.2 * np.sqrt(n)
        return float(nct.sf(bound, n - 1, shift) + nct.cdf(-bound, n - 1, shift))

    assert plan.needed.power == pytest.approx(power(plan.needed.hs), abs=1e-6)
    assert power(plan.needed.hs - 1) < 0.8 <= power(plan.needed.hs)
    assert plan.known is not None
    assert (plan.known.hs, plan.known.power) == (4, 0.0)  # of 4 HS no p-value is below 0.05


def test_the_systems_of_the_recipe_are_taken_and_nothing_is_written(at: At) -> None:
    study = at("checked")
    save_recipe(study, Recipe(evaluate=Evaluate(systems=TWO)))
    before = dump(study)
    assert "of tfidf and random" in study.grid().plan_power(difference=0.3).basis[0]
    assert dump(study) == before


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (("tfidf",), "1 systems are named; give two or more"),
        (("bm25", "bm25(k1=1.21)"), "score alike on every HS"),
    ],
)
def test_what_tells_no_standard_deviation_is_refused(at: At, systems: tuple[str, ...], message: str) -> None:
    study = at("checked")
    assert_refused(study, lambda: study.grid().plan_power(systems=systems), InputError, message)


def test_an_assumed_standard_deviation_needs_no_labels(at: At) -> None:
    plan = at("empty").grid().plan_power(Power(sd=0.2))
    assert (plan.needed.hs, plan.known) == (128, None)
