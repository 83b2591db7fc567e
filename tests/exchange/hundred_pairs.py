"""A study of 100 pairs that three people label each, with texts that programs are apt to change, and what they say."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from steps.answers.tool_exports import Task
from steps.small import NAMES, set_candidates, write_csv

from fcpair.files.exchange.catalogue import TOOLS
from fcpair.params import Assign, Import, Pair, Select, Setup
from fcpair.records import Role
from fcpair.study import Study

PEOPLE = ("ana", "ben", "cleo")
NOTE = 'two\nlines, "é" نه 😀'
_ODD = (
    "=1+1 is what they say",
    "two\nlines\n\nand a third, 😀👩🏽‍🚒",
    "مردمی که چای دوست دارند بی‌اعتمادند؟",
    "<b>bold</b> &amp; <script>alert(1)</script>",
    'a "quoted", comma; semicolon\ttab',
    "אנשים שאוהבים תה",
    "{{ braces }} $fcpair_1 %s {name}",
    "- a dash, + a plus, @home, 'an apostrophe",
    "C:\\path\\new \\u0041 and a \\ backslash",
    "plain",
)
HS = tuple(f"HS {at}: {text}" if at % 2 else f"{text} (HS {at})" for at, text in enumerate(_ODD))
CNS = tuple(f"{text} (CN {at})" if at % 2 else f"CN {at}: {text}" for at, text in enumerate(reversed(_ODD)))
HEADINGS = ("hate speech", "counter-narrative")


def build(folder: Path) -> Study:
    """The study, in which everybody has every pair open."""
    study = Study.create(folder / "study.db", Setup(title="A hundred pairs <of> ours"))
    grid = study.grid()
    corpus = [{"hs": hs, "cn": f"known {at}"} for at, hs in enumerate(HS)]
    corpus += [{"hs": "not drawn", "cn": cn} for cn in CNS]
    study.import_corpus(Import(write_csv(folder / "corpus.csv", corpus), language="en"))
    grid.select(Select(list=write_csv(folder / "list.csv", [{"hs": hs} for hs in HS])))
    set_candidates(study, CNS)
    grid.pair(Pair())
    study.add_people(list(PEOPLE), Role.ANNOTATOR)
    grid.assign(Assign(overlap={3: 1.0}, seed=1))
    return study


def label_of(shown: str, person: str) -> str:
    """What a person says of a text as a tool shows it: another text would mostly have another label."""
    signs = "".join(sign for sign in shown if not sign.isspace())
    return NAMES[hashlib.sha256(f"{person} {signs}".encode()).digest()[0] % 3]


def first_label_of(shown: str, person: str) -> str:
    """What they say at first of a text of which they change their mind."""
    return NAMES[(NAMES.index(label_of(shown, person)) + 1) % 3]


def changes_mind(number: int) -> bool:
    return number % 7 == 0


def skips(number: int, person: str) -> bool:
    return (number + PEOPLE.index(person)) % 11 == 0


def note_of(number: int) -> str:
    return (NOTE, "", "=1+1")[number % 3]


def assert_all_stand(study: Study, tool: str, work: set[tuple[str, int]], *, has_skips: bool) -> None:
    """All that was open stands, with person, text and note; `work` has the people and their pairs."""
    rows = study.grid().answers()
    assert len(rows) == len(work)
    assert {(row.by, row.cell) for row in rows.itertuples()} == work
    for row in rows.itertuples():
        shown = TOOLS[tool].shown_text(HEADINGS, (str(row.row), str(row.column)))
        is_skip = has_skips and skips(int(str(row.cell)), str(row.by))
        assert row.skipped == is_skip
        assert row.label == ("" if is_skip else label_of(shown, str(row.by)))
        assert row.note == ("" if is_skip else note_of(int(str(row.cell))))


def of_person(tasks: Sequence[Task], person: str) -> list[Task]:
    return [task for task in tasks if task.person == person]
