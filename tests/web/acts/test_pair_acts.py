"""Acting on the pairs that a search has found: another label, or a person's decision."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from fastapi.testclient import TestClient

from fcpair.params import Adjudicate
from web.conftest import Site, csrf_of

Serve = Callable[..., Site]
LABELS, DECISIONS = "/lead/grid/act/labels", "/lead/grid/act/decisions"


def confirm(browser: TestClient, html: str) -> str:
    """Press the button of the page; the address that it leads to."""
    action = re.search(r'<form method="post" action="(/lead/grid/act/[^"]+)"', html)
    confirmed = re.search(r'name="confirmed" value="(\w+)"', html)
    assert action
    assert confirmed
    data = {"csrf": csrf_of(browser), "confirmed": confirmed[1]}
    answer = browser.post(unescape(action[1]), data=data)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def test_ticked_pairs_get_another_label_and_the_log_names_the_lead(serve: Serve) -> None:
    site = serve("decided")
    browser = site.browser("lea")
    html = browser.get(f"{LABELS}?words=cyclists&scope=ticked&pair=1&pair=2&pair=3").text
    assert "<h1>Ask for another label?</h1>" in html
    n = sum(map(int, re.findall(r"<li>\w+: (\d+) pairs?</li>", html)))
    assert f"Ask for {n} label" in html
    before = site.study.grid().find_pairs(state="open").total
    done = browser.get(confirm(browser, html)).text
    assert "<strong>Done:</strong> " in done
    assert "by lea" in done
    assert site.study.grid().find_pairs(state="open").total == before + n
    run = site.study.log()[-1]
    assert (run.params["pairs"], run.by, run.counts["new"]) == ("1-3", "lea", n)
    assert "`fcpair assign --more --pairs-file FILE`" in site.study.recipe_text()


def test_all_pairs_that_match_are_sent_to_an_adjudicator_and_leave_their_tiers(serve: Serve) -> None:
    site = serve("checked")
    browser, grid = site.browser("lea"), site.study.grid()
    gold = grid.find_pairs(tier="gold").to_frame()["pair"].tolist()
    html = browser.get(f"{DECISIONS}?tier=gold&scope=all").text
    assert f"{len(gold)} decisions by a rule are reopened" in html
    assert "<li>Gold: " in html or "<li>Diamond: " in html
    confirm(browser, html)
    assert set(gold) <= set(grid.waiting_pairs())
    assert grid.find_pairs(tier="gold").total == 0
    assert site.study.log()[-1].by == "lea"
    story = browser.get(f"/lead/pair/{gold[0]}").text
    assert "sent to an adjudicator" in story
    assert "asked by lea" in story


def test_what_has_changed_meanwhile_is_shown_before_it_is_done(serve: Serve) -> None:
    site = serve("checked")
    browser, grid = site.browser("lea"), site.study.grid()
    address = f"{DECISIONS}?tier=silver&scope=all"
    confirmed = re.search(r'name="confirmed" value="(\w+)"', browser.get(address).text)
    assert confirmed
    first = grid.find_pairs(tier="silver").to_frame()["pair"].tolist()[0]
    grid.request_decisions([first])
    answer = browser.post(address, data={"csrf": csrf_of(browser), "confirmed": confirmed[1]})
    assert answer.status_code == 200
    assert "This has changed since the page was loaded" in answer.text
    assert grid.find_pairs(tier="silver").total > 0


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("words=cats&scope=ticked", "no pair is ticked"),
        ("words=nowhere&scope=all", "none of these pairs matches the search any more"),
        ("words=&scope=ticked&pair=999", "none of these pairs matches the search any more"),
        ("tier=golden&scope=all", "there is no tier `golden`"),
    ],
)
def test_nothing_chosen_is_refused_with_what_to_do(serve: Serve, query: str, said: str) -> None:
    answer = serve("checked").browser("lea").get(f"{DECISIONS}?{query}")
    assert answer.status_code == 422
    assert said in unescape(re.sub(r"</?code>", "`", answer.text)).lower()


def test_what_cannot_be_done_is_said_in_place_of_the_button(serve: Serve) -> None:
    site = serve("checked")
    waiting = site.study.grid().waiting_pairs()
    html = site.browser("lea").get(f"{DECISIONS}?words=&scope=ticked&pair={waiting[0]}").text
    assert "stays as it is" in html
    assert 'name="confirmed"' not in html


def test_acts_are_offered_where_they_apply_and_only_to_leads(serve: Serve) -> None:
    paired = serve("paired").browser("lea").get("/lead/grid?words=").text
    assert 'name="scope"' not in paired
    dealt = serve("dealt").browser("lea").get("/lead/grid?words=").text
    assert "Ask for another label" in dealt
    assert "Send to an adjudicator" not in dealt
    site = serve("checked")
    assert "Send to an adjudicator" in site.browser("lea").get("/lead/grid?words=").text
    for name in ("ana", "vera", "judy"):
        assert site.browser(name).get(f"{DECISIONS}?words=&scope=all").status_code == 403
    assert site.browser("lea").get("/lead/grid/act/burn?words=&scope=all").status_code == 404


def test_an_adjudicator_decides_what_was_sent_and_a_decision_taken_back_waits_again(serve: Serve) -> None:
    site = serve("checked")
    grid = site.study.grid()
    sent = grid.find_pairs(tier="gold").to_frame()["pair"].tolist()[0]
    site.study.grid().request_decisions([sent])
    judy = site.machine("judy")
    grid.adjudicate(Adjudicate("majority"))
    assert sent in grid.waiting_pairs()
    case = judy.get("/api/conflicts").json()
    assert case is not None
    grid.decide(sent, 2, by="judy")
    assert sent not in grid.waiting_pairs()
    assert not grid.take_back(sent, by="judy")
    assert sent in grid.waiting_pairs()
    assert [row["rule"] for row in grid.explain(sent).decisions][-3:] == ["person", "reopened", "requested"]
