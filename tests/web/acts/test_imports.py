"""The imports of answers, and withdrawing one from the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from steps.small import record

from web.conftest import Site, csrf_of

Serve = Callable[..., Site]


def test_an_import_is_listed_with_its_effect_and_withdrawn_in_the_leads_name(serve: Serve, tmp_path: Path) -> None:
    site = serve("labelled")
    own = site.study.grid().find_pairs(person="ana", answer="not_appropriate").to_frame()["pair"].tolist()[:2]
    run = record(site.study, tmp_path, [("ana", pair, "appropriate") for pair in own], supersede=True)
    browser = site.browser("lea")
    html = browser.get("/lead/imports").text
    assert "some-labels.csv" in html
    assert f'href="/lead/imports/{run.id}"' in html
    confirm = browser.get(f"/lead/imports/{run.id}").text
    assert "<li>ana: 2 answers" in confirm
    answer = browser.post(f"/lead/imports/{run.id}", data={"csrf": csrf_of(browser)})
    assert answer.status_code == 303
    done = browser.get(answer.headers["location"]).text
    assert "answers were withdrawn" in done
    assert "<td>withdrawn</td>" in done
    assert site.study.log()[-1].by == "lea"
    assert "They have been withdrawn already" in browser.get(f"/lead/imports/{run.id}").text
    assert browser.post(f"/lead/imports/{run.id}", data={"csrf": csrf_of(browser)}).status_code == 409


def test_what_is_no_import_is_refused(serve: Serve) -> None:
    site = serve("dealt")
    browser = site.browser("lea")
    assert "No answers were imported" in browser.get("/lead/imports").text
    assert browser.get("/lead/imports/1").status_code == 404
    assert browser.get("/lead/imports/999999999").status_code == 404
    assert site.browser("ana").get("/lead/imports").status_code == 403
    assert site.browser("ana").post("/lead/imports/1", data={"csrf": csrf_of(site.browser("ana"))}).status_code == 403
