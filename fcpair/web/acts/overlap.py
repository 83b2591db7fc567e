"""Raising the overlap on the lead's pages: which pairs would get further labels, from whom, and the time it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import ConflictError, FcpairError, InputError, StageError
from fcpair.params import Assign
from fcpair.records import Role, Visitor
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.errors import status_of
from fcpair.web.form import parse_number
from fcpair.web.lead.navigation import PEOPLE
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.lead.runs import find_run, redirect_to
from fcpair.work_records import ExtraLabels

router = APIRouter(include_in_schema=False)
PATH = "/lead/people/overlap"
FEWEST = (2, 3)  # labels for which a share can be given, in any study
SHOWN_PAIRS = 100
SHARE = "share"
NOT_DONE = (ConflictError, StageError, InputError)
Text = Annotated[str, Form()]


@dataclass(frozen=True)
class Addition:
    """Work that would be added for one person, in labels and in hours at their pace; None where no pace is known."""

    name: str
    n_new: int
    n_moved: int
    hours: float | None


@router.get(PATH)
@open_to(Role.LEAD)
def preview_overlap(request: Request, run: int = 0) -> Response:
    """Show the shares of pairs with several labels, and what the shares in the address would add."""
    visitor = context_of(request).door.require_visitor(request)
    shares = {name.removeprefix(SHARE): value for name, value in request.query_params.items() if name.startswith(SHARE)}
    return _show(request, visitor, shares, run=run)


@router.post(PATH)
@open_to(Role.LEAD)
def raise_overlap(request: Request, overlap: Text = "", expected: Text = "") -> Response:
    """Assign further labels, so that the shares of pairs with several are those that were shown."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    shares = dict(part.split(":", 1) for part in overlap.split() if ":" in part)
    try:
        options = here.grid.recipe_options(Assign, more=True, overlap=parse_overlap(shares))
        with context.study.acting_as(visitor.name):
            run = here.grid.assign(options, more=True, expected=parse_number(expected))
    except NOT_DONE as error:
        return _show(request, visitor, shares, refusal=error)
    return redirect_to(here, PATH, run)


def parse_overlap(shares: Mapping[str, str]) -> dict[int, float]:
    """The overlap of a form: the percentage of pairs by number of labels; raises InputError for what is none."""
    overlap = {}
    for labels, text in shares.items():
        number, plain = parse_number(labels), text.strip().removesuffix("%").strip().replace(",", ".")
        if not plain:
            continue
        try:
            percent = float(plain)
        except ValueError:
            percent = -1.0
        if number is None or not 0 <= percent <= 100:
            raise InputError(f"`{text}` is not a share of pairs; enter a percentage from 0 to 100")
        if percent:
            overlap[number] = round(percent / 100, 6)
    return overlap


def _show(
    request: Request, visitor: Visitor, shares: Mapping[str, str], *, refusal: FcpairError | None = None, run: int = 0
) -> Response:
    context = context_of(request)
    here = context.grids.from_request(request)
    current = here.grid.effective_options(Assign).overlap
    plan, problem = None, refusal
    if shares and not refusal:
        try:
            options = here.grid.recipe_options(Assign, more=True, overlap=parse_overlap(shares))
            plan = here.grid.plan_more_labels(options)
        except NOT_DONE as error:
            problem = error
    numbers = sorted({*FEWEST, *current, *(int(one) for one in shares if one.isdecimal())})
    values = {
        "page": PEOPLE,
        "current": sorted(current.items()),
        "shares": [(n, shares.get(str(n), _percent(current[n]) if n in current else "")) for n in numbers],
        "sent": " ".join(f"{number}:{text.strip()}" for number, text in shares.items() if text.strip()),
        "plan": plan,
        "additions": _additions(here, plan) if plan else [],
        "hours": _total_hours(here, plan) if plan else None,
        "shown_pairs": SHOWN_PAIRS,
        "problem": str(problem) if problem else "",
        "is_refused": refusal is not None,
        "done": find_run(context.study.log(), run),
    }
    page = context.page(request, visitor, "lead_overlap.html.j2", here, **SHOWN_BY, **values)
    if problem:
        page.status_code = status_of(problem)
    return page


def _percent(share: float) -> str:
    return f"{100 * share:.6g}"


def _paces(here: CurrentGrid) -> dict[str, float]:
    """Seconds a label of each annotator of whom they are known."""
    people = (one for stage in here.monitor.stages() if stage.role is Role.ANNOTATOR for one in stage.people)
    return {one.name: one.outlook.pace_s for one in people if one.outlook.pace_s is not None}


def _additions(here: CurrentGrid, plan: ExtraLabels) -> list[Addition]:
    paces = _paces(here)
    usual = median(paces.values()) if paces else None

    def hours(name: str, n: int) -> float | None:
        pace = paces.get(name, usual)
        return None if pace is None else n * pace / 3600

    return [Addition(name, n_new, n_moved, hours(name, n_new)) for name, (n_new, n_moved) in plan.by_person.items()]


def _total_hours(here: CurrentGrid, plan: ExtraLabels) -> float | None:
    """Hours that the new labels take everybody together: each at their own pace, else at the median one."""
    paces: dict[str, Any] = _paces(here)
    if not paces:
        return None
    usual = median(paces.values())
    n_of_nobody = plan.n_new - sum(n for n, _ in plan.by_person.values())
    named = sum(n * paces.get(name, usual) for name, (n, _) in plan.by_person.items())
    return float(named + n_of_nobody * usual) / 3600
