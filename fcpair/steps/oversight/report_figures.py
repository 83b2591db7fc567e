"""Figures that the parts of a report share: the decisions in a grid, its tiers, and what each person did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fcpair.params import Partition
from fcpair.records import UNDECIDED, Person, Role, Round, Status, Verdict
from fcpair.report.data import DecisionsPart, PersonFigures, TierFigures
from fcpair.stages.adjudication.partition import best_first, tier_rules, tier_table_rows
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import tier_obstacle
from fcpair.steps.release.partition import LabelArrays, graded_pairs, heads_of
from fcpair.steps.rules.pair_counts import Tally, split_unanimous
from fcpair.store import Tx
from fcpair.store.adjudication import adjudications
from fcpair.store.answers import judgements
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd


def standing_decisions(tx: Tx) -> pd.DataFrame:
    """The decision that stands on each cell, as `adjudications.standing_decisions` has it, without those taken back."""
    decisions = adjudications.standing_decisions(tx)
    return decisions[~decisions["rule"].isin([rule.value for rule in UNDECIDED])]


def decision_figures(
    tx: Tx,
    question: Closed,
    rules: Partition,
    tally: Tally,
    labels: LabelArrays,
) -> DecisionsPart:
    """Decisions in a grid, by its `tally`, and its tiers where it has any `labels` (GRADED)."""
    standing = {rule: n for rule, n in tally.by_rule.items() if rule not in UNDECIDED}
    return DecisionsPart(
        question=question,
        rules_used=split_unanimous(tx, standing),
        n_need_person=tally.pairs.wait_for_person,
        tiers=_tier_figures(tx, question, rules, labels)
        if len(labels["cell_id"]) and not tier_obstacle(question)
        else None,
        no_tiers=tier_obstacle(question),
    )


def _tier_figures(tx: Tx, question: Closed, options: Partition, labels: LabelArrays) -> TierFigures:
    rules = tier_rules(options)
    pairs = graded_pairs(tx, question, rules, labels)
    verdict = pairs["verdict"]
    return TierFigures(
        diamond=options.diamond,
        rules=tuple((rule.tier, str(rule)) for rule in best_first(rules)),
        tables=tier_table_rows(pairs, question, rules, heads_of(tx)),
        n_labelled=len(verdict),
        n_final=int((pairs["final"] >= 0).sum()),
        n_verdicts=int((verdict >= 0).sum()),
        n_valid=int((verdict == Verdict.AGREE).sum()),
    )


def people_figures(
    tx: Tx, role: Role, round_: Round, question: Closed | None, assignment_counts: pd.DataFrame
) -> tuple[PersonFigures, ...]:
    """Everybody in a role, and whoever else has had work in its round; answers are counted if there is a `question`.

    `assignment_counts` are the assignments, as `assignments.counts` has them.
    """
    answers = judgements.answer_counts(tx, round_)
    assignment_counts = assignment_counts[assignment_counts["round"] == round_.name]
    persons = [
        person
        for person in people.people(tx)
        if person.role is role or (assignment_counts["person_id"] == person.id).any()
    ]
    return tuple(
        _person_figures(person, answers[answers["person_id"] == person.id], question, assignment_counts)
        for person in persons
    )


def _person_figures(
    person: Person, answers: pd.DataFrame, question: Closed | None, assignment_counts: pd.DataFrame
) -> PersonFigures:
    own_counts = assignment_counts[assignment_counts["person_id"] == person.id]
    n_by_status: dict[str, Any] = {
        status.value: int(own_counts["n"][own_counts["status"] == status.value].sum()) for status in Status
    }
    seconds = answers["seconds"].dropna()
    return PersonFigures(
        name=person.name,
        role=person.role,
        retired=person.retired,
        assigned=int(own_counts["n"].sum()),
        **n_by_status,
        answers=tuple(int((answers["code"] == choice.code).sum()) for choice in question or ()),
        median_s=float(seconds.median()) if len(seconds) else None,
        n_timed=len(seconds),
        notes=int(answers["has_note"].sum()),
    )
