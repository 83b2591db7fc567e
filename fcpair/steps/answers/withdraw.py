"""Taking answers back: all that a run brought, one of somebody, or all of who is let go; their cells wait again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from fcpair.errors import ConflictError, InputError, StageError, UnknownIdError
from fcpair.lazy import pd
from fcpair.param_values import whole_number
from fcpair.params import Simulate
from fcpair.records import Round, RunRecord, Status
from fcpair.sentences import Id, mark, say
from fcpair.steps.answers.answer_import import DISMISS
from fcpair.steps.answers.generate import GENERATE
from fcpair.steps.answers.import_fc_conan import FORMAT
from fcpair.steps.base import departures
from fcpair.steps.base.context import LARGEST_ID, GridContext, StudyContext, begin_run, find_cell, labels_of
from fcpair.steps.people import access, known_pairs, reassignment
from fcpair.steps.people.people import find_person
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs
from fcpair.values import visible_text

Kind = Literal["labels", "verdicts", "answers"]


@dataclass(frozen=True)
class BroughtAnswers:
    """Answers that a run brought into a round: of `n_answers`, skips included, `n_current` are still the current ones,
    which withdrawing would take back, `n_by_person` by names of those who gave them.
    """

    run: RunRecord
    round: str
    n_answers: int
    n_current: int
    n_by_person: dict[str, int]
    is_withdrawn: bool


def list_brought_answers(grid: GridContext) -> list[BroughtAnswers]:
    """The imports of answers into a grid, simulated and models' answers among them, newest first."""
    with grid._store.read() as tx:
        brought = list[BroughtAnswers]()
        for run in filter(_can_bring_answers, reversed(runs.runs(tx))):
            answers = judgements.answers_of_run(tx, run.id)
            if answers.empty or grids.grid_id_of(int(answers["cell_id"].iloc[0])) != grids.current_grid_id(tx):
                continue
            n_by_person = Counter(answers["person"][answers["current"]])
            round_name, is_withdrawn = str(answers["round"].iloc[0]), bool(answers["withdrawn"].any())
            counts = len(answers), n_by_person.total(), dict(sorted(n_by_person.items()))
            brought.append(BroughtAnswers(run, round_name, *counts, is_withdrawn))
        return brought


def _can_bring_answers(run: RunRecord) -> bool:
    """Return whether a run brings answers, which can be withdrawn; of a round, imports begin with its name."""
    is_import = run.stage in (Simulate.stage, GENERATE) or run.stage.endswith(" import")
    return is_import and run.params.get("format") != FORMAT


def withdraw(
    grid: GridContext,
    run: int | None = None,
    kind: Kind = "answers",
    *,
    pair: int | None = None,
    who: str | None = None,
    round: str | None = None,
    note: str = "",
    seen: str = "",
) -> RunRecord:
    """Take the answers back that a `run` brought, as a whole; or the answer that somebody (`who`) gave to a `pair`.

    Imports and `simulate` return the `id` of their run. To each answer that is still the current one, a judgement is
    added that withdraws it, with a `note`. Whoever gave it has the pair open again; where they cannot answer any more,
    or somebody else has in their place, the slot is given to others or stays as it is. `kind` is `labels` (of the round
    that counts), `verdicts` (of the one that checks), or `answers` of any, or of a `round`; `seen` is the time of one.

    Raises UnknownIdError for no such run, pair, person or round; InputError for a run and a pair, or neither;
    StageError for a run that brought no such answers, or of an older fcpair that did not note them, or whose answers
    were withdrawn already; ConflictError where somebody has no such answer.
    """
    with grid._store.write() as tx:
        if run is not None and pair is None and who is None:
            run_answers = _answers_of_run(tx, run := whole_number("run", run), kind)
            round_ = rounds.by_name(tx, str(run_answers["round"].iloc[0]))
        elif run is None and pair is not None and who is not None:
            round_ = rounds.validation(tx) if kind == "verdicts" else rounds.by_name(tx, round)
            cell_ids, person_ids = [find_cell(tx, pair)], [find_person(tx, who).id]
            columns = ("id", "assignment_id", "cell_id", "person_id", "at")
            run_answers = judgements.current_labels(tx, *columns, of=round_, cell_ids=cell_ids, person_ids=person_ids)
            if run_answers.empty or seen not in ("", run_answers["at"].iloc[0]):
                gone = mark("`%(name)s` has no such answer to pair %(number)s now; it was withdrawn or given anew")
                raise ConflictError.say(gone, name=who, number=Id(pair))
            run_answers = run_answers.assign(skipped=False, current=True)
        else:
            raise InputError.say("name a run whose answers are withdrawn, or a pair and who answered it")
        current = run_answers[run_answers["current"]]
        params = {"run": run, "pair": pair, "person": who, "note": (note := visible_text(note)) or None}
        given = {name: value for name, value in params.items() if value is not None}
        withdrawal = begin_run(tx, f"{round_.name} withdraw", given)
        take_back(tx, round_, current, withdrawal, note)
        skips = int(current["skipped"].sum())
        counts: dict[str, Any] = {"answers": len(current) - skips, "skips": skips}
        counts |= {"superseded_since": len(run_answers) - len(current), **reassignment.reassign(tx, seed=0)}
        if round_.counts and labels_of(tx):
            counts |= rule_decisions.apply_policy(tx, current["cell_id"].unique().tolist())
        return runs.end_run(tx, withdrawal, counts)


