"""Interface of annotation tools: a project that is written for one, and the answers that are read from its export."""

from __future__ import annotations

import hashlib
import html
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from fcpair.errors import Finding
from fcpair.files.exchange.export_files import ExportFile
from fcpair.stages.questions import NO_CODE, AnyOf, Closed, Edit, Form, Question, Text
from fcpair.stages.questions.any_of import NONE

KEY = "fcpair"  # the name of our id in the data of each tool
NOTE = "note"
DIRECTIONS = "unicode-bidi: plaintext; text-align: start"  # lets each line of a text begin where its script does
_LINE_ENDS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
_DIGITS = 12  # of a digest in a key


class ItemKey(NamedTuple):
    """Our id of a cell in a tool: its round, its number as sheets have it, and a digest of the texts that are shown."""

    round_name: str
    number: int
    digest: str

    def __str__(self) -> str:
        return f"{self.round_name}:{self.number}:{self.digest}"

    @classmethod
    def parse(cls, text: str) -> ItemKey:
        """The key that was printed as `text`; its number is -1 where it is none."""
        round_name, number, digest = (["", "", *text.rsplit(":", 2)])[-3:]
        is_key = bool(round_name and digest) and number.isascii() and number.isdecimal() and len(number) <= 18
        return cls(round_name, int(number) if is_key else NO_CODE, digest)


def digest_texts(texts: Sequence[str]) -> str:
    """Digest of the texts of a cell, in their order."""
    return hashlib.sha256(json.dumps(list(texts), ensure_ascii=False).encode("utf-8", "replace")).hexdigest()[:_DIGITS]


class Item(NamedTuple):
    """A cell to be answered in a tool: its key, and the texts that are shown."""

    key: ItemKey
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Project:
    """Work of a round for a tool: `shards` has the items of each person, in the order in which they are shown.

    `headings` are what the study calls the texts of each item, `name` is a word for folders and data sets, and
    `command` reads its export.
    """

    name: str
    title: str
    guidelines: str
    form: Form
    headings: tuple[str, ...]
    shards: Mapping[str, Sequence[Item]]
    command: str


@dataclass(frozen=True)
class ToolAnswer:
    """An answer as an export has it: where it is, who gave it (empty where nobody is named), and on which item.

    `words` has, of each question, what was chosen or written. `at` is in ISO 8601, empty where unknown; `seconds` are
    NaN where unknown. `shown` are the texts of the item, as far as the export has them.
    """

    file: str
    line: int
    user: str
    key: str
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    note: str = ""
    is_skip: bool = False
    seconds: float = float("nan")
    at: str = ""
    shown: str = ""


@dataclass(frozen=True)
class ToolExport:
    """All that an export says: its answers, what it `lacks` (sentences), what is wrong with it, and unsent drafts."""

    answers: Sequence[ToolAnswer]
    lacks: Sequence[str]
    findings: Sequence[Finding] = ()
    n_drafts: int = 0


class AnnotationTool(ABC):
    """An annotation tool: which forms it carries, how its shards are written, and how its exports are read."""

    name: ClassVar[str]
    title: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)
    """Endings of the files that it exports."""
    most_questions: ClassVar[int | None] = None
    is_shared: ClassVar[bool] = False
    """Whether one project, and so one export, is of everybody."""

    @abstractmethod
    def write(self, project: Project) -> dict[str, str]:
        """The files of a project by their paths, with a `README.md` that says how to start it."""

    @abstractmethod
    def read(self, files: Sequence[ExportFile], form: Form) -> ToolExport:
        """The answers of an export; raises InputError for files that cannot be read."""

    def names_nobody(self, user: str) -> bool:
        """Whether what an export calls a user tells nobody apart."""
        return not user

    def shown_text(self, headings: Sequence[str], texts: Sequence[str]) -> str:
        """What the tool is given to show, and what its export has of it."""
        return "\n\n".join(f"{heading}\n{text}" for heading, text in zip(headings, texts, strict=True))

    def obstacle(self, form: Form) -> str:
        """Sentence on why the tool cannot carry a form; empty where it can."""
        if self.most_questions and len(form.questions) > self.most_questions:
            return f"{self.title} asks one question about an item, and this round has {len(form.questions)}"
        for name, question in form.questions:
            if isinstance(question, Edit) or not isinstance(question, Closed | AnyOf | Text):
                return f"{self.title} carries one_of, any_of, scale and text, and `{name}` is `{question}`"
            if isinstance(question, AnyOf) and question.always:
                return f"`{name}` always has the label of its column, which {self.title} cannot choose for people"
        if form.conditions:
            name, when = form.conditions[0]
            return f"`{name}` is asked only {when}, and the project written for {self.title} asks every question"
        return ""


def format_html(headings: Sequence[str], texts: Sequence[str]) -> str:
    """The texts of an item below their headings as HTML, for tools that show line breaks in no other way."""
    parts = zip(map(_as_html, headings), map(_as_html, texts), strict=True)
    return "<br><br>".join(f"<b>{heading}</b><br>{text}" for heading, text in parts)


def _as_html(text: str) -> str:
    return html.escape(text, quote=False).replace("\n", "<br>")


def option_names(question: Question[Any]) -> list[str]:
    """The options of a question in a tool; `none` is one where there need be no label. Empty for a text."""
    if isinstance(question, Closed):
        return [choice.name for choice in question]
    if isinstance(question, AnyOf):
        return [*question.names, *([] if question.min else [NONE])]
    return []


def note_name(form: Form) -> str:
    """The name of the box for a note, which no question has."""
    return NOTE if NOTE not in dict(form.questions) else f"{KEY}_{NOTE}"


def format_readme(project: Project, tool: str, steps: str) -> str:
    """The README of a project: its title, the shards, `steps`, and the guidelines."""
    shards = "\n".join(f"| {person} | {len(items):,} |" for person, items in project.shards.items())
    return (
        f"# {project.title}: {tool}\n\n| who | items |\n|---|---|\n{shards}\n\n{steps.strip()}\n\n"
        f"`people.csv` says which user of {tool} is which person of the study.\n\n"
        f"## Guidelines\n\n{project.guidelines.strip() or 'The study has none.'}\n"
    )


def format_people(user_by_person: Mapping[str, str]) -> str:
    """The table of users, as `fcpair labels import --people` reads it."""
    return "".join(["user,annotator\n", *(f"{user},{person}\n" for person, user in user_by_person.items())])


def to_json_lines(records: Sequence[Mapping[str, Any]]) -> str:
    """The records as JSON, one a line; what some programs take for the end of a line is escaped."""
    return "".join(json.dumps(record, ensure_ascii=False).translate(_LINE_ENDS) + "\n" for record in records)
