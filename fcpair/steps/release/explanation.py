"""Why a pair is in its tiers, or in none: everything that was answered and decided on it, and what each rule says."""

from __future__ import annotations

from typing import Any

from fcpair.examination_records import Explanation, TierCheck
from fcpair.lazy import pd
from fcpair.records import TIERS, UNDECIDED, Round, Rule
from fcpair.sentences import mark
from fcpair.stages.adjudication.partition import failed_demands, is_in_tier, tier_rules
from fcpair.stages.questions import SKIP, Closed
from fcpair.stages.questions.labels import VERDICT, tier_obstacle
from fcpair.steps.base.answer_values import form_of, format_answer
from fcpair.steps.base.context import GridContext, find_cell, labels_of, rules_of
from fcpair.steps.release.partition import evidence_of
from fcpair.steps.rules import rule_decisions
from fcpair.steps.rules.study_notes import read_request_note
from fcpair.store.adjudication import adjudications
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, sides
from fcpair.store.corpus.grids import to_public_number

NO_LABELS = "the answers in this grid are not labels"


def explain(grid: GridContext, number: int) -> Explanation:
    """Say why a pair is where it is; raises UnknownIdError when there is none of that number.

    The answers of every round are there as people read them, of a form with several questions each with its name.
    """
    with grid._store.read() as tx:
        cell_id = find_cell(tx, number)
        hs, cn = cells.texts_of(tx, cell_id)
        question, rules = labels_of(tx), tier_rules(rules_of(grid, tx))
        labels = judgements.label_arrays(tx, "cell_id", "code", cell_ids=[cell_id])
        history = adjudications.decision_history(tx, cell_id)
        newest = history.iloc[-1] if len(history) else None
        is_discarded = newest is not None and newest["rule"] not in UNDECIDED and bool(pd.isna(newest["code"]))
        no_label_reason = "" if len(labels["cell_id"]) else mark("it has no labels yet")
        reason = (tier_obstacle(question) if question else NO_LABELS) or (
            mark("it was discarded") if is_discarded else no_label_reason
        )
        if reason or not question:
            checks = [TierCheck(rule.tier, str(rule), False, (reason,)) for rule in rules]
        else:
            of = evidence_of(tx, labels, question)
            checks = [
                TierCheck(rule.tier, str(rule), bool(is_in_tier(rule, of)[0]), tuple(failed_demands(of, rule, 0)))
                for rule in rules
            ]
        passed = [check.tier for check in checks if check.passed]
        return Explanation(
            to_public_number(cell_id),
            hs["body"],
            cn["body"],
            hs["meta"],
            cn["meta"],
            _plain_rows(sides.neighbours_of(tx, cn["text_id"])),
            _with_formatted_answers(_plain_rows(judgements.answer_history(tx, cell_id)), rounds.of_grid(tx)),
            _with_outcome_names(_plain_rows(history), question),
            next((name for name in TIERS if name in passed), None),
            tuple(checks),
            is_discarded,
            bool(rule_decisions.stale_decisions(tx, [cell_id])),
            tuple(name for name in passed if name not in TIERS),
        )


def _plain_rows(frame: pd.DataFrame) -> tuple[dict[str, Any], ...]:
    plain = frame.astype(object).where(frame.notna(), None)
    return tuple({str(key): value for key, value in row.items()} for row in plain.to_dict("records"))


def _with_outcome_names(rows: tuple[dict[str, Any], ...], question: Closed | None) -> tuple[dict[str, Any], ...]:
    """Decisions with the names of what they decided, in place of codes; only labels are ever decided."""
    names_without_label = {Rule.REOPENED.value: mark("taken back"), Rule.REQUESTED.value: mark("waits for a person")}
    outcomes = []
    for row in rows:
        code = row.pop("code")
        answer = (
            names_without_label.get(row["rule"], mark("discarded"))
            if code is None or not question
            else question[int(code)].name
        )
        if row["rule"] == Rule.REQUESTED:
            row["note"] = read_request_note(row["note"])
        outcomes.append({**row, "answer": answer})
    return tuple(outcomes)


def _with_formatted_answers(rows: tuple[dict[str, Any], ...], grid_rounds: list[Round]) -> tuple[dict[str, Any], ...]:
    """Answers as people read them: a verdict in the round that checks, in others what its form makes of it, `skip`, or
    `withdrawn`.
    """
    rounds_by_name, rows_with_answers = {one.name: one for one in grid_rounds}, []
    for row in rows:
        code, value, round_ = row.pop("code"), row.pop("value"), rounds_by_name[row["round"]]
        if row.pop("skipped"):
            answer = mark("withdrawn") if row["withdrawn"] else SKIP
        else:
            answer = format_answer(form_of(round_.form), value) if round_.checks is None else VERDICT[int(code)].name
        rows_with_answers.append({**row, "answer": answer})
    return tuple(rows_with_answers)
