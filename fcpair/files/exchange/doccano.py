"""doccano: one project a person, which asks one question; exports of each user apart, in JSON lines."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from fcpair.errors import Finding
from fcpair.files.exchange.annotation_tool import (
    KEY,
    AnnotationTool,
    Item,
    Project,
    ToolAnswer,
    ToolExport,
    format_people,
    format_readme,
    option_names,
    to_json_lines,
)
from fcpair.files.exchange.export_files import PEOPLE, ExportFile, read_json_lines
from fcpair.stages.questions import AnyOf, Form
from fcpair.values import as_text

EVERYBODY = "all"  # the name of the file of a project that is annotated together
LACKS = "doccano's exports have no skips and no times, and only the last of several answers"
_COLOURS = ("#1f6feb", "#8250df", "#bf3989", "#9a6700", "#1a7f37", "#cf222e")
_README = """
One project for each person. In a virtual environment; without these two limits doccano does not start:

    pip install doccano==1.8.4 'marshmallow<4' 'numpy<2'
    doccano init
    doccano createuser --username admin --password PASSWORD
    doccano webserver --port 8000
    doccano task

The last two go on, each in a terminal of its own. Make a user for each person at http://localhost:8000/admin/. Then, at
http://localhost:8000, for each person:

1. *Create*: {kind}. Leave *Share annotations across all users* off: only then is it known who answered.
2. *Dataset*, *Import*, *JSONL*: the file of that person, such as `{person}.jsonl`.{labels}
3. *Members*: add the person as *annotator*. Whoever leads is *project admin*, and labels nothing there.

When they are done, *Dataset*, *Export*, *JSONL*: a zip file with a file for each user. The name of that file is the
user; write it beside the person into `people.csv`, where it is not the same. Put the exports into this folder. Then,
here:

    fcpair {command} *.zip --reader doccano --people people.csv
"""


class Doccano(AnnotationTool):
    """doccano 1.8."""

    name, title, most_questions = "doccano", "doccano", 1
    suffixes = (".jsonl", ".json")

    def write(self, project: Project) -> dict[str, str]:
        """The texts of each person as JSON lines, `labels.json` where there are options, `people.csv`, `README.md`."""
        question = project.form.questions[0][1]
        options, person = option_names(question), next(iter(project.shards))
        single = "" if isinstance(question, AnyOf) else ", with *Allow single label*"
        steps = _README.format(
            person=person,
            command=project.command,
            kind=f"*Text Classification*{single}" if options else "*Sequence to Sequence*",
            labels=" *Labels*, *Import Labels*: `labels.json`." if options else "",
        )
        shards = {
            f"{name}.jsonl": to_json_lines([self._record(project, item) for item in items])
            for name, items in project.shards.items()
        }
        labels = {"labels.json": json.dumps(_label_types(options), ensure_ascii=False, indent=1) + "\n"}
        return {
            "README.md": format_readme(project, self.title, steps),
            PEOPLE: format_people({name: name for name in project.shards}),
            **(labels if options else {}),
            **shards,
        }

    def _record(self, project: Project, item: Item) -> dict[str, Any]:
        """An item; without a `label` doccano takes it, and reports an error."""
        return {"text": self.shown_text(project.headings, item.texts), "label": [], KEY: str(item.key)}

    def shown_text(self, headings: Sequence[str], texts: Sequence[str]) -> str:
        """The texts below their headings; invisible signs let each line that has letters from right to left begin with
        its own direction, for which doccano has no setting.
        """
        return "\n".join(map(_isolate, super().shown_text(headings, texts).split("\n")))

    def names_nobody(self, user: str) -> bool:
        """Whether the file is that of a project that is annotated together."""
        return super().names_nobody(user) or user == EVERYBODY

    def read(self, files: Sequence[ExportFile], form: Form) -> ToolExport:
        """Read the files of users; in one called `all` nobody is named."""
        question = form.questions[0][0]
        answers: list[ToolAnswer] = []
        findings: list[Finding] = []
        for file in files:
            for line, value in read_json_lines(file, findings):
                words, notes = value.get("label"), value.get("Comments") or []
                if not isinstance(words, list) or not isinstance(notes, list):
                    findings.append(Finding(file.place, line, _not_of_doccano(value)))
                elif words:
                    answers.append(
                        ToolAnswer(
                            file.place,
                            line,
                            file.stem,
                            as_text(value.get(KEY)),
                            {question: [as_text(word) for word in words]},
                            "\n".join(map(as_text, notes)),
                            shown=as_text(value.get("text")),
                        )
                    )
        return ToolExport(answers, [LACKS], findings)


def _isolate(line: str) -> str:
    is_right_to_left = any(unicodedata.bidirectional(sign) in {"R", "AL"} for sign in line)
    return f"\u2068{line}\u2069" if is_right_to_left else line


def _not_of_doccano(value: Mapping[str, Any]) -> str:
    missing = "" if "label" in value else "there is no `label`; is it an export of doccano?"
    return missing or "`label` and `Comments` are no lists, as doccano's are"


def _label_types(options: Sequence[str]) -> list[dict[str, str | None]]:
    """The labels of a project, with the numbers as keys of the first nine."""
    return [
        {
            "text": option,
            "suffix_key": str(at) if at < 10 else None,
            "background_color": _COLOURS[at % len(_COLOURS)],
            "text_color": "#ffffff",
        }
        for at, option in enumerate(options, 1)
    ]
