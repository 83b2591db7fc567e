"""What the lead does with the pairs that a search has found, all or those that are ticked: asking others about them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.grid import Grid
from fcpair.records import Role, RunRecord, Visitor
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.form import parse_number
from fcpair.web.lead.navigation import GRID
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.lead.runs import redirect_to
from fcpair.web.lead.search import Query, conditions_of

if TYPE_CHECKING:
    import pandas as pd

router = APIRouter(include_in_schema=False)
TICKED = "ticked"
NOTHING_TICKED = "no pair is ticked; tick those that are meant, or choose all that match"
NOTHING_LEFT = "none of these pairs matches the search any more; search again"
Text = Annotated[str, Form()]


@dataclass(frozen=True)
class PairAct:
    """Something that is done with pairs: `forecast` says what that would be, `do` does it. `stage` tells its pace."""

    stage: str | None
    forecast: Callable[[Grid, list[int]], Any]
    do: Callable[[Grid, list[int]], RunRecord]


ACTS = {
    "labels": PairAct(
        None,
        lambda grid, pairs: grid.plan_more_labels(pairs=pairs),
        lambda grid, pairs: grid.assign(more=True, pairs=pairs),
    ),
    "decisions": PairAct(
        "adjudicate",
        lambda grid, pairs: grid.forecast_decision_requests(pairs),
        lambda grid, pairs: grid.request_decisions(pairs),
    ),
}


@router.get("/lead/grid/act/{act}")
@open_to(Role.LEAD)
def confirm(request: Request, act: str, query: Query) -> Response:
    """Show what an act on pairs would do, and the button that does it."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    return _show(request, visitor, here, act, query, _chosen_pairs(request, here, query))


@router.post("/lead/grid/act/{act}")
@open_to(Role.LEAD)
def do(request: Request, act: str, query: Query, confirmed: Text = "") -> Response:
    """Do it, unless it would do something else by now than what was shown."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    rows = _chosen_pairs(request, here, query)
    pairs = rows.iloc[:, 0].tolist()
    if confirmed != _digest(_find_act(act).forecast(here.grid, pairs), pairs):
        return _show(request, visitor, here, act, query, rows, is_overtaken=bool(confirmed))
    with context.study.acting_as(visitor.name):
        run = _find_act(act).do(here.grid, pairs)
    return redirect_to(here, GRID.path, run, **(query or {"words": ""}))


def _show(
    request: Request,
    visitor: Visitor,
    here: CurrentGrid,
    act: str,
    query: dict[str, str],
    rows: pd.DataFrame,
    *,
    is_overtaken: bool = False,
) -> Response:
    pairs, problem, forecast = rows.iloc[:, 0].tolist(), "", None
    try:
        forecast = _find_act(act).forecast(here.grid, pairs)
    except StageError as error:
        problem = str(error)
    requested = set(getattr(forecast, "requested", ()))
    is_requested = rows.iloc[:, 0].isin(requested)
    values = {
        "act": act,
        "pairs": pairs,
        "forecast": forecast,
        "problem": problem,
        "tiers": Counter(name for names in rows["tier"][is_requested] for name in names.split(", ") if name),
        "pace_s": _pace_s(here, _find_act(act).stage),
        "confirmed": _digest(forecast, pairs),
        "is_overtaken": is_overtaken,
        "target": f"{request.url.path}?{request.url.query}",
        "back": here.address(GRID.path, **(query or {"words": ""})),
    }
    return context_of(request).page(request, visitor, "lead_confirm_pairs.html.j2", here, **SHOWN_BY, **values)


def _find_act(act: str) -> PairAct:
    if act not in ACTS:
        raise UnknownIdError(f"there is no action `{act}` for pairs; expected one of {', '.join(ACTS)}")
    return ACTS[act]


def _chosen_pairs(request: Request, here: CurrentGrid, query: dict[str, str]) -> pd.DataFrame:
    """The pairs that are meant, as the search has them: all that match, or those of them that are ticked."""
    rows = here.grid.find_pairs(**conditions_of(query)).rows
    if request.query_params.get("scope") == TICKED:
        ticked = {parse_number(number) for number in request.query_params.getlist("pair")}
        if not ticked:
            raise InputError(NOTHING_TICKED)
        rows = rows[rows.iloc[:, 0].isin(ticked)]
    if rows.empty:
        raise InputError(NOTHING_LEFT)
    return rows


def _digest(forecast: Any, pairs: list[int]) -> str:
    """What confirms that so much is done with these pairs."""
    return hashlib.sha256(repr((forecast, pairs)).encode()).hexdigest()[:32]


def _pace_s(here: CurrentGrid, stage_name: str | None) -> float | None:
    """The median pace of those who do such work in the grid; None while nobody has one."""
    stages = here.monitor.stages()
    stage = next((one for one in stages if one.name == stage_name), None) if stage_name else stages[0]
    paces = [one.outlook.pace_s for one in stage.people if one.outlook.pace_s is not None] if stage else []
    return median(paces) if paces else None
