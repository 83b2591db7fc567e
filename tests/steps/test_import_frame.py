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


def column(*values: Any) -> pd.Series[Any]:
    return pd.Series(values, dtype=object)


def test_a_frame_is_read_as_its_file_is(study: Study, tmp_path: Path) -> None:
    path = write_corpus(tmp_path / "corpus.csv")
    other = Study.create(tmp_path / "other.db")
    assert study.import_corpus(pd.read_csv(path)).counts == other.import_corpus(path).counts
    for side in ("hs", "cn"):
        with study._store.read() as tx, other._store.read() as other_tx:
            pd.testing.assert_frame_equal(texts.texts_of(tx, side), texts.texts_of(other_tx, side))


@pytest.mark.parametrize(
    ("frame", "options", "counts"),
    [
        (pairs().rename(columns={"hs": "query", "cn": "document"}), {"hs_column": "query", "cn_column": "document"}, 3),
        (
            pd.DataFrame({"HATE_SPEECH": ["a"], "COUNTER_NARRATIVE": ["b"], "TARGET": ["c"], "VERSION": [1]}),
            {"reader": "mt-conan"},
            {"rows": 1, "hs": 1, "cn": 1},
        ),
        (pd.concat([pairs(), pairs()]), {}, {"rows": 6, "hs": 3, "cn": 3}),
        (pairs().set_index(pd.Index(["x", "y", "z"], name="key")), {}, 3),
        (pairs(language=["en", "fr", "en"]), {"only_language": "en"}, 2),
        (pairs(cn=["d", "", "f"]), {"unpaired": True}, 3),
    ],
    ids=["columns", "published", "repeated rows", "an index", "a language", "a text without a pair"],
)
def test_a_frame_is_read_by_the_options_of_a_file_and_stays_as_it_was(
    study: Study, frame: pd.DataFrame, options: dict[str, Any], counts: dict[str, int] | int
) -> None:
    before = frame.copy()
    run = study.import_corpus(frame, **options)
    assert (run.counts if isinstance(counts, dict) else run.counts["rows"]) == counts
    assert run.counts.get("without_pair", 0) == ("unpaired" in options)
    assert run.params["path"] == "<frame>"
    pd.testing.assert_frame_equal(frame, before)
    assert not frame.attrs


REFUSED: list[tuple[Any, str]] = [
    (pairs().rename(columns={"cn": "reply"}), "missing column `cn`; found hs, reply"),
    (pd.DataFrame({"HATE_SPEECH": ["a"], "COUNTER_NARRATIVE": ["b"]}), "these are the columns of `--reader mt-conan`"),
    (pd.DataFrame([["a", "b", "c"]], columns=["hs", "cn", "cn"]), "column `cn` is duplicated"),
    *((pairs(cn=column("d", gap, "f")), r"frame \(rows from 1\):2: the cn text is empty") for gap in (np.nan, pd.NA)),
    *((pairs(cn=column("d", gap, "f")), r"frame \(rows from 1\):2: the cn text is empty") for gap in (None, "", " ")),
    (pairs(cn=["d", "", "f"]), "`unpaired=True` reads such a row as a text without a pair"),
    (
        pairs().set_index(pd.Index([7, 7, 9])).assign(cn=["d", "e", np.nan]),
        r"frame \(rows from 1\):3: the cn text is empty",
    ),
    (pairs().head(0), "the frame has no rows; expected at least one"),
    (pairs(hs=column("a", "\ud800", "c")), r"frame \(rows from 1\):2: .*half a surrogate pair"),
    *((value, "expected the name of a file") for value in ([("a", "b")], {"hs": ["a"]}, 3, None, pd.Series(["a"]))),
]


def test_what_is_no_corpus_is_refused_and_nothing_is_written(study: Study, tmp_path: Path) -> None:
    def refuse(frame: Any, message: str, **more: Any) -> None:
        assert_refused(study, lambda: study.import_corpus(frame, **more), InputError, message)

    for frame, message in REFUSED:
        refuse(frame, message)
    refuse(pairs(language="en"), r"frame \(rows from 1\): no row in language `fr`; found en", only_language="fr")
    refuse(pairs(), "reader is 'xlsx', but a frame was read already", reader="xlsx")
    given = Import(write_corpus(tmp_path / "corpus.csv"))
    refuse(given, r"keyword arguments are given in addition to Import\(...\)", only_language="en")


def test_a_second_corpus_is_refused_unless_it_is_asked_and_the_recipe_says_that_it_lacks_it(
    study: Study, tmp_path: Path
) -> None:
    study.import_corpus(pairs())
    with pytest.raises(StageError, match="`import` has been done"):
        study.import_corpus(pairs())
    assert study.import_corpus(pairs(), redo=True).counts["rows"] == 3
    text = study.recipe_text()
    note = "# The corpus was imported from a data frame; write it to a file, and name that as `path` of [import]."
    assert note in text
    (tmp_path / "recipe.toml").write_text(text, "utf-8")
    assert load_recipe(tmp_path / "recipe.toml")
