"""The lead's pages that only show: panels, each pair and each answer."""

from __future__ import annotations

from http import HTTPStatus
from itertools import accumulate
from operator import itemgetter

from fastapi import APIRouter, Request, Response

from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.lead.panels import SHOWN_BY, build_panel

router = APIRouter(include_in_schema=False)
PAGE = 100  # answers on one page of them


@router.get("/lead/panel/{name}")
@open_to(Role.LEAD)
def panel(request: Request, name: str, seen: str = "") -> Response:
    """One panel as it is now; nothing when it is as it was `seen`."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    facts = build_panel(request, visitor, here, name)
    if facts["digest"] == seen:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return context.page(request, visitor, "lead_panel.html.j2", here, panel=facts)


@router.get("/lead/pair/{cell_id}")
@open_to(Role.LEAD)
def pair(request: Request, cell_id: int) -> Response:
    """Why a pair is where it is."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    explanation = here.grid.explain(cell_id)
    # A decision that stands again has the time at which it was made.
    decided = accumulate((str(row["at"]) for row in explanation.decisions), max)
    timed = [
        *((str(row["at"]), row) for row in explanation.answers),
        *zip(decided, explanation.decisions, strict=True),
    ]
    events = [row for _, row in sorted(timed, key=itemgetter(0))]
    return context.page(request, visitor, "lead_pair.html.j2", here, **SHOWN_BY, told=explanation, events=events)


@router.get("/lead/answers")
@open_to(Role.LEAD)
def answers(request: Request, round: str | None = None, after: int = 0) -> Response:
    """Show the answers in a round as people read them, some at a time."""
    from fcpair.files.tables.tabular import plain_rows

    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    table = here.grid.answers(round)
    names = table.columns.tolist()
    begin = min(max(after, 0), len(table))
    page = table[begin : begin + PAGE]
    values = {
        "round": round,
        "questions": names[names.index("skipped") + 1 : names.index("seconds")],
        "answers": list(plain_rows(page)),
        "n": len(table),
        "begin": begin,
        "size": PAGE,
    }
    return context.page(request, visitor, "lead_answers.html.j2", here, **SHOWN_BY, **values)
