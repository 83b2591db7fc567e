"""The acts that can be next in a grid: one table of what `status` prints and the lead's pages offer of each.

When each is due is in `next_steps.py`; what a recipe does of it in `recipe_runner.py`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from fcpair.records import Role
from fcpair.sentences import mark, mark_plural

_BUILDING, _ANSWERING, _DECIDING, _VALIDATING = (
    mark("Building the grid"),
    mark("Answering"),
    mark("Adjudicating"),
    mark("Validating"),
)


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
    """What is said and offered of an act.

    `main` and `planned` are printed of it in the grid of HS and CNs and in a planned one; empty where nothing is. Of a
    round of a planned grid, `planned` is used when nobody has anything open in it. A page says `text` in a `stage` of
    the study, with a `button` that leads to a `page`, or does it by a form with `fields`; `in_round` and
    `round_button` take their place where the step is about a round of a planned grid. Where nobody has the `role`, or
    the act `adds` such people, the button adds them; with `watches` it leads to how those of the role get on. An act
    without a button has a `command`.
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


def _building(act: Act) -> ActRow:
    command = f"fcpair {act}"
    return ActRow(_BUILDING, mark("The grid is not built yet."), f"run `{command}`", command=command)


_MODELS_ANSWER = mark("Models answer round “%(round)s”.")
_WITHOUT_VERDICT = ActRow(
    _VALIDATING,
    mark_plural(
        "%(n)s decided pair without a verdict that holds.", "%(n)s decided pairs without a verdict that holds."
    ),
    button=mark("Assign pairs to validators"),
    page="/lead/conflicts#dealing",
    role=Role.VALIDATOR,
)
ACTS = {
    **{act: _building(act) for act in (Act.IMPORT, Act.SELECT, Act.RETRIEVE)},
    Act.PAIR: _building(Act.PAIR)._replace(
        planned="run `fcpair pair {grid_option}`",
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
    Act.START_CALIBRATION: ActRow(
        _ANSWERING,
        mark("People calibrate themselves before pairs are assigned."),
        "people calibrate themselves first: run `fcpair calibrate start{option}`",
        button=mark("Start the calibration"),
        page="/lead/calibration",
    ),
    Act.DISCUSS: ActRow(
        _ANSWERING,
        mark("Everybody has answered the calibration."),
        "everybody has answered the calibration: run `fcpair calibrate discuss{option}`",
        button=mark("Open the discussion"),
        page="/lead/calibration",
    ),
    Act.CLOSE_CALIBRATION: ActRow(
        _ANSWERING,
        mark("Everybody has answered again."),
        "everybody has answered again: run `fcpair calibrate close{option}`",
        button=mark("Close the calibration"),
        page="/lead/calibration",
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
    Act.DECIDE: ActRow(
        _DECIDING,
        mark_plural("%(n)s pair waits for a person's decision.", "%(n)s pairs wait for a person's decision."),
        "pairs that wait for a decision: {n:,}; run `fcpair adjudicate`, or `fcpair serve`",
        "cells of grid `{grid}` that wait for a decision: {n:,}; run `fcpair adjudicate {grid_option}`",
        mark("See the conflicts"),
        "/lead/conflicts",
        role=Role.ADJUDICATOR,
    ),
    Act.APPLY_POLICY: ActRow(
        _DECIDING,
        mark_plural(
            "%(n)s pair waits for a policy that decides it.", "%(n)s pairs wait for a policy that decides them."
        ),
        "pairs that a policy can decide: {n:,}; run `fcpair adjudicate`",
        button=mark("Choose the policy"),
        page="/lead/conflicts#adjudicating",
    ),
    Act.LOOK_AGAIN: ActRow(
        _DECIDING,
        mark_plural(
            "%(n)s pair waits for a second look, because labels changed.",
            "%(n)s pairs wait for a second look, because labels changed.",
        ),
        "pairs decided before their labels changed: {n:,}; `fcpair adjudicate`, or `fcpair serve`",
        "cells of grid `{grid}` decided before their answers changed: {n:,}; run `fcpair adjudicate {grid_option}`",
        mark("See the conflicts"),
        "/lead/conflicts",
        role=Role.ADJUDICATOR,
    ),
    Act.ASSIGN_VALIDATION: _WITHOUT_VERDICT._replace(
        main="run `fcpair validate assign`", planned="run `fcpair validate assign {grid_option}`"
    ),
    Act.ASSIGN_MORE_VALIDATION: _WITHOUT_VERDICT._replace(
        main="decided pairs that no validator has: {n:,}; run `fcpair validate assign --more`",
        planned="decided cells of grid `{grid}` that no validator has: {n:,}; "
        "run `fcpair validate assign {grid_option} --more`",
    ),
    Act.VALIDATE_AGAIN: _WITHOUT_VERDICT._replace(
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
