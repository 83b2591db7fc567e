"""Templates in files: our own, TOML or a table, and the releases of BBQ and KoBBQ.

A text names a slot in braces, `{A}`, or one of its forms, `{A.plural}`. The group of an option is that of its slots. In
a table each slot has a column of its name, with `A.group` and a column for each form beside it, and what is a list is
parted by `|`. What people or models write is a row of such a table, with each column on a line of its own: `A.group:
night owls`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np
import pandas as pd

from fcpair.bias.items.expand import expand, first_versions, n_items
from fcpair.bias.items.template import TEXTS, Blank, Option, Template, Text, faults
from fcpair.bias.items.template_texts import as_text
from fcpair.errors import Finding, InputError, nearest, reading, reject
from fcpair.files.surveys.bbq_templates import read_bbq_templates
from fcpair.files.surveys.kobbq import read_kobbq
from fcpair.files.tables.tabular import LINE, check_file, placed, read_table
from fcpair.stages.corpus.text_identity import fold

_OPTIONS = ("culprit", "other")
_REQUIRED = ("id", "category", *TEXTS, *_OPTIONS, "unknown", "stereotyped", "slots")
_KEYS = (*_REQUIRED, "author", "statement", "swap")
_LISTS = ("unknown", "stereotyped", "swap")
_IN_SLOT = ("fillers", "group", "forms")
_HEADER = "[[template]]"
_COLUMN = re.compile(r"\s*(\w[\w.-]*)\s*:\s*(.*)")  # of a template that was written: `A.group: night owls`
OWN = "fcpair"
AS_WRITTEN, SWAPPED = "a", "b"


def read_templates(path: Path, reader: str) -> tuple[list[Template], list[str]]:
    """Read templates with one of READERS; returns them, and remarks about what was not taken as it stands.

    Raises:
        InputError: what the file, or a template in it, lacks, with line numbers.
    """
    return READERS[reader](path)


def templates_table(path: Path) -> pd.DataFrame:
    """Templates of our own as a table, the first version of each: `template` (as reviewers read it), `id`, `category`,
    `author` and `line`.
    """
    templates, _ = read_templates(path, OWN)
    rows = [(as_text(one), one.id, one.category, one.author, one.line) for one in first_versions(templates)]
    return placed(pd.DataFrame(rows, columns=["template", "id", "category", "author", LINE]), str(path))


def items_table(path: Path, seed: int) -> pd.DataFrame:
    """The items of templates of our own as a table of strings with the columns of `items.expand`, and `line`.

    Raises:
        InputError: what `read_templates` raises, and options that coincide.
    """
    templates, _ = read_templates(path, OWN)
    made = expand(templates, str(path), seed)
    reject(path, list(made.findings))
    lines = np.repeat([one.line for one in templates], [n_items(one) for one in templates])
    return placed(made.frame.astype(str).assign(**{LINE: lines}), str(path))


Tables = list[tuple[dict[str, Any], int]]
"""The tables of a file, each as TOML has one, and its line."""


def _read_own(path: Path) -> tuple[list[Template], list[str]]:
    return _checked(_from_table(path) if path.suffix != ".toml" else _from_toml(path), str(path)), []


def _checked(tables: Tables, place: str) -> list[Template]:
    """The templates that tables say; raises InputError with all that is wrong, by their lines."""
    templates: list[Template] = []
    findings: list[Finding] = []
    for table, line in tables:
        wrong = list(_misshapen(table))
        made = [] if wrong else list(_templates(table, line))
        wrong += [why for one in made for why in faults(one)]
        findings += [Finding(place, line, why) for why in dict.fromkeys(wrong)]
        templates += made
    findings += _twice(place, templates)
    reject(place, findings)
    return templates


def written_templates(texts: pd.DataFrame, place: str) -> pd.DataFrame:
    """Templates that were written, as a table that `read_templates` reads: a row for each.

    A line of a text is a column of the table and what stands there, parted by a colon; a line without a column goes on
    with the one before.

    Args:
        texts: `text`, `cell` (a number, which findings name), and columns of a template's keys, which are taken where
            the text does not say otherwise.
        place: what findings call the texts.

    Raises:
        InputError: all that is wrong with the templates, as `read_templates` has it.
    """
    rows = [_row_of(one) for one in texts.to_dict("records")]
    tables = [(_as_toml(row), int(cell)) for row, cell in zip(rows, texts["cell"], strict=True)]
    _checked([({key: value for key, value in table.items() if value}, cell) for table, cell in tables], place)
    known = [*(key for key in _KEYS if key != "slots"), *(key for row in rows for key in row)]
    return pd.DataFrame([{key: row.get(key, "") for key in known} for row in rows])


def _row_of(written: Mapping[Hashable, Any]) -> dict[str, str]:
    """What a text says by columns of a table, on top of what is known of it."""
    row = {key: str(written[key]) for key in _KEYS if written.get(key)}
    column = ""
    for line in str(written["text"]).splitlines():
        if line.lstrip().startswith("```"):
            continue
        if found := _COLUMN.fullmatch(line):
            folded = fold(found[1])
            column = folded if folded in _KEYS else found[1]
            row[column] = found[2].strip()
        elif column and line.strip():
            row[column] = f"{row[column]} {line.strip()}".strip()
    return row


def _from_toml(path: Path) -> Tables:
    check_file(path)
    with reading(path, expected="TOML"):
        text = path.read_text("utf-8")
        tables = tomllib.loads(text).get("template", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{path}: no templates; expected tables that begin with {_HEADER}")
    lines = [at for at, line in enumerate(text.splitlines(), 1) if line.split("#")[0].strip() == _HEADER]
    return list(zip(tables, lines if len(lines) == len(tables) else [1] * len(tables), strict=True))


def _from_table(path: Path) -> Tables:
    frame = read_table(path, [name for name in _REQUIRED if name != "slots"], verbatim=True)
    if frame.empty:
        raise InputError(f"{path}: no templates; expected a row for each")
    rows: list[dict[str, str]] = frame.to_dict("records")  # type: ignore[assignment]
    return [(_as_toml(row), int(row[LINE])) for row in rows]


def _as_toml(row: Mapping[str, str]) -> dict[str, Any]:
    """A row as the table that TOML has; what is empty is not there, but for texts that must not be."""
    table: dict[str, Any] = {"slots": {}}
    for column, cell in row.items():
        slot, _, what = column.partition(".")
        if column in _KEYS:
            if cell or column in _REQUIRED:
                table[column] = _listed(cell) if column in _LISTS else cell
        elif column != LINE and cell:
            own = table["slots"].setdefault(slot, {})
            if what in ("", "group"):
                own |= {"fillers": _listed(cell)} if not what else {"group": cell}
            else:
                own.setdefault("forms", {})[what] = _listed(cell)
    return table


def _listed(cell: str) -> list[str]:
    return [one.strip() for one in cell.split("|")] if cell.strip() else []


READERS: dict[str, Callable[[Path], tuple[list[Template], list[str]]]] = {
    OWN: _read_own,
    "bbq": read_bbq_templates,
    "kobbq": read_kobbq,
}


def _misshapen(table: Mapping[str, Any]) -> Iterator[str]:
    """What keeps a table from being read as a template."""
    yield from (f"no `{key}`" for key in _REQUIRED if key not in table)
    yield from (f"key `{key}` is unknown; {nearest(key, _KEYS)}" for key in table if key not in _KEYS)
    for key in (*TEXTS, *_OPTIONS, "id", "category", "author", "statement"):
        if not isinstance(table.get(key, ""), str):
            yield f"`{key}` is no text"
    for key in (*TEXTS, *_OPTIONS):
        if isinstance(told := table.get(key), str) and (why := _broken(told)):
            yield f"`{key}`: {why}; a slot is named in braces, as {{A}} or {{A.plural}}, and a brace is written twice"
    for key in _LISTS:
        if not _is_texts(table.get(key, [])):
            yield f"`{key}` is no list of texts"
    slots = table.get("slots", {})
    if not isinstance(slots, dict) or not all(isinstance(slot, dict) for slot in slots.values()):
        yield "`slots` is no table of tables, as [template.slots.A] begins one"
        return
    for name, slot in slots.items():
        yield from _misshapen_slot(name, slot)
    swap = table.get("swap", [])
    if swap and not (_is_texts(swap) and len(swap) == 2 and set(swap) <= set(slots)):
        yield f"`swap` is {swap}; expected the names of two slots"


def _broken(told: str) -> str:
    """Why a text with slots cannot be read; empty where it can."""
    try:
        parts = list(Formatter().parse(told))
    except ValueError as error:
        return str(error)
    bad = next((name for _, name, form, how in parts if name is not None and (not name or form or how)), None)
    return "" if bad is None else f"slot `{bad}` is no name"


def _misshapen_slot(name: str, slot: Mapping[str, Any]) -> Iterator[str]:
    yield from (
        f"slot `{name}`: key `{key}` is unknown; {nearest(key, _IN_SLOT)}" for key in slot if key not in _IN_SLOT
    )
    if not _is_texts(slot.get("fillers")):
        yield f"slot `{name}`: `fillers` is no list of texts"
        return
    if not isinstance(slot.get("group", ""), str):
        yield f"slot `{name}`: `group` is no text"
    forms = slot.get("forms", {})
    if not isinstance(forms, dict) or not all(map(_is_texts, forms.values())):
        yield f"slot `{name}`: `forms` is no table of lists of texts"
        return
    n = len(slot["fillers"])
    yield from (
        f"slot `{name}`: form `{form}` has {len(told)} texts for {n} fillers"
        for form, told in forms.items()
        if len(told) != n
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _templates(table: Mapping[str, Any], line: int) -> Iterator[Template]:
    """The template as it is written, and with two slots' fillers exchanged where that is asked for."""
    swap = table.get("swap", [])
    yield _template(table, table["slots"], AS_WRITTEN if swap else "", line)
    if swap:
        one, other = swap
        slots = {**table["slots"], one: table["slots"][other], other: table["slots"][one]}
        yield _template(table, slots, SWAPPED, line)


