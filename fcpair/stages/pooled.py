"""Agreement over a whole grid of pairs: Fleiss' kappa, Krippendorff's alpha, Gwet's AC1, each with its interval.

Every coefficient here is a function of sums over pairs. Without one HS, it is the same function of these sums less
those of the HS, so that all replicates of the jackknife are computed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from fcpair.params import Reach
from fcpair.records import Figure
from fcpair.stages.intervals import CLUSTERS, TEXTS, Cluster, Spread, spread, with_interval

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MAX_ROWS = 200_000  # replicates that are computed at once
SPARSE = 16  # codes this many times as large as their number are sorted instead of counted


@dataclass(frozen=True)
class Sums:
    """What the coefficients are computed from: sums over pairs, of shape (...) or (..., n_classes).

    `n` counts pairs; `agreeing` adds the share of each pair's label pairs that agree; `shares` the shares of the
    classes among a pair's labels; `labels` the labels of each class; `coincidence` (..., n_classes, n_classes) the
    coincidence matrices of Krippendorff, in which a pair of m labels has m entries.
    """

    n: Floats
    agreeing: Floats
    shares: Floats
    labels: Floats
    coincidence: Floats

    @classmethod
    def of(cls, flat: Floats, n_classes: int) -> Sums:
        """From what `moments` gives, or sums of it, in the last axis."""
        shares, labels, coincidence = np.split(flat[..., 2:], [n_classes, 2 * n_classes], axis=-1)
        square = coincidence.reshape(*flat.shape[:-1], n_classes, n_classes)
        return cls(flat[..., 0], flat[..., 1], shares, labels, square)


def moments(profiles: Ints) -> Floats:
    """What one pair of each profile adds to `Sums`, shape (n_profiles, 2 + 2 n_classes + n_classes squared).

    `profiles` (n_profiles, n_classes) has the number of labels of each class; a pair with fewer than two adds nothing.
    """
    n_labels, n_classes = profiles.sum(axis=1), profiles.shape[1]
    counts = np.where((n_labels >= 2)[:, None], profiles, 0)
    size = np.maximum(n_labels, 2)
    coincidence = counts[:, :, None] * (counts[:, None, :] - np.eye(n_classes, dtype=np.int64))
    agreeing = (counts * (counts - 1)).sum(axis=1) / (size * (size - 1))
    square = (coincidence / (size - 1)[:, None, None]).reshape(len(counts), n_classes**2)
    return np.column_stack([n_labels >= 2, agreeing, counts / size[:, None], counts, square]).astype(np.float64)


def observed_agreement(sums: Sums) -> Floats:
    """Mean over pairs of the share of a pair's label pairs that agree; range 0 to 1.

    This and the coefficients below return the shape of `sums.n`, NaN where the coefficient is undefined.
    """
    return ratio(sums.agreeing, sums.n)


def fleiss_kappa(sums: Sums) -> Floats:
    """Fleiss' kappa, for pairs that all have the same number of labels; range -1 to 1.

    Undefined where all labels are of one class. Source: Fleiss (1971), DOI 10.1037/h0031619.
    """
    expected = (ratio(sums.labels, sums.labels.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    return ratio(observed_agreement(sums) - expected, 1 - expected)


def krippendorff_alpha(sums: Sums, *, ordinal: bool) -> Floats:
    """Krippendorff's alpha with the nominal or the ordinal difference, from the coincidence matrix; at most 1.

    Undefined where all labels are of one class. Source: Hayes and Krippendorff (2007),
    DOI 10.1080/19312450709336664, and Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    """
    totals = sums.labels
    if ordinal:
        rank = np.cumsum(totals, axis=-1) - totals / 2
        difference = (rank[..., :, None] - rank[..., None, :]) ** 2
    else:
        difference = 1 - np.eye(totals.shape[-1])
    observed = (sums.coincidence * difference).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * difference).sum(axis=(-2, -1))
    alpha: Floats = 1 - ratio((totals.sum(axis=-1) - 1) * observed, expected)
    return alpha


def gwet_ac1(sums: Sums) -> Floats:
    """Gwet's AC1 over pairs with two or more labels; range -1 to 1.

    Chance agreement counts all classes of the scheme, used or not. Defined, and 1, where all labels are of one class
    out of several. Source: Gwet (2008), DOI 10.1348/000711006X126600; unlike there, pairs with a single label do not
    count towards the prevalence of the classes.
    """
    prevalence = ratio(sums.shares, sums.n[..., None])
    expected = (prevalence * (1 - prevalence)).sum(axis=-1) / (prevalence.shape[-1] - 1)
    return ratio(observed_agreement(sums) - expected, 1 - expected)


def ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, NaN where `whole` is 0 but for rounding."""
    quotient = np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), np.nan)
    np.divide(part, whole, out=quotient, where=np.abs(whole) > 1e-9)
    return quotient


