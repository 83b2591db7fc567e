"""The lead's page of conflicts: what the adjudication policy decides, and who checks what was decided."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import InputError
from fcpair.params import Validate
from fcpair.records import Role
from fcpair.web.acts.policy import parse_policy, policy_values, previous_policy
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.form import MOST_DIGITS, parse_number
from fcpair.web.lead.navigation import CONFLICTS
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.lead.runs import find_run, redirect_to

router = APIRouter(include_in_schema=False)
Text = Annotated[str, Form()]
Ticked = Annotated[bool, Form()]


@router.get(CONFLICTS.path)
@open_to(Role.LEAD)
def conflicts(request: Request, run: int = 0, policy: str = "", ties: str = "", before: str = "") -> Response:
    """Show the adjudication policy, with what it would do, and the assigning of pairs to validators."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    log, overviews, notes = context.study.log(), context.grids.overview(), context.grids.oldest.monitor.notes()
    done = find_run(log, run)
    values = {
        **policy_values(here.grid, parse_policy(policy, ties) if policy else None),
        **_validation_facts(here, here.find_overview(overviews)),
        "page": CONFLICTS,
        "grids": overviews if here.name else [],
        "done": done,
        "back": previous_policy(here.grid, log, done, before),
        "simulated": notes.simulated,
        "notes": notes.notes,
    }
    return context.page(request, visitor, "lead_conflicts.html.j2", here, **SHOWN_BY, **values)


@router.post("/lead/conflicts/validate")
@open_to(Role.LEAD)
def validate(request: Request, pairs: Text = "", blind: Ticked = False, more: Ticked = False) -> Response:
    """Deal adjudicated pairs to those who validate."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    people = here.grid.recipe_options(Validate, more=more).validators
    options = replace(
        here.grid.effective_options(Validate), validators=people, pairs=_parse_n_pairs(pairs), blind=blind
    )
    with context.study.acting_as(visitor.name):
        return redirect_to(here, CONFLICTS.path, here.grid.assign_validation(options, more=more))


def _validation_facts(here: CurrentGrid, overview: dict[str, Any]) -> dict[str, Any]:
    """Facts for the page about the round that checks decisions, if the grid has one."""
    return {
        "dealt": next((one for one in overview["rounds"] if one["role"] == Role.VALIDATOR), None),
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
