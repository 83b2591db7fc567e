"""KoBBQ's templates: tab-separated, every slot with all its forms where it stands, as Korean particles need.

Jin, J. et al. (2024), KoBBQ: Korean bias benchmark for question answering, DOI 10.1162/tacl_a_00661.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from fcpair.bias.items.template import Blank, Option, Template, Text, template_faults
from fcpair.errors import Finding, reject
from fcpair.files.tables.tabular import LINE, read_table

UNKNOWN = ("알 수 없음",)
_TEXTS = {
    "ambiguous": "Ambiguous_context",
    "disambiguating": "Disambiguating_context",
    "negative": "Biased_question",
    "non_negative": "Counter-biased_question",
}
_OPTIONS = ("Biased_question_answer", "Counter-biased_question_answer")  # of the culprit, of the other
_DECLARED = ("Names", "Lexical_diversity")
_GROUPS = {"N1": "N1_info", "N2": "N2_info"}
COLUMNS = (
    *("Category", "ID", "version", "Target_group"),
    *_TEXTS.values(),
    *_OPTIONS,
    *_DECLARED,
    *_GROUPS.values(),
)
# What is within brackets ends before others begin, and spaces are not tried again: a long cell takes no longer.
_DECLARATION = re.compile(r"([A-Z]\d)\s*+:\s*+\[([^\[\]]*+)\]")
_BLANK = re.compile(r"\[([A-Z]\d)\s*+:\s*+([^\[\]]*+)\]")
_TRIMMED = " \t\b"  # a text or a form; the release has backspaces before some, which its test samples lack

Row = dict[str, str]


def read_kobbq(path: Path) -> tuple[list[Template], list[str]]:
    """Read KoBBQ's templates.

    A place that has more forms than the slot has fillers is taken without the last ones.

    Returns:
        The templates, and a remark for each place whose forms were cut.

    Raises:
        InputError: no such file or columns, and all that `faults` finds, with line numbers.
    """
    frame = read_table(path, COLUMNS, verbatim=True)
    templates, remarks, findings = [], [], []
    rows: list[Row] = frame.to_dict("records")  # type: ignore[assignment]
    for row in rows:
        template = _parse_template(row)
        remarks += [f"{path}:{row[LINE]}: {remark}" for remark in _cut_remarks(row, template)]
        templates.append(template)
        findings += [Finding(str(path), int(row[LINE]), why) for why in template_faults(template)]
    reject(path, findings)
    return templates, remarks


def _parse_template(row: Row) -> Template:
    fillers = {name: _split_forms(listed) for column in _DECLARED for name, listed in _DECLARATION.findall(row[column])}
    texts = {name: _parse_text(row[column], fillers) for name, column in _TEXTS.items()}
    culprit, other = (_parse_option(row, _parse_text(row[column], fillers)) for column in _OPTIONS)
    return Template(
        id=f"{row['Category'].lower()}-{row['ID']}",
        version=row["version"],
        category=row["Category"],
        fillers=fillers,
        texts=texts,
        culprit=culprit,
        other=other,
        unknown=UNKNOWN,
        stereotyped=(row["Target_group"],),
        line=int(row[LINE]),
    )


def _split_forms(text: str) -> tuple[str, ...]:
    return tuple(one.strip(_TRIMMED) for one in text.split(","))


def _parse_text(cell: str, fillers: dict[str, tuple[str, ...]]) -> Text:
    parts: list[str | Blank] = []
    end = 0
    for match in _BLANK.finditer(cell := cell.strip(_TRIMMED)):
        n = len(fillers.get(match[1], ())) or None
        parts += [cell[end : match.start()], Blank(match[1], _split_forms(match[2])[:n])]
        end = match.end()
    return (*parts, cell[end:])


def _parse_option(row: Row, text: Text) -> Option:
    slots = [part.slot for part in text if isinstance(part, Blank)]
    return Option(text, tuple(row[_GROUPS[slot]] for slot in slots if slot in _GROUPS))


def _cut_remarks(row: Row, template: Template) -> Iterator[str]:
    for column in (*_TEXTS.values(), *_OPTIONS):
        for slot, forms_text in _BLANK.findall(row[column]):
            forms, n = _split_forms(forms_text), len(template.fillers.get(slot, ()))
            if len(forms) > n > 0:
                yield f"{column}: {slot} has {len(forms)} forms for {n} fillers; used without {', '.join(forms[n:])}"
