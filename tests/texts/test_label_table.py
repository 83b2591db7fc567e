"""Cells of several labels: how they are read, and what is wrong with some."""

from __future__ import annotations

import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.texts.classify import LabelTable, read_label_table, split_labels

TYPES = ("facts", "humour", "open question")


def table(*rows: tuple[str, str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["truth", "guess"])
    return frame.assign(line=range(2, len(rows) + 2))


def read(*rows: tuple[str, str], labels: tuple[str, ...] = (), ignored: tuple[str, ...] = ()) -> LabelTable:
    return read_label_table(table(*rows), "t.csv", ["truth"], "guess", labels, ignored)


def refused(*rows: tuple[str, str], labels: tuple[str, ...] = TYPES, ignored: tuple[str, ...] = ()) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(*rows, labels=labels, ignored=ignored)
    return [str(finding) for finding in caught.value.findings] or [str(caught.value)]


@pytest.mark.parametrize(
    "cell", ["facts; humour", "facts,humour", '["facts", "humour"]', " facts ;humour ", "facts,\nhumour"]
)
def test_a_cell_has_its_labels_however_they_are_separated(cell: str) -> None:
    assert split_labels(cell) == ["facts", "humour"]


@pytest.mark.parametrize("cell", ["", "  ", "[]"])
def test_an_empty_cell_has_no_label(cell: str) -> None:
    assert split_labels(cell) == []


def test_capitals_and_how_words_are_joined_do_not_tell_labels_apart() -> None:
    found = read(("Open-Question", "open question; FACTS"), ("facts", ""), labels=TYPES)
    assert found.labels == TYPES
    assert found.truth.tolist() == [[False, False, True], [True, False, False]]
    assert found.predicted.tolist() == [[True, False, True], [False, False, False]]


def test_labels_that_are_not_declared_are_those_of_the_truth_in_alphabetical_order() -> None:
    assert read(("humour", "facts"), ("facts", "")).labels == ("facts", "humour")


def test_several_columns_of_truth_add_up_and_may_name_a_label_twice() -> None:
    frame = pd.DataFrame({"required": ["facts"], "more": ['["facts", "humour"]'], "guess": [""]})
    assert read_label_table(frame, "t.csv", ["required", "more"], "guess").truth.tolist() == [[True, True]]


def test_an_unknown_label_is_found_with_its_line_and_the_nearest_known_one() -> None:
    assert refused(("facts", "fatcs"), ("humuor", "facts")) == [
        "t.csv:2: `guess`: `fatcs` is not a label; did you mean `facts`? (`--ignore fatcs` leaves it out)",
        "t.csv:3: `truth`: `humuor` is not a label; did you mean `humour`?",
    ]


def test_a_label_that_is_doubled_in_a_cell_is_found_in_any_spelling() -> None:
    assert refused(("facts", "Open question;open_question")) == [
        "t.csv:2: `guess`: `Open question` is duplicated in one cell"
    ]


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ('["facts"', "is not a JSON list"),
        ("['facts']", "is not a JSON list"),
        ("[1]", "is not a list of texts"),
        ("facts;;humour", "has an empty label"),
        ("facts;", "has an empty label"),
        ('["facts", " "]', "has an empty label"),
    ],
)
def test_a_cell_that_cannot_be_read_is_found(cell: str, problem: str) -> None:
    assert [problem in one for one in refused(("facts", cell))] == [True]


def test_every_line_of_the_same_problem_is_found() -> None:
    rows = [("facts", "irony")] * 3
    assert [one.split(" ")[0] for one in refused(*rows)] == ["t.csv:2:", "t.csv:3:", "t.csv:4:"]


def test_predicted_labels_that_are_ignored_are_left_out_and_counted() -> None:
    found = read(("facts", "facts;irony"), ("humour", "Irony"), ignored=("irony",))
    assert found.n_ignored == 2
    assert found.predicted.tolist() == [[True, False], [False, False]]


def test_what_is_ignored_must_be_predicted_and_be_no_label_and_labels_must_differ() -> None:
    rows = [("facts", "facts;irony")]
    assert refused(*rows, ignored=("irnoy",)) == [
        "`irnoy` is to be ignored, and is never predicted; did you mean `irony`?"
    ]
    assert "cannot be ignored" in refused(*rows, ignored=("facts",))[0]
    assert "is the same as `open question`" in refused(("", ""), labels=("open question", "Open-question"))[0]


def test_a_truth_without_labels_needs_them_declared() -> None:
    assert "there are no labels" in refused(("", "facts"), labels=())[0]
    assert read(("", "facts"), labels=TYPES).truth.sum() == 0


def test_a_missing_column_says_which_are_there() -> None:
    with pytest.raises(InputError, match="missing column `types`; found truth, guess"):
        read_label_table(table(("", "")), "t.csv", ["types"], "guess")
