"""The lead's page of agreement, and two people side by side."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from itertools import permutations

import pytest

from fcpair.web.lead import panels
from web.conftest import Site

Serve = Callable[..., Site]


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", html)).split())


def test_two_people_are_side_by_side_with_their_confusions(serve: Serve) -> None:
    html = serve("labelled").browser("lea").get("/lead/people/beside?person=ana&other=cleo").text
    said = text_of(html)
    assert "Shared pairs 8 ana labelled 14, cleo 14" in said
    assert "Alike 62.5 %" in said
    assert "Cohen's kappa 0.250" in said
    assert "ana: not appropriate 2 0 1 3" in said
    assert "ana: appropriate 2 0 3 5" in said


def test_each_number_leads_to_exactly_its_pairs(serve: Serve) -> None:
    browser = serve("labelled").browser("lea")
    html = browser.get("/lead/people/beside?person=cleo&other=ana").text
    links = re.findall(r'<a href="(/lead/grid[^"]+)"[^>]*>(\d+)</a>', html)
    assert [n for _, n in links] == ["2", "2", "1", "3"]
    for address, n in links:
        found = browser.get(unescape(address)).text
        assert len(re.findall(r'<a href="/lead/pair/\d+">', found)) == int(n)


def test_two_who_share_no_pair_are_told_why(serve: Serve) -> None:
    html = serve("labelled").browser("lea").get("/lead/people/beside?person=ana&other=judy").text
    assert "undefined: there is no pair that both have labelled" in text_of(html)
    assert "<th" not in html


@pytest.mark.parametrize(("query", "status"), [("person=ana&other=ana", 422), ("person=ana&other=zoe", 404), ("", 422)])
def test_nobody_and_the_same_person_are_refused(serve: Serve, query: str, status: int) -> None:
    assert serve("labelled").browser("lea").get(f"/lead/people/beside?{query}").status_code == status


def test_only_leads_look_at_others(serve: Serve) -> None:
    site = serve("labelled")
    for name in ("ana", "judy"):
        assert site.browser(name).get("/lead/people/beside?person=ana&other=cleo").status_code == 403


def test_figures_over_all_pairs_come_first_and_the_map_leads_to_two_people(serve: Serve) -> None:
    html = serve("labelled").browser("lea").get("/lead/agreement").text
    titles = re.findall(r'<h2 id="[\w-]+">([^<]+)</h2>', html)
    assert titles[:-1] == [
        "Over all pairs",
        "Every two people",
        "Where people disagree most",
        "Two people side by side",
    ]
    assert html.index("Krippendorff") < html.index('class="heat"')
    cells = re.findall(r'href="/lead/people/beside\?person=(\w+)&amp;other=(\w+)" aria-label', html)
    assert sorted(cells) == [*permutations(("ana", "ben", "cleo"), 2)]


def test_of_many_people_only_those_who_agree_least_and_most_are_shown(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panels, "MOST_IN_MAP", 2)
    monkeypatch.setattr(panels, "EXTREMES", 1)
    html = serve("labelled").browser("lea").get("/lead/panel/every_two").text
    assert 'class="heat"' not in html
    said = text_of(html)
    assert "The lowest kappa" in said
    assert re.findall(r"beside\?person=(\w+)&amp;other=(\w+)", html) == [("ana", "cleo"), ("ana", "ben")]


def test_disputed_texts_lead_to_their_pairs(serve: Serve) -> None:
    site = serve("labelled")
    html = site.browser("lea").get("/lead/panel/disputed").text
    labels = site.study.grid().labels().groupby("pair")["label"].nunique()
    disputed = labels.index[labels > 1].tolist()
    links = [int(number) for number in re.findall(r'href="/lead/pair/(\d+)"', html)]
    assert sorted(links) == sorted([*disputed, *disputed])  # once at its row, once at its column


def test_agreement_by_metadata_is_chosen_on_the_page(serve: Serve) -> None:
    site = serve("labelled")
    with site.study._store.write() as tx:
        tx.exec_driver_sql("UPDATE text SET meta = json_object('topic', CASE WHEN id % 2 THEN 'odd' ELSE 'even' END)")
    browser = site.browser("lea")
    assert '<option value="row topic">' in browser.get("/lead/agreement").text
    html = browser.get("/lead/agreement?by=row+topic").text
    assert re.findall(r'<tr><th scope="row">(odd|even)</th>', html) == ["even", "odd"]
    assert "fcpair agreement --blocks row --metadata topic" in html
    assert browser.get("/lead/agreement?by=row+mood").status_code == 422


def test_people_have_their_agreement_with_the_others(serve: Serve) -> None:
    html = serve("labelled").browser("lea").get("/lead/people").text
    panel = html[html.index('id="with_others"') :]
    said = text_of(panel[: panel.index("</table>")])
    # With each of the two others ana shares 8 pairs: all alike with ben, 5 with cleo; (1 * 8 + 0.25 * 8) / 16.
    assert "ana 2 16 81.2 % 0.625 (n 16) cleo (0.250, n 8)" in said
    assert 'action="/lead/people/beside"' in html
