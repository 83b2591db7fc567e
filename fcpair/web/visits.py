"""Visits, with which endpoints are called; each says whose its address is: the visit of somebody who may ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from http import HTTPStatus
from typing import Annotated, Any, Self, get_type_hints

from fastapi import Depends, Request, Response
from fastapi.params import Depends as Dependency
from fastapi.responses import RedirectResponse

from fcpair import errors
from fcpair.known_pairs import PRACTISING
from fcpair.records import WORKERS, Role, RunRecord, Visitor
from fcpair.sentences import say
from fcpair.study import Study
from fcpair.web.context import Context, context_of, replace_commands
from fcpair.web.current_grid import CurrentGrid, LeadPage
from fcpair.web.languages import Language

STATUS: Mapping[type[errors.FcpairError], HTTPStatus] = {
    errors.UnknownVisitorError: HTTPStatus.UNAUTHORIZED,
    errors.RefusedError: HTTPStatus.FORBIDDEN,
    errors.UnknownIdError: HTTPStatus.NOT_FOUND,
    errors.ConflictError: HTTPStatus.CONFLICT,
    errors.StageError: HTTPStatus.CONFLICT,
    errors.InputError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.TooManyError: HTTPStatus.TOO_MANY_REQUESTS,
    errors.StudyError: HTTPStatus.SERVICE_UNAVAILABLE,
}
BUSY = say("the server is busy just now; nothing was changed. Please try again in a moment")
REFUSALS = (errors.ConflictError, errors.StageError, errors.InputError, errors.BusyError)  # of what a form asks for
READERS = (*WORKERS, Role.ADJUDICATOR)  # who reads the texts, and so consents first


def status_of(error: Exception) -> HTTPStatus:
    """The status that stands for an error of fcpair's own."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def go_to(address: str) -> Response:
    """Lead to another page, by GET."""
    return RedirectResponse(address, HTTPStatus.SEE_OTHER)


@dataclass(frozen=True)
class Visit:
    """A request of somebody who may make it; the `refusal` is that of what its form asks for, once that was refused."""

    request: Request
    context: Context
    visitor: Visitor
    refusal: errors.FcpairError | None = None

    @property
    def study(self) -> Study:
        """The study that is served."""
        return self.context.study

    @cached_property
    def here(self) -> CurrentGrid:
        """The grid that the address names; raises UnknownIdError if there is no such grid."""
        return self.context.grids.from_request(self.request)

    @cached_property
    def language(self) -> Language:
        """The language of the page."""
        return self.context.language_of(self.request, self.visitor)

    @cached_property
    def overviews(self) -> list[tuple[CurrentGrid, dict[str, Any]]]:
        """Each grid, and how far it is."""
        return self.context.grids.overview()

    @property
    def overview(self) -> dict[str, Any]:
        """Progress of the grid that the address names."""
        return next(overview for _, overview in self.overviews if overview["name"] == self.here.grid.grid.name)

    def translate(self, sentence: str, here: CurrentGrid | None = None) -> str:
        """A sentence of fcpair's in the language of the page."""
        return self.context.translate_sentence(sentence, self.visitor, self.language, here)

    def page(self, template: str, here: CurrentGrid | None = None, run: int = 0, /, **values: Any) -> Response:
        """A page from a template, about the grid `here` and what a `run` has `done`, if there are any.

        A refusal is the `problem` of its form, beside the field that is `wrong`, and gives the page its status.
        """
        done = next((record for record in self.study.log() if record.id == run), None) if run else None
        problem, wrong, status = "", "", HTTPStatus.OK
        if self.refusal:
            problem = replace_commands(self.translate(self.why, here), self.language)
            wrong, status = self.refusal.parameter, status_of(self.refusal)
        shown = {"done": done, "problem": problem, "wrong": wrong, **values}
        return self.context.page(self.request, self.visitor, template, here, status, **shown)

    def lead_page(self, template: str, page: LeadPage, run: int = 0, /, **values: Any) -> Response:
        """One of the lead's pages, about the grid that the address names, with links to the others if there are any."""
        grids = self.overviews if self.here.name else []
        return self.page(template, self.here, run, page=page, grids=grids, **values)

    @property
    def why(self) -> str:
        """The sentence of the refusal, in English; empty where nothing was refused."""
        return BUSY if isinstance(self.refusal, errors.BusyError) else str(self.refusal or "")

    def refused(self, refusal: errors.FcpairError) -> Self:
        """The same visit, after its form was refused."""
        return replace(self, refusal=refusal)

    def act(
        self, act: Callable[[], RunRecord], path: str, show: Callable[[Visit], Response] | None = None, /, **query: str
    ) -> Response:
        """Do something in the visitor's name, then show what was done on the page of a path, which may be loaded again.

        What is refused is said by the form that `shows` it, if there is one.
        """
        here = self.here
        try:
            with self.study.acting_as(self.visitor.name):
                run = act()
        except errors.FcpairError as refusal:
            if show is None or not (isinstance(refusal, REFUSALS) or refusal.parameter):
                raise
            return show(self.refused(refusal))
        return go_to(here.address(path, run=run.id, **query))


class ElsewhereError(Exception):
    """Whoever asks for a page has to see the one at this other address first."""


def enter_by(enter: Callable[..., Any], *roles: Role) -> Any:
    """The dependency by which an endpoint gets what `enter` makes of the visit of somebody in one of these roles."""
    vars(enter)["roles"] = frozenset(roles)
    return Depends(enter)


def open_to(*roles: Role) -> Any:
    """The dependency by which an endpoint gets the visit of somebody in one of these roles; run in the loop."""

    async def enter(request: Request) -> Visit:
        context = context_of(request)
        return Visit(request, context, context.door.require_visitor(request, frozenset(roles)))

    return enter_by(enter, *roles)


@cache
def roles_of(endpoint: Callable[..., Any]) -> frozenset[Role]:
    """Whose an endpoint is, by its signature; nobody's if strangers may call it too."""
    hints = get_type_hints(endpoint, include_extras=True).values()
    marks = (mark for hint in hints for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Dependency))
    return next((vars(mark.dependency)["roles"] for mark in marks if "roles" in vars(mark.dependency)), frozenset())


AnyVisit = Annotated[Visit, open_to(*Role)]
LeadVisit = Annotated[Visit, open_to(Role.LEAD)]
WorkerVisit = Annotated[Visit, open_to(*WORKERS)]
AdjudicatorVisit = Annotated[Visit, open_to(Role.ADJUDICATOR)]
ReaderVisit = Annotated[Visit, open_to(*READERS)]
ReaderOrLeadVisit = Annotated[Visit, open_to(*READERS, Role.LEAD)]
WorkerOrLeadVisit = Annotated[Visit, open_to(*WORKERS, Role.LEAD)]
PractisingVisit = Annotated[Visit, open_to(*PRACTISING)]
ValidatorVisit = Annotated[Visit, open_to(Role.VALIDATOR)]
LabellerVisit = Annotated[Visit, open_to(*(role for role in WORKERS if role is not Role.VALIDATOR))]
