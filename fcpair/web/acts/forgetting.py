"""Deleting what somebody said about themselves."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.lead.navigation import PEOPLE
from fcpair.web.lead.runs import redirect_to

router = APIRouter(include_in_schema=False)


@router.post("/lead/people/{name}/forget")
@open_to(Role.LEAD)
def forget(request: Request, name: str) -> Response:
    """Delete what a person said about themselves; their answers stay."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    with context.study.acting_as(visitor.name):
        run = context.study.access.forget(name)
    return redirect_to(context.grids.from_request(request), PEOPLE.path, run)
