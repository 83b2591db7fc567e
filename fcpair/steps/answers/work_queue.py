"""One person's work online: the next pair, the answer, going back, and how far they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from fcpair.errors import RefusedError
from fcpair.params import DEFAULT_CONSENT, Annotate
from fcpair.plans import ORIGINAL, ORIGINAL_LANGUAGE
from fcpair.records import TOPIC_SPLIT, WORKERS, Known, Role, Round, Status, Visitor
from fcpair.stages.assignment.pace import LAST_INTERVALS, NO_PACE, left_s, pace_s, spread_batch_times
from fcpair.stages.questions import SKIP, labels
from fcpair.steps.answers.submissions import Submissions, check_visitor
from fcpair.steps.assignment import leases, validate
from fcpair.steps.base.answer_values import form_of, to_client
from fcpair.steps.base.context import StudyContext
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.people.known_pairs import is_closed_to, may_begin
from fcpair.steps.people.people import n_readable, reading_allowance
from fcpair.steps.rules import permissions, text_checks, wording
from fcpair.store import Tx
from fcpair.store.answers import task_queries
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import grids
from fcpair.work_records import Progress, RoundForm, ShownText, Task


class WorkQueue(Submissions):
    """Hands out what a person has open and takes their answers, each in one transaction, in every round of their role.
    All methods but `rounds` raise RefusedError for a role that answers nothing, or who has not consented.
    """

    def __init__(self, study: StudyContext, annotate: Annotate) -> None:
        super().__init__(study, annotate)
        self._grid_names: dict[int, str] = {}  # of the grids
        self._newest_round: int | None = None
        self._rounds: dict[Role, list[Round]] = {}  # as many as there were when the newest was that one

    def warm_up(self, is_over: Callable[[], bool]) -> None:
        """Load what the checks of texts need, so that the first writer need not wait (`text_checks.warm_up`)."""
        text_checks.warm_up(self._store, is_over)

    def _grid_name(self, tx: Tx, grid_id: int) -> str:
        if grid_id not in self._grid_names:
            self._grid_names |= {key.id: key.name for key in grids.keys(tx)}
        return self._grid_names[grid_id]

    def rounds(self, visitor: Visitor) -> list[RoundForm]:
        """Rounds in which a visitor can be asked, in all grids, the oldest first; a round that checks decisions twice
        for who was given cells both with the decision in sight and blind.
        """
        forms = list[RoundForm]()
        with self._store.read() as tx:
            words = wording.effective_words(tx).in_language(visitor.language)
            for round_ in rounds.seen_in_role(tx, visitor.role) if visitor.role in WORKERS else []:
                with grids.on_grid(tx, round_.grid_id):
                    kinds, checked_form = [False], list[dict[str, Any]]()
                    if round_.checks is not None:  # with what was decided in sight, blind, or both
                        kinds = sorted(assignments.blind_kinds(tx, visitor.id) or {validate.is_blind(tx)})
                        checked_form = form_of(rounds.form(tx, round_.checks)).as_json()
                    grid_name = self._grid_name(tx, round_.grid_id)
                    row, column, names, is_single = wording.side_words(tx, words)
                    for blind in kinds:
                        form = form_of(rounds.form(tx, round_.ids[blind])).as_json()
                        if round_.checks is not None and not blind:
                            form = labels.agree_first(form)
                        round_form = RoundForm(
                            grid_name,
                            round_.name,
                            *grids.side_names(tx),
                            labels.with_wordings(form, words, grid_name),
                            round_.options.screen,
                            blind,
                            row.text,
                            column.text,
                            labels.option_wordings(checked_form, words, grid_name) | names,
                            is_single,
                            round_.options.known == Known.QUALIFICATION,
                            ("again" if round_.options.again else "first") if round_.options.calibrates else "",
                        )
                        forms.append(round_form)
        return forms

    def tasks(self, visitor: Visitor, n: int = 1) -> list[Task]:
        """The next `n` cells that a person has open, in open assignment also of what is free; fewer at the end, none
        when a limit is reached.
        """
        ready_tasks = self.peek(visitor, n)
        return self.assign_tasks([(visitor, n)])[0] if ready_tasks is None else ready_tasks

    def assign_tasks(self, visitor_counts: Sequence[tuple[Visitor, int]]) -> list[list[Task]]:
        """Assign what `tasks` gives to several people, who ask for so many and have little left, in open assignment."""
        with self._store.read() as tx:
            remaining = [n_readable(tx, visitor.id, self._annotate) for visitor, _ in visitor_counts]
        requests = [
            (visitor, leases.n_to_hold(n, n_remaining))
            for (visitor, n), n_remaining in zip(visitor_counts, remaining, strict=True)
        ]
        return leases.assign_free_slots(
            self._store, requests, lambda tx, at: self._open_tasks(tx, *visitor_counts[at], remaining[at])
        )

    def peek(self, visitor: Visitor, n: int = 1) -> list[Task] | None:
        """Return what `tasks` gives, where nothing has to be written for it, which may have to wait; else None."""
        with self._store.read() as tx:
            state = task_queries.visitor_state(tx, visitor)
            check_visitor(visitor, state)
            if state.newest_round != self._newest_round:
                self._newest_round, self._rounds = state.newest_round, {}
            n_remaining = n_readable(tx, visitor.id, self._annotate)
            must_take = state.deals_openly and leases.needs_more(tx, visitor, leases.n_to_hold(n, n_remaining))
            return None if must_take else self._open_tasks(tx, visitor, n, n_remaining)

    def _open_tasks(self, tx: Tx, visitor: Visitor, n: int, n_remaining: int | None) -> list[Task]:
        n = n if n_remaining is None else min(n, n_remaining)
        tasks: list[Task] = []
        known_rounds = self._rounds  # another thread may begin anew meanwhile
        if visitor.role not in known_rounds:
            seen_rounds = rounds.seen_in_role(tx, visitor.role)
            known_rounds[visitor.role] = sorted(seen_rounds, key=lambda round_: not round_.options.calibrates)
        for round_ in _rounds_begun(tx, visitor, known_rounds[visitor.role]):
            if len(tasks) < n:
                rows = task_queries.open_tasks(tx, visitor.id, round_, n - len(tasks))
                tasks += [self._task(tx, round_, row) for row in rows]
        return tasks

    def renumber(self, visitor: Visitor, assignment_ids: Sequence[int]) -> dict[int, int]:
        """The numbers of a person's assignments by those that clients had of them up to fcpair 0.7, of these. Raises
        RefusedError where the person has known pairs: their old numbers would tell them.
        """
        check_visitor(visitor)
        with self._store.read() as tx:
            if rounds.has_known_pairs(rounds.seen_in_role(tx, visitor.role)):
                raise RefusedError.say(
                    "answers that an older version of this page kept can no longer be stored; please give them again"
                )
            encrypt = self._load_opaque(tx).encrypt_assignment
            return {number: encrypt(number) for number in task_queries.own_among(tx, visitor.id, assignment_ids)}

    def answers(self, visitor: Visitor, before: int | None = None, n: int = 1) -> list[Task]:
        """A person's own answered cells, the latest first, each with its answer, which submitting it again changes;
        without topics that they have opted out of since. RefusedError where `before`, an assignment to go on from, is
        none of theirs.
        """
        check_visitor(visitor)
        with self._store.read() as tx:
            round_by_id = dict[int, Round]()
            for round_ in rounds.seen_in_role(tx, visitor.role):
                with grids.on_grid(tx, round_.grid_id):
                    # not a qualification whose answers they know, nor what is over of a calibration
                    if not is_closed_to(tx, round_, visitor.id):
                        round_by_id |= dict.fromkeys(round_.ids, round_)
            before = None if before is None else self._own_assignment(tx, visitor, before).id
            spared = permissions.spared_pairs(tx, visitor.id)
            rows = task_queries.answered_tasks(tx, visitor.id, list(round_by_id), before, n, spared)
            return [
                self._task(
                    tx,
                    round_by_id[row["round_id"]],
                    row,
                    answer=SKIP if row["value"] is None else to_client(row["value"]),
                    note=row["note"],
                    outdated=bool(row["outdated"]),
                )
                for row in rows
            ]

    def progress(self, visitor: Visitor) -> Progress:
        """Progress of a person, and the time that the rest takes at their own pace."""
        check_visitor(visitor)
        with self._store.read() as tx:
            role_rounds = rounds.seen_in_role(tx, visitor.role)
            round_by_id = {number: round_ for round_ in role_rounds for number in round_.ids}
            counts = task_queries.status_counts(tx, visitor.id, list(round_by_id))
            n_open = sum(  # counted anew only where not all that are open can be shown
                task_queries.n_open(tx, visitor.id, round_)
                if round_.checks is not None or round_.options.rests_on
                else sum(counts.get((number, Status.OPEN.value), 0) for number in round_.ids)
                for round_ in _rounds_begun(tx, visitor, role_rounds)
            )
            times = task_queries.answer_times(tx, visitor.id, LAST_INTERVALS + 1)
            reading, has_more = reading_allowance(tx, visitor.id, self._annotate), leases.is_work_available(tx, visitor)
        keys = (
            (at, round_by_id[round_id].screen_key(row_id) if round_id in round_by_id else None)
            for at, round_id, row_id in times
        )
        pace = pace_s(spread_batch_times((datetime.fromisoformat(at).timestamp(), key) for at, key in keys))
        n_done, n_skipped = (
            sum(n for (_, of), n in counts.items() if of == status) for status in (Status.DONE, Status.SKIPPED)
        )
        return Progress(
            **vars(reading.shown),
            open=n_open,
            done=n_done,
            skipped=n_skipped,
            pace_s=pace,
            left_s=None if pace is None else left_s(n_open, pace),
            undefined=NO_PACE if pace is None else None,
            more=has_more,
        )

    def _task(self, tx: Tx, round_: Round, row: dict[str, Any], *, answer: Any = None, **fields: Any) -> Task:
        checks, options = round_.checks is not None, round_.options
        meta = task_queries.row_metadata(tx, row["cell_id"]) if options.rewords_rows else {}
        number = grids.to_public_number(row["cell_id"])
        original = None  # the text to be edited
        if options.edits_row:
            original = row["row"], row["row_language"]
        elif options.edits:
            original = task_queries.original_text(tx, round_, row["cell_id"])
        return Task(
            assignment_id=self._load_opaque(tx).encrypt_assignment(row["id"]),
            grid=self._grid_name(tx, round_.grid_id),
            cell_id=self._load_opaque(tx).encrypt_cell(number) if options.hides_column else number,
            round=round_.name,
            row=ShownText.of(row["row"], row["row_language"]),
            column=None if options.hides_column else ShownText.of(row["column"], row["column_language"]),
            answered=ShownText.of(row["answered"], row["answered_language"]) if row["answered"] is not None else None,
            shown=str(to_client(row["decided_value"])) if checks and not row["blind"] else None,
            original=ShownText.of(*original) if original else None,
            untranslated=ShownText.of(meta[ORIGINAL], meta.get(ORIGINAL_LANGUAGE)) if meta.get(ORIGINAL) else None,
            decision_id=self._decision_token(tx, row["id"], row["decided"]) if checks else None,
            answer=answer,
            **{"note": "", "outdated": False, **fields},
        )


def _rounds_begun(tx: Tx, visitor: Visitor, seen_rounds: Sequence[Round]) -> Iterator[Round]:
    """Yield the rounds that somebody has begun or can begin: none for which they have still to qualify."""
    waiting = set[tuple[int, str]]()
    for round_ in seen_rounds:
        if (round_.grid_id, round_.name) in waiting:
            continue
        if round_.options.known and not may_begin(tx, round_, visitor.id):
            waiting.add((round_.grid_id, round_.options.known_for))
        yield round_


@takes_params
def open_work_queue(
    study: StudyContext,
    annotate: Annotate | None = None,
    *,
    about: str = own(""),
    warning: str | None = own(None),
    consent: str = own(DEFAULT_CONSENT),
    thanks: str | None = own(None),
    contact: str = own(""),
    demographics: Sequence[str] = own(()),
    compare: Sequence[str] = own(()),
    opt_out: str | None = own(None),
    opt_out_split: str = own(TOPIC_SPLIT),
    pause_pairs: int = own(50),
    pause_minutes: int = own(20),
    daily_limit: int | None = own(None),
    total_limit: int | None = own(None),
    offline: bool = own(True),
) -> WorkQueue:
    """The work of those who answer online: `tasks`, `submit`, `answers`, `progress`."""
    return WorkQueue(study, annotate or study.effective_options(Annotate))
