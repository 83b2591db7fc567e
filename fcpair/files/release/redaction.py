"""Cleaning what is published of names, contacts and places; and documents of HTML, Markdown and unprinted signs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from ipaddress import ip_address
from itertools import zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from jinja2 import Environment

NAME_MARK, EMAIL_MARK, PHONE_MARK, CONTACT_MARK = "[name]", "[e-mail]", "[telephone]", "[contact]"
ADDRESS_MARK = "[address]"
LEAST_CONTACT = 4  # characters of a part of a contact that is removed wherever it is
PHONE_DIGITS = range(7, 16)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>`)\]}]+")
_EMAIL = re.compile(r"(?:mailto:)?[^\s@<>\"'`(),;:=\[\]{}]+@[^\s@<>\"'`(),;:=\[\]{}]+\.\w+")
_DRIVE = r"[A-Za-z]:[\\/]|\\\\"
_PATH_START = rf"(?:~[\w.-]*|\.{{1,2}})?/|{_DRIVE}"
_QUOTED_PATH = re.compile(rf"(?P<quote>[\"'`])(?P<path>(?:{_PATH_START})[^\"'`\n]*)(?P=quote)")
_WHOLE_PATH = re.compile(rf"(?:{_PATH_START})[^\n]*[^\n\\/]+")
_PATH = re.compile(rf"(?<![\w/\\.~$\]])(?:(?:{_PATH_START})[^\s\"'`<>|*?,;()\[\]{{}}]+)")
_NUMBER_RUN = re.compile(r"(?<![\w.,])[+(]{0,2}\d[\d ()/.–-]*\d(?!\w)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_BETWEEN_NUMBERS = re.compile(r"[ ().–-]{2,}| ?/ ?|(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_YEARS = re.compile(r"(?:19|20)\d\d ?[-–/] ?(?:19|20)\d\d")
_DECIMAL = re.compile(r"\d+\.\d+")
_TOML_TEXT = re.compile(r'"""(?P<lines>.*?)"""|"(?P<line>(?:[^"\\\n]|\\.)*)"|#(?P<comment>[^\n]*)', re.DOTALL)
_UNPRINTED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]"
)  # and what would order signs from right to left
_MARKDOWN = re.compile(r"[\\`*\[\]<|]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|#(?=#*[ \t]*$)", re.MULTILINE)
_LINE_START = re.compile(
    r"^[ \t]*(?=[-+][ \t]|#{1,6}[ \t]|>|[=~-]{2,}|=[ \t]*$)|^[ \t]*\d+(?=[.)][ \t])", re.MULTILINE
)  # of a list, a heading, a quotation, a fence
_TAG = re.compile(r"<(?=[A-Za-z/!?])(?!(?:https?:|mailto:)[^\s<>]*>)")
_LOCAL_SUFFIXES = (".local", ".lan", ".internal", ".home", ".corp")


class Escaped(str):
    """Words that are Markdown, or YAML, already."""


def escape_markdown(value: Any) -> Escaped:
    """Words as readers of Markdown see them as they are: nothing in them is HTML or a sign of Markdown."""
    if isinstance(value, Escaped):
        return value
    return Escaped(_LINE_START.sub(r"\g<0>\\", _MARKDOWN.sub(r"\\\g<0>", _drop_unprinted(str(value)))))


def escape_line(value: Any) -> Escaped:
    """The same on one line, as headings and cells of tables are."""
    return escape_markdown(_one_line(value))


def escape_html(markdown: str) -> str:
    """Markdown, such as guidelines, in which nothing is HTML."""
    return _TAG.sub("&lt;", _drop_unprinted(markdown))


def code_span(value: Any) -> Escaped:
    """Words as code in a line of Markdown, or in a cell of a table."""
    text = _one_line(value).replace("|", "\\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return Escaped(f"{fence} {text} {fence}" if "`" in text or not text else f"{fence}{text}{fence}")


def as_json(value: Any, indent: int | None = None) -> str:
    """A value as JSON, with escapes for what is not printed, which YAML wants, too."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def render(template: str, **values: Any) -> str:
    """A document by its template in `templates`; all values are escaped for Markdown, but those that are `Escaped`."""
    return environment("fcpair.files.release", escape_markdown).get_template(template).render(values)


