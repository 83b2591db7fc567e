"""Writing TOML: sections of plain values, as `tomllib` reads them back.

A printed recipe looks like one that is written by hand: short lists and tables in one line, at their place. tomli_w 1.2
gives each item of a list a line, moves tables behind all other values, and drops carriage returns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LINE_WIDTH = 120  # characters, beyond which a list is written with one value a line
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def format_section(heading: str, values: Mapping[str, Any]) -> str:
    """A section under its heading, each value in a line of its own; what is None is left out."""
    lines = []
    for name, value in values.items():
        if isinstance(value, str) and "\n" in value:  # in as many lines
            text = '"""\n' + "\n".join(_quote_text(line)[1:-1] for line in value.split("\n")) + '"""'
            lines.append(f"{_format_key(name)} = {text}")
        elif value is not None:
            lines.append(f"{_format_key(name)} = {_format_value(value)}")
    return "\n".join([heading, *lines, ""])


def _format_key(name: object) -> str:
    return str(name) if _BARE.fullmatch(str(name)) else _quote_text(str(name))


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = (f"{_format_key(name)} = {_format_value(one)}" for name, one in value.items() if one is not None)
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, str | Path):
        return _quote_text(str(value))
    items = [_format_value(one) for one in value]
    line = f"[{', '.join(items)}]"
    return line if len(line) <= LINE_WIDTH else "".join(["[\n", *(f"    {item},\n" for item in items), "]"])


def _quote_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
