"""The lead's page of the grid: its map, and the search for pairs, as an address and as a file."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from fcpair.errors import InputError
from fcpair.pair_filter import PairFilter, check_name
from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.lead.files import attachment
from fcpair.web.lead.navigation import GRID, has_labels
from fcpair.web.lead.panels import SHOWN_BY, build_panels

router = APIRouter(include_in_schema=False)
PAGE = 50  # pairs on one page of them
YES_OR_NO = {"yes": True, "no": False}
TITLES = {
    "words": "Words in either text",
    "person": "Given to",
    "answer": "Label",
    "state": "State",
    "tier": "Tier",
    "skipped": "Skipped",
    "noted": "With a note",
}
"""What each filter is called, in the order in which the page has them."""


def read_query(
    words: str = "",
    person: str = "",
    answer: str = "",
    state: str = "",
    tier: str = "",
    skipped: str = "",
    noted: str = "",
) -> dict[str, str]:
    """The filters in an address, as they are written there; those that ask nothing left out."""
    values = {"words": words, "person": person, "answer": answer, "state": state, "tier": tier}
    values |= {"skipped": skipped, "noted": noted}
    return {name: value.strip() for name, value in values.items() if value.strip()}


Query = Annotated[dict[str, str], Depends(read_query)]


@router.get(GRID.path)
@open_to(Role.LEAD)
def grid_pairs(request: Request, query: Query, after: int = 0) -> Response:
    """Show the grid, cell by cell; or, where the address has filters, the pairs that match them."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    is_search = has_labels(here) and not request.query_params.keys().isdisjoint(TITLES)
    values = {
        "page": GRID,
        "panels": [] if is_search else build_panels(request, visitor, here, GRID),
        "simulated": here.grid.simulated_note,
        "grids": context.grids.overview() if here.name else [],
        "titles": TITLES,
        "size": PAGE,
        "query": query,
        "choices": here.grid.search_choices() if has_labels(here) else None,
        "is_search": is_search,
        "problem": "",
        **(_search(here, query, after) if is_search else {}),
    }
    page = context.page(request, visitor, "lead_grid.html.j2", here, **SHOWN_BY, **values)
    if values["problem"]:
        page.status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    return page


def _search(here: CurrentGrid, query: dict[str, str], after: int) -> dict[str, Any]:
    """The pairs that match, or the `problem` with the filters."""
    try:
        matching = here.grid.find_pairs(**_conditions(query), first=after, n=PAGE)
    except InputError as error:
        return {"problem": str(error)}
    rest_by_name = {name: {other: query[other] for other in query if other != name} for name in query}
    return {
        "matching": matching,
        "rows": list(matching.rows.itertuples(index=False, name=None)),
        "without": [
            (name, query[name], here.address(GRID.path, **(rest or {"words": ""})))
            for name, rest in rest_by_name.items()
        ],
    }


def _conditions(query: dict[str, str]) -> dict[str, Any]:
    conditions: dict[str, Any] = dict(query)
    for name in ("skipped", "noted"):
        check_name(f"value of `{name}`", query.get(name, ""), YES_OR_NO)
        conditions[name] = YES_OR_NO.get(query.get(name, ""))
    return PairFilter(**conditions).chosen


@router.get("/lead/grid/pairs.csv")
@open_to(Role.LEAD)
def matching_file(request: Request, query: Query) -> Response:
    """All pairs that match, as a file."""
    from fcpair.files.tables.tabular import write_table

    context = context_of(request)
    context.door.require_visitor(request)
    matching = context.grids.from_request(request).grid.find_pairs(**_conditions(query))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.csv"
        write_table(matching.rows, path)
        return attachment(path)
