"""The last step of starting a study: the recipe, building it with progress, and the links of those who take part."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import FcpairError, InputError
from fcpair.records import Role, Visitor, invite_link
from fcpair.start_draft import BegunDraft
from fcpair.web.acts.invitations import draw_codes
from fcpair.web.auth import open_to
from fcpair.web.context import START, Context, context_of
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.page_phrases import mark
from fcpair.web.server.child_process import ProcessState
from fcpair.web.server.study_builder import StudyBuilder
from fcpair.web.start.draft_pages import NOT_SAVED, StepVisit, go_to, start_of

router = APIRouter(include_in_schema=False)
LINKS = f"{START}/links"
INTERRUPTED = "the study was not built to the end, and nothing of it was kept; press the button again"
BUILD_STAGES = {
    "init": mark("Names and labels"),
    "import": mark("Texts"),
    "select": mark("Selecting"),
    "retrieve": mark("Candidates"),
    "pair": mark("Pairs"),
    "assign": mark("Assigning"),
}
Text = Annotated[str, Form()]


def _builder_of(request: Request) -> StudyBuilder:
    builder: StudyBuilder = request.app.state.builder
    return builder


@router.get(f"{START}/begin")
@open_to(Role.LEAD)
def begin(request: Request) -> Response:
    """Show the recipe, and the button that has it carried out; or how far that is."""
    visit, state = StepVisit.of(request, BegunDraft.step), _builder_of(request).state
    if not state.is_running and (elsewhere := visit.detour()):
        return elsewhere
    error = None
    if not state.is_running and visit.draft.start is not None:
        error = InputError(state.problem or INTERRUPTED)
    return _show(visit, state, error)


def _show(visit: StepVisit, state: ProcessState, error: FcpairError | None = None) -> Response:
    return visit.show(error, recipe=visit.start.recipe_text(visit.draft), state=state, stages=BUILD_STAGES)


@router.post(f"{START}/begin")
@open_to(Role.LEAD)
def build(request: Request) -> Response:
    """Have the study built; only one lead does, as the other's page is out of date then."""
    visit, builder = StepVisit.of(request, BegunDraft.step), _builder_of(request)
    if not builder.state.is_running and (elsewhere := visit.detour()):
        return elsewhere
    try:
        if not builder.state.is_running:
            visit.save(BegunDraft(visit.visitor.name))
            builder.begin()
    except NOT_SAVED as error:
        return _show(visit.renewed(), builder.state, error)
    return go_to(f"{START}/begin")


@router.get(f"{START}/progress")
@open_to(Role.LEAD)
def progress(request: Request) -> Response:
    """How far the building is, as a part of its page; leads on when that has ended, well or not."""
    context = context_of(request)
    visitor, state = context.door.require_visitor(request), _builder_of(request).state
    if state.is_running:
        values = {"state": state, "stages": BUILD_STAGES}
        return context.page(request, visitor, "lead_start_progress.html.j2", None, **SHOWN_BY, **values)
    onward = f"{START}/begin" if start_of(request).is_open else LINKS
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": onward})


@router.get(LINKS)
@open_to(Role.LEAD)
def invitations(request: Request) -> Response:
    """Offer a link for everybody who has none yet."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if start_of(request).is_open:
        return go_to(START)
    return _show_links(request, context, visitor, {})


@router.post(LINKS)
@open_to(Role.LEAD)
def invite(request: Request) -> Response:
    """Make the links, and show them this once."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if not _uninvited(context):
        return _show_links(request, context, visitor, {})
    tokens = context.study.access.invite_all()
    return _show_links(
        request, context, visitor, {name: invite_link(context.url, token) for name, token in tokens.items()}
    )


def _uninvited(context: Context) -> list[str]:
    invited = context.study.access.invited()
    return [one.name for one in context.study.people if not one.retired and one.name not in invited]


def _show_links(request: Request, context: Context, visitor: Visitor, links: dict[str, str]) -> Response:
    from fcpair.files.tables.tabular import format_csv

    roles = {one.name: one.role.value for one in context.study.people}
    values: dict[str, Any] = {"links": links, "uninvited": _uninvited(context), "roles": roles}
    values["codes"] = draw_codes(links)
    values["table"] = f"data:text/csv;charset=utf-8,{quote(format_csv([('name', 'link'), *links.items()]))}"
    return context.page(request, visitor, "lead_start_links.html.j2", None, **SHOWN_BY, **values)
