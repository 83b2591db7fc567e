"""The queue of adjudicators: what waits for them, case by case, deciding, taking back; search in what is decided."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any, ClassVar

from fcpair.errors import InputError, RefusedError
from fcpair.params import Annotate, CaseRanking
from fcpair.records import Person, Role, Rule
from fcpair.stages.assignment.pace import LAST_INTERVALS, left_s, pace_s
from fcpair.stages.corpus.text_identity import fold_letters
from fcpair.stages.questions.base import DISCARD
from fcpair.steps.adjudication import adjudicate
from fcpair.steps.adjudication.case_queues import (
    CaseOrder,
    CaseQueue,
    DoubtRanking,
    current_conflicts,
    order_cases,
    rank_cases,
    select_cases,
    split_route,
)
from fcpair.steps.base.context import GridContext, effective_options, find_cell, load_opaque_ids, scheme_of
from fcpair.steps.people.people import ReadingAllowance, check_reading_limit, n_readable, reading_allowance
from fcpair.steps.rules import permissions, rule_decisions
from fcpair.steps.rules.permissions import NOT_SHOWN
from fcpair.store import Tx, adjudications, disputes, people
from fcpair.store.adjudications import DecisionFilter
from fcpair.store.answers import task_queries
from fcpair.store.assignment import rounds
from fcpair.store.corpus import sides
from fcpair.store.corpus.grids import to_cell_id, to_public_number
from fcpair.work_records import Agenda, ConflictCase, DecisionRequest, QueueCounts, ShownText

DECISION, ANSWER = "decision", "answer"
MOST_OF_ROW = 50  # cases on one screen


class AdjudicationQueue:
    """One adjudicator's way through the conflicts, by the browser or the API.

    All methods with a `person_id` raise RefusedError unless that is an adjudicator who was invited and has consented.
    """

    def __init__(
        self, grid: GridContext, annotate: Annotate | None = None, ranking: DoubtRanking | None = None
    ) -> None:
        self._grid = grid
        self._annotate = annotate or Annotate()
        self._ranking = ranking or DoubtRanking()

    def with_terms(self, annotate: Annotate) -> AdjudicationQueue:
        """The same queue on these terms: their limits hold for those who decide, too."""
        return AdjudicationQueue(self._grid, annotate, self._ranking)

    def reading_allowance(self, person_id: int) -> ReadingAllowance:
        """Reading allowance of this person: what they have read, and may read."""
        with self._read_as(person_id) as (tx, _):
            return reading_allowance(tx, person_id, self._annotate, decides=True)

    def state(self, person_id: int) -> QueueCounts:
        """Count what waits for this person, and what they have decided."""
        with self._read_as(person_id) as (tx, person):
            excluded, n_decided = permissions.excluded_pairs(tx, person), disputes.n_decided(tx, person_id)
            conflicts = current_conflicts(self._grid, tx)
            own_due = conflicts.due_ids - excluded
            return QueueCounts(
                len(own_due),
                disputes.is_labelling(tx),
                len(conflicts.due_ids) - len(own_due),
                n_decided,
                len(conflicts.second_look_ids & own_due),
            )

    def n_in_queues(self, person_id: int) -> dict[CaseQueue, int]:
        """Count the cases in each queue of this person."""
        with self._read_as(person_id) as (tx, person):
            excluded, conflicts = permissions.excluded_pairs(tx, person), current_conflicts(self._grid, tx)
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
            n_remaining = n_readable(tx, person_id, self._annotate)
            if n_remaining is not None and n_remaining <= n_ahead:
                return None
            after_id = None if after is None else to_cell_id(tx, after)
            excluded, conflicts = permissions.excluded_pairs(tx, person), current_conflicts(self._grid, tx)
            everybody, ranking = people.people(tx, Role.ADJUDICATOR, active=True), self._ranking
            if order is CaseOrder.DOUBT and estimates:
                ranking.refresh(self._grid._store, conflicts.marks[0])
            is_early = order is CaseOrder.DOUBT and not ranking.is_ready
            usable = CaseOrder.SPREAD if is_early else order
            route = order_cases(conflicts, usable, everybody.index(person), len(everybody), ranking.doubts)
            shown_early = ranking.shown_early[person.id] if usable is CaseOrder.DOUBT else frozenset()
            before, onward = split_route(route, after_id, shown_early)
            cases = select_cases(conflicts, queue, person.id) - excluded
            rest = chain(onward, () if queue is CaseQueue.FLAGGED else before)
            cell_id = next((cell_id for cell_id in rest if cell_id in cases), None)
            if order is CaseOrder.DOUBT and cell_id is not None:
                early_ids = ranking.shown_early[person.id]
                (early_ids.add if is_early else early_ids.discard)(cell_id)
            return None if cell_id is None else _build_case(tx, person, cell_id)

    @property
    def is_ranked(self) -> bool:
        """Return whether the order by doubt is known here, or that there is none."""
        return self._ranking.is_ready

    def wait_for_ranking(self) -> None:
        """Wait for the order by doubt that is being worked out, if one is."""
        self._ranking.wait()

    def case(self, person_id: int, number: int) -> ConflictCase:
        """One case: a pair that waits, for a second look or at all, or that this person has decided.

        Raises:
            UnknownIdError: the grid has no such pair.
            RefusedError: this person answered the pair in any round, validates it, or opted out of its topic; or a
                limit of pairs is reached.
            ConflictError: labels of it are open, its labels need no decision, or somebody else has decided it.
        """
        with self._read_as(person_id) as (tx, person):
            return _find_case(tx, person, number, self._annotate)

    def n_in_row(self, person_id: int, number: int, queue: CaseQueue = CaseQueue.ALL) -> int:
        """Count the pairs in the row of one pair, UnknownIdError without it, that are in a queue of this person."""
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
            return [_build_case(tx, person, open_id) for open_id in cell_ids[first : first + n_shown]]

    def _row_in_queue(self, tx: Tx, person: Person, cell_id: int, queue: CaseQueue) -> list[int]:
        """The pairs in the row of one pair that are in a queue of this person, in order."""
        excluded = permissions.excluded_pairs(tx, person)
        conflicts = current_conflicts(self._grid, tx)
        cases = select_cases(conflicts, queue, person.id) - excluded
        return [other_id for other_id in conflicts.row_of(cell_id) if other_id in cases]

    def decide(self, person_id: int, ruling: DecisionRequest) -> dict[str, Any]:
        """Record a decision and return `decision_id` and `cell_id`; a repeated request is stored once.

        Raises:
            InputError: the outcome is none of the case's choices.
            RefusedError: as for `case`.
            ConflictError: as for `case`, or the pair was decided, taken back or labelled anew since it was shown.
        """
        with self._grid._store.write(alone=False) as tx:
            cell_id = find_cell(tx, ruling.cell_id)  # a receipt has the id
            task_queries.hold_cell(tx, person_id, cell_id)
            person = _require_adjudicator(tx, person_id)
            content = {
                "decide": cell_id,
                "outcome": ruling.outcome,
                "note": ruling.note,
                "flagged": ruling.flagged,
                "seen": ruling.seen_decision_id,
            } | ({} if ruling.seen_answer_id is None else {"answer": ruling.seen_answer_id})

            def record() -> dict[str, Any]:
                _check_case(tx, person, cell_id, self._annotate, (ruling.seen_decision_id, ruling.seen_answer_id))
                code = adjudicate.outcome_code(tx, ruling.outcome)
                id_ = adjudicate.record_decision(tx, cell_id, code, person, ruling.note, flagged=ruling.flagged)
                return {"decision_id": id_, "cell_id": cell_id}

            return _with_opaque_ids(tx, task_queries.perform_once(tx, person_id, ruling.request_id, content, record))

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

            def record() -> dict[str, Any]:
                return {"decision_id": _take_back(tx, person, cell_id)[0], "cell_id": cell_id}

            return _with_opaque_ids(tx, task_queries.perform_once(tx, person_id, request_id, {"undo": cell_id}, record))

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
        search = search or DecisionSearch()
        with self._grid._store.read() as tx:
            opaque_ids, hides_column = load_opaque_ids(tx), rounds.primary(tx).options.hides_column
            deciders = adjudications.deciders(tx) | {DecisionSearch.NO_PERSON: None}
            if search.by and search.by not in deciders:
                listed = [name for name in deciders if name != DecisionSearch.NO_PERSON]
                raise InputError.say(
                    "nobody called `%(name)s` decides here; expected one of %(names)s", name=search.by, names=listed
                )
            decision_filter = DecisionFilter(
                tuple(_matching_texts(tx, search.words, hides_column=hides_column)),
                (adjudicate.outcome_code(tx, search.outcome),) if search.outcome else (),
                (deciders[search.by],) if search.by else (),
                search.flagged,
                () if reader is None else tuple(sorted(permissions.spared_pairs(tx, reader))),
            )
            last_id = None if before is None else opaque_ids.decrypt(DECISION, before)
            rows = adjudications.matching_decisions(tx, limit, last_id, decision_filter, person_id)
            counts, scheme = adjudications.label_counts(tx, [row["id"] for row in rows]), scheme_of(tx)
            outcomes, names = adjudicate.outcome_names(scheme), {choice.code: choice.name for choice in scheme}
            return [
                DecidedCase(
                    decision_id=opaque_ids.encrypt(DECISION, row["id"]),
                    cell_id=to_public_number(row["cell_id"]),
                    hs=ShownText.of(row["hs"], row["hs_language"]),
                    cn=ShownText.of(NOT_SHOWN, None) if hides_column else ShownText.of(row["cn"], row["cn_language"]),
                    outcome=outcomes[row["code"]],
                    rule=Rule(row["rule"]),
                    labels={names[code]: n for code, n in counts.get(row["id"], {}).items()},
                    **{name: row[name] for name in ("by", "note", "flagged", "at")},
                )
                for row in rows
            ]

    def outcomes(self) -> list[str]:
        """The names of what can be decided."""
        with self._grid._store.read() as tx:
            return list(adjudicate.outcome_names(scheme_of(tx)).values())

    def deciders(self) -> list[str]:
        """The names of the adjudicators, and of who else has decided, also in a file."""
        with self._grid._store.read() as tx:
            return list(adjudications.deciders(tx))

    @contextmanager
    def _read_as(self, person_id: int) -> Iterator[tuple[Tx, Person]]:
        with self._grid._store.read() as tx:
            yield tx, _require_adjudicator(tx, person_id)


def _require_adjudicator(tx: Tx, person_id: int) -> Person:
    visitor = people.visitor_by_id(tx, person_id)
    if visitor is None or visitor.role is not Role.ADJUDICATOR:
        raise RefusedError.say("only invited adjudicators can decide here")
    if not visitor.consented:
        raise RefusedError(permissions.NOT_CONSENTED)
    return Person(visitor.id, visitor.name, visitor.role)


def _find_case(tx: Tx, person: Person | None, number: int, annotate: Annotate) -> ConflictCase:
    case = _build_case(tx, person, cell_id := find_cell(tx, number))
    if person is not None:
        check_reading_limit(tx, person.id, annotate, cell_id)
    return case


def _build_case(tx: Tx, person: Person | None, cell_id: int) -> ConflictCase:
    opened_case = permissions.open_case(tx, person, cell_id)
    hs, cn = (ShownText.of(text["body"], text["language"]) for text in permissions.texts_to_judge(tx, cell_id))
    question, opaque_ids, standing = scheme_of(tx), load_opaque_ids(tx), opened_case.standing
    outcomes = adjudicate.outcome_names(question)
    earlier: dict[str, Any] = {"decision_id": None, "outcome": None, "again": False, "own": False}
    if standing is not None:
        own = permissions.is_own_decision(standing, person)
        earlier = {"outcome": outcomes[standing.code], "again": opened_case.again, "own": own}
        earlier["decision_id"] = opaque_ids.encrypt(DECISION, standing.id)
    return ConflictCase(
        to_public_number(cell_id),
        hs,
        cn,
        adjudicate.shown_answers(tx, [cell_id]).get(cell_id, ()),
        choices=tuple(outcomes.values()),
        keys=(*(question.keys[code] for code in question.definite), (DISCARD,)),
        answer_id=opaque_ids.encrypt(ANSWER, opened_case.answer_id),
        **permissions.own_note_and_flag(tx, person, cell_id, standing),
        **earlier,
    )


def _check_case(
    tx: Tx, person: Person, cell_id: int, annotate: Annotate, seen: tuple[int | None, int | None] | None
) -> None:
    """Raise unless this person may read the case, and it is as it was `seen`: `decision_id` and `answer_id`."""
    check_reading_limit(tx, person.id, annotate, cell_id)
    if seen is None:
        return
    opened_case, opaque_ids = permissions.open_case(tx, person, cell_id), load_opaque_ids(tx)
    decision_id, answer_id = (
        None if sent is None else opaque_ids.decrypt(purpose, sent)
        for purpose, sent in zip((DECISION, ANSWER), seen, strict=True)
    )
    permissions.check_still_as_shown(opened_case, cell_id, decision_id, answer_id)


def _with_opaque_ids(tx: Tx, reply: dict[str, Any]) -> dict[str, Any]:
    """A reply as it goes out: what stands for the decision's number in its place, and the number of the pair."""
    decision_id = load_opaque_ids(tx).encrypt(DECISION, reply["decision_id"])
    return {**reply, "decision_id": decision_id, "cell_id": to_public_number(reply["cell_id"])}


