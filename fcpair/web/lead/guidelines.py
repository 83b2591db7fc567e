"""What people read before they answer, as the lead edits it: guidelines, pairs to practise on, and the terms."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Form, Response

from fcpair.errors import ConflictError, InputError
from fcpair.files.answers.known_items import format_known_items
from fcpair.known_pairs import COLUMNS, KnownItem, Practice
from fcpair.param_values import digest_params
from fcpair.params import Annotate
from fcpair.records import RunRecord
from fcpair.sentences import Id, join, say
from fcpair.stages.answers.curation import find_differences
from fcpair.web.current_grid import GUIDELINES
from fcpair.web.form import Text, field, fields, fields_of, parse_number, read_params
from fcpair.web.lead.panels import build_panels
from fcpair.web.pages.markdown import render
from fcpair.web.visits import REFUSALS, LeadVisit, Visit

router = APIRouter(include_in_schema=False)
PRACTICE, TERMS = "/lead/guidelines/practice", "/lead/terms"
OVERTAKEN = say("somebody else has set other pairs since this page was loaded; save again to put yours in their place")
FIELDS_OF_TERMS = fields_of(Annotate)


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


def _show(visit: Visit, body: str, run: int = 0, *, preview: bool = False) -> Response:
    """The page, with all versions, newest first: each with its `html` and how it differs from the one before."""
    (version, current_body), versions = visit.study.guidelines, visit.study.guideline_versions()
    before = ["", *(one["body"] for one in versions)]
    shown = [
        {**one, "html": render(one["body"]), "changes": find_differences(earlier, one["body"])}
        for one, earlier in zip(versions, before, strict=False)
    ]
    return visit.lead_page(
        "lead_guidelines.html.j2",
        GUIDELINES,
        run,
        panels=build_panels(visit, GUIDELINES),
        version=version,
        now=current_body,
        body=body,
        versions=shown[::-1],
        preview=render(body) if preview else None,
        readers=visit.study.guideline_readers(),
    )


@router.post("/lead/guidelines/flags")
def place_flag(visit: LeadVisit, pair: Annotated[int, Form()], sentence: Text = "") -> Response:
    """Put a flagged pair at a sentence of the guidelines, or at none."""
    return visit.act(lambda: visit.here.grid.desk.place_flag(pair, sentence), f"{GUIDELINES.path}#flags")


@router.get(PRACTICE)
def practice_items(visit: LeadVisit) -> Response:
    """The known pairs on which people practise, as a table to be edited."""
    return _show_practice(visit, format_known_items(visit.study.known_items()))


@router.post(PRACTICE)
def edit_practice(visit: LeadVisit) -> Response:
    """Show the pairs of a table as they would be asked; once that was confirmed, let people practise on them."""
    text, act, items = field(visit.request, "table").replace("\r\n", "\n"), field(visit.request, "act"), None
    try:
        items = visit.study.read_practice_text(text) if text.strip() else []
        if act == "save" and field(visit.request, "seen") != _mark(visit.study.known_items()):
            raise ConflictError(OVERTAKEN)
    except REFUSALS as refusal:
        # What is wrong, with the line of each error, and without the name of a file, which the table has not.
        lines = [
            say("line %(number)s: %(problem)s", number=Id(one.line), problem=one.message)
            for one in getattr(refusal, "findings", ())
            if one.line
        ]
        return _show_practice(visit.refused(InputError(join(lines, "; ")) if lines else refusal), text, items)
    if act != "save":
        return _show_practice(visit, text, items)
    practice = Practice(items=tuple(item._asdict() for item in items))
    return visit.act(lambda: visit.study.save_practice(practice), GUIDELINES.path)


def _show_practice(visit: Visit, text: str, checked: Sequence[KnownItem] | None = None) -> Response:
    """The table to be edited; where it was `checked`, its pairs as they would be asked, to be set."""
    items = visit.study.known_items()
    values = {"n_items": len(items), "seen": _mark(items), "columns": COLUMNS, "text": text, "checked": checked}
    return visit.page("lead_practice.html.j2", visit.here, **values)


def _mark(items: Sequence[KnownItem]) -> str:
    """What tells whether the pairs are those that a page showed."""
    return hashlib.sha256(format_known_items(items).encode()).hexdigest()[:12]


@router.get(TERMS)
def terms_form(visit: LeadVisit, run: int = 0) -> Response:
    """The terms of those who take part, as the study has them, to be edited."""
    return _show_terms(visit, {"seen": digest_params(visit.context.terms.own)}, run=run)


@router.post(TERMS)
def change_terms(visit: LeadVisit) -> Response:
    """Show what would change, or let the terms hold from now on; looser limits, after they are confirmed."""
    typed, study = fields(visit.request), visit.study

    def show_refused(refused: Visit) -> Response:  # to save it again is to mean it
        return _show_terms(refused, {**typed, "seen": digest_params(visit.context.terms.own)})

    try:
        new_terms = read_params(visit.context.terms.own, typed)
        study.access.check_terms(new_terms, loosen=True)
        looser = study.access.loosened_limits(new_terms)
    except REFUSALS as refusal:
        return show_refused(visit.refused(refusal))
    if typed.get("act") != "save" or typed.get("loosened", "") != _confirmation(looser):
        return _show_terms(visit, typed, preview=new_terms)

    def save() -> RunRecord:
        seen, ask_again = typed.get("seen", ""), "ask_again" in typed
        run = study.save_terms(new_terms, seen=seen, loosen=bool(looser), ask_again=ask_again)
        visit.request.app.state.begin_anew()
        return run

    return visit.act(save, TERMS, show_refused)


def _confirmation(looser: list[tuple[str, Any, Any]]) -> str:
    """Text that confirms that these limits are loosened; empty where none is."""
    return " ".join(f"{name}={value}" for name, value, _ in looser)


def _show_terms(visit: Visit, typed: Mapping[str, str], *, preview: Annotate | None = None, run: int = 0) -> Response:
    own, access, terms = visit.context.terms.own, visit.study.access, FIELDS_OF_TERMS
    active = {one.name for one in visit.study.people if not one.retired}
    looser = access.loosened_limits(preview) if preview else []

    def describe(name: str, *values: Any) -> tuple[str, ...]:
        return (terms[name].label, *(terms[name].describe(value, visit.language) for value in values))

    changed = [name for name in terms if preview and getattr(own, name) != getattr(preview, name)]
    return visit.page(
        "lead_terms.html.j2",
        visit.here,
        run,
        page=GUIDELINES,
        fields=[(one, typed.get(name, one.write(getattr(own, name)))) for name, one in terms.items()],
        served={name: describe(name, value)[1] for name, value in visit.context.terms.given.items()},
        seen=typed.get("seen", ""),
        ask_again="ask_again" in typed,
        n_consents=sum(row["name"] in active and row["consented_at"] is not None for row in access.terms()),
        is_preview=preview is not None,
        changes=[describe(name, getattr(own, name), getattr(preview, name)) for name in changed],
        changes_consent="consent" in changed,
        looser=[describe(*limit) for limit in looser],
        loosened=_confirmation(looser),
    )
