"""The lead's pages that only show: panels, each pair, each answer, agreement, and two people side by side."""

from __future__ import annotations

from http import HTTPStatus
from itertools import accumulate
from operator import itemgetter
from typing import Any

from fastapi import APIRouter, Response

from fcpair.errors import InputError
from fcpair.sentences import say
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.lead.navigation import AGREEMENT, PEOPLE
from fcpair.web.lead.panels import build_panel, build_panels, compared_people
from fcpair.web.visits import LeadVisit

router = APIRouter(include_in_schema=False)
BETWEEN = " "  # an axis and a column of its metadata in one value of a form
BESIDE = "/lead/people/beside"
PAGE = 100  # answers on one page of them


@router.get("/lead/panel/{name}")
def panel(visit: LeadVisit, name: str, seen: str = "") -> Response:
    """One panel as it is now; nothing when it is as it was `seen`."""
    here = visit.here
    facts = build_panel(visit, name)
    if facts["digest"] == seen:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return visit.page("lead_panel.html.j2", here, panel=facts)


@router.get("/lead/pair/{cell_id}")
def pair(visit: LeadVisit, cell_id: int) -> Response:
    """Why a pair is where it is."""
    here = visit.here
    explanation = here.grid.explain(cell_id)
    # A decision that stands again has the time at which it was made.
    decided = accumulate((str(row["at"]) for row in explanation.decisions), max)
    timed = [
        *((str(row["at"]), row) for row in explanation.answers),
        *zip(decided, explanation.decisions, strict=True),
    ]
    events = [row for _, row in sorted(timed, key=itemgetter(0))]
    return visit.page("lead_pair.html.j2", here, told=explanation, events=events)


@router.get("/lead/answers")
def answers(visit: LeadVisit, round: str | None = None, after: int = 0) -> Response:
    """Show the answers in a round as people read them, some at a time."""
    from fcpair.files.tables.tabular import plain_rows

    here = visit.here
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
    return visit.page("lead_answers.html.j2", here, **values)


@router.get(AGREEMENT.path)
def agreement(visit: LeadVisit, by: str = "") -> Response:
    """How far people agree; with `by`, such as `row topic`, on each value of this metadata as well."""
    here = visit.here
    values = {
        "page": AGREEMENT,
        "panels": build_panels(visit, AGREEMENT),
        "simulated": here.monitor.simulated_note(),
        "grids": visit.grid_links(),
        **(_choices(here, by) if AGREEMENT.fits(here) else {"compared": (), "by_choices": {}, "blocks": ()}),
    }
    return visit.page("lead_agreement_page.html.j2", here, **values)


def _choices(here: CurrentGrid, by: str) -> dict[str, Any]:
    """The forms of the page, and the blocks that the address asks for."""
    columns = here.monitor.metadata_columns()
    choices = {f"{axis}{BETWEEN}{name}": (axis, name) for axis, names in columns.items() for name in names}
    if by and by not in choices:
        expected = list(choices) or say("none")
        raise InputError(say("there is no metadata `%(name)s` to compare; expected %(codes)s", name=by, codes=expected))
    return {
        "compared": compared_people(here),
        "by_choices": choices,
        "by": by,
        "blocks": here.monitor.blocks(*choices[by]) if by and here.monitor.agreement() else (),
    }


@router.get(BESIDE)
def two_people(visit: LeadVisit, person: str = "", other: str = "") -> Response:
    """Show two people side by side, and let others be chosen."""
    here = visit.here
    values = {
        "page": PEOPLE,
        "grids": [],
        "compared": sorted({*compared_people(here), *filter(None, (person, other))}),
        "chosen": (person, other),
        "simulated": here.monitor.simulated_note(),
        "compared_labels": here.grid.compare_people(person, other),
    }
    return visit.page("lead_beside.html.j2", here, **values)
