"""The pigeonhole bootstrap and the pooled coefficients, against loops, libraries and published examples."""

from __future__ import annotations

import tracemalloc
from itertools import combinations

import krippendorff
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from fcpair.pooled import (
    Overlap,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    multiplicities,
    observed_agreement,
    percentile_interval,
    pigeonhole_counts,
    pooled_figures,
)

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

N_CLASSES = 3
answers = st.lists(st.integers(0, N_CLASSES - 1), min_size=2, max_size=4)
studies = st.lists(answers, min_size=2, max_size=15)


def counted(pairs: list[list[int]], n_classes: int = N_CLASSES) -> Ints:
    """Labels of each class on each pair, shape (n_pairs, n_classes)."""
    return np.array([np.bincount(labels, minlength=n_classes) for labels in pairs], dtype=np.int64)


def on_each(profiles: Ints) -> Floats:
    return np.ones(len(profiles))


def overlap_of(pairs: list[list[int]], hs: list[int], cn: list[int]) -> Overlap:
    size = [len(labels) for labels in pairs]
    return Overlap.of(
        np.repeat(np.arange(len(pairs)), size),
        np.repeat(hs, size).astype(np.int64),
        np.repeat(cn, size).astype(np.int64),
        np.concatenate(pairs).astype(np.int64),
        N_CLASSES,
    )


# -- resampling


def test_multiplicities_of_each_sample_sum_to_its_size() -> None:
    drawn = multiplicities(7, 20, np.random.default_rng(1))
    assert drawn.shape == (20, 7)
    assert (drawn.sum(axis=1) == 7).all()


def test_a_cell_counts_as_often_as_its_row_times_its_column() -> None:
    """Explicit loops over resamples and cells, with the multiplicities of the same seed."""
    row, column, group = (np.array(x) for x in ([0, 0, 1, 2, 2], [0, 1, 1, 0, 2], [1, 0, 1, 2, 1]))
    row_rng, column_rng = np.random.default_rng(5).spawn(2)
    of_row, of_column = multiplicities(3, 40, row_rng), multiplicities(3, 40, column_rng)
    expected = np.zeros((40, 3))
    for b in range(40):
        for i in range(5):
            expected[b, group[i]] += of_row[b, row[i]] * of_column[b, column[i]]
    np.testing.assert_array_equal(pigeonhole_counts(row, column, group, 40, seed=5), expected)


@pytest.mark.parametrize("max_cells", [1, 11, 30, 10**6])
def test_the_size_of_the_chunks_changes_nothing(max_cells: int) -> None:
    row, column, group = np.arange(10) % 5, np.arange(10) % 3, np.arange(10) % 4
    expected = pigeonhole_counts(row, column, group, 23, seed=2)
    np.testing.assert_array_equal(pigeonhole_counts(row, column, group, 23, seed=2, max_cells=max_cells), expected)


