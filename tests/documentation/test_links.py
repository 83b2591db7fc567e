"""Every relative link in the Markdown of this repository leads to a file, and to a heading where it names one."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fcpair.cli import COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "benchmarks/**/*.md")
    for page in ROOT.glob(pattern)
    if page.parent not in (ROOT / "docs" / "project", ROOT / "docs" / "reference" / "commands")
)
CODE = re.compile(r"^(`{3,}|~~~).*?^\1`*$|^    .*?$|`[^`]*`", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^(`{3,}|~~~).*?^\1`*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(<?([^()\s>]+)>?\)|^\[[^\]]+\]:\s+(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
LABEL = re.compile(r"^\(([\w-]+)\)=$", re.MULTILINE)
MADE = {
    *(ROOT / "docs" / "reference" / "commands" / f"{name}.md" for name in ("index", *COMMANDS)),
    ROOT / "docs" / "project" / "index.md",
}
"""Pages of the site that are made when it is built, to which others lead."""


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def links(page: Path) -> Iterator[str]:
    """The relative links of a page."""
    for found in LINK.finditer(CODE.sub("", page.read_text("utf-8"))):
        target = found[1] or found[2]
        if not re.match(r"[a-z]+:", target):
            yield target


@functools.cache
def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub and MyST make them, and its labels."""
    text = FENCED.sub("", page.read_text("utf-8"))
    slugs: set[str] = set()
    for heading in HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = unique = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        n = 0
        while unique in slugs:
            n += 1
            unique = f"{slug}-{n}"
        slugs.add(unique)
    return slugs | set(LABEL.findall(text))


def is_dead(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if target in MADE:
        return False
    return not target.exists() or bool(anchor and target.suffix == ".md" and anchor not in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_link_is_dead(page: Path) -> None:
    assert [link for link in links(page) if is_dead(page, link)] == []


def test_links_are_found() -> None:
    assert sum(1 for page in PAGES for _ in links(page)) > 200
