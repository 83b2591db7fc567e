"""Answers as they are submitted online: checked, recorded and followed by what rests on them, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from fcpair.errors import ConflictError, FcpairError, InputError, RefusedError, UnexaminedError, UnknownVisitorError
from fcpair.params import Annotate
from fcpair.records import WORKERS, Known, Origin, Status, Visitor
from fcpair.sentences import Id, join, say
from fcpair.stages.questions import SKIP
from fcpair.steps.assignment import further, leases
from fcpair.steps.base.answer_values import closed_question, form_of, parse_submitted, text_sent
from fcpair.steps.base.calibration_state import is_closed
from fcpair.steps.base.context import StudyContext, load_opaque_ids
from fcpair.steps.base.opaque_ids import OpaqueIds
from fcpair.steps.people import known_pairs, people, reassignment
from fcpair.steps.rules import permissions, rule_decisions, text_checks
from fcpair.store import Tx
from fcpair.store.answers import refused_texts, task_queries
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs
from fcpair.values import visible_text
from fcpair.work_records import Remark, Submission

NOT_YOURS = say(
    "this pair is not assigned to you, or no longer is; somebody else has it now, and your answer was not needed"
)
ANSWERED_ELSEWHERE = {
    Status.DONE: say(
        "you have just answered this pair in another window or on another device: that answer counts, and this one was "
        "not stored; press Undo to see it"
    ),
    Status.SKIPPED: say(
        "you have just skipped this pair in another window or on another device: that answer counts, and this one was "
        "not stored; press Undo to see it"
    ),
}
ANSWERED_OTHERWISE = say(
    "you have answered this pair otherwise since this page showed your answer, in another window or on another device: "
    "that answer counts, and this one was not stored; press Undo to see it"
)
RECORDED_FROM_FILE = say(
    "your answer on this pair has been recorded from a file since: it counts, not this one; press Undo to see it"
)
GIVEN_TO_OTHERS = say("this pair has been given to somebody else; your answer was not needed")
NO_CONTENT = ("examined", "again", "shown", "answered_at")  # fields that may differ when a request is repeated
LATE = timedelta(seconds=5)  # what came no later was sent at once
CLOCKS_DIFFER = timedelta(minutes=1)  # at most, where both are right


def late_time(given: str, created_at: str) -> str | None:
    """When a person answered or decided by their own clock, as the study keeps it where that came LATE; None where it
    came at once. Nothing but what is shown and exported rests on it, as a clock of theirs may be wrong or set.

    Raises InputError for no time with its zone, a time to come, and one before the study was created.
    """
    time, now = None, datetime.now(UTC)
    with suppress(ValueError):
        time = datetime.fromisoformat(given)
    if time is None or time.tzinfo is None:
        raise InputError.say(
            "`%(time)s` is not a time with its zone; expected ISO 8601, such as 2026-11-21T14:05:00+00:00", time=given
        )
    if time > now + CLOCKS_DIFFER:
        raise InputError.say("`%(time)s` is still to come; expected the time at which the person answered", time=given)
    if time < datetime.fromisoformat(created_at) - CLOCKS_DIFFER:
        raise InputError.say(
            "`%(time)s` is before the study was created; expected the time at which the person answered", time=given
        )
    return time.astimezone(UTC).isoformat(timespec="milliseconds") if now - time > LATE else None


class Submissions:
    """Takes the answers of people to what they have open."""

    def __init__(self, study: StudyContext, annotate: Annotate) -> None:
        self._store = study._store
        self._annotate = annotate
        self._has_limit = people.has_limit(annotate)
        self._opaque: OpaqueIds | None = None
        self._created_at = ""
        self._qualified: set[tuple[int, int]] = set()  # people who have qualified, each with the round in which
        self._answer_ids: dict[Any, dict[int, int]] = {}  # of closed questions, by form and as sent, then by round

    def _load_opaque(self, tx: Tx) -> OpaqueIds:
        """Made once, with the time of the study: what they rest on stays as it is."""
        if self._opaque is None:
            self._opaque, self._created_at = load_opaque_ids(tx), runs.created_at(tx)
        return self._opaque

    def submit(self, visitor: Visitor, submission: Submission) -> dict[str, int]:
        """Record an answer; returns `judgement_id`, `assignment_id` and the newest `guideline_version`.

        When a request is repeated, they are those of the first time. `judgement_id` tells answers apart and nothing
        more: the number of the judgement would tell how many others have given. A skipped pair goes to somebody else at
        once; changing the skip into an answer takes it back, as long as they have not answered.

        Raises InputError for no such answer in this round, or as `late_time` does; RefusedError for a pair that is not
        this person's, for which they have still to qualify, or beyond a limit; ConflictError where the pair was given
        to somebody else, its label has changed since it was shown, somebody has still to label it, this person has
        answered it meanwhile (unless they answer `again`), or the request id was used for another answer.
        """
        (reply,) = self.submit_all([(visitor, submission)])
        if isinstance(reply, UnexaminedError):
            self.run_text_checks(visitor, submission)
            (reply,) = self.submit_all([(visitor, replace(submission, examined=True))])
        if isinstance(reply, FcpairError):
            raise reply
        return reply

    def check_text(self, visitor: Visitor, assignment_id: int, answer: Any, *, keep: bool = False) -> list[Remark]:
        """Remarks of a round's checks on a text as it is; refusals are kept only with `keep`."""
        check_visitor(visitor)
        with self._store.read() as tx:
            assignment = self._own_assignment(tx, visitor, assignment_id)
            with grids.on_grid(tx, assignment.grid_id):
                round_ = rounds.by_id(tx, assignment.round_id)
                if not text_checks.is_checked(round_):
                    return []
                comparison = text_checks.comparison_texts(tx, round_, visitor.id, assignment.id)
        remarks = text_checks.check_answer(round_, answer, comparison)
        refusals = [remark for remark in remarks if remark.refuses]
        if keep and refusals:
            with self._store.write() as tx:
                refused_texts.add(tx, assignment.id, refusals, text_sent(form_of(round_.form), answer) or "")
        return remarks

    def _own_assignment(self, tx: Tx, visitor: Visitor, number: int) -> Any:
        """The assignment of a visitor, in their role, that they know by a number; raises RefusedError for any other."""
        assignment = task_queries.find_assignment(tx, self._load_opaque(tx).decrypt_assignment(number), visitor)
        if assignment is None:
            raise RefusedError(NOT_YOURS)
        return assignment

    def run_text_checks(self, visitor: Visitor, submission: Submission) -> None:
        """Hold a text against the checks of its round; raises InputError, with what to change, where one refuses it.
        The rule and its score are kept, and the text where its writer has agreed to that.
        """
        remarks = self.check_text(visitor, submission.assignment_id, submission.answer, keep=True)
        if sentences := [remark.sentence for remark in remarks if remark.refuses]:
            raise InputError(join(sentences))

    def submit_all(
        self, submissions: Sequence[tuple[Visitor, Submission]], *, wait: bool = True
    ) -> list[dict[str, int] | FcpairError]:
        """Record the answers of several people in one transaction; each reply is as `submit` gives or raises it.
        Without `wait`, StudyError is raised at once while anybody else is writing; with it, they go before what else
        waits.
        """
        has_skips = any(submission.answer == SKIP for _, submission in submissions)  # which give work to somebody else
        with self._store.write(wait=wait, first=True, alone=has_skips) as tx:
            numbers = self._opaque or self._load_opaque(tx)
            received = [
                (visitor, replace(one, assignment_id=numbers.decrypt_assignment(one.assignment_id)))
                for visitor, one in submissions
            ]
            if self._store.many_write:
                person_ids = [visitor.id for visitor, _ in received]
                task_queries.hold_people(tx, person_ids, [submission.assignment_id for _, submission in received])
            replies: list[dict[str, int] | FcpairError] = []
            for visitor, submission in received:
                try:  # whatever refuses an answer does so before anything of it is written
                    assignment = task_queries.find_assignment(tx, submission.assignment_id, visitor)
                    is_looked_up = assignment is not None or visitor.remembered is None
                    check_visitor(visitor, assignment if is_looked_up else task_queries.visitor_state(tx, visitor))
                    content = {key: value for key, value in vars(submission).items() if key not in NO_CONTENT}
                    record = partial(self._record_answer, tx, visitor, submission, assignment)
                    replies.append(task_queries.perform_once(tx, visitor.id, submission.request_id, content, record))
                except FcpairError as refused:
                    replies.append(refused)
        for reply, (visitor, submission) in zip(replies, submissions, strict=True):
            if not isinstance(reply, FcpairError):  # which has the numbers by which clients know answer and assignment
                reply["judgement_id"] = numbers.digest_id("judgement", visitor.id, submission.request_id)
                reply["assignment_id"] = submission.assignment_id
        return replies

    def _decision_token(self, tx: Tx, assignment_id: int, decided_code: int | None) -> int:
        """Token for the label that a pair has; it changes with the label, and is another for each validator."""
        # the number of the decision itself would tell when it was made, and so whether a person had to make it
        return self._load_opaque(tx).digest_id("label", assignment_id, decided_code)

    def _record_answer(self, tx: Tx, visitor: Visitor, submission: Submission, assignment: Any) -> dict[str, int]:
        if assignment is None:
            raise RefusedError(NOT_YOURS)  # in the same words, whether there is such an assignment or not
        skipped = submission.answer == SKIP
        answer = None if skipped else self._parse_answer(tx, assignment, submission)
        adjudication_id = None if assignment.checks is None else self._checked_decision(tx, assignment, submission)
        if (shown := submission.guideline_version) is not None and shown > assignment.guideline_version:
            raise InputError.say(
                "there is no version %(number)s of the guidelines; the newest is %(most)s",
                number=Id(shown),
                most=Id(assignment.guideline_version),
            )
        if assignment.qualification is not None:
            key = (visitor.id, assignment.qualification)
            if key not in self._qualified or assignment.is_qualifying:  # which lasts until they have more open there
                with grids.on_grid(tx, assignment.grid_id):
                    if not known_pairs.may_begin(tx, rounds.by_id(tx, assignment.qualification), visitor.id):
                        raise RefusedError.say(
                            "you have not qualified yet, so your answer was not stored; load the page again to go on "
                            "with your qualification, or wait until the people who run the study have looked at it"
                        )
                self._qualified.add(key)
        if assignment.known == Known.QUALIFICATION:
            # somebody may have read what was right
            with grids.on_grid(tx, assignment.grid_id):
                if known_pairs.is_over(tx, rounds.by_id(tx, assignment.round_id), visitor.id):
                    raise ConflictError.say("your qualification is over, so its answers can no longer be changed")
        if self._has_limit or assignment.status != Status.OPEN or assignment.calibrates:
            self._check_status(tx, visitor.id, assignment, submission)
        if isinstance(answer, rounds.Answer):
            answer = rounds.get_or_add_answer(tx, assignment.round_id, answer)
        row = {
            "skipped": skipped,
            "answer_id": answer,
            "adjudication_id": adjudication_id,
            "note": submission.note and visible_text(submission.note),
            "seconds": submission.seconds,
            "answered_at": None if (own := submission.answered_at) is None else late_time(own, self._created_at),
            "guideline_id": submission.guideline_version or assignment.guideline_version,
        }
        judgement_id = task_queries.add_judgement(tx, assignment, row, Status.SKIPPED if skipped else Status.DONE)
        if skipped or assignment.until is not None or assignment.may_decide or assignment.may_ask:
            with grids.on_grid(tx, assignment.grid_id):
                _follow(tx, visitor, assignment, skipped=skipped)
        reply = {"judgement_id": judgement_id, "assignment_id": submission.assignment_id}
        return {**reply, "guideline_version": assignment.guideline_version}

    def _parse_answer(self, tx: Tx, assignment: Any, submission: Submission) -> int | rounds.Answer:
        """The answer that was sent, by its number if that was asked for before; raises what refuses it."""
        value = submission.answer
        key = (assignment.form, value) if isinstance(value, str | int | float) else None
        if (number := self._answer_ids.get(key, {}).get(assignment.round_id)) is not None:
            return number
        with grids.on_grid(tx, assignment.grid_id):
            form = form_of(assignment.form)
            is_unexamined = not submission.examined and form.written_question
            if is_unexamined and text_checks.is_checked(rounds.by_id(tx, assignment.round_id)):
                raise UnexaminedError("this text has not been checked against the rules of its round")
            answer = parse_submitted(tx, assignment.round_id, assignment.form, assignment.cell_id, value)
            if key and closed_question(form):  # of all rounds at once: no reply tells that its round is another one
                self._answer_ids[key] = rounds.find_answer_in_rounds(tx, assignment.form, answer)
        return self._answer_ids.get(key, {}).get(assignment.round_id, answer)

    def _is_shown(self, tx: Tx, assignment: Any, submission: Submission) -> bool:
        """Return whether the current answer is one that the person was shown, or there is none."""
        if assignment.status not in (Status.DONE, Status.SKIPPED):
            return True
        shown, current = submission.shown or (), task_queries.current_answer(tx, assignment.id)
        if current is None:
            return SKIP in shown
        for value in shown:
            with suppress(InputError):  # what the round does not take is not the current answer
                if value != SKIP:
                    answer = self._parse_answer(tx, assignment, replace(submission, answer=value, examined=True))
                    if (answer.digest if isinstance(answer, rounds.Answer) else answer) in current:
                        return True
        return False

    def _checked_decision(self, tx: Tx, assignment: Any, submission: Submission) -> int:
        if assignment.still_labelled:
            raise permissions.still_labelled_error(assignment.cell_id)
        token = partial(self._decision_token, tx, assignment.id)
        if assignment.decided is None or submission.decision_id != token(assignment.decided):
            with grids.on_grid(tx, assignment.grid_id):
                codes = rounds.label_ids(tx)
            # a label that the pair can have had; up to 0.4.0 the number was that of the decision
            if submission.decision_id in {token(code) for code in codes}:
                raise ConflictError.say("the label of this pair has changed since you saw it; please look at it again")
            raise ConflictError.say(
                "this verdict does not say which label you saw, probably because it was given on a page of an older "
                "fcpair; please look at the pair again"
            )
        return int(assignment.decision_id)

    def _check_status(self, tx: Tx, person_id: int, assignment: Any, submission: Submission) -> None:
        with grids.on_grid(tx, assignment.grid_id):
            if is_closed(tx, rounds.by_id(tx, assignment.round_id)):
                raise ConflictError.say(
                    "the discussion has begun, or is over, so your first answer stands; where people differed you can "
                    "answer once more"
                )
        if assignment.status == assignments.OPTED_OUT:
            raise ConflictError.say(
                "you have opted out of a topic of this pair since, here or on another device, so your answer was not "
                "stored; you can opt in again under Settings"
            )
        status = Status(assignment.status)
        has_lapsed = status is Status.WITHDRAWN and assignment.until is not None  # nobody took it from them but time
        if status is Status.WITHDRAWN and not has_lapsed:
            raise ConflictError(GIVEN_TO_OTHERS)
        sentence = ANSWERED_ELSEWHERE.get(status, "") if submission.again is False else ""
        if submission.shown is not None and not self._is_shown(tx, assignment, submission):
            sentence = sentence or ANSWERED_OTHERWISE
        if sentence:
            current = task_queries.current_answer(tx, assignment.id) or ()
            raise ConflictError(RECORDED_FROM_FILE if Origin.IMPORTED.value in current else sentence)
        if (status is Status.OPEN or has_lapsed) and (limit := people.limit_reached(tx, person_id, self._annotate)):
            raise RefusedError(limit)
        if has_lapsed and not open_slots.reclaim_skipped(tx, submission.assignment_id):
            raise ConflictError(GIVEN_TO_OTHERS)
        is_control, returns = assignment.known == Known.CONTROLS, status is Status.SKIPPED and submission.answer != SKIP
        if returns and not open_slots.reclaim_skipped(tx, submission.assignment_id, is_control=is_control):
            raise ConflictError.say("somebody else has this pair now, since you skipped it")


