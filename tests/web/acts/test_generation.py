"""Asking models from the page: what it takes is said before, and it is done in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from awaited import until

from fcpair.models.answering_models import Cell, Chat
from fcpair.models.service import Reply, cache_answer
from fcpair.params import Annotate, Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study
from web.conftest import Site, csrf_of

ROWS = ("Tea is odd.", "Cats are odd.")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Two rows, which a service and a file answer."""
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path / "cache"))
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    near = tmp_path / "near.csv"
    near.write_text("row,reply\nTea is odd.,It is not so odd.\nCats are odd.,As an AI I have none.\n", "utf-8")
    models = ("far=service:tiny", f"near=canned:{near}")
    propose = RoundPlan("propose", "text: text(max_words=3)", models=models, prompt="Answer {row}")
    plain = RoundPlan("propose", "text: text(max_words=3)", models=models[1:], prompt="Answer {row}")
    sides = (SidePlan(names=ROWS), SidePlan(names=("far", "near"))), (SidePlan(names=ROWS), SidePlan(names=("near",)))
    grids = [GridPlan("replies", *sides[0], (propose,)), GridPlan("alone", *sides[1], (plain,))]
    study = Study.create(tmp_path / "models.db", Setup(title="t"), grids=grids)
    for grid in study.grids:
        study.grid(grid).pair()
    study.add_people(["lea"], Role.LEAD)
    served = Site(study, Annotate())
    yield served
    served.app.state.long_acts.end()
    served.close()


def wait(site: Site) -> None:
    until(lambda: not site.app.state.long_acts.state.is_running)


def test_progress_leads_to_asking_models(site: Site) -> None:
    html = unescape(site.browser("lea").get("/lead?grid=alone").text)
    assert 'href="/lead/generate?round=propose&grid=alone"' in html


def test_the_cost_is_said_before_or_why_there_is_none(site: Site) -> None:
    browser = site.browser("lea")
    address = "/lead/generate?grid=replies&round=propose"
    html = unescape(browser.get(address).text)
    assert "undefined, because no prices are given" in html
    assert "set OPENAI_BASE_URL to an OpenAI-compatible service" in html.replace("<code>", "").replace("</code>", "")
    assert 'method="post" action="/lead/generate' not in html
    priced = unescape(browser.get(f"{address}&price_in=2&price_out=10").text)
    assert "undefined, because no reply of the model is kept" in priced
    chat = Chat("tiny", "Answer {row}")
    cache_answer(chat.request(Cell(ROWS[0], "far", f"Answer {ROWS[0]}")), Reply("x" * 400_000, "tiny"), None)
    assert "<td>1.00</td>" in browser.get(f"{address}&price_in=2&price_out=10").text
    assert browser.get(f"{address}&price_in=2&price_out=").status_code == 422
    refused = browser.post("/lead/generate?grid=replies", data={"csrf": csrf_of(browser), "round": "propose"})
    assert refused.status_code == 409
    assert not site.app.state.long_acts.state.what


def test_a_service_that_cannot_be_reached_ends_it_with_what_to_do(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key-of-the-server")
    browser = site.browser("lea")
    html = browser.get("/lead/generate?grid=replies&round=propose").text
    assert "Ask the models (2 requests)" in html
    assert "secret-key" not in html
    answer = browser.post("/lead/generate?grid=replies", data={"csrf": csrf_of(browser), "round": "propose"})
    assert answer.headers["location"] == "/lead/acts"
    assert "<h1>Asking models in replies</h1>" in browser.get("/lead/acts").text
    browser.post("/lead/acts/stop", data={"csrf": csrf_of(browser)})
    wait(site)
    html = browser.get("/lead/acts").text
    assert "lea has stopped it; what models have replied is kept" in html
    assert "secret-key" not in html
    assert site.study.log()[-1].stage != "generate"


def test_models_are_asked_in_the_leads_name(site: Site) -> None:
    browser = site.browser("lea")
    html = browser.get("/lead/generate?grid=alone&round=propose").text
    assert "<h1>Ask the models of round “propose” in alone?</h1>" in html
    assert browser.post("/lead/generate?grid=alone", data={"csrf": csrf_of(browser), "round": "propose"}).is_redirect
    wait(site)
    onward = browser.get("/lead/acts?part=true").headers["hx-redirect"]
    assert "answers were given by" in browser.get(onward).text
    run = site.study.log()[-1]
    assert (run.stage, run.by, run.counts["answers"]) == ("generate", "lea", 2)
    again = browser.get("/lead/generate?grid=alone&round=propose").text
    assert 'data-word="Error"' in again
    assert 'method="post" action="/lead/generate' not in again


def test_unknown_rounds_are_refused(site: Site) -> None:
    assert site.browser("lea").get("/lead/generate?grid=alone&round=nothing").status_code == 404
