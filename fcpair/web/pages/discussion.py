"""The discussion of a calibration: the pairs on which people differ, what was answered, and the way to answer again."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.records import WORKERS, Role
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.pages.annotator import HOME
from fcpair.web.text_direction import direction

router = APIRouter(include_in_schema=False)
PATH = "/discussion"


@router.get(PATH)
@open_to(*WORKERS, Role.LEAD)
def discussion(request: Request) -> Response:
    """Show where people differ: to those who do, on pairs that they have answered, and to leads."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if visitor.role in WORKERS and not visitor.consented:
        return RedirectResponse("/welcome", HTTPStatus.SEE_OTHER)
    values = {"discussions": context.study.discussions(visitor), "desk": HOME[visitor.role], "direction": direction}
    return context.page(request, visitor, "discussion.html.j2", **values)