def test_memory_stays_far_below_resamples_times_cells() -> None:
    """20,000 cells x 500 resamples would be 80 MB."""
    cells = np.arange(20_000)
    tracemalloc.start()
    pigeonhole_counts(cells % 150, cells // 150, cells % 6, 500, seed=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12_000_000


def test_resampling_a_grid_is_about_three_times_as_wide_in_variance_as_resampling_cells() -> None:
    """The weight of a cell is a product of two variables of mean 1 and variance near 1: E[w^2] - 1 = 2 x 2 - 1."""
    counts = pigeonhole_counts(np.repeat(np.arange(60), 60), np.tile(np.arange(60), 60), np.arange(3600), 300, 0)
    assert counts.mean() == 1
    assert counts.var() == pytest.approx(3, rel=0.1)


def test_the_percentile_interval_leaves_undefined_replicates_out() -> None:
    replicates = np.append(np.arange(101) / 100, np.nan)
    assert percentile_interval(replicates, 0.9) == pytest.approx((0.05, 0.95))


@pytest.mark.parametrize("replicates", [[], [np.nan, np.nan], [0.7, 0.7, np.nan]])
def test_there_is_no_interval_without_spread(replicates: list[float]) -> None:
    assert percentile_interval(np.array(replicates), 0.95) is None


# -- coefficients


def test_observed_agreement_is_the_mean_share_of_agreeing_label_pairs() -> None:
    """0,0 agrees (1 of 1); 0,0,2 agrees in 1 of 3: the mean is 2/3."""
    profiles = counted([[0, 0], [0, 0, 2]])
    assert observed_agreement(profiles, on_each(profiles)) == pytest.approx(2 / 3)


def test_fleiss_kappa_of_the_textbook_table() -> None:
    """Ten subjects, 14 raters, five categories: 0.210 (Wikipedia, Fleiss' kappa, worked example)."""
    rows = "0 0 0 0 14/0 2 6 4 2/0 0 3 5 6/0 3 9 2 0/2 2 8 1 1/7 7 0 0 0/3 2 6 3 0/2 5 3 2 2/6 5 2 1 0/0 2 2 3 7"
    profiles = np.array([[int(n) for n in row.split()] for row in rows.split("/")])
    assert fleiss_kappa(profiles, on_each(profiles)) == pytest.approx(0.210, abs=5e-4)


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


@pytest.mark.parametrize(("ordinal", "published"), [(False, 0.743), (True, 0.815)])
def test_alpha_of_krippendorffs_own_example(ordinal: bool, published: float) -> None:
    profiles = counted(FOUR_OBSERVERS, 5)
    alpha = krippendorff_alpha(profiles, on_each(profiles), ordinal=ordinal)
    assert alpha == pytest.approx(published, abs=5e-4)


def test_published_figures_of_two_abstractors() -> None:
    """100 patients in three classes: 0.89, AC1 0.8493305, alpha 0.7972585 (vignette of the R package irrCAC)."""
    table = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    profiles = counted([[i, j] for i in range(3) for j in range(3)])
    weights = table.ravel().astype(np.float64)
    assert observed_agreement(profiles, weights) == pytest.approx(0.89)
    assert gwet_ac1(profiles, weights) == pytest.approx(0.8493305, abs=5e-8)
    assert krippendorff_alpha(profiles, weights, ordinal=False) == pytest.approx(0.7972585, abs=5e-8)


def test_ac1_by_hand() -> None:
    """Observed 3/4; prevalence 5/8, 0, 3/8; chance (2 x 15/64) / 2 = 15/64; AC1 = (48 - 15) / (64 - 15) = 33/49."""
    profiles = counted([[0, 0], [0, 0], [0, 2], [2, 2]])
    assert gwet_ac1(profiles, on_each(profiles)) == pytest.approx(33 / 49)


def test_ac1_counts_each_pair_once_towards_prevalence_however_many_labels_it_has() -> None:
    """Shares 2/3, 0, 1/3 and 0, 0, 1, mean 1/3, 0, 2/3; chance (2/9 + 2/9) / 2; AC1 = (2/3 - 2/9) / (7/9) = 4/7."""
    profiles = counted([[0, 0, 2], [2, 2]])
    assert gwet_ac1(profiles, on_each(profiles)) == pytest.approx(4 / 7)


@settings(deadline=None)
@given(studies, st.booleans())
def test_alpha_equals_the_krippendorff_package(pairs: list[list[int]], ordinal: bool) -> None:
    profiles = counted(pairs)
    assume(np.count_nonzero(profiles.sum(axis=0)) > 1)
    expected = krippendorff.alpha(
        value_counts=profiles,
        value_domain=list(range(N_CLASSES)),
        level_of_measurement="ordinal" if ordinal else "nominal",
    )
    assert krippendorff_alpha(profiles, on_each(profiles), ordinal=ordinal) == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(st.integers(2, 5).flatmap(lambda m: st.lists(st.lists(st.integers(0, 2), min_size=m, max_size=m), min_size=2)))
def test_fleiss_kappa_equals_statsmodels(pairs: list[list[int]]) -> None:
    profiles = counted(pairs)
    assume(np.count_nonzero(profiles.sum(axis=0)) > 1)
    expected = inter_rater.fleiss_kappa(profiles)
    assert fleiss_kappa(profiles, on_each(profiles)) == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(studies)
def test_ac1_equals_loops_over_label_pairs(pairs: list[list[int]]) -> None:
    agreeing = [np.mean([a == b for a, b in combinations(labels, 2)]) for labels in pairs]
    shares = [np.mean([labels.count(k) / len(labels) for labels in pairs]) for k in range(N_CLASSES)]
    chance = sum(share * (1 - share) for share in shares) / (N_CLASSES - 1)
    profiles = counted(pairs)
    expected = (np.mean(agreeing) - chance) / (1 - chance)
    assert gwet_ac1(profiles, on_each(profiles)) == pytest.approx(expected, abs=1e-9)


# -- pooled figures with intervals


def test_every_replicate_equals_the_coefficient_on_the_resampled_study() -> None:
    """Each resample is written out pair by pair, and given to the libraries."""
    pairs, hs, cn = [[0, 0], [0, 2], [2, 2], [1, 0], [2, 0]], [0, 0, 1, 1, 2], [0, 1, 0, 1, 1]
    row_rng, column_rng = np.random.default_rng(9).spawn(2)
    of_hs, of_cn = multiplicities(3, 60, row_rng), multiplicities(2, 60, column_rng)
    fleiss, alpha, raw = [], [], []
    for b in range(60):
        times = [int(of_hs[b, i] * of_cn[b, j]) for i, j in zip(hs, cn, strict=True)]
        drawn = [labels for labels, n in zip(pairs, times, strict=True) for _ in range(n)]
        if drawn:
            raw.append(np.mean([a == b for a, b in drawn]))
        if drawn and len(set(np.ravel(drawn))) > 1:
            table = counted(drawn)
            fleiss.append(inter_rater.fleiss_kappa(table))
            alpha.append(krippendorff.alpha(value_counts=table, value_domain=[0, 1, 2], level_of_measurement="ordinal"))
    figures = {f.name: f for f in pooled_figures(overlap_of(pairs, hs, cn), 60, 0.8, 9)}
    for name, replicates in {
        "raw agreement": raw,
        "Fleiss' kappa, 2 labels": fleiss,
        "Krippendorff's alpha, ordinal": alpha,
    }.items():
        figure = figures[name]
        assert (figure.low, figure.high) == pytest.approx(tuple(np.quantile(replicates, [0.1, 0.9])))
        assert 0 < len(replicates) < 60
        assert f"{60 - len(replicates)} undefined and left out" in figure.note


def simulated(seed: int) -> Overlap:
    """20 HS x 20 CN, two or three labels each, of which three in four are the pair's true class."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=400, p=[0.6, 0.1, 0.3])
    wrong = rng.random((400, 3)) < 0.25
    labels = np.where(wrong, rng.integers(3, size=(400, 3)), truth[:, None])
    pairs = [row[: 2 + i % 2].tolist() for i, row in enumerate(labels)]
    return overlap_of(pairs, [i // 20 for i in range(400)], [i % 20 for i in range(400)])


def test_intervals_hold_the_figure_that_they_belong_to() -> None:
    for seed in range(10):
        for figure in pooled_figures(simulated(seed), 200, 0.95, seed):
            assert figure.value is not None
            assert figure.low is not None
            assert figure.high is not None
            assert figure.low < figure.value < figure.high


def test_the_same_seed_gives_the_same_figures_and_another_seed_others() -> None:
    overlap = simulated(0)
    assert pooled_figures(overlap, 50, 0.95, 1) == pooled_figures(overlap, 50, 0.95, 1)
    assert pooled_figures(overlap, 50, 0.95, 1) != pooled_figures(overlap, 50, 0.95, 2)


def test_a_higher_level_gives_a_wider_interval() -> None:
    narrow, wide = (pooled_figures(simulated(0), 200, level, 0)[0] for level in (0.5, 0.99))
    assert narrow.low is not None
    assert wide.low is not None
    assert wide.low < narrow.low


def test_no_interval_where_all_pairs_share_one_hs() -> None:
    figure = pooled_figures(overlap_of([[0, 0], [0, 2], [2, 2]], [7, 7, 7], [1, 2, 3]), 50, 0.95, 0)[0]
    assert figure.value == pytest.approx(2 / 3)
    assert (figure.low, figure.high) == (None, None)
    assert "at least 2 HS and 2 CN, found 1 and 3" in figure.note


def test_no_interval_where_agreement_is_complete() -> None:
    figure = pooled_figures(overlap_of([[0, 0], [2, 2], [0, 0], [2, 2]], [0, 0, 1, 1], [0, 1, 0, 1]), 50, 0.95, 0)[1]
    assert (figure.value, figure.low, figure.high) == (1, None, None)
    assert "without spread" in figure.note


def test_no_interval_without_resamples() -> None:
    figure = pooled_figures(simulated(0), 0, 0.95, 0)[0]
    assert (figure.low, figure.note) == (None, "no interval was asked for")
