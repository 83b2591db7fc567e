"""Label models: how probable each class of each pair is, by all its labels and by how far each annotator is right.

A model never decides: nothing here is an adjudication, and no tier rests on it. All but GLAD and MACE, crowd-kit's, are
exact under renaming: rows, annotators and classes in another order give the same numbers, bit for bit, because every
sum is over numbers for which adding is exact (`round_for_sums`). EM would make another class of a last bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Any, NamedTuple

import numpy as np

from fcpair.arrays import Bools, Floats, Ints
from fcpair.errors import EXPECTED, InputError, require, suggest_name
from fcpair.lazy import pd
from fcpair.notebook import Result, frame_of
from fcpair.records import Figure
from fcpair.stages.questions import Closed
from fcpair.stages.stats.intervals import wilson_intervals

FLOOR = 1e-10  # of an expected count and of a probability, as crowd-kit has it
LARGEST_LOG = 64.0  # of a probability that is a floor over as many labels as fit in memory
MOST_STEPS = 500
TOLERANCE = 1e-7  # of the log-likelihood for each label, between two steps


class LabelTable:
    """Labels as numbers from 0, `(n_labels,)` each, in the order of pairs and of annotators: at most one for each pair
    and annotator; every pair, annotator and class has one.

    `n_of_pair`, `(n_pairs,)`, are the labels of each pair; `kind`, `(n_labels,)`, numbers annotator and class together.
    """

    def __init__(self, pair: Ints, annotator: Ints, klass: Ints) -> None:
        self.pair, self.annotator, self.klass = pair, annotator, klass
        self.n_pairs, self.n_annotators, self.n_classes = (int(of.max()) + 1 for of in (pair, annotator, klass))
        self.n_of_pair, self.kind = np.bincount(pair), annotator * self.n_classes + klass

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
    EM from the shares of `majority`, until a step adds less than `tolerance` to the log-likelihood for each label.
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
        n_terms = int(labels.n_of_pair.max()) + 1
        logs = round_for_sums(np.log(errors_of(labels, exact)).reshape(labels.n_classes, -1), n_terms, LARGEST_LOG)
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
    """Probability of each label (1 if never given) by each annotator for each true class: (class, annotator, label)."""
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
    """Values, none above `largest`, rounded so far that any sum of `n_terms` of them is exact, in any order."""
    bits = 52 - ceil(log2(n_terms * largest))
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, bits)), -bits))


def fit_crowdkit(labels: LabelTable, model: str, seed: int = 0) -> LabelFit:
    """Fit a model of crowd-kit, which does not say whether it has converged; MissingExtraError without crowd-kit.

    `glad`: each annotator has an ability and each pair a difficulty. Whitehill, Wu, Bergsma, Movellan and Ruvolo
    (2009), Advances in Neural Information Processing Systems 22, 2035-2043. `mace`, variational: each annotator either
    knows the class or spams. Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), https://aclanthology.org/N13-1132. All
    its restarts would begin with the same numbers, so there is one: `seed` draws them.
    """
    require("models", f"the label model `{model}`", "crowdkit")
    options = {"n_restarts": 1, "random_state": seed} if model == MACE else {}
    # It numbers annotators and classes as they come: by annotators' own labels here.
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


MAJORITY, ONE_COIN, DAWID_SKENE, GLAD, MACE = "majority", "one-coin", "dawid-skene", "glad", "mace"
LABEL_MODELS = (MAJORITY, ONE_COIN, DAWID_SKENE, GLAD, MACE)
USUAL_MODELS = (MAJORITY, ONE_COIN, DAWID_SKENE)
# Expected labels on pairs of a true class from which a person's errors on it are shown. With fewer, and two labels
# a pair, the share of right labels that Dawid-Skene estimates is off by 0.2 to 0.4 (root mean square, by `python -m
# benchmarks.label_models`), which is as far as people are apart.
LEAST_LABELS = 20
LEAST_PEOPLE = 3
EQUAL = 1e-9  # probabilities that differ by less are the same
PAIR_COLUMNS = ("model", "pair", "n_labels", "label", "tied", "doubt")
PERSON_COLUMNS = ("model", "person", "true", "n", "label", "expected", "share", "note")
CHECK_COLUMNS = ("model", "against", "value", "low", "high", "n", "undefined", "note")


class Reference(NamedTuple):
    """Labels to compare models with, `(n,)` each: whether the label `code` of the pair `cell_id` holds or is wrong."""

    name: str
    cell_id: Ints
    code: Ints
    holds: Bools


@dataclass(frozen=True)
class PersonErrors:
    """A person's labels of pairs of each true class, as a model estimates them.

    `expected[k][l]` is the expected number of their labels `l` on pairs of the true class `k`, of the `n_shared` labels
    on pairs that somebody else labelled too. `shares[k]` has their shares; None for fewer than LEAST_LABELS.
    """

    person: str
    n_labels: int
    n_shared: int
    expected: tuple[tuple[float, ...], ...]

    @property
    def shares(self) -> tuple[tuple[float, ...] | None, ...]:
        """Probability of each label for each true class; None where too few labels stand behind it."""
        totals = [sum(row) for row in self.expected]
        rows = zip(self.expected, totals, [round(total, 6) >= LEAST_LABELS for total in totals], strict=True)
        return tuple(tuple(n / total for n in row) if enough else None for row, total, enough in rows)


@dataclass(frozen=True, repr=False)
class LabelModel(Result):
    """One model: `probability`, `(n_pairs, n_classes)`, of each class of each of `pairs`. `steps` of EM, and whether it
    has `converged`; None where the model does not say. `checks` has the shares of pairs on which people say the same.
    """

    model: str
    classes: tuple[str, ...]
    pairs: tuple[int, ...]
    n_labels: Ints
    probability: Floats
    steps: int | None
    converged: bool | None
    people: tuple[PersonErrors, ...]
    checks: tuple[Figure, ...]

    @property
    def doubt(self) -> Floats:
        """Probability that the most probable class of each pair is not the true one, `(n_pairs,)`."""
        return doubt_of(self.probability)

    @property
    def leads(self) -> Bools:
        """Return whether each class is the most probable one of the pair, or tied with it: `(n_pairs, n_classes)`."""
        return leads_of(self.probability)

    @property
    def n_tied(self) -> int:
        """Number of pairs on which two classes or more are equally probable, and none more so."""
        return int((self.leads.sum(axis=1) > 1).sum())

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each pair: `model`, `pair`, `n_labels`, `label` (empty: a tie), `tied` (the classes that are
        equally probable), `doubt`, and for each class `x` its probability `p_x`.
        """
        columns = (*PAIR_COLUMNS, *(f"p_{name}" for name in self.classes))
        values = zip(self.pairs, self.n_labels.tolist(), self.leads, self.doubt, self.probability, strict=True)
        for pair, n, leads, doubt, probability in values:
            leaders = [name for name, leading in zip(self.classes, leads, strict=True) if leading]
            label, tied = (leaders[0], "") if len(leaders) == 1 else ("", ", ".join(leaders))
            of_pair = (self.model, pair, n, label, tied, float(doubt), *probability.tolist())
            yield dict(zip(columns, of_pair, strict=True))

    def person_rows(self) -> Iterator[dict[str, Any]]:
        """Rows of `Aggregation.people`."""
        for person in self.people:
            for true, expected, shares in zip(self.classes, person.expected, person.shares, strict=True):
                n, note = sum(expected), "" if shares else f"too few labels: {LEAST_LABELS} are needed"
                for label, of_label, share in zip(
                    self.classes, expected, shares or [None] * len(expected), strict=True
                ):
                    cells = (self.model, person.person, true, n, label, of_label, share, note)
                    yield dict(zip(PERSON_COLUMNS, cells, strict=True))

    def check_rows(self) -> Iterator[dict[str, Any]]:
        """Rows of `Aggregation.checks`."""
        for figure in self.checks:
            values = {key: getattr(figure, key) for key in CHECK_COLUMNS[2:]}
            yield {"model": self.model, "against": figure.name, **values}

    def _summary(self) -> str:
        return f"{self.model} on {len(self.pairs):,} pairs, {self.n_tied:,} tied"


