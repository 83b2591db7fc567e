"""Texts that people read, for the lead to edit: guidelines, practice pairs, the terms, and words in place of names."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Form, Response

from fcpair.errors import ConflictError, InputError
from fcpair.files.answers.answer_files import format_known_items
from fcpair.known_pairs import COLUMNS, KnownItem, Practice
from fcpair.param_values import digest_params
from fcpair.params import Annotate
from fcpair.records import RunRecord
from fcpair.sentences import Id, join, say
from fcpair.stages.answers.curation import find_differences
from fcpair.stages.questions.labels import GridNames
from fcpair.web.current_grid import GUIDELINES, TERMS, WORDS
from fcpair.web.form import Text, field, fields, fields_of, parse_number, read_params
from fcpair.web.languages import ENGLISH, LANGUAGES
from fcpair.web.lead.panels import build_panels
from fcpair.web.pages.markdown import render
from fcpair.web.visits import REFUSALS, LeadVisit, Visit
from fcpair.words import COLOURS, LONGEST_WORDING, NOUNS, PAGE_LANGUAGES, READERS, TABLES, Noun, Words

router = APIRouter(include_in_schema=False)
PRACTICE = "/lead/guidelines/practice"
PARTS, MARKS = ("text", "help"), ("key", "colour")  # of a wording; marks are in no language
NOUN = "noun:"
MOST_NAMES = 150  # of the sides of a grid: a request has so many fields


@router.get(GUIDELINES.path)
def guidelines(visit: LeadVisit, run: int = 0) -> Response:
    """The version that holds, to be edited, and those before it."""
    return _show(visit, visit.study.guidelines[1], run)


@router.post(GUIDELINES.path)
def edit(visit: LeadVisit) -> Response:
    """Show how the text will look, or let it hold; read in a thread, as FastAPI takes no field of more than 1 MiB."""
    request, study = visit.request, visit.study
    text, seen = field(request, "body").replace("\r\n", "\n"), parse_number(field(request, "version")) or 0
    if field(request, "act") != "save":
        return _show(visit, text, preview=True)
    save = partial(study.edit_guidelines, text, by=visit.visitor.name, seen=seen)
    return visit.act(save, GUIDELINES.path, lambda refused: _show(refused, text))


def _show(visit: Visit, body: str, run: int = 0, *, preview: bool = False) -> Response:
    """The page, with all versions, newest first: each with its `html` and how it differs from the one before."""
    (version, current_body), versions = visit.study.guidelines, visit.study.guideline_versions()
    before = ["", *(row["body"] for row in versions)]
    shown = [
        {**row, "html": render(row["body"]), "changes": find_differences(earlier, row["body"])}
        for row, earlier in zip(versions, before, strict=False)
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
            raise ConflictError.say(
                "somebody else has set other pairs since this page was loaded; save again to put yours in their place"
            )
    except REFUSALS as refusal:
        # What is wrong, with the line of each error, and without the name of a file, which the table has not.
        lines = [
            say("line %(number)s: %(problem)s", number=Id(finding.line), problem=finding.message)
            for finding in getattr(refusal, "findings", ())
            if finding.line
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
    """Mark that tells whether the pairs are those that a page showed."""
    return hashlib.sha256(format_known_items(items).encode()).hexdigest()[:12]


@router.get(TERMS.path)
def terms_form(visit: LeadVisit, run: int = 0) -> Response:
    """The terms of those who take part, as the study has them, to be edited."""
    return _show_terms(visit, {"seen": digest_params(visit.study.effective_options(Annotate))}, run=run)


@router.post(TERMS.path)
def change_terms(visit: LeadVisit) -> Response:
    """Show what would change, or let the terms hold from now on; looser limits, after they are confirmed."""
    typed, study = fields(visit.request), visit.study

    def show_refused(refused: Visit) -> Response:  # to save it again is to mean it
        return _show_terms(refused, {**typed, "seen": digest_params(visit.study.effective_options(Annotate))})

    try:
        new_terms = read_params(visit.study.effective_options(Annotate), typed)
        study.access.check_terms(new_terms, loosen=True)
        looser = study.access.loosened_limits(new_terms)
    except REFUSALS as refusal:
        return show_refused(visit.refused(refusal))
    if typed.get("act") != "save" or typed.get("loosened", "") != _confirm_limits(looser):
        return _show_terms(visit, typed, preview=new_terms)

    def save() -> RunRecord:
        ask_again = "ask_again" in typed
        run = study.save_terms(new_terms, seen=typed.get("seen", ""), loosen=bool(looser), ask_again=ask_again)
        visit.request.app.state.begin_anew()
        return run

    return visit.act(save, TERMS.path, show_refused)


def _confirm_limits(looser: Sequence[tuple[str, Any, Any]]) -> str:
    """Text that confirms that these limits are loosened; empty where none is."""
    return " ".join(f"{name}={value}" for name, value, _ in looser)


def _show_terms(visit: Visit, typed: Mapping[str, str], *, preview: Annotate | None = None, run: int = 0) -> Response:
    own, terms = visit.study.effective_options(Annotate), fields_of(Annotate)
    active = {person.name for person in visit.study.people if not person.retired}
    looser = visit.study.access.loosened_limits(preview) if preview else []

    def describe(name: str, *values: Any) -> tuple[str, ...]:
        return (terms[name].label, *(terms[name].describe(value, visit.language) for value in values))

    changed = [name for name in terms if preview and getattr(own, name) != getattr(preview, name)]
    return visit.page(
        "lead_terms.html.j2",
        visit.here,
        run,
        page=TERMS,
        fields=[(term, typed.get(name, term.write(getattr(own, name)))) for name, term in terms.items()],
        served={name: describe(name, value)[1] for name, value in visit.context.terms.given.items()},
        seen=typed.get("seen", ""),
        ask_again="ask_again" in typed,
        n_consents=sum(row["name"] in active and bool(row["consented_at"]) for row in visit.study.access.terms()),
        is_preview=preview is not None,
        changes=[describe(name, getattr(own, name), getattr(preview, name)) for name in changed],
        changes_consent="consent" in changed,
        looser=[describe(*limit) for limit in looser],
        loosened=_confirm_limits(looser),
    )


@router.get(WORDS.path)
def words_form(visit: LeadVisit, run: int = 0, texts_in: str = "") -> Response:
    """The words as they are, to be edited in one language."""
    words = visit.study.effective_options(Words)
    typed = {"texts_in": texts_in or words.language, "language": words.language, "seen": digest_params(words)}
    return _show_words(visit, typed, run=run)


@router.post(WORDS.path)
def change_words(visit: LeadVisit) -> Response:
    """Show how the words will read, or let people read them from now on."""
    typed, words = fields(visit.request), visit.study.effective_options(Words)
    texts_in = typed.get("texts_in", "").strip() or words.language

    def read() -> Words:
        names, language = visit.study.load_names(), typed.get("language", words.language).strip()
        return read_words(names, words, typed, language, texts_in)

    def show_refused(refused: Visit) -> Response:  # to save it again is to mean it
        return _show_words(refused, {**typed, "seen": digest_params(visit.study.effective_options(Words))})

    if typed.get("act") == "save":
        return visit.act(lambda: visit.study.save_words(read(), seen=typed.get("seen", "")), WORDS.path, show_refused)
    try:
        return _show_words(visit, typed, preview=read())
    except REFUSALS as refusal:
        return show_refused(visit.refused(refusal))


def _show_words(visit: Visit, typed: Mapping[str, str], *, preview: Words | None = None, run: int = 0) -> Response:
    study, words, names = visit.study, visit.study.effective_options(Words), visit.study.load_names()
    texts_in = typed.get("texts_in") or words.language
    # The roles that read in this study: those of its rounds, of its people, and that have a noun.
    roles = {round_["role"] for of in study.grid_overview() for round_ in of["rounds"]} | words.nouns.keys()
    roles |= {person.role.value for person in study.people}
    nouns = {role: typed.get(f"{NOUN}{role}", words.nouns.get(role, "")) for role in READERS if role in roles}
    shown_in = LANGUAGES.get(preview.language, ENGLISH) if preview else ENGLISH
    languages = [words.language]  # that texts are in, that of the study first
    for table in ("questions", "options", "sides"):
        for wording in getattr(words, table).values():
            languages += [tag for value in _parts(wording).values() for tag in _by_language(value, words.language)]
    return visit.page(
        "lead_words.html.j2",
        visit.here,
        run,
        page=WORDS,
        entries=list_entries(names, words, texts_in, typed),
        roles=[(role, f"{role}s", noun) for role, noun in nouns.items()],
        noun_examples=[
            (f"{role}s", [shown_in.count_noun(Noun.of(noun), n) for n in (1, 2)])  # how people read it with a number
            for role, noun in nouns.items()
            if noun in NOUNS
        ],
        shown_in=shown_in,
        field_of_noun=NOUN,
        nouns=NOUNS,
        chosen=typed.get("language") or words.language,
        languages=list(dict.fromkeys([*PAGE_LANGUAGES, *languages, texts_in])),
        texts_in=texts_in,
        seen=typed.get("seen", ""),
        longest=LONGEST_WORDING,
        colours=COLOURS,
        preview=preview,
        preview_grids=list_entries(names, preview, preview.language) if preview else [],
    )


class WordEntry(NamedTuple):
    """Something that can have words: the `key` by which a table of Words has them, and what they are now.

    The names of its fields begin with `field`.
    """

    table: str
    key: str
    field: str
    name: str
    parts: dict[str, str]


class GridEntries(NamedTuple):
    """The entries of a grid: its questions, each with its options, its sides, and how many names there are besides."""

    grid: str
    questions: list[tuple[WordEntry, list[WordEntry]]]
    sides: list[WordEntry]
    n_more: int


def list_entries(
    names: Sequence[GridNames], words: Words, language: str, typed: Mapping[str, str] | None = None
) -> list[GridEntries]:
    """The entries of each grid, each key once, with what was `typed` into their fields, or texts in a language."""
    forms: dict[str, dict[str, dict[str, None]]] = {of.grid: {} for of in names}  # questions, their options, each once
    for of in names:
        for question, option_names in of.questions:
            forms[of.grid].setdefault(question, {}).update(dict.fromkeys(option_names))
    asked = [(grid, question) for grid, form in forms.items() for question in form]
    # Questions with the same options, as of a label and a blind one, share them.
    first = {(grid, *options): name for grid, form in forms.items() for name, options in reversed(form.items())}
    of_options = {(grid, name, option) for (grid, *options), name in first.items() for option in options}
    n_questions, n_options = (Counter(key for path in paths for key in _keys(path)) for paths in (asked, of_options))
    listed: set[str] = set()

    def entry(table: str, key: str, name: str) -> WordEntry:
        field, parts = f"{table}:{key}", _parts(getattr(words, table).get(key))
        shown = {part: _by_language(parts.get(part), words.language).get(language, "") for part in PARTS}
        shown |= {mark: parts.get(mark, "") for mark in MARKS}
        shown |= {part: typed[f"{field}:{part}"] for part in shown if typed and f"{field}:{part}" in typed}
        return WordEntry(table, key, field, name, shown)

    def is_new(shown: WordEntry) -> bool:
        n_listed = len(listed)
        listed.add(shown.field)
        return len(listed) > n_listed

    entries = []
    for of in names:
        questions = []
        for question, known_options in forms[of.grid].items():
            shown = entry("questions", _key(words.questions, (of.grid, question), n_questions), question)
            paths = ((of.grid, question, name) for name in known_options)
            below = (entry("options", _key(words.options, path, n_options), path[-1]) for path in paths)
            shown_options = [option for option in below if is_new(option)]
            if is_new(shown) or shown_options:
                questions.append((shown, shown_options))
        named = [(name, name) for name in of.sides]
        if (own_names := of.sides[2:]) == ("hs", "cn"):
            sides_by_own = zip(own_names, of.sides, strict=False)
            named = [(name if name in words.sides else own_name, name) for own_name, name in sides_by_own]
        sides = [*filter(is_new, (entry("sides", *names_of) for names_of in named))]
        entries.append(GridEntries(of.grid, questions, sides[:MOST_NAMES], max(len(sides) - MOST_NAMES, 0)))
    return entries


def _keys(path: tuple[str, ...]) -> list[str]:
    """The keys by which what is at a path can be named, the longest first."""
    return ["/".join(path[at:]) for at in range(len(path))]


def _key(wordings: Mapping[str, Any], path: tuple[str, ...], n_meanings: Counter[str]) -> str:
    """The key of what is at a path: the one that has words, else the shortest that means nothing else."""
    keys = _keys(path)
    shortest = next((key for key in reversed(keys) if n_meanings[key] == 1), keys[0])
    return next((key for key in keys if key in wordings), shortest)


def _parts(wording: Any) -> Mapping[str, Any]:
    return wording if isinstance(wording, Mapping) else {"text": wording} if wording else {}


def _by_language(value: Any, own_language: str) -> dict[str, str]:
    """A text by its languages; what is in none is in that of the study."""
    return dict(value) if isinstance(value, Mapping) else {own_language: value} if value else {}


def read_words(
    names: Sequence[GridNames], words: Words, typed: Mapping[str, str], language: str, texts_in: str
) -> Words:
    """The words with what was typed, in the language `texts_in`, and the `language` that people read.

    What has no field stays as it is. Raises InputError for a text or a language that cannot be.
    """
    tables = {table: dict(getattr(words, table)) for table in TABLES}
    for role in READERS:
        if (noun := typed.get(f"{NOUN}{role}")) is not None:
            tables["nouns"].pop(role, None)
            tables["nouns"] |= {role: noun} if noun else {}
    listed = list_entries(names, words, texts_in)
    questions = (entry for of in listed for question, options in of.questions for entry in (question, *options))
    for entry in (*questions, *(side for of in listed for side in of.sides)):
        wording = tables[entry.table].pop(entry.key, None)
        before, kept = _parts(wording), dict[str, Any]()
        for part in PARTS:
            value, text = before.get(part), typed.get(f"{entry.field}:{part}", entry.parts[part]).strip()
            if text != entry.parts[part]:
                in_others = {tag: of for tag, of in _by_language(value, words.language).items() if tag != texts_in}
                is_plain = texts_in == words.language and not isinstance(value, Mapping)
                value = text if is_plain else in_others | ({texts_in: text} if text else {})
            kept |= {part: value} if value else {}
        marks = {mark: typed.get(f"{entry.field}:{mark}", entry.parts[mark]).strip().lower() for mark in MARKS}
        kept |= {mark: value for mark, value in marks.items() if value}
        if kept != before:
            wording = kept["text"] if kept.keys() == {"text"} and isinstance(kept["text"], str) else kept
        tables[entry.table] |= {entry.key: wording} if wording else {}
    return Words(language, **tables)
