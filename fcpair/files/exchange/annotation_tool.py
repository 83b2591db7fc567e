"""Interface of annotation tools: a project that is written for one, and its export as files and as answers."""

from __future__ import annotations

import hashlib
import html
import json
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, ClassVar, NamedTuple

from fcpair.errors import Finding, InputError, translate_read_errors
from fcpair.files.release.redaction import environment
from fcpair.files.tables.tabular import check_file
from fcpair.files.tables.text_files import decode
from fcpair.stages.questions import NO_CODE, AnyOf, Closed, Edit, Form, Question, Text
from fcpair.stages.questions.closed import NONE

PEOPLE = "people.csv"  # the table of users, which is written beside a project and is no export
LARGEST = 1 << 30  # bytes that a zip file may unpack to
_BLANK_BYTES = b"\xef\xbb\xbf \t\r\n"
KEY = "fcpair"  # the name of our id in the data of each tool
NOTE = "note"
DIRECTIONS = "unicode-bidi: plaintext; text-align: start"  # lets each line of a text begin where its script does
_LINE_ENDS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}


class ExportFile(NamedTuple):
    """A file of an export: what errors call it, and its text."""

    place: str
    text: str


def open_export(path: str | Path, suffixes: Sequence[str]) -> list[ExportFile]:
    """The files of an export in the order of their names: of a folder and those below it, or of a zip file.

    Of these, only those with one of `suffixes` are read, and none that is hidden (as those that macOS adds to what it
    packs) or empty: doccano writes an empty file for somebody who has confirmed nothing. Raises InputError: no such
    file, none with one of the suffixes, a zip file that is cut off or larger than LARGEST, a file that is no text; all
    files are empty.
    """
    path = Path(path)

    def is_read(name: PurePath) -> bool:
        is_hidden = any(part.startswith((".", "__MACOSX")) for part in name.parts)
        return name.suffix.lower() in suffixes and name.name != PEOPLE and not is_hidden

    if path.is_dir():
        names = (name for name in path.rglob("*") if is_read(name.relative_to(path)) and name.is_file())
        contents = {str(name): name.read_bytes() for name in sorted(names)}
    else:
        check_file(path)
        contents = {str(path): path.read_bytes()}
        if contents[str(path)].startswith((b"PK\x03\x04", b"PK\x05\x06")):  # the latter has no files
            expected = "a whole zip file (is it cut off?)"
            with translate_read_errors(path, expected=expected), zipfile.ZipFile(path) as archive:
                members = [member for member in archive.infolist() if is_read(PurePosixPath(member.filename))]
                if sum(member.file_size for member in members) > LARGEST:
                    what = f"it unpacks to more than {LARGEST >> 30} GB; unpack it, and name the folder"
                    raise InputError(f"{path}: {what}")
                members.sort(key=lambda member: member.filename)
                contents = {f"{path}/{member.filename}": archive.read(member) for member in members}
    if not contents:
        raise InputError(f"{path}: no export in it ends in {' or '.join(suffixes)}; export in such a format")
    files = [ExportFile(name, decode(raw, name)) for name, raw in contents.items() if raw.strip(_BLANK_BYTES)]
    if not files:
        empty = "the file is empty" if [*contents] == [str(path)] else "its files are empty"
        raise InputError(f"{path}: {empty}; either nobody has answered there yet, or the export failed: export again")
    return files


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
    return hashlib.sha256(json.dumps(list(texts), ensure_ascii=False).encode("utf-8", "replace")).hexdigest()[:12]


class Item(NamedTuple):
    """A cell to be answered in a tool: its key, and the texts that are shown."""

    key: ItemKey
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Project:
    """Work of a round for a tool."""

    name: str  # a word for folders and data sets
    title: str
    guidelines: str
    form: Form
    headings: tuple[str, ...]  # as the study calls the texts of each item
    shards: Mapping[str, Sequence[Item]]  # the items of each person, in the order in which they are shown
    command: str  # reads the export


@dataclass(frozen=True)
class ToolAnswer:
    """An answer as an export has it: where it is, who gave it (empty where nobody is named), and on which item."""

    file: str
    line: int
    user: str
    key: str
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of each question, what was chosen or written
    note: str = ""
    is_skip: bool = False
    seconds: float = float("nan")  # where unknown
    at: str = ""  # in ISO 8601, empty where unknown
    shown: str = ""  # the texts of the item, as far as the export has them


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
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)  # of the files that it exports
    most_questions: ClassVar[int | None] = None
    is_shared: ClassVar[bool] = False  # one project, and so one export, is of everybody

    @abstractmethod
    def write(self, project: Project) -> dict[str, str]:
        """The files of a project by their paths, with a `README.md` that says how to start it."""

    def readme(self, project: Project, **values: Any) -> str:
        """The README of a project: its shards, what to do (the template of the tool's name), and the guidelines."""
        template = environment("fcpair.files.exchange").get_template(f"{self.name}.md.j2")
        return template.render(tool=self, project=project, person=next(iter(project.shards)), **values)

    @abstractmethod
    def read(self, files: Sequence[ExportFile], form: Form) -> ToolExport:
        """The answers of an export; raises InputError for files that cannot be read."""

    def names_nobody(self, user: str) -> bool:
        """Return whether what an export calls a user tells nobody apart."""
        return not user

    def shown_text(self, headings: Sequence[str], texts: Sequence[str]) -> str:
        """The text that the tool shows, as its export has it."""
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
    escaped = ([html.escape(text, quote=False).replace("\n", "<br>") for text in of] for of in (headings, texts))
    return "<br><br>".join(f"<b>{heading}</b><br>{text}" for heading, text in zip(*escaped, strict=True))


def option_names(question: Question[Any]) -> list[str]:
    """The options of a question in a tool; `none` is one where there need be no label. Empty for a text."""
    if isinstance(question, Closed):
        return [choice.name for choice in question]
    return [*question.names, *([] if question.min else [NONE])] if isinstance(question, AnyOf) else []


def note_name(form: Form) -> str:
    """The name of the box for a note, which no question has."""
    return NOTE if NOTE not in dict(form.questions) else f"{KEY}_{NOTE}"


def format_people(user_by_person: Mapping[str, str]) -> str:
    """The table of users, as `fcpair labels import --people` reads it."""
    return "".join(["user,annotator\n", *(f"{user},{person}\n" for person, user in user_by_person.items())])


def to_json_lines(records: Sequence[Mapping[str, Any]]) -> str:
    """The records as JSON, one a line; what some programs take for the end of a line is escaped."""
    return "".join(json.dumps(record, ensure_ascii=False).translate(_LINE_ENDS) + "\n" for record in records)
