"""One person's work online: the next pair, the answer, going back, and how far they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

from fcpair.errors import ConflictError, FcpairError, InputError, RefusedError
from fcpair.params import Annotate
from fcpair.records import WORKERS, Origin, Progress, Role, Round, ShownText, Status, Submission, Task, Visitor
from fcpair.stages.pace import LAST_INTERVALS, NO_PACE, left_s, pace_s
from fcpair.stages.question import SKIP, Choice, Closed
from fcpair.stages.question.labels import VERDICT
from fcpair.steps import eligible, handover, settle, validate
from fcpair.steps.allowance import allowance, limit_reached, limited
from fcpair.steps.ground import OnStudy, opaque, scheme_of
from fcpair.steps.opaque import Opaque
from fcpair.steps.receipt import once
from fcpair.store import Tx, desk, rounds, slots, work

_ASKED = {True: "label", False: "verdict"}  # whether a pair is shown without its label, and so what is asked
NOT_YOURS = "this pair is not yours, or not any more; somebody else has it now, and your answer was not needed"


class Desk:
    """Hands out what a person has open and takes their answers, each in one transaction.

    All methods raise RefusedError for somebody who is neither annotator nor validator, or has not consented yet.
    """

    def __init__(self, study: OnStudy, annotate: Annotate) -> None:
        self._store = study.store
        self._annotate = annotate
        self._opaque: Opaque | None = None

    @cached_property
    def _scheme(self) -> Closed:
        with self._store.read() as tx:
            return scheme_of(tx)

    def _numbers(self, tx: Tx) -> Opaque:
        """Made once: what it rests on stays as it is."""
        self._opaque = self._opaque or opaque(tx)
        return self._opaque

    def choices(self, role: Role) -> tuple[str, ...]:
        """The names of the answers that a role can give, in the order of their keys; `skip` is always there besides."""
        with self._store.read() as tx:
            return _names(self._choices(_round_of(tx, role), blind=validate.is_blind(tx)))

    def answer_sets(self, visitor: Visitor) -> dict[str, tuple[str, ...]]:
        """The names of the answers, as `choices` has them: under `label` what is asked of pairs that are shown without
        their label, under `verdict` of the others.

        Both are there where a validator was given pairs of either kind.
        """
        _check_visitor(visitor)
        with self._store.read() as tx:
            round_ = _round_of(tx, visitor.role)
            if round_.counts:
                return {_ASKED[True]: _names(self._scheme)}
            kinds = work.kinds(tx, visitor.id) or {validate.is_blind(tx)}
            return {_ASKED[blind]: _names(self._choices(round_, blind=blind)) for blind in sorted(kinds, reverse=True)}

    def _choices(self, round_: Round, *, blind: bool) -> Iterable[Choice]:
        if round_.counts or blind:
            return self._scheme
        return VERDICT.choices[::-1]  # agree first: what most people answer has the first key

    def tasks(self, visitor: Visitor, n: int = 1) -> list[Task]:
        """The next `n` pairs that a person has open; fewer at the end, and none when a limit is reached."""
        _check_visitor(visitor)
        with self._store.read() as tx:
            round_ = _round_of(tx, visitor.role)
            left = allowance(tx, visitor.id, self._annotate).room if limited(self._annotate) else None
            rows = desk.open_tasks(tx, visitor.id, round_, n if left is None else min(n, left))
            return [self._task(tx, round_, row, None) for row in rows]

    def answers(self, visitor: Visitor, before: int | None = None, n: int = 1) -> list[Task]:
        """A person's own answered pairs, the latest first, each with its answer; `before` is an assignment of theirs.

        Submitting one of them again changes the answer.
        """
        _check_visitor(visitor)
        with self._store.read() as tx:
            round_ = _round_of(tx, visitor.role)
            rows = desk.answered_tasks(tx, visitor.id, round_, before, n)
            return [self._task(tx, round_, row, self._own_answer(round_, row)) for row in rows]

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
                still to label it, or the request id was used for another answer.
        """
        (reply,) = self.submit_all([(visitor, submission)])
        if isinstance(reply, FcpairError):
            raise reply
        return reply

    def submit_all(
        self, given: Sequence[tuple[Visitor, Submission]], *, wait: bool = True
    ) -> list[dict[str, int] | FcpairError]:
        """Record the answers of several people in one transaction; each reply is as `submit` gives or raises it.

        What is refused is left out, and the others are recorded. Without `wait`, StudyError is raised at once while
        anybody else is writing; with it, they go before what else waits to be written.
        """
        with self._store.write(wait=wait, first=True) as tx:
            return [self._reply(tx, visitor, submission) for visitor, submission in given]

    def _reply(self, tx: Tx, visitor: Visitor, given: Submission) -> dict[str, int] | FcpairError:
        """Record one answer. Whatever refuses it does so before anything of it is written."""
        try:
            _check_visitor(visitor)
            round_ = _round_of(tx, visitor.role)
            kept = once(tx, visitor.id, given.request_id, vars(given), lambda: self._record(tx, visitor, round_, given))
            return {**kept, "judgement_id": self._numbers(tx).of("judgement", visitor.id, given.request_id)}
        except FcpairError as refused:
            return refused

    def progress(self, visitor: Visitor) -> Progress:
        """How far a person is, and how long the rest takes at their own pace."""
        _check_visitor(visitor)
        with self._store.read() as tx:
            round_ = _round_of(tx, visitor.role)
            counts = desk.status_counts(tx, visitor.id, round_)
            open_ = desk.n_shown(tx, visitor.id) if round_.checks else counts.get(Status.OPEN.value, 0)
            times = desk.answer_times(tx, visitor.id, LAST_INTERVALS + 1)
            allowed = allowance(tx, visitor.id, self._annotate)
        pace = pace_s([datetime.fromisoformat(at).timestamp() for at in times])
        done, skipped = counts.get(Status.DONE.value, 0), counts.get(Status.SKIPPED.value, 0)
        why = NO_PACE if pace is None else None
        left = None if pace is None else left_s(open_, pace)
        return Progress(open_, done, skipped, pace_s=pace, left_s=left, undefined=why, **allowed.shown())

    def _own_answer(self, round_: Round, row: dict[str, Any]) -> str:
        """What a person answered, in the words in which they were asked."""
        if row["code"] is None:
            return SKIP
        if row["own_code"] is not None:
            return self._scheme[row["own_code"]].name
        # A verdict on a label that was in sight has no label of one's own, whatever the pair asks for by now.
        return (VERDICT if round_.checks else self._scheme)[row["code"]].name

    def _task(self, tx: Tx, round_: Round, row: dict[str, Any], answer: str | None) -> Task:
        shows_label = round_.checks and not row["blind"]
        return Task(
            assignment_id=row["id"],
            cell_id=row["cell_id"],
            round=round_.name,
            hs=ShownText(row["hs"], row["hs_language"] or None),
            cn=ShownText(row["cn"], row["cn_language"] or None),
            label=self._scheme[row["decided"]].name if shows_label else None,
            decision_id=self._decision(tx, row["id"], row["decided"]) if round_.checks else None,
            answer=answer,
            note=row.get("note", ""),
            outdated=bool(row.get("outdated", False)),
        )

    def _decision(self, tx: Tx, assignment_id: int, decided: int | None) -> int:
        """What stands for the label that a pair has; it changes with the label, and is another for each validator.

        The number of the decision itself would tell when it was made, and so whether a person had to make it.
        """
        return self._numbers(tx).of("label", assignment_id, decided)

    def _record(self, tx: Tx, visitor: Visitor, round_: Round, given: Submission) -> dict[str, int]:
        found = desk.find_assignment(tx, given.assignment_id)
        if found is None or found.person_id != visitor.id or found.round_id not in round_.ids:
            raise RefusedError(NOT_YOURS)  # in the same words, whether there is such an assignment or not
        code = self._code(self._choices(round_, blind=found.blind), given.answer)
        verdict = {}
        if round_.checks:
            if found.still_labelled:
                raise eligible.still_labelled(found.cell_id)
            if found.decided is None or given.decision_id != self._decision(tx, found.id, found.decided):
                raise ConflictError("the label of this pair has changed since you saw it; please look at it again")
            verdict = {"adjudication_id": found.decision_id}
        shown = _shown_guidelines(given, found.guideline_version)
        self._check_status(tx, visitor.id, Status(found.status), given)
        row = {
            "assignment_id": given.assignment_id,
            "skipped": code is None,
            "answer_id": None if code is None else rounds.answers(tx, found.round_id)[code],
            "note": given.note,
            "seconds": given.seconds,
            "origin": Origin.ONLINE.value,
            "guideline_id": shown,
        } | verdict
        status = Status.SKIPPED if code is None else Status.DONE
        judgement_id = desk.add_judgement(tx, row, status)
        if code is None:
            handover.refill(tx, given.assignment_id, slot=given.assignment_id)
        if round_.counts:
            settle.settle(tx, [found.cell_id])
        reply = {"judgement_id": judgement_id, "assignment_id": given.assignment_id}
        return {**reply, "guideline_version": found.guideline_version}

    def _code(self, choices: Iterable[Choice], answer: str) -> int | None:
        codes = {choice.name: choice.code for choice in choices}
        if answer != SKIP and answer not in codes:
            raise InputError(f"`{answer}` is no answer here; expected one of {', '.join(codes)} or {SKIP}")
        return codes.get(answer)

    def _check_status(self, tx: Tx, person_id: int, status: Status, given: Submission) -> None:
        if status is Status.WITHDRAWN:
            raise ConflictError("this pair has been given to somebody else; your answer was not needed")
        if status is Status.OPEN and (limit := limit_reached(tx, person_id, self._annotate)):
            raise RefusedError(limit)
        if status is Status.SKIPPED and given.answer != SKIP and not slots.reclaim(tx, given.assignment_id):
            raise ConflictError("somebody else has this pair now, since you skipped it")


def _names(choices: Iterable[Choice]) -> tuple[str, ...]:
    return tuple(choice.name for choice in choices)


def _round_of(tx: Tx, role: Role) -> Round:
    """The round that is answered in a role."""
    return next(one for one in rounds.rounds(tx) if one.role is role)


def _check_visitor(visitor: Visitor) -> None:
    """Raise RefusedError for somebody who answers no round, or has not consented yet."""
    if visitor.role not in WORKERS:
        raise RefusedError("only annotators and validators have pairs to answer")
    if not visitor.consented:
        raise RefusedError("please read what the study is about and agree to take part first")


def _shown_guidelines(given: Submission, newest: int) -> int:
    """The version of the guidelines that an answer rests on."""
    if given.guideline_version is not None and given.guideline_version > newest:
        raise InputError(f"there is no version {given.guideline_version} of the guidelines; the newest is {newest}")
    return given.guideline_version or newest
