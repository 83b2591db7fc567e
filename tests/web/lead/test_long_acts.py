"""What takes long, in a process of its own: evaluating systems or a run that is sent, and asking models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from fcpair.models.answering_models import Cell, Chat
from fcpair.models.service import Reply, cache_answer
from fcpair.params import Annotate, Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study
from fcpair.web.lead import evaluation
from fcpair.words import Noun
from web.conftest import Serve, Site, csrf_of, page_of, send, sentences_of, until_done
from web.lead.test_in_languages import Marking

ROWS = ("Tea is odd.", "Cats are odd.")


@pytest.fixture
def site(serve: Serve) -> Iterator[Site]:
    site = serve("checked")
    yield site
    site.app.state.long_acts.end()


def begin(browser: TestClient, systems: str, tiers: tuple[str, ...] = ("gold", "bronze")) -> Response:
    return send(browser, "/lead/evaluation/begin", systems=systems, tier=list(tiers))


def send_run(browser: TestClient, content: bytes, name: str = "mine.trec") -> Response:
    headers = {"X-CSRF-Token": csrf_of(browser), "Content-Type": "application/octet-stream"}
    return browser.post(f"/lead/evaluation/run?name={name}&seen=", content=content, headers=headers)


def run_lines(site: Site) -> list[str]:
    rows = site.study.grid().tier("bronze")
    pairs = sorted({(hs, cn) for hs in rows["hs_id"] for cn in rows["cn_id"]})
    return [f"{hs} Q0 {cn} {at} {1 / at} mine" for at, (hs, cn) in enumerate(pairs, 1)]


def test_systems_are_evaluated_with_progress_and_the_result_is_shown(site: Site, lea: TestClient) -> None:
    before = page_of(lea, "/lead/evaluation")
    assert "No system has been evaluated yet" in before
    assert re.findall(r'name="tier" value="(\w+)" checked', before) == ["diamond", "gold", "silver", "bronze"]
    answer = begin(lea, "bm25\ntfidf")
    assert (answer.status_code, answer.headers["location"]) == (303, "/lead/acts")
    assert "<h1>Evaluating</h1>" in page_of(lea, "/lead/acts")
    html = page_of(lea, begin(lea, "bm25").headers["location"])
    assert "the next can begin once that is done or stopped" in html
    assert ">\nbm25</textarea>" in html
    until_done(site)
    onward = lea.get("/lead/acts?part=true")
    assert (onward.status_code, site.app.state.long_acts.state.problem) == (204, "")
    html = page_of(lea, onward.headers["hx-redirect"])
    assert "<strong>Done:</strong> 2 systems ranked" in html
    assert ", by lea." in html
    assert "Scores on Gold" in html
    row = r'<td class="n">([01]\.\d{4})</td><td class="lead-bar-cell">.*?</td><td class="undefined">(.*?)</td>'
    scores = re.findall(row, html, re.DOTALL)
    assert scores  # of so few HS without an interval
    assert {why for _, why in scores} == {"undefined, because 4 HS give no interval; it takes 5 or more"}
    assert site.study.log()[-1].by == "lea"


def test_a_run_that_is_sent_is_evaluated_and_not_kept(site: Site, lea: TestClient) -> None:
    lines = run_lines(site)
    assert send_run(lea, "\n".join([*lines, "1 Q0 99 7 0.1 mine", "1 Q0"]).encode()).status_code == 200
    until_done(site)
    for shown in ("/lead/acts", "/lead/evaluation"):
        assert f"mine.trec:{len(lines) + 2}: 2 columns; expected 6" in page_of(lea, shown)
    assert site.study.latest_evaluation() is None
    wrong = site.app.state.long_acts.state.problem
    assert Marking("it").say(wrong, Noun.of("pair")).count("⟦ columns; expected ⟧") == 1
    answer = send_run(lea, "\n".join(lines).encode(), name="../é mine.trec")
    assert (answer.status_code, answer.text) == (200, "/lead/acts")
    until_done(site)
    assert site.app.state.long_acts.state.problem == ""
    figures = site.study.latest_evaluation()
    assert figures
    path = Path(figures.outcome.systems[0].name.removeprefix("run:").removesuffix("(ids=corpus)"))
    assert path.name == "é-mine.trec"
    assert not path.parent.exists()
    html = page_of(lea, "/lead/evaluation")
    assert "mine.trec" in html
    assert str(path.parent) not in html


def test_what_cannot_be_evaluated_is_refused_at_once_and_what_began_can_be_stopped(
    site: Site, lea: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for systems, tiers, message in (
        ("", ("gold",), "no system is named"),
        ("bm25", (), "no tier is ticked"),
        ("bm26", ("gold",), "bm26"),
        ("run:/etc/passwd", ("gold",), "names a file of the server"),
    ):
        answer = lea.get(begin(lea, systems, tiers).headers["location"])
        assert answer.status_code == 422
        assert re.search(rf'<strong class="wrong">[^<]*{message}', sentences_of(answer.text), re.IGNORECASE)
        assert f">\n{systems}</textarea>" in answer.text
        assert set(re.findall(r'name="tier" value="(\w+)" checked', answer.text)) == {*tiers}
    assert send_run(lea, b"").text == "the file is empty; choose a TREC run"
    monkeypatch.setattr(evaluation, "MOST_RUN", 10)
    assert send_run(lea, b"1 Q0 2 1 0.5 mine\n").status_code == 422
    assert not site.app.state.long_acts.state.what
    assert begin(lea, "random").status_code == 303
    assert send(lea, "/lead/acts/stop").status_code == 303
    until_done(site)
    assert "You have stopped it" in page_of(lea, "/lead/acts")
    assert "You have stopped it" in page_of(lea, "/lead/evaluation")
    assert site.study.latest_evaluation() is None


# Models


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Two rows, which a service and a file answer."""
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path / "cache"))
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    near = tmp_path / "near.csv"
    near.write_text("row,reply\nTea is odd.,It is not so odd.\nCats are odd.,As an AI I have none.\n", "utf-8")
    answering = {"far": "far=service:tiny", "near": f"near=canned:{near}"}

    def plan(grid: str, *names: str) -> GridPlan:
        asked = tuple(answering[name] for name in names)
        propose = RoundPlan("propose", "text: text(max_words=3)", models=asked, prompt="Answer {row}")
        return GridPlan(grid, SidePlan(names=ROWS), SidePlan(names=names), (propose,))

    grids = [plan("replies", "far", "near"), plan("alone", "near")]
    study = Study.create(tmp_path / "models.db", Setup(title="t"), grids=grids)
    for grid in study.grids:
        study.grid(grid).pair()
    study.add_people(["lea"], Role.LEAD)
    served = Site(study, Annotate())
    yield served
    served.app.state.long_acts.end()
    served.close()


