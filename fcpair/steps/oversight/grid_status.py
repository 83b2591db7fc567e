"""Progress of each grid and each round, and what is next there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from shlex import quote
from typing import Any

from fcpair.params import Adjudicate
from fcpair.records import Role, Round
from fcpair.steps.base.context import StudyContext, find_grid, has_saved_options, is_planned
from fcpair.steps.rules import rule_decisions
from fcpair.steps.rules.round_progress import (
    RoundProgress,
    examples_blocked_by,
    is_pilot_unfinished,
    round_progress,
    sides_blocked_by,
    unfinished_message,
)
from fcpair.store import Tx
from fcpair.store.adjudication import adjudications, disputes
from fcpair.store.assignment import assignments, rounds, vacant_slots
from fcpair.store.corpus import cells, grids, sides

MAX_NAMED = 8  # of those who have something open


def overview(study: StudyContext) -> list[dict[str, Any]]:
    """The study's grids, oldest first, as plain values.

    Keys of each: `name`, `row_name`, `column_name`, `rows`, `columns`, `cells`, and `rounds`: of each its `name`,
    `role`, whether it `counts` for decisions and was `dealt`, how many assignments are `open`, `done`, `skipped`,
    `withdrawn`, how many slots are `vacant`, and in open dealing how many of the open ones are `free`.
    """
    with study._store.read() as tx:
        return [grid_facts(tx, one.name) for one in grids.for_each_grid(tx)]


def planned_grids(tx: Tx) -> list[dict[str, Any]]:
    """Facts from `overview` on each planned grid, with what is `next` there (or None) and what can `also` be done."""
    names = [one.name for one in grids.for_each_grid(tx) if is_planned(tx)]
    grids_planned = []
    for name in names:
        with grids.on_grid(tx, find_grid(tx, name).id):
            grids_planned.append(grid_facts(tx, name) | next_and_also(_possible_steps(tx, name)))
    return grids_planned


def next_and_also(steps: Iterable[str], otherwise: str | None = None) -> dict[str, Any]:
    """Split all that can be done now into what is `next` and what can `also` be done."""
    all_steps = [*steps]
    return {"next": all_steps[0] if all_steps else otherwise, "also": all_steps[1:]}


def _possible_steps(tx: Tx, name: str) -> Iterator[str]:
    """All that can be done now in a planned grid, what comes first before the rest."""
    grid_option = f"--grid {quote(name)}"
    if not cells.number_range(tx)[1]:
        if not sides_blocked_by(tx):
            yield f"run `fcpair pair {grid_option}`"
        return
    for progress in map(partial(round_progress, tx), rounds.answer_rounds(tx)):
        step = _next_in_round(tx, progress, grid_option, f"round `{progress.round.name}` of grid `{name}`")
        if step and (progress.dealt or _may_begin(tx, name, progress.round)):
            yield step
    if has_saved_options(tx, Adjudicate):
        yield from _decision_steps(tx, grid_option, name)


def _may_begin(tx: Tx, grid: str, round_: Round) -> bool:
    """Whether a round waits neither for the one on which it rests, nor for its pilot or the grid of its examples."""
    if (
        round_.options.rests_on
        and not round_.options.per_batch
        and unfinished_message(tx, grid, rounds.by_name(tx, round_.options.rests_on))
    ):
        return False
    return not (is_pilot_unfinished(tx, round_) or examples_blocked_by(tx, round_))


def _decision_steps(tx: Tx, grid_option: str, name: str) -> Iterator[str]:
    """Yield what waits for a person's decision or verdict; validators first get cells when all answers are in."""
    if n := len(rule_decisions.waiting_cell_ids(tx)):
        yield f"cells of grid `{name}` that wait for a decision: {n:,}; run `fcpair adjudicate {grid_option}`"
    if n := len(rule_decisions.stale_decisions(tx)):
        yield (
            f"cells of grid `{name}` decided before their answers changed: {n:,}; run `fcpair adjudicate {grid_option}`"
        )
    check = rounds.validation(tx)
    verdicts = round_progress(tx, check)
    if check.ids and not verdicts.dealt and _has_decisions(tx) and not unfinished_message(tx, name, rounds.primary(tx)):
        yield f"run `fcpair validate assign {grid_option}`"
    if (n := verdicts.counts["open"]) > disputes.n_verdicts_not_due(tx):
        yield f"open verdicts in grid `{name}`: {n:,}; `fcpair serve`"


def _has_decisions(tx: Tx) -> bool:
    """Whether any cell has a decision that does not discard it."""
    return not all(discards for _, discards in adjudications.n_by_rule(tx))


def _next_in_round(tx: Tx, progress: RoundProgress, grid_option: str, subject: str) -> str | None:
    """Find the next step in a round: who has to come, what has to be assigned, or who has to answer."""
    from fcpair.steps.assignment import spot_checks

    role, counts = progress.round.role, progress.counts
    if role is Role.MODEL:
        return None if progress.dealt else _next_for_models(tx, progress.round, grid_option)
    add_command = f"`fcpair people add NAME --role {role}`"
    assign_command = f"`fcpair assign {grid_option} --round {quote(progress.round.name)}`"
    if progress.round.options.per_batch and not counts["open"]:  # more of it is dealt as batches are done
        return (
            f"run {assign_command}"
            if vacant_slots.candidates(tx, role) and spot_checks.is_due(tx, progress.round)
            else None
        )
    if not progress.dealt:
        return (
            f"run {assign_command}"
            if vacant_slots.candidates(tx, role)
            else f"{subject} waits for people: {add_command}, then {assign_command}"
        )
    if counts["open"]:
        n_open_by_name = [f"{name} {n:,}" for name, n in assignments.n_open_by_person(tx, progress.round)]
        more = f" and {len(n_open_by_name) - MAX_NAMED:,} more people" if len(n_open_by_name) > MAX_NAMED else ""
        return (
            f"open answers in {subject}: {counts['open']:,} ({', '.join(n_open_by_name[:MAX_NAMED])}{more}); "
            "`fcpair serve`"
        )
    if counts["vacant"]:
        return f"answers in {subject} that nobody is left to give: {counts['vacant']:,}; {add_command}"
    return None


def _next_for_models(tx: Tx, round_: Round, grid_option: str) -> str:
    """Find the next step in a round that models have not answered: to find examples, review them, or ask the models."""
    from fcpair.steps.rules import example_review

    reason = examples_blocked_by(tx, round_) or example_review.blocking_message(tx, round_, grid_option)
    return reason or f"run `fcpair generate {grid_option} --round {quote(round_.name)}`"


def grid_facts(tx: Tx, name: str) -> dict[str, Any]:
    """Facts that `overview` gives about the grid that the transaction is about."""
    row_name, column_name = grids.side_names(tx)
    return {
        "name": name,
        "row_name": row_name,
        "column_name": column_name,
        **{plural: sides.n_texts(tx, axis) for axis, plural in sides.AXES},
        "cells": cells.n_cells(tx),
        "rounds": [
            {
                "name": round_.name,
                "role": round_.role.value,
                "counts": round_.counts,
                "dealt": progress.dealt,
                **progress.counts,
            }
            for round_ in rounds.of_grid(tx)
            for progress in [round_progress(tx, round_)]
        ],
    }
