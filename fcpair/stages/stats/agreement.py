"""How far annotators agree: figures for every two annotators, their summary, and figures over all labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fcpair.errors import InputError
from fcpair.params import Agree
from fcpair.records import Figure
from fcpair.stages.questions import Closed, Form, Scale
from fcpair.stages.questions.answer_arrays import numbers
from fcpair.stages.stats.grid_jackknife import HS_AND_CN, Cluster, Sides
from fcpair.stages.stats.interval_cautions import cautions
from fcpair.stages.stats.kappa import ON_BINS, SubsetAgreement, Subsets, subset_figures, summary_figures
from fcpair.stages.stats.multi_rater import ALPHA, OWN, coefficients_of, pooled_figures
from fcpair.stages.stats.rating_bins import check_bins, parse_bins
from fcpair.stages.stats.rating_counts import Overlap

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("cell_id", "hs_id", "cn_id", "annotator", "code")


@dataclass(frozen=True)
class Agreement:
    """All agreement figures of a study, with what they were computed with and what they rest on.

    `classes` are the names of the answers, in the order of their codes; `n_pairs` have a label, `n_overlapped` two
    or more. With `not_sure="drop"` the indefinite labels are in none of these counts. `on_bins` has the same as
    `subsets`, unweighted, where the numbers of each of `bins` are one class; both are empty without `options.bins`.
    `cautions` say why intervals may hold less often than they say.
    """

    options: Agree
    classes: tuple[str, ...]
    n_pairs: int
    n_overlapped: int
    n_labels: int
    subsets: tuple[SubsetAgreement, ...]
    summary: tuple[Figure, ...]
    pooled: tuple[Figure, ...]
    sides: Sides = HS_AND_CN
    bins: tuple[str, ...] = ()
    on_bins: tuple[SubsetAgreement, ...] = ()
    cautions: tuple[str, ...] = ()

    @property
    def spoken_for(self) -> str:
        """What the intervals of `summary` and `pooled` are for; those of `subsets` are for new HS and CN only."""
        return self.sides.spoken_for(self.options.intervals)

    @property
    def alpha(self) -> Figure:
        """Krippendorff's alpha with the distance of the question."""
        own = (figure for figure in self.pooled if OWN in figure.note)
        return next(own, next(figure for figure in self.pooled if figure.name == ALPHA["nominal"]))

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        found = asdict(self)
        for name in ("sides", *(() if self.bins else ("bins", "on_bins"))):
            del found[name]
        return found | {"options": {name: value for name, value in found["options"].items() if value not in (None, ())}}


