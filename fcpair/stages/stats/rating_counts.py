"""Sums over pairs that figures over a whole grid are computed from, also without each HS, CN or annotator: every
coefficient of `multi_rater.py` is a function of them, so that all replicates of the jackknife are computed at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fcpair.arrays import Floats, Ints
from fcpair.stages.stats.jackknife_intervals import TEXTS, Cluster

MAX_VALUES_AT_ONCE = 2_000_000  # values of classes that are multiplied at once
SPARSE = 16  # codes this many times as large as their number are sorted instead of counted
FEW_CODES = 200_000  # up to this, codes are counted in any case


@dataclass(frozen=True)
class Overlap:
    """The labels of the pairs with two or more of them: where each stands, who gave it, and its class, of `n_classes`,
    all (n_labels,) and counted from 0.
    """

    n_classes: int
    pair: Ints
    hs: Ints
    cn: Ints
    annotator: Ints
    klass: Ints

    def numbers_by(self, cluster: Cluster) -> Ints:
        """The number of each label's cluster of a kind, shape (n_labels,)."""
        n_people = int(self.annotator.max(initial=0)) + 1
        return {
            Cluster.HS: self.hs,
            Cluster.CN: self.cn,
            Cluster.PAIR: self.pair,
            Cluster.ANNOTATOR: self.annotator,
            Cluster.HS_ANNOTATOR: self.hs * n_people + self.annotator,
            Cluster.CN_ANNOTATOR: self.cn * n_people + self.annotator,
            Cluster.LABEL: np.arange(len(self.pair)),
        }[cluster]


