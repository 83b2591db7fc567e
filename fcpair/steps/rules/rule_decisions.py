"""Decisions by rule follow the labels: whoever writes labels, or takes them back, calls `apply_policy` at once.

Such a decision is a row like any other, about which a verdict can be. But where the policy that holds would no longer
make it of the labels, another takes its place, or it is reopened.
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

RULES_BY_POLICY = {"majority": (Rule.MAJORITY, Rule.NO_MAJORITY), "median": (Rule.MEDIAN, Rule.NO_MEDIAN)}


def policy_that_holds(tx: Tx) -> Adjudicate | None:
    """The policy by which pairs are decided from now on; None before anybody has set one."""
    return effective_options(tx, Adjudicate, {}) if has_saved_options(tx, Adjudicate) else None


def apply_policy(tx: Tx, cell_ids: Sequence[int]) -> dict[str, int]:
    """Let decisions by rule follow labels in the transaction that changed these; returns how many were written."""
    policy = policy_that_holds(tx)
    if policy is None or not len(cell_ids):
        return {}
    changes = preview_policy(tx, policy, cell_ids)
    adjudications.add_decisions(tx, decision_rows(changes))
    return {name: n for name, n in (("decided", len(changes.new)), ("reopened", len(changes.reopened))) if n}


def follow_answer(tx: Tx, cell_id: int, *, counts: bool) -> None:
    """Let the decision by rule about a pair follow an answer on it, where a policy has been set.

    The same statements are run for an answer that does not count, on a control pair: the time of a reply tells none.
    """
    changes = decision_rows(preview_policy(tx, effective_options(tx, Adjudicate, {}), [cell_id]))
    is_kept = counts and bool(changes)
    with tentative(tx, is_kept=is_kept):
        adjudications.add_decisions(tx, changes if is_kept else [{"cell_id": cell_id, "rule": Rule.REOPENED.value}])


def preview_policy(tx: Tx, policy: Adjudicate, cell_ids: Sequence[int] | None = None) -> Forecast:
    """Preview what a policy makes of these pairs, or of all."""
    question = scheme_of(tx)
    return forecast(adjudications.pair_states(tx, question.codes, cell_ids), question, policy.policy, policy.ties)


def decision_rows(changes: Forecast) -> list[dict[str, Any]]:
    """Rows for the decisions that a policy would change, as `adjudications.add_decisions` takes them."""
    return [
        *({"cell_id": cell_id, "rule": new.rule.value, "code": new.code} for cell_id, new in changes.new),
        *({"cell_id": cell_id, "rule": Rule.REOPENED.value} for cell_id in changes.reopened),
    ]


def repair_old_decisions(tx: Tx) -> RunRecord | None:
    """Make the decisions by rule right in a study of an older fcpair, where they did not follow the labels.

    There, the dialogue set `manual`, which took back nothing. So the policy that holds is the newest of those that made
    what stands, and only where none did, the newest of all.
    """
    current_policy = policy_that_holds(tx)
    if current_policy is None:
        return None
    rules = set(adjudications.current_adjudications(tx, "rule")["rule"])
    standing = {policy for policy, made in RULES_BY_POLICY.items() if not rules.isdisjoint(rule.value for rule in made)}
    past_policies = (
        Adjudicate(**run.options) for run in reversed(runs.runs(tx, Adjudicate.stage)) if "policy" in run.params
    )
    policy = next((past for past in past_policies if past.policy in standing), current_policy)
    changes = preview_policy(tx, policy)
    if policy == current_policy and not (changes.new or changes.reopened):
        return None
    adjudications.add_decisions(tx, decision_rows(changes))
    return note_stage_run(tx, policy, changes.counts)


def stale_decisions(tx: Tx, cell_ids: Sequence[int] | None = None) -> list[int]:
    """Those of these pairs, or of all, that were decided by hand before their labels changed, by id."""
    answered_pairs = adjudications.answers_since_decision(tx, cell_ids)
    return [cell_id for cell_id, seen, answers in answered_pairs if labels_changed(answers, seen)]


def disputed_pairs(tx: Tx, cell_ids: Sequence[int] | None = None) -> list[disputes.DisputedPair]:
    """The pairs, or those of these, that are people's to decide, decided or not, with those for a second look."""
    return disputes.disputed_pairs(tx, scheme_of(tx).definite, stale_decisions(tx, cell_ids), cell_ids)
