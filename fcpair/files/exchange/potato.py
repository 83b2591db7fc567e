"""Potato: one project for everybody, with each item assigned to its people; exports in JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fcpair.errors import Finding
from fcpair.files.exchange.annotation_tool import (
    DIRECTIONS,
    KEY,
    AnnotationTool,
    Item,
    Project,
    ToolAnswer,
    ToolExport,
    format_html,
    format_people,
    format_readme,
    note_name,
    option_names,
    to_json_lines,
)
from fcpair.files.exchange.export_files import PEOPLE, ExportFile, read_json_lines
from fcpair.stages.questions import AnyOf, Form, Question
from fcpair.values import as_text

DATA, STYLE, OUTPUT, BOX = "data/items.jsonl", "style.css", "annotation_output", "text_box"
LACKS = "Potato's exports have no skips, no times and no texts, and only the last of several answers"
_README = """
One project for everybody: each item says who gets it. In a virtual environment, in this folder:

    pip install potato-annotation==2.12.1
    potato start config.yaml -p 8000

People open http://localhost:8000, register once under the names of the table above, with a password of their own, and
get their own items; *Progress* there counts those of everybody. Nobody else can register. `--host 127.0.0.1` keeps the
server on this machine. Potato shows a page at the end; what somebody changes after that is not in its exports.

When they are done, in this folder (the files in `{output}/exports` may lag behind):

    python -m potato.export -c config.yaml -f jsonl -o out
    fcpair {command} out/annotations.jsonl --reader potato --people people.csv
"""


class Potato(AnnotationTool):
    """Potato 2.12."""

    name, title, is_shared = "potato", "Potato", True

    def shown_text(self, headings: Sequence[str], texts: Sequence[str]) -> str:
        """The texts as HTML, since Potato shows them so."""
        return format_html(headings, texts)

    def write(self, project: Project) -> dict[str, str]:
        """`config.yaml` and its style, the items of everybody with the people of each, `people.csv` and `README.md`."""
        steps = _README.format(command=project.command, output=OUTPUT)
        return {
            "README.md": format_readme(project, self.title, steps),
            "config.yaml": json.dumps(_config(project), ensure_ascii=False, indent=1) + "\n",  # JSON is YAML
            DATA: to_json_lines([self._record(project, item, people) for item, people in _items(project)]),
            STYLE: f"#text-content {{ {DIRECTIONS} }}\n",
            PEOPLE: format_people({name: name for name in project.shards}),
        }

    def _record(self, project: Project, item: Item, people: Sequence[str]) -> dict[str, Any]:
        text = self.shown_text(project.headings, item.texts)
        return {KEY: str(item.key), "text": text, "assigned_annotators": list(people)}

    def read(self, files: Sequence[ExportFile], form: Form) -> ToolExport:
        """Read what `potato.export -f jsonl` writes."""
        answers: list[ToolAnswer] = []
        findings: list[Finding] = []
        for file in files:
            for line, value in read_json_lines(file, findings):
                labels = value.get("labels")
                if not isinstance(labels, dict) or not all(isinstance(one, dict) for one in labels.values()):
                    findings.append(Finding(file.place, line, _not_of_potato(value)))
                    continue
                words = {name: _words(labels[name], question) for name, question in form.questions if name in labels}
                note = as_text(labels.get(note_name(form), {}).get(BOX))
                if note or any(words.values()):
                    key, user = as_text(value.get("instance_id")), as_text(value.get("user_id"))
                    answers.append(ToolAnswer(file.place, line, user, key, words, note))
        return ToolExport(answers, [LACKS], findings)


def _not_of_potato(value: Mapping[str, Any]) -> str:
    missing = "" if "labels" in value else "there are no `labels`; is it what `python -m potato.export -f jsonl` wrote?"
    return missing or "`labels` is no object of objects, as Potato's is"


def _items(project: Project) -> Iterator[tuple[Item, list[str]]]:
    """Each item once, with those who get it."""
    people_by_item: dict[Item, list[str]] = {}
    for person, items in project.shards.items():
        for item in items:
            people_by_item.setdefault(item, []).append(person)
    yield from people_by_item.items()


def _config(project: Project) -> dict[str, Any]:
    questions = [_scheme(name, question) for name, question in project.form.questions]
    note = _box(note_name(project.form), "Note", required=False)
    return {
        "annotation_task_name": project.title,
        "task_dir": ".",
        "output_annotation_dir": OUTPUT,
        "output_annotation_format": "jsonl",
        "data_files": [DATA],
        "base_css": STYLE,
        "item_properties": {"id_key": KEY, "text_key": "text"},
        "require_password": True,
        "user_config": {"allow_all_users": False, "users": list(project.shards)},
        "assignment_strategy": "batch",
        "batch_assignment": {"enabled": True},
        "annotation_schemes": [*questions, note],
    }


def _scheme(name: str, question: Question[Any]) -> dict[str, Any]:
    options = option_names(question)
    if not options:
        return _box(name, name, required=True)
    return {
        "annotation_type": "multiselect" if isinstance(question, AnyOf) else "radio",
        "name": name,
        "description": name,
        "labels": options,
        "label_requirement": {"required": True},
    }


def _box(name: str, description: str, *, required: bool) -> dict[str, Any]:
    return {
        "annotation_type": "text",
        "name": name,
        "description": description,
        "textarea": {"on": True, "rows": 3},
        "label_requirement": {"required": required},
    }


def _words(labels: Mapping[str, Any], question: Question[Any]) -> list[str]:
    """What was chosen, which are the names of the labels, or written."""
    return list(labels) if option_names(question) else [as_text(text) for text in labels.values() if as_text(text)]
