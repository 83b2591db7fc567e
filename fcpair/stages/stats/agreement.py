"""Agreement of annotators: figures for every two annotators, their summary, and figures over all labels; also on bins,
ranges of a scale's numbers that count as one class. Cautions say where intervals hold less often than they say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError
from fcpair.lazy import pd
from fcpair.notebook import Result
from fcpair.params import Agree
from fcpair.records import Figure
from fcpair.sentences import Answer, Sentence, Written, say
from fcpair.stages.questions import Closed, Form, Scale
from fcpair.stages.questions.base import NO_CODE, Choice
from fcpair.stages.questions.form import numbers
from fcpair.stages.stats.intervals import f_tail
from fcpair.stages.stats.jackknife_intervals import HS_AND_CN, Cluster, Sides
from fcpair.stages.stats.kappa import SubsetAgreement, Subsets, subset_figures, summary_figures
from fcpair.stages.stats.multi_rater import ALPHA, OWN_DISTANCE, coefficients_of, pooled_figure, pooled_figures
from fcpair.stages.stats.rating_counts import Overlap

LABEL_COLUMNS = ("cell_id", "hs_id", "cn_id", "annotator", "code")
FRAME_COLUMNS = ("figure", "annotators", "value", "low", "high", "n", "undefined", "note")
BLOCK_COLUMNS = ("part", "of", *FRAME_COLUMNS)


@dataclass(frozen=True, repr=False)
class Agreement(Result):
    """All agreement figures of a study, with what they were computed with and what they rest on.

    `classes` are the names of the answers, in the order of their codes; `n_pairs` have a label, `n_overlapped` two or
    more. `on_bins` has the same as `subsets`, unweighted, where the numbers of each of `bins` are one class. `cautions`
    say why intervals may hold less often than they say.
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
    def interval_scope(self) -> str:
        """Scope of the intervals of `summary` and `pooled`; those of `subsets` are for new HS and CN only."""
        return self.sides.interval_scope(self.options.intervals)

    @property
    def alpha(self) -> Figure:
        """Krippendorff's alpha with the distance of the question."""
        with_own_distance = (figure for figure in self.pooled if OWN_DISTANCE in figure.note)
        return next(with_own_distance, next(figure for figure in self.pooled if figure.name == ALPHA["nominal"]))

    columns = FRAME_COLUMNS

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each figure, as `Figure` has it: first those over all pairs, then those of every two annotators.

        Columns: `figure` (its name), `annotators` (`ana, ben`; empty over all), `value`, `low`, `high`, `n`,
        `undefined` (why there is no value), `note`.
        """
        for figure in (*self.pooled, *self.summary):
            yield {"figure": figure.name, "annotators": "", **vars(figure)}
        for subset in (*self.subsets, *self.on_bins):
            who = ", ".join(subset.annotators)
            raw = {"value": subset.raw_agreement, "n": subset.n, "note": ""}
            yield {"figure": "raw agreement", "annotators": who, **raw}
            yield {"figure": subset.kappa.name, "annotators": who, **vars(subset.kappa)}

    def _summary(self) -> str:
        value = self.alpha.undefined if self.alpha.value is None else f"{self.alpha.value:.3f}"
        return f"{self.n_overlapped:,} of {self.n_pairs:,} pairs with two labels or more; {self.alpha.name} {value}"

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        left_out = ("sides",) if self.bins else ("sides", "bins", "on_bins")
        values = {name: value for name, value in asdict(self).items() if name not in left_out}
        options = {name: value for name, value in values["options"].items() if value not in (None, ())}
        return values | {"options": options}


@dataclass(frozen=True, repr=False)
class AgreementBlock(Result):
    """Agreement on one part of a round, named as in `Form.parts`: on all pairs, or on those of one column or row, whose
    text is `of`. Where there is nothing to agree on, `agreement` is None, `undefined` says why.
    """

    part: str
    of: str
    agreement: Agreement | None
    undefined: str | None = None

    columns = BLOCK_COLUMNS

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of `Agreement` behind the columns `part` and `of`; one row says why there are none."""
        rows = self.agreement.rows() if self.agreement else iter([{"undefined": self.undefined}])
        return ({"part": self.part, "of": self.of, **row} for row in rows)

    def _summary(self) -> str:
        place = f"{self.part} of {self.of}" if self.of else self.part
        return f"{place}: {self.agreement._summary() if self.agreement else self.undefined}"

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values; what `Agreement.as_dict` gives stands beside the names."""
        values = {"part": self.part, "of": self.of, "undefined": self.undefined}
        return values | (self.agreement.as_dict() if self.agreement else {})


class PartAgreements(Result, tuple[AgreementBlock, ...]):
    """Agreement on the parts of a round: a block for each, or for each column or row of it."""

    columns = BLOCK_COLUMNS

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of all blocks."""
        return (row for block in self for row in block.rows())

    def _summary(self) -> str:
        return f"{len(self)} of {', '.join(dict.fromkeys(block.part for block in self))}"


