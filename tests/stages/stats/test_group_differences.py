"""Groups of annotators: by hand, against statsmodels' parts, and on labels without any difference."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import t
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from fcpair.errors import InputError, MissingExtraError
from fcpair.stages.stats.group_differences import (
    ALPHA,
    MOST_DRAWN,
    N_DRAWN,
    SURE,
    GroupComparison,
    PermutationTest,
    log_odds_difference,
    share_difference,
)
from fcpair.stages.stats.group_differences import compare_annotator_groups as compared_by


def compared(frame: pd.DataFrame, *, seed: int = 13) -> GroupComparison:
    (found,) = compared_by(frame, ["group"], seed=seed)
    return found


def labels(by: dict[str, str], given: dict[str, str]) -> pd.DataFrame:
    """The labels of annotators, a letter for each item; `by` has their groups."""
    rows = [(f"i{at}", name, one, by[name]) for name, told in given.items() for at, one in enumerate(told)]
    return pd.DataFrame(rows, columns=["item", "annotator", "label", "group"])


def people(n_first: int, n_other: int) -> dict[str, str]:
    return {f"p{at}": "f" if at < n_first else "m" for at in range(n_first + n_other)}


def drawn(n_first: int, n_other: int, shift: float = 0.0, n_items: int = 40, seed: int = 1) -> pd.DataFrame:
    rng, by = np.random.default_rng(seed), people(n_first, n_other)
    hard = rng.normal(0, 1, n_items)
    given = {
        name: "".join("ny"[int(one)] for one in rng.normal(hard + shift * (group == "f"), 1) > 0)
        for name, group in by.items()
    }
    return labels(by, given)


def by_group(n: int, f: str, m: str) -> pd.DataFrame:
    """The labels of `n` people of each group, all of a group alike."""
    by = people(n, n)
    return labels(by, {name: f if group == "f" else m for name, group in by.items()})


def test_shares_their_difference_and_pairs_of_labels_within_groups_and_across_by_hand() -> None:
    found = compared(by_group(5, "nnyynnyy", "nyyynyyy"))
    assert [(one.label, one.group, one.people, one.n, one.value) for one in found.shares] == [
        ("n", "f", 5, 40, 0.5),
        ("n", "m", 5, 40, 0.25),
    ]
    (difference,) = found.differences
    assert difference.value == pytest.approx(0.25)
    assert difference.odds_ratio == pytest.approx((0.5 / 0.5) / (0.25 / 0.75))
    assert difference.p == difference.holm == difference.least_p == 2 / 252
    given = {name: "a" if group == "f" else "b" for name, group in people(5, 5).items()} | {"p0": "b"}
    together = {one.groups: (one.n, one.value) for one in compared(labels(people(5, 5), given)).together}
    assert together == {("f", "f"): (10, 0.6), ("m", "m"): (10, 1.0), ("f", "m"): (25, 0.2)}


def test_errors_are_clustered_both_ways_as_in_statsmodels() -> None:
    """With groups of one size and enough of them, but for its factor of small samples."""
    frame = drawn(60, 60, 0.5, n_items=80)
    item, person = (pd.factorize(frame[name])[0] for name in ("item", "annotator"))
    given, first = np.asarray(frame["label"] == "n", np.float64), (frame["group"] == "f").to_numpy()
    x, clusters = sm.add_constant(first.astype(float)), np.stack([item, person], axis=1)
    of_items, of_people, of_both = (
        float(sm.OLS(given, x).fit(cov_type="cluster", cov_kwds={"groups": groups}).cov_params()[1, 1])
        for groups in (item, person, np.arange(len(given)))  # every label is one of its own in both
    )
    error = np.sqrt(max(of_items + of_people - of_both, of_items, of_people))
    value, low, high = share_difference(given, first, clusters)
    assert (high - value) / error == pytest.approx(1.98, rel=0.015)  # t at 0.975 with about 118
    assert value - low == pytest.approx(high - value)
    logistic = sm.Logit(given, x).fit(disp=0)
    errors = [one[1, 1] ** 0.5 for one in cov_cluster_2groups(logistic, item, person)]
    value, _, high = log_odds_difference(given, first, clusters)
    assert value == pytest.approx(logistic.params[1])
    assert (high - value) / max(errors) == pytest.approx(1.98, rel=0.015)


def test_people_alone_have_the_error_of_welch_and_the_freedom_of_both_groups() -> None:
    """Where items do not differ and everybody labels all, shares are means of people, as in Welch's test."""
    rng = np.random.default_rng(4)
    people_of, n_items = np.repeat(np.arange(37), 400), 400
    tendency = np.r_[rng.uniform(0.2, 0.8, 7), rng.uniform(0.4, 0.6, 30)]
    given = (rng.random(37 * n_items) < tendency[people_of]).astype(float)
    clusters = np.stack([np.tile(np.arange(n_items), 37), people_of], axis=1)
    value, low, high = share_difference(given, people_of < 7, clusters)
    means = given.reshape(37, n_items).mean(axis=1)
    error = np.sqrt(means[:7].var(ddof=1) / 7 + means[7:].var(ddof=1) / 30)
    freedom = (1 / 7 + 1 / 30) ** 2 / (1 / 7**2 / 6 + 1 / 30**2 / 29)
    assert freedom == pytest.approx(9.02, abs=0.01)
    assert (high - value) / error == pytest.approx(t.ppf(0.975, freedom), rel=0.01)
    assert value == pytest.approx(means[:7].mean() - means[7:].mean())
    assert value - low == pytest.approx(high - value)


