"""A model of annotators on a grid whose agreement is known: studies drawn from it, and its true figures.

Annotator a labels a pair (h, c) by where r_h + c_c + u_hc + s_h s_c e_hca falls between two thresholds, both moved by
a's own leniency. All parts are normal: r, c and u have variance 1 together; s are lognormal, so that some HS and some
CNs are harder than others. Where HS are in two camps, r has two values only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import sqrt

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError
from fcpair.stages.stats.jackknife_intervals import jackknife_spread
from fcpair.stages.stats.kappa import MEANS, cohens_kappa
from fcpair.stages.stats.label_profiles import ClassModel
from fcpair.stages.stats.multi_rater import COEFFICIENTS, Coefficient
from fcpair.stages.stats.rating_counts import Overlap, Sums

THRESHOLDS = (0.9, 1.2)
"""With them and `NOISE` the classes have shares near 0.78, 0.07 and 0.15, and alpha is near 0.4, as in FC-CONAN."""

NOISE = 0.5
MANY = 1e12
LEAST_NOISE, MOST_NOISE = 1e-2, 1e2  # in standard deviations of what pairs are like
NOISE_BISECTIONS = 24
LENIENCY_NODES, PAIR_NODES, HARDNESS_NODES = 31, 61, 15
N_ENDLESS, TEXTS_EACH = 30, 200  # studies with endlessly many pairs of each text, and their HS and CN
TABLE, MOST_SPREAD = 201, 6.0  # of what an HS and its CN add: how many values, and how far in standard deviations


@dataclass(frozen=True)
class Effects:
    """The variance that HS and CN have in what a pair is like, that of log s of each, and the sd of leniency.

    With `camp`, that share of the HS is in one camp and the others are in another. `thresholds` part the classes.
    """

    hs: float = 0.0
    cn: float = 0.0
    hs_hardness: float = 0.0
    cn_hardness: float = 0.0
    leniency: float = 0.0
    camp: float | None = None
    thresholds: tuple[float, ...] = THRESHOLDS
    noise: float = NOISE

    @property
    def camps(self) -> tuple[Floats, Floats]:
        """What an HS of each camp adds, and how likely it is of that camp."""
        share = self.camp or 0.5
        ends = np.array([-((share / (1 - share)) ** 0.5), ((1 - share) / share) ** 0.5])
        return ends * self.hs**0.5, np.array([1 - share, share])

    def of_hs(self, rng: np.random.Generator, n: int) -> Floats:
        """What each of `n` HS adds to its pairs."""
        if self.camp is None:
            return rng.normal(0, self.hs**0.5, n)
        return rng.choice(self.camps[0], n, p=self.camps[1])

    def of_pair(self) -> tuple[Floats, Floats]:
        """What a new pair is like, as nodes and weights."""
        nodes, weights = _normal(PAIR_NODES)
        if self.camp is None:
            return nodes, weights
        ends, shares = self.camps
        return (ends[:, None] + (1 - self.hs) ** 0.5 * nodes).ravel(), np.outer(shares, weights).ravel()


def joint(effects: Effects, leniency: Floats) -> Floats:
    """How probable two answers on a new pair are, by annotators of this leniency: (n, n, n_classes, n_classes).

    Exact but for the quadrature over what a pair is like and how hard it is.
    """
    from scipy.special import ndtr

    z, z_weight = effects.of_pair()
    hardness = effects.hs_hardness + effects.cn_hardness
    log_s, s_weight = _normal(HARDNESS_NODES if hardness else 1)
    log_s = log_s * hardness**0.5
    what, hard = (grid.ravel() for grid in np.meshgrid(z, log_s, indexing="ij"))
    thresholds = np.array(effects.thresholds)[:, None, None]
    below = ndtr((thresholds - leniency[:, None] - what) / (effects.noise * np.exp(hard)))
    ends = np.concatenate([np.zeros_like(below[:1]), below, np.ones_like(below[:1])])
    share = np.moveaxis(np.diff(ends, axis=0), 0, -1)  # annotator, node, class
    found = np.einsum("aqi,bqj,q->abij", share, share, np.outer(z_weight, s_weight).ravel(), optimize=True)
    return np.asarray(found)


@cache
def _normal(n: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(n)
    return nodes, weights / weights.sum()


def new_annotators(effects: Effects) -> dict[str, float]:
    """The figures on endlessly many HS and CN with endlessly many annotators."""
    nodes, weights = _normal(LENIENCY_NODES if effects.leniency else 1)
    return figures_of(joint(effects, nodes * effects.leniency), np.outer(weights, weights))[0]


def figures_of(found: Floats, weights: Floats) -> tuple[dict[str, float], Floats]:
    """The figures where annotators a and b share the `weights` (n, n) of the pairs, with joint answers `found`."""
    both = np.einsum("abij,ab->ij", found, weights)
    kappas = cohens_kappa(found * MANY, "none")
    mean = float((kappas * weights).sum())
    return {one.name: float(one.compute(_sums_of(both))) for one in COEFFICIENTS} | dict.fromkeys(MEANS, mean), kappas


def _sums_of(both: Floats) -> Sums:
    """The sums over endlessly many pairs, on which two answers are `both` so probable, (..., n_classes, n_classes)."""
    many = np.full(both.shape[:-2], MANY)
    same, matrix, marginal = many * np.trace(both, axis1=-2, axis2=-1), 2 * MANY * both, MANY * both.sum(axis=-1)

    def products(values: Floats) -> Floats:
        return np.asarray(np.einsum("...i,...ij,...j->...", values, matrix, values))

    return Sums(many, same, 2 * same, marginal, 2 * marginal, products)


def fit_effects(effects: Effects, class_shares: Floats, kappa: float) -> Effects:
    """The effects with the noise and the thresholds at which labels have these shares, and two people this kappa.

    `class_shares` (n_classes,) sum to 1. Raises InputError where hardness is not 0, HS and CN explain
    more than all, or not even without noise agreement would be as high; the message says how high it can be.
    """
    if effects.hs + effects.cn >= 1:
        raise InputError(
            f"HS and CN explain {effects.hs:g} and {effects.cn:g} of what pairs are like; expected less than 1 together"
        )
    low, high = LEAST_NOISE, MOST_NOISE
    if kappa > (highest := _kappa(_with_shares(effects, class_shares, low))):
        raise InputError(f"kappa is {kappa:g}; with annotators this different it is {highest:.3f} at most")
    for _ in range(NOISE_BISECTIONS):
        middle = sqrt(low * high)
        low, high = (middle, high) if _kappa(_with_shares(effects, class_shares, middle)) > kappa else (low, middle)
    return _with_shares(effects, class_shares, high)


def _with_shares(effects: Effects, class_shares: Floats, noise: float) -> Effects:
    from scipy.special import ndtri

    spread = sqrt(1 + noise**2 + effects.leniency**2)
    thresholds = ndtri(np.minimum(np.cumsum(class_shares)[:-1], 1.0)) * spread
    return replace(effects, noise=noise, thresholds=tuple(thresholds.tolist()))


def _kappa(effects: Effects) -> float:
    return new_annotators(effects)[MEANS[0]]


def class_model(effects: Effects) -> ClassModel:
    """The model as classes that are true, of which there is one for each node of what pairs are like.

    Those who label a pair are annotators drawn anew; hardness is left out.
    """
    nodes, weights = _normal(PAIR_NODES)
    return ClassModel(weights, _answers_to(effects, nodes))


def _answers_to(effects: Effects, what: Floats) -> Floats:
    """The probabilities of each answer to pairs that are like this, (..., n_classes); leniency is drawn for each."""
    from scipy.special import ndtr

    below = ndtr((np.array(effects.thresholds) - what[..., None]) / sqrt(effects.noise**2 + effects.leniency**2))
    return np.diff(below, axis=-1, prepend=0.0, append=1.0)


def explained_variances(effects: Effects, coefficient: Coefficient) -> tuple[float, float]:
    """The variance that an HS and a CN each leave in a coefficient, however many pairs they have, times their number.

    It is the mean of V_HS and of V_CN in drawn studies with endlessly many pairs of each HS and CN.
    """
    nodes, weights = _normal(PAIR_NODES)
    ends = sqrt(effects.hs + effects.cn) * MOST_SPREAD
    sums = np.linspace(-ends, ends, TABLE)  # what an HS and its CN add together
    answers = _answers_to(effects, sums[:, None] + sqrt(1 - effects.hs - effects.cn) * nodes)
    both = np.einsum("tri,trj,r->tij", answers, answers, weights).reshape(TABLE, -1)
    variances = []
    for at in range(N_ENDLESS):
        rng = np.random.default_rng([0, at])
        what = effects.of_hs(rng, TEXTS_EACH)[:, None] + rng.normal(0, effects.cn**0.5, TEXTS_EACH)
        of_pairs = np.stack([np.interp(what, sums, entry) for entry in both.T], axis=-1)
        of_texts = (of_pairs.sum(axis=axis).reshape(TEXTS_EACH, *answers.shape[-1:] * 2) for axis in (1, 0))
        without = ((one.sum(axis=0) - one) / (TEXTS_EACH * (TEXTS_EACH - 1)) for one in of_texts)
        variances.append([jackknife_spread(coefficient.compute(_sums_of(left))).variance for left in without])
    hs, cn = (TEXTS_EACH * np.mean(variances, axis=0)).tolist()
    return hs, cn


Answer = Callable[[Overlap, np.random.Generator], Ints]


def answer_by_classes(model: ClassModel) -> Answer:
    """Answers in which all labels of a pair depend on what is true, and on nothing else."""
    ends = np.cumsum(model.answers, axis=1)[:, :-1]

    def answer(places: Overlap, rng: np.random.Generator) -> Ints:
        true = rng.choice(len(model.truths), int(places.pair.max(initial=-1)) + 1, p=model.truths)[places.pair]
        return np.asarray((rng.random(len(true))[:, None] > ends[true]).sum(axis=1))

    return answer


def answer_by_effects(effects: Effects) -> Answer:
    """Answers in which HS, CN and annotators have effects."""

    def answer(places: Overlap, rng: np.random.Generator) -> Ints:
        n_hs, n_cn, n_annotators = (int(of.max(initial=-1)) + 1 for of in (places.hs, places.cn, places.annotator))
        seen = (
            effects.of_hs(rng, n_hs)[places.hs]
            + rng.normal(0, effects.cn**0.5, n_cn)[places.cn]
            + rng.normal(0, effects.leniency, n_annotators)[places.annotator]
            + rng.normal(0, (1 - effects.hs - effects.cn) ** 0.5, int(places.pair.max(initial=-1)) + 1)[places.pair]
            + effects.noise * rng.normal(size=len(places.pair))
        )
        return np.searchsorted(effects.thresholds, seen)

    return answer
