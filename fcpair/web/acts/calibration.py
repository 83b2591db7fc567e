"""The calibration on the lead's pages: how far it is, beginning it, opening the discussion, and closing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, cast, get_args

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import ConflictError, FcpairError, InputError, StageError
from fcpair.grid import Grid
from fcpair.params import Calibration, CalibrationCounts
from fcpair.records import Role, RunRecord, Visitor
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.errors import status_of
from fcpair.web.form import parse_number
from fcpair.web.lead.navigation import CALIBRATION
from fcpair.web.lead.panels import SHOWN_BY, build_panels
from fcpair.web.lead.runs import find_run, redirect_to
from fcpair.web.page_phrases import mark

router = APIRouter(include_in_schema=False)
PATH = CALIBRATION.path
NOT_DONE = (ConflictError, StageError, InputError)
COUNTS = {
    "neither": mark("neither answer: the pairs are assigned again"),
    "first": mark("the first answer"),
    "second": mark("the answer after the discussion"),
}
Text = Annotated[str, Form()]
Ticked = Annotated[bool, Form()]


@router.get(PATH)
@open_to(Role.LEAD)
def calibration(request: Request, run: int = 0) -> Response:
    """Show how far the calibration is, and what can be done now."""
    return _show(request, context_of(request).door.require_visitor(request), run=run)


@router.post(f"{PATH}/start")
@open_to(Role.LEAD)
def start(request: Request, pairs: Text = "", counts: Text = "") -> Response:
    """Draw the batch, and assign it to everybody."""

    def begin(grid: Grid) -> RunRecord:
        number = parse_number(pairs)
        if number is None or counts not in get_args(CalibrationCounts):
            raise InputError(f"`{pairs}` is not a number of pairs; enter a whole number, 1 or more")
        options = grid.recipe_options(Calibration, pairs=number, counts=cast(CalibrationCounts, counts))
        return grid.start_calibration(options)

    return _act(request, begin)


@router.post(f"{PATH}/discuss")
@open_to(Role.LEAD)
def discuss(request: Request, early: Ticked = False) -> Response:
    """Open the discussion."""
    return _act(request, lambda grid: grid.open_discussion(early=early))


@router.post(f"{PATH}/close")
@open_to(Role.LEAD)
def close(request: Request, early: Ticked = False) -> Response:
    """Close the calibration."""
    return _act(request, lambda grid: grid.close_calibration(early=early))


def _act(request: Request, act: Callable[[Grid], RunRecord]) -> Response:
    """Do an act, and show what it did, or why it could not be done."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    try:
        with context.study.acting_as(visitor.name):
            run = act(here.grid)
    except NOT_DONE as error:
        return _show(request, visitor, refusal=error)
    return redirect_to(here, PATH, run)


def _show(request: Request, visitor: Visitor, *, refusal: FcpairError | None = None, run: int = 0) -> Response:
    context = context_of(request)
    here = context.grids.from_request(request)
    try:
        result = here.grid.measure_calibration()
    except StageError:
        result = None
    values = {
        "page": CALIBRATION,
        "panels": build_panels(request, visitor, here, CALIBRATION) if result else [],
        "simulated": here.grid.calibration_note,
        "grids": context.grids.overview() if here.name else [],
        "result": result,
        "n_open": sum(one.again_open if one.again_open else one.open for one in result.people) if result else 0,
        "options": here.grid.recipe_options(Calibration),
        "counts": COUNTS,
        "problem": str(refusal) if refusal else "",
        "done": find_run(context.study.log(), run),
    }
    page = context.page(request, visitor, "lead_calibration_page.html.j2", here, **SHOWN_BY, **values)
    if refusal:
        page.status_code = status_of(refusal)
    return page
