"""Templates of BBQ and of KoBBQ.

BBQ's are a CSV, with slots as `{{NAME1}}` and fillers in lists: Parrish, A. et al. (2022), BBQ: A hand-built bias
benchmark for question answering, DOI 10.18653/v1/2022.findings-acl.165. BBQ draws one word of lexical diversity for
each filling of the names; here every word makes items of its own. As in its items an `a` before a slot is `an` where
the filler begins with a vowel; an `A` is not, there as here.

KoBBQ's are separated by tabs, with every slot and all its forms where it stands, as Korean particles need: Jin, J. et
al. (2024), KoBBQ: Korean bias benchmark for question answering, DOI 10.1162/tacl_a_00661.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from fcpair.bias.bbq_rules import group_of
from fcpair.bias.items import Blank, Option, Template, Text, template_faults
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

_KOBBQ_UNKNOWN = ("알 수 없음",)
_KOBBQ_TEXTS = {
    "ambiguous": "Ambiguous_context",
    "disambiguating": "Disambiguating_context",
    "negative": "Biased_question",
    "non_negative": "Counter-biased_question",
}
_KOBBQ_OPTIONS = ("Biased_question_answer", "Counter-biased_question_answer")  # of the culprit, of the other
_KOBBQ_GROUPS = {"N1": "N1_info", "N2": "N2_info"}
KOBBQ_COLUMNS = (
    *("Category", "ID", "version", "Target_group"),
    *_KOBBQ_TEXTS.values(),
    *_KOBBQ_OPTIONS,
    *_DECLARED,
    *_KOBBQ_GROUPS.values(),
)
# What is within brackets ends before others begin, and spaces are not tried again: a long cell takes no longer.
_KOBBQ_DECLARATION = re.compile(r"([A-Z]\d)\s*+:\s*+\[([^\[\]]*+)\]")
_KOBBQ_BLANK = re.compile(r"\[([A-Z]\d)\s*+:\s*+([^\[\]]*+)\]")
_TRIMMED = " \t\b"  # a text or a form; the release has backspaces before some, which its test samples lack

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
    rows: list[Row] = frame.to_dict("records")  # type: ignore[assignment]
    return _check_templates(path, [_parse_bbq(row) for row in rows]), []


def read_kobbq(path: Path) -> tuple[list[Template], list[str]]:
    """Read KoBBQ's templates.

    A place that has more forms than the slot has fillers is taken without the last ones.

    Returns:
        The templates, and a remark for each place whose forms were cut.

    Raises:
        InputError: no such file or columns, and all that `faults` finds, with line numbers.
    """
    frame = read_table(path, KOBBQ_COLUMNS, verbatim=True)
    rows: list[Row] = frame.to_dict("records")  # type: ignore[assignment]
    templates = [_parse_kobbq(row) for row in rows]
    remarks = []
    for row, template in zip(rows, templates, strict=True):
        for column in (*_KOBBQ_TEXTS.values(), *_KOBBQ_OPTIONS):
            for slot, forms_text in _KOBBQ_BLANK.findall(row[column]):
                forms, n = _split_forms(forms_text), len(template.fillers.get(slot, ()))
                if len(forms) > n > 0:
                    cut = f"{slot} has {len(forms)} forms for {n} fillers; used without {', '.join(forms[n:])}"
                    remarks.append(f"{path}:{row[LINE]}: {column}: {cut}")
    return _check_templates(path, templates), remarks


def _check_templates(path: Path, templates: list[Template]) -> list[Template]:
    """The templates; raises InputError with all that is wrong with them."""
    faults = [Finding(str(path), template.line, why) for template in templates for why in template_faults(template)]
    reject(path, faults)
    return templates


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


def _parse_bbq(row: Row) -> Template:
    cells = [cell for column in _DECLARED if (cell := row.get(column, ""))]
    # One of BBQ's fillers has a semicolon for a comma, and its items what stands before that.
    declared = {
        name: tuple(one.strip() for one in re.split("[,;]", names))
        for cell in cells
        for name, names in _DECLARATION.findall(cell)
    }
    used = {slot for column in (*_TEXTS.values(), *_OPTIONS) for slot in _BLANK.findall(row[column])}
    fillers = {name: names for name, names in declared.items() if name in used}
    category = row["Category"].strip()

    def parse_text(cell: str) -> Text:
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

    culprit, other = (_parse_option(row, parse_text(row[column]), _GROUPS) for column in _OPTIONS)
    return Template(
        id=f"{category.lower()}-{row['Q_id']}",
        version=row.get("version", ""),
        category=category,
        fillers=fillers,
        texts={name: parse_text(row[column]) for name, column in _TEXTS.items()},
        culprit=culprit,
        other=other,
        unknown=UNKNOWN,
        stereotyped=tuple(_parse_groups(row)),
        line=int(row[LINE]),
    )


def _parse_kobbq(row: Row) -> Template:
    fillers = {
        name: _split_forms(listed) for column in _DECLARED for name, listed in _KOBBQ_DECLARATION.findall(row[column])
    }

    def parse_text(cell: str) -> Text:
        first, *rest = _KOBBQ_BLANK.split(cell.strip(_TRIMMED))  # text, slot, forms, text, ...
        parts: list[str | Blank] = [first]
        for slot, forms, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
            parts += [Blank(slot, _split_forms(forms)[: len(fillers.get(slot, ())) or None]), after]
        return tuple(parts)

    culprit, other = (_parse_option(row, parse_text(row[column]), _KOBBQ_GROUPS) for column in _KOBBQ_OPTIONS)
    return Template(
        id=f"{row['Category'].lower()}-{row['ID']}",
        version=row["version"],
        category=row["Category"],
        fillers=fillers,
        texts={name: parse_text(row[column]) for name, column in _KOBBQ_TEXTS.items()},
        culprit=culprit,
        other=other,
        unknown=_KOBBQ_UNKNOWN,
        stereotyped=(row["Target_group"],),
        line=int(row[LINE]),
    )


def _split_forms(text: str) -> tuple[str, ...]:
    return tuple(one.strip(_TRIMMED) for one in text.split(","))


def _parse_option(row: Row, text: Text, groups: Mapping[str, str]) -> Option:
    slots = [part.slot for part in text if isinstance(part, Blank)]
    return Option(text, tuple(row[groups[slot]] for slot in slots if slot in groups))
