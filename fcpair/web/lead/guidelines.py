"""The guidelines, as the lead edits them: a preview, a new version, and every version that there was."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import BusyError, ConflictError, FcpairError, InputError, StageError
from fcpair.records import Role, Visitor
from fcpair.texts.differences import find_differences
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.errors import BUSY, status_of
from fcpair.web.form import field, parse_number
from fcpair.web.lead.navigation import GUIDELINES
from fcpair.web.lead.panels import SHOWN_BY, build_panels
from fcpair.web.lead.runs import find_run, redirect_to
from fcpair.web.page_hints import replace_commands
from fcpair.web.pages.markdown import render

router = APIRouter(include_in_schema=False)
NOT_SAVED = (ConflictError, StageError, InputError, BusyError)


def _show(
    request: Request, visitor: Visitor, body: str, run: int = 0, *, preview: bool = False, problem: str = ""
) -> Response:
    context = context_of(request)
    version, current_body = context.study.guidelines
    versions = _show_versions(context.study.guideline_versions())
    values = {"version": version, "now": current_body, "body": body, "versions": versions}
    values |= {"preview": render(body) if preview else None, "done": find_run(context.study.log(), run)}
    values["readers"] = context.study.guideline_readers()
    here = context.grids.from_request(request)
    values |= {"problem": problem, "page": GUIDELINES, "panels": build_panels(request, visitor, here, GUIDELINES)}
    values["grids"] = context.grids.overview() if here.name else []
    return context.page(request, visitor, "lead_guidelines.html.j2", here, **SHOWN_BY, **values)


def _show_versions(versions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The versions, newest first, each with its `html` and how it differs from the one before (`changes`)."""
    before = ["", *(one["body"] for one in versions)]
    shown = [
        {**one, "html": render(one["body"]), "changes": find_differences(earlier, one["body"])}
        for one, earlier in zip(versions, before, strict=False)
    ]
    return shown[::-1]


def _show_not_saved(request: Request, visitor: Visitor, text: str, error: FcpairError) -> Response:
    """The same page with what was sent, and why it does not hold; to save it again is to mean it."""
    context = context_of(request)
    language = context.language(visitor)
    reason = context.translate_sentence(BUSY if isinstance(error, BusyError) else str(error), visitor, language)
    page = _show(request, visitor, text, problem=replace_commands(reason, language))
    page.status_code = status_of(error)
    return page


@router.get(GUIDELINES.path)
@open_to(Role.LEAD)
def guidelines(request: Request, run: int = 0) -> Response:
    """The version that holds, to be edited, and those before it."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    return _show(request, visitor, context.study.guidelines[1], run)


@router.post(GUIDELINES.path)
@open_to(Role.LEAD)
def edit(request: Request) -> Response:
    """Show how the text will look, or let it hold from now on.

    The form is read here and in a thread: FastAPI takes no field of more than 1 MiB, and decodes while all wait.
    """
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    text = field(request, "body").replace("\r\n", "\n")
    if field(request, "act") != "save":
        return _show(request, visitor, text, preview=True)
    try:
        run = context.study.edit_guidelines(text, by=visitor.name, seen=parse_number(field(request, "version")) or 0)
    except NOT_SAVED as error:
        return _show_not_saved(request, visitor, text, error)
    return redirect_to(context.grids.from_request(request), GUIDELINES.path, run)


@router.post("/lead/guidelines/flags")
@open_to(Role.LEAD)
def place_flag(request: Request, pair: Annotated[int, Form()], sentence: Annotated[str, Form()] = "") -> Response:
    """Put a flagged pair at a sentence of the guidelines, or at none."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    with context.study.acting_as(visitor.name):
        run = here.grid.place_flag(pair, sentence)
    return redirect_to(here, f"{GUIDELINES.path}#flags", run)