@dataclass(frozen=True)
class Coefficient:
    """A pooled figure: how it is computed, on which pairs, and where it has no value."""

    name: str
    compute: Callable[[Sums], Floats]
    n_labels: int | None = None
    corrects_chance: bool = True
    needs_two_used_classes: bool = True
    note: str = ""

    def undefined(self, used: Floats, n: int) -> str | None:
        """Why there is no value on `n` pairs with so many labels of each class; None where there is one."""
        if n == 0:
            return f"no pair has {f'exactly {self.n_labels}' if self.n_labels else 'two or more'} labels"
        if self.corrects_chance and n == 1:
            return "one pair only: agreement by chance cannot be told from it"
        if self.corrects_chance and len(used) < 2:
            return "the scheme leaves one class only"
        if self.needs_two_used_classes and np.count_nonzero(used) < 2:
            return "all labels are of one class, so agreement by chance would be complete"
        return None


def _fleiss(n_labels: int) -> Coefficient:
    note = f"pairs with exactly {n_labels} labels: Fleiss' kappa requires a constant number"
    return Coefficient(f"Fleiss' kappa, {n_labels} labels", fleiss_kappa, n_labels=n_labels, note=note)


COEFFICIENTS = (
    Coefficient("raw agreement", observed_agreement, corrects_chance=False, needs_two_used_classes=False),
    _fleiss(2),
    _fleiss(3),
    Coefficient("Krippendorff's alpha, nominal", partial(krippendorff_alpha, ordinal=False)),
    Coefficient(
        "Krippendorff's alpha, ordinal",
        partial(krippendorff_alpha, ordinal=True),
        note="classes in the order of their codes",
    ),
    Coefficient(
        "Gwet's AC1",
        gwet_ac1,
        needs_two_used_classes=False,
        note="pairs with one label do not count towards prevalence, unlike Gwet's",
    ),
)


@dataclass(frozen=True)
class Overlap:
    """The labels of the pairs with two or more of them.

    `pair`, `hs`, `cn`, `annotator` and `klass`, shape (n_labels,), say where each label stands, who gave it, and its
    class, of `n_classes`; they count from 0.
    """

    n_classes: int
    pair: Ints
    hs: Ints
    cn: Ints
    annotator: Ints
    klass: Ints

    def only(self, n_labels: int) -> Overlap:
        """The labels of the pairs with exactly `n_labels`."""
        there = (np.bincount(self.pair) == n_labels)[self.pair] if len(self.pair) else np.zeros(0, dtype=bool)
        columns = (column[there] for column in (self.pair, self.hs, self.cn, self.annotator, self.klass))
        return Overlap(self.n_classes, *columns)


def pooled_figures(overlap: Overlap, reach: Reach, level: float) -> tuple[Figure, ...]:
    """Every coefficient of COEFFICIENTS with its interval, or with the reason why it has none.

    Fleiss' kappa is there for four and more labels, too, where pairs have so many.
    """
    wanted = _wanted(overlap)
    found: dict[str, Figure] = {}
    for n_labels in dict.fromkeys(one.n_labels for one in wanted):
        part = LeftOut(overlap if n_labels is None else overlap.only(n_labels), constant=n_labels is not None)
        for figure in _figures([one for one in wanted if one.n_labels == n_labels], part, reach, level):
            found[figure.name] = figure
    return tuple(found[one.name] for one in wanted)


def _wanted(overlap: Overlap) -> list[Coefficient]:
    """COEFFICIENTS, and Fleiss' kappa for each higher number of labels that pairs have, after those for fewer."""
    listed = [one.n_labels for one in COEFFICIENTS]
    last = max(at for at, n_labels in enumerate(listed, 1) if n_labels)
    there = np.unique(np.bincount(overlap.pair)).tolist()
    more = [_fleiss(n) for n in there if n >= 2 and n not in listed]
    return [*COEFFICIENTS[:last], *more, *COEFFICIENTS[last:]]


def _figures(coefficients: list[Coefficient], part: LeftOut, reach: Reach, level: float) -> Iterator[Figure]:
    sums = Sums.of(part.total, part.n_classes)
    n = round(float(sums.n))
    reasons = {one.name: one.undefined(sums.labels, n) for one in coefficients}
    defined = [one for one in coefficients if not reasons[one.name]]
    spreads: dict[str, dict[Cluster, Spread]] = {one.name: {} for one in defined}
    for cluster in CLUSTERS[reach] if defined else ():
        left, times = part.without(cluster)
        for one in defined:
            replicates = np.concatenate([one.compute(Sums.of(rows, part.n_classes)) for rows in _blocks(left)])
            spreads[one.name][cluster] = spread(replicates, times)
    for one in coefficients:
        if why := reasons[one.name]:
            yield Figure(one.name, None, n, undefined=why, note=one.note)
        else:
            figure = Figure(one.name, float(one.compute(sums)), n, note=one.note)
            yield with_interval(figure, spreads[one.name], level, lowest=-1.0 if one.corrects_chance else 0.0)


