"""Steps by which the lead takes a study on: filling a grid, assigning its rounds, deciding, assigning to validators."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import InputError
from fcpair.params import Validate
from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.form import MOST_DIGITS, parse_number
from fcpair.web.pages import lead_policy
from fcpair.web.pages.lead_panels import SHOWN_BY, stage_title
from fcpair.web.pages.lead_runs import find_run, redirect_to

router = APIRouter(include_in_schema=False)
NEWEST_RUNS = 15
Text = Annotated[str, Form()]
Ticked = Annotated[bool, Form()]


@router.get("/lead/steps")
@open_to(Role.LEAD)
def steps(request: Request, run: int = 0, policy: str = "", ties: str = "", before: str = "") -> Response:
    """Show the steps that take the study on: filling, assigning, the adjudication policy, assigning to validators."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    log, overviews = context.study.log(), context.grids.overview()
    done = find_run(log, run)
    values = {
        **lead_policy.policy_values(here.grid, lead_policy.parse_policy(policy, ties) if policy else None),
        **_round_facts(here, next(of for one, of in overviews if one.grid is here.grid)),
        "grids": overviews if here.name else [],
        "done": done,
        "back": lead_policy.previous_policy(here.grid, log, done, before),
        "state": context.study.status(),
        "log": log[: -NEWEST_RUNS - 1 : -1],
    }
    return context.page(request, visitor, "lead_steps.html.j2", here, **SHOWN_BY, **values)


@router.post("/lead/steps/pair")
@open_to(Role.LEAD)
def pair(request: Request) -> Response:
    """Fill the sides of a planned grid, and make its cells."""
    context = context_of(request)
    context.door.require_visitor(request)
    here = context.grids.from_request(request)
    return redirect_to(here, "/lead/steps", here.grid.pair())


@router.post("/lead/steps/assign")
@open_to(Role.LEAD)
def assign(request: Request, round: Text = "") -> Response:
    """Deal a round of a planned grid to those who answer it."""
    context = context_of(request)
    context.door.require_visitor(request)
    here = context.grids.from_request(request)
    return redirect_to(here, "/lead/steps", here.grid.assign_round(round))


@router.post("/lead/steps/validate")
@open_to(Role.LEAD)
def validate(request: Request, pairs: Text = "", blind: Ticked = False, more: Ticked = False) -> Response:
    """Deal adjudicated pairs to those who validate."""
    context = context_of(request)
    context.door.require_visitor(request)
    here = context.grids.from_request(request)
    people = here.grid.recipe_options(Validate, more=more).validators
    options = replace(
        here.grid.effective_options(Validate), validators=people, pairs=_parse_n_pairs(pairs), blind=blind
    )
    return redirect_to(here, "/lead/steps", here.grid.assign_validation(options, more=more))


def _round_facts(here: CurrentGrid, overview: dict[str, Any]) -> dict[str, Any]:
    """Facts for the page about a grid's rounds: those assigned by themselves, and the one that checks, if any."""
    checks = [one for one in overview["rounds"] if one["role"] == Role.VALIDATOR]
    return {
        "n_cells": overview["cells"],
        "rounds": [(stage_title(one["name"], one["role"]), one) for one in overview["rounds"] if one not in checks],
        "with_examples": here.grid.rounds_with_examples(),
        "dealt": checks[0] if checks else None,
        "not_due": here.grid.verdicts_not_due,
        "dealing": here.grid.effective_options(Validate),
    }


def _parse_n_pairs(text: str) -> int | None:
    """Parse the number of pairs that a form asks for; None where nothing was given."""
    if not text.strip():
        return None
    number = parse_number(text.strip())
    if not number or len(text) > MOST_DIGITS:
        raise InputError(f"`{text}` is not a number of pairs; enter a whole number, 1 or more, or nothing for all")
    return number
