"""Starting a survey in the browser: which column has the statements, and what is asked of each of them, and whom."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from fcpair.errors import FcpairError, InputError
from fcpair.records import Role
from fcpair.start_draft import PeopleDraft, StatementsDraft, StudyKind, SurveyDraft, TableDraft
from fcpair.web.auth import open_to
from fcpair.web.context import START
from fcpair.web.form import field
from fcpair.web.page_phrases import mark
from fcpair.web.start.draft_pages import NOT_SAVED, StepVisit, due_step
from fcpair.web.start.form_numbers import number_of

router = APIRouter(include_in_schema=False)
SURVEY: StudyKind = "survey"
ANSWERS = ("yes", "no", "decline")  # the fields of their names


@router.get(f"{START}/statements")
@open_to(Role.LEAD)
@due_step(StatementsDraft.step, SURVEY)
def statements(visit: StepVisit) -> Response:
    """Show which column has the statements, and the first of them as people will see them."""
    try:
        chosen = visit.start.guess_statements(visit.draft)
    except InputError as error:  # the file was changed or deleted
        return visit.at(TableDraft.step).show(error)
    return _show_statements(visit, chosen)


def _show_statements(visit: StepVisit, chosen: StatementsDraft, error: FcpairError | None = None) -> Response:
    preview = visit.start.preview(visit.draft, chosen)
    shown = error or (InputError(preview.problem) if preview.problem else None)
    return visit.show(shown, chosen=chosen, preview=preview, header=visit.start.header(visit.draft))


@router.post(f"{START}/statements")
@open_to(Role.LEAD)
@due_step(StatementsDraft.step, SURVEY)
def save_statements(visit: StepVisit) -> Response:
    """Show the statements of the column that was chosen, or keep it."""
    request = visit.request
    chosen = visit.start.guess_statements(visit.draft)
    try:
        chosen = StatementsDraft(field(request, "statement") or chosen.statement, field(request, "title").strip())
        if field(request, "act") == "save":
            visit.save(chosen)
            return visit.go_to(SurveyDraft.step)
    except NOT_SAVED as error:
        return _show_statements(visit.renewed(), chosen, error)
    return _show_statements(visit, chosen)


@router.get(f"{START}/survey")
@open_to(Role.LEAD)
@due_step(SurveyDraft.step, SURVEY)
def survey(visit: StepVisit) -> Response:
    """Show what the survey asks, and what it amounts to."""
    return _show_survey(visit, _chosen(visit))


def _chosen(visit: StepVisit) -> SurveyDraft:
    return visit.draft.plan if isinstance(visit.draft.plan, SurveyDraft) else visit.start.default_survey()


def _show_survey(visit: StepVisit, chosen: SurveyDraft, error: FcpairError | None = None) -> Response:
    figures = None if error else _figures_or_problem(visit, chosen)
    return visit.show(error, chosen=chosen, meanings=ANSWERS, figures=figures)


def _figures_or_problem(visit: StepVisit, chosen: SurveyDraft) -> Any:
    """What a survey amounts to, or a sentence that says why it cannot be carried out."""
    try:
        return visit.start.survey_figures(visit.draft, chosen)
    except InputError as error:
        return str(error)


@router.post(f"{START}/survey-figures")
@open_to(Role.LEAD)
def survey_figures(request: Request) -> Response:
    """What the survey in the form amounts to, as a part of its page."""
    visit = StepVisit.of(request, SurveyDraft.step)
    try:
        shown = _figures_or_problem(visit, _parse_survey(request))
    except NOT_SAVED as error:
        shown = str(error)
    return visit.show_part("lead_start_survey_figures.html.j2", figures=shown)


@router.post(f"{START}/survey")
@open_to(Role.LEAD)
@due_step(SurveyDraft.step, SURVEY)
def save_survey(visit: StepVisit) -> Response:
    """Keep what the survey asks."""
    chosen = _chosen(visit)
    try:
        chosen = _parse_survey(visit.request)
        visit.save(chosen)
    except NOT_SAVED as error:
        return _show_survey(visit.renewed(), chosen, error)
    return visit.go_to(PeopleDraft.step)


def _parse_survey(request: Request) -> SurveyDraft:
    """The survey of a form; raises InputError for what is no number."""
    lines = (line.strip() for line in field(request, "questions").splitlines())
    is_part = bool(field(request, "part").strip())
    return SurveyDraft(
        tuple(filter(None, lines)),
        tuple(field(request, name).strip() for name in ANSWERS),
        part=number_of(request, "part", mark("People for each statement")) if is_part else None,
        as_list=bool(field(request, "as_list")),
        suggest=field(request, "suggest").strip(),
        respondents=number_of(request, "respondents", mark("Respondents")),
        seed=number_of(request, "seed", mark("Seed of every draw")),
        seconds=number_of(request, "seconds", mark("Seconds for an answer")),
    )
