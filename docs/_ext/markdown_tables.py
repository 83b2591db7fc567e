"""Markdown that the other modules make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

CODE = re.compile(r"(`[^`]*`)")
SIGNS = re.compile(r"([*_<>\[\]$|\\{}])")


def escape(text: str) -> str:
    """A text as Markdown that shows it as it is; what is in backticks stays code."""
    return "".join(part if at % 2 else SIGNS.sub(r"\\\1", part) for at, part in enumerate(CODE.split(text)))


def cell(text: str) -> str:
    """A text as a cell of a table."""
    parts = CODE.split(" ".join(text.split()))
    return "".join(part.replace("|", r"\|") if at % 2 else escape(part) for at, part in enumerate(parts))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of rows whose cells are Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines) + "\n"


def write_if_new(page: Path, text: str) -> None:
    """Write a page, unless it says that already: what is not touched is not built again."""
    if not page.is_file() or page.read_text("utf-8") != text:
        page.write_text(text, "utf-8")
