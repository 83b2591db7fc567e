"""Models of labels before anybody was asked: classes that are true, and annotators on a grid whose agreement is known.

With classes, whoever labels a pair sees what is true with one probability (the accuracy), else another definite class,
and is sometimes not sure. Labels of a pair are a profile: how many of each class it has. On a grid, annotator a labels
a pair (h, c) by where r_h + c_c + u_hc + s_h s_c e_hca falls between thresholds moved by a's own leniency. All parts
are normal: r, c and u have variance 1 together; s are lognormal. Where HS are in two camps, r has two values only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, sqrt

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError
from fcpair.lazy import scipy
from fcpair.param_values import check_rules
from fcpair.stages.questions import Closed
from fcpair.stages.stats.jackknife_intervals import jackknife_spread
from fcpair.stages.stats.kappa import MEANS, cohens_kappa
from fcpair.stages.stats.multi_rater import COEFFICIENTS, Coefficient
from fcpair.stages.stats.rating_counts import Overlap, Sums, dense_codes

MOST_PROFILES = 2_000
NEVER = -1e300  # the logarithm of a probability of 0, which no labels of its class multiply to 0
BISECTIONS = 60  # enough for the last bit of a double
REACHABLE = 1e-9  # how near a kappa may come to the bound that it cannot pass


@dataclass(frozen=True)
class ClassModel:
    """Classes that are true, and what people make of them: `truths` (n_truths,), the shares of the pairs of each, and
    `answers` (n_truths, n_classes), the probabilities of each answer to such a pair, independently given what is true.
    """

    truths: Floats
    answers: Floats

    @property
    def shares(self) -> Floats:
        """The expected share of each class among all labels, (n_classes,)."""
        return np.asarray(self.truths @ self.answers)

    @property
    def joint(self) -> Floats:
        """Probability of two answers on one pair, (n_classes, n_classes); symmetric, sum 1."""
        return np.asarray(self.answers.T @ (self.truths[:, None] * self.answers))

    @property
    def kappa(self) -> float:
        """Cohen's kappa of two people on endlessly many pairs; NaN where all answers are of one class."""
        return kappa_of_joint(self.joint)

    def probabilities(self, profiles: Ints) -> Floats:
        """Probability of each profile (n_profiles, n_classes) among pairs with as many labels, whose sum is 1."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.answers)
        logs = np.where(np.isfinite(logs), logs, NEVER)
        # in how many orders the labels of each profile can be given: the multinomial coefficient
        kinds, kind = dense_codes(profiles.ravel())
        factorials = np.array([float(factorial(int(count))) for count in kinds])[kind].reshape(profiles.shape)
        totals = np.array([float(factorial(int(n))) for n in profiles.sum(axis=1)])
        return np.asarray(self.truths @ (np.exp(logs @ profiles.T) * (totals / factorials.prod(axis=1))))


def kappa_of_joint(joint: Floats) -> float:
    """Cohen's kappa where two answers have the probabilities `joint` (n_classes, n_classes); NaN for one class only."""
    by_chance = float(joint.sum(axis=0) @ joint.sum(axis=1))
    return (float(np.trace(joint)) - by_chance) / (1 - by_chance) if by_chance < 1 - 1e-12 else np.nan


def fit_class_model(question: Closed, prevalence: float, not_sure: float, kappa: float) -> ClassModel:
    """Fit the model in which so many labels are positive and not sure, and two people agree as far as `kappa`.

    `prevalence` is the share of the labels that are positive, above 0, and below 1 together with `not_sure`. Answers of
    a kind are alike in their shares. Raises InputError, with what can be reached, where the shares leave nothing
    negative or positive, a positive or a negative answer is missing, or kappa is out of reach.
    """
    lowest, highest = kappa_range(question, prevalence, not_sure)
    if not lowest - REACHABLE <= kappa <= highest + REACHABLE:
        raise InputError(
            f"kappa is {kappa:g}; with {prevalence:g} of the labels positive and {not_sure:g} not sure it can be from "
            f"{max(lowest, 0.0):.3f} to {highest:.3f}"
        )
    definite = prevalence / (1 - not_sure)
    low, high = _least_accuracy(question, definite), 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _model(question, definite, not_sure, middle).kappa < kappa else (low, middle)
    return _model(question, definite, not_sure, high)


def kappa_range(question: Closed, prevalence: float, not_sure: float) -> tuple[float, float]:
    """The least and the greatest kappa of labels with these shares; raises InputError as `fit_class_model` does."""
    _check_shares(question, prevalence, not_sure)
    definite = prevalence / (1 - not_sure)
    lowest, highest = (
        _model(question, definite, not_sure, accuracy).kappa for accuracy in (_least_accuracy(question, definite), 1.0)
    )
    return lowest, highest


def class_model_at(question: Closed, positive: float, not_sure: float, accuracy: float) -> ClassModel:
    """The model in which a share `positive` of the pairs is truly positive, and people see that with `accuracy`; raises
    InputError as `fit_class_model` does for such shares.
    """
    _check_shares(question, positive, not_sure)
    return _truths_model(question, positive, not_sure, accuracy)


