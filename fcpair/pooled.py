"""Agreement over a whole grid of pairs, with intervals that resample the rows and columns of the grid.

Every coefficient here is a function of how many pairs got which profile of answers. The pigeonhole bootstrap gives
those numbers for all resamples at once, so that one line computes a coefficient and all its replicates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from fcpair.records import Figure

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MAX_CELLS = 200_000  # resamples x cells held at once: 1.6 MB, which a processor's cache still holds


def multiplicities(n: int, resamples: int, rng: np.random.Generator) -> Floats:
    """How often each of `n` things is drawn in `resamples` bootstrap samples of size `n`.

    Returns whole numbers, shape (resamples, n); each row sums to `n`. Two calls for 3 and 4 samples draw the same
    as one call for 7, so that a caller may work in chunks of any size.
    """
    drawn = rng.integers(n, size=(resamples, n)) + n * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=resamples * n).reshape(resamples, n).astype(np.float64)


def pigeonhole_counts(
    row: Ints, column: Ints, group: Ints, resamples: int, seed: int, *, max_cells: int = MAX_CELLS
) -> Floats:
    """How often the cells of each group stand in each pigeonhole resample of a grid.

    `row`, `column` and `group`, each of shape (n_cells,) with at least one cell, count from 0 without gaps. Rows
    and columns are drawn independently with replacement; a cell stands in a resample as often as its row times its
    column. Returns whole numbers, shape (resamples, n_groups). At most `max_cells` products (or one resample, if
    that is more) are held at a time; the result does not depend on it.

    Source: Owen (2007), The pigeonhole bootstrap, Annals of Applied Statistics 1(2), DOI 10.1214/07-AOAS122. No
    bootstrap of a grid is exact; this one errs towards width: where cells differ but rows and columns do not, the
    variance of a mean comes out about three times too large.
    """
    order = np.argsort(group, kind="stable")
    row, column = row[order], column[order]
    starts = np.searchsorted(group[order], np.arange(group.max() + 1))
    row_rng, column_rng = np.random.default_rng(seed).spawn(2)
    n_rows, n_columns = int(row.max()) + 1, int(column.max()) + 1
    counts = np.empty((resamples, len(starts)))
    step = max(1, max_cells // len(row))
    for first in range(0, resamples, step):
        size = min(step, resamples - first)
        cells = multiplicities(n_rows, size, row_rng).take(row, axis=1)
        cells *= multiplicities(n_columns, size, column_rng).take(column, axis=1)
        counts[first : first + size] = np.add.reduceat(cells, starts, axis=1)
    return counts


def percentile_interval(replicates: Floats, level: float) -> tuple[float, float] | None:
    """The middle `level` (0 to 1) of the replicates that are not NaN.

    None where none is left, and where all are equal: an interval without width would claim certainty.
    """
    defined = replicates[~np.isnan(replicates)]
    if not defined.size or np.ptp(defined) < 1e-12:
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def observed_agreement(profiles: Ints, weights: Floats) -> Floats:
    """Mean over pairs of the share of a pair's label pairs that agree; range 0 to 1.

    This and the coefficients below take `profiles` (n_profiles, n_classes), how many labels of each class the pairs
    of a profile have, at least two in all; and `weights` (..., n_profiles), how many pairs have each profile. They
    return shape (...), NaN where the coefficient is undefined.
    """
    n_labels = profiles.sum(axis=1)
    share = (profiles * (profiles - 1)).sum(axis=1) / (n_labels * (n_labels - 1))
    return _ratio(weights @ share, weights.sum(axis=-1))


def fleiss_kappa(profiles: Ints, weights: Floats) -> Floats:
    """Fleiss' kappa, for profiles that all have the same number of labels; range -1 to 1.

    Undefined where all labels are of one class. Source: Fleiss (1971), DOI 10.1037/h0031619.
    """
    totals = weights @ profiles
    expected = (_ratio(totals, totals.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    return _ratio(observed_agreement(profiles, weights) - expected, 1 - expected)


def krippendorff_alpha(profiles: Ints, weights: Floats, *, ordinal: bool) -> Floats:
    """Krippendorff's alpha with the nominal or the ordinal difference, from the coincidence matrix; at most 1.

    Undefined where all labels are of one class. Source: Hayes and Krippendorff (2007),
    DOI 10.1080/19312450709336664, and Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    """
    n_labels, n_classes = profiles.sum(axis=1), profiles.shape[1]
    pairings = profiles[:, :, None] * (profiles[:, None, :] - np.eye(n_classes, dtype=np.int64))
    coincidence = np.tensordot(weights, pairings / (n_labels - 1)[:, None, None], axes=1)
    totals = weights @ profiles
    if ordinal:
        rank = np.cumsum(totals, axis=-1) - totals / 2
        difference = (rank[..., :, None] - rank[..., None, :]) ** 2
    else:
        difference = 1 - np.eye(n_classes)
    observed = (coincidence * difference).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * difference).sum(axis=(-2, -1))
    alpha: Floats = 1 - _ratio((totals.sum(axis=-1) - 1) * observed, expected)
    return alpha


def gwet_ac1(profiles: Ints, weights: Floats) -> Floats:
    """Gwet's AC1 over pairs with two or more labels; range -1 to 1.

    Chance agreement counts all classes of the scheme, used or not. Defined, and 1, where all labels are of one class
    out of several. Source: Gwet (2008), DOI 10.1348/000711006X126600; unlike there, pairs with a single label do not
    count towards the prevalence of the classes.
    """
    shares = profiles / profiles.sum(axis=1, keepdims=True)
    prevalence = _ratio(weights @ shares, weights.sum(axis=-1, keepdims=True))
    expected = (prevalence * (1 - prevalence)).sum(axis=-1) / (profiles.shape[1] - 1)
    return _ratio(observed_agreement(profiles, weights) - expected, 1 - expected)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, NaN where `whole` is 0."""
    quotient = np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), np.nan)
    np.divide(part, whole, out=quotient, where=np.not_equal(whole, 0))
    return quotient


