"""One person's work online: the next pair, the answer, going back, and how far they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from fcpair.errors import (
    ConflictError,
    FcpairError,
    InputError,
    RefusedError,
    UnexaminedError,
    UnknownVisitorError,
)
from fcpair.params import Annotate
from fcpair.plans import ORIGINAL, ORIGINAL_LANGUAGE
from fcpair.records import (
    WORKERS,
    Asked,
    Progress,
    Remark,
    Role,
    Round,
    ShownText,
    Status,
    Submission,
    Task,
    Visitor,
)
from fcpair.stages.assignment.pace import LAST_INTERVALS, NO_PACE, left_s, pace_s, shared
from fcpair.stages.questions import SKIP
from fcpair.steps.assignment import leases, validate
from fcpair.steps.base.answer_values import as_sent, closed_question, form_of, received, text_sent
from fcpair.steps.base.context import OnStudy, opaque
from fcpair.steps.base.idempotency import once
from fcpair.steps.base.opaque_ids import Opaque
from fcpair.steps.people import reassignment
from fcpair.steps.people.reading_limits import allowance, limit_reached, limited
from fcpair.steps.rules import permissions, rule_decisions, text_checks
from fcpair.store import Tx
from fcpair.store.answers import refused_texts, task_queries
from fcpair.store.assignment import assignments, distinct_answers, rounds, vacant_slots
from fcpair.store.assignment.distinct_answers import Answer
from fcpair.store.corpus import grids
from fcpair.store.people import opt_out_pairs, people

NOT_YOURS = "this pair is not yours, or not any more; somebody else has it now, and your answer was not needed"
CHANGED = "the label of this pair has changed since you saw it; please look at it again"
UNTOLD = (
    "this verdict does not say which label you saw, as one that was given on a page of an older fcpair; please look at "
    "the pair again"
)
LEFT_OUT = (
    "you have left out a topic of this pair since, here or on another device, so your answer was not taken; under "
    "Settings you can take the topic up again"
)
ELSEWHERE = (
    "you have just {} this pair in another window or on another device: that stands, and this answer was not taken; "
    "press Undo to look at it"
)
_DID = {Status.DONE: "answered", Status.SKIPPED: "skipped"}
TAKEN = "this pair has been given to somebody else; your answer was not needed"


class Desk:
    """Hands out what a person has open and takes their answers, each in one transaction, in every round of their role.

    All methods but `rounds` raise RefusedError for somebody in a role that answers nothing, or who has not consented.
    """

    def __init__(self, study: OnStudy, annotate: Annotate) -> None:
        self._store = study.store
        self._annotate = annotate
        self._limited = limited(annotate)
        self._opaque: Opaque | None = None
        self._names: dict[int, str] = {}  # of the grids
        self._newest_round: int | None = None
        self._rounds: dict[Role, list[Round]] = {}  # as many as there were when the newest was that one
        self._known: dict[tuple[int, Any], int] = {}  # answers of closed questions, by round and as they are sent

    def _numbers(self, tx: Tx) -> Opaque:
        """Made once: what it rests on stays as it is."""
        self._opaque = self._opaque or opaque(tx)
        return self._opaque

    def _name(self, tx: Tx, grid_id: int) -> str:
        """The name of a grid."""
        if grid_id not in self._names:
            self._names |= {one.id: one.name for one in grids.keys(tx)}
        return self._names[grid_id]

    def rounds(self, visitor: Visitor) -> list[Asked]:
        """What a visitor can be asked, in all grids, the oldest first; nothing in a role that answers nothing.

        A round that checks decisions is there twice where the visitor was given cells of it both with the decision in
        sight and blind.
        """
        with self._store.read() as tx:
            there = rounds.of_role(tx, visitor.role) if visitor.role in WORKERS else []
            return [self._asked(tx, one, blind) for one in there for blind in _kinds(tx, visitor, one)]

    def _asked(self, tx: Tx, one: Round, blind: bool) -> Asked:
        form = form_of(rounds.form(tx, one.ids[blind])).as_json()
        if one.checks is not None and not blind:  # agree first: what most people answer has the first key
            form = [{**question, "choices": question["choices"][::-1]} for question in form]
        with grids.about(tx, one.grid_id):
            return Asked(self._name(tx, one.grid_id), one.name, *grids.names(tx), form, one.options.screen, blind)

    def tasks(self, visitor: Visitor, n: int = 1) -> list[Task]:
        """The next `n` cells that a person has open; fewer at the end, and none when a limit is reached.

        In open dealing they are given what is free first, where they have little left.
        """
        found = self.at_hand(visitor, n)
        return self.given([(visitor, n)])[0] if found is None else found

    def given(self, asks: Sequence[tuple[Visitor, int]]) -> list[list[Task]]:
        """What `tasks` gives each of several people who ask for so many and have little left, in open dealing."""
        with self._store.read() as tx:
            rooms = [self._room(tx, visitor) for visitor, _ in asks]
        wanted = [leases.Ask(visitor, leases.wanted(n, room)) for (visitor, n), room in zip(asks, rooms, strict=True)]
        return leases.take(self._store, wanted, lambda tx, at: self._open(tx, *asks[at], rooms[at]))

    def at_hand(self, visitor: Visitor, n: int = 1) -> list[Task] | None:
        """What `tasks` gives, where nothing has to be written for it, which may have to wait; else None."""
        with self._store.read() as tx:
            state = task_queries.state(tx, visitor)
            _check_visitor(visitor, state)
            if state.newest_round != self._newest_round:
                self._newest_round, self._rounds = state.newest_round, {}
            room = self._room(tx, visitor)
            must_take = state.deals_openly and leases.lacks(tx, visitor, leases.wanted(n, room))
            return None if must_take else self._open(tx, visitor, n, room)

    def _room(self, tx: Tx, visitor: Visitor) -> int | None:
        """How many more cells a person may read now; None without a limit."""
        return allowance(tx, visitor.id, self._annotate).room if self._limited else None

    def _rounds_of(self, tx: Tx, role: Role) -> list[Round]:
        if role not in self._rounds:
            self._rounds[role] = rounds.of_role(tx, role)
        return self._rounds[role]

    def _open(self, tx: Tx, visitor: Visitor, n: int, room: int | None) -> list[Task]:
        n = n if room is None else min(n, room)
        found: list[Task] = []
        for one in self._rounds_of(tx, visitor.role):
            if len(found) < n:
                rows = task_queries.open_tasks(tx, visitor.id, one, n - len(found))
                found += [self._task(tx, one, row) for row in rows]
        return found

    def answers(self, visitor: Visitor, before: int | None = None, n: int = 1) -> list[Task]:
        """A person's own answered cells, the latest first, each with its answer; `before` is an assignment of theirs.

        Submitting one of them again changes the answer.
        """
        _check_visitor(visitor)
        with self._store.read() as tx:
            there = {number: one for one in rounds.of_role(tx, visitor.role) for number in one.ids}
            rows = task_queries.answered_tasks(tx, visitor.id, list(there), before, n)
            return [
                self._task(
                    tx,
                    there[row["round_id"]],
                    row,
                    answer=SKIP if row["value"] is None else as_sent(row["value"]),
                    note=row["note"],
                    outdated=bool(row["outdated"]),
                )
                for row in rows
            ]

    def submit(self, visitor: Visitor, submission: Submission) -> dict[str, int]:
        """Record an answer; returns `judgement_id`, `assignment_id` and the newest `guideline_version`.

        When a request is repeated, they are those of the first time. `judgement_id` tells answers apart and nothing
        more: the number of the judgement itself would tell how many others have given.

        A skipped pair goes back to be assigned to somebody else at once; changing the skip into an answer takes it
        back, as long as the other person has not answered.

        Raises:
            InputError: no such answer in this round.
            RefusedError: not this person's pair, or a limit of pairs is reached.
            ConflictError: the pair was given to somebody else, its label has changed since it was shown, somebody has
                still to label it, this person has answered it meanwhile (unless they answer `again`), or the request id
                was used for another answer.
        """
        (reply,) = self.submit_all([(visitor, submission)])
        if isinstance(reply, UnexaminedError):
            self.examine(visitor, submission)
            (reply,) = self.submit_all([(visitor, replace(submission, examined=True))])
        if isinstance(reply, FcpairError):
            raise reply
        return reply

    def look(self, visitor: Visitor, assignment_id: int, answer: Any, *, keep: bool = False) -> list[Remark]:
        """What the checks of a round would say of a text as it stands; refusals are kept only if so wanted.

        Raises:
            RefusedError: not this person's pair.
            ModelError: the encoder cannot be had.
        """
        _check_visitor(visitor)
        with self._store.read() as tx:
            found = _own(tx, visitor, assignment_id)
            with grids.about(tx, found.grid_id):
                of = rounds.holding(tx, found.round_id)
                if not text_checks.is_checked(of):
                    return []
                others = text_checks.others(tx, of, visitor.id, assignment_id)
        said = text_checks.look(of, answer, others)
        refused = [one for one in said if one.refuses]
        if keep and refused:
            with self._store.write() as tx:
                refused_texts.add(tx, assignment_id, refused, text_sent(form_of(of.form), answer) or "")
        return said

    def examine(self, visitor: Visitor, submission: Submission) -> None:
        """Hold a text against the checks of its round; raises InputError, with what to change, where one refuses it.

        What was refused is kept: by which rule, with which score, and the text where its writer has agreed to that.
        """
        said = self.look(visitor, submission.assignment_id, submission.answer, keep=True)
        if refused := [one.sentence for one in said if one.refuses]:
            raise InputError(" ".join(refused))

    def submit_all(
        self, given: Sequence[tuple[Visitor, Submission]], *, wait: bool = True
    ) -> list[dict[str, int] | FcpairError]:
        """Record the answers of several people in one transaction; each reply is as `submit` gives or raises it.

        What is refused is left out, and the others are recorded. Without `wait`, StudyError is raised at once while
        anybody else is writing; with it, they go before what else waits to be written.
        """
        skips = any(submission.answer == SKIP for _, submission in given)  # which give work to somebody else
        with self._store.write(wait=wait, first=True, alone=skips) as tx:
            who, what = ([visitor.id for visitor, _ in given], [submission.assignment_id for _, submission in given])
            if self._store.many_write:
                task_queries.hold(tx, who, what)
            numbers = self._opaque or self._numbers(tx)
            replies = [self._reply(tx, visitor, submission) for visitor, submission in given]
        return [_hidden(reply, numbers, *asked) for reply, asked in zip(replies, given, strict=True)]

    def _reply(self, tx: Tx, visitor: Visitor, given: Submission) -> dict[str, int] | FcpairError:
        """Record one answer. Whatever refuses it does so before anything of it is written."""
        try:
            found = task_queries.find_assignment(tx, given.assignment_id, visitor)
            _check_visitor(visitor, found or (None if visitor.remembered is None else task_queries.state(tx, visitor)))
            sent = {name: value for name, value in vars(given).items() if name not in ("examined", "again")}
            return once(tx, visitor.id, given.request_id, sent, partial(self._record, tx, visitor, given, found))
        except FcpairError as refused:
            return refused

    def progress(self, visitor: Visitor) -> Progress:
        """How far a person is, and how long the rest takes at their own pace."""
        _check_visitor(visitor)
        with self._store.read() as tx:
            there = rounds.of_role(tx, visitor.role)
            counts = task_queries.status_counts(tx, visitor.id, [number for one in there for number in one.ids])
            open_ = sum(_n_open(tx, visitor.id, one, counts) for one in there)
            times = task_queries.answer_times(tx, visitor.id, LAST_INTERVALS + 1)
            allowed, more = allowance(tx, visitor.id, self._annotate), leases.is_free(tx, visitor)
        of = {number: one for one in there for number in one.ids}
        keys = ((at, of[round_id].together(row_id) if round_id in of else None) for at, round_id, row_id in times)
        pace = pace_s(shared((datetime.fromisoformat(at).timestamp(), key) for at, key in keys))
        done, skipped = (_n(counts, status) for status in (Status.DONE, Status.SKIPPED))
        why = NO_PACE if pace is None else None
        left = None if pace is None else left_s(open_, pace)
        return Progress(open_, done, skipped, pace_s=pace, left_s=left, undefined=why, more=more, **allowed.shown())

    def _task(self, tx: Tx, of: Round, row: dict[str, Any], *, answer: Any = None, **own: Any) -> Task:
        checks = of.checks is not None
        return Task(
            assignment_id=row["id"],
            grid=self._name(tx, of.grid_id),
            cell_id=self._cell_number(tx, of, row["cell_id"]),
            round=of.name,
            row=_shown(row["row"], row["row_language"]),
            column=None if of.options.hides_column else _shown(row["column"], row["column_language"]),
            answered=_shown(row["answered"], row["answered_language"]) if row["answered"] is not None else None,
            shown=str(as_sent(row["decided_value"])) if checks and not row["blind"] else None,
            original=_original(tx, of, row),
            untranslated=_untranslated(tx, of, row["cell_id"]),
            decision_id=self._decision(tx, row["id"], row["decided"]) if checks else None,
            answer=answer,
            **{"note": "", **own},
        )

    def _cell_number(self, tx: Tx, of: Round, cell_id: int) -> int:
        """The number by which a person knows a cell."""
        number = grids.number_of(cell_id)
        return self._numbers(tx).hide_cell(number) if of.options.hides_column else number

    def _decision(self, tx: Tx, assignment_id: int, decided: int | None) -> int:
        """What stands for the label that a pair has; it changes with the label, and is another for each validator.

        The number of the decision itself would tell when it was made, and so whether a person had to make it.
        """
        return self._numbers(tx).of("label", assignment_id, decided)

    def _record(self, tx: Tx, visitor: Visitor, given: Submission, found: Any) -> dict[str, int]:
        """Record an answer to the assignment that was found, if one was."""
        if found is None:
            raise RefusedError(NOT_YOURS)  # in the same words, whether there is such an assignment or not
        skipped = given.answer == SKIP
        answer = None if skipped else self._answer(tx, found, given)
        adjudication_id = None if found.checks is None else self._verdict(tx, found, given)
        if given.guideline_version is not None:
            _check_guidelines(given.guideline_version, found.guideline_version)
        if self._limited or found.status != Status.OPEN:
            self._check_status(tx, visitor.id, found, given)
        row = {
            "skipped": skipped,
            "answer_id": distinct_answers.number(tx, found.round_id, answer) if isinstance(answer, Answer) else answer,
            "adjudication_id": adjudication_id,
            "note": given.note,
            "seconds": given.seconds,
            "guideline_id": given.guideline_version or found.guideline_version,
        }
        judgement_id = task_queries.add_judgement(tx, found, row, Status.SKIPPED if skipped else Status.DONE)
        if skipped or found.until is not None or found.may_decide:
            _follow(tx, visitor, found, skipped=skipped)
        reply = {"judgement_id": judgement_id, "assignment_id": given.assignment_id}
        return {**reply, "guideline_version": found.guideline_version}

    def _answer(self, tx: Tx, found: Any, given: Submission) -> int | Answer:
        """The answer that was sent, by its number if that was asked for before; raises what refuses it."""
        sent = given.answer
        key = (found.round_id, sent) if isinstance(sent, str | int | float) else None
        if key in self._known:
            return self._known[key]
        with grids.about(tx, found.grid_id):
            form = form_of(found.form)
            if not given.examined and form.writes:
                _check_examined(tx, found)
            answer = received(tx, found.round_id, found.form, found.cell_id, sent)
            number = distinct_answers.find(tx, found.round_id, answer) if key and closed_question(form) else None
        if key and number is not None:
            self._known[key] = number
        return answer if number is None else number

    def _verdict(self, tx: Tx, found: Any, given: Submission) -> int:
        """The decision that a verdict is about; raises ConflictError unless that is what the person saw."""
        if found.still_labelled:
            raise permissions.still_labelled(found.cell_id)
        if found.decided is None or given.decision_id != self._decision(tx, found.id, found.decided):
            raise ConflictError(CHANGED if self._was_shown(tx, found, given.decision_id) else UNTOLD)
        return int(found.decision_id)

    def _was_shown(self, tx: Tx, found: Any, decision_id: int | None) -> bool:
        """Whether a number stands for a label that the pair can have had; up to 0.4.0 it was that of the decision."""
        with grids.about(tx, found.grid_id):
            codes = rounds.labels(tx)
        return decision_id in {self._decision(tx, found.id, code) for code in codes}

    def _check_status(self, tx: Tx, person_id: int, found: Any, given: Submission) -> None:
        status = Status(found.status)
        lapsed = status is Status.WITHDRAWN and found.until is not None  # nobody took it from them but time
        if status is Status.WITHDRAWN and not lapsed:
            raise ConflictError(LEFT_OUT if _leaves_out(tx, person_id, found.cell_id) else TAKEN)
        if given.again is False and (did := _DID.get(status)):
            raise ConflictError(ELSEWHERE.format(did))
        if (status is Status.OPEN or lapsed) and (limit := limit_reached(tx, person_id, self._annotate)):
            raise RefusedError(limit)
        if lapsed and not vacant_slots.reclaim(tx, given.assignment_id):
            raise ConflictError(TAKEN)
        if status is Status.SKIPPED and given.answer != SKIP and not vacant_slots.reclaim(tx, given.assignment_id):
            raise ConflictError("somebody else has this pair now, since you skipped it")


def _leaves_out(tx: Tx, person_id: int, cell_id: int) -> bool:
    """Whether a cell holds what a person has opted out of."""
    opted_out = people.opt_outs(tx, person_id).get(person_id)
    return bool(opted_out and opt_out_pairs.pairs_about(tx, opted_out, [cell_id]))


def _follow(tx: Tx, visitor: Visitor, found: Any, *, skipped: bool) -> None:
    """Do what follows from an answer: a lease is renewed, a skipped cell goes to somebody else, a rule decides."""
    with grids.about(tx, found.grid_id):
        if found.until is not None:
            leases.renew(tx, visitor.id, found.round_id)
        if skipped:
            reassignment.refill(tx, found.id, slot=found.id)
        if found.may_decide and closed_question(form_of(found.form)):
            rule_decisions.settle(tx, [found.cell_id])


def _hidden(
    reply: dict[str, int] | FcpairError, numbers: Opaque, visitor: Visitor, given: Submission
) -> dict[str, int] | FcpairError:
    """A reply with the number by which clients know the answer."""
    if isinstance(reply, FcpairError):
        return reply
    return {**reply, "judgement_id": numbers.of("judgement", visitor.id, given.request_id)}


def _own(tx: Tx, visitor: Visitor, assignment_id: int) -> Any:
    """The assignment of this number, where it is the visitor's in their role; else raises RefusedError."""
    found = task_queries.find_assignment(tx, assignment_id, visitor)
    if found is None:
        raise RefusedError(NOT_YOURS)
    return found


