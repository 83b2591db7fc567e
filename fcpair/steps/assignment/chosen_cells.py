"""Cells that alone get further labels: those of a block, those that a list names in its order, or one more of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import Finding, reject
from fcpair.params import Assign
from fcpair.records import RunRecord
from fcpair.sentences import Id, say
from fcpair.stages.assignment.assign import overlap_counts
from fcpair.stages.assignment.rounds import spread_labels
from fcpair.steps.base.context import has_saved_options, save_options
from fcpair.steps.rules.tallies import as_ranges, find_cells
from fcpair.store import Tx
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells, grids


@dataclass(frozen=True)
class Chosen:
    """Cells, `cell_id` in their order, and how many labels are wanted of each, `n`; both `(n_cells,)`.

    `batch` numbers the batches, which come one after the other. `in_order`: they are shown in their order. `params` are
    what a run says of them.
    """

    cell_id: Ints
    n: Ints
    batch: Ints
    in_order: bool
    params: Mapping[str, Any]


Choose = Callable[[Tx], Chosen]


def choose_pairs(pairs: Sequence[int]) -> Choose:
    """Choose pairs by their numbers, for one label more of each."""

    def choose(tx: Tx) -> Chosen:
        cell_id = np.array(find_cells(tx, pairs), np.int64)
        ones = np.ones_like(cell_id)
        return Chosen(cell_id, ones, ones, in_order=False, params={"pairs": as_ranges(pairs)})

    return choose


def choose_block(n_before: int, options: Assign) -> Choose:
    """Choose the cells of the newest block, so that the shares of the overlap hold over all cells together, of which
    `n_before` were there.
    """

    def choose(tx: Tx) -> Chosen:
        blocks, rows = cells.load_blocks(tx), cells.cell_arrays(tx)
        is_new = rows["cell_id"] > grids.cell_range(tx).first + blocks.before[-1]
        rows = {name: column[is_new] for name, column in rows.items()}
        n_new, n = len(rows["cell_id"]), dict[int, int]()
        whole, old = (overlap_counts(count, options.overlap) for count in (n_before + n_new, n_before))
        for n_labels in sorted(whole, reverse=True):
            n[n_labels] = min(max(whole[n_labels] - old[n_labels], 0), n_new - sum(n.values()))
        n[1] += n_new - sum(n.values())
        n_each = spread_labels(rows["hs_id"], rows["cn_id"], n, options.seed)
        return Chosen(rows["cell_id"], n_each, np.ones(n_new, np.int64), False, {"block": len(blocks.shapes)})

    return choose


def save_first_options(tx: Tx, options: Assign, chosen: Chosen | None, run: RunRecord) -> None:
    """Let the options hold with which a list was assigned, where that was the first that was assigned of the grid."""
    if chosen is not None and chosen.in_order and not has_saved_options(tx, Assign):
        save_options(tx, replace(options, annotators=None), run)


def given_cells(tx: Tx) -> set[int]:
    """The cells that anybody was ever given in the round that counts, or may ask for."""
    round_ = rounds.primary(tx)
    free = (slot.cell_id for _, slot in open_slots.free_slots(tx, round_))
    return {*assignments.assigned_cells(tx, round_), *free}


def choose_listed(
    place: str, numbers: Sequence[int], lines: Sequence[int], options: Assign, batch: int | None
) -> Choose:
    """Choose cells that nobody was given, in the order of a list, `place`, with the line of each; in batches of so many
    cells, in each of which the shares of the overlap hold.

    Raises InputError with each line whose cell is not in the grid, is assigned already, or is listed twice.
    """

    def choose(tx: Tx) -> Chosen:
        cell_id, given = np.array(numbers, np.int64) + grids.cell_range(tx).first, given_cells(tx)
        rows = cells.by_id(tx, cell_id.tolist()).set_index("cell_id")
        findings, first_lines = list[Finding](), dict[int, int]()
        for number, line, id_ in zip(numbers, lines, cell_id.tolist(), strict=True):
            first = first_lines.setdefault(id_, line)
            if id_ not in rows.index:
                findings.append(Finding(place, line, say("there is no pair %(number)s in the grid", number=Id(number))))
            elif first != line:
                what = say("pair %(number)s is listed in line %(line)s already", number=Id(number), line=Id(first))
                findings.append(Finding(place, line, what))
            elif id_ in given:
                what = say("pair %(number)s has been assigned already", number=Id(number))
                findings.append(Finding(place, line, what, say("assigned already")))
        reject(place, findings)
        rows, batches = rows.loc[cell_id], np.arange(len(cell_id)) // (batch or len(cell_id))
        n_each = np.ones_like(cell_id)
        for at in range(int(batches[-1]) + 1):
            hs, cn = (rows[name].to_numpy()[batches == at] for name in ("hs_id", "cn_id"))
            n_each[batches == at] = spread_labels(hs, cn, overlap_counts(len(hs), options.overlap), options.seed + at)
        params = {"cells": as_ranges(numbers), **({"batch": batch} if batch else {})}
        return Chosen(cell_id, n_each, batches, in_order=True, params=params)

    return choose
