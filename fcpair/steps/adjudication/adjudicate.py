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
from fcpair.files.answers.answer_files import Incoming, read_answers
from fcpair.param_values import takes_params
from fcpair.params import Adjudicate, Annotate
from fcpair.records import BY_HAND, Agenda, Conflict, DryRun, Person, Role, Rule, RunRecord
from fcpair.stages.questions import IRRECONCILABLE, NO_CODE, SKIP, Closed
from fcpair.stages.questions.answer_keys import DISCARD, Keys
from fcpair.stages.questions.labels import outcome_reader
from fcpair.steps.answers.answer_import import SUPERSEDE, letters, locate, sorted_apart
from fcpair.steps.answers.decision_table import LABELS, layout_of
from fcpair.steps.base.context import OnGrid, cell_of, need_labels, note, note_run, own, scheme_of
from fcpair.steps.people.reading_limits import check_room
from fcpair.steps.rules import permissions, rule_decisions
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.answers import judgements
from fcpair.store.corpus.grids import number_of
from fcpair.store.oversight import runs
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd


@takes_params
def adjudicate(grid: OnGrid, options: Adjudicate | None = None) -> RunRecord:
    """Decide what the policy decides, and let that policy hold from now on: the decisions follow the labels.

    What a person or a file has decided stands, and a decision that still holds is not written again. A decision by
    rule that this policy would not make is replaced or reopened, whichever policy had made it. Without options, the
    policy is the one that holds, else the recipe's.
    """
    with grid.store.write() as tx:
        need_labels(tx, "adjudicate")
        options = options or own(tx, Adjudicate, {})
        found = rule_decisions.foresee(tx, options)
        rule_decisions.enter(tx, found)
        return note(tx, options, found.counts)


@takes_params
def dry_run(grid: OnGrid, options: Adjudicate | None = None) -> DryRun:
    """Say what `adjudicate` would do, and how that compares with what stands; change nothing."""
    with grid.store.read() as tx:
        need_labels(tx, "adjudicate")
        options = options or own(tx, Adjudicate, {})
        found = rule_decisions.foresee(tx, options)
    return DryRun(
        counts=found.counts,
        discards=sum(settled.code is None for _, settled in found.new),
        standing=found.n_standing,
        compared=found.n_compared,
        different=tuple(map(number_of, found.different)),
        reopened=tuple(map(number_of, found.reopened)),
    )


def waiting_pairs(grid: OnGrid) -> list[int]:
    """The pairs that wait for an adjudicator, by number: no rule has settled their labels, and nobody decided them."""
    with grid.store.read() as tx:
        return list(map(number_of, rule_decisions.waiting(tx)))


def second_looks(grid: OnGrid) -> list[int]:
    """The pairs that somebody decided before their labels changed, by number: they wait for a second look."""
    with grid.store.read() as tx:
        return list(map(number_of, rule_decisions.overtaken(tx)))


def agenda(grid: OnGrid, by: str) -> Agenda:
    """What one person, or somebody new, can decide now, and what waits for others or for labels."""
    with grid.store.read() as tx:
        found = permissions.agenda(tx, permissions.who_decides(tx, by))
        pairs, again = (tuple(map(number_of, ids)) for ids in (found.pairs, found.again))
        return replace(found, pairs=pairs, again=frozenset(again))


def conflict(grid: OnGrid, number: int, *, by: str | None = None) -> Conflict:
    """What an adjudicator sees of a pair that waits, or that `by` has decided.

    It has the texts, and the labels and notes without names, in a shuffled order.

    Raises UnknownIdError when there is none of that number, RefusedError when `by` labelled or validates it or has
    reached a limit (LimitError), and ConflictError when it is not yet, or not any more, a case to decide.
    """
    with grid.store.read() as tx:
        person, cell_id = permissions.who_decides(tx, by) if by else None, cell_of(tx, number)
        opened = permissions.open_case(tx, person, cell_id)
        if person is not None:
            check_room(tx, person.id, own(tx, Annotate, {}), cell_id)
        hs, cn = permissions.texts_to_judge(tx, cell_id)
        shown = Conflict(
            number, hs["body"], cn["body"], shown_answers(tx, [cell_id]).get(cell_id, ()), answer_id=opened.answer_id
        )
        if opened.standing is None:
            return replace(shown, **permissions.own_words(tx, person, cell_id, None))
        outcome = outcome_names(scheme_of(tx))[opened.standing.code]
        return replace(shown, decision_id=opened.standing.id, outcome=outcome)


