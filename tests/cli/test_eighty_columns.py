"""At 80 columns no command splits a word, and no line is longer."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from cli.calls import ENCODERS, LEAVES
from cli.conftest import Prepare
from cli.test_commands import found
from fcpair.cli import main
from fcpair.cli.terminal import Cell, break_line, format_table, width_of

WIDTH, WIDE = 80, 2000
PARTS = re.compile(r"[\w.]+")  # of words; a name such as `run:file(ids=corpus)` may be broken between its parts
LONGEST = 60  # a word that is longer, such as a path, may be broken


def prints_tables(path: tuple[str, ...]) -> bool:
    return any(isinstance(param.type, click.Choice) and "table" in param.type.choices for param in found(path).params)


REPORTING = [
    pytest.param(path, marks=[pytest.mark.slow, pytest.mark.torch]) if path in ENCODERS else path
    for path in LEAVES
    if prints_tables(path)
]


def printed(arguments: list[str], width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("path", REPORTING, ids=" ".join)
def test_no_word_is_split_or_line_too_long(
    prepare: Prepare, path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = set(PARTS.findall(printed(prepare(path), WIDE, monkeypatch)))
    narrow = printed(prepare(path), WIDTH, monkeypatch)
    assert [line for line in narrow.splitlines() if width_of(line) > WIDTH and len(line.split()) > 1] == []
    assert [word for word in sorted(words - set(PARTS.findall(narrow))) if width_of(word) < LONGEST] == []


def test_a_table_with_no_room_for_whole_words_is_a_list() -> None:
    rows = [["an_unbroken_name_of_thirty_signs", "another_unbroken_name_of_thirty", "a_third_of_twenty"]]
    assert format_table(("first", "second", "third"), rows, WIDTH) == [
        "  first    an_unbroken_name_of_thirty_signs",
        "  second   another_unbroken_name_of_thirty",
        "  third    a_third_of_twenty",
    ]


def test_a_long_name_is_broken_between_its_parts_before_a_table_becomes_a_list() -> None:
    scores = ["0.3556", "0.228–0.501", "0.6222", "1.0000", "0.356–1.000", "-"]
    names = ("system", "score", "interval", "left out", "right", "bounds", "n")
    assert format_table(names, [["run:printers.trec(ids=corpus)", *scores]], WIDTH)[2:] == [
        "  run:              0.3556   0.228–0.501   0.6222     1.0000   0.356–1.000   -",
        "  printers.trec(",
        "  ids=corpus)",
    ]


def test_what_cannot_be_kept_whole_is_broken_and_leaves_the_table_a_table() -> None:
    lines = format_table(("path", "n"), [["x" * 200, 7]], WIDTH)
    assert lines[0].split() == ["path", "n"]
    assert "".join(line.split()[0] for line in lines[2:]) == "x" * 200
    lines = format_table(("text", "other"), [["仇恨言论" * 8, "word " * 20]], WIDTH)  # no spaces between its words
    assert lines[0].split() == ["text", "other"]


def test_a_table_keeps_numbers_whole_and_becomes_a_list_where_it_must() -> None:
    names = ("name", "pairs", "share")
    rows: list[list[Cell]] = [["a long name of something", 173_000, 0.25], ["b", 7, None]]
    assert format_table(names, rows, 32) == [
        "  name          pairs    share",
        " " + "─" * 30,
        "  a long      173,000   0.2500",
        "  name of",
        "  something",
        "  b                 7        -",
    ]
    assert format_table(names, rows, 22) == [
        "  name    a long name",
        "          of something",
        "  pairs   173,000",
        "  share   0.2500",
        "",
        "  name    b",
        "  pairs   7",
        "  share   -",
    ]


def test_wide_signs_and_marks_are_measured_as_they_are_shown() -> None:
    assert [width_of(text) for text in ("ab", "仇恨", "e\u0301", "می\u200cشود")] == [2, 4, 1, 5]


def test_a_line_is_broken_between_words_alone() -> None:
    assert break_line("  one 14,988 three", 12) == ["  one 14,988", "  three"]
    assert break_line("a/very/long/path.csv: 3", 10) == ["a/very/long/path.csv:", "3"]
