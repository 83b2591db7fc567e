"""What the lead does with the pairs that a search has found, all or those that are ticked: asking others about them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from fastapi import APIRouter, Response

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.grid import Grid
from fcpair.lazy import pd
from fcpair.records import RunRecord
from fcpair.sentences import say
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.form import Text, parse_number
from fcpair.web.lead.navigation import GRID
from fcpair.web.lead.search import Query, conditions_of
from fcpair.web.visits import LeadVisit, Visit

router = APIRouter(include_in_schema=False)
TICKED = "ticked"
NOTHING_TICKED = say("no pair is ticked; tick those that are meant, or choose all that match")
NOTHING_LEFT = say("none of these pairs matches the search any more; search again")


@dataclass(frozen=True)
class PairAct:
    """Something that is done with pairs: `forecast` says what that would be, `do` does it. `stage` tells its pace."""

    stage: str | None
    forecast: Callable[[Grid, list[int]], Any]
    do: Callable[[Grid, list[int]], RunRecord]


ACTS = {
    "labels": PairAct(
        None,
        lambda grid, pairs: grid.desk.plan_more_labels(pairs=pairs),
        lambda grid, pairs: grid.assign(more=True, pairs=pairs),
    ),
    "decisions": PairAct(
        "adjudicate",
        lambda grid, pairs: grid.desk.forecast_decision_requests(pairs),
        lambda grid, pairs: grid.request_decisions(pairs),
    ),
}


@router.get("/lead/grid/act/{act}")
def confirm(visit: LeadVisit, act: str, query: Query) -> Response:
    """Show what an act on pairs would do, and the button that does it."""
    return _show(visit, act, query, _chosen_pairs(visit, query))


@router.post("/lead/grid/act/{act}")
def do(visit: LeadVisit, act: str, query: Query, confirmed: Text = "") -> Response:
    """Do it, unless it would do something else by now than what was shown."""
    grid, rows = visit.here.grid, _chosen_pairs(visit, query)
    pairs = rows.iloc[:, 0].tolist()
    if confirmed != _digest(_find_act(act).forecast(grid, pairs), pairs):
        return _show(visit, act, query, rows, is_overtaken=bool(confirmed))
    return visit.act(lambda: _find_act(act).do(grid, pairs), GRID.path, **(query or {"words": ""}))


def _show(visit: Visit, act: str, query: dict[str, str], rows: pd.DataFrame, *, is_overtaken: bool = False) -> Response:
    here, pairs, problem, forecast = visit.here, rows.iloc[:, 0].tolist(), "", None
    try:
        forecast = _find_act(act).forecast(here.grid, pairs)
    except StageError as error:
        problem = str(error)
    is_requested = rows.iloc[:, 0].isin(set(getattr(forecast, "requested", ())))
    values = {
        "act": act,
        "pairs": pairs,
        "forecast": forecast,
        "problem": problem,
        "tiers": Counter(name for names in rows["tier"][is_requested] for name in names.split(", ") if name),
        "pace_s": _pace_s(here, _find_act(act).stage),
        "confirmed": _digest(forecast, pairs),
        "is_overtaken": is_overtaken,
        "target": f"{visit.request.url.path}?{visit.request.url.query}",
        "back": here.address(GRID.path, **(query or {"words": ""})),
    }
    return visit.page("lead_confirm_pairs.html.j2", here, **values)


def _find_act(act: str) -> PairAct:
    if act not in ACTS:
        raise UnknownIdError(
            say("there is no action `%(name)s` for pairs; expected one of %(names)s", name=act, names=list(ACTS))
        )
    return ACTS[act]


def _chosen_pairs(visit: Visit, query: dict[str, str]) -> pd.DataFrame:
    """The pairs that are meant, as the search has them: all that match, or those of them that are ticked."""
    rows = visit.here.grid.find_pairs(**conditions_of(query)).to_frame()
    if visit.request.query_params.get("scope") == TICKED:
        ticked = {parse_number(number) for number in visit.request.query_params.getlist("pair")}
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
