"""Dealing more labels while people are at work: pairs without any, a higher overlap, and a share for late joiners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError, StageError
from fcpair.params import Assign
from fcpair.records import BY_HAND, Person, Role, Round, RunRecord, Status
from fcpair.steps import handover
from fcpair.steps.ground import keep, note_run
from fcpair.steps.people import active
from fcpair.store import Store, Tx, decisions, grids, slots, work

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class _Dealt:
    """What has been dealt to the active annotators: `crew`, `(n_pairs, n_people)`, says who has which pair.

    `settled` are the pairs that a person has decided. `loads` are what each has done and has open; those in `late`, by
    index, were dealt nothing to begin with and count as having done what the others did on average.
    """

    pairs: pd.DataFrame
    settled: NDArray[np.bool_]
    people: NDArray[np.int64]
    crew: NDArray[np.bool_]
    barred: NDArray[np.bool_]
    loads: NDArray[np.int64]
    late: NDArray[np.int64]


def deal_more(store: Store, options: Assign) -> RunRecord:
    """Deal pairs that nobody was given, raise the overlap where it is given, and level the work with late joiners.

    Answers and open work stay where they are; only those who joined after pairs were dealt take over open pairs of
    others, until they have an even share of what is open. Pairs that a person has decided get no further labels.

    Raises:
        StageError: nothing has been dealt yet, or there is nothing to deal.
        InputError: options that only the first deal can follow, or an overlap that cannot be.
    """
    with store.write() as tx:
        if options.groups:
            raise InputError("groups are for the first deal; `--more` deals to everybody who may take a pair")
        if work.dealt(tx, Round.LABEL).empty:
            raise StageError("nothing has been dealt yet; `fcpair assign` deals the pairs")
        annotators = active(tx, Role.ANNOTATOR, options.annotators)
        refilled = handover.refill(tx, options.seed)
        dealt = _dealt(tx, annotators)
        new, n_unmet = _new(tx, dealt, options)
        moved = _moved(tx, dealt, new)
        if new.empty and moved.empty and not refilled["reassigned"]:
            raise StageError(_nothing(n_unmet + refilled["vacant"], int(dealt.settled.sum())))
        _give(tx, dealt.people, new, moved, options)
        counts = {
            "annotators": len(annotators),
            "new": len(new),
            "moved": len(moved),
            "reassigned": refilled["reassigned"],
            "not_possible": n_unmet + refilled["vacant"],
            "pairs_by_labels": {str(n): count for n, count in work.labels_per_pair(tx).items()},
        }
        run = note_run(tx, Assign.stage, _params(options), counts)
        if options.overlap:
            keep(tx, options, run, only={"overlap"})
        return run


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


def _dealt(tx: Tx, annotators: list[Person]) -> _Dealt:
    pairs = grids.pairs(tx)
    ids = np.array([one.id for one in annotators])
    given = work.assignments(tx, Round.LABEL)
    given = given[~given["status"].isin(work.LAPSED) & given["person_id"].isin(ids)]
    crew = np.zeros((len(pairs), len(ids)), np.bool_)
    column = np.searchsorted(ids, given["person_id"])
    crew[np.searchsorted(pairs["pair_id"], given["pair_id"]), column] = True
    done = np.bincount(column[given["status"] == Status.DONE.value], minlength=len(ids))
    is_late = ~np.isin(ids, work.dealt(tx, Round.LABEL)["person_id"])
    usual = int(done[~is_late].mean()) if not is_late.all() else 0
    loads = crew.sum(axis=0) + np.where(is_late, np.maximum(usual - done, 0), 0)
    barred = handover.barred(tx, pairs["pair_id"].to_numpy(), slots.heirs(tx, Role.ANNOTATOR))
    standing = decisions.current_adjudications(tx, "pair_id", "rule")
    by_hand = standing["pair_id"][standing["rule"].isin([rule.value for rule in BY_HAND])]
    settled = pairs["pair_id"].isin(by_hand).to_numpy()
    return _Dealt(pairs, settled, ids, crew, barred, loads, np.flatnonzero(is_late))


def _new(tx: Tx, dealt: _Dealt, options: Assign) -> tuple[pd.DataFrame, int]:
    """The new assignments, `pair_id`, `hs_id` and `person`, an index; and how many labels nobody may give."""
    from fcpair.stages.assign import check_overlap, overlap_counts
    from fcpair.stages.topup import missing, top_up

    pairs = dealt.pairs
    check_overlap(len(dealt.people), overlap_counts(len(pairs), options.overlap))
    slots = work.dealt(tx, Round.LABEL)["pair_id"]
    asked = np.bincount(np.searchsorted(pairs["pair_id"], slots), minlength=len(pairs))
    sides = pairs["hs_id"].to_numpy(), pairs["cn_id"].to_numpy()
    n_more = missing(*sides, asked, dealt.settled, options.overlap or None, options.seed)
    shared = dealt.crew.astype(np.int64).T @ dealt.crew
    new = top_up(n_more, dealt.crew, dealt.barred, shared, dealt.loads, options.seed)
    person, row = np.nonzero(new.T)
    return pairs.iloc[row][["pair_id", "hs_id"]].assign(person=person), int(n_more.sum() - new.sum())


def _moved(tx: Tx, dealt: _Dealt, new: pd.DataFrame) -> pd.DataFrame:
    """The open assignments that late joiners take over: `pair_id`, `hs_id`, `replaces` and `person`, an index."""
    from fcpair.stages.topup import hand_on

    given = work.assignments(tx, Round.LABEL)
    open_ = given[(given["status"] == Status.OPEN.value) & given["person_id"].isin(dealt.people)]
    row = np.searchsorted(dealt.pairs["pair_id"], open_["pair_id"])
    may = ~dealt.barred[row]
    is_new = np.zeros_like(dealt.barred)
    is_new[np.searchsorted(dealt.pairs["pair_id"], new["pair_id"]), new["person"]] = True
    loads = dealt.loads + is_new.sum(axis=0)
    holder = np.searchsorted(dealt.people, open_["person_id"])
    taker = hand_on(row, holder, open_["position"].to_numpy(), may & ~is_new[row], loads, dealt.late)
    moved = open_.assign(person=taker).rename(columns={"id": "replaces"})[taker >= 0]
    return moved[["pair_id", "hs_id", "replaces", "person"]]


def _give(tx: Tx, people: NDArray[np.int64], new: pd.DataFrame, moved: pd.DataFrame, options: Assign) -> None:
    """Write the new and the moved assignments, in one order, behind what each person has already."""
    import pandas as pd

    from fcpair.stages.assign import shard_order

    both: pd.DataFrame = pd.concat([new, moved], ignore_index=True)
    both["replaces"] = both.get("replaces", pd.Series()).astype("Int64")
    work.set_status(tx, moved["replaces"].tolist(), [Status.WITHDRAWN.value] * len(moved))
    both["person_id"] = people[both["person"].to_numpy(int)]
    last = both["person_id"].map(work.last_positions(tx, Round.LABEL, people.tolist())).fillna(0).astype("int64")
    place = shard_order(both["person"].to_numpy(int), both["hs_id"].to_numpy(int), options.seed, options.order)
    both = both.assign(position=last + place, status=Status.OPEN.value)
    work.add_assignments(tx, both[["pair_id", "person_id", "position", "status", "replaces"]], Round.LABEL)