@dataclass(frozen=True)
class Coefficient:
    """A pooled figure: how it is computed, on which pairs, and where it has no value."""

    name: str
    compute: Callable[[Ints, Floats], Floats]
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


CONSTANT = "pairs with exactly {} labels: Fleiss' kappa requires a constant number"
COEFFICIENTS = (
    Coefficient("raw agreement", observed_agreement, corrects_chance=False, needs_two_used_classes=False),
    Coefficient("Fleiss' kappa, 2 labels", fleiss_kappa, n_labels=2, note=CONSTANT.format(2)),
    Coefficient("Fleiss' kappa, 3 labels", fleiss_kappa, n_labels=3, note=CONSTANT.format(3)),
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
    """The pairs with two or more labels: their places in the grid and their profiles of answers.

    `row`, `column` and `profile`, shape (n_pairs,), count from 0 without gaps; `profiles` (n_profiles, n_classes)
    holds the number of labels of each class.
    """

    row: Ints
    column: Ints
    profile: Ints
    profiles: Ints

    @classmethod
    def of(cls, pair: Ints, hs: Ints, cn: Ints, klass: Ints, n_classes: int) -> Overlap:
        """From one entry per label: ids of the pair and its two sides, and the class counted from 0."""
        _, first, unit = np.unique(pair, return_index=True, return_inverse=True)
        cell = unit * n_classes + klass
        answers = np.bincount(cell, minlength=len(first) * n_classes).reshape(len(first), n_classes)
        profiles, profile = np.unique(answers, axis=0, return_inverse=True)
        _, row = np.unique(hs[first], return_inverse=True)
        _, column = np.unique(cn[first], return_inverse=True)
        return cls(row, column, profile, profiles)


def pooled_figures(overlap: Overlap, resamples: int, level: float, seed: int) -> tuple[Figure, ...]:
    """Every coefficient of COEFFICIENTS with its percentile interval, all from the same resamples.

    There is no interval where a coefficient is undefined, where its pairs lie on one row or one column only, and
    where `percentile_interval` has none. Replicates without a value are left out; the note counts them.
    """
    n_profiles = len(overlap.profiles)
    weights = np.bincount(overlap.profile, minlength=n_profiles).astype(np.float64)
    replicates = np.empty((0, n_profiles))
    if resamples and len(overlap.profile):
        replicates = pigeonhole_counts(overlap.row, overlap.column, overlap.profile, resamples, seed)
    return tuple(_figure(coefficient, overlap, weights, replicates, level) for coefficient in COEFFICIENTS)


def _figure(coefficient: Coefficient, overlap: Overlap, weights: Floats, replicates: Floats, level: float) -> Figure:
    n_labels = overlap.profiles.sum(axis=1)
    chosen = (n_labels == coefficient.n_labels) if coefficient.n_labels else np.ones(len(n_labels), dtype=bool)
    profiles, weights = overlap.profiles[chosen], weights[chosen]
    n, name = int(weights.sum()), coefficient.name
    if why := coefficient.undefined(weights @ profiles, n):
        return Figure(name, None, n, undefined=why, note=coefficient.note)
    value = float(coefficient.compute(profiles, weights))
    there = chosen[overlap.profile]
    sides = len(np.unique(overlap.row[there])), len(np.unique(overlap.column[there]))
    values = coefficient.compute(profiles, replicates[:, chosen])
    interval = percentile_interval(values, level) if min(sides) > 1 else None
    low, high = interval or (None, None)
    note = "; ".join(filter(None, [coefficient.note, _interval_note(values, sides, interval is not None)]))
    return Figure(name, value, n, low=low, high=high, note=note)


def _interval_note(values: Floats, sides: tuple[int, int], has_interval: bool) -> str:
    """What the interval rests on, or why there is none."""
    if not len(values):
        return "no interval was asked for"
    if min(sides) < 2:
        return f"no interval: resampling needs at least 2 HS and 2 CN, found {sides[0]} and {sides[1]}"
    lost = int(np.isnan(values).sum())
    text = f"{len(values)} resamples of HS and CN, the pairs lie on {sides[0]} and {sides[1]}"
    if lost:
        text += f", {lost} undefined and left out"
    return f"interval: {text}" if has_interval else f"no interval: {text}, without spread"
