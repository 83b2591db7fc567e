"""Tables with a row for each text and rater: how they are read, and what is wrong with some."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.texts.rating_table import RatedTexts, read_population, read_rated_texts

NAN = float("nan")


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
    assert found.rated_texts.measure.tolist() == [0.5, 0.25]


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


def test_a_population_without_a_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("score,type\n,facts\n", "utf-8")
    with pytest.raises(InputError, match="has no number"):
        read_population(path, "score", None, None, ())


def test_a_text_counts_once_in_a_population_however_many_rows_it_has(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("id,score\na,1\na,1\nb,2\n", "utf-8")
    assert read_population(path, "score", "id", None, ())[None].tolist() == [1, 2]
    assert read_population(path, "score", None, None, ())[None].tolist() == [1, 1, 2]
