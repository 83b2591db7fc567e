"""Acts of the lead's that take minutes: how far one is, stopping it, and asking the models of a round for answers."""

from __future__ import annotations

from http import HTTPStatus
from math import isfinite
from pathlib import Path
from typing import Any, cast

from fastapi import APIRouter, Response

from fcpair.errors import InputError, StageError
from fcpair.sentences import mark, say
from fcpair.web.current_grid import EVALUATION, PROGRESS, LeadPage
from fcpair.web.form import Text
from fcpair.web.server.child_process import EVALUATE, GENERATE, Act, ChildProcess
from fcpair.web.visits import LeadVisit, Visit, go_to

router = APIRouter(include_in_schema=False)
PATH, GENERATE_PATH = "/lead/acts", "/lead/generate"
PAGES: dict[str, LeadPage] = {EVALUATE: EVALUATION, GENERATE: PROGRESS}
"""The page that an act is begun on, and that has its result."""
STOPPED = mark("%(name)s has stopped it; what models have replied is kept, and nothing else was written")
TITLES = {EVALUATE: mark("Evaluating"), GENERATE: mark("Asking models")}


def long_acts_of(visit: Visit) -> ChildProcess:
    """The one process for such acts."""
    return cast(ChildProcess, visit.request.app.state.long_acts)


def begin_act(visit: Visit, what: str, values: dict[str, Any], folder: Path | None = None) -> Response:
    """Begin an act in the visitor's grid and name, and lead to the page that says how far it is.

    Raises ConflictError while there is another.
    """
    act = Act(what, visit.study.address, visit.here.grid.grid.name, visit.visitor.name, values, folder)
    long_acts_of(visit).start(act)
    return go_to(PATH)


@router.get(PATH)
def act(visit: LeadVisit, part: bool = False) -> Response:
    """How far the act is, as a page or as the `part` that is read anew; leads on when it has been done."""
    state = long_acts_of(visit).state
    page = PAGES.get(state.what, PROGRESS)
    here = visit.context.grids.by_name(state.grid) if state.grid else visit.context.grids.oldest
    if not part or state.is_running:
        template = "lead_act_state.html.j2" if part else "lead_act.html.j2"
        return visit.page(template, here, state=state, title=TITLES.get(state.what, ""), page=page)
    onward = PATH if state.problem else here.address(page.path, run=state.run)
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": onward})


@router.post(f"{PATH}/stop")
def stop(visit: LeadVisit) -> Response:
    """Stop the act, if there is one."""
    long_acts_of(visit).end(say(STOPPED, name=visit.visitor.name))
    return go_to(PATH)


@router.get(GENERATE_PATH)
def outlook(visit: LeadVisit, round: str = "", price_in: str = "", price_out: str = "") -> Response:
    """Show what asking the models of a round takes, and the button that begins it."""
    desk, prices = visit.here.grid.desk, parse_prices(price_in, price_out)
    problem, estimates = desk.service_obstacle(round) or "", []
    try:
        estimates = desk.estimate_generation(round)
    except StageError as error:
        problem = str(error)
    return visit.page(
        "lead_generate.html.j2",
        visit.here,
        page=PROGRESS,
        round=round,
        models=[(model, estimate, estimate.cost(*prices or (0, 0))) for model, estimate in estimates],
        has_prices=prices is not None,
        n_to_ask=sum(estimate.requests - estimate.cached for _, estimate in estimates),
        price_in=price_in,
        price_out=price_out,
        problem=problem,
    )


def parse_prices(price_in: str, price_out: str) -> tuple[float, float] | None:
    """The prices of a million tokens that are read and written; None for none. Raises InputError for what is none."""
    if not (price_in.strip() or price_out.strip()):
        return None
    try:
        prices = float(price_in), float(price_out)
    except ValueError:
        prices = (-1.0, -1.0)
    if not all(isfinite(price) and price >= 0 for price in prices):
        raise InputError(say("the prices are those of a million tokens; give both as numbers, 0 if there is no charge"))
    return prices


@router.post(GENERATE_PATH)
def ask_models(visit: LeadVisit, round: Text = "") -> Response:
    """Have the models asked."""
    if obstacle := visit.here.grid.desk.service_obstacle(round):
        raise StageError(obstacle)
    return begin_act(visit, GENERATE, {"round": round})
