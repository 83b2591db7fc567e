"""The lead's pages of answers and agreement: panels, answers, two people, and the calibration."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Response

from fcpair.errors import InputError
from fcpair.params import Calibration
from fcpair.sentences import mark, say
from fcpair.web.current_grid import AGREEMENT, CALIBRATION, PEOPLE
from fcpair.web.form import Ticked, fields, read_params
from fcpair.web.lead.panels import build_panel, build_panels, compared_people, if_measured
from fcpair.web.visits import LeadVisit

router = APIRouter(include_in_schema=False)
PAGE = 100  # answers on one page of them
COUNTS = {
    "neither": mark("neither answer: the pairs are assigned again"),
    "first": mark("the first answer"),
    "second": mark("the answer after the discussion"),
}


@router.get("/lead/panel/{name}")
def panel(visit: LeadVisit, name: str, seen: str = "") -> Response:
    """One panel as it is now; nothing when it is as it was `seen`."""
    facts = build_panel(visit, name)
    if facts["digest"] == seen:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return visit.page("lead_panel.html.j2", visit.here, panel=facts)


@router.get("/lead/answers")
def answers(visit: LeadVisit, round: str | None = None, after: int = 0) -> Response:
    """Show the answers in a round as people read them, some at a time."""
    from fcpair.files.tables.tabular import plain_rows

    table = visit.here.grid.answers(round)
    names, begin = table.columns.tolist(), min(max(after, 0), len(table))
    return visit.page(
        "lead_answers.html.j2",
        visit.here,
        round=round,
        questions=names[names.index("skipped") + 1 : names.index("seconds")],
        answers=list(plain_rows(table[begin : begin + PAGE])),
        n=len(table),
        begin=begin,
        size=PAGE,
    )


@router.get(AGREEMENT.path)
def agreement(visit: LeadVisit, by: str = "") -> Response:
    """Show how far people agree; with `by`, such as `row topic`, on each value of this metadata as well."""
    here, monitor = visit.here, visit.here.monitor
    values: dict[str, Any] = {"compared": (), "by_choices": {}, "blocks": ()}
    if AGREEMENT.fits(here):
        columns = monitor.metadata_columns()
        # An axis and a column of its metadata in one value of the form.
        choices = {f"{axis} {name}": (axis, name) for axis, names in columns.items() for name in names}
        if by and by not in choices:
            names = list(choices) or say("none")
            raise InputError.say("there is no metadata `%(name)s` to compare; expected %(codes)s", name=by, codes=names)
        blocks = monitor.blocks(*choices[by]) if by and monitor.agreement() else ()
        values = {"compared": compared_people(here), "by_choices": choices, "by": by, "blocks": blocks}
    values |= {"simulated": monitor.simulated_note(), "blocks_noted": here.grid.desk.block_notes}
    panels = build_panels(visit, AGREEMENT)
    return visit.lead_page("lead_agreement_page.html.j2", AGREEMENT, panels=panels, **values)


@router.get("/lead/people/beside")
def two_people(visit: LeadVisit, person: str = "", other: str = "") -> Response:
    """Show two people side by side, and let others be chosen."""
    here = visit.here
    compared = sorted({*compared_people(here), *filter(None, (person, other))})
    values = {"compared_labels": here.grid.compare_people(person, other), "simulated": here.monitor.simulated_note()}
    return visit.page("lead_beside.html.j2", here, page=PEOPLE, compared=compared, chosen=(person, other), **values)


@router.get(CALIBRATION.path)
def calibration(visit: LeadVisit, run: int = 0) -> Response:
    """Show how far the calibration is, and what can be done now."""
    grid = visit.here.grid
    result = if_measured(grid.calibration.measure)
    return visit.lead_page(
        "lead_calibration_page.html.j2",
        CALIBRATION,
        run,
        panels=build_panels(visit, CALIBRATION) if result else [],
        simulated=grid.calibration.simulated_note,
        result=result,
        n_open=sum(person.again_open or person.open for person in result.people) if result else 0,
        options=grid.recipe_options(Calibration),
        counts=COUNTS,
    )


@router.post(f"{CALIBRATION.path}/start")
def start(visit: LeadVisit) -> Response:
    """Draw the batch, and assign it to everybody."""
    grid, typed = visit.here.grid, fields(visit.request)
    return visit.act(
        lambda: grid.calibration.start(read_params(grid.recipe_options(Calibration), typed)),
        CALIBRATION.path,
        calibration,
    )


@router.post(f"{CALIBRATION.path}/discuss")
def discuss(visit: LeadVisit, early: Ticked = False) -> Response:
    """Open the discussion."""
    return visit.act(partial(visit.here.grid.calibration.open_discussion, early=early), CALIBRATION.path, calibration)


@router.post(f"{CALIBRATION.path}/close")
def close(visit: LeadVisit, early: Ticked = False) -> Response:
    """Close the calibration."""
    return visit.act(partial(visit.here.grid.calibration.close, early=early), CALIBRATION.path, calibration)