def compute_agreement(
    labels: pd.DataFrame, question: Closed, options: Agree | None = None, sides: Sides = HS_AND_CN
) -> Agreement:
    """All agreement figures on labels as the annotators gave them, before adjudication.

    `labels` has one row per current judgement: `cell_id`, `hs_id`, `cn_id` (int), `annotator` (str) and `code`
    (int, of `question`), at most one per pair and annotator, no skips. Raises InputError where it is not so.

    `subsets` has an entry for every two annotators who share a pair, whoever else labelled it. `summary` is their mean
    kappa, its sample standard deviation (n - 1) and the mean weighted by n; then the same three on bins, if `options`
    has some. `pooled` is over all pairs with two or more labels. Intervals leave out one HS, CN or annotator at a time
    (see `jackknife_intervals.py`), but those of `subsets` and `on_bins` no annotator. `sides` says what HS and CN are
    called in notes, and whether all pairs are of one row or column. An undefined figure has no value and says why.
    """
    options = options or Agree()
    _check_labels(labels, question)
    classes, codes = _classes_of(question, options)
    labels = labels.loc[labels["code"].isin(codes)]
    overlap, names = _find_overlap(labels, codes)
    subsets = Subsets(overlap, options.weights)
    bins, bin_of = parse_bins(question, options.bins) if options.bins else ((), codes)
    on_bins = Subsets(replace(overlap, n_classes=len(bins), klass=bin_of[overlap.klass]), "none") if bins else None
    coefficients = coefficients_of(question.distance, numbers(question, codes))
    return Agreement(
        options=options,
        classes=tuple(choice.name for choice in classes),
        n_pairs=int(labels["cell_id"].nunique()),
        n_overlapped=len(np.unique(overlap.pair)),
        n_labels=len(labels),
        subsets=subset_figures(subsets, names, options.level, sides),
        summary=(
            *summary_figures(subsets, options.intervals, options.level, sides),
            *(summary_figures(on_bins, options.intervals, options.level, sides, on_bins=True) if on_bins else ()),
        ),
        pooled=pooled_figures(overlap, options.intervals, options.level, coefficients, sides),
        sides=sides,
        bins=bins,
        on_bins=subset_figures(on_bins, names, options.level, sides, on_bins=True) if on_bins else (),
        cautions=tuple(find_cautions(overlap, [choice.name for choice in classes], sides)),
    )


def find_overlap(labels: pd.DataFrame, question: Closed) -> Overlap:
    """The labels of the pairs with two or more, in all classes; `labels` is as `compute_agreement` checks it."""
    _check_labels(labels, question)
    return _find_overlap(labels, np.asarray(question.codes))[0]


def _find_overlap(labels: pd.DataFrame, codes: Ints) -> tuple[Overlap, list[str]]:
    """The labels of the pairs with two or more, and the names of who gave them."""
    overlapped = labels.loc[labels.duplicated("cell_id", keep=False)]
    annotator, names = pd.factorize(overlapped["annotator"].astype(str), sort=True)
    columns = {name: overlapped[name].to_numpy(dtype=np.int64) for name in ("cell_id", "hs_id", "cn_id", "code")}
    return _overlap({**columns, "annotator": annotator.astype(np.int64)}, codes), [str(name) for name in names]