def test_the_permutation_goes_through_all_ways_where_they_are_few() -> None:
    rng = np.random.default_rng(0)
    given, annotator = rng.integers(0, 2, 90).astype(float), np.repeat(np.arange(9), 10)
    first = annotator < 4
    means = given.reshape(9, 10).mean(axis=1)
    every = [means[list(one)].mean() - np.delete(means, one).mean() for one in combinations(range(9), 4)]
    seen = means[:4].mean() - means[4:].mean()
    tails = [sum(one >= seen - 1e-12 for one in every), sum(one <= seen + 1e-12 for one in every)]
    assert PermutationTest(given, first, annotator, 0).p == min(1, 2 * min(tails) / len(every))


def test_p_is_as_often_below_a_level_as_it_says_where_nothing_differs() -> None:
    rng, annotator = np.random.default_rng(1), np.repeat(np.arange(11), 40)
    first, hard = annotator < 5, rng.normal(0, 1, (200, 40))
    given = (rng.normal(np.tile(hard, 11), 1) > 0).astype(float)
    found = np.array([PermutationTest(one, first, annotator, at).p for at, one in enumerate(given)])
    assert 0.1 - 3 * np.sqrt(0.1 * 0.9 / 200) <= np.mean(found <= 0.1) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 200)


def test_nine_annotators_and_two_groups_that_share_no_item_support_nothing() -> None:
    (found,) = compared(drawn(2, 7, 3)).differences
    assert (found.value, found.p, found.least_p) == (None, None, 2 / 36)
    assert found.undefined == "f: 2 people; expected 5 or more"
    assert [one.value is None for one in compared(drawn(2, 7)).shares] == [True, False]
    frame = drawn(5, 5)
    other = frame[frame["group"] == "m"].assign(annotator=lambda one: "q" + one["annotator"], group="x")
    apart = frame[~((frame["group"] == "m") & frame["item"].isin([f"i{at}" for at in range(20)]))]
    apart = apart[~((apart["group"] == "m") & (apart.index % 2 == 0))]
    of_m = set(apart["item"][apart["group"] == "m"])
    differences = compared(pd.concat([apart, other[~other["item"].isin(of_m)]], ignore_index=True)).differences
    assert {one.groups: one.undefined for one in differences}["m", "x"] == "m and x share no item"


def test_the_least_p_is_one_that_all_or_random_ways_can_give() -> None:
    (exact,) = compared(by_group(5, "y" * 8, "n" * 8)).differences
    assert (exact.exact, exact.p) == (True, exact.least_p)
    assert exact.least_p_note == (
        "the smallest p that 5 : 5 people can give is 0.0079: exact, from all 252 ways to assign the groups, doubled"
    )
    (random,) = compared(by_group(9, "y" * 8, "n" * 8)).differences
    assert (random.exact, random.least_p) == (False, 2 / (N_DRAWN + 1))
    assert random.p is not None
    assert random.p >= random.least_p  # at most 2 or 3 of 48,620 ways are as extreme
    assert random.p <= 5 * random.least_p
    assert "is 0.0002: from 10,000 random ways to assign the groups, doubled" in random.least_p_note


