"""Writing TOML: sections of plain values, as `tomllib` reads them back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

LINE_WIDTH = 120  # characters, beyond which a list is written with one value a line
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def format_section(heading: str, values: Mapping[str, Any]) -> str:
    """A section under its heading, each value in a line of its own; what is None is left out."""
    lines = (f"{_format_key(name)} = {_format_multiline(value)}" for name, value in values.items() if value is not None)
    return "\n".join([heading, *lines, ""])


def _format_multiline(value: Any) -> str:
    """A value of a section; a text of several lines in as many."""
    if not isinstance(value, str) or "\n" not in value:
        return _format_value(value)
    return '"""\n' + "\n".join(_quote_text(line)[1:-1] for line in value.split("\n")) + '"""'


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
    return _format_list(value)


def _format_list(values: Iterable[Any]) -> str:
    items = [_format_value(one) for one in values]
    line = f"[{', '.join(items)}]"
    return line if len(line) <= LINE_WIDTH else "".join(["[\n", *(f"    {one},\n" for one in items), "]"])


def _quote_text(text: str) -> str:
    """A text in quotation marks, with escapes where TOML wants them."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
