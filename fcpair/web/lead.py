"""The lead's pages: the study as it is going, pair by pair, and what the lead can do about it."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from operator import itemgetter
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from markupsafe import Markup

from fcpair.errors import InputError
from fcpair.params import Validate
from fcpair.records import Role, Visitor
from fcpair.web import lead_files, lead_guidelines, lead_people, lead_policy
from fcpair.web.context import Context
from fcpair.web.door import open_to
from fcpair.web.lead_panels import PANELS, SHOWN_BY, digest, panel, picture
from fcpair.web.lead_runs import back_to, run_numbered

NO_CONTENT = 204
NEWEST_RUNS = 15
MOST_DIGITS = 15
Text = Annotated[str, Form()]
Ticked = Annotated[bool, Form()]


def router(context: Context) -> APIRouter:
    """Every page that the lead alone sees."""
    routes = APIRouter()
    _overview(routes, context)
    _steps(routes, context)
    lead_people.add(routes, context)
    lead_guidelines.add(routes, context)
    lead_files.add(routes, context)
    return routes


def _overview(routes: APIRouter, context: Context) -> None:
    door, grid, monitor = context.door, context.grid, context.grid.monitor

    def shown(request: Request, visitor: Visitor, name: str) -> dict[str, Any]:
        values = SHOWN_BY | panel(name).values(monitor)
        html = bytes(context.page(request, visitor, f"lead_{name}.html.j2", **values).body).decode()
        return {"name": name, "title": panel(name).title, "html": Markup(html), "digest": digest(html)}

    @routes.get("/lead")
    @open_to(Role.LEAD)
    def overview(request: Request) -> Response:
        """All panels, on a page that reads them anew by itself."""
        visitor = door.enter(request)
        state = monitor.status()
        panels = [shown(request, visitor, name) for name in PANELS]
        values = {"panels": panels, "simulated": state["simulated"], "next": state["next"], "notes": state["notes"]}
        return context.page(request, visitor, "lead.html.j2", **SHOWN_BY, **values)

    @routes.get("/lead/panel/{name}")
    @open_to(Role.LEAD)
    def one_panel(request: Request, name: str, seen: str = "") -> Response:
        """One panel as it is now; nothing when it is as it was `seen`."""
        visitor = door.enter(request)
        found = shown(request, visitor, name)
        if found["digest"] == seen:
            return Response(status_code=NO_CONTENT)
        return context.page(request, visitor, "lead_panel.html.j2", one=found)

    @routes.get("/lead/coverage.png")
    @open_to(Role.LEAD)
    def coverage(request: Request, map: str = "labels", theme: str = "light") -> Response:
        """A map of the grid: `labels` or `decisions`, for a light or a dark page."""
        door.enter(request)
        return Response(picture(monitor, map, theme), media_type="image/png")

    @routes.get("/lead/pair/{cell_id}")
    @open_to(Role.LEAD)
    def pair(request: Request, cell_id: int) -> Response:
        """Why a pair is where it is."""
        visitor = door.enter(request)
        told = grid.explain(cell_id)
        # A decision that stands again has the time at which it was made.
        decided = accumulate((str(row["at"]) for row in told.decisions), max)
        timed = [*((str(row["at"]), row) for row in told.answers), *zip(decided, told.decisions, strict=True)]
        events = [row for _, row in sorted(timed, key=itemgetter(0))]
        return context.page(request, visitor, "lead_pair.html.j2", **SHOWN_BY, told=told, events=events)


def _steps(routes: APIRouter, context: Context) -> None:
    door, study, grid = context.door, context.study, context.grid
    lead_policy.add(routes, context)

    @routes.get("/lead/steps")
    @open_to(Role.LEAD)
    def steps(request: Request, run: int = 0, policy: str = "", ties: str = "") -> Response:
        """What takes the study on: the adjudication policy, and dealing pairs to validators."""
        visitor = door.enter(request)
        log = study.log()
        done = run_numbered(log, run)
        values = {
            **lead_policy.values(grid, lead_policy.chosen(policy, ties) if policy else None),
            "done": done,
            "back": lead_policy.way_back(grid, log, done),
            "state": study.status(),
            "dealing": grid.own(Validate),
            "log": log[: -NEWEST_RUNS - 1 : -1],
        }
        return context.page(request, visitor, "lead_steps.html.j2", **SHOWN_BY, **values)

    @routes.post("/lead/steps/validate")
    @open_to(Role.LEAD)
    def validate(request: Request, pairs: Text = "", blind: Ticked = False, more: Ticked = False) -> Response:
        """Deal adjudicated pairs to those who validate."""
        door.enter(request)
        options = replace(grid.own(Validate), validators=None, pairs=_number(pairs), blind=blind)
        return back_to("/lead/steps", grid.assign_validation(options, more=more))


def _number(given: str) -> int | None:
    """A number from a form; None where nothing was given."""
    if not given.strip():
        return None
    if not given.strip().isdecimal() or len(given) > MOST_DIGITS or int(given) < 1:
        raise InputError(f"`{given}` is no number of pairs; give a whole number, 1 or more, or nothing for all")
    return int(given)
