"""The files of CrowdCounter's release: its dataset, that with target groups or GPT-4's types, and its splits.

Saha, P. et al. (2024), CrowdCounter: A benchmark type-specific multi-target counterspeech dataset, arXiv:2410.01400.
Three shapes of JSON are known by what is in them: an object of HS by id (`Final_Dataset`, and with target groups
`Final_Dataset_additional_context`); an object of answers by id of their HS, without the HS
(`Final_Dataset_additional_context_gpt4`); one object a line, an answer and its HS (`Train`, `Val`, `Test`, and those of
Gab and Reddit).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fcpair.errors import Finding, InputError, reject
from fcpair.files.tables.tabular import LINE, check_file, with_place
from fcpair.files.tables.text_files import NO_TEXT_HERE, JsonObjects
from fcpair.lazy import pd
from fcpair.stages.corpus.text_identity import NO_TEXT
from fcpair.values import as_text, is_blank

COLUMNS = ("hs_id", "hs", "by", "type", "additional", "types", "cn", "label", "targets", "gpt4")
_ANSWERS = "counterspeech_post"
_IN_ANSWERS = {"type_required": "type", "counterspeech": "cn", "label": "label"}
_IN_SPLITS = {"hatespeech": "hs", "counterspeech": "cn", "required_types": "type"}
Row = dict[str, Any]


class CrowdCounter(NamedTuple):
    """A file of the release as frames of strings with the same columns, those of `COLUMNS` that the file has, and line:
    `answers` for each counter-narrative, `unanswered` for each HS that nobody answered, with an empty `cn`. Several
    labels of a cell are separated by a comma; `types` holds the required type and the further ones, each once.
    """

    answers: pd.DataFrame
    unanswered: pd.DataFrame


def read_crowdcounter(path: str | Path) -> CrowdCounter:
    """Read a file of CrowdCounter's release.

    Raises InputError: no file, no JSON of one of the three shapes, and with line numbers a duplicate key, an answer or
    an HS that lacks a field or has one that is not text, an answer without text.
    """
    path = Path(path)
    check_file(path)
    objects = JsonObjects(path)
    is_split = isinstance(objects.first_value, dict) and "hatespeech" in objects.first_value
    rows = list(_split_rows(objects) if is_split else _release_rows(objects))
    broken = [row for row in rows if any(NO_TEXT.search(cell) for cell in row.values() if isinstance(cell, str))]
    reject(path, [*objects.findings, *(Finding(str(path), row[LINE], NO_TEXT_HERE) for row in broken)])
    if not rows:
        raise InputError(f"{path}: the file has no HS")
    return CrowdCounter(*(_frame(path, rows, answered=answered) for answered in (True, False)))


def _frame(path: Path, rows: list[Row], *, answered: bool) -> pd.DataFrame:
    columns = [name for name in COLUMNS if any(name in row for row in rows)]
    cells = [{name: row.get(name, "") for name in (*columns, LINE)} for row in rows if ("cn" in row) is answered]
    frame = pd.DataFrame(cells, columns=[*columns, LINE], dtype=object)
    return with_place(frame.astype({LINE: "int64"}), str(path))


def _release_rows(objects: JsonObjects) -> Iterator[Row]:
    (at,) = objects.values_at(by_line=False)
    for entry in objects.members(at):
        members = {member.key: member for member in objects.members(entry.at)}
        hs_fields: Row = {"hs_id": entry.key}
        answers = list(members.values())
        if _ANSWERS in members or "post" in members:
            problems = _missing_texts({key: member.value for key, member in members.items()}, ("post",))
            if _ANSWERS not in members:
                problems.append(f"no `{_ANSWERS}`")
            for message in problems:
                objects.add_finding(entry.at, f"HS `{entry.key}`: {message}")
            if problems:
                continue
            hs_fields["hs"] = members["post"].value
            if "targets" in members:
                hs_fields["targets"] = _join_labels(members["targets"].value)
            answers = list(objects.members(members[_ANSWERS].at))
        if not answers:
            yield {**hs_fields, LINE: objects.line_of(entry.at)}
        for answer in answers:
            answer_fields = objects.fields(answer.at)
            problems = _missing_texts(answer_fields, _IN_ANSWERS) if isinstance(answer.value, dict) else []
            for message in problems:
                objects.add_finding(answer.at, f"`{answer.key}`: {message}")
            if answer_fields and not problems:
                row = {**hs_fields, "by": answer.key, **{name: answer_fields[key] for key, name in _IN_ANSWERS.items()}}
                further = answer_fields.get("additional_types", [])
                further = further if isinstance(further, list) else [further]
                row |= {"additional": _join_labels(further), "types": _join_labels([row["type"], *further])}
                gpt4 = {"gpt4": _join_labels(answer_fields["gpt4-types"])} if "gpt4-types" in answer_fields else {}
                yield {**row, **gpt4, LINE: objects.line_of(answer.at)}


def _split_rows(objects: JsonObjects) -> Iterator[Row]:
    for at in objects.values_at(by_line=True):
        fields = objects.fields(at)
        names = [name for name in _IN_SPLITS if name in fields or name != "required_types"]
        problems = _missing_texts(fields, names)
        for message in problems:
            objects.add_finding(at, message)
        if not problems:
            types = {"types": _join_labels(fields["total_types"])} if "total_types" in fields else {}
            yield {**{_IN_SPLITS[name]: fields[name] for name in names}, **types, LINE: objects.line_of(at)}


def _missing_texts(fields: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    found_names = ", ".join(fields) or "nothing"
    missing = [f"no text `{name}`; found {found_names}" for name in names if not isinstance(fields.get(name), str)]
    empty = [name for name in names if isinstance(fields.get(name), str) and is_blank(fields[name])]
    return missing + [f"`{name}` is empty" for name in empty]


def _join_labels(labels: Any) -> str:
    return ",".join(dict.fromkeys(filter(None, map(as_text, labels if isinstance(labels, list) else [labels]))))