def outcome_names(question: Closed) -> dict[int | None, str]:
    """What can be decided, by code; None discards the pair."""
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
    shown = {}
    for cell_id, answers in disputes.labels(tx, cell_ids).items():
        shuffled = Random(f"{secret}:{cell_id}").sample(answers, len(answers))
        shown[cell_id] = tuple((names[code], note_) for code, note_ in shuffled)
    return shown


def decide(
    grid: OnGrid, number: int, code: int | None, *, by: str, note: str = "", seen: Conflict | None = None
) -> None:
    """Record a person's decision on a pair; None discards it as irreconcilable. A flag that was `seen` is kept.

    With the conflict that was `seen`, ConflictError is raised if its labels or its decision have changed since.
    Raises RefusedError when `by` labelled or validates the pair or has reached a limit (LimitError), ConflictError
    while it is still being labelled.
    """
    with grid.store.write() as tx:
        person, cell_id = _adjudicator(tx, by), cell_of(tx, number)
        check_room(tx, person.id, own(tx, Annotate, {}), cell_id)
        if seen is not None:
            opened = permissions.open_case(tx, person, cell_id)
            permissions.check_seen(opened, cell_id, seen.decision_id, seen.answer_id)
        enter_decision(tx, cell_id, code, person, note, flagged=seen is not None and seen.flagged)


def enter_decision(tx: Tx, cell_id: int, code: int | None, person: Person, note_: str, *, flagged: bool = False) -> int:
    """Record an adjudicator's decision, which is its own note of who decided and when; returns its number.

    Raises:
        InputError: no definite label.
        RefusedError, ConflictError: this person may not decide the pair, or nobody may now; see `permissions`.
    """
    if code is not None and code not in scheme_of(tx).definite:
        raise InputError(f"{code} is no definite label; expected one of {scheme_of(tx).definite}")
    permissions.check_deciding(tx, person, cell_id)
    return disputes.add_decision(tx, cell_id, Rule.PERSON, code, person.id, note_, flagged=flagged)


def _adjudicator(tx: Tx, name: str, *, or_left: bool = False) -> Person:
    """The person who adjudicates; somebody new becomes an adjudicator."""
    return permissions.who_decides(tx, name, or_left=or_left) or people.add_people(tx, [name], Role.ADJUDICATOR)[0]


def take_back(grid: OnGrid, number: int, *, by: str) -> bool:
    """Take one's own decision on a pair back, or as lead anybody's; it stays in the record.

    Where it had taken the place of somebody else's decision by hand, that one stands again; returns whether it does.
    Otherwise the pair waits again, unless the policy that holds decides it. Raises ConflictError when there is no such
    decision.
    """
    with grid.store.write() as tx:
        person, cell_id = permissions.who_decides(tx, by), cell_of(tx, number)
        permissions.check_taking_back(tx, person, cell_id)
        return enter_reopening(tx, cell_id, person or _adjudicator(tx, by))[1]


def enter_reopening(tx: Tx, cell_id: int, person: Person) -> tuple[int, bool]:
    """Record that a decision by hand is taken back; returns the number of that, and whether an earlier one is back."""
    taken = disputes.standing(tx, cell_id)
    decision_id = disputes.add_decision(tx, cell_id, Rule.REOPENED, None, person.id)
    restored = taken is not None and disputes.restore(tx, cell_id, taken.person_id, decision_id)
    rule_decisions.settle(tx, [cell_id])
    return decision_id, restored


