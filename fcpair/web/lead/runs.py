"""After an act of the lead: back to a page that says what it did, without doing it again when it is loaded again."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import Response
from fastapi.responses import RedirectResponse

from fcpair.records import RunRecord
from fcpair.web.current_grid import CurrentGrid


def redirect_to(here: CurrentGrid, page: str, run: RunRecord, **query: str) -> Response:
    """To a page that finds the run by its number."""
    return RedirectResponse(here.address(page, run=run.id, **query), HTTPStatus.SEE_OTHER)


def find_run(log: list[RunRecord], number: int) -> RunRecord | None:
    """The run of this number, if there is one."""
    return next((run for run in log if run.id == number), None)
