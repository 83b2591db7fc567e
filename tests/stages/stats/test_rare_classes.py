"""Intervals where hardly any pair carries a rare class: the variance of a true value, coverage, and the warning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.latent import Shape, draw, same_annotators
from fcpair.records import Figure
from fcpair.stages.stats.agreement import find_cautions
from fcpair.stages.stats.jackknife_intervals import Cluster, Spread, add_bounds
from fcpair.stages.stats.kappa import Subsets, subset_figures, summary_figures
from fcpair.stages.stats.latent_labels import Effects
from fcpair.stages.stats.multi_rater import COEFFICIENTS, Coefficient, pooled_figures
from fcpair.stages.stats.rating_counts import LeftOutSums, Overlap

TRIPLES = Shape(20, 30, 6, 0.126, 0.05)
RARE = Effects(thresholds=(1.8,), noise=0.45)  # 5 % of the labels are of the rare class; the true kappa is 0.51
BY_NAME = {one.name: one for one in COEFFICIENTS}
FLEISS, NOMINAL, ORDINAL = (
    BY_NAME[name]
    for name in ("Fleiss' kappa, 3 labels", "Krippendorff's alpha, nominal", "Krippendorff's alpha, ordinal")
)


def variance(coefficient: Coefficient, value: float, labels: npt.ArrayLike, n_pairs: Sequence[int]) -> float:
    variance_at = coefficient.variance_at(np.asarray(labels, np.float64), np.array(n_pairs))
    assert variance_at is not None
    return variance_at(value)


@pytest.mark.parametrize("share", [0.03, 0.3, 0.5])
@pytest.mark.parametrize("kappa", [0.0, 0.2, 0.5, 0.9])
def test_the_variance_of_two_labels_and_classes_is_that_of_bloch_and_kraemer(share: float, kappa: float) -> None:
    """DOI 10.2307/2532052, as Donner and Eliasziw (1992, DOI 10.1002/sim.4780111109) have it."""
    of_rare = kappa * (2 - kappa) / (2 * share * (1 - share))
    expected = (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + of_rare) / 100
    for coefficient in (NOMINAL, ORDINAL):
        assert variance(coefficient, kappa, [share, 1 - share], [0, 0, 100]) == pytest.approx(expected)


@pytest.mark.parametrize("coefficient", [NOMINAL, ORDINAL])
def test_the_variance_is_that_of_drawn_studies(coefficient: Coefficient) -> None:
    """2,000 studies of 200 pairs with two labels and 100 with three; the error of a variance is 3.2 %."""
    rng, shares = np.random.default_rng(1), np.array([0.7, 0.2, 0.1])
    pair, n = np.repeat(np.arange(300), np.repeat([2, 3], [200, 100])), np.zeros(700, np.int64)
    found = []
    for _ in range(2_000):
        is_alike, klass = rng.random(300) < 0.4, rng.choice(3, 300, p=shares)
        labels = np.where(is_alike[pair], klass[pair], rng.choice(3, 700, p=shares))
        found.append(coefficient.compute(LeftOutSums(Overlap(3, pair, n, n, n, labels), constant=False).sums))
    assert np.var(found) == pytest.approx(variance(coefficient, 0.4, shares, [0, 0, 200, 100]), rel=0.1)


def test_an_interval_reaches_every_true_value_that_is_near_enough() -> None:
    """By hand: where the true value k has the variance 0.04 (1 - k), 0.2 is within 2 errors up to 0.4333."""
    spreads = {cluster: Spread(1e-6, 10_000) for cluster in (Cluster.HS, Cluster.CN, Cluster.PAIR)}
    found = add_bounds(Figure("x", 0.2, 9), spreads, 0.9545, variance_at=lambda k: 0.04 * (1 - k))
    high = 0.2 - 0.08 + (0.08**2 + 4 * 0.04 * 0.8) ** 0.5
    assert found.high is not None
    assert found.high == pytest.approx(high, abs=1e-3)
    assert (found.high - 0.2) ** 2 == pytest.approx(4 * 0.04 * (1 - found.high), rel=1e-3)
    assert found.low == pytest.approx(0.2 - 0.08 - (0.08**2 + 4 * 0.04 * 0.8) ** 0.5, abs=1e-3)


def test_intervals_of_a_rare_class_hold_on_triples() -> None:
    """In 120 studies with 30 triples; with the jackknife alone 0.80 of them held, and a quarter had none."""
    rng, held = np.random.default_rng(13), []
    for _ in range(120):
        overlap, leniency = draw(TRIPLES, RARE, rng)
        figure = next(one for one in pooled_figures(overlap, "texts", 0.95) if one.name == FLEISS.name)
        if figure.low is not None and figure.high is not None:
            held.append(figure.low <= same_annotators(RARE, leniency)[0][FLEISS.name] <= figure.high)
    assert len(held) > 80
    assert np.mean(held) >= 0.92


@pytest.mark.parametrize("thresholds", [(1.8,), (2.03,), (1.9, 2.2)])
def test_such_a_study_has_a_warning(thresholds: tuple[float, ...]) -> None:
    rng, effects = np.random.default_rng(13), Effects(thresholds=thresholds, noise=0.45)
    classes = [str(at) for at in range(len(thresholds) + 1)]
    for _ in range(30):
        cautions = find_cautions(draw(TRIPLES, effects, rng)[0], classes)
        assert any("% of the labels are 0, and kappas rest on the few others" in one for one in cautions)


@pytest.mark.parametrize(
    ("n_rare", "note"), [(4, "no interval: two annotators have 4 labels that are not of"), (5, "")]
)
def test_a_kappa_of_two_needs_five_labels_that_are_not_of_the_commonest_class(n_rare: int, note: str) -> None:
    """By hand: both give the rare class to a pair, and one of them to two or three pairs more."""
    (figure,) = subset_figures(Subsets(two_people(n_rare), "none"), ["ana", "ben"], 0.95)
    assert (figure.kappa.low is None, figure.kappa_se is None) == (bool(note), bool(note))
    assert figure.kappa.note.startswith(note)
    assert figure.kappa.value is not None


@pytest.mark.parametrize(("n_rare", "has_one"), [(3, False), (4, True)])
def test_a_mean_kappa_needs_four_for_every_two_annotators(n_rare: int, has_one: bool) -> None:
    mean, _, weighted = summary_figures(Subsets(two_people(n_rare), "none"), "texts", 0.95)
    assert [figure.low is not None for figure in (mean, weighted)] == [has_one] * 2
    why = "no interval: two annotators have 3.0 labels that are not of the commonest class, and it needs 4"
    assert (why in mean.note) is not has_one


def two_people(n_rare: int) -> Overlap:
    """40 pairs of 8 HS and 5 CN, which two people have labelled."""
    pair, annotator = np.repeat(np.arange(40), 2), np.tile([0, 1], 40)
    klass = np.zeros(80, np.int64)
    klass[[0, 1, *range(13, 13 + 14 * (n_rare - 2), 14)]] = 1
    return Overlap(2, pair, pair // 5, pair % 5, annotator, klass)
