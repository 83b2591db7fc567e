"""Texts, notes and names of other people do not steer the terminal on which they are printed."""

from __future__ import annotations

import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fcpair.cli
from cli.conftest import At, Fcpair
from cli.test_dialogue import Terminal
from fcpair.cli.terminal import sanitize

TITLE, CLIPBOARD, CLEAR = "\x1b]0;mine\x07", "\x1b]52;c;cm0gLXJm\x07", "\x1b[2J\x9b2J"
HOSTILE = f"{TITLE}{CLIPBOARD}{CLEAR}\r\x08\x7f\u202e\u2066\u200fend"
# Where what other people wrote is kept.
WRITTEN = {
    "study": ("title",),
    "grid": ("row_name", "column_name"),
    "text": ("body",),
    "judgement": ("note",),
    "adjudication": ("note",),
    "person": ("name",),
}
READING = {
    "checked": [
        *("status", "explain 6", "log", "agreement", "partition", "partition --tier bronze", "people list"),
        *("evaluate --system tfidf", "people terms"),
    ],
    "decided": ["adjudicate --adjudicator ada"],
    "labelled": ["adjudicate --policy majority --dry-run"],
}
# C0 but for tab and line feed, DEL, C1; and what orders signs from right to left.
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
STYLE = re.compile("\x1b\\[[0-9;]*m")


def poison(path: Path) -> Path:
    """Append control characters to everything that people wrote in a study."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        for table, columns in WRITTEN.items():
            for column in columns:
                connection.execute(f"UPDATE {table} SET {column} = {column} || ?", (HOSTILE,))
    return path


@pytest.mark.parametrize("stage", READING)
def test_what_people_wrote_does_not_steer_the_terminal(at: At, fcpair: Fcpair, stage: str) -> None:
    poison(at(stage))
    for words in READING[stage]:
        result = fcpair(*words.split(), keys="q")
        assert not STEERS.findall(STYLE.sub("", result.stdout + result.stderr)), words


def test_what_turns_a_line_around_is_shown_and_programs_get_every_sign(at: At, fcpair: Fcpair) -> None:
    poison(at("checked"))
    assert "]0;mine]52;c;cm0gLXJm[2J2J<U+202E><U+2066><U+200F>end" in re.sub(r"\s", "", fcpair("explain", "6").stdout)
    (ana,) = (row for row in fcpair.json("people", "list") if "ana" in row["name"])
    assert ana["name"] == f"ana{HOSTILE}"


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_nothing_steers_a_real_terminal_in_any_format(at: At, form: str) -> None:
    path = poison(at("checked"))
    command = (sys.executable, "-m", "fcpair", "people", "list", "--format", form, "--study", str(path))
    with Terminal(*command) as terminal:
        shown = terminal.read("vera")
        assert terminal.process.wait(30) == 0
    assert not STEERS.findall(STYLE.sub("", shown.replace("\r\n", "\n")))


def test_a_dialogue_shows_notes_without_their_controls(at: At) -> None:
    path = poison(at("decided"))
    command = (sys.executable, "-m", "fcpair", "adjudicate", "--adjudicator", "ada", "--study", str(path))
    with Terminal(*command) as terminal:
        shown = terminal.read("[q] quit")
        terminal.press("q")
        terminal.read("wait")
    assert "end" in shown
    assert not STEERS.findall(STYLE.sub("", shown.replace("\r\n", "\n")))


def test_errors_and_refusals_are_harmless(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    (tmp_path / f"a{TITLE}.csv").write_text("pair\n1\n")
    for words in (("labels", "import", tmp_path / f"a{TITLE}.csv"), ("people", "revoke", f"x{HOSTILE}"), (HOSTILE,)):
        assert not STEERS.findall(fcpair(*words, code=2).stderr)


def test_whatever_is_printed_goes_through_one_module() -> None:
    folder = Path(fcpair.cli.__file__).parent
    printing = [path.name for path in folder.rglob("*.py") if re.search(r"click\.s?echo|\bprint\(", path.read_text())]
    assert printing == ["terminal.py"]


@given(st.text())
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    assert not STEERS.findall(sanitize(text))
    assert sanitize(sanitize(text)) == sanitize(text)
    if not STEERS.search(text):
        assert sanitize(text) == text