def _follow(tx: Tx, visitor: Visitor, assignment: Any, *, skipped: bool) -> None:
    """Let what rests on an answer follow it: leases, who gets a skipped pair, decisions by rule, further people."""
    if assignment.until is not None:
        leases.renew_leases(tx, visitor.id, assignment.round_id)
    if skipped and assignment.known == Known.QUALIFICATION:
        n_skipped = int(assignment.status != Status.SKIPPED)
        known_pairs.replace_skipped(tx, rounds.by_id(tx, assignment.round_id), {visitor.id: n_skipped})
    elif skipped:
        reassignment.pass_on_skipped(tx, assignment.id, is_control=assignment.known == Known.CONTROLS)
    if (assignment.may_decide or assignment.may_ask) and closed_question(form_of(assignment.form)):
        if assignment.may_decide:
            rule_decisions.follow_answer(tx, assignment.cell_id, counts=assignment.counts)
        if assignment.may_ask:
            further.follow_answer(tx, assignment.cell_id, counts=assignment.counts)


def check_visitor(visitor: Visitor, state: Any = None) -> None:
    """Raise RefusedError for somebody who answers no round, or has not consented yet, UnknownVisitorError where one who
    is remembered is, by their `state`, not to be let in as they were.
    """
    if visitor.remembered is not None:
        expected = (visitor.key, visitor.session_secret, visitor.role)
        if not state or state.is_gone or (state.key_now, state.secret_now, state.role_now) != expected:
            raise UnknownVisitorError
    if visitor.role not in WORKERS:
        raise RefusedError.say("only people who answer rounds have open work")
    if not visitor.consented:
        raise RefusedError(permissions.NOT_CONSENTED)
