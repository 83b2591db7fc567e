"""The rule of Diamond on the lead's pages: the tiers by each rule, and choosing one for the grid."""

from __future__ import annotations

from typing import Annotated, Any, cast, get_args

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import ConflictError, InputError, StageError
from fcpair.grid import Grid
from fcpair.param_values import digest_params
from fcpair.params import DiamondRule, Partition
from fcpair.records import Role, Visitor
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.errors import status_of
from fcpair.web.lead.navigation import CONFLICTS
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.lead.runs import find_run, redirect_to
from fcpair.web.page_phrases import mark

router = APIRouter(include_in_schema=False)
PATH = "/lead/conflicts/diamond"
RULES = get_args(DiamondRule)
RULE_NAMES = (mark("unanimous"), mark("majority"))  # as pages show them
Text = Annotated[str, Form()]


@router.get(PATH)
@open_to(Role.LEAD)
def compare_rules(request: Request, run: int = 0) -> Response:
    """Show the tiers as each rule makes them."""
    return _show(request, context_of(request).door.require_visitor(request), run=run)


@router.post(PATH)
@open_to(Role.LEAD)
def choose_rule(request: Request, diamond: Text = "", seen: Text = "") -> Response:
    """Let a rule hold for the grid: in its tiers, report, downloads and evaluation."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    if diamond not in RULES:
        raise InputError(f"there is no rule `{diamond}` of Diamond; expected one of {', '.join(RULES)}")
    try:
        with context.study.acting_as(visitor.name):
            run = here.grid.save_partition(diamond=cast(DiamondRule, diamond), seen=seen)
    except ConflictError as error:
        page = _show(request, visitor, problem=str(error))
        page.status_code = status_of(error)
        return page
    return redirect_to(here, PATH, run)


def _show(request: Request, visitor: Visitor, *, problem: str = "", run: int = 0) -> Response:
    context = context_of(request)
    here = context.grids.from_request(request)
    rules, no_tiers = here.grid.effective_options(Partition), ""
    rows: list[tuple[str, list[int]]] = []
    try:
        rows = _tier_sizes(here.grid)
    except (InputError, StageError) as error:  # nobody has answered, or the answers cannot be in tiers
        no_tiers = str(error)
    values = {
        "page": CONFLICTS,
        "held": rules.diamond,
        "seen": digest_params(rules),
        "rules": RULES,
        "rows": rows,
        "no_tiers": no_tiers,
        "problem": problem,
        "done": find_run(context.study.log(), run),
    }
    return context.page(request, visitor, "lead_diamond.html.j2", here, **SHOWN_BY, **values)


def _tier_sizes(grid: Grid) -> list[tuple[str, list[int]]]:
    """The size of each tier, the best first, by each of RULES."""
    tables: list[Any] = [grid.partition(diamond=rule).tables[0] for rule in RULES]
    columns = [list(table.itertuples(index=False, name=None)) for table in tables]
    return [(str(rows[0][0]), [int(row[1]) for row in rows]) for rows in zip(*columns, strict=True)]
