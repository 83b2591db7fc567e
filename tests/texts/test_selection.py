"""Which lines of a table are looked at: conditions as they are written, and lines that are drawn."""

from __future__ import annotations

import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.texts.stratify import Condition, filter_rows, read_condition, sample_rows

FRAME = pd.DataFrame(
    {"kind": ["facts", "humour ", "facts; humour", '["facts", "humour"]', ""], "at": list("abcde")}, dtype=object
)


def met(*conditions: str) -> str:
    return "".join(filter_rows(FRAME, [read_condition(one) for one in conditions], range(2, 7), "t.csv")["at"])


@pytest.mark.parametrize(
    ("conditions", "lines"),
    [
        (["kind=humour"], "b"),
        (["kind != humour"], "acde"),
        (["kind has humour"], "bcd"),
        (["kind has humour", "at!=b"], "cd"),
        (["kind="], "e"),
        (["kind!="], "abcd"),
    ],
)
def test_a_line_is_kept_where_it_meets_all_conditions(conditions: list[str], lines: str) -> None:
    assert met(*conditions) == lines


@pytest.mark.parametrize("text", ["kind=a=b", "the kind has it all", "kind!=x"])
def test_a_condition_prints_as_it_is_read(text: str) -> None:
    assert str(read_condition(text)) == text


def test_a_value_may_hold_the_signs_of_a_condition() -> None:
    assert read_condition("kind = a=b") == Condition("kind", "=", "a=b")


@pytest.mark.parametrize(
    ("condition", "message"),
    [("kind", "is not a condition; expected `COLUMN=VALUE`"), ("knd=x", "did you mean `kind`?")],
)
def test_what_is_no_condition_is_refused(condition: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        met(condition)
    assert message in str(caught.value)


def test_a_cell_that_cannot_be_read_is_found_with_its_line() -> None:
    frame = pd.DataFrame({"kind": ["facts", "[facts"]}, dtype=object)
    with pytest.raises(InputError, match=r"t\.csv:3: `\[facts` is not a JSON list"):
        filter_rows(frame, [read_condition("kind has facts")], [2, 3], "t.csv")


def test_drawn_lines_stay_in_order_are_distinct_and_follow_the_seed() -> None:
    frame = pd.DataFrame({"at": range(100)})
    one, again, other = (list(sample_rows(frame, 30, seed, "t.csv")["at"]) for seed in (1, 1, 2))
    assert one == again == sorted(set(one)) != other
    assert len(one) == 30
    assert list(sample_rows(frame, 100, 3, "t.csv")["at"]) == list(range(100))


def test_more_lines_than_there_are_cannot_be_drawn() -> None:
    with pytest.raises(InputError, match="101 lines cannot be drawn of 100"):
        sample_rows(pd.DataFrame({"at": range(100)}), 101, 0, "t.csv")
