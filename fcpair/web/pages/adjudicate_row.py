"""The adjudicators' page of one row: all its conflicts on one screen, below the text that they share."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.errors import ConflictError
from fcpair.grid import CaseOrder, DecisionRequest
from fcpair.records import Role
from fcpair.web.api.schemas import LONGEST_NOTE
from fcpair.web.auth import open_to
from fcpair.web.pages.adjudicate import (
    AdjudicatorPages,
    Number,
    Ruling,
    Veiled,
    show_to_adjudicator,
    with_input,
)
from fcpair.web.pages.markdown import render

router = APIRouter(include_in_schema=False)
PAGE = "/adjudicate/row"


class _RowPages(AdjudicatorPages):
    """One visitor's conflicts in one grid, row by row."""

    def show_row(
        self, pair: int, problem: str = "", sent: DecisionRequest | None = None, *, revealed: bool = False
    ) -> Response:
        """The conflicts in the row of a pair, with what was `sent` in and not kept.

        `revealed` shows a text of the row that the visitor has hidden.
        """
        cases = self.queue.row_cases(self._visitor.id, pair, self._queue)
        cases = [with_input(case, sent) if sent and sent.cell_id == case.cell_id else case for case in cases]
        reading = self.queue.reading_allowance(self._visitor.id)
        values: dict[str, Any] = {
            "pair": pair,
            "cases": cases,
            "n_in_row": self.queue.n_in_row(self._visitor.id, pair, self._queue),
            "address": self.address,
            "onward": self.address(PAGE, after=cases[-1].cell_id if cases else pair),
            "reading": reading,
            "limit": self._translate(reading.limit or ""),
            "undoable": self._undoable_decision(None),
            "veiled": self._visitor.blurred and not revealed,
            "problem": self._translate(problem),
            "guidelines": render(self._context.study.guidelines[1]),
            "new_request": lambda: secrets.token_hex(16),
            "longest": LONGEST_NOTE,
        }
        page = self.show_page("adjudicate_row.html.j2", **values)
        page.status_code = HTTPStatus.CONFLICT if problem else page.status_code
        return page

    def show_next_row(self, after: int | None) -> Response:
        """The row of the case that comes next, row by row; without any, the page that says so."""
        case = self.queue.next(self._visitor.id, after, queue=self._queue, order=CaseOrder.ROW)
        if case is None:
            return RedirectResponse(self.address("/adjudicate"), HTTPStatus.SEE_OTHER)
        return RedirectResponse(self.address(PAGE, pair=case.cell_id), HTTPStatus.SEE_OTHER)

    def decide_in_row(self, ruling: DecisionRequest, *, veiled: bool) -> Response:
        """Keep a decision, then show what is left of the row; while its text is hidden, show that instead."""
        if veiled:
            return self.show_row(ruling.cell_id, sent=ruling, revealed=True)
        try:
            self.queue.decide(self._visitor.id, ruling)
        except ConflictError as error:
            return self.show_row(ruling.cell_id, str(error), ruling, revealed=True)
        return RedirectResponse(self.address(PAGE, pair=ruling.cell_id), HTTPStatus.SEE_OTHER)


@router.get(PAGE)
@open_to(Role.ADJUDICATOR)
def row(request: Request, pair: Number = None, after: Number = None, shown: bool = False) -> Response:
    """All conflicts in the row of a pair; without one, those of the row that comes next."""
    return show_to_adjudicator(
        request,
        lambda desk: desk.show_next_row(after) if pair is None else desk.show_row(pair, revealed=shown),
        _RowPages,
        anywhere=pair is None,
    )


@router.post(PAGE)
@open_to(Role.ADJUDICATOR)
def decide(request: Request, ruling: Ruling, veiled: Veiled = False) -> Response:
    """Keep a decision, then show what is left of its row."""
    return show_to_adjudicator(request, lambda desk: desk.decide_in_row(ruling, veiled=veiled), _RowPages)