@pytest.mark.parametrize(
    ("frame", "value", "note"),
    [
        # errors are all 0 there: an interval without width would claim certainty
        (
            by_group(5, "y" * 8, "n" * 8),
            *(-1, "no interval and no odds, as both groups gave the label always, or never"),
        ),
        (by_group(5, "nnnnn", "nynyn"), 0.4, "no odds, as a group gave the label always, or never"),
        (by_group(5, "nnyy", "nyyy"), 0.25, "no interval and no odds with fewer than 5 items"),
    ],
)
def test_a_difference_without_odds_says_why(frame: pd.DataFrame, value: float, note: str) -> None:
    difference = compared(frame).differences[0]
    assert difference.value == pytest.approx(value)
    assert (difference.odds_ratio, difference.note) == (None, note)
    assert (difference.low is None) == ("no interval" in note)


def test_holm_is_over_all_that_is_reported_and_over_all_questions() -> None:
    rng, by = np.random.default_rng(3), people(6, 6)
    found = compared(labels(by, {name: "".join(rng.choice(list("abc"), 30)) for name in by})).differences
    ps = sorted(one.p for one in found if one.p is not None)
    assert len(ps) == 3
    assert min(one.holm for one in found if one.holm is not None) == pytest.approx(min(1, 3 * ps[0]))
    frame = drawn(6, 6, 0.7).assign(age=lambda one: one["annotator"].isin(["p0", "p3", "p4", "p7", "p9"]).map(str))
    (alone,) = compared(frame).differences
    of_both = [of.differences[0] for of in compared_by(frame, ["group", "age"])]
    low, high = sorted(one.p or 0 for one in of_both)
    assert (of_both[0].p, alone.holm) == (alone.p, alone.p)
    assert sorted(one.holm or 0 for one in of_both) == pytest.approx([min(1, 2 * low), min(1, max(2 * low, high))])


@pytest.mark.long
def test_intervals_have_the_true_difference_within_them_about_as_often_as_they_say() -> None:
    """`python -m benchmarks groups` does it a thousand times."""
    found = [compared(drawn(8, 8, seed=seed)).differences[0] for seed in range(20)]
    within = [one.low <= 0 <= one.high for one in found if one.low is not None and one.high is not None]
    assert len(within) == 20
    assert np.mean(within) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 20)


@pytest.mark.parametrize(
    ("change", "message", "lines"),
    [
        (lambda frame: frame["group"].mask(frame.index == 1, "m"), "annotator p0: group is `m`, before `f`", [3]),
        (lambda frame: frame["item"].mask(frame.index == 1, "i0"), "annotator p0 labels item i0 more than once", [3]),
        (lambda frame: frame["item"] + frame["group"], "group `f` shares no item with another", [2, 202]),
        (lambda frame: frame["group"].map(lambda _: "f"), "one group, f", []),
    ],
)
def test_what_is_wrong_is_refused_with_its_lines(
    change: Callable[[pd.DataFrame], pd.Series[str]], message: str, lines: list[int]
) -> None:
    frame = drawn(5, 5).assign(line=lambda rows: range(2, len(rows) + 2))
    changed = change(frame)
    name = "item" if changed.iloc[0].startswith("i") else "group"
    with pytest.raises(InputError, match=message) as refused:
        compared(frame.assign(**{name: changed}))
    assert [finding.line for finding in refused.value.findings] == lines


def test_who_has_no_group_does_not_count_a_difference_is_found_and_the_same_by_the_same_seed() -> None:
    frame = drawn(13, 12, 1.5)
    frame["group"] = frame["group"].where(frame["annotator"] != "p0", "")
    found = compared(frame, seed=4)
    assert found.people == {"f": 12, "m": 12}
    assert found == compared(frame, seed=4)
    (difference,) = found.differences
    assert (difference.p or 1) < 0.001
    assert (difference.high or 1) < 0  # of `n`


def test_a_mixed_model_finds_the_odds_that_labels_were_drawn_with() -> None:
    rng = np.random.default_rng(5)
    hard, harsh, by = rng.normal(0, 1, 150), rng.normal(0, 0.5, 40), people(20, 20)
    rows = [
        (
            f"i{item}",
            name,
            "ny"[int(rng.random() > 1 / (1 + np.exp(-(hard[item] + harsh[at] + (group == "f")))))],
            group,
        )
        for at, (name, group) in enumerate(by.items())
        for item in rng.choice(150, 60, replace=False)
    ]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "label", "group"])
    (found,) = compared_by(frame, ["group"], mixed=True)[0].differences
    assert found.mixed is not None
    assert found.mixed[1] < math.e < found.mixed[2]
    assert found.odds_ratio is not None
    assert 1 < found.odds_ratio < found.mixed[0]  # odds of the average annotator are nearer to 1


