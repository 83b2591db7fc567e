"""Bring the catalogues of the pages' messages up to date: `python docs/catalogues.py`; with a code, add a language.

Messages that are new have no translation yet, and a test fails until they have one; those that are gone are dropped.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import normalize, read_po

from fcpair.web.languages import CATEGORIES, FOLDER, TWO_CATEGORIES, catalogue_path
from fcpair.web.pages.documentation import glossary

ROOT = Path(__file__).parents[1]
PLACES: list[tuple[str, str, Mapping[str, Any]]] = [
    ("fcpair/web/templates/**.html.j2", "jinja2", DEFAULT_KEYWORDS),
    ("fcpair/web/static/*.js", "javascript", {"t": None, "tn": (1, 2)}),
    ("fcpair/**.py", "python", {"say": None, "mark": None, "say_number": (1, 2), "mark_plural": (1, 2)}),
]
OPTIONS = {"**.html.j2": {"trimmed": "true"}, "**.js": {"parse_template_string": "true"}}
PLURALS = {
    "ar": "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5",
    "fa": "0",
    "fr": "(n > 1)",
}
ONE_OR_MORE = "(n != 1)"


def extract() -> dict[tuple[str, str], list[str]]:
    """Where each message is found: by itself and its plural, which is empty where it has none."""
    places: dict[tuple[str, str], set[str]] = {}
    for pattern, method, keywords in PLACES:
        findings = extract_from_dir(ROOT, [(pattern, method)], OPTIONS, keywords, directory_filter=None)
        for path, _, message, _, _ in findings:
            one, many = (message, "") if isinstance(message, str) else message[:2]
            places.setdefault((one, many), set()).add(path)
    for explanation in glossary().values():
        places.setdefault((explanation, ""), set()).add("docs/reference/glossary.md")
    for name in glossary():  # which templates call `term` with
        places.setdefault((name, ""), set()).add("docs/reference/glossary.md")
    return {message: sorted(found) for message, found in sorted(places.items())}


def main(codes: list[str]) -> None:
    """Write the catalogues there are, and those of new languages."""
    messages = extract()
    for code in sorted({path.name for path in FOLDER.iterdir() if path.is_dir()} | set(codes)):
        path = catalogue_path(code)
        path.parent.mkdir(parents=True, exist_ok=True)
        old = read_po(path.open("rb"), locale=code) if path.exists() else Catalog(code)
        path.write_text("\n".join(_catalogue(code, messages, old)), "utf-8")


def _catalogue(code: str, messages: dict[tuple[str, str], list[str]], old: Catalog) -> Iterator[str]:
    categories = CATEGORIES.get(code, TWO_CATEGORIES)
    yield f"# The pages of fcpair in {Locale.parse(code).english_name}."
    yield 'msgid ""\nmsgstr ""'
    yield f'"Language: {code}\\n"'
    yield '"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n"Content-Transfer-Encoding: 8bit\\n"'
    yield f'"Plural-Forms: nplurals={len(categories)}; plural={PLURALS.get(code, ONE_OR_MORE)};\\n"\n'
    for (one, many), places in messages.items():
        known = old.get(one)
        string = known.string if known and bool(many) == isinstance(known.string, tuple | list) else ""
        yield from (f"#: {place}" for place in places)
        yield f"msgid {normalize(one)}"
        if many:
            yield f"msgid_plural {normalize(many)}"
            forms = string or ("",) * len(categories)
            yield from (f"msgstr[{at}] {normalize(form)}" for at, form in enumerate(forms))
        else:
            yield f"msgstr {normalize(str(string))}"
        yield ""


if __name__ == "__main__":
    main(sys.argv[1:])
