"""Label models: how probable each class of each pair is, by all its labels and by how far each annotator is right.

All but GLAD and MACE, which are crowd-kit's, are exact under renaming: rows, annotators and classes in another order
give the same numbers, bit for bit, because every sum is over numbers for which adding is exact (`round_for_sums`). EM
would make a difference in the last bit into another class.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import require
from fcpair.lazy import pd

FLOOR = 1e-10  # of an expected count and of a probability, as crowd-kit has it
LARGEST_LOG = 64.0  # of a probability that is a floor over as many labels as fit in memory
MOST_STEPS = 500
TOLERANCE = 1e-7  # of the log-likelihood for each label, between two steps


@dataclass(frozen=True)
class LabelTable:
    """Labels as numbers from 0, `(n_labels,)` each, in the order of pairs and of annotators: at most one for each pair
    and annotator; every pair, annotator and class has one.
    """

    pair: Ints
    annotator: Ints
    klass: Ints

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.pair.max()) + 1

    @cached_property
    def n_annotators(self) -> int:
        """Number of annotators."""
        return int(self.annotator.max()) + 1

    @cached_property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.klass.max()) + 1

    @cached_property
    def n_of_pair(self) -> Ints:
        """Number of labels of each pair, shape `(n_pairs,)`."""
        return np.bincount(self.pair)

    @cached_property
    def kind(self) -> Ints:
        """Number of the annotator and class of each label together, shape `(n_labels,)`."""
        return self.annotator * self.n_classes + self.klass

    def sum_by_kind(self, weights: Floats) -> Floats:
        """Sums of weights, shape `(n_classes, n_labels)`, over labels: `(n_classes, n_annotators, n_classes)`."""
        n_kinds = self.n_annotators * self.n_classes
        sums = np.array([np.bincount(self.kind, of_class, n_kinds) for of_class in weights], np.float64)
        return sums.reshape(self.n_classes, self.n_annotators, self.n_classes)


@dataclass(frozen=True)
class LabelFit:
    """A label model on labels.

    `probability` has shape `(n_pairs, n_classes)`; each row sums to 1. `log_likelihoods` has the one that each step of
    EM began with; empty for a model without steps. `converged` is None for a model that does not say.
    """

    probability: Floats
    log_likelihoods: tuple[float, ...] = ()
    converged: bool | None = None


def majority(labels: LabelTable) -> LabelFit:
    """The share of each class among the labels of a pair."""
    counts = np.bincount(labels.pair * labels.n_classes + labels.klass, minlength=labels.n_pairs * labels.n_classes)
    return LabelFit(counts.reshape(labels.n_pairs, labels.n_classes) / labels.n_of_pair[:, None])


def dawid_skene(labels: LabelTable, most_steps: int = MOST_STEPS, tolerance: float = TOLERANCE) -> LabelFit:
    """Dawid and Skene's model, DOI 10.2307/2346806: each annotator has a probability of each label for each true class.
    EM from the shares of `majority`, until a step adds less than `tolerance` to the log-likelihood for each label; not
    smoothed.
    """
    return _fit(labels, _error_matrices, most_steps, tolerance)


def one_coin(labels: LabelTable, most_steps: int = MOST_STEPS, tolerance: float = TOLERANCE) -> LabelFit:
    """Dawid and Skene's model with one number for each annotator: how probably a label of theirs is right; wrong ones
    are equally probable. Zhang, Chen, Zhou and Jordan (2016), Journal of Machine Learning Research 17(102), section 4.
    """
    return _fit(labels, _coins, most_steps, tolerance)


def _fit(
    labels: LabelTable, errors_of: Callable[[LabelTable, Floats], Floats], most_steps: int, tolerance: float
) -> LabelFit:
    probability = majority(labels).probability.T
    likelihoods: list[float] = []
    converged = False
    while not converged and len(likelihoods) < most_steps:
        exact = round_for_sums(probability, len(labels.pair))
        prior = exact.sum(axis=1) / labels.n_pairs
        errors = errors_of(labels, exact)
        n_terms = int(labels.n_of_pair.max()) + 1
        logs = round_for_sums(np.log(errors).reshape(labels.n_classes, -1), n_terms, LARGEST_LOG)
        of_prior = round_for_sums(np.log(np.maximum(prior, FLOOR)), n_terms, LARGEST_LOG)
        of_labels = logs.take(labels.kind, axis=1)
        joint = of_prior[:, None] + np.stack([np.bincount(labels.pair, of_class) for of_class in of_labels])
        peak = joint.max(axis=0)
        weights = np.exp(joint - peak)
        total = round_for_sums(weights, labels.n_classes).sum(axis=0)
        of_pair, probability = peak + np.log(total), weights / total
        likelihood = float(round_for_sums(of_pair, labels.n_pairs, float(np.abs(of_pair).max()) + 1).sum())
        converged = bool(likelihoods) and likelihood - likelihoods[-1] < tolerance * len(labels.pair)
        likelihoods.append(likelihood)
    return LabelFit(np.ascontiguousarray(probability.T), tuple(likelihoods), converged)


def _error_matrices(labels: LabelTable, probability: Floats) -> Floats:
    """Probability of each label by each annotator for each true class: `(n_classes, n_annotators, n_classes)`; 1 for a
    label that somebody never gave, which nothing asks.
    """
    counts = np.maximum(labels.sum_by_kind(probability.take(labels.pair, axis=1)), FLOOR)
    is_given = np.bincount(labels.kind, minlength=counts[0].size).reshape(counts[0].shape) > 0
    counts = np.where(is_given, counts, 0)
    return np.where(is_given, counts / np.sort(counts, axis=2).sum(axis=2, keepdims=True), 1)


def _coins(labels: LabelTable, probability: Floats) -> Floats:
    """The same where the errors of each annotator are all equally probable."""
    right = np.bincount(labels.annotator, probability[labels.klass, labels.pair]) / np.bincount(labels.annotator)
    wrong = (1 - right) / (labels.n_classes - 1)
    is_right = np.eye(labels.n_classes, dtype=bool)[:, None, :]
    return np.maximum(np.where(is_right, right[:, None], wrong[:, None]), FLOOR)


def round_for_sums(values: Floats, n_terms: int, largest: float = 1.0) -> Floats:
    """Values, none above `largest`, rounded so far that any sum of `n_terms` of them is exact, and so the same in any
    order.
    """
    bits = 52 - ceil(log2(n_terms * largest))
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, bits)), -bits))


def glad(labels: LabelTable) -> LabelFit:
    """GLAD, crowd-kit's with its defaults: each annotator has an ability and each pair a difficulty. Whitehill, Wu,
    Bergsma, Movellan and Ruvolo (2009), Advances in Neural Information Processing Systems 22, 2035-2043. It does not
    say whether it has converged.
    """
    return _fit_crowdkit(labels, "glad")


def mace(labels: LabelTable, seed: int = 0) -> LabelFit:
    """MACE, crowd-kit's, variational: each annotator either knows the class or spams. Hovy, Berg-Kirkpatrick, Vaswani
    and Hovy (2013), https://aclanthology.org/N13-1132. All its restarts would begin with the same numbers: `seed` draws
    them, once.
    """
    return _fit_crowdkit(labels, "mace", n_restarts=1, random_state=seed)


def _fit_crowdkit(labels: LabelTable, model: str, **options: int) -> LabelFit:
    """Fit a model of crowd-kit, which numbers annotators and classes as they come: by annotators' own labels here."""
    require("models", f"the label model `{model}`", "crowdkit")
    table = pd.DataFrame({"task": labels.pair, "worker": labels.annotator, "label": labels.klass})
    table = table.sort_values("task", kind="stable")
    labels_of = {who: list(zip(part["task"], part["label"], strict=True)) for who, part in table.groupby("worker")}
    place = {who: at for at, who in enumerate(sorted(labels_of, key=labels_of.__getitem__))}
    table = table.assign(worker=table["worker"].map(place)).sort_values(["worker", "task"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from crowdkit import aggregation

        probability = getattr(aggregation, model.upper())(**options).fit_predict_proba(table)
    # crowd-kit has the classes in the order of their appearance
    ordered = probability.reindex(index=range(labels.n_pairs), columns=range(labels.n_classes))
    return LabelFit(ordered.to_numpy(dtype=float))
