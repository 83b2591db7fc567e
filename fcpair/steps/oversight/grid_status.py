"""Progress of each grid and each round, and what is next there."""

from __future__ import annotations

from typing import Any

from fcpair.steps.base.context import StudyContext, find_grid, is_planned
from fcpair.steps.oversight.next_commands import next_and_also, planned_commands
from fcpair.steps.rules.round_progress import round_progress
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids, sides


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
            grids_planned.append(grid_facts(tx, name) | next_and_also(planned_commands(tx, name)))
    return grids_planned


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
