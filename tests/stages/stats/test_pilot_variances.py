"""What a pilot says of variances: against loops, an integral, closed forms and hand calculations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from fcpair.stages.questions.labels import APPROPRIATENESS
from fcpair.stages.stats.intervals import t_reach
from fcpair.stages.stats.label_profiles import fit_class_model
from fcpair.stages.stats.multi_rater import COEFFICIENTS, pooled_figures
from fcpair.stages.stats.pilot_variances import PRIOR_MEDIAN, TAIL, PilotSide, PilotVariance, measure_pilot
from fcpair.stages.stats.predicted_widths import OverlapSize, SideShares, floor_width, mean_width
from fcpair.stages.stats.rating_counts import Overlap

ALPHA = next(one for one in COEFFICIENTS if one.name == "Krippendorff's alpha, nominal")
FLEISS_3 = next(one for one in COEFFICIENTS if one.name == "Fleiss' kappa, 3 labels")
MODEL = fit_class_model(APPROPRIATENESS, 0.3, 0.05, 0.5)
Ints = npt.NDArray[np.int64]

BY_HAND = PilotVariance(
    ALPHA,
    value=0.5,
    pairs={2: 100},
    pair=0.01,
    pair_spread=0.02,
    hs=PilotSide(n_texts=10, products=900, variance=0.03),
    cn=PilotSide(n_texts=20, products=400, variance=0.01),
    shares=SideShares(2 / 9, 0.0),
)


def pilot_of(klass: Ints, hs: Ints, cn: Ints) -> Overlap:
    """Two labels on each pair, by the same two people; `klass` (n_pairs, 2)."""
    pair = np.repeat(np.arange(len(klass)), 2)
    return Overlap(3, pair, hs[pair], cn[pair], np.tile([0, 1], len(klass)), klass.ravel())


def drawn_pilot(n_hs: int = 6, n_cn: int = 8) -> Overlap:
    rng = np.random.default_rng(3)
    hs, cn = np.divmod(np.arange(n_hs * n_cn), n_cn)
    first = np.where(rng.random(len(hs)) < 0.2 + 0.1 * hs, 2, 0)
    return pilot_of(np.column_stack([first, np.where(rng.random(len(hs)) < 0.8, first, 1)]), hs, cn)


def alpha_by_hand(overlap: Overlap, kept: npt.NDArray[np.bool_]) -> float:
    """Krippendorff's nominal alpha of the labels that are kept, where each pair has two."""
    two = overlap.klass[kept].reshape(-1, 2)
    n_each = np.bincount(two.ravel())
    n = n_each.sum()
    seen = float(np.mean(two[:, 0] != two[:, 1]))
    expected = 1 - float((n_each * (n_each - 1)).sum()) / (n * (n - 1))
    return float(1 - seen / expected)


