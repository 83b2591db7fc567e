"""Prodigy: one data set and one server a person, which ask one question; exports by `db-out`, in JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fcpair.errors import Finding, InputError
from fcpair.files.exchange.annotation_tool import (
    DIRECTIONS,
    KEY,
    NOTE,
    AnnotationTool,
    Item,
    Project,
    ToolAnswer,
    ToolExport,
    format_html,
    format_people,
    format_readme,
    option_names,
    to_json_lines,
)
from fcpair.files.exchange.export_files import PEOPLE, ExportFile, read_json_lines
from fcpair.stages.questions import AnyOf, Form
from fcpair.values import as_text

BOX = f"{KEY}_text"  # the field of a text that is the answer
_UNNAMED = re.compile(r"(?:.*-)?\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d")  # a session that nobody named is called by its time
_README = """
One data set and one server for each person, each with a port of its own. Prodigy is not on PyPI: install it with the
key of your licence. In this folder, for each person:

    PRODIGY_PORT=8080 prodigy mark {name}-{person} {person}.jsonl --loader jsonl --view-id blocks

`prodigy.json` here has the blocks of a page. Give the person the link http://localhost:8080/?session={person}: without
`?session=` nobody is named in the export. When they are done:

    prodigy db-out {name}-{person} > {person}-answers.jsonl
    fcpair {command} {person}-answers.jsonl --reader prodigy --people people.csv
"""


class Prodigy(AnnotationTool):
    """Prodigy 1.11 and later, as its documentation has it: it shows `html`, since it breaks no lines of `text`."""

    name, title, most_questions = "prodigy", "Prodigy", 1

    def write(self, project: Project) -> dict[str, str]:
        """The tasks of each person as JSON lines, `prodigy.json`, `people.csv` and `README.md`."""
        person = next(iter(project.shards))
        steps = _README.format(name=project.name, person=person, command=project.command)
        shards = {
            f"{name}.jsonl": to_json_lines([self._task(project, item) for item in items])
            for name, items in project.shards.items()
        }
        return {
            "README.md": format_readme(project, self.title, steps),
            "prodigy.json": json.dumps(_config(project.form), indent=1) + "\n",
            PEOPLE: format_people({name: f"{project.name}-{name}-{name}" for name in project.shards}),
            **shards,
        }

    def _task(self, project: Project, item: Item) -> dict[str, Any]:
        options = option_names(project.form.questions[0][1])
        task = {
            KEY: str(item.key),
            "text": self.shown_text(project.headings, item.texts),
            "html": f'<div style="{DIRECTIONS}">{format_html(project.headings, item.texts)}</div>',
        }
        return task | ({"options": [{"id": option, "text": option} for option in options]} if options else {})

    def names_nobody(self, user: str) -> bool:
        """Whether a session was opened without a name."""
        return super().names_nobody(user) or _UNNAMED.fullmatch(user) is not None

    def read(self, files: Sequence[ExportFile], form: Form) -> ToolExport:
        """Read what `db-out` writes; `ignore` is a skip."""
        answers: list[ToolAnswer] = []
        findings: list[Finding] = []
        for file in files:
            for line, value in read_json_lines(file, findings):
                try:
                    answers.append(_read_task(file, line, value, form))
                except (TypeError, ValueError, OverflowError, OSError) as error:
                    message = str(error) if isinstance(error, InputError) else f"no task of an export ({error})"
                    findings.append(Finding(file.place, line, message))
        return ToolExport(answers, ["Prodigy's exports do not say how long an answer took"], findings)


def _config(form: Form) -> dict[str, Any]:
    question = form.questions[0][1]
    note = {"view_id": "text_input", "field_id": NOTE, "field_label": "Note", "field_rows": 2}
    box = {"view_id": "text_input", "field_id": BOX, "field_label": "Answer", "field_rows": 4}
    choice = {"view_id": "choice", "text": None, "html": None}  # which it would show a second time
    return {
        "blocks": [{"view_id": "html"}, choice if option_names(question) else box, note],
        "choice_style": "multiple" if isinstance(question, AnyOf) else "single",
        "buttons": ["accept", "ignore", "undo"],
        "feed_overlap": True,
    }


def _read_task(file: ExportFile, line: int, value: Mapping[str, Any], form: Form) -> ToolAnswer:
    name, question = form.questions[0]
    act = value.get("answer")
    if act not in {"accept", "ignore"}:
        raise InputError(f"`answer` is `{act}`; expected accept, or ignore for a skip")
    chosen = value.get("accept") if option_names(question) else [value.get(BOX)]
    if not isinstance(chosen, list | None):
        raise InputError("`accept` is no list, as Prodigy's is")
    words = [as_text(word) for word in chosen or () if word not in (None, "")]
    return ToolAnswer(
        file.place,
        line,
        as_text(value.get("_annotator_id") or value.get("_session_id")),
        as_text(value.get(KEY)),
        {name: words} if words and act == "accept" else {},
        as_text(value.get(NOTE)),
        act == "ignore",
        at=_time(value.get("_timestamp")),
        shown=as_text(value.get("text")),
    )


def _time(seconds: Any) -> str:
    """The time so many seconds after 1970; empty where it is not known."""
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(float("nan") if isinstance(seconds, bool) else float(seconds), UTC).isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        raise InputError(f"`{seconds}` is not a time; expected seconds since 1970, as Prodigy writes them") from None
