"""The terms of those who take part, as the lead edits them: texts, consent, questions about oneself, pauses, limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from fcpair.param_values import digest_params
from fcpair.params import Annotate
from fcpair.records import RunRecord
from fcpair.web import form
from fcpair.web.lead.navigation import GUIDELINES
from fcpair.web.param_fields import fields_of, read_params
from fcpair.web.visits import REFUSALS, LeadVisit, Visit

router = APIRouter(include_in_schema=False)
PATH = "/lead/terms"
TERMS = fields_of(Annotate)
Typed = Mapping[str, str]


@router.get(PATH)
def terms_form(visit: LeadVisit, run: int = 0) -> Response:
    """The study's own terms, to be edited."""
    return _show(visit, {"seen": digest_params(visit.context.terms.own)}, run=run)


@router.post(PATH)
def change_terms(visit: LeadVisit) -> Response:
    """Show what would change, or let the terms hold from now on; looser limits, after they are confirmed."""
    typed, study = form.fields(visit.request), visit.study

    def show_refused(refused: Visit) -> Response:  # to save it again is to mean it
        return _show(refused, {**typed, "seen": digest_params(visit.context.terms.own)})

    try:
        new_terms = read_params(visit.context.terms.own, typed)
        study.access.check_terms(new_terms, loosen=True)
        looser = study.access.loosened_limits(new_terms)
    except REFUSALS as refusal:
        return show_refused(visit.refused(refusal))
    if typed.get("act") != "save" or typed.get("loosened", "") != _confirmation(looser):
        return _show(visit, typed, preview=new_terms)

    def save() -> RunRecord:
        seen, ask_again = typed.get("seen", ""), "ask_again" in typed
        run = study.save_terms(new_terms, seen=seen, loosen=bool(looser), ask_again=ask_again)
        visit.request.app.state.begin_anew()
        return run

    return visit.act(save, PATH, show_refused)


def _confirmation(looser: list[tuple[str, Any, Any]]) -> str:
    """Text that confirms that these limits are loosened; empty where none is."""
    return " ".join(f"{name}={value}" for name, value, _ in looser)


def _show(visit: Visit, typed: Typed, *, preview: Annotate | None = None, run: int = 0) -> Response:
    here, own, language = visit.here, visit.context.terms.own, visit.language
    access, active = visit.study.access, {one.name for one in visit.study.people if not one.retired}
    looser = access.loosened_limits(preview) if preview else []

    def describe(name: str, *values: Any) -> tuple[str, ...]:
        return (TERMS[name].label, *(TERMS[name].describe(value, language) for value in values))

    changed = [name for name in TERMS if preview and getattr(own, name) != getattr(preview, name)]
    values = {
        "page": GUIDELINES,
        "fields": [(one, typed.get(name, one.write(getattr(own, name)))) for name, one in TERMS.items()],
        "served": {name: describe(name, value)[1] for name, value in visit.context.terms.given.items()},
        "seen": typed.get("seen", ""),
        "ask_again": "ask_again" in typed,
        "n_consents": sum(row["name"] in active and row["consented_at"] is not None for row in access.terms()),
        "is_preview": preview is not None,
        "changes": [describe(name, getattr(own, name), getattr(preview, name)) for name in changed],
        "changes_consent": "consent" in changed,
        "looser": [describe(*limit) for limit in looser],
        "loosened": _confirmation(looser),
    }
    return visit.page("lead_terms.html.j2", here, run, **values)
