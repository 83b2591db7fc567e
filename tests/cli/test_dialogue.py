"""The dialogue of `adjudicate`: its keys, and that every decision is kept at once."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pytest
from steps.small import ANNOTATORS, dump, standing

from cli.conftest import Fcpair
from fcpair.study import Study

At = Callable[[str], Path]
SECONDS = 30  # before a terminal is given up


@pytest.fixture
def waiting(at: At) -> Study:
    """A study in which five pairs wait."""
    return Study.open(at("decided"))


def by_hand(study: Study) -> dict[int, tuple[str, int | None]]:
    return {pair: kept for pair, kept in standing(study).items() if kept[0] in {"person", "reopened"}}


def test_each_key_decides_one_conflict_after_the_other(waiting: Study, fcpair: Fcpair) -> None:
    first, second, third, *rest = waiting.waiting()
    result = fcpair("adjudicate", "--by", "ada", keys="20xq")
    assert by_hand(waiting) == {first: ("person", 2), second: ("person", 0), third: ("person", None)}
    assert waiting.waiting() == rest
    assert "3 decided now, 2 wait" in result.stdout


def test_a_conflict_is_shown_with_its_texts_and_labels_and_no_names(waiting: Study, fcpair: Fcpair) -> None:
    shown = waiting.conflict(waiting.waiting()[0])
    printed = fcpair("adjudicate", "--by", "ada", keys="q").stdout
    assert shown.hs in printed
    assert shown.cn in printed
    assert all(label in printed for label, _ in shown.answers)
    assert not any(name in printed for name in ANNOTATORS)


def test_a_note_goes_with_the_next_decision_only(waiting: Study, fcpair: Fcpair) -> None:
    first, second = waiting.waiting()[:2]
    fcpair("adjudicate", "--by", "ada", keys="nirony, نه\n22q")
    assert waiting.explain(first).decisions[-1]["note"] == "irony, نه"
    assert waiting.explain(second).decisions[-1]["note"] == ""


def test_later_leaves_a_conflict_for_another_time(waiting: Study, fcpair: Fcpair) -> None:
    first, second = waiting.waiting()[:2]
    fcpair("adjudicate", "--by", "ada", keys="l2q")
    assert by_hand(waiting) == {second: ("person", 2)}
    assert first in waiting.waiting()


def test_undo_takes_the_last_decision_back_and_asks_again(waiting: Study, fcpair: Fcpair) -> None:
    first = waiting.waiting()[0]
    result = fcpair("adjudicate", "--by", "ada", keys="2u0q")
    assert f"pair {first} waits again" in result.stdout
    assert by_hand(waiting) == {first: ("person", 0)}
    assert [row["rule"] for row in waiting.explain(first).decisions] == ["person", "reopened", "person"]


def test_undo_goes_back_over_pairs_that_were_left_for_later(waiting: Study, fcpair: Fcpair) -> None:
    first, second, third = waiting.waiting()[:3]
    fcpair("adjudicate", "--by", "ada", keys="2l2uu0q")
    assert by_hand(waiting) == {first: ("person", 0), third: ("reopened", None)}
    assert {second, third} <= set(waiting.waiting())


def test_there_may_be_nothing_to_undo(waiting: Study, fcpair: Fcpair) -> None:
    assert "nothing to undo" in fcpair("adjudicate", "--by", "ada", keys="uq").stdout
    assert by_hand(waiting) == {}


def test_irreconcilable_discards_the_pair(waiting: Study, fcpair: Fcpair) -> None:
    first = waiting.waiting()[0]
    fcpair("adjudicate", "--by", "ada", keys="xq")
    assert standing(waiting)[first] == ("person", None)
    assert first not in waiting.waiting()


@pytest.mark.parametrize("key", ["1", "9", " ", "é", "\n"])
def test_other_keys_do_nothing(waiting: Study, fcpair: Fcpair, key: str) -> None:
    fcpair("adjudicate", "--by", "ada", keys=f"{key}q")
    assert by_hand(waiting) == {}


def test_capital_letters_are_the_same_keys(waiting: Study, fcpair: Fcpair) -> None:
    fcpair("adjudicate", "--by", "ada", keys="XUQ")
    assert list(by_hand(waiting).values()) == [("reopened", None)]


@pytest.mark.parametrize("keys", ["", "2", "2\x04"])
def test_the_end_of_the_input_quits_and_keeps_what_was_decided(waiting: Study, fcpair: Fcpair, keys: str) -> None:
    result = fcpair("adjudicate", "--by", "ada", keys=keys)
    assert f"{keys.count('2')} decided now" in result.stdout
    assert len(by_hand(waiting)) == keys.count("2")


def test_deciding_the_last_conflict_ends_the_dialogue(waiting: Study, fcpair: Fcpair) -> None:
    assert "5 decided now, 0 wait" in fcpair("adjudicate", "--by", "ada", keys="22222").stdout
    assert "no pair waits for a decision" in fcpair("adjudicate", "--by", "ada").stdout


def test_what_was_left_is_asked_the_next_time(waiting: Study, fcpair: Fcpair) -> None:
    fcpair("adjudicate", "--by", "ada", keys="2q")
    assert "1 of 4" in fcpair("adjudicate", "--by", "bo", keys="q").stdout


def test_an_annotator_cannot_decide(waiting: Study, fcpair: Fcpair) -> None:
    assert "`ana` is annotator" in fcpair("adjudicate", "--by", "ana", keys="2", code=2).stderr
    assert by_hand(waiting) == {}


def test_without_a_terminal_the_other_ways_are_named(waiting: Study) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "fcpair", "adjudicate", "--study", waiting.place],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert run.returncode == 2
    assert "no terminal to answer in; decide by --policy or --import FILE" in run.stderr


class Terminal:
    """A real terminal in which a command runs."""

    def __init__(self, *command: str) -> None:
        self._mine, self._theirs = pty.openpty()
        self.process = subprocess.Popen(
            command, stdin=self._theirs, stdout=self._theirs, stderr=self._theirs, start_new_session=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._mine)
        os.close(self._theirs)

    def read(self, words: str) -> str:
        """Read until the terminal shows these words."""
        shown = b""
        while words.encode() not in shown:
            assert select.select([self._mine], [], [], SECONDS)[0], shown.decode()
            shown += os.read(self._mine, 1024)
        return shown.decode()

    def press(self, key: str) -> None:
        """Press a key as soon as single keys are read: what is typed before that is thrown away."""
        until = time.monotonic() + SECONDS
        while termios.tcgetattr(self._mine)[3] & termios.ICANON:
            assert time.monotonic() < until
            time.sleep(0.01)
        os.write(self._mine, key.encode())


def test_a_real_terminal_is_read_key_by_key(waiting: Study) -> None:
    first = waiting.waiting()[0]
    command = (sys.executable, "-m", "fcpair", "adjudicate", "--by", "ada", "--study", waiting.place)
    with Terminal(*command) as terminal:
        assert f"pair {first} · 1 of 5" in terminal.read("[q] quit")
        terminal.press("2")
        assert "2 of 5" in terminal.read("[q] quit")
        terminal.press("q")
        assert "1 decided now" in terminal.read("4 wait")
        assert terminal.process.wait(SECONDS) == 0
    assert by_hand(waiting) == {first: ("person", 2)}


def test_a_dry_run_opens_no_dialogue(waiting: Study, fcpair: Fcpair) -> None:
    before = dump(waiting)
    assert "would decide 17 pairs; 7 would wait" in fcpair("adjudicate", "--dry-run").stdout
    assert dump(waiting) == before
