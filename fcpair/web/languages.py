"""Languages of the pages: their messages, which are gettext catalogues, and their numbers, dates and time spans.

Messages are marked in English where they are shown: `_` and `ngettext` in templates, `t` and `tn` in scripts, `mark` in
Python. Figures are those of `report/formatting.py`, with digits and signs of the language.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from babel import Locale, negotiate_locale
from babel.dates import format_date, format_datetime, format_skeleton
from babel.numbers import format_decimal, get_decimal_symbol, get_group_symbol, get_minus_sign_symbol
from markupsafe import Markup

from fcpair.report import formatting
from fcpair.sentences import Answer, Id, Joined, Sentence, Written, isolate, mark, mark_plural
from fcpair.words import DEFAULT_LANGUAGE, PAGE_LANGUAGES, Noun

FOLDER = Path(__file__).parent / "locale"
SCRIPT = Path(__file__).parent / "static" / "language.js"
STATIC = "fcpair/web/static/"  # as catalogues name the place of a message
# How the names of scripts begin that only leads load.
LEAD_SCRIPTS = tuple(STATIC + name for name in ("grid", "pair-", "start", "send", "recipe", "lead", "copy"))
CATEGORIES = {"ar": ("zero", "one", "two", "few", "many", "other"), "fa": ("other",)}  # of plurals, as catalogues count
TWO_CATEGORIES = ("one", "other")
NAMES = {
    "en": "English",
    "it": "Italiano",
    "fr": "Français",
    "es": "Español",
    "de": "Deutsch",
    "fa": "فارسی",
    "ar": "العربية",
}
BOUNDS = mark("%(low)s to %(high)s")
_FIGURE = re.compile(r"([<>] )?-?[\d,]+(\.\d+)?( %)?")
_SENTENCE = re.compile(r"[A-Za-z]{2,} .*[A-Za-z]{2}", re.DOTALL)
_AS_IT_IS = re.compile(r'(?:="|<code>)%\((\w+)\)s')  # values that are addresses, or copied
_BOUNDS = re.compile(r"(-?[\d.]+) to (-?[\d.]+)")
NUMBERINGS = {"ar": ("arab", 0x0660), "fa": ("arabext", 0x06F0)}  # by CLDR's names; and the digit 0 of each


class NounPhrases(NamedTuple):
    """A unit of work as sentences have it: with a number, then the texts of `NAMED_PHRASES` in their order.

    A noun has other articles, genders and plurals in every language, so each form of each noun is a message of its own.
    """

    counted: tuple[str, str]
    forms: tuple[str, str, str]
    placed: tuple[str, str, str]


NAMED_PHRASES = ("noun", "nouns", "this_noun", "first_noun", "next_noun", "last_noun")
NOUN_PHRASES = {
    "pair": NounPhrases(
        mark_plural("%(n)s pair", "%(n)s pairs"),
        (mark("pair"), mark("pairs"), mark("this pair")),
        (mark("the first pair"), mark("the next pair"), mark("the last pair")),
    ),
    "statement": NounPhrases(
        mark_plural("%(n)s statement", "%(n)s statements"),
        (mark("statement"), mark("statements"), mark("this statement")),
        (mark("the first statement"), mark("the next statement"), mark("the last statement")),
    ),
    "text": NounPhrases(
        mark_plural("%(n)s text", "%(n)s texts"),
        (mark("text"), mark("texts"), mark("this text")),
        (mark("the first text"), mark("the next text"), mark("the last text")),
    ),
    "reply": NounPhrases(
        mark_plural("%(n)s reply", "%(n)s replies"),
        (mark("reply"), mark("replies"), mark("this reply")),
        (mark("the first reply"), mark("the next reply"), mark("the last reply")),
    ),
    "item": NounPhrases(
        mark_plural("%(n)s item", "%(n)s items"),
        (mark("item"), mark("items"), mark("this item")),
        (mark("the first item"), mark("the next item"), mark("the last item")),
    ),
    "question": NounPhrases(
        mark_plural("%(n)s question", "%(n)s questions"),
        (mark("question"), mark("questions"), mark("this question")),
        (mark("the first question"), mark("the next question"), mark("the last question")),
    ),
    "case": NounPhrases(
        mark_plural("%(n)s case", "%(n)s cases"),
        (mark("case"), mark("cases"), mark("this case")),
        (mark("the first case"), mark("the next case"), mark("the last case")),
    ),
}
# As leads read them: roles; how pairs were decided, where by no policy of theirs, and the round that checks it.
ROLE_NAMES = (
    *(mark("annotator"), mark("validator"), mark("adjudicator"), mark("writer"), mark("rater")),
    *(mark("respondent"), mark("model"), mark("lead")),
)
RULE_NAMES = (mark("person"), mark("imported"), mark("reopened"), mark("validate"))
# Answers and questions that recipes use without a wording; names that a study thinks up stay as they are.
ANSWER_NAMES = (
    *(mark("appropriate"), mark("not appropriate"), mark("not sure"), mark("agree"), mark("disagree")),
    *(mark("accept"), mark("edit"), mark("reject"), mark("irreconcilable"), mark("skip"), mark("skipped")),
    *(mark("yes"), mark("no"), mark("decline"), mark("label"), mark("own label"), mark("verdict"), mark("answer")),
)


def catalogue_path(code: str) -> Path:
    """The file with the messages of a language."""
    return FOLDER / code / "LC_MESSAGES" / "fcpair.po"


class Language:
    """A language of the pages, and its `name` in it. In messages, `%(name)s` stands for a value."""

    def __init__(self, code: str) -> None:
        self.code, self.name = code, NAMES[code]
        self.direction = "rtl" if code in ("fa", "ar") else "ltr"
        self.categories = CATEGORIES.get(code, TWO_CATEGORIES)
        self._numbering, zero = NUMBERINGS.get(code, ("latn", ord("0")))
        self._digits = {ord("0") + digit: zero + digit for digit in range(10)}

    @cached_property
    def _locale(self) -> Locale:
        """Babel's data on the language: 1 MB, and 3 MB for the first one, which pages in English do without."""
        return Locale.parse(self.code)

    @cached_property
    def _signs(self) -> dict[int, str | int]:
        """Digits and signs of a figure, by those of English."""
        signs = {",": get_group_symbol, ".": get_decimal_symbol, "-": get_minus_sign_symbol}
        symbols = {ord(sign): of(self._locale, numbering_system=self._numbering) for sign, of in signs.items()}
        return {**symbols, **self._digits}

    @property
    def tag(self) -> str:
        """The language with its calendar and digits, as browsers take it: they write dates as these pages do."""
        if self.code == DEFAULT_LANGUAGE:
            return "en-GB"
        return f"{self.code}-u-ca-gregory-nu-{self._numbering}" if self.code in NUMBERINGS else self.code

    @cached_property
    def _messages(self) -> dict[str, str | tuple[str, ...]]:
        return {} if self.code == DEFAULT_LANGUAGE else _read_messages(self.code)

    def find(self, text: str) -> str:
        """The translation of a text that is a message; any other text as it is."""
        message = self._messages.get(text, text)
        return message if isinstance(message, str) else text

    def knows(self, text: str) -> bool:
        """Return whether a text is a message."""
        return text in self._messages

    def gettext(self, message: str, **values: Any) -> str:
        """A message, with values in it."""
        return self.find(message) % self._written(values)

    def ngettext(self, one: str, many: str, n: int, **values: Any) -> str:
        """The message for the number `n`, which is a value of it."""
        return self._plural(one, many, n) % self._written({"n": n, **values})

    def to_html(self, message: str, **values: Any) -> Markup:
        """A message that may have elements in it, with values that are escaped."""
        return self._fill(self.find(message), values)

    def to_html_by_number(self, one: str, many: str, n: int, **values: Any) -> Markup:
        """The message for the number `n`, as `to_html` gives it."""
        return self._fill(self._plural(one, many, n), {"n": n, **values})

    def isolate(self, value: Any) -> Any:
        """A text of the study's own beside which the sentence of a page keeps its order; any other value as it is."""
        return isolate(value, self.direction) if type(value) is str else value

    def number(self, n: float) -> str:
        """A number as it is written in the language."""
        if self.code == DEFAULT_LANGUAGE and isinstance(n, int):
            return f"{n:,}"
        return self.digits(format_decimal(n, locale=self._locale, numbering_system=self._numbering))

    def digits(self, written: object) -> str:
        """The same with the digits of the language: of an id, which is no number."""
        return str(written).translate(self._digits)

    def figure(self, written: str) -> str:
        """A figure that is written as in English, such as `-1,234.50`."""
        return written if self.code == DEFAULT_LANGUAGE else written.translate(self._signs)

    def percent(self, written: str) -> str:
        """The same of a share, such as `87.5 %`."""
        if self.code == DEFAULT_LANGUAGE:
            return written
        sign, suffix = self._locale.number_symbols[self._numbering], self._locale.percent_formats[None].suffix[0]
        return self.figure(written).replace(" %", suffix.replace("%", sign["percentSign"]))

    def count(self, n: int) -> str:
        """A count: `5,805`."""
        return self.figure(formatting.count(n))

    def decimal(self, value: float | None, places: int = 3) -> str:
        """A figure with so many decimals; a dash if there is none."""
        return self.figure(formatting.decimal(value, places))

    def share(self, part: int, whole: int) -> str:
        """A share in percent. Only none is 0.0 %, and only all is 100.0 %."""
        return self.percent(formatting.share(part, whole))

    def cell(self, written: str) -> str:
        """A cell of a table that a report has written; what is more than a figure stays as it is."""
        if limits := _BOUNDS.fullmatch(written):
            low, high = map(self.figure, limits.groups())
            return self.gettext(BOUNDS, low=low, high=high)
        return self.percent(written) if _FIGURE.fullmatch(written) else written

    def bounds(self, low: float | None, high: float | None) -> str:
        """From one figure to another; a dash if there is none."""
        if low is None or high is None:
            return formatting.NOTHING
        return self.gettext(BOUNDS, low=self.decimal(low), high=self.decimal(high))

    def moment(self, at: str) -> str:
        """A time of the study to the second: `1 Mar 2025, 12:00:00 UTC`."""
        moment = datetime.fromisoformat(at).astimezone(UTC)
        if self.code == DEFAULT_LANGUAGE:
            return f"{self.calendar_day(moment.date())}, {moment:%H:%M:%S} UTC"
        return f"{self.digits(format_datetime(moment, 'medium', locale=self._locale))} UTC"

    def day(self, at: float) -> str:
        """The day of a POSIX time in UTC: `2 Mar 2026 (UTC)`."""
        return f"{self.calendar_day(datetime.fromtimestamp(at, UTC).date())} (UTC)"

    def calendar_day(self, day: date | str) -> str:
        """A day, which may be written as in ISO 8601: `2 Mar 2026`. Pages have no other form, and one calendar."""
        day = date.fromisoformat(day) if isinstance(day, str) else day
        if self.code == DEFAULT_LANGUAGE:
            return f"{day.day} {day:%b %Y}"
        return self.digits(format_date(day, "medium", locale=self._locale))

    def axis_date(self, day: date) -> str:
        """A day on the axis of a chart, which runs from left to right, without its year: `2 Mar`."""
        if self.code == DEFAULT_LANGUAGE:
            return f"{day.day} {day:%b}"
        return isolate(self.digits(format_skeleton("MMMd", day, locale=self._locale)), "ltr")

    def duration(self, seconds: float | None) -> str:
        """A time span in words: `2 h 05 min`, `14 min`, `40 s`; a dash if there is none."""
        if seconds is None:
            return formatting.NOTHING
        if seconds < 60:
            return self.gettext(mark("%(seconds)s s"), seconds=self.digits(f"{seconds:.0f}"))
        hours, minutes = divmod(round(seconds / 60), 60)
        if not hours:
            return self.gettext(mark("%(minutes)s min"), minutes=minutes)
        return self.gettext(mark("%(hours)s h %(minutes)s min"), hours=hours, minutes=self.digits(f"{minutes:02d}"))

    def count_noun(self, noun: Noun, n: int) -> str:
        """The number with the noun, as in `1,200 pairs`."""
        return self.ngettext(*NOUN_PHRASES[noun.one].counted, n)

    def noun_phrases(self, noun: Noun) -> dict[str, Any]:
        """Phrases for a unit of work: `this_noun`, `This_noun` and so on, and `counted` forms for numbers."""
        phrases = NOUN_PHRASES[noun.one]
        texts = dict(zip(NAMED_PHRASES, map(self.find, (*phrases.forms, *phrases.placed)), strict=True))
        capitals = {name[:1].upper() + name[1:]: text[:1].upper() + text[1:] for name, text in texts.items()}
        return {**texts, **capitals, "counted": self._forms(*phrases.counted)}

    def say(self, sentence: str, noun: Noun) -> str:
        """A sentence for people whose work comes in units of this noun; a text without a translation as it is."""
        said = self._say(sentence, noun)
        return noun.replace_pairs(said) if self.code == DEFAULT_LANGUAGE else said

    def _say(self, sentence: str, noun: Noun) -> str:
        if isinstance(sentence, Joined):
            return self.find(sentence.template).join(self.say(part, noun) for part in sentence.parts)
        if not isinstance(sentence, Sentence):
            return self.find(sentence)
        if (sentence.template, sentence.many) == NOUN_PHRASES["pair"].counted:
            return self.count_noun(noun, sentence.values["n"])
        values = {name: self._say_value(value, noun) for name, value in sentence.values.items()}
        if sentence.many:
            return self._plural(sentence.template, sentence.many, sentence.values["n"]) % values
        return self.find(sentence.template) % {**self.noun_phrases(noun), **values}

    def _say_value(self, value: Any, noun: Noun) -> str:
        if isinstance(value, list | tuple):
            return self.find(", ").join(self._say_value(item, noun) for item in value)
        if isinstance(value, Sentence):
            return self.say(value, noun)
        writers: dict[type, Callable[[Any], str]] = {Id: self.digits, Written: self.percent, Answer: self.answer_name}
        return str(self.isolate((writers | {int: self.number}).get(type(value), str)(value)))

    def answer_name(self, name: str) -> str:
        """The name of an answer as people read it who have no wording for it."""
        words = name.replace("_", " ")
        return self.find(words) if words in ANSWER_NAMES else words

    def script(self, *, leads: bool) -> bytes:
        """The script by which others say their messages in the language; for `leads` with those of their pages."""
        contents = {"locale": self.tag, "plurals": self.categories, "messages": {}, "names": {}}
        if self.code != DEFAULT_LANGUAGE:
            contents["messages"] = _read_messages(self.code, STATIC, () if leads else LEAD_SCRIPTS)
            contents["names"] = {name: self.find(name) for name in ANSWER_NAMES}
        text = json.dumps(contents, ensure_ascii=False, separators=(",", ":"))
        return f"globalThis.fcpairMessages = {text};\n{SCRIPT.read_text('utf-8')}".encode()

    @property
    def script_version(self) -> str:
        """A hash of all that `script` is made from, as that takes longer: also of the module that makes it."""
        catalogue = [] if self.code == DEFAULT_LANGUAGE else [catalogue_path(self.code)]
        sources = b"".join(path.read_bytes() for path in (SCRIPT, Path(__file__), *catalogue))
        return hashlib.sha256(self.code.encode() + sources).hexdigest()[:12]

    def _forms(self, one: str, many: str) -> tuple[str, ...]:
        message = self._messages.get(one, (one, many))
        return (message,) if isinstance(message, str) else message

    def _plural(self, one: str, many: str, n: int) -> str:
        forms = self._forms(one, many)
        if len(forms) != len(self.categories):  # a message without a translation has the two forms of English
            return forms[n != 1]
        english = "one" if abs(n) == 1 else "other"
        category = english if self.code == DEFAULT_LANGUAGE else self._locale.plural_form(n)
        return forms[self.categories.index(category)] if category in self.categories else forms[-1]

    def _written(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {n: self.number(value) if type(value) is int else self.isolate(value) for n, value in values.items()}

    def _fill(self, message: str, values: Mapping[str, Any]) -> Markup:
        bare = {name: values[name] for name in _AS_IT_IS.findall(message)}
        return Markup(message) % {**self._written(values), **bare}


def notice_plain(sentence: str) -> None:
    """Hand a sentence to `on_plain` that pages can say in English alone, or each part of several that they can."""
    if on_plain is None:
        return
    if isinstance(sentence, Joined):
        for part in sentence.parts:
            notice_plain(part)
    elif not isinstance(sentence, Sentence) and _SENTENCE.search(sentence) and not LANGUAGES["it"].knows(sentence):
        on_plain(sentence)


def _read_messages(code: str, place: str = "", others: tuple[str, ...] = ()) -> dict[str, str | tuple[str, ...]]:
    """The translated messages of a language, by the English one (in the singular); or those at a `place` alone."""
    from babel.messages.pofile import read_po  # not needed for English

    with catalogue_path(code).open("rb") as file:
        catalogue = read_po(file, locale=code)
    messages: dict[str, str | tuple[str, ...]] = {}
    for message in catalogue:
        forms = _forms(message.string)
        is_at_place = not place or any(
            path.startswith(place) and not path.startswith(others) for path, _ in message.locations
        )
        if message.id and is_at_place and not message.fuzzy and all(forms):
            messages[_forms(message.id)[0]] = forms if message.pluralizable else forms[0]
    return messages


def _forms(text: str | Sequence[str] | None) -> tuple[str, ...]:
    """The forms of a message for numbers, or the one that it has."""
    return (text,) if isinstance(text, str) else tuple(text or ())


def preferred_language(header: str) -> Language:
    """The language of pages that a browser asks for first, by its header `Accept-Language`; else English."""
    weighed = []
    for part in header.replace(" ", "").split(","):
        tag, _, weight = part.partition(";q=")
        # 1 where nothing is said, 0 where that cannot be read.
        weighed.append((float(weight or 1) if re.fullmatch(r"[01]?(\.\d{1,3})?", weight) else 0, tag))
    tags = [tag for weight, tag in sorted(weighed, key=lambda weighted: -weighted[0]) if weight]
    return LANGUAGES[negotiate_locale(tags, PAGE_LANGUAGES, sep="-") or DEFAULT_LANGUAGE]


on_plain: Callable[[str], object] | None = None
"""Functions that tests have called with a refusal, a notice or an outcome that is a mere text and no message."""

LANGUAGES: dict[str, Language] = {code: Language(code) for code in PAGE_LANGUAGES}
ENGLISH = LANGUAGES[DEFAULT_LANGUAGE]
