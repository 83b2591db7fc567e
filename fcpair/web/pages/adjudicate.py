"""The adjudicators' pages: one conflict at a time, all of a row on one screen, and the list of what is decided."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Form, Path, Query, Response

from fcpair.errors import ConflictError, InputError
from fcpair.grid import AdjudicationQueue, CaseOrder, CaseQueue, ConflictCase, DecisionRequest, DecisionSearch
from fcpair.records import Role, Rule
from fcpair.sentences import mark, mark_plural
from fcpair.web.current_grid import GRID_PARAM, CurrentGrid
from fcpair.web.form import Ticked
from fcpair.web.languages import Language
from fcpair.web.pages.markdown import render
from fcpair.web.schemas import LARGEST_ID, LONGEST_NOTE, MOST_AHEAD, Note, RequestId, Word
from fcpair.web.visits import AdjudicatorVisit, ElsewhereError, Visit, enter_by, go_to

router = APIRouter(include_in_schema=False)
PAGE, ROW = "/adjudicate", "/adjudicate/row"
LISTED = 30  # decisions on one page of the list
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
    CaseQueue.UNSURE: mark_plural("%(n)s %(label)s", "%(n)s %(label)s"),
    CaseQueue.FLAGGED: mark_plural("%(n)s flagged", "%(n)s flagged"),
    CaseQueue.AGAIN: mark_plural("%(n)s for a second look", "%(n)s for a second look"),
}
NO_CHOICE = {
    "queue": mark("there is no queue `%(word)s`; expected one of %(words)s"),
    "order": mark("there is no order `%(word)s`; expected one of %(words)s"),
}
Choice = TypeVar("Choice", CaseQueue, CaseOrder)

PairId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Number = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]
Sought = Annotated[str, Query(max_length=LONGEST_SEARCH)]
SentNumber = Annotated[int | None, Form(ge=1, le=LARGEST_ID)]
SentId = Annotated[RequestId, Form()]


@dataclass(frozen=True, kw_only=True)
class QueueVisit(Visit):
    """An adjudicator's visit to the conflicts of a `grid`; each address names the queue, and the order of the cases."""

    grid: CurrentGrid
    cases: AdjudicationQueue
    queue: CaseQueue
    order: CaseOrder

    def address(self, path: str, **query: Any) -> str:
        """An address in this grid that keeps the queue and the order, unless `query` names others."""
        choice = {"queue": self.queue, "order": self.order} | query
        is_usual = {"queue": CaseQueue.ALL, "order": CaseOrder.SPREAD}
        return self.grid.address(path, **{name: it for name, it in choice.items() if is_usual.get(name) != it})

    def show_case(self, case: ConflictCase | None, *, revealed: bool = False) -> Response:
        """The page with one case, or with none; `revealed` shows an HS that the visitor has hidden."""
        counts, language, context = self.cases.n_in_queues(self.visitor.id), self.language, self.context
        scheme = self.grid.grid.scheme
        unsure = (language.answer_name(choice.name) for choice in scheme if choice.code not in scheme.definite)
        label = language.find(mark(" or ")).join(unsure)
        names = {queue: language.ngettext(*words, counts[queue], label=label) for queue, words in QUEUES.items()}
        queues = (queue for queue in CaseQueue if counts[queue] or queue in (self.queue, CaseQueue.ALL))
        others = [grid for grid in context.grids.with_policy() if grid.name != self.grid.name] if self.grid.name else []
        waiting = ((other, context.adjudication_queue(other).state(self.visitor.id).waiting) for other in others)
        return self._show_to_decide(
            "adjudicate.html.j2",
            case.cell_id if case else None,
            case=case,
            queue=self.cases.state(self.visitor.id),
            queues=[(names[queue], self.address(PAGE, queue=queue), queue is self.queue) for queue in queues],
            is_by_row=self.order is CaseOrder.ROW,
            awaits_order=self.order is CaseOrder.DOUBT and not self.cases.is_ranked,
            other_orders={order: self.address(PAGE, order=order) for order in CaseOrder if order != self.order},
            left=in_words(self.cases.left_s(self.visitor.id, counts[self.queue]), language),
            elsewhere=[(other, n) for other, n in waiting if n],
            revealed=revealed,
            undoable=self._undoable_decision(case),
        )

    def show_next(self, after: int | None = None, *, n_ahead: int = 0) -> Response:
        """The next case, if any waits; `n_ahead` of the visitor's are at hand already."""
        estimates = not self.request.app.state.workers  # else the process that looks does
        case = self.cases.next(self.visitor.id, after, n_ahead, self.queue, self.order, estimates=estimates)
        return self.show_case(case)

    def show_row(self, pair: int, sent: DecisionRequest | None = None, *, revealed: bool = False) -> Response:
        """The conflicts in the row of a pair, with what was `sent` in and not kept; `revealed` shows a hidden text."""
        cases = [
            _with_input(case, sent) if sent and sent.cell_id == case.cell_id else case
            for case in self.cases.row_cases(self.visitor.id, pair, self.queue)
        ]
        return self._show_to_decide(
            "adjudicate_row.html.j2",
            pair,
            pair=pair,
            cases=cases,
            onward=self.address(ROW, after=cases[-1].cell_id if cases else pair),
            undoable=self._undoable_decision(None),
            veiled=self.visitor.blurred and not revealed,
        )

    def _show_to_decide(self, name: str, row_of: int | None, /, **values: Any) -> Response:
        """A page on which something is decided, in the row of a pair."""
        reading = self.cases.reading_allowance(self.visitor.id)
        shared = {
            "address": self.address,
            "n_in_row": 0 if row_of is None else self.cases.n_in_row(self.visitor.id, row_of, self.queue),
            "reading": reading,
            "limit": self.translate(reading.limit or "", self.grid),
            "guidelines": render(self.study.guidelines[1]),
            "new_request": lambda: secrets.token_hex(16),
            "longest": LONGEST_NOTE,
        }
        return self.page(name, self.grid, **shared, **values)

    def _undoable_decision(self, case: ConflictCase | None) -> tuple[int, str] | None:
        """The decision that the visitor can take back here, by pair and outcome: the one that is shown, or the last."""
        if case is not None and case.own and case.outcome is not None:
            return case.cell_id, case.outcome
        last = self.cases.decisions(self.visitor.id, limit=1)
        return (last[0].cell_id, last[0].outcome) if last else None


