"""What was written, as files: a table, sides to train on, a Hugging Face folder, and the layouts of two datasets."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import InputError, StageError
from fcpair.params import Annotate, Export, Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study
from steps.online import admit, at_desk, give
from steps.writing import TYPES, dealt, plan, write_all


def written(folder: Path) -> Study:
    """Three people have written on eight statements, but for one cell, which they found fine."""
    study = dealt(folder, plan(), writer=3)
    with pytest.raises(StageError, match="nothing has been written in round `write` yet"):
        study.grid("write").export.texts(folder / "texts.csv")
    desk, visitor = study.work_queue(Annotate()), admit(study, "writer1")
    give(desk, visitor, {"unkind": "no"})
    for name in ("writer1", "writer2", "writer3"):
        write_all(study, name)
    return study


def test_texts_are_written_in_each_layout_with_what_they_answer_and_their_types(tmp_path: Path) -> None:
    export = written(tmp_path).grid("write").export
    run = export.texts(tmp_path / "texts.csv", options=Export(seed=3))
    table = pd.read_csv(tmp_path / "texts.csv")
    assert table.columns.tolist() == ["cell", "hs", "type", "cn", "types", "by", "simulated"]
    assert (len(table), run.counts["texts"], run.counts["answered"]) == (23, 23, 8)
    assert (table["types"] == table["type"]).all()
    assert not table["simulated"].any()
    noted = {"kind": "texts", "layout": "table", "round": None}  # and of parameters those that the layout reads
    assert run.params == {**noted, "out": str(tmp_path / "texts.csv")}
    for share in (0.34, 0.2, 0.5):
        folder = tmp_path / f"sides {share}"
        run = export.texts(folder, "training", Export(test_share=share, seed=2))
        assert run.params == {**noted, "layout": "training", "test_share": share, "seed": 2, "out": str(folder)}
        train, test = (pd.read_json(folder / f"{name}.jsonl", lines=True) for name in ("train", "test"))
        assert len(train) + len(test) == 23
        assert set(train["hs"]).isdisjoint(test["hs"])
        assert train.columns.tolist() == ["hs", "type", "types", "cn"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(InputError, match="this folder is not empty"):
        export.texts(tmp_path / "mine", "training")
    run = export.texts(tmp_path / "cc.json", "crowdcounter", Export(seed=3))
    assert run.params == {**noted, "layout": "crowdcounter", "out": str(tmp_path / "cc.json")}
    first = json.loads((tmp_path / "cc.json").read_text("utf-8"))["1"]
    post = next(iter(first["counterspeech_post"].values()))
    assert post["type_required"] in TYPES
    assert post["additional_types"] == []
    export.texts(tmp_path / "fa.csv", "parscn")
    names = ["Hate_Speech", "Counter_Narrative", "Counter_Type", "Target_Group"]
    assert pd.read_csv(tmp_path / "fa.csv").columns.tolist() == names


@pytest.mark.torch
def test_a_hugging_face_folder_is_read_by_its_library(tmp_path: Path) -> None:
    from datasets import load_dataset

    written(tmp_path).grid("write").export.texts(tmp_path / "hf", "hf", Export(test_share=0.25))
    read = load_dataset(str(tmp_path / "hf"), cache_dir=str(tmp_path / "cache"))
    assert read["train"].num_rows + read["test"].num_rows == 23
    assert "No row is in both splits." in (tmp_path / "hf" / "README.md").read_text("utf-8")


def test_a_column_that_is_no_type_is_none_of_the_types(tmp_path: Path) -> None:
    rows = SidePlan(names=("Tea is odd.", "Cats are cold.", "Rain is wet."))
    write = RoundPlan("write", "text: text(); types: any_of(facts,humour)", role="writer")
    grid_plan = GridPlan("write", rows, SidePlan(names=("reply",)), (write,))
    study = Study.create(tmp_path / "study.db", Setup(title="t"), grids=[grid_plan])
    study.add_people(["wren"], Role.WRITER)
    study.grid().pair()
    study.grid().assign_round()
    desk, visitor = at_desk(study, "wren")
    for task, types in zip(desk.tasks(visitor, 3), (["humour"], [], ["humour", "facts"]), strict=True):
        give(desk, visitor, {"text": "Not at all.", "types": types}, task.assignment_id)
    study.grid().export.texts(tmp_path / "texts.csv")
    table = pd.read_csv(tmp_path / "texts.csv", keep_default_na=False)
    assert sorted(table["types"]) == ["", "facts; humour", "humour"]
    assert study.grid().export.texts(tmp_path / "sides", "training", Export(test_share=0.34)).counts["test"] == 1
