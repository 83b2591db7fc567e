"""The pooled coefficients, against loops, libraries and published examples."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import krippendorff
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from fcpair.params import IntervalScope
from fcpair.stages.questions.base import Distance
from fcpair.stages.stats.multi_rater import (
    fleiss_kappa,
    gwet_ac1,
    interval_alpha,
    nominal_alpha,
    observed_agreement,
    ordinal_alpha,
    pooled_figures,
)
from fcpair.stages.stats.rating_counts import Overlap, Sums, coincidence, dense_codes, moments, sums_by
from stages.stats.test_agreement import bounds

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

N_CLASSES = 3
answers = st.lists(st.integers(0, N_CLASSES - 1), min_size=2, max_size=4)
studies = st.lists(answers, min_size=2, max_size=15)


def counted(pairs: list[list[int]], n_classes: int = N_CLASSES) -> Ints:
    """Labels of each class on each pair, shape (n_pairs, n_classes)."""
    return np.array([np.bincount(labels, minlength=n_classes) for labels in pairs], dtype=np.int64)


def sums(profiles: Ints, weights: Floats | None = None) -> Sums:
    """Over so many pairs of each profile; one of each if not given."""
    weights = np.ones(len(profiles)) if weights is None else weights
    matrix = coincidence(profiles, weights.astype(np.int64))
    return Sums.from_moments(weights @ moments(profiles), lambda values: values @ matrix @ values)


def alpha(found: Sums, distance: Distance) -> Floats:
    """Krippendorff's alpha, with the classes' places for their numbers."""
    numbers = np.arange(len(found.labels), dtype=np.float64)
    if distance == "interval":
        return interval_alpha(found, numbers=numbers)
    return {"nominal": nominal_alpha, "ordinal": ordinal_alpha}[distance](found)


def overlap_of(pairs: list[list[int]], hs: list[int], cn: list[int]) -> Overlap:
    """Label i of each pair is by annotator i."""
    size = [len(labels) for labels in pairs]
    return Overlap(
        N_CLASSES,
        np.repeat(np.arange(len(pairs)), size),
        np.repeat(hs, size).astype(np.int64),
        np.repeat(cn, size).astype(np.int64),
        np.concatenate([np.arange(n) for n in size]),
        np.concatenate(pairs).astype(np.int64),
    )


def test_a_pair_adds_its_labels_and_its_coincidences_to_the_sums_and_one_without_two_adds_nothing() -> None:
    """0, 0, 2: of the six ordered label pairs two are 0 0, two 0 2, two 2 0, each counted 1 / (3 - 1)."""
    found = sums(counted([[0, 0, 2]]))
    assert found.n == 1
    assert found.agreeing == pytest.approx(1 / 3)
    assert found.labels.tolist() == [2, 0, 1]
    assert found.shares == pytest.approx([2 / 3, 0, 1 / 3])
    assert found.same == 1
    assert coincidence(counted([[0, 0, 2]]), np.array([1])).tolist() == [[1, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert found.products(np.array([2.0, 3.0, 5.0])) == 2 * 2 + 2 * 2 * 5
    assert not moments(counted([[1], []])).any()
    assert not coincidence(counted([[1], []]), np.array([3, 4])).any()


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=20))
def test_sums_by_cluster_are_those_of_a_loop(members: list[tuple[int, int]]) -> None:
    values = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    expected = [
        sum(values[kind] for at, kind in members if at == name) for name in sorted({name for name, _ in members})
    ]
    cluster, kind = np.array(members, dtype=np.int64).T
    np.testing.assert_array_equal(sums_by(cluster, kind, values), expected)


@given(st.lists(st.sampled_from([0, 1, 5, 7, 10**9]), min_size=1))
def test_dense_codes_are_those_of_numpy_s_unique(codes: list[int]) -> None:
    for found, expected in zip(dense_codes(np.array(codes)), np.unique(codes, return_inverse=True), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("coefficient", "pairs", "value"),
    [
        # 0 0 agrees (1 of 1); 0 0 2 agrees in 1 of 3: the mean is 2/3
        (observed_agreement, [[0, 0], [0, 0, 2]], 2 / 3),
        # observed 3/4; prevalence 5/8, 0, 3/8; chance (2 x 15/64) / 2 = 15/64; (48 - 15) / (64 - 15)
        (gwet_ac1, [[0, 0], [0, 0], [0, 2], [2, 2]], 33 / 49),
        # each pair counts once: shares 2/3, 0, 1/3 and 0, 0, 1, mean 1/3, 0, 2/3; chance (2/9 + 2/9) / 2; (4/9) / (7/9)
        (gwet_ac1, [[0, 0, 2], [2, 2]], 4 / 7),
    ],
)
def test_coefficients_by_hand(coefficient: Callable[[Sums], Floats], pairs: list[list[int]], value: float) -> None:
    assert coefficient(sums(counted(pairs))) == pytest.approx(value)


def test_fleiss_kappa_of_the_textbook_table_and_interval_alpha_by_hand() -> None:
    """Ten subjects, 14 raters, five categories: 0.210 (Wikipedia, Fleiss' kappa, worked example)."""
    rows = "0 0 0 0 14/0 2 6 4 2/0 0 3 5 6/0 3 9 2 0/2 2 8 1 1/7 7 0 0 0/3 2 6 3 0/2 5 3 2 2/6 5 2 1 0/0 2 2 3 7"
    profiles = np.array([[int(n) for n in row.split()] for row in rows.split("/")])
    assert fleiss_kappa(sums(profiles)) == pytest.approx(0.210, abs=5e-4)
    # 1 1, 1 3, 5 5: observed 2 x 4, by chance 2 x (3 x 4 + 6 x 16 + 2 x 4) / 5, alpha = 1 - 8 x 5 / 232 = 24 / 29
    found = sums(counted([[0, 0], [0, 1], [2, 2]]))
    assert interval_alpha(found, numbers=np.array([1.0, 3.0, 5.0])) == pytest.approx(24 / 29)


# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: four observers and twelve units, of which
# the last has one value only and is left out. Values 1 to 5 are classes 0 to 4 here.
FOUR_OBSERVERS = [
    [0, 0, 0],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [2, 2, 2, 2],
    [1, 1, 1, 1],
    [0, 1, 2, 3],
    [3, 3, 3, 3],
    [0, 0, 1, 0],
    [1, 1, 1, 1],
    [4, 4, 4],
    [0, 0],
]


MEG_AND_OWEN = [[*codes] for codes in zip((0, 1, 0, 0, 0, 0, 0, 0, 1, 0), (1, 1, 1, 0, 0, 1, 0, 0, 0, 0), strict=True)]


@pytest.mark.parametrize(
    ("pairs", "distance", "published"),
    [
        (FOUR_OBSERVERS, "nominal", 0.743),
        (FOUR_OBSERVERS, "ordinal", 0.815),
        (FOUR_OBSERVERS, "interval", 0.849),
        (MEG_AND_OWEN, "nominal", 0.095),  # ten units in two classes, ibid., section A
    ],
)
def test_alpha_of_krippendorffs_own_examples(pairs: list[list[int]], distance: Distance, published: float) -> None:
    assert alpha(sums(counted(pairs, 5)), distance) == pytest.approx(published, abs=5e-4)


def test_published_figures_of_two_abstractors() -> None:
    """100 patients in three classes: 0.89, AC1 0.8493305, alpha 0.7972585 (vignette of the R package irrCAC)."""
    table = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    profiles = counted([[i, j] for i in range(3) for j in range(3)])
    weights = table.ravel().astype(np.float64)
    assert observed_agreement(sums(profiles, weights)) == pytest.approx(0.89)
    assert gwet_ac1(sums(profiles, weights)) == pytest.approx(0.8493305, abs=5e-8)
    assert nominal_alpha(sums(profiles, weights)) == pytest.approx(0.7972585, abs=5e-8)


@given(studies, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_equals_the_krippendorff_package(pairs: list[list[int]], distance: Distance) -> None:
    profiles = counted(pairs)
    assume(np.count_nonzero(profiles.sum(axis=0)) > 1)
    expected = krippendorff.alpha(
        value_counts=profiles,
        value_domain=list(range(N_CLASSES)),
        level_of_measurement=distance,
    )
    assert alpha(sums(profiles), distance) == pytest.approx(expected, abs=1e-9)


def by_loops(pairs: list[list[int]], numbers: list[float], distance: Distance) -> float:
    """Alpha as it is defined: every two labels of a pair against every two of all labels."""
    labels = [label for one in pairs for label in one]

    def apart(a: int, b: int) -> float:
        if distance == "nominal":
            return float(a != b)
        if distance == "interval":
            return (numbers[a] - numbers[b]) ** 2
        between = sum(min(a, b) <= label <= max(a, b) for label in labels)
        return (between - (labels.count(a) + labels.count(b)) / 2) ** 2

    observed = sum(apart(a, b) / (len(one) - 1) for one in pairs for a, b in combinations(one, 2)) / len(labels)
    expected = sum(apart(a, b) for a, b in combinations(labels, 2)) / (len(labels) * (len(labels) - 1))
    return 1 - observed / expected


@given(studies, st.lists(st.integers(-50, 50), min_size=3, max_size=3, unique=True).map(sorted))
def test_alpha_equals_loops_over_label_pairs(pairs: list[list[int]], numbers: list[float]) -> None:
    assume(len({label for one in pairs for label in one}) > 1)
    found = sums(counted(pairs))
    assert nominal_alpha(found) == pytest.approx(by_loops(pairs, numbers, "nominal"), abs=1e-9)
    assert ordinal_alpha(found) == pytest.approx(by_loops(pairs, numbers, "ordinal"), abs=1e-9)
    interval = interval_alpha(found, numbers=np.array(numbers, dtype=np.float64))
    assert interval == pytest.approx(by_loops(pairs, numbers, "interval"), abs=1e-9)


@given(st.integers(2, 5).flatmap(lambda m: st.lists(st.lists(st.integers(0, 2), min_size=m, max_size=m), min_size=2)))
def test_fleiss_kappa_equals_statsmodels(pairs: list[list[int]]) -> None:
    profiles = counted(pairs)
    assume(np.count_nonzero(profiles.sum(axis=0)) > 1)
    expected = inter_rater.fleiss_kappa(profiles)
    assert fleiss_kappa(sums(profiles)) == pytest.approx(expected, abs=1e-9)


@given(studies)
def test_ac1_equals_loops_over_label_pairs(pairs: list[list[int]]) -> None:
    agreeing = [np.mean([a == b for a, b in combinations(labels, 2)]) for labels in pairs]
    shares = [np.mean([labels.count(k) / len(labels) for labels in pairs]) for k in range(N_CLASSES)]
    chance = sum(share * (1 - share) for share in shares) / (N_CLASSES - 1)
    profiles = counted(pairs)
    expected = (np.mean(agreeing) - chance) / (1 - chance)
    assert gwet_ac1(sums(profiles)) == pytest.approx(expected, abs=1e-9)


def simulated(seed: int) -> Overlap:
    """20 HS x 20 CN, two or three labels each, of which three in four are the pair's true class."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=400, p=[0.6, 0.1, 0.3])
    wrong = rng.random((400, 3)) < 0.25
    labels = np.where(wrong, rng.integers(3, size=(400, 3)), truth[:, None])
    pairs = [row[: 2 + i % 2].tolist() for i, row in enumerate(labels)]
    return overlap_of(pairs, [i // 20 for i in range(400)], [i % 20 for i in range(400)])


def test_intervals_hold_their_figures_widen_with_the_level_and_say_what_they_rest_on() -> None:
    for seed in range(10):
        for figure in pooled_figures(simulated(seed), "texts", 0.95):
            low, value, high = bounds(figure)
            assert low < value < high
    narrow, wide = (pooled_figures(simulated(0), "texts", level)[0] for level in (0.5, 0.99))
    assert bounds(wide)[0] < bounds(narrow)[0]
    assert wide.note == "interval from 20 HS, 20 CN"
    people = pooled_figures(simulated(0), "annotators", 0.95)[0].note
    assert people == "interval from 20 HS, 20 CN, 3 annotators; wide, because of only 3 annotators"


FOUR = [0, 0, 1, 1], [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("overlap", "scope", "nth", "value", "why"),
    [
        (
            overlap_of([[0, 0], [0, 2], [2, 2]], [7, 7, 7], [1, 2, 3]),
            *("texts", 0, 2 / 3, "it needs at least 2 of each side, found 1 HS"),
        ),
        (
            overlap_of([[0, 0], [2, 2], [0, 0], [2, 2]], *FOUR),
            *("texts", 0, 1, "leaving out any one HS or CN changes nothing, so the error cannot be estimated"),
        ),
        # without CN 1 all labels are of class 0; observed 3/4, by chance 34/64
        (
            overlap_of([[0, 0], [2, 0], [0, 0], [2, 2]], *FOUR),
            *("texts", 1, 14 / 30, "without one CN the figure is undefined"),
        ),
        (
            overlap_of([[0, 0], [2, 0], [0, 2], [2, 2]], *FOUR),
            *("annotators", 0, 0.5, "without one annotator the figure is undefined"),
        ),
    ],
)
def test_where_there_is_no_interval_the_figure_says_why(
    overlap: Overlap, scope: IntervalScope, nth: int, value: float, why: str
) -> None:
    figure = pooled_figures(overlap, scope, 0.95)[nth]
    assert figure.value == pytest.approx(value)
    assert (figure.low, figure.high) == (None, None)
    assert figure.note.endswith(f"no interval: {why}")
    if scope == "annotators":
        assert pooled_figures(overlap, "texts", 0.95)[nth].low is not None


def test_fleiss_kappa_is_given_for_each_higher_number_of_labels_that_pairs_have() -> None:
    """By hand, for four labels: P = (6 / 12 + 1) / 2, P_e = (3 / 8)² + (5 / 8)², kappa = 7 / 15."""
    pairs = [[0, 2], [2, 2], [0, 0, 0, 2], [2, 2, 2, 2], [0, 0, 2, 2, 0]]
    figures = pooled_figures(overlap_of(pairs, [0, 1, 0, 1, 0], [0, 0, 1, 1, 2]), "texts", 0.95)
    fleiss = {figure.name: figure for figure in figures if figure.name.startswith("Fleiss")}
    assert list(fleiss) == [f"Fleiss' kappa, {n} labels" for n in (2, 3, 4, 5)]
    four = fleiss["Fleiss' kappa, 4 labels"]
    assert four.value == pytest.approx(7 / 15)
    assert four.n == 2
    assert four.note.startswith("pairs with exactly 4 labels")
    why = "one pair only: agreement by chance cannot be estimated from it"
    assert fleiss["Fleiss' kappa, 5 labels"].undefined == why
