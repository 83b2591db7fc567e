"""The end of a qualification: how many answers were right, and of each pair what was to be answered, and why."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.records import WORKERS
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.pages.annotator import HOME, QUALIFICATION
from fcpair.web.pages.practice import choices_of
from fcpair.web.text_direction import direction

router = APIRouter(include_in_schema=False)


@router.get(QUALIFICATION)
@open_to(*WORKERS)
def qualification(request: Request) -> Response:
    """Show what was right, to whoever has answered all; others go on with their work."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    reviews = context.study.review_qualifications(visitor) if visitor.consented else []
    if not reviews:
        return RedirectResponse(HOME[visitor.role], HTTPStatus.SEE_OTHER)
    language = context.language(visitor)
    texts = [{one["name"]: one["text"] for one in choices_of(review.question, language)} for review in reviews]
    values: dict[str, Any] = {
        "reviews": list(zip(reviews, texts, strict=True)),
        "waits": context.study.waits_for_lead(visitor),
        "desk": HOME[visitor.role],
        "direction": direction,
    }
    return context.page(request, visitor, "qualification.html.j2", **values)