def open_queue(visit: AdjudicatorVisit) -> QueueVisit:
    """The conflicts that the address is about, or of a grid in which something waits; after the terms."""
    if not visit.visitor.consented:
        raise ElsewhereError("/welcome")
    request, query = visit.request, visit.request.query_params
    is_chosen = request.method != "GET" or "cell_id" in request.path_params or "pair" in query or GRID_PARAM in query
    here = visit.here if is_chosen else visit.context.grids.first_with_work(visit.visitor.id)
    return QueueVisit(
        request,
        visit.context,
        visit.visitor,
        grid=here,
        queue=_parse_choice(visit, "queue", CaseQueue.ALL),
        order=_parse_choice(visit, "order", CaseOrder.SPREAD),
        cases=visit.context.adjudication_queue(here),
    )


InQueue = Annotated[QueueVisit, enter_by(open_queue, Role.ADJUDICATOR)]


def _parse_choice(visit: Visit, name: str, usual: Choice) -> Choice:
    """Choice that the address names; raises InputError with the names there are."""
    choices = {choice.value: choice for choice in type(usual)}
    word = visit.request.query_params.get(name, usual.value)
    if word not in choices:
        raise InputError.say(NO_CHOICE[name], word=word, words=list(choices))
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


def _with_input(case: ConflictCase, ruling: DecisionRequest) -> ConflictCase:
    """The case with what was typed about it."""
    return replace(case, note=ruling.note, flagged=ruling.flagged)


