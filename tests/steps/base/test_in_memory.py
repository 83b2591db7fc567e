"""Frames and lists in the place of files, and numbers as frames have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fcpair.errors import InputError, StageError
from fcpair.params import Retrieve, Select
from fcpair.plans import RoundPlan
from fcpair.study import Study

At = Callable[[str], Study]
ROWS = [{"hs": hs, "cn": cn, "hs_id": n, "cn_id": n} for n, (hs, cn) in enumerate([("a", "x"), ("b", "y"), ("c", "z")])]
RUN = pd.DataFrame({"hs_id": [0.0, 0.0, 2.0], "cn_id": [1, 2, 0], "rank": [1, 2, 1], "score": [2.0, 1.5, 1.0]})


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = Study.create(tmp_path / "study.db")
    study.import_corpus(ROWS)
    return study


@pytest.mark.parametrize("texts", [["a", "c"], [{"hs": "a"}, {"hs": "c"}], pd.DataFrame({"hs": ["a", "c"]})])
def test_hs_are_listed_in_memory(study: Study, texts: Any) -> None:
    run = study.grid().select(hs_list=texts)
    assert (run.counts["hs"], run.params["hs_list"]) == (2, "<frame>")


def test_a_text_in_memory_that_the_study_lacks_is_named_by_its_row(study: Study) -> None:
    with pytest.raises(InputError, match=r"frame \(rows from 1\):2: this HS is not in the study"):
        study.grid().select(hs_list=["a", "no such text"])


def test_candidates_come_from_a_frame_of_a_run(study: Study) -> None:
    study.grid().select(hs_list=["a"])
    assert study.grid().retrieve(runs=[RUN], depth=1).counts["candidates"] == 1
    assert study.grid().retrieve(Retrieve(runs=RUN, depth=2), redo=True).counts["candidates"] == 2  # type: ignore[arg-type]
    assert study.grid().retrieve(cn_list=["y", "z"], redo=True).counts["candidates"] == 2


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([RUN.assign(hs_id="nobody")], "hs_id `nobody` is not in the corpus"),
        ([RUN.assign(rank=1.5)], "rank is `1.5`; expected a whole number"),
        ([RUN.drop(columns="score")], "missing column `score`"),
        ([RUN, RUN], "of frames, which have no names, give one"),
    ],
)
def test_what_is_no_run_is_refused(study: Study, runs: Any, message: str) -> None:
    study.grid().select(hs_list=["a"])
    with pytest.raises(InputError, match=message):
        study.grid().retrieve(runs=runs)


@pytest.mark.parametrize("value", [3, [1, 2], {"a"}, pd.Series(["a"])])
def test_what_is_no_table_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="expected the name of a file"):
        Select(hs_list=value)


def test_labels_come_from_a_frame_whose_numbers_may_be_floats(at: At) -> None:
    grid = at("checked").grid()
    run = grid.import_labels(grid.labels().astype({"pair": float}))
    assert run.params["path"] == "frame (rows from 1)"
    assert run.counts["already_there"] == len(grid.labels())


@pytest.mark.parametrize("number", [1, 1.0, pd.Series([1.0])[0]])
def test_a_pair_is_known_by_a_whole_number(at: At, number: Any) -> None:
    found = at("checked").grid().explain(number)
    assert (found.cell_id, type(found.cell_id)) == (1, int)


@pytest.mark.parametrize("number", [1.5, "1", True, None])
def test_what_is_no_whole_number_is_no_pair(at: At, number: Any) -> None:
    with pytest.raises(InputError, match="expected a whole number"):
        at("checked").grid().explain(number)


def test_a_message_about_a_run_has_its_whole_number(study: Study) -> None:
    with pytest.raises(StageError, match=r"run 1 \("):
        study.grid().withdraw(1.0)  # type: ignore[arg-type]


def test_a_table_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the file of a text is \['Be kind'\]; expected the name of a file"):
        Study.create(tmp_path / "other.db", guidelines=["Be kind"])  # type: ignore[arg-type]
    assert not (tmp_path / "other.db").exists()
    with pytest.raises(InputError, match="the file of a text is"):
        RoundPlan("write", "text(5,50)", prompt_file=["Write."])  # type: ignore[arg-type]
