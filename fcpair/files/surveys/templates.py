"""Templates in files: our own, TOML or a table, and the releases of BBQ and KoBBQ.

A text names a slot in braces, `{A}`, or one of its forms, `{A.plural}`. The group of an option is that of its slots. In
a table each slot has a column of its name, with `A.group` and a column for each form beside it, and lists are parted by
`|`. What people or models write is a row of such a table, a line for each column: `A.group: night owls`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

from fcpair.bias import items
from fcpair.bias.items import TEXTS, Blank, Option, Template, Text, first_versions, n_items, template_faults
from fcpair.errors import Finding, InputError, reject, suggest_name, translate_read_errors
from fcpair.files.surveys.bbq import read_bbq_templates, read_kobbq
from fcpair.files.tables.tabular import LINE, check_file, read_table, with_place
from fcpair.lazy import pd
from fcpair.stages.corpus.text_identity import fold_name

_OPTIONS = ("culprit", "other")
_REQUIRED = ("id", "category", *TEXTS, *_OPTIONS, "unknown", "stereotyped", "slots")
_KEYS = (*_REQUIRED, "author", "statement", "swap")
_LISTS = ("unknown", "stereotyped", "swap")
_SLOT_KEYS = ("fillers", "group", "forms")
_HEADER = "[[template]]"
_COLUMN = re.compile(r"\s*(\w[\w.-]*)\s*:\s*(.*)")  # of a template that was written: `A.group: night owls`
OWN_READER = "fcpair"
AS_WRITTEN, SWAPPED = "a", "b"


def read_templates(path: Path, reader: str) -> tuple[list[Template], list[str]]:
    """Read templates with one of READERS, with remarks about what was not taken as it stands; raises InputError with
    all that the file, or a template in it, lacks.
    """
    return READERS[reader](path)


def templates_table(path: Path) -> pd.DataFrame:
    """Templates of our own as a table, the first version of each: `template` (as reviewers read it), `id`, `category`,
    `author` and `line`.
    """
    templates, _ = read_templates(path, OWN_READER)
    rows = [
        (items.review_text(version), version.id, version.category, version.author, version.line)
        for version in first_versions(templates)
    ]
    return with_place(pd.DataFrame(rows, columns=["template", "id", "category", "author", LINE]), str(path))


def items_table(path: Path, seed: int) -> pd.DataFrame:
    """The items of templates of our own as a table of strings with the columns of `items.expand`, and `line`; raises
    InputError as `read_templates` does, and where options coincide.
    """
    templates, _ = read_templates(path, OWN_READER)
    expanded = items.expand(templates, str(path), seed)
    reject(path, list(expanded.findings))
    lines = np.repeat([template.line for template in templates], [n_items(template) for template in templates])
    return with_place(expanded.frame.astype(str).assign(**{LINE: lines}), str(path))


def _read_own(path: Path) -> tuple[list[Template], list[str]]:
    if path.suffix != ".toml":
        if (frame := read_table(path, [name for name in _REQUIRED if name != "slots"], verbatim=True)).empty:
            raise InputError(f"{path}: no templates; expected a row for each")
        rows: list[dict[str, str]] = frame.to_dict("records")  # type: ignore[assignment]
        return _check_tables([(_as_toml(row), int(row[LINE])) for row in rows], str(path)), []
    check_file(path)
    with translate_read_errors(path, expected="TOML"):
        text = path.read_text("utf-8")
        tables = tomllib.loads(text).get("template", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{path}: no templates; expected tables that begin with {_HEADER}")
    lines = [at for at, line in enumerate(text.splitlines(), 1) if line.split("#")[0].strip() == _HEADER]
    lines = lines if len(lines) == len(tables) else [1] * len(tables)
    return _check_tables(list(zip(tables, lines, strict=True)), str(path)), []


def _check_tables(tables: list[tuple[dict[str, Any], int]], place: str) -> list[Template]:
    templates, findings = list[Template](), list[Finding]()
    for table, line in tables:
        problems, table_templates = list(_shape_problems(table)), []
        if not problems:
            swap, slots = table.get("swap", []), table["slots"]
            table_templates.append(_parse_template(table, slots, AS_WRITTEN if swap else "", line))
            if swap:  # and with two slots' fillers exchanged
                exchanged = {**slots, swap[0]: slots[swap[1]], swap[1]: slots[swap[0]]}
                table_templates.append(_parse_template(table, exchanged, SWAPPED, line))
        problems += [why for template in table_templates for why in template_faults(template)]
        findings += [Finding(place, line, why) for why in dict.fromkeys(problems)]
        templates += table_templates
    line_by_key: dict[tuple[str, str], int] = {}
    for template in templates:
        if (first := line_by_key.setdefault((template.id, template.version), template.line)) != template.line:
            findings.append(Finding(place, template.line, f"template `{template.id}` is in line {first} already"))
    reject(place, findings)
    return templates


def templates_from_texts(texts: pd.DataFrame, place: str) -> pd.DataFrame:
    """Templates that were written, as a table that `read_templates` reads: a row for each of `texts`, which has `text`,
    `cell` (a number, which findings name) and keys of a template, taken where the text does not say otherwise.

    A line of a text is a column of the table and what stands there, parted by a colon; a line without a column goes on
    with the one before. Raises InputError with all that is wrong with the templates.
    """
    rows = []
    for record in texts.to_dict("records"):
        row, column = {key: str(record[key]) for key in _KEYS if record.get(key)}, ""
        for line in str(record["text"]).splitlines():
            if line.lstrip().startswith("```"):
                continue
            if match := _COLUMN.fullmatch(line):
                folded = fold_name(match[1])
                column = folded if folded in _KEYS else match[1]
                row[column] = match[2].strip()
            elif column and line.strip():
                row[column] = f"{row[column]} {line.strip()}".strip()
        rows.append(row)
    tables = [(_as_toml(row), int(cell)) for row, cell in zip(rows, texts["cell"], strict=True)]
    _check_tables([({key: value for key, value in table.items() if value}, cell) for table, cell in tables], place)
    columns = [*(key for key in _KEYS if key != "slots"), *(key for row in rows for key in row)]
    return pd.DataFrame([{key: row.get(key, "") for key in columns} for row in rows])


def _as_toml(row: Mapping[str, str]) -> dict[str, Any]:
    """A row as the table that TOML has; what is empty is not there, but for texts that must not be."""
    table: dict[str, Any] = {"slots": {}}
    for column, cell in row.items():
        slot, _, form = column.partition(".")
        if column in _KEYS:
            if cell or column in _REQUIRED:
                table[column] = _split_cell(cell) if column in _LISTS else cell
        elif column != LINE and cell:
            slot_table = table["slots"].setdefault(slot, {})
            if form in ("", "group"):
                slot_table |= {"fillers": _split_cell(cell)} if not form else {"group": cell}
            else:
                slot_table.setdefault("forms", {})[form] = _split_cell(cell)
    return table


def _split_cell(cell: str) -> list[str]:
    return [form.strip() for form in cell.split("|")] if cell.strip() else []


READERS: dict[str, Callable[[Path], tuple[list[Template], list[str]]]] = {
    OWN_READER: _read_own,
    "bbq": read_bbq_templates,
    "kobbq": read_kobbq,
}


def _shape_problems(table: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"no `{key}`" for key in _REQUIRED if key not in table)
    yield from (f"key `{key}` is unknown; {suggest_name(key, _KEYS)}" for key in table if key not in _KEYS)
    for key in (*TEXTS, *_OPTIONS, "id", "category", "author", "statement"):
        if not isinstance(table.get(key, ""), str):
            yield f"`{key}` is not a text"
    for key in (*TEXTS, *_OPTIONS):
        why = ""
        try:
            for _, name, form, conversion in Formatter().parse(text if isinstance(text := table.get(key), str) else ""):
                if name is not None and (not name or form or conversion):
                    why = why or f"slot `{name}` is not a name"
        except ValueError as error:
            why = str(error)
        if why:
            hint = "a slot is named in braces, as {A} or {A.plural}, and a literal brace is written twice"
            yield f"`{key}`: {why}; {hint}"
    for key in _LISTS:
        if not _is_texts(table.get(key, [])):
            yield f"`{key}` is not a list of texts"
    slots = table.get("slots", {})
    if not isinstance(slots, dict) or not all(isinstance(slot, dict) for slot in slots.values()):
        yield "`slots` is not a table of tables, as [template.slots.A] begins one"
        return
    for name, slot in slots.items():
        yield from (f"slot `{name}`: {problem}" for problem in _slot_problems(slot))
    swap = table.get("swap", [])
    if swap and not (_is_texts(swap) and len(swap) == 2 and set(swap) <= set(slots)):
        yield f"`swap` is {swap}; expected the names of two slots"


def _slot_problems(slot: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"key `{key}` is unknown; {suggest_name(key, _SLOT_KEYS)}" for key in slot if key not in _SLOT_KEYS)
    if not _is_texts(slot.get("fillers")):
        yield "`fillers` is not a list of texts"
        return
    if not isinstance(slot.get("group", ""), str):
        yield "`group` is not a text"
    forms = slot.get("forms", {})
    if not isinstance(forms, dict) or not all(map(_is_texts, forms.values())):
        yield "`forms` is not a table of lists of texts"
        return
    n = len(slot["fillers"])
    yield from (f"form `{form}` has {len(of)} texts for {n} fillers" for form, of in forms.items() if len(of) != n)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _parse_template(table: Mapping[str, Any], slots: Mapping[str, Any], version: str, line: int) -> Template:
    texts, options = {name: _parse_text(table[name], slots) for name in (*TEXTS, *_OPTIONS)}, []
    for name in _OPTIONS:
        groups = (slots.get(part.slot, {}).get("group", "") for part in texts[name] if isinstance(part, Blank))
        options.append(Option(texts[name], tuple(filter(None, groups))))
    fields: dict[str, Any] = {name: tuple(table[name]) for name in ("unknown", "stereotyped")}
    fields |= {name: table.get(name, "") for name in ("author", "statement")}
    fields |= {"fillers": {name: tuple(slot["fillers"]) for name, slot in slots.items()}, "line": line}
    fields |= {"texts": {name: texts[name] for name in TEXTS}, "culprit": options[0], "other": options[1]}
    return Template(id=table["id"], version=version, category=table["category"], **fields)


def _parse_text(text: str, slots: Mapping[str, Any]) -> Text:
    parts: list[str | Blank] = []
    for before, name, _, _ in Formatter().parse(text):
        parts.append(before)
        if name is not None:
            slot, _, form = name.partition(".")
            slot_table = slots.get(slot, {})
            forms = slot_table.get("forms", {}).get(form, ()) if form else slot_table.get("fillers", ())
            parts.append(Blank(slot, tuple(forms)))
    return tuple(parts)
