"""New hands for work that was skipped, withdrawn or given up: who may have it, and who gets it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import StageError
from fcpair.records import Person, Round
from fcpair.stages.assignment.assign import fill_rows, fill_slots, shard_order
from fcpair.steps.base.context import lease_min
from fcpair.steps.people import qualification
from fcpair.store import Tx
from fcpair.store.answers import authorship, judgements, text_origins
from fcpair.store.assignment import assignments, open_slots, rounds, vacant_slots
from fcpair.store.assignment.vacant_slots import Heir, Slot
from fcpair.store.corpus import cells, grids
from fcpair.store.people import opt_out_pairs, people

Ints = NDArray[np.int64]
FEW = 100  # pairs: while people answer, one is asked about, and all texts need not be read for it


@dataclass(frozen=True)
class Handover:
    """Who takes over what: `rows` as `vacant_slots.fill` takes them; `vacant` slots found nobody; `freed` ones go to
    whoever asks, by the round.
    """

    rows: list[dict[str, Any]]
    vacant: int
    freed: list[tuple[Round, list[Slot]]]

    @property
    def counts(self) -> dict[str, int]:
        """How many slots found somebody and how many did not, and how many are free, where any are."""
        counts = {"reassigned": len(self.rows), "vacant": self.vacant}
        n_freed = sum(len(there) for _, there in self.freed)
        return counts | ({"free": n_freed} if n_freed else {})


def refill(tx: Tx, seed: int, *, to: Person | None = None, slot: int | None = None) -> dict[str, int]:
    """Give slots that were skipped or withdrawn to others; returns how many found somebody and how many did not.

    All such slots, or one alone, by its assignment; to whoever may take them, or `to` one person. In open dealing they
    are free for whoever asks.
    """
    found = foresee(tx, seed, to=to, slot=slot)
    vacant_slots.fill(tx, found.rows)
    for round_, there in found.freed:
        open_slots.give_back(tx, round_, there)
    return found.counts


def refill_everywhere(tx: Tx, seed: int, *, to: Person | None = None) -> dict[str, int]:
    """Do what `refill` does in every grid of the study, as when somebody comes or goes.

    Who has come is dealt what everybody answers (`dealt`, where that is anything).
    """
    counts = Counter(reassigned=0, vacant=0)
    for _ in grids.each(tx):
        counts.update(refill(tx, seed, to=to))
        for round_ in rounds.rounds(tx):
            if round_.options.everybody and (n := _deal_in(tx, round_)):
                counts["dealt"] += n
    return dict(counts)


def _deal_in(tx: Tx, round_: Round) -> int:
    """Deal a round that everybody answers to those who have come since it was dealt; returns how many cells."""
    cell_id, heirs = np.array(assignments.given_cells(tx, round_), np.int64), vacant_slots.heirs(tx, round_.role)
    has = set(assignments.given(tx, round_, [one.id for one in heirs])[:, 1].tolist())
    new = [one for one in heirs if one.id not in has]
    if not len(cell_id) or not new:
        return 0
    person, cell = np.nonzero(~barred(tx, cell_id, new, round_).T)
    seed = int(np.random.SeedSequence([round_.options.seed, new[0].id]).generate_state(1)[0])
    row = cells.row_numbers(tx, cell_id[cell])
    within = cell_id[cell] if round_.options.in_order else None
    place = shard_order(person, row, seed, "hs" if round_.options.by_row else "random", within)
    given = zip(cell_id[cell].tolist(), person.tolist(), place.tolist(), strict=True)
    same = {"round_id": round_.id, "replaces": None}
    vacant_slots.fill(
        tx, [{"cell_id": one, "person_id": new[who].id, "position": at, **same} for one, who, at in given]
    )
    return len(cell)


def foresee(tx: Tx, seed: int, *, to: Person | None = None, slot: int | None = None) -> Handover:
    """What `refill` would do."""
    rows: list[dict[str, Any]] = []
    freed: list[tuple[Round, list[Slot]]] = []
    vacant = 0
    for round_ in rounds.rounds(tx):
        if not round_.passes_on or not (open_ := vacant_slots.vacant(tx, round_, slot)):
            continue
        if to is None and lease_min(tx, round_) is not None:
            freed.append((round_, open_))
        else:
            heirs = [one for one in vacant_slots.heirs(tx, round_.role) if to is None or one.id == to.id]
            cell_id = np.array([one.cell_id for one in open_])
            who = takers(tx, cell_id, heirs, round_, seed)
            taken = [(one, heirs[at].id) for one, at in zip(open_, who.tolist(), strict=True) if at >= 0]
            rows += at_the_end(tx, taken, round_)
            vacant += len(open_) - len(taken)
    return Handover(rows, vacant, freed)


def takers(tx: Tx, cell_id: Ints, heirs: Sequence[Heir], round_: Round, seed: int) -> Ints:
    """Who takes over each slot, as an index of `heirs`; -1 where nobody may."""
    among = barred(tx, cell_id, heirs, round_), loads(heirs), seed
    if round_.options.by_source:
        return fill_rows(sources(tx, cell_id), cell_id, *among)
    if round_.options.by_row:
        return fill_rows(cells.row_numbers(tx, cell_id), cell_id, *among)
    return fill_slots(cells.row_numbers(tx, cell_id) if round_.options.once_per_row else cell_id, *among)


def sources(tx: Tx, cell_id: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for the source of each cell's row; raises StageError where one has none."""
    known = text_origins.sources_of_rows(tx)
    named = [known.get(one, "") for one in cell_id.tolist()]
    if n := len(set(cells.row_numbers(tx, cell_id[[not one for one in named]]).tolist())):
        raise StageError(
            f"{n:,} rows have no source, so nothing says who is to answer them; collect them from `sources`, or omit "
            "`together`"
        )
    return np.unique(named, return_inverse=True)[1]


