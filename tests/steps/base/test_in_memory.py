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
from steps.small import At

ROWS = [{"hs": hs, "cn": cn, "hs_id": n, "cn_id": n} for n, (hs, cn) in enumerate([("a", "x"), ("b", "y"), ("c", "z")])]
RUN = pd.DataFrame({"hs_id": [0.0, 0.0, 2.0], "cn_id": [1, 2, 0], "rank": [1, 2, 1], "score": [2.0, 1.5, 1.0]})


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = Study.create(tmp_path / "study.db")
    study.import_corpus(ROWS)
    return study


def test_hs_are_listed_in_memory(study: Study) -> None:
    listed: tuple[Any, ...] = (["a", "c"], [{"hs": "a"}, {"hs": "c"}], pd.DataFrame({"hs": ["a", "c"]}))
    for texts in listed:
        run = study.grid().select(hs_list=texts, redo=True)
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


def test_a_table_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the file of a text is \['Be kind'\]; expected the name of a file"):
        Study.create(tmp_path / "other.db", guidelines=["Be kind"])  # type: ignore[arg-type]
    assert not (tmp_path / "other.db").exists()
    with pytest.raises(InputError, match="the file of a text is"):
        RoundPlan("write", "text(5,50)", prompt_file=["Write."])  # type: ignore[arg-type]


@pytest.mark.server
def test_a_look_finds_what_others_find_and_ends_where_somebody_writes(at: Callable[[str], Study]) -> None:
    study = at("checked")
    with Study.look(study.address) as looking:
        assert looking.grid().tiers().table().sizes == study.grid().tiers().table().sizes
        assert looking.status()["pairs"] == study.status()["pairs"]
        run = looking.grid().desk.add_note(text="Two of them talked about it.")
        assert looking.log()[-1].id == study.log()[-1].id == run.id
