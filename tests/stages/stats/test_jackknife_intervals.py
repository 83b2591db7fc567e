"""The jackknife of a grid: variances by hand, against leaving out by hand, and what must always hold."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from fcpair.params import Agree, IntervalScope
from fcpair.records import Figure
from fcpair.stages.questions import Scale
from fcpair.stages.questions.labels import APPROPRIATENESS
from fcpair.stages.stats.agreement import compute_agreement
from fcpair.stages.stats.jackknife_intervals import (
    Cluster,
    Sides,
    Spread,
    add_bounds,
    jackknife_spread,
    no_interval_reason,
    note_basis,
    standard_error,
)
from fcpair.stages.stats.multi_rater import coefficients_of
from stages.stats.test_agreement import bounds, figures

SCALE = Scale(Decimal(1), Decimal(2), Decimal("0.5"))
TEXTS, ANNOTATORS = Agree(), Agree(intervals="annotators")
COLUMNS = ["cell_id", "hs_id", "cn_id", "annotator", "code"]
KEYS = {
    Cluster.HS: ["hs_id"],
    Cluster.CN: ["cn_id"],
    Cluster.PAIR: ["cell_id"],
    Cluster.ANNOTATOR: ["annotator"],
    Cluster.HS_ANNOTATOR: ["hs_id", "annotator"],
    Cluster.CN_ANNOTATOR: ["cn_id", "annotator"],
    Cluster.LABEL: ["cell_id", "annotator"],
}


def on_grid(codes: dict[tuple[int, int], tuple[int, ...]]) -> pd.DataFrame:
    """Labels from {(HS, CN): codes}; the codes of a pair are by a, b, c ... in turn."""
    rows = [
        (hs * 100 + cn, hs, cn, "abcdef"[who], code)
        for (hs, cn), answers in codes.items()
        for who, code in enumerate(answers)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def spreads(hs: float, cn: float, pair: float, **more: float) -> dict[Cluster, Spread]:
    return {
        Cluster.HS: Spread(hs, 12),
        Cluster.CN: Spread(cn, 30),
        Cluster.PAIR: Spread(pair, 100),
        **{Cluster[name.upper()]: Spread(variance, 9) for name, variance in more.items()},
    }


@pytest.mark.parametrize(
    ("replicates", "counts", "n", "variance"),
    [
        ([1.0, 2.0, 6.0], None, 3, 28 / 3),  # about their mean 3: 4 + 1 + 9 = 14, times 2 / 3
        ([1.0, 1.0, 1.0, 4.0, 4.0], None, 5, 8.64),  # about 2.2: 3 x 1.44 + 2 x 3.24 = 10.8, times 4 / 5
        ([1.0, 4.0], [3, 2], 5, 8.64),  # the same, where one replicate stands for several clusters
    ],
)
def test_the_jackknife_variance_by_hand(
    replicates: list[float], counts: list[int] | None, n: int, variance: float
) -> None:
    spread = jackknife_spread(np.array(replicates), *([] if counts is None else [np.array(counts)]))
    assert spread.n == n
    assert spread.variance == pytest.approx(variance)


def test_the_interval_of_raw_agreement_by_hand() -> None:
    """Three HS x two CN, agreement 1 0 / 1 1 / 1 0: 4 of 6.

    Without an HS: 3/4, 2/4, 3/4, mean 2/3, squares 1/144 + 4/144 + 1/144 = 1/24, times 2/3 = 1/36.
    Without a CN: 1/3, 3/3, mean 2/3, squares 2/9, times 1/2 = 1/9.
    Without a pair: 3/5 four times, 4/5 twice, mean 2/3, squares 4/225 + 8/225 = 4/75, times 5/6 = 2/45.
    V = 1/36 + 1/9 - 2/45 = 17/180; one degree of freedom, t = tan(0.475 pi) = 12.7062.
    """
    yes, no = (0, 0), (0, 2)
    labels = on_grid({(0, 0): yes, (0, 1): no, (1, 0): yes, (1, 1): yes, (2, 0): yes, (2, 1): no})
    options = Agree(level=0.5)  # t = tan(0.25 pi) = 1
    raw = figures(compute_agreement(labels, APPROPRIATENESS, options))["raw agreement"]
    assert raw.value == pytest.approx(2 / 3)
    assert raw.low == pytest.approx(2 / 3 - (17 / 180) ** 0.5)
    assert raw.high == pytest.approx(2 / 3 + (17 / 180) ** 0.5)
    wide = figures(compute_agreement(labels, APPROPRIATENESS))["raw agreement"]
    assert (wide.low, wide.high) == (0, 1)  # 2/3 and 12.7 times 0.307 each way, cut off


PEOPLE = {"annotator": 10.0, "hs_annotator": 3.0, "cn_annotator": 2.0, "label": 1.0}
OF_HS = {Cluster.HS: Spread(9.0, 12)}


@pytest.mark.parametrize(
    ("variances", "variance"),
    [
        (spreads(5, 4, 2), 7),
        (spreads(1, 2, 2.5), 2.5),  # never below that of pairs
        (spreads(5, 4, 2, **PEOPLE), 13),  # 10 - 3 - 2 + 1 = 6 on top of 7
        (spreads(5, 4, 2, **PEOPLE | {"annotator": 4.0, "label": 0.5}), 7),  # 4 - 3 - 2 + 0.5 is less than nothing
        # the variance of one side is its own and what annotators add: 10 - 3 = 7, or nothing
        (OF_HS, 9),
        ({**OF_HS, Cluster.ANNOTATOR: Spread(10.0, 5), Cluster.HS_ANNOTATOR: Spread(3.0, 40)}, 16),
        ({**OF_HS, Cluster.ANNOTATOR: Spread(2.0, 5), Cluster.HS_ANNOTATOR: Spread(3.0, 40)}, 9),
    ],
)
def test_variances_are_added_and_subtracted_and_annotators_never_take_from_them(
    variances: dict[Cluster, Spread], variance: float
) -> None:
    assert standard_error(variances) == pytest.approx(variance**0.5)


def test_with_one_column_everything_else_is_left_out() -> None:
    of_column = Sides(("row", "column"), Cluster.CN)
    assert of_column.clusters_left_out("texts") == (Cluster.HS,)
    assert of_column.clusters_left_out("annotators") == (Cluster.HS, Cluster.ANNOTATOR, Cluster.HS_ANNOTATOR)
    assert of_column.interval_scope("annotators") == "new rows and annotators"
    assert Sides().clusters_left_out("annotators") == tuple(Cluster)
    assert [Sides().interval_scope(reach) for reach in ("texts", "annotators")] == [
        "new HS and CN, the same annotators",
        "new HS, CN and annotators",
    ]


@pytest.mark.parametrize("reach", ["texts", "annotators"])
def test_intervals_within_a_column_are_what_leaving_out_by_hand_gives(reach: IntervalScope) -> None:
    labels = random_labels(4)
    labels = labels[labels["cn_id"].isin({1, 2})].assign(cn_id=1)  # as many rows as pairs, so that they need no column
    labels["hs_id"] = pd.factorize(labels["cell_id"])[0]
    options, of_column = Agree(intervals=reach, level=0.5), Sides(("row", "column"), Cluster.CN)
    variance = {cluster: by_hand(labels, cluster) for cluster in of_column.clusters_left_out(reach)}
    found = compute_agreement(labels, SCALE, options, of_column)
    for figure in found.pooled:
        if figure.name in NAMES and NAMES[figure.name] is None:
            total = variance[Cluster.HS][figure.name]
            if reach == "annotators":
                shared = variance[Cluster.HS_ANNOTATOR][figure.name]
                total += max(0.0, variance[Cluster.ANNOTATOR][figure.name] - shared)
            sides = ["hs_id"] + ["annotator"] * (reach == "annotators")
            df = min(used(labels, None)[side].nunique() for side in sides) - 1
            low, value, _ = bounds(figure)
            assert value - low == pytest.approx(t.ppf(0.75, df) * total**0.5)


def test_the_shortest_side_gives_the_degrees_of_freedom_and_bounds_end_with_the_range() -> None:
    figure = Figure("x", 0.5, 100)
    texts, people = spreads(0.0003, 0.0002, 0.0001), dict.fromkeys(PEOPLE, 0.0)
    assert add_bounds(figure, texts, 0.95).high == pytest.approx(0.5 + t.ppf(0.975, 11) * 0.02)
    wider = add_bounds(figure, spreads(0.0003, 0.0002, 0.0001, **people), 0.95)
    assert wider.high == pytest.approx(0.5 + t.ppf(0.975, 8) * 0.02)
    cut = add_bounds(figure, spreads(9, 9, 9), 0.95, lowest=0.0)
    assert (cut.low, cut.high) == (0, 1)
    short = {**texts, Cluster.HS: Spread(0.3, 9)}
    assert note_basis(add_bounds(Figure("x", 0.5, 9, note="so"), short, 0.95), short).note == (
        "so; interval from 9 HS, 30 CN; wide, because of only 9 HS"  # few of a side are pointed out
    )
    assert note_basis(add_bounds(figure, texts, 0.95), texts).note == "interval from 12 HS, 30 CN"
    undefined = Figure("x", None, 0, undefined="so")
    assert note_basis(add_bounds(undefined, {}, 0.95), {}) is undefined


@pytest.mark.parametrize(
    ("variances", "why"),
    [
        ({Cluster.HS: Spread(0.0, 1)}, "it needs at least 2 of each side, found 1 HS"),
        ({Cluster.HS: Spread(0.1, 1), Cluster.CN: Spread(0.0, 0)}, "at least 2 of each side, found 1 HS, 0 CN"),
        ({Cluster.CN: Spread(float("nan"), 4)}, "without one CN the figure is undefined"),
        (spreads(0, 0, 0), "leaving out any one HS or CN changes nothing"),
        (spreads(1e-20, 1e-20, 1e-21), "leaving out any one HS or CN changes nothing"),
    ],
)
def test_why_there_is_no_interval(variances: dict[Cluster, Spread], why: str) -> None:
    variances = {**spreads(0.3, 0.2, 0.1), **variances}
    reason = no_interval_reason(variances)
    assert reason is not None
    assert why in reason
    figure = note_basis(add_bounds(Figure("x", 0.5, 100), variances, 0.95), variances)
    assert (figure.low, figure.high, figure.note) == (None, None, reason)


def random_labels(seed: int, n_people: int = 4) -> pd.DataFrame:
    """5 HS x 6 CN, most pairs with two or three labels of three classes that lean on HS, CN and annotators."""
    rng = np.random.default_rng(seed)
    pull = [rng.normal(0, 0.5, n) for n in (5, 6, n_people)]
    rows = []
    for hs in range(5):
        for cn in range(6):
            latent = pull[0][hs] + pull[1][cn] + rng.normal()
            for who in rng.permutation(n_people)[: rng.choice([0, 1, 2, 3], p=[0.1, 0.1, 0.4, 0.4])]:
                seen = latent + pull[2][who] + rng.normal(0, 0.5)
                rows.append((hs * 6 + cn, hs, cn, f"p{who}", int(np.searchsorted([0, 0.4], seen))))
    return pd.DataFrame(rows, columns=COLUMNS)


def used(labels: pd.DataFrame, n_labels: int | None) -> pd.DataFrame:
    """The labels on which figures rest that ask for exactly so many labels a pair, or for two or more."""
    found = labels.groupby("cell_id")["code"].transform("size")
    return labels[found > 1 if n_labels is None else found == n_labels]


def by_hand(
    labels: pd.DataFrame, cluster: Cluster, options: Agree = TEXTS, n_labels: int | None = None
) -> dict[str, float]:
    """The jackknife variance of each figure: the labels of a cluster are taken from the file, the figures made anew.

    Where exactly `n_labels` are asked for, a pair that loses a label goes altogether.
    """
    overlapped = used(labels, n_labels)
    number = overlapped.groupby(KEYS[cluster]).ngroup()
    replicates = []
    for one in number.unique():
        gone = number == one
        if n_labels is not None:
            gone = overlapped["cell_id"].isin(overlapped.loc[gone, "cell_id"])
        found = figures(compute_agreement(overlapped[~gone], SCALE, options))
        replicates.append({name: np.nan if figure.value is None else figure.value for name, figure in found.items()})
    table = pd.DataFrame(replicates)
    return {str(name): (len(table) - 1) * float(table[name].to_numpy().var()) for name in table}


NAMES = {
    "raw agreement": None,
    "Fleiss' kappa, 2 labels": 2,
    "Fleiss' kappa, 3 labels": 3,
    "Krippendorff's alpha, nominal": None,
    "Krippendorff's alpha, ordinal": None,
    "Krippendorff's alpha, interval": None,
    "Gwet's AC1": None,
    "mean kappa": None,
    "mean kappa weighted by n": None,
}


@pytest.fixture(scope="module")
def variances() -> dict[str, dict[Cluster, float]]:
    """The variance of each figure of `random_labels(4)` over each kind of cluster, by hand."""
    labels, options = random_labels(4), Agree(weights="linear")
    found = {n: {cluster: by_hand(labels, cluster, options, n) for cluster in Cluster} for n in (None, 2, 3)}
    return {name: {cluster: found[n][cluster][name] for cluster in Cluster} for name, n in NAMES.items()}


@pytest.mark.parametrize("reach", ["texts", "annotators"])
@pytest.mark.parametrize("name", NAMES)
def test_each_interval_is_what_leaving_out_by_hand_gives(
    variances: dict[str, dict[Cluster, float]], name: str, reach: IntervalScope
) -> None:
    variance, labels = variances[name], random_labels(4)
    total = max(variance[Cluster.HS] + variance[Cluster.CN] - variance[Cluster.PAIR], variance[Cluster.PAIR])
    if reach == "annotators":
        shared = variance[Cluster.HS_ANNOTATOR] + variance[Cluster.CN_ANNOTATOR] - variance[Cluster.LABEL]
        total += max(0.0, variance[Cluster.ANNOTATOR] - shared)
    options = Agree(intervals=reach, weights="linear", level=0.5)
    low, value, _ = bounds(figures(compute_agreement(labels, SCALE, options))[name])
    sides = ["hs_id", "cn_id"] + ["annotator"] * (reach == "annotators")
    df = min(used(labels, NAMES[name])[side].nunique() for side in sides) - 1
    quantile = t.ppf(0.75, df)
    distance = quantile * total**0.5
    coefficients = coefficients_of("interval", np.array([1, 1.5, 2]))
    coefficient = next((one for one in coefficients if one.name == name), None)
    if coefficient and coefficient.distances:
        rows = used(labels, NAMES[name])
        n_pairs = np.bincount(rows.groupby(["hs_id", "cn_id"]).size())
        variance_at = coefficient.variance_at(np.bincount(rows["code"], minlength=3).astype(float), n_pairs)
        assert variance_at is not None
        near = -1.0
        for step in (0.01, 0.00005):  # the lowest that is near, first roughly
            values = np.arange(max(near - 0.01, -1), value, step).tolist()
            near = next(one for one in values if (value - one) ** 2 <= quantile**2 * variance_at(one))
        distance = max(distance, value - near)
    assert value - low == pytest.approx(distance, abs=1e-4)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_the_standard_error_of_two_annotators_is_what_leaving_out_by_hand_gives(weights: Any) -> None:
    labels, options = random_labels(1, n_people=2), Agree(weights=weights)
    hs, cn, pair = (
        by_hand(labels, cluster, options)["mean kappa"] for cluster in (Cluster.HS, Cluster.CN, Cluster.PAIR)
    )
    (subset,) = compute_agreement(labels, SCALE, options).subsets
    assert subset.kappa_se == pytest.approx(max(hs + cn - pair, pair) ** 0.5)


ANSWERS = st.lists(st.sampled_from([0, 1, 2]), min_size=2, max_size=4).map(tuple)
PLACES = st.tuples(st.integers(0, 3), st.integers(0, 4))
studies = st.dictionaries(PLACES, ANSWERS, min_size=4, max_size=20).map(on_grid)


def widths(labels: pd.DataFrame, options: Agree = TEXTS) -> dict[str, float]:
    found = figures(compute_agreement(labels, APPROPRIATENESS, options))
    return {name: one.high - one.low for name, one in found.items() if one.low is not None and one.high is not None}


@given(studies)
def test_no_interval_is_without_width_or_excludes_its_figure(labels: pd.DataFrame) -> None:
    for options in (TEXTS, ANNOTATORS):
        for figure in figures(compute_agreement(labels, APPROPRIATENESS, options)).values():
            if figure.low is not None:
                low, value, high = bounds(figure)
                assert low <= value <= high
                assert low < high
            elif figure.value is not None:
                assert "no interval: " in figure.note


@given(st.lists(st.floats(0, 1), min_size=7, max_size=7))
def test_no_standard_error_is_smaller_than_if_pairs_were_free(drawn: list[float]) -> None:
    found = {cluster: Spread(variance, 9) for cluster, variance in zip(Cluster, drawn, strict=True)}
    assert standard_error(found) >= np.sqrt(found[Cluster.PAIR].variance)


@given(studies, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_which_side_is_which_change_no_interval_and_new_annotators_narrow_none(
    labels: pd.DataFrame, random: Any
) -> None:
    order = random.sample(range(len(labels)), len(labels))
    found, again = (compute_agreement(rows, APPROPRIATENESS, ANNOTATORS) for rows in (labels, labels.iloc[order]))
    assert found == again
    texts = widths(labels)
    assert widths(labels.rename(columns={"hs_id": "cn_id", "cn_id": "hs_id"})) == pytest.approx(texts)
    for name, width in widths(labels, ANNOTATORS).items():
        assert width >= texts[name] - 1e-9