def import_outcomes(grid: OnGrid, path: str | Path, *, supersede: bool = False) -> RunRecord:
    """Record the decisions of a file: `pair` (or `hs` and `cn`), `label`, and if there `adjudicator`, `note`; or a
    table as `Exports.decisions` writes it.

    Decisions that stand already are not written again, but for those that wait for a second look and are given again
    to `supersede`; another decision by hand is replaced only then.
    """
    with grid.store.write() as tx:
        need_labels(tx, "adjudicate")
        read_word = outcome_reader(scheme_of(tx))
        of, answer = layout_of(tx, path)
        about = {"person": "adjudicator", "answer": answer, "shown": LABELS}
        incoming = read_answers(path, read_word, **about, named=False, of=of)
        locate(tx, incoming)
        _add_deciders(tx, incoming)
        outcome = _with_standing(tx, incoming.rows.assign(rule=Rule.IMPORTED.value))
        by_hand = outcome["old_rule"].isin([rule.value for rule in BY_HAND])
        same = by_hand & (outcome["old_code"] == outcome["code"])
        if supersede:
            same &= ~outcome["cell_id"].isin(rule_decisions.overtaken(tx))
        else:
            messages = (f"pair {pair} has been decided otherwise already; {SUPERSEDE}" for pair in outcome["pair"])
            cause = f"these pairs have been decided otherwise already; {SUPERSEDE}"
            incoming.complain((by_hand & ~same).to_numpy() & ~incoming.faulty, messages, cause=cause)
        _refuse_what_has_changed(tx, incoming, ~same)
        incoming.accepted()
        new = outcome[~same]
        code = new["code"].astype("Int64").mask(new["code"] == NO_CODE)
        judgements.add_adjudications(tx, new.assign(code=code)[["cell_id", "rule", "code", "person_id", "note"]])
        counts = {"imported": len(new), "already_there": len(outcome) - len(new)}
        run = note_run(tx, "adjudicate", {"import": str(path), "supersede": supersede}, counts)
    return replace(run, notes=sorted_apart(incoming))


def _add_deciders(tx: Tx, given: Incoming) -> None:
    """Add `person_id` to each row, and a finding where that person may not decide the pair, or nobody may now."""
    import pandas as pd

    rows = given.rows
    in_grid = rows["cell_id"] >= 0
    person_id = pd.Series(pd.NA, index=rows.index, dtype="Int64")
    messages = np.full(len(rows), "", object)
    for name, theirs in rows.groupby("person"):
        person = _adjudicator(tx, str(name), or_left=True) if name else None
        if person is not None:
            person_id[theirs.index] = person.id
        barred = permissions.bars(tx, person, theirs["cell_id"][in_grid].tolist())
        messages[theirs.index] = [str(barred.get(pair, "")) for pair in theirs["cell_id"].tolist()]
    causes = np.array([re.sub(r"pair \d+", "a pair", message) for message in messages], object)
    for cause in dict.fromkeys(causes[messages != ""]):
        given.complain(causes == cause, messages.tolist(), cause=cause)
    given.rows = rows.assign(person_id=person_id)


def _refuse_what_has_changed(tx: Tx, given: Incoming, is_new: pd.Series[bool]) -> None:
    """Add a finding where the labels or notes of a pair that is newly decided are not those that the sheet shows."""
    rows = given.rows[is_new & (given.rows["shown"] != "") & ~given.faulty]
    there = shown_answers(tx, rows["cell_id"].tolist())
    now = (as_lines(there.get(pair, ())) for pair in rows["cell_id"])
    differ = rows.index[[_set_of(shown) != _set_of(lines) for shown, lines in zip(rows["shown"], now, strict=True)]]
    hint = "since this sheet was written; leave its `label` empty, and decide it on a new sheet"
    messages = (f"the labels of pair {pair} have changed {hint}" for pair in given.rows["pair"])
    cause = f"the labels of these pairs have changed {hint}"
    given.complain(given.rows.index.isin(differ), messages, cause=cause)


def _set_of(shown: str) -> list[str]:
    """The labels and notes that a sheet shows, in any order, and whatever a spreadsheet program has made of lines."""
    return sorted(filter(None, map(letters, shown.splitlines())))


def as_lines(answers: Sequence[tuple[str, str]]) -> str:
    """The labels of a pair with their notes as a sheet shows them: each on a line."""
    return "\n".join(f"{label} ({note_})" if note_ else label for label, note_ in answers)


def _with_standing(tx: Tx, outcome: pd.DataFrame) -> pd.DataFrame:
    """The outcome of each pair beside its standing decision: `old_rule`, `old_code` (-1: discarded, or none)."""
    standing = judgements.current_adjudications(tx)
    standing = standing[standing["rule"] != Rule.REOPENED.value].set_index("cell_id")
    old_code = outcome["cell_id"].map(standing["code"]).fillna(NO_CODE).astype("int64")
    return outcome.assign(old_rule=outcome["cell_id"].map(standing["rule"]), old_code=old_code)
