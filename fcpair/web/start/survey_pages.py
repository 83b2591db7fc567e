"""Starting a survey in the browser: which column has the statements, and what is asked of each of them, and whom."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from fcpair.errors import FcpairError, InputError
from fcpair.records import Role, Visitor
from fcpair.start_draft import Draft, PeopleDraft, StatementsDraft, StudyKind, SurveyDraft
from fcpair.study import StudyStart
from fcpair.web.auth import open_to
from fcpair.web.context import START, context_of
from fcpair.web.form import field
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.start.draft_pages import (
    NOT_SAVED,
    detour,
    go_to,
    number_of,
    save_parts,
    show_step,
    start_of,
    step_of,
)

router = APIRouter(include_in_schema=False)
SURVEY: StudyKind = "survey"
ANSWERS = ("yes", "no", "decline")  # the fields of their names


@router.get(f"{START}/statements")
@open_to(Role.LEAD)
def statements(request: Request) -> Response:
    """Show which column has the statements, and the first of them as people will see them."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    if elsewhere := detour(begun, draft, StatementsDraft.step, SURVEY):
        return elsewhere
    try:
        chosen = begun.guess_statements(draft)
    except InputError as error:  # the file was changed or deleted
        return show_step(request, visitor, "table", draft, error)
    return _show_statements(request, visitor, draft, chosen)


def _show_statements(
    request: Request, visitor: Visitor, draft: Draft, chosen: StatementsDraft, error: FcpairError | None = None
) -> Response:
    begun = start_of(request)
    preview = begun.preview(draft, chosen)
    shown = error or (InputError(preview.problem) if preview.problem else None)
    values = {"chosen": chosen, "preview": preview, "header": begun.header(draft)}
    return show_step(request, visitor, StatementsDraft.step, draft, shown, **values)


@router.post(f"{START}/statements")
@open_to(Role.LEAD)
def save_statements(request: Request) -> Response:
    """Show the statements of the column that was chosen, or keep it."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    if elsewhere := detour(begun, draft, StatementsDraft.step, SURVEY):
        return elsewhere
    chosen = begun.guess_statements(draft)
    try:
        chosen = StatementsDraft(field(request, "statement") or chosen.statement, field(request, "title").strip())
        if field(request, "act") == "save":
            save_parts(request, visitor, chosen)
            return go_to(step_of(draft, SurveyDraft.step).address)
    except NOT_SAVED as error:
        return _show_statements(request, visitor, begun.draft(), chosen, error)
    return _show_statements(request, visitor, draft, chosen)


@router.get(f"{START}/survey")
@open_to(Role.LEAD)
def survey(request: Request) -> Response:
    """Show what the survey asks, and what it amounts to."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    if elsewhere := detour(begun, draft, SurveyDraft.step, SURVEY):
        return elsewhere
    return _show_survey(request, visitor, draft, _chosen(begun, draft))


def _chosen(begun: StudyStart, draft: Draft) -> SurveyDraft:
    return draft.plan if isinstance(draft.plan, SurveyDraft) else begun.default_survey()


def _show_survey(
    request: Request, visitor: Visitor, draft: Draft, chosen: SurveyDraft, error: FcpairError | None = None
) -> Response:
    figures = None if error else _figures_or_problem(request, draft, chosen)
    values = {"chosen": chosen, "meanings": ANSWERS, "figures": figures}
    return show_step(request, visitor, SurveyDraft.step, draft, error, **values)


def _figures_or_problem(request: Request, draft: Draft, chosen: SurveyDraft) -> Any:
    """What a survey amounts to, or a sentence that says why it cannot be carried out."""
    try:
        return start_of(request).survey_figures(draft, chosen)
    except InputError as error:
        return str(error)


@router.post(f"{START}/survey-figures")
@open_to(Role.LEAD)
def survey_figures(request: Request) -> Response:
    """What the survey in the form amounts to, as a part of its page."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    draft = start_of(request).draft()
    try:
        shown = _figures_or_problem(request, draft, _parse_survey(request))
    except NOT_SAVED as error:
        shown = str(error)
    return context.page(request, visitor, "lead_start_survey_figures.html.j2", None, **SHOWN_BY, figures=shown)


@router.post(f"{START}/survey")
@open_to(Role.LEAD)
def save_survey(request: Request) -> Response:
    """Keep what the survey asks."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    draft = begun.draft()
    if elsewhere := detour(begun, draft, SurveyDraft.step, SURVEY):
        return elsewhere
    chosen = _chosen(begun, draft)
    try:
        chosen = _parse_survey(request)
        save_parts(request, visitor, chosen)
    except NOT_SAVED as error:
        return _show_survey(request, visitor, begun.draft(), chosen, error)
    return go_to(step_of(draft, PeopleDraft.step).address)


def _parse_survey(request: Request) -> SurveyDraft:
    """The survey of a form; raises InputError for what is no number."""
    lines = (line.strip() for line in field(request, "questions").splitlines())
    is_part = bool(field(request, "part").strip())
    return SurveyDraft(
        tuple(filter(None, lines)),
        tuple(field(request, name).strip() for name in ANSWERS),
        part=number_of(request, "part", "the number of people for a statement") if is_part else None,
        as_list=bool(field(request, "as_list")),
        suggest=field(request, "suggest").strip(),
        respondents=number_of(request, "respondents", "the number of respondents"),
        seed=number_of(request, "seed", "the seed"),
        seconds=number_of(request, "seconds", "the seconds for an answer"),
    )
