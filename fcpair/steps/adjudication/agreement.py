"""Measuring agreement on what was answered."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from fcpair.errors import InputError, StageError
from fcpair.param_values import takes_params
from fcpair.params import Agree
from fcpair.records import Round, RunRecord
from fcpair.stages.questions.answer_arrays import part_codes
from fcpair.stages.stats.agreement import Agreement, Block, agreement, part_agreements
from fcpair.stages.stats.grid_jackknife import HS_AND_CN, Sides
from fcpair.stages.stats.rating_bins import fitting
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.context import OnGrid, is_planned, need_labels, note, own, scheme_of
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import distinct_answers, rounds
from fcpair.store.corpus import cells, sides


@overload
def measure_agreement(grid: OnGrid, options: Agree | None = None, *, round: None = None) -> Agreement: ...


@overload
def measure_agreement(grid: OnGrid, options: Agree | None = None, *, round: str) -> tuple[Block, ...]: ...


@takes_params
def measure_agreement(
    grid: OnGrid, options: Agree | None = None, *, round: str | None = None
) -> Agreement | tuple[Block, ...]:
    """Measure agreement on the current labels, before adjudication; by the grid's own options when none are given.

    With the name of a `round`, on what was answered in that: a block for each part of its form, and with `options.by`
    for each column or row.

    Raises:
        StageError: nothing was answered in it.
        InputError: no round is named, and the one that counts asks more than one closed question; or the round named
            is one that checks what was decided.
        UnknownIdError: the grid has no such round.
    """
    with grid.store.read() as tx:
        need_labels(tx, "agreement")
        options = options or own(tx, Agree, {})
        if round is not None:
            return blocks(tx, of := rounds.named(tx, round), _with_bins_of(tx, of, options))
        if name := _needs_name(tx):
            raise InputError(
                f"round `{name}` does not ask one closed question; name it, to have agreement on each part"
            )
        labels = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code")
        return agreement(labels, scheme_of(tx), options, sides_of(tx))


def _with_bins_of(tx: Tx, of: Round, options: Agree) -> Agree:
    """The options without the bins that are the grid's own, where these are for another of its rounds."""
    is_own = options.bins == own(tx, Agree, {}).bins
    return fitting(form_of(of.form), options) if is_own else options


def sides_of(tx: Tx) -> Sides:
    """What notes call rows and columns."""
    return Sides(("row", "column")) if is_planned(tx) else HS_AND_CN


@takes_params
def round_of_blocks(grid: OnGrid, options: Agree) -> str | None:
    """The round that is meant where none is named and there is a block for each part, column or row; else None."""
    with grid.store.read() as tx:
        return rounds.counting(tx).name if options.by else _needs_name(tx)


def _needs_name(tx: Tx) -> str | None:
    """The name of the round that counts, if it does not ask one closed question."""
    counting = rounds.counting(tx)
    return None if closed_question(form_of(counting.form)) else counting.name


def blocks(tx: Tx, of: Round, options: Agree) -> tuple[Block, ...]:
    """Agreement on each part of a round, as `measure_agreement` has it, in a transaction that is under way."""
    if of.checks is not None:
        raise InputError(
            f"round `{of.name}` checks what was decided; agreement is measured on what was answered before"
        )
    form = form_of(of.form)
    given = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "answer_id", of=of)
    if given.empty:
        raise StageError(f"round `{of.name}` has no answers yet")
    ids, answer = np.unique(given.pop("answer_id").to_numpy(np.int64), return_inverse=True)
    codes = part_codes(form, distinct_answers.values(tx, ids.tolist()) if form.parts() else [None] * len(ids))
    return part_agreements(given.assign(answer=answer), form, codes, options, _texts(tx, options), sides_of(tx).names)


def _texts(tx: Tx, options: Agree) -> dict[int, str] | None:
    """The text of each column or row, in order; None where figures are about the whole grid."""
    if options.by is None:
        return None
    body = cells.texts_of_grid(tx).set_index("text_id")["body"]  # of those that have cells
    there = sides.texts(tx, "row" if options.by == "row" else "column", drawn=True)
    return {one: str(body[one]) for one in there if one in body.index}


@takes_params
def note_agreement(grid: OnGrid, options: Agree) -> RunRecord:
    """Measure agreement, and make these options the study's own."""
    name = round_of_blocks(grid, options)
    if name is None:
        counts = _of_all(measure_agreement(grid, options))
    else:
        counts = _of_blocks(measure_agreement(grid, options, round=name))
    with grid.store.write() as tx:
        return note(tx, options, counts)


def _of_all(found: Agreement) -> dict[str, Any]:
    counts = {"labels": found.n_labels, "pairs": found.n_pairs, "overlapped": found.n_overlapped}
    return counts | {figure.name: figure.value for figure in found.pooled}


def _of_blocks(found: tuple[Block, ...]) -> dict[str, Any]:
    """How many blocks there are; of the parts of a whole grid, the alpha of each as well."""
    alphas = {one.part: one.agreement.alpha for one in found if one.agreement and not one.of}
    return {"blocks": len(found), **{f"{part}, {alpha.name}": alpha.value for part, alpha in alphas.items()}}
