"""How far each grid and each round is, and what is next there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from shlex import quote
from typing import Any

from fcpair.params import Adjudicate
from fcpair.records import Role, Round
from fcpair.steps.base.context import OnStudy, find_grid, has_own, is_planned
from fcpair.steps.rules import rule_decisions
from fcpair.steps.rules.round_progress import Standing, examples_wait_for, pilot_waits, standing, undone, waits_for
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds, vacant_slots
from fcpair.store.corpus import cells, grids, sides

NAMED = 8  # of those who have something open


def overview(study: OnStudy) -> list[dict[str, Any]]:
    """The study's grids, oldest first, as plain values.

    Keys of each: `name`, `row_name`, `column_name`, `rows`, `columns`, `cells`, and `rounds`: of each its `name`,
    `role`, whether it `counts` for decisions and was `dealt`, how many assignments are `open`, `done`, `skipped`,
    `withdrawn`, how many slots are `vacant`, and in open dealing how many of the open ones are `free`.
    """
    with study.store.read() as tx:
        return [grid_facts(tx, one.name) for one in grids.each(tx)]


def planned(tx: Tx) -> list[dict[str, Any]]:
    """What `overview` says of each grid that is planned, with what is `next` there (or None) and `also` can be done."""
    there = [one.name for one in grids.each(tx) if is_planned(tx)]
    found = []
    for name in there:
        with grids.about(tx, find_grid(tx, name).id):
            found.append(grid_facts(tx, name) | to_do(_at_hand(tx, name)))
    return found


def to_do(steps: Iterable[str], otherwise: str | None = None) -> dict[str, Any]:
    """What is `next` of all that can be done now, and what can be done `also`."""
    there = [*steps]
    return {"next": there[0] if there else otherwise, "also": there[1:]}


def _at_hand(tx: Tx, name: str) -> Iterator[str]:
    """All that can be done now in a planned grid, what comes first before the rest."""
    on = f"--grid {quote(name)}"
    if not cells.number_range(tx)[1]:
        if not waits_for(tx):
            yield f"run `fcpair pair {on}`"
        return
    for there in map(partial(standing, tx), rounds.asked(tx)):
        said = _next_in(tx, there, on, f"round `{there.round.name}` of grid `{name}`")
        if said and (there.dealt or _may_begin(tx, name, there.round)):
            yield said
    if has_own(tx, Adjudicate):
        yield from _of_decisions(tx, on, name)


def _may_begin(tx: Tx, grid: str, of: Round) -> bool:
    """Whether a round waits neither for the one on which it rests, nor for its pilot or the grid of its examples."""
    if of.options.rests_on and not of.options.per_batch and undone(tx, grid, rounds.named(tx, of.options.rests_on)):
        return False
    return not (pilot_waits(tx, of) or examples_wait_for(tx, of))


def _of_decisions(tx: Tx, on: str, name: str) -> Iterator[str]:
    """What waits for a person's decision or verdict; cells are first dealt to validators when all answers are in."""
    if n := len(rule_decisions.waiting(tx)):
        yield f"cells of grid `{name}` that wait for a decision: {n:,}; run `fcpair adjudicate {on}`"
    if n := len(rule_decisions.overtaken(tx)):
        yield f"cells of grid `{name}` decided before their answers changed: {n:,}; run `fcpair adjudicate {on}`"
    check = rounds.checking(tx)
    verdicts = standing(tx, check)
    if check.ids and not verdicts.dealt and _is_decided(tx) and not undone(tx, name, rounds.counting(tx)):
        yield f"run `fcpair validate assign {on}`"
    if (n := verdicts.counts["open"]) > disputes.verdicts_not_due(tx):
        yield f"open verdicts in grid `{name}`: {n:,}; `fcpair serve`"


def _is_decided(tx: Tx) -> bool:
    """Whether any cell has a decision that does not discard it."""
    return not all(discards for _, discards in judgements.n_by_rule(tx))


def _next_in(tx: Tx, there: Standing, on: str, which: str) -> str | None:
    """What is next in a round: who has to come, what has to be dealt, or who has to answer."""
    from fcpair.steps.assignment import spot_checks

    role, counts = there.round.role, there.counts
    if role is Role.MODEL:
        return None if there.dealt else _next_of_models(tx, there.round, on)
    come = f"`fcpair people add NAME --role {role}`"
    deal = f"`fcpair assign {on} --round {quote(there.round.name)}`"
    if there.round.options.per_batch and not counts["open"]:  # more of it is dealt as batches are done
        return f"run {deal}" if vacant_slots.heirs(tx, role) and spot_checks.is_due(tx, there.round) else None
    if not there.dealt:
        return f"run {deal}" if vacant_slots.heirs(tx, role) else f"{which} waits for people: {come}, then {deal}"
    if counts["open"]:
        have = [f"{name} {n:,}" for name, n in assignments.open_by_person(tx, there.round)]
        more = f" and {len(have) - NAMED:,} more people" if len(have) > NAMED else ""
        return f"open answers in {which}: {counts['open']:,} ({', '.join(have[:NAMED])}{more}); `fcpair serve`"
    if counts["vacant"]:
        return f"answers in {which} that nobody is left to give: {counts['vacant']:,}; {come}"
    return None


def _next_of_models(tx: Tx, of: Round, on: str) -> str:
    """What is next in a round that models have not answered: its examples are found, reviewed, or models asked."""
    from fcpair.steps.rules import example_review

    waits = examples_wait_for(tx, of) or example_review.missing(tx, of, on)
    return waits or f"run `fcpair generate {on} --round {quote(of.name)}`"


def grid_facts(tx: Tx, name: str) -> dict[str, Any]:
    """What `overview` says of the grid that the transaction is about."""
    row_name, column_name = grids.names(tx)
    return {
        "name": name,
        "row_name": row_name,
        "column_name": column_name,
        **{plural: sides.n_texts(tx, axis) for axis, plural in sides.AXES},
        "cells": cells.n_cells(tx),
        "rounds": [
            {"name": one.name, "role": one.role.value, "counts": one.counts, "dealt": there.dealt, **there.counts}
            for one in rounds.rounds(tx)
            for there in [standing(tx, one)]
        ],
    }