def jackknife_in_loops(overlap: Overlap, cluster: Ints) -> float:
    values = np.array([alpha_by_hand(overlap, cluster != at) for at in np.unique(cluster)])
    return float((len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum())


def test_variances_are_those_of_the_jackknife_in_loops() -> None:
    overlap = drawn_pilot()
    found = measure_pilot(overlap, ALPHA)
    assert isinstance(found, PilotVariance)
    assert found.value == pytest.approx(alpha_by_hand(overlap, np.ones(len(overlap.klass), bool)))
    assert found.pair == pytest.approx(jackknife_in_loops(overlap, overlap.pair))
    assert found.hs.variance == pytest.approx(jackknife_in_loops(overlap, overlap.hs))
    assert found.cn.variance == pytest.approx(jackknife_in_loops(overlap, overlap.cn))
    assert (found.pairs, found.hs.n_texts, found.cn.n_texts) == ({2: 48}, 6, 8)
    assert (found.hs.products, found.cn.products) == (6 * 8 * 7, 8 * 6 * 5)


def test_they_are_those_on_which_the_interval_of_agreement_rests() -> None:
    overlap = drawn_pilot()
    found = measure_pilot(overlap, ALPHA)
    assert isinstance(found, PilotVariance)
    variance = max(found.hs.variance + found.cn.variance - found.pair, found.pair)
    linear = [replace(one, distances=None) for one in COEFFICIENTS]
    printed = next(one for one in pooled_figures(overlap, "texts", 0.95, linear) if one.name == ALPHA.name)
    assert printed.low == pytest.approx(found.value - t_reach(5, float(np.sqrt(variance)), 0.95))


def test_shares_by_hand() -> None:
    """V_HS is three times V_pair, and a share s makes it 1 + 900 / 100 s times: s is 2 / 9."""
    overlap = drawn_pilot()
    found = measure_pilot(overlap, ALPHA)
    assert isinstance(found, PilotVariance)
    assert found.shares.hs == pytest.approx(max(found.hs.variance / found.pair - 1, 0) / (found.hs.products / 48))
    assert BY_HAND.hs.variance / BY_HAND.pair == pytest.approx(1 + 900 / 100 * BY_HAND.shares.hs)


@pytest.mark.parametrize("probability", [TAIL, 0.5, 1 - TAIL])
@pytest.mark.parametrize("side", [BY_HAND.hs, BY_HAND.cn])
def test_quantiles_of_a_share_against_an_integral(side: PilotSide, probability: float) -> None:
    """The density of V_HS / V_pair, gamma about what a share makes of it, times that of the share before the pilot."""
    from scipy.stats import gamma, lomax

    shape = 1 / (max(2 * side.products / 100**2, 2 / (side.n_texts - 1)) + 0.02)

    def density(share: float) -> float:
        mean = 1 + side.products / 100 * share
        ratio = side.variance / 0.01
        return float(gamma.pdf(ratio, shape, scale=mean / shape) * lomax.pdf(share, 1, scale=PRIOR_MEDIAN))

    at = side.share_at(probability, 100, 0.01, 0.02)
    assert quad(density, 0, at)[0] / quad(density, 0, 1)[0] == pytest.approx(probability, abs=0.01)


def test_a_pilot_without_two_pairs_of_a_text_leaves_all_open() -> None:
    """Half of the density lies below the median, but for what lies above a share of 1: 1 / 11."""
    side = PilotSide(n_texts=50, products=0, variance=0.01)
    for probability in (0.2, 0.5, 0.9):
        expected = PRIOR_MEDIAN * (1 / (1 - probability * 10 / 11) - 1)
        assert side.share_at(probability, 50, 0.01, 0.02) == pytest.approx(expected, abs=1e-3)


@given(st.floats(0.5, 10), st.integers(3, 60), st.floats(1, 40))
def test_quantiles_rise_with_the_variance_and_with_the_probability(
    ratio: float, n_texts: int, pairs_of_a_text: float
) -> None:
    n = round(n_texts * pairs_of_a_text)
    side = PilotSide(n_texts, n * (pairs_of_a_text - 1), 0.01 * ratio)
    low, middle, high = (side.share_at(at, n, 0.01, 0.02) for at in (TAIL, 0.5, 1 - TAIL))
    assert 0 <= low <= middle <= high <= 1
    assert replace(side, variance=0.02 * ratio).share_at(0.5, n, 0.01, 0.02) >= middle - 1e-9


def test_the_ends_hold_the_shares_and_the_low_one_has_less_variance() -> None:
    low, middle, high = BY_HAND.ends()
    assert low.shares.hs < middle.shares.hs < high.shares.hs
    assert middle is BY_HAND
    assert low.pair < middle.pair == high.pair


def test_a_larger_pilot_has_ends_that_lie_closer() -> None:
    def reach(pilot: PilotVariance) -> float:
        low, _, high = pilot.ends()
        return high.shares.hs - low.shares.hs

    larger = BY_HAND.enlarge(40, 80)
    assert reach(larger) < reach(BY_HAND)
    assert larger.n == 1600
    assert larger.pair == pytest.approx(0.01 / 16)
    assert larger.hs.products == pytest.approx(40 * (1600 / 40) ** 2 * 0.9)


def test_on_an_overlap_like_the_pilot_its_own_variances_are_expected() -> None:
    found = measure_pilot(drawn_pilot(), ALPHA)
    assert isinstance(found, PilotVariance)
    expected = found.expect(MODEL, OverlapSize(6, 8, 2, {2: 48}))
    assert expected is not None
    assert (expected.value, expected.pair) == pytest.approx((found.value, found.pair))
    assert expected.hs.added == pytest.approx(max(found.hs.variance - found.pair, 0))


def test_texts_that_explain_a_share_set_a_floor_that_more_of_them_lower() -> None:
    few, many = (BY_HAND.expect(MODEL, OverlapSize(n_hs, 40, 4, {2: 400})) for n_hs in (20, 80))
    assert few is not None
    assert many is not None
    assert floor_width(few) > floor_width(many) > 0
    assert mean_width(few) > mean_width(many)


def test_what_tells_nothing_says_why() -> None:
    same = pilot_of(np.zeros((6, 2), np.int64), np.arange(6) // 2, np.arange(6) % 2)
    assert isinstance(measure_pilot(same, ALPHA), str)
    assert measure_pilot(drawn_pilot(), FLEISS_3) == "no pair has exactly 3 labels"
    assert isinstance(measure_pilot(drawn_pilot(n_hs=1), ALPHA), str)
