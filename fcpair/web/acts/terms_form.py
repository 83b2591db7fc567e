"""The terms of those who take part, as the lead edits them: texts, consent, questions about oneself, pauses, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from fastapi import APIRouter, Request, Response

from fcpair.errors import BusyError, ConflictError, InputError, StageError
from fcpair.param_values import digest_params
from fcpair.params import Annotate
from fcpair.records import Role, Visitor
from fcpair.web import form
from fcpair.web.auth import open_to
from fcpair.web.context import Context, context_of
from fcpair.web.errors import BUSY, status_of
from fcpair.web.lead.navigation import GUIDELINES
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.lead.runs import find_run, redirect_to

router = APIRouter(include_in_schema=False)
PATH = "/lead/terms"
NOT_SAVED = (ConflictError, StageError, InputError, BusyError)
LABELS = {
    "about": "About the study",
    "warning": "Content warning",
    "consent": "Sentence that people agree to",
    "thanks": "Text at the end",
    "contact": "Contact for support",
    "demographics": "Questions about oneself, one on each line",
    "compare": "Questions whose answers define groups to compare, one on each line",
    "opt_out": "Metadata column whose topics people can opt out of",
    "opt_out_split": "Characters at which a value of that column is split into topics",
    "pause_pairs": "Pairs until a pause is suggested",
    "pause_minutes": "Minutes until a pause is suggested",
    "daily_limit": "Pairs that one person may read in a day",
    "total_limit": "Pairs that one person may read in all",
    "offline": "Browsers keep 50 pairs ahead, to go on without a connection",
}
LONG = ("about", "warning", "consent", "thanks", "demographics", "compare")
LISTS = ("demographics", "compare")
NUMBERS = ("pause_pairs", "pause_minutes", "daily_limit", "total_limit")
REQUIRED = ("consent", "pause_pairs", "pause_minutes")
HELP = {item.name: item.metadata["help"] for item in fields(Annotate)}
Typed = Mapping[str, str]


@dataclass(frozen=True)
class TermField:
    """A field of the form; `served` is what `fcpair serve` was given in the place of the study's own, if anything."""

    name: str
    value: str
    served: str | None

    @property
    def label(self) -> str:
        """What the field is called."""
        return LABELS[self.name]

    @property
    def kind(self) -> str:
        """How it is filled in: a `long` text, a `number`, a `choice` of yes or no, or a `line`."""
        if self.name == "offline":
            return "choice"
        return "long" if self.name in LONG else "number" if self.name in NUMBERS else "line"


@router.get(PATH)
@open_to(Role.LEAD)
def terms_form(request: Request, run: int = 0) -> Response:
    """The study's own terms, to be edited."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    return _show(request, visitor, _typed_from(context.terms.own), run=run)


@router.post(PATH)
@open_to(Role.LEAD)
def change_terms(request: Request) -> Response:
    """Show what would change, or let the terms hold from now on; looser limits, after they are confirmed."""
    context = context_of(request)
    visitor, typed = context.door.require_visitor(request), form.fields(request)
    try:
        new_terms = read_terms(typed, context.terms.own)
        context.study.access.check_terms(new_terms, loosen=True)
        looser = context.study.access.loosened_limits(new_terms)
        if typed.get("act") != "save" or typed.get("loosened", "") != _confirmation(looser):
            return _show(request, visitor, typed, preview=new_terms)
        with context.study.acting_as(visitor.name):
            run = context.study.save_terms(
                new_terms, seen=typed.get("seen", ""), loosen=bool(looser), ask_again="ask_again" in typed
            )
    except NOT_SAVED as error:
        seen = {"seen": digest_params(context.terms.own)}
        problem = BUSY if isinstance(error, BusyError) else str(error)
        page = _show(request, visitor, {**typed, **seen}, problem=problem)
        page.status_code = status_of(error)
        return page
    request.app.state.begin_anew()
    return redirect_to(context.grids.from_request(request), PATH, run)


def _typed_from(terms: Annotate) -> dict[str, str]:
    """What the form has in its fields for terms."""
    return {name: _as_text(getattr(terms, name)) for name in LABELS} | {"seen": digest_params(terms)}


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "\n".join(value)
    return "" if value is None else str(value)


def read_terms(typed: Typed, own: Annotate) -> Annotate:
    """The terms of a form; what it does not have, or left as it is, is that of the study's `own`.

    Raises InputError for what cannot be.
    """
    values = {}
    for name in LABELS:
        text = typed.get(name, _as_text(getattr(own, name))).replace("\r\n", "\n").strip()
        is_same = text == _as_text(getattr(own, name)).strip()
        values[name] = getattr(own, name) if is_same else _read_term(name, text)
    return Annotate(**values)


def _read_term(name: str, text: str) -> Any:
    if name in REQUIRED and not text:
        raise InputError(f"“{LABELS[name]}” is empty; it needs a value")
    if name in NUMBERS:
        number = form.parse_number(text)
        if text and not number:
            raise InputError(f"“{LABELS[name]}”: `{text}` is not a number; enter a whole number, 1 or more")
        return number
    if name in LISTS:
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    if name == "offline":
        return text == "yes"
    return text or (None if name in ("warning", "thanks", "opt_out") else "")


def _confirmation(looser: list[tuple[str, Any, Any]]) -> str:
    """Text that confirms that these limits are loosened; empty where none is."""
    return " ".join(f"{name}={value}" for name, value, _ in looser)


def _show(
    request: Request,
    visitor: Visitor,
    typed: Typed,
    *,
    preview: Annotate | None = None,
    problem: str = "",
    run: int = 0,
) -> Response:
    context = context_of(request)
    here, own = context.grids.from_request(request), context.terms.own
    given = {name: _as_text(value) for name, value in context.terms.given.items()}
    looser = context.study.access.loosened_limits(preview) if preview else []
    values = {
        "page": GUIDELINES,
        "fields": [TermField(name, typed.get(name, _as_text(getattr(own, name))), given.get(name)) for name in LABELS],
        "help": HELP,
        "seen": typed.get("seen", ""),
        "ask_again": "ask_again" in typed,
        "n_consents": _n_consents(context),
        "is_preview": preview is not None,
        "changes": _changes(own, preview) if preview else [],
        "changes_consent": preview is not None and preview.consent != own.consent,
        "looser": [(LABELS[name], _as_text(value), _as_text(limit)) for name, value, limit in looser],
        "loosened": _confirmation(looser),
        "problem": problem,
        "done": find_run(context.study.log(), run),
    }
    return context.page(request, visitor, "lead_terms.html.j2", here, **SHOWN_BY, **values)


def _changes(own: Annotate, new_terms: Annotate) -> list[tuple[str, str, str]]:
    """The label of each term that changes, with what it is and will be."""
    pairs = ((name, getattr(own, name), getattr(new_terms, name)) for name in LABELS)
    return [(LABELS[name], _as_text(before), _as_text(after)) for name, before, after in pairs if before != after]


def _n_consents(context: Context) -> int:
    """Number of people who take part and have consented."""
    active = {one.name for one in context.study.people if not one.retired}
    return sum(row["name"] in active and row["consented_at"] is not None for row in context.study.access.terms())
