"""A model of annotators on a grid whose agreement is known: studies drawn from it, and its true figures.

Annotator a labels a pair (h, c) by where r_h + c_c + u_hc + s_h s_c e_hca falls between two thresholds, both moved by
a's own leniency. All parts are normal: r, c and u have variance 1 together; s are lognormal, so that some HS and some
CNs are harder than others. Where HS are in two camps, r has two values only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import sqrt

import numpy as np
import numpy.typing as npt

from fcpair.errors import InputError
from fcpair.stages.stats.kappa import cohens_kappa
from fcpair.stages.stats.label_profiles import ClassModel, all_profiles, profile_probabilities
from fcpair.stages.stats.multi_rater import COEFFICIENTS, Coefficient
from fcpair.stages.stats.predicted_widths import SideShares, influence_of
from fcpair.stages.stats.rating_counts import Overlap, Sums

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

THRESHOLDS = (0.9, 1.2)
"""With them and `NOISE` the classes have shares near 0.78, 0.07 and 0.15, and alpha is near 0.4, as in FC-CONAN."""

NOISE = 0.5
MANY = 1e12
LEAST_NOISE, MOST_NOISE = 1e-2, 1e2  # in standard deviations of what pairs are like
NOISE_BISECTIONS = 24
TEXT_NODES, PAIR_NODES, HARDNESS_NODES = 31, 61, 15
MEANS = ("mean kappa", "mean kappa weighted by n")


@dataclass(frozen=True)
class Shape:
    """A grid: its sides, its annotators, and the shares of its pairs that get two and three labels.

    Those pairs fall on any HS alike; with `focus` the h-th HS is the likelier by h to the power of minus `focus`, and
    with `few` only on so many HS.
    """

    n_hs: int
    n_cn: int
    n_annotators: int
    two: float
    three: float
    focus: float = 0.0
    few: int | None = None

    def overlapped(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """The HS and the CN of the pairs with several labels, in random order (Efraimidis and Spirakis 2006)."""
        n = self.n_two + self.n_three
        n_hs = self.n_hs if self.few is None else self.few
        if not self.focus:
            return np.divmod(rng.permutation(n_hs * self.n_cn)[:n], self.n_cn)
        key = rng.exponential(size=(n_hs, self.n_cn)) * np.arange(1.0, n_hs + 1)[:, None] ** self.focus
        return np.divmod(np.argsort(key, axis=None)[:n], self.n_cn)

    @property
    def n_two(self) -> int:
        """How many pairs have two labels."""
        return round(self.two * self.n_hs * self.n_cn)

    @property
    def n_three(self) -> int:
        """How many pairs have three labels."""
        return round(self.three * self.n_hs * self.n_cn)


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


def draw(shape: Shape, effects: Effects, rng: np.random.Generator) -> tuple[Overlap, Floats]:
    """The labels of one study, as they fall on its overlapping pairs, and the leniency of its annotators."""
    hs, cn = shape.overlapped(rng)
    latent = effects.of_hs(rng, shape.n_hs)[hs] + rng.normal(0, effects.cn**0.5, shape.n_cn)[cn]
    latent += rng.normal(0, (1 - effects.hs - effects.cn) ** 0.5, len(hs))
    log_s = rng.normal(0, effects.hs_hardness**0.5, shape.n_hs)[hs]
    log_s += rng.normal(0, effects.cn_hardness**0.5, shape.n_cn)[cn]
    leniency = rng.normal(0, effects.leniency, shape.n_annotators)
    pair = np.repeat(np.arange(len(hs)), np.repeat([2, 3], [shape.n_two, shape.n_three]))
    nth = np.concatenate([np.tile([0, 1], shape.n_two), np.tile([0, 1, 2], shape.n_three)])
    annotator = np.argsort(rng.random((len(hs), shape.n_annotators)), axis=1)[pair, nth]
    seen = latent[pair] + effects.noise * np.exp(log_s)[pair] * rng.normal(size=len(pair)) + leniency[annotator]
    klass = np.searchsorted(effects.thresholds, seen)
    return Overlap(len(effects.thresholds) + 1, pair, hs[pair], cn[pair], annotator, klass), leniency


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


def same_annotators(effects: Effects, leniency: Floats) -> tuple[dict[str, float], Floats]:
    """The figures on endlessly many HS and CN with these annotators; and the kappa of each two, (n, n)."""
    found = joint(effects, leniency)
    others = ~np.eye(len(leniency), dtype=bool)
    return _figures(found, others / others.sum())


def new_annotators(effects: Effects) -> dict[str, float]:
    """The figures on endlessly many HS and CN with endlessly many annotators."""
    nodes, weights = _normal(TEXT_NODES if effects.leniency else 1)
    return _figures(joint(effects, nodes * effects.leniency), np.outer(weights, weights))[0]


def _figures(found: Floats, weights: Floats) -> tuple[dict[str, float], Floats]:
    """The figures where annotators a and b share the `weights` (n, n) of the pairs, with joint answers `found`."""
    both = np.einsum("abij,ab->ij", found, weights)
    marginal = both.sum(axis=1)
    many = np.array(MANY)
    same, matrix = many * np.trace(both), 2 * many * both
    sums = Sums(many, same, 2 * same, many * marginal, 2 * many * marginal, lambda values: values @ matrix @ values)
    kappas = cohens_kappa(found * MANY, "none")
    mean = float((kappas * weights).sum())
    return {one.name: float(one.compute(sums)) for one in COEFFICIENTS} | dict.fromkeys(MEANS, mean), kappas


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


def side_shares(effects: Effects, coefficient: Coefficient, pairs: Mapping[int, int]) -> SideShares:
    """How much of what a pair adds to a coefficient its HS and its CN explain; as many `pairs` as given by labels.

    Each is the variance of the mean move over HS (or CN) by the variance of moves; HS and CN are alike in hardness.
    """
    profiles = np.concatenate([all_profiles(m, len(effects.thresholds) + 1) for m in sorted(pairs)])
    n = sum(pairs.values())
    part = np.array([pairs[m] / n for m in profiles.sum(axis=1).tolist()])
    (of_hs, weights), (of_cn, _) = (_given_text(effects, variance, profiles) for variance in (effects.hs, effects.cn))
    influence = influence_of(coefficient, profiles, (weights @ of_hs) * part, n)
    mean = influence.probabilities @ influence.moves
    between = (float(weights @ ((of_text * part) @ influence.moves - mean) ** 2) for of_text in (of_hs, of_cn))
    hs, cn = (each / influence.variance if influence.variance else 0.0 for each in between)
    return SideShares(hs, cn)


def class_model(effects: Effects) -> ClassModel:
    """The model as classes that are true, of which there is one for each node of what pairs are like.

    Those who label a pair are annotators drawn anew; hardness is left out.
    """
    nodes, weights = _normal(PAIR_NODES)
    return ClassModel(weights, _answers_to(effects, nodes))


def _answers_to(effects: Effects, what: Floats) -> Floats:
    """The probabilities of each answer to pairs that are like this, (..., n_classes); leniency is drawn for each."""
    from scipy.special import ndtr

    spread = sqrt(effects.noise**2 + effects.leniency**2)
    below = ndtr((np.array(effects.thresholds) - what[..., None]) / spread)
    ends = np.concatenate([np.zeros_like(below[..., :1]), below, np.ones_like(below[..., :1])], axis=-1)
    return np.asarray(np.diff(ends, axis=-1))


def _given_text(effects: Effects, variance: float, profiles: Ints) -> tuple[Floats, Floats]:
    """Probabilities of profiles on pairs of each text (n_texts, n_profiles), and weights of texts.

    What a text adds to its pairs has this `variance`.
    """
    text, weights = _normal(TEXT_NODES)
    rest, rest_weights = _normal(PAIR_NODES)
    share = _answers_to(effects, sqrt(variance) * text[:, None] + sqrt(1 - variance) * rest)
    probabilities = profile_probabilities(share.reshape(-1, share.shape[-1]), profiles)
    return np.einsum("trp,r->tp", probabilities.reshape(*share.shape[:2], -1), rest_weights), weights
