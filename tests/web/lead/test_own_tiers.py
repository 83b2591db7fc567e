"""A study's own tiers on the lead's pages: shown beside the four, searched, downloaded, evaluated on."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

import pytest

from fcpair.params import Partition
from web.conftest import Site, csrf_of

Serve = Callable[..., Site]
TIERS = {"strict": {"labels": 2, "agreement": "unanimous", "within": "gold"}, "draft": {"verdict": "none"}}


@pytest.fixture
def site(serve: Serve) -> Site:
    """A site of the small study, checked, with tiers of its own."""
    site = serve("checked")
    site.study.grid().save.partition(Partition(own_tiers=TIERS))
    return site


@pytest.mark.parametrize("path", ["panel/tiers", "conflicts/diamond", "downloads", "evaluation"])
def test_pages_list_them(site: Site, path: str) -> None:
    html = site.browser("lea").get(f"/lead/{path}").text.lower()
    assert "strict" in html
    assert "draft" in html


def test_a_pair_says_by_which_rule_it_is_in_them(site: Site) -> None:
    grid = site.study.grid()
    pair = int(grid.tier("strict")["pair"].iloc[0])
    html = unescape(site.browser("lea").get(f"/lead/pair/{pair}").text)
    assert '<span class="tier own">Strict</span>' in html
    assert "2 labels or more, all equal to the final one; valid; within gold" in html


def test_pairs_are_searched_by_them(site: Site) -> None:
    found = site.browser("lea").get("/lead/grid", params={"tier": "strict"}).text
    assert '<option value="strict" selected' in found
    n = len(site.study.grid().tier("strict"))
    assert found.count("/lead/pair/") >= n > 0


def test_they_are_downloaded_and_no_other_name_is_taken(site: Site) -> None:
    browser = site.browser("lea")
    data = {"csrf": csrf_of(browser), "tier": "draft"}
    answer = browser.post("/lead/download/partition", data=data)
    assert answer.status_code == 200
    assert len(answer.text.splitlines()) == 1 + len(site.study.grid().tier("draft"))
    for name in ("drafts", "../draft"):
        assert browser.post("/lead/download/partition", data={**data, "tier": name}).status_code == 422


def test_another_rule_of_diamond_keeps_them(site: Site) -> None:
    browser = site.browser("lea")
    page = browser.get("/lead/conflicts/diamond").text
    seen = page.split('name="seen" value="')[1].split('"')[0]
    browser.post("/lead/conflicts/diamond", data={"csrf": csrf_of(browser), "diamond": "majority", "seen": seen})
    assert site.study.grid().effective_options(Partition) == Partition("majority", own_tiers=TIERS)
