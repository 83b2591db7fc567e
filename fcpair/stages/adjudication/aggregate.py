"""Several label models on the same labels. A model never decides: nothing here is an adjudication, no tier rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fcpair.arrays import Bools, Floats, Ints
from fcpair.errors import EXPECTED, InputError, suggest_name
from fcpair.lazy import pd
from fcpair.notebook import Result, frame_of
from fcpair.records import Figure
from fcpair.stages.adjudication import label_models
from fcpair.stages.adjudication.label_models import LabelFit, LabelTable
from fcpair.stages.questions import Closed
from fcpair.stages.stats.intervals import wilson_intervals

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
    on pairs that somebody else labelled too. `shares[k]` has the shares of these; None where they are fewer than
    LEAST_LABELS.
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
    """One model: `probability`, `(n_pairs, n_classes)`, of each class of each pair, and `n_labels` of each of `pairs`.
    `steps` of EM, and whether it has `converged`; None where the model does not say. `checks` has the shares of pairs
    on which people say the same.
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
        return _leading(self.probability)

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
                for at, label in enumerate(self.classes):
                    cells = (
                        self.model,
                        person.person,
                        true,
                        n,
                        label,
                        expected[at],
                        shares[at] if shares else None,
                        note,
                    )
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
        return next(one for one in self.models if one.model == model)

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
        return f"{', '.join(one.model for one in self.models)} on {self.n_labels:,} labels of {self.n_pairs:,} pairs"


class LabelData(NamedTuple):
    """Definite labels for models: a table, with what its numbers stand for; classes that nobody gave are not there."""

    table: LabelTable
    cell_ids: Ints
    annotators: Ints
    codes: Ints


def check_models(models: Sequence[str]) -> tuple[str, ...]:
    """The names of models, each once, and the usual ones where there are none; raises InputError for an unknown one."""
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


def fit_model(model: str, labels: LabelTable, seed: int = 0) -> LabelFit:
    """Fit one of LABEL_MODELS; raises MissingExtraError for those of crowd-kit, where it is not installed."""
    fits: dict[str, Callable[[LabelTable], LabelFit]] = {
        MAJORITY: label_models.majority,
        ONE_COIN: label_models.one_coin,
        DAWID_SKENE: label_models.dawid_skene,
        GLAD: label_models.glad,
        MACE: partial(label_models.mace, seed=seed),
    }
    return fits[model](labels)


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
    are the names of `labels.annotators`, `pairs` the numbers of `labels.cell_ids`; `n_left_out` pairs have no definite
    label.
    """
    table = labels.table
    classes = tuple(question[code].name for code in labels.codes.tolist())
    fitted, is_shared = [], table.n_of_pair[table.pair] > 1  # somebody else labelled the pair, too
    for model in models:
        fit = fit_model(model, table, seed)
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
    """Probability that the likeliest class of each pair is not the true one, `(n_pairs,)`, to ten decimals, so that it
    can tie.
    """
    return np.asarray(np.round(np.maximum(1 - probability.max(axis=1), 0), 10))


def _leading(probability: Floats) -> Bools:
    return np.asarray(probability >= probability.max(axis=1, keepdims=True) - EQUAL)


def _check(labels: LabelData, probability: Floats, reference: Reference) -> Figure:
    """Share of the pairs of a reference on which a model's class is the one that holds, or is not the wrong one."""
    is_modelled = np.isin(reference.cell_id, labels.cell_ids)
    row = np.searchsorted(labels.cell_ids, reference.cell_id[is_modelled])
    leads = _leading(probability)[row]
    is_tied = leads.sum(axis=1) > 1
    is_same = (leads & (labels.codes == reference.code[is_modelled][:, None])).any(axis=1)
    is_right = (is_same == reference.holds[is_modelled]) & ~is_tied
    n, n_right, n_tied = len(row), int(is_right.sum()), int(is_tied.sum())
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