def ask(browser: TestClient, grid: str) -> Any:
    return send(browser, f"/lead/generate?grid={grid}", round="propose")


def test_the_cost_of_asking_is_said_before_or_why_there_is_none(models: Site) -> None:
    browser, address = models.browser("lea"), "/lead/generate?grid=replies&round=propose"
    html = page_of(browser, address)
    assert "undefined, because no prices are given" in html
    assert "set OPENAI_BASE_URL to an OpenAI-compatible service" in re.sub("</?code>", "", html)
    assert 'method="post" action="/lead/generate' not in html
    priced = page_of(browser, f"{address}&price_in=2&price_out=10")
    assert "undefined, because no reply of the model is kept" in priced
    chat = Chat("tiny", "Answer {row}")
    cache_answer(chat.request(Cell(ROWS[0], "far", f"Answer {ROWS[0]}")), Reply("x" * 400_000, "tiny"), None)
    assert "<td>1.00</td>" in page_of(browser, f"{address}&price_in=2&price_out=10")
    assert browser.get(f"{address}&price_in=2&price_out=").status_code == 422
    assert ask(browser, "replies").status_code == 409
    assert not models.app.state.long_acts.state.what
    assert browser.get("/lead/generate?grid=alone&round=nothing").status_code == 404


def test_a_service_that_cannot_be_reached_ends_it_with_what_to_do(
    models: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key-of-the-server")
    browser = models.browser("lea")
    html = page_of(browser, "/lead/generate?grid=replies&round=propose")
    assert "Ask the models (2 requests)" in html
    assert "secret-key" not in html
    assert ask(browser, "replies").headers["location"] == "/lead/acts"
    assert "<h1>Asking models in replies</h1>" in page_of(browser, "/lead/acts")
    send(browser, "/lead/acts/stop")
    until_done(models)
    html = page_of(browser, "/lead/acts")
    assert "You have stopped it; what models have replied is kept" in html
    models.study.add_people(["leo"], Role.LEAD)
    assert "lea has stopped it; what" in page_of(models.browser("leo"), "/lead/acts")
    assert "secret-key" not in html
    assert models.study.log()[-1].stage != "generate"


def test_models_are_asked_in_the_leads_name(models: Site) -> None:
    browser, address = models.browser("lea"), "/lead/generate?round=propose&grid=alone"
    assert f'href="{address}"' in page_of(browser, "/lead?grid=alone")
    assert "<h1>Ask the models of round “propose” in alone?</h1>" in page_of(browser, address)
    assert ask(browser, "alone").is_redirect
    until_done(models)
    assert "answers were given by" in page_of(browser, browser.get("/lead/acts?part=true").headers["hx-redirect"])
    run = models.study.log()[-1]
    assert (run.stage, run.by, run.counts["answers"]) == ("generate", "lea", 2)
    again = page_of(browser, address)
    assert 'data-word="Error"' in again
    assert 'method="post" action="/lead/generate' not in again
