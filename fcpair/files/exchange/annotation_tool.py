"""Interface of annotation tools: a project that is written for one, its export as files and as answers, and the checks
of what an export says: who answered which item, once, with an answer that the form has.
"""

from __future__ import annotations

import hashlib
import html
import json
import math
import re
import zipfile
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, ClassVar, NamedTuple

from fcpair.errors import Finding, InputError, reject, translate_read_errors
from fcpair.files.answers.answer_files import CellColumns, ImportedAnswers, parse_seconds, parse_time
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.release.redaction import environment
from fcpair.files.tables.tabular import LINE, check_file, place_of, read_table
from fcpair.files.tables.text_files import NO_TEXT_HERE, decode
from fcpair.lazy import pd
from fcpair.param_values import check_rules
from fcpair.records import Origin
from fcpair.sentences import Answer, Id, join, mark, say
from fcpair.stages.corpus.text_identity import NO_TEXT, identity, strip_zero_decimals
from fcpair.stages.questions import NO_CODE, SKIP, AnyOf, Closed, Edit, Form, Question, Text
from fcpair.stages.questions.closed import NONE
from fcpair.values import visible_text
from fcpair.words import Wording, Words

ONE_PERSON = mark("if one person gave all of these, write `%(user)s` and that person into a table of users (--people)")
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
        is_zip = contents[str(path)].startswith((b"PK\x03\x04", b"PK\x05\x06"))  # the latter has no files
        if is_zip or path.suffix.lower() == ".zip":
            expected = say("a whole zip file (is it cut off?)")
            with translate_read_errors(path, expected=expected), zipfile.ZipFile(path) as archive:
                members = [member for member in archive.infolist() if is_read(PurePosixPath(member.filename))]
                if sum(member.file_size for member in members) > LARGEST:
                    large = mark("%(file)s: it unpacks to more than %(n)s GB; unpack it, and name the folder")
                    raise InputError.say(large, file=str(path), n=LARGEST >> 30)
                members.sort(key=lambda member: member.filename)
                contents = {f"{path}/{member.filename}": archive.read(member) for member in members}
    if not contents:
        unread = mark("%(file)s: no export in it ends in %(suffixes)s; export in such a format")
        raise InputError.say(unread, file=str(path), suffixes=join(suffixes, mark(" or ")))
    files = [ExportFile(name, decode(raw, name)) for name, raw in contents.items() if raw.strip(_BLANK_BYTES)]
    if not files:
        empty = mark("%(file)s: empty; either nobody has answered there yet, or the export failed: export again")
        raise InputError.say(empty, file=str(path))
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
    file: str = ""  # of the study, for a project that is downloaded from its pages, which take the export back, too
    grid: str = ""
    words: Words = field(default_factory=Words)

    def options(self, name: str, question: Question[Any]) -> dict[str, Wording]:
        """The options of a question in a tool, each with the key and the colour that it has in the study."""
        return {option: self.words.option(self.grid, name, option) for option in option_names(question)}


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
    unnamed: ClassVar[re.Pattern[str]] = re.compile("")  # what an export calls a user who is not named
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
        return not user or self.unnamed.fullmatch(user) is not None

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


USER, ANNOTATOR = "user", "annotator"
Row = dict[str, Any]
_COLUMNS = (
    *("place", LINE, "pair", HS, CN, "person", "answer", "shown", "seconds", "at", "note", "origin"),
    *("digest", "tool_text"),
)


@dataclass(frozen=True)
class ExportedRound:
    """The round that an export must be of: its name in keys, its form, and how messages call its cells."""

    name: str
    form: Form
    cells: CellColumns


def read_users(path: str | Path) -> dict[str, str]:
    """Read the table that says which user of a tool is which person; rows without a user are not filled in yet.

    Raises InputError where it cannot be read or lacks a column, and by line for users without a person, or with two.
    """
    table, findings, users = read_table(path, [USER, ANNOTATOR]), list[Finding](), dict[str, str]()
    for line, user, person in zip(table[LINE], table[USER].map(_user_key), table[ANNOTATOR].str.strip(), strict=True):
        if user and not person:
            message = say("`%(user)s` has no `%(column)s`", user=user, column=ANNOTATOR)
            findings.append(Finding(place_of(table), int(line), message))
        elif user and users.setdefault(user, person) != person:
            two = mark("`%(user)s` is `%(first)s` in a line above, and `%(person)s` here")
            message = say(two, user=user, first=users[user], person=person)
            findings.append(Finding(place_of(table), int(line), message))
    reject(str(path), findings)
    return users