@dataclass(frozen=True, repr=False)
class Aggregation(Result):
    """Estimates of label models from the labels of one round; none of them is a decision.

    Of `n_pairs` pairs with definite labels, `n_single` have one. `n_left_out` pairs have only others, and are in no
    model. `cautions` say what the models cannot know from these labels.
    """

    classes: tuple[str, ...]
    n_people: int
    n_labels: int
    n_pairs: int
    n_single: int
    n_left_out: int
    models: tuple[LabelModel, ...]
    cautions: tuple[str, ...]

    def __getitem__(self, model: str) -> LabelModel:
        """The model of this name."""
        return next(fitted for fitted in self.models if fitted.model == model)

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of all models."""
        return (row for model in self.models for row in model.rows())

    def people(self) -> pd.DataFrame:
        """A row for each person, true class and label of each model: `model`, `person`, `true`, `n` (their expected
        labels on pairs of that class), `label`, `expected` (of these), `share`, and in `note` why there is none.
        """
        return frame_of((row for model in self.models for row in model.person_rows()), PERSON_COLUMNS)

    def checks(self) -> pd.DataFrame:
        """A row for each model and what it is compared with; it is right on the share `value` of the `n` pairs:
        `model`, `against`, `value`, `low`, `high`, `n`, `undefined`, `note`.
        """
        return frame_of((row for model in self.models for row in model.check_rows()), CHECK_COLUMNS)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        counts = {name: getattr(self, name) for name in ("n_people", "n_labels", "n_pairs", "n_single", "n_left_out")}
        models = []
        for model in self.models:
            facts = {"model": model.model, "steps": model.steps, "converged": model.converged, "tied": model.n_tied}
            rows = {"checks": model.check_rows(), "people": model.person_rows(), "pairs": model.rows()}
            models.append(facts | {name: list(of) for name, of in rows.items()})
        return {"classes": list(self.classes), **counts, "cautions": list(self.cautions), "models": models}

    def _summary(self) -> str:
        return (
            f"{', '.join(fitted.model for fitted in self.models)} on {self.n_labels:,} labels of {self.n_pairs:,} pairs"
        )


class LabelData(NamedTuple):
    """Definite labels for models: a table, with what its numbers stand for; classes that nobody gave are not there."""

    table: LabelTable
    cell_ids: Ints
    annotators: Ints
    codes: Ints


def check_models(models: Sequence[str]) -> tuple[str, ...]:
    """The names of models, each once, and the usual ones if there are none; raises InputError for an unknown one."""
    for name in models:
        if name not in LABEL_MODELS:
            raise InputError(f"there is no label model `{name}`; {suggest_name(name, LABEL_MODELS, EXPECTED)}")
    return tuple(dict.fromkeys(models)) or USUAL_MODELS


def prepare_labels(cell_id: Ints, annotator: Ints, code: Ints, question: Closed) -> LabelData:
    """Prepare labels, `(n_labels,)` each and in any order, for models; indefinite ones are left out. Raises InputError
    where no model says anything: without definite labels, with those of one annotator or class.
    """
    is_definite = np.isin(code, question.definite)
    order = np.lexsort((annotator[is_definite], cell_id[is_definite]))
    columns = [np.unique(column[is_definite][order], return_inverse=True) for column in (cell_id, annotator, code)]
    (cell_ids, pair), (annotators, by), (codes, klass) = columns
    if len(annotators) < 2:
        found = "the definite labels are of one annotator" if len(annotators) else "there are no definite labels"
        raise InputError(f"{found}; a label model compares annotators, and needs two at least")
    if len(codes) < 2:
        raise InputError(f"all definite labels are `{question[int(codes[0])].name}`, so there is nothing to model")
    table = LabelTable(pair.astype(np.int64), by.astype(np.int64), klass.astype(np.int64))
    if not (table.n_of_pair > 1).any():
        raise InputError("no pair has two definite labels; a label model compares what annotators say of the same pair")
    return LabelData(table, cell_ids, annotators, codes)


def compute_aggregation(
    labels: LabelData,
    question: Closed,
    people: Sequence[str],
    pairs: Sequence[int],
    references: Sequence[Reference] = (),
    *,
    models: Sequence[str] = USUAL_MODELS,
    seed: int = 0,
    n_left_out: int = 0,
) -> Aggregation:
    """Fit `models` of LABEL_MODELS to labels, and compare them with `references`, what people have decided. `people`
    are the names of `labels.annotators`, `pairs` the numbers of `labels.cell_ids`; `n_left_out` pairs are in none.
    """
    table = labels.table
    classes = tuple(question[code].name for code in labels.codes.tolist())
    fitted, is_shared = [], table.n_of_pair[table.pair] > 1  # somebody else labelled the pair, too
    own_fits = {MAJORITY: majority, ONE_COIN: one_coin, DAWID_SKENE: dawid_skene}
    for model in models:
        fit = own_fits[model](table) if model in own_fits else fit_crowdkit(table, model, seed)
        expected = table.sum_by_kind(fit.probability.T.take(table.pair, axis=1) * is_shared)
        n_labels, n_shared = np.bincount(table.annotator), np.bincount(table.annotator, is_shared).astype(np.int64)
        rows = zip(people, n_labels.tolist(), n_shared.tolist(), np.moveaxis(expected, 0, 1).tolist(), strict=True)
        fitted.append(
            LabelModel(
                model,
                classes,
                tuple(pairs),
                table.n_of_pair,
                fit.probability,
                len(fit.log_likelihoods) or None,
                fit.converged,
                tuple(PersonErrors(name, n, shared, tuple(map(tuple, matrix))) for name, n, shared, matrix in rows),
                tuple(_check(labels, fit.probability, reference) for reference in references),
            )
        )
    sizes = (len(people), len(table.pair), table.n_pairs, int((table.n_of_pair == 1).sum()), n_left_out)
    return Aggregation(classes, *sizes, tuple(fitted), tuple(_cautions(table, people, fitted)))


def doubt_of(probability: Floats) -> Floats:
    """Probability that the likeliest class of each pair is not the true one, `(n_pairs,)`, to ten decimals."""
    return np.asarray(np.round(np.maximum(1 - probability.max(axis=1), 0), 10))


def leads_of(probability: Floats) -> Bools:
    """Return whether each class is the most probable one of the pair, or tied with it: `(n_pairs, n_classes)`."""
    return np.asarray(probability >= probability.max(axis=1, keepdims=True) - EQUAL)


def _check(labels: LabelData, probability: Floats, reference: Reference) -> Figure:
    """Share of the pairs of a reference on which a model's class is the one that holds, or is not the wrong one."""
    is_modelled = np.isin(reference.cell_id, labels.cell_ids)
    row = np.searchsorted(labels.cell_ids, reference.cell_id[is_modelled])
    leads = leads_of(probability)[row]
    is_tied = leads.sum(axis=1) > 1
    is_same = (leads & (labels.codes == reference.code[is_modelled][:, None])).any(axis=1)
    n_right = int(((is_same == reference.holds[is_modelled]) & ~is_tied).sum())
    n, n_tied = len(row), int(is_tied.sum())
    if n == 0:
        return Figure(reference.name, None, 0, undefined="there are none on these pairs")
    low, high = wilson_intervals(n_right, n)
    note = f"{n_tied:,} tied, which are not right" if n_tied else ""
    return Figure(reference.name, n_right / n, n, float(low), float(high), note=note)


def _cautions(labels: LabelTable, people: Sequence[str], models: Sequence[LabelModel]) -> Iterator[str]:
    shared = np.bincount(labels.annotator, labels.n_of_pair[labels.pair] > 1)
    if (shared > 0).sum() < LEAST_PEOPLE:
        yield f"fewer than {LEAST_PEOPLE} people share pairs, and so nothing tells which of them is right"
    if alone := [name for name, n in zip(people, shared.tolist(), strict=True) if not n]:
        yield f"nothing is known about {', '.join(alone)}, who share no pair with anybody"
    for model in models:
        if model.converged is False:
            yield f"{model.model} has not converged in {model.steps:,} steps"
