"""Measuring agreement on what was answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from fcpair.errors import InputError, StageError, suggest_name
from fcpair.params import Agree, AgreementBlocks, IntervalScope, NotSure, Weights
from fcpair.records import Figure, Round, RunRecord
from fcpair.stages.questions.answer_arrays import part_codes
from fcpair.stages.stats.agreement import (
    Agreement,
    AgreementBlock,
    PartAgreements,
    compute_agreement,
    part_agreements,
)
from fcpair.stages.stats.jackknife_intervals import HS_AND_CN, Sides
from fcpair.stages.stats.rating_bins import drop_unfit_bins
from fcpair.steps.answers.import_fc_conan import check_annotators_known
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.calibration_state import latest_answers, load_calibration
from fcpair.steps.base.context import GridContext, effective_options, is_planned, need_labels, note_stage_run, scheme_of
from fcpair.steps.base.keywords import own, takes_params
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import distinct_answers, rounds
from fcpair.store.corpus import cells, sides

if TYPE_CHECKING:
    import pandas as pd

NO_VALUE = "(no value)"  # of texts that lack the metadata
MOST_BLOCKS = 20  # values of a metadata column that pages offer


@overload
def measure_agreement(
    grid: GridContext,
    options: Agree | None = None,
    *,
    round: None = None,
    weights: Weights = ...,
    not_sure: NotSure = ...,
    intervals: IntervalScope = ...,
    level: float = ...,
    by: AgreementBlocks | None = ...,
    metadata: str | None = ...,
    bins: Sequence[str] = ...,
) -> Agreement: ...


@overload
def measure_agreement(
    grid: GridContext,
    options: Agree | None = None,
    *,
    round: str,
    weights: Weights = ...,
    not_sure: NotSure = ...,
    intervals: IntervalScope = ...,
    level: float = ...,
    by: AgreementBlocks | None = ...,
    metadata: str | None = ...,
    bins: Sequence[str] = ...,
) -> PartAgreements: ...


@takes_params
def measure_agreement(
    grid: GridContext,
    options: Agree | None = None,
    *,
    round: str | None = None,
    weights: Weights = own("none"),
    not_sure: NotSure = own("class"),
    intervals: IntervalScope = own("texts"),
    level: float = own(0.95),
    by: AgreementBlocks | None = own(None),
    metadata: str | None = own(None),
    bins: Sequence[str] = own(()),
) -> Agreement | PartAgreements:
    """Measure agreement on the current labels, before adjudication; by the grid's own options when none are given.

    With the name of a `round`, on what was answered in that (in `calibrate again`, on each person's latest answer): a
    block for each part of its form, and with `options.by` for each column or row, or for each value that these have in
    the column `metadata` of theirs.

    Raises:
        StageError: nothing was answered in it.
        InputError: no round is named, and the one that counts asks more than one closed question; or the round named
            is one that checks what was decided; or no text of that side has the metadata; or intervals are to
            generalise to new annotators, and the labels were published without saying whose they are.
        UnknownIdError: the grid has no such round.
    """
    with grid._store.read() as tx:
        need_labels(tx, "agreement")
        options = options or effective_options(tx, Agree, {})
        check_interval_scope(tx, options)
        if round is not None:
            of = rounds.by_name(tx, round)
            return PartAgreements(agreement_blocks(tx, of, with_fitting_bins(tx, of, options)))
        if name := _round_to_be_named(tx):
            raise InputError(
                f"round `{name}` does not ask a single closed question; name the round to get agreement on each part"
            )
        labels = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code")
        return compute_agreement(labels, scheme_of(tx), options, sides_of(tx))


def check_interval_scope(tx: Tx, options: Agree) -> None:
    """Raise InputError for intervals that generalise to new annotators where nobody knows whose a label is."""
    if options.intervals == "annotators":
        check_annotators_known(tx, "no interval generalises to new annotators; omit `intervals` (--intervals)")


def with_fitting_bins(tx: Tx, round_: Round, options: Agree) -> Agree:
    """The options without the bins that are the grid's own, where these are for another of its rounds."""
    has_own_bins = options.bins == effective_options(tx, Agree, {}).bins
    return drop_unfit_bins(form_of(round_.form), options) if has_own_bins else options


def sides_of(tx: Tx) -> Sides:
    """Names that notes use for rows and columns."""
    return Sides(("row", "column")) if is_planned(tx) else HS_AND_CN


def metadata_blocks(grid: GridContext, axis: sides.Axis, column: str) -> PartAgreements:
    """Agreement on the round that counts, for each value of a metadata column, by the grid's own options."""
    with grid._store.read() as tx:
        options = replace(effective_options(tx, Agree, {}), by=axis, metadata=column)
        return PartAgreements(agreement_blocks(tx, rounds.primary(tx), options))


@takes_params
def round_of_blocks(
    grid: GridContext,
    options: Agree | None = None,
    *,
    weights: Weights = own("none"),
    not_sure: NotSure = own("class"),
    intervals: IntervalScope = own("texts"),
    level: float = own(0.95),
    by: AgreementBlocks | None = own(None),
    metadata: str | None = own(None),
    bins: Sequence[str] = own(()),
) -> str | None:
    """The round that is meant where none is named and there is a block for each part, column or row; else None."""
    with grid._store.read() as tx:
        options = options or effective_options(tx, Agree, {})
        return rounds.primary(tx).name if options.by else _round_to_be_named(tx)


def _round_to_be_named(tx: Tx) -> str | None:
    """The name of the round that counts, if it does not ask one closed question."""
    primary_round = rounds.primary(tx)
    return None if closed_question(form_of(primary_round.form)) else primary_round.name


def agreement_blocks(tx: Tx, round_: Round, options: Agree) -> tuple[AgreementBlock, ...]:
    """Agreement on each part of a round, as `measure_agreement` has it, in a transaction that is under way."""
    if round_.checks is not None:
        raise InputError(f"round `{round_.name}` checks decisions; agreement is measured on the answers before them")
    form = form_of(round_.form)
    labels = _answers_of(tx, round_, "cell_id", "hs_id", "cn_id", "annotator", "answer_id")
    if labels.empty:
        raise StageError(f"round `{round_.name}` has no answers yet")
    ids, answer = np.unique(labels.pop("answer_id").to_numpy(np.int64), return_inverse=True)
    codes = part_codes(form, distinct_answers.answer_values(tx, ids.tolist()) if form.parts() else [None] * len(ids))
    return part_agreements(
        labels.assign(answer=answer), form, codes, options, _side_texts(tx, options), sides_of(tx).names
    )


def _answers_of(tx: Tx, round_: Round, *columns: str) -> pd.DataFrame:
    """The answers that are compared: those of a round, or after a discussion the latest of each person on the batch.

    Of second answers alone, there are some only where people differed, so no agreement could be read from them.
    """
    state = load_calibration(tx) if round_.options.again else None
    return latest_answers(tx, state, *columns) if state else judgements.current_labels(tx, *columns, of=round_)


def _side_texts(tx: Tx, options: Agree) -> dict[int, str] | None:
    """The text of each column or row, or its value of a metadata column, in order; None for the whole grid."""
    if options.by is None:
        return None
    texts = cells.texts_of_grid(tx).set_index("text_id")  # those that have cells
    axis: sides.Axis = "row" if options.by == "row" else "column"
    text_ids = [text_id for text_id in sides.text_ids(tx, axis, drawn=True) if text_id in texts.index]
    if options.metadata is None:
        return {text_id: str(texts["body"][text_id]) for text_id in text_ids}
    values = {text_id: str(texts["meta"][text_id].get(options.metadata) or "") for text_id in text_ids}
    if not any(values.values()):
        there = metadata_columns(tx)[axis]
        raise InputError(
            f"no text of the {axis}s has metadata called `{options.metadata}`; "
            + (suggest_name(options.metadata, there, "expected") if there else "they have none")
        )
    return {text_id: value or NO_VALUE for text_id, value in values.items()}


def metadata_columns(tx: Tx) -> dict[sides.Axis, tuple[str, ...]]:
    """The metadata columns of rows and of columns in which their texts have two values or more.

    Those with more than MOST_BLOCKS are left out, as good as names; `agreement_blocks` takes them all the same.
    """
    texts = cells.texts_of_grid(tx).set_index("text_id")["meta"]
    columns: dict[sides.Axis, tuple[str, ...]] = {}
    for axis, _ in sides.AXES:
        metas = [texts[text_id] for text_id in sides.text_ids(tx, axis, drawn=True) if text_id in texts.index]
        values = {name: {str(meta.get(name) or "") for meta in metas} for meta in metas for name in meta}
        columns[axis] = tuple(sorted(name for name, of_name in values.items() if 1 < len(of_name) <= MOST_BLOCKS))
    return columns


@takes_params
def note_agreement(grid: GridContext, options: Agree) -> RunRecord:
    """Measure agreement, and make these options the study's own."""
    with grid._store.read() as tx:
        need_labels(tx, "agreement")
        counts = agreement_counts(tx, options)
    with grid._store.write() as tx:
        return note_stage_run(tx, options, counts)


def agreement_counts(tx: Tx, options: Agree) -> dict[str, Any]:
    """The figures over all people of the round that counts, as the log keeps them: those that rest on any pair."""
    if options.by or _round_to_be_named(tx):
        of = rounds.primary(tx)
        return _block_counts(agreement_blocks(tx, of, with_fitting_bins(tx, of, options)))
    labels = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code")
    measured = compute_agreement(labels, scheme_of(tx), options, sides_of(tx))
    counts = {"labels": measured.n_labels, "pairs": measured.n_pairs, "overlapped": measured.n_overlapped}
    figures = [figure for figure in measured.pooled if figure.n]
    return counts | {figure.name: figure.value for figure in figures} | _bases({one.name: one for one in figures})


def _bases(figures: Mapping[str, Figure]) -> dict[str, Any]:
    """The intervals of figures, and why others are undefined."""
    intervals = {name: [one.low, one.high] for name, one in figures.items() if one.low is not None}
    undefined = {name: one.undefined for name, one in figures.items() if one.undefined}
    return {key: values for key, values in (("intervals", intervals), ("undefined", undefined)) if values}


def _block_counts(measured_blocks: tuple[AgreementBlock, ...]) -> dict[str, Any]:
    """Number of blocks; for the parts of a whole grid, the alpha of each as well."""
    wholes = [(block.part, block.agreement.alpha) for block in measured_blocks if block.agreement and not block.of]
    alphas = {f"{part}, {alpha.name}": alpha for part, alpha in wholes}
    values = {name: alpha.value for name, alpha in alphas.items()}
    return {"blocks": len(measured_blocks), **values, **_bases(alphas)}
