"""The lead's first page: how far the study is, what is next, and the rounds that wait to be filled and assigned."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from fcpair.errors import ConflictError
from fcpair.records import Role
from fcpair.sentences import say
from fcpair.web.context import START
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.form import Text
from fcpair.web.languages import Language
from fcpair.web.lead.navigation import CONFLICTS, PROGRESS
from fcpair.web.lead.panels import build_panels, stage_title
from fcpair.web.visits import LeadVisit, go_to

router = APIRouter(include_in_schema=False)
NEWEST_RUNS = 15


@router.get(PROGRESS.path)
def progress(visit: LeadVisit, run: int = 0) -> Response:
    """The study as it is going; its panels are read anew by themselves."""
    here = visit.here
    if visit.study.start.is_open:
        return go_to(START)
    log, overviews, notes = (
        visit.study.log(),
        visit.context.grids.overview(),
        visit.context.grids.oldest.monitor.notes(),
    )
    values = {
        **_round_facts(visit.language, here, here.find_overview(overviews)),
        "page": PROGRESS,
        "panels": build_panels(visit, PROGRESS),
        "grids": overviews if here.name else [],
        "log": log[: -NEWEST_RUNS - 1 : -1],
        "simulated": notes.simulated,
        "notes": notes.notes,
    }
    return visit.page("lead_overview.html.j2", here, run, **values)


@router.get("/lead/steps")
def next_steps(visit: LeadVisit) -> Response:
    """Lead from the address of the page of earlier versions to where its steps are now."""
    here = visit.here
    page = CONFLICTS if CONFLICTS.fits(here) else PROGRESS
    return go_to(here.address(page.path))


@router.post("/lead/rounds/pair")
def pair(visit: LeadVisit) -> Response:
    """Fill the sides of a planned grid, and make its cells."""
    return visit.act(visit.here.grid.pair, PROGRESS.path)


@router.post("/lead/rounds/assign")
def assign(visit: LeadVisit, round: Text = "") -> Response:
    """Deal the pairs to annotators, or a round of a planned grid to those who answer it."""
    here = visit.here
    rounds = here.find_overview(visit.context.grids.overview())["rounds"]
    if any(one["dealt"] for one in rounds if one["name"] == round):
        raise ConflictError(
            say("this was assigned after the page was loaded, so nothing was done; load Progress again")
        )
    return visit.act(lambda: here.grid.assign_round(round) if here.is_planned else here.grid.assign(), PROGRESS.path)


def _round_facts(language: Language, here: CurrentGrid, overview: dict[str, Any]) -> dict[str, Any]:
    """Facts for the page about the rounds of a planned grid that are assigned by themselves."""
    rounds = [one for one in overview["rounds"] if one["role"] != Role.VALIDATOR] if here.is_planned else []
    return {
        "n_cells": overview["cells"],
        "rounds": [(stage_title(language, one["name"], one["role"]), one) for one in rounds],
        "with_examples": here.grid.desk.rounds_with_examples() if here.is_planned else [],
    }