@cache
def environment(package: str, finalize: Callable[[Any], str] | None = None) -> Environment:
    """The templates of a package, whose values are what `finalize` makes of them."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=finalize,
    )
    made.filters["yaml"] = lambda value: Escaped(as_json(value))
    made.filters["own"] = lambda value: Escaped(" ".join(escape_html(value).replace("|", "\\|").split()))
    made.filters["count"] = lambda number: f"{number:,}"
    made.filters |= {"code": code_span, "line": escape_line, "plain": Escaped}
    return made


def _one_line(value: Any) -> str:
    return " ".join(_drop_unprinted(str(value)).split())


def _drop_unprinted(text: str) -> str:
    return _UNPRINTED.sub("", text.replace("\r\n", "\n"))


class Redaction:
    """Replaces people's names by others, and removes contacts, e-mail addresses, telephone numbers, and addresses and
    folders of machines. Of a file its name stays; of a public web address all but its query.

    `names` has what stands for each name where it is a whole value; inside a longer text it becomes a mark, as the
    words around it could tell whose pseudonym stood there. `contacts` are removed whole, and so are their parts between
    commas. `kept` are names of models, which stay whole even if a part is somebody's name, as `v2` is of `L6-v2`.
    """

    def __init__(self, names: Mapping[str, str], contacts: Iterable[str] = (), kept: Iterable[str] = ()) -> None:
        self._names = dict(names)
        replaced = (name for name in self._names if len(name) > 1 and not name.isdecimal())
        self._name = _any_of({*replaced, *kept} if self._names else (), words=True)
        parts = {part.strip() for contact in contacts for part in (contact, *re.split(r"[,;\n]", contact))}
        self._contact = _any_of((part for part in parts if len(part) >= LEAST_CONTACT), words=False)

    def clean(self, value: Any) -> Any:
        """The same value, with all its texts and the keys of its tables cleaned."""
        if isinstance(value, str):
            return self._clean_value(value)
        if isinstance(value, Mapping):
            items = []
            for key, item in value.items():  # a number or a single letter stays, which here seldom is a name
                is_name = str(key) in self._names and self._name is not None and self._name.fullmatch(str(key))
                items.append((self._names[str(key)] if is_name else self.clean_text(str(key)), self.clean(item)))
            return dict(sorted(items, key=itemgetter(0)) if any(key in self._names for key in value) else items)
        if isinstance(value, list | tuple):
            cleaned = [self.clean(item) for item in value]
            return sorted(cleaned) if self._are_people(value) else cleaned  # in the order of names it would tell them
        return value

    def _are_people(self, value: Any) -> bool:
        if isinstance(value, list | tuple):
            return all(map(self._are_people, value))
        return isinstance(value, str) and value in self._names

    def clean_text(self, text: str) -> str:
        """A longer text, such as guidelines or a recipe, cleaned; its lines stay."""
        text = self._contact.sub(CONTACT_MARK, text) if self._contact else text
        text = _QUOTED_PATH.sub(lambda found: found["quote"] + _file_name(found["path"]) + found["quote"], text)
        urls = [_public_url(url) for url in _URL.findall(text)]
        texts = [_clean_plain(between) for between in _URL.split(text)]
        text = "".join(part for pair in zip_longest(texts, urls, fillvalue="") for part in pair)
        if self._name:
            text = self._name.sub(lambda found: NAME_MARK if found[0] in self._names else found[0], text)
        return text

    def clean_toml(self, text: str) -> str:
        """A TOML file with its texts and comments cleaned; keys and numbers stay."""

        def clean(found: re.Match[str]) -> str:
            group, inside = next((name, part) for name, part in found.groupdict().items() if part is not None)
            cleaned = (self._clean_value if group == "line" else self.clean_text)(inside)
            return found[0].replace(inside, cleaned, 1) if inside else found[0]

        return _TOML_TEXT.sub(clean, text)

    def _clean_value(self, text: str) -> str:
        if text in self._names:
            return self._names[text]
        return self.clean_text(_file_name(text) if _WHOLE_PATH.fullmatch(text) else text)


def _any_of(words_: Iterable[str], *, words: bool) -> re.Pattern[str] | None:
    either = "|".join(map(re.escape, sorted(filter(None, words_), key=lambda word: (-len(word), word))))
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)" if words else either) if either else None


def _file_name(path: str) -> str:
    return re.split(r"[\\/]+", path.rstrip("\\/"))[-1]


def _clean_plain(text: str) -> str:
    text = _PATH.sub(lambda found: _file_name(found[0]), _EMAIL.sub(EMAIL_MARK, text))

    def mark_phone(found: re.Match[str]) -> str:  # which may stand beside a date or another one
        is_phone = _is_phone(found[0]) or any(map(_is_phone, _BETWEEN_NUMBERS.split(found[0])))
        return PHONE_MARK if is_phone else found[0]

    return _NUMBER_RUN.sub(mark_phone, text)


def _is_phone(run: str) -> bool:
    """Return whether a run of digits and separators may be a telephone number; dates, years and decimals are none."""
    is_other = _DATE.search(run) or _YEARS.fullmatch(run) or _DECIMAL.fullmatch(run)
    if is_other or sum(character.isdigit() for character in run) not in PHONE_DIGITS:
        return False
    groups = re.findall(r"\d+", run)
    return run[0] in "+(0" or (len(groups) > 1 and max(map(len, groups)) > 2)


def _public_url(url: str) -> str:
    """A web address without its query; a mark for one of a machine, of a database, or with a user in it."""
    try:
        parts, host = urlsplit(url), urlsplit(url).hostname or ""
    except ValueError:
        return ADDRESS_MARK
    if parts.scheme.lower() == "file":
        return _file_name(parts.path)
    try:
        is_local = bool(ip_address(host))
    except ValueError:
        is_local = "." not in host or host.lower().endswith(_LOCAL_SUFFIXES)
    if parts.scheme.lower() not in ("http", "https") or "@" in parts.netloc or is_local:
        return ADDRESS_MARK
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
