"""The words of the pages: what units, questions, options and sides are called for the people who answer.

What is stored, exported and imported keeps the names; only pages, and clients of the API, show these words instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, NamedTuple

from fcpair.errors import EXPECTED, ONE_OF, InputError, suggest_name
from fcpair.param_values import ONE_OF_NAMES, Checked, invalid_value, param, table
from fcpair.records import WORKERS, Role
from fcpair.sentences import join, mark, say
from fcpair.values import is_blank

NOUNS = ("pair", "statement", "text", "reply", "item", "question", "case")
READERS = tuple(role.value for role in (*WORKERS, Role.ADJUDICATOR))
LONGEST_WORDING, DEFAULT_LANGUAGE = 1_000, "en"
PAGE_LANGUAGES = ("en", "it", "fr", "es", "de", "fa", "ar")  # those in which the pages of people who answer are written
COLOURS = (
    *(mark("red"), mark("orange"), mark("yellow"), mark("green"), mark("teal")),
    *(mark("blue"), mark("purple"), mark("pink"), mark("grey")),
)  # as fcpair.css has them
PAGE_KEYS = "bfglnprsux"  # pressed for something else where people answer or decide
_PARTS = ("text", "help")
_KEY = re.compile("[a-z0-9]")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_PAIR = re.compile(r"(?<![`“\w-])[Pp]airs?\b(?![`”])")

Nouns = Annotated[Mapping[str, str], "role and noun"]
Wordings = Annotated[Mapping[str, Any], "name and wording: a text, or a table of text and help"]
OptionWordings = Annotated[Mapping[str, Any], "name and wording: a text, or a table of text, help, key and colour"]


class Wording(NamedTuple):
    """Text in place of a name, the line below it, and the key and the colour of an option; None if there is none."""

    text: str | None = None
    help: str | None = None
    key: str | None = None
    colour: str | None = None


class Noun(NamedTuple):
    """Noun for one unit of somebody's work, and for several."""

    one: str
    many: str

    @classmethod
    def of(cls, word: str) -> Noun:
        """The noun with its plural."""
        return cls(word, f"{word[:-1]}ies" if word.endswith("y") else f"{word}s")

    def with_number(self, n: int) -> str:
        """The number with the noun, as in `1 pair` and `1,200 pairs`."""
        return f"{n:,} {self.one if n == 1 else self.many}"

    def replace_pairs(self, sentence: str) -> str:
        """The sentence with this noun wherever it says `pair`; what is quoted stays as it is."""
        words = {"pair": self.one, "pairs": self.many}
        words |= {name.capitalize(): word.capitalize() for name, word in words.items()}
        return _PAIR.sub(lambda match: words[match[0]], sentence)


@dataclass(frozen=True)
class Words(Checked):
    """Words that people who answer read in place of names. The longer name of a question goes before the shorter.

    A text can be a table of one text by language; without the study's language its English one holds, else any.
    """

    stage: ClassVar[str] = "words"
    verbatim: ClassVar[tuple[str, ...]] = ("nouns", "questions", "options", "sides")
    language: str = param(DEFAULT_LANGUAGE, "the language that people read, where a wording has several")
    nouns: Nouns = table(
        f"what one unit of the work of a role is called: {', '.join(NOUNS[:-1])} or {NOUNS[-1]}; by default by what is "
        "shown"
    )
    questions: Wordings = table("wordings of questions, by `name` or `grid/name`")
    options: OptionWordings = table(
        "wordings of options and of steps of a scale, by `name`, `question/name` or `grid/question/name`; also the "
        f"`key` of an option, in place of its number, and its `colour`: {', '.join(COLOURS[:-1])} or {COLOURS[-1]}"
    )
    sides: Wordings = table("wordings of what rows and columns are called, and of sides' `names`; also `hs`, `cn`")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _LANGUAGE.fullmatch(self.language):
            raise invalid_value("language", self.language, say("the code of one, such as en or fa"))
        for name in self.verbatim:
            if problems := list(TABLES[name](getattr(self, name))):
                raise InputError(join((join((name, problem), ": ") for problem in problems), "; "))

    @property
    def page_language(self) -> str:
        """The language of the pages for those who have not chosen another: of `fa-IR`, the pages are in `fa`."""
        code = self.language.partition("-")[0]
        return code if code in PAGE_LANGUAGES else DEFAULT_LANGUAGE

    @property
    def language_notes(self) -> tuple[str, ...]:
        """A note where the pages are not in the words' own language."""
        if self.language.partition("-")[0] in PAGE_LANGUAGES:
            return ()
        return (
            say(
                "the pages are in English, as there are none in `%(code)s`, the `language` of `[words]`; wordings in "
                "`%(same)s` are shown all the same. There are pages in %(codes)s",
                code=self.language,
                same=self.language,
                codes=PAGE_LANGUAGES,
            ),
        )

    def in_language(self, language: str | None) -> Words:
        """The words as somebody reads them who chose a language; without one, as the study has them."""
        return replace(self, language=language) if language and language != self.page_language else self

    def question(self, grid: str, name: str) -> Wording:
        """The wording of a question of a grid."""
        return self._find(self.questions, f"{grid}/{name}", name)

    def option(self, grid: str, question: str, name: str) -> Wording:
        """The wording of an option, or of a step of a scale."""
        return self._find(self.options, f"{grid}/{question}/{name}", f"{question}/{name}", name)

    def side(self, *names: str) -> Wording:
        """The wording of a side, or of one of its names, by the first of its `names` that has one."""
        return self._find(self.sides, *names)

    def _find(self, wordings: Mapping[str, Any], *names: str) -> Wording:
        if (value := next((wordings[name] for name in names if name in wordings), None)) is None:
            return Wording()
        parts = {"text": value} if isinstance(value, str) else dict(value)
        for part, text in parts.items():
            if not isinstance(text, str):  # in the study's language, in English, or in whatever language there is
                parts[part] = next(text[tag] for tag in (self.language, DEFAULT_LANGUAGE, *text) if tag in text)
        return Wording(*map(parts.get, Wording._fields))