@router.get(f"{PAGE}/decided")
def decided(
    visit: InQueue,
    before: Number = None,
    words: Sought = "",
    outcome: Sought = "",
    by: Sought = "",
    flagged: bool = False,
    mine: bool = False,
) -> Response:
    """Show what is decided and by whom, as far as a search finds, newest first."""
    own, cases, language = visit.visitor.name, visit.cases, visit.language
    if mine:  # the address that the visitor's own decisions had up to 0.7
        return go_to(visit.grid.address(f"{PAGE}/decided", by=own))
    search = DecisionSearch(words.strip(), outcome, by, flagged)
    decisions = cases.decisions(None, LISTED + 1, before, search, reader=visit.visitor.id)
    shown = []
    for decision in decisions[:LISTED]:
        reasons = (decision.by, language.find(REASONS.get(decision.rule, "")))
        shown.append((decision, language.find(mark(", ")).join(filter(None, reasons))))
    query = {name: value for name, value in vars(search).items() if name != "flagged" and value}
    return visit.page(
        "adjudicate_decided.html.j2",
        visit.grid,
        decisions=shown,
        older=decisions[LISTED - 1].decision_id if len(decisions) > LISTED else None,
        before=before,
        search=search,
        query=query | ({"flagged": "true"} if search.flagged else {}),
        outcomes=cases.outcomes(),
        deciders=[  # the visitor first: each as an address has them, and as people read it
            (own, language.find(mark("you"))),
            *((name, name) for name in cases.deciders() if name != own),
            (DecisionSearch.NO_PERSON, language.find(mark("a rule, or a file"))),
        ],
        longest=LONGEST_SEARCH,
    )


async def read_ruling(
    request_id: SentId,
    cell_id: Annotated[int, Form(ge=1, le=LARGEST_ID)],
    outcome: Annotated[Word, Form()],
    note: Annotated[Note, Form()] = "",
    flagged: Ticked = False,
    seen_decision_id: SentNumber = None,
    seen_answer_id: SentNumber = None,
) -> DecisionRequest:
    """The decision in the form of a case."""
    return DecisionRequest(request_id, cell_id, outcome, note.strip(), flagged, seen_decision_id, seen_answer_id)


Ruling = Annotated[DecisionRequest, Depends(read_ruling)]


@router.get(ROW)
def row(visit: InQueue, pair: Number = None, after: Number = None, shown: bool = False) -> Response:
    """All conflicts in the row of a pair; without one, those of the row that comes next, if any waits."""
    if pair is not None:
        return visit.show_row(pair, revealed=shown)
    case = visit.cases.next(visit.visitor.id, after, queue=visit.queue, order=CaseOrder.ROW)
    return go_to(visit.address(ROW, pair=case.cell_id) if case else visit.address(PAGE))


@router.post(ROW)
def decide_in_row(visit: InQueue, ruling: Ruling, veiled: Ticked = False) -> Response:
    """Keep a decision, then show what is left of its row; while its text is hidden, show that instead."""
    if veiled:
        return visit.show_row(ruling.cell_id, ruling, revealed=True)
    try:
        visit.cases.decide(visit.visitor.id, ruling)
    except ConflictError as error:
        return visit.refused(error).show_row(ruling.cell_id, ruling, revealed=True)
    return go_to(visit.address(ROW, pair=ruling.cell_id))


@router.get(PAGE)
def next_(visit: InQueue, after: Number = None, ahead: Annotated[int, Query(ge=0, le=MOST_AHEAD)] = 0) -> Response:
    """The next conflict, or that none waits; the page asks for it while `ahead` of them are at hand."""
    return visit.show_next(after, n_ahead=ahead)


@router.post(PAGE)
def decide(visit: InQueue, ruling: Ruling, veiled: Ticked = False) -> Response:
    """Keep a decision, then show the next conflict; while the HS is hidden, or it is refused, show the case again."""
    try:
        if not veiled:
            visit.cases.decide(visit.visitor.id, ruling)
            return go_to(visit.address(PAGE, after=ruling.cell_id))
    except ConflictError as error:
        visit = visit.refused(error)
    try:
        case = visit.cases.case(visit.visitor.id, ruling.cell_id)
    except ConflictError as error:
        return (visit if visit.refusal else visit.refused(error)).show_next(ruling.cell_id)
    return visit.show_case(_with_input(case, ruling), revealed=veiled)


@router.get(f"{PAGE}/{{cell_id}}")
def look(visit: InQueue, cell_id: PairId) -> Response:
    """One conflict, or one's own decision on it, to change it; or why there is none, with the next one."""
    try:
        return visit.show_case(visit.cases.case(visit.visitor.id, cell_id))
    except ConflictError as error:
        return visit.refused(error).show_next(cell_id)


@router.post(f"{PAGE}/{{cell_id}}/undo")
def undo(visit: InQueue, cell_id: PairId, request_id: SentId) -> Response:
    """Take one's own decision back, then show the pair again."""
    try:
        visit.cases.undo(visit.visitor.id, cell_id, request_id)
    except ConflictError as error:
        return visit.refused(error).show_next()
    return go_to(visit.address(f"{PAGE}/{cell_id}"))
