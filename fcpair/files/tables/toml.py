"""Writing TOML: sections of plain values, as `tomllib` reads them back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

LINE = 120  # characters, beyond which a list is written with one value a line
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def section(heading: str, values: Mapping[str, Any]) -> str:
    """A section under its heading, each value in a line of its own; what is None is left out."""
    lines = (f"{_key(name)} = {_written(value)}" for name, value in values.items() if value is not None)
    return "\n".join([heading, *lines, ""])


def _written(value: Any) -> str:
    """A value of a section; a text of several lines in as many."""
    if not isinstance(value, str) or "\n" not in value:
        return _value(value)
    return '"""\n' + "\n".join(_text(line)[1:-1] for line in value.split("\n")) + '"""'


def _key(name: object) -> str:
    return str(name) if _BARE.fullmatch(str(name)) else _text(str(name))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(name)} = {_value(one)}' for name, one in value.items() if one is not None)} }}"
    if isinstance(value, str | Path):
        return _text(str(value))
    return _list(value)


def _list(values: Iterable[Any]) -> str:
    written = [_value(one) for one in values]
    line = f"[{', '.join(written)}]"
    return line if len(line) <= LINE else "".join(["[\n", *(f"    {one},\n" for one in written), "]"])


def _text(said: str) -> str:
    """A text in quotation marks, with escapes where TOML wants them."""
    return json.dumps(said, ensure_ascii=False).replace("\x7f", "\\u007f")
