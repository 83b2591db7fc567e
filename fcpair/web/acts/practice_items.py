"""The known pairs on which people practise, as the lead gives them: pasted as a table, looked at, then set."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response

from fcpair.errors import FcpairError, InputError, StageError
from fcpair.files.answers.known_items import format_known_items
from fcpair.practice import COLUMNS, KnownItem, Practice
from fcpair.records import Role, Visitor
from fcpair.web.auth import open_to
from fcpair.web.context import Context, context_of
from fcpair.web.errors import status_of
from fcpair.web.form import field
from fcpair.web.lead.navigation import GUIDELINES
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.lead.runs import redirect_to
from fcpair.web.page_phrases import mark
from fcpair.web.text_direction import direction

router = APIRouter(include_in_schema=False)
PAGE = "/lead/guidelines/practice"
OVERTAKEN = mark("somebody else has set other pairs since this page was loaded; save again to put yours in their place")
AT_LINE = mark("line %(number)s: %(problem)s")


def _show(
    request: Request,
    visitor: Visitor,
    text: str,
    checked: Sequence[KnownItem] | None = None,
    problem: str = "",
    status: HTTPStatus = HTTPStatus.OK,
) -> Response:
    """The table to be edited; where it was `checked`, its pairs as they would be asked, to be set."""
    context = context_of(request)
    items = context.study.known_items()
    values: dict[str, Any] = {"n_items": len(items), "seen": _mark(items), "columns": COLUMNS, "direction": direction}
    values |= {"text": text, "checked": checked, "problem": problem}
    here = context.grids.from_request(request)
    page = context.page(request, visitor, "lead_practice.html.j2", here, **(SHOWN_BY | values))
    page.status_code = status
    return page


def _mark(items: Sequence[KnownItem]) -> str:
    """What tells whether the pairs are those that a page showed."""
    return hashlib.sha256(format_known_items(items).encode()).hexdigest()[:12]


@router.get(PAGE)
@open_to(Role.LEAD)
def practice_items(request: Request) -> Response:
    """The pairs on which people practise, as a table to be edited."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    return _show(request, visitor, format_known_items(context.study.known_items()))


@router.post(PAGE)
@open_to(Role.LEAD)
def edit(request: Request) -> Response:
    """Show the pairs of a table as they would be asked; once that was confirmed, let people practise on them."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    text = field(request, "table").replace("\r\n", "\n")
    try:
        items = context.study.read_practice_text(text) if text.strip() else []
    except (InputError, StageError) as error:
        problem = _sentence(context, visitor, error)
        return _show(request, visitor, text, None, problem, HTTPStatus(status_of(error)))
    if field(request, "act") != "save":
        return _show(request, visitor, text, items)
    if field(request, "seen") != _mark(context.study.known_items()):
        problem = context.language(visitor).find(OVERTAKEN)
        return _show(request, visitor, text, items, problem, HTTPStatus.CONFLICT)
    with context.study.acting_as(visitor.name):
        run = context.study.save_practice(Practice(items=tuple(item._asdict() for item in items)))
    return redirect_to(context.grids.from_request(request), GUIDELINES.path, run)


def _sentence(context: Context, visitor: Visitor, error: FcpairError) -> str:
    """What is wrong with a table, line by line."""
    language = context.language(visitor)
    findings = [
        (one.line, context.translate_sentence(one.message, visitor, language))
        for one in getattr(error, "findings", ())
        if one.line
    ]
    lines = [language.gettext(AT_LINE, number=language.digits(line), problem=problem) for line, problem in findings]
    return "; ".join(lines) or context.translate_sentence(str(error), visitor, language)
