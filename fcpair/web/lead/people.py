"""The people of the study, as the lead sees them: their work, their invite links, letting them go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import InputError, UnknownIdError
from fcpair.records import Role, RunRecord, Visitor
from fcpair.study import Study
from fcpair.web.auth import open_to
from fcpair.web.context import Context, context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.form import parse_number
from fcpair.web.lead.navigation import PEOPLE
from fcpair.web.lead.panels import SHOWN_BY, build_panels, compared_people
from fcpair.web.lead.runs import find_run, redirect_to

router = APIRouter(include_in_schema=False)
Text = Annotated[str, Form()]
ACTS = ("retire", "dismiss", "let-on", "forget", "hand-over", "role", "invite", "revoke")
ROLES = tuple(role.value for role in Role if role is not Role.MODEL)
NOT_ONESELF = "you cannot do this to yourself here; ask another lead, or use `fcpair people` on the server"


@router.get(PEOPLE.path)
@open_to(Role.LEAD)
def people(request: Request, run: int = 0, role: str = "") -> Response:
    """Everybody, with the work they have."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    return show_people(request, visitor, run=run, role=role)


def show_people(
    request: Request, visitor: Visitor, *, run: int = 0, role: str = "", pasted: str = "", problem: str = ""
) -> Response:
    """The page; with what was `pasted` of people to be added, in a `role`, and the `problem` with it."""
    context = context_of(request)
    here, overviews = context.grids.from_request(request), context.grids.overview()
    everybody, invited, facts_of = context.study.workload(), context.study.access.invited(), _facts_by_name(here)
    values = {
        "page": PEOPLE,
        "panels": build_panels(request, visitor, here, PEOPLE),
        "grids": overviews if here.name else [],
        "people": [row | facts_of(row["name"]) for row in everybody],
        "consents": {row["name"]: row["consented_at"] for row in context.study.access.terms()},
        "invited": invited,
        "n_uninvited": sum(_can_be_invited(row) and row["name"] not in invited for row in everybody),
        "roles": ROLES,
        "role": role or Role.ANNOTATOR.value,
        "adding": bool(role),
        "pasted": pasted,
        "problem": problem,
        "compared": compared_people(here) if here.has_labels else [],
        "can_add_labels": here.has_labels and not here.is_planned and _is_assigned(here, overviews),
        "simulated": context.grids.oldest.monitor.simulated_note(),
        "done": find_run(context.study.log(), run),
    }
    return context.page(request, visitor, "lead_people.html.j2", here, **SHOWN_BY, **values)


def _can_be_invited(row: dict[str, Any]) -> bool:
    return not row["retired"] and row["role"] != Role.MODEL


def _is_assigned(here: CurrentGrid, overviews: list[tuple[CurrentGrid, dict[str, Any]]]) -> bool:
    """Whether anybody has been given pairs of the grid to label."""
    rounds = here.find_overview(overviews)["rounds"]
    return any(one["dealt"] for one in rounds if one["counts"])


def _facts_by_name(here: CurrentGrid) -> Callable[[str], dict[str, Any]]:
    """When somebody acted last, their pace in the grid, and how often they were too fast, by their name."""
    stages, last_seen, speeds = here.monitor.stages(), here.monitor.headlines().last_seen, here.monitor.speed().people

    def facts_of(name: str) -> dict[str, Any]:
        paces = (one.outlook.pace_s for stage in stages for one in stage.people if one.name == name)
        return {
            "seen": last_seen.get(name),
            "pace_s": next((pace for pace in paces if pace is not None), None),
            "speed": next((one for one in speeds if one.name == name), None),
        }

    return facts_of


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
        "roles": ROLES,
        "has_link": name in context.study.access.invited(),
    }
    return context.page(
        request, visitor, "lead_confirm.html.j2", context.grids.from_request(request), **SHOWN_BY, **values
    )


def _act_on(request: Request, name: str, act: Callable[[Study], RunRecord]) -> Response:
    """Do something to another person in the visitor's name, and show what was done."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if name == visitor.name:
        raise InputError(NOT_ONESELF)
    with context.study.acting_as(visitor.name):
        run = act(context.study)
    return redirect_to(context.grids.from_request(request), PEOPLE.path, run)


@router.post("/lead/people/{name}/retire")
@open_to(Role.LEAD)
def retire(request: Request, name: str) -> Response:
    """Let a person go; their open work goes to others."""
    return _act_on(request, name, lambda study: study.retire(name))


@router.post("/lead/people/{name}/hand-over")
@open_to(Role.LEAD)
def hand_over(request: Request, name: str, to: Text = "", n: Text = "") -> Response:
    """Give a person's open work, or `n` pairs of it, to one other person, or to all in their role."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    with context.study.acting_as(visitor.name):
        run = context.study.hand_over(name, to or None, n=parse_pairs(n))
    return redirect_to(context.grids.from_request(request), PEOPLE.path, run)


@router.post("/lead/people/{name}/role")
@open_to(Role.LEAD)
def change_role(request: Request, name: str, role: Text = "") -> Response:
    """Give a person without open work another role."""
    return _act_on(request, name, lambda study: study.change_role(name, parse_role(role)))


@router.post("/lead/people/{name}/dismiss")
@open_to(Role.LEAD)
def dismiss(request: Request, name: str, reason: Text = "") -> Response:
    """Let a person go, and set aside what they answered; they read the reason, where there is one."""
    return _act_on(request, name, lambda study: study.dismiss(name, reason=reason))


@router.post("/lead/people/{name}/let-on")
@open_to(Role.LEAD)
def let_on(request: Request, name: str) -> Response:
    """Let a person begin who is below the pass mark of a qualification."""
    here = context_of(request).grids.from_request(request)
    return _act_on(request, name, lambda _: here.grid.let_on(name))


@router.post("/lead/people/{name}/revoke")
@open_to(Role.LEAD)
def revoke(request: Request, name: str) -> Response:
    """Let a person's link and sessions end."""
    return _act_on(request, name, lambda study: study.access.revoke(name))


def parse_pairs(n: str) -> int | None:
    """A number of pairs from a form, None for all; raises InputError where it is no number."""
    if not n.strip():
        return None
    number = parse_number(n)
    if number is None:
        raise InputError(f"`{n}` is no number of pairs; expected a whole number, or nothing for all")
    return number


def parse_role(role: str) -> Role:
    """A role from a form; raises InputError where it is none that people have."""
    if role not in ROLES:
        raise InputError(f"there is no role `{role}`; expected one of {', '.join(ROLES)}")
    return Role(role)


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
