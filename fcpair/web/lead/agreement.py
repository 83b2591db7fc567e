"""The lead's page of agreement: over all, by two people, by text and by metadata; and two people side by side."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from fcpair.errors import InputError
from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.lead.navigation import AGREEMENT, PEOPLE
from fcpair.web.lead.panels import SHOWN_BY, build_panels, compared_people

router = APIRouter(include_in_schema=False)
BETWEEN = " "  # an axis and a column of its metadata in one value of a form
BESIDE = "/lead/people/beside"


@router.get(AGREEMENT.path)
@open_to(Role.LEAD)
def agreement(request: Request, by: str = "") -> Response:
    """How far people agree; with `by`, such as `row topic`, on each value of this metadata as well."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    values = {
        "page": AGREEMENT,
        "panels": build_panels(request, visitor, here, AGREEMENT),
        "simulated": here.monitor.simulated_note(),
        "grids": context.grids.overview() if here.name else [],
        **(_choices(here, by) if AGREEMENT.fits(here) else {"compared": (), "by_choices": {}, "blocks": ()}),
    }
    return context.page(request, visitor, "lead_agreement_page.html.j2", here, **SHOWN_BY, **values)


def _choices(here: CurrentGrid, by: str) -> dict[str, Any]:
    """The forms of the page, and the blocks that the address asks for."""
    columns = here.monitor.metadata_columns()
    choices = {f"{axis}{BETWEEN}{name}": (axis, name) for axis, names in columns.items() for name in names}
    if by and by not in choices:
        raise InputError(f"there is no metadata `{by}` to compare; expected {', '.join(choices) or 'none'}")
    return {
        "compared": compared_people(here),
        "by_choices": choices,
        "by": by,
        "blocks": here.monitor.blocks(*choices[by]) if by and here.monitor.agreement() else (),
    }


@router.get(BESIDE)
@open_to(Role.LEAD)
def two_people(request: Request, person: str = "", other: str = "") -> Response:
    """Show two people side by side, and let others be chosen."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    values = {
        "page": PEOPLE,
        "grids": [],
        "compared": sorted({*compared_people(here), *filter(None, (person, other))}),
        "chosen": (person, other),
        "simulated": here.monitor.simulated_note(),
        "compared_labels": here.grid.compare_people(person, other),
    }
    return context.page(request, visitor, "lead_beside.html.j2", here, **SHOWN_BY, **values)
