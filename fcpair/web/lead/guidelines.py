"""The guidelines, as the lead edits them: a preview, a new version, and every version that there was."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Form, Response

from fcpair.stages.answers.curation import find_differences
from fcpair.web.form import Text, field, parse_number
from fcpair.web.lead.navigation import GUIDELINES
from fcpair.web.lead.panels import build_panels
from fcpair.web.pages.markdown import render
from fcpair.web.visits import LeadVisit, Visit

router = APIRouter(include_in_schema=False)


def _show(visit: Visit, body: str, run: int = 0, *, preview: bool = False) -> Response:
    version, current_body = visit.study.guidelines
    values = {
        "page": GUIDELINES,
        "panels": build_panels(visit, GUIDELINES),
        "grids": visit.grid_links(),
        "version": version,
        "now": current_body,
        "body": body,
        "versions": _show_versions(visit.study.guideline_versions()),
        "preview": render(body) if preview else None,
        "readers": visit.study.guideline_readers(),
    }
    return visit.page("lead_guidelines.html.j2", visit.here, run, **values)


def _show_versions(versions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The versions, newest first, each with its `html` and how it differs from the one before (`changes`)."""
    before = ["", *(one["body"] for one in versions)]
    shown = [
        {**one, "html": render(one["body"]), "changes": find_differences(earlier, one["body"])}
        for one, earlier in zip(versions, before, strict=False)
    ]
    return shown[::-1]


@router.get(GUIDELINES.path)
def guidelines(visit: LeadVisit, run: int = 0) -> Response:
    """The version that holds, to be edited, and those before it."""
    return _show(visit, visit.study.guidelines[1], run)


@router.post(GUIDELINES.path)
def edit(visit: LeadVisit) -> Response:
    """Show how the text will look, or let it hold from now on.

    The form is read here and in a thread: FastAPI takes no field of more than 1 MiB, and decodes while all wait.
    """
    request, study = visit.request, visit.study
    text, seen = field(request, "body").replace("\r\n", "\n"), parse_number(field(request, "version")) or 0
    if field(request, "act") != "save":
        return _show(visit, text, preview=True)
    save = partial(study.edit_guidelines, text, by=visit.visitor.name, seen=seen)
    return visit.act(save, GUIDELINES.path, lambda refused: _show(refused, text))


@router.post("/lead/guidelines/flags")
def place_flag(visit: LeadVisit, pair: Annotated[int, Form()], sentence: Text = "") -> Response:
    """Put a flagged pair at a sentence of the guidelines, or at none."""
    return visit.act(lambda: visit.here.grid.desk.place_flag(pair, sentence), f"{GUIDELINES.path}#flags")