def _check_shares(question: Closed, prevalence: float, not_sure: float) -> None:
    are_definite = len(question.definite) == len(question.codes)
    check_rules(
        (
            not 0 < prevalence < 1,
            f"prevalence is {prevalence:g}; expected a share between 0 and 1: where all labels are alike, "
            "agreement by chance is complete and no coefficient is defined",
        ),
        (
            not 0 <= not_sure < 1 - prevalence,
            f"not_sure is {not_sure:g}; expected 0 or more, and with the prevalence less than 1",
        ),
        (
            not_sure > 0 and are_definite,
            f"not_sure is {not_sure:g}, but all answers of this question are definite; omit it",
        ),
        (
            not question.positive or set(question.definite) <= set(question.positive),
            "the question has no positive, or no negative answer, so it has no prevalence",
        ),
    )


def _least_accuracy(question: Closed, definite: float) -> float:
    """The accuracy below which no pairs at all could have so many definite labels that are positive."""
    n, n_positive = len(question.definite), len(question.positive)
    by_chance = (n_positive - 1) / (n - 1)
    return max((definite - by_chance) / (1 - by_chance), 1 - definite * (n - 1) / n_positive, 1 / n)


def _model(question: Closed, definite: float, not_sure: float, accuracy: float) -> ClassModel:
    """The model at an accuracy, where `definite` of the definite labels are positive."""
    n, n_positive = len(question.definite), len(question.positive)
    miss = (1 - accuracy) / (n - 1)
    of_positive, of_negative = accuracy + (n_positive - 1) * miss, n_positive * miss
    gap = of_positive - of_negative
    share = float(np.clip((definite - of_negative) / gap, 0, 1)) if gap > 0 else definite  # clipped: rounding
    return _truths_model(question, share, not_sure, accuracy)


def _truths_model(question: Closed, positive: float, not_sure: float, accuracy: float) -> ClassModel:
    """The model at an accuracy, where a share `positive` of the pairs is truly positive."""
    codes, sure = list(question.codes), list(question.definite)
    is_positive = np.array([code in question.positive for code in sure])
    n, n_positive = len(sure), int(is_positive.sum())
    miss = (1 - accuracy) / (n - 1)
    truths = np.where(is_positive, positive / n_positive, (1 - positive) / (n - n_positive))
    answers = np.zeros((n, len(codes)))
    seen = np.full((n, n), miss) + np.eye(n) * (accuracy - miss)
    answers[:, [codes.index(code) for code in sure]] = seen * (1 - not_sure)
    unsure = [at for at, code in enumerate(codes) if code not in question.definite]
    answers[:, unsure] = not_sure / max(len(unsure), 1)
    return ClassModel(truths, answers)


def all_profiles(n_labels: int, n_classes: int) -> Ints:
    """Each profile of so many labels once, (n_profiles, n_classes), in a fixed order; InputError for too many."""
    n_profiles = factorial(n_labels + n_classes - 1) // (factorial(n_labels) * factorial(n_classes - 1))
    if n_profiles > MOST_PROFILES:
        raise InputError(
            f"{n_labels} labels of {n_classes} classes can fall in {n_profiles:,} ways; plan with at most "
            f"{MOST_PROFILES:,}: fewer labels a pair, or bins of the classes"
        )
    rows = np.array(list(combinations_with_replacement(range(n_classes), n_labels)), dtype=np.int64)
    return np.stack([(rows == klass).sum(axis=1) for klass in range(n_classes)], axis=1)


# With them and `NOISE` the classes have shares near 0.78, 0.07 and 0.15, and alpha is near 0.4, as in FC-CONAN.
THRESHOLDS = (0.9, 1.2)

NOISE = 0.5
MANY = 1e12
LEAST_NOISE, MOST_NOISE = 1e-2, 1e2  # in standard deviations of what pairs are like
NOISE_BISECTIONS = 24
LENIENCY_NODES, PAIR_NODES, HARDNESS_NODES = 31, 61, 15
N_ENDLESS, TEXTS_EACH = 30, 200  # studies with endlessly many pairs of each text, and their HS and CN
TABLE, MOST_SPREAD = 201, 6.0  # of what an HS and its CN add: how many values, and how far in standard deviations


@dataclass(frozen=True)
class Effects:
    """The variance that HS and CN have in what a pair is like, that of log s of each, and the sd of leniency; with
    `camp`, the share of the HS in one of two camps. `thresholds` part the classes.
    """

    hs: float = 0.0
    cn: float = 0.0
    hs_hardness: float = 0.0
    cn_hardness: float = 0.0
    leniency: float = 0.0
    camp: float | None = None
    thresholds: tuple[float, ...] = THRESHOLDS
    noise: float = NOISE

    def __bool__(self) -> bool:
        return any((self.hs, self.cn, self.leniency))

    @property
    def camps(self) -> tuple[Floats, Floats]:
        """Effect of an HS of each camp, and the probability of that camp."""
        share = self.camp or 0.5
        ends = np.array([-((share / (1 - share)) ** 0.5), ((1 - share) / share) ** 0.5])
        return ends * self.hs**0.5, np.array([1 - share, share])

    def of_hs(self, rng: np.random.Generator, n: int) -> Floats:
        """Effect of each of `n` HS on its pairs."""
        return rng.normal(0, self.hs**0.5, n) if self.camp is None else rng.choice(self.camps[0], n, p=self.camps[1])

    def of_pair(self) -> tuple[Floats, Floats]:
        """Distribution of a new pair's effect, as nodes and weights."""
        nodes, weights = _normal(PAIR_NODES)
        if self.camp is None:
            return nodes, weights
        ends, shares = self.camps
        return (ends[:, None] + (1 - self.hs) ** 0.5 * nodes).ravel(), np.outer(shares, weights).ravel()


