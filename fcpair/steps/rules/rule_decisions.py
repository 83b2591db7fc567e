"""Decisions by rule follow the labels: whoever writes labels, or takes them back, calls `apply_policy` at once.

A decision by rule is a row like any other, so that a verdict can be about it. But it stands only as long as the policy
that holds would make it of the labels that are there: otherwise another takes its place, or it is reopened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fcpair.params import Adjudicate
from fcpair.records import Rule, RunRecord
from fcpair.stages.adjudication.adjudicate import Forecast, forecast, labels_changed
from fcpair.steps.base.context import effective_options, has_saved_options, note_stage_run, scheme_of
from fcpair.store import Tx, adjudications, disputes
from fcpair.store.database.statements import tentative
from fcpair.store.oversight import runs

POLICY_BY_RULE = {
    Rule.MAJORITY: "majority",
    Rule.MEDIAN: "median",
    Rule.NO_MAJORITY: "majority",
    Rule.NO_MEDIAN: "median",
}


def policy_that_holds(tx: Tx) -> Adjudicate | None:
    """The policy by which pairs are decided from now on; None before anybody has set one."""
    return effective_options(tx, Adjudicate, {}) if has_saved_options(tx, Adjudicate) else None


def apply_policy(tx: Tx, cell_ids: Sequence[int]) -> dict[str, int]:
    """Let decisions by rule follow labels in the transaction that changed these; returns how many were written."""
    policy = policy_that_holds(tx)
    if policy is None or not len(cell_ids):
        return {}
    changes = preview_policy(tx, policy, cell_ids)
    write_decisions(tx, changes)
    counts = {"decided": len(changes.new), "reopened": len(changes.reopened)}
    return {name: n for name, n in counts.items() if n}


def follow_answer(tx: Tx, cell_id: int, *, counts: bool) -> None:
    """Let the decision by rule about a pair follow an answer on it, where a policy has been set.

    The same statements are run for an answer that does not count, on a control pair: the time of a reply tells none.
    """
    changes = _decisions(preview_policy(tx, effective_options(tx, Adjudicate, {}), [cell_id]))
    is_kept = counts and bool(changes)
    with tentative(tx, is_kept=is_kept):
        adjudications.add_decisions(tx, changes if is_kept else [_reopened(cell_id)])


def preview_policy(tx: Tx, policy: Adjudicate, cell_ids: Sequence[int] | None = None) -> Forecast:
    """Preview what a policy makes of these pairs, or of all."""
    question = scheme_of(tx)
    return forecast(adjudications.pair_states(tx, question.codes, cell_ids), question, policy.policy, policy.ties)


def write_decisions(tx: Tx, changes: Forecast) -> None:
    """Write what was foreseen."""
    adjudications.add_decisions(tx, _decisions(changes))


def _decisions(changes: Forecast) -> list[dict[str, Any]]:
    made = ({"cell_id": cell_id, "rule": one.rule.value, "code": one.code} for cell_id, one in changes.new)
    return [*made, *map(_reopened, changes.reopened)]


def _reopened(cell_id: int) -> dict[str, Any]:
    return {"cell_id": cell_id, "rule": Rule.REOPENED.value}


def repair_old_decisions(tx: Tx) -> RunRecord | None:
    """Make the decisions by rule right in a study of an older fcpair, where they did not follow the labels.

    There, the dialogue set `manual`, which took back nothing. So the policy that holds is the newest of those that made
    what stands, and only where none did, the newest of all.
    """
    current_policy = policy_that_holds(tx)
    if current_policy is None:
        return None
    rules = set(adjudications.current_adjudications(tx, "rule")["rule"])
    standing_policies = {policy for rule, policy in POLICY_BY_RULE.items() if rule.value in rules}
    past_policies = (
        Adjudicate(**run.options) for run in reversed(runs.runs(tx, Adjudicate.stage)) if "policy" in run.params
    )
    policy = next((one for one in past_policies if one.policy in standing_policies), current_policy)
    changes = preview_policy(tx, policy)
    if policy == current_policy and not (changes.new or changes.reopened):
        return None
    write_decisions(tx, changes)
    return note_stage_run(tx, policy, changes.counts)


def stale_decisions(tx: Tx, cell_ids: Sequence[int] | None = None) -> list[int]:
    """Those of these pairs, or of all, that were decided by hand before their labels changed, by id."""
    answered_pairs = adjudications.answers_since_decision(tx, cell_ids)
    return [cell_id for cell_id, seen, answers in answered_pairs if labels_changed(answers, seen)]


def disputed_pairs(tx: Tx, cell_ids: Sequence[int] | None = None) -> list[disputes.DisputedPair]:
    """The pairs, or those of these, that are people's to decide, decided or not, with those for a second look."""
    return disputes.disputed_pairs(tx, scheme_of(tx).definite, stale_decisions(tx, cell_ids), cell_ids)


def waiting_cell_ids(tx: Tx) -> list[int]:
    """The pairs with labels that wait for a decision, by id."""
    return disputes.undecided_pairs(tx, scheme_of(tx).definite)[1]