def _template(table: Mapping[str, Any], slots: Mapping[str, Any], version: str, line: int) -> Template:
    texts = {name: _text(table[name], slots) for name in (*TEXTS, *_OPTIONS)}
    return Template(
        id=table["id"],
        version=version,
        category=table["category"],
        fillers={name: tuple(slot["fillers"]) for name, slot in slots.items()},
        texts={name: texts[name] for name in TEXTS},
        culprit=Option(texts["culprit"], _groups(texts["culprit"], slots)),
        other=Option(texts["other"], _groups(texts["other"], slots)),
        unknown=tuple(table["unknown"]),
        stereotyped=tuple(table["stereotyped"]),
        author=table.get("author", ""),
        statement=table.get("statement", ""),
        line=line,
    )


def _text(told: str, slots: Mapping[str, Any]) -> Text:
    parts: list[str | Blank] = []
    for before, name, _, _ in Formatter().parse(told):
        parts.append(before)
        if name is not None:
            slot, _, form = name.partition(".")
            given = slots.get(slot, {})
            forms = given.get("forms", {}).get(form, ()) if form else given.get("fillers", ())
            parts.append(Blank(slot, tuple(forms)))
    return tuple(parts)


def _groups(text: Text, slots: Mapping[str, Any]) -> tuple[str, ...]:
    named = [slots.get(part.slot, {}).get("group", "") for part in text if isinstance(part, Blank)]
    return tuple(filter(None, named))


def _twice(place: str, templates: list[Template]) -> list[Finding]:
    seen: dict[tuple[str, str], int] = {}
    found = []
    for one in templates:
        if (first := seen.setdefault((one.id, one.version), one.line)) != one.line:
            found.append(Finding(place, one.line, f"template `{one.id}` is in line {first} already"))
    return found
