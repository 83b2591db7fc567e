"""Scripts of languages are made when they are fetched; their versions are known before."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.web import languages
from fcpair.web.languages import Language
from fcpair.web.server.static_files import FOLDER, StaticFiles
from fcpair.words import PAGE_LANGUAGES


@pytest.mark.parametrize("changed", ["catalogue", "SCRIPT", "SCRIPT_MAKERS"])
def test_the_version_of_a_languages_script_changes_with_all_that_it_is_made_from(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, other = Language("de").script_version, tmp_path / "other"
    other.write_bytes(b"other")
    if changed == "catalogue":
        monkeypatch.setattr(languages, "catalogue_path", lambda _: other)
    else:
        monkeypatch.setattr(languages, changed, other if changed == "SCRIPT" else [other])
    assert Language("de").script_version != before


def test_no_catalogue_is_read_before_a_script_of_its_language_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[str] = []
    monkeypatch.setattr(languages, "_read_messages", lambda code, _place="": codes.append(code) or {})
    monkeypatch.setattr("fcpair.web.server.static_files.LANGUAGES", {code: Language(code) for code in PAGE_LANGUAGES})
    files = StaticFiles(FOLDER)
    assert len({files.versions[f"language/{code}.js"] for code in PAGE_LANGUAGES}) == len(PAGE_LANGUAGES)
    assert codes == []
    assert files["language/de.js"].content
    assert set(codes) == {"de"}
