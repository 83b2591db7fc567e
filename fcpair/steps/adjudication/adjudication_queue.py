"""The queue of adjudicators: what waits for them, case by case, deciding, taking back; search in what is decided."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from fcpair.steps.adjudication import adjudicate, case_queues
from fcpair.steps.adjudication.case_queues import CaseOrder, CaseQueue, DoubtRanking
from fcpair.steps.answers.submissions import late_time
from fcpair.steps.base.context import GridContext, effective_options, find_cell, load_opaque_ids, scheme_of
from fcpair.steps.people.people import ReadingAllowance, check_reading_limit, n_readable, reading_allowance
from fcpair.steps.rules import permissions, rule_decisions
from fcpair.steps.rules.wording import asked_labels, effective_words
from fcpair.store import Tx, adjudications, disputes, people
from fcpair.store.answers import task_queries
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids, sides
from fcpair.store.oversight import runs
from fcpair.work_records import Agenda, ConflictCase, DecisionRequest, QueueCounts, ShownText

DECISION, ANSWER = "decision", "answer"
MOST_OF_ROW = 50  # cases on one screen
PATIENCE_S = 0.5  # for an estimate of doubt, which takes no longer in most studies


class AdjudicationQueue:
    """One adjudicator's way through the conflicts, by the browser or the API. All methods with a `person_id` raise
    RefusedError unless that is an adjudicator who was invited and has consented.
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
            excluded, conflicts = permissions.excluded_pairs(tx, person), case_queues.current_conflicts(self._grid, tx)
            own_due, n_decided = conflicts.due_ids - excluded, disputes.n_decided(tx, person_id)
            n_others, n_again = len(conflicts.due_ids) - len(own_due), len(conflicts.second_look_ids & own_due)
            return QueueCounts(len(own_due), disputes.is_labelling(tx), n_others, n_decided, n_again)

    def n_in_queues(self, person_id: int) -> dict[CaseQueue, int]:
        """Count the cases in each queue of this person."""
        with self._read_as(person_id) as (tx, person):
            excluded, conflicts = permissions.excluded_pairs(tx, person), case_queues.current_conflicts(self._grid, tx)
            return {queue: len(case_queues.select_cases(conflicts, queue, person_id) - excluded) for queue in CaseQueue}

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
        flagged ones end with the last, because a decision does not take a case out of them. Adjudicators begin at
        different places, so that two seldom have the same case before them. Until `is_ranked`, the order by doubt is
        the usual one; without `estimates` this process leaves it to another one to work that out.
        """
        with self._read_as(person_id) as (tx, person):
            n_remaining = n_readable(tx, person_id, self._annotate)
            if n_remaining is not None and n_remaining <= n_ahead:
                return None
            after_id = None if after is None else grids.to_cell_id(tx, after)
            excluded, conflicts = permissions.excluded_pairs(tx, person), case_queues.current_conflicts(self._grid, tx)
            everybody, ranking = people.people(tx, Role.ADJUDICATOR, active=True), self._ranking
            if order is CaseOrder.DOUBT and estimates:
                ranking.refresh(self._grid._store, conflicts.marks[0])
            is_early = order is CaseOrder.DOUBT and not ranking.is_ready
            usable = CaseOrder.SPREAD if is_early else order
            route = case_queues.order_cases(conflicts, usable, everybody.index(person), len(everybody), ranking.doubts)
            shown_early = ranking.shown_early[person.id] if usable is CaseOrder.DOUBT else frozenset()
            before, onward = case_queues.split_route(route, after_id, shown_early)
            cases = case_queues.select_cases(conflicts, queue, person.id) - excluded
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

    def doubts(self, *, estimates: bool = True) -> Mapping[int, float]:
        """The doubt of each pair by its id, from 0 to 1; none until `is_ranked`, and where no label model says any."""
        with self._grid._store.read() as tx:
            newest = case_queues.current_conflicts(self._grid, tx).marks[0]
        if estimates:
            self._ranking.refresh(self._grid._store, newest)
            self._ranking.wait(PATIENCE_S)
        return self._ranking.doubts

    def case(self, person_id: int, number: int) -> ConflictCase:
        """One case: a pair that waits, for a second look or at all, or that this person has decided.

        Raises UnknownIdError for no such pair; RefusedError where this person answered it in any round, validates it,
        opted out of its topic, or has reached a limit; ConflictError where labels of it are open, its labels need no
        decision, or somebody else has decided it.
        """
        with self._read_as(person_id) as (tx, person):
            return _find_case(tx, person, number, self._annotate)

    def n_in_row(self, person_id: int, number: int, queue: CaseQueue = CaseQueue.ALL) -> int:
        """Count the pairs in the row of one pair, UnknownIdError without it, that are in a queue of this person."""
        with self._read_as(person_id) as (tx, person):
            return len(self._row_in_queue(tx, person, find_cell(tx, number), queue))

    def row_cases(self, person_id: int, number: int, queue: CaseQueue = CaseQueue.ALL) -> list[ConflictCase]:
        """The cases in the row of one pair that are in a queue of this person, as far as they may still be read; of a
        long row those MOST_OF_ROW among which the pair is. Raises UnknownIdError for no such pair.
        """
        with self._read_as(person_id) as (tx, person):
            cell_id = find_cell(tx, number)
            cell_ids = self._row_in_queue(tx, person, cell_id, queue)
            first = min(bisect_left(cell_ids, cell_id), max(len(cell_ids) - 1, 0)) // MOST_OF_ROW * MOST_OF_ROW
            n_remaining = n_readable(tx, person.id, self._annotate)
            n_shown = MOST_OF_ROW if n_remaining is None else min(MOST_OF_ROW, n_remaining)
            return [_build_case(tx, person, open_id) for open_id in cell_ids[first : first + n_shown]]

    def _row_in_queue(self, tx: Tx, person: Person, cell_id: int, queue: CaseQueue) -> list[int]:
        excluded, conflicts = permissions.excluded_pairs(tx, person), case_queues.current_conflicts(self._grid, tx)
        cases = case_queues.select_cases(conflicts, queue, person.id) - excluded
        return [other_id for other_id in conflicts.row_of(cell_id) if other_id in cases]

    def decide(self, person_id: int, ruling: DecisionRequest) -> dict[str, Any]:
        """Record a decision and return `decision_id` and `cell_id`; a repeated request is stored once.

        Raises InputError for an outcome that is none of the choices, or as `late_time` does; RefusedError and
        ConflictError as `case` does, and ConflictError where the pair was decided, taken back or labelled anew since it
        was shown.
        """
        content: dict[str, Any] = {
            "outcome": ruling.outcome,
            "note": ruling.note,
            "flagged": ruling.flagged,
            "seen": ruling.seen_decision_id,
        } | ({} if ruling.seen_answer_id is None else {"answer": ruling.seen_answer_id})

        def record(tx: Tx, person: Person, cell_id: int) -> int:
            _check_case(tx, person, cell_id, self._annotate, (ruling.seen_decision_id, ruling.seen_answer_id))
            code = adjudicate.outcome_code(tx, ruling.outcome)
            decided_at = None if (own := ruling.decided_at) is None else late_time(own, runs.created_at(tx))
            return adjudicate.record_decision(
                tx, cell_id, code, person, ruling.note, flagged=ruling.flagged, decided_at=decided_at
            )

        return self._perform_once("decide", person_id, ruling.cell_id, ruling.request_id, content, record)

    def undo(self, person_id: int, number: int, request_id: str) -> dict[str, Any]:
        """Take one's own decision on a pair back, so that it waits again; returns `decision_id` and `cell_id`. Raises
        UnknownIdError for no such pair, ConflictError where no decision of this person stands on it.
        """

        def record(tx: Tx, person: Person, cell_id: int) -> int:
            return _take_back(tx, person, cell_id)[0]

        return self._perform_once("undo", person_id, number, request_id, {}, record)

    def _perform_once(
        self,
        act: str,
        person_id: int,
        number: int,
        request_id: str,
        content: dict[str, Any],
        perform: Callable[[Tx, Person, int], int],
    ) -> dict[str, Any]:
        """Have a person act on a pair; the reply has the number of the pair, and the opaque id of the decision."""
        with self._grid._store.write(alone=False) as tx:
            cell_id = find_cell(tx, number)  # a receipt has the id
            task_queries.hold_cell(tx, person_id, cell_id)
            person = _require_adjudicator(tx, person_id)

            def record() -> dict[str, Any]:
                return {"decision_id": perform(tx, person, cell_id), "cell_id": cell_id}

            reply = task_queries.perform_once(tx, person_id, request_id, {act: cell_id, **content}, record)
            decision_id = load_opaque_ids(tx).encrypt(DECISION, reply["decision_id"])
            return {**reply, "decision_id": decision_id, "cell_id": grids.to_public_number(reply["cell_id"])}

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
        rule or a file has decided is left out while somebody has still to label the pair. Raises InputError where the
        search names no outcome, or nobody who decides.
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
            decision_filter = adjudications.DecisionFilter(
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
            hidden = permissions.NOT_SHOWN, None
            return [
                DecidedCase(
                    decision_id=opaque_ids.encrypt(DECISION, row["id"]),
                    cell_id=grids.to_public_number(row["cell_id"]),
                    hs=ShownText.of(row["hs"], row["hs_language"]),
                    cn=ShownText.of(*(hidden if hides_column else (row["cn"], row["cn_language"]))),
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
    standing, again, answer_id = permissions.open_case(tx, person, cell_id)
    hs, cn = (ShownText.of(text["body"], text["language"]) for text in permissions.texts_to_judge(tx, cell_id))
    opaque_ids, own = load_opaque_ids(tx), permissions.is_own_decision(standing, person)
    outcomes, note, flagged = adjudicate.outcome_names(scheme_of(tx)), "", False
    if standing is not None and own:
        note, flagged = standing.note, standing.flagged
    elif standing is None and person is not None:
        note, flagged = disputes.newest_note_and_flag(tx, cell_id, person.id)
    asked = asked_labels(tx, effective_words(tx))
    colours = asked.get("colours") or [None] * len(asked["keys"])
    marks = dict(zip(asked["choices"], zip(map(tuple, asked["keys"]), colours, strict=True), strict=True))
    keys, colours = zip(*(marks.get(name, ((DISCARD,), None)) for name in outcomes.values()), strict=True)
    return ConflictCase(
        grids.to_public_number(cell_id),
        hs,
        cn,
        adjudicate.shown_answers(tx, [cell_id]).get(cell_id, ()),
        tuple(outcomes.values()),
        keys,
        colours,
        None if standing is None else opaque_ids.encrypt(DECISION, standing.id),
        None if standing is None else outcomes[standing.code],
        note,
        flagged,
        again,
        own,
        opaque_ids.encrypt(ANSWER, answer_id),
    )


def _check_case(
    tx: Tx, person: Person, cell_id: int, annotate: Annotate, seen: tuple[int | None, int | None] | None
) -> None:
    """Raise unless this person may read the case, and it is as it was `seen`: `decision_id` and `answer_id`."""
    check_reading_limit(tx, person.id, annotate, cell_id)
    if seen is not None:
        decrypt = load_opaque_ids(tx).decrypt
        shown = [
            None if sent is None else decrypt(use, sent) for use, sent in zip((DECISION, ANSWER), seen, strict=True)
        ]
        permissions.check_still_as_shown(tx, person, cell_id, *shown)


def _take_back(tx: Tx, person: Person | None, cell_id: int, by: str = "") -> tuple[int, bool]:
    """Take a decision by hand back; returns the number of that, and whether an earlier decision stands again."""
    earlier_person_id = permissions.decision_to_take_back(tx, person, cell_id).person_id
    person = person or adjudicate.find_adjudicator(tx, by)
    taken_back = {"cell_id": cell_id, "rule": Rule.REOPENED.value, "person_id": person.id}
    decision_id = adjudications.add_decisions(tx, [taken_back])
    is_restored = disputes.restore_replaced(tx, cell_id, earlier_person_id, decision_id)
    rule_decisions.apply_policy(tx, [cell_id])
    return decision_id, is_restored


def agenda(grid: GridContext, by: str, *, order: CaseRanking = "row") -> Agenda:
    """Pairs that one person, or somebody new, can decide now, by rows or by `doubt` in Dawid and Skene's model, and
    counts of those that wait for others or labels. Raises InputError where no model can be fitted; see
    `Grid.aggregate`.
    """
    with grid._store.read() as tx:
        own_agenda = permissions.agenda(tx, permissions.find_decider(tx, by))
        cell_ids = case_queues.rank_cases(tx, own_agenda.pairs, order)
        pairs, again_numbers = (tuple(map(grids.to_public_number, ids)) for ids in (cell_ids, own_agenda.again))
        return replace(own_agenda, pairs=pairs, again=frozenset(again_numbers))


def conflict(grid: GridContext, number: int, *, by: str | None = None) -> ConflictCase:
    """Show a pair that waits, or that `by` has decided, as an adjudicator sees it: labels and notes without names.

    Raises UnknownIdError for no such pair, RefusedError when `by` labelled or validates it or has reached a limit
    (LimitError), and ConflictError when it is not yet, or not any more, a case to decide.
    """
    with grid._store.read() as tx:
        person = permissions.find_decider(tx, by) if by else None
        return _find_case(tx, person, number, effective_options(tx, Annotate, {}))


def decide(
    grid: GridContext, number: int, code: int | None, *, by: str, note: str = "", seen: ConflictCase | None = None
) -> None:
    """Record a person's decision on a pair; None discards it as irreconcilable. A flag that was `seen` is kept.

    Raises RefusedError when `by` labelled or validates the pair or has reached a limit (LimitError), ConflictError
    while it is still being labelled, or where its labels or decision have changed since the conflict was `seen`.
    """
    with grid._store.write() as tx:
        person, cell_id = adjudicate.find_adjudicator(tx, by), find_cell(tx, number)
        seen_ids = None if seen is None else (seen.decision_id, seen.answer_id)
        _check_case(tx, person, cell_id, effective_options(tx, Annotate, {}), seen_ids)
        adjudicate.record_decision(tx, cell_id, code, person, note, flagged=seen is not None and seen.flagged)


def take_back(grid: GridContext, number: int, *, by: str) -> bool:
    """Take one's own decision on a pair back, or as lead anybody's; it stays in the record.

    Returns whether somebody else's decision by hand, which it had replaced, stands again; else the pair waits, unless
    the policy decides it. Raises ConflictError when there is no such decision.
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
    if not (folded_words := fold_letters(words).casefold().split()):
        return
    rows, columns = (
        [(text_id, fold_letters(body).casefold()) for text_id, body in sides.bodies(tx, axis)] for axis, _ in sides.AXES
    )
    for word in folded_words:
        row_ids, column_ids = ([text_id for text_id, body in side if word in body] for side in (rows, columns))
        yield row_ids, [] if hides_column else column_ids
