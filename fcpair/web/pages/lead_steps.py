"""What takes a study on, as the lead does it: filling a grid, dealing its rounds, deciding, dealing to validators."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import InputError
from fcpair.params import Validate
from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import Context
from fcpair.web.current_grid import Here
from fcpair.web.pages import lead_policy
from fcpair.web.pages.lead_panels import SHOWN_BY, titled
from fcpair.web.pages.lead_runs import back_to, run_numbered

NEWEST_RUNS = 15
MOST_DIGITS = 15
Text = Annotated[str, Form()]
Ticked = Annotated[bool, Form()]


def add(routes: APIRouter, context: Context) -> None:
    """Add the page of next steps, and the acts on it."""
    door, study, grids = context.door, context.study, context.grids
    lead_policy.add(routes, context)

    @routes.get("/lead/steps")
    @open_to(Role.LEAD)
    def steps(request: Request, run: int = 0, policy: str = "", ties: str = "", before: str = "") -> Response:
        """What takes the study on: filling and dealing, the adjudication policy, and dealing pairs to validators."""
        visitor, here = door.enter(request), grids.at(request)
        log, there = study.log(), grids.overview()
        done = run_numbered(log, run)
        values = {
            **lead_policy.values(here.grid, lead_policy.chosen(policy, ties) if policy else None),
            **_dealing(here, next(of for one, of in there if one.grid is here.grid)),
            "grids": there if here.name else [],
            "done": done,
            "back": lead_policy.way_back(here.grid, log, done, before),
            "state": study.status(),
            "log": log[: -NEWEST_RUNS - 1 : -1],
        }
        return context.page(request, visitor, "lead_steps.html.j2", here, **SHOWN_BY, **values)

    @routes.post("/lead/steps/pair")
    @open_to(Role.LEAD)
    def pair(request: Request) -> Response:
        """Fill the sides of a planned grid, and make its cells."""
        door.enter(request)
        here = grids.at(request)
        return back_to(here, "/lead/steps", here.grid.pair())

    @routes.post("/lead/steps/assign")
    @open_to(Role.LEAD)
    def assign(request: Request, round: Text = "") -> Response:
        """Deal a round of a planned grid to those who answer it."""
        door.enter(request)
        here = grids.at(request)
        return back_to(here, "/lead/steps", here.grid.assign_round(round))

    @routes.post("/lead/steps/validate")
    @open_to(Role.LEAD)
    def validate(request: Request, pairs: Text = "", blind: Ticked = False, more: Ticked = False) -> Response:
        """Deal adjudicated pairs to those who validate."""
        door.enter(request)
        here = grids.at(request)
        people = here.grid.by_recipe(Validate, more=more).validators
        options = replace(here.grid.own(Validate), validators=people, pairs=_number(pairs), blind=blind)
        return back_to(here, "/lead/steps", here.grid.assign_validation(options, more=more))


def _dealing(here: Here, there: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of a grid's rounds: those that are dealt by themselves, and the one that checks, if any."""
    checks = [one for one in there["rounds"] if one["role"] == Role.VALIDATOR]
    return {
        "n_cells": there["cells"],
        "rounds": [(titled(one["name"], one["role"]), one) for one in there["rounds"] if one not in checks],
        "with_examples": here.grid.rounds_with_examples(),
        "dealt": checks[0] if checks else None,
        "not_due": here.grid.verdicts_not_due,
        "dealing": here.grid.own(Validate),
    }


def _number(given: str) -> int | None:
    """A number from a form; None where nothing was given."""
    if not given.strip():
        return None
    if not given.strip().isdecimal() or len(given) > MOST_DIGITS or int(given) < 1:
        raise InputError(f"`{given}` is no number of pairs; give a whole number, 1 or more, or nothing for all")
    return int(given)
