"""Frames and lists in the place of files, read as these are, and numbers as frames have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fcpair.errors import InputError, StageError
from fcpair.params import Import, Retrieve, Select
from fcpair.plans import RoundPlan
from fcpair.recipe import load_recipe
from fcpair.store.corpus import texts
from fcpair.study import Study
from steps.small import At, assert_refused, write_corpus

ROWS = [{"hs": hs, "cn": cn, "hs_id": n, "cn_id": n} for n, (hs, cn) in enumerate([("a", "x"), ("b", "y"), ("c", "z")])]
RUN = pd.DataFrame({"hs_id": [0.0, 0.0, 2.0], "cn_id": [1, 2, 0], "rank": [1, 2, 1], "score": [2.0, 1.5, 1.0]})


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = Study.create(tmp_path / "study.db")
    study.import_corpus(ROWS)
    return study


def test_hs_are_listed_in_memory(study: Study) -> None:
    listed: tuple[Any, ...] = (["a", "c"], [{"hs": "a"}, {"hs": "c"}], pd.DataFrame({"hs": ["a", "c"]}))
    for bodies in listed:
        run = study.grid().select(hs_list=bodies, redo=True)
        assert (run.counts["hs"], run.params["hs_list"]) == (2, "<frame>")
    with pytest.raises(InputError, match=r"frame \(rows from 1\):2: this HS is not in the study"):
        study.grid().select(hs_list=["a", "no such text"], redo=True)
    wrong: tuple[Any, ...] = (3, [1, 2], {"a"}, pd.Series(["a"]))
    for value in wrong:
        with pytest.raises(InputError, match="expected the name of a file"):
            Select(hs_list=value)


def test_candidates_come_from_a_frame_of_a_run(study: Study) -> None:
    grid = study.grid()
    grid.select(hs_list=["a"])
    refused: dict[str, Any] = {
        "hs_id `nobody` is not in the corpus": [RUN.assign(hs_id="nobody")],
        "rank is `1.5`; expected a whole number": [RUN.assign(rank=1.5)],
        "missing column `score`": [RUN.drop(columns="score")],
        "of frames, which have no names, give one": [RUN, RUN],
    }
    for message, runs in refused.items():
        with pytest.raises(InputError, match=message):
            grid.retrieve(runs=runs)
    assert grid.retrieve(runs=[RUN], depth=1).counts["candidates"] == 1
    assert grid.retrieve(Retrieve(runs=RUN, depth=2), redo=True).counts["candidates"] == 2  # type: ignore[arg-type]
    assert grid.retrieve(cn_list=["y", "z"], redo=True).counts["candidates"] == 2
    with pytest.raises(StageError, match=r"run 1 \("):
        grid.withdraw(1.0)  # type: ignore[arg-type]


def test_labels_come_from_a_frame_whose_numbers_may_be_floats_and_a_pair_is_known_by_a_whole_number(at: At) -> None:
    grid = at("checked").grid()
    run = grid.import_labels(grid.labels().astype({"pair": float}))
    assert run.params["path"] == "frame (rows from 1)"
    assert run.counts["already_there"] == len(grid.labels())
    whole: tuple[Any, ...] = (1, 1.0, pd.Series([1.0])[0])
    for number in whole:
        explained = grid.explain(number)
        assert (explained.cell_id, type(explained.cell_id)) == (1, int)
    others: tuple[Any, ...] = (1.5, "1", True, None)
    for other in others:
        with pytest.raises(InputError, match="expected a whole number"):
            grid.explain(other)


@pytest.mark.server
def test_a_look_finds_what_others_find_and_ends_where_somebody_writes(at: Callable[[str], Study]) -> None:
    study = at("checked")
    with Study.look(study.address) as looking:
        assert looking.grid().tiers().table().sizes == study.grid().tiers().table().sizes
        assert looking.status()["pairs"] == study.status()["pairs"]
        run = looking.grid().desk.add_note(text="Two of them talked about it.")
        assert looking.log()[-1].id == study.log()[-1].id == run.id


@pytest.fixture
def empty(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "empty.db")


def pairs(**more: Any) -> pd.DataFrame:
    return pd.DataFrame({"hs": ["a", "b", "c"], "cn": ["d", "e", "f"]} | more)


def cells_of(*values: Any) -> pd.Series[Any]:
    return pd.Series(values, dtype=object)


@pytest.mark.files
def test_a_frame_is_read_as_its_file_is(empty: Study, tmp_path: Path) -> None:
    path = write_corpus(tmp_path / "corpus.csv")
    other = Study.create(tmp_path / "other.db")
    assert empty.import_corpus(pd.read_csv(path)).counts == other.import_corpus(path).counts
    for side in ("hs", "cn"):
        with empty._store.read() as tx, other._store.read() as other_tx:
            pd.testing.assert_frame_equal(texts.texts_of(tx, side), texts.texts_of(other_tx, side))


@pytest.mark.files
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
    empty: Study, frame: pd.DataFrame, options: dict[str, Any], counts: dict[str, int] | int
) -> None:
    before = frame.copy()
    run = empty.import_corpus(frame, **options)
    assert (run.counts if isinstance(counts, dict) else run.counts["rows"]) == counts
    assert run.counts.get("without_pair", 0) == ("unpaired" in options)
    assert run.params["path"] == "<frame>"
    pd.testing.assert_frame_equal(frame, before)
    assert not frame.attrs


REFUSED: list[tuple[Any, str]] = [
    (pairs().rename(columns={"cn": "reply"}), "missing column `cn`; found hs, reply"),
    (pd.DataFrame({"HATE_SPEECH": ["a"], "COUNTER_NARRATIVE": ["b"]}), "these are the columns of `--reader mt-conan`"),
    (pd.DataFrame([["a", "b", "c"]], columns=["hs", "cn", "cn"]), "column `cn` is duplicated"),
    *((pairs(cn=cells_of("d", gap, "f")), r"frame \(rows from 1\):2: the cn text is empty") for gap in (np.nan, pd.NA)),
    *((pairs(cn=cells_of("d", gap, "f")), r"frame \(rows from 1\):2: the cn text is empty") for gap in (None, "", " ")),
    (pairs(cn=["d", "", "f"]), "`unpaired=True` reads such a row as a text without a pair"),
    (
        pairs().set_index(pd.Index([7, 7, 9])).assign(cn=["d", "e", np.nan]),
        r"frame \(rows from 1\):3: the cn text is empty",
    ),
    (pairs().head(0), "the frame has no rows; expected at least one"),
    (pairs(hs=cells_of("a", "\ud800", "c")), r"frame \(rows from 1\):2: .*half a surrogate pair"),
    *((value, "expected the name of a file") for value in ([("a", "b")], {"hs": ["a"]}, 3, None, pd.Series(["a"]))),
]


@pytest.mark.files
def test_what_is_no_corpus_is_refused_and_nothing_is_written(empty: Study, tmp_path: Path) -> None:
    def refuse(frame: Any, message: str, **more: Any) -> None:
        assert_refused(empty, lambda: empty.import_corpus(frame, **more), InputError, message)

    for frame, message in REFUSED:
        refuse(frame, message)
    refuse(pairs(language="en"), r"frame \(rows from 1\): no row in language `fr`; found en", only_language="fr")
    refuse(pairs(), "reader is 'xlsx', but a frame was read already", reader="xlsx")
    given = Import(write_corpus(tmp_path / "corpus.csv"))
    refuse(given, r"keyword arguments are given in addition to Import\(...\)", only_language="en")


@pytest.mark.files
def test_a_second_corpus_is_refused_unless_it_is_asked_and_the_recipe_says_that_it_lacks_it(
    empty: Study, tmp_path: Path
) -> None:
    empty.import_corpus(pairs())
    with pytest.raises(StageError, match="`import` has been done"):
        empty.import_corpus(pairs())
    assert empty.import_corpus(pairs(), redo=True).counts["rows"] == 3
    text = empty.recipe_text()
    note = "# The corpus was imported from a data frame; write it to a file, and name that as `path` of [import]."
    assert note in text
    (tmp_path / "recipe.toml").write_text(text, "utf-8")
    assert load_recipe(tmp_path / "recipe.toml")


def test_a_table_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the file of a text is \['Be kind'\]; expected the name of a file"):
        Study.create(tmp_path / "other.db", guidelines=["Be kind"])  # type: ignore[arg-type]
    assert not (tmp_path / "other.db").exists()
    with pytest.raises(InputError, match="the file of a text is"):
        RoundPlan("write", "text(5,50)", prompt_file=["Write."])  # type: ignore[arg-type]
