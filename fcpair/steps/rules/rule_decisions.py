"""Decisions by rule follow the labels: whoever writes labels, or takes them back, calls `settle` in the same breath.

A decision by rule is a row like any other, so that it can be explained and a verdict can be about it. But it stands
only as long as the policy that holds would make it of the labels that are there: otherwise another decision takes its
place, or it is reopened.
"""

from __future__ import annotations

from collections.abc import Sequence

from fcpair.params import Adjudicate
from fcpair.records import Rule, RunRecord
from fcpair.stages.adjudication.adjudicate import Forecast, forecast, labels_changed
from fcpair.steps.base.context import has_own, note, own, scheme_of
from fcpair.store import Tx
from fcpair.store.adjudication import disputes, pair_states
from fcpair.store.answers import judgements
from fcpair.store.oversight import runs

BY_RULE_ALONE = {
    Rule.MAJORITY: "majority",
    Rule.MEDIAN: "median",
    Rule.NO_MAJORITY: "majority",
    Rule.NO_MEDIAN: "median",
}


def policy_that_holds(tx: Tx) -> Adjudicate | None:
    """The policy by which pairs are decided from now on; None before anybody has set one."""
    return own(tx, Adjudicate, {}) if has_own(tx, Adjudicate) else None


def settle(tx: Tx, cell_ids: Sequence[int]) -> dict[str, int]:
    """Let the decisions by rule about these pairs follow their labels, in the transaction that changed those.

    Does nothing before a policy has been set. Returns what was written, where anything was: `decided`, `reopened`.
    """
    policy = policy_that_holds(tx)
    if policy is None or not len(cell_ids):
        return {}
    found = foresee(tx, policy, cell_ids)
    enter(tx, found)
    written = {"decided": len(found.new), "reopened": len(found.reopened)}
    return {name: n for name, n in written.items() if n}


def foresee(tx: Tx, policy: Adjudicate, cell_ids: Sequence[int] | None = None) -> Forecast:
    """What a policy makes of these pairs, or of all."""
    question = scheme_of(tx)
    return forecast(pair_states.pair_states(tx, question.codes, cell_ids), question, policy.policy, policy.ties)


def enter(tx: Tx, found: Forecast) -> None:
    """Write what was foreseen."""
    judgements.add_by_rule(tx, ((cell_id, settled.rule, settled.code) for cell_id, settled in found.new))
    judgements.add_by_rule(tx, ((cell_id, Rule.REOPENED, None) for cell_id in found.reopened))


def settle_older(tx: Tx) -> RunRecord | None:
    """Make the decisions by rule of a study right that an older fcpair kept, by which they did not follow the labels.

    There, `manual` took back nothing that another policy had decided, and the dialogue set it each time. So the policy
    that holds is the newest of those that made what stands, and only where none did, the newest of all.
    """
    held = policy_that_holds(tx)
    if held is None:
        return None
    rules = set(judgements.current_adjudications(tx, "rule")["rule"])
    made = {policy for rule, policy in BY_RULE_ALONE.items() if rule.value in rules}
    older = (Adjudicate(**run.params) for run in reversed(runs.runs(tx, Adjudicate.stage)) if "policy" in run.params)
    policy = next((one for one in older if one.policy in made), held)
    found = foresee(tx, policy)
    if policy == held and not (found.new or found.reopened):
        return None
    enter(tx, found)
    return note(tx, policy, found.counts)


def overtaken(tx: Tx, cell_ids: Sequence[int] | None = None) -> list[int]:
    """Those of these pairs, or of all, that were decided by hand before their labels changed, by id."""
    answered = pair_states.answered_since(tx, cell_ids)
    return [cell_id for cell_id, seen, answers in answered if labels_changed(answers, seen)]


def in_dispute(tx: Tx, cell_ids: Sequence[int] | None = None) -> list[disputes.Disputed]:
    """The pairs, or those of these, that are people's to decide, decided or not, with those for a second look."""
    return disputes.disputed(tx, scheme_of(tx).definite, overtaken(tx, cell_ids), cell_ids)


def waiting(tx: Tx) -> list[int]:
    """The pairs with labels that wait for a decision, by id."""
    return sorted(one.cell_id for one in in_dispute(tx) if one.by is None and not one.again)
