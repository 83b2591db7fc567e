"""Differences between groups of annotators: shares, tests, odds, and agreement within and across groups.

What is found is an association among these annotators, and never a cause.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from fcpair.arrays import Bools, Floats
from fcpair.errors import Finding, InputError, reject, require
from fcpair.lazy import pd
from fcpair.sentences import Sentence, Written, join, mark, say
from fcpair.stages.corpus.sample import own_order
from fcpair.stages.stats.intervals import Z, t_reach
from fcpair.stages.stats.paired_tests import holm

LEAST_PEOPLE = LEAST_ITEMS = 5
MOST_EXACT = 20_000  # ways to share people out, up to which all are gone through
N_DRAWN, MOST_DRAWN = 10_000, 1_000_000  # random ways that are drawn at once, and in all
ALPHA = 0.05
SURE = 2.58  # Monte Carlo standard errors that p must be away from ALPHA, before or after Holm: 99 % of the time


class PermutationTest:
    """The two-sided test of a difference in shares, where groups are put on annotators otherwise.

    `is_label` (0 or 1) says of each label whether it is the one in question, `is_first` whether its `annotator`,
    numbered from 0, is of the first group, all `(n,)`. p is twice the smaller one-sided p, at most 1, exact where ways
    are few, else of random ones and the one that was seen: Phipson and Smyth (2010), DOI 10.2202/1544-6115.1585.
    """

    def __init__(self, is_label: Floats, is_first: Bools, annotator: NDArray[np.intp], seed: int) -> None:
        sizes, sums = (np.bincount(annotator, weights).astype(float) for weights in (np.ones(len(is_label)), is_label))
        first = np.zeros(len(sums), dtype=bool)
        first[annotator] = is_first
        order = own_order(sizes, sums, first)
        self._sizes, self._sums, self._first = sizes[order], sums[order], first[order]
        self.exact, _ = least_p(k := int(first.sum()), len(first) - k)
        self._rng, self._n_ways, self._n_as_extreme = np.random.default_rng(seed), 0, np.zeros(2, np.int64)
        if self.exact:
            n = len(first)
            chosen = np.array(list(combinations(range(n), k)))
            ways = np.zeros((len(chosen), n), dtype=bool)
            np.put_along_axis(ways, chosen, True, axis=1)
            self._count(ways)
        else:
            self.draw()

    def draw(self) -> None:
        """Draw N_DRAWN more random ways."""
        self._count(self._rng.permuted(np.tile(self._first, (N_DRAWN, 1)), axis=1))

    def _count(self, ways: Bools) -> None:
        def differences(first: Bools) -> Floats:
            """The difference in shares for each way to choose the first group, `(n_ways,)`."""
            sums, sizes = first @ self._sums, first @ self._sizes
            return np.asarray(sums / sizes - (self._sums.sum() - sums) / (self._sizes.sum() - sizes))

        observed, resampled = differences(self._first[np.newaxis]), differences(ways)
        self._n_ways += len(ways)
        self._n_as_extreme += [(resampled >= observed - 1e-12).sum(), (resampled <= observed + 1e-12).sum()]

    @property
    def n_drawn(self) -> int:
        """Number of random ways that were drawn; 0 where p is exact."""
        return 0 if self.exact else self._n_ways

    @property
    def p(self) -> float:
        """p over all ways, or over those drawn so far."""
        extra = not self.exact
        return float(min(1.0, 2 * (self._n_as_extreme.min() + extra) / (self._n_ways + extra)))

    @property
    def error(self) -> float | None:
        """The Monte Carlo standard error of p; None where it is exact."""
        one_sided = self.p / 2
        return None if self.exact else float(2 * np.sqrt(one_sided * (1 - one_sided) / self._n_ways))


def draw_until_sure(tests: Sequence[PermutationTest]) -> None:
    """Draw more ways for each test whose p chance may have put on the other side of ALPHA, alone or after Holm."""
    while True:
        p = [test.p for test in tests]
        n_less = np.searchsorted(np.sort(p), p)
        unsure = [
            test
            for test, times in zip(tests, (len(tests) - n_less).tolist(), strict=True)
            if 0 < test.n_drawn < MOST_DRAWN
            and any(abs(many * test.p - ALPHA) < SURE * many * (test.error or 0) for many in {1, times})
        ]
        if not unsure:
            return
        for test in unsure:
            test.draw()


def least_p(n_first: int, n_other: int, n_drawn: int = N_DRAWN) -> tuple[bool, float]:
    """Return whether p is exact for two groups of so many people, and the least it can be: twice one way of all."""
    ways = comb(n_first + n_other, n_first)
    return (True, 2 / ways) if ways <= MOST_EXACT else (False, 2 / (n_drawn + 1))


Bounds = tuple[float, float, float]  # a value and the ends of its interval at 95 %


def share_difference(is_label: Floats, is_first: Bools, clusters: NDArray[np.intp]) -> Bounds:
    """The share of a label in the first group less that in the other, one of them neither 0 nor 1; `is_label` (0 or 1)
    and `is_first` are `(n,)`, `clusters`, the numbers of item and annotator, `(n, 2)`.
    """
    first, other = is_label[is_first].mean(), is_label[~is_first].mean()
    pull = (is_label - np.where(is_first, first, other)) / np.where(is_first, is_first.sum(), -(~is_first).sum())
    return _clustered_bounds(float(first - other), pull, is_first, clusters)


def log_odds_difference(is_label: Floats, is_first: Bools, clusters: NDArray[np.intp]) -> Bounds:
    """The same of the logarithm of the odds, as a logistic regression on the group has it; no share may be 0 or 1."""
    shares = is_label[is_first].mean(), is_label[~is_first].mean()
    first, other = (float(np.log(share / (1 - share))) for share in shares)
    share = np.where(is_first, *shares)
    sizes = np.where(is_first, is_first.sum(), -(~is_first).sum())
    return _clustered_bounds(first - other, (is_label - share) / (sizes * share * (1 - share)), is_first, clusters)


def _clustered_bounds(value: float, pull: Floats, is_first: Bools, clusters: NDArray[np.intp]) -> Bounds:
    """The interval of a value by how far each label pulls it, `(n,)`.

    V = V_people + V_items - V_labels, at least V_people and V_items: Cameron, Gelbach and Miller (2011), DOI
    10.1198/jbes.2010.07136. V_people is the sum of both groups', each with its own n / (n - 1). Its degrees of freedom
    are those of two groups of people alike (Bell and McCaffrey's: Imbens and Kolesár 2016, DOI 10.1162/REST_a_00552);
    those of the items join them after Satterthwaite (1946), DOI 10.2307/3002019.
    """
    item, annotator = clusters.T
    people: Floats = np.bincount(annotator, pull).astype(float)
    is_first_group = np.bincount(annotator, is_first) > 0
    people_variance = _spread(people[is_first_group]) + _spread(people[~is_first_group])
    item_variance = _spread(np.bincount(item, pull).astype(float))
    variance = max(people_variance + item_variance - float(pull @ pull), people_variance, item_variance)
    n = np.array([is_first_group.sum(), (~is_first_group).sum()])
    uncertain = (
        people_variance**2 / float((1 / n).sum() ** 2 / (1 / n**2 / (n - 1)).sum())
        + (variance - people_variance) ** 2 / item.max()
    )
    half_width = t_reach(variance**2 / uncertain, variance**0.5)
    return value, value - half_width, value + half_width


def _spread(sums: Floats) -> float:
    """n / (n - 1) times the sum of squares of so many clusters' pulls."""
    return float(sums @ sums * len(sums) / (len(sums) - 1))


ASSOCIATION = "an association among these annotators, never a cause"
METHODS = {
    mark("low, high"): say(
        "%(percent)s interval, errors clustered by item and annotator (%(source)s), degrees of freedom of both groups "
        "(%(other)s) and the items",
        percent=Written("95 %"),
        source="10.1198/jbes.2010.07136",
        other="10.1162/REST_a_00552",
    ),
    "p": say(
        "by reassigning groups to annotators: exact, over all ways, where there are up to %(figure)s, else over "
        "%(total)s random ones, or up to %(most)s where p is near %(level)s; two-sided, that is twice the smaller "
        "one-sided p",
        figure=MOST_EXACT,
        total=N_DRAWN,
        most=MOST_DRAWN,
        level=Written(ALPHA),
    ),
    "Holm": mark("p after Holm's correction for all differences here"),
}


@dataclass(frozen=True)
class Share:
    """Share of a label in a group: `n` labels by `people`; `value` is None where `undefined` says why."""

    label: str
    group: str
    people: int
    n: int
    value: float | None
    undefined: str | None = None


@dataclass(frozen=True)
class Difference:
    """Difference of two groups in how often they gave a label: `value`, in shares, with its interval at 95 %.

    The interval, `odds_ratio`, of a logistic regression, and its bounds treat labels of one annotator, and of one item,
    as dependent; `mixed` has the odds ratio by a mixed model of all groups. `p`, two-sided, is of groups put on
    annotators otherwise, `exact` or of `n_drawn` random ways, with the Monte Carlo standard error `p_error`; `least_p`
    the least that it can be, `holm` corrected for all differences. `undefined` and `note` say why some are None.
    """

    label: str
    groups: tuple[str, str]
    people: tuple[int, int]
    exact: bool
    least_p: float
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    holm: float | None = None
    odds_ratio: float | None = None
    odds_low: float | None = None
    odds_high: float | None = None
    mixed: Bounds | None = None
    undefined: str | None = None
    note: str = ""
    n_drawn: int = 0
    p_error: float | None = None

    @property
    def least_p_note(self) -> Sentence:
        """The least p, what it is made from, and how far chance may have moved p."""
        exact = mark(
            "the smallest p that %(sizes)s people can give is %(figure)s: exact, from all %(number)s ways to assign "
            "the groups, doubled"
        )
        drawn = mark(
            "the smallest p that %(sizes)s people can give is %(figure)s: from %(number)s random ways to assign the "
            "groups, doubled"
        )
        note = say(
            exact if self.exact else drawn,
            sizes=" : ".join(map(str, self.people)),
            figure=Written(f"{self.least_p:.2g}"),
            number=comb(sum(self.people), self.people[0]) if self.exact else self.n_drawn or N_DRAWN,
        )
        if not self.p_error:
            return note
        error = Written(f"{self.p_error:.2g}")
        return join([note, say("p has a Monte Carlo standard error of %(figure)s", figure=error)], "; ")


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two people of one group, or of two, on the label of an item: `value` of `n` pairs of labels."""

    groups: tuple[str, str]
    n: int
    value: float | None
    undefined: str | None = None


@dataclass(frozen=True)
class GroupComparison:
    """Comparison of groups of annotators, formed by what is known of them (`by`), on `n` labels; not of `n_without`."""

    by: str
    n: int
    n_without: int
    people: dict[str, int]
    shares: tuple[Share, ...]
    differences: tuple[Difference, ...]
    together: tuple[PairAgreement, ...]


def compare_annotator_groups(
    labels: pd.DataFrame, by: Sequence[str], *, seed: int = 13, mixed: bool = False
) -> tuple[GroupComparison, ...]:
    """Compare groups of annotators, for each question in `by`: shares of each label in each group, differences between
    every two groups, and agreement.

    `labels` has `item`, `annotator`, `label` and the columns of `by`, all strings; who has nothing in such a column
    does not count there. Holm's correction is over all differences of all questions, so they should be declared before
    anybody looks. `seed` is of the permutations, where they are too many to go through all; `mixed` fits a mixed model
    of all groups to each label as well, which takes seconds to minutes. A group of fewer than five people has no
    figures, so that nobody is recognised. Of two labels only the first by name is compared, as the other has the same
    difference with the sign turned.

    Raises InputError for fewer than two groups, an annotator with two groups, one with two labels for an item; with
    `mixed` also that what fits such models is not installed.
    """
    if mixed:
        require("mixed", "a mixed model", "mixedlm")
    for question in by:
        check_groups(labels, question)
    tests: list[PermutationTest] = []
    comparisons = [_compare_by(labels, question, tests, seed, mixed=mixed) for question in by]
    draw_until_sure(tests)
    results = zip(tests, holm(np.array([test.p for test in tests])).tolist(), strict=True)

    def with_p(difference: Difference) -> Difference:
        """The same with p of its test, and Holm's correction over all of them; itself where it has none."""
        if difference.p is None:
            return difference
        test, corrected = next(results)
        _, least = least_p(*difference.people, test.n_drawn)
        return replace(difference, p=test.p, holm=corrected, least_p=least, n_drawn=test.n_drawn, p_error=test.error)

    return tuple(
        replace(comparison, differences=tuple(map(with_p, comparison.differences))) for comparison in comparisons
    )


def _compare_by(
    labels: pd.DataFrame, by: str, tests: list[PermutationTest], seed: int, *, mixed: bool
) -> GroupComparison:
    grouped = labels.assign(group=labels[by])[labels[by] != ""]
    people = grouped.groupby("group")["annotator"].nunique()
    if len(groups := [str(name) for name in people.index]) < 2:
        problem = f"there is one group, {groups[0]}" if groups else "nobody has a group"
        raise InputError(f"{by}: {problem}; expected two or more")
    n_groups = grouped.groupby("item")["group"].transform("nunique")
    alone = [name for name in groups if (n_groups[grouped["group"] == name] == 1).all()]
    lines = _line_numbers(grouped)
    first = {name: int(lines[grouped.index[grouped["group"] == name][0]]) for name in alone}
    what, place = "shares no item with another", _file_name(grouped)
    reject(place, [Finding(place, line, f"{by}: group `{name}` {what}") for name, line in first.items()])
    kinds = sorted(grouped["label"].unique())
    kinds = kinds[:1] if len(kinds) == 2 else kinds
    few = {str(name): f"{n} people; expected {LEAST_PEOPLE} or more" for name, n in people.items() if n < LEAST_PEOPLE}
    shares: list[Share] = []
    differences: list[Difference] = []
    for kind in kinds:
        for name in groups:
            of_group = grouped[grouped["group"] == name]
            value = None if name in few else float((of_group["label"] == kind).mean())
            shares.append(Share(kind, name, of_group["annotator"].nunique(), len(of_group), value, few.get(name)))
        of_kind = [_compare_pair(grouped, kind, pair, few, tests, seed) for pair in combinations(groups, 2)]
        differences += _fit_and_add_mixed(grouped, kind, of_kind) if mixed else of_kind
    pairs = [*zip(groups, groups, strict=True), *combinations(groups, 2)]
    together = [_measure_pair_agreement(grouped, pair, few) for pair in pairs]
    sizes = {str(name): int(n) for name, n in people.items()}
    return GroupComparison(
        by, len(grouped), len(labels) - len(grouped), sizes, tuple(shares), tuple(differences), tuple(together)
    )


def _line_numbers(labels: pd.DataFrame) -> pd.Series[int]:
    return labels["line"] if "line" in labels else pd.Series(np.arange(1, len(labels) + 1), labels.index)


def _file_name(labels: pd.DataFrame) -> str:
    return str(labels.attrs.get("place", "labels"))


def check_groups(labels: pd.DataFrame, by: str) -> None:
    """Raise InputError for annotators with two groups or two labels of an item; with lines where the frame has them."""
    lines, place = _line_numbers(labels), _file_name(labels)
    repeated = labels.assign(line=lines)[labels.duplicated(["item", "annotator"])]
    findings = [
        Finding(place, int(line), f"annotator {annotator} labels item {item} more than once")
        for line, annotator, item in zip(repeated["line"], repeated["annotator"], repeated["item"], strict=True)
    ]
    reject(place, sorted([*findings, *group_findings(labels, by, place)], key=lambda finding: finding.line or 0))


def group_findings(labels: pd.DataFrame, by: str, place: str) -> list[Finding]:
    """A finding for each row in which an `annotator` has another group than before."""
    lines, first = _line_numbers(labels), labels.groupby("annotator")[by].transform("first")
    columns = zip(lines, labels["annotator"], labels[by], first, strict=True)
    return [
        Finding(place, int(line), f"annotator {annotator}: {by} is `{group}`, before `{earlier}`")
        for line, annotator, group, earlier in columns
        if group != earlier
    ]


def _compare_pair(
    labels: pd.DataFrame, kind: str, pair: tuple[str, str], few: dict[str, str], tests: list[PermutationTest], seed: int
) -> Difference:
    """The difference of two groups; its test is added to `tests`, and `p` is to be replaced when all are drawn."""
    pair_labels = labels[labels["group"].isin(pair)]
    n_first, n_other = (int(pair_labels["annotator"][pair_labels["group"] == name].nunique()) for name in pair)
    difference = Difference(kind, pair, (n_first, n_other), *least_p(n_first, n_other))
    why = "; ".join(f"{name}: {few[name]}" for name in pair if name in few)
    items, other_items = (set(pair_labels["item"][pair_labels["group"] == name]) for name in pair)
    if not why and not items & other_items:
        why = f"{pair[0]} and {pair[1]} share no item"
    if why:
        return replace(difference, undefined=why)
    is_first = (pair_labels["group"] == pair[0]).to_numpy()
    is_kind, clusters = _as_arrays(pair_labels, kind)
    ends = float(is_kind[is_first].mean()), float(is_kind[~is_first].mean())
    tests.append(PermutationTest(is_kind, is_first, clusters[:, 1], seed))
    difference = replace(difference, value=ends[0] - ends[1], p=tests[-1].p)
    if pair_labels["item"].nunique() < LEAST_ITEMS:
        return replace(difference, note=f"no interval and no odds with fewer than {LEAST_ITEMS} items")
    if {*ends} <= {0.0, 1.0}:
        return replace(difference, note="no interval and no odds, as both groups gave the label always, or never")
    _, low, high = share_difference(is_kind, is_first, clusters)
    difference = replace(difference, low=low, high=high)
    if {*ends} & {0.0, 1.0}:
        return replace(difference, note="no odds, as a group gave the label always, or never")
    ratio, low, high = np.exp(log_odds_difference(is_kind, is_first, clusters)).tolist()
    return replace(difference, odds_ratio=ratio, odds_low=low, odds_high=high)


def _as_arrays(labels: pd.DataFrame, kind: str) -> tuple[Floats, NDArray[np.intp]]:
    """Return whether each label is of a kind, `(n,)`, and the numbers of its item and annotator, `(n, 2)`, from 0."""
    clusters = np.stack([pd.factorize(labels[name])[0] for name in ("item", "annotator")], axis=1)
    return np.asarray(labels["label"] == kind, dtype=np.float64), clusters


def _fit_and_add_mixed(labels: pd.DataFrame, kind: str, differences: Sequence[Difference]) -> list[Difference]:
    """The same with odds ratios, and their Wald bounds at 95 %, by one model of a label in all groups that have odds.

    A logistic model with crossed random intercepts of items and annotators, by Laplace's approximation: Baayen,
    Davidson and Bates (2008), DOI 10.1016/j.jml.2007.12.005. Its odds are of one annotator on one item, and so further
    from 1 than those of the clustered regression.
    """
    if not (groups := sorted({name for of in differences if of.odds_ratio is not None for name in of.groups})):
        return list(differences)
    from mixedlm import glmer

    group_labels = labels[labels["group"].isin(groups)]
    is_kind, clusters = _as_arrays(group_labels, kind)
    names = [f"group{at}" for at in range(1, len(groups))]  # whose log-odds are less those of the first
    frame = pd.DataFrame({name: group_labels["group"] == group for name, group in zip(names, groups[1:], strict=True)})
    frame = frame.reset_index(drop=True).astype(np.float64)
    frame["item"], frame["annotator"] = (clusters[:, at].astype(str) for at in (0, 1))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        fitted = glmer(f"given ~ {' + '.join(names)} + (1|item) + (1|annotator)", frame.assign(given=is_kind))
    k = len(groups)
    log_odds, covariance = np.zeros(k), np.zeros((k, k))
    log_odds[1:], covariance[1:, 1:] = [fitted.fixef()[name] for name in names], fitted.vcov()[1:, 1:]
    if not fitted.converged or not (np.isfinite(log_odds).all() and np.isfinite(covariance).all()):
        no_fit = "no mixed model, as the fit did not converge"
        return [of if of.odds_ratio is None else replace(of, note=no_fit) for of in differences]
    note = "the mixed model has no variance left for items or annotators" if fitted.isSingular() else ""

    def bounds(pair: tuple[str, str]) -> Bounds:
        first, other = map(groups.index, pair)
        variance = covariance[first, first] + covariance[other, other] - 2 * covariance[first, other]
        reach = Z * np.sqrt(variance) * np.array([-1, 0, 1])
        low, middle, high = np.exp(log_odds[first] - log_odds[other] + reach).tolist()
        return middle, low, high

    return [of if of.odds_ratio is None else replace(of, mixed=bounds(of.groups), note=note) for of in differences]


def _measure_pair_agreement(labels: pd.DataFrame, pair: tuple[str, str], few: dict[str, str]) -> PairAgreement:
    why = "; ".join(f"{name}: {few[name]}" for name in dict.fromkeys(pair) if name in few)
    counts = [labels[labels["group"] == name].groupby(["item", "label"]).size().unstack(fill_value=0) for name in pair]
    items, kinds = labels["item"].unique(), labels["label"].unique()
    a, b = (count.reindex(index=items, columns=kinds, fill_value=0).to_numpy() for count in counts)
    if pair[0] == pair[1]:
        n, n_same = (int((n_each * (n_each - 1) // 2).sum()) for n_each in (a.sum(axis=1), a))
    else:
        n, n_same = int((a.sum(axis=1) * b.sum(axis=1)).sum()), int((a * b).sum())
    if not why and not n:
        why = "no item has labels of two such people"
    return PairAgreement(pair, n, None if why else n_same / n, why or None)
