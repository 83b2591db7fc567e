"""Measuring agreement on what was answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from fcpair.errors import EXPECTED, InputError, StageError, suggest_name
from fcpair.lazy import pd
from fcpair.params import Agree, AgreementBlocks, Indefinite, IntervalScope, Weights
from fcpair.records import Round, RunRecord
from fcpair.stages.questions.form import part_codes
from fcpair.stages.stats import agreement
from fcpair.stages.stats.jackknife_intervals import HS_AND_CN, Sides
from fcpair.stages.stats.people_agreement import PeopleComparison, compare_labels, most_disputed
from fcpair.steps.answers.import_fc_conan import check_interval_scope
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.calibration_state import latest_answers, load_calibration
from fcpair.steps.base.context import GridContext, effective_options, is_planned, need_labels, note_stage_run, scheme_of
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.people.people import find_person
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids, sides

MOST_BLOCKS, MOST_DISPUTED = 20, 10  # values of a metadata column, and texts of a side, that pages offer


@overload
def measure_agreement(
    grid: GridContext,
    options: Agree | None = None,
    *,
    round: None = None,
    weights: Weights = ...,
    indefinite: Indefinite = ...,
    intervals: IntervalScope = ...,
    level: float = ...,
    blocks: AgreementBlocks | None = ...,
    metadata: str | None = ...,
    bins: Sequence[str] = ...,
    further: bool = ...,
) -> agreement.Agreement: ...


@overload
def measure_agreement(
    grid: GridContext,
    options: Agree | None = None,
    *,
    round: str,
    weights: Weights = ...,
    indefinite: Indefinite = ...,
    intervals: IntervalScope = ...,
    level: float = ...,
    blocks: AgreementBlocks | None = ...,
    metadata: str | None = ...,
    bins: Sequence[str] = ...,
    further: bool = ...,
) -> agreement.PartAgreements: ...


@takes_params
def measure_agreement(
    grid: GridContext,
    options: Agree | None = None,
    *,
    round: str | None = None,
    weights: Weights = own("none"),
    indefinite: Indefinite = own("class"),
    intervals: IntervalScope = own("texts"),
    level: float = own(0.95),
    blocks: AgreementBlocks | None = own(None),
    metadata: str | None = own(None),
    bins: Sequence[str] = own(()),
    further: bool = own(False),
) -> agreement.Agreement | agreement.PartAgreements:
    """Measure agreement on the current labels, before adjudication; by the grid's own options when none are given.

    With the name of a `round`, on what was answered in that (in `calibrate again`, on each person's latest answer): a
    block for each part of its form, and with `options.blocks` for each column or row, or for each value that these have
    in the column `metadata` of theirs.

    Raises StageError where nothing was answered in it; InputError where the round named checks decisions, or none is
    named and the one that counts asks more than one closed question, no text of that side has the metadata, or
    intervals are to generalise to new annotators and nothing says whose the labels are; UnknownIdError for no such
    round.
    """
    with grid._store.read() as tx:
        need_labels(tx, "agreement")
        options = options or effective_options(tx, Agree, {})
        check_interval_scope(tx, options)
        if round is not None:
            of = rounds.by_name(tx, round)
            return agreement.PartAgreements(agreement_blocks(tx, of, with_fitting_bins(tx, of, options)))
        if name := _round_to_be_named(tx):
            raise InputError(
                f"round `{name}` does not ask a single closed question; name the round to get agreement on each part"
            )
        return measure_labels(tx, options)


def measure_labels(tx: Tx, options: Agree) -> agreement.Agreement:
    """Agreement on the labels that count, in a transaction that is under way."""
    return agreement.compute_agreement(compared_labels(tx, options), scheme_of(tx), options, sides_of(tx))


def compared_labels(tx: Tx, options: Agree, person_ids: Sequence[int] | None = None) -> pd.DataFrame:
    """The labels on which agreement is measured, as `compute_agreement` takes them."""
    columns = ("cell_id", "hs_id", "cn_id", "annotator", "code")
    return judgements.current_labels(tx, *columns, person_ids=person_ids, further=options.further)


def with_fitting_bins(tx: Tx, round_: Round, options: Agree) -> Agree:
    """The options without the bins that are the grid's own, where these are for another of its rounds."""
    has_own_bins = options.bins == effective_options(tx, Agree, {}).bins
    return agreement.drop_unfit_bins(form_of(round_.form), options) if has_own_bins else options


def sides_of(tx: Tx) -> Sides:
    """Names that notes use for rows and columns."""
    return Sides(("row", "column")) if is_planned(tx) else HS_AND_CN


def round_of_blocks(grid: GridContext, options: Agree) -> str | None:
    """The round that is meant where none is named and there is a block for each part, column or row; else None."""
    with grid._store.read() as tx:
        return rounds.primary(tx).name if options.blocks else _round_to_be_named(tx)


def _round_to_be_named(tx: Tx) -> str | None:
    """The name of the round that counts, if it does not ask one closed question."""
    primary_round = rounds.primary(tx)
    return None if closed_question(form_of(primary_round.form)) else primary_round.name


def agreement_blocks(tx: Tx, round_: Round, options: Agree) -> tuple[agreement.AgreementBlock, ...]:
    """Agreement on each part of a round, as `measure_agreement` has it, in a transaction that is under way."""
    if round_.checks is not None:
        raise InputError(f"round `{round_.name}` checks decisions; agreement is measured on the answers before them")
    form = form_of(round_.form)
    columns = ("cell_id", "hs_id", "cn_id", "annotator", "answer_id")
    # after a discussion, each person's latest: of second answers alone, there are some only where people differed
    state = load_calibration(tx) if round_.options.again else None
    if state:
        labels = latest_answers(tx, state, *columns)
    else:
        labels = judgements.current_labels(tx, *columns, of=round_, further=options.further)
    if labels.empty:
        raise StageError(f"round `{round_.name}` has no answers yet")
    ids, answer = np.unique(labels.pop("answer_id").to_numpy(np.int64), return_inverse=True)
    codes = part_codes(form, rounds.answer_values(tx, ids.tolist()) if form.parts() else [None] * len(ids))
    return agreement.part_agreements(
        labels.assign(answer=answer), form, codes, options, _side_texts(tx, options), sides_of(tx).names
    )


def _side_texts(tx: Tx, options: Agree) -> dict[int, str] | None:
    """The text of each column or row, or its value of a metadata column, in order; None for the whole grid."""
    if options.blocks is None:
        return None
    axis: sides.Axis = "row" if options.blocks == "row" else "column"
    texts = _texts_with_cells(tx, axis)
    if options.metadata is None:
        return dict(zip(texts.index.tolist(), texts["body"].tolist(), strict=True))
    if not any(meta.get(options.metadata) for meta in texts["meta"]):
        names = metadata_columns(tx)[axis]
        hint = suggest_name(options.metadata, names, EXPECTED) if names else "they have none"
        raise InputError(f"no text of the {axis}s has metadata called `{options.metadata}`; {hint}")
    values = (str(meta.get(options.metadata) or "(no value)") for meta in texts["meta"])
    return dict(zip(texts.index.tolist(), values, strict=True))


def _texts_with_cells(tx: Tx, axis: sides.Axis) -> pd.DataFrame:
    texts = cells.texts_of_grid(tx).set_index("text_id")
    return texts.loc[[text_id for text_id in sides.text_ids(tx, axis, drawn=True) if text_id in texts.index]]


def metadata_columns(tx: Tx) -> dict[sides.Axis, tuple[str, ...]]:
    """The metadata columns of rows and of columns with two values to MOST_BLOCKS; those with more are good as names."""
    columns: dict[sides.Axis, tuple[str, ...]] = {}
    for axis, _ in sides.AXES:
        metas = _texts_with_cells(tx, axis)["meta"].tolist()
        values = {name: {str(meta.get(name) or "") for meta in metas} for meta in metas for name in meta}
        columns[axis] = tuple(sorted(name for name in values if 1 < len(values[name]) <= MOST_BLOCKS))
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
    """The figures over all people of the round that counts, as the log keeps them: those that rest on any pair, their
    intervals, and why others are undefined.
    """
    check_interval_scope(tx, options)
    if options.blocks or _round_to_be_named(tx):
        of = rounds.primary(tx)
        measured_blocks = agreement_blocks(tx, of, with_fitting_bins(tx, of, options))
        wholes = [(block.part, block.agreement.alpha) for block in measured_blocks if block.agreement and not block.of]
        figures = {f"{part}, {alpha.name}": alpha for part, alpha in wholes}
        counts = {"blocks": len(measured_blocks)}
    else:
        measured = measure_labels(tx, options)
        counts = {"labels": measured.n_labels, "pairs": measured.n_pairs, "overlapped": measured.n_overlapped}
        figures = {figure.name: figure for figure in measured.pooled if figure.n}
    intervals = {name: [figure.low, figure.high] for name, figure in figures.items() if figure.low is not None}
    undefined = {name: figure.undefined for name, figure in figures.items() if figure.undefined}
    bases = {key: values for key, values in (("intervals", intervals), ("undefined", undefined)) if values}
    return {**counts, **{name: figure.value for name, figure in figures.items()}, **bases}


def compare_people(grid: GridContext, person: str, other: str) -> PeopleComparison:
    """Compare the current labels of two people on the pairs that both labelled, by the grid's own options.

    Raises StageError where nobody has labelled yet, UnknownIdError for nobody of a name, InputError where both are the
    same person, or the answers that count are no labels.
    """
    if person == other:
        raise InputError.say("`%(name)s` cannot be compared with themselves; name two people", name=person)
    with grid._store.read() as tx:
        need_labels(tx, "agreement")
        ids = [find_person(tx, name).id for name in (person, other)]
        options = effective_options(tx, Agree, {})
        labels = compared_labels(tx, options, person_ids=ids)
        return compare_labels(labels, (person, other), scheme_of(tx), options, sides_of(tx))


@dataclass(frozen=True)
class DisputedText:
    """A text of the grid, `disputed` pairs of which have labels that differ, of `n` that have two labels or more."""

    text: str
    n: int
    disputed: tuple[int, ...]


@dataclass(frozen=True)
class DisputedTexts:
    """The texts of one side with most disputed pairs, of `n_texts` that have any."""

    texts: tuple[DisputedText, ...]
    n_texts: int


def load_disputed_texts(tx: Tx) -> dict[sides.Axis, DisputedTexts]:
    """The most disputed rows and columns; indefinite labels count or not, by the grid's own options of agreement."""
    labels = judgements.label_arrays(tx, "cell_id", "hs_id", "cn_id", "code")
    if effective_options(tx, Agree, {}).indefinite == "drop":
        is_definite = np.isin(labels["code"], scheme_of(tx).definite)
        labels = {name: column[is_definite] for name, column in labels.items()}
    disputed: dict[sides.Axis, DisputedTexts] = {}
    for axis, _ in sides.AXES:
        (most, n_texts), bodies = most_disputed(labels, axis, MOST_DISPUTED), dict(sides.bodies(tx, axis))
        texts = (
            DisputedText(bodies[share.text_id], share.n, tuple(map(grids.to_public_number, share.disputed)))
            for share in most
        )
        disputed[axis] = DisputedTexts(tuple(texts), n_texts)
    return disputed
