"""release.toml: what is asked, what is missing, and what cannot be an answer."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.files.release.release_facts import ENTRIES, read_form, template_text


def form_file(folder: Path, text: str) -> Path:
    path = folder / "release.toml"
    path.write_text(text, "utf-8")
    return path


def test_the_template_lists_every_key_with_a_comment_and_is_an_empty_form(tmp_path: Path) -> None:
    text = template_text()
    assert set(tomllib.loads(text)) >= {"title", "licence", "rai", "datasheet", "statement"}
    for entry in ENTRIES:
        assert entry.asks in text
        if entry.kind != "authors":
            assert re.search(rf"^#? ?{entry.key} = ", text, re.MULTILINE)
    form = read_form(form_file(tmp_path, text))
    assert form.missing == [entry.path for entry in ENTRIES if entry.required]


def test_a_form_that_is_filled_in_lacks_nothing_and_is_read_back(tmp_path: Path) -> None:
    text = filled_in(template_text())
    form = read_form(form_file(tmp_path, text))
    assert form.missing == []
    assert form["licence.labels"] == "CC-BY-4.0"
    assert form["authors"] == ({"given": "Ada", "family": "Lovelace", "orcid": "0000-0002-1825-0097"},)
    assert read_form(form_file(tmp_path, form.as_toml())) == form


def filled_in(template: str) -> str:
    """The template with an answer to every question."""
    text = re.sub(r'^(\w+) = ""$', r'\1 = "An answer about \1: \\"é\\"."', template, flags=re.MULTILINE)
    text = re.sub(r"^(\w+) = \[\]$", r'\1 = ["en"]', text, flags=re.MULTILINE)
    text = re.sub(r"^version = .*$", 'version = "1.0.0"', text, flags=re.MULTILINE)
    text = re.sub(r"^url = .*$", 'url = "https://example.org/data"', text, flags=re.MULTILINE)
    text = re.sub(r"^doi = .*$", 'doi = "10.5281/zenodo.1"', text, flags=re.MULTILINE)
    text = text.replace("# date = 2026-11-26", "date = 2026-11-26")
    authors = '[[authors]]\ngiven = "Ada"\nfamily = "Lovelace"\norcid = "0000-0002-1825-0097"\n'
    text = re.sub(r"^# \[\[authors\]\]\n(# .*\n)*", authors, text, flags=re.MULTILINE)
    head, licence = text.split("[licence]\n")
    licence = re.sub(r"^(labels|texts) = .*$", r'\1 = "cc-by-4.0"', licence, count=2, flags=re.MULTILINE)
    return f"{head}[licence]\n{licence}"


def test_a_licence_is_spelled_as_spdx_spells_it_and_a_version_is_three_numbers(tmp_path: Path) -> None:
    for licence, spelled in (("mit", "MIT"), ("LicenseRef-Ours", "LicenseRef-Ours"), ("", "")):
        assert read_form(form_file(tmp_path, f'[licence]\nlabels = "{licence}"'))["licence.labels"] == spelled
    assert read_form(form_file(tmp_path, 'version = "1.0.0-rc.1"'))["version"] == "1.0.0-rc.1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (f'[licence]\ntexts = "{licence}"', r"`licence.texts` is .* expected one id of https://spdx.org/licenses")
            for licence in ("CC-BY", "Creative Commons", "MIT OR Apache-2.0", "LicenseRef-", "LicenseRef- x")
        ),
        ('version = "1.0"', r"`version` is `1.0`; expected three numbers"),
        ('url = "our site"', "`url` is `our site`; expected an address that begins with https://"),
        ('doi = "https://doi.org/10.5281/zenodo.1"', "expected a DOI without an address, such as 10.5281/zenodo.1"),
        ('languages = ["en", "English"]', "`languages` has `English`; expected tags such as en, pt-BR or zh-Hant"),
        *((content, "not TOML") for content in ("title = ", "\x00", "[rai")),
    ],
)
def test_what_catalogues_would_refuse_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_form(form_file(tmp_path, text))


def test_everything_wrong_with_a_form_is_said_at_once(tmp_path: Path) -> None:
    text = 'tilte = "x"\ndate = "soon"\nkeywords = "a"\nversion = 1\n[licence]\nlabels = "none"\n'
    with pytest.raises(InputError) as caught:
        read_form(form_file(tmp_path, text + '[rai]\ndata_bias = ""\n[[authors]]\ngiven = "Ada"\n'))
    message = str(caught.value)
    assert "7 things are wrong" in message
    assert "did you mean `title`?" in message
    assert "did you mean `rai.data_biases`?" in message
    assert "an author has no `family`" in message
    absent = r"there is no such file; `fcpair release --template > .*` writes one to fill in"
    with pytest.raises(InputError, match=absent):
        read_form(tmp_path / "none.toml")
