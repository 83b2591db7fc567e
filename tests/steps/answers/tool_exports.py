"""Exports of annotation tools in the shapes that the tools write, made of a project and what people say in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

NOTE = 'two\nlines, "é" نه 😀 =1+1'
DAY = "2026-11-26T05:08:{:02}.318037Z"


class Said(NamedTuple):
    """What somebody says of an item: of each question what is chosen or written, a note, whether it is skipped."""

    words: Mapping[str, list[str]]
    note: str = ""
    skips: bool = False
    second: int = 0


class Task(NamedTuple):
    """An item of a project: who gets it, its key, the record that the tool was given, and who they are there."""

    person: str
    key: str
    record: dict[str, Any]
    user: str = ""

    @property
    def number(self) -> int:
        return int(self.key.split(":")[-2])


Answers = Iterable[tuple[Task, Said]]


def tasks_of(tool: str, folder: Path) -> list[Task]:
    """Every item of a project that was written for a tool, by person."""
    if tool == "potato":
        records = json_lines(folder / "data" / "items.jsonl")
        return [Task(who, one["fcpair"], one) for one in records for who in one["assigned_annotators"]]
    if tool == "label-studio":
        paths = sorted(folder.glob("*.json"))
        return [
            Task(path.stem, one["data"]["fcpair"], one["data"])
            for path in paths
            for one in json.loads(path.read_text())
        ]
    users = {person: user for user, person in (line.split(",") for line in _lines(folder / "people.csv"))}
    shards = [path for path in sorted(folder.glob("*.jsonl")) if path.stem in users]
    return [Task(path.stem, one["fcpair"], one, users[path.stem]) for path in shards for one in json_lines(path)]


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def export(tool: str, folder: Path, answers: Answers) -> Path:
    """Write what a tool would export of these answers into a folder that is not there yet."""
    folder.mkdir()
    for name, content in EXPORTS[tool](answers).items():
        (folder / name).write_text(content, "utf-8")
    return folder


def _label_studio(answers: Answers) -> dict[str, str]:
    tasks: dict[str, dict[str, Any]] = {}
    for at, (task, said) in enumerate(answers, 1):
        results = [_result(name, words) for name, words in said.words.items()]
        results += [_result("note", [said.note])] if said.note else []
        annotation = {
            "id": at,
            "completed_by": {"id": 7, "email": f"{task.person}@example.org", "first_name": "", "last_name": ""},
            "result": [] if said.skips else results,
            "was_cancelled": said.skips,
            "created_at": DAY.format(0),
            "updated_at": DAY.format(said.second),
            "lead_time": 3.5,
        }
        entry = tasks.setdefault(
            task.person + task.key, {"id": at, "annotations": [], "drafts": [], "data": task.record}
        )
        entry["annotations"].append(annotation)
    return {"project-1.json": json.dumps([*tasks.values()])}


def _result(name: str, words: list[str]) -> dict[str, Any]:
    kind, part = ("textarea", "text") if name in {"note", "text", "fcpair_note"} else ("choices", "choices")
    return {"from_name": name, "to_name": "fcpair_1", "type": kind, "value": {part: words}}


def _potato(answers: Answers) -> dict[str, str]:
    lines = []
    for task, said in answers:
        labels = {name: _labels(name, words) for name, words in said.words.items()}
        labels |= {"note": {"text_box": said.note}} if said.note else {}
        if labels:
            row = {"instance_id": task.key, "user_id": task.person, "labels": labels, "spans": {}, "links": {}}
            lines.append(json.dumps(row, ensure_ascii=False))
    return {"annotations.jsonl": "\n".join([*lines, ""])}


def _labels(name: str, words: list[str]) -> dict[str, str]:
    return {"text_box": words[0]} if name == "text" else {word: word for word in words}


def _doccano(answers: Answers) -> dict[str, str]:
    lines: dict[str, list[str]] = {}
    for at, (task, said) in enumerate(answers, 1):
        labels = [word for words in said.words.values() for word in words]
        row = {"id": at, **task.record, "label": labels, "Comments": [said.note] if said.note else []}
        lines.setdefault(f"{task.person}.jsonl", []).append(json.dumps(row, ensure_ascii=False))
    return {name: "\n".join([*rows, ""]) for name, rows in lines.items()}


def _prodigy(answers: Answers) -> dict[str, str]:
    lines: dict[str, list[str]] = {}
    for task, said in answers:
        words = [word for words in said.words.values() for word in words]
        said_there = {"accept": words} if "options" in task.record else {"fcpair_text": "\n".join(words)}
        act = "ignore" if said.skips else "accept"
        row = task.record | said_there | {"note": said.note, "answer": act, "_timestamp": 1764133200 + said.second}
        line = json.dumps(row | {"_annotator_id": task.user, "_session_id": task.user, "_view_id": "blocks"})
        lines.setdefault(f"{task.person}-answers.jsonl", []).append(line)
    return {name: "\n".join([*rows, ""]) for name, rows in lines.items()}


EXPORTS: dict[str, Callable[[Answers], dict[str, str]]] = {
    "label-studio": _label_studio,
    "potato": _potato,
    "doccano": _doccano,
    "prodigy": _prodigy,
}


def people_table(tool: str, project: Path) -> Path:
    """The table of users and people, as somebody has filled it in."""
    table = project / "people.csv"
    if tool == "label-studio":
        lines = (f"{line.strip(',')}@example.org{line}" if line.startswith(",") else line for line in _lines(table))
        table.write_text("\n".join([*lines, ""]), "utf-8")
    return table


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()
