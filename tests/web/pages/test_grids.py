"""The pages of a lead and of adjudicators in a study with several grids: each is about the grid in its address."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from fcpair.params import Adjudicate, Annotate
from fcpair.records import Role
from fcpair.study import Study
from web import grids
from web.conftest import Site, add_everybody, csrf_of
from web.lead.test_lead import hidden_of, post

NAMES = ("write", "taste", "tone")
PAGES = (
    "/lead",
    "/lead/people",
    "/lead/agreement",
    "/lead/grid",
    "/lead/conflicts",
    "/lead/guidelines",
    "/lead/evaluation",
    "/lead/downloads",
    "/lead/answers",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grids.build(tmp_path_factory.mktemp("grids"))


@pytest.fixture
def site(built: Path, tmp_path: Path) -> Iterator[Site]:
    study = Study(shutil.copy(built, tmp_path / "study.db"))
    add_everybody(study)
    served = Site(study, Annotate())
    yield served
    served.close()


def page(browser: TestClient, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, (path, answer.text)
    return unescape(answer.text)


def addresses(html: str) -> set[str]:
    """Where the links, forms, requests and pictures of a page lead, but for those that are of no grid."""
    found = re.findall(r'\b(?:href|action|hx-get|hx-post|src|srcset)="(/[^"]*)"', html)
    return {one for one in found if one.startswith(("/lead", "/adjudicate"))}


GOT = {
    "/lead/conflicts": {"/lead/conflicts"},
    "/lead/grid": {"/lead/grid"},
    "/lead/people": {"/lead/people/beside"},
    "/lead/agreement": {"/lead/people/beside", "/lead/agreement#by"},
    "/lead/downloads": {"/lead/downloads#layouts"},
}
"""The forms of a page that are got, which take the grid as a field."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("path", PAGES)
def test_every_address_on_a_page_of_the_lead_names_its_grid(site: Site, path: str, name: str) -> None:
    html = page(site.browser("lea"), f"{path}?grid={name}")
    to_others = {f"{page_}?grid={other}" for other in NAMES for page_ in (path, "/lead")}
    form = GOT.get(path, set()) if 'name="grid"' in html else set()  # a form that is got takes it as a field
    found = addresses(html) - to_others - form
    assert found
    assert {one for one in found if not re.search(rf"[?&]grid={name}(#\w+)?$", one)} == set()


def test_an_address_without_a_grid_is_about_the_first(site: Site) -> None:
    assert "<h1>Progress of write</h1>" in page(site.browser("lea"), "/lead")


def test_a_grid_that_is_not_there_is_not_found_and_those_that_are_are_named(site: Site) -> None:
    answer = site.browser("lea").get("/lead?grid=smell")
    assert answer.status_code == 404
    assert "the grids of this study: write, taste, tone" in answer.text
    assert site.browser("judy").get("/adjudicate?grid=smell").status_code == 404


def test_the_overview_leads_to_each_grid_and_says_how_far_its_rounds_are(site: Site) -> None:
    html = page(site.browser("lea"), "/lead?grid=taste")
    nav = html[html.index('aria-label="Grids"') :]
    nav = re.sub(r"<[^>]+>|\s+", " ", nav[: nav.index("</nav>")])
    assert "write (write: 0 open, 4 done)" in " ".join(nav.split())
    assert "tone (judge: 0 open, 8 done; validate: not assigned)" in " ".join(nav.split())


def test_the_rounds_of_a_grid_go_by_their_names(site: Site) -> None:
    browser = site.browser("lea")
    panel = page(browser, "/lead/panel/progress?grid=write")
    assert "Round “write”, answered by writers" in panel
    assert "4 answers given, 0 open" in panel
    assert "Adjudicating" not in panel
    panel = page(browser, "/lead/panel/progress?grid=tone")
    assert "8 answers given, 0 open" in panel
    assert "4 wait for a person" in panel
    assert "Validating" in panel


@pytest.mark.parametrize("name", ["tiers", "agreement", "flags"])
def test_there_is_no_panel_of_what_only_labels_have(site: Site, name: str) -> None:
    browser = site.browser("lea")
    assert browser.get(f"/lead/panel/{name}?grid=write").status_code == 404
    assert page(browser, f"/lead/panel/{name}?grid=tone")


