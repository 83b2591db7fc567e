"""Answers that the lead sends back in: what a file would do is shown first, then it is recorded, as it was shown."""

from __future__ import annotations

import csv
import io
import os
import re
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from steps.answers.tool_exports import Said, export, people_table, tasks_of

from fcpair.web.lead import uploads
from fcpair.web.server import held_files
from web.conftest import Serve, Site, csrf_of, hidden_of, page_of, post, send, until_done, words_of


def upload(browser: TestClient, name: str, content: bytes, reader: str = "pairs") -> Response:
    headers = {"x-csrf-token": csrf_of(browser), "content-type": "application/octet-stream"}
    return browser.post(f"/lead/uploads/file?name={name}&reader={reader}", content=content, headers=headers)


def look_through(browser: TestClient, name: str, content: bytes, reader: str = "pairs") -> tuple[str, str]:
    """Send a file; returns the page that says what it would do, and its address."""
    sent = upload(browser, name, content, reader)
    assert sent.status_code == 200, sent.text
    return page_of(browser, sent.text), sent.text


def sheet(site: Site, folder: Path, label: str, n: int = 3, **others: str) -> bytes:
    """The sheet of an annotator in which the first rows are filled in, and some columns are others."""
    written = site.study.grid().sheets.write_labels(folder)
    return filled(folder / f"{next(iter(written))}.csv", label, n, **others)


def filled(path: Path, label: str, n: int = 3, **others: str) -> bytes:
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))
    out = io.StringIO()
    writer = csv.DictWriter(out, [*rows[0]])
    writer.writeheader()
    writer.writerows({**row, **others, "label": label if at < n else ""} for at, row in enumerate(rows))
    return out.getvalue().encode()


def tiles_of(html: str) -> dict[str, str]:
    return dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", html))


def state_of(site: Site) -> tuple[int, int]:
    return len(site.study.log()), len(site.study.grid().labels())


def test_a_sheet_is_looked_through_then_recorded_by_its_name_in_the_name_of_the_lead(
    serve: Serve, tmp_path: Path
) -> None:
    site = serve("dealt")
    browser = site.browser("lea")
    before = state_of(site)
    html, address = look_through(browser, "ana's sheet.csv", sheet(site, tmp_path, "appropriate"))
    assert tiles_of(html) == {
        "Answers": "3",
        "Skips": "0",
        "In place of earlier answers": "0",
        "There already": "0",
    }
    taken = re.findall(r'<th scope="row" class="n">(\d+)</th><td lang="">(\w+)</td><td>([^<]*)</td>', html)
    assert [(name, answer) for _, name, answer in taken] == [("ana", "appropriate")] * 3
    assert state_of(site) == before
    assert "Sent, and not recorded yet" in page_of(browser, "/lead/uploads")
    done = post(browser, address.partition("?")[0], **hidden_of(html.partition("Cancel and delete")[2]))
    assert "Done: 3 answers were imported" in words_of(done)
    run = site.study.log()[-1]
    assert (run.stage, run.by, run.params["path"]) == ("label import", "lea", "ana-s-sheet.csv")
    assert "Sent, and not recorded yet" not in page_of(browser, "/lead/uploads")
    assert browser.get(address).status_code == 404


def test_what_would_replace_earlier_answers_is_shown_line_by_line_and_done_only_as_shown(
    serve: Serve, tmp_path: Path
) -> None:
    site = serve("dealt")
    browser, first = site.browser("lea"), sheet(site, tmp_path, "appropriate")
    (tmp_path / "first.csv").write_bytes(first)
    other, address = look_through(browser, "other.csv", filled(tmp_path / "first.csv", "not_sure", 2))
    form = hidden_of(other.partition("Cancel and delete")[2])
    site.study.grid().import_labels(tmp_path / "first.csv")
    stale = send(browser, address.partition("?")[0], **form)
    assert stale.status_code == 409
    assert "has changed since this page was shown" in stale.text
    html = unescape(stale.text)
    assert "2 answers take the place of earlier ones" in html
    assert len(re.findall(r"<td>appropriate <.*?becomes</span> not sure</td>", html)) == 2
    assert "--supersede" not in html
    post(browser, address.partition("?")[0], **hidden_of(html.partition("Cancel and delete")[2]))
    assert site.study.log()[-1].counts["superseded"] == 2
    assert list(site.study.grid().labels()["label"]).count("not_sure") == 2


