"""A corpus that is a frame in memory: read as its file is, with the numbers of rows in the place of lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fcpair.errors import InputError, StageError
from fcpair.params import Import
from fcpair.recipe import load_recipe
from fcpair.store.corpus import texts
from fcpair.study import Study
from steps.small import assert_refused, write_corpus

pytestmark = pytest.mark.files


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "study.db")


def pairs(**more: Any) -> pd.DataFrame:
    return pd.DataFrame({"hs": ["a", "b", "c"], "cn": ["d", "e", "f"]} | more)


def refuse(study: Study, frame: Any, message: str, **more: Any) -> None:
    """The frame is refused with a message, and nothing is written."""
    assert_refused(study, lambda: study.import_corpus(frame, **more), InputError, message)


def test_a_frame_is_read_as_its_file_is(study: Study, tmp_path: Path) -> None:
    path = write_corpus(tmp_path / "corpus.csv")
    other = Study.create(tmp_path / "other.db")
    assert study.import_corpus(pd.read_csv(path)).counts == other.import_corpus(path).counts
    for side in ("hs", "cn"):
        with study._store.read() as tx, other._store.read() as other_tx:
            pd.testing.assert_frame_equal(texts.texts_of(tx, side), texts.texts_of(other_tx, side))


def test_the_frame_stays_as_it_was(study: Study) -> None:
    frame = pairs(language=["en", "fr", "en"])
    before = frame.copy()
    study.import_corpus(frame, only_language="en")
    pd.testing.assert_frame_equal(frame, before)
    assert not frame.attrs


def test_columns_may_be_named(study: Study) -> None:
    frame = pairs().rename(columns={"hs": "query", "cn": "document"})
    assert study.import_corpus(frame, hs_column="query", cn_column="document").counts["rows"] == 3


def test_a_published_corpus_keeps_its_columns(study: Study) -> None:
    frame = pd.DataFrame({"HATE_SPEECH": ["a"], "COUNTER_NARRATIVE": ["b"], "TARGET": ["c"], "VERSION": [1]})
    assert study.import_corpus(frame, reader="mt-conan").counts == {"rows": 1, "hs": 1, "cn": 1}


def test_a_frame_with_other_columns_is_refused_with_those(study: Study) -> None:
    refuse(study, pairs().rename(columns={"cn": "reply"}), "missing column `cn`; found hs, reply")


def test_a_frame_with_the_columns_of_a_published_corpus_is_told_its_format(study: Study) -> None:
    frame = pd.DataFrame({"HATE_SPEECH": ["a"], "COUNTER_NARRATIVE": ["b"]})
    refuse(study, frame, "these are the columns of `--reader mt-conan`")


def test_a_column_that_is_there_twice_is_refused(study: Study) -> None:
    frame = pd.DataFrame([["a", "b", "c"]], columns=["hs", "cn", "cn"])
    refuse(study, frame, "column `cn` is duplicated")


def test_rows_that_are_there_twice_are_rows_of_one_pair(study: Study) -> None:
    frame = pd.concat([pairs(), pairs()])
    assert study.import_corpus(frame).counts == {"rows": 6, "hs": 3, "cn": 3}


@pytest.mark.parametrize("gap", [np.nan, None, pd.NA, "", " "])
def test_what_is_missing_is_an_empty_text(study: Study, gap: Any) -> None:
    frame = pairs()
    frame["cn"] = pd.Series(["d", gap, "f"], dtype=object)
    refuse(study, frame, r"frame \(rows from 1\):2: the cn text is empty")


def test_the_hint_for_a_text_without_a_pair_is_in_python(study: Study) -> None:
    frame = pairs(cn=["d", "", "f"])
    refuse(study, frame, "`unpaired=True` reads such a row as a text without a pair")
    assert study.import_corpus(frame, unpaired=True).counts["without_pair"] == 1


def test_rows_are_counted_whatever_the_index_says(study: Study) -> None:
    frame = pairs().set_index(pd.Index([7, 7, 9])).assign(cn=["d", "e", np.nan])
    refuse(study, frame, r"frame \(rows from 1\):3: the cn text is empty")


def test_an_index_that_is_no_range_is_no_part_of_the_corpus(study: Study) -> None:
    frame = pairs().set_index(pd.Index(["x", "y", "z"], name="key"))
    assert study.import_corpus(frame).counts["rows"] == 3


def test_a_frame_without_rows_is_refused(study: Study) -> None:
    refuse(study, pairs().head(0), "the frame has no rows; expected at least one")


def test_a_text_that_no_file_can_hold_is_refused(study: Study) -> None:
    frame = pairs()
    frame["hs"] = pd.Series(["a", "\ud800", "c"], dtype=object)
    refuse(study, frame, r"frame \(rows from 1\):2: .*half a surrogate pair")


def test_a_language_that_no_row_has_is_refused(study: Study) -> None:
    refuse(study, pairs(language="en"), r"frame \(rows from 1\): no row in language `fr`; found en", only_language="fr")


def test_a_reader_of_files_is_refused(study: Study) -> None:
    refuse(study, pairs(), "reader is 'xlsx', but a frame was read already", reader="xlsx")


@pytest.mark.parametrize("value", [[("a", "b")], {"hs": ["a"]}, 3, None, pd.Series(["a"])])
def test_what_is_no_frame_is_refused(study: Study, value: Any) -> None:
    refuse(study, value, "expected the name of a file")


def test_keyword_arguments_beside_an_import_are_refused(study: Study, tmp_path: Path) -> None:
    path = write_corpus(tmp_path / "corpus.csv")
    refuse(study, Import(path), r"keyword arguments are given in addition to Import\(...\)", only_language="en")


def test_a_second_corpus_is_refused_unless_it_is_asked(study: Study) -> None:
    study.import_corpus(pairs())
    with pytest.raises(StageError, match="`import` has been done"):
        study.import_corpus(pairs())
    assert study.import_corpus(pairs(), redo=True).counts["rows"] == 3


def test_the_log_says_that_it_was_a_frame(study: Study) -> None:
    assert study.import_corpus(pairs()).params["path"] == "<frame>"


def test_the_recipe_of_the_study_says_what_it_cannot_hold(study: Study, tmp_path: Path) -> None:
    study.import_corpus(pairs())
    text = study.recipe_text()
    assert (
        "# The corpus was imported from a data frame; write it to a file, and name that as `path` of [import]." in text
    )
    (tmp_path / "recipe.toml").write_text(text, "utf-8")
    assert load_recipe(tmp_path / "recipe.toml")
