"""The newest evaluation of systems, as the lead sees it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.lead.navigation import EVALUATION
from fcpair.web.lead.panels import SHOWN_BY

router = APIRouter(include_in_schema=False)


@router.get(EVALUATION.path)
@open_to(Role.LEAD)
def evaluation(request: Request) -> Response:
    """Show what each system scores on each tier, or how that is found out."""
    from fcpair.evaluate.outcome import group_by_system
    from fcpair.report.evaluation_section import strip_folders

    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    figures = context.study.latest_evaluation()
    outcome = strip_folders(figures.outcome) if figures else None
    values = {
        "page": EVALUATION,
        "grids": context.grids.overview() if here.name else [],
        "evaluation": figures,
        "scores": [
            (tier, group_by_system([one for one in outcome.scores if one.tier == tier.tier])) for tier in outcome.tiers
        ]
        if outcome
        else [],
        "simulated": outcome.simulated if outcome else None,
    }
    return context.page(request, visitor, "lead_evaluation.html.j2", here, **SHOWN_BY, **values)
