"""The lead's page of agreement, and two people side by side."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from fcpair.web.lead import panels
from web.conftest import LookAt, Serve, page_of, words_of

BESIDE = "/lead/people/beside"


def test_two_people_are_side_by_side_and_each_number_leads_to_its_pairs(look_at: LookAt) -> None:
    browser = look_at("labelled").browser("lea")
    words = words_of(page_of(browser, f"{BESIDE}?person=ana&other=cleo"))
    assert "Shared pairs 8 ana labelled 14, cleo 14" in words
    assert "Alike 62.5 %" in words
    assert "Cohen's kappa 0.250" in words
    assert "ana: not appropriate 2 0 1 3" in words
    assert "ana: appropriate 2 0 3 5" in words
    html = page_of(browser, f"{BESIDE}?person=cleo&other=ana")
    links = re.findall(r'<a href="(/lead/grid[^"]+)"[^>]*>(\d+)</a>', html)
    assert [n for _, n in links] == ["2", "2", "1", "3"]
    for address, n in links:
        pairs = re.findall(r'<a href="/lead/pair/\d+\?[^"]*from=search">', page_of(browser, address))
        assert len(pairs) == int(n)


def test_two_who_share_no_pair_are_told_why_and_nobody_is_refused(look_at: LookAt) -> None:
    browser = look_at("labelled").browser("lea")
    html = page_of(browser, f"{BESIDE}?person=ana&other=judy")
    assert "undefined: there is no pair that both have labelled" in words_of(html)
    assert "<th" not in html
    for query, status in {"person=ana&other=ana": 422, "person=ana&other=zoe": 404, "": 422}.items():
        assert browser.get(f"{BESIDE}?{query}").status_code == status


def test_figures_over_all_pairs_come_first_and_the_map_leads_to_two_people(look_at: LookAt) -> None:
    page = page_of(look_at("labelled").browser("lea"), "/lead/agreement")
    html = page[page.index("<main") :]
    titles = re.findall(r'<h2 id="[\w-]+">([^<]+)</h2>', html)
    panels_of_page = ["Over all pairs", "Every two people", "What each person answered", "Where people disagree most"]
    assert titles[:-1] == [*panels_of_page, "Two people side by side"]
    assert html.index("Krippendorff") < html.index('class="heat"')
    cells = re.findall(r'href="/lead/people/beside\?person=(\w+)&other=(\w+)" aria-label', html)
    assert sorted(cells) == [*permutations(("ana", "ben", "cleo"), 2)]


def test_of_many_people_only_those_who_agree_least_and_most_are_shown(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panels, "MOST_IN_MAP", 2)
    monkeypatch.setattr(panels, "EXTREMES", 1)
    html = page_of(serve("labelled").browser("lea"), "/lead/panel/every_two")
    assert 'class="heat"' not in html
    assert "The lowest kappa" in words_of(html)
    assert re.findall(r"beside\?person=(\w+)&other=(\w+)", html) == [("ana", "cleo"), ("ana", "ben")]


def test_disputed_texts_lead_to_their_pairs(look_at: LookAt) -> None:
    site = look_at("labelled")
    html = page_of(site.browser("lea"), "/lead/panel/disputed")
    labels = site.study.grid().labels().groupby("pair")["label"].nunique()
    disputed = labels.index[labels > 1].tolist()
    links = [int(number) for number in re.findall(r'href="/lead/pair/(\d+)"', html)]
    assert sorted(links) == sorted([*disputed, *disputed])  # once at its row, once at its column


def test_agreement_by_metadata_is_chosen_on_the_page(serve: Serve) -> None:
    site = serve("labelled")
    with site.study._store.write() as tx:
        tx.exec_driver_sql("UPDATE text SET meta = json_object('topic', CASE WHEN id % 2 THEN 'odd' ELSE 'even' END)")
    browser = site.browser("lea")
    assert '<option value="row topic">' in page_of(browser, "/lead/agreement")
    html = page_of(browser, "/lead/agreement?by=row+topic")
    assert re.findall(r'<tr><th scope="row">(odd|even)</th>', html) == ["even", "odd"]
    assert "fcpair agreement --blocks row --metadata topic" in html
    assert browser.get("/lead/agreement?by=row+mood").status_code == 422


def test_people_have_their_agreement_with_the_others(look_at: LookAt) -> None:
    html = page_of(look_at("labelled").browser("lea"), "/lead/people?view=with_others")
    panel = html[html.index('id="with_others"') :]
    # With each of the two others ana shares 8 pairs: all alike with ben, 5 with cleo; (1 * 8 + 0.25 * 8) / 16.
    assert "ana 2 16 81.2 % 0.625 (n 16) cleo (0.250, n 8)" in words_of(panel[: panel.index("</table>")])
    assert 'action="/lead/people/beside"' in html
