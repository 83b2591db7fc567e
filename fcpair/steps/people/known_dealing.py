"""Assigning known pairs: a qualification to everybody, and control pairs among those of each shard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.params import Assign
from fcpair.records import Known, Round
from fcpair.stages.assignment.rounds import merge_controls, n_controls
from fcpair.steps.base import init
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import options_as_done
from fcpair.steps.people import known_pairs, reassignment
from fcpair.steps.people.known_pairs import Standing, has_known_pairs, known_options, known_pairs_of
from fcpair.store import Tx
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.assignment.open_slots import Candidate
from fcpair.store.corpus import cells, grids
from fcpair.store.people import people


class _Share(NamedTuple):
    """Known pairs for one person: `wanted` so many more, of the cells that they can have."""

    person_id: int
    wanted: int
    cells: NDArray[np.int64]


def assign_known_pairs(tx: Tx, round_: Round, *, strict: bool = False, by_row: bool | None = None) -> dict[str, int]:
    """Give everybody the known pairs that they should have beside their shard in a round; returns how many, by use.

    Nobody is given a pair that is, or was, in their shard, so that no answer that counts depends on any of this, nor
    one that they had in a calibration, where it may have been discussed. Where the round shows one row after the other
    (`by_row`), so come control pairs. Where it is `strict`, InputError is raised where somebody cannot have enough;
    else they get what there is.
    """
    if not round_.counts or not has_known_pairs(tx):
        return {}
    loads = assignments.n_active_by_person(tx, round_)
    if not loads:
        return {}
    if by_row is None:
        by_row = options_as_done(tx, Assign).order == "hs"
    counts = {}
    for use in Known:
        if known_pairs_of(tx, use):
            # nobody can call a round so
            if not any(one.options.known == use for one in rounds.of_known_pairs(tx, round_)):
                options = replace(round_.options, known=str(use), known_for=round_.name)
                init.add_round(tx, round_.grid_id, f"known:{use}", round_.role, form_of(round_.form), options=options)
            known_round = next(one for one in rounds.of_known_pairs(tx, round_) if one.options.known == use)
            shares = _shares(tx, round_, known_round, loads, strict=strict)
            counts[str(use)] = sum(_give(tx, round_, known_round, share, by_row=by_row) for share in shares)
    return counts


def replace_skipped(tx: Tx, qualification: Round, n_skipped: Mapping[int, int]) -> int:
    """Give people as many more known pairs of a qualification as they have skipped now, as long as there are any.

    So a skip neither helps nor costs the pass. Returns how many were given.
    """
    round_ = rounds.by_name(tx, qualification.options.known_for)
    candidates = [one for one in open_slots.candidates(tx, round_.role) if one.id in n_skipped]
    free_cells = _free_cells(tx, round_, Known.QUALIFICATION, candidates)
    shares = (_Share(one.id, n_skipped[one.id], cells) for one, cells in zip(candidates, free_cells, strict=True))
    return sum(_give(tx, round_, qualification, share, by_row=False) for share in shares)


def assign_everywhere(tx: Tx) -> dict[str, int]:
    """Do so in every grid, as when somebody has come or taken work over."""
    counts = Counter[str]()
    for _ in grids.for_each_grid(tx):
        if has_known_pairs(tx):
            counts.update(assign_known_pairs(tx, rounds.primary(tx)))
    return {name: n for name, n in counts.items() if n}


def _shares(tx: Tx, round_: Round, known_round: Round, loads: dict[int, int], *, strict: bool) -> list[_Share]:
    use = Known(known_round.options.known)
    options, n_given = known_options(tx, use), assignments.n_active_by_person(tx, known_round)
    candidates = open_slots.candidates(tx, round_.role)
    free_cells = _free_cells(tx, round_, use, candidates)
    if use is Known.CONTROLS:
        wanted = {one.id: n_controls(loads.get(one.id, 0), options.rate) for one in candidates}
    else:
        n_each = options.known_pairs or max(n_given.values(), default=0) or min(map(len, free_cells), default=0)
        standings = known_pairs.standings(tx, known_round)
        is_over = (standings.get(one.id, Standing.OPEN) is not Standing.OPEN for one in candidates)
        wanted = {one.id: 0 if over else n_each for one, over in zip(candidates, is_over, strict=True)}
    shares = [
        _Share(one.id, max(wanted[one.id] - n_given.get(one.id, 0), 0), cells)
        for one, cells in zip(candidates, free_cells, strict=True)
    ]
    if strict:
        names = {one.id: one.name for one in people.people(tx)}
        for share in shares:
            n_left = len(share.cells)
            if use is Known.CONTROLS and share.wanted > n_left:
                raise InputError(
                    f"a rate of {options.rate:g} asks for {share.wanted:,} control pairs in the shard of "
                    f"`{names[share.person_id]}`, for whom {n_left:,} known pairs are left; add known pairs, or lower "
                    "`rate`"
                )
            if use is Known.QUALIFICATION and share.wanted > n_left:
                raise InputError(
                    f"`{names[share.person_id]}` is to qualify on {share.wanted:,} pairs, but only {n_left:,} known "
                    "pairs are neither in their shard nor in a calibration; add known pairs, or lower `pairs`"
                )
            if use is Known.QUALIFICATION and not share.wanted:
                raise InputError(
                    "somebody has every known pair in their shard, so nobody can qualify on the same number of pairs; "
                    "add known pairs"
                )
    return shares


def _free_cells(tx: Tx, round_: Round, use: Known, candidates: Sequence[Candidate]) -> list[NDArray[np.int64]]:
    """The known cells that each of these people can be given; what they discussed in a calibration is no test."""
    located = assignments.known_cell_ids(tx, [pair[:2] for pair in known_pairs_of(tx, use)])
    cell_ids = np.array(sorted(located.values()), np.int64)
    barred = reassignment.ineligibility_matrix(tx, cell_ids, candidates, round_)
    person_ids = [one.id for one in candidates]
    for earlier_round in (*rounds.of_known_pairs(tx, round_), *rounds.calibration_rounds(tx)):
        given = assignments.ever_assigned(tx, earlier_round, person_ids)
        given = given[np.isin(given[:, 0], cell_ids)]
        barred[np.searchsorted(cell_ids, given[:, 0]), [person_ids.index(one) for one in given[:, 1].tolist()]] = True
    return [cell_ids[~barred[:, column]] for column in range(len(candidates))]


def _give(tx: Tx, round_: Round, known_round: Round, share: _Share, *, by_row: bool) -> int:
    """Give somebody known pairs, as many as are wanted and there are; returns how many."""
    n = min(share.wanted, len(share.cells))
    if not n:
        return 0
    use = Known(known_round.options.known)
    seed = [known_options(tx, use).seed, list(Known).index(use), share.person_id, len(share.cells)]
    rng = np.random.default_rng(seed)
    chosen = rng.choice(share.cells, n, replace=False).tolist()
    positions = (
        _positions_in_shard(tx, round_, share.person_id, chosen, rng, by_row=by_row)
        if use is Known.CONTROLS
        else count(assignments.last_positions(tx, known_round, [share.person_id]).get(share.person_id, 0) + 1)
    )
    given = {"person_id": share.person_id, "round_id": known_round.id, "replaces": None}
    rows = [{"cell_id": cell, "position": at, **given} for cell, at in zip(chosen, positions, strict=False)]
    open_slots.fill_slots(tx, rows)
    return n


def _positions_in_shard(
    tx: Tx, round_: Round, person_id: int, chosen: Sequence[int], rng: np.random.Generator, *, by_row: bool
) -> list[int]:
    """Make places for control pairs among what somebody has open, and return them."""
    places = assignments.open_places(tx, rounds.with_known_pairs(tx, round_), person_id)
    located = cells.arrays_by_id(tx, chosen)
    row_by_cell = dict(zip(located["cell_id"].tolist(), located["hs_id"].tolist(), strict=True))
    control_rows = [row_by_cell[cell] for cell in chosen]
    order = merge_controls([place.row_id for place in places], control_rows, rng, by_row=by_row)
    first = min((place.position for place in places), default=1)
    position_by_index = {index: first + at for at, index in enumerate(order)}
    assignments.set_positions(tx, {place.id: position_by_index[index] for index, place in enumerate(places)})
    return [position_by_index[len(places) + at] for at in range(len(chosen))]
