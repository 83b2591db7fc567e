"""The adjudicators' pages: one conflict at a time, and the list of what is decided."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.errors import ConflictError
from fcpair.grid import Case, Decided, Ruling
from fcpair.records import Role, Rule, Visitor
from fcpair.web.context import Context
from fcpair.web.direction import direction
from fcpair.web.door import open_to
from fcpair.web.markdown import render
from fcpair.web.schemas import LARGEST_ID, LONGEST_NOTE, Note, RequestId, Word

SEE_OTHER = 303
CONFLICT = 409
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
PAGE = 30  # decisions on one page of the list
REASONS = {
    Rule.UNANIMOUS: "the labels agree",
    Rule.MAJORITY: "majority of the labels",
    Rule.NO_MAJORITY: "no majority",
    Rule.MEDIAN: "median of the labels",
    Rule.NO_MEDIAN: "no median",
    Rule.IMPORTED: "from a file",
}

PairId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Number = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]
SentNumber = Annotated[int | None, Form(ge=1, le=LARGEST_ID)]
SentId = Annotated[RequestId, Form()]


def _keys(choices: Sequence[str]) -> list[str]:
    """The key of each choice: its place, from 1, but x of the last one; of a number, which must be its own key, itself.

    None, an empty string, where that takes more than one key.
    """
    keys = [name if _NUMBER.fullmatch(name) else str(at) for at, name in enumerate(choices[:-1], 1)]
    return [*(key if len(key) == 1 else "" for key in keys), "x"]


def router(context: Context) -> APIRouter:
    """Every page that adjudicators see."""
    routes = APIRouter()
    pages = _Pages(context)
    _list(routes, pages)
    _queue(routes, pages)
    return routes


class _Pages:
    """What the routes show."""

    def __init__(self, context: Context) -> None:
        self.context, self.door, self.docket = context, context.door, context.docket

    def enter(self, request: Request) -> tuple[Visitor, Response | None]:
        """The adjudicator, and where to send one who has not consented yet."""
        visitor = self.door.enter(request)
        return visitor, None if visitor.consented else RedirectResponse("/welcome", SEE_OTHER)

    def case(
        self, request: Request, visitor: Visitor, case: Case | None, problem: str = "", *, revealed: bool = False
    ) -> Response:
        """The page with one case, or with none; `revealed` shows an HS that the visitor has hidden."""
        values: dict[str, Any] = {
            "case": case,
            "keys": _keys(case.choices) if case else (),
            "queue": self.docket.state(visitor.id),
            "reading": self.docket.allowance(visitor.id),
            "revealed": revealed,
            "undoable": self._undoable(visitor, case),
            "problem": problem,
            "guidelines": render(self.context.study.guidelines[1]),
            "new_request": lambda: secrets.token_hex(16),
            "longest": LONGEST_NOTE,
            "direction": direction,
        }
        page = self.context.page(request, visitor, "adjudicate.html.j2", **values)
        page.status_code = CONFLICT if problem else page.status_code
        return page

    def _undoable(self, visitor: Visitor, case: Case | None) -> tuple[int, str] | None:
        """The decision that the visitor can take back here, by pair and outcome: the one that is shown, or the last."""
        if case is not None and case.own and case.outcome is not None:
            return case.cell_id, case.outcome
        last = self.docket.decided(visitor.id, limit=1)
        return (last[0].cell_id, last[0].outcome) if last else None

    def reveal(self, request: Request, visitor: Visitor, ruling: Ruling) -> Response:
        """The same case with its HS shown, and with what was typed."""
        case = replace(self.docket.case(visitor.id, ruling.cell_id), note=ruling.note, flagged=ruling.flagged)
        return self.case(request, visitor, case, revealed=True)

    def overtaken(self, request: Request, visitor: Visitor, cell_id: int, problem: str, ruling: Ruling) -> Response:
        """Why a decision was not taken, with the same case and what was sent in, if it can still be decided."""
        try:
            again = self.docket.case(visitor.id, cell_id)
        except ConflictError:
            return self.case(request, visitor, self.docket.next(visitor.id, cell_id), problem)
        return self.case(request, visitor, replace(again, note=ruling.note, flagged=ruling.flagged), problem)


def _list(routes: APIRouter, pages: _Pages) -> None:
    @routes.get("/adjudicate/decided")
    @open_to(Role.ADJUDICATOR)
    def decided(request: Request, before: Number = None, mine: bool = False) -> Response:
        """What is decided and by whom, newest first."""
        visitor, elsewhere = pages.enter(request)
        if elsewhere:
            return elsewhere
        found = pages.docket.decided(visitor.id if mine else None, PAGE + 1, before)
        values = {
            "decisions": [(one, _reason(one)) for one in found[:PAGE]],
            "older": found[PAGE - 1].decision_id if len(found) > PAGE else None,
            "mine": mine,
            "before": before,
            "direction": direction,
        }
        return pages.context.page(request, visitor, "adjudicate_decided.html.j2", **values)


def _reason(decided: Decided) -> str:
    by = [decided.by] if decided.by else []
    return ", ".join([*by, *([REASONS[decided.rule]] if decided.rule in REASONS else [])])


def _queue(routes: APIRouter, pages: _Pages) -> None:
    docket = pages.docket

    @routes.get("/adjudicate")
    @open_to(Role.ADJUDICATOR)
    def next_(request: Request, after: Number = None) -> Response:
        """The next conflict, or that none waits."""
        visitor, elsewhere = pages.enter(request)
        return elsewhere or pages.case(request, visitor, docket.next(visitor.id, after))

    @routes.post("/adjudicate")
    @open_to(Role.ADJUDICATOR)
    def decide(
        request: Request,
        request_id: SentId,
        cell_id: Annotated[int, Form(ge=1, le=LARGEST_ID)],
        outcome: Annotated[Word, Form()],
        note: Annotated[Note, Form()] = "",
        flagged: Annotated[bool, Form()] = False,
        seen_decision_id: SentNumber = None,
        seen_answer_id: SentNumber = None,
        veiled: Annotated[bool, Form()] = False,
    ) -> Response:
        """Keep a decision, then show the next conflict; while the HS is hidden, show that instead."""
        visitor, elsewhere = pages.enter(request)
        if elsewhere:
            return elsewhere
        ruling = Ruling(request_id, cell_id, outcome, note.strip(), flagged, seen_decision_id, seen_answer_id)
        if veiled:
            return pages.reveal(request, visitor, ruling)
        try:
            docket.decide(visitor.id, ruling)
        except ConflictError as error:
            return pages.overtaken(request, visitor, cell_id, str(error), ruling)
        return RedirectResponse(f"/adjudicate?after={cell_id}", SEE_OTHER)

    @routes.get("/adjudicate/{cell_id}")
    @open_to(Role.ADJUDICATOR)
    def look(request: Request, cell_id: PairId) -> Response:
        """One conflict, or one's own decision on it, to change it."""
        visitor, elsewhere = pages.enter(request)
        if elsewhere:
            return elsewhere
        try:
            return pages.case(request, visitor, docket.case(visitor.id, cell_id))
        except ConflictError as error:
            return pages.case(request, visitor, docket.next(visitor.id, cell_id), str(error))

    @routes.post("/adjudicate/{cell_id}/undo")
    @open_to(Role.ADJUDICATOR)
    def undo(request: Request, cell_id: PairId, request_id: SentId) -> Response:
        """Take one's own decision back, then show the pair again."""
        visitor, elsewhere = pages.enter(request)
        if elsewhere:
            return elsewhere
        try:
            docket.undo(visitor.id, cell_id, request_id)
        except ConflictError as error:
            return pages.case(request, visitor, docket.next(visitor.id), str(error))
        return RedirectResponse(f"/adjudicate/{cell_id}", SEE_OTHER)