def collect_exported(
    path: str | Path, tool: AnnotationTool, export: ToolExport, round_: ExportedRound, users: Mapping[str, str] | None
) -> ImportedAnswers:
    """Turn the answers of an export into those of a file on their way in, with findings for what is wrong with them.

    Of several answers by one person on an item the latest is among the rows, and those before it are `earlier`, in
    their order. `digest` and `tool_text` say what the tool was given to show. `users` has the person that each user of
    the tool is; without it, users have the names of people. Raises InputError if there is no answer in the export.
    """
    if not export.answers and not export.findings:
        drafts = mark("%(file)s: there is no answer in it, only %(n)s drafts that nobody has submitted")
        nothing = mark("%(file)s: there is no answer in it")
        raise InputError.say(drafts if export.n_drafts else nothing, file=str(path), n=export.n_drafts)
    findings, first_users, seen = list(export.findings), dict[str, str](), set[str]()
    for answer in export.answers:  # a user may be somebody that another user of the same export is already
        person = (users or {}).get(_user_key(answer.user), answer.user)
        if answer.user not in {first := first_users.setdefault(person, answer.user), *seen}:
            both = mark("`%(user)s` and `%(other)s` are both %(name)s; import what each user has answered on its own")
            message = say(both, user=first, other=answer.user, name=person)
            findings.append(Finding(answer.file, answer.line, message))
            seen.add(answer.user)
    n_by_line, rows = Counter((answer.file, answer.line) for answer in export.answers), []
    for answer in export.answers:
        try:
            rows.append(_read_row(answer, tool, round_, users))
        except InputError as error:
            number = ItemKey.parse(answer.key).number
            is_one_of_many = n_by_line[answer.file, answer.line] > 1 and number != NO_CODE
            shown = join((f"{round_.cells.number} {number}", str(error)), ": ") if is_one_of_many else str(error)
            findings.append(Finding(answer.file, answer.line, shown, str(error)))
    answers = _split_repeats(rows, findings)
    latest, earlier = [repeats[-1] for repeats in answers], [row for repeats in answers for row in repeats[:-1]]
    later_rows = [at for at, repeats in enumerate(answers) for _ in repeats[:-1]]
    earlier_rows = _frame(earlier).assign(later_row=later_rows)
    return ImportedAnswers(str(path), _frame(latest), findings, str(path), of=round_.cells, earlier=earlier_rows)


def _read_row(answer: ToolAnswer, tool: AnnotationTool, round_: ExportedRound, users: Mapping[str, str] | None) -> Row:
    words = [word for chosen in answer.words.values() for word in chosen]
    if any(map(NO_TEXT.search, (answer.user, answer.key, answer.note, *words))):
        raise InputError(NO_TEXT_HERE)
    person, key = _person(answer.user, tool, users), ItemKey.parse(answer.key)
    no_key = mark("`%(key)s` is no key, as shards for %(tool)s have them")
    other = mark("this is an answer of `%(name)s`; expected `%(expected)s` (grid and round)")
    check_rules(
        (not answer.key, say("there is no key; is this an export of what fcpair wrote?")),
        (key.number == NO_CODE, say(no_key, key=answer.key, tool=tool.title)),
        (key.round_name != round_.name, say(other, name=key.round_name, expected=round_.name)),
    )
    if not math.isnan(answer.seconds):
        parse_seconds(answer.seconds)
    parsed = None if answer.is_skip else round_.form.load_submitted(_submitted(round_.form, answer.words))
    at = ""
    if answer.at:  # as the study keeps it
        time = parse_time(answer.at)
        at = (time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)).isoformat(timespec="milliseconds")
    return {
        **{"place": answer.file, LINE: answer.line, "pair": key.number, HS: "", CN: "", "person": person},
        **{"answer": parsed, "shown": "", "seconds": answer.seconds, "at": at, "note": answer.note},
        **{"origin": Origin.IMPORTED.value, "digest": key.digest, "tool_text": answer.shown},
    }