@dataclass(frozen=True)
class Sums:
    """Sums over pairs that the coefficients are computed from, of shape (...) or (..., n_classes).

    `n` counts pairs; `agreeing` adds the share of each pair's label pairs that agree; `same` the diagonal of the
    coincidence matrix of Krippendorff, in which a pair of m labels has m entries; `shares` the shares of the classes
    among a pair's labels; `labels` the labels of each class.

    `products` takes a number for each class (..., n_classes), and gives the sum over the coincidence matrix of the
    product of the two classes' numbers (...), so that many sums need no matrix each.
    """

    n: Floats
    agreeing: Floats
    same: Floats
    shares: Floats
    labels: Floats
    products: Callable[[Floats], Floats]

    @classmethod
    def from_moments(cls, flat: Floats, products: Callable[[Floats], Floats]) -> Sums:
        """From what `moments` gives, or sums of it, in the last axis."""
        shares, labels = np.split(flat[..., 3:], [(flat.shape[-1] - 3) // 2], axis=-1)
        return cls(flat[..., 0], flat[..., 1], flat[..., 2], shares, labels, products)


def moments(profiles: Ints) -> Floats:
    """Terms that one pair of each profile, its numbers of labels of each class, (n_profiles, n_classes), adds to
    `Sums`, (n_profiles, 3 + 2 n_classes); nothing from a pair with fewer than two.
    """
    n_labels = profiles.sum(axis=1)
    counts = np.where((n_labels >= 2)[:, None], profiles, 0)
    size = np.maximum(n_labels, 2)
    same = (counts * (counts - 1)).sum(axis=1) / (size - 1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (size * (size - 1))
    return np.column_stack([n_labels >= 2, agreeing, same, counts / size[:, None], counts]).astype(np.float64)


def ratio(part: npt.NDArray[Any], whole: npt.NDArray[Any], otherwise: float = np.nan) -> Floats:
    """part / whole, `otherwise` where `whole` is 0 but for rounding."""
    quotient = np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), otherwise)
    np.divide(part, whole, out=quotient, where=np.abs(whole) > 1e-9)
    return quotient


class LeftOutSums:
    """The sums over the pairs of an overlap, or those with exactly `n_labels`, and what is left without one cluster.

    Without one of its labels a pair counts with the others, if two are left; with `n_labels` it does not count at all.
    `label` are the labels that count, `total` (3 + 2 n_classes,) the `moments` of all pairs; `pairs_by_n_labels` counts
    those with 0, 1, 2 ... labels.
    """

    def __init__(self, overlap: Overlap, n_labels: int | None = None) -> None:
        if n_labels is not None:
            is_in = (np.bincount(overlap.pair) == n_labels)[overlap.pair]
            columns = (overlap.pair, overlap.hs, overlap.cn, overlap.annotator, overlap.klass)
            overlap = Overlap(overlap.n_classes, *(column[is_in] for column in columns))
        self.label, self.n_classes, self._constant = overlap, overlap.n_classes, n_labels is not None
        pairs, self._pair = dense_codes(overlap.pair)
        shape = len(pairs), self.n_classes
        answers = np.bincount(self._pair * shape[1] + overlap.klass, minlength=shape[0] * shape[1]).reshape(shape)
        self._profile = np.zeros(len(answers), dtype=np.int64)
        for column in answers.T:
            self._profile = dense_codes(self._profile * (int(column.max(initial=0)) + 1) + column)[1]
        self._profiles = np.empty((int(self._profile.max(initial=-1)) + 1, self.n_classes), dtype=np.int64)
        self._profiles[self._profile] = answers
        self._label_at = np.empty(shape[0], dtype=np.int64)  # one of the labels of each pair
        self._label_at[self._pair] = np.arange(len(overlap.pair))
        self.pairs_by_n_labels = np.bincount(self._profiles.sum(axis=1)[self._profile])
        times = np.bincount(self._profile, minlength=len(self._profiles))
        self.total = times @ moments(self._profiles)
        self._coincidence = coincidence(self._profiles, times)

    @property
    def sums(self) -> Sums:  # no attribute, which would refer back to this object and keep it in memory
        """The sums over all pairs."""
        return Sums.from_moments(self.total, self._products)

    def _products(self, values: Floats) -> Floats:
        return np.asarray(((values @ self._coincidence) * values).sum(axis=-1))

    def members(self, cluster: Cluster) -> tuple[Ints, Ints]:
        """Members of the clusters of a kind, pairs or labels: each one's cluster number, and which change it is."""
        number = self.label.numbers_by(cluster)
        if cluster in TEXTS:
            return number[self._label_at], self._profile
        return number, self._profile[self._pair] * self.n_classes + self.label.klass

    def changes(self, cluster: Cluster, kinds: Ints) -> tuple[Ints, Ints]:
        """The profiles of a pair before and after each of these changes, (n_kinds, n_classes); all 0 where it goes."""
        profile, klass = (kinds, kinds) if cluster in TEXTS else np.divmod(kinds, self.n_classes)
        before = self._profiles[profile]
        if cluster in TEXTS or self._constant:
            return before, np.zeros_like(before)
        after = before.copy()
        after[np.arange(len(kinds)), klass] -= 1
        return before, after

    def sums_without(self, cluster: Cluster) -> tuple[Sums, Ints | None]:
        """The sums without each cluster, shape (n,); or the different ones, and how many clusters have each."""
        number, change = self.members(cluster)
        kinds, kind = dense_codes(change)
        before, after = self.changes(cluster, kinds)
        moved = moments(after) - moments(before)
        if cluster in {Cluster.PAIR, Cluster.LABEL}:
            each = np.arange(len(kinds))
            products = self._changed_products(each, each, before, after)
            return Sums.from_moments(self.total + moved, products), np.bincount(kind)
        products = self._changed_products(dense_codes(number)[1], kind, before, after)
        return Sums.from_moments(self.total + sums_by(number, kind, moved), products), None

    def _changed_products(self, row: Ints, kind: Ints, before: Ints, after: Ints) -> Callable[[Floats], Floats]:
        """`products` of sums in rows, in each of which pairs of these kinds have changed."""
        key, place = dense_codes(row * len(before) + kind)
        times = np.bincount(place)
        row, kind = np.divmod(key, max(len(before), 1))
        step = max(MAX_VALUES_AT_ONCE // max(self.n_classes, 1), 1)

        def products(values: Floats) -> Floats:
            result = self._products(values)
            for at in (slice(first, first + step) for first in range(0, len(key), step)):
                row_values = values[row[at]]
                moved = _profile_products(after[kind[at]], row_values) - _profile_products(before[kind[at]], row_values)
                result += np.bincount(row[at], times[at] * moved, minlength=len(result))
            return result

        return products


def coincidence(profiles: Ints, times: Ints | Floats) -> Floats:
    """Krippendorff's coincidence matrix of so many pairs of each profile, (n_classes, n_classes)."""
    n_labels = profiles.sum(axis=1)
    weights = np.where(n_labels >= 2, times / np.maximum(n_labels - 1, 1), 0.0)
    return np.asarray(profiles.T @ (weights[:, None] * profiles) - np.diag(weights @ profiles))


def _profile_products(profiles: Ints, values: Floats) -> Floats:
    """`Sums.products` of one pair of each profile, whose classes have these values, both (n, n_classes); shape (n,)."""
    n_labels, worth = profiles.sum(axis=1), profiles * values
    values_sum = worth.sum(axis=1) ** 2 - (worth * values).sum(axis=1)
    return np.where(n_labels >= 2, values_sum / np.maximum(n_labels - 1, 1), 0.0)


def dense_codes(codes: Ints) -> tuple[Ints, Ints]:
    """The distinct codes (0 or more) in order, and the place of each code among them: as `np.unique` with
    `return_inverse`, but in linear time where the codes are not much larger than their number.
    """
    if int(codes.max(initial=0)) > SPARSE * len(codes) + FEW_CODES:
        return np.unique(codes, return_inverse=True)
    occurs = np.bincount(codes) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def sums_by(cluster: Ints, kind: Ints, values: Floats) -> Floats:
    """Sums of `values[kind]` over the members, (n_members,), of each cluster, in order: (n_clusters, n_columns)."""
    names, place = dense_codes(cluster)
    return np.stack([np.bincount(place, weights=column[kind], minlength=len(names)) for column in values.T], axis=1)
