"""The words of the study, as the lead edits them: what people who answer read in place of its names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter, Response

from fcpair.param_values import digest_params
from fcpair.stages.questions.labels import GridNames
from fcpair.web.current_grid import GUIDELINES
from fcpair.web.form import fields
from fcpair.web.languages import ENGLISH, LANGUAGES
from fcpair.web.visits import REFUSALS, LeadVisit, Visit
from fcpair.words import LONGEST_WORDING, NOUNS, PAGE_LANGUAGES, READERS, TABLES, Noun, Words

router = APIRouter(include_in_schema=False)
PATH = "/lead/words"
PARTS = ("text", "help")
NOUN = "noun:"
MOST_NAMES = 150  # of the sides of a grid: a request has so many fields
MAIN_SIDES = ("hs", "cn")


@router.get(PATH)
def words_form(visit: LeadVisit, run: int = 0, texts_in: str = "") -> Response:
    """The words as they are, to be edited in one language."""
    words = visit.study.effective_options(Words)
    typed = {"texts_in": texts_in or words.language, "language": words.language, "seen": digest_params(words)}
    return _show(visit, typed, run=run)


@router.post(PATH)
def change_words(visit: LeadVisit) -> Response:
    """Show how the words will read, or let people read them from now on."""
    typed, words = fields(visit.request), visit.study.effective_options(Words)
    texts_in = typed.get("texts_in", "").strip() or words.language

    def read() -> Words:
        names, language = visit.study.load_names(), typed.get("language", words.language).strip()
        return read_words(names, words, typed, language, texts_in)

    def show_refused(refused: Visit) -> Response:  # to save it again is to mean it
        return _show(refused, {**typed, "seen": digest_params(visit.study.effective_options(Words))})

    if typed.get("act") == "save":
        return visit.act(lambda: visit.study.save_words(read(), seen=typed.get("seen", "")), PATH, show_refused)
    try:
        return _show(visit, typed, preview=read())
    except REFUSALS as refusal:
        return show_refused(visit.refused(refusal))


def _show(visit: Visit, typed: Mapping[str, str], *, preview: Words | None = None, run: int = 0) -> Response:
    study, words, names = visit.study, visit.study.effective_options(Words), visit.study.load_names()
    texts_in = typed.get("texts_in") or words.language
    # The roles that read in this study: those of its rounds, of its people, and that have a noun.
    roles = {one["role"] for of in study.grid_overview() for one in of["rounds"]} | words.nouns.keys()
    roles |= {one.role.value for one in study.people}
    nouns = {role: typed.get(f"{NOUN}{role}", words.nouns.get(role, "")) for role in READERS if role in roles}
    shown_in = LANGUAGES.get(preview.language, ENGLISH) if preview else ENGLISH
    return visit.page(
        "lead_words.html.j2",
        visit.here,
        run,
        page=GUIDELINES,
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
        languages=list(dict.fromkeys([*PAGE_LANGUAGES, *languages_of(words), texts_in])),
        texts_in=texts_in,
        seen=typed.get("seen", ""),
        longest=LONGEST_WORDING,
        preview=preview,
        preview_grids=list_entries(names, preview, preview.language) if preview else [],
    )


@dataclass(frozen=True)
class WordEntry:
    """Something that can have words: the `key` by which a table of Words has them, and what they are now."""

    table: str
    key: str
    name: str
    text: str = ""
    help: str = ""

    def field(self, part: str) -> str:
        """The name of the field for its `text`, or its `help`."""
        return f"{self.table}:{self.key}:{part}"


@dataclass(frozen=True)
class GridEntries:
    """The entries of a grid: its questions, each with its options, its sides, and how many names there are besides."""

    grid: str
    questions: tuple[tuple[WordEntry, tuple[WordEntry, ...]], ...]
    sides: tuple[WordEntry, ...]
    n_more: int = 0

    def __iter__(self) -> Iterator[WordEntry]:
        for question, options in self.questions:
            yield question
            yield from options
        yield from self.sides


def list_entries(
    names: Sequence[GridNames], words: Words, language: str, typed: Mapping[str, str] | None = None
) -> list[GridEntries]:
    """The entries of each grid, with what was `typed` into their fields, or the texts that they have in a language.

    What has one key is there once.
    """
    questions = _count_meanings((of.grid, name) for of in names for name in _questions(of))
    paths = set[tuple[str, ...]]()
    for of in names:  # questions with the same options, as of a label and a blind one, share them
        first_questions: dict[tuple[str, ...], str] = {}
        for question, option_names in _questions(of).items():
            first_question = first_questions.setdefault(tuple(option_names), question)
            paths |= {(of.grid, first_question, name) for name in option_names}
    options = _count_meanings(paths)
    listed: set[tuple[str, str]] = set()

    def entry(table: str, key: str, name: str) -> WordEntry:
        texts = {part: text_in(getattr(words, table).get(key), part, words, language) for part in PARTS}
        one = WordEntry(table, key, name, **texts)
        return (
            replace(one, **{part: typed.get(one.field(part), text) for part, text in texts.items()}) if typed else one
        )

    def is_new(one: WordEntry) -> bool:
        is_listed = (one.table, one.key) in listed
        listed.add((one.table, one.key))
        return not is_listed

    def of_grid(of: GridNames) -> GridEntries:
        found = []
        for question, option_names in _questions(of).items():
            asked = entry("questions", _key(words.questions, (of.grid, question), questions), question)
            keys = ((_key(words.options, (of.grid, question, name), options), name) for name in option_names)
            choices = tuple(filter(is_new, (entry("options", key, name) for key, name in keys)))
            if is_new(asked) or choices:
                found.append((asked, choices))
        sides = [one for one in (entry("sides", key, name) for key, name in _sides(of, words)) if is_new(one)]
        return GridEntries(of.grid, tuple(found), tuple(sides[:MOST_NAMES]), max(len(sides) - MOST_NAMES, 0))

    return [of_grid(of) for of in names]


def _questions(of: GridNames) -> dict[str, list[str]]:
    """The questions of a grid with all their options, each name once."""
    found: dict[str, list[str]] = {}
    for name, option_names in of.questions:
        known = found.setdefault(name, [])
        known += [option for option in option_names if option not in known]
    return found


def _keys(path: tuple[str, ...]) -> list[str]:
    """The keys by which what is at a path can be named, the longest first."""
    return ["/".join(path[at:]) for at in range(len(path))]


def _count_meanings(paths: Iterable[tuple[str, ...]]) -> Counter[str]:
    return Counter(key for path in paths for key in _keys(path))


def _key(wordings: Mapping[str, Any], path: tuple[str, ...], n_meanings: Counter[str]) -> str:
    """The key of what is at a path: the one that has words, else the shortest that means nothing else."""
    keys = _keys(path)
    shortest = next((key for key in reversed(keys) if n_meanings[key] == 1), keys[0])
    return next((key for key in keys if key in wordings), shortest)


def _sides(of: GridNames, words: Words) -> Iterator[tuple[str, str]]:
    """The key and the name of each side, and of each of its texts that is a name."""
    row_and_column, rest = of.sides[:2], of.sides[2:]
    if rest != MAIN_SIDES:
        yield from ((name, name) for name in of.sides)
        return
    for own_name, name in zip(MAIN_SIDES, row_and_column, strict=True):
        yield (name if name in words.sides else own_name), name


def text_in(wording: Any, part: str, words: Words, language: str) -> str:
    """The text or help of a wording in a language; what is in none is in that of the study."""
    value = _parts(wording).get(part)
    if isinstance(value, Mapping):
        return str(value.get(language, ""))
    return value or "" if language == words.language else ""


def _parts(wording: Any) -> Mapping[str, Any]:
    if wording is None:
        return {}
    return {"text": wording} if isinstance(wording, str) else wording


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
    for one in (one for of in list_entries(names, words, texts_in) for one in of):
        wording = tables[one.table].pop(one.key, None)
        before, kept = _parts(wording), dict[str, Any]()
        for part in PARTS:
            value, text = before.get(part), typed.get(one.field(part), getattr(one, part)).strip()
            if text != getattr(one, part):
                value = _with_text(value, text, words.language, texts_in)
            kept |= {part: value} if value else {}
        if kept != before:
            wording = kept["text"] if kept.keys() == {"text"} and isinstance(kept["text"], str) else kept
        tables[one.table] |= {one.key: wording} if wording else {}
    return Words(language, **tables)


def _with_text(value: Any, text: str, own_language: str, language: str) -> Any:
    """A text by language, or in none, with another one in a language."""
    if not isinstance(value, Mapping) and language == own_language:
        return text
    by_language = dict(value) if isinstance(value, Mapping) else {own_language: value} if value else {}
    by_language.pop(language, None)
    return by_language | ({language: text} if text else {})


def languages_of(words: Words) -> list[str]:
    """The languages that words have texts in, that of the study first."""
    found = [words.language]
    for table in ("questions", "options", "sides"):
        for wording in getattr(words, table).values():
            found += [tag for value in _parts(wording).values() if isinstance(value, Mapping) for tag in value]
    return list(dict.fromkeys(found))
