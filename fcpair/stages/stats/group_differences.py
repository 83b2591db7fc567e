"""Differences between groups of annotators: shares, tests, odds, and agreement within and across groups.

What is found is an association among these annotators, and never a cause.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from fcpair.arrays import Floats, Ints
from fcpair.errors import Finding, InputError, reject, require
from fcpair.lazy import pd
from fcpair.sentences import Sentence, Written, join, mark, say
from fcpair.stages.stats.group_tests import (
    ALPHA,
    MOST_DRAWN,
    MOST_EXACT,
    N_DRAWN,
    Bounds,
    PermutationTest,
    draw_until_sure,
    fit_mixed,
    least_p,
    log_odds_difference,
    share_difference,
)
from fcpair.stages.stats.paired_tests import holm

LEAST_PEOPLE = LEAST_ITEMS = 5
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

    The interval treats labels of one annotator, and labels of one item, as dependent; `odds_ratio` and its bounds come
    of a logistic regression that does so too. `mixed` are the odds ratio and its bounds by a mixed model of all groups,
    where one was asked for. `p`, two-sided, is of groups put on annotators otherwise: `exact` where all ways are gone
    through, else of `n_drawn` random ones, with the Monte Carlo standard error `p_error`; `least_p` is the least that
    it can be for so many people, `holm` the same p after Holm's correction for all differences that are reported. All
    are None where `undefined` says why, and some where `note` does.
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
    """Comparison of groups of annotators, formed by one thing that is known about them (`by`).

    `n` labels enter it; `n_without` are of annotators of whom it is not known.
    """

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
    """Compare groups of annotators.

    Args:
        labels: `item`, `annotator`, `label` and the columns of `by`, all strings; who has nothing in such a column does
            not count there.
        by: what makes groups, each of them a question that is asked. Holm's correction is over all differences of all
            questions, so they should be declared before anybody looks.
        seed: of the permutations, where they are too many to go through all of them; the order of the rows, and of
            the questions, changes nothing.
        mixed: whether to fit a mixed model of all groups to each label as well, which takes seconds to minutes.

    Returns:
        For each question shares of each label in each group, differences between every two groups, and agreement. A
        group of fewer than five people has no figures, so that nobody is recognised. Of two labels only the first by
        name is compared, as the other has the same difference with the sign turned.

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
    groups = [str(name) for name in people.index]
    if len(groups) < 2:
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
    is_repeated = labels.duplicated(["item", "annotator"])
    findings = []
    for at in labels.index[is_repeated]:
        what = f"annotator {labels['annotator'][at]} labels item {labels['item'][at]} more than once"
        findings.append(Finding(place, int(lines[at]), what))
    findings += group_findings(labels, by, place)
    reject(place, sorted(findings, key=lambda finding: finding.line or 0))


def group_findings(labels: pd.DataFrame, by: str, place: str) -> list[Finding]:
    """A finding for each row in which an `annotator` has another group than before."""
    lines, first = _line_numbers(labels), labels.groupby("annotator")[by].transform("first")
    findings = []
    for at in labels.index[labels[by] != first]:
        what = f"annotator {labels['annotator'][at]}: {by} is `{labels[by][at]}`, before `{first[at]}`"
        findings.append(Finding(place, int(lines[at]), what))
    return findings


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
    """The same with odds by one mixed model of all groups that have odds."""
    groups = sorted({name for of in differences if of.odds_ratio is not None for name in of.groups})
    if not groups:
        return list(differences)
    group_labels = labels[labels["group"].isin(groups)]
    is_kind, clusters = _as_arrays(group_labels, kind)
    model = fit_mixed(is_kind, pd.Index(groups).get_indexer(pd.Index(group_labels["group"])), clusters)

    def add_odds(difference: Difference) -> Difference:
        if model is None:
            return replace(difference, note="no mixed model, as the fit did not converge")
        first, other = map(groups.index, difference.groups)
        return replace(difference, mixed=model.odds(first, other), note=model.note)

    return [one if one.odds_ratio is None else add_odds(one) for one in differences]


def _measure_pair_agreement(labels: pd.DataFrame, pair: tuple[str, str], few: dict[str, str]) -> PairAgreement:
    why = "; ".join(f"{name}: {few[name]}" for name in dict.fromkeys(pair) if name in few)
    counts = [labels[labels["group"] == name].groupby(["item", "label"]).size().unstack(fill_value=0) for name in pair]
    items, kinds = labels["item"].unique(), labels["label"].unique()
    a, b = (count.reindex(index=items, columns=kinds, fill_value=0).to_numpy() for count in counts)
    if pair[0] == pair[1]:
        n, n_same = _n_pairs_within(a.sum(axis=1)), _n_pairs_within(a)
    else:
        n, n_same = int((a.sum(axis=1) * b.sum(axis=1)).sum()), int((a * b).sum())
    if not why and not n:
        why = "no item has labels of two such people"
    return PairAgreement(pair, n, None if why else n_same / n, why or None)


def _n_pairs_within(counts: Ints) -> int:
    """Number of pairs within groups of these sizes, over all groups."""
    return int((counts * (counts - 1) // 2).sum())
