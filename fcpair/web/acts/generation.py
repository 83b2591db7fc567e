"""Asking the models of a round for their answers: what that takes and costs, and beginning it."""

from __future__ import annotations

from math import isfinite
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import InputError, StageError
from fcpair.records import Role
from fcpair.web.acts.act_progress import long_acts_of, show_act
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.lead.navigation import PROGRESS
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.server.long_acts import GENERATE

router = APIRouter(include_in_schema=False)
PATH = "/lead/generate"
Text = Annotated[str, Form()]


@router.get(PATH)
@open_to(Role.LEAD)
def outlook(request: Request, round: str = "", price_in: str = "", price_out: str = "") -> Response:
    """Show what asking the models of a round takes, and the button that begins it."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    prices = parse_prices(price_in, price_out)
    problem, estimates = here.grid.service_obstacle(round) or "", []
    try:
        estimates = here.grid.estimate_generation(round)
    except StageError as error:
        problem = str(error)
    values = {
        "page": PROGRESS,
        "round": round,
        "models": [(model, estimate, estimate.cost(*prices or (0, 0))) for model, estimate in estimates],
        "has_prices": prices is not None,
        "n_to_ask": sum(estimate.requests - estimate.cached for _, estimate in estimates),
        "price_in": price_in,
        "price_out": price_out,
        "problem": problem,
    }
    return context.page(request, visitor, "lead_generate.html.j2", here, **SHOWN_BY, **values)


def parse_prices(price_in: str, price_out: str) -> tuple[float, float] | None:
    """The prices of a million tokens that are read and written; None for none. Raises InputError for what is none."""
    if not (price_in.strip() or price_out.strip()):
        return None
    try:
        prices = float(price_in), float(price_out)
    except ValueError:
        prices = (-1.0, -1.0)
    if not all(isfinite(price) and price >= 0 for price in prices):
        raise InputError("the prices are those of a million tokens; give both as numbers, 0 if there is no charge")
    return prices


@router.post(PATH)
@open_to(Role.LEAD)
def begin(request: Request, round: Text = "") -> Response:
    """Have the models asked."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    if obstacle := here.grid.service_obstacle(round):
        raise StageError(obstacle)
    long_acts_of(request).begin(GENERATE, grid=here.grid.grid.name, by=visitor.name, values={"round": round})
    return show_act()
