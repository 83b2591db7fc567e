"""Calibration: a first batch that everybody answers, discusses where they differ, and answers once more.

Each answer is kept in a round that does not count; what is to count is carried over when the others are assigned.
"""

from __future__ import annotations

import numpy as np

from fcpair.errors import InputError, StageError
from fcpair.params import Assign, Calibration, CalibrationCounts
from fcpair.records import Role, Round, RunRecord, Status
from fcpair.round_options import RoundOptions
from fcpair.sentences import say
from fcpair.stages.assignment.assign import shard_order
from fcpair.stages.assignment.rounds import assign_cells
from fcpair.steps.assignment.rounds import cells_to_assign, deal, n_people_to_add
from fcpair.steps.base.answer_values import add_round, form_of
from fcpair.steps.base.calibration_state import AGAIN, FIRST, STAGE, Phase, load_calibration, need_calibration
from fcpair.steps.base.context import GridContext, is_planned, note_run, note_stage_run
from fcpair.steps.base.keywords import by_recipe, own, takes_params
from fcpair.steps.people import access, eligibility
from fcpair.steps.people.people import ensure_active
from fcpair.steps.rules.tallies import round_progress
from fcpair.store import Tx, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells
from fcpair.store.oversight import settings


@takes_params
def start_calibration(
    grid: GridContext,
    options: Calibration | None = None,
    *,
    annotators: int | None = None,
    pairs: int = own(20),
    counts: CalibrationCounts = own("neither"),
    round: str = own(""),
    seed: int = own(0),
) -> RunRecord:
    """Draw a batch of pairs, and assign it to everybody who answers the round; without options, as the recipe says.

    Where nobody is there yet, `annotators` are added, or as many as the recipe has for the round.

    Raises:
        StageError: there are no pairs, they have been assigned already, or people are calibrating themselves.
        InputError: a larger batch than there are pairs, fewer than two people, or a round without closed questions.
        UnknownIdError: no such round.
    """
    options = options or by_recipe(grid, Calibration)
    n_planned = by_recipe(grid, Assign).annotators if annotators is None else annotators
    with grid._store.write() as tx:
        target = rounds.by_name(tx, options.round or None)
        _check_startable(tx, grid.grid.name, target)
        pairs_to_draw = cells_to_assign(tx, grid.grid.name, target) if is_planned(tx) else cells.cells(tx)
        if options.pairs > len(pairs_to_draw):
            raise InputError.say(
                "%(pairs)s pairs cannot be drawn; there are %(number)s; lower `pairs`",
                pairs=options.pairs,
                number=len(pairs_to_draw),
            )
        if options.pairs == len(pairs_to_draw) and options.counts != "neither":
            raise InputError.say(
                "the batch has all %(number)s pairs, so with counts = %(counts)s none would be left to assign; "
                "lower `pairs`",
                number=len(pairs_to_draw),
                counts=options.counts,
            )
        rng = np.random.default_rng([options.seed, options.pairs])
        batch = pairs_to_draw.iloc[np.sort(rng.choice(len(pairs_to_draw), options.pairs, replace=False))]
        n = n_planned if annotators is not None or not is_planned(tx) else n_people_to_add(tx, target)
        persons = ensure_active(tx, target.role, n)
        if len(persons) < 2:
            raise InputError.say(
                "there is 1 %(role)s; calibration compares people, so it needs two or more", role=say(str(target.role))
            )
        existing = rounds.calibration_rounds(tx)
        if existing and existing[0].options.calibrates != target.name:
            raise InputError.say(
                "this grid has calibration rounds for `%(name)s`; name that round", name=existing[0].options.calibrates
            )
        taken = {round_.name for round_ in rounds.of_grid(tx)} & {FIRST, AGAIN}
        if taken and not existing:
            raise InputError.say("the grid has a round `%(name)s` of its own; give it another name", name=min(taken))
        alike = ("author", "passed", "pass_at", "answers_rows", "hides")
        same = {name: getattr(target.options, name) for name in alike} | {"seed": options.seed}
        for name in () if existing else (FIRST, AGAIN):
            round_options = RoundOptions(
                answers=0, after=target.options.rests_on, calibrates=target.name, again=name == AGAIN, **same
            )
            add_round(tx, target.grid_id, name, target.role, form_of(target.form), options=round_options)
        first = rounds.calibration_rounds(tx)[0]
        cell_id, row, column = (batch[name].to_numpy(np.int64) for name in ("cell_id", "hs_id", "cn_id"))
        candidates = open_slots.candidates(tx, first.role)
        barred = eligibility.ineligibility_matrix(tx, cell_id, candidates, first, first_assignment=True)
        shards = assign_cells(row, column, barred, 0, seed=options.seed, unit="pairs")
        ids = np.array([candidate.id for candidate in candidates])
        position = shard_order(shards.annotator, row[shards.pair], options.seed, "random")
        deal(tx, first, cell_id, ids, shards, position, options.seed)
        sizes = {"pairs": len(batch), "people": len(persons), "assignments": len(shards.pair)}
        run = note_stage_run(tx, options, {"round": target.name, **sizes})
        settings.save_settings(tx, STAGE, {"phase": Phase.ANSWER.value}, run.id)
        return run