def _take_back(tx: Tx, person: Person | None, cell_id: int, by: str = "") -> tuple[int, bool]:
    """Take a decision by hand back; returns the number of that, and whether an earlier decision stands again."""
    permissions.check_may_take_back(tx, person, cell_id)
    person = person or adjudicate.find_adjudicator(tx, by)
    earlier_decision = disputes.standing_decision(tx, cell_id)
    taken_back = {"cell_id": cell_id, "rule": Rule.REOPENED.value, "person_id": person.id}
    decision_id = adjudications.add_decisions(tx, [taken_back])
    is_restored = earlier_decision is not None and disputes.restore_replaced(
        tx, cell_id, earlier_decision.person_id, decision_id
    )
    rule_decisions.apply_policy(tx, [cell_id])
    return decision_id, is_restored


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


def conflict(grid: GridContext, number: int, *, by: str | None = None) -> ConflictCase:
    """Show a pair that waits, or that `by` has decided, as an adjudicator sees it.

    It has the texts, and the labels and notes without names, in a shuffled order.

    Raises UnknownIdError when there is none of that number, RefusedError when `by` labelled or validates it or has
    reached a limit (LimitError), and ConflictError when it is not yet, or not any more, a case to decide.
    """
    with grid._store.read() as tx:
        person = permissions.find_decider(tx, by) if by else None
        return _find_case(tx, person, number, effective_options(tx, Annotate, {}))


