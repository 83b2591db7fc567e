"""Validation: assigning adjudicated pairs to people who took no part in them, and what verdicts are about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import StageError
from fcpair.lazy import pd
from fcpair.param_values import as_params
from fcpair.params import Validate
from fcpair.records import Role, RunRecord, Status
from fcpair.sentences import join, say, say_number
from fcpair.stages.adjudication.adjudicate import blind_verdict, draw_pairs
from fcpair.stages.assignment.assign import shard_order
from fcpair.stages.assignment.slots import share_out
from fcpair.stages.questions import NO_CODE, SKIP
from fcpair.stages.questions.closed import choice_words, word_reader
from fcpair.stages.questions.labels import AGREE, DISAGREE, VERDICT
from fcpair.steps.base.context import GridContext, effective_options, note_run, save_options, scheme_of
from fcpair.steps.base.keywords import by_recipe, own, takes_params
from fcpair.steps.people import eligibility, reassignment
from fcpair.steps.people.people import ensure_active
from fcpair.steps.rules import permissions, rule_decisions, tallies
from fcpair.steps.rules.tallies import look_again
from fcpair.store import Tx, adjudications
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, open_slots, rounds

read_verdict = word_reader(choice_words(VERDICT) | {SKIP: NO_CODE, "valid": AGREE, "not valid": DISAGREE}, "verdict")


@takes_params
def assign_validation(
    grid: GridContext,
    options: Validate | None = None,
    *,
    redo: bool = False,
    more: bool = False,
    validators: int | None = own(None),
    pairs: int | None = own(None),
    blind: bool = own(False),
    seed: int = own(0),
) -> RunRecord:
    """Deal adjudicated pairs to validators who took no part in them, as evenly as that allows.

    Without options, as the recipe says. `more` adds those without a verdict on the label that they have now; of a part
    of them, first those that had a verdict on another label.
    """
    options = options or by_recipe(grid, Validate, more=more)
    with grid._store.write() as tx:
        round_ = rounds.validation(tx)
        if not round_.ids:
            raise StageError.say("decisions of this grid are not validated; add [grid.validate] to its recipe")
        was_blind, n_assigned = is_blind(tx), len(assignments.assignments(tx, round_))
        more = more and n_assigned > 0
        if n_assigned and not more:
            if n := judgements.n_judgements(tx, round_):
                raise StageError.say(
                    "the validation round has been assigned and has %(number)s verdicts, which are never discarded; "
                    "`fcpair validate assign --more` assigns pairs that have no verdict yet",
                    number=n,
                )
            if not redo:
                raise StageError.say(
                    "the validation round has been assigned; `--redo` would discard %(number)s assignments, and "
                    "`fcpair validate assign --more` adds pairs",
                    number=n_assigned,
                )
            assignments.clear_assignments(tx, round_)
        elif more and options.blind is not was_blind and not assignments.open_work(tx, round_).empty:
            raise StageError(
                say("the round has open verdicts that are blind, so none that are not blind can be added")
                if was_blind
                else say("the round has open verdicts that are not blind, so none that are blind can be added")
            )
        pair_ids, n_not_due = _pairs_to_validate(tx)
        active_validators = ensure_active(tx, Role.VALIDATOR, options.validators)
        drawn_pairs = draw_pairs(pair_ids, options.pairs, options.seed, first=judgements.lost_verdicts(tx))
        candidates = open_slots.candidates(tx, Role.VALIDATOR, round_)
        barred = eligibility.ineligibility_matrix(tx, drawn_pairs, candidates, round_)
        validator_index = share_out(barred, reassignment.loads(candidates), options.seed)
        without_validator = drawn_pairs[validator_index < 0] if more else drawn_pairs[:0]
        # pairs with a lost verdict go again to who gave it, where nobody else is left, but not blind
        earlier, ids = assignments.assignments(tx, round_), [validator.id for validator in active_validators]
        is_lost = earlier["cell_id"].isin(np.intersect1d(without_validator, judgements.lost_verdicts(tx)))
        is_alike = earlier["blind"] | (not options.blind)
        earlier = earlier[is_lost & (earlier["status"] == Status.DONE.value) & is_alike]
        for id_ in ids:
            is_spared = earlier["cell_id"].isin(permissions.spared_pairs(tx, id_))
            earlier = earlier[~is_spared | (earlier["person_id"] != id_)]
        reopened = earlier[earlier["person_id"].isin(ids)].drop_duplicates("cell_id")
        assignments.reopen_checks(tx, reopened["id"].tolist(), blind=options.blind)
        if n := int(((validator_index < 0) & ~np.isin(drawn_pairs, reopened["cell_id"])).sum()):
            raise StageError.say(
                "%(number)s of %(most)s pairs cannot be validated: every validator took part in them; add another with "
                "`fcpair people add NAME --role validator`",
                number=n,
                most=len(drawn_pairs),
            )
        drawn_pairs, validator_index = drawn_pairs[validator_index >= 0], validator_index[validator_index >= 0]
        rows = pd.DataFrame({"cell_id": drawn_pairs, "status": Status.OPEN.value, "blind": options.blind})
        rows["person_id"] = np.array(ids)[validator_index]
        last_positions = rows["person_id"].map(assignments.last_positions(tx, round_, ids)).fillna(0).astype("int64")
        rows["position"] = last_positions + shard_order(validator_index, drawn_pairs, options.seed, "random")
        assignments.add_assignments(tx, rows, round_)
        loads = pd.concat([rows["person_id"], reopened["person_id"]]).value_counts().reindex(ids, fill_value=0)
        counts = {
            "validators": len(active_validators),
            "pairs": len(drawn_pairs) + len(reopened),
            "to_validate": len(pair_ids),
            "load_min": int(loads.min()),
            "load_max": int(loads.max()),
        } | {name: n for name, n in (("wait_for_labels", n_not_due), ("asked_again", len(reopened))) if n}
        run = note_run(tx, options.stage, {**as_params(options), **({"more": True} if more else {})}, counts)
        # More of a round says nothing about how the round was assigned, but for what its validators see.
        save_options(tx, replace(options, validators=len(active_validators)), run, only={"blind"} if more else None)
        if not (more and options.blind is not was_blind):
            return run
        before, now = ("blind", "not blind") if was_blind else ("not blind", "blind")
        kinds = f"so far the round was {before}, and the pairs assigned now are {now}"
        return replace(run, notes=(f"{kinds}; earlier assignments stay as they were",))


def _pairs_to_validate(tx: Tx) -> tuple[Ints, int]:
    """Ids of the labelled pairs on which no verdict stands or is open, and how many more wait for labels."""
    decisions = adjudications.current_adjudications(tx)
    labelled_pairs = decisions[decisions["code"].notna()]["cell_id"].to_numpy()
    if not len(labelled_pairs):
        raise StageError.say("no pair has an adjudicated label; run `fcpair adjudicate` first")
    assigned_rows = assignments.assignments(tx, rounds.validation(tx))
    open_pairs = assigned_rows["cell_id"][assigned_rows["status"] == Status.OPEN.value]
    without_verdict = np.setdiff1d(labelled_pairs, np.union1d(judgements.current_verdicts(tx)["cell_id"], open_pairs))
    not_due = np.fromiter(permissions.not_due_reasons(tx, without_verdict.tolist()), np.int64)
    pairs_due = np.setdiff1d(without_verdict, not_due)
    n_not_due = len(without_verdict) - len(pairs_due)
    if not len(pairs_due):
        sentence = say("every pair that can be validated now has its verdict or has been assigned")
        if n_not_due:
            waiting = say_number(
                "%(n)s pair waits until all its labels are in",
                "%(n)s pairs wait until all their labels are in",
                n_not_due,
            )
            sentence = join([sentence, waiting], "; ")
        raise StageError(sentence)
    return pairs_due, n_not_due


def pairs_with_lost_verdicts(tx: Tx) -> tuple[list[int], list[int]]:
    """Pairs whose verdicts are about a label that is not theirs any more; and those to be assigned again now."""
    pairs = judgements.lost_verdicts(tx)
    if not pairs:
        return [], []
    ready_pairs = set(adjudications.current_adjudications(tx, "cell_id", "code").dropna()["cell_id"].tolist())
    assigned_rows = assignments.assignments(tx, rounds.validation(tx))
    ready_pairs -= set(assigned_rows["cell_id"][assigned_rows["status"] == Status.OPEN.value].tolist())
    ready_pairs -= set(permissions.not_due_reasons(tx, pairs))
    return pairs, [pair for pair in pairs if pair in ready_pairs]


def look_again_notes(tx: Tx) -> list[str]:
    """Notes for the reader when labels have changed after people had decided or validated, or were decided too late."""
    notes = look_again(len(rule_decisions.stale_decisions(tx)), len(pairs_with_lost_verdicts(tx)[0]))
    if n := tallies.n_without_validator(tx):
        sentence = say_number(
            "%(n)s pair was decided after the others were assigned to validators: it has no validator, and is in no "
            "tier above Bronze; `fcpair validate assign --more` assigns them",
            "%(n)s pairs were decided after the others were assigned to validators: they have no validator, and are in "
            "no tier above Bronze; `fcpair validate assign --more` assigns them",
            n,
        )
        notes.append(sentence)
    return [*notes]


def more_validation_hint(tx: Tx, n: int, grid_option: str = "") -> str:
    """Number of pairs to assign again, and the command that assigns them with the options of the round."""
    own_options = effective_options(tx, Validate, {})
    options = f"{f' --pairs {n}' if own_options.pairs else ''}{' --blind' if own_options.blind else ''}"
    return f"{n:,}; `fcpair validate assign {grid_option}{' ' * bool(grid_option)}--more{options}`"


def is_blind(tx: Tx) -> bool:
    """Return whether the validators to whom pairs are assigned now do not see the label."""
    return effective_options(tx, Validate, {}).blind


def label_names(tx: Tx) -> dict[int, str]:
    """The name of the adjudicated label of each pair that has one."""
    names = {choice.code: choice.name for choice in scheme_of(tx)}
    decisions = adjudications.current_adjudications(tx).dropna(subset="code")
    return {int(pair): names[int(code)] for pair, code in zip(decisions["cell_id"], decisions["code"], strict=True)}


def with_decisions(tx: Tx, verdicts: pd.DataFrame, *, blind: bool) -> pd.DataFrame:
    """Tie each verdict to the decision that it is about; a blind label becomes the verdict that it amounts to."""
    decisions, own_codes = adjudications.current_adjudications(tx).set_index("cell_id"), verdicts["code"]
    linked_verdicts = verdicts.assign(adjudication_id=verdicts["cell_id"].map(decisions["id"]).astype("Int64"))
    if not blind:
        return linked_verdicts
    decided_codes = verdicts["cell_id"].map(decisions["code"]).fillna(NO_CODE).to_numpy(int)
    code = blind_verdict(own_codes.to_numpy(), decided_codes)
    return linked_verdicts.assign(own_code=own_codes.astype("Int64").mask(own_codes == NO_CODE), code=code)
