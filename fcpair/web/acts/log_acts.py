"""The lead's acts on the log of a grid: withdrawing an import of answers as a whole, and adding notes."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Response

from fcpair.errors import UnknownIdError
from fcpair.params import MAIN, Note
from fcpair.sentences import Id, say
from fcpair.web import form
from fcpair.web.lead.navigation import PROGRESS
from fcpair.web.param_fields import fields_of, read_params
from fcpair.web.visits import LeadVisit, Visit

router = APIRouter(include_in_schema=False)
NOTES = "/lead/notes"
FIELDS = fields_of(Note)
IMPORTS = "/lead/imports"


@router.get(IMPORTS)
def imports(visit: LeadVisit, run: int = 0) -> Response:
    """List the imports, newest first."""
    here = visit.here
    values = {"page": PROGRESS, "grids": visit.grid_links(), "imports": here.grid.desk.brought_answers()}
    return visit.page("lead_imports.html.j2", here, run, **values)


@router.get(f"{IMPORTS}/{{number}}")
def confirm(visit: LeadVisit, number: int) -> Response:
    """Show what withdrawing an import would do, and the button that does it."""
    here = visit.here
    brought = next((one for one in here.grid.desk.brought_answers() if one.run.id == number), None)
    if brought is None:
        raise UnknownIdError(say("run %(number)s brought no answers into this grid", number=Id(number)))
    return visit.page("lead_confirm_withdraw.html.j2", here, brought=brought)


@router.post(f"{IMPORTS}/{{number}}")
def withdraw(visit: LeadVisit, number: int) -> Response:
    """Withdraw an import."""
    return visit.act(lambda: visit.here.grid.withdraw(number), IMPORTS)


@router.get(NOTES)
def notes(visit: LeadVisit, run: int = 0) -> Response:
    """Show the notes on the grid, newest first, and the form that adds one."""
    return _show(visit, {}, run)


@router.post(NOTES)
def add(visit: LeadVisit) -> Response:
    """Add a note to the log."""
    typed = form.fields(visit.request)
    return visit.act(
        lambda: visit.here.grid.desk.add_note(read_params(Note(), typed)), NOTES, lambda refused: _show(refused, typed)
    )


def _show(visit: Visit, typed: Mapping[str, str], run: int = 0) -> Response:
    here = visit.here
    values = {
        "page": PROGRESS,
        "grids": visit.grid_links(),
        "fields": [(one, typed.get(name, "")) for name, one in FIELDS.items()],
        "notes": [
            one
            for one in reversed(visit.study.log())
            if one.stage == Note.stage and one.params.get("grid", MAIN) == here.grid.grid.name
        ],
    }
    return visit.page("lead_notes.html.j2", here, run, **values)
