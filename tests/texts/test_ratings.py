"""Ratings in tables: how they are read, what is wrong with some, and means by hand with their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.texts.ratings import (
    RatedTexts,
    SourceRatings,
    average_ratings,
    read_population,
    read_rated_texts,
    read_ratings,
)

FEW = 200  # draws
WIDE: list[tuple[str, ...]] = [
    ("people", "a1", "t1", "5", "4"),
    ("people", "a2", "t1", "4", "4.5"),
    ("people", "a1", "t2", "3", "4"),
    ("model", "a1", "t3", "2", ""),
    ("model", "a2", "t3", "3", "1"),
]
NAN = float("nan")


def wide(rows: list[tuple[str, ...]] = WIDE) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["source", "rater", "text", "fluency", "tone"])
    return frame.assign(line=range(2, len(rows) + 2))


def averaged(frame: pd.DataFrame | None = None, **more: Any) -> dict[tuple[str, str], SourceRatings]:
    table = wide() if frame is None else frame
    given = read_ratings(table, "t.csv", ["fluency", "tone"], source="source", rater="rater", text="text")
    return {(one.source, one.criterion): one for one in average_ratings(given, FEW, **more)}


def test_each_rater_has_a_mean_and_the_mean_is_that_of_the_raters() -> None:
    """Fluency of people: a1 5 and 3, a2 4; (4 + 4) / 2. A rater of fewer texts counts as much as the other."""
    found = averaged()["people", "fluency"]
    assert [(one.name, one.value, one.n) for one in found.raters] == [("a1", 4.0, 2), ("a2", 4.0, 1)]
    assert (found.mean.value, found.mean.n) == (4.0, 2)
    assert averaged()["people", "tone"].mean.value == (4.0 + 4.5) / 2
    assert averaged()["model", "fluency"].mean.value == 2.5


def test_a_rating_that_is_empty_is_none() -> None:
    found = averaged()["model", "tone"]
    assert [(one.name, one.value) for one in found.raters] == [("a2", 1.0)]
    assert "one rater only" in found.mean.note


def test_a_long_table_gives_the_same_as_a_wide_one() -> None:
    long = wide().melt(["source", "rater", "text", "line"], ["fluency", "tone"], "about", "rating")
    more = {"source": "source", "rater": "rater", "text": "text", "criterion": "about"}
    given = read_ratings(long, "t.csv", ["rating"], **more)
    assert {(one.source, one.criterion): one for one in average_ratings(given, FEW)} == averaged()


def test_the_order_of_the_rows_changes_nothing() -> None:
    assert averaged(wide(WIDE[::-1])) == averaged()


def test_an_interval_is_that_of_the_mean_over_drawn_texts() -> None:
    """100 texts of one rater, standard deviation 1.12: 1.96 standard errors are 0.22."""
    numbers = np.tile([1.0, 2.0, 3.0, 4.0], 25)
    given = pd.DataFrame({"source": "", "criterion": "c", "rater": "a", "text": range(100), "rating": numbers})
    (found,) = average_ratings(given, 4000)
    reach = 1.96 * numbers.std() / 10
    assert [found.mean.low, found.mean.high] == pytest.approx([2.5 - reach, 2.5 + reach], abs=0.03)
    assert "interval from 100 texts" in found.mean.note
    assert found.mean.value == found.raters[0].value


def test_one_text_has_a_mean_without_an_interval() -> None:
    figure = averaged()["model", "fluency"].mean
    assert (figure.value, figure.low) == (2.5, None)
    assert "no interval: it needs at least 2 texts, found 1" in figure.note


def test_without_a_source_all_are_of_one_and_without_a_text_each_row_is_one() -> None:
    given = read_ratings(wide(), "t.csv", ["fluency"], source=None, rater="rater")
    assert given["source"].unique().tolist() == [""]
    assert given["text"].nunique() == 5


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (("people", "a1", "t9", "good", "4"), "t.csv:7: `fluency` is `good`; expected a number"),
        (("people", "a1", "t1", "4", ""), "t.csv:7: a1 rates a text twice on the same criterion"),
    ],
)
def test_rows_that_cannot_be_are_found_with_their_lines(row: tuple[str, ...], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        averaged(wide([*WIDE, row]))
    assert str(caught.value.findings[0]).startswith(problem)


def test_no_rating_at_all_and_criteria_in_two_ways_are_refused() -> None:
    empty = wide([("people", "a1", "t1", "", "")])
    with pytest.raises(InputError, match="there is no rating in fluency, tone"):
        averaged(empty)
    with pytest.raises(InputError, match="one column of ratings"):
        read_ratings(wide(), "t.csv", ["fluency", "tone"], source=None, rater="rater", criterion="text")


def table(*rows: tuple[str, ...], columns: str = "id score rating who type") -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=columns.split())
    return frame.assign(line=range(2, len(rows) + 2))


def read(*rows: tuple[str, ...], **more: Any) -> RatedTexts:
    named = {"text": "id", "rater": "who", "by": "type", **more}
    return read_rated_texts(table(*rows), "t.csv", "score", "rating", **named)


def refused(*rows: tuple[str, ...], **more: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(*rows, **more)
    return [str(finding) for finding in caught.value.findings]


ROWS = (
    ("t1", "0.5", "4", "ana", "facts"),
    ("t1", "0.5", "4,5", "ben", "facts"),
    ("t2", "0,25", "", "ana", "humour"),
    ("t2", "0.25", "2", "ben", "humour"),
    ("t3", "1", "", "ana", "facts"),
    ("t4", "", "3", "ana", "facts"),
)


def test_a_text_has_its_measure_once_and_a_rating_from_each_rater() -> None:
    found = read(*ROWS)
    assert found.measure.tolist() == [0.5, 0.25, 1.0]
    assert found.raters == ("ana", "ben")
    np.testing.assert_array_equal(found.ratings, [[4, 4.5], [NAN, 2], [NAN, NAN]])
    assert found.kind == ("facts", "humour", "facts")
    assert found.select(np.asarray(~np.isnan(found.ratings).all(axis=1))).measure.tolist() == [0.5, 0.25]


def test_without_text_and_rater_each_row_is_a_text_and_one_person_rated_all() -> None:
    found = read(*ROWS, text=None, rater=None, by=None)
    assert found.ratings.shape == (5, 1)
    assert found.kind == ("",) * 5


def test_what_is_no_number_is_found_with_its_line() -> None:
    assert refused(("t1", "high", "4", "ana", ""), ("t2", "1", "nan", "ana", ""), ("t3", "1", "1.2.3", "ana", "")) == [
        "t.csv:2: `score` is `high`; expected a number, or nothing",
        "t.csv:3: `rating` is `nan`; expected a number, or nothing",
        "t.csv:4: `rating` is `1.2.3`; expected a number, or nothing",
    ]


def test_a_text_with_two_measures_or_two_types_is_found() -> None:
    assert refused(("t1", "1", "4", "ana", "facts"), ("t1", "2", "4", "ben", "humour")) == [
        "t.csv:3: `score` of a text is `2` here and `1` in another of its rows",
        "t.csv:3: `type` of a text is `humour` here and `facts` in another of its rows",
    ]


def test_a_text_that_is_rated_twice_by_the_same_rater_is_found() -> None:
    rows = (("t1", "1", "4", "ana", ""), ("t1", "1", "5", "ana", ""))
    assert refused(*rows) == ["t.csv:3: a text is rated twice by the same rater"]
    assert refused(*rows, rater=None) == ["t.csv:3: a text is rated twice; --rater says by whom"]


def test_a_population_is_of_each_group_where_the_file_has_them(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("score,type\n1,facts\n2,humour\n3,facts\n,facts\n", "utf-8")
    found = read_population(path, "score", None, "type", ("facts", "question"))
    assert {name: one.tolist() for name, one in found.items()} == {None: [1, 2, 3], "facts": [1, 3]}
    without = read_population(path, "score", None, "kind", ("facts",))
    assert without["facts"].tolist() == [1, 2, 3]


def test_a_text_counts_once_in_a_population_however_many_rows_it_has(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("id,score\na,1\na,1\nb,2\n", "utf-8")
    assert read_population(path, "score", "id", None, ())[None].tolist() == [1, 2]
    assert read_population(path, "score", None, None, ())[None].tolist() == [1, 1, 2]
    path.write_text("score,type\n,facts\n", "utf-8")
    with pytest.raises(InputError, match="has no number"):
        read_population(path, "score", None, None, ())
