"""Validation: dealing adjudicated pairs to people who took no part in them, and what verdicts are about."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import StageError
from fcpair.param_values import as_params, takes_params
from fcpair.params import Validate
from fcpair.records import Person, Role, RunRecord, Status
from fcpair.stages.assignment.validate import blind_verdict, draw_pairs
from fcpair.stages.questions import NO_CODE, SKIP
from fcpair.stages.questions.closed import reader_of, words_of
from fcpair.stages.questions.labels import AGREE, DISAGREE, VERDICT
from fcpair.steps.base.context import OnGrid, keep, note_run, own, scheme_of
from fcpair.steps.base.recipe_options import by_recipe
from fcpair.steps.people import reassignment
from fcpair.steps.people.people import active
from fcpair.steps.rules import permissions, rule_decisions
from fcpair.steps.rules.study_notes import look_again
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds, vacant_slots
from fcpair.store.people import opt_out_pairs, people

if TYPE_CHECKING:
    import pandas as pd

_KIND = {True: "blind", False: "not blind"}
_CHANGED = "so far the round was {}, and the pairs dealt now are {}; what was dealt before stays as it was"
_WAIT = "{:,} pairs wait until all their labels are in"
read_verdict = reader_of(words_of(VERDICT) | {SKIP: NO_CODE, "valid": AGREE, "not valid": DISAGREE})


@takes_params
def assign_validation(
    grid: OnGrid, options: Validate | None = None, *, redo: bool = False, more: bool = False
) -> RunRecord:
    """Deal adjudicated pairs to validators who took no part in them, as evenly as that allows.

    Without options, as the recipe says. `more` adds pairs to a round that is under way: those without a verdict on the
    label that they have now; of a part of them, first those that had a verdict on another label.
    """
    import pandas as pd

    from fcpair.stages.assignment.assign import shard_order, share_out

    options = options or by_recipe(grid, Validate, more=more)
    with grid.store.write() as tx:
        if not rounds.checking(tx).ids:
            raise StageError("decisions of this grid are not validated; a recipe says so by [grid.validate]")
        was_blind = is_blind(tx)
        more = more and not assignments.assignments(tx, rounds.checking(tx)).empty
        if not more:
            _make_way(tx, redo=redo)
        elif options.blind is not was_blind and not assignments.open_work(tx, rounds.checking(tx)).empty:
            under_way, asked = (_KIND[blind] for blind in (was_blind, options.blind))
            raise StageError(f"verdicts are open in a round that is {under_way}; none can be added that is {asked}")
        labelled, n_not_due = _to_be_validated(tx)
        validators = active(tx, Role.VALIDATOR, options.validators)
        pairs = draw_pairs(labelled, options.pairs, options.seed, first=judgements.lost_verdicts(tx))
        heirs = vacant_slots.heirs(tx, Role.VALIDATOR, rounds.checking(tx))
        who = share_out(
            reassignment.barred(tx, pairs, heirs, rounds.checking(tx)), reassignment.loads(heirs), options.seed
        )
        again = _ask_again(tx, pairs[who < 0] if more else pairs[:0], validators, blind=options.blind)
        if n := int(((who < 0) & ~np.isin(pairs, again["cell_id"])).sum()):
            raise StageError(
                f"{n:,} of {len(pairs):,} pairs cannot be validated: every validator took part in "
                "them; add another with `fcpair people add NAME --role validator`"
            )
        pairs, who = pairs[who >= 0], who[who >= 0]
        rows = pd.DataFrame({"cell_id": pairs, "status": Status.OPEN.value, "blind": options.blind})
        ids = [one.id for one in validators]
        rows["person_id"] = np.array(ids)[who]
        last = rows["person_id"].map(assignments.last_positions(tx, rounds.checking(tx), ids)).fillna(0).astype("int64")
        rows["position"] = last + shard_order(who, pairs, options.seed, "random")
        assignments.add_assignments(tx, rows, rounds.checking(tx))
        loads = pd.concat([rows["person_id"], again["person_id"]]).value_counts().reindex(ids, fill_value=0)
        counts = {
            "validators": len(validators),
            "pairs": len(pairs) + len(again),
            "to_validate": len(labelled),
            "load_min": int(loads.min()),
            "load_max": int(loads.max()),
        } | {name: n for name, n in (("wait_for_labels", n_not_due), ("asked_again", len(again))) if n}
        run = note_run(tx, options.stage, as_params(options), counts)
        # More of a round says nothing about how the round was dealt, but for what its validators see.
        keep(tx, replace(options, validators=len(validators)), run, only={"blind"} if more else None)
        changed = more and options.blind is not was_blind
        return replace(run, notes=(_CHANGED.format(_KIND[was_blind], _KIND[options.blind]),)) if changed else run


def _to_be_validated(tx: Tx) -> tuple[NDArray[np.int64], int]:
    """The pairs with an adjudicated label on which no verdict stands and none is open, by id.

    And how many more there are that somebody has still to label: those wait.
    """
    standing = judgements.current_adjudications(tx)
    labelled = standing[standing["code"].notna()]["cell_id"].to_numpy()
    if not len(labelled):
        raise StageError("no pair has an adjudicated label; run `fcpair adjudicate` first")
    dealt = assignments.assignments(tx, rounds.checking(tx))
    open_ = dealt["cell_id"][dealt["status"] == Status.OPEN.value]
    left = np.setdiff1d(labelled, np.union1d(judgements.current_verdicts(tx)["cell_id"], open_))
    due = np.setdiff1d(left, np.fromiter(permissions.not_due_to_check(tx, left.tolist()), np.int64))
    n_not_due = len(left) - len(due)
    if not len(due):
        which = "1 pair waits until all its labels are in" if n_not_due == 1 else _WAIT.format(n_not_due)
        besides = f"; {which}" if n_not_due else ""
        raise StageError(f"every pair that can be validated now has its verdict, or has been dealt{besides}")
    return due, n_not_due


def _ask_again(tx: Tx, pairs: NDArray[np.int64], validators: list[Person], *, blind: bool) -> pd.DataFrame:
    """Open these pairs again for whoever gave a verdict on a label that is another now, where nobody else is left.

    Who has seen a label of a pair is not asked blind about it. Returns the pairs for which there is such a validator,
    as `cell_id` and `person_id`.
    """
    lost_ones = np.intersect1d(pairs, judgements.lost_verdicts(tx))
    dealt = assignments.assignments(tx, rounds.checking(tx))
    dealt = dealt[dealt["cell_id"].isin(lost_ones) & (dealt["status"] == Status.DONE.value)]
    spared = people.opt_outs(tx)
    for one in validators:
        if one.id in spared:
            about = (dealt["person_id"] == one.id) & dealt["cell_id"].isin(
                opt_out_pairs.pairs_about(tx, spared[one.id])
            )
            dealt = dealt[~about]
    dealt = dealt[dealt["blind"] | (not blind)]
    again = dealt[dealt["person_id"].isin([one.id for one in validators])].drop_duplicates("cell_id")
    assignments.ask_again(tx, again["id"].tolist(), blind=blind)
    return again[["cell_id", "person_id"]]


def lost(tx: Tx) -> tuple[list[int], list[int]]:
    """The pairs whose verdicts are about a label that is not theirs any more; and those of them to be dealt again.

    Those are the pairs that have a label now, none open, and no verdict open.
    """
    pairs = judgements.lost_verdicts(tx)
    if not pairs:
        return [], []
    standing = judgements.current_adjudications(tx, "cell_id", "code").dropna()
    dealt = assignments.assignments(tx, rounds.checking(tx))
    open_ = dealt["cell_id"][dealt["status"] == Status.OPEN.value]
    ready = set(standing["cell_id"].tolist()) - set(open_.tolist()) - set(permissions.not_due_to_check(tx, pairs))
    return pairs, [pair for pair in pairs if pair in ready]


def look_again_notes(tx: Tx) -> list[str]:
    """What a reader must know when labels changed after people had decided or validated."""
    return look_again(len(rule_decisions.overtaken(tx)), len(lost(tx)[0]))


def proposal(tx: Tx, n: int) -> str:
    """How many pairs are to be dealt again, and the command that deals them in the way of the round."""
    dealt = own(tx, Validate, {})
    options = f"{f' --pairs {n}' if dealt.pairs else ''}{' --blind' if dealt.blind else ''}"
    return f"{n:,}; `fcpair validate assign --more{options}`"


def _make_way(tx: Tx, *, redo: bool) -> None:
    there = assignments.assignments(tx, rounds.checking(tx))
    if there.empty:
        return
    if n := judgements.n_judgements(tx, rounds.checking(tx)):
        raise StageError(
            f"the validation round has been dealt and {n:,} verdicts given, which are never discarded; "
            "`fcpair validate assign --more` deals pairs that have no verdict yet"
        )
    if not redo:
        raise StageError(
            f"the validation round has been dealt; `--redo` would discard {len(there):,} assignments, and `fcpair "
            "validate assign --more` adds pairs"
        )
    assignments.clear_assignments(tx, rounds.checking(tx))


def is_blind(tx: Tx) -> bool:
    """Whether the validators to whom pairs are dealt now do not see the label."""
    return own(tx, Validate, {}).blind


def label_names(tx: Tx) -> dict[int, str]:
    """The name of the adjudicated label of each pair that has one."""
    names = {choice.code: choice.name for choice in scheme_of(tx)}
    standing = judgements.current_adjudications(tx).dropna(subset="code")
    return {int(pair): names[int(code)] for pair, code in zip(standing["cell_id"], standing["code"], strict=True)}


def with_decisions(tx: Tx, given: pd.DataFrame, *, blind: bool) -> pd.DataFrame:
    """Tie each verdict to the decision that it is about; a blind label becomes the verdict that it amounts to."""
    standing = judgements.current_adjudications(tx).set_index("cell_id")
    found = given.assign(adjudication_id=given["cell_id"].map(standing["id"]).astype("Int64"))
    if not blind:
        return found
    final = given["cell_id"].map(standing["code"]).fillna(NO_CODE).to_numpy(int)
    own = given["code"].to_numpy()
    return found.assign(own_code=given["code"].astype("Int64").mask(own == NO_CODE), code=blind_verdict(own, final))
