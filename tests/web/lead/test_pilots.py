"""Results of a pilot on the page People, and forgetting what somebody said about themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from steps.answers.test_writing import grade, piloted

from fcpair.params import Annotate
from fcpair.records import Role
from web.conftest import Site, csrf_of

Serve = Callable[..., Site]


def test_people_shows_who_passed_the_pilot_and_leads_to_assigning_the_round(tmp_path: Path) -> None:
    study = piloted(tmp_path)
    study.add_people(["lea"], Role.LEAD)
    site = Site(study, Annotate())
    try:
        browser = site.browser("lea")
        assert "<td>yes</td>" not in browser.get("/lead/panel/pilots?grid=write").text
        grade(study)
        html = browser.get("/lead/panel/pilots?grid=write").text
        assert "3 of 4 people passed: 2 texts judged good in the grid grade are needed" in html
        assert html.count("<td>yes</td>") == 3
        assert 'href="/lead?grid=write#rounds"' in html
        assert "Who has passed the pilot" in browser.get("/lead/people?grid=write").text
        assert "Who has passed the pilot" not in browser.get("/lead/people?grid=grade").text
    finally:
        site.close()


def test_what_somebody_said_about_themselves_is_forgotten_after_it_was_asked(serve: Serve) -> None:
    site = serve("labelled")
    browser, study = site.browser("lea"), site.study
    ana = next(one for one in study.people if one.name == "ana")
    study.access.consent(ana.id, {"age": "30"})
    html = browser.get("/lead/people/ana/forget").text
    assert "<strong>Deleted for good:</strong> what ana said about themselves" in html
    assert "<strong>Kept:</strong> the pseudonym ana, their answers" in html
    assert "Backups and other copies" in html
    answer = browser.post("/lead/people/ana/forget", data={"csrf": csrf_of(browser)})
    assert answer.status_code == 303
    assert "what ana said about themselves was deleted, by lea" in browser.get(answer.headers["location"]).text
    assert next(one for one in study.access.terms() if one["name"] == "ana")["demographics"] in (None, {})
    assert study.log()[-1].by == "lea"
    assert browser.post("/lead/people/nobody/forget", data={"csrf": csrf_of(browser)}).status_code == 404
    vera = site.browser("vera")
    assert vera.post("/lead/people/ana/forget", data={"csrf": csrf_of(vera)}).status_code == 403
