"""The adjudicators' docket: what waits for them, one case at a time, deciding, taking back, and what is decided."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any

from fcpair.errors import ConflictError, InputError, RefusedError
from fcpair.params import Annotate
from fcpair.records import Person, Role
from fcpair.stages.assignment.pace import LAST_INTERVALS, left_s, pace_s
from fcpair.stages.questions.answer_keys import Keys
from fcpair.steps.adjudication import adjudicate
from fcpair.steps.adjudication.case_queues import CaseOrder, CaseQueue, order_cases, select_cases, split_route
from fcpair.steps.adjudication.conflict_cache import ConflictCache
from fcpair.steps.adjudication.decision_search import DecidedCase, DecisionSearch, find_decisions
from fcpair.steps.base.context import GridContext, find_cell, load_opaque_ids, scheme_of
from fcpair.steps.base.idempotency import perform_once
from fcpair.steps.people.reading_limits import (
    ReadingAllowance,
    check_reading_limit,
    may_read_more,
    n_readable,
    reading_allowance,
)
from fcpair.steps.rules import permissions
from fcpair.store import Tx
from fcpair.store.adjudication import decided_pairs, disputes
from fcpair.store.answers import task_queries
from fcpair.store.corpus.grids import to_cell_id, to_public_number
from fcpair.store.people import people
from fcpair.work_records import ShownText

DECISION, ANSWER = "decision", "answer"
MOST_OF_ROW = 50  # cases on one screen


@dataclass(frozen=True)
class QueueCounts:
    """Counts of the pairs that wait for one adjudicator, and of those that they have decided.

    `waiting` can be decided now, `again` of it a second time, because its labels have changed since; `not_due` says
    that labels are still being given, so that more may come, and not how many: that would tell of the labels that are
    in; `for_others` waits for somebody else, because this person labelled or validates it, or
    opted out of its topic; `decided` is what this person has decided and what stands.
    """

    waiting: int
    not_due: bool
    for_others: int
    decided: int
    again: int = 0


@dataclass(frozen=True)
class ConflictCase:
    """Pair as an adjudicator sees it: never a name, and nothing while somebody has still to label it.

    `answers` are labels with their notes, `answer_id` stands for the newest one; `choices` is what can be decided,
    `irreconcilable` last, and `keys` has the ways to type each. When one looks at one's own earlier decision, or at one
    that was made before its labels changed (`again`), `decision_id` stands for it and `outcome` says what it was;
    otherwise these are None. `note` and `flagged` are those of one's own decision, also where one has taken it back.
    """

    cell_id: int
    hs: ShownText
    cn: ShownText
    answers: tuple[tuple[str, str], ...]
    choices: tuple[str, ...]
    keys: tuple[Keys, ...]
    decision_id: int | None = None
    outcome: str | None = None
    note: str = ""
    flagged: bool = False
    again: bool = False
    own: bool = False
    answer_id: int = 0


@dataclass(frozen=True)
class DecisionRequest:
    """A decision as it is sent in: the name of a choice; `flagged` says that the guidelines should say more here.

    `seen_decision_id` is the case's `decision_id`, so that nobody overrules a decision that they have not seen;
    `seen_answer_id` its `answer_id`, so that nobody decides by labels that have changed (None: not told).
    """

    request_id: str
    cell_id: int
    outcome: str
    note: str = ""
    flagged: bool = False
    seen_decision_id: int | None = None
    seen_answer_id: int | None = None


class AdjudicationQueue:
    """One adjudicator's way through the conflicts, by the browser or the API.

    All methods with a `person_id` raise RefusedError unless that is an adjudicator who was invited and has consented.
    """

    def __init__(
        self, grid: GridContext, annotate: Annotate | None = None, conflicts: ConflictCache | None = None
    ) -> None:
        self._grid = grid
        self._annotate = annotate or Annotate()
        self._conflicts = conflicts or ConflictCache()

    def with_terms(self, annotate: Annotate) -> AdjudicationQueue:
        """The same docket on these terms: their limits hold for those who decide, too."""
        return AdjudicationQueue(self._grid, annotate, self._conflicts)

    def reading_allowance(self, person_id: int) -> ReadingAllowance:
        """Reading allowance of this person: what they have read, and may read."""
        with self._read_as(person_id) as (tx, _):
            return reading_allowance(tx, person_id, self._annotate, decides=True)

    def state(self, person_id: int) -> QueueCounts:
        """Count what waits for this person, and what they have decided."""
        with self._read_as(person_id) as (tx, person):
            excluded, n_decided = permissions.excluded_pairs(tx, person), disputes.n_decided(tx, person_id)
            with self._conflicts.snapshot(tx) as conflicts:
                own_due = conflicts.due_ids - excluded
                return QueueCounts(
                    len(own_due),
                    disputes.is_labelling(tx),
                    len(conflicts.due_ids) - len(own_due),
                    n_decided,
                    conflicts.n_again(excluded),
                )

    def n_in_queues(self, person_id: int) -> dict[CaseQueue, int]:
        """Count the cases in each queue of this person."""
        with self._read_as(person_id) as (tx, person):
            excluded = permissions.excluded_pairs(tx, person)
            with self._conflicts.snapshot(tx) as conflicts:
                return {queue: len(select_cases(conflicts, queue, person_id) - excluded) for queue in CaseQueue}

    def left_s(self, person_id: int, n_cases: int) -> float | None:
        """Seconds that so many cases take at this person's own pace; None while that is not known."""
        with self._read_as(person_id) as (tx, _):
            times = disputes.decision_times(tx, person_id, LAST_INTERVALS + 1)
        return left_s(n_cases, pace_s([datetime.fromisoformat(at).timestamp() for at in times]))

    def next(
        self,
        person_id: int,
        after: int | None = None,
        n_ahead: int = 0,
        queue: CaseQueue = CaseQueue.ALL,
        order: CaseOrder = CaseOrder.SPREAD,
        *,
        estimates: bool = True,
    ) -> ConflictCase | None:
        """The next case for this person, None when nothing waits or a limit is reached.

        `after` is a pair to go on from; `n_ahead` cases are before this person already, and read before this one. The
        flagged ones end with the last, because a decision does not take a case out of them.

        Adjudicators begin at different places, so that two of them seldom have the same case before them.

        Nobody waits for the order by doubt: until `is_ranked`, it is the usual one. Without `estimates` this process
        leaves it to another one to work that out.
        """
        with self._read_as(person_id) as (tx, person):
            if not may_read_more(tx, person_id, self._annotate, n_ahead):
                return None
            after_id = None if after is None else to_cell_id(tx, after)
            cell_id = self._next_pair(tx, person, after_id, queue, order, estimates)
            return None if cell_id is None else _build_case(tx, person, cell_id)

    @property
    def is_ranked(self) -> bool:
        """Whether the order by doubt is known here, or that there is none."""
        return self._conflicts.ranking.is_ready

    def wait_for_ranking(self) -> None:
        """Wait for the order by doubt that is being worked out, if one is."""
        self._conflicts.ranking.wait()

    def _next_pair(
        self, tx: Tx, person: Person, after: int | None, queue: CaseQueue, order: CaseOrder, estimates: bool
    ) -> int | None:
        excluded, everybody = permissions.excluded_pairs(tx, person), disputes.adjudicators(tx)
        with self._conflicts.snapshot(tx) as conflicts:
            if order is CaseOrder.DOUBT and estimates:
                conflicts.ranking.refresh(self._grid._store, conflicts.newest_answer)
            is_early = order is CaseOrder.DOUBT and not conflicts.ranking.is_ready
            usable = CaseOrder.SPREAD if is_early else order
            route = order_cases(conflicts, usable, everybody.index(person.id), len(everybody))
            shown_early = conflicts.ranking.shown_early[person.id] if usable is CaseOrder.DOUBT else frozenset()
            before, onward = split_route(route, after, shown_early)
            cases = select_cases(conflicts, queue, person.id) - excluded
            rest = chain(onward, () if queue is CaseQueue.FLAGGED else before)
            next_id = next((cell_id for cell_id in rest if cell_id in cases), None)
            if order is CaseOrder.DOUBT and next_id is not None:
                conflicts.ranking.note_shown(person.id, next_id, early=is_early)
            return next_id

    def case(self, person_id: int, number: int) -> ConflictCase:
        """One case: a pair that waits, for a second look or at all, or that this person has decided.

        Raises:
            UnknownIdError: the grid has no such pair.
            RefusedError: this person answered the pair in any round, validates it, or opted out of its topic; or a
                limit of pairs is reached.
            ConflictError: labels of it are open, its labels need no decision, or somebody else has decided it.
        """
        with self._read_as(person_id) as (tx, person):
            cell_id = find_cell(tx, number)
            case = _build_case(tx, person, cell_id)
            check_reading_limit(tx, person_id, self._annotate, cell_id)
            return case

    def n_in_row(self, person_id: int, number: int, queue: CaseQueue = CaseQueue.ALL) -> int:
        """Count the pairs in the row of one pair that are in a queue of this person.

        Raises UnknownIdError where the grid has no such pair.
        """
        with self._read_as(person_id) as (tx, person):
            return len(self._row_in_queue(tx, person, find_cell(tx, number), queue))

    def row_cases(self, person_id: int, number: int, queue: CaseQueue = CaseQueue.ALL) -> list[ConflictCase]:
        """The cases in the row of one pair that are in a queue of this person, as far as they may still be read.

        Of a long row those MOST_OF_ROW among which the pair is. Raises UnknownIdError where the grid has no such pair.
        """
        with self._read_as(person_id) as (tx, person):
            cell_id = find_cell(tx, number)
            cell_ids = self._row_in_queue(tx, person, cell_id, queue)
            first = min(bisect_left(cell_ids, cell_id), max(len(cell_ids) - 1, 0)) // MOST_OF_ROW * MOST_OF_ROW
            n_remaining = n_readable(tx, person.id, self._annotate)
            n_shown = MOST_OF_ROW if n_remaining is None else min(MOST_OF_ROW, n_remaining)
            cases = []
            for open_id in cell_ids[first : first + n_shown]:
                with suppress(ConflictError, RefusedError):  # the list of conflicts may be newer than the transaction
                    cases.append(_build_case(tx, person, open_id))
            return cases

    def _row_in_queue(self, tx: Tx, person: Person, cell_id: int, queue: CaseQueue) -> list[int]:
        """The pairs in the row of one pair that are in a queue of this person, in order."""
        excluded = permissions.excluded_pairs(tx, person)
        with self._conflicts.snapshot(tx) as conflicts:
            cases = select_cases(conflicts, queue, person.id) - excluded
            return [one for one in conflicts.row_of(cell_id) if one in cases]

    def decide(self, person_id: int, ruling: DecisionRequest) -> dict[str, Any]:
        """Record a decision and return `decision_id` and `cell_id`; a repeated request is stored once.

        Raises:
            InputError: the outcome is none of the case's choices.
            RefusedError: as for `case`.
            ConflictError: as for `case`, or the pair was decided, taken back or labelled anew since it was shown.
        """
        with self._grid._store.write(alone=False) as tx:
            ruling = replace(ruling, cell_id=find_cell(tx, ruling.cell_id))  # a receipt has the id
            task_queries.hold_cell(tx, person_id, ruling.cell_id)
            person = _require_adjudicator(tx, person_id)
            content = {
                "decide": ruling.cell_id,
                "outcome": ruling.outcome,
                "note": ruling.note,
                "flagged": ruling.flagged,
                "seen": ruling.seen_decision_id,
            } | ({} if ruling.seen_answer_id is None else {"answer": ruling.seen_answer_id})
            reply = perform_once(
                tx, person_id, ruling.request_id, content, lambda: self._decide_within_limit(tx, person, ruling)
            )
            return _with_opaque_ids(tx, reply)

    def _decide_within_limit(self, tx: Tx, person: Person, ruling: DecisionRequest) -> dict[str, Any]:
        check_reading_limit(tx, person.id, self._annotate, ruling.cell_id)
        return _record_decision(tx, person, ruling)

    def undo(self, person_id: int, number: int, request_id: str) -> dict[str, Any]:
        """Take one's own decision on a pair back, so that the pair waits again; returns `decision_id` and `cell_id`.

        Raises:
            UnknownIdError: the grid has no such pair.
            ConflictError: no decision of this person stands on it.
        """
        with self._grid._store.write(alone=False) as tx:
            cell_id = find_cell(tx, number)
            task_queries.hold_cell(tx, person_id, cell_id)
            person = _require_adjudicator(tx, person_id)
            reply = perform_once(
                tx, person_id, request_id, {"undo": cell_id}, lambda: _record_undo(tx, person, cell_id)
            )
            return _with_opaque_ids(tx, reply)

    def decisions(
        self,
        person_id: int | None = None,
        limit: int = 50,
        before: int | None = None,
        search: DecisionSearch | None = None,
        *,
        reader: int | None = None,
    ) -> list[DecidedCase]:
        """Decisions and who made them, newest first: all, or those that one person made here, as far as a search finds.

        The `reader` is shown none on a topic that they opted out of. `before` is a `decision_id` to go on from. What a
        rule or a file has decided is left out while somebody has still to label the pair.

        Raises InputError where the search names an outcome that there is not, or nobody who decides.
        """
        with self._grid._store.read() as tx:
            opaque_ids = load_opaque_ids(tx)
            last_id = None if before is None else opaque_ids.decrypt(DECISION, before)
            spared = set() if reader is None else permissions.spared_pairs(tx, reader)
            decided = find_decisions(tx, search or DecisionSearch(), limit, last_id, person_id, spared)
            return [replace(case, decision_id=opaque_ids.encrypt(DECISION, case.decision_id)) for case in decided]

    def outcomes(self) -> list[str]:
        """The names of what can be decided."""
        with self._grid._store.read() as tx:
            return list(adjudicate.outcome_names(scheme_of(tx)).values())

    def deciders(self) -> list[str]:
        """The names of the adjudicators, and of who else has decided, also in a file."""
        with self._grid._store.read() as tx:
            return list(decided_pairs.deciders(tx))

    @contextmanager
    def _read_as(self, person_id: int) -> Iterator[tuple[Tx, Person]]:
        with self._grid._store.read() as tx:
            yield tx, _require_adjudicator(tx, person_id)


