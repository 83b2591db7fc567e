"""The known pairs on which people practise, as the lead gives them: pasted as a table, looked at, then set."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from fastapi import APIRouter, Response

from fcpair.errors import ConflictError, FcpairError, InputError
from fcpair.files.answers.known_items import format_known_items
from fcpair.known_pairs import COLUMNS, KnownItem, Practice
from fcpair.sentences import Id, join, say
from fcpair.web.form import field
from fcpair.web.lead.navigation import GUIDELINES
from fcpair.web.visits import REFUSALS, LeadVisit, Visit

router = APIRouter(include_in_schema=False)
PAGE = "/lead/guidelines/practice"
OVERTAKEN = say("somebody else has set other pairs since this page was loaded; save again to put yours in their place")


def _show(visit: Visit, text: str, checked: Sequence[KnownItem] | None = None) -> Response:
    """The table to be edited; where it was `checked`, its pairs as they would be asked, to be set."""
    items = visit.study.known_items()
    values = {"n_items": len(items), "seen": _mark(items), "columns": COLUMNS, "text": text, "checked": checked}
    return visit.page("lead_practice.html.j2", visit.here, **values)


def _mark(items: Sequence[KnownItem]) -> str:
    """What tells whether the pairs are those that a page showed."""
    return hashlib.sha256(format_known_items(items).encode()).hexdigest()[:12]


@router.get(PAGE)
def practice_items(visit: LeadVisit) -> Response:
    """The pairs on which people practise, as a table to be edited."""
    return _show(visit, format_known_items(visit.study.known_items()))


@router.post(PAGE)
def edit(visit: LeadVisit) -> Response:
    """Show the pairs of a table as they would be asked; once that was confirmed, let people practise on them."""
    text, act, items = field(visit.request, "table").replace("\r\n", "\n"), field(visit.request, "act"), None
    try:
        items = visit.study.read_practice_text(text) if text.strip() else []
        if act == "save" and field(visit.request, "seen") != _mark(visit.study.known_items()):
            raise ConflictError(OVERTAKEN)
    except REFUSALS as refusal:
        return _show(visit.refused(_line_by_line(refusal)), text, items)
    if act != "save":
        return _show(visit, text, items)
    practice = Practice(items=tuple(item._asdict() for item in items))
    return visit.act(lambda: visit.study.save_practice(practice), GUIDELINES.path)


def _line_by_line(refusal: FcpairError) -> FcpairError:
    """What is wrong with a table, with the line of each error, and without the name of a file, which it has not."""
    lines = [
        say("line %(number)s: %(problem)s", number=Id(one.line), problem=one.message)
        for one in getattr(refusal, "findings", ())
        if one.line
    ]
    return InputError(join(lines, "; ")) if lines else refusal
