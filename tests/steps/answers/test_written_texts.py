"""What was written, as files: a table, sides to train on, a Hugging Face folder, and the layouts of two datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pandas as pd
import pytest

from fcpair.errors import InputError, StageError
from fcpair.params import Annotate, Export, Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study
from steps.online import admit, at_desk, give
from steps.writing import TYPES, dealt, plan, write_all


@pytest.fixture
def written(tmp_path: Path) -> Study:
    """Three people have written on eight statements, but for one cell, which they found fine."""
    study = dealt(tmp_path, plan(), writer=3)
    desk, visitor = study.work_queue(Annotate()), admit(study, "writer1")
    give(desk, visitor, {"unkind": "no"})
    for name in ("writer1", "writer2", "writer3"):
        write_all(study, name)
    return study


def test_a_table_has_each_text_with_what_it_answers_and_its_types(written: Study, tmp_path: Path) -> None:
    run = written.grid("write").export.texts(tmp_path / "texts.csv")
    table = pd.read_csv(tmp_path / "texts.csv")
    assert table.columns.tolist() == ["cell", "hs", "type", "cn", "types", "by", "simulated"]
    assert (len(table), run.counts["texts"], run.counts["answered"]) == (23, 23, 8)
    assert (table["types"] == table["type"]).all()
    assert not table["simulated"].any()


@pytest.mark.parametrize("share", [0.34, 0.2, 0.5])
def test_no_statement_is_on_both_sides_of_a_training_set(written: Study, tmp_path: Path, share: float) -> None:
    written.grid("write").export.texts(tmp_path / "sides", "training", Export(test_share=share, seed=2))
    sides = [pd.read_json(tmp_path / "sides" / f"{name}.jsonl", lines=True) for name in ("train", "test")]
    assert sum(map(len, sides)) == 23
    assert set(sides[0]["hs"]).isdisjoint(sides[1]["hs"])
    assert sides[0].columns.tolist() == ["hs", "type", "types", "cn"]


@pytest.mark.torch
def test_a_hugging_face_folder_is_read_by_its_library(written: Study, tmp_path: Path) -> None:
    from datasets import load_dataset

    written.grid("write").export.texts(tmp_path / "hf", "hf", Export(test_share=0.25))
    read = load_dataset(str(tmp_path / "hf"), cache_dir=str(tmp_path / "cache"))
    assert read["train"].num_rows + read["test"].num_rows == 23
    assert "No row is in both splits." in (tmp_path / "hf" / "README.md").read_text("utf-8")


def test_the_layouts_of_the_datasets(written: Study, tmp_path: Path) -> None:
    written.grid("write").export.texts(tmp_path / "cc.json", "crowdcounter")
    first = json.loads((tmp_path / "cc.json").read_text("utf-8"))["1"]
    one = next(iter(first["counterspeech_post"].values()))
    assert one["type_required"] in TYPES
    assert one["additional_types"] == []
    written.grid("write").export.texts(tmp_path / "fa.csv", "parscn")
    names = ["Hate_Speech", "Counter_Narrative", "Counter_Type", "Target_Group"]
    assert pd.read_csv(tmp_path / "fa.csv").columns.tolist() == names


@pytest.mark.parametrize(
    ("layout", "own"), [("table", {}), ("training", {"test_share": 0.2, "seed": 3}), ("crowdcounter", {})]
)
def test_the_note_of_an_export_has_the_parameters_that_its_layout_reads(
    written: Study, tmp_path: Path, layout: Literal["table", "training", "crowdcounter"], own: dict[str, object]
) -> None:
    place = tmp_path / {"table": "texts.csv", "training": "sides", "crowdcounter": "cc.json"}[layout]
    run = written.grid("write").export.texts(place, layout, Export(seed=3))
    assert run.params == {
        "kind": "texts",
        "layout": layout,
        "round": None,
        **own,
        "out": str(place),
    }


def test_a_column_that_is_no_type_is_none_of_the_types(tmp_path: Path) -> None:
    form = "text: text(); types: any_of(facts,humour)"
    grid = GridPlan(
        "write",
        SidePlan(names=("Tea is odd.", "Cats are cold.", "Rain is wet.")),
        SidePlan(names=("reply",)),
        (RoundPlan("write", form, role="writer"),),
    )
    study = Study.create(tmp_path / "study.db", Setup(title="t"), grids=[grid])
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


def test_where_nothing_was_written_there_is_nothing_to_export(tmp_path: Path) -> None:
    study = dealt(tmp_path, plan(), writer=3)
    with pytest.raises(StageError, match="nothing has been written in round `write` yet"):
        study.grid("write").export.texts(tmp_path / "texts.csv")


def test_a_folder_that_holds_something_is_left_alone(written: Study, tmp_path: Path) -> None:
    (tmp_path / "sides").mkdir()
    (tmp_path / "sides" / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(InputError, match="this folder is not empty"):
        written.grid("write").export.texts(tmp_path / "sides", "training")
