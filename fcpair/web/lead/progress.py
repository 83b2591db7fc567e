"""The lead's first page: how far the study is, what is next, and the rounds that wait to be filled and assigned."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.errors import ConflictError
from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.languages import Language
from fcpair.web.lead.navigation import CONFLICTS, PROGRESS
from fcpair.web.lead.panels import SHOWN_BY, build_panels, stage_title
from fcpair.web.lead.runs import find_run, redirect_to

router = APIRouter(include_in_schema=False)
NEWEST_RUNS = 15
Text = Annotated[str, Form()]


@router.get(PROGRESS.path)
@open_to(Role.LEAD)
def progress(request: Request, run: int = 0) -> Response:
    """The study as it is going; its panels are read anew by themselves."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    if context.study.start.is_open:
        return RedirectResponse("/lead/start", HTTPStatus.SEE_OTHER)
    log, overviews, notes = context.study.log(), context.grids.overview(), context.grids.oldest.monitor.notes()
    values = {
        **_round_facts(context.language(visitor), here, here.find_overview(overviews)),
        "page": PROGRESS,
        "panels": build_panels(request, visitor, here, PROGRESS),
        "grids": overviews if here.name else [],
        "done": find_run(log, run),
        "log": log[: -NEWEST_RUNS - 1 : -1],
        "simulated": notes.simulated,
        "notes": notes.notes,
    }
    return context.page(request, visitor, "lead_overview.html.j2", here, **SHOWN_BY, **values)


@router.get("/lead/steps")
@open_to(Role.LEAD)
def next_steps(request: Request) -> Response:
    """Lead from the address of the page of earlier versions to where its steps are now."""
    context = context_of(request)
    context.door.require_visitor(request)
    here = context.grids.from_request(request)
    page = CONFLICTS if CONFLICTS.fits(here) else PROGRESS
    return RedirectResponse(here.address(page.path), HTTPStatus.SEE_OTHER)


@router.post("/lead/rounds/pair")
@open_to(Role.LEAD)
def pair(request: Request) -> Response:
    """Fill the sides of a planned grid, and make its cells."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    with context.study.acting_as(visitor.name):
        return redirect_to(here, PROGRESS.path, here.grid.pair())


@router.post("/lead/rounds/assign")
@open_to(Role.LEAD)
def assign(request: Request, round: Text = "") -> Response:
    """Deal the pairs to annotators, or a round of a planned grid to those who answer it."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    rounds = here.find_overview(context.grids.overview())["rounds"]
    if any(one["dealt"] for one in rounds if one["name"] == round):
        raise ConflictError("this was assigned after the page was loaded, so nothing was done; load Progress again")
    with context.study.acting_as(visitor.name):
        run = here.grid.assign_round(round) if here.is_planned else here.grid.assign()
    return redirect_to(here, PROGRESS.path, run)


def _round_facts(language: Language, here: CurrentGrid, overview: dict[str, Any]) -> dict[str, Any]:
    """Facts for the page about the rounds of a planned grid that are assigned by themselves."""
    rounds = [one for one in overview["rounds"] if one["role"] != Role.VALIDATOR] if here.is_planned else []
    return {
        "n_cells": overview["cells"],
        "rounds": [(stage_title(language, one["name"], one["role"]), one) for one in rounds],
        "with_examples": here.grid.rounds_with_examples() if here.is_planned else [],
    }
