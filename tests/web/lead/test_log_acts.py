"""Acts of the lead that the log tells of: notes, imports withdrawn, and a calibration from its start to its close."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from steps.small import record

from fcpair.params import Simulate
from fcpair.records import Role
from web.conftest import LookAt, Serve, Site, page_of, post, send

NOTES, CALIBRATION = "/lead/notes", "/lead/calibration"
TALKED = "Two annotators talked <on Tuesday>."


def wrong_fields(html: str) -> dict[str, str]:
    """What a page says beside each field that is wrong."""
    names = re.findall(r'<(?:input|textarea) name="(\w+)"[^>]* aria-invalid="true"', html)
    return {name: re.search(rf'id="help-{name}"><strong>(.*?)</strong>', html)[1] for name in names}  # type: ignore[index]


def test_a_note_is_added_in_the_leads_name_and_listed(site: Site, lea: TestClient) -> None:
    assert f'href="{NOTES}"' in page_of(lea, "/lead")
    reply = send(lea, NOTES, text=TALKED, pair="5")
    run = site.study.log()[-1]
    assert (run.stage, run.by, run.options) == ("note", "lea", {"text": TALKED, "pair": 5, "flag": None})
    assert (reply.status_code, reply.headers["location"]) == (303, f"{NOTES}?run={run.id}")
    html = lea.get(reply.headers["location"]).text
    assert "a note about pair 5 was added to the log, by lea." in html
    assert "Two annotators talked &lt;on Tuesday&gt;." in html
    assert 'href="/lead/pair/5"' in html
    assert "a note about pair 5 was added to the log" in page_of(lea, "/lead")


def test_a_note_that_is_refused_stays_typed_with_the_reason_beside_its_field(site: Site, lea: TestClient) -> None:
    for text, pair, status, wrong in (
        ("", "5", 422, {"text": "the note is empty; write what happened."}),
        ("x" * 2001, "", 422, {"text": "the note has 2,001 characters; expected at most 2,000."}),
        (TALKED, "999", 404, {"pair": "there is no pair 999; the pairs of the grid are numbered from 1 to 24."}),
        (
            *(TALKED, "five", 422),
            {"pair": "“Pair, by its number”: `five` is not a number; enter a whole number, 1 or more."},
        ),
    ):
        reply = send(lea, NOTES, text=text, pair=pair)
        assert reply.status_code == status
        assert wrong_fields(reply.text) == wrong
        assert f'name="pair" value="{pair}"' in reply.text
        assert f"{escape(text)}</textarea>" in reply.text
    assert "note" not in {run.stage for run in site.study.log()}


def test_an_import_is_listed_with_its_effect_and_withdrawn_in_the_leads_name(serve: Serve, tmp_path: Path) -> None:
    site = serve("labelled")
    own = site.study.grid().find_pairs(person="ana", answer="not_appropriate").to_frame()["pair"].tolist()[:2]
    run = record(site.study, tmp_path, [("ana", pair, "appropriate") for pair in own], supersede=True)
    browser, path = site.browser("lea"), f"/lead/imports/{run.id}"
    html = page_of(browser, "/lead/imports")
    assert "some-labels.csv" in html
    assert f'href="{path}"' in html
    assert "<li>ana: 2 answers" in page_of(browser, path)
    done = post(browser, path)
    assert "answers were withdrawn" in done
    assert '<td class="acts"><span class="badge">withdrawn</span>' in done
    assert site.study.log()[-1].by == "lea"
    assert "They have been withdrawn already" in page_of(browser, path)


def test_what_is_no_import_is_refused(look_at: LookAt) -> None:
    browser = look_at("dealt").browser("lea")
    assert "No answers were imported" in page_of(browser, "/lead/imports")
    for run in (1, 999999999):
        assert browser.get(f"/lead/imports/{run}").status_code == 404


SIMULATED = Simulate(accuracy=0.5, skips=0, seed=1)


@pytest.fixture
def paired(serve: Serve) -> Site:
    site = serve("paired")
    site.study.add_people(["ben", "cleo"], Role.ANNOTATOR)
    return site


def test_a_calibration_is_begun_discussed_and_closed_on_the_page(paired: Site) -> None:
    browser, grid = paired.browser("lea"), paired.study.grid()
    assert "Start the calibration" in page_of(browser, CALIBRATION)
    html = post(browser, f"{CALIBRATION}/start", pairs="6", counts="second")
    assert "Open the discussion" in html
    assert "Go on without 18 answers that are still open" in html
    assert "18 answers are open in round “calibrate”." in page_of(browser, "/lead")
    grid.simulate(SIMULATED)
    assert "Everybody has answered the calibration." in page_of(browser, "/lead")
    assert "Close the calibration" in post(browser, f"{CALIBRATION}/discuss")
    grid.simulate(SIMULATED)
    assert "Everybody has answered again." in page_of(browser, "/lead")
    assert "Agreement before and after the discussion" in post(browser, f"{CALIBRATION}/close")
    stages = [(run.stage, run.by) for run in paired.study.log() if run.by]
    assert stages == [("calibration", "lea"), ("discussion", "lea"), ("close calibration", "lea")]


def test_what_cannot_be_done_in_a_calibration_is_said(paired: Site) -> None:
    browser = paired.browser("lea")
    for form, sentence in (
        ({"pairs": "many", "counts": "neither"}, "“How many pairs”: `many` is not a number"),
        ({"pairs": "5", "counts": "both"}, "expected one of neither, first, second"),
    ):
        answer = send(browser, f"{CALIBRATION}/start", **form)
        assert answer.status_code == 422
        assert sentence in answer.text
