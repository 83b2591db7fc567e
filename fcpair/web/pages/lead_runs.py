"""After an act of the lead: back to a page that says what it did, without doing it again when it is loaded again."""

from __future__ import annotations

from fastapi import Response
from fastapi.responses import RedirectResponse

from fcpair.records import RunRecord
from fcpair.web.current_grid import Here

SEE_OTHER = 303


def back_to(here: Here, page: str, run: RunRecord, **besides: str) -> Response:
    """To a page that finds the run by its number."""
    return RedirectResponse(here.to(page, run=run.id, **besides), SEE_OTHER)


def run_numbered(log: list[RunRecord], number: int) -> RunRecord | None:
    """The run of this number, if there is one."""
    return next((run for run in log if run.id == number), None)
