"""Agreement, and from several labels to one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from fcpair.errors import InputError
from fcpair.files.answers.answer_files import ImportedAnswers, read_answers
from fcpair.files.tables.tabular import name_of
from fcpair.params import Adjudicate, Annotate, CaseRanking, Policy, Ties
from fcpair.records import BY_HAND, UNDECIDED, Person, Role, Rule, RunRecord
from fcpair.stages.questions import IRRECONCILABLE, NO_CODE, SKIP, Closed
from fcpair.stages.questions.answer_keys import DISCARD, Keys
from fcpair.stages.questions.labels import outcome_reader
from fcpair.steps.adjudication.doubts import rank_cases
from fcpair.steps.answers.answer_import import SUPERSEDE, sorted_column_notes
from fcpair.steps.answers.decision_table import LABELS, layout_of
from fcpair.steps.answers.file_cells import letters, locate_cells
from fcpair.steps.base.context import (
    GridContext,
    effective_options,
    find_cell,
    need_labels,
    note_run,
    note_stage_run,
    scheme_of,
)
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.people.reading_limits import check_reading_limit
from fcpair.steps.rules import permissions, rule_decisions
from fcpair.steps.rules.wording import sheet_headings
from fcpair.store import Tx
from fcpair.store.adjudication import adjudications, disputes
from fcpair.store.corpus.grids import to_public_number
from fcpair.store.oversight import runs
from fcpair.store.people import people
from fcpair.values import visible_text
from fcpair.work_records import Agenda, Conflict, DryRun

if TYPE_CHECKING:
    import pandas as pd


@takes_params
def adjudicate(
    grid: GridContext,
    options: Adjudicate | None = None,
    *,
    policy: Policy = own("manual"),
    ties: Ties = own("wait"),
) -> RunRecord:
    """Decide what the policy decides, and let that policy hold from now on: the decisions follow the labels.

    What a person or a file has decided stands, and a decision that still holds is not written again. A decision by
    rule that this policy would not make is replaced or reopened, whichever policy had made it. Without options, the
    policy is the one that holds, else the recipe's.
    """
    with grid._store.write() as tx:
        need_labels(tx, "adjudicate")
        options = options or effective_options(tx, Adjudicate, {})
        changes = rule_decisions.preview_policy(tx, options)
        rule_decisions.write_decisions(tx, changes)
        return note_stage_run(tx, options, changes.counts)


@takes_params
def dry_run(
    grid: GridContext,
    options: Adjudicate | None = None,
    *,
    policy: Policy = own("manual"),
    ties: Ties = own("wait"),
) -> DryRun:
    """Say what `adjudicate` would do, and how that compares with what stands; change nothing."""
    with grid._store.read() as tx:
        need_labels(tx, "adjudicate")
        options = options or effective_options(tx, Adjudicate, {})
        changes = rule_decisions.preview_policy(tx, options)
    return DryRun(
        counts=changes.counts,
        discards=sum(decision.code is None for _, decision in changes.new),
        standing=changes.n_standing,
        compared=changes.n_compared,
        different=tuple(map(to_public_number, changes.different)),
        reopened=tuple(map(to_public_number, changes.reopened)),
    )


def waiting_pairs(grid: GridContext) -> list[int]:
    """The pairs that wait for an adjudicator, by number: no rule has settled their labels, and nobody decided them."""
    with grid._store.read() as tx:
        return list(map(to_public_number, rule_decisions.waiting_cell_ids(tx)))


def second_looks(grid: GridContext) -> list[int]:
    """The pairs that somebody decided before their labels changed, by number: they wait for a second look."""
    with grid._store.read() as tx:
        return list(map(to_public_number, rule_decisions.stale_decisions(tx)))


def agenda(grid: GridContext, by: str, *, order: CaseRanking = "row") -> Agenda:
    """Pairs that one person, or somebody new, can decide now, and counts of those that wait for others or labels.

    They are in the order of their rows, or of `doubt`: by Dawid and Skene's model, the greatest first. Raises
    InputError where that cannot be fitted; see `Grid.aggregate`.
    """
    with grid._store.read() as tx:
        own_agenda = permissions.agenda(tx, permissions.find_decider(tx, by))
        cell_ids = rank_cases(tx, own_agenda.pairs, order)
        pairs, again_numbers = (tuple(map(to_public_number, ids)) for ids in (cell_ids, own_agenda.again))
        return replace(own_agenda, pairs=pairs, again=frozenset(again_numbers))


def conflict(grid: GridContext, number: int, *, by: str | None = None) -> Conflict:
    """Show a pair that waits, or that `by` has decided, as an adjudicator sees it.

    It has the texts, and the labels and notes without names, in a shuffled order.

    Raises UnknownIdError when there is none of that number, RefusedError when `by` labelled or validates it or has
    reached a limit (LimitError), and ConflictError when it is not yet, or not any more, a case to decide.
    """
    with grid._store.read() as tx:
        person, cell_id = permissions.find_decider(tx, by) if by else None, find_cell(tx, number)
        case = permissions.open_case(tx, person, cell_id)
        if person is not None:
            check_reading_limit(tx, person.id, effective_options(tx, Annotate, {}), cell_id)
        hs, cn = permissions.texts_to_judge(tx, cell_id)
        shown_conflict = Conflict(
            number, hs["body"], cn["body"], shown_answers(tx, [cell_id]).get(cell_id, ()), answer_id=case.answer_id
        )
        if case.standing is None:
            return replace(shown_conflict, **permissions.own_note_and_flag(tx, person, cell_id, None))
        outcome = outcome_names(scheme_of(tx))[case.standing.code]
        return replace(shown_conflict, decision_id=case.standing.id, outcome=outcome)


def outcome_names(question: Closed) -> dict[int | None, str]:
    """Names of what can be decided, by code; None discards the pair."""
    return {choice.code: choice.name for choice in question if choice.definite} | {None: IRRECONCILABLE}


def outcome_keys(question: Closed) -> dict[int | None, Keys]:
    """The keys of what can be decided, by code: those that the labels have where they are given."""
    return {code: question.keys[code] for code in question.definite} | {None: (DISCARD,)}


def shown_answers(tx: Tx, cell_ids: Sequence[int]) -> dict[int, tuple[tuple[str, str], ...]]:
    """The labels of each pair by name with their notes, in an order that is the same each time and tells nobody.

    Pairs without any are left out.
    """
    names = {None: SKIP} | {choice.code: choice.name for choice in scheme_of(tx)}
    secret = runs.secret(tx)
    answers_by_pair = {}
    for cell_id, answers in disputes.label_notes(tx, cell_ids).items():
        shuffled = Random(f"{secret}:{cell_id}").sample(answers, len(answers))
        answers_by_pair[cell_id] = tuple((names[code], note_) for code, note_ in shuffled)
    return answers_by_pair


def decide(
    grid: GridContext, number: int, code: int | None, *, by: str, note: str = "", seen: Conflict | None = None
) -> None:
    """Record a person's decision on a pair; None discards it as irreconcilable. A flag that was `seen` is kept.

    With the conflict that was `seen`, ConflictError is raised if its labels or its decision have changed since.
    Raises RefusedError when `by` labelled or validates the pair or has reached a limit (LimitError), ConflictError
    while it is still being labelled.
    """
    with grid._store.write() as tx:
        person, cell_id = _find_adjudicator(tx, by), find_cell(tx, number)
        check_reading_limit(tx, person.id, effective_options(tx, Annotate, {}), cell_id)
        if seen is not None:
            case = permissions.open_case(tx, person, cell_id)
            permissions.check_still_as_shown(case, cell_id, seen.decision_id, seen.answer_id)
        record_decision(tx, cell_id, code, person, note, flagged=seen is not None and seen.flagged)


def record_decision(
    tx: Tx, cell_id: int, code: int | None, person: Person, note_: str, *, flagged: bool = False
) -> int:
    """Record an adjudicator's decision, which is its own note of who decided and when; returns its number.

    Raises:
        InputError: no definite label.
        RefusedError, ConflictError: this person may not decide the pair, or nobody may now; see `permissions`.
    """
    if code is not None and code not in scheme_of(tx).definite:
        raise InputError(f"{code} is not a definite label; expected one of {scheme_of(tx).definite}")
    permissions.check_may_decide(tx, person, cell_id)
    return disputes.add_decision(tx, cell_id, Rule.PERSON, code, person.id, visible_text(note_), flagged=flagged)


def _find_adjudicator(tx: Tx, name: str, *, allow_retired: bool = False) -> Person:
    """The person who adjudicates; somebody new becomes an adjudicator."""
    return (
        permissions.find_decider(tx, name, allow_retired=allow_retired)
        or people.add_people(tx, [name], Role.ADJUDICATOR)[0]
    )


def take_back(grid: GridContext, number: int, *, by: str) -> bool:
    """Take one's own decision on a pair back, or as lead anybody's; it stays in the record.

    Where it had taken the place of somebody else's decision by hand, that one stands again; returns whether it does.
    Otherwise the pair waits again, unless the policy that holds decides it. Raises ConflictError when there is no such
    decision.
    """
    with grid._store.write() as tx:
        person, cell_id = permissions.find_decider(tx, by), find_cell(tx, number)
        permissions.check_may_take_back(tx, person, cell_id)
        return record_reopening(tx, cell_id, person or _find_adjudicator(tx, by))[1]


def record_reopening(tx: Tx, cell_id: int, person: Person) -> tuple[int, bool]:
    """Record that a decision by hand is taken back; returns the number of that, and whether an earlier one is back."""
    earlier_decision = disputes.standing_decision(tx, cell_id)
    decision_id = disputes.add_decision(tx, cell_id, Rule.REOPENED, None, person.id)
    is_restored = earlier_decision is not None and disputes.restore_replaced(
        tx, cell_id, earlier_decision.person_id, decision_id
    )
    rule_decisions.apply_policy(tx, [cell_id])
    return decision_id, is_restored


def import_outcomes(grid: GridContext, path: str | Path, *, supersede: bool = False) -> RunRecord:
    """Record the decisions of a file: `pair` (or `hs` and `cn`), `label`, and if there `adjudicator`, `note`; or a
    table as `Exports.decisions` writes it.

    Decisions that stand already are not written again, but for those that wait for a second look and are given again
    to `supersede`; another decision by hand is replaced only then.
    """
    with grid._store.write() as tx:
        need_labels(tx, "adjudicate")
        read_word = outcome_reader(scheme_of(tx))
        keyed_by, answer = layout_of(tx, path)
        column_names = {"person": "adjudicator", "answer": answer, "shown": LABELS}
        incoming = read_answers(
            path,
            read_word,
            **column_names,
            needs_person=False,
            cell_columns=keyed_by,
            headings=sheet_headings(tx, keyed_by),
        )
        locate_cells(tx, incoming)
        _add_deciders(tx, incoming)
        outcome = _with_standing_decisions(tx, incoming.rows.assign(rule=Rule.IMPORTED.value))
        is_by_hand = outcome["old_rule"].isin([rule.value for rule in BY_HAND])
        is_same = is_by_hand & (outcome["old_code"] == outcome["code"])
        if supersede:
            is_same &= ~outcome["cell_id"].isin(rule_decisions.stale_decisions(tx))
        else:
            messages = (f"pair {pair} already has a different decision; {SUPERSEDE}" for pair in outcome["pair"])
            cause = f"these pairs already have different decisions; {SUPERSEDE}"
            incoming.add_findings((is_by_hand & ~is_same).to_numpy() & ~incoming.has_finding, messages, cause=cause)
        _refuse_changed_labels(tx, incoming, ~is_same)
        incoming.checked_rows()
        new_decisions = outcome[~is_same]
        code = new_decisions["code"].astype("Int64").mask(new_decisions["code"] == NO_CODE)
        adjudications.add_adjudications(
            tx, new_decisions.assign(code=code)[["cell_id", "rule", "code", "person_id", "note"]]
        )
        counts = {"imported": len(new_decisions), "already_there": len(outcome) - len(new_decisions)}
        run = note_run(tx, "adjudicate", {"import": name_of(path), "supersede": supersede}, counts)
    return replace(run, notes=sorted_column_notes(incoming))


def _add_deciders(tx: Tx, incoming: ImportedAnswers) -> None:
    """Add `person_id` to each row, and a finding where that person may not decide the pair, or nobody may now."""
    import pandas as pd

    rows = incoming.rows
    in_grid = rows["cell_id"] >= 0
    person_id = pd.Series(pd.NA, index=rows.index, dtype="Int64")
    messages = np.full(len(rows), "", object)
    for name, person_rows in rows.groupby("person"):
        person = _find_adjudicator(tx, str(name), allow_retired=True) if name else None
        if person is not None:
            person_id[person_rows.index] = person.id
        reasons = permissions.blocking_reasons(tx, person, person_rows["cell_id"][in_grid].tolist())
        messages[person_rows.index] = [str(reasons.get(pair, "")) for pair in person_rows["cell_id"].tolist()]
    causes = np.array([re.sub(r"pair \d+", "a pair", message) for message in messages], object)
    for cause in dict.fromkeys(causes[messages != ""]):
        incoming.add_findings(causes == cause, messages.tolist(), cause=cause)
    incoming.rows = rows.assign(person_id=person_id)


def _refuse_changed_labels(tx: Tx, incoming: ImportedAnswers, is_new: pd.Series[bool]) -> None:
    """Add a finding where the labels or notes of a pair that is newly decided are not those that the sheet shows."""
    rows = incoming.rows[is_new & (incoming.rows["shown"] != "") & ~incoming.has_finding]
    current_answers = shown_answers(tx, rows["cell_id"].tolist())
    current_lines = (as_lines(current_answers.get(pair, ())) for pair in rows["cell_id"])
    differing_rows = rows.index[
        [
            _comparable_lines(shown) != _comparable_lines(lines)
            for shown, lines in zip(rows["shown"], current_lines, strict=True)
        ]
    ]
    hint = "since this sheet was written; leave its `label` empty, and decide it on a new sheet"
    messages = (f"the labels of pair {pair} have changed {hint}" for pair in incoming.rows["pair"])
    cause = f"the labels of these pairs have changed {hint}"
    incoming.add_findings(incoming.rows.index.isin(differing_rows), messages, cause=cause)


def _comparable_lines(shown: str) -> list[str]:
    """The labels and notes that a sheet shows, in any order, and whatever a spreadsheet program has made of lines."""
    return sorted(filter(None, map(letters, shown.splitlines())))


def as_lines(answers: Sequence[tuple[str, str]]) -> str:
    """The labels of a pair with their notes as a sheet shows them: each on a line."""
    return "\n".join(f"{label} ({note_})" if note_ else label for label, note_ in answers)


def _with_standing_decisions(tx: Tx, outcome: pd.DataFrame) -> pd.DataFrame:
    """The outcome of each pair beside its standing decision: `old_rule`, `old_code` (-1: discarded, or none)."""
    decisions = adjudications.current_adjudications(tx)
    decisions = decisions[~decisions["rule"].isin([rule.value for rule in UNDECIDED])].set_index("cell_id")
    old_code = outcome["cell_id"].map(decisions["code"]).fillna(NO_CODE).astype("int64")
    return outcome.assign(old_rule=outcome["cell_id"].map(decisions["rule"]), old_code=old_code)
