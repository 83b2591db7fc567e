"""The built site: it loads nothing from elsewhere, and has what is made of the code."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import get_type_hints

import pytest

from fcpair.cli import COMMANDS
from fcpair.grid import Grid
from fcpair.plans import RoundPlan
from fcpair.study import Study

ROOT = Path(__file__).parents[2]
LOADS = {"script": "src", "img": "src", "source": "src", "iframe": "src", "video": "src", "audio": "src"}
LOADING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
IN_STYLE = re.compile(r"url\(\s*[\"']?((?:https?:)?//[^\"')]+)|@import\s+[\"']((?:https?:)?//[^\"']+)")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]  # one build for all


@pytest.fixture(scope="module")
def site() -> Path:
    """The site as `make docs` builds it; what that has built is not built again."""
    options = ["-W", "--keep-going", "-n", "-q", "-d", "build/doctrees"]
    build = [sys.executable, "-m", "sphinx", *options, "docs", "build/site"]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ROOT / "build" / "site"


class Loaded(HTMLParser):
    """Addresses that a page loads when it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in LOADS:
            self.addresses.append(values.get(LOADS[tag], ""))
        if tag == "link" and LOADING_LINKS & set(values.get("rel", "").split()):
            self.addresses.append(values.get("href", ""))


def is_elsewhere(address: str) -> bool:
    return address.startswith(("http:", "https:", "//"))


@pytest.mark.long
def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    elsewhere = {}
    for page in site.rglob("*.html"):
        parser = Loaded()
        parser.feed(page.read_text("utf-8"))
        assert parser.addresses
        if addresses := [address for address in parser.addresses if is_elsewhere(address)]:
            elsewhere[page.name] = addresses
    assert elsewhere == {}


def test_styles_load_nothing_from_elsewhere(site: Path) -> None:
    styles = list(site.rglob("*.css"))
    assert styles
    assert [found[0] for style in styles for found in IN_STYLE.findall(style.read_text("utf-8"))] == []


def test_what_is_made_of_the_code_is_whole(site: Path) -> None:
    assert [name for name in COMMANDS if not (site / f"reference/commands/{name}.html").is_file()] == []
    for kind, name in ((Study, "fcpair.Study"), (Grid, "fcpair.grid.Grid")):
        page = (site / f"reference/python/{kind.__name__.lower()}.html").read_text("utf-8")
        methods = [method for method in vars(kind) if not method.startswith("_")]
        assert len(methods) > 20
        assert [method for method in methods if f'id="{name}.{method}"' not in page] == []
    page = (site / "reference/recipe.html").read_text("utf-8")
    keys = [key for key in get_type_hints(RoundPlan) if key != "stage"]
    assert [key for key in keys if f'<span class="pre">{key}</span>' not in page] == []
    page = (site / "reference/python/grid.html").read_text("utf-8")
    assert 'href="https://pandas.pydata.org/docs/reference/api/pandas.DataFrame.html#pandas.DataFrame"' in page
    assert 'href="https://docs.python.org/3/library/pathlib.html#pathlib.Path"' in page
