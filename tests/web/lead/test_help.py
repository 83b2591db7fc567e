"""The documentation inside the lead's frame, and terms that are explained where they stand."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient

from fcpair.web.pages.documentation import ABOUT, HELP, all_names, glossary, help_address, read_help
from web.conftest import Serve, Site, page_of


@pytest.fixture
def site(serve: Serve) -> Site:
    return serve("checked")


def test_every_page_of_the_help_leads_to_pages_and_places_that_are_there_and_loads_nothing() -> None:
    pages = {name: read_help(name) for name in all_names()}
    assert len(pages) > 50
    for name, page in pages.items():
        assert page.title != name, name
        assert not re.search(r"<(img|script|iframe)|\{\w+\}`|```\{|<!--", page.body), name
        for address in re.findall(r'<a href="([^"]*)"', page.body):
            if address.startswith(HELP):
                assert address.removeprefix(f"{HELP}/").partition("#")[0] in pages, (name, address)
            else:
                assert address.startswith(("#", "https://", "http://", "mailto:")), (name, address)


def test_the_help_about_each_page_is_there(site: Site, lea: TestClient) -> None:
    for path in ABOUT:
        name, _, anchor = help_address(path).removeprefix(f"{HELP}/").partition("#")
        assert not anchor or f'id="{anchor}"' in read_help(name).body, path
    assert help_address("/lead/people/overlap") != help_address("/lead/people")
    assert help_address("/lead/of-later") == help_address("/lead")
    assert f'href="{help_address("/lead/people")}"' in page_of(lea, "/lead/people")


def test_a_page_of_the_help_is_shown_in_the_frame_and_another_is_not_found(site: Site, lea: TestClient) -> None:
    html = page_of(lea, f"{HELP}/howto/lead")
    assert re.search(r"<h1>(<span[^>]*>)?Leading a study in the browser(</span>)?</h1>", html)
    assert 'class="side"' in html
    assert f'href="{HELP}/howto/annotators"' in html
    assert f'href="{HELP}/howto/lead"' in page_of(lea, HELP)
    for name in ("howto/none", "../setup", "howto/../../setup.cfg", "conf"):
        assert lea.get(f"{HELP}/{name}").status_code == 404


def test_those_who_answer_have_no_page_of_the_help(site: Site) -> None:
    assert site.browser("ana").get(HELP).status_code in (303, 403)


def test_terms_are_explained_by_the_sentences_of_the_glossary(site: Site, lea: TestClient) -> None:
    assert "two labels or more" in glossary()["Diamond"]
    html = page_of(lea, "/lead")
    for tier in ("Diamond", "Gold", "Silver", "Bronze"):
        assert re.search(rf'popovertarget="term-{tier.lower()}".*?id="term-{tier.lower()}".*?popover', html, re.DOTALL)
        assert glossary()[tier] in html
    assert len(re.findall(r'id="([^"]+)"', html)) == len(set(re.findall(r'id="([^"]+)"', html)))
