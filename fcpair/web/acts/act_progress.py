"""Acts of the lead's that take minutes: beginning one, how far it is, and stopping it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.lead.navigation import EVALUATION, PROGRESS, LeadPage
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.page_phrases import mark
from fcpair.web.server.long_acts import EVALUATE, GENERATE, LongActs

router = APIRouter(include_in_schema=False)
PATH = "/lead/acts"
PAGES: dict[str, LeadPage] = {EVALUATE: EVALUATION, GENERATE: PROGRESS}
"""The page that an act is begun on, and that has its result."""
TITLES = {EVALUATE: mark("Evaluating"), GENERATE: mark("Asking models")}
STOPPED = "{} has stopped it; what models have replied is kept, and nothing else was written"


def long_acts_of(request: Request) -> LongActs:
    """The one process for such acts."""
    acts: LongActs = request.app.state.long_acts
    return acts


def show_act() -> Response:
    """To the page that says how far the act is."""
    return RedirectResponse(PATH, HTTPStatus.SEE_OTHER)


@router.get(PATH)
@open_to(Role.LEAD)
def act(request: Request, part: bool = False) -> Response:
    """How far the act is, as a page or as the `part` that is read anew; leads on when it has been done."""
    context = context_of(request)
    visitor, state = context.door.require_visitor(request), long_acts_of(request).state
    page = PAGES.get(state.what, PROGRESS)
    here = context.grids.by_name(state.grid) if state.grid else context.grids.oldest
    values: dict[str, Any] = {"state": state, "title": TITLES.get(state.what, ""), "page": page}
    if not part:
        return context.page(request, visitor, "lead_act.html.j2", here, **SHOWN_BY, **values)
    if state.is_running:
        return context.page(request, visitor, "lead_act_state.html.j2", here, **SHOWN_BY, **values)
    onward = PATH if state.problem else here.address(page.path, run=state.run)
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": onward})


@router.post(f"{PATH}/stop")
@open_to(Role.LEAD)
def stop(request: Request) -> Response:
    """Stop the act, if there is one."""
    visitor = context_of(request).door.require_visitor(request)
    long_acts_of(request).end(STOPPED.format(visitor.name))
    return show_act()
