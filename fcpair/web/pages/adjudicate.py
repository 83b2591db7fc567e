"""The adjudicators' pages: one conflict at a time, and the list of what is decided."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Form, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.errors import ConflictError, InputError
from fcpair.grid import CaseOrder, CaseQueue, ConflictCase, DecidedCase, DecisionRequest, DecisionSearch
from fcpair.records import Role, Rule, Visitor
from fcpair.web.api.schemas import LARGEST_ID, LONGEST_NOTE, MOST_AHEAD, Note, RequestId, Word
from fcpair.web.auth import open_to
from fcpair.web.context import Context, context_of
from fcpair.web.current_grid import GRID, CurrentGrid
from fcpair.web.languages import Language
from fcpair.web.page_phrases import mark, mark_plural
from fcpair.web.pages.markdown import render
from fcpair.web.text_direction import direction

router = APIRouter(include_in_schema=False)
PAGE = 30  # decisions on one page of the list
LONGEST_SEARCH = 200  # characters
REASONS = {
    Rule.UNANIMOUS: mark("the labels agree"),
    Rule.MAJORITY: mark("majority of the labels"),
    Rule.NO_MAJORITY: mark("no majority"),
    Rule.MEDIAN: mark("median of the labels"),
    Rule.NO_MEDIAN: mark("no median"),
    Rule.IMPORTED: mark("from a file"),
}

QUEUES = {
    CaseQueue.ALL: mark_plural("all %(n)s", "all %(n)s"),
    CaseQueue.UNSURE: mark_plural("%(n)s not sure", "%(n)s not sure"),
    CaseQueue.FLAGGED: mark_plural("%(n)s flagged", "%(n)s flagged"),
    CaseQueue.AGAIN: mark_plural("%(n)s for a second look", "%(n)s for a second look"),
}
YOU, NO_PERSON = mark("you"), mark("a rule, or a file")
Choice = TypeVar("Choice", CaseQueue, CaseOrder)

PairId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Number = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]
Sought = Annotated[str, Query(max_length=LONGEST_SEARCH)]
SentNumber = Annotated[int | None, Form(ge=1, le=LARGEST_ID)]
SentId = Annotated[RequestId, Form()]


class AdjudicatorPages:
    """One visitor's conflicts in one grid, and what the routes show of them.

    The address names the queue and the order of the cases, and so does every link and form of the page.
    """

    def __init__(self, context: Context, request: Request, visitor: Visitor, here: CurrentGrid) -> None:
        self._context, self._request, self._visitor, self.here = context, request, visitor, here
        self.queue = context.adjudication_queue(here)
        self._language = context.language(visitor)
        self._queue = _parse_choice(request, "queue", CaseQueue.ALL)
        self._order = _parse_choice(request, "order", CaseOrder.SPREAD)
        self._estimates = getattr(request.app.state, "aside", None) is None  # else the process that looks does

    def address(self, path: str, **query: Any) -> str:
        """An address in this grid that keeps the queue and the order, unless `query` names others."""
        choice = {"queue": self._queue, "order": self._order} | query
        is_usual = {"queue": CaseQueue.ALL, "order": CaseOrder.SPREAD}
        return self.here.address(path, **{name: it for name, it in choice.items() if is_usual.get(name) != it})

    def show_case(self, case: ConflictCase | None, problem: str = "", *, revealed: bool = False) -> Response:
        """The page with one case, or with none; `revealed` shows an HS that the visitor has hidden."""
        counts = self.queue.n_in_queues(self._visitor.id)
        reading = self.queue.reading_allowance(self._visitor.id)
        values: dict[str, Any] = {
            "case": case,
            "address": self.address,
            "queue": self.queue.state(self._visitor.id),
            "queues": self._queue_links(counts),
            "is_by_row": self._order is CaseOrder.ROW,
            "awaits_order": self._order is CaseOrder.DOUBT and not self.queue.is_ranked,
            "other_orders": {one: self.address("/adjudicate", order=one) for one in CaseOrder if one != self._order},
            "left": in_words(self.queue.left_s(self._visitor.id, counts[self._queue]), self._language),
            "elsewhere": self._waiting_elsewhere(),
            "reading": reading,
            "limit": self._translate(reading.limit or ""),
            "revealed": revealed,
            "n_in_row": self.queue.n_in_row(self._visitor.id, case.cell_id, self._queue) if case else 0,
            "undoable": self._undoable_decision(case),
            "problem": self._translate(problem),
            "guidelines": render(self._context.study.guidelines[1]),
            "new_request": lambda: secrets.token_hex(16),
            "longest": LONGEST_NOTE,
        }
        page = self.show_page("adjudicate.html.j2", **values)
        page.status_code = HTTPStatus.CONFLICT if problem else page.status_code
        return page

    def _translate(self, sentence: str) -> str:
        return self._context.translate_sentence(sentence, self._visitor, self._language, self.here)

    def show_page(self, name: str, **values: Any) -> Response:
        """A page about this grid."""
        return self._context.page(self._request, self._visitor, name, self.here, direction=direction, **values)

    def show_next(self, after: int | None = None, problem: str = "", *, n_ahead: int = 0) -> Response:
        """The next case, if any waits; `n_ahead` of the visitor's are at hand already."""
        choice = (self._queue, self._order)
        case = self.queue.next(self._visitor.id, after, n_ahead, *choice, estimates=self._estimates)
        return self.show_case(case, problem)

    def _queue_links(self, counts: dict[CaseQueue, int]) -> list[tuple[str, str, bool]]:
        """The queues in which there is anything, and the one that is shown: words, address, whether it is that one."""
        queues = (one for one in CaseQueue if counts[one] or one is self._queue or one is CaseQueue.ALL)
        return [
            (
                self._language.ngettext(*QUEUES[one], counts[one]),
                self.address("/adjudicate", queue=one),
                one is self._queue,
            )
            for one in queues
        ]

    def show_pair(self, cell_id: int) -> Response:
        """The case of a pair, or why there is none, with the next one."""
        try:
            return self.show_case(self.queue.case(self._visitor.id, cell_id))
        except ConflictError as error:
            return self.show_next(cell_id, str(error))

    def _waiting_elsewhere(self) -> list[tuple[CurrentGrid, int]]:
        """Count what waits in each other grid, where anything does."""
        if not self.here.name:
            return []
        others = (one for one in self._context.grids.with_policy() if one.name != self.here.name)
        waiting = ((one, self._context.adjudication_queue(one).state(self._visitor.id).waiting) for one in others)
        return [(one, n) for one, n in waiting if n]

    def _undoable_decision(self, case: ConflictCase | None) -> tuple[int, str] | None:
        """The decision that the visitor can take back here, by pair and outcome: the one that is shown, or the last."""
        if case is not None and case.own and case.outcome is not None:
            return case.cell_id, case.outcome
        last = self.queue.decisions(self._visitor.id, limit=1)
        return (last[0].cell_id, last[0].outcome) if last else None

    def decide(self, ruling: DecisionRequest, *, veiled: bool) -> Response:
        """Keep a decision, then show the next conflict; while the HS is hidden, show that instead."""
        if veiled:
            return self.show_case(with_input(self.queue.case(self._visitor.id, ruling.cell_id), ruling), revealed=True)
        try:
            self.queue.decide(self._visitor.id, ruling)
        except ConflictError as error:
            return self._show_overtaken(ruling, str(error))
        return RedirectResponse(self.address("/adjudicate", after=ruling.cell_id), HTTPStatus.SEE_OTHER)

    def _show_overtaken(self, ruling: DecisionRequest, problem: str) -> Response:
        """Why a decision was not taken, with the same case and what was sent in, if it can still be decided."""
        try:
            again = self.queue.case(self._visitor.id, ruling.cell_id)
        except ConflictError:
            return self.show_next(ruling.cell_id, problem)
        return self.show_case(with_input(again, ruling), problem)

    def undo(self, cell_id: int, request_id: str) -> Response:
        """Take one's own decision back, then show the pair again."""
        try:
            self.queue.undo(self._visitor.id, cell_id, request_id)
        except ConflictError as error:
            return self.show_next(problem=str(error))
        return RedirectResponse(self.address(f"/adjudicate/{cell_id}"), HTTPStatus.SEE_OTHER)

    def lead_to_own_decisions(self) -> Response:
        """Lead from the address that the visitor's own decisions had up to 0.7 to the search that finds them."""
        return RedirectResponse(self.here.address("/adjudicate/decided", by=self._visitor.name), HTTPStatus.SEE_OTHER)

    def show_decided(self, before: int | None, search: DecisionSearch) -> Response:
        """Show what is decided and by whom, as far as a search finds, newest first."""
        decisions = self.queue.decisions(None, PAGE + 1, before, search, reader=self._visitor.id)
        values = {
            "decisions": [(one, _reason(one, self._language)) for one in decisions[:PAGE]],
            "older": decisions[PAGE - 1].decision_id if len(decisions) > PAGE else None,
            "before": before,
            "search": search,
            "query": _search_query(search),
            "outcomes": self.queue.outcomes(),
            "deciders": self._named_deciders(),
            "longest": LONGEST_SEARCH,
        }
        return self.show_page("adjudicate_decided.html.j2", **values)

    def _named_deciders(self) -> list[tuple[str, str]]:
        """Who decides, the visitor first: each as an address has them, and as people read it."""
        others = [name for name in self.queue.deciders() if name != self._visitor.name]
        nobody = (DecisionSearch.NO_PERSON, self._language.find(NO_PERSON))
        return [(self._visitor.name, self._language.find(YOU)), *((name, name) for name in others), nobody]


