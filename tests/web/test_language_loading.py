"""A server loads what it needs of a language when the first page in it is shown, and of English hardly anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from babel import Locale
from babel.numbers import format_decimal

from fcpair.web import languages
from fcpair.web.languages import Language
from fcpair.web.server.static_files import FOLDER, StaticFiles
from fcpair.words import PAGE_LANGUAGES


@pytest.mark.parametrize("changed", ["catalogue", "SCRIPT", "__file__"])
def test_the_version_of_a_languages_script_changes_with_all_that_it_is_made_from(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, other = Language("de").script_version, tmp_path / "other"
    other.write_bytes(b"other")
    if changed == "catalogue":
        monkeypatch.setattr(languages, "catalogue_path", lambda _: other)
    else:
        monkeypatch.setattr(languages, changed, other)
    assert Language("de").script_version != before


def test_no_catalogue_is_read_before_a_script_of_its_language_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[str] = []

    def read(code: str, _place: str = "") -> dict[str, str]:
        codes.append(code)
        return {}

    monkeypatch.setattr(languages, "_read_messages", read)
    monkeypatch.setattr("fcpair.web.server.static_files.LANGUAGES", {code: Language(code) for code in PAGE_LANGUAGES})
    files = StaticFiles(FOLDER)
    assert len({files.versions[f"language/{code}.js"] for code in PAGE_LANGUAGES}) == len(PAGE_LANGUAGES)
    assert codes == []
    assert files["language/de.js"].content
    assert set(codes) == {"de"}


@pytest.mark.parametrize("code", PAGE_LANGUAGES)
def test_a_language_has_the_name_and_the_direction_that_babel_knows(code: str) -> None:
    language, locale = Language(code), Locale.parse(code)
    name = locale.get_language_name(code)
    assert name
    assert (language.name, language.direction) == (name[:1].upper() + name[1:], locale.text_direction)


@pytest.mark.parametrize("n", [-1200, -1, 0, 1, 2, 999, 1000, 186_400, 18_578_846])
def test_english_is_written_as_babel_writes_it_and_without_it(n: int) -> None:
    english, locale = Language("en"), Locale.parse("en")
    assert english.number(n) == format_decimal(n, locale=locale)
    assert english.ngettext("one", "other", n) == locale.plural_form(n)
    assert "_locale" not in vars(english)
