"""Coming in by an invite link, and leaving."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Request, Response

from fcpair.errors import TooManyError
from fcpair.sentences import mark, mark_plural
from fcpair.web.context import context_of
from fcpair.web.form import Text
from fcpair.web.visits import AnyVisit, go_to

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


def show_farewell(request: Request, reason: str) -> Response:
    """Tell somebody who was dismissed why."""
    return context_of(request).page(request, None, "farewell.html.j2", None, HTTPStatus.FORBIDDEN, reason=reason)


@router.get("/join")
def ask_for_token(request: Request) -> Response:
    """Where an invite link leads; join.js posts the token."""
    context = context_of(request)
    return context.page(request, context.door.visitor(request), "join.html.j2", problem="")


@router.post("/join")
def join(request: Request, token: Text = "") -> Response:
    """Begin a session by a token; a whole invite link will do."""
    context, code = context_of(request), token.rpartition("#")[2].strip()
    context.door.check_origin(request)
    try:
        visitor = context.door.login_with_token(request, code)
    except TooManyError as error:
        problem = context.language(None).ngettext(*TOO_MANY_TOKENS, error.wait_s)
        page = context.page(request, None, "join.html.j2", None, HTTPStatus.TOO_MANY_REQUESTS, problem=problem)
        page.headers["Retry-After"] = str(error.wait_s)
        return page
    if visitor is None and (reason := context.study.access.farewell(code)):
        return show_farewell(request, reason)
    if visitor is None:
        problem = context.language(None).find(WRONG_TOKEN)
        return context.page(request, None, "join.html.j2", None, HTTPStatus.FORBIDDEN, problem=problem)
    response = go_to("/")
    context.door.open_session(request, response, visitor)
    return response


@router.post("/leave")
def leave(visit: AnyVisit) -> Response:
    """End the session in this browser."""
    response = go_to("/join")
    visit.context.door.end_session(visit.request, response)
    return response
