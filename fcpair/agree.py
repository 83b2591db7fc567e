"""How far annotators agree: figures for every two annotators, their summary, and figures over all labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from fcpair.errors import InputError
from fcpair.pooled import Overlap, pooled_figures
from fcpair.records import Figure, Scheme

if TYPE_CHECKING:
    import pandas as pd

Ints = npt.NDArray[np.int64]

COLUMNS = ("pair_id", "hs_id", "cn_id", "annotator", "code")
NO_SUBSET = "no two annotators share a pair"


@dataclass(frozen=True)
class AgreementOptions:
    """What agreement is computed with; raises InputError for a value that cannot be used."""

    stage: ClassVar[str] = "agreement"
    weights: Literal["none", "linear", "quadratic"] = field(
        default="none", metadata={"help": "disagreement weights of Cohen's kappa, in the order of the label codes"}
    )
    not_sure: Literal["class", "drop"] = field(
        default="class",
        metadata={"help": "indefinite answers: classes of their own, or left out before anything else"},
    )
    resamples: int = field(
        default=1000, metadata={"help": "bootstrap resamples of HS and CN for pooled intervals; 0 for no intervals"}
    )
    level: float = field(default=0.95, metadata={"help": "confidence level of all intervals, between 0 and 1"})
    seed: int = field(default=0, metadata={"help": "seed of the bootstrap"})

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for option in fields(self):
            value, allowed = getattr(self, option.name), get_args(hints[option.name])
            if allowed and value not in allowed:
                raise InputError(f"agreement: {option.name} is {value!r}; expected one of {', '.join(allowed)}")
        for name in ("resamples", "seed"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 0:
                raise InputError(f"agreement: {name} is {value!r}; expected a whole number, 0 or more")
        if not 0 < self.level < 1:
            raise InputError(f"agreement: level is {self.level}; expected a share between 0 and 1, such as 0.95")


@dataclass(frozen=True)
class SubsetAgreement:
    """How far two annotators agree on the pairs that both labelled.

    `table` counts pairs: rows are the first annotator's class, columns the second's, in the order of
    `Agreement.classes`. `prevalence` is the share of each class among the labels of both (0 to 1, sum 1).
    `kappa_se` is None where kappa is undefined and where the large-sample formula gives no width.
    """

    annotators: tuple[str, str]
    n: int
    raw_agreement: float
    table: tuple[tuple[int, ...], ...]
    prevalence: tuple[float, ...]
    kappa: Figure
    kappa_se: float | None


@dataclass(frozen=True)
class Agreement:
    """All agreement figures of a study, with what they were computed with and what they rest on.

    `classes` are the names of the answers, in the order of their codes; `n_pairs` have a label, `n_overlapped` two
    or more. With `not_sure="drop"` the indefinite labels are in none of these counts.
    """

    options: AgreementOptions
    classes: tuple[str, ...]
    n_pairs: int
    n_overlapped: int
    n_labels: int
    subsets: tuple[SubsetAgreement, ...]
    summary: tuple[Figure, ...]
    pooled: tuple[Figure, ...]

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        return asdict(self)


def agreement(labels: pd.DataFrame, scheme: Scheme, options: AgreementOptions | None = None) -> Agreement:
    """All agreement figures on labels as the annotators gave them, before adjudication.

    `labels` has one row per current judgement: `pair_id`, `hs_id`, `cn_id` (int), `annotator` (str) and `code`
    (int, of `scheme`), at most one per pair and annotator; skips are not in it. Raises InputError where it is not so.

    `subsets` has an entry for every two annotators who share a pair, whoever else labelled it, so a pair with three
    labels is in three of them. `summary` is their mean kappa, its sample standard deviation (n - 1) and the mean
    weighted by n. `pooled` is over all pairs with two or more labels, with percentile intervals that resample HS and
    CN (see `fcpair.pooled`). A figure that is undefined has no value and says why.
    """
    options = options or AgreementOptions()
    _check(labels, scheme)
    kept = [choice for choice in scheme if choice.definite or options.not_sure == "class"]
    kept.sort(key=lambda choice: choice.code)
    codes = np.array([choice.code for choice in kept], dtype=np.int64)
    labels = labels.loc[labels["code"].isin(codes)]
    overlapped = labels.loc[labels.duplicated("pair_id", keep=False)]
    klass = np.searchsorted(codes, overlapped["code"].to_numpy(dtype=np.int64))
    subsets, summary = _pairwise(overlapped, klass, len(kept), options)
    pair, hs, cn = (overlapped[name].to_numpy(dtype=np.int64) for name in ("pair_id", "hs_id", "cn_id"))
    overlap = Overlap.of(pair, hs, cn, klass, len(kept))
    return Agreement(
        options=options,
        classes=tuple(choice.name for choice in kept),
        n_pairs=int(labels["pair_id"].nunique()),
        n_overlapped=int(overlapped["pair_id"].nunique()),
        n_labels=len(labels),
        subsets=subsets,
        summary=summary,
        pooled=pooled_figures(overlap, options.resamples, options.level, options.seed),
    )


def _check(labels: pd.DataFrame, scheme: Scheme) -> None:
    if missing := [name for name in COLUMNS if name not in labels.columns]:
        raise InputError(f"labels lack the columns {', '.join(missing)}; expected {', '.join(COLUMNS)}")
    if empty := [name for name in COLUMNS if labels[name].isna().any()]:
        raise InputError(f"labels have empty cells in {', '.join(empty)}; leave out pairs without a judgement")
    strange = labels.loc[~labels["code"].isin(scheme.codes)]
    if len(strange):
        found = ", ".join(map(str, strange["code"].unique()[:5]))
        raise InputError(
            f"labels have codes that the scheme lacks ({found}), as on pairs {_some_pairs(strange)}; "
            f"expected {', '.join(map(str, scheme.codes))}"
        )
    twice = labels.loc[labels.duplicated(["pair_id", "annotator"])]
    if len(twice):
        raise InputError(
            f"labels have two rows of one annotator on pairs {_some_pairs(twice)}; give only the current judgement"
        )
    places = labels[["pair_id", "hs_id", "cn_id"]].drop_duplicates()
    twice = places.loc[places.duplicated("pair_id")]
    if len(twice):
        raise InputError(f"labels give one pair_id several hs_id or cn_id: pairs {_some_pairs(twice)}")


def _some_pairs(rows: pd.DataFrame) -> str:
    pairs = rows["pair_id"].unique()
    return ", ".join(map(str, pairs[:5])) + (f" and {len(pairs) - 5} more" if len(pairs) > 5 else "")


def _pairwise(
    overlapped: pd.DataFrame, klass: Ints, n_classes: int, options: AgreementOptions
) -> tuple[tuple[SubsetAgreement, ...], tuple[Figure, ...]]:
    """Figures of every two annotators who share a pair, and their summary."""
    import pandas as pd

    who, names = pd.factorize(overlapped["annotator"].astype(str), sort=True)
    label = pd.DataFrame({"pair_id": overlapped["pair_id"].to_numpy(), "who": who, "klass": klass})
    both = label.merge(label, on="pair_id", suffixes=("", "_2"))
    both = both.loc[both["who"] < both["who_2"]]
    two, subset = np.unique(both["who"] * len(names) + both["who_2"], return_inverse=True)
    cell = (subset * n_classes + both["klass"].to_numpy()) * n_classes + both["klass_2"].to_numpy()
    tables = np.bincount(cell, minlength=len(two) * n_classes**2).reshape(len(two), n_classes, n_classes)
    subsets = tuple(
        _subset((str(names[key // len(names)]), str(names[key % len(names)])), table, options)
        for key, table in zip(two, tables, strict=True)
    )
    defined = np.array([subset.kappa.value is not None for subset in subsets], dtype=bool)
    return subsets, _summary(subsets, int(both.loc[defined[subset], "pair_id"].nunique()))


def _subset(annotators: tuple[str, str], table: Ints, options: AgreementOptions) -> SubsetAgreement:
    n = int(table.sum())
    kappa, se = cohens_kappa(table, options)
    return SubsetAgreement(
        annotators=annotators,
        n=n,
        raw_agreement=float(np.trace(table) / n),
        table=tuple(tuple(row) for row in table.tolist()),
        prevalence=tuple(((table.sum(axis=0) + table.sum(axis=1)) / (2 * n)).tolist()),
        kappa=kappa,
        kappa_se=se,
    )


def cohens_kappa(table: Ints, options: AgreementOptions) -> tuple[Figure, float | None]:
    """Cohen's kappa of a table (n_classes, n_classes) of at least one pair, and its standard error.

    Range -1 to 1. The interval is kappa plus and minus z standard errors, cut off at -1 and 1. Undefined for one
    pair, and where both annotators used the same single class. Where the standard error is 0 (complete agreement, or
    one annotator used a single class) the large-sample formula says nothing, and there is no interval.

    Source: Cohen (1960), DOI 10.1177/001316446002000104; standard error by Fleiss, Cohen and Everitt (1969),
    DOI 10.1037/h0028106; both by statsmodels. Weights are over ranks of the classes, not over their codes.
    """
    from scipy.stats import norm
    from statsmodels.stats import inter_rater

    name, n = "Cohen's kappa", int(table.sum())
    if n == 1:
        return Figure(name, None, n, undefined="one shared pair: it has no variance"), None
    if np.any(table.sum(axis=0) + table.sum(axis=1) == 2 * n):
        why = "both used the same single class, so agreement by chance would be complete"
        return Figure(name, None, n, undefined=why), None
    # statsmodels also tests kappa = 0, unused here, and on lopsided tables divides by 0 or by a rounding error for it.
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = inter_rater.cohens_kappa(table, wt=None if options.weights == "none" else options.weights)
    kappa = float(fit.kappa)
    if fit.var_kappa < 1e-12:  # rounding leaves tiny values of either sign where the formula gives 0
        return Figure(name, kappa, n, note="no interval: the large-sample standard error is 0"), None
    se = float(np.sqrt(fit.var_kappa))
    reach = float(norm.ppf((1 + options.level) / 2)) * se
    return Figure(name, kappa, n, low=max(-1.0, kappa - reach), high=min(1.0, kappa + reach)), se


def _summary(subsets: tuple[SubsetAgreement, ...], n_pairs: int) -> tuple[Figure, ...]:
    """Mean, standard deviation and weighted mean of the kappas that are defined, on `n_pairs` distinct pairs."""
    defined = [(subset.kappa.value, subset.n) for subset in subsets if subset.kappa.value is not None]
    kappas, sizes = np.array(defined, dtype=np.float64).reshape(-1, 2).T
    note = f"overlap subsets: {len(defined)} used, {len(subsets) - len(defined)} undefined and left out"
    none = "kappa is undefined on every overlap subset" if subsets else NO_SUBSET

    def figure(name: str, least: int, value: Callable[[], np.floating[Any]]) -> Figure:
        if len(defined) >= least:
            return Figure(name, float(value()), n_pairs, note=note)
        why = "a spread needs two overlap subsets with a defined kappa" if defined else none
        return Figure(name, None, n_pairs, undefined=why, note=note)

    return (
        figure("mean kappa", 1, kappas.mean),
        figure("standard deviation of kappa", 2, lambda: kappas.std(ddof=1)),
        figure("mean kappa weighted by n", 1, lambda: np.float64(kappas @ sizes / sizes.sum())),
    )
