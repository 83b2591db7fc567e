"""The calibration on the lead's pages: how far it is, beginning it, opening the discussion, and closing it."""

from __future__ import annotations

from fastapi import APIRouter, Response

from fcpair.errors import StageError
from fcpair.params import Calibration
from fcpair.records import RunRecord
from fcpair.sentences import mark
from fcpair.web.form import Ticked, fields
from fcpair.web.lead.navigation import CALIBRATION
from fcpair.web.lead.panels import build_panels
from fcpair.web.param_fields import read_params
from fcpair.web.visits import LeadVisit, Visit

router = APIRouter(include_in_schema=False)
PATH = CALIBRATION.path
COUNTS = {
    "neither": mark("neither answer: the pairs are assigned again"),
    "first": mark("the first answer"),
    "second": mark("the answer after the discussion"),
}


@router.get(PATH)
def calibration(visit: LeadVisit, run: int = 0) -> Response:
    """Show how far the calibration is, and what can be done now."""
    return _show(visit, run)


@router.post(f"{PATH}/start")
def start(visit: LeadVisit) -> Response:
    """Draw the batch, and assign it to everybody."""

    def begin() -> RunRecord:
        grid = visit.here.grid
        return grid.calibration.start(read_params(grid.recipe_options(Calibration), fields(visit.request)))

    return visit.act(begin, PATH, _show)


@router.post(f"{PATH}/discuss")
def discuss(visit: LeadVisit, early: Ticked = False) -> Response:
    """Open the discussion."""
    return visit.act(lambda: visit.here.grid.calibration.open_discussion(early=early), PATH, _show)


@router.post(f"{PATH}/close")
def close(visit: LeadVisit, early: Ticked = False) -> Response:
    """Close the calibration."""
    return visit.act(lambda: visit.here.grid.calibration.close(early=early), PATH, _show)


def _show(visit: Visit, run: int = 0) -> Response:
    here = visit.here
    try:
        result = here.grid.calibration.measure()
    except StageError:
        result = None
    values = {
        "page": CALIBRATION,
        "panels": build_panels(visit, CALIBRATION) if result else [],
        "simulated": here.grid.calibration.simulated_note,
        "grids": visit.grid_links(),
        "result": result,
        "n_open": sum(one.again_open if one.again_open else one.open for one in result.people) if result else 0,
        "options": here.grid.recipe_options(Calibration),
        "counts": COUNTS,
    }
    return visit.page("lead_calibration_page.html.j2", here, run, **values)
