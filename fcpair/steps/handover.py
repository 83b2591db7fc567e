"""New hands for work that was skipped, withdrawn or given up: who may have it, and who gets it."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fcpair.records import ROLE_IN, Person, Round, Status
from fcpair.store import Tx, decisions, people, slots, topics, work

if TYPE_CHECKING:
    import pandas as pd


def refill(tx: Tx, seed: int, heirs: list[Person] | None = None) -> dict[str, int]:
    """Give slots that were skipped or withdrawn to others; returns how many found somebody and how many did not."""
    given = vacant = 0
    for round_, role in ROLE_IN.items():
        candidates = [one for one in heirs if one.role is role] if heirs else people.people(tx, role, active=True)
        slots = work.vacant_slots(tx, round_)
        for _, batch in slots.groupby(slots.groupby("pair_id").cumcount()):  # a person may take one slot of a pair
            taken = _fill(tx, batch, candidates, round_, seed)
            given += taken
            vacant += len(batch) - taken
    return {"reassigned": given, "vacant": vacant}


def _fill(tx: Tx, slots: pd.DataFrame, candidates: list[Person], round_: Round, seed: int) -> int:
    import pandas as pd

    from fcpair.stages.assign import share_out

    if not candidates:
        return 0
    who = share_out(barred(tx, slots["pair_id"].to_numpy(), candidates), loads(tx, candidates), seed)
    found = who >= 0
    person_id = pd.Series([one.id for one in candidates]).to_numpy()[who[found]]
    new = slots[found].rename(columns={"id": "replaces"}).assign(person_id=person_id, status=Status.OPEN.value)
    last = new["person_id"].map(work.last_positions(tx, round_)).fillna(0).astype("int64")
    new["position"] = last + new.groupby("person_id").cumcount() + 1
    work.add_assignments(tx, new, round_)
    return len(new)


def pass_on(tx: Tx, assignment_id: int, pair_id: int, round_: Round) -> None:
    """Give the slot of one skipped pair to whoever may take it and has done and will do least; else it stays vacant.

    What `refill` does for all vacant slots, for this one alone and without loading what frames need: it happens while
    people answer.
    """
    if slots.is_passed_on(tx, assignment_id):
        return
    able = [
        one
        for one in slots.heirs(tx, pair_id, ROLE_IN[round_])
        if not (one["opted_out"] and topics.is_about(tx, pair_id, one["opted_out"]))
    ]
    if not able:
        return
    least = min(one["load"] for one in able)
    heir = Random(assignment_id).choice([one["id"] for one in able if one["load"] == least])
    slots.fill(tx, assignment_id, pair_id, round_, heir)


def loads(tx: Tx, candidates: list[Person], round_: Round | None = None) -> NDArray[np.int64]:
    """How many pairs each of these people has done or has open, of all rounds or of one, shape `(n_people,)`.

    Not what is open alone: whoever is quick has least open, and would be given what the slow leave.
    """
    counts = work.counts(tx)
    of_round = True if round_ is None else counts["round"] == round_.value
    sums = counts[counts["status"].isin(work.LOAD) & of_round].groupby("person_id")["n"].sum()
    return np.array([sums.get(one.id, 0) for one in candidates], np.int64)


def barred(tx: Tx, pair_id: NDArray[np.int64], candidates: list[Person]) -> NDArray[np.bool_]:
    """Who may not get which pair, shape `(n_slots, n_people)`.

    That is who has taken part in it already, and who has opted out of what it is about.
    """
    pairs, row = np.unique(pair_id, return_inverse=True)
    column = {one.id: at for at, one in enumerate(candidates)}
    matrix = np.zeros((len(pairs), len(candidates)), np.bool_)
    part = decisions.took_part(tx, pairs.tolist())
    part = part[part["person_id"].isin(column)]
    matrix[np.searchsorted(pairs, part["pair_id"]), part["person_id"].map(column).to_numpy(int)] = True
    for person_id, opted_out in people.opt_outs(tx).items():
        if person_id in column:
            matrix[:, column[person_id]] |= np.isin(pairs, topics.pairs_about(tx, opted_out))
    return matrix[row]
