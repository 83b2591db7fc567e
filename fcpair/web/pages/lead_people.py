"""The people of the study, as the lead sees them: their work, their invite links, letting them go."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import InputError, UnknownIdError
from fcpair.records import Role, invite_link
from fcpair.web.auth import open_to
from fcpair.web.context import Context, context_of
from fcpair.web.pages.lead_navigation import PEOPLE
from fcpair.web.pages.lead_panels import SHOWN_BY, build_panels
from fcpair.web.pages.lead_runs import find_run, redirect_to

router = APIRouter(include_in_schema=False)
Text = Annotated[str, Form()]
ACTS = ("retire", "hand-over", "invite", "revoke")
NOT_ONESELF = "you cannot do this to yourself here; ask another lead, or use `fcpair people` on the server"


@router.get(PEOPLE.path)
@open_to(Role.LEAD)
def people(request: Request, run: int = 0) -> Response:
    """Everybody, with the work they have."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    state = context.study.status()
    values = {
        "page": PEOPLE,
        "panels": build_panels(request, visitor, here, PEOPLE),
        "grids": context.grids.overview() if here.name else [],
        "people": state["people"],
        "invited": context.study.access.invited(),
        "simulated": state["simulated"],
        "done": find_run(context.study.log(), run),
    }
    return context.page(request, visitor, "lead_people.html.j2", here, **SHOWN_BY, **values)


@router.get("/lead/people/{name}/{act}")
@open_to(Role.LEAD)
def confirm(request: Request, name: str, act: str) -> Response:
    """Show what an act would do, and the button that does it."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if act not in ACTS:
        raise UnknownIdError(f"there is no action `{act}` for people; expected one of {', '.join(ACTS)}")
    person = _workload_of(context, name)
    values = {
        "one": person,
        "act": act,
        "heirs": _candidates(context, person),
        "has_link": name in context.study.access.invited(),
    }
    return context.page(
        request, visitor, "lead_confirm.html.j2", context.grids.from_request(request), **SHOWN_BY, **values
    )


@router.post("/lead/people/{name}/retire")
@open_to(Role.LEAD)
def retire(request: Request, name: str) -> Response:
    """Let a person go; their open work goes to others."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if name == visitor.name:
        raise InputError(NOT_ONESELF)
    with context.study.acting_as(visitor.name):
        run = context.study.retire(name)
    return redirect_to(context.grids.from_request(request), PEOPLE.path, run)


@router.post("/lead/people/{name}/hand-over")
@open_to(Role.LEAD)
def hand_over(request: Request, name: str, to: Text = "") -> Response:
    """Give a person's open work to one other person, or to all in their role."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    with context.study.acting_as(visitor.name):
        run = context.study.hand_over(name, to or None)
    return redirect_to(context.grids.from_request(request), PEOPLE.path, run)


@router.post("/lead/people/{name}/invite")
@open_to(Role.LEAD)
def invite(request: Request, name: str) -> Response:
    """Make a new link, and show it this once."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if name == visitor.name:
        raise InputError(NOT_ONESELF)
    with context.study.acting_as(visitor.name):
        link = invite_link(context.url, context.study.access.invite(name))
    here = context.grids.from_request(request)
    return context.page(request, visitor, "lead_invite.html.j2", here, **SHOWN_BY, person=name, link=link)


@router.post("/lead/people/{name}/revoke")
@open_to(Role.LEAD)
def revoke(request: Request, name: str) -> Response:
    """Let a person's link and sessions end."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if name == visitor.name:
        raise InputError(NOT_ONESELF)
    with context.study.acting_as(visitor.name):
        context.study.access.revoke(name)
    return redirect_to(context.grids.from_request(request), PEOPLE.path, context.study.log()[-1])


def _workload_of(context: Context, name: str) -> dict[str, Any]:
    for row in context.study.workload():
        if row["name"] == name:
            return dict(row)
    raise UnknownIdError(f"there is nobody called `{name}`")


def _candidates(context: Context, person: dict[str, Any]) -> list[str]:
    """Names of those who could take a person's work over."""
    return [
        other.name
        for other in context.study.people
        if other.role == person["role"] and not other.retired and other.name != person["name"]
    ]