def three_groups() -> pd.DataFrame:
    rng, by = np.random.default_rng(8), {f"p{at}": "fmx"[at % 3] for at in range(18)}
    hard, harsh = rng.normal(0, 1, 24), rng.normal(0, 0.7, 18)
    lift = {"f": 0.8, "m": 0.0, "x": -0.5}
    chance = 1 / (
        1 + np.exp(-(hard + np.array([harsh[at] + lift[name] for at, name in enumerate(by.values())])[:, None]))
    )
    given = rng.random(chance.shape) < chance
    return labels(by, {name: "".join("zn"[int(one)] for one in row) for name, row in zip(by, given, strict=True)})


@pytest.mark.slow
def test_one_mixed_model_of_all_groups_is_that_of_its_definition() -> None:
    """Laplace's approximation to a logistic model of two crossed random intercepts, maximised by itself."""
    found = {one.groups: one.mixed for one in compared_by(three_groups(), ["group"], mixed=True)[0].differences}
    by_definition = {("f", "m"): (1.7054, 0.6463), ("f", "x"): (1.7486, 0.6451), ("m", "x"): (0.0432, 0.6442)}
    for groups, (value, error) in by_definition.items():
        odds = np.log(np.array(found[groups]))
        assert odds == pytest.approx([value, value - 1.96 * error, value + 1.96 * error], abs=0.02)


def test_all_groups_have_one_mixed_model_but_those_that_give_a_label_always() -> None:
    """So that odds of the first over the second, times those of the second over the third, are those of the first."""
    frame = three_groups()
    mixed = {one.groups: one.mixed for one in compared_by(frame, ["group"], mixed=True)[0].differences}
    odds = {groups: one[0] for groups, one in mixed.items() if one is not None}
    assert odds["f", "m"] * odds["m", "x"] == pytest.approx(odds["f", "x"])
    with (
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(MissingExtraError, match=r"pip install 'fcpair\[mixed\]'"),
    ):
        patch.setattr("fcpair.errors.find_spec", lambda _: None)
        compared_by(frame, ["group"], mixed=True)
    frame.loc[frame["group"] == "x", "label"] = "n"
    found = {one.groups: one for one in compared_by(frame, ["group"], mixed=True)[0].differences}
    two = compared_by(frame[frame["group"] != "x"].reset_index(drop=True), ["group"], mixed=True)[0].differences[0]
    assert found["f", "m"].mixed == pytest.approx(two.mixed)
    why = "no odds, as a group gave the label always, or never"
    assert (found["f", "x"].mixed, found["f", "x"].note) == (None, why)


NEAR_THE_LEVEL = drawn(30, 30, 0.3, n_items=20, seed=7)
"""Sixty people of two groups, p about 0.042: 10,000 random ways leave open whether it is below 0.05."""


def test_more_ways_are_drawn_where_chance_could_decide_and_the_order_of_rows_and_questions_changes_no_p() -> None:
    """p of all draws is within Monte Carlo errors of that of ten times as many."""
    frame = NEAR_THE_LEVEL.assign(other=lambda one: one["annotator"].str[-1])
    in_order = compared_by(frame, ["group", "other"])
    shuffled = compared_by(frame.sample(frac=1, random_state=1, ignore_index=True), ["other", "group"])[::-1]
    p = [[(each.p, each.holm, each.n_drawn) for one in of for each in one.differences] for of in (in_order, shuffled)]
    assert p[0] == p[1]
    (found,) = compared(NEAR_THE_LEVEL).differences
    (clear,) = compared(drawn(12, 12, 1.5)).differences
    assert found.p is not None
    assert found.p_error is not None
    assert clear.n_drawn == N_DRAWN < found.n_drawn <= MOST_DRAWN
    assert abs(found.p - ALPHA) >= SURE * found.p_error or found.n_drawn == MOST_DRAWN
    assert found.p_error == pytest.approx(2 * (found.p / 2 * (1 - found.p / 2) / found.n_drawn) ** 0.5)
    assert f"p has a Monte Carlo standard error of {found.p_error:.2g}" in found.least_p_note
    assert found.least_p == 2 / (found.n_drawn + 1)
