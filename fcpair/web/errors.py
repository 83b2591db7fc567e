"""Responses when something is wrong: JSON under /api, a page elsewhere."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from fcpair.errors import BusyError, FcpairError, StageError, StudyError, TooManyError, UnknownVisitorError
from fcpair.sentences import mark, say
from fcpair.web.context import context_of, replace_commands
from fcpair.web.languages import ENGLISH
from fcpair.web.pages.participant import show_farewell
from fcpair.web.schemas import NO_NUL
from fcpair.web.server.security import FAILED, NOT_NOW
from fcpair.web.visits import BUSY, STATUS, ElsewhereError, go_to, roles_of, status_of

NOWHERE = say("there is nothing at this address")
SENTENCES = {
    HTTPStatus.METHOD_NOT_ALLOWED: say("this address does not support this method"),
    HTTPStatus.BAD_REQUEST: say("the request cannot be read; expected JSON in UTF-8"),
    HTTPStatus.SERVICE_UNAVAILABLE: NOT_NOW,
}
SOMETHING_WRONG = mark("Something is wrong")
HEADINGS = {
    HTTPStatus.FORBIDDEN: mark("You cannot see or do this"),
    HTTPStatus.NOT_FOUND: mark("There is nothing here"),
    HTTPStatus.CONFLICT: mark("The study has moved on"),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: mark("That was too much at once"),
    HTTPStatus.UNPROCESSABLE_ENTITY: mark("The form asks for something that cannot be done"),
    HTTPStatus.TOO_MANY_REQUESTS: mark("Too many attempts"),
    HTTPStatus.INTERNAL_SERVER_ERROR: mark("Something has gone wrong here"),
    HTTPStatus.SERVICE_UNAVAILABLE: mark("The study cannot be reached just now"),
}
_log = logging.getLogger("fcpair.web")


class ErrorHandlers:
    """Answers errors; the statuses of fcpair's own are those of STATUS, 500 for any other."""

    def by_kind(self) -> dict[Any, Callable[..., Response]]:
        """The handler of each kind of error."""
        return {
            **dict.fromkeys(STATUS, self.answer_known),
            RequestValidationError: self.answer_invalid,
            HTTPException: self.answer_http,
            OSError: self.answer_machine,
            ElsewhereError: lambda _request, error: go_to(str(error)),
            Exception: self.answer_defect,
        }

    def answer_known(self, request: Request, error: Exception) -> Response:
        """Respond to an error that a user can cause."""
        status = status_of(error)
        if isinstance(error, UnknownVisitorError) and not _is_api(request):
            if reason := context_of(request).door.farewell(request):
                return show_farewell(request, reason)
            if "hx-request" in request.headers:  # a redirect would put the page into the place of a part of one
                return Response(status_code=HTTPStatus.UNAUTHORIZED, headers={"HX-Redirect": "/join"})
            return go_to("/join")
        headers = {"WWW-Authenticate": "Bearer"} if status is HTTPStatus.UNAUTHORIZED else {}
        if isinstance(error, TooManyError | BusyError):
            headers["Retry-After"] = str(error.wait_s)
        if isinstance(error, BusyError):  # a page tries again by itself; what was sent to be kept is not sent again
            headers |= {"Refresh": str(error.wait_s)} if request.method == "GET" else {}
            return self._answer(request, status, BUSY, headers, mark("One moment, please"))
        if isinstance(error, StudyError):  # names the place of the file, which is for those who run the server
            _log.error("%s %s: %s", request.method, quote(request.url.path), error)
        heading = mark("The study is not at this stage") if isinstance(error, StageError) else ""
        return self._answer(request, status, SENTENCES.get(status, str(error)), headers, heading)

    def answer_invalid(self, request: Request, error: Exception) -> Response:
        """Refuse what does not have its declared shape; only whose route it is learns how, and nothing is sent back."""
        if refused := self._login_refusal(request):
            return refused
        findings = []
        for fault in cast(RequestValidationError, error).errors():
            # One of what cannot be read is the same for all reasons.
            message = fault["ctx"]["error"] if fault["type"] == "json_invalid" else fault["msg"]
            if fault.get("ctx", {}).get("pattern") == NO_NUL:
                message = "a text cannot hold the character NUL"
            loc = [_replace_surrogates(part) if isinstance(part, str) else part for part in fault["loc"]]
            findings.append({"loc": loc, "msg": _replace_surrogates(message), "type": fault["type"]})
        if _is_api(request):
            return JSONResponse({"detail": findings}, HTTPStatus.UNPROCESSABLE_ENTITY)
        reason = "; ".join(f"{finding['loc'][-1]}: {finding['msg']}" for finding in findings)
        sentence = say("the form cannot be read: %(reason)s", reason=reason)
        return self._answer(request, HTTPStatus.UNPROCESSABLE_ENTITY, sentence, {})

    def answer_http(self, request: Request, error: Exception) -> Response:
        """Respond to what the framework itself refuses; a body that cannot be read, only to those whose route it is."""
        refused = cast(HTTPException, error)
        status = HTTPStatus(refused.status_code)
        if status is HTTPStatus.BAD_REQUEST and (refusal := self._login_refusal(request)):
            return refusal
        sentence = NOWHERE if status is HTTPStatus.NOT_FOUND else SENTENCES.get(status, str(refused.detail))
        if status is HTTPStatus.BAD_REQUEST and not _is_api(request):
            sentence = say("the form that was sent cannot be read")
        return self._answer(request, status, sentence, refused.headers or {})

    def _login_refusal(self, request: Request) -> Response | None:
        """Response by which the door refuses a request that did not reach its endpoint; None where it lets it in."""
        if not (roles := roles_of(request.scope["endpoint"])):
            return None
        try:
            context_of(request).door.require_visitor(request, roles)
        except FcpairError as refusal:
            return self.answer_known(request, refusal)
        return None

    def answer_machine(self, request: Request, error: Exception) -> Response:
        """Respond to an error of the machine: to a disk that is full or read-only like to a study that is."""
        if cast(OSError, error).errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            raise error
        return self.answer_known(request, StudyError(str(error)))

    def answer_defect(self, request: Request, error: Exception) -> Response:
        """Any other error; the guard logs where it arose."""
        return self._answer(request, HTTPStatus.INTERNAL_SERVER_ERROR, FAILED, {})

    def _answer(
        self, request: Request, status: HTTPStatus, sentence: str, headers: Mapping[str, str], heading: str = ""
    ) -> Response:
        """JSON or a page, in the visitor's language; who is not known yet is not looked up: that may be what failed."""
        visitor = context_of(request).door.cached_visitor(request)
        is_unread = _is_api(request) and (visitor is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR)
        language = ENGLISH if is_unread else context_of(request).language_of(request, visitor)
        sentence = context_of(request).translate_sentence(sentence, visitor, language)
        if _is_api(request):
            return JSONResponse({"detail": sentence}, status, headers)
        page = context_of(request).page(
            request,
            visitor,
            "error.html.j2",
            None,
            status,
            status=status.value,
            title=language.find(SOMETHING_WRONG),
            sentence=replace_commands(sentence, language),
            heading=language.find(heading or HEADINGS.get(status, SOMETHING_WRONG)),
            language=language,
        )
        page.headers.update(headers)
        return page


def _is_api(request: Request) -> bool:
    return request.url.path.startswith("/api/")


def _replace_surrogates(text: str) -> str:
    """The text, with a mark in the place of what UTF-8 cannot hold: names of unknown keys are the sender's."""
    return text.encode("utf-8", "replace").decode()