def _blocks(rows: Floats) -> Iterator[Floats]:
    return (rows[at : at + MAX_ROWS] for at in range(0, len(rows), MAX_ROWS))


class LeftOut:
    """The sums over the pairs of an overlap, `total`, and what is left of them without one cluster.

    Without one of its labels a pair counts with the others, if two are left; where the number of labels is `constant`,
    it does not count at all.
    """

    def __init__(self, overlap: Overlap, *, constant: bool) -> None:
        self.n_classes = overlap.n_classes
        self._number, self._pair = dense(overlap.pair)
        shape = len(self._number), self.n_classes
        answers = np.bincount(self._pair * shape[1] + overlap.klass, minlength=shape[0] * shape[1]).reshape(shape)
        self._profiles, self._profile = _distinct(answers)
        self._moments = moments(self._profiles)
        self._hs, self._cn = np.empty((2, shape[0]), dtype=np.int64)
        self._hs[self._pair], self._cn[self._pair] = overlap.hs, overlap.cn
        self.label, self._constant = overlap, constant
        self.total = np.bincount(self._profile, minlength=len(self._profiles)) @ self._moments

    def members(self, cluster: Cluster) -> tuple[Ints, Ints]:
        """What goes with the clusters of a kind, pairs or labels: the number of the cluster, and which change it is."""
        if cluster in TEXTS:
            side = {Cluster.HS: self._hs, Cluster.CN: self._cn, Cluster.PAIR: self._number}[cluster]
            return side, self._profile
        label, n_people = self.label, int(self.label.annotator.max(initial=0)) + 1
        number = {
            Cluster.ANNOTATOR: label.annotator,
            Cluster.HS_ANNOTATOR: label.hs * n_people + label.annotator,
            Cluster.CN_ANNOTATOR: label.cn * n_people + label.annotator,
            Cluster.LABEL: np.arange(len(label.pair)),
        }[cluster]
        return number, self._profile[self._pair] * self.n_classes + label.klass

    def without(self, cluster: Cluster) -> tuple[Floats, Ints | None]:
        """The sums without each cluster, (n, n_moments); or the different ones, and how many clusters have each."""
        number, kind = self.members(cluster)
        change = -self._moments if cluster in TEXTS else self._change()
        if cluster in {Cluster.PAIR, Cluster.LABEL}:
            kinds, place = dense(kind)
            return self.total + change[kinds], np.bincount(place)
        return self.total + sums_by(number, kind, change), None

    def _change(self) -> Floats:
        """What becomes of the sums when a pair of a profile loses a label of a class: a row for each of the two."""
        before = np.repeat(self._moments, self.n_classes, axis=0)
        if self._constant:
            return -before
        less = self._profiles[:, None, :] - np.eye(self.n_classes, dtype=np.int64)
        return moments(np.maximum(less, 0).reshape(-1, self.n_classes)) - before


def _distinct(rows: Ints) -> tuple[Ints, Ints]:
    """The distinct rows of counts (n, n_columns), and which of them each row is."""
    key = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        key = dense(key * (int(column.max(initial=0)) + 1) + column)[1]
    distinct = np.empty((int(key.max(initial=-1)) + 1, rows.shape[1]), dtype=np.int64)
    distinct[key] = rows
    return distinct, key


def dense(codes: Ints) -> tuple[Ints, Ints]:
    """The distinct codes (0 or more) in order, and the place of each code among them; without sorting if that is less.

    The same as `np.unique` with `return_inverse`, in linear time where the codes are not much larger than their number.
    """
    if int(codes.max(initial=0)) > SPARSE * len(codes) + MAX_ROWS:
        return np.unique(codes, return_inverse=True)
    there = np.bincount(codes) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[codes]


def sums_by(cluster: Ints, kind: Ints, values: Floats) -> Floats:
    """Sums of `values[kind]` over the members of each cluster, shape (n_clusters, n_columns), clusters in order.

    `cluster` and `kind` have shape (n_members,), `values` (n_kinds, n_columns).
    """
    names, place = dense(cluster)
    columns = [np.bincount(place, weights=column[kind], minlength=len(names)) for column in values.T]
    return np.stack(columns, axis=1)