@pytest.mark.parametrize("path", ["/lead/agreement", "/lead/conflicts", "/lead/evaluation"])
def test_a_page_that_a_grid_has_no_use_for_is_not_offered_and_says_so(site: Site, path: str) -> None:
    browser = site.browser("lea")
    assert f'href="{path}?grid=write"' not in page(browser, "/lead?grid=write")
    assert f'href="{path}?grid=tone"' in page(browser, "/lead?grid=tone")
    html = page(browser, f"{path}?grid=tone")
    assert f'href="{path}?grid=taste"' in html
    assert f'href="{path}?grid=write"' not in html
    assert "There is nothing to see here" in page(browser, f"{path}?grid=write")


def test_the_page_of_next_steps_of_earlier_versions_leads_on_to_the_same_grid(site: Site) -> None:
    browser = site.browser("lea")
    assert browser.get("/lead/steps?grid=write").headers["location"] == "/lead?grid=write"
    assert browser.get("/lead/steps?grid=tone").headers["location"] == "/lead/conflicts?grid=tone"


def test_what_people_answered_is_counted_question_by_question_and_can_be_read(site: Site) -> None:
    browser = site.browser("lea")
    panel = page(browser, "/lead/panel/labels?grid=write")
    assert "Round “write”, also" in panel
    assert "/lead/answers?round=write&grid=write" in panel
    html = page(browser, "/lead/answers?round=write&grid=write")
    assert '<th scope="col">Statement</th><th scope="col">Kind of reply</th>' in html
    assert html.count(grids.REPLY) == 4


def test_the_answers_of_a_round_are_a_download(site: Site) -> None:
    browser = site.browser("lea")
    for name, round_, n in (("write", "write", 4), ("tone", "judge", 8)):
        html = page(browser, f"/lead/downloads?grid={name}")
        assert f'<option value="{round_}">{round_} ({n} rows)</option>' in html
        sent = {"csrf": csrf_of(browser), "round": round_}
        table = pd.read_csv(io.StringIO(browser.post(f"/lead/download/answers?grid={name}", data=sent).text))
        assert len(table) == n


@pytest.mark.parametrize("name", NAMES)
def test_only_what_a_grid_has_can_be_downloaded(site: Site, name: str) -> None:
    """Nothing is offered that fails for want of what the grid never has."""
    browser = site.browser("lea")
    for one in re.findall(r"/lead/download/([\w-]+)", page(browser, f"/lead/downloads?grid={name}")):
        answer = browser.post(f"/lead/download/{one}?grid={name}", data={"csrf": csrf_of(browser), "tier": "bronze"})
        assert answer.status_code == 200, (one, answer.text)


def test_an_act_in_one_tab_leaves_the_grid_of_the_other_alone(site: Site) -> None:
    """Tab A is at `taste`, tab B at `tone`, which is loaded last."""
    browser = site.browser("lea")
    a, b = (page(browser, f"/lead/conflicts?policy=majority&ties=discard&grid={name}") for name in ("taste", "tone"))
    form = a[a.index('id="preview"') :]
    action = re.search(r'action="([^"]+)"', form)
    assert action
    asked = browser.post(action[1], data={"csrf": csrf_of(browser), **hidden_of(form[: form.index("</form>")])})
    assert "Discard 4 pairs in taste?" in unescape(asked.text)
    confirmed = re.search(r'action="([^"]+)"', asked.text[asked.text.index("<h1>") :])
    assert confirmed
    done = post(browser, unescape(confirmed[1]), **hidden_of(asked.text))
    assert "Conflicts of taste" in done
    assert "The previous policy, “manual” (ties: wait), is then in force again" in done
    assert site.study.grid("taste").policy == Adjudicate("majority", "discard")
    assert site.study.grid("tone").policy == Adjudicate("manual")
    assert len(site.study.grid("tone").waiting_pairs()) == 4
    assert "4 pairs would be discarded." in re.sub("<[^>]+>", "", b)


