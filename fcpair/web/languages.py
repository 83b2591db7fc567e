"""Languages of the pages: their messages, which are gettext catalogues, and numbers and dates.

Messages are marked in English where they are shown: `_` and `ngettext` in templates, `t` and `tn` in scripts, `mark` in
Python.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from babel import Locale, negotiate_locale
from babel.dates import format_date, format_datetime
from babel.numbers import format_decimal, get_decimal_symbol, get_group_symbol, get_minus_sign_symbol
from markupsafe import Markup, escape

from fcpair.web.page_phrases import ANSWER_NAMES, NOUN_PHRASES
from fcpair.words import DEFAULT_LANGUAGE, PAGE_LANGUAGES, Noun

FOLDER = Path(__file__).parent / "locale"
SCRIPT = Path(__file__).parent / "static" / "language.js"
SCRIPT_MAKERS = [Path(__file__).with_name(name) for name in ("languages.py", "page_phrases.py")]
OF_SCRIPTS = "fcpair/web/static/"  # where messages are found that scripts say
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
RIGHT_TO_LEFT = ("fa", "ar")
NUMBERINGS = {"ar": ("arab", 0x0660), "fa": ("arabext", 0x06F0)}  # by CLDR's names; and the digit 0 of each


def catalogue_path(code: str) -> Path:
    """The file with the messages of a language."""
    return FOLDER / code / "LC_MESSAGES" / "fcpair.po"


class Language:
    """A language of the pages. In messages, `%(name)s` stands for a value; a whole number is written as in it.

    `name` is what it calls itself, `direction` that of its pages: `ltr` or `rtl`.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.name = NAMES[code]
        self.direction = "rtl" if code in RIGHT_TO_LEFT else "ltr"
        self.categories = CATEGORIES.get(code, TWO_CATEGORIES)
        self._numbering, zero = NUMBERINGS.get(code, ("latn", ord("0")))
        self._digits = {ord("0") + digit: zero + digit for digit in range(10)}

    @cached_property
    def _locale(self) -> Locale:
        """What Babel knows of the language: 1 MB, and 3 MB for the first one, which pages in English do without."""
        return Locale.parse(self.code)

    @cached_property
    def _signs(self) -> dict[int, str | int]:
        """Digits and signs of a figure, by those of English."""
        signs = {",": get_group_symbol, ".": get_decimal_symbol, "-": get_minus_sign_symbol}
        symbols = {ord(sign): of(self._locale, numbering_system=self._numbering) for sign, of in signs.items()}
        return {**symbols, **self._digits}

    @cached_property
    def _percent(self) -> str:
        """What follows a number in percent."""
        sign: str = self._locale.number_symbols[self._numbering]["percentSign"]
        suffix: str = self._locale.percent_formats[None].suffix[0]
        return suffix.replace("%", sign)

    @property
    def tag(self) -> str:
        """The language with its digits, as browsers take it."""
        return f"{self.code}-u-nu-{self._numbering}" if self.code in NUMBERINGS else self.code

    @cached_property
    def _messages(self) -> dict[str, str | tuple[str, ...]]:
        return {} if self.code == DEFAULT_LANGUAGE else _read_messages(self.code)

    def find(self, text: str) -> str:
        """The translation of a text that is a message; any other text as it is."""
        message = self._messages.get(text, text)
        return message if isinstance(message, str) else text

    def gettext(self, message: str, **values: Any) -> str:
        """A message, with values in it."""
        return self.find(message) % self._written(values)

    def ngettext(self, one: str, many: str, n: int, **values: Any) -> str:
        """The message for the number `n`, which is a value of it."""
        return self._plural(one, many, n) % self._written({"n": n, **values})

    def to_html(self, message: str, **values: Any) -> Markup:
        """A message that may have elements in it, with values that are escaped."""
        return Markup(self.find(message)) % self._escaped(values)

    def to_html_by_number(self, one: str, many: str, n: int, **values: Any) -> Markup:
        """The message for the number `n`, as `to_html` gives it."""
        return Markup(self._plural(one, many, n)) % self._escaped({"n": n, **values})

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
        return written if self.code == DEFAULT_LANGUAGE else self.figure(written).replace(" %", self._percent)

    def short_date(self, day: date) -> str:
        """A day, as tables have it."""
        return self.digits(format_date(day, "medium", locale=self._locale))

    def long_date(self, day: date) -> str:
        """A day, with its month in words."""
        return self.digits(format_date(day, "long", locale=self._locale))

    def moment(self, at: str) -> str:
        """Date and time of a moment in UTC, given as ISO 8601."""
        moment = datetime.fromisoformat(at).astimezone(UTC)
        return self.digits(format_datetime(moment, "medium", locale=self._locale))

    def count(self, noun: Noun, n: int) -> str:
        """The number with the noun, as in `1,200 pairs`."""
        return self.ngettext(*NOUN_PHRASES[noun.one].counted, n)

    def noun_phrases(self, noun: Noun) -> dict[str, Any]:
        """What messages say for a unit of work: `this_noun` and so on, with a capital at the beginning of a sentence.

        `counted` are the forms for numbers, in the order of the language's `categories`.
        """
        phrases = NOUN_PHRASES[noun.one]
        texts = {name: self.find(text) for name, text in phrases._asdict().items() if name != "counted"}
        capitals = {_capitalize(name): _capitalize(text) for name, text in texts.items()}
        return {**texts, **capitals, "counted": self._forms(*phrases.counted)}

    def answer_name(self, name: str) -> str:
        """The name of an answer as people read it who have no wording for it."""
        words = name.replace("_", " ")
        return self.find(words) if words in ANSWER_NAMES else words

    def script(self) -> str:
        """The script by which others say their messages in the language."""
        contents = {"locale": self.tag, "plurals": self.categories, "messages": {}, "names": {}}
        if self.code != DEFAULT_LANGUAGE:
            contents["messages"] = _read_messages(self.code, OF_SCRIPTS)
            contents["names"] = {name: self.find(name) for name in ANSWER_NAMES}
        text = json.dumps(contents, ensure_ascii=False, separators=(",", ":"))
        return f"globalThis.fcpairMessages = {text};\n{SCRIPT.read_text('utf-8')}"

    @property
    def script_version(self) -> str:
        """A hash of all that `script` is made from, as that takes longer: also of the modules that make it."""
        catalogue = [] if self.code == DEFAULT_LANGUAGE else [catalogue_path(self.code)]
        sources = b"".join(path.read_bytes() for path in (SCRIPT, *SCRIPT_MAKERS, *catalogue))
        return hashlib.sha256(self.code.encode() + sources).hexdigest()[:12]

    def _forms(self, one: str, many: str) -> tuple[str, ...]:
        message = self._messages.get(one, (one, many))
        return (message,) if isinstance(message, str) else message

    def _plural(self, one: str, many: str, n: int) -> str:
        forms, category = self._forms(one, many), self._category(n)
        if len(forms) != len(self.categories):  # a message without a translation has the two forms of English
            return forms[n != 1]
        return forms[self.categories.index(category)] if category in self.categories else forms[-1]

    def _category(self, n: int) -> str:
        if self.code == DEFAULT_LANGUAGE:
            return "one" if abs(n) == 1 else "other"
        return self._locale.plural_form(n)

    def _written(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.number(value) if type(value) is int else value for name, value in values.items()}

    def _escaped(self, values: Mapping[str, Any]) -> dict[str, Markup]:
        return {name: escape(value) for name, value in self._written(values).items()}


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _read_messages(code: str, place: str = "") -> dict[str, str | tuple[str, ...]]:
    """The translated messages of a language, by the English one (in the singular); or those found below a place."""
    from babel.messages.pofile import read_po  # not needed for English

    with catalogue_path(code).open("rb") as file:
        catalogue = read_po(file, locale=code)
    messages: dict[str, str | tuple[str, ...]] = {}
    for one in catalogue:
        forms = _forms(one.string)
        is_there = not place or any(path.startswith(place) for path, _ in one.locations)
        if one.id and is_there and not one.fuzzy and all(forms):
            messages[_forms(one.id)[0]] = forms if one.pluralizable else forms[0]
    return messages


def _forms(text: str | Sequence[str] | None) -> tuple[str, ...]:
    """The forms of a message for numbers, or the one that it has."""
    return (text,) if isinstance(text, str) else tuple(text or ())


def preferred_language(header: str) -> Language:
    """The language of pages that a browser asks for first, by its header `Accept-Language`; else English."""
    weighed = (part.partition(";q=") for part in header.replace(" ", "").split(","))
    tags = sorted(((_weight(weight), tag) for tag, _, weight in weighed), key=lambda one: -one[0])
    code = negotiate_locale([tag for weight, tag in tags if weight], PAGE_LANGUAGES, sep="-")
    return LANGUAGES[code or DEFAULT_LANGUAGE]


def _weight(written: str) -> float:
    """How much a language is wanted: 1 where nothing is said, 0 where that cannot be read."""
    return float(written or 1) if re.fullmatch(r"[01]?(\.\d{1,3})?", written) else 0


LANGUAGES: dict[str, Language] = {code: Language(code) for code in PAGE_LANGUAGES}
ENGLISH = LANGUAGES[DEFAULT_LANGUAGE]