def _noun_problems(nouns: Mapping[str, Any]) -> Iterator[str]:
    for role, noun in nouns.items():
        if role not in READERS:
            yield say(
                "there is no role `%(role)s` that reads; %(hint)s", role=role, hint=suggest_name(role, READERS, ONE_OF)
            )
        if noun not in NOUNS:
            yield str(invalid_value(f"`{role}`", noun, say(ONE_OF_NAMES, names=list(NOUNS))))


def _wording_problems(wordings: Mapping[str, Any], known_parts: Sequence[str] = _PARTS) -> Iterator[str]:
    for name, wording in wordings.items():
        if not (parts := wording if isinstance(wording, dict) else {"text": wording}):
            yield say("`%(name)s` has no wording; give it a `text`, a `help`, or both", name=name)
        for part, value in parts.items():
            if part not in known_parts:
                hint = suggest_name(part, known_parts, EXPECTED)
                yield say("`%(name)s` has `%(part)s`; %(hint)s", name=name, part=part, hint=hint)
                continue
            problems = _text_problems(part, value) if part in _PARTS else mark_problems(part, value)
            yield from (say("`%(name)s`: %(problem)s", name=name, problem=problem) for problem in problems)


def mark_problems(part: str, value: Any) -> Iterator[str]:
    """Yield what is wrong with the `key` or the `colour` of an option."""
    if part == "colour" and value not in COLOURS:
        yield str(invalid_value("`colour`", value, say(ONE_OF_NAMES, names=list(COLOURS))))
    elif part == "key" and not (isinstance(value, str) and _KEY.fullmatch(value)):
        yield str(invalid_value("`key`", value, say("one letter from a to z, or one digit, in quotes")))
    elif part == "key" and value in PAGE_KEYS:
        yield say("`%(key)s` is one of the pages' own keys: %(keys)s; choose another", key=value, keys=list(PAGE_KEYS))


def _text_problems(part: str, value: Any) -> Iterator[str]:
    if not (texts := value if isinstance(value, dict) else {DEFAULT_LANGUAGE: value}):
        yield say("`%(part)s` has no text in any language", part=part)
    for language, text in texts.items():
        if not _LANGUAGE.fullmatch(language):
            yield say(
                "`%(part)s` has `%(code)s`; expected the code of a language, such as en or fa", part=part, code=language
            )
        if not isinstance(text, str) or is_blank(text) or len(text) > LONGEST_WORDING:
            yield str(invalid_value(f"`{part}`", text, say("a text of 1 to %(most)s characters", most=LONGEST_WORDING)))


# Of each table of Words, what yields everything that is wrong with it.
TABLES: dict[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "nouns": _noun_problems,
    "questions": _wording_problems,
    "options": lambda wordings: _wording_problems(wordings, Wording._fields),
    "sides": _wording_problems,
}
