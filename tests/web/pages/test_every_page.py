"""Every page of every example study, as each role comes upon it: none of them fails."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from html import unescape
from http import HTTPStatus
from pathlib import Path

import pytest
from conftest import one_short
from fastapi.testclient import TestClient

from fcpair.params import Annotate
from fcpair.study import Study
from web.conftest import EVERYBODY, Site

EXAMPLES = ("survey", "recipe", "ask", "curate", "localise", "printers", "write", "writing")
BEGIN = ("/", "/lead", "/adjudicate", "/annotate", "/guidelines", "/settings", "/thanks", "/welcome")
LINK = re.compile(r'(?:href|src|srcset|hx-get)="(/[^"#]*)')
MOST_PAGES = 400

pytestmark = pytest.mark.slow


def pages(browser: TestClient) -> Iterator[tuple[str, int]]:
    """Whatever links lead to from where people begin, each with its status; of a list in parts its first page."""
    waiting, seen = [*BEGIN], set[str]()
    while waiting and len(seen) < MOST_PAGES:
        address = waiting.pop(0)
        if address in seen or "after=" in address or "before=" in address:
            continue
        seen.add(address)
        answer = browser.get(address)
        yield address, answer.status_code
        if answer.headers.get("content-type", "").startswith("text/html"):
            waiting += [link for link in map(unescape, LINK.findall(answer.text)) if not link.startswith("/static")]


@pytest.mark.parametrize("example", one_short(*EXAMPLES))
def test_no_page_fails(walked: Callable[[str], Path], tmp_path: Path, example: str) -> None:
    site = Site(Study(shutil.copy(walked(example), tmp_path / "study.db")), Annotate())
    n_opened = 0
    for name in EVERYBODY:
        for address, status in pages(site.browser(name)):
            assert status < HTTPStatus.INTERNAL_SERVER_ERROR, (name, address)
            too_early = status == HTTPStatus.CONFLICT  # said on a page of its own
            assert status < HTTPStatus.BAD_REQUEST or too_early or address in BEGIN, (name, address)
            n_opened += status == 200
    site.close()
    assert n_opened > 20