def test_a_refused_file_names_each_line_and_a_sheet_of_another_study_says_so(serve: Serve, tmp_path: Path) -> None:
    site = serve("dealt")
    browser = site.browser("lea")
    before = state_of(site)
    html, _ = look_through(browser, "wrong.csv", sheet(site, tmp_path, "perhaps", 2))
    assert "2 lines cannot be read as answers of this study" in html
    assert re.findall(r'<td class="n">(\d+)</td>', html) == ["2", "3"]
    assert "<code>perhaps</code>" in html
    assert "Record" not in html.partition("Cancel and delete")[2].partition("</header>")[0]
    other = sheet(site, tmp_path / "b", "skip", 2, hs="Tea is better.", cn="No.")
    html, _ = look_through(browser, "other.csv", other)
    assert "is the sheet from another study?" in html
    html, _ = look_through(browser, "notes.csv", b"a,b\n1,2\n")
    assert "notes.csv" in html
    assert str(tmp_path) not in html
    html, _ = look_through(browser, "foreign.csv", b"id,hate_speech,Counter-Narrative,target\n1,a,b,c\n")
    assert "found id, hate_speech, Counter-Narrative, target" in words_of(html)
    assert state_of(site) == before
    assert upload(browser, "empty.csv", b"").status_code == 422
    assert browser.get(f"/lead/uploads/{'0' * 32}?reader=pairs").status_code == 404


def test_a_file_in_the_place_of_one_that_is_refused_keeps_the_choices_and_takes_it_away(
    serve: Serve, tmp_path: Path
) -> None:
    site = serve("dealt")
    browser = site.browser("lea")
    html, address = look_through(browser, "photo.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    assert "this is no table: it is an image, or another file that is no text" in html
    assert '<option value="pairs" selected>' in html
    token = hidden_of(html.partition("data-send")[2])["instead"]
    assert token in address
    headers = {"x-csrf-token": csrf_of(browser), "content-type": "application/octet-stream"}
    again = f"/lead/uploads/file?name=b.csv&reader=pairs&instead={token}"
    sent = browser.post(again, content=sheet(site, tmp_path, "appropriate"), headers=headers)
    assert "Record 3 answers" in page_of(browser, sent.text)
    assert browser.get(address).status_code == 404


def test_what_would_follow_from_a_file_is_no_fact_yet(serve: Serve, tmp_path: Path) -> None:
    site = serve("checked")
    rows = site.study.grid().labels().assign(label="not_appropriate")
    html, _ = look_through(site.browser("lea"), "other.csv", rows.to_csv(index=False).encode())
    assert re.search(r"Note: this would follow: \d+ pairs have verdicts on a label that they no longer", words_of(html))


def test_only_those_who_can_have_answered_are_listed_for_an_unknown_name(serve: Serve, tmp_path: Path) -> None:
    site = serve("dealt")
    html, _ = look_through(site.browser("lea"), "a.csv", sheet(site, tmp_path, "appropriate", 1, annotator="nobody"))
    assert "is called <code>nobody</code>; there are ana, ben, cleo" in html
    assert "lea" not in html.partition("there are ana")[2].partition("</p>")[0]


def test_the_export_of_a_tool_goes_back_in_with_a_table_of_its_users(serve: Serve, tmp_path: Path) -> None:
    site = serve("dealt")
    grid, browser = site.study.grid(), site.browser("lea")
    grid.write_project(tmp_path / "project", "label-studio")
    tasks = tasks_of("label-studio", tmp_path / "project")[:4]
    folder = export("label-studio", tmp_path / "out", [(task, Said({"label": ["appropriate"]})) for task in tasks])
    (path,) = folder.iterdir()
    html, address = look_through(browser, path.name, path.read_bytes(), "label-studio")
    assert "cannot be read as answers of this study" in html
    users = people_table("label-studio", tmp_path / "project").read_text("utf-8")
    html = post(browser, f"{address.partition('?')[0]}/users", reader="label-studio", users=users)
    assert tiles_of(html)["Answers"] == "4"


def test_a_large_file_is_recorded_by_a_process_of_its_own(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = serve("dealt")
    browser = site.browser("lea")
    monkeypatch.setattr(uploads, "LARGE", 0)
    html, _ = look_through(browser, "large.csv", sheet(site, tmp_path, "appropriate"))
    action = re.search(r'action="(/lead/uploads/begin/\w+)"', html)
    assert action
    page = post(browser, action[1], **hidden_of(html.partition("Cancel and delete")[2]))
    assert "Recording answers" in page
    until_done(site)
    assert (site.study.log()[-1].counts["answers"], site.study.log()[-1].by) == (3, "lea")


def test_files_are_held_for_a_day(tmp_path: Path) -> None:
    held = held_files.HeldFiles(tmp_path, "answers")
    old = held.new("../../a b.csv")
    old.path.write_text("x")
    assert old.path.name == "a-b.csv"
    assert held.find(old.token).path == old.path
    os.utime(old.path.parent, (0, 0))
    held.new("b.csv")
    assert held.all() == []