def _require_adjudicator(tx: Tx, person_id: int) -> Person:
    visitor = people.visitor_by_id(tx, person_id)
    if visitor is None or visitor.role is not Role.ADJUDICATOR:
        raise RefusedError("only invited adjudicators can decide here")
    if not visitor.consented:
        raise RefusedError("please read what the study is about and agree to take part first")
    return Person(visitor.id, visitor.name, visitor.role)


def _build_case(tx: Tx, person: Person, cell_id: int) -> ConflictCase:
    opened_case = permissions.open_case(tx, person, cell_id)
    hs, cn = permissions.texts_to_judge(tx, cell_id)
    outcomes, keys = adjudicate.outcome_names(scheme_of(tx)), adjudicate.outcome_keys(scheme_of(tx))
    answers = adjudicate.shown_answers(tx, [cell_id]).get(cell_id, ())
    opaque_ids = load_opaque_ids(tx)
    answer_id = opaque_ids.encrypt(ANSWER, opened_case.answer_id)
    shown_parts = _shown_text(hs), _shown_text(cn), answers, tuple(outcomes.values()), tuple(keys.values())
    case = ConflictCase(to_public_number(cell_id), *shown_parts, answer_id=answer_id)
    standing = opened_case.standing
    case = replace(case, **permissions.own_note_and_flag(tx, person, cell_id, standing))
    if standing is None:
        return case
    decision_id = opaque_ids.encrypt(DECISION, standing.id)
    own = permissions.is_own_decision(standing, person)
    return replace(case, decision_id=decision_id, outcome=outcomes[standing.code], again=opened_case.again, own=own)