def joint(effects: Effects, leniency: Floats) -> Floats:
    """Probability of two answers on a new pair by annotators of this leniency: (n, n, n_classes, n_classes)."""
    z, z_weight = effects.of_pair()
    hardness = effects.hs_hardness + effects.cn_hardness
    log_s, s_weight = _normal(HARDNESS_NODES if hardness else 1)
    log_s = log_s * hardness**0.5
    what, hard = (grid.ravel() for grid in np.meshgrid(z, log_s, indexing="ij"))
    thresholds = np.array(effects.thresholds)[:, None, None]
    below = scipy.special.ndtr((thresholds - leniency[:, None] - what) / (effects.noise * np.exp(hard)))
    ends = np.concatenate([np.zeros_like(below[:1]), below, np.ones_like(below[:1])])
    share = np.moveaxis(np.diff(ends, axis=0), 0, -1)  # annotator, node, class
    return np.asarray(np.einsum("aqi,bqj,q->abij", share, share, np.outer(z_weight, s_weight).ravel(), optimize=True))


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
    sums, kappas = _sums_of(np.einsum("abij,ab->ij", found, weights)), cohens_kappa(found * MANY, "none")
    figures = {coefficient.name: float(coefficient.compute(sums)) for coefficient in COEFFICIENTS}
    return figures | dict.fromkeys(MEANS, float((kappas * weights).sum())), kappas


def _sums_of(both: Floats) -> Sums:
    """The sums over endlessly many pairs, on which two answers are `both` so probable, (..., n_classes, n_classes)."""
    many = np.full(both.shape[:-2], MANY)
    same, matrix, marginal = many * np.trace(both, axis1=-2, axis2=-1), 2 * MANY * both, MANY * both.sum(axis=-1)

    def products(values: Floats) -> Floats:
        return np.asarray(np.einsum("...i,...ij,...j->...", values, matrix, values))

    return Sums(many, same, 2 * same, marginal, 2 * marginal, products)


def fit_effects(effects: Effects, class_shares: Floats, kappa: float) -> Effects:
    """The effects with the noise and the thresholds at which labels have these shares, `(n_classes,)`, and two people
    this kappa. Raises InputError where HS and CN explain more than all, or agreement cannot be as high.
    """
    if effects.hs + effects.cn >= 1:
        raise InputError(
            f"HS and CN explain {effects.hs:g} and {effects.cn:g} of what pairs are like; expected less than 1 together"
        )
    low, high = LEAST_NOISE, MOST_NOISE
    if kappa > (highest := new_annotators(_with_shares(effects, class_shares, low))[MEANS[0]]):
        raise InputError(f"kappa is {kappa:g}; with annotators this different it is {highest:.3f} at most")
    for _ in range(NOISE_BISECTIONS):
        middle = sqrt(low * high)
        agreement = new_annotators(_with_shares(effects, class_shares, middle))[MEANS[0]]
        low, high = (middle, high) if agreement > kappa else (low, middle)
    return _with_shares(effects, class_shares, high)


def _with_shares(effects: Effects, class_shares: Floats, noise: float) -> Effects:
    spread = sqrt(1 + noise**2 + effects.leniency**2)
    thresholds = scipy.special.ndtri(np.minimum(np.cumsum(class_shares)[:-1], 1.0)) * spread
    return replace(effects, noise=noise, thresholds=tuple(thresholds.tolist()))


def class_model(effects: Effects) -> ClassModel:
    """The model as classes that are true, one for each node of what pairs are like; annotators are drawn anew."""
    nodes, weights = _normal(PAIR_NODES)
    return ClassModel(weights, _answers_to(effects, nodes))


def _answers_to(effects: Effects, what: Floats) -> Floats:
    """The probabilities of each answer to pairs that are like this, (..., n_classes); leniency is drawn for each."""
    spread = sqrt(effects.noise**2 + effects.leniency**2)
    below = scipy.special.ndtr((np.array(effects.thresholds) - what[..., None]) / spread)
    return np.diff(below, axis=-1, prepend=0.0, append=1.0)


def explained_variances(effects: Effects, coefficient: Coefficient) -> tuple[float, float]:
    """The variance that an HS and a CN each leave in a coefficient, however many pairs they have, times their number:
    the mean of V_HS and of V_CN in drawn studies with endlessly many pairs of each.
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
        without = ((text.sum(axis=0) - text) / (TEXTS_EACH * (TEXTS_EACH - 1)) for text in of_texts)
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
