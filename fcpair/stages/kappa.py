"""Cohen's kappa of every two annotators who share pairs, and the mean of the kappas."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fcpair.params import Reach, Weights
from fcpair.records import Figure
from fcpair.stages.intervals import (
    CLUSTERS,
    TEXTS,
    Cluster,
    Spread,
    Spreads,
    bounded,
    spread,
    standard_error,
    why_none,
    with_interval,
)
from fcpair.stages.pooled import Overlap, dense, ratio, sums_by

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NO_SUBSET = "no two annotators share a pair"
MEANS = ("mean kappa", "mean kappa weighted by n")


@dataclass(frozen=True)
class SubsetAgreement:
    """How far two annotators agree on the pairs that both labelled.

    `table` counts pairs: rows are the first annotator's class, columns the second's, in the order of
    `Agreement.classes`. `prevalence` is the share of each class among the labels of both (0 to 1, sum 1).
    `kappa_se` is the standard error on which the interval rests, None where there is no interval.
    """

    annotators: tuple[str, str]
    n: int
    raw_agreement: float
    table: tuple[tuple[int, ...], ...]
    prevalence: tuple[float, ...]
    kappa: Figure
    kappa_se: float | None


def cohens_kappa(tables: Floats | Ints, weights: Weights) -> Floats:
    """Cohen's kappa of tables (..., n_classes, n_classes) that count pairs; shape (...), range -1 to 1.

    NaN for one pair or none, and where both annotators used the same single class. Source: Cohen (1960),
    DOI 10.1177/001316446002000104; with weights Cohen (1968), DOI 10.1037/h0026256. Weights are over ranks of the
    classes, not over their codes.
    """
    rank = np.arange(tables.shape[-1])
    apart = np.abs(rank[:, None] - rank).astype(np.float64)
    disagreement = {"none": np.minimum(apart, 1), "linear": apart, "quadratic": apart**2}[weights]
    n = tables.sum(axis=(-2, -1))
    observed = tables.reshape(*tables.shape[:-2], rank.size**2) @ disagreement.ravel()
    expected = ((tables.sum(axis=-1) @ disagreement) * tables.sum(axis=-2)).sum(axis=-1)
    kappa: Floats = 1 - ratio(n * observed, expected)
    return np.where(n < 2, np.nan, kappa)


class Subsets:
    """The overlap subsets: every two annotators who share a pair, whoever else labelled it.

    `annotators` (n_subsets, 2) are the two, the lower number first; `tables` (n_subsets, n_classes, n_classes) and
    `kappas` (n_subsets,) are in the same order.
    """

    def __init__(self, overlap: Overlap, weights: Weights) -> None:
        self._overlap, self._weights = overlap, weights
        self._first, self._second = _couples(overlap.pair, overlap.annotator)
        self._n_people = int(overlap.annotator.max(initial=0)) + 1
        of_two = overlap.annotator[self._first] * self._n_people + overlap.annotator[self._second]
        two, self._subset = dense(of_two)
        self._entry = overlap.klass[self._first] * overlap.n_classes + overlap.klass[self._second]
        self.annotators = np.column_stack(np.divmod(two, self._n_people))
        self.tables = self._count(self._subset, self._entry, len(two))
        self.kappas = cohens_kappa(self.tables, weights)
        self._kept: dict[Cluster, _Groups] = {}

    def _count(self, group: Ints, entry: Ints, n_groups: int) -> Ints:
        """How many pairs each group has in each entry of its table, shape (n_groups, n_classes, n_classes)."""
        shape = (n_groups, self._overlap.n_classes, self._overlap.n_classes)
        return np.bincount(group * shape[1] ** 2 + entry, minlength=int(np.prod(shape))).reshape(shape)

    @property
    def n_pairs(self) -> int:
        """How many pairs the defined kappas rest on, each counted once."""
        defined = ~np.isnan(self.kappas)[self._subset]
        return len(dense(self._overlap.pair[self._first[defined]])[0])

    def spreads(self) -> list[Spreads]:
        """The spreads of each kappa over HS, CN and pairs."""
        by_cluster = {Cluster.HS: self._over(Cluster.HS), Cluster.CN: self._over(Cluster.CN)}
        by_cluster[Cluster.PAIR] = self._over_pairs()
        return [dict(zip(by_cluster, found, strict=True)) for found in zip(*by_cluster.values(), strict=True)]

    def _over(self, cluster: Cluster) -> list[Spread]:
        group = self._groups(cluster)
        n = np.bincount(group.subset, minlength=len(self.kappas))
        mean = np.bincount(group.subset, group.kappa, minlength=len(n)) / n
        squares = np.bincount(group.subset, (group.kappa - mean[group.subset]) ** 2, minlength=len(n))
        return [Spread(*one) for one in zip(((n - 1) / n * squares).tolist(), n.tolist(), strict=True)]

    def _over_pairs(self) -> list[Spread]:
        times = self.tables.reshape(len(self.tables), self._overlap.n_classes**2)
        replicates = cohens_kappa(self._less_one(), self._weights)
        return [spread(one[n > 0], n[n > 0]) for one, n in zip(replicates, times, strict=True)]

    def _less_one(self) -> Ints:
        """The tables without one pair of each entry, (n_subsets, n_entries, n_classes, n_classes); 0 where none is."""
        n_entries = self._overlap.n_classes**2
        one = np.eye(n_entries, dtype=np.int64).reshape(n_entries, *self.tables.shape[1:])
        return np.asarray(np.maximum(self.tables[:, None] - one, 0))

    def without(self, cluster: Cluster) -> Floats:
        """What `added` gives, summed over the subsets, without each cluster: shape (n_clusters, 4)."""
        each = added(self.kappas, self.tables.sum(axis=(1, 2)))
        if cluster in {Cluster.PAIR, Cluster.LABEL}:
            less = self._less_one()
            left = added(cohens_kappa(less, self._weights), less.sum(axis=(2, 3)))
            change = (left - each[:, None]).reshape(-1, 4)
            name, record = self.members(cluster)
            kind = self._subset[record] * self._overlap.n_classes**2 + self._entry[record]
            return np.asarray(each.sum(axis=0) + sums_by(name, kind, change))
        group = self._groups(cluster)
        change = added(group.kappa, group.n) - each[group.subset]
        return np.asarray(each.sum(axis=0) + sums_by(group.cluster, np.arange(len(change)), change))

    def _groups(self, cluster: Cluster) -> _Groups:
        if cluster not in self._kept:
            name, record = self.members(cluster)
            key, place = dense(name * len(self.tables) + self._subset[record])
            names, subsets = np.divmod(key, len(self.tables))
            left = self.tables[subsets] - self._count(place, self._entry[record], len(key))
            self._kept[cluster] = _Groups(names, subsets, cohens_kappa(left, self._weights), left.sum(axis=(1, 2)))
        return self._kept[cluster]

    def members(self, cluster: Cluster) -> tuple[Ints, Ints]:
        """The label pairs that go with each cluster: its number, and the place of the label pair."""
        label = self._overlap
        if cluster in TEXTS:
            side = {Cluster.HS: label.hs, Cluster.CN: label.cn, Cluster.PAIR: label.pair}[cluster]
            return side[self._first], np.arange(len(self._first))
        name = {
            Cluster.ANNOTATOR: label.annotator,
            Cluster.HS_ANNOTATOR: label.hs * self._n_people + label.annotator,
            Cluster.CN_ANNOTATOR: label.cn * self._n_people + label.annotator,
            Cluster.LABEL: np.arange(len(label.pair)),
        }[cluster]
        return name[np.concatenate([self._first, self._second])], np.tile(np.arange(len(self._first)), 2)


@dataclass(frozen=True)
class _Groups:
    """The label pairs of one cluster in one subset: kappa of the subset without them, and the pairs left for it."""

    cluster: Ints
    subset: Ints
    kappa: Floats
    n: Ints


def _couples(pair: Ints, annotator: Ints) -> tuple[Ints, Ints]:
    """Every two labels of a pair, as their places; the label of the lower annotator first."""
    order = np.lexsort((annotator, pair))
    sorted_ = pair[order]
    most = int(np.bincount(pair).max(initial=0))
    near = [np.flatnonzero(sorted_[by:] == sorted_[:-by]) for by in range(1, most)]
    first = np.concatenate([np.zeros(0, dtype=np.int64), *near])
    second = np.concatenate([np.zeros(0, dtype=np.int64), *(at + by for by, at in enumerate(near, 1))])
    return order[first], order[second]


def added(kappa: Floats, n: Ints) -> Floats:
    """What subsets add to the means: kappa, 1, kappa times n, n; nothing where kappa is undefined. Shape (..., 4)."""
    defined = ~np.isnan(kappa)
    known = np.where(defined, kappa, 0.0)
    return np.stack([known, defined.astype(np.float64), known * n, np.where(defined, n, 0)], axis=-1)


def subset_figures(subsets: Subsets, names: list[str], level: float) -> tuple[SubsetAgreement, ...]:
    """The figures of every two annotators; `names` are those of the annotators."""
    rows = zip(subsets.annotators.tolist(), subsets.tables, subsets.kappas.tolist(), subsets.spreads(), strict=True)
    return tuple(_subset((names[a], names[b]), table, kappa, spreads, level) for (a, b), table, kappa, spreads in rows)


def _subset(who: tuple[str, str], table: Ints, kappa: float, spreads: Spreads, level: float) -> SubsetAgreement:
    n = int(table.sum())
    figure = _kappa_figure(kappa, n)
    has_error = figure.value is not None and not why_none(spreads)
    return SubsetAgreement(
        annotators=who,
        n=n,
        raw_agreement=float(np.trace(table) / n),
        table=tuple(tuple(row) for row in table.tolist()),
        prevalence=tuple(((table.sum(axis=0) + table.sum(axis=1)) / (2 * n)).tolist()),
        kappa=bounded(figure, spreads, level),
        kappa_se=standard_error(spreads) if has_error else None,
    )


def _kappa_figure(kappa: float, n: int) -> Figure:
    name = "Cohen's kappa"
    if not np.isnan(kappa):
        return Figure(name, kappa, n)
    both = "both used the same single class, so agreement by chance would be complete"
    return Figure(name, None, n, undefined="one shared pair: it has no variance" if n == 1 else both)


def summary_figures(subsets: Subsets, reach: Reach, level: float) -> tuple[Figure, ...]:
    """Mean, standard deviation and weighted mean of the kappas that are defined.

    The means have intervals. The standard deviation has none: most of it is what chance makes of small subsets.
    """
    kappas, n_pairs = subsets.kappas[~np.isnan(subsets.kappas)], subsets.n_pairs
    note = f"overlap subsets: {len(kappas)} used, {len(subsets.kappas) - len(kappas)} undefined and left out"
    none = "kappa is undefined on every overlap subset" if len(subsets.kappas) else NO_SUBSET
    spread_ = Figure("standard deviation of kappa", None, n_pairs, undefined=none, note=note)
    if len(kappas) == 1:
        spread_ = replace(spread_, undefined="a spread needs two overlap subsets with a defined kappa")
    elif len(kappas):
        no_interval = "no interval: chance adds to it on small subsets"
        spread_ = replace(spread_, value=float(kappas.std(ddof=1)), undefined=None, note=f"{note}; {no_interval}")
    mean, weighted = (Figure(name, None, n_pairs, undefined=none, note=note) for name in MEANS)
    if len(kappas):
        mean, weighted = _means(subsets, (mean, weighted), reach, level)
    return mean, spread_, weighted


def _means(subsets: Subsets, blank: tuple[Figure, ...], reach: Reach, level: float) -> list[Figure]:
    total = added(subsets.kappas, subsets.tables.sum(axis=(1, 2))).sum(axis=0)
    left = {cluster: subsets.without(cluster) for cluster in CLUSTERS[reach]}
    figures = []
    for figure, (part, whole) in zip(blank, ((0, 1), (2, 3)), strict=True):
        spreads = {cluster: spread(ratio(rows[:, part], rows[:, whole])) for cluster, rows in left.items()}
        value = float(total[part] / total[whole])
        figures.append(with_interval(replace(figure, value=value, undefined=None), spreads, level))
    return figures