def decide(
    grid: GridContext, number: int, code: int | None, *, by: str, note: str = "", seen: ConflictCase | None = None
) -> None:
    """Record a person's decision on a pair; None discards it as irreconcilable. A flag that was `seen` is kept.

    With the conflict that was `seen`, ConflictError is raised if its labels or its decision have changed since.
    Raises RefusedError when `by` labelled or validates the pair or has reached a limit (LimitError), ConflictError
    while it is still being labelled.
    """
    with grid._store.write() as tx:
        person, cell_id = adjudicate.find_adjudicator(tx, by), find_cell(tx, number)
        seen_ids = None if seen is None else (seen.decision_id, seen.answer_id)
        _check_case(tx, person, cell_id, effective_options(tx, Annotate, {}), seen_ids)
        adjudicate.record_decision(tx, cell_id, code, person, note, flagged=seen is not None and seen.flagged)


def take_back(grid: GridContext, number: int, *, by: str) -> bool:
    """Take one's own decision on a pair back, or as lead anybody's; it stays in the record.

    Where it had taken the place of somebody else's decision by hand, that one stands again; returns whether it does.
    Otherwise the pair waits again, unless the policy that holds decides it. Raises ConflictError when there is no such
    decision.
    """
    with grid._store.write() as tx:
        return _take_back(tx, permissions.find_decider(tx, by), find_cell(tx, number), by)[1]


