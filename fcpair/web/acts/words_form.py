"""The words of the study, as the lead edits them: what people who answer read in place of its names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from fcpair.errors import BusyError, ConflictError, FcpairError, InputError, StageError
from fcpair.param_values import digest_params
from fcpair.records import Role, Visitor
from fcpair.web.acts.word_entries import NOUN, languages_of, list_entries, read_words, type_in
from fcpair.web.auth import open_to
from fcpair.web.context import Context, context_of
from fcpair.web.errors import BUSY, status_of
from fcpair.web.form import fields
from fcpair.web.languages import ENGLISH, LANGUAGES, Language
from fcpair.web.lead.navigation import GUIDELINES
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.lead.runs import find_run, redirect_to
from fcpair.words import LONGEST_WORDING, NOUNS, PAGE_LANGUAGES, READERS, Noun, Words

router = APIRouter(include_in_schema=False)
PATH = "/lead/words"
NOT_SAVED = (ConflictError, StageError, InputError, BusyError)


@router.get(PATH)
@open_to(Role.LEAD)
def words_form(request: Request, run: int = 0, texts_in: str = "") -> Response:
    """The words as they are, to be edited in one language."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    words = context.study.effective_options(Words)
    typed = {"texts_in": texts_in or words.language, "language": words.language, "seen": digest_params(words)}
    return _show(request, visitor, typed, run=run)


@router.post(PATH)
@open_to(Role.LEAD)
def change_words(request: Request) -> Response:
    """Show how the words will read, or let people read them from now on."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    typed, words = fields(request), context.study.effective_options(Words)
    texts_in = typed.get("texts_in", "").strip() or words.language
    try:
        new_words = read_words(
            context.study.load_names(), words, typed, typed.get("language", words.language).strip(), texts_in
        )
        if typed.get("act") != "save":
            return _show(request, visitor, typed, preview=new_words)
        with context.study.acting_as(visitor.name):
            run = context.study.save_words(new_words, seen=typed.get("seen", ""))
    except NOT_SAVED as error:
        return _show_not_saved(request, visitor, typed, error)
    return redirect_to(context.grids.from_request(request), PATH, run)


def _show_not_saved(request: Request, visitor: Visitor, typed: Mapping[str, str], error: FcpairError) -> Response:
    """The form with what was typed, and why it was not saved; to save it again is to mean it."""
    words = context_of(request).study.effective_options(Words)
    page = _show(
        request,
        visitor,
        {**typed, "seen": digest_params(words)},
        problem=BUSY if isinstance(error, BusyError) else str(error),
    )
    page.status_code = status_of(error)
    return page


def _show(
    request: Request,
    visitor: Visitor,
    typed: Mapping[str, str],
    *,
    preview: Words | None = None,
    problem: str = "",
    run: int = 0,
) -> Response:
    context = context_of(request)
    here, words = context.grids.from_request(request), context.study.effective_options(Words)
    texts_in = typed.get("texts_in") or words.language
    nouns = {role: typed.get(f"{NOUN}{role}", words.nouns.get(role, "")) for role in _roles(context, words)}
    shown_in = LANGUAGES.get(preview.language, ENGLISH) if preview else ENGLISH
    values = {
        "page": GUIDELINES,
        "entries": list_fields(context, typed),
        "roles": [(role, f"{role}s", noun) for role, noun in nouns.items()],
        "noun_examples": [
            (f"{role}s", _noun_examples(noun, shown_in)) for role, noun in nouns.items() if noun in NOUNS
        ],
        "shown_in": shown_in,
        "field_of_noun": NOUN,
        "nouns": NOUNS,
        "chosen": typed.get("language") or words.language,
        "languages": list(dict.fromkeys([*PAGE_LANGUAGES, *languages_of(words), texts_in])),
        "texts_in": texts_in,
        "seen": typed.get("seen", ""),
        "longest": LONGEST_WORDING,
        "preview": preview,
        "preview_grids": list_entries(context.study.load_names(), preview, preview.language) if preview else [],
        "problem": problem,
        "done": find_run(context.study.log(), run),
    }
    return context.page(request, visitor, "lead_words.html.j2", here, **SHOWN_BY, **values)


def _noun_examples(noun: str, language: Language) -> list[str]:
    """How people read a noun with a number: once for one, once for two."""
    return [language.count(Noun.of(noun), n) for n in (1, 2)]


def list_fields(context: Context, typed: Mapping[str, str]) -> Any:
    """The entries of all grids, with what was typed."""
    words = context.study.effective_options(Words)
    entries = list_entries(context.study.load_names(), words, typed.get("texts_in") or words.language)
    return type_in(entries, typed)


def _roles(context: Context, words: Words) -> list[str]:
    """The roles that read in this study: those of its rounds, of its people, and that have a noun."""
    roles = {one["role"] for of in context.study.grid_overview() for one in of["rounds"]}
    roles |= {one.role.value for one in context.study.people} | words.nouns.keys()
    return [role for role in READERS if role in roles]