def part_agreements(
    answers: pd.DataFrame,
    form: Form,
    codes: Ints,
    options: Agree | None = None,
    texts: Mapping[int, str] | None = None,
    names: tuple[str, str] = HS_AND_CN.names,
) -> tuple[AgreementBlock, ...]:
    """Compute the agreement on each part of a form, in its order; a question without parts says why it has none.

    `answers` has one row per current judgement: `cell_id`, `hs_id`, `cn_id` (of the row and of the column, int),
    `annotator` (str) and `answer` (int), which row it is of `codes`, those of `form.part_codes`, (n_answers, n_parts);
    answers in which a question was not asked do not count for it. With `texts`, which has the text of each column or
    row by its id, every part has a block for each of them; `options.blocks` says which side they are of, and intervals
    are for new texts of the other one. With `options.metadata`, `texts` has a value for each id instead, and every part
    a block for each value, in alphabetical order, with intervals for new texts of both sides. `names` says what a row
    and a column is called in notes. Raises InputError for `options.bins` that are not those of every scale of the form.
    """
    options, at, blocks = options or Agree(), 0, []
    check_bins(form, options.bins)
    side = answers["hs_id" if options.blocks == "row" else "cn_id"]
    is_one_text = texts is not None and options.metadata is None
    fixed = {None: None, "row": Cluster.HS, "column": Cluster.CN}[options.blocks if is_one_text else None]
    if texts is None:
        groups = {"": answers}
    elif is_one_text:
        groups = {text: answers[side == text_id] for text_id, text in texts.items()}
    else:
        value = side.map(dict(texts))
        groups = {text: answers[value == text] for text in sorted({*texts.values()})}
    for name, question in form.questions:
        if question.no_parts_reason:
            blocks.append(AgreementBlock(name, "", None, question.no_parts_reason))
        for part in question.parts():
            for text, rows in groups.items():
                labels = rows.assign(code=codes[rows["answer"].to_numpy(), at])
                labels = labels.loc[labels["code"] != NO_CODE]
                part_options = options if isinstance(part.question, Scale) else replace(options, bins=())
                part_agreement = compute_agreement(labels, part.question, part_options, Sides(names, fixed))
                blocks.append(AgreementBlock(form.parts()[at].name, text, part_agreement))
            at += 1
    return tuple(blocks)


def compute_alpha(labels: Mapping[str, Ints], question: Closed, options: Agree, sides: Sides = HS_AND_CN) -> Figure:
    """The alpha of `compute_agreement` alone. `labels` are the columns of its labels as arrays, not checked;
    `annotator` has numbers in the order of the names. Those of pairs with one label change nothing.
    """
    _, codes = _classes_of(question, options)
    rows = np.flatnonzero(np.isin(labels["code"], codes))
    place, n_labels = np.unique(labels["cell_id"][rows], return_inverse=True, return_counts=True)[1:]
    rows = rows[n_labels[place] > 1]
    overlap = _overlap({name: column[rows] for name, column in labels.items()}, codes)
    coefficients = coefficients_of(question.distance, numbers(question, codes))
    alpha = next(coefficient for coefficient in coefficients if coefficient.name == ALPHA[question.distance])
    return pooled_figure(overlap, options.intervals, options.level, alpha, sides)


def _classes_of(question: Closed, options: Agree) -> tuple[list[Choice], Ints]:
    """The answers that count, and their codes."""
    classes = [choice for choice in question if choice.definite or options.indefinite == "class"]
    return classes, np.array([choice.code for choice in classes], dtype=np.int64)


def _overlap(labels: Mapping[str, Ints], codes: Ints) -> Overlap:
    """The labels as numbers, in an order of their own, so that the order of the rows changes nothing."""
    pair, hs, cn, annotator = (
        np.unique(labels[name], return_inverse=True)[1] for name in ("cell_id", "hs_id", "cn_id", "annotator")
    )
    klass = np.searchsorted(codes, labels["code"])
    order = np.lexsort((annotator, pair))
    return Overlap(len(codes), *(column[order].astype(np.int64) for column in (pair, hs, cn, annotator, klass)))