Pages = TypeVar("Pages", bound=AdjudicatorPages)


def _parse_choice(request: Request, name: str, usual: Choice) -> Choice:
    """What the address names; raises InputError with the names there are."""
    choices = {choice.value: choice for choice in type(usual)}
    word = request.query_params.get(name, usual.value)
    if word not in choices:
        raise InputError(f"there is no {name} `{word}`; expected one of {', '.join(choices)}")
    return choices[word]


def in_words(seconds: float | None, language: Language) -> str:
    """About how long that is; empty where it is not known, or nothing is left."""
    if not seconds:
        return ""
    minutes = round(seconds / 60)
    if minutes <= 1:
        return language.find(mark("about a minute"))
    if minutes < 90:
        return language.gettext(mark("about %(n)s min"), n=minutes if minutes <= 20 else 5 * round(minutes / 5))
    return language.gettext(mark("about %(n)s h"), n=language.number(round(minutes / 30) / 2))


def with_input(case: ConflictCase, ruling: DecisionRequest) -> ConflictCase:
    """The case with what was typed about it."""
    return replace(case, note=ruling.note, flagged=ruling.flagged)


def _reason(decided: DecidedCase, language: Language) -> str:
    by = [decided.by] if decided.by else []
    reasons = [language.find(REASONS[decided.rule])] if decided.rule in REASONS else []
    return language.find(mark(", ")).join([*by, *reasons])


