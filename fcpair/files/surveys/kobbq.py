"""KoBBQ's templates: tab-separated, every slot with all its forms where it stands, as Korean particles need.

Jin, J. et al. (2024), KoBBQ: Korean bias benchmark for question answering, DOI 10.1162/tacl_a_00661.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from fcpair.bias.items.template import Blank, Option, Template, Text, faults
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
_AROUND = " \t\b"  # a text or a form; the release has backspaces before some, which its test samples lack

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
        template = _template(row)
        remarks += [f"{path}:{row[LINE]}: {remark}" for remark in _cut(row, template)]
        templates.append(template)
        findings += [Finding(str(path), int(row[LINE]), why) for why in faults(template)]
    reject(path, findings)
    return templates, remarks


def _template(row: Row) -> Template:
    fillers = {name: _listed(listed) for column in _DECLARED for name, listed in _DECLARATION.findall(row[column])}
    texts = {name: _text(row[column], fillers) for name, column in _TEXTS.items()}
    culprit, other = (_option(row, _text(row[column], fillers)) for column in _OPTIONS)
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


def _listed(told: str) -> tuple[str, ...]:
    return tuple(one.strip(_AROUND) for one in told.split(","))


def _text(told: str, fillers: dict[str, tuple[str, ...]]) -> Text:
    parts: list[str | Blank] = []
    end = 0
    for found in _BLANK.finditer(told := told.strip(_AROUND)):
        n = len(fillers.get(found[1], ())) or None
        parts += [told[end : found.start()], Blank(found[1], _listed(found[2])[:n])]
        end = found.end()
    return (*parts, told[end:])


def _option(row: Row, text: Text) -> Option:
    slots = [part.slot for part in text if isinstance(part, Blank)]
    return Option(text, tuple(row[_GROUPS[slot]] for slot in slots if slot in _GROUPS))


def _cut(row: Row, template: Template) -> Iterator[str]:
    for column in (*_TEXTS.values(), *_OPTIONS):
        for slot, told in _BLANK.findall(row[column]):
            forms, n = _listed(told), len(template.fillers.get(slot, ()))
            if len(forms) > n > 0:
                yield f"{column}: {slot} has {len(forms)} forms for {n} fillers; taken without {', '.join(forms[n:])}"
