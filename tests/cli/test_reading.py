"""Errors of commands that only read do not say that nothing was changed; those of commands that write do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from steps.small import write_csv

from cli.conftest import Fcpair
from fcpair.errors import StudyError
from fcpair.study import Study

At = Callable[[str], Path]
LOST = "study.db: the disk cannot be read; nothing was changed"
READING = [
    *(("status",), ("log",), ("grids",), ("agreement",), ("partition",), ("explain", "1"), ("recipe",)),
    *(("people", "list"), ("adjudicate", "--policy", "majority", "--dry-run")),
]
WRITING = [("adjudicate", "--policy", "majority"), ("people", "retire", "ana"), ("labels", "withdraw", "3")]


@pytest.fixture
def unreadable(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study whose file cannot be read any more once it is open."""
    at("labelled")

    def fail(*_args: object, **_named: object) -> None:
        raise StudyError(LOST)

    monkeypatch.setattr("fcpair.store.database.store.Store.read", fail)
    monkeypatch.setattr("fcpair.store.database.store.Store.write", fail)
    monkeypatch.setattr(Study, "examine", fail)


@pytest.mark.usefixtures("unreadable")
@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_command_that_reads_says_what_is_wrong_and_no_more(fcpair: Fcpair, words: tuple[str, ...]) -> None:
    assert fcpair(*words, code=2).stderr == "Error: study.db: the disk cannot be read\n"


@pytest.mark.usefixtures("unreadable")
@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_a_command_that_writes_says_that_nothing_was_changed(fcpair: Fcpair, words: tuple[str, ...]) -> None:
    assert fcpair(*words, code=2).stderr == f"Error: {LOST}\n"


def test_a_table_that_is_only_read_is_wrong_and_no_more(fcpair: Fcpair, tmp_path: Path) -> None:
    file = write_csv(tmp_path / "t.csv", [{"cn": "a", "kind": "Joke"}, {"cn": "b", "kind": "Jok"}])
    words = ("describe", file, "--text", "cn", "--labels", "kind", "--label", "Joke")
    assert fcpair(*words, code=2).stderr.startswith(f"Error: {file}: 1 thing is wrong\n  {file}:3: ")


def test_a_table_that_is_taken_in_leaves_the_study_as_it_was(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    file = write_csv(tmp_path / "l.csv", [{"pair": 1, "annotator": "ana", "label": "x"}])
    assert f"{file}: 2 things are wrong; nothing was changed\n" in fcpair("labels", "import", file, code=2).stderr
