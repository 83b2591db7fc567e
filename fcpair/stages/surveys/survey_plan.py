"""The plan of a survey: a grid of statements and questions, and one in which whoever answers may suggest more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fcpair.errors import InputError
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.stages.questions import Choice, OneOf
from fcpair.stages.surveys.survey import ANSWERS

QUESTIONS = ("heard", "believed")
ASK, STATEMENT = "ask", "statement"
SUGGESTIONS = "suggestions"
SUGGEST = "Which other statements of this kind have you heard? You may leave this out."
LONGEST_SUGGESTION = 200  # words


def survey_plans(
    name: str,
    file: Path,
    questions: Sequence[str] = QUESTIONS,
    *,
    statement: str = STATEMENT,
    answers: Sequence[str] = ANSWERS,
    part: int | None = None,
    as_list: bool = False,
    suggest: str = SUGGEST,
    seed: int = 0,
) -> tuple[GridPlan, ...]:
    """The grids of a survey.

    Args:
        name: what the survey's grid is called.
        file: a table whose column `statement` has the statements; its others stay with them.
        questions: what is asked of every statement.
        statement: the column of the statements.
        answers: how yes, no and decline are called, in this order.
        part: how many people answer each statement, so that everybody has a balanced part; None: everybody answers all.
        as_list: whether a screen has a list of statements, and not one.
        suggest: what is asked at the end, to be answered freely or not at all; nothing is, if it is empty.
        seed: of the deal and the orders.

    Raises:
        InputError: not three answers, two of the same name, or what plans refuse.
    """
    if len(answers) != len(ANSWERS):
        raise InputError(f"there are {len(answers)} answers; expected three: yes, no and decline, in this order")
    yes, no, decline = answers
    form = OneOf((Choice(0, yes), Choice(1, no), Choice(2, decline, definite=False)))
    round_ = RoundPlan(
        ASK,
        f"answer: {form}",
        "respondent",
        answers=0 if part is None else part,
        screen="list" if as_list else "row",
        in_order=True,
        seed=seed,
    )
    survey = GridPlan(
        name,
        SidePlan(file=file, column=statement),
        SidePlan(names=tuple(questions)),
        (round_,),
        row_name=STATEMENT,
        column_name="question",
    )
    return (survey, _suggestions_plan(name, suggest, seed)) if suggest.strip() else (survey,)


def suggestions_grid_name(name: str) -> str:
    """The name of the grid in which those who answer a survey may suggest something."""
    return f"{name} {SUGGESTIONS}"


def _suggestions_plan(name: str, suggest: str, seed: int) -> GridPlan:
    form = f"text: text(max_words={LONGEST_SUGGESTION})"
    round_ = RoundPlan("suggest", form, "respondent", answers=0, seed=seed)
    sides = SidePlan(names=(suggest,)), SidePlan(names=("suggestion",))
    return GridPlan(suggestions_grid_name(name), *sides, (round_,), row_name="question", column_name="answer")
