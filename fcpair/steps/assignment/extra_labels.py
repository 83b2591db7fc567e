"""Dealing more labels while people are at work: pairs without any, a higher overlap, and a share for late joiners."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError, StageError
from fcpair.param_values import takes_params
from fcpair.params import Assign
from fcpair.records import Role, RunRecord, Status
from fcpair.steps.base.context import Basis, MovedError, OnGrid, keep, need_corpus, note_run
from fcpair.steps.people import reassignment
from fcpair.steps.people.people import expected
from fcpair.steps.people.reassignment import Handover
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds, vacant_slots
from fcpair.store.assignment.vacant_slots import Heir
from fcpair.store.corpus import cells

if TYPE_CHECKING:
    import pandas as pd

TRIES = 2  # while others go on; after that they wait


@dataclass(frozen=True)
class _Dealt:
    """What has been dealt to the active annotators: `crew`, `(n_pairs, n_people)`, says who has which pair.

    `asked`, `(n_pairs,)`, are the labels that were dealt to begin with; `settled` are the pairs that a person has
    decided. `loads` are what each has done and has open; those in `late`, by index, were dealt nothing to begin with
    and count as having done what the others did on average. `open_` is what they have open: `id`, `position`, and by
    index `row`, the pair, and `holder`.
    """

    pairs: pd.DataFrame
    asked: NDArray[np.int64]
    settled: NDArray[np.bool_]
    people: NDArray[np.int64]
    crew: NDArray[np.bool_]
    barred: NDArray[np.bool_]
    loads: NDArray[np.int64]
    late: NDArray[np.int64]
    open_: pd.DataFrame


class _Plan(NamedTuple):
    """What is to be written: slots that find new hands, and shards in their order; and what is counted of it."""

    refilled: Handover
    given: pd.DataFrame
    counts: dict[str, int]


@takes_params
def deal_more(grid: OnGrid, options: Assign) -> RunRecord:
    """Deal pairs that nobody was given, raise the overlap where it is given, and level the work with late joiners.

    Answers and open work stay where they are; only those who joined after pairs were dealt take over open pairs of
    others, until they have an even share of what is open. Pairs that a person has decided get no further labels.

    Raises:
        StageError: nothing has been dealt yet, or there is nothing to deal, or nobody to deal to.
        InputError: options that only the first deal can follow, or an overlap that cannot be.
    """
    if options.groups:
        raise InputError("groups are for the first deal; `--more` deals to everybody who may take a pair")
    for _ in range(TRIES):
        with grid.store.read() as tx:
            basis = Basis(tx, lambda tx: _load(tx, options))
        plan = _plan(basis.found, options)
        with suppress(MovedError), grid.store.write() as tx:
            basis.check_unmoved(tx)
            return _write(tx, plan, options)
    with grid.store.write() as tx:  # people answer faster than this is worked out: once, they wait
        return _write(tx, _plan(_load(tx, options), options), options)


def _load(tx: Tx, options: Assign) -> tuple[_Dealt, Handover]:
    need_corpus(tx, Assign.stage)
    if assignments.dealt(tx, rounds.counting(tx)).empty:
        raise StageError("nothing has been dealt yet; `fcpair assign` deals the pairs")
    annotators = _annotators(tx, options.annotators)
    refilled = reassignment.foresee(tx, options.seed)
    return _dealt(tx, annotators, refilled.rows), refilled


def _plan(there: tuple[_Dealt, Handover], options: Assign) -> _Plan:
    dealt, refilled = there
    new, n_unmet = _new(dealt, options)
    moved = _moved(dealt, new)
    n_missing = n_unmet + refilled.vacant
    if new.empty and moved.empty and not refilled.rows:
        raise StageError(_nothing(n_missing, int(dealt.settled.sum())))
    counts = {"annotators": len(dealt.people), "new": len(new), "moved": len(moved)}
    counts |= {"reassigned": len(refilled.rows), "not_possible": n_missing}
    return _Plan(refilled, _in_order(dealt.people, new, moved, options), counts)


def _write(tx: Tx, plan: _Plan, options: Assign) -> RunRecord:
    vacant_slots.fill(tx, plan.refilled.rows)
    _give(tx, plan.given)
    by_labels = {str(n): count for n, count in assignments.labels_per_pair(tx).items()}
    run = note_run(tx, Assign.stage, _params(options), {**plan.counts, "pairs_by_labels": by_labels})
    if options.overlap:
        keep(tx, options, run, only={"overlap"})
    return run


def _annotators(tx: Tx, n: int | None) -> list[Heir]:
    """Those to whom more is dealt; raises StageError where nobody is left, InputError where there are not `n`."""
    annotators = vacant_slots.heirs(tx, Role.ANNOTATOR)
    if not annotators:
        raise StageError("no annotator is left; `fcpair people add NAME --role annotator` adds somebody")
    expected(tx, Role.ANNOTATOR, n)
    return annotators


def _params(options: Assign) -> dict[str, Any]:
    overlap = {str(n_labels): share for n_labels, share in options.overlap.items()}
    return {"more": True, "overlap": overlap, "order": options.order, "seed": options.seed}


def _nothing(n_unmet: int, n_settled: int) -> str:
    which = "pair that somebody has decided gets" if n_settled == 1 else "pairs that somebody has decided get"
    decided = f"; the {n_settled:,} {which} no further labels" if n_settled else ""
    if n_unmet:
        return (
            f"nobody may give the {n_unmet:,} labels that are missing; `fcpair people add NAME --role annotator` adds "
            "somebody who can"
        )
    return (
        "there is nothing to deal: every pair has been given to as many annotators as were asked for, and everybody "
        f"has their share; `--overlap 2:SHARE` asks for more labels{decided}"
    )


def _dealt(tx: Tx, annotators: list[Heir], refilled: list[dict[str, Any]]) -> _Dealt:
    """What has been dealt, once slots have found the new hands that are foreseen.

    What is open of those has no number yet; for its `id` stands that of the slot that it fills, negative.
    """
    pairs, ids = cells.cells(tx), np.array([one.id for one in annotators])
    first, given = assignments.dealt(tx, rounds.counting(tx)), _given(tx, ids, refilled)
    row, holder = np.searchsorted(pairs["cell_id"], given["cell_id"]), np.searchsorted(ids, given["person_id"])
    crew = np.zeros((len(pairs), len(ids)), np.bool_)
    crew[row, holder] = True
    done = np.bincount(holder[given["status"] == Status.DONE.value], minlength=len(ids))
    is_late = ~np.isin(ids, first["person_id"])
    usual = int(done[~is_late].mean()) if not is_late.all() else 0
    return _Dealt(
        pairs=pairs,
        asked=np.bincount(np.searchsorted(pairs["cell_id"], first["cell_id"]), minlength=len(pairs)),
        settled=pairs["cell_id"].isin(judgements.by_hand(tx)).to_numpy(),
        people=ids,
        crew=crew,
        barred=reassignment.barred(tx, pairs["cell_id"].to_numpy(), annotators, rounds.counting(tx)) | crew,
        loads=crew.sum(axis=0) + np.where(is_late, np.maximum(usual - done, 0), 0),
        late=np.flatnonzero(is_late),
        open_=given.assign(row=row, holder=holder)[given["status"] == Status.OPEN.value],
    )


def _given(tx: Tx, ids: NDArray[np.int64], refilled: list[dict[str, Any]]) -> pd.DataFrame:
    """What these people have done or open, with what they are about to take over."""
    import pandas as pd

    there = assignments.assignments(tx, rounds.counting(tx))[["id", "cell_id", "person_id", "position", "status"]]
    label = rounds.counting(tx).id
    found = [
        {**row, "id": -row["replaces"], "status": Status.OPEN.value} for row in refilled if row["round_id"] == label
    ]
    given = pd.concat([there, pd.DataFrame(found, columns=there.columns).astype(there.dtypes)], ignore_index=True)
    return given[~given["status"].isin(assignments.LAPSED) & given["person_id"].isin(ids)]


def _new(dealt: _Dealt, options: Assign) -> tuple[pd.DataFrame, int]:
    """The new assignments, `cell_id`, `hs_id` and `person`, an index; and how many labels nobody may give."""
    from fcpair.stages.assignment.assign import check_overlap, overlap_counts
    from fcpair.stages.assignment.extra_labels import missing, top_up

    pairs = dealt.pairs
    check_overlap(len(dealt.people), overlap_counts(len(pairs), options.overlap))
    sides = pairs["hs_id"].to_numpy(), pairs["cn_id"].to_numpy()
    n_more = missing(*sides, dealt.asked, dealt.settled, options.overlap or None, options.seed)
    shared = dealt.crew.astype(np.int64).T @ dealt.crew
    new = top_up(n_more, dealt.crew, dealt.barred, shared, dealt.loads, options.seed)
    person, row = np.nonzero(new.T)
    return pairs.iloc[row][["cell_id", "hs_id"]].assign(person=person), int(n_more.sum() - new.sum())


def _moved(dealt: _Dealt, new: pd.DataFrame) -> pd.DataFrame:
    """The open assignments that late joiners take over: `cell_id`, `hs_id`, `replaces` and `person`, an index."""
    from fcpair.stages.assignment.extra_labels import hand_on

    open_ = dealt.open_
    row = open_["row"].to_numpy()
    is_new = np.zeros_like(dealt.barred)
    is_new[np.searchsorted(dealt.pairs["cell_id"], new["cell_id"]), new["person"]] = True
    loads = dealt.loads + is_new.sum(axis=0)
    may = ~(dealt.barred | is_new)[row]
    taker = hand_on(row, open_["holder"].to_numpy(), open_["position"].to_numpy(), may, loads, dealt.late)
    moved = dealt.pairs.iloc[row].assign(replaces=open_["id"].to_numpy(), person=taker)[taker >= 0]
    return moved[["cell_id", "hs_id", "replaces", "person"]]


def _in_order(people: NDArray[np.int64], new: pd.DataFrame, moved: pd.DataFrame, options: Assign) -> pd.DataFrame:
    """The new and the moved assignments in one order, `position` counted from 1 for each person."""
    import pandas as pd

    from fcpair.stages.assignment.assign import shard_order

    both: pd.DataFrame = pd.concat([new, moved], ignore_index=True)
    both["replaces"] = both.get("replaces", pd.Series()).astype("Int64")
    person = both["person"].to_numpy(int)
    place = shard_order(person, both["hs_id"].to_numpy(int), options.seed, options.order)
    both = both.assign(person_id=people[person], position=place, status=Status.OPEN.value)
    return both[["cell_id", "person_id", "position", "status", "replaces"]]


def _give(tx: Tx, given: pd.DataFrame) -> None:
    """Write new and moved assignments behind what each person has already."""
    replaced = given["replaces"].dropna().tolist()
    refilled = vacant_slots.successors(tx, [-one for one in replaced if one < 0])
    given["replaces"] = given["replaces"].replace({-slot: one for slot, one in refilled.items()})
    assignments.set_status(tx, given["replaces"].dropna().tolist(), [Status.WITHDRAWN.value] * len(replaced))
    last = assignments.last_positions(tx, rounds.counting(tx), given["person_id"].unique().tolist())
    given["position"] += given["person_id"].map(last).fillna(0).astype("int64")
    assignments.add_assignments(tx, given, rounds.counting(tx))