def _check_examined(tx: Tx, found: Any) -> None:
    """Raise UnexaminedError where a text that comes to this assignment has to be held against checks first."""
    if text_checks.is_checked(rounds.holding(tx, found.round_id)):
        raise UnexaminedError("this text has not been held against the checks of its round")


def _shown(body: str, language: str | None) -> ShownText:
    return ShownText(body, language or None)


def _original(tx: Tx, of: Round, row: dict[str, Any]) -> ShownText | None:
    """The text to be edited; None where there is none."""
    if of.options.edits_row:
        return _shown(row["row"], row["row_language"])
    found = task_queries.original(tx, of, row["cell_id"]) if of.options.edits else None
    return _shown(*found) if found else None


def _untranslated(tx: Tx, of: Round, cell_id: int) -> ShownText | None:
    """What the row's text is a translation of, where a round writes it in other words and its metadata say so."""
    meta = task_queries.row_metadata(tx, cell_id) if of.options.rewords_rows else {}
    return _shown(meta[ORIGINAL], meta.get(ORIGINAL_LANGUAGE)) if meta.get(ORIGINAL) else None


def _kinds(tx: Tx, visitor: Visitor, of: Round) -> list[bool]:
    """Whether a round is asked with what was decided in sight (False), blind, or both."""
    if of.checks is None:
        return [False]
    with grids.about(tx, of.grid_id):
        return sorted(assignments.kinds(tx, visitor.id) or {validate.is_blind(tx)})