def _user_key(user: str) -> str:
    """A user as the table of people has them, however accents are coded and a number is written (`2.0`)."""
    return strip_zero_decimals(identity(user))


def _person(user: str, tool: AnnotationTool, users: Mapping[str, str] | None) -> str:
    if users and _user_key(user) in users:
        return users[_user_key(user)]
    if tool.names_nobody(user):
        hints = [say(ONE_PERSON, user=user)] if user else []
        raise InputError(join((say("nobody is named who answered"), *hints), "; "))
    if users is not None:
        similar_names = [name for name in users if name.casefold() == _user_key(user).casefold()]
        near = say("did you mean `%(name)s`?", name=similar_names[0]) if similar_names else say("add a line for them")
        raise InputError(join((say("user `%(user)s` is not in the table of people", user=user), near), "; "))
    return user


def _submitted(form: Form, words: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """The answer that a page would have sent for these words; raises InputError for what no question here has."""
    questions, submitted, problems = dict(form.questions), dict[str, object](), list[str]()
    for name, chosen in words.items():
        if name not in questions:
            problems.append(say("`%(name)s` is not a question of this round", name=name))
        elif chosen:
            try:
                submitted[name] = _submitted_value(questions[name], chosen)
            except InputError as error:
                problems.append(join((name, str(error)), ": ") if len(questions) > 1 else str(error))
    if problems:
        raise InputError(join(problems, "; "))
    return submitted


def _submitted_value(question: Question[Any], chosen: Sequence[str]) -> object:
    if isinstance(question, AnyOf):
        if NONE in chosen and len(chosen) > 1:
            others = [Answer(choice) for choice in chosen if choice != NONE]
            raise InputError.say("`%(name)s` is chosen together with %(others)s", name=NONE, others=others)
        return [] if NONE in chosen else list(chosen)
    if len(chosen) > 1:
        raise InputError.say("%(n)s answers (%(names)s); expected one", n=len(chosen), names=[*map(Answer, chosen)])
    if isinstance(question, Closed):
        if chosen[0] not in (codes := {choice.name: choice.code for choice in question}):
            unknown = mark("unknown answer `%(name)s`; expected one of %(names)s")
            raise InputError.say(unknown, name=chosen[0], names=[*map(Answer, codes)])
        return question.store(codes[chosen[0]])
    if chosen[0].strip().lower() == SKIP:
        raise InputError.say("`%(name)s` says that there is no answer; expected a text", name=SKIP)
    return chosen[0]


def _split_repeats(rows: Sequence[Row], findings: list[Finding]) -> list[list[Row]]:
    """The answers of each person on each item, the latest last; what has no order is a finding."""
    by_item: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for row in rows:
        by_item[row["pair"], row["person"]].append(row)
    ordered = []
    for (_, person), repeats in by_item.items():
        by_content: dict[str, Row] = {}
        for row in repeats:
            by_content.setdefault(repr((row["answer"], row["note"], row["at"])), row)
        distinct = list(by_content.values())
        times = [row["at"] for row in distinct]
        if len(distinct) > 1 and ("" in times or len({*times}) < len(times)):
            first, *others = distinct
            undated = mark("answered already by %(name)s in line %(line)s of %(file)s; nothing says which is the later")
            message = say(undated, name=person, line=Id(first[LINE]), file=first["place"])
            findings += [Finding(row["place"], row[LINE], message) for row in others]
        ordered.append(sorted(distinct, key=lambda row: row["at"]))
    return ordered


def _frame(rows: Sequence[Row]) -> pd.DataFrame:
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in _COLUMNS}
    columns |= {"pair": pd.array(columns["pair"], "int64"), "seconds": pd.array(columns["seconds"], "float64")}
    columns |= {"answer": pd.Series(columns["answer"], dtype=object), "note": list(map(visible_text, columns["note"]))}
    return pd.DataFrame(columns)