def _check_labels(labels: pd.DataFrame, question: Closed) -> None:
    if missing := [name for name in LABEL_COLUMNS if name not in labels.columns]:
        raise InputError(f"labels lack the columns {', '.join(missing)}; expected {', '.join(LABEL_COLUMNS)}")
    if empty := [name for name in LABEL_COLUMNS if labels[name].isna().any()]:
        raise InputError(f"labels have empty cells in {', '.join(empty)}; omit pairs without a judgement")
    if len(unknown_codes := labels.loc[~labels["code"].isin(question.codes)]):
        codes = ", ".join(map(str, unknown_codes["code"].unique()[:5]))
        raise InputError(
            f"labels have codes that the scheme lacks ({codes}), as on pairs {_some_pairs(unknown_codes)}; "
            f"expected {', '.join(map(str, question.codes))}"
        )
    if len(duplicated := labels.loc[labels.duplicated(["cell_id", "annotator"])]):
        raise InputError(
            f"labels have two rows of one annotator on pairs {_some_pairs(duplicated)}; give only the current judgement"
        )
    places = labels[["cell_id", "hs_id", "cn_id"]].drop_duplicates()
    if len(duplicated := places.loc[places.duplicated("cell_id")]):
        raise InputError(f"labels give one cell_id several hs_id or cn_id: pairs {_some_pairs(duplicated)}")


def _some_pairs(rows: pd.DataFrame) -> str:
    pairs = rows["cell_id"].unique()
    return ", ".join(map(str, pairs[:5])) + (f" and {len(pairs) - 5} more" if len(pairs) > 5 else "")


EVEN = 0.75  # of the texts of a side, as many of the same weight as the overlap could lie on
STRONG = 0.25  # how much of which pairs get the commonest class a side may explain
SURE = 0.01  # the p of an F test up to which texts differ
FEW_TEXTS = 30  # of a side; with 45 that differ as strongly intervals hold
COMMON = 0.9  # the share of labels of one class
LEVEL = Written("95 %")


def find_cautions(overlap: Overlap, classes: Sequence[str], sides: Sides = HS_AND_CN) -> Iterator[Sentence]:
    """Yield the reasons why intervals may hold less often than they say, as docs/reference/stages/07-agree.md has it
    measured: the overlap is uneven on a side, few texts of a side differ strongly, nearly all labels are of one class.
    """
    if not len(overlap.pair):
        return
    common = int(np.bincount(overlap.klass).argmax())
    is_common = overlap.klass == common
    n_labels = np.bincount(overlap.pair)
    share = np.bincount(overlap.pair, is_common) / n_labels
    first = np.searchsorted(overlap.pair, np.arange(len(n_labels)))
    for side in sides.free_sides:
        text = (overlap.hs if side is Cluster.HS else overlap.cn)[first]
        n = len(np.unique(text))
        word, n_effective = sides.cluster_name(side, 2), effective_number(text)
        if n_effective < EVEN * n:
            yield say(
                "the overlap is spread unevenly over %(number)s %(side)s, as if over %(figure)s: %(level)s "
                "intervals contained the true value in as few as %(least)s of 100 simulated studies like this",
                number=n,
                side=word,
                figure=Written(f"{n_effective:.1f}"),
                level=LEVEL,
                least=90,
            )
        if n < FEW_TEXTS and (explained := intraclass_correlation(share, text)) > STRONG:
            yield say(
                "the %(number)s %(side)s differ strongly, and explain %(share)s of which pairs are %(answer)s: "
                "%(level)s intervals contained the true value in as few as %(least)s of 100 simulated studies like "
                "this",
                number=n,
                side=word,
                share=Written(f"{100 * explained:.0f} %"),
                answer=Answer(classes[common]),
                level=LEVEL,
                least=76,
            )
    if is_common.mean() > COMMON:
        yield say(
            "%(share)s of the labels are %(answer)s, and kappas rest on the few others: %(level)s intervals "
            "contained the true value in as few as %(least)s of 100 simulated studies like this",
            share=Written(f"{100 * is_common.mean():.0f} %"),
            answer=Answer(classes[common]),
            level=LEVEL,
            least=87,
        )


def effective_number(text: Ints) -> float:
    """Number of equally heavy texts that would weigh as these, by the text of each pair: (sum w)^2 / sum w^2."""
    weights = np.bincount(text).astype(np.float64)
    return float(weights.sum() ** 2 / (weights @ weights))


