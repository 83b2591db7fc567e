"""Figures of a grid of labels that both the report and pages show: decisions and tiers, people."""

from __future__ import annotations

from typing import Any

import numpy as np

from fcpair.params import Partition
from fcpair.records import UNDECIDED, Role, Round, Status, Verdict
from fcpair.report.data import DecisionsPart, PeopleFigures, PersonFigures, TierFigures
from fcpair.stages.adjudication.partition import best_first, tier_rules, tier_table_rows
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.stages.questions.labels import VERDICT, tier_obstacle
from fcpair.steps.base.context import scheme_of
from fcpair.steps.release.partition import LabelArrays, graded_pairs, heads_of
from fcpair.steps.rules.pair_counts import Tally, split_unanimous
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.answers.answer_arrays import NO_ANSWER, AnswerArrays, Ints
from fcpair.store.assignment import assignments, rounds
from fcpair.store.people import people


def decision_figures(tx: Tx, rules: Partition, tally: Tally, labels: LabelArrays) -> DecisionsPart:
    """Decisions in a grid of labels, by its `tally`, and its tiers where it has any `labels` (GRADED)."""
    question, tiers = scheme_of(tx), None
    no_tiers = tier_obstacle(question)
    if len(labels["cell_id"]) and not no_tiers:
        own_rules = tier_rules(rules)
        pairs = graded_pairs(tx, question, own_rules, labels)
        verdict = pairs["verdict"]
        tiers = TierFigures(
            diamond=rules.diamond,
            rules=tuple((rule.tier, str(rule)) for rule in best_first(own_rules)),
            tables=tier_table_rows(pairs, question, own_rules, heads_of(tx)),
            n_labelled=len(verdict),
            n_final=int((pairs["final"] >= 0).sum()),
            n_verdicts=int((verdict >= 0).sum()),
            n_valid=int((verdict == Verdict.AGREE).sum()),
        )
    return DecisionsPart(
        question=question,
        rules_used=split_unanimous(tx, {rule: n for rule, n in tally.by_rule.items() if rule not in UNDECIDED}),
        n_need_person=tally.pairs.wait_for_person,
        tiers=tiers,
        no_tiers=no_tiers,
    )


def people_figures(
    tx: Tx, role: Role, round_: Round, question: Closed | None, counts: assignments.Counts
) -> tuple[PersonFigures, ...]:
    """Everybody in a role, and whoever else has had work in its round; answers are counted if there is a `question`."""
    columns = ("person_id", "code", "seconds", "has_note")
    answers, by_person = judgements.current_answers(tx, round_, *columns, in_order=False), counts.get(round_.name, {})
    figures = []
    for person in people.people(tx):
        if person.role is not role and person.id not in by_person:
            continue
        own, own_counts = answers[answers["person_id"] == person.id], by_person.get(person.id, {})
        by_status: dict[str, Any] = {status.value: own_counts.get(status.value, 0) for status in Status}
        seconds = own["seconds"].dropna()
        figures.append(
            PersonFigures(
                name=person.name,
                role=person.role,
                retired=person.retired,
                assigned=sum(own_counts.values()),
                **by_status,
                answers=tuple(int((own["code"] == choice.code).sum()) for choice in question or ()),
                median_s=float(seconds.median()) if len(seconds) else None,
                n_timed=len(seconds),
                notes=int(own["has_note"].sum()),
            )
        )
    return tuple(figures)


def current_labels(tx: Tx, answers: AnswerArrays) -> dict[str, Ints]:
    """The labels that count in a grid, in any order: `cell_id`, `hs_id`, `cn_id`, `person_id`, `code`."""
    round_ids, ids_by_code = rounds.primary(tx).ids, rounds.label_ids(tx)
    code_of = np.full(max(ids_by_code.values(), default=NO_ANSWER) + 1, NO_CODE, np.int64)
    code_of[list(ids_by_code.values())] = list(ids_by_code)
    is_label = answers.current & ~answers.skipped & np.isin(answers.round_id, round_ids)
    columns = {name: getattr(answers, name)[is_label] for name in ("cell_id", "hs_id", "cn_id", "person_id")}
    return columns | {"code": code_of[answers.answer_id[is_label]]}


def load_people(tx: Tx) -> PeopleFigures:
    """What annotators and validators did."""
    counts, question = assignments.counts_of_grid(tx), scheme_of(tx)
    return PeopleFigures(
        question,
        people_figures(tx, Role.ANNOTATOR, rounds.primary(tx), question, counts),
        people_figures(tx, Role.VALIDATOR, rounds.validation(tx), VERDICT, counts),
    )
