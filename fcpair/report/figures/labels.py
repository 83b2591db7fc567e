"""Words on figures: names that can be drawn, and texts in lines."""

from __future__ import annotations

import re

_PARTS = re.compile(r"[^ ,:;(/_-]*(?: +|[,:;(/_-]+ *|$)")


_JOINERS = "\u200c\u200d\u200e\u200f"  # which Persian and other scripts are spelt with


def make_printable(name: str) -> str:
    """The name with a sign in place of everything that cannot be printed, such as a line feed."""
    return "".join(sign if sign.isprintable() or sign in _JOINERS else "\ufffd" for sign in name)


def wrap_text(text: str, signs: int) -> list[str]:
    """The text in lines of at most `signs` signs, broken behind spaces and the punctuation of names where it can."""
    lines = [""]
    for part in _PARTS.findall(text):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > signs:
            lines.append("")
        while len(lines[-1]) + len(part.rstrip()) > signs:
            lines[-1], part = part[:signs], part[signs:]  # noqa: PLW2901
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines if line.strip()] or [""]
