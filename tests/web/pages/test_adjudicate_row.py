"""All conflicts of one row on one screen: what is there, deciding from there, and what nobody may be shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape

import pytest
from httpx2 import Response
from steps.small import ANNOTATORS, dump, standing

from fcpair.grid import AdjudicationQueue, CaseQueue, DecisionRequest
from fcpair.params import Annotate
from fcpair.steps.adjudication import adjudication_queue
from web.conftest import Site


@pytest.fixture
def site(serve: Callable[..., Site]) -> Site:
    """All labels are in, and nothing is decided."""
    return serve("labelled")


def waiting_by_row(site: Site) -> dict[str, list[int]]:
    """The pairs that wait, by the text of their row, the fullest row first."""
    rows: dict[str, list[int]] = {}
    for pair in site.study.grid().waiting_pairs():
        rows.setdefault(site.study.grid().desk.conflict(pair).hs.body, []).append(pair)
    return dict(sorted(rows.items(), key=lambda item: -len(item[1])))


def forms(page: Response) -> dict[int, dict[str, str]]:
    """The hidden fields of each case on a page, by its pair."""
    cases = re.findall(r'<form class="row-case".*?</form>', page.text, re.DOTALL)
    fields = [dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', one)) for one in cases]
    return {int(one["cell_id"]): one for one in fields}


def decide(site: Site, pair: int, outcome: str = "appropriate") -> None:
    queue, judy = AdjudicationQueue(site.study.grid()), site.visitor("judy").id
    queue.decide(judy, DecisionRequest(site.new_request(), pair, outcome))


def test_all_that_waits_of_a_row_is_shown_below_its_text_without_names(site: Site) -> None:
    hs, pairs = next(iter(waiting_by_row(site).items()))
    assert len(pairs) > 1
    page = site.browser("judy").get(f"/adjudicate/row?pair={pairs[-1]}")
    assert list(forms(page)) == sorted(pairs)
    assert page.text.count(escape(hs)) == 1
    for pair in pairs:
        conflict = site.study.grid().desk.conflict(pair)
        assert conflict.cn.body in unescape(page.text)
        assert all(f"<strong>{one.label.replace('_', ' ')}</strong>" in page.text for one in conflict.answers)
    assert not any(name in page.text for name in ANNOTATORS)
    assert "no-store" in page.headers["cache-control"]


def test_a_case_leads_to_its_row_where_more_of_it_waits(site: Site) -> None:
    rows = waiting_by_row(site)
    for pairs in rows.values():
        page = site.browser("judy").get(f"/adjudicate/{pairs[0]}").text
        link = f'href="/adjudicate/row?pair={pairs[0]}" data-key="r">all {len(pairs)} of this row'
        assert (link in page) == (len(pairs) > 1)


def test_a_decision_leaves_the_rest_of_the_row(site: Site) -> None:
    browser = site.browser("judy")
    _, pairs = next(iter(waiting_by_row(site).items()))
    fields = forms(browser.get(f"/adjudicate/row?pair={pairs[0]}"))[pairs[0]]
    reply = browser.post("/adjudicate/row", data={**fields, "outcome": "appropriate", "note": "so"})
    assert (reply.status_code, reply.headers["location"]) == (303, f"/adjudicate/row?pair={pairs[0]}")
    assert standing(site.study)[pairs[0]] == ("person", 2)
    page = browser.get(reply.headers["location"])
    assert list(forms(page)) == sorted(pairs[1:])
    assert f"Undo pair {pairs[0]}: appropriate" in page.text


def test_a_row_without_anything_left_leads_on_to_the_next_one(site: Site) -> None:
    browser = site.browser("judy")
    rows = waiting_by_row(site)
    _, pairs = next(iter(rows.items()))
    for pair in pairs:
        decide(site, pair)
    page = browser.get(f"/adjudicate/row?pair={pairs[0]}")
    assert "Nothing of this row is waiting for you" in page.text
    reply = browser.get(f"/adjudicate/row?after={pairs[0]}")
    assert reply.status_code == 303
    (other,) = re.findall(r"^/adjudicate/row\?pair=(\d+)$", reply.headers["location"])
    assert int(other) not in pairs
    for pair in {one for row in rows.values() for one in row} - set(pairs):
        decide(site, pair)
    assert browser.get("/adjudicate/row").headers["location"] == "/adjudicate"


def test_a_decision_that_was_overtaken_is_not_kept_and_nothing_typed_is_lost(site: Site) -> None:
    browser = site.browser("judy")
    _, pairs = next(iter(waiting_by_row(site).items()))
    fields = forms(browser.get(f"/adjudicate/row?pair={pairs[0]}"))[pairs[0]]
    before = dump(site.study)
    overtaken = {**fields, "seen_answer_id": str(int(fields["seen_answer_id"]) + 1), "outcome": "appropriate"}
    reply = browser.post("/adjudicate/row", data={**overtaken, "note": "typed before"})
    assert reply.status_code == 409
    assert "typed before</textarea>" in reply.text
    assert dump(site.study) == before


def test_a_hidden_text_is_hidden_until_it_is_asked_for(site: Site) -> None:
    judy = site.visitor("judy").id
    site.study.access.set_blurred(judy, True)
    browser = site.browser("judy")
    _, pairs = next(iter(waiting_by_row(site).items()))
    hidden = browser.get(f"/adjudicate/row?pair={pairs[0]}")
    assert 'class="words veiled" aria-hidden="true"' in hidden.text
    reply = browser.post("/adjudicate/row", data={**forms(hidden)[pairs[0]], "outcome": "appropriate"})
    assert "veiled" not in reply.text
    assert pairs[0] in site.study.grid().waiting_pairs()
    assert "veiled" not in browser.get(f"/adjudicate/row?pair={pairs[0]}&shown=yes").text


def test_no_more_of_a_row_is_shown_than_may_be_read(serve: Callable[..., Site]) -> None:
    site = serve("labelled", Annotate(daily_limit=2))
    rows = waiting_by_row(site)
    _, pairs = next(iter(rows.items()))
    browser = site.browser("judy")
    decide(site, next(iter(pairs)))
    page = browser.get(f"/adjudicate/row?pair={pairs[0]}")
    assert len(forms(page)) == min(1, len(pairs) - 1)
    decide(site, pairs[1])
    page = browser.get(f"/adjudicate/row?pair={pairs[0]}")
    assert not forms(page)
    assert "You have reached the limit" in page.text


def test_a_long_row_is_shown_in_parts(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adjudication_queue, "MOST_OF_ROW", 2)
    _, pairs = next(iter(waiting_by_row(site).items()))
    queue, judy = AdjudicationQueue(site.study.grid()), site.visitor("judy").id
    parts = [[case.cell_id for case in queue.row_cases(judy, pair)] for pair in sorted(pairs)]
    assert parts == [sorted(pairs)[at - at % 2 :][:2] for at in range(len(pairs))]
    assert queue.n_in_row(judy, pairs[0]) == len(pairs)


def test_a_queue_holds_in_a_row_too(site: Site) -> None:
    queue, judy = AdjudicationQueue(site.study.grid()), site.visitor("judy").id
    grid = site.study.grid()
    unsure = {
        pair for pair in grid.waiting_pairs() if "not_sure" in {one.label for one in grid.desk.conflict(pair).answers}
    }
    for pairs in waiting_by_row(site).values():
        shown = {case.cell_id for case in queue.row_cases(judy, pairs[0], CaseQueue.UNSURE)}
        assert shown == unsure & set(pairs)


def test_a_row_is_for_adjudicators_and_of_pairs_that_there_are(site: Site) -> None:
    assert site.browser("ana").get("/adjudicate/row?pair=1").status_code == 403
    assert site.browser("judy").get("/adjudicate/row?pair=999").status_code == 404
    assert site.browser("judy").get("/adjudicate/row?pair=x").status_code == 422
