"""A study of 100 pairs that three people label each, with texts that programs are apt to change, and what they say."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from steps.answers.tool_exports import Task
from steps.small import set_candidates, write_csv

from fcpair.files.exchange.catalogue import TOOLS
from fcpair.params import Assign, Import, Pair, Select, Setup
from fcpair.records import Role
from fcpair.stages.questions import AnyOf, Closed, Form, Question
from fcpair.stages.questions.labels import APPROPRIATENESS
from fcpair.steps.base.answer_values import form_of
from fcpair.store.assignment import rounds
from fcpair.store.oversight import runs
from fcpair.study import Study

PEOPLE = ("ana", "ben", "cleo")
LABEL = Form((("label", APPROPRIATENESS),))
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


def build(folder: Path) -> Study:
    """The study, in which everybody has every pair open."""
    study = Study.create(folder / "study.db", Setup(title="A hundred pairs <of> ours"))
    grid = study.grid()
    corpus = [{"hs": hs, "cn": f"known {at}"} for at, hs in enumerate(HS)]
    corpus += [{"hs": "not drawn", "cn": cn} for cn in CNS]
    study.import_corpus(Import(write_csv(folder / "corpus.csv", corpus)))
    grid.select(Select(hs_list=write_csv(folder / "list.csv", [{"hs": hs} for hs in HS])))
    set_candidates(study, CNS)
    grid.pair(Pair())
    study.add_people(list(PEOPLE), Role.ANNOTATOR)
    grid.assign(Assign(overlap={3: 1.0}, seed=1))
    return study


def words_of(question: Question[Any], shown: str, person: str, *, at_first: bool = False) -> list[str]:
    """What a person says of a text as a tool shows it: of another text they would mostly say something else.

    `at_first` is what those who change their mind say before. How a tool is told the direction of a line is no matter.
    """
    signs = "".join(sign for sign in shown if not sign.isspace() and sign not in "\u2068\u2069")
    number = hashlib.sha256(f"{person} {signs}".encode()).digest()[0] + at_first
    if isinstance(question, Closed):
        return [question.choices[number % len(question.choices)].name]
    if isinstance(question, AnyOf):
        return [name for at, name in enumerate(question.names) if number >> at & 1] or ["none"]
    return [f"{_ODD[number % len(_ODD)]} ({person})"]


def changes_mind(number: int) -> bool:
    return number % 7 == 0


def skips(number: int, person: str) -> bool:
    return (number + PEOPLE.index(person)) % 11 == 0


def note_of(number: int) -> str:
    return (NOTE, "", "=1+1")[number % 3]


def assert_all_stand(
    study: Study,
    tool: str,
    work: set[tuple[str, int]],
    *,
    has_skips: bool,
    grid: str | None = None,
    of: str | None = None,
) -> None:
    """All that was open stands, with person, text and note; `work` has the people and their pairs."""
    there = study.grid(grid)
    rows = there.answers(of)
    assert len(rows) == len(work)
    assert {(row.by, row.cell) for row in rows.itertuples()} == work
    with there._store.read() as tx:
        facts, form = runs.study_facts(tx), form_of(rounds.by_name(tx, of).form)
    for row in rows.to_dict("records"):
        shown = TOOLS[tool].shown_text((facts["hs_name"], facts["cn_name"]), (row["row"], row["column"]))
        is_skip = has_skips and skips(row["cell"], row["by"])
        assert row["skipped"] == is_skip
        assert row["note"] == ("" if is_skip else note_of(row["cell"]))
        for name, question in form.questions:
            assert row[name] == ("" if is_skip else "; ".join(words_of(question, shown, row["by"])))


def of_person(tasks: Sequence[Task], person: str) -> list[Task]:
    return [task for task in tasks if task.person == person]
