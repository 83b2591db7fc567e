"""Label Studio: one project a person, with a configuration in XML; exports in JSON, JSON_MIN or CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from fcpair.errors import Finding, InputError
from fcpair.files.answers.answer_files import parse_seconds
from fcpair.files.exchange.annotation_tool import (
    DIRECTIONS,
    KEY,
    PEOPLE,
    AnnotationTool,
    ExportFile,
    Project,
    ToolAnswer,
    ToolExport,
    format_people,
    note_name,
    option_names,
    read_json_list,
)
from fcpair.files.tables.delimited import parse_csv
from fcpair.files.tables.json_lines import Record
from fcpair.files.tables.tabular import require_columns
from fcpair.stages.questions import AnyOf, Form, Question
from fcpair.values import as_text, parse_json

_TEXT = f"{KEY}_"  # begins the names of the texts of an item, which are numbered
_TABLES = (".csv", ".tsv")
_PART_BY_TYPE = {"choices": "choices", "textarea": "text"}


class LabelStudio(AnnotationTool):
    """Label Studio 1.23."""

    name, title, suffixes = "label-studio", "Label Studio", (".json", ".csv", ".tsv")

    def shown_text(self, headings: Sequence[str], texts: Sequence[str]) -> str:
        """The texts alone: their headings are in the configuration."""
        return "\n\n".join(texts)

    def obstacle(self, form: Form) -> str:
        """As every tool; a question may not be called as what is beside the answers in its exports."""
        for name, _ in form.questions:
            if name.startswith(KEY) or name in _BESIDE_ANSWERS:
                return f"`{name}` is the name of something else in the exports of {self.title}"
        return super().obstacle(form)

    def write(self, project: Project) -> dict[str, str]:
        """`config.xml`, the tasks of each person as JSON, `people.csv` to be filled in, and `README.md`."""
        tasks = {}
        for name, items in project.shards.items():
            texts = ({f"{_TEXT}{at}": text for at, text in enumerate(item.texts, 1)} for item in items)
            data = [{"data": {KEY: str(item.key), **of}} for item, of in zip(items, texts, strict=True)]
            tasks[f"{name}.json"] = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
        return {
            "README.md": self.readme(project),
            "config.xml": format_config(project),
            PEOPLE: format_people(dict.fromkeys(project.shards, "")),
            **tasks,
        }

    def read(self, files: Sequence[ExportFile], form: Form) -> ToolExport:
        """Read exports in JSON, or in JSON_MIN or CSV, which have no skips."""
        answers: list[ToolAnswer] = []
        findings: list[Finding] = []
        n_drafts, lacks = 0, dict[str, None]()
        for file in files:
            is_table = file.suffix in _TABLES
            if is_table:
                table = parse_csv(file.text, file.place)
                require_columns(file.place, table.header, [KEY])
                rows = zip(table.lines, table.rows, strict=True)
                records = [Record(line, dict(zip(table.header, row, strict=False))) for line, row in rows]
            else:
                records = read_json_list(file)
            is_full = any("annotations" in record.value for record in records)
            if any(record.value.keys() == {"data"} for record in records):
                raise InputError(f"{file.place}: these are the tasks of the project, not an export of Label Studio")
            if records and not is_full:
                kind = "CSV" if is_table else "JSON_MIN"
                lacks[f"{file.place}: an export in {kind} has no skips and no drafts; one in JSON has them"] = None
            for record in records:
                read_record = _read_task if is_full else _read_row
                try:
                    answers += read_record(file, record, form)
                    n_drafts += len(record.value.get("drafts") or [])
                except (TypeError, ValueError, KeyError, AttributeError) as error:
                    why = f"{error} is missing" if isinstance(error, KeyError) else f"{error}"
                    edited = f"this is not a task as Label Studio exports it ({why}); was the file edited by hand?"
                    message = str(error) if isinstance(error, InputError) else edited
                    findings.append(Finding(file.place, record.line, message))
        return ToolExport(answers, [*lacks], findings, n_drafts)


_BESIDE_ANSWERS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")


def format_config(project: Project) -> str:
    """The labelling configuration of a project."""
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Style").text = f".lsf-richtext__line {{ {DIRECTIONS}; width: 100% }}"
    for at, heading in enumerate(project.headings, 1):
        ElementTree.SubElement(view, "Header", value=_verbatim(heading))
        ElementTree.SubElement(view, "Text", name=f"{_TEXT}{at}", value=f"${_TEXT}{at}")
    for name, question in project.form.questions:
        ElementTree.SubElement(view, "Header", value=name)
        if not (options := option_names(question)):
            _add_box(view, name, required=True)
            continue
        number = "multiple" if isinstance(question, AnyOf) else "single"
        choices = ElementTree.SubElement(view, "Choices", name=name, toName=f"{_TEXT}1", choice=number, required="true")
        for option in options:
            choice = ElementTree.SubElement(choices, "Choice", value=_verbatim(option))
            if "$" in option:
                choice.set("alias", option)  # which is what the export has
    ElementTree.SubElement(view, "Header", value="Note")
    _add_box(view, note_name(project.form), required=False)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def _verbatim(text: str) -> str:
    """A text in which Label Studio takes nothing for a variable, by an invisible sign after each dollar sign."""
    return text.replace("$", "$\u2060")


def _add_box(view: ElementTree.Element, name: str, *, required: bool) -> None:
    limits = {"rows": "3", "maxSubmissions": "1", "editable": "true", "required": str(required).lower()}
    ElementTree.SubElement(view, "TextArea", {"name": name, "toName": f"{_TEXT}1", **limits})


def _read_task(file: ExportFile, record: Record, form: Form) -> Iterator[ToolAnswer]:
    """The answers on a task of an export in JSON; an annotation without any result says nothing."""
    data = record.value["data"]
    for annotation in record.value["annotations"]:
        words = _results(annotation.get("result") or [], form)
        note = "\n".join(words.pop(note_name(form), ()))
        is_skip = bool(annotation.get("was_cancelled"))
        if words or note or is_skip:
            yield ToolAnswer(
                file.place,
                record.line,
                _user(annotation.get("completed_by")),
                as_text(data.get(KEY)),
                {} if is_skip else words,
                note,
                is_skip,
                _seconds(annotation.get("lead_time")),
                as_text(annotation.get("updated_at")),
                _texts(data),
            )


def _results(results: Sequence[Mapping[str, Any]], form: Form) -> dict[str, list[str]]:
    """What was chosen or written, by question; raises InputError for a result that is about none."""
    expected, words = {*dict(form.questions), note_name(form)}, dict[str, list[str]]()
    for result in results:
        name, kind = str(result["from_name"]), str(result["type"])
        if name not in expected or kind not in _PART_BY_TYPE:
            raise InputError(f"`{name}` ({kind}) is not a question of this round; is the configuration another one?")
        words.setdefault(name, []).extend(map(as_text, result["value"][_PART_BY_TYPE[kind]]))
    return words


def _read_row(file: ExportFile, record: Record, form: Form) -> Iterator[ToolAnswer]:
    """The answer of a row of an export in JSON_MIN or CSV."""
    row = record.value
    words = {name: _words(row.get(name), question) for name, question in form.questions}
    note = "\n".join(_listed(row.get(note_name(form))))
    if any(words.values()) or note:
        yield ToolAnswer(
            file.place,
            record.line,
            _user(row.get("annotator")),
            as_text(row.get(KEY)),
            {name: chosen for name, chosen in words.items() if chosen},
            note,
            seconds=_seconds(row.get("lead_time")),
            at=as_text(row.get("updated_at")),
            shown=_texts(row),
        )


def _words(value: Any, question: Question[Any]) -> list[str]:
    """What a cell says: one word, or of several choices `{"choices": [..]}`, which a CSV has as text."""
    if isinstance(value, str) and value.startswith("{") and option_names(question):
        value = parse_json(value)
    return _listed(value["choices"] if isinstance(value, dict) else value)


def _listed(value: Any) -> list[str]:
    if value is None or value == "":
        return []
    return [as_text(one) for one in (value if isinstance(value, list) else [value])]


def _user(completed_by: Any) -> str:
    """The e-mail address of who answered, where it is there, else the number; empty where nobody is named."""
    if isinstance(completed_by, Mapping):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return as_text(completed_by).strip()


def _seconds(lead_time: Any) -> float:
    return float("nan") if lead_time is None or lead_time == "" else parse_seconds(lead_time)


def _texts(data: Mapping[str, Any]) -> str:
    numbers = (name.removeprefix(_TEXT) for name in data if name.startswith(_TEXT))
    names = sorted((number for number in numbers if number.isdecimal()), key=int)
    return "\n\n".join(as_text(data[f"{_TEXT}{name}"]) for name in names)