def take_back(tx: Tx, round_: Round, answers: pd.DataFrame, run_id: int, note: str) -> None:
    """Add to each of these answers (`id`, `assignment_id`, `person_id`) of a round a judgement that takes it back.

    Those who had the cells have them again, as far as they take part and their slot is still theirs; `reassign` gives
    the other slots to others.
    """
    judgements.withdraw(tx, answers["id"].tolist(), run_id, note)
    active_ids = {person.id for person in people.people(tx, round_.role, active=True)}
    # the latest first, so that a slot that was passed on and on goes back to whoever had it at first
    for assignment_id, person_id in answers[["assignment_id", "person_id"]].iloc[::-1].to_numpy().tolist():
        is_theirs = person_id in active_ids and open_slots.reclaim_skipped(tx, assignment_id)
        assignments.set_status(tx, [assignment_id], Status.OPEN if is_theirs else Status.WITHDRAWN)
    access.withdraw_opted_out(tx, sorted(active_ids))


def _answers_of_run(tx: Tx, run_id: int, kind: Kind) -> pd.DataFrame:
    run = runs.find_run(tx, run_id) if abs(run_id) <= LARGEST_ID else None
    if run is None:
        raise UnknownIdError.say("there is no run %(number)s; `fcpair log` lists the runs", number=Id(run_id))
    about = {"number": Id(run_id), "stage": run.stage}
    subject = say("run %(number)s (%(stage)s)", **about)
    if run.params.get("format") == FORMAT:
        published = mark("%(subject)s imported a published study with its decisions; `fcpair init` makes a new study")
        raise StageError.say(published, subject=subject)
    if not _can_bring_answers(run):
        raise StageError.say("%(subject)s brought no answers; `fcpair log` lists the runs", subject=subject)
    run_answers = judgements.answers_of_run(tx, run_id)
    if run_answers.empty:
        if not any(run.counts.get(name) for name in ("answers", "skips")):
            raise StageError.say("%(subject)s brought no new answers, so there are none to withdraw", subject=subject)
        raise StageError(
            f"{subject} was made by fcpair {run.version}, which did not note what each run brought; `--supersede` "
            "lets the right file replace it"
        )
    round_name, grid_id = str(run_answers["round"].iloc[0]), grids.grid_id_of(int(run_answers["cell_id"].iloc[0]))
    if grid_id != grids.current_grid_id(tx):
        other_grid = next(key.name for key in grids.keys(tx) if key.id == grid_id)
        raise StageError(f"{subject} brought answers in grid `{other_grid}`; name it (`--grid {other_grid}`)")
    by_round: dict[str, Kind] = {rounds.primary(tx).name: "labels", rounds.validation(tx).name: "verdicts"}
    answers = by_round.get(round_name, "answers")
    if kind not in ("answers", answers):
        command = "validate" if answers == "verdicts" else answers
        raise StageError(
            f"{subject} brought no {kind} but {answers}; `fcpair {command} withdraw {run_id}` takes them back"
        )
    if run_answers["withdrawn"].any():
        raise StageError.say("run %(number)s (%(stage)s) has been withdrawn already", **about)
    if not run_answers["current"].any():
        raise StageError.say(
            "every answer of run %(number)s (%(stage)s) has been superseded since, so none is left to withdraw", **about
        )
    return run_answers


LONGEST_REASON = 2_000  # characters


def dismiss(study: StudyContext, name: str, *, reason: str = "", seed: int = 0) -> RunRecord:
    """Let a person go, and set aside what they answered: in every round whose work passes on, it is assigned to others.

    To each current answer of theirs a judgement is added that withdraws it; nothing is deleted. What everybody answers,
    such as a pilot, stays, as do their decisions, and texts of theirs of which a grid was made; `fcpair pair --redo`
    makes that grid anew as long as nobody has answered in it. With a `reason`, which they read when they come back by
    their link, somebody can be dismissed who has answered nothing yet.

    Raises UnknownIdError for nobody of that name, InputError for a reason that is too long, StageError if there is
    nothing of theirs to be set aside; `retire` lets them go.
    """
    with study._store.write() as tx:
        person = find_person(tx, name)
        if len(reason := reason.strip()) > LONGEST_REASON:
            raise InputError.say(
                "the reason has %(number)s characters; expected at most %(most)s",
                number=len(reason),
                most=LONGEST_REASON,
            )
        run_id = begin_run(tx, DISMISS, {"person": name, **({"reason": reason} if reason else {}), "seed": seed})
        n_set_aside = 0
        for _ in grids.for_each_grid(tx):
            for round_ in (answered for answered in rounds.answer_rounds(tx) if answered.reassigns_skipped):
                columns = ("id", "assignment_id", "cell_id")
                answers = judgements.current_labels(tx, *columns, person_ids=[person.id], of=round_)
                judgements.withdraw(tx, answers["id"].tolist(), run_id)
                assignments.set_status(tx, answers["assignment_id"].tolist(), Status.WITHDRAWN)
                if len(answers) and round_.counts and labels_of(tx):
                    rule_decisions.apply_policy(tx, answers["cell_id"].unique().tolist())
                n_set_aside += len(answers)
        if not n_set_aside and not reason:
            raise StageError.say(
                "`%(name)s` has no answers that could go to others; `fcpair people retire %(name)s`", name=name
            )
        if not person.retired:
            people.retire(tx, person.id, keeps_link=bool(reason))
        if reason:
            access.save_farewell(tx, person.id, reason, run_id)
        n_withdrawn = assignments.withdraw_open(tx, person.id)
        counts = {"set_aside": n_set_aside, "withdrawn": n_withdrawn, **reassignment.reassign_everywhere(tx, seed)}
        counts |= known_pairs.assign_everywhere(tx)
        departures.update_people(tx, run_id)
        return runs.end_run(tx, run_id, counts)