def at_the_end(tx: Tx, taken: Sequence[tuple[Slot, int]], round_: Round) -> list[dict[str, Any]]:
    """The slots that people take over, each behind what its new hands have already."""
    last = Counter(assignments.last_positions(tx, round_, sorted({person_id for _, person_id in taken})))
    rows = []
    for slot, person_id in taken:
        last[person_id] += 1
        row = {"cell_id": slot.cell_id, "person_id": person_id, "round_id": slot.round_id, "position": last[person_id]}
        rows.append({**row, "replaces": slot.id})
    return rows


def loads(heirs: Sequence[Heir]) -> NDArray[np.int64]:
    """How many pairs each of these people has done or has open, shape `(n_people,)`.

    Not what is open alone: whoever is quick has least open, and would be given what the slow leave.
    """
    return np.array([one.load for one in heirs], np.int64)


def barred(
    tx: Tx,
    cell_id: NDArray[np.int64],
    heirs: Sequence[Heir],
    round_: Round,
    *,
    first: bool = False,
    asks: bool = False,
) -> NDArray[np.bool_]:
    """Who may not get which pair in a round, shape `(n_slots, n_people)`.

    That is who has taken part in it already, who wrote one of its texts or made its row, who has not passed the pilot
    that the round asks for, who has another cell of its row where nobody may have two, and who has opted out of what it
    is about.
    Before the `first` deal of a round nobody has anything in it, and what people have opted out of is dealt, and then
    taken back. Who `asks` is offered nothing that they have had in the round, but may be given again what they had and
    lost before they answered.
    """
    pairs, row = np.unique(cell_id, return_inverse=True)
    matrix = np.zeros((len(pairs), len(heirs)), np.bool_)
    column = {one.id: at for at, one in enumerate(heirs)}
    asked = pairs.tolist(), list(column)
    others = (one for one in _related(tx, round_) if not (first or asks) or one.id != round_.id)
    for part in (judgements.took_part(tx, *asked, others), authorship.wrote(tx, *asked)):
        at = [column[person_id] for person_id in part[:, 1].tolist()]
        matrix[np.searchsorted(pairs, part[:, 0]), at] = True
    if (passed := qualification.who_passed(tx, round_)) is not None:
        matrix |= np.array([one.id not in passed for one in heirs], np.bool_)
    if round_.options.once_per_row and not first:
        matrix |= _have_row(tx, pairs, asked[1], round_)
    if round_.options.author:
        matrix |= by_authors(tx, pairs.tolist(), _names(tx, heirs), round_)
    for one in heirs:
        if one.opted_out and not first:
            about = opt_out_pairs.pairs_about(tx, one.opted_out, pairs.tolist() if len(pairs) <= FEW else None)
            matrix[:, column[one.id]] |= np.isin(pairs, about)
    return matrix[row]


def _names(tx: Tx, heirs: Sequence[Heir]) -> list[str]:
    named = {one.id: one.name for one in people.people(tx)}
    return [named[one.id] for one in heirs]


def by_authors(tx: Tx, cell_ids: list[int], names: Sequence[str], round_: Round) -> NDArray[np.bool_]:
    """Whether each of these cells has a row that the person of each name made, shape `(n_cells, n_names)`."""
    made = authorship.made(tx, cell_ids, round_.options.author)
    folded = [authorship.fold_name(name) for name in names]
    return np.array([[name in made.get(one, ()) for name in folded] for one in cell_ids], np.bool_).reshape(
        len(cell_ids), len(names)
    )


def _related(tx: Tx, round_: Round) -> Iterator[Round]:
    """The rounds of the grid in which nobody may have a pair who gets it in this one, and this one itself."""
    for one in rounds.rounds(tx):
        if one.id == round_.id or _is_about(one, round_) or _is_about(round_, one):
            yield one


def _is_about(later: Round, earlier: Round) -> bool:
    """Whether a round is about what was said in an earlier one, so that other people are to answer it."""
    return later.checks == earlier.id or (later.options.rests_on == earlier.name and later.options.bars_earlier)


def _have_row(tx: Tx, pairs: NDArray[np.int64], people: list[int], round_: Round) -> NDArray[np.bool_]:
    """Who of these people was given a cell in the row of each of these, shape `(n_pairs, n_people)`."""
    given = assignments.given(tx, round_, people)
    row = cells.row_numbers(tx, np.concatenate([pairs, given[:, 0]]))
    rows, at = np.unique(row, return_inverse=True)
    has = np.zeros((len(rows), len(people)), np.bool_)
    has[at[len(pairs) :], np.searchsorted(people, given[:, 1])] = True
    return has[at[: len(pairs)]]