def _n(counts: dict[tuple[int, str], int], status: Status, round_ids: Sequence[int] | None = None) -> int:
    """How many assignments have a status, in all rounds or in these."""
    return sum(n for (one, of), n in counts.items() if of == status and (round_ids is None or one in round_ids))


def _n_open(tx: Tx, person_id: int, of: Round, counts: dict[tuple[int, str], int]) -> int:
    """How many cells of a round somebody has open and can be shown; counted anew only where these are not all."""
    waits = of.checks is not None or bool(of.options.rests_on)
    return task_queries.n_open(tx, person_id, of) if waits else _n(counts, Status.OPEN, of.ids)


def _check_visitor(visitor: Visitor, found: Any = None) -> None:
    """Raise RefusedError for somebody who answers no round, or has not consented yet.

    Raises UnknownVisitorError where one who is remembered is `found` not to be let in as they were.
    """
    if visitor.remembered is not None:
        before = (visitor.key, visitor.session_secret, visitor.role)
        if not found or found.is_gone or (found.key_now, found.secret_now, found.role_now) != before:
            raise UnknownVisitorError
    if visitor.role not in WORKERS:
        raise RefusedError("only those who answer rounds have something open")
    if not visitor.consented:
        raise RefusedError("please read what the study is about and agree to take part first")


def _check_guidelines(shown: int, newest: int) -> None:
    """Raise InputError for a version of the guidelines that nobody can have been shown."""
    if shown > newest:
        raise InputError(f"there is no version {shown} of the guidelines; the newest is {newest}")
