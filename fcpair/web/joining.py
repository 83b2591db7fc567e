"""Coming in by an invite link, and leaving."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.records import Role
from fcpair.web.context import Context
from fcpair.web.door import open_to

FORBIDDEN, SEE_OTHER = 403, 303
WRONG_TOKEN = (
    "This link does not work. It may have been replaced by a newer one: look for that, or ask the people who run the "
    "study for another."
)


def router(context: Context) -> APIRouter:
    """POST /join and POST /leave."""
    routes = APIRouter()
    door = context.door

    @routes.post("/join")
    def join(request: Request, token: Annotated[str, Form()] = "") -> Response:
        """Begin a session by a token; a whole invite link will do."""
        door.check_origin(request)
        visitor = door.knock(request, token.rpartition("#")[2].strip())
        if visitor is None:
            page = context.page(request, None, "join.html.j2", problem=WRONG_TOKEN)
            page.status_code = FORBIDDEN
            return page
        response = RedirectResponse("/", SEE_OTHER)
        door.open_session(request, response, visitor)
        return response

    @routes.post("/leave")
    @open_to(*Role)
    def leave(request: Request) -> Response:
        """End the session in this browser."""
        door.enter(request)
        response = RedirectResponse("/join", SEE_OTHER)
        door.end_session(request, response)
        return response

    return routes
