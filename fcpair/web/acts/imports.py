"""The imports of answers into a grid, and withdrawing one as a whole."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import UnknownIdError
from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.lead.navigation import PROGRESS
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.lead.runs import find_run, redirect_to

router = APIRouter(include_in_schema=False)
PATH = "/lead/imports"
Text = Annotated[str, Form()]


@router.get(PATH)
@open_to(Role.LEAD)
def imports(request: Request, run: int = 0) -> Response:
    """List the imports, newest first."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    values = {
        "page": PROGRESS,
        "grids": context.grids.overview() if here.name else [],
        "imports": here.grid.brought_answers(),
        "done": find_run(context.study.log(), run) if run else None,
    }
    return context.page(request, visitor, "lead_imports.html.j2", here, **SHOWN_BY, **values)


@router.get(f"{PATH}/{{number}}")
@open_to(Role.LEAD)
def confirm(request: Request, number: int) -> Response:
    """Show what withdrawing an import would do, and the button that does it."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    brought = next((one for one in here.grid.brought_answers() if one.run.id == number), None)
    if brought is None:
        raise UnknownIdError(f"run {number} brought no answers into this grid")
    return context.page(request, visitor, "lead_confirm_withdraw.html.j2", here, **SHOWN_BY, brought=brought)


@router.post(f"{PATH}/{{number}}")
@open_to(Role.LEAD)
def withdraw(request: Request, number: int) -> Response:
    """Withdraw an import."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    with context.study.acting_as(visitor.name):
        run = here.grid.withdraw_answers(number)
    return redirect_to(here, PATH, run)
