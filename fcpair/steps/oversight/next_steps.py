"""The next steps in a grid, `main` or planned: one set of rules for what `status` says and what a recipe runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from fcpair.params import Adjudicate, Calibration
from fcpair.records import Role, Round
from fcpair.steps.base.calibration_state import Phase, load_calibration
from fcpair.steps.base.context import PLAN, effective_options, has_saved_options, is_planned
from fcpair.steps.rules import pair_counts, rule_decisions
from fcpair.steps.rules.pair_counts import PairCounts, Tally, tally
from fcpair.steps.rules.round_progress import RoundProgress, round_progress, wait_for_grids
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.store.oversight import settings
from fcpair.store.oversight.build_progress import BUILDING, n_built


class Act(StrEnum):
    """Kind of a next step; those that build a grid are called as their stages are (`BUILDING`)."""

    IMPORT = "import"
    SELECT = "select"
    RETRIEVE = "retrieve"
    PAIR = "pair"
    ASSIGN = "assign"
    START_CALIBRATION = "start calibration"
    DISCUSS = "discuss"  # where everybody has answered the first batch
    CLOSE_CALIBRATION = "close calibration"
    WAIT = "wait"  # for another round, or another grid
    FIND_EXAMPLES = "find examples"
    REVIEW_EXAMPLES = "review examples"
    ASK_MODELS = "ask models"
    ANSWER = "answer"
    ADD_PEOPLE = "add people"  # where nobody is left to answer
    DECIDE = "decide"
    APPLY_POLICY = "apply policy"
    LOOK_AGAIN = "look again"
    ASSIGN_VALIDATION = "assign validation"
    ASSIGN_MORE_VALIDATION = "assign more validation"  # pairs decided after the others were assigned
    VALIDATE_AGAIN = "validate again"
    ADD_VALIDATORS = "add validators"
    VALIDATE = "validate"


class NextStep(NamedTuple):
    """An act that is next in a grid, on `n` cells or answers where these are counted, in the round of `progress`.

    With `n` 0 there is nothing for people to do, but a recipe completes the stage. Where it `blocks`, a recipe does
    nothing that comes after it before it is done, except a spot check of its round: an `ASSIGN` that `checks` that one.
    """

    act: Act
    n: int = 1
    progress: RoundProgress | None = None
    blocks: bool = True
    checks: str = ""


class OpenWork(NamedTuple):
    """Progress of each round of a grid, by name, in their order; and what its decisions and verdicts leave to be done.

    `tally` counts nothing where nothing is decided. `n_second_look` pairs were decided before their labels changed,
    `n_not_due` open verdicts wait for labels, and `n_without_validator` pairs were decided too late for validators.
    """

    rounds: dict[str, RoundProgress]
    tally: Tally
    n_second_look: int
    n_not_due: int
    n_without_validator: int

    @property
    def primary(self) -> RoundProgress:
        """The round whose answers count."""
        return next(one for one in self.rounds.values() if one.round.counts)

    @property
    def validation(self) -> RoundProgress | None:
        """The round in which decisions are validated; None where none is."""
        return next((one for one in self.rounds.values() if one.round.checks is not None), None)


TallyOf = Callable[[Tx], Tally]
_NO_DECISIONS = Tally(PairCounts(*[0] * 7), by_rule={}, n_lost=0)


def load_open_work(
    tx: Tx, counts: list[assignments.AssignmentCount] | None = None, tally_of: TallyOf = tally
) -> OpenWork:
    """Load what is open in the grid of the transaction; `counts` are those of its assignments, where they are known,
    and its pairs are counted by `tally_of`.
    """
    progress = {round_.name: round_progress(tx, round_, counts) for round_ in rounds.of_grid(tx)}
    has_decisions = not is_planned(tx) or has_saved_options(tx, Adjudicate)
    n_second_look = len(rule_decisions.stale_decisions(tx)) if has_decisions and judgements.is_answered(tx) else 0
    counted = tally_of(tx) if has_decisions else _NO_DECISIONS
    n_without_validator = pair_counts.n_without_validator(tx) if has_decisions else 0
    return OpenWork(progress, counted, n_second_look, disputes.n_verdicts_not_due(tx), n_without_validator)


def next_steps(tx: Tx, work: OpenWork | None = None, tally_of: TallyOf = tally) -> list[NextStep]:
    """All that can be done now in the grid of the transaction, what comes first before the rest.

    Where its open `work` is not known yet, its pairs are counted by `tally_of`.
    """
    if not cells.number_range(tx)[1]:
        return [NextStep(_building_act(tx))]
    work = work or load_open_work(tx, tally_of=tally_of)
    if calibration_steps := list(_calibration_steps(tx, work)):
        return calibration_steps
    answer_rounds = (
        progress
        for progress in work.rounds.values()
        if progress.round.checks is None and not progress.round.options.calibrates
    )
    round_steps = (step for progress in answer_rounds for step in _round_steps(tx, progress, work))
    return [*round_steps, *_decision_steps(work), *_validation_steps(work)]


def _building_act(tx: Tx) -> Act:
    """Act that makes the cells of a grid: its next stage, or to fill its planned sides, which may have to wait."""
    if plan := settings.of_stage(tx, PLAN):
        return Act.WAIT if any(wait_for_grids(tx, side["answers"]) for side in plan.values()) else Act.PAIR
    counts = n_built(tx)
    return Act(next(stage for stage in BUILDING if not counts[stage]))


def _calibration_steps(tx: Tx, work: OpenWork) -> Iterator[NextStep]:
    """Yield the step of a calibration that is under way, or that the recipe has and its round waits for."""
    if state := load_calibration(tx):
        if state.answered is None:
            return
        progress = work.rounds[state.answered.name]
        if n_open := progress.counts["open"]:
            yield NextStep(Act.ANSWER, n_open, progress)
        else:
            yield NextStep(Act.DISCUSS if state.phase is Phase.ANSWER else Act.CLOSE_CALIBRATION, progress=progress)
    elif settings.with_recipe(tx, Calibration.stage):
        name = effective_options(tx, Calibration, {}).round
        progress = work.rounds[name] if name else work.primary
        if not progress.dealt and not _waits_for_round(tx, progress.round, work):
            yield NextStep(Act.START_CALIBRATION, progress=progress)


def _round_steps(tx: Tx, progress: RoundProgress, work: OpenWork) -> Iterator[NextStep]:
    """Yield the steps in a round: to assign it, or to have people or models answer."""
    round_, counts = progress.round, progress.counts
    checks = round_.options.rests_on if round_.options.per_batch else ""
    if not progress.dealt and _waits_for_round(tx, round_, work):
        yield NextStep(Act.WAIT, progress=progress)
    elif round_.role is Role.MODEL:
        if not progress.done:
            yield NextStep(_model_act(tx, round_), progress=progress)
    else:
        if _has_batch_to_check(tx, round_) if checks else not progress.dealt:
            yield NextStep(Act.ASSIGN, progress=progress, blocks=not progress.dealt, checks=checks)
        elif not progress.dealt:
            yield NextStep(Act.WAIT, progress=progress)
        if counts["open"]:
            yield NextStep(Act.ANSWER, counts["open"], progress)
        if counts["vacant"]:
            yield NextStep(Act.ADD_PEOPLE, counts["vacant"], progress, blocks=False)


def _has_batch_to_check(tx: Tx, round_: Round) -> bool:
    """Whether a batch is done that a spot check has not been drawn from."""
    from fcpair.steps.assignment import spot_checks  # which loads numpy: no status of other rounds need wait for it

    return spot_checks.is_due(tx, round_)


def _waits_for_round(tx: Tx, round_: Round, work: OpenWork) -> bool:
    """Whether a round waits for the one on which it rests, or for its pilot; spot checks rest on batches alone."""
    earlier = None if round_.options.per_batch else work.rounds.get(round_.options.rests_on)
    return bool(earlier and not earlier.done) or wait_for_grids(tx, round_.options.passed)


def _model_act(tx: Tx, round_: Round) -> Act:
    """Act that is next in a round that models answer: to find its examples, to review them, then to ask the models."""
    from fcpair.steps.rules import example_review

    if round_.options.examples and not example_review.examples_of_round(tx, round_):
        return Act.WAIT if wait_for_grids(tx, round_.options.examples) else Act.FIND_EXAMPLES
    return Act.REVIEW_EXAMPLES if example_review.blocking_message(tx, round_) else Act.ASK_MODELS


def _decision_steps(work: OpenWork) -> Iterator[NextStep]:
    """Yield what people can decide, and what a policy can when all answers are in."""
    if n := work.tally.pairs.wait_for_person:
        yield NextStep(Act.DECIDE, n)
    if not work.primary.counts["open"]:
        yield NextStep(Act.APPLY_POLICY, work.tally.pairs.wait_for_policy, blocks=False)
    if work.n_second_look:
        yield NextStep(Act.LOOK_AGAIN, work.n_second_look)


def _validation_steps(work: OpenWork) -> Iterator[NextStep]:
    """Yield what can be validated; pairs are first assigned when all answers are in."""
    verdicts = work.validation
    if verdicts is None:
        return
    if not verdicts.dealt and work.primary.done:
        yield NextStep(Act.ASSIGN_VALIDATION, work.tally.pairs.no_verdict, blocks=False)
    if work.n_without_validator:
        yield NextStep(Act.ASSIGN_MORE_VALIDATION, work.n_without_validator, blocks=False)
    if work.tally.n_lost:
        yield NextStep(Act.VALIDATE_AGAIN, work.tally.n_lost, blocks=False)
    if n := verdicts.counts["vacant"]:
        yield NextStep(Act.ADD_VALIDATORS, n, blocks=False)
    if (n := verdicts.counts["open"]) > work.n_not_due:
        yield NextStep(Act.VALIDATE, n)