@dataclass(frozen=True)
class Block:
    """Agreement on one part of a round: on all pairs, or on those of one column or row, whose text is `of`.

    `part` is named as in `Form.parts`. Where there is nothing to agree on, `agreement` is None, `undefined` says why.
    """

    part: str
    of: str
    agreement: Agreement | None
    undefined: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON; what `Agreement.as_dict` gives stands beside the names."""
        named = {"part": self.part, "of": self.of, "undefined": self.undefined}
        return named | (self.agreement.as_dict() if self.agreement else {})


def agreement(
    labels: pd.DataFrame, question: Closed, options: Agree | None = None, sides: Sides = HS_AND_CN
) -> Agreement:
    """All agreement figures on labels as the annotators gave them, before adjudication.

    `labels` has one row per current judgement: `cell_id`, `hs_id`, `cn_id` (int), `annotator` (str) and `code`
    (int, of `question`), at most one per pair and annotator; skips are not in it. Raises InputError where it is not so.

    `subsets` has an entry for every two annotators who share a pair, whoever else labelled it, so a pair with three
    labels is in three of them. `summary` is their mean kappa, its sample standard deviation (n - 1) and the mean
    weighted by n; the same three on bins of a scale follow, where `options` has bins. `pooled` is over all pairs with
    two or more labels. Intervals leave out one HS, CN or annotator at a time (see `grid_jackknife.py`); those of
    `subsets` and `on_bins`, which are about two people, never leave out an annotator.
    `sides` says what HS and CN are called in notes, and whether all pairs are of one row or column. A figure that is
    undefined has no value and says why.
    """
    options = options or Agree()
    _check(labels, question)
    kept = [choice for choice in question if choice.definite or options.not_sure == "class"]
    codes = np.array([choice.code for choice in kept], dtype=np.int64)
    labels = labels.loc[labels["code"].isin(codes)]
    overlapped = labels.loc[labels.duplicated("cell_id", keep=False)]
    overlap, names = _overlap(overlapped, codes)
    subsets = Subsets(overlap, options.weights)
    bins = parse_bins(question, options.bins) if options.bins else None
    on_bins = Subsets(overlap.merged(bins.bin_of), "none") if bins else None
    coefficients = coefficients_of(question.distance, numbers(question, codes))
    return Agreement(
        options=options,
        classes=tuple(choice.name for choice in kept),
        n_pairs=int(labels["cell_id"].nunique()),
        n_overlapped=int(overlapped["cell_id"].nunique()),
        n_labels=len(labels),
        subsets=subset_figures(subsets, names, options.level, sides),
        summary=(
            *summary_figures(subsets, options.intervals, options.level, sides),
            *(summary_figures(on_bins, options.intervals, options.level, sides, ON_BINS) if on_bins else ()),
        ),
        pooled=pooled_figures(overlap, options.intervals, options.level, coefficients, sides),
        sides=sides,
        bins=bins.names if bins else (),
        on_bins=subset_figures(on_bins, names, options.level, sides, ON_BINS) if on_bins else (),
        cautions=cautions(overlap, [choice.name for choice in kept], sides),
    )


def part_agreements(
    answers: pd.DataFrame,
    form: Form,
    codes: npt.NDArray[np.int64],
    options: Agree | None = None,
    texts: Mapping[int, str] | None = None,
    names: tuple[str, str] = HS_AND_CN.names,
) -> tuple[Block, ...]:
    """`agreement` on each part of a form, in its order; a question without parts, such as a text, says why it has none.

    `answers` has one row per current judgement: `cell_id`, `hs_id`, `cn_id` (of the row and of the column, int),
    `annotator` (str) and `answer` (int), which row of `codes` it is. `codes`, shape (n_answers, n_parts), are those of
    `answer_arrays.part_codes`. With `texts`, which has the text of each column or row by its id, every
    part has a block for each of them; `options.by` says which side they are of, and intervals are for new texts of the
    other one. `names` says what a row and a column is called in notes. `options.bins` are for the scales of the form;
    raises InputError where there is none, and where they are not those of one.
    """
    options, at, found = options or Agree(), 0, []
    check_bins(form, options.bins)
    side = answers["hs_id" if options.by == "row" else "cn_id"]
    fixed = {None: None, "row": Cluster.HS, "column": Cluster.CN}[options.by if texts is not None else None]
    groups = {text: answers[side == one] for one, text in texts.items()} if texts is not None else {"": answers}
    for name, question in form.questions:
        if question.no_parts:
            found.append(Block(name, "", None, question.no_parts))
        for part in question.parts():
            for text, rows in groups.items():
                labels = rows.assign(code=codes[rows["answer"].to_numpy(), at])
                own = options if isinstance(part.question, Scale) else replace(options, bins=())
                measured = agreement(labels, part.question, own, Sides(names, fixed))
                found.append(Block(form.parts()[at].name, text, measured))
            at += 1
    return tuple(found)


def _overlap(labels: pd.DataFrame, codes: npt.NDArray[np.int64]) -> tuple[Overlap, list[str]]:
    """The labels as numbers, in an order of their own, so that the order of the rows changes nothing; and the names."""
    import pandas as pd

    who, names = pd.factorize(labels["annotator"].astype(str), sort=True)
    pair, hs, cn = (pd.factorize(labels[name], sort=True)[0] for name in ("cell_id", "hs_id", "cn_id"))
    klass = np.searchsorted(codes, labels["code"].to_numpy(dtype=np.int64))
    order = np.lexsort((who, pair))
    columns = (column[order].astype(np.int64) for column in (pair, hs, cn, who, klass))
    return Overlap(len(codes), *columns), [str(name) for name in names]


def _check(labels: pd.DataFrame, question: Closed) -> None:
    if missing := [name for name in COLUMNS if name not in labels.columns]:
        raise InputError(f"labels lack the columns {', '.join(missing)}; expected {', '.join(COLUMNS)}")
    if empty := [name for name in COLUMNS if labels[name].isna().any()]:
        raise InputError(f"labels have empty cells in {', '.join(empty)}; leave out pairs without a judgement")
    strange = labels.loc[~labels["code"].isin(question.codes)]
    if len(strange):
        found = ", ".join(map(str, strange["code"].unique()[:5]))
        raise InputError(
            f"labels have codes that the scheme lacks ({found}), as on pairs {_some_pairs(strange)}; "
            f"expected {', '.join(map(str, question.codes))}"
        )
    twice = labels.loc[labels.duplicated(["cell_id", "annotator"])]
    if len(twice):
        raise InputError(
            f"labels have two rows of one annotator on pairs {_some_pairs(twice)}; give only the current judgement"
        )
    places = labels[["cell_id", "hs_id", "cn_id"]].drop_duplicates()
    twice = places.loc[places.duplicated("cell_id")]
    if len(twice):
        raise InputError(f"labels give one cell_id several hs_id or cn_id: pairs {_some_pairs(twice)}")


def _some_pairs(rows: pd.DataFrame) -> str:
    pairs = rows["cell_id"].unique()
    return ", ".join(map(str, pairs[:5])) + (f" and {len(pairs) - 5} more" if len(pairs) > 5 else "")
