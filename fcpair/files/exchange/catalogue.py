"""The annotation tools that work can be written for and exports read from.

Label Studio has a project for each person, with a configuration in XML; the others take and give JSON lines.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, ClassVar
from xml.etree import ElementTree

from fcpair.errors import Finding, InputError, suggest_name
from fcpair.files.answers.answer_files import parse_seconds
from fcpair.files.exchange.annotation_tool import (
    DIRECTIONS,
    KEY,
    NOTE,
    PEOPLE,
    AnnotationTool,
    ExportFile,
    Item,
    Project,
    ToolAnswer,
    ToolExport,
    format_html,
    format_people,
    note_name,
    option_names,
    to_json_lines,
)
from fcpair.files.tables.tabular import require_columns
from fcpair.files.tables.text_files import Record, parse_csv, read_records
from fcpair.param_values import check_rules
from fcpair.sentences import isolate, mark, say
from fcpair.stages.questions import AnyOf, Form, Question
from fcpair.values import as_text, parse_json

_COLOURS = {  # as fcpair.css has them on white
    **{"purple": "#6b3fb3", "pink": "#a82670", "yellow": "#7a5d00", "green": "#1a6b3c", "red": "#b3261e"},
    **{"blue": "#1c5bb8", "teal": "#00686c", "orange": "#a84300", "grey": "#56606f"},
}
_TEXT = f"{KEY}_"  # begins the names of the texts of an item, which are numbered
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
            texts = [{f"{_TEXT}{at}": text for at, text in enumerate(item.texts, 1)} for item in items]
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
        answers, findings = list[ToolAnswer](), list[Finding]()
        n_drafts, lacks = 0, dict[str, None]()
        for file in files:
            if is_table := PurePosixPath(file.place).suffix.lower() in (".csv", ".tsv"):
                table = parse_csv(file.text, file.place)
                require_columns(file.place, table.header, [KEY])
                rows = zip(table.lines, table.rows, strict=True)
                records = [Record(line, dict(zip(table.header, row, strict=False))) for line, row in rows]
            elif file.text.lstrip().startswith("["):
                records = read_records(file.text, file.place, [])
            else:
                finding = Finding(file.place, 1, say("expected an export in JSON, which is one list of objects"))
                raise InputError(say("%(file)s: cannot be read", file=file.place), [finding])
            is_full = any("annotations" in record.value for record in records)
            if any(record.value.keys() == {"data"} for record in records):
                tasks = mark("%(file)s: these are the tasks of the project, not an export of Label Studio")
                raise InputError.say(tasks, file=file.place)
            if records and not is_full:
                kind = "CSV" if is_table else "JSON_MIN"
                lacks[f"{file.place}: an export in {kind} has no skips and no drafts; one in JSON has them"] = None
            for record in records:
                try:
                    answers += (_read_task if is_full else _read_row)(file, record, form)
                    n_drafts += len(record.value.get("drafts") or [])
                except (TypeError, ValueError, KeyError, AttributeError) as error:
                    why = say("%(name)s is missing", name=str(error)) if isinstance(error, KeyError) else str(error)
                    edited = mark("no task as Label Studio exports it (%(why)s); was the file edited by hand?")
                    message = why if isinstance(error, InputError) else say(edited, why=why)
                    findings.append(Finding(file.place, record.line, message))
        return ToolExport(answers, [*lacks], findings, n_drafts)


_BESIDE_ANSWERS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")


def format_config(project: Project) -> str:
    """The labelling configuration of a project."""
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Style").text = f".lsf-richtext__line {{ {DIRECTIONS}; width: 100% }}"
    unread = "$\u2060"  # an invisible sign, so that Label Studio takes nothing for a variable
    for at, heading in enumerate(project.headings, 1):
        ElementTree.SubElement(view, "Header", value=heading.replace("$", unread))
        ElementTree.SubElement(view, "Text", name=f"{_TEXT}{at}", value=f"${_TEXT}{at}")
    boxes: list[tuple[str, str, Question[Any] | None]] = [("Note", note_name(project.form), None)]
    for title, name, question in [*((name, name, of) for name, of in project.form.questions), *boxes]:
        ElementTree.SubElement(view, "Header", value=title)
        if question is None or not (options := project.options(name, question)):
            required = "false" if question is None else "true"
            limits = {"rows": "3", "maxSubmissions": "1", "editable": "true", "required": required}
            ElementTree.SubElement(view, "TextArea", {"name": name, "toName": f"{_TEXT}1", **limits})
            continue
        number = "multiple" if isinstance(question, AnyOf) else "single"
        choices = ElementTree.SubElement(view, "Choices", name=name, toName=f"{_TEXT}1", choice=number, required="true")
        for option, own in options.items():
            marks = {"alias": option} if "$" in option else {}  # which is what the export has
            marks |= {"hotkey": own.key} if own.key else {}
            marks |= {"style": f"border-left: 6px solid {_COLOURS[own.colour]}"} if own.colour else {}
            ElementTree.SubElement(choices, "Choice", {"value": option.replace("$", unread), **marks})
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def _read_task(file: ExportFile, record: Record, form: Form) -> Iterator[ToolAnswer]:
    data, expected = record.value["data"], {*dict(form.questions), note_name(form)}
    for annotation in record.value["annotations"]:
        words = dict[str, list[str]]()
        for result in annotation.get("result") or []:
            name, kind = str(result["from_name"]), str(result["type"])
            if name not in expected or kind not in _PART_BY_TYPE:
                other = mark("`%(name)s` is not a question of this round; is the configuration another one?")
                raise InputError.say(other, name=name)
            words.setdefault(name, []).extend(map(as_text, result["value"][_PART_BY_TYPE[kind]]))
        note, is_skip = "\n".join(words.pop(note_name(form), ())), bool(annotation.get("was_cancelled"))
        if words or note or is_skip:
            user = annotation.get("completed_by")
            yield _answer(file, record, data, annotation, user, {} if is_skip else words, note, is_skip=is_skip)


def _read_row(file: ExportFile, record: Record, form: Form) -> Iterator[ToolAnswer]:
    row, words = record.value, dict[str, list[str]]()
    for name, question in form.questions:
        value = row.get(name)  # one word, or of several choices `{"choices": [..]}`, which a CSV has as text
        if isinstance(value, str) and value.startswith("{") and option_names(question):
            value = parse_json(value)
        if chosen := _listed(value["choices"] if isinstance(value, dict) else value):
            words[name] = chosen
    note = "\n".join(_listed(row.get(note_name(form))))
    if words or note:
        yield _answer(file, record, row, row, row.get("annotator"), words, note)


def _listed(value: Any) -> list[str]:
    if value is None or value == "":
        return []
    return [as_text(item) for item in (value if isinstance(value, list) else [value])]


def _answer(
    file: ExportFile,
    record: Record,
    data: Mapping[str, Any],
    act: Mapping[str, Any],
    user: Any,
    words: Mapping[str, Sequence[str]],
    note: str,
    *,
    is_skip: bool = False,
) -> ToolAnswer:
    """An answer on the `data` of a task, with the times of the `act`; a user is known by e-mail address or number."""
    if isinstance(user, Mapping):
        user = user.get("email") or user.get("id")
    lead_time = act.get("lead_time")
    seconds = float("nan") if lead_time is None or lead_time == "" else parse_seconds(lead_time)
    numbers = (name.removeprefix(_TEXT) for name in data if name.startswith(_TEXT))
    names = sorted((number for number in numbers if number.isdecimal()), key=int)
    shown = "\n\n".join(as_text(data[f"{_TEXT}{name}"]) for name in names)
    who, key, at = as_text(user).strip(), as_text(data.get(KEY)), as_text(act.get("updated_at"))
    return ToolAnswer(file.place, record.line, who, key, words, note, is_skip, seconds, at, shown)


class JsonLinesTool(AnnotationTool):
    """A tool whose exports have a JSON object on each line; `lacks` says what they do not have."""

    lacks: ClassVar[str]

    @abstractmethod
    def read_answer(self, file: ExportFile, line: int, value: Mapping[str, Any], form: Form) -> ToolAnswer | None:
        """The answer that an object of an export is, None where nobody has answered; raises InputError for others."""

    def read(self, files: Sequence[ExportFile], form: Form) -> ToolExport:
        """Read exports, object by object."""
        answers, findings = list[ToolAnswer](), list[Finding]()
        for file in files:
            if not file.text.lstrip().startswith(("{", "[")):
                expected = mark("%(file)s: expected an export with a JSON object on each line (JSONL)")
                raise InputError.say(expected, file=file.place)
            for line, value in read_records(file.text, file.place, findings):
                try:
                    if answer := self.read_answer(file, line, value, form):
                        answers.append(answer)
                except (TypeError, ValueError, OverflowError, OSError) as error:
                    none = say("no task of an export (%(why)s)", why=str(error))
                    findings.append(Finding(file.place, line, str(error) if isinstance(error, InputError) else none))
        return ToolExport(answers, [self.lacks], findings)

    def task(self, project: Project, item: Item) -> dict[str, Any]:
        """An item as the tool gets it: its key, and the texts that are shown."""
        return {KEY: str(item.key), "text": self.shown_text(project.headings, item.texts)}

    def shards(self, project: Project) -> dict[str, str]:
        """The tasks of each person, in a file of their own."""
        tasks = {name: [self.task(project, item) for item in items] for name, items in project.shards.items()}
        return {f"{name}.jsonl": to_json_lines(of_person) for name, of_person in tasks.items()}


class Doccano(JsonLinesTool):
    """doccano 1.8."""

    name, title, most_questions = "doccano", "doccano", 1
    unnamed = re.compile("all")  # the file of a project that is annotated together
    lacks = "doccano's exports have no skips and no times, and only the last of several answers"
    suffixes = (".jsonl", ".json")

    def write(self, project: Project) -> dict[str, str]:
        """The texts of each person as JSON lines, `labels.json` if there are options, `people.csv`, `README.md`."""
        name, question = project.form.questions[0]
        options, labels = project.options(name, question), list[dict[str, Any]]()
        keys, colours = {own.key for own in options.values()}, {own.colour for own in options.values()}
        free_colours = [name for name in _COLOURS if name not in colours] or [*_COLOURS]
        for at, (option, own) in enumerate(options.items(), 1):
            key = own.key or (str(at) if at < 10 and str(at) not in keys else None)
            colour = _COLOURS[own.colour or free_colours[at % len(free_colours)]]
            marks = {"suffix_key": key, "background_color": colour, "text_color": "#ffffff"}
            labels.append({"text": option, **marks})
        return {
            "README.md": self.readme(project, options=options, is_single=not isinstance(question, AnyOf)),
            PEOPLE: format_people({name: name for name in project.shards}),
            **({"labels.json": json.dumps(labels, ensure_ascii=False, indent=1) + "\n"} if options else {}),
            **self.shards(project),
        }

    def task(self, project: Project, item: Item) -> dict[str, Any]:
        """An item; without a `label` doccano takes it, and reports an error."""
        return {"text": self.shown_text(project.headings, item.texts), "label": [], KEY: str(item.key)}

    def shown_text(self, headings: Sequence[str], texts: Sequence[str]) -> str:
        """The texts below their headings; invisible signs let lines from right to left run their own way."""
        lines = super().shown_text(headings, texts).split("\n")
        return "\n".join(isolate(line, "ltr") for line in lines)

    def read_answer(self, file: ExportFile, line: int, value: Mapping[str, Any], form: Form) -> ToolAnswer | None:
        """An answer in the file of a user; in one called `all` nobody is named."""
        words, notes = value.get("label"), value.get("Comments") or []
        check_rules(
            ("label" not in value, "there is no `label`; is it an export of doccano?"),
            (
                not (isinstance(words, list) and isinstance(notes, list)),
                "`label` and `Comments` are no lists, as doccano's are",
            ),
        )
        if not words:
            return None
        user, key, shown = PurePosixPath(file.place).stem, as_text(value.get(KEY)), as_text(value.get("text"))
        chosen = {form.questions[0][0]: [as_text(word) for word in words]}
        return ToolAnswer(file.place, line, user, key, chosen, "\n".join(map(as_text, notes)), shown=shown)


DATA, STYLE, OUTPUT, BOX = "data/items.jsonl", "style.css", "annotation_output", "text_box"


class Potato(JsonLinesTool):
    """Potato 2.12."""

    name, title, is_shared = "potato", "Potato", True
    lacks = "Potato's exports have no skips, no times and no texts, and only the last of several answers"

    def shown_text(self, headings: Sequence[str], texts: Sequence[str]) -> str:
        """The texts as HTML, since Potato shows them so."""
        return format_html(headings, texts)

    def write(self, project: Project) -> dict[str, str]:
        """`config.yaml` and its style, the items of everybody with the people of each, `people.csv` and `README.md`."""
        people_by_item: dict[Item, list[str]] = {}
        for person, items in project.shards.items():
            for item in items:
                people_by_item.setdefault(item, []).append(person)
        tasks = [self.task(project, item) | {"assigned_annotators": of} for item, of in people_by_item.items()]
        schemes = []
        for name, question in project.form.questions:
            kind = "multiselect" if isinstance(question, AnyOf) else "radio"
            owned = project.options(name, question).items()
            options = [{"name": option, "key_value": own.key} if own.key else option for option, own in owned]
            choice = {"annotation_type": kind, "name": name, "description": name, "labels": options}
            required = {"label_requirement": {"required": True}}
            schemes.append(choice | required if options else _box(name, name, required=True))
        config = {
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
            "annotation_schemes": [*schemes, _box(note_name(project.form), "Note", required=False)],
        }
        return {
            "README.md": self.readme(project, output=OUTPUT),
            "config.yaml": json.dumps(config, ensure_ascii=False, indent=1) + "\n",  # JSON is YAML
            DATA: to_json_lines(tasks),
            STYLE: f"#text-content {{ {DIRECTIONS} }}\n",
            PEOPLE: format_people({name: name for name in project.shards}),
        }

    def read_answer(self, file: ExportFile, line: int, value: Mapping[str, Any], form: Form) -> ToolAnswer | None:
        """An answer of what `potato.export -f jsonl` writes."""
        if "labels" not in value:
            raise InputError("there are no `labels`; is it what `python -m potato.export -f jsonl` wrote?")
        labels = value["labels"]
        if not isinstance(labels, dict) or not all(isinstance(label, dict) for label in labels.values()):
            raise InputError("`labels` is no object of objects, as Potato's is")
        words = {}
        for name, question in form.questions:
            if of := labels.get(name):  # what was chosen are the names of the labels
                words[name] = list(of) if option_names(question) else list(filter(None, map(as_text, of.values())))
        if not (note := as_text(labels.get(note_name(form), {}).get(BOX))) and not any(words.values()):
            return None
        user, key = as_text(value.get("user_id")), as_text(value.get("instance_id"))
        return ToolAnswer(file.place, line, user, key, words, note)


def _box(name: str, description: str, *, required: bool) -> dict[str, Any]:
    box = {"annotation_type": "text", "name": name, "description": description, "textarea": {"on": True, "rows": 3}}
    return {**box, "label_requirement": {"required": required}}


_TEXT_FIELD = f"{KEY}_text"  # the field of a text that is the answer


class Prodigy(JsonLinesTool):
    """Prodigy 1.11 and later, as its documentation has it: it shows `html`, since it breaks no lines of `text`."""

    name, title, most_questions = "prodigy", "Prodigy", 1
    unnamed = re.compile(r"(?:.*-)?\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d")  # the time of a session that nobody named
    lacks = "Prodigy's exports do not say how long an answer took"

    def write(self, project: Project) -> dict[str, str]:
        """The tasks of each person as JSON lines, `prodigy.json`, `people.csv` and `README.md`."""
        question = project.form.questions[0][1]
        note = {"view_id": "text_input", "field_id": NOTE, "field_label": "Note", "field_rows": 2}
        box = {"view_id": "text_input", "field_id": _TEXT_FIELD, "field_label": "Answer", "field_rows": 4}
        choice = {"view_id": "choice", "text": None, "html": None}  # which it would show a second time
        config = {
            "blocks": [{"view_id": "html"}, choice if option_names(question) else box, note],
            "choice_style": "multiple" if isinstance(question, AnyOf) else "single",
            "buttons": ["accept", "ignore", "undo"],
            "feed_overlap": True,
        }
        return {
            "README.md": self.readme(project),
            "prodigy.json": json.dumps(config, indent=1) + "\n",
            PEOPLE: format_people({name: f"{project.name}-{name}-{name}" for name in project.shards}),
            **self.shards(project),
        }

    def task(self, project: Project, item: Item) -> dict[str, Any]:
        """An item, with its options if there are any."""
        options = option_names(project.form.questions[0][1])
        html = f'<div style="{DIRECTIONS}">{format_html(project.headings, item.texts)}</div>'
        listed = {"options": [{"id": option, "text": option} for option in options]} if options else {}
        return super().task(project, item) | {"html": html} | listed

    def read_answer(self, file: ExportFile, line: int, value: Mapping[str, Any], form: Form) -> ToolAnswer:
        """An answer of what `db-out` writes; `ignore` is a skip."""
        name, question = form.questions[0]
        act, seconds = value.get("answer"), value.get("_timestamp")
        if act not in {"accept", "ignore"}:
            raise InputError.say("`answer` is `%(act)s`; expected accept, or ignore for a skip", act=str(act))
        chosen = value.get("accept") if option_names(question) else [value.get(_TEXT_FIELD)]
        if not isinstance(chosen, list | None):
            raise InputError.say("`accept` is no list, as Prodigy's is")
        words = [as_text(word) for word in chosen or () if word not in (None, "")]
        try:
            since_s = float("nan" if isinstance(seconds, bool) else 0 if seconds is None else seconds)
            at = "" if seconds is None else datetime.fromtimestamp(since_s, UTC).isoformat()
        except (TypeError, ValueError, OverflowError, OSError):
            expected = mark("`%(time)s` is not a time; expected seconds since 1970, as Prodigy writes them")
            raise InputError.say(expected, time=str(seconds)) from None
        user, answer = value.get("_annotator_id") or value.get("_session_id"), {name: words} if words else {}
        user, key, note, shown = map(as_text, (user, *map(value.get, (KEY, NOTE, "text"))))
        is_skip = act == "ignore"
        return ToolAnswer(file.place, line, user, key, {} if is_skip else answer, note, is_skip, at=at, shown=shown)


TOOLS: dict[str, AnnotationTool] = {tool.name: tool for tool in (LabelStudio(), Potato(), Doccano(), Prodigy())}


def find_tool(name: str) -> AnnotationTool:
    """The tool of that name; raises InputError with the nearest one if there is none."""
    if name not in TOOLS:
        message = mark("`%(name)s` is no annotation tool here; %(hint)s")
        raise InputError.say(message, name=name, hint=suggest_name(name, TOOLS))
    return TOOLS[name]
