"""Starting a survey from an uploaded table: its statements, its size, and how its grids are founded."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.errors import InputError
from fcpair.plans import GridPlan
from fcpair.stages.surveys.survey import ANSWERS
from fcpair.stages.surveys.survey_plan import STATEMENT, SUGGEST, survey_plans
from fcpair.start_draft import StatementsDraft, SurveyDraft, SurveyFigures, TablePreview
from fcpair.steps.base.context import find_grid
from fcpair.steps.base.text_digests import folded_digest
from fcpair.steps.corpus.grids import add, fill_current_grid, read_side_file
from fcpair.store import Tx
from fcpair.store.corpus import grids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fcpair.records import RunRecord

SURVEY = "survey"
QUESTIONS = ("Have you heard this said?", "Do you believe it?")
N_SHOWN = 20
HOUR_S = 3600


def choose_statements(header: Sequence[str], chosen: StatementsDraft | None) -> StatementsDraft:
    """The column that was chosen before, if the table has it; else `statement`, or else the first."""
    if chosen and chosen.statement in header:
        return chosen
    return StatementsDraft(STATEMENT if STATEMENT in header else header[0], chosen.title if chosen else "")


def preview_statements(path: Path, name: str, columns: StatementsDraft) -> TablePreview:
    """The statements as people will see them, or why they cannot be read, with the name that the file came with."""
    try:
        rows = read_side_file(path, columns.statement, None, folded_digest)
    except InputError as error:
        return TablePreview(problem=str(error).replace(str(path), name))
    shown = tuple((text,) for _, text, _, _ in rows[:N_SHOWN])
    return TablePreview(len(rows), len(rows), pairs=shown, metadata=tuple(rows[0][3]))


def default_survey() -> SurveyDraft:
    """A survey to begin with: PBBQ's, everybody being asked of every statement."""
    return SurveyDraft(QUESTIONS, ANSWERS, suggest=SUGGEST)


def survey_figures(path: Path, name: str, columns: StatementsDraft, plan: SurveyDraft) -> SurveyFigures:
    """The size of a survey; raises InputError for one that cannot be carried out."""
    survey_grids(path, columns, plan)
    if plan.part is not None and plan.part > plan.respondents:
        raise InputError(
            f"{plan.part} people are to answer each statement, but there are {plan.respondents} respondents; raise "
            "their number, or lower the other"
        )
    n_statements = preview_statements(path, name, columns).n_hs
    n_questions = n_statements * len(plan.questions)
    n_answers = n_questions * (plan.respondents if plan.part is None else plan.part)
    each = ceil(n_answers / plan.respondents)
    return SurveyFigures(n_statements, n_questions, n_answers, each, each * plan.seconds / HOUR_S)


def survey_grids(path: Path, columns: StatementsDraft, plan: SurveyDraft) -> tuple[GridPlan, ...]:
    """The grids of the survey, as `fcpair ask import` plans them; raises InputError for what these refuse."""
    if not plan.questions:
        raise InputError("the survey asks nothing; write at least one question, each on a line of its own")
    if empty := [what for what, name in zip(ANSWERS, plan.answers, strict=True) if not name]:
        raise InputError(f"the answer for “{empty[0]}” has no name; give it one")
    if repeated := [name for name in plan.answers if plan.answers.count(name) > 1]:
        raise InputError(f"two answers are called `{repeated[0]}`; give each a name of its own")
    return survey_plans(
        SURVEY,
        path,
        plan.questions,
        statement=columns.statement,
        answers=plan.answers,
        part=plan.part,
        as_list=plan.as_list,
        suggest=plan.suggest,
        seed=plan.seed,
    )


def found_survey(tx: Tx, plans: Sequence[GridPlan]) -> list[RunRecord]:
    """Let the empty first grid of a study be that of a survey, add its others, and make the cells of all."""
    runs = []
    for plan in plans:
        runs.append(add(tx, plan, in_place_of_current=plan is plans[0]))
        with grids.on_grid(tx, find_grid(tx, plan.name).id):
            runs.append(fill_current_grid(tx, plan.name, plan))
    return runs
