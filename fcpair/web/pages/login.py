"""Coming in by an invite link, and leaving."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.errors import TooManyError
from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.page_phrases import mark, mark_plural
from fcpair.web.text_direction import direction

router = APIRouter(include_in_schema=False)
WRONG_TOKEN = mark(
    "This link does not work. It may have been replaced by a newer one: look for that, or ask the people who run the "
    "study for another."
)
TOO_MANY_TOKENS = mark_plural(
    "Too many links that do not work were tried, so wait a second before you try another. A link that works lets you "
    "in at once.",
    "Too many links that do not work were tried, so wait %(n)s seconds before you try another. A link that works lets "
    "you in at once.",
)


def _show_refusal(request: Request, status: int, problem: str) -> Response:
    """The same page, on which another link can be opened or pasted."""
    context = context_of(request)
    page = context.page(request, None, "join.html.j2", problem=problem)
    page.status_code = status
    return page


def show_farewell(request: Request, reason: str) -> Response:
    """Tell somebody who was dismissed why."""
    page = context_of(request).page(request, None, "farewell.html.j2", reason=reason, direction=direction)
    page.status_code = HTTPStatus.FORBIDDEN
    return page


@router.post("/join")
def join(request: Request, token: Annotated[str, Form()] = "") -> Response:
    """Begin a session by a token; a whole invite link will do."""
    context = context_of(request)
    context.door.check_origin(request)
    try:
        visitor = context.door.login_with_token(request, token.rpartition("#")[2].strip())
    except TooManyError as error:
        problem = context.language(None).ngettext(*TOO_MANY_TOKENS, error.wait_s)
        page = _show_refusal(request, HTTPStatus.TOO_MANY_REQUESTS, problem)
        page.headers["Retry-After"] = str(error.wait_s)
        return page
    if visitor is None and (reason := context.study.access.farewell(token.rpartition("#")[2].strip())):
        return show_farewell(request, reason)
    if visitor is None:
        return _show_refusal(request, HTTPStatus.FORBIDDEN, context.language(None).find(WRONG_TOKEN))
    response = RedirectResponse("/", HTTPStatus.SEE_OTHER)
    context.door.open_session(request, response, visitor)
    return response


@router.post("/leave")
@open_to(*Role)
def leave(request: Request) -> Response:
    """End the session in this browser."""
    context = context_of(request)
    context.door.require_visitor(request)
    response = RedirectResponse("/join", HTTPStatus.SEE_OTHER)
    context.door.end_session(request, response)
    return response