@dataclass(frozen=True)
class DecisionSearch:
    """Search in what is decided; what is empty is not searched by.

    All `words` must occur in HS or CN, whatever their capitals. `by` is the name of a person who decided, also in a
    file, or `NO_PERSON`: a rule or a file that names nobody.
    """

    NO_PERSON: ClassVar[str] = "a rule, or a file"  # no pseudonym has a comma
    words: str = ""
    outcome: str = ""
    by: str = ""
    flagged: bool = False


@dataclass(frozen=True)
class DecidedCase:
    """A current decision; `by` is null if a rule or a file made it.

    `labels` counts the labels that it rests on, by name; it is empty while somebody has still to label the pair.
    """

    decision_id: int
    cell_id: int
    hs: ShownText
    cn: ShownText
    outcome: str
    rule: Rule
    by: str | None
    note: str
    flagged: bool
    at: str
    labels: dict[str, int]


def _matching_texts(tx: Tx, words: str, *, hides_column: bool) -> Iterable[tuple[list[int], list[int]]]:
    """The texts in which each word occurs; a hidden column is not searched, which would tell what is in it."""
    folded_words = _fold(words).split()
    if not folded_words:
        return
    rows, columns = ([(text_id, _fold(body)) for text_id, body in sides.bodies(tx, axis)] for axis, _ in sides.AXES)
    for word in folded_words:
        row_ids, column_ids = ([text_id for text_id, body in side if word in body] for side in (rows, columns))
        yield row_ids, [] if hides_column else column_ids


def _fold(text: str) -> str:
    return fold_letters(text).casefold()
