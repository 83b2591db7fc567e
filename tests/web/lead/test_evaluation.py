"""Evaluating from the page: by systems, and of a run that is sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import pytest
from awaited import until
from fastapi.testclient import TestClient
from httpx2 import Response

from fcpair.web.lead import evaluation
from web.conftest import Site, csrf_of

Serve = Callable[..., Site]


@pytest.fixture
def site(serve: Serve) -> Iterator[Site]:
    site = serve("checked")
    yield site
    site.app.state.long_acts.end()


def begin(browser: TestClient, systems: str, tiers: tuple[str, ...] = ("gold", "bronze")) -> Response:
    data = {"csrf": csrf_of(browser), "systems": systems, "tier": list(tiers)}
    return browser.post("/lead/evaluation/begin", data=data)


def send(browser: TestClient, content: bytes, name: str = "mine.trec") -> Response:
    headers = {"X-CSRF-Token": csrf_of(browser), "Content-Type": "application/octet-stream"}
    return browser.post(f"/lead/evaluation/run?name={name}&seen=", content=content, headers=headers)


def wait(site: Site) -> None:
    until(lambda: not site.app.state.long_acts.state.is_running)


def run_lines(site: Site) -> list[str]:
    rows = site.study.grid().tier("bronze")
    pairs = sorted({(hs, cn) for hs in rows["hs_id"] for cn in rows["cn_id"]})
    return [f"{hs} Q0 {cn} {at} {1 / at} mine" for at, (hs, cn) in enumerate(pairs, 1)]


def test_systems_are_evaluated_with_progress_and_the_result_is_shown(site: Site) -> None:
    browser = site.browser("lea")
    before = browser.get("/lead/evaluation").text
    assert "No system has been evaluated yet" in before
    assert re.findall(r'name="tier" value="(\w+)" checked', before) == ["diamond", "gold", "silver", "bronze"]
    answer = begin(browser, "bm25\ntfidf")
    assert (answer.status_code, answer.headers["location"]) == (303, "/lead/acts")
    assert "<h1>Evaluating</h1>" in browser.get("/lead/acts").text
    assert begin(browser, "bm25").status_code == 409
    wait(site)
    state = site.app.state.long_acts.state
    onward = browser.get("/lead/acts?part=true")
    assert (onward.status_code, state.problem) == (204, "")
    html = browser.get(onward.headers["hx-redirect"]).text
    assert "<strong>Done:</strong> 2 systems ranked" in html
    assert ", by lea." in html
    assert "Scores on Gold" in html
    assert "bm25" in html
    assert site.study.log()[-1].by == "lea"


def test_a_run_that_is_sent_is_evaluated_and_not_kept(site: Site) -> None:
    browser = site.browser("lea")
    answer = send(browser, "\n".join(run_lines(site)).encode(), name="../é mine.trec")
    assert (answer.status_code, answer.text) == (200, "/lead/acts")
    wait(site)
    state = site.app.state.long_acts.state
    assert state.problem == ""
    figures = site.study.latest_evaluation()
    assert figures
    path = Path(figures.outcome.systems[0].name.removeprefix("run:").removesuffix("(ids=corpus)"))
    assert path.name == "mine.trec"
    assert not path.parent.exists()
    assert "mine.trec" in browser.get("/lead/evaluation").text
    assert str(path.parent) not in browser.get("/lead/evaluation").text


def test_what_is_wrong_with_a_run_is_named_by_file_and_line(site: Site) -> None:
    browser = site.browser("lea")
    lines = run_lines(site)
    assert send(browser, "\n".join([*lines, "1 Q0 99 7 0.1 mine", "1 Q0"]).encode()).status_code == 200
    wait(site)
    html = unescape(browser.get("/lead/acts").text)
    assert f"mine.trec:{len(lines) + 2}: 2 columns; expected 6" in html
    assert site.study.latest_evaluation() is None


def test_what_cannot_be_evaluated_is_refused_at_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = site.browser("lea")
    for systems, tiers, said in (
        ("", ("gold",), "no system is named"),
        ("bm25", (), "no tier is ticked"),
        ("bm26", ("gold",), "bm26"),
        ("run:/etc/passwd", ("gold",), "names a file of the server"),
    ):
        answer = begin(browser, systems, tiers)
        assert answer.status_code == 422
        assert said in unescape(re.sub(r"</?code>", "`", answer.text)).lower()
    assert send(browser, b"").text == "the file is empty; choose a TREC run"
    monkeypatch.setattr(evaluation, "MOST_RUN", 10)
    assert send(browser, b"1 Q0 2 1 0.5 mine").status_code == 422
    assert not site.app.state.long_acts.state.what


def test_an_evaluation_can_be_stopped(site: Site) -> None:
    browser = site.browser("lea")
    assert begin(browser, "random").status_code == 303
    assert browser.post("/lead/acts/stop", data={"csrf": csrf_of(browser)}).status_code == 303
    wait(site)
    html = browser.get("/lead/acts").text
    assert "lea has stopped it" in html
    assert site.study.latest_evaluation() is None


def test_only_leads_evaluate(site: Site) -> None:
    for name in ("ana", "judy"):
        assert begin(site.browser(name), "bm25").status_code == 403
        assert send(site.browser(name), b"1").status_code == 403