def _search_query(search: DecisionSearch) -> dict[str, str]:
    """A search as an address has it, without what is not searched by."""
    words = {name: value for name, value in vars(search).items() if name != "flagged" and value}
    return words | ({"flagged": "true"} if search.flagged else {})


def show_to_adjudicator(
    request: Request,
    show: Callable[[Pages], Response],
    pages: type[Pages] = AdjudicatorPages,  # type: ignore[assignment]
    *,
    anywhere: bool = False,
) -> Response:
    """Show a page to an adjudicator; first of all the terms, to one who has not consented yet.

    What is about no pair yet can be `anywhere`, which is where something waits.
    """
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if not visitor.consented:
        return RedirectResponse("/welcome", HTTPStatus.SEE_OTHER)
    chosen = anywhere and GRID not in request.query_params
    here = context.grids.first_with_work(visitor.id) if chosen else context.grids.from_request(request)
    return show(pages(context, request, visitor, here))


@router.get("/adjudicate/decided")
@open_to(Role.ADJUDICATOR)
def decided(
    request: Request,
    before: Number = None,
    words: Sought = "",
    outcome: Sought = "",
    by: Sought = "",
    flagged: bool = False,
    mine: bool = False,
) -> Response:
    """Show what is decided and by whom, as far as a search finds, newest first."""
    if mine:
        return show_to_adjudicator(request, lambda desk: desk.lead_to_own_decisions(), anywhere=True)
    search = DecisionSearch(words.strip(), outcome, by, flagged)
    return show_to_adjudicator(request, lambda desk: desk.show_decided(before, search), anywhere=True)


@router.get("/adjudicate")
@open_to(Role.ADJUDICATOR)
def next_(request: Request, after: Number = None, ahead: Annotated[int, Query(ge=0, le=MOST_AHEAD)] = 0) -> Response:
    """The next conflict, or that none waits; the page asks for it while `ahead` of them are at hand."""
    return show_to_adjudicator(request, lambda desk: desk.show_next(after, n_ahead=ahead), anywhere=True)


def read_ruling(
    request_id: SentId,
    cell_id: Annotated[int, Form(ge=1, le=LARGEST_ID)],
    outcome: Annotated[Word, Form()],
    note: Annotated[Note, Form()] = "",
    flagged: Annotated[bool, Form()] = False,
    seen_decision_id: SentNumber = None,
    seen_answer_id: SentNumber = None,
) -> DecisionRequest:
    """The decision in the form of a case."""
    return DecisionRequest(request_id, cell_id, outcome, note.strip(), flagged, seen_decision_id, seen_answer_id)


Ruling = Annotated[DecisionRequest, Depends(read_ruling)]
Veiled = Annotated[bool, Form()]


@router.post("/adjudicate")
@open_to(Role.ADJUDICATOR)
def decide(request: Request, ruling: Ruling, veiled: Veiled = False) -> Response:
    """Keep a decision, then show the next conflict; while the HS is hidden, show that instead."""
    return show_to_adjudicator(request, lambda desk: desk.decide(ruling, veiled=veiled))


@router.get("/adjudicate/{cell_id}")
@open_to(Role.ADJUDICATOR)
def look(request: Request, cell_id: PairId) -> Response:
    """One conflict, or one's own decision on it, to change it."""
    return show_to_adjudicator(request, lambda desk: desk.show_pair(cell_id))


@router.post("/adjudicate/{cell_id}/undo")
@open_to(Role.ADJUDICATOR)
def undo(request: Request, cell_id: PairId, request_id: SentId) -> Response:
    """Take one's own decision back, then show the pair again."""
    return show_to_adjudicator(request, lambda desk: desk.undo(cell_id, request_id))
