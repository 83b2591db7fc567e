"""Written texts as files of every layout, and curated: what is kept and rejected, where it goes, how it is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import InputError, StageError
from fcpair.params import Annotate, Export, Setup, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.store.corpus import cells
from fcpair.study import Grid, Study
from steps.online import admit, give
from steps.small import write_csv
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


ROWS = ("Tea is odd.", "Cats are cold.")
WRITTEN = {1: "My aunt likes it very much.", 2: "So it is, and so are we.", 3: "Mine is warm as an oven."}
CURATE = "sift: curate(off_topic,rude,min_words=3)"


def sifting() -> tuple[GridPlan, GridPlan]:
    """Wren and Will write on statements, ana curates; what is kept is the rows of a second grid."""
    rounds = (
        RoundPlan("write", "text: text(min_words=2)", role="writer"),
        RoundPlan("sift", CURATE, people=1, edits="write"),
    )
    first = GridPlan("replies", SidePlan(names=ROWS), SidePlan(names=("facts", "humour")), rounds)
    rate = RoundPlan("rate", "rating: scale(1,5,1)", role="rater")
    return first, GridPlan("rate", SidePlan(answers="replies"), SidePlan(names=("kind",)), (rate,))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Four cells that wren and will have written on, dealt to ana, who has curated none."""
    study = Study.create(tmp_path / "study.db", Setup(title="Sift"), grids=sifting())
    study.add_people(["wren", "will"], Role.WRITER)
    study.add_people(["ana"], Role.ANNOTATOR)
    grid = study.grid("replies")
    grid.pair()
    grid.assign_round("write")
    for name in ("wren", "will"):
        desk, visitor = study.work_queue(Annotate()), admit(study, name)
        while tasks := desk.tasks(visitor):
            give(desk, visitor, WRITTEN.get(tasks[0].cell_id, "Not that I know."), tasks[0].assignment_id)
    grid.assign_round("sift")
    return study


def sheet(folder: Path, *answers: str) -> Path:
    rows = [{"cell": at, "by": "ana", "sift": one} for at, one in enumerate(answers, 1)]
    return Path(write_csv(folder / "ana.csv", rows))


@pytest.fixture
def curated(study: Study, tmp_path: Path) -> Grid:
    """Accepted, edited, rejected and skipped."""
    grid = study.grid("replies")
    path = sheet(tmp_path, WRITTEN[1], "So it is, and so are you all.", "reject: rude", "skip")
    grid.import_answers(path, "sift")
    return grid


def test_each_text_has_its_original_what_was_done_and_how_much_was_changed(curated: Grid, tmp_path: Path) -> None:
    table = curated.answers("sift")
    columns = ["cell", "row", "column", "by", "skipped", "sift", "original", "act", "words_changed"]
    assert table.columns.tolist() == [*columns, "characters_changed", "seconds", "time", "note", "origin"]
    assert table["act"].tolist() == ["accepted", "edited", "rejected", ""]
    assert table["original"].tolist() == [*WRITTEN.values(), "Not that I know."]
    assert table["words_changed"].fillna(-1).tolist() == [0, 2, -1, -1]  # we. -> you, + all.
    assert table["characters_changed"].fillna(-1).tolist() == [0, 7, -1, -1]
    assert table["sift"].tolist()[2] == "reject: rude"
    assert not {"act", "original", "words_changed"} & set(curated.answers("write").columns)
    assert curated.texts("sift")["sift"].tolist() == [WRITTEN[1], "So it is, and so are you all.", ""]
    table.to_csv(tmp_path / "all.csv", index=False)
    counts = curated.import_answers(tmp_path / "all.csv", "sift").counts
    assert (counts["answers"], counts["already_there"]) == (0, 4)


def test_what_is_rejected_is_on_no_side_of_the_next_grid(study: Study, tmp_path: Path) -> None:
    kept = [WRITTEN[1], "Mine is warm.", "Nobody minds that."]
    study.grid("replies").import_answers(sheet(tmp_path, kept[0], "reject: rude", *kept[1:]), "sift")
    study.grid("rate").pair()
    with study.grid("rate")._store.read() as tx:
        assert set(cells.texts_of_grid(tx)["body"]) == {*kept, "kind"}


def test_each_writer_and_all_are_counted(curated: Grid) -> None:
    curation = curated.curation("sift")
    by = dict(zip(curated.answers("write")["cell"], curated.answers("write")["by"], strict=True))
    acts = {1: "accepted", 2: "edited", 3: "rejected"}
    for source in curation.sources:
        own = [acts[cell] for cell, who in by.items() if who == source.source and cell in acts]
        counts = [own.count(act) for act in ("accepted", "edited", "rejected")]
        assert [source.n, source.accepted, source.edited, source.rejected] == [len(own), *counts]
    total = curation.all
    assert (total.n, total.accepted, total.edited, total.rejected) == (3, 1, 1, 1)
    assert total.reasons == {"off_topic": 0, "rude": 1}
    assert (total.words_changed.value, total.words_changed.n) == (2, 1)
    assert (total.characters_changed.value, curation.lost) == (7, 0)


def test_an_answer_to_an_empty_reply_of_a_model_is_left_out_and_said(tmp_path: Path) -> None:
    canned = write_csv(tmp_path / "said.csv", [{"row": ROWS[0], "reply": WRITTEN[1]}, {"row": ROWS[1], "reply": ""}])
    propose = RoundPlan("propose", "text: text(min_words=2)", models=(f"plain=canned:{canned}",))
    sift = RoundPlan("sift", CURATE, people=1, edits="propose")
    grid_plan = GridPlan("replies", SidePlan(names=ROWS), SidePlan(names=("plain",)), (propose, sift))
    grid = Study.create(tmp_path / "study.db", Setup(title="Sift"), grids=[grid_plan]).grid()
    grid.pair()
    grid.generate("propose")
    grid.assign_round("sift")
    grid.simulate(Simulate(skips=0.0, seed=1))
    curation = grid.curation("sift")
    assert (curation.all.n, curation.lost) == (1, 1)


def test_what_cannot_be_counted_is_refused_or_undefined(study: Study, tmp_path: Path) -> None:
    grid = study.grid("replies")
    with pytest.raises(StageError, match="round `write` edits nothing; name one that does with `--round`"):
        grid.curation("write")
    with pytest.raises(StageError, match="nothing has been answered in round `sift` yet"):
        grid.curation("sift")
    with pytest.raises(InputError, match=r"ana.csv:3: .*`rued` is not a reason here; did you mean `rude`\?"):
        grid.import_answers(sheet(tmp_path, WRITTEN[1], "reject: rued"), "sift")
    assert grid.answers("sift").empty
    grid.import_answers(sheet(tmp_path, WRITTEN[1], "reject: rude"), "sift")
    mean = grid.curation("sift").all.words_changed
    assert (mean.value, mean.n, mean.undefined) == (None, 0, "no text was edited")


def test_an_edited_text_is_checked_as_any_other_and_a_rejection_is_not(study: Study) -> None:
    desk, ana = study.work_queue(Annotate()), admit(study, "ana")
    (task,) = desk.tasks(ana)
    (remark,) = desk.check_text(ana, task.assignment_id, "Too short.")
    assert (remark.refuses, remark.score) == (True, 2)
    assert desk.check_text(ana, task.assignment_id, {"reject": "rude"}) == []
    (remark,) = desk.check_text(ana, task.assignment_id, {"reject": "rued"})
    assert "is not a reason here" in remark.sentence
    give(desk, ana, {"reject": "rude"}, task.assignment_id)
    assert desk.answers(ana)[0].answer == {"reject": "rude"}
