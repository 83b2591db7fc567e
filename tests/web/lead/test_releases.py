"""Releases of the lead: the form that is kept, the zip that is made, checking one, and what differs between two."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from fcpair.files.release.release_facts import ENTRIES, read_form
from fcpair.params import Partition
from fcpair.study import Study
from web.conftest import Serve, Site, csrf_of, page_of, send, sentences_of, value_of, words_of

FORM = "/lead/releases/form"
FILLED = Path(__file__).parents[3] / "examples/release.toml"


def fields_of_form(path: Path = FILLED) -> dict[str, str]:
    """The fields of a form that is filled in."""
    form = read_form(path)
    values = {of.path: form[of.path] for of in ENTRIES if of.kind != "authors"}
    lines = {path: "\n".join(value) if isinstance(value, list | tuple) else value for path, value in values.items()}
    return lines | {"author.0.family": "The fcpair developers", "texts": "yes", "seed": "0"}


def submit(browser: TestClient, act: str, fields: Mapping[str, str]) -> Response:
    seen = value_of(page_of(browser, FORM), "seen")
    return send(browser, FORM, **{"seen": seen, "act": act, **fields})


def make(browser: TestClient, name: str, **fields: str) -> tuple[str, bytes]:
    """Make a release; returns its page, and the file to which that leads."""
    made = submit(browser, "make", {**fields_of_form(), "name": name, **fields})
    assert made.status_code == 303, words_of(made.text)
    html = page_of(browser, made.headers["location"])
    link = re.search(r'href="(/lead/releases/file/\w+)" download>Download', html)
    assert link
    file = browser.get(link[1])
    assert file.headers["content-disposition"] == f'attachment; filename="{name}.zip"'
    return html, file.content


def upload(browser: TestClient, name: str, content: bytes) -> Response:
    headers = {"x-csrf-token": csrf_of(browser), "content-type": "application/octet-stream"}
    return browser.post(f"/lead/releases/file?name={name}", content=content, headers=headers)


def log_of(site: Site) -> list[str]:
    return [run.stage for run in site.study.log()]


def test_a_release_that_is_made_is_what_the_command_writes_and_doctor_is_content(serve: Serve, tmp_path: Path) -> None:
    site = serve("checked")
    html, content = make(site.browser("lea"), "v1")
    run = site.study.log()[-1]
    site.study.release("v1", tmp_path / "v1", FILLED)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path / "made")
    assert (tmp_path / "made/v1/SHA256SUMS").read_bytes() == (tmp_path / "v1/SHA256SUMS").read_bytes()
    assert (run.stage, run.by, run.params["out"]) == ("release", "lea", "v1")
    assert "Done: a release of 8 tables was written" in words_of(html)
    assert str(run.counts["digest"])[:12] in html
    assert "Download (for a day)" in words_of(html)
    assert "not kept on the server" not in html
    (check,) = (check for check in Study.doctor(site.study.place).checks if check.name == "releases")
    assert (check.found, check.note) == ((), "downloaded, so not here to be checked: 4")


def test_a_form_is_kept_until_it_is_made_and_two_leads_do_not_overwrite_each_other(serve: Serve) -> None:
    site = serve("checked")
    browser = site.browser("lea")
    kept = submit(browser, "keep", {"title": "Half a form", "languages": "en\npt-BR", "seed": "0"})
    html = page_of(browser, kept.headers["location"])
    assert "Done: the form of the release was saved" in words_of(html)
    assert value_of(html, "title") == "Half a form"
    assert "en\npt-BR</textarea>" in html
    assert "23 fields are still empty; until they are filled in, only a draft can be made." in html
    stale = send(browser, FORM, seen="0", act="keep", title="Another", seed="0")
    assert stale.status_code == 409
    assert "saved by somebody else meanwhile" in stale.text
    refused = submit(browser, "make", {"title": "Half a form", "name": "v1", "texts": "yes", "seed": "0"})
    assert "Some fields are still empty: fill them in, or tick “A draft”." in words_of(refused.text)
    assert log_of(site)[-1] == "release form"
    html, _ = make(
        browser, "draft", **{**dict.fromkeys(fields_of_form(), ""), "draft": "yes", "texts": "yes", "seed": "0"}
    )
    assert '<span class="badge">draft</span>' in html


def test_a_form_begins_with_the_title_of_the_study_and_today_and_says_what_it_would_hold(serve: Serve) -> None:
    site = serve("checked")
    html = page_of(site.browser("lea"), FORM)
    assert value_of(html, "title") == site.study.facts["title"] != ""
    assert re.search(r'name="date" type="date" value="\d{4}-\d\d-\d\d"', html)
    held = " ".join(f"{tier.capitalize()} {n} pairs" for tier, n in site.study.grid().tiers().table().sizes.items())
    assert f"What it would hold now {held} The dataset" in words_of(html)


def test_a_release_without_a_pair_is_refused_beside_the_tick_for_drafts_and_a_draft_says_so(serve: Serve) -> None:
    site = serve("decided")
    browser = site.browser("lea")
    why = "no pair is in any tier yet, so the release would hold no texts"
    assert f"Note: {why}" in words_of(page_of(browser, FORM))
    refused = submit(browser, "make", {**fields_of_form(), "name": "v1"})
    assert refused.status_code == 409
    assert f'<small id="draft-help"><strong class="wrong">N{why[1:]}' in refused.text
    html, _ = make(browser, "v1", draft="yes")
    assert "no pair is in any tier, so it holds no texts" in words_of(html)


def test_a_release_without_a_name_is_refused_beside_its_field(serve: Serve) -> None:
    refused = submit(serve("checked").browser("lea"), "make", fields_of_form())
    assert refused.status_code == 422
    assert '<strong class="wrong">A release needs a name' in refused.text
    assert re.search(r'<input id="name" [^>]*aria-invalid="true"', refused.text)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        (
            "licence.labels",
            "Beerware-99",
            "`Licence of the labels` is `Beerware-99`; expected one id of https://spdx.org",
        ),
        ("date", "next week", "`Day` is `next week`; expected a day"),
        ("author.0.orcid", "12", "the ORCID `12` is none"),
        ("languages", "English!", "`Languages` has `English!`; expected tags"),
    ],
)
def test_what_a_form_cannot_have_is_said_beside_its_field_and_nothing_is_kept(
    serve: Serve, field: str, value: str, sentence: str
) -> None:
    site = serve("checked")
    browser = site.browser("lea")
    before = log_of(site)
    answer = submit(browser, "make", {**fields_of_form(), "name": "v1", field: value})
    assert answer.status_code == 422
    assert f'<strong class="wrong">{sentence}' in sentences_of(answer.text)
    assert f"`{field}`" not in sentences_of(answer.text)
    assert "Nothing was saved: 1 field cannot be read" in answer.text
    assert log_of(site) == before


def test_a_name_that_is_taken_is_refused_beside_its_field(serve: Serve) -> None:
    site = serve("checked")
    browser = site.browser("lea")
    make(browser, "v1")
    site.study.grid().save.partition(Partition("majority"))
    taken = submit(browser, "make", {**fields_of_form(), "name": "v1"})
    assert taken.status_code == 422
    assert '<strong class="wrong">The name `v1` is taken by a release of' in sentences_of(taken.text)


def test_a_release_that_is_sent_is_checked_and_compared_and_what_is_no_zip_is_refused(serve: Serve) -> None:
    site = serve("checked")
    browser = site.browser("lea")
    first = make(browser, "v1")[1]
    sound = page_of(browser, upload(browser, "v1.zip", first).text)
    assert "It is as it was written, and the study gives the same." in sound
    site.study.grid().save.partition(Partition("majority"))
    make(browser, "v2")
    html = page_of(browser, "/lead/releases")
    keys = dict(re.findall(r'<option value="(\w+)"[^>]*>(v[12])\.zip', html.partition('name="after"')[2]))
    before, after = (next(key for key, name in keys.items() if name == wanted) for wanted in ("v1", "v2"))
    html = page_of(browser, f"/lead/releases/differences?before={before}&after={after}")
    assert "rule of diamond" in html
    site.study.save_words(language="it")
    assert 'lang="en"' not in page_of(browser, f"/lead/releases/differences?before={before}&after={after}")
    site.study.save_words(language="en")
    table = browser.get(f"/lead/releases/differences?before={before}&after={after}&download=true").text
    assert len(table.splitlines()) > 1
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(first)) as old, zipfile.ZipFile(changed, "w") as new:
        for entry in old.infolist():
            if not entry.filename.endswith("gold.csv"):
                new.writestr(entry.filename, old.read(entry) + b"\n" * entry.filename.endswith("README.md"))
    html = sentences_of(page_of(browser, upload(browser, "changed.zip", changed.getvalue()).text))
    assert "It is not as it was written." in html
    assert "data/gold.csv is missing" in html
    assert "README.md was changed" in html
    refused = upload(browser, "notes.zip", b"no zip")
    assert refused.status_code == 422
    assert "`notes.zip` is no zip file" in unescape(refused.text)
    gone = browser.get(f"/lead/releases/check?of={'0' * 32}")
    assert gone.status_code == 404


def test_releases_on_the_server_are_listed_with_their_state(serve: Serve, tmp_path: Path) -> None:
    site = serve("checked")
    site.study.release("v1", tmp_path / "v1", FILLED)
    site.study.grid().release("gold", tmp_path / "gold.csv")
    states = {of.file: of.state for of in site.study.list_releases()}
    assert states == {"v1": "as it was written", "gold.csv": "as it was written"}
    (tmp_path / "gold.csv").unlink()
    (tmp_path / "v1/README.md").write_text("Another.")
    states = {of.file: of.state for of in site.study.list_releases()}
    assert states == {"v1": "changed since", "gold.csv": "no longer there"}
    html = page_of(site.browser("lea"), "/lead/releases")
    assert "no longer there" in html
    assert "/lead/releases/check?of=run-" in html
