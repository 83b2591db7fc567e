"""Cohen's kappa of every two annotators who share pairs, and the mean of the kappas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.params import IntervalScope, Weights
from fcpair.records import Figure
from fcpair.sentences import Id, Sentence, Written, mark, say
from fcpair.stages.stats.intervals import with_note
from fcpair.stages.stats.jackknife_intervals import (
    HS_AND_CN,
    TEXTS,
    Cluster,
    Sides,
    Spread,
    Spreads,
    add_bounds,
    jackknife_spread,
    no_interval_reason,
    note_basis,
    standard_error,
)
from fcpair.stages.stats.rating_counts import Overlap, dense_codes, ratio, sums_by

COHENS_KAPPA = mark("Cohen's kappa")
MEANS = (mark("mean kappa"), mark("mean kappa weighted by n"))
DEVIATION = mark("standard deviation of kappa")
# Labels not of the commonest class that the interval of a kappa needs, and that of a mean for every two annotators.
# With fewer, V is that of the few that happen to be there; docs/reference/stages/07-agree.md has the coverage.
FEWEST_OTHERS, FEWEST_OTHERS_EACH = 5, 4
NAMES_ON_BINS = {  # where several numbers of a scale are one class
    COHENS_KAPPA: mark("Cohen's kappa on bins"),
    MEANS[0]: mark("mean kappa on bins"),
    MEANS[1]: mark("mean kappa weighted by n on bins"),
    DEVIATION: mark("standard deviation of kappa on bins"),
}


@dataclass(frozen=True)
class SubsetAgreement:
    """Agreement of two annotators on the `n` pairs that both labelled.

    `table` counts them: rows are the first annotator's class, columns the second's, in the order of
    `Agreement.classes`. `prevalence` is the share of each class among their labels. `kappa_se` is None without an
    interval.
    """

    annotators: tuple[str, str]
    n: int
    raw_agreement: float
    table: tuple[tuple[int, ...], ...]
    prevalence: tuple[float, ...]
    kappa: Figure
    kappa_se: float | None


def cohens_kappa(tables: Floats | Ints, weights: Weights) -> Floats:
    """Cohen's kappa of tables (..., n_classes, n_classes) that count pairs; shape (...), -1 to 1, NaN for one pair or
    none, and where both used the same single class. Cohen (1960), DOI 10.1177/001316446002000104; with weights, over
    ranks of the classes, Cohen (1968), DOI 10.1037/h0026256.
    """
    disagreement = _disagreement(tables.shape[-1], weights)
    observed = (tables * disagreement).sum(axis=(-2, -1))
    by_chance = ((tables.sum(axis=-1) @ disagreement) * tables.sum(axis=-2)).sum(axis=-1)
    return _kappa(tables.sum(axis=(-2, -1)), observed, by_chance)


def _disagreement(n_classes: int, weights: Weights) -> Floats:
    rank = np.arange(n_classes)
    distance = np.abs(rank[:, None] - rank).astype(np.float64)
    weighted: dict[Weights, Floats] = {"none": np.minimum(distance, 1), "linear": distance, "quadratic": distance**2}
    return weighted[weights]


def _kappa(n: Floats | Ints, observed: Floats, by_chance: Floats) -> Floats:
    return np.where(n < 2, np.nan, 1 - ratio(n * observed, by_chance))


# Rests of subsets, each without one cluster or one of a kind of label pairs: which, the subset, its kappa, its pairs.
_Left = tuple[Ints, Ints, Floats, Ints]


class Subsets:
    """The overlap subsets: every two annotators who share a pair, whoever else labelled it. `annotators` (n_subsets,
    2), the lower number first, `n`, the pairs that they share, and `kappas`, both (n_subsets,), are in the same order.
    """

    def __init__(self, overlap: Overlap, weights: Weights) -> None:
        self._overlap, self._n_classes = overlap, overlap.n_classes
        self._disagreements = _disagreement(self._n_classes, weights)
        order = np.lexsort((overlap.annotator, overlap.pair))
        sorted_ = overlap.pair[order]
        most = int(np.bincount(overlap.pair).max(initial=0))
        near = [np.flatnonzero(sorted_[by:] == sorted_[:-by]) for by in range(1, most)]
        first = np.concatenate([np.zeros(0, dtype=np.int64), *near])
        second = np.concatenate([np.zeros(0, dtype=np.int64), *(at + by for by, at in enumerate(near, 1))])
        self._first, self._second = order[first], order[second]
        n_people = int(overlap.annotator.max(initial=0)) + 1
        of_two = overlap.annotator[self._first] * n_people + overlap.annotator[self._second]
        two, self._subset = dense_codes(of_two)
        self.annotators = np.column_stack(np.divmod(two, n_people))
        self._use = self._count_use(self._subset, np.arange(len(of_two)), len(two))
        self.n, self.kappas = self._use[:, 0].astype(np.int64), self._kappa_of(self._use)
        entry = overlap.klass[self._first] * self._n_classes + overlap.klass[self._second]
        self._kinds, self._kind = dense_codes(self._subset * self._n_classes**2 + entry)
        self._times = np.bincount(self._kind)
        self._left_by_cluster: dict[Cluster, _Left] = {}

    def _count_use(self, group: Ints, record: Ints, n_groups: int) -> Floats:
        """Totals that kappa needs of the label pairs at these places, in each group, (n_groups, 2 + 2 n_classes): their
        number, their sum of disagreement, and how often each of the two annotators used each class.
        """
        classes = [self._overlap.klass[labels[record]] for labels in (self._first, self._second)]
        n = self._n_classes
        used = [np.bincount(group * n + klass, minlength=n_groups * n).reshape(n_groups, n) for klass in classes]
        seen = np.bincount(group, self._disagreements[tuple(classes)], minlength=n_groups)
        return np.column_stack([np.bincount(group, minlength=n_groups), seen, *used]).astype(np.float64, copy=False)

    def _kappa_of(self, use: Floats) -> Floats:
        first, second = np.split(use[:, 2:], 2, axis=1)
        return _kappa(use[:, 0], use[:, 1], ((first @ self._disagreements) * second).sum(axis=-1))

    @property
    def n_pairs(self) -> int:
        """Number of pairs that the defined kappas rest on, each counted once."""
        return len(dense_codes(self._overlap.pair[self._first[~np.isnan(self.kappas)[self._subset]]])[0])

    @property
    def used(self) -> Ints:
        """Number of times the two annotators of each subset used each class, shape (n_subsets, n_classes)."""
        first, second = np.split(self._use[:, 2:], 2, axis=1)
        return np.asarray(first + second, dtype=np.int64)

    def tables(self) -> Iterator[Ints]:
        """The table of each subset, (n_classes, n_classes): how many pairs have each two classes."""
        for kinds, times in self._by_subset(self._kinds, self._times):
            table = np.zeros((self._n_classes, self._n_classes), dtype=np.int64)
            np.put(table, kinds % self._n_classes**2, times)
            yield table

    def _by_subset(self, *columns: Any) -> Iterator[tuple[Any, ...]]:
        """Columns with a value for each kind of label pair, subset by subset."""
        ends = np.searchsorted(self._kinds, np.arange(1, len(self.n)) * self._n_classes**2)
        return zip(*(np.split(column, ends) for column in columns), strict=True) if len(self.n) else iter(())

    def spreads(self, clusters: Sequence[Cluster] = TEXTS) -> list[Spreads]:
        """The spreads of each kappa over HS, CN and pairs, or some of these."""
        by_cluster: dict[Cluster, Iterable[Spread]] = {}
        for cluster in clusters:
            if cluster == Cluster.PAIR:
                replicates = self._by_subset(self._without_one()[2], self._times)
                by_cluster[cluster] = (jackknife_spread(*of_subset) for of_subset in replicates)
            else:
                _, subset, kappa, _ = self._without_cluster(cluster)
                n = np.bincount(subset, minlength=len(self.kappas))
                mean = np.bincount(subset, kappa, minlength=len(n)) / n
                squares = np.bincount(subset, (kappa - mean[subset]) ** 2, minlength=len(n))
                by_cluster[cluster] = map(Spread, ((n - 1) / n * squares).tolist(), n.tolist())
        return [dict(zip(by_cluster, of_subset, strict=True)) for of_subset in zip(*by_cluster.values(), strict=True)]

    def _without_one(self) -> _Left:
        """The subsets without one label pair of each kind that they have."""
        subset, entry = np.divmod(self._kinds, max(self._n_classes, 1) ** 2)
        i, j = np.divmod(entry, max(self._n_classes, 1))
        cell_disagreement, (first, second) = self._disagreements[i, j], np.split(self._use[:, 2:], 2, axis=1)
        of_first, of_second = first @ self._disagreements, second @ self._disagreements
        by_chance = (
            (of_first * second).sum(axis=-1)[subset] - of_second[subset, i] - of_first[subset, j] + cell_disagreement
        )
        n = self.n[subset] - 1
        return self._kinds, subset, _kappa(n, self._use[subset, 1] - cell_disagreement, by_chance), n

    def sums_without(self, cluster: Cluster) -> Floats:
        """Sums over the subsets of what `mean_terms` gives, without each cluster: shape (n_clusters, 4)."""
        terms = mean_terms(self.kappas, self.n)
        by_kind = cluster in {Cluster.PAIR, Cluster.LABEL}
        name, subset, kappa, n = self._without_one() if by_kind else self._without_cluster(cluster)
        kind = np.arange(len(name))
        if by_kind:
            name, record = self.members(cluster)
            kind = self._kind[record]
        return np.asarray(terms.sum(axis=0) + sums_by(name, kind, mean_terms(kappa, n) - terms[subset]))

    def _without_cluster(self, cluster: Cluster) -> _Left:
        if cluster not in self._left_by_cluster:
            name, record = self.members(cluster)
            key, place = dense_codes(name * len(self.n) + self._subset[record])
            names, subsets = np.divmod(key, len(self.n))
            left = self._use[subsets] - self._count_use(place, record, len(key))
            self._left_by_cluster[cluster] = names, subsets, self._kappa_of(left), left[:, 0].astype(np.int64)
        return self._left_by_cluster[cluster]

    def members(self, cluster: Cluster) -> tuple[Ints, Ints]:
        """The label pairs that go with each cluster: its number, and the place of the label pair."""
        number = self._overlap.numbers_by(cluster)
        if cluster in TEXTS:
            return number[self._first], np.arange(len(self._first))
        return number[np.concatenate([self._first, self._second])], np.tile(np.arange(len(self._first)), 2)


def mean_terms(kappa: Floats, n: Ints) -> Floats:
    """Terms that subsets add to the means: kappa, 1, kappa times n, n; 0 where kappa is undefined. Shape (..., 4)."""
    defined = ~np.isnan(kappa)
    filled = np.where(defined, kappa, 0.0)
    return np.stack([filled, defined.astype(np.float64), filled * n, np.where(defined, n, 0)], axis=-1)


def subset_figures(
    subsets: Subsets, names: list[str], level: float, sides: Sides = HS_AND_CN, *, on_bins: bool = False
) -> tuple[SubsetAgreement, ...]:
    """The figures of every two of the annotators `names`."""
    spreads = subsets.spreads(sides.clusters_left_out("texts"))
    rows = zip(subsets.annotators.tolist(), subsets.tables(), subsets.kappas.tolist(), spreads, strict=True)
    name, one_class = COHENS_KAPPA, mark("both used the same single class, so agreement by chance would be complete")
    if on_bins:
        one_class = mark("both used the same single bin, so agreement by chance would be complete")
        name = NAMES_ON_BINS[name]
    figures = []
    for (a, b), table, kappa, of in rows:
        n, used = int(table.sum()), table.sum(axis=0) + table.sum(axis=1)
        why = mark("one shared pair: it has no variance") if n == 1 else one_class
        figure = Figure(name, None, n, undefined=why) if np.isnan(kappa) else Figure(name, kappa, n)
        has_error = figure.value is not None and not no_interval_reason(of)
        bounded = add_bounds(figure, of, level, sides=sides)
        if bounded.low is not None and (n_rare := n_others(used)) < FEWEST_OTHERS:
            bounded, has_error = with_note(figure, _too_few(str(n_rare), FEWEST_OTHERS)), False
        pair, raw = (names[a], names[b]), float(np.trace(table) / n)
        prevalence, kappa_se = tuple((used / (2 * n)).tolist()), standard_error(of) if has_error else None
        figures.append(SubsetAgreement(pair, n, raw, tuple(map(tuple, table.tolist())), prevalence, bounded, kappa_se))
    return tuple(figures)


def n_others(used: Ints) -> Any:
    """Labels that are not of the commonest class, by how often each class is used: shape (..., n_classes)."""
    return used.sum(axis=-1) - used.max(axis=-1)


def _too_few(n_others: str, needed: int) -> Sentence:
    return say(
        "no interval: two annotators have %(figure)s labels that are not of the commonest class, and it needs "
        "%(number)s",
        figure=Written(n_others),
        number=needed,
    )


def summary_figures(
    subsets: Subsets, reach: IntervalScope, level: float, sides: Sides = HS_AND_CN, *, on_bins: bool = False
) -> tuple[Figure, ...]:
    """Mean, standard deviation and weighted mean of the kappas that are defined; only the means have intervals."""
    kappas, n_pairs = subsets.kappas[~np.isnan(subsets.kappas)], subsets.n_pairs
    note = say(
        "overlap subsets: %(number)s used, %(most)s undefined and left out",
        number=Id(len(kappas)),
        most=Id(len(subsets.kappas) - len(kappas)),
    )
    has_some = len(subsets.kappas) > 0
    none = mark("kappa is undefined on every overlap subset") if has_some else mark("no two annotators share a pair")
    mean, weighted, deviation = (
        Figure(NAMES_ON_BINS[name] if on_bins else name, None, n_pairs, undefined=none, note=note)
        for name in (*MEANS, DEVIATION)
    )
    if not len(kappas):
        return mean, deviation, weighted
    if len(kappas) == 1:
        deviation = replace(deviation, undefined=mark("a spread needs two overlap subsets with a defined kappa"))
    else:
        no_interval = mark("no interval: chance adds to it on small subsets")
        deviation = with_note(replace(deviation, value=float(kappas.std(ddof=1)), undefined=None), no_interval)
    total = mean_terms(subsets.kappas, subsets.n).sum(axis=0)
    sums_left = {cluster: subsets.sums_without(cluster) for cluster in sides.clusters_left_out(reach)}
    each = n_others(subsets.used.sum(axis=0)) / len(subsets.n)
    figures = []
    for figure, part in ((mean, 0), (weighted, 2)):
        spreads = {cluster: jackknife_spread(ratio(*rows.T[part : part + 2])) for cluster, rows in sums_left.items()}
        defined = replace(figure, value=float(total[part] / total[part + 1]), undefined=None)
        bounded = note_basis(add_bounds(defined, spreads, level, sides=sides), spreads, sides)
        if bounded.low is not None and each < FEWEST_OTHERS_EACH:
            bounded = with_note(defined, _too_few(f"{each:.1f}", FEWEST_OTHERS_EACH))
        figures.append(bounded)
    return figures[0], deviation, figures[1]