def _check_startable(tx: Tx, grid: str, target: Round) -> None:
    """Raise StageError or InputError where no calibration for this round can begin."""
    if state := load_calibration(tx):
        raise StageError(
            say("grid `%(grid)s` has been calibrated for round `%(name)s`", grid=grid, name=state.target.name)
            if state.phase is Phase.CLOSED
            else say(
                "people are calibrating themselves for round `%(name)s` of grid `%(grid)s` already",
                name=state.target.name,
                grid=grid,
            )
        )
    if target.checks is not None or target.role is Role.MODEL or target.options.per_batch:
        raise InputError.say("round `%(name)s` is not one that people can calibrate themselves for", name=target.name)
    form = form_of(target.form)
    if form.written_question or not form.parts():
        raise InputError.say(
            "round `%(name)s` asks no closed question alone, so there is no agreement to reach", name=target.name
        )
    if not cells.number_range(tx)[1]:
        raise StageError.say("grid `%(grid)s` has no pairs yet; run `fcpair pair`", grid=grid)
    if round_progress(tx, target).dealt:
        raise StageError.say(
            "round `%(name)s` has been assigned; people calibrate themselves before that", name=target.name
        )


def open_discussion(grid: GridContext, *, early: bool = False) -> RunRecord:
    """Close the first answers, show where people differ, and let those who do answer once more.

    What is open is taken back only `early`. Raises StageError if there is nothing to discuss, or somebody is to
    answer.
    """
    with grid._store.write() as tx:
        state = need_calibration(tx)
        if state.phase is not Phase.ANSWER:
            raise StageError.say("the discussion has been opened already")
        answers = judgements.current_labels(tx, "cell_id", "person_id", "answer_id", of=state.first)
        if answers.empty:
            raise StageError.say(
                "nobody has answered round `%(name)s` yet, so there is nothing to discuss", name=state.first.name
            )
        n_withdrawn = _withdraw_open(tx, state.first, early=early)
        differing = answers[answers.groupby("cell_id")["answer_id"].transform("nunique") > 1]
        active_ids = [person.id for person in people.people(tx, state.first.role, active=True)]
        rows = differing[differing["person_id"].isin(active_ids)][["cell_id", "person_id"]]
        if len(rows):
            position = rows.groupby("person_id").cumcount() + 1
            assignments.add_assignments(tx, rows.assign(position=position, status=Status.OPEN.value), state.again)
            access.withdraw_opted_out(tx, active_ids)
        counts = {
            "pairs": int(answers["cell_id"].nunique()),
            "differing": int(differing["cell_id"].nunique()),
            "assignments": len(rows),
            "withdrawn": n_withdrawn,
        }
        run = note_run(tx, "discussion", {"grid": grid.grid.name, "early": early}, counts)
        settings.save_settings(tx, STAGE, {"phase": Phase.DISCUSS.value}, run.id)
        return run


def _withdraw_open(tx: Tx, round_: Round, *, early: bool) -> int:
    """Take back what is open in a round; raises StageError where something is, unless that is wanted."""
    open_by_person = assignments.n_open_by_person(tx, round_)
    if open_by_person and not early:
        waits = [say("%(name)s %(number)s", name=name, number=n) for name, n in open_by_person]
        raise StageError.say(
            "answers in round `%(name)s` are open: %(waits)s; `--early` goes on without them",
            name=round_.name,
            waits=waits,
        )
    rows = assignments.assignments(tx, round_)
    ids = rows["id"][rows["status"] == Status.OPEN.value].tolist()
    assignments.set_status(tx, ids, Status.WITHDRAWN)
    return len(ids)


def close_calibration(grid: GridContext, *, early: bool = False) -> RunRecord:
    """End the calibration: both answers stand, and the pairs of the grid can be assigned.

    What is open is taken back only `early`. Raises StageError before its discussion, and where it is over or work is
    open.
    """
    with grid._store.write() as tx:
        state = need_calibration(tx)
        if state.phase is not Phase.DISCUSS:
            not_opened = "the discussion has not been opened; `fcpair calibrate discuss` does that"
            raise StageError(not_opened if state.phase is Phase.ANSWER else "the calibration has been closed already")
        n_withdrawn = _withdraw_open(tx, state.again, early=early)
        n_again = len(judgements.current_labels(tx, "cell_id", of=state.again))
        counts = {"second_answers": n_again, "withdrawn": n_withdrawn}
        run = note_run(tx, "close calibration", {"grid": grid.grid.name, "early": early}, counts)
        settings.save_settings(tx, STAGE, {"phase": Phase.CLOSED.value}, run.id)
        return run
