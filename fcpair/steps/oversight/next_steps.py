"""The next steps in a grid, `main` or planned: when each act is due, and what is printed and offered of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from shlex import quote
from typing import Any, NamedTuple

from fcpair.params import Adjudicate, Calibration
from fcpair.records import Known, Role, Round
from fcpair.sentences import mark, mark_plural
from fcpair.steps.base.calibration_state import Phase, load_calibration
from fcpair.steps.base.context import PLAN, effective_options, has_saved_options, is_planned
from fcpair.steps.rules import rule_decisions, tallies
from fcpair.steps.rules.tallies import PairCounts, RoundProgress, Tally, round_progress, tally, wait_for_grids
from fcpair.store import Tx, disputes
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells
from fcpair.store.oversight import settings
from fcpair.store.oversight.build_progress import BUILDING, n_built

_BUILDING, _ANSWERING = mark("Building the grid"), mark("Answering")
_DECIDING, _VALIDATING = mark("Adjudicating"), mark("Validating")


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


class ActRow(NamedTuple):
    """An act as it is described and offered.

    `main` and `planned` (there only if nobody has anything open) are printed of it, if not empty. A page says `text` in
    a `stage`, with a `button` that leads to a `page`, or a form with `fields`; `in_round` and `round_button` take their
    place in a round of a planned grid. Where nobody has the `role`, or the act `adds` such people, the button adds
    them; with `watches` it leads to how they get on. An act without a button has a `command`.
    """

    stage: str
    text: str | tuple[str, str]
    main: str = ""
    planned: str = ""
    button: str = ""
    page: str = ""
    in_round: str | tuple[str, str] = ""
    round_button: str = ""
    fields: tuple[str, ...] | None = None
    role: Role | None = None
    adds: bool = False
    watches: bool = False
    command: str = ""


_NOT_BUILT = mark("The grid is not built yet.")
_MODELS_ANSWER = mark("Models answer round “%(round)s”.")
_CALIBRATION = ActRow(_ANSWERING, "", page="/lead/calibration")
_CONFLICTS = ActRow(_DECIDING, "", button=mark("See the conflicts"), page="/lead/conflicts", role=Role.ADJUDICATOR)
_WITHOUT_VERDICT = ActRow(
    _VALIDATING,
    mark_plural("%(n)s decided pair has no verdict yet.", "%(n)s decided pairs have no verdict yet."),
    button=mark("Assign pairs to validators"),
    page="/lead/conflicts/validation",
    role=Role.VALIDATOR,
)
ACTS = {
    **{
        act: ActRow(_BUILDING, _NOT_BUILT, f"run `fcpair {act}`", command=f"fcpair {act}")
        for act in (Act.IMPORT, Act.SELECT, Act.RETRIEVE)
    },
    Act.PAIR: ActRow(
        _BUILDING,
        _NOT_BUILT,
        "run `fcpair pair`",
        "run `fcpair pair {grid_option}`",
        command="fcpair pair",
        in_round=mark("The grid has no cells yet."),
        round_button=mark("Fill the grid"),
        page="/lead/rounds/pair",
        fields=(),
    ),
    Act.ASSIGN: ActRow(
        _BUILDING,
        mark("The pairs are not assigned yet."),
        "run `fcpair assign`",
        "run `fcpair assign {options}`",
        mark("Assign the pairs to annotators"),
        "/lead/rounds/assign",
        in_round=mark("Round “%(round)s” is not assigned yet."),
        round_button=mark("Assign round “%(round)s”"),
        fields=("round",),
        role=Role.ANNOTATOR,
    ),
    Act.START_CALIBRATION: _CALIBRATION._replace(
        text=mark("People calibrate themselves before pairs are assigned."),
        main="people calibrate themselves first: run `fcpair calibrate start{option}`",
        button=mark("Start the calibration"),
    ),
    Act.DISCUSS: _CALIBRATION._replace(
        text=mark("Everybody has answered the calibration."),
        main="everybody has answered the calibration: run `fcpair calibrate discuss{option}`",
        button=mark("Open the discussion"),
    ),
    Act.CLOSE_CALIBRATION: _CALIBRATION._replace(
        text=mark("Everybody has answered again."),
        main="everybody has answered again: run `fcpair calibrate close{option}`",
        button=mark("Close the calibration"),
    ),
    Act.WAIT: ActRow(
        _ANSWERING,
        mark("This grid waits for another round or grid to be done."),
        in_round=mark("Round “%(round)s” waits for another round or grid to be done."),
    ),
    Act.FIND_EXAMPLES: ActRow(_ANSWERING, _MODELS_ANSWER, command="fcpair examples find --grid {grid} --round {round}"),
    Act.REVIEW_EXAMPLES: ActRow(
        _ANSWERING,
        mark("Models are to be shown examples in round “%(round)s”, which somebody has to review."),
        button=mark("Review the examples"),
        page="/lead/examples",
    ),
    Act.ASK_MODELS: ActRow(
        _ANSWERING,
        _MODELS_ANSWER,
        planned="run `fcpair generate {options}`",
        button=mark("See what asking them takes"),
        page="/lead/generate?{query}",
    ),
    Act.ANSWER: ActRow(
        _ANSWERING,
        mark_plural("%(n)s answer is open.", "%(n)s answers are open."),
        "open labels: {n:,}; {where}",
        "open answers in {subject}: {n:,} ({names}); `fcpair serve`",
        in_round=mark_plural(
            "%(n)s answer is open in round “%(round)s”.", "%(n)s answers are open in round “%(round)s”."
        ),
        watches=True,
    ),
    Act.ADD_PEOPLE: ActRow(
        _ANSWERING,
        mark_plural("%(n)s answer with nobody left to give it.", "%(n)s answers with nobody left to give them."),
        "labels that nobody is left to give: {n:,}; `fcpair people add NAME`",
        "answers in {subject} that nobody is left to give: {n:,}; `fcpair {add_command}`",
        in_round=mark_plural(
            "%(n)s answer with nobody left to give it in round “%(round)s”.",
            "%(n)s answers with nobody left to give them in round “%(round)s”.",
        ),
        role=Role.ANNOTATOR,
        adds=True,
    ),
    Act.DECIDE: _CONFLICTS._replace(
        text=mark_plural("%(n)s pair waits for a person's decision.", "%(n)s pairs wait for a person's decision."),
        main="pairs that wait for a decision: {n:,}; run `fcpair adjudicate`, or `fcpair serve`",
        planned="cells of grid `{grid}` that wait for a decision: {n:,}; run `fcpair adjudicate {grid_option}`",
    ),
    Act.APPLY_POLICY: ActRow(
        _DECIDING,
        mark_plural(
            "%(n)s labelled pair is not final, because no policy is applied yet.",
            "%(n)s labelled pairs are not final, because no policy is applied yet.",
        ),
        "pairs that a policy can decide: {n:,}; run `fcpair adjudicate`",
        button=mark("Choose the policy"),
        page="/lead/conflicts/policy",
    ),
    Act.LOOK_AGAIN: _CONFLICTS._replace(
        text=mark_plural(
            "%(n)s pair waits for a second look, because labels changed.",
            "%(n)s pairs wait for a second look, because labels changed.",
        ),
        main="pairs decided before their labels changed: {n:,}; `fcpair adjudicate`, or `fcpair serve`",
        planned="cells of grid `{grid}` decided before their answers changed: {n:,}; run `fcpair adjudicate "
        "{grid_option}`",
    ),
    Act.ASSIGN_VALIDATION: _WITHOUT_VERDICT._replace(
        main="run `fcpair validate assign`", planned="run `fcpair validate assign {grid_option}`"
    ),
    Act.ASSIGN_MORE_VALIDATION: _WITHOUT_VERDICT._replace(
        text=mark_plural(
            "%(n)s decided pair has no verdict and no validator.",
            "%(n)s decided pairs have no verdict and no validator.",
        ),
        main="decided pairs that no validator has: {n:,}; run `fcpair validate assign --more`",
        planned="decided cells of grid `{grid}` that no validator has: {n:,}; "
        "run `fcpair validate assign {grid_option} --more`",
    ),
    Act.VALIDATE_AGAIN: _WITHOUT_VERDICT._replace(
        text=mark_plural(
            "The label of %(n)s pair has changed since its verdict.",
            "The labels of %(n)s pairs have changed since their verdicts.",
        ),
        main="pairs whose label has changed since its verdict: {again}",
        planned="cells of grid `{grid}` whose label has changed since its verdict: {again}",
    ),
    Act.ADD_VALIDATORS: ActRow(
        _VALIDATING,
        mark_plural("%(n)s verdict with nobody left to give it.", "%(n)s verdicts with nobody left to give them."),
        "verdicts that nobody is left to give: {n:,}; `fcpair people add NAME --role validator`",
        "verdicts in grid `{grid}` that nobody is left to give: {n:,}; `fcpair people add NAME --role validator`",
        role=Role.VALIDATOR,
        adds=True,
    ),
    Act.VALIDATE: ActRow(
        _VALIDATING,
        mark_plural("%(n)s verdict is open.", "%(n)s verdicts are open."),
        "open verdicts: {n:,}; `fcpair serve`, or `fcpair validate sheets DIR` and `fcpair validate import FILE`",
        "open verdicts in grid `{grid}`: {n:,}; `fcpair serve`",
        role=Role.VALIDATOR,
        watches=True,
    ),
}
CALIBRATING = (Act.START_CALIBRATION, Act.DISCUSS, Act.CLOSE_CALIBRATION)


class NextStep(NamedTuple):
    """An act that is next in a grid, on `n` cells or answers where these are counted, in the round of `progress`.

    With `n` 0 only a recipe completes the stage; where it `blocks`, a recipe waits, but for a spot check of its round.
    """

    act: Act
    n: int = 1
    progress: RoundProgress | None = None
    blocks: bool = True
    checks: str = ""

    @property
    def row(self) -> ActRow:
        """The act as it is described and offered."""
        return ACTS[self.act]

    @property
    def round(self) -> str:
        """The name of the round that it is about; empty where it is about none."""
        return self.progress.round.name if self.progress else ""

    @property
    def role(self) -> Role | None:
        """The role in which that round is answered."""
        return self.progress.round.role if self.progress else None


class OpenWork(NamedTuple):
    """Progress of each round of a grid, by name, in their order; and what decisions and verdicts leave to be done."""

    rounds: dict[str, RoundProgress]
    tally: Tally  # of nothing where nothing is decided
    n_second_look: int  # pairs that were decided before their labels changed
    n_not_due: int  # open verdicts that wait for labels
    n_without_validator: int  # pairs that were decided too late for validators

    @property
    def primary(self) -> RoundProgress:
        """The round whose answers count."""
        return next(round_ for round_ in self.rounds.values() if round_.round.counts)

    @property
    def validation(self) -> RoundProgress | None:
        """The round in which decisions are validated; None where none is."""
        return next((round_ for round_ in self.rounds.values() if round_.round.checks is not None), None)


TallyOf = Callable[[Tx], Tally]


def has_decisions(tx: Tx) -> bool:
    """Return whether the pairs of the grid are decided: those of a planned one are once a policy is set."""
    return not is_planned(tx) or has_saved_options(tx, Adjudicate)


def load_open_work(tx: Tx, counts: assignments.Counts | None = None, tally_of: TallyOf = tally) -> OpenWork:
    """Load what is open in the grid of the transaction, by the `counts` of its assignments where they are known."""
    progress = {round_.name: round_progress(tx, round_, counts) for round_ in rounds.of_grid(tx)}
    n_not_due = disputes.n_verdicts_not_due(tx)
    if not has_decisions(tx):
        return OpenWork(progress, Tally(PairCounts(*[0] * 7), by_rule={}, n_lost=0), 0, n_not_due, 0)
    n_second_look = len(rule_decisions.stale_decisions(tx)) if judgements.is_answered(tx) else 0
    return OpenWork(progress, tally_of(tx), n_second_look, n_not_due, tallies.n_without_validator(tx))


def next_steps(tx: Tx, work: OpenWork | None = None, tally_of: TallyOf = tally) -> list[NextStep]:
    """All that can be done now in the grid of the transaction, what comes first before the rest."""
    if not cells.number_range(tx)[1]:
        if plan := settings.of_stage(tx, PLAN):
            compared = (plan["columns"].get("compare") or {}).get("grid", "")
            has_to_wait = any(wait_for_grids(tx, of) for of in (compared, *(side["answers"] for side in plan.values())))
            return [NextStep(Act.WAIT if has_to_wait else Act.PAIR)]
        counts = n_built(tx)
        return [NextStep(Act(next(stage for stage in BUILDING if not counts[stage])))]
    work = work or load_open_work(tx, tally_of=tally_of)
    if calibration_steps := list(_calibration_steps(tx, work)):
        return calibration_steps
    round_steps = [
        step
        for progress in work.rounds.values()
        if progress.round.checks is None and not progress.round.options.calibrates
        for step in _round_steps(tx, progress, work)
    ]
    # What a policy can decide when all answers are in, what is left to people, and what can be validated.
    pairs, n_lost, verdicts = work.tally.pairs, work.tally.n_lost, work.validation
    steps = [
        (not work.primary.counts["open"], NextStep(Act.APPLY_POLICY, pairs.wait_for_policy, blocks=False)),
        (pairs.wait_for_person, NextStep(Act.DECIDE, pairs.wait_for_person)),
        (work.n_second_look, NextStep(Act.LOOK_AGAIN, work.n_second_look)),
    ]
    if verdicts is not None:
        n_without, n_vacant, n_open = work.n_without_validator, verdicts.counts["vacant"], verdicts.counts["open"]
        is_first = not verdicts.dealt and work.primary.done  # pairs are first assigned when all answers are in
        steps += [
            (is_first, NextStep(Act.ASSIGN_VALIDATION, pairs.no_verdict, blocks=False)),
            (n_without, NextStep(Act.ASSIGN_MORE_VALIDATION, n_without, blocks=False)),
            (n_lost, NextStep(Act.VALIDATE_AGAIN, n_lost, blocks=False)),
            (n_vacant, NextStep(Act.ADD_VALIDATORS, n_vacant, blocks=False)),
            (n_open > work.n_not_due, NextStep(Act.VALIDATE, n_open)),
        ]
    return [*round_steps, *(step for is_due, step in steps if is_due)]


def _calibration_steps(tx: Tx, work: OpenWork) -> Iterator[NextStep]:
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
    round_, counts = progress.round, progress.counts
    checks = round_.options.rests_on if round_.options.per_batch else ""
    if not progress.dealt and _waits_for_round(tx, round_, work):
        yield NextStep(Act.WAIT, progress=progress)
    elif round_.role is Role.MODEL:
        from fcpair.steps.answers import examples

        if progress.done:
            return
        if round_.options.examples and not examples.examples_of_round(tx, round_):
            act = Act.WAIT if wait_for_grids(tx, round_.options.examples) else Act.FIND_EXAMPLES
        else:
            act = Act.REVIEW_EXAMPLES if examples.blocking_message(tx, round_) else Act.ASK_MODELS
        yield NextStep(act, progress=progress)
    else:
        if checks:
            from fcpair.steps.assignment.rounds import is_due  # which loads numpy: no other status need wait for it

        if is_due(tx, round_) if checks else not progress.dealt:
            yield NextStep(Act.ASSIGN, progress=progress, blocks=not progress.dealt, checks=checks)
        elif not progress.dealt:
            yield NextStep(Act.WAIT, progress=progress)
        if counts["open"]:
            yield NextStep(Act.ANSWER, counts["open"], progress)
        if counts["vacant"]:
            yield NextStep(Act.ADD_PEOPLE, counts["vacant"], progress, blocks=False)


def _waits_for_round(tx: Tx, round_: Round, work: OpenWork) -> bool:
    """Return whether a round waits for the one on which it rests, or its pilot; spot checks rest on batches alone."""
    earlier = None if round_.options.per_batch else work.rounds.get(round_.options.rests_on)
    return bool(earlier and not earlier.done) or wait_for_grids(tx, round_.options.passed)


MAX_NAMED = 8  # of those who have something open


def commands(tx: Tx, grid: str = "", work: OpenWork | None = None) -> Iterator[str]:
    """All that can be done now in the grid of HS and CNs, or in a planned one, what comes first before the rest."""
    grid_option = f"--grid {quote(grid)}" if grid else ""
    for step in next_steps(tx, work):
        if step.n and (sentence := _word_step(tx, step, grid, grid_option)):
            yield sentence


def _word_step(tx: Tx, step: NextStep, grid: str, grid_option: str) -> str | None:
    """The sentence of a step, None where nothing is printed: of open answers in a planned round, only who has them."""
    values: dict[str, Any] = {"n": step.n, "grid": grid, "grid_option": grid_option}
    values["option"] = f" {grid_option}" if grid else ""
    if step.act is Act.VALIDATE_AGAIN:
        from fcpair.steps.assignment import validate  # which loads numpy: no other status need wait for it

        _, ready = validate.pairs_with_lost_verdicts(tx)
        if not ready:
            return None
        values["again"] = validate.more_validation_hint(tx, len(ready), grid_option)
    round_ = step.progress.round if step.progress else None
    if step.act is Act.ANSWER and round_ and (grid or round_.options.calibrates):
        n_open_by_name = [f"{name} {n:,}" for name, n in assignments.n_open_by_person(tx, round_)]
        more = f" and {len(n_open_by_name) - MAX_NAMED:,} more people" if len(n_open_by_name) > MAX_NAMED else ""
        values["names"] = f"{', '.join(n_open_by_name[:MAX_NAMED])}{more}"
        if round_.options.calibrates:
            return (
                f"open answers in round `{round_.name}`: {step.n:,} ({values['names']}); `fcpair serve`, or "
                f"`fcpair answers sheets DIR{values['option']} --round {quote(round_.name)}`"
            )
    if not grid or step.act in CALIBRATING:
        values["where"] = ""
        if step.act is Act.ANSWER:  # sheets are of what people have
            qualify = rounds.of_known_pairs(tx, use=Known.QUALIFICATION)
            first = ", where people qualify first (`fcpair people qualified` lists them)" if qualify else ""
            values["where"] = f"`fcpair serve`{first}, or `fcpair labels sheets DIR` and `fcpair labels import FILE`"
            if step.progress and (n_free := step.progress.counts.get("free")):
                values["where"] = f"{n_free:,} of them are free for anybody in the browser: `fcpair serve`"
        return ACTS[step.act].main.format(**values)
    template = ACTS[step.act].planned
    if step.progress and round_:
        needs_people = step.act is Act.ASSIGN and not open_slots.candidates(tx, round_.role)
        if (step.progress.counts["open"] and step.act is not Act.ANSWER) or (needs_people and step.checks):
            return None
        if step.act in (Act.FIND_EXAMPLES, Act.REVIEW_EXAMPLES):
            from fcpair.steps.answers import examples

            return examples.blocking_message(tx, round_, grid_option)
        if needs_people:
            template = "{subject} waits for people: `fcpair {add_command}`, then `fcpair assign {options}`"
        values["subject"] = f"round `{round_.name}` of grid `{grid}`"
        values["options"] = f"{grid_option} --round {quote(round_.name)}"
        values["add_command"] = f"people add NAME --role {round_.role}"
    return template.format(**values)
