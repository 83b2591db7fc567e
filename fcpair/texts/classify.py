"""Evaluation of predicted labels, several to a text: CrowdCounter's figures, scikit-learn's averages, and each label.

Cells of labels are read as one row of truths and one of predictions for each text. Every figure is made of sums over
rows, so that all draws of its interval are computed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from fcpair.arrays import Bools, Floats
from fcpair.errors import Finding, InputError, reject, suggest_name
from fcpair.files.tables.tabular import lines_of, read_cells, require_columns
from fcpair.lazy import pd
from fcpair.params import RESAMPLES
from fcpair.records import Figure
from fcpair.stages.corpus.text_identity import fold_name
from fcpair.stages.stats import intervals
from fcpair.stages.stats.rating_counts import ratio
from fcpair.texts.aliases import split_cell

T = TypeVar("T")


@dataclass(frozen=True)
class LabelTable:
    """True and predicted labels of each text, `(n_rows, n_labels)`; `n_ignored` predicted ones were left out, as was
    asked.
    """

    labels: tuple[str, ...]
    truth: Bools
    predicted: Bools
    n_ignored: int = 0


def read_label_table(
    table: pd.DataFrame,
    place: str,
    truth: Sequence[str],
    predicted: str,
    labels: Sequence[str] = (),
    ignored: Sequence[str] = (),
) -> LabelTable:
    """The labels of a table of strings, whose `line` findings name if it has one.

    A cell holds labels as `split_cell` reads them; an empty one has none. Neither capitals nor how words are joined
    tell labels apart. A text has a label if any of the columns `truth` says so. Without `labels`, they are those of the
    truth. Predicted labels in `ignored` are left out and counted. Raises InputError for a missing column; cells that
    cannot be read; labels that are not known, or duplicated in a cell.
    """
    require_columns(place, table.columns, [*truth, predicted])
    findings: list[Finding] = []

    def read_column(name: str, read: Callable[[str], list[T]]) -> list[list[T]]:
        def read_cell(cell: str) -> list[T]:
            try:
                return read(cell)
            except InputError as error:
                raise InputError(f"`{name}`: {error}") from None

        return read_cells(table[name], lines_of(table), place, read_cell, findings, [])

    cells = {name: read_column(name, split_labels) for name in dict.fromkeys([*truth, predicted])}
    first: dict[str, str] = {}  # spelling of each label that occurs
    for label in (label for name in truth for cell in cells[name] for label in cell):
        first.setdefault(fold_name(label), label)
    label_by_key: dict[str, str] = {}
    for label in labels or [first[key] for key in sorted(first) if key]:
        if not fold_name(label):
            raise InputError("a label has no name")
        if fold_name(label) in label_by_key:
            raise InputError(f"label `{label}` is duplicated: it is the same as `{label_by_key[fold_name(label)]}`")
        label_by_key[fold_name(label)] = label.strip()
    if not label_by_key:
        raise InputError("there are no labels: no row of the truth has one, and none are declared")
    predicted_by_key = {fold_name(label): label for cell in cells[predicted] for label in cell}
    for name in ignored:
        if fold_name(name) in label_by_key:
            raise InputError(f"`{name}` is one of the labels, so it cannot be ignored")
        if fold_name(name) not in predicted_by_key:
            others = [label for key, label in predicted_by_key.items() if key not in label_by_key]
            hint = suggest_name(name, others) if others else "every label that is predicted is known"
            raise InputError(f"`{name}` is to be ignored, and is never predicted; {hint}")
    ignored_keys = {fold_name(name) for name in ignored}

    def mark_labels(name: str, left_out: Collection[str] = (), hint: str = "") -> Bools:
        """Mark the labels of each row; what is not known, or duplicated, is found."""
        labels_of, known = dict(zip(table[name], cells[name], strict=True)), list(label_by_key)

        def find_places(cell: str) -> list[int]:
            keys = [fold_name(label) for label in labels_of[cell]]
            for label, key in zip(labels_of[cell], keys, strict=True):
                if key not in label_by_key and key not in left_out:
                    nearest = suggest_name(label, label_by_key.values())
                    raise InputError(f"`{label}` is not a label; {nearest}{hint.format(label)}")
                if keys.count(key) > 1:
                    raise InputError(f"`{label}` is duplicated in one cell")
            return [known.index(key) for key in keys if key in label_by_key]

        marks = np.zeros((len(table), len(label_by_key)), dtype=np.bool_)
        for row, at in enumerate(read_column(name, find_places)):
            marks[row, at] = True
        return marks

    true = np.any([mark_labels(name) for name in truth], axis=0)
    guess = mark_labels(predicted, ignored_keys, " (`--ignore {}` leaves it out)")
    reject(place, findings)
    n_ignored = sum(fold_name(label) in ignored_keys for cell in cells[predicted] for label in cell)
    return LabelTable(tuple(label_by_key.values()), true, guess, n_ignored)


def split_labels(cell: str) -> list[str]:
    """The labels of one cell, as they are written; raises InputError for a list that is no JSON, and an empty label."""
    listed = split_cell(cell)
    if not all(fold_name(item) for item in listed):
        raise InputError(f"`{cell}` has an empty label")
    return listed


NO_TRUTH, NO_PREDICTION = "no row has a true label", "no row has a prediction"
NOTHING = "no row has a label, true or predicted"


@dataclass(frozen=True)
class LabelFigures:
    """One label: `n_true` rows have it (its support), `n_predicted` were said to; its three figures."""

    label: str
    n_true: int
    n_predicted: int
    precision: Figure
    recall: Figure
    f1: Figure

    @property
    def figures(self) -> tuple[Figure, Figure, Figure]:
        """Precision, recall and F1."""
        return self.precision, self.recall, self.f1


@dataclass(frozen=True)
class ClassificationFigures:
    """The figures of some rows: those whose cell of the column `by` is `of`, or all rows where it is None.

    `figures` are CrowdCounter's, `averages` scikit-learn's. `n_empty` rows have neither a true nor a predicted label;
    they are counted in `n_no_truth` and `n_no_prediction` too.
    """

    of: str | None
    labels: tuple[str, ...]
    n: int
    n_no_truth: int
    n_no_prediction: int
    n_empty: int
    figures: tuple[Figure, ...]
    averages: tuple[Figure, ...]
    per_label: tuple[LabelFigures, ...]


class _Sums:
    """Sums over rows, of shape (..., n_sums), by name; those of labels have an axis more.

    Each row adds, with Y its true and Z its predicted labels: 1 to `n`; |Y ∩ Z| / |Y ∪ Z| to `jaccard`, |Y ∩ Z| / |Z|
    to `hit`, |Y ∩ Z| / |Y| to `got`, 2 |Y ∩ Z| / (|Y| + |Z|) to `f1`, each 0 where it is 0/0; |Y Δ Z| / n_labels to
    `apart`; 1 to `same` where Y is Z, to `any` where either has a label, to `true` and `guess` where Y and
    Z have one. Of each label, `both` counts rows of Y and Z, `predicted` of Z, `truth` of Y.
    """

    NAMES: ClassVar = ("n", "jaccard", "hit", "got", "f1", "apart", "same", "any", "true", "guess")
    OF_LABELS: ClassVar = ("both", "predicted", "truth")

    def __init__(self, values: Floats) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Floats:
        if name in self.OF_LABELS:
            return np.split(self._values[..., len(self.NAMES) :], 3, axis=-1)[self.OF_LABELS.index(name)]
        return np.asarray(self._values[..., self.NAMES.index(name)])


def _macro_mean(values: Floats) -> Floats:
    defined = ~np.isnan(values)
    return ratio(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))


# Of each label, by the name of the macro average.
_OF_LABELS: dict[str, Callable[[_Sums], Floats]] = {
    "precision": lambda sums: ratio(sums.both, sums.predicted),
    "recall": lambda sums: ratio(sums.both, sums.truth),
    "F1": lambda sums: ratio(2 * sums.both, sums.predicted + sums.truth),
}


@dataclass(frozen=True)
class _FigureKind:
    """A figure: how it comes from sums, which of them counts its rows, why it may be undefined, and what it is; `zero`
    where a row without a prediction counts 0 if it has a true label.
    """

    name: str
    of: Callable[[_Sums], Floats]
    counts: str
    undefined: str
    note: str = ""
    zero: bool = False


# CrowdCounter's; Y are the true labels of a row, Z the predicted ones.
FIGURES = (
    _FigureKind(
        "accuracy", lambda one: ratio(one.jaccard, one.any), "any", NOTHING, "mean of |Y ∩ Z| / |Y ∪ Z|", zero=True
    ),
    _FigureKind("precision", lambda one: ratio(one.hit, one.any), "any", NOTHING, "mean of |Y ∩ Z| / |Z|", zero=True),
    _FigureKind("recall", lambda one: ratio(one.got, one.true), "true", NO_TRUTH, "mean of |Y ∩ Z| / |Y|"),
    _FigureKind(
        "F1",
        lambda one: ratio(
            2 * ratio(one.hit, one.any) * ratio(one.got, one.true), ratio(one.hit, one.any) + ratio(one.got, one.true)
        ),
        "any",
        "precision and recall are both 0, or one of them is undefined",
        "harmonic mean of precision and recall",
    ),
    _FigureKind(
        "Hamming loss", lambda one: ratio(one.apart, one.n), "n", NOTHING, "mean of |Y Δ Z| / number of labels"
    ),
)

# scikit-learn's, with `zero_division=nan`.
AVERAGES = (
    _FigureKind("samples precision", lambda one: ratio(one.hit, one.guess), "guess", NO_PREDICTION),
    _FigureKind("samples recall", lambda one: ratio(one.got, one.true), "true", NO_TRUTH),
    _FigureKind("samples F1", lambda one: ratio(one.f1, one.any), "any", NOTHING),
    _FigureKind("micro precision", lambda one: ratio(one.both.sum(-1), one.predicted.sum(-1)), "n", NO_PREDICTION),
    _FigureKind("micro recall", lambda one: ratio(one.both.sum(-1), one.truth.sum(-1)), "n", NO_TRUTH),
    _FigureKind("micro F1", lambda one: ratio(2 * one.both.sum(-1), (one.truth + one.predicted).sum(-1)), "n", NOTHING),
    _FigureKind("macro precision", lambda one: _macro_mean(_OF_LABELS["precision"](one)), "n", NO_PREDICTION),
    _FigureKind("macro recall", lambda one: _macro_mean(_OF_LABELS["recall"](one)), "n", NO_TRUTH),
    _FigureKind("macro F1", lambda one: _macro_mean(_OF_LABELS["F1"](one)), "n", NOTHING),
    _FigureKind(
        "exact match", lambda one: ratio(one.same, one.n), "n", NOTHING, "Y is Z, scikit-learn's accuracy_score"
    ),
)


def classify(
    labelled: LabelTable,
    by: Sequence[str] | None = None,
    group: Sequence[str] | None = None,
    draws: int = RESAMPLES,
    seed: int = 0,
) -> tuple[ClassificationFigures, ...]:
    """The figures over all rows, and then those of each value of `by`, in alphabetical order.

    `figures` are CrowdCounter's (appendix F.2, by its formulas; its words for precision and recall have them
    exchanged): accuracy, precision, recall and Hamming loss are means over rows, F1 the harmonic mean of the two means.
    A row with a true label and no prediction has nothing right, so it counts 0 in accuracy and precision, as in the
    paper's figures; what else is 0/0 is left out of the mean. `averages` are scikit-learn's with `zero_division=nan`,
    which leaves out every row or label that is 0/0. Each figure has in `n` the rows that it is a mean of.

    Intervals are percentiles over rows drawn with replacement, or over groups, where `group` has the name of each
    row's. `by` and `group` have one value for each row. Raises InputError for a number of draws that cannot be,
    and if there are no rows.
    """
    intervals.check_resamples(draws)
    if not len(labelled.truth):
        raise InputError("there are no rows to compare")
    truth, predicted = labelled.truth, labelled.predicted
    both = truth & predicted
    n_both, n_true, n_guess = (part.sum(axis=1).astype(np.float64) for part in (both, truth, predicted))
    n_any = n_true + n_guess - n_both
    columns = (  # what each row adds to the sums
        np.ones(len(truth)),
        ratio(n_both, n_any, 0.0),
        ratio(n_both, n_guess, 0.0),
        ratio(n_both, n_true, 0.0),
        ratio(2 * n_both, n_true + n_guess, 0.0),
        (n_any - n_both) / truth.shape[1],
        n_any == n_both,
        n_any > 0,
        n_true > 0,
        n_guess > 0,
    )
    rows = np.column_stack([*columns, both, predicted, truth]).astype(np.float64)
    whole = _classify_rows(None, labelled.labels, rows, group, draws, seed)
    if by is None:
        return (whole,)
    names, group_index = np.unique(np.asarray(by, dtype=object).astype(str), return_inverse=True)
    results = [whole]
    for at, name in enumerate(names.tolist()):
        is_in_group = group_index == at
        part = None if group is None else [one for one, is_in in zip(group, is_in_group, strict=True) if is_in]
        results.append(_classify_rows(name, labelled.labels, rows[is_in_group], part, draws, seed))
    return tuple(results)


def _classify_rows(
    of: str | None, labels: tuple[str, ...], rows: Floats, group: Sequence[str] | None, draws: int, seed: int
) -> ClassificationFigures:
    sums = _Sums(rows.sum(axis=0))
    clusters, what = rows, "row"
    if group is not None:
        names, group_index = np.unique(np.asarray(group, dtype=object).astype(str), return_inverse=True)
        clusters, what = np.zeros((len(names), rows.shape[1])), "group"
        np.add.at(clusters, group_index, rows)
    blocks = [_Sums(drawn) for drawn in intervals.resample_sums(clusters, draws, seed)] if len(clusters) > 1 else []
    n, n_true, n_guess, n_any = (round(float(sum_)) for sum_ in (sums.n, sums.true, sums.guess, sums.any))

    def compute(kind: _FigureKind, note: str, n: int | None = None) -> Figure:
        """The figure on `n` rows, those that it counts if not given, with its interval."""
        value = float(kind.of(sums))
        n = round(float(getattr(sums, kind.counts))) if n is None else n
        if np.isnan(value):
            return Figure(kind.name, None, n, undefined=kind.undefined, note=note)
        result = Figure(kind.name, value, n, note=note)
        if not blocks:
            return intervals.with_note(result, f"no interval: it needs at least 2 {what}s, found {len(clusters)}")
        drawn = np.concatenate([kind.of(block) for block in blocks])
        return intervals.with_percentiles(result, drawn, intervals.describe_sample(len(clusters), what))

    def label_figures(at: int, label: str) -> LabelFigures:
        n_both, n_guess, n_true = (round(float(part[at])) for part in (sums.both, sums.predicted, sums.truth))

        def figure(name: str, n: int, undefined: str) -> Figure:
            return compute(_FigureKind(name, lambda part: _OF_LABELS[name](part)[..., at], "n", undefined), "", n)

        precision = figure("precision", n_guess, "it is never predicted")
        f1 = figure("F1", n_true + n_guess - n_both, "no row has it, and it is never predicted")
        return LabelFigures(label, n_true, n_guess, precision, figure("recall", n_true, "no row has it"), f1)

    figures, averages = (tuple(compute(kind, _remark(kind, sums)) for kind in kinds) for kinds in (FIGURES, AVERAGES))
    per_label = tuple(label_figures(at, label) for at, label in enumerate(labels))
    return ClassificationFigures(of, labels, n, n - n_true, n - n_guess, n - n_any, figures, averages, per_label)


def _remark(kind: _FigureKind, sums: _Sums) -> str:
    left_out = round(float(sums.n - getattr(sums, kind.counts)))
    zero = round(float(sums.any - sums.guess)) if kind.zero else 0
    remarks = [kind.note]
    if zero:
        remarks.append(f"{intervals.plural(zero, 'row')} without a prediction count 0")
    if left_out:
        remarks.append(f"{intervals.plural(left_out, 'row')} left out: 0/0")
    if each := _OF_LABELS.get(kind.name.removeprefix("macro ")) if kind.name.startswith("macro ") else None:
        n_undefined = int(np.isnan(each(sums)).sum())
        remarks.append(f"{intervals.plural(n_undefined, 'label')} left out: 0/0" if n_undefined else "")
    return "; ".join(filter(None, remarks))