def _shown_text(text: dict[str, Any]) -> ShownText:
    return ShownText(text["body"], text["language"])


def _record_decision(tx: Tx, person: Person, ruling: DecisionRequest) -> dict[str, Any]:
    opened_case = permissions.open_case(tx, person, ruling.cell_id)
    permissions.check_still_as_shown(opened_case, ruling.cell_id, *_reveal_seen_ids(tx, ruling))
    codes = {name: code for code, name in adjudicate.outcome_names(scheme_of(tx)).items()}
    if ruling.outcome not in codes:
        raise InputError(f"`{ruling.outcome}` is not an outcome; expected one of {', '.join(codes)}")
    code = codes[ruling.outcome]
    decision_id = adjudicate.record_decision(tx, ruling.cell_id, code, person, ruling.note, flagged=ruling.flagged)
    return {"decision_id": decision_id, "cell_id": ruling.cell_id}


def _reveal_seen_ids(tx: Tx, ruling: DecisionRequest) -> tuple[int | None, int | None]:
    """The decision and the answer that were shown with the case."""
    opaque_ids, sent_ids = load_opaque_ids(tx), ((DECISION, ruling.seen_decision_id), (ANSWER, ruling.seen_answer_id))
    decision_id, answer_id = (
        None if opaque_id is None else opaque_ids.decrypt(purpose, opaque_id) for purpose, opaque_id in sent_ids
    )
    return decision_id, answer_id


def _with_opaque_ids(tx: Tx, reply: dict[str, Any]) -> dict[str, Any]:
    """A reply as it goes out: what stands for the decision's number in its place, and the number of the pair."""
    decision_id = load_opaque_ids(tx).encrypt(DECISION, reply["decision_id"])
    return {**reply, "decision_id": decision_id, "cell_id": to_public_number(reply["cell_id"])}


def _record_undo(tx: Tx, person: Person, cell_id: int) -> dict[str, Any]:
    permissions.check_may_take_back(tx, person, cell_id)
    decision_id, _ = adjudicate.record_reopening(tx, cell_id, person)
    return {"decision_id": decision_id, "cell_id": cell_id}
