"""BBQ's templates: CSV, slots as `{{NAME1}}`, fillers in lists.

Parrish, A. et al. (2022), BBQ: A hand-built bias benchmark for question answering,
DOI 10.18653/v1/2022.findings-acl.165. BBQ draws one word of lexical diversity for each filling of the names; here
every word makes items of its own. As in its items an `a` before a slot is `an` where the filler begins with a vowel; an
`A` is not, there as here.
"""

from __future__ import annotations

import re
from pathlib import Path

from fcpair.bias.bbq_rules import group_of
from fcpair.bias.items.template import Blank, Option, Template, Text, template_faults
from fcpair.errors import Finding, InputError, reject
from fcpair.files.surveys.bbq import Stereotyped, key_of
from fcpair.files.tables.tabular import LINE, read_table

UNKNOWN = (  # as BBQ's items have them
    *("Unknown", "Cannot be determined", "Can't be determined", "Not enough info", "Not enough information"),
    *("Not answerable", "Not known", "Undetermined", "Cannot answer", "Can't answer"),
)
_TEXTS = {
    "ambiguous": "Ambiguous_Context",
    "disambiguating": "Disambiguating_Context",
    "negative": "Question_negative_stereotype",
    "non_negative": "Question_non_negative",
}
_OPTIONS = ("Answer_negative", "Answer_non_negative")  # of the culprit, of the other
_DECLARED = ("Names", "Lexical_diversity")
_GROUPS = {"NAME1": "NAME1_info", "NAME2": "NAME2_info"}
_STEREOTYPED = "Known_stereotyped_groups"
_KEY = ("Category", "Q_id")
COLUMNS = (*_KEY, _STEREOTYPED, *_TEXTS.values(), *_OPTIONS)
NAMES = ("version", *_DECLARED, *_GROUPS.values())
# Letters are tried once, from their beginning, and a list ends before another begins: long cells take no longer.
_DECLARATION = re.compile(r"(?<![A-Z])([A-Z]++\d)\W*:\s*+\[([^\[\]]*+)\]")
_ARTICLE, _VOWELS = re.compile(r"(?<=\s)a\s+$"), tuple("aeiou")
_BLANK = re.compile(r"\{\{([A-Z]+\d)\}\}")

Row = dict[str, str]


def read_bbq_templates(path: Path) -> tuple[list[Template], list[str]]:
    """Read BBQ's templates; no remarks.

    Raises:
        InputError: no such file or columns, names that are to come of BBQ's vocabulary, which is another file, and all
            that `faults` finds, with line numbers.
    """
    frame = read_table(path, COLUMNS, optional=NAMES, verbatim=True)
    if "Names" not in frame:
        raise InputError(
            f"{path}: no column `Names`; the names of these templates are in BBQ's vocabulary, so that they cannot be "
            "expanded"
        )
    templates, findings = [], []
    rows: list[Row] = frame.to_dict("records")  # type: ignore[assignment]
    for row in rows:
        templates.append(_parse_template(row))
        findings += [Finding(str(path), int(row[LINE]), why) for why in template_faults(templates[-1])]
    reject(path, findings)
    return templates, []


def read_stereotyped(path: Path) -> Stereotyped:
    """The stereotyped groups of templates by their `key_of`, for `read_bbq`.

    Versions of a template may spell the same group otherwise, as `transgender men` and `Transgender women`. Rows
    without a number are no templates.

    Raises:
        InputError: no such file or columns, no groups, or not the same in all versions.
    """
    frame = read_table(path, (*_KEY, _STEREOTYPED), optional=NAMES, verbatim=True)
    groups_by_template: dict[tuple[str, str], list[str]] = {}
    findings = []
    rows: list[Row] = frame.to_dict("records")  # type: ignore[assignment]
    for row in rows:
        key = key_of(row["Category"], row["Q_id"].strip())
        if not key[1]:
            continue
        groups = _parse_groups(row)
        first_groups = groups_by_template.setdefault(key, groups)
        if not groups:
            findings.append(Finding(str(path), int(row[LINE]), f'`{_STEREOTYPED}` names no group, such as ["old"]'))
        elif group_of(key[0], first_groups) != group_of(key[0], groups):
            findings.append(
                Finding(str(path), int(row[LINE]), f"other stereotyped groups than before for template {key[1]}")
            )
    reject(path, findings)
    return groups_by_template


def _parse_groups(row: Row) -> list[str]:
    """The groups of a list, with quotes or without."""
    return [name for one in row[_STEREOTYPED].strip().strip("[]").split(",") if (name := one.strip(" \t\r\n\"'"))]


def _parse_template(row: Row) -> Template:
    cells = [cell for column in _DECLARED if (cell := row.get(column, ""))]
    declared = {name: _split_fillers(names) for cell in cells for name, names in _DECLARATION.findall(cell)}
    used = {slot for column in (*_TEXTS.values(), *_OPTIONS) for slot in _BLANK.findall(row[column])}
    fillers = {name: names for name, names in declared.items() if name in used}
    texts = {name: _parse_text(row[column], fillers) for name, column in _TEXTS.items()}
    culprit, other = (_parse_option(row, _parse_text(row[column], fillers)) for column in _OPTIONS)
    category = row["Category"].strip()
    return Template(
        id=f"{category.lower()}-{row['Q_id']}",
        version=row.get("version", ""),
        category=category,
        fillers=fillers,
        texts=texts,
        culprit=culprit,
        other=other,
        unknown=UNKNOWN,
        stereotyped=tuple(_parse_groups(row)),
        line=int(row[LINE]),
    )


def _split_fillers(text: str) -> tuple[str, ...]:
    """The fillers of a list; one of BBQ's has a semicolon for a comma, and its items what stands before that."""
    return tuple(one.strip() for one in re.split("[,;]", text))


def _parse_text(cell: str, fillers: dict[str, tuple[str, ...]]) -> Text:
    parts: list[str | Blank] = []
    before, *rest = _BLANK.split(cell)  # text, slot, text, ...
    for slot, after in zip(rest[::2], rest[1::2], strict=True):
        forms = fillers.get(slot, ())
        if article := _ARTICLE.search(before):
            before = before[: article.start()]
            forms = tuple(f"{'an' if one[:1] in _VOWELS else 'a'} {one}" for one in forms)
        parts += [before, Blank(slot, forms)]
        before = after
    return (*parts, before)


def _parse_option(row: Row, text: Text) -> Option:
    slots = [part.slot for part in text if isinstance(part, Blank)]
    return Option(text, tuple(row[_GROUPS[slot]] for slot in slots if slot in _GROUPS))