def test_a_planned_grid_is_filled_and_dealt_round_by_round(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "new.db", grids=grids.plans())
    add_everybody(study)
    site = Site(study, Annotate())
    browser = site.browser("lea")
    try:
        study.add_people(["wren"], Role.WRITER)
        assert "Fill the grid" in page(browser, "/lead?grid=write")
        assert "Assign round “write”" in post(browser, "/lead/rounds/pair?grid=write")
        assert "4 open, 0 given" in post(browser, "/lead/rounds/assign?grid=write", round="write")
        assert "Fill the grid" in page(browser, "/lead?grid=tone")
    finally:
        site.close()


def test_decisions_are_validated_where_the_grid_says_so(site: Site) -> None:
    site.study.grid("tone").adjudicate(Adjudicate("manual"))
    site.study.grid("tone").decide(site.study.grid("tone").waiting_pairs()[0], 1, by="jo")
    browser = site.browser("lea")
    assert "Decisions of this grid are not validated" in page(browser, "/lead/conflicts?grid=taste")
    assert "1 pair was assigned to" in post(browser, "/lead/conflicts/validate?grid=tone", pairs="")


def test_a_pair_has_the_words_of_its_grid(site: Site) -> None:
    browser = site.browser("lea")
    html = page(browser, "/lead/pair/1?grid=tone")
    assert "<h1>tone, pair 1: " in html
    assert "<h2>Statement</h2>" in html
    assert "<h2>Manner</h2>" in html
    assert grids.REPLY in page(browser, "/lead/pair/1?grid=write")


def test_an_adjudicator_begins_where_something_waits(site: Site) -> None:
    browser = site.browser("judy")
    html = page(browser, "/adjudicate")
    assert "<strong>taste</strong>: 4 wait" in html
    assert "4 wait in tone" in html
    assert '<h2 id="cn-name">flavour</h2>' in html
    taste = site.study.grid("taste")
    taste.adjudicate(Adjudicate("majority", "discard"))
    assert "<strong>tone</strong>: 4 wait" in page(browser, "/adjudicate")


def test_every_address_on_an_adjudicators_page_names_its_grid(site: Site) -> None:
    browser = site.browser("judy")
    for path in ("/adjudicate?grid=tone", "/adjudicate/decided?grid=tone"):
        found = addresses(page(browser, path)) - {"/adjudicate?grid=taste"}
        assert found
        assert {one for one in found if not re.search(r"[?&]grid=tone$", one)} == set()


def test_a_decision_in_one_tab_is_about_the_grid_of_that_tab(site: Site) -> None:
    browser = site.browser("judy")
    a, _ = (page(browser, f"/adjudicate?grid={name}") for name in ("taste", "tone"))
    form = a[a.index('<form id="pair"') :]
    action = re.search(r'action="([^"]+)"', form)
    assert action
    sent = {"csrf": csrf_of(browser), **hidden_of(form[: form.index("</form>")]), "outcome": "yes"}
    answer = browser.post(action[1], data=sent)
    assert answer.headers["location"].endswith("grid=taste")
    assert len(site.study.grid("taste").waiting_pairs()) == 3
    assert len(site.study.grid("tone").waiting_pairs()) == 4
    assert "1 decided by you" in page(browser, answer.headers["location"])
    assert "0 decided by you" in page(browser, "/adjudicate?grid=tone")
    assert "Thank you for today" in page(browser, "/thanks")


def test_where_nothing_is_decided_adjudicators_are_told_so(tmp_path: Path) -> None:
    site = Site(Study.create(tmp_path / "new.db", grids=grids.plans()), Annotate())
    try:
        answer = site.browser("judy").get("/adjudicate")
        assert answer.status_code == 409
        assert "here is nothing to decide in this study yet" in answer.text
    finally:
        site.close()


def test_machines_are_told_the_grid_and_have_to_name_it(site: Site) -> None:
    judy = site.machine("judy")
    found = judy.get("/api/conflicts/next", params={"grid": "tone"}).json()
    assert found["grid"] == "tone"
    assert judy.get("/api/conflicts/next").json()["grid"] == "taste"
    sent = {"request_id": site.new_request(), "cell_id": found["case"]["cell_id"], "outcome": "yes"}
    refused = judy.post("/api/decisions", json=sent)
    assert refused.status_code == 422
    assert "choose one with `?grid=NAME`: write, taste, tone" in refused.json()["detail"]
    assert judy.post("/api/decisions", json=sent, params={"grid": "tone"}).status_code == 200
    assert len(site.study.grid("tone").waiting_pairs()) == 3
