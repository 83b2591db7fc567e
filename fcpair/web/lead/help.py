"""The pages of the documentation that the package ships, inside the lead's frame."""

from __future__ import annotations

from fastapi import APIRouter, Response

from fcpair.errors import UnknownIdError
from fcpair.web.pages.documentation import HELP, ROOMS, all_names, page_names, read_help, title_of
from fcpair.web.visits import LeadVisit

router = APIRouter(include_in_schema=False)


@router.get(HELP)
def contents(visit: LeadVisit) -> Response:
    """List the pages of the documentation."""
    rooms = [(title, [(name, title_of(name)) for name in page_names(room)]) for room, title in ROOMS.items()]
    return visit.page("lead_help.html.j2", shown=None, rooms=rooms)


@router.get(f"{HELP}/{{name:path}}")
def show(visit: LeadVisit, name: str) -> Response:
    """Show a page of the documentation."""
    if name not in all_names():
        raise UnknownIdError.say("there is no page of help at `%(name)s`; look at the list of all pages", name=name)
    return visit.page("lead_help.html.j2", shown=read_help(name), rooms=())
