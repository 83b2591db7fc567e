"""Models of labels, fitted, and widths in studies drawn from them, against formulas for sample sizes and pilots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.params import Plan
from fcpair.records import Figure
from fcpair.stages.assignment.width_sources import AssumedLabels, figure_names
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import APPROPRIATENESS, read_labels
from fcpair.stages.stats.intervals import t_reach
from fcpair.stages.stats.kappa import MEANS
from fcpair.stages.stats.latent_labels import (
    Effects,
    all_profiles,
    answer_by_classes,
    answer_by_effects,
    class_model_at,
    explained_variances,
    fit_class_model,
    fit_effects,
    kappa_range,
    new_annotators,
)
from fcpair.stages.stats.multi_rater import COEFFICIENTS, pooled_figure, pooled_figures
from fcpair.stages.stats.predicted_widths import (
    KAPPA_OF_TWO,
    PRIOR_MEDIAN,
    OverlapSize,
    Pilot,
    VarianceParts,
    draw_width,
    measure_pilot,
    place_labels,
)
from fcpair.stages.stats.rating_counts import Overlap

TWO_CLASSES = read_labels("one_of(no,yes+)")
ALPHA = next(one for one in COEFFICIENTS if one.name == "Krippendorff's alpha, nominal")
FLEISS = next(one for one in COEFFICIENTS if one.name == "Fleiss' kappa, 2 labels")
FLEISS_3 = next(one for one in COEFFICIENTS if one.name == "Fleiss' kappa, 3 labels")
KAPPAS = [(0.1, 0.3), (0.3, 0.4), (0.5, 0.6), (0.5, 0.8)]
"""Shares of positive labels, and kappas."""
Ints = npt.NDArray[np.int64]


@pytest.mark.parametrize(("positive", "kappa"), KAPPAS)
def test_two_labels_of_two_classes_as_donner_and_eliasziw_plan_them(positive: float, kappa: float) -> None:
    """The variance of the intraclass kappa on which Donner and Eliasziw (1992, DOI 10.1002/sim.4780111109) plan; by
    Bloch and Kraemer (1989, DOI 10.2307/2532052)."""
    of_rare = kappa * (2 - kappa) / (2 * positive * (1 - positive))
    expected = (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + of_rare)
    source = AssumedLabels(Plan(prevalence=positive, not_sure=0.0, kappa=kappa), TWO_CLASSES)
    drawn = source.parts(FLEISS.name, OverlapSize(70, 70, 2, {2: 4900}))
    assert drawn.pair == pytest.approx(expected, rel=0.05)
    assert (drawn.hs, drawn.cn) == (0, 0)


@pytest.mark.parametrize(
    ("plan", "labels"),
    [
        *((Plan(prevalence=share, not_sure=0.0, kappa=kappa), TWO_CLASSES) for share, kappa in KAPPAS),
        (Plan(prevalence=0.3, not_sure=0.1, kappa=0.5), APPROPRIATENESS),
    ],
)
def test_a_kappa_of_two_as_cantor_and_flack_plan_it(plan: Plan, labels: Closed) -> None:
    """Q of Cantor (1996, DOI 10.1037/1082-989X.1.2.150): the variance of Cohen's kappa times the number of pairs, here
    1,600 of 80 HS and 80 CN; the same on three classes (Flack and others 1988, DOI 10.1007/BF02294215).

    The interval of a study varies, and is never narrower than for independent pairs: its width is somewhat above.
    """
    source = AssumedLabels(plan, labels)
    width = source.predict(KAPPA_OF_TWO, OverlapSize(80, 80, 2, {2: 1600})).width or np.nan
    joint = fit_class_model(labels, plan.prevalence, plan.not_sure, plan.kappa).joint
    assert 0.95 < width / asymptotic_width(joint) < 1.15


def asymptotic_width(joint: npt.NDArray[np.float64]) -> float:
    """That by the variance of Fleiss, Cohen and Everitt 1969, DOI 10.1037/h0028106."""
    row, column = joint.sum(axis=1), joint.sum(axis=0)
    seen, chance = np.trace(joint), row @ column
    diagonal = np.diag(joint) @ (1 - chance - (column + row) * (1 - seen)) ** 2
    others = joint * (column[:, None] + row[None, :]) ** 2
    beside = (1 - seen) ** 2 * (others.sum() - np.trace(others))
    variance = (diagonal + beside - (seen * chance - 2 * chance + seen) ** 2) / (1 - chance) ** 4
    return 2 * t_reach(79, float(np.sqrt(variance / 1600)), 0.95)


def test_a_width_is_the_mean_of_those_that_agreement_prints_for_drawn_studies() -> None:
    size = OverlapSize(12, 15, 3, {2: 60, 3: 20})
    answer = answer_by_classes(fit_class_model(APPROPRIATENESS, 0.4, 0.05, 0.5))
    places = place_labels(size, 3)
    studies: list[Overlap] = []

    def measure(overlap: Overlap) -> list[Figure]:
        studies.append(overlap)
        return [pooled_figure(overlap, "texts", 0.95, ALPHA)]

    drawn = draw_width(places, answer, measure)
    assert drawn is not None
    assert 8 <= len(studies) <= 40
    printed = [next(one for one in pooled_figures(study, "texts", 0.95) if one.name == ALPHA.name) for study in studies]
    assert drawn[0] == pytest.approx(np.mean([one.value for one in printed]))
    assert drawn[1] == pytest.approx(np.mean([one.high - one.low for one in printed]))  # type: ignore[operator]
    again = draw_width(places, answer, measure)
    assert again is not None
    assert again.tolist() == drawn.tolist()


def test_places_are_even_and_each_pair_comes_once() -> None:
    places = place_labels(OverlapSize(6, 8, 4, {2: 24, 3: 8}), 3)
    pairs = np.unique(np.column_stack([places.hs, places.cn]), axis=0)
    assert len(pairs) == 32
    assert np.ptp(np.bincount(pairs[:, 1])) <= 2
    assert sorted(np.bincount(places.pair).tolist()) == [2] * 24 + [3] * 8
    assert np.ptp(np.bincount(places.annotator)) <= 2
    assert len(np.unique(places.pair * 4 + places.annotator)) == 24 * 2 + 8 * 3


def test_pairs_that_are_there_stay_on_their_texts_and_others_spread_over_what_is_free() -> None:
    """Of 40 pairs, 30 are on three of twelve CNs, 10 each; the rest takes free pairs evenly: 10 of 20 x 12 - 30."""
    few, more = (OverlapSize(20, 12, 3, {2: n}, (3,) * 10, (10,) * 3) for n in (30, 40))
    assert few.pairs_of_texts[1].tolist() == [10] * 3
    hs, cn = more.pairs_of_texts
    assert (hs.sum(), cn.sum()) == (40, 40)
    assert cn[:3].min() >= 10
    assert cn[3:].max() <= 2
    places = place_labels(few, 3)
    assert np.bincount(places.cn).tolist() == [20] * 3
    parts = VarianceParts(1.0, 0.1, 0.1)
    assert parts.variance(few) > parts.variance(more) > parts.variance(OverlapSize(20, 12, 3, {2: 40}))


SIZES = st.tuples(st.integers(5, 40), st.integers(5, 40))


@given(SIZES, st.floats(0, 0.4), st.floats(0, 0.4), st.floats(0.2, 0.45))
def test_the_width_falls_as_overlap_grows_and_stays_above_the_floor(
    texts: tuple[int, int], of_hs: float, of_cn: float, share: float
) -> None:
    source = AssumedLabels(Plan(prevalence=0.3, hs_effect=of_hs, cn_effect=of_cn), APPROPRIATENESS)
    fewer, more = (
        source.predict(ALPHA.name, OverlapSize(*texts, 3, {2: max(round(part * texts[0] * texts[1]), 10)}))
        for part in (share, 2 * share)
    )
    if fewer.width and more.width and more.floor is not None:
        assert more.width <= fewer.width * 1.1
        assert more.floor <= 2 * more.width


def test_the_variance_falls_beyond_the_labels_of_one_study() -> None:
    """From 10,000 pairs to 40,000, where texts explain nothing, widths halve."""
    source = AssumedLabels(Plan(), APPROPRIATENESS)
    large, small = (source.predict(ALPHA.name, OverlapSize(200, 200, 4, {2: n})).width for n in (40_000, 10_000))
    assert large
    assert small
    assert large == pytest.approx(small / 2)


def test_a_figure_that_no_pair_is_about_has_no_width() -> None:
    source = AssumedLabels(Plan(), APPROPRIATENESS)
    assert source.predict(FLEISS.name, OverlapSize(45, 129, 9, {3: 700})).undefined
    assert "fewer than 12" in str(source.predict(KAPPA_OF_TWO, OverlapSize(45, 129, 9, {2: 36 * 11})).undefined)
    for name in figure_names(APPROPRIATENESS):
        assert source.predict(name, OverlapSize(45, 129, 9, {})).undefined
    assert source.predict(MEANS[0], OverlapSize(4, 4, 2, {2: 2})).undefined


BY_HAND = Pilot(
    ALPHA.name,
    value=0.5,
    size=OverlapSize(10, 20, 2, {2: 100}, (10,) * 10, (5,) * 20),
    of_pair=0.01,
    spread=0.02,
    of_hs=0.03,
    of_cn=0.01,
)
STUDY = OverlapSize(20, 40, 4, {2: 400})


def pilot_of(klass: Ints, hs: Ints, cn: Ints) -> Overlap:
    """Two labels on each pair, by the same two people; `klass` (n_pairs, 2)."""
    pair = np.repeat(np.arange(len(klass)), 2)
    return Overlap(3, pair, hs[pair], cn[pair], np.tile([0, 1], len(klass)), klass.ravel())


def drawn_pilot(n_hs: int = 6, n_cn: int = 8) -> Overlap:
    rng = np.random.default_rng(3)
    hs, cn = np.divmod(np.arange(n_hs * n_cn), n_cn)
    first = np.where(rng.random(len(hs)) < 0.2 + 0.1 * hs, 2, 0)
    return pilot_of(np.column_stack([first, np.where(rng.random(len(hs)) < 0.8, first, 1)]), hs, cn)


def test_variances_are_those_of_the_jackknife_in_loops_on_which_the_interval_of_agreement_rests() -> None:
    overlap = drawn_pilot()
    pilot = measure_pilot(overlap, ALPHA)
    assert isinstance(pilot, Pilot)

    def alpha_of(kept: npt.NDArray[np.bool_]) -> float:
        """Krippendorff's nominal alpha of the labels that are kept, where each pair has two."""
        two = overlap.klass[kept].reshape(-1, 2)
        n_each = np.bincount(two.ravel())
        n = n_each.sum()
        expected = 1 - float((n_each * (n_each - 1)).sum()) / (n * (n - 1))
        return float(1 - float(np.mean(two[:, 0] != two[:, 1])) / expected)

    def jackknife(cluster: Ints) -> float:
        values = np.array([alpha_of(cluster != at) for at in np.unique(cluster)])
        return float((len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum())

    assert pilot.value == pytest.approx(alpha_of(np.ones(len(overlap.klass), bool)))
    assert (pilot.of_pair, pilot.of_hs, pilot.of_cn) == pytest.approx(
        (jackknife(overlap.pair), jackknife(overlap.hs), jackknife(overlap.cn))
    )
    assert pilot.size == OverlapSize(6, 8, 2, {2: 48}, (8,) * 6, (6,) * 8)
    variance = max(pilot.of_hs + pilot.of_cn - pilot.of_pair, pilot.of_pair)
    assert pilot.parts.variance(pilot.size) == pytest.approx(variance)
    printed = pooled_figure(overlap, "texts", 0.95, replace(ALPHA, distances=None))
    assert printed.low == pytest.approx(pilot.value - t_reach(5, float(np.sqrt(variance)), 0.95))


def test_parts_by_hand_and_the_floor_that_more_texts_lower() -> None:
    """V_HS is three times V_pair: 0.02 = x 10 (10 x 9) / 100², where an HS explains x of what a pair adds."""
    assert BY_HAND.parts.pair == pytest.approx(1)
    assert (BY_HAND.parts.hs, BY_HAND.parts.cn) == pytest.approx((2 / 9, 0))
    assert BY_HAND.parts.of_sides(BY_HAND.size) == pytest.approx((0.03, 0.01))
    few, many = (OverlapSize(n_hs, 40, 4, {2: 400}) for n_hs in (20, 80))
    assert BY_HAND.parts.floor_width(few) > BY_HAND.parts.floor_width(many) > 0
    assert BY_HAND.widths(few)[1] > BY_HAND.widths(many)[1]
    assert VarianceParts(1.0, 0.0, 0.0).floor_width(few) == 0


def test_a_pilot_without_two_pairs_of_a_text_leaves_shares_as_they_were_before_it() -> None:
    """Half of the density lies below the median, but for what lies above a share of 1."""
    size = OverlapSize(50, 50, 2, {2: 50}, (1,) * 50, (1,) * 50)
    shares = replace(BY_HAND, size=size, of_hs=0.01, of_cn=0.01)._near[0]
    below = (1 + PRIOR_MEDIAN) / 2
    assert [float(np.mean(of < PRIOR_MEDIAN)) for of in shares] == pytest.approx([below, below], abs=0.06)


@given(st.floats(0.8, 4), st.integers(4, 30), st.integers(4, 30))
def test_the_range_rises_with_the_variance_of_a_side(ratio: float, n_hs: int, n_cn: int) -> None:
    n = n_hs * n_cn
    pilot = replace(BY_HAND, size=OverlapSize(n_hs, n_cn, 2, {2: n}, (n_cn,) * n_hs, (n_hs,) * n_cn))
    low, middle, high = replace(pilot, of_hs=0.01 * ratio).widths(STUDY)
    assert 0 < low < middle < high
    assert replace(pilot, of_hs=0.01 * ratio * 4).widths(STUDY)[1] > middle * 0.9


def test_a_pilot_always_gives_the_same_range_which_widens_with_what_pairs_add_and_narrows_with_its_size() -> None:
    widths = BY_HAND.widths(STUDY)
    assert replace(BY_HAND).widths(STUDY).tolist() == widths.tolist()
    assert BY_HAND.widths(STUDY, of_pair=1.44) == pytest.approx(widths * 1.2, rel=0.05)
    larger = BY_HAND.enlarge(40, 80)
    assert np.ptp(larger.widths(STUDY)) < np.ptp(widths)
    assert larger.size.n_pairs == 1600
    assert larger.of_pair == pytest.approx(0.01 / 16)
    assert larger.parts.hs == pytest.approx(BY_HAND.parts.hs)


def test_what_tells_nothing_says_why() -> None:
    same = pilot_of(np.zeros((6, 2), np.int64), np.arange(6) // 2, np.arange(6) % 2)
    assert isinstance(measure_pilot(same, ALPHA), str)
    assert measure_pilot(drawn_pilot(), FLEISS_3) == "no pair has exactly 3 labels"
    assert isinstance(measure_pilot(drawn_pilot(n_hs=1), ALPHA), str)


OF_CLASSES = np.array([0.75, 0.05, 0.2])


@given(st.floats(0, 0.45), st.floats(0, 0.45), st.floats(0.05, 0.7))
def test_the_fit_has_the_kappa(of_hs: float, of_cn: float, kappa: float) -> None:
    fitted = fit_effects(Effects(hs=of_hs, cn=of_cn), OF_CLASSES, kappa)
    assert new_annotators(fitted)[MEANS[0]] == pytest.approx(kappa, abs=1e-4)


def test_the_fit_has_the_shares_and_sides_explain_what_the_effects_say() -> None:
    fitted = fit_effects(Effects(hs=0.2, cn=0.3, leniency=0.4), OF_CLASSES, 0.4)
    rng, n = np.random.default_rng(0), 400_000
    seen = rng.normal(size=n) + rng.normal(0, 0.4, n) + rng.normal(0, fitted.noise, n)
    drawn = np.bincount(np.searchsorted(fitted.thresholds, seen), minlength=3) / n
    assert drawn == pytest.approx(OF_CLASSES, abs=0.003)
    none = explained_variances(fit_effects(Effects(), OF_CLASSES, 0.4), ALPHA)
    some = explained_variances(fit_effects(Effects(hs=0.2, cn=0.4), OF_CLASSES, 0.4), ALPHA)
    assert none == pytest.approx((0, 0), abs=1e-9)
    assert 0 < some[0] < some[1] < 0.4


@pytest.mark.slow
def test_what_a_side_explains_is_what_its_pairs_have_in_common_in_drawn_studies() -> None:
    effects = fit_effects(Effects(hs=0.4, cn=0.4), OF_CLASSES, 0.6)
    places = place_labels(OverlapSize(80, 80, 4, {2: 6400}), 3)
    answer, parts = answer_by_effects(effects), []
    for at in range(40):
        study = measure_pilot(replace(places, klass=answer(places, np.random.default_rng([1, at]))), ALPHA)
        assert isinstance(study, Pilot)
        parts.append((study.parts.hs, study.parts.cn))
    assert explained_variances(effects, ALPHA) == pytest.approx(np.mean(parts, axis=0), rel=0.2)


SHARES = st.tuples(st.floats(0.05, 0.9), st.floats(0.0, 0.2)).filter(lambda shares: sum(shares) < 0.95)


def test_the_model_by_hand() -> None:
    """Half of the pairs are positive, and people are right in 8 of 10: both say yes in 0.5 (0.64 + 0.04)."""
    model = class_model_at(TWO_CLASSES, 0.5, 0.0, 0.8)
    assert model.joint == pytest.approx(np.array([[0.34, 0.16], [0.16, 0.34]]))
    assert model.kappa == pytest.approx(0.36)
    assert all_profiles(2, 2).tolist() == [[2, 0], [1, 1], [0, 2]]
    assert model.probabilities(all_profiles(2, 2)) == pytest.approx([0.34, 0.32, 0.34])


@given(SHARES, st.floats(0, 1), st.integers(1, 5))
def test_the_fit_has_the_shares_and_the_kappa_and_its_profiles_sum_to_one(
    shares: tuple[float, float], at: float, n_labels: int
) -> None:
    lowest, highest = kappa_range(APPROPRIATENESS, *shares)
    kappa = lowest + at * (highest - lowest)
    model = fit_class_model(APPROPRIATENESS, *shares, kappa)
    assert model.probabilities(all_profiles(n_labels, 3)).sum() == pytest.approx(1)
    if 0.01 <= at <= 0.99:
        assert model.shares == pytest.approx([1 - sum(shares), shares[1], shares[0]], abs=1e-9)
        assert model.kappa == pytest.approx(kappa, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: all_profiles(9, 9), "9 labels of 9 classes can fall in 24,310 ways; plan with at most 2,000"),
        (lambda: fit_class_model(APPROPRIATENESS, 0.0, 0.0, 0.5), "prevalence is 0; expected a share between 0 and 1"),
        (lambda: fit_class_model(APPROPRIATENESS, 1.0, 0.0, 0.5), "prevalence is 1; expected a share between 0 and 1"),
        (
            lambda: fit_class_model(APPROPRIATENESS, 0.2, 0.1, 0.95),
            r"kappa is 0\.95; with 0\.2 .* and 0\.1 not sure it can be from 0\.\d+ to 0\.\d+",
        ),
        (lambda: fit_class_model(TWO_CLASSES, 0.2, 0.1, 0.5), "all answers of this question are definite"),
        (
            lambda: fit_effects(Effects(hs=0.5, cn=0.5), OF_CLASSES, 0.4),
            r"HS and CN explain 0\.5 and 0\.5 .* expected less than 1 together",
        ),
        (
            lambda: fit_effects(Effects(leniency=1.0), OF_CLASSES, 0.9),
            r"kappa is 0\.9; with annotators this different it is 0\.\d+ at most",
        ),
    ],
    ids=["profiles", "nobody", "everybody", "kappa", "not sure", "texts", "leniency"],
)
def test_what_no_model_can_have_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
