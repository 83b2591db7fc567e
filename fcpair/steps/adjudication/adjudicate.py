"""From several labels to one: by a policy, by a person, by a sheet or another file, or by a person on request.

A request is a row like a decision, which takes the place of what a rule has decided until a person decides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from random import Random

import numpy as np

from fcpair.errors import InputError, StageError
from fcpair.files.answers.answer_files import ImportedAnswers, read_answers
from fcpair.files.answers.sheets import SHEET_FORMATS, write_sheet
from fcpair.files.corpus.corpus import with_own_ids
from fcpair.files.tables.tabular import Source, name_of
from fcpair.lazy import pd
from fcpair.params import Adjudicate, CaseRanking, Ids, Policy, Ties
from fcpair.records import BY, BY_HAND, UNDECIDED, Person, Role, Rule, RunRecord
from fcpair.sentences import mark, say
from fcpair.stages.questions import IRRECONCILABLE, NO_CODE, SKIP, Closed
from fcpair.stages.questions.labels import decision_words, outcome_reader
from fcpair.steps.adjudication.case_queues import rank_cases
from fcpair.steps.answers.answer_import import SUPERSEDE, letters, locate_cells, sorted_column_notes
from fcpair.steps.answers.answer_tables import LABELS, layout_of
from fcpair.steps.answers.work_files import make_blank
from fcpair.steps.base import context
from fcpair.steps.base.context import GridContext
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.rules import permissions, rule_decisions, tallies, wording
from fcpair.store import Tx, adjudications, disputes, people
from fcpair.store.corpus import cells
from fcpair.store.corpus.grids import to_cell_id, to_public_number
from fcpair.store.oversight import runs
from fcpair.values import visible_text
from fcpair.work_records import DryRun, ShownLabel


@takes_params
def adjudicate(
    grid: GridContext, options: Adjudicate | None = None, *, policy: Policy = own("manual"), ties: Ties = own("wait")
) -> RunRecord:
    """Decide what the policy decides, and let that policy hold from now on: the decisions follow the labels.

    What a person or a file has decided stands, as does a decision that still holds. A decision by rule that this policy
    would not make is replaced or reopened. Without options, the policy is the one that holds, else the recipe's.
    """
    with grid._store.write() as tx:
        context.need_labels(tx, "adjudicate")
        options = options or context.effective_options(tx, Adjudicate, {})
        changes = rule_decisions.preview_policy(tx, options)
        adjudications.add_decisions(tx, rule_decisions.decision_rows(changes))
        return context.note_stage_run(tx, options, changes.counts)


def dry_run(grid: GridContext, options: Adjudicate) -> DryRun:
    """Say what `adjudicate` would do, and how that compares with what stands; change nothing."""
    with grid._store.read() as tx:
        context.need_labels(tx, "adjudicate")
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
        return list(map(to_public_number, disputes.undecided_pairs(tx, context.scheme_of(tx).definite)[1]))


def second_looks(grid: GridContext) -> list[int]:
    """The pairs that somebody decided before their labels changed, by number: they wait for a second look."""
    with grid._store.read() as tx:
        return list(map(to_public_number, rule_decisions.stale_decisions(tx)))


def outcome_names(question: Closed) -> dict[int | None, str]:
    """Names of what can be decided, by code; None discards the pair."""
    return {choice.code: choice.name for choice in question if choice.definite} | {None: IRRECONCILABLE}


def outcome_code(tx: Tx, outcome: str) -> int | None:
    """The code of what can be decided; raises InputError if there is no such outcome."""
    codes = {name: code for code, name in outcome_names(context.scheme_of(tx)).items()}
    if outcome not in codes:
        raise InputError.say("`%(name)s` is not an outcome; expected one of %(names)s", name=outcome, names=list(codes))
    return codes[outcome]


def shown_answers(tx: Tx, cell_ids: Sequence[int]) -> dict[int, tuple[ShownLabel, ...]]:
    """The labels of each pair that has any with their notes, in an order that is always the same and tells nobody."""
    names, secret = {None: SKIP} | {choice.code: choice.name for choice in context.scheme_of(tx)}, runs.secret(tx)
    return {
        cell_id: tuple(
            ShownLabel(names[code], note) for code, note in Random(f"{secret}:{cell_id}").sample(answers, len(answers))
        )
        for cell_id, answers in disputes.label_notes(tx, cell_ids).items()
    }


def record_decision(
    tx: Tx, cell_id: int, code: int | None, person: Person, note: str, *, flagged: bool, decided_at: str | None = None
) -> int:
    """Record an adjudicator's decision, which is its own note of who decided and when (and when it was made, where it
    came later); returns its number.
    """
    if code is not None and code not in context.scheme_of(tx).definite:
        raise InputError(f"{code} is not a definite label; expected one of {context.scheme_of(tx).definite}")
    permissions.check_may_decide(tx, person, cell_id)
    decision = {"cell_id": cell_id, "rule": Rule.PERSON.value, "code": code, "person_id": person.id}
    decision |= {"note": visible_text(note), "flagged": flagged, "decided_at": decided_at}
    return adjudications.add_decisions(tx, [decision])


def find_adjudicator(tx: Tx, name: str, *, allow_retired: bool = False) -> Person:
    """The person who adjudicates; somebody new becomes an adjudicator."""
    known = permissions.find_decider(tx, name, allow_retired=allow_retired)
    return known or people.add_people(tx, [name], Role.ADJUDICATOR)[0]


def write_conflicts(
    grid: GridContext, path: str | Path, *, by: str, order: CaseRanking = "row", ids: Ids | None = None
) -> int:
    """Write the pairs that wait and that `by` may decide as a sheet to be filled in; returns how many they are.

    It has `adjudicator`, `pair`, `hs`, `cn`, `labels` (all of the pair's with their notes, without names), and `label`
    and `note` to be filled in, in the order of rows or of `doubt`. `import_outcomes` reads it back. `ids` is as for
    `Grid.tier`. Raises InputError
    for something at `path`, a suffix other than .csv and .xlsx, no adjudicator, or no doubt by which to order, as
    `Grid.desk.agenda` says; StageError where no pair waits for this person.
    """
    path, suffixes = Path(path), [f".{form}" for form in SHEET_FORMATS]
    if path.suffix not in suffixes:
        raise InputError(f"{path}: expected a name that ends in {' or '.join(suffixes)}")
    if path.exists():
        raise InputError(f"{path} already exists and may contain decisions; name another file")
    with grid._store.read() as tx:
        cell_ids = rank_cases(tx, permissions.agenda(tx, permissions.find_decider(tx, by)).pairs, order)
        if not cell_ids:
            raise StageError(f"no pair that {by} may decide is waiting; `fcpair status` shows what is open")
        answers_by_pair, rows = shown_answers(tx, cell_ids), list[dict[str, object]]()
        for cell_id in cell_ids:
            hs, cn = permissions.texts_to_judge(tx, cell_id)
            shown = {"hs": hs["body"], "cn": cn["body"], "labels": as_lines(answers_by_pair.get(cell_id, ()))}
            rows.append({"adjudicator": by, "pair": to_public_number(cell_id), **shown, "label": "", "note": ""})
        blank = make_blank(tx, {"label": decision_words(context.scheme_of(tx))})
        located = cells.by_id(tx, cell_ids).set_index("cell_id").loc[list(cell_ids)]
        sheet = with_own_ids(pd.DataFrame(rows), cells.texts_of_grid(tx), numbers=located, ids=ids)
    write_sheet(sheet, path, blank)
    return len(rows)


def import_outcomes(grid: GridContext, path: Source, *, supersede: bool = False) -> RunRecord:
    """Record the decisions of a file or a frame: `pair` (or `hs` and `cn`), `label`, and if there `adjudicator` and
    `note`; or a table as `Exports.decisions` writes it.

    Decisions that stand are not written again, but for those that wait for a second look, with `supersede`; another
    decision by hand is replaced only with it.
    """
    with grid._store.write() as tx:
        context.need_labels(tx, "adjudicate")
        keyed_by, answer = layout_of(tx, path)
        incoming = read_answers(
            path,
            outcome_reader(context.scheme_of(tx)),
            person="adjudicator",
            answer=answer,
            shown=LABELS,
            needs_person=False,
            cell_columns=keyed_by,
            headings=wording.sheet_headings(tx, keyed_by),
        )
        locate_cells(tx, incoming)
        rows, in_grid = incoming.rows, incoming.rows["cell_id"] >= 0
        person_id = pd.Series(pd.NA, index=rows.index, dtype="Int64")
        messages = np.full(len(rows), "", object)
        for name, person_rows in rows.groupby("person"):
            person = find_adjudicator(tx, str(name), allow_retired=True) if name else None
            if person is not None:
                person_id[person_rows.index] = person.id
            reasons = permissions.blocking_reasons(tx, person, person_rows["cell_id"][in_grid].tolist())
            messages[person_rows.index] = [str(reasons.get(pair, "")) for pair in person_rows["cell_id"].tolist()]
        causes = np.array([re.sub(r"pair \d+", "a pair", message) for message in messages], object)
        for cause in dict.fromkeys(causes[messages != ""]):
            incoming.refuse(causes == cause, "%(why)s", why=messages.tolist())
        incoming.rows = rows.assign(person_id=person_id)
        outcome = incoming.rows.assign(rule=Rule.IMPORTED.value)
        standing = adjudications.current_adjudications(tx).set_index("cell_id")
        standing = standing[standing["rule"].isin([rule.value for rule in BY_HAND])]
        is_by_hand = outcome["cell_id"].isin(standing.index)
        old_code = outcome["cell_id"].map(standing["code"]).fillna(NO_CODE).astype("int64")
        is_same = is_by_hand & (old_code == outcome["code"])
        if supersede:
            is_same &= ~outcome["cell_id"].isin(rule_decisions.stale_decisions(tx))
        else:
            message = mark("pair %(pair)s already has a different decision; %(hint)s")
            incoming.refuse((is_by_hand & ~is_same).to_numpy() & ~incoming.has_finding, message, hint=SUPERSEDE)
        _refuse_changed_labels(tx, incoming, ~is_same)
        incoming.checked_rows()
        new_decisions = outcome.loc[~is_same, ["cell_id", "rule", "code", "person_id", "note"]]
        code = new_decisions["code"].astype("Int64").mask(new_decisions["code"] == NO_CODE)
        adjudications.add_adjudications(tx, new_decisions.assign(code=code))
        counts = {"imported": len(new_decisions), "already_there": int(is_same.sum())}
        run = context.note_run(tx, "adjudicate", {"import": name_of(path), "supersede": supersede}, counts)
    return replace(run, notes=sorted_column_notes(incoming))


def _refuse_changed_labels(tx: Tx, incoming: ImportedAnswers, is_new: pd.Series[bool]) -> None:
    rows = incoming.rows[is_new & (incoming.rows["shown"] != "") & ~incoming.has_finding]
    current_answers = shown_answers(tx, rows["cell_id"].tolist())
    current_lines = (as_lines(current_answers.get(pair, ())) for pair in rows["cell_id"])

    def comparable(lines: str) -> list[str]:  # in any order, and whatever a spreadsheet program has made of lines
        return sorted(filter(None, map(letters, lines.splitlines())))

    shown_lines = zip(rows["shown"], current_lines, strict=True)
    differs = [comparable(shown) != comparable(lines) for shown, lines in shown_lines]
    hint = say("leave its `label` empty, and decide it on a new sheet")
    message = mark("the labels of pair %(pair)s have changed since this sheet was written; %(hint)s")
    incoming.refuse(incoming.rows.index.isin(rows.index[differs]), message, hint=hint)


def as_lines(answers: Sequence[ShownLabel]) -> str:
    """The labels of a pair with their notes as a sheet shows them: each on a line."""
    return "\n".join(f"{answer.label} ({answer.note})" if answer.note else answer.label for answer in answers)


@dataclass(frozen=True)
class RequestForecast:
    """Pairs by number, as asking for a person's decision on them finds them.

    `requested` are put before adjudicators, of which `reopened` have a decision by a rule. The others stay as they are:
    those that are `waiting` for a person already, those `by_hand`, which a person has decided, and those `unlabelled`.
    """

    requested: tuple[int, ...]
    reopened: tuple[int, ...]
    waiting: tuple[int, ...]
    by_hand: tuple[int, ...]
    unlabelled: tuple[int, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The number of each."""
        return {name: len(pairs) for name, pairs in vars(self).items()}


def forecast_decision_requests(grid: GridContext, pairs: Sequence[int]) -> RequestForecast:
    """Say what `request_decisions` would do with these pairs; change nothing."""
    with grid._store.read() as tx:
        context.need_labels(tx, "adjudicate")
        return _forecast(tx, tallies.find_cells(tx, pairs))


def request_decisions(grid: GridContext, pairs: Sequence[int]) -> RunRecord:
    """Have a person decide these pairs, by number, whose labels agree or which a rule has decided: until then none of
    them has a label or is in a tier. Raises UnknownIdError for no such pair, StageError where none can be put before
    adjudicators.
    """
    with grid._store.write() as tx:
        context.need_labels(tx, "adjudicate")
        forecast = _forecast(tx, tallies.find_cells(tx, pairs))
        if not forecast.requested:
            reasons = (
                (len(forecast.waiting), "wait for a person already"),
                (len(forecast.by_hand), "have been decided by a person"),
                (len(forecast.unlabelled), "have no label yet"),
            )
            listed = "; ".join(f"{n:,} {reason}" for n, reason in reasons if n)
            raise StageError(f"none of these pairs can be put before adjudicators: {listed}")
        request = {"rule": Rule.REQUESTED.value, "note": str(tallies.request_note(context.with_actor({}).get(BY)))}
        cell_ids = (to_cell_id(tx, number) for number in forecast.requested)
        adjudications.add_decisions(tx, ({"cell_id": cell_id, **request} for cell_id in cell_ids))
        return context.note_run(
            tx, Adjudicate.stage, {"request": tallies.as_ranges(forecast.requested)}, forecast.counts
        )


def _forecast(tx: Tx, cell_ids: list[int]) -> RequestForecast:
    labelled = disputes.pairs_with_label(tx, cell_ids)
    waiting = {pair.cell_id for pair in rule_decisions.disputed_pairs(tx, cell_ids) if pair.by is None}
    rules = adjudications.current_adjudications(tx, "cell_id", "rule").set_index("cell_id")["rule"].to_dict()
    groups = defaultdict[str, list[int]](list)
    for cell_id in cell_ids:
        number, rule = to_public_number(cell_id), rules.get(cell_id)
        if cell_id not in labelled:
            groups["unlabelled"].append(number)
        elif cell_id in waiting or rule in BY_HAND:
            groups["waiting" if cell_id in waiting else "by_hand"].append(number)
        else:
            groups["requested"].append(number)
            groups["reopened"] += [number] if rule is not None and rule not in UNDECIDED else []
    return RequestForecast(*(tuple(groups[field.name]) for field in fields(RequestForecast)))
