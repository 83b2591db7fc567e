"""The checks of what an export says: who answered which item, once, with an answer that the form has."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

from fcpair.errors import Finding, InputError, reject
from fcpair.files.answers.answer_files import CellColumns, ImportedAnswers, parse_seconds, parse_time
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.exchange.annotation_tool import AnnotationTool, ItemKey, ToolAnswer, ToolExport
from fcpair.files.tables.tabular import LINE, place_of, read_table
from fcpair.files.tables.text_files import NO_TEXT_HERE
from fcpair.lazy import pd
from fcpair.param_values import check_rules
from fcpair.records import Origin
from fcpair.stages.corpus.text_identity import NO_TEXT, identity, strip_zero_decimals
from fcpair.stages.questions import NO_CODE, SKIP, AnyOf, Closed, Form, Question
from fcpair.stages.questions.closed import NONE
from fcpair.values import visible_text

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
            findings.append(Finding(place_of(table), int(line), f"`{user}` has no `{ANNOTATOR}`"))
        elif user and users.setdefault(user, person) != person:
            message = f"`{user}` is `{users[user]}` in a line above, and `{person}` here"
            findings.append(Finding(place_of(table), int(line), message))
    reject(str(path), findings)
    return users


def collect_exported(
    path: str | Path, tool: AnnotationTool, export: ToolExport, round_: ExportedRound, users: Mapping[str, str] | None
) -> ImportedAnswers:
    """Turn the answers of an export into those of a file on their way in, with findings for what is wrong with them.

    Of several answers by one person on an item the latest is among the rows, and those before it are `earlier`, in
    their order. `digest` and `tool_text` say what the tool was given to show. `users` has the person that each user of
    the tool is; without it, users have the names of people. Raises InputError where there is no answer in the export.
    """
    if not export.answers and not export.findings:
        drafts = f", only {export.n_drafts:,} drafts that nobody has submitted" if export.n_drafts else ""
        raise InputError(f"{path}: there is no answer in it{drafts}")
    findings, first_users, seen = list(export.findings), dict[str, str](), set[str]()
    for answer in export.answers:  # a user may be somebody that another user of the same export is already
        person = (users or {}).get(_user_key(answer.user), answer.user)
        if answer.user not in {first := first_users.setdefault(person, answer.user), *seen}:
            clause = "one person answers under one name; import what each has answered on its own"
            message = f"`{first}` and `{answer.user}` are both {person}; {clause}"
            findings.append(Finding(answer.file, answer.line, message))
            seen.add(answer.user)
    n_by_line, rows = Counter((answer.file, answer.line) for answer in export.answers), []
    for answer in export.answers:
        try:
            rows.append(_read_row(answer, tool, round_, users))
        except InputError as error:
            number = ItemKey.parse(answer.key).number
            is_one_of_many = n_by_line[answer.file, answer.line] > 1 and number != NO_CODE
            place = f"{round_.cells.number} {number}: " if is_one_of_many else ""
            findings.append(Finding(answer.file, answer.line, f"{place}{error}", str(error)))
    answers = _split_repeats(rows, round_.cells.number, findings)
    latest, earlier = [repeats[-1] for repeats in answers], [row for repeats in answers for row in repeats[:-1]]
    later_rows = [at for at, repeats in enumerate(answers) for _ in repeats[:-1]]
    earlier_rows = _frame(earlier).assign(later_row=later_rows)
    return ImportedAnswers(str(path), _frame(latest), findings, str(path), of=round_.cells, earlier=earlier_rows)


def _read_row(answer: ToolAnswer, tool: AnnotationTool, round_: ExportedRound, users: Mapping[str, str] | None) -> Row:
    words = [word for chosen in answer.words.values() for word in chosen]
    if any(map(NO_TEXT.search, (answer.user, answer.key, answer.note, *words))):
        raise InputError(NO_TEXT_HERE)
    person, key = _person(answer.user, tool, users), ItemKey.parse(answer.key)
    unit, is_other = round_.cells.number, key.round_name != round_.name
    check_rules(
        (not answer.key, f"there is no key of a {unit}; is this an export of what fcpair wrote?"),
        (key.number == NO_CODE, f"`{answer.key}` is no key of {unit}s, as shards for {tool.title} have them"),
        (is_other, f"this is an answer of `{key.round_name}`; expected `{round_.name}` (grid and round)"),
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
        hint = f"; if one person gave all of these, write `{user}` and that person into a table for --people"
        raise InputError(f"nobody is named who answered{hint if user else ''}")
    if users is not None:
        similar_names = [name for name in users if name.casefold() == _user_key(user).casefold()]
        hint = f"did you mean `{similar_names[0]}`?" if similar_names else "add a line for them"
        raise InputError(f"user `{user}` is not in the table of people; {hint}")
    return user


def _submitted(form: Form, words: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """The answer that a page would have sent for these words; raises InputError for what no question here has."""
    questions, submitted, problems = dict(form.questions), dict[str, object](), list[str]()
    for name, chosen in words.items():
        if name not in questions:
            problems.append(f"`{name}` is not a question of this round")
        elif chosen:
            try:
                submitted[name] = _submitted_value(questions[name], chosen)
            except InputError as error:
                problems.append(f"{name}: {error}" if len(questions) > 1 else str(error))
    if problems:
        raise InputError("; ".join(problems))
    return submitted


def _submitted_value(question: Question[Any], chosen: Sequence[str]) -> object:
    if isinstance(question, AnyOf):
        if NONE in chosen and len(chosen) > 1:
            raise InputError(f"`{NONE}` is chosen together with {', '.join(one for one in chosen if one != NONE)}")
        return [] if NONE in chosen else list(chosen)
    if len(chosen) > 1:
        raise InputError(f"{len(chosen)} answers ({', '.join(f'`{one}`' for one in chosen)}); expected one")
    if isinstance(question, Closed):
        if chosen[0] not in (codes := {choice.name: choice.code for choice in question}):
            raise InputError(f"unknown answer `{chosen[0]}`; expected one of {', '.join(codes)}")
        return question.store(codes[chosen[0]])
    if chosen[0].strip().lower() == SKIP:
        raise InputError(f"`{SKIP}` says that there is no answer; expected a text")
    return chosen[0]


def _split_repeats(rows: Sequence[Row], unit: str, findings: list[Finding]) -> list[list[Row]]:
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
            clause = f"in line {first[LINE]} of {first['place']}, and nothing says which answer is the later"
            message = f"this {unit} has been answered by {person} already, {clause}"
            findings += [Finding(row["place"], row[LINE], message) for row in others]
        ordered.append(sorted(distinct, key=lambda row: row["at"]))
    return ordered


def _frame(rows: Sequence[Row]) -> pd.DataFrame:
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in _COLUMNS}
    columns |= {"pair": pd.array(columns["pair"], "int64"), "seconds": pd.array(columns["seconds"], "float64")}
    columns |= {"answer": pd.Series(columns["answer"], dtype=object), "note": list(map(visible_text, columns["note"]))}
    return pd.DataFrame(columns)