def intraclass_correlation(share: Floats, text: Ints) -> float:
    """The intraclass correlation of pairs with the same text, at most 1, by analysis of variance: Donner (1986), DOI
    10.2307/1403259. `share` is that of each pair's labels of a class, `text` the number of its text, from 0, both
    `(n_pairs,)`. 0 where it is undefined, and where an F test has p above 0.01.
    """
    n_each = np.bincount(text)
    n, k = len(text), int(np.count_nonzero(n_each))
    if not 1 < k < n:
        return 0.0
    means = np.bincount(text, share) / np.maximum(n_each, 1)
    between = float(n_each @ (means - share.mean()) ** 2) / (k - 1)
    within = float(((share - means[text]) ** 2).sum()) / (n - k)
    if between == 0 or (within and f_tail(k - 1, n - k, between / within) > SURE):
        return 0.0
    size = (n - float((n_each**2).sum()) / n) / (k - 1)
    return (between - within) / (between + (size - 1) * within)


_BIN = re.compile(r"\s*\[?\s*([+-]?[\d.,٫]+)\s*[-–]\s*([+-]?[\d.,٫]+)\s*\]?\s*")


def parse_bins(question: Closed, bin_texts: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """Read bins of a scale that are written `1-2`, each from its first number to its last, both of them in it.

    Returns their names, ascending, and the bin, from 0, of each code of the scale, `(n_codes,)`. Raises InputError for
    a question that is no scale, fewer than two bins, one that cannot be read, is not on the scale or ends before it
    begins, two that overlap, a number of the scale that is in none.
    """
    if not isinstance(question, Scale):
        raise InputError(f"bins are for numbers on a scale, and this asks {question}")
    if len(bin_texts) < 2:
        raise InputError(f"{len(bin_texts)} bin; expected two or more, which cover the scale from {question.range}")
    ends = sorted(_parse_ends(question, bin_) for bin_ in bin_texts)
    bin_of = np.full(len(question.choices), -1, dtype=np.int64)
    for at, (first, last) in enumerate(ends):
        if (bin_of[first : last + 1] >= 0).any():
            raise InputError(f"bins {_bin_name(question, ends[at - 1])} and {_bin_name(question, ends[at])} overlap")
        bin_of[first : last + 1] = at
    if (bin_of < 0).any():
        missing = ", ".join(question[int(code)].name for code in np.flatnonzero(bin_of < 0)[:5])
        raise InputError(f"no bin has {missing}; expected bins that cover the scale from {question.range}")
    return tuple(_bin_name(question, bin_) for bin_ in ends), bin_of


def check_bins(form: Form, bin_texts: Sequence[str]) -> None:
    """Raise InputError unless the bins, if there are any, are those of all scales of a form, and it has one."""
    scales = {name: question for name, question in form.questions if isinstance(question, Scale)}
    if bin_texts and not scales:
        raise InputError(f"bins are for numbers on a scale, and `{form}` asks for none")
    for name, question in scales.items() if bin_texts else ():
        try:
            parse_bins(question, bin_texts)
        except InputError as error:
            raise InputError(f"`{name}`: {error}") from None


def drop_unfit_bins(form: Form, options: Agree) -> Agree:
    """The same options without their bins where these are not for this form."""
    try:
        check_bins(form, options.bins)
    except InputError:
        return replace(options, bins=())
    return options


def _parse_ends(scale: Scale, bin_text: str) -> tuple[int, int]:
    if not (match := _BIN.fullmatch(bin_text)):
        raise InputError(f"bin `{bin_text}` cannot be read; expected its first and its last number, such as 1-2")
    try:
        first, last = (scale.read(end) for end in match.groups())
    except InputError as error:
        raise InputError(f"bin `{bin_text}`: {error}") from None
    if last < first:
        raise InputError(f"bin `{bin_text}` ends before it begins")
    return first, last


def _bin_name(scale: Scale, ends: tuple[int, int]) -> str:
    first, last = (scale[code].name for code in ends)
    return first if first == last else f"{first}-{last}"
