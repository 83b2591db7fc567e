"""The terms of those who take part, as the lead edits them: texts, consent, questions about oneself, pauses, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
from fcpair.web.languages import Language
from fcpair.web.lead.navigation import GUIDELINES
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.lead.runs import find_run, redirect_to
from fcpair.web.page_phrases import mark

router = APIRouter(include_in_schema=False)
PATH = "/lead/terms"
NOT_SAVED = (ConflictError, StageError, InputError, BusyError)
LABELS = {
    "about": mark("About the study"),
    "warning": mark("Content warning"),
    "consent": mark("Sentence that people agree to"),
    "thanks": mark("Text at the end"),
    "contact": mark("Contact for support"),
    "demographics": mark("Questions about oneself, one on each line"),
    "compare": mark("Questions whose answers define groups to compare, one on each line"),
    "opt_out": mark("Metadata column whose topics people can opt out of"),
    "opt_out_split": mark("Characters at which a value of that column is split into topics"),
    "pause_pairs": mark("Pairs until a pause is suggested"),
    "pause_minutes": mark("Minutes until a pause is suggested"),
    "daily_limit": mark("Pairs that one person may read in a day"),
    "total_limit": mark("Pairs that one person may read in all"),
    "offline": mark("Browsers keep 50 pairs ahead, to go on without a connection"),
}
HELP = {  # as Annotate has it
    "about": mark("what the study is about, for those who take part"),
    "warning": mark("the content warning at the first visit"),
    "consent": mark("the sentence that people agree to"),
    "thanks": mark("the text at the end, with a debriefing if there is one"),
    "contact": mark("whom to contact for support, such as a name and a telephone number"),
    "demographics": mark("an optional question about people, such as `Age: 18-29 | 30 or more`"),
    "compare": mark("a question about people whose answers define groups to compare; declared before anybody answers"),
    "opt_out": mark("a metadata column whose topics people can opt out of reading"),
    "opt_out_split": mark("the characters at which a value of that column is split into topics"),
    "pause_pairs": mark("after how many pairs a pause is suggested"),
    "pause_minutes": mark("after how many minutes of work a pause is suggested"),
    "daily_limit": mark("how many pairs one person may read in a day; no limit if not given"),
    "total_limit": mark("how many pairs one person may read in all; no limit if not given"),
    "offline": mark("whether browsers keep 50 pairs ahead, to go on without a connection"),
}
EMPTY = mark("“%(label)s” is empty; it needs a value")
NO_NUMBER = mark("“%(label)s”: `%(text)s` is not a number; enter a whole number, 1 or more")
LONG = ("about", "warning", "consent", "thanks", "demographics", "compare")
LISTS = ("demographics", "compare")
NUMBERS = ("pause_pairs", "pause_minutes", "daily_limit", "total_limit")
REQUIRED = ("consent", "pause_pairs", "pause_minutes")
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
    def help(self) -> str:
        """What it is about."""
        return HELP[self.name]

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
        new_terms = read_terms(typed, context.terms.own, context.language(visitor))
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


def _in_words(value: Any, language: Language) -> str:
    """A value as it is shown outside of its field."""
    if isinstance(value, bool):
        return language.find(_as_text(value))
    return language.digits(value) if isinstance(value, int) else _as_text(value)


def read_terms(typed: Typed, own: Annotate, language: Language) -> Annotate:
    """The terms of a form; what it does not have, or left as it is, is that of the study's `own`.

    Raises InputError for what cannot be, in the language of the page.
    """
    values = {}
    for name in LABELS:
        text = typed.get(name, _as_text(getattr(own, name))).replace("\r\n", "\n").strip()
        is_same = text == _as_text(getattr(own, name)).strip()
        values[name] = getattr(own, name) if is_same else _read_term(name, text, language)
    return Annotate(**values)


def _read_term(name: str, text: str, language: Language) -> Any:
    if name in REQUIRED and not text:
        raise InputError(language.gettext(EMPTY, label=language.find(LABELS[name])))
    if name in NUMBERS:
        number = form.parse_number(text)
        if text and not number:
            raise InputError(language.gettext(NO_NUMBER, label=language.find(LABELS[name]), text=text))
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
    here, own, language = context.grids.from_request(request), context.terms.own, context.language(visitor)
    given = {name: _in_words(value, language) for name, value in context.terms.given.items()}
    looser = context.study.access.loosened_limits(preview) if preview else []
    values = {
        "page": GUIDELINES,
        "fields": [TermField(name, typed.get(name, _as_text(getattr(own, name))), given.get(name)) for name in LABELS],
        "seen": typed.get("seen", ""),
        "ask_again": "ask_again" in typed,
        "n_consents": _n_consents(context),
        "is_preview": preview is not None,
        "changes": _changes(own, preview, language) if preview else [],
        "changes_consent": preview is not None and preview.consent != own.consent,
        "looser": [
            (LABELS[name], _in_words(value, language), _in_words(limit, language)) for name, value, limit in looser
        ],
        "loosened": _confirmation(looser),
        "problem": problem,
        "done": find_run(context.study.log(), run),
    }
    return context.page(request, visitor, "lead_terms.html.j2", here, **SHOWN_BY, **values)


def _changes(own: Annotate, new_terms: Annotate, language: Language) -> list[tuple[str, str, str]]:
    """The label of each term that changes, with what it is and will be."""
    pairs = ((name, getattr(own, name), getattr(new_terms, name)) for name in LABELS)
    return [
        (LABELS[name], _in_words(before, language), _in_words(after, language))
        for name, before, after in pairs
        if before != after
    ]


def _n_consents(context: Context) -> int:
    """Number of people who take part and have consented."""
    active = {one.name for one in context.study.people if not one.retired}
    return sum(row["name"] in active and row["consented_at"] is not None for row in context.study.access.terms())
