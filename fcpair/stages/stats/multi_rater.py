"""Agreement over a whole grid of pairs: Fleiss' kappa, Krippendorff's alpha, Gwet's AC1, each with its interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.params import IntervalScope
from fcpair.records import Figure
from fcpair.sentences import Id, Sentence, join, mark, say
from fcpair.stages.questions.base import Distance
from fcpair.stages.stats.jackknife_intervals import (
    HS_AND_CN,
    Cluster,
    Sides,
    Spread,
    add_bounds,
    jackknife_spread,
    note_basis,
)
from fcpair.stages.stats.rating_counts import LeftOutSums, Overlap, Sums, ratio


def observed_agreement(sums: Sums) -> Floats:
    """Mean share of a pair's label pairs that agree; 0 to 1. Like those below: shape of `sums.n`, NaN if undefined."""
    return ratio(sums.agreeing, sums.n)


def fleiss_kappa(sums: Sums) -> Floats:
    """Fleiss' kappa, for pairs that all have the same number of labels; -1 to 1, undefined where all labels are of one
    class. Source: Fleiss (1971), DOI 10.1037/h0031619.
    """
    expected = (ratio(sums.labels, sums.labels.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    return ratio(observed_agreement(sums) - expected, 1 - expected)


def nominal_alpha(sums: Sums) -> Floats:
    """Krippendorff's alpha with the nominal difference: two classes are the same or not; at most 1.

    Undefined, like the two below, where all labels are of one class. Source of all three: Hayes and Krippendorff
    (2007), DOI 10.1080/19312450709336664, and Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    """
    n = sums.labels.sum(axis=-1)
    return np.asarray(1 - ratio((n - 1) * (n - sums.same), n**2 - (sums.labels**2).sum(axis=-1)))


def ordinal_alpha(sums: Sums) -> Floats:
    """Krippendorff's alpha with the ordinal difference: of the classes' middle ranks among all labels; at most 1."""
    return _alpha(sums, np.cumsum(sums.labels, axis=-1) - sums.labels / 2)


def interval_alpha(sums: Sums, *, numbers: Floats) -> Floats:
    """Krippendorff's alpha with the interval difference: of the classes' `numbers`, shape (n_classes,); at most 1."""
    return _alpha(sums, numbers / np.ptp(numbers))


def _alpha(sums: Sums, values: Floats) -> Floats:
    """Alpha where two classes differ by the square of the difference of their values, (..., n_classes): over a
    coincidence matrix, sum (a - b)² = 2 (sum a² - sum ab), of which `products` has the second.
    """
    n = sums.labels.sum(axis=-1)
    values = values - ((sums.labels * values).sum(axis=-1) / np.maximum(n, 1))[..., None]
    squares = (sums.labels * values**2).sum(axis=-1)
    return np.asarray(1 - ratio((n - 1) * (squares - sums.products(values)), n * squares))


def gwet_ac1(sums: Sums) -> Floats:
    """Gwet's AC1 over pairs with two or more labels; -1 to 1, and 1 where all labels are of one class out of several.
    Chance agreement counts all classes of the scheme. Source: Gwet (2008), DOI 10.1348/000711006X126600; unlike there,
    pairs with a single label do not count towards the prevalence of the classes.
    """
    prevalence = ratio(sums.shares, sums.n[..., None])
    expected = (prevalence * (1 - prevalence)).sum(axis=-1) / (prevalence.shape[-1] - 1)
    return ratio(observed_agreement(sums) - expected, 1 - expected)


# From the shares of classes, (n_classes,): each one's mean distance to a label, and the mean square between labels.
Distances = Callable[[Floats], tuple[Floats, float]]


def _nominal_distances(shares: Floats) -> tuple[Floats, float]:
    return 1 - shares, float(1 - shares @ shares)


def _squared_distances(shares: Floats, values: Floats) -> tuple[Floats, float]:
    moved = values - shares @ values
    variance = shares @ moved**2
    return moved**2 + variance, float(2 * shares @ moved**4 + 6 * variance**2)


def variance_if_true(labels: Floats, n_pairs: Ints, distances: Distances) -> Callable[[float], float]:
    """Variance that alpha, or Fleiss' kappa, would have over independent pairs, by what its true value is, at most 1.

    `labels` counts those of each class, `(n_classes,)`, `n_pairs` the pairs with 0, 1, 2 ... labels, of which those
    with two or more count. With the true value as probability (0 if it is negative) the labels of a pair are all of one
    class, else each is drawn by itself; classes have the shares seen. The figure is linearised. For two labels of two
    classes this is the variance of Bloch and Kraemer (1989), DOI 10.2307/2532052.
    """
    shares = labels / labels.sum()
    to_others, squares = distances(shares)
    expected = shares @ to_others
    of_class, of_two = float(shares @ to_others**2 / expected**2 - 1), squares / expected**2 - 1
    m = np.arange(2, len(n_pairs))
    weights = n_pairs[2:] * m**2 / (n_pairs[2:] @ m) ** 2
    of_pairs, of_labels = float(weights.sum()), float(weights @ (1 / m))
    of_independent = float(weights @ (2 / (m * (m - 1)) * (2 * (m - 2) * of_class + of_two)))

    def variance(value: float) -> float:
        alike = max(value, 0.0)
        rest = 1 - alike
        of_rest = of_independent + 4 * rest * (rest - 2) * of_class * of_labels
        return of_pairs * alike * rest * (4 * rest * of_class + 1) + rest * of_rest

    return variance


@dataclass(frozen=True)
class Coefficient:
    """A pooled figure: how it is computed, on which pairs, where it has no value, and the `distances` of classes."""

    name: str
    compute: Callable[[Sums], Floats]
    n_labels: int | None = None
    corrects_chance: bool = True
    needs_two_used_classes: bool = True
    note: str = ""
    distances: Distances | None = None

    def variance_at(self, labels: Floats, n_pairs: Ints) -> Callable[[float], float] | None:
        """`variance_if_true` for any true value; None for a coefficient whose intervals do not need it."""
        return None if self.distances is None else variance_if_true(labels, n_pairs, self.distances)

    def undefined_reason(self, used: Floats, n: int) -> Sentence | None:
        """The reason why there is no value on `n` pairs with so many labels of each class; None if there is one."""
        if n == 0:
            if self.n_labels:
                return say("no pair has exactly %(number)s labels", number=Id(self.n_labels))
            return say("no pair has two or more labels")
        if self.corrects_chance and n == 1:
            return say("one pair only: agreement by chance cannot be estimated from it")
        if self.corrects_chance and len(used) < 2:
            return say("the scheme leaves one class only")
        if self.needs_two_used_classes and np.count_nonzero(used) < 2:
            return say("all labels are of one class, so agreement by chance would be complete")
        return None


def _fleiss_coefficient(n_labels: int) -> Coefficient:
    note = say("pairs with exactly %(number)s labels: Fleiss' kappa requires a constant number", number=Id(n_labels))
    name = say("Fleiss' kappa, %(number)s labels", number=Id(n_labels))
    return Coefficient(name, fleiss_kappa, n_labels=n_labels, note=note, distances=_nominal_distances)


ALPHA: dict[Distance, str] = {
    "nominal": mark("Krippendorff's alpha, nominal"),
    "ordinal": mark("Krippendorff's alpha, ordinal"),
    "interval": mark("Krippendorff's alpha, interval"),
}
OWN_DISTANCE = mark("the distance of the question")
COEFFICIENTS = (
    Coefficient(mark("raw agreement"), observed_agreement, corrects_chance=False, needs_two_used_classes=False),
    _fleiss_coefficient(2),
    _fleiss_coefficient(3),
    Coefficient(ALPHA["nominal"], nominal_alpha, distances=_nominal_distances),
    Coefficient(
        ALPHA["ordinal"],
        ordinal_alpha,
        note=mark("classes in the order of their codes"),
        distances=lambda shares: _squared_distances(shares, np.cumsum(shares) - shares / 2),
    ),
    Coefficient(
        mark("Gwet's AC1"),
        gwet_ac1,
        needs_two_used_classes=False,
        note=mark("pairs with one label do not count towards prevalence, unlike Gwet's"),
    ),
)


def coefficients_of(distance: Distance, numbers: Floats) -> tuple[Coefficient, ...]:
    """COEFFICIENTS for a question with this distance, with alpha for intervals, of `numbers`, (n_classes,), where it is
    one; the alpha of the question's own distance says so in its note, unless it is nominal.
    """
    coefficients = []
    for coefficient in COEFFICIENTS:
        is_own = coefficient.name == ALPHA[distance] == ALPHA["ordinal"]
        note = join([coefficient.note, OWN_DISTANCE], "; ") if is_own else coefficient.note
        coefficients.append(replace(coefficient, note=note))
        if coefficient.name == ALPHA["ordinal"] and distance == "interval":
            compute, values = partial(interval_alpha, numbers=numbers), numbers / np.ptp(numbers)
            distances = partial(_squared_distances, values=values)
            coefficients.append(Coefficient(ALPHA[distance], compute, note=OWN_DISTANCE, distances=distances))
    return tuple(coefficients)


def pooled_figures(
    overlap: Overlap,
    reach: IntervalScope,
    level: float,
    coefficients: Sequence[Coefficient] = COEFFICIENTS,
    sides: Sides = HS_AND_CN,
) -> tuple[Figure, ...]:
    """Every one of the coefficients, and Fleiss' kappa for as many labels as pairs have, as figures with intervals."""
    n_labels_listed = [coefficient.n_labels for coefficient in coefficients]
    last = max(at for at, n_labels in enumerate(n_labels_listed, 1) if n_labels)
    n_labels_occurring = np.unique(np.bincount(overlap.pair)).tolist()
    more = [_fleiss_coefficient(n) for n in n_labels_occurring if n >= 2 and n not in n_labels_listed]
    selected = [*coefficients[:last], *more, *coefficients[last:]]
    parts: dict[int | None, list[Coefficient]] = {}  # by the number of labels that they are about
    for coefficient in selected:
        parts.setdefault(coefficient.n_labels, []).append(coefficient)
    computed = (_compute_figures(part, overlap, reach, level, sides) for part in parts.values())
    figures = {figure.name: figure for of_part in computed for figure in of_part}
    return tuple(figures[coefficient.name] for coefficient in selected)


def pooled_figure(
    overlap: Overlap, reach: IntervalScope, level: float, coefficient: Coefficient, sides: Sides = HS_AND_CN
) -> Figure:
    """One coefficient, as `pooled_figures` has it."""
    return next(_compute_figures([coefficient], overlap, reach, level, sides))


def _compute_figures(
    coefficients: list[Coefficient], overlap: Overlap, reach: IntervalScope, level: float, sides: Sides
) -> Iterator[Figure]:
    """The figures of coefficients that are about the same number of labels."""
    part = LeftOutSums(overlap, coefficients[0].n_labels)
    sums, n = part.sums, round(float(part.sums.n))
    reasons = {coefficient.name: coefficient.undefined_reason(sums.labels, n) for coefficient in coefficients}
    defined = [coefficient for coefficient in coefficients if not reasons[coefficient.name]]
    spreads: dict[str, dict[Cluster, Spread]] = {coefficient.name: {} for coefficient in defined}
    for cluster in sides.clusters_left_out(reach) if defined else ():
        sums_left, times = part.sums_without(cluster)
        for coefficient in defined:
            spreads[coefficient.name][cluster] = jackknife_spread(coefficient.compute(sums_left), times)
    for coefficient in coefficients:
        if why := reasons[coefficient.name]:
            yield Figure(coefficient.name, None, n, undefined=why, note=coefficient.note)
        else:
            figure = Figure(coefficient.name, float(coefficient.compute(sums)), n, note=coefficient.note)
            lowest, spread = -1.0 if coefficient.corrects_chance else 0.0, spreads[coefficient.name]
            variance_at = coefficient.variance_at(sums.labels, part.pairs_by_n_labels)
            yield note_basis(add_bounds(figure, spread, level, lowest, sides, variance_at), spread, sides)
