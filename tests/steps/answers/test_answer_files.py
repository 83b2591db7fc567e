"""Files of answers to any form: sheets for each person, and their way back into a round."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.files.tables.tabular import read_table
from fcpair.params import Adjudicate, Setup, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Origin
from fcpair.stages.assignment.plan import RESERVED_COLUMNS
from fcpair.store.adjudication import adjudications
from fcpair.store.answers import authorship
from fcpair.store.assignment import rounds
from fcpair.study import Grid, Study
from steps.small import assert_refused, dump, write_csv

ROWS, TYPES = ("Tea is for cowards.", "Cats are cold."), ("facts", "humour")
WRITE = RoundPlan("write", "text: text(min_words=4); also: any_of(facts,warm,question)", role="writer", people=2)
EDIT = RoundPlan("edit", "text: edit(min_words=2); fit: one_of(no,yes)", people=2, edits="write", counts=False)
RATE = RoundPlan("rate", "rating: scale(1,5,0.5,positive=4)", role="rater", answers=2, people=3)
PERSIAN = "چای نوشیدنیِ آدم‌های\nشجاع است، دوست من  "
SAID = {1: PERSIAN, 2: "Tea keeps  my courage warm.", 3: "=Mine is warm as toast", 4: "Is a cat a stove?"}
ALSO = {1: "warm; facts", 2: "none", 3: "warm", 4: "question"}


def study_of(folder: Path, *rounds_: RoundPlan) -> Grid:
    plan = GridPlan("write", SidePlan(names=ROWS), SidePlan(names=TYPES), rounds_)
    grid = Study.create(folder / "study.db", Setup(title="t"), grids=[plan]).grid()
    grid.pair()
    grid.assign_round(rounds_[0].name)
    return grid


@pytest.fixture
def write(tmp_path: Path) -> Grid:
    return study_of(tmp_path, WRITE, EDIT)


@pytest.fixture
def rate(tmp_path: Path) -> Grid:
    """Four cells, each rated by two of three raters."""
    return study_of(tmp_path, RATE)


def sheets_of(grid: Grid, folder: Path, name: str | None = None) -> list[list[dict[str, str]]]:
    grid.sheets.write_answers(folder, name)
    return [read(path) for path in sorted(folder.glob("*.csv"))]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def filled(grid: Grid, folder: Path) -> Path:
    """All that is open in the round that writes, answered."""
    rows = [row for sheet in sheets_of(grid, folder / "blank", "write") for row in sheet]
    said = [{**row, "text": SAID[int(row["cell"])], "also": ALSO[int(row["cell"])]} for row in rows]
    return write_csv(folder / "filled.csv", said)


def rated(grid: Grid, folder: Path, *ratings: str) -> Path:
    """All that is open in the round that rates, with these ratings by turns."""
    rows = [row for sheet in sheets_of(grid, folder / "blank") for row in sheet]
    said = [{**row, "rating": ratings[at % len(ratings)]} for at, row in enumerate(rows)]
    return write_csv(folder / "rated.csv", said)


def test_each_person_has_a_sheet_with_a_column_for_each_question(write: Grid, tmp_path: Path) -> None:
    one, other = sheets_of(write, tmp_path / "s", "write")
    assert list(one[0]) == ["by", "cell", "row", "column", "text", "also", "note"]
    assert {len({row["by"] for row in sheet}) for sheet in (one, other)} == {1}
    assert sorted(row["cell"] for row in [*one, *other]) == ["1", "2", "3", "4"]
    assert {(row["row"], row["column"]) for row in [*one, *other]} == {(row, to) for row in ROWS for to in TYPES}
    assert {row["text"] + row["also"] + row["note"] for row in [*one, *other]} == {""}


def test_a_filled_in_sheet_comes_in_and_texts_stay_as_they_were_written(write: Grid, tmp_path: Path) -> None:
    run = write.import_answers(filled(write, tmp_path), "write")
    assert (run.counts["answers"], run.counts["skips"], run.counts["already_there"]) == (4, 0, 0)
    assert (run.stage, run.params["grid"], run.params["round"]) == ("write import", "write", "write")
    with write._store.read() as tx:
        assert {at: one.body for at, one in authorship.authored_texts(tx, rounds.by_name(tx, "write")).items()} == SAID
    table = write.answers("write")
    assert dict(zip(table["cell"], table["also"], strict=True)) == {**ALSO, 1: "facts; warm"}
    assert set(table["origin"]) == {Origin.IMPORTED}


def test_what_is_exported_can_be_imported_and_is_there_already(write: Grid, tmp_path: Path) -> None:
    write.simulate(Simulate(skips=0.5, seed=3))
    from fcpair.files.tables.tabular import write_table

    for name in ("a.csv", "a.jsonl", "a.parquet"):
        write_table(write.answers("write"), tmp_path / name)
        before = dump(Study._of(write._store))
        run = write.import_answers(tmp_path / name, "write")
        assert run.counts["already_there"] == len(write.answers("write"))
        assert (run.counts["answers"], run.counts["skips"]) == (0, 0)
        assert len(dump(Study._of(write._store))) > len(before)  # by the run


def test_the_texts_can_name_a_cell_in_the_place_of_its_number(write: Grid, tmp_path: Path) -> None:
    rows = [{name: cell for name, cell in row.items() if name != "cell"} for row in read(filled(write, tmp_path))]
    assert write.import_answers(write_csv(tmp_path / "t.csv", rows), "write").counts["answers"] == 4


def test_all_that_is_wrong_is_said_at_once_and_the_study_stays_as_it_was(write: Grid, tmp_path: Path) -> None:
    rows = read(filled(write, tmp_path))
    by = {row["cell"]: row["by"] for row in rows}
    (stranger,) = {row["by"] for row in rows} - {by["1"]}
    wrong = [
        {**rows[0], "text": "Too short."},
        {**rows[1], "also": "sad"},
        {**rows[2], "cell": "77", "row": "", "column": ""},
        {**rows[3], "by": "nobody"},
    ]
    mine = next(row for row in rows if row["cell"] == "1")
    path = write_csv(tmp_path / "w.csv", [*wrong, {**mine, "by": stranger}, {**mine, "row": "Tea is fine."}, mine])
    with pytest.raises(InputError) as caught:
        assert_refused(
            Study._of(write._store), lambda: write.import_answers(path, "write"), InputError, "things are wrong"
        )
        write.import_answers(path, "write")
    assert len({one.line for one in caught.value.findings}) == 7
    said = "\n".join(one.message for one in caught.value.findings)
    for message in (
        "text: the text has 2 words; expected at least 4",
        "also: unknown label `sad`",
        "cell 77 is not in the grid",
        "no writer is called `nobody`",
        f"cell 1 was not assigned to {stranger}",
        "cell 1 has other texts in this study",
    ):
        assert message in said


def test_an_answer_to_some_questions_only_is_none(write: Grid, tmp_path: Path) -> None:
    rows = [{**row, "also": ""} for row in read(filled(write, tmp_path))]
    with pytest.raises(InputError, match="also: an answer is missing"):
        write.import_answers(write_csv(tmp_path / "w.csv", rows), "write")


def test_a_row_without_an_answer_is_left_out_and_skip_skips(write: Grid, tmp_path: Path) -> None:
    first, second, *_ = read(filled(write, tmp_path))
    rows = [{**first, "text": "", "also": ""}, {**second, "text": "Skip", "also": "", "note": "not mine"}]
    run = write.import_answers(write_csv(tmp_path / "s.csv", rows), "write")
    assert (run.counts["answers"], run.counts["skips"]) == (0, 1)
    assert run.counts["reassigned"] + run.counts["vacant"] == 1
    assert write.answers("write")[["skipped", "note"]].to_numpy().tolist() == [[True, "not mine"]]


def test_a_row_is_not_answered_and_skipped(write: Grid, tmp_path: Path) -> None:
    rows = [{**row, "skipped": "True"} for row in read(filled(write, tmp_path))[:1]]
    with pytest.raises(InputError, match="the row has an answer and `skipped` too"):
        write.import_answers(write_csv(tmp_path / "s.csv", rows), "write")
    with pytest.raises(InputError, match="`perhaps` in column `skipped`"):
        write.import_answers(write_csv(tmp_path / "p.csv", [{**rows[0], "skipped": "perhaps"}]), "write")


def test_another_answer_needs_supersede(write: Grid, tmp_path: Path) -> None:
    path = filled(write, tmp_path)
    write.import_answers(path, "write")
    first, *others = read(path)
    other = write_csv(tmp_path / "o.csv", [{**first, "also": "question; facts; warm"}, *others])
    with pytest.raises(
        InputError,
        match=rf"{first['by']} has already answered cell {first['cell']} differently; --sup",
    ):
        write.import_answers(other, "write")
    run = write.import_answers(other, "write", supersede=True)
    assert (run.counts["answers"], run.counts["already_there"]) == (1, 3)


def list_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def test_a_person_s_answer_takes_the_place_of_an_equal_simulated_one(rate: Grid, tmp_path: Path) -> None:
    rate.simulate(Simulate(seed=1))
    made_up = rate.answers()
    path = write_csv(tmp_path / "r.csv", list_of(made_up.drop(columns="origin")))
    assert rate.import_answers(path).counts["answers"] == len(made_up)
    assert set(rate.answers()["origin"]) == {Origin.IMPORTED}
    back = write_csv(tmp_path / "b.csv", list_of(made_up))
    with pytest.raises(InputError, match="the answers in the file are simulated"):
        rate.import_answers(back)


def test_decisions_follow_answers_to_one_closed_question(rate: Grid, tmp_path: Path) -> None:
    path = rated(rate, tmp_path, "4", "4.5", "2")
    rate.import_answers(path)
    rate.adjudicate(Adjudicate("median", "discard"))
    with rate._store.read() as tx:
        before = adjudications.current_adjudications(tx, "cell_id", "code")
    run = rate.import_answers(
        write_csv(tmp_path / "o.csv", [{**row, "rating": "5"} for row in read(path)]), supersede=True
    )
    with rate._store.read() as tx:
        after = adjudications.current_adjudications(tx, "cell_id", "code")
    assert run.counts["decided"]
    assert set(before["code"]) != {8}
    assert set(after["code"]) == {8}


def test_labels_of_the_first_grid_can_come_this_way_too(at: Callable[[str], Study], tmp_path: Path) -> None:
    grid = at("dealt").grid()
    rows = [row for sheet in sheets_of(grid, tmp_path / "s") for row in sheet]
    path = write_csv(tmp_path / "f.csv", [{**row, "label": "appropriate"} for row in rows])
    assert grid.import_answers(path).counts["answers"] == len(rows)
    labels = tmp_path / "l.csv"
    write_csv(labels, [{"pair": row["cell"], "annotator": row["by"], "label": "2"} for row in rows])
    assert grid.import_labels(labels).counts["already_there"] == len(rows)


def test_a_sheet_to_edit_shows_the_text(write: Grid, tmp_path: Path) -> None:
    write.import_answers(filled(write, tmp_path), "write")
    write.assign_round("edit")
    sheets = sheets_of(write, tmp_path / "e", "edit")
    rows = [row for sheet in sheets for row in sheet]
    assert list(rows[0]) == ["by", "cell", "row", "column", "original", "text", "fit", "note"]
    assert {int(row["cell"]): row["original"].lstrip("'") for row in rows} == SAID
    edited = write_csv(tmp_path / "ed.csv", [{**row, "text": "Better so.", "fit": "yes"} for row in rows])
    again = read(tmp_path / "filled.csv")[:1]
    changed = write_csv(tmp_path / "again.csv", [{**again[0], "text": "Once more with four."}])
    write.import_answers(changed, "write", supersede=True)
    with pytest.raises(InputError, match=rf"the text of cell {again[0]['cell']} has changed since this sheet"):
        write.import_answers(edited, "edit")
    others = [row for row in read(edited) if row["cell"] != again[0]["cell"]]
    assert write.import_answers(write_csv(tmp_path / "ed.csv", others), "edit").counts["answers"] == 3


def test_what_waits_for_an_earlier_round_is_on_no_sheet_and_not_taken(write: Grid, tmp_path: Path) -> None:
    run = write.import_answers(filled(write, tmp_path), "write")
    write.assign_round("edit")
    rows = [row for sheet in sheets_of(write, tmp_path / "e", "edit") for row in sheet]
    edited = write_csv(tmp_path / "ed.csv", [{**row, "text": "Better so.", "fit": "yes"} for row in rows])
    skipped = read(tmp_path / "filled.csv")[:1]
    skip = write_csv(tmp_path / "skip.csv", [{**skipped[0], "text": "skip", "also": "skip"}])
    assert run.counts["answers"] == 4
    write.import_answers(skip, "write", supersede=True)
    with pytest.raises(InputError, match=rf"cell {skipped[0]['cell']} has no answer in round `write` yet"):
        write.import_answers(edited, "edit")
    due = [row for sheet in sheets_of(write, tmp_path / "new", "edit") for row in sheet]
    assert sorted(row["cell"] for row in due) == sorted({"1", "2", "3", "4"} - {skipped[0]["cell"]})


def test_filled_in_sheets_are_kept(write: Grid, tmp_path: Path) -> None:
    sheets_of(write, tmp_path / "s", "write")
    one, other = sorted((tmp_path / "s").glob("*.csv"))
    write_csv(one, [{**row, "also": "warm"} for row in read(one)])
    assert list(write.sheets.write_answers(tmp_path / "s", "write")) == [other.stem]
    (kept,) = write.sheets.old_answers(tmp_path / "s", "write")
    assert (kept.person, str(kept.kept)) == (one.stem, "it holds answers")


def test_a_workbook_offers_the_words_of_each_closed_question(write: Grid, tmp_path: Path) -> None:
    from openpyxl import load_workbook

    write.import_answers(filled(write, tmp_path), "write")
    write.assign_round("edit")
    written = write.sheets.write_answers(tmp_path / "x", "edit", "xlsx")
    book = load_workbook(tmp_path / "x" / f"{next(iter(written))}.xlsx")
    (choice,) = book["pairs"].data_validations.dataValidation
    lines = [row[0] for row in book["guidelines"].iter_rows(values_only=True)]
    at = lines.index("Allowed answers: fit")
    assert lines[at + 1 : at + 5] == ["no", "yes", "skip", None]
    assert choice.formula1 == f"guidelines!$A${at + 2}:$A${at + 4}"
    assert lines[:2] == ["Allowed answers: text", "edit(min_words=2), or skip"]
    assert [cell.value for cell in book["pairs"][1]][:4] == ["by", "text number", "row", "column"]


def test_models_verdicts_and_rounds_that_there_are_not_are_refused(rate: Grid, tmp_path: Path) -> None:
    path = rated(rate, tmp_path, "4", "2")
    with pytest.raises(UnknownIdError, match="no round `write`"):
        rate.import_answers(path, "write")
    rate.import_answers(path)
    with pytest.raises(StageError, match=r"nothing is open in round `rate`: all of it is answered \(8\)$"):
        rate.sheets.write_answers(tmp_path / "more")
    model = RoundPlan("ask", "text: text()", models=("plain=canned:plain.csv",))
    other = Study._of(rate._store)
    other.add_grid(GridPlan("models", SidePlan(names=ROWS), SidePlan(names=("plain",)), (model,)))
    with pytest.raises(StageError, match="answered by models; `fcpair generate"):
        other.grid("models").import_answers(path, "ask")


def test_verdicts_have_files_of_their_own(at: Callable[[str], Study], tmp_path: Path) -> None:
    grid = at("checking").grid()
    for refused in (
        lambda: grid.sheets.write_answers(tmp_path, "validate"),
        lambda: grid.import_answers("f", "validate"),
    ):
        with pytest.raises(StageError, match="fcpair validate import"):
            refused()


def test_a_file_is_taken_back_in_any_round(write: Grid, tmp_path: Path) -> None:
    brought = write.import_answers(filled(write, tmp_path), "write")
    run = write.withdraw(brought.id)
    assert (run.stage, run.counts["answers"], run.counts["skips"]) == ("write withdraw", 4, 0)
    assert write.answers("write").empty
    assert write.import_answers(tmp_path / "filled.csv", "write").counts["answers"] == 4
    with pytest.raises(StageError, match="has been withdrawn already"):
        write.withdraw(brought.id)


def test_a_run_is_taken_back_in_its_own_grid_and_round(write: Grid, tmp_path: Path) -> None:
    run = write.import_answers(filled(write, tmp_path), "write")
    study = Study._of(write._store)
    study.add_grid(GridPlan("rate", SidePlan(answers="write"), SidePlan(names=("kind",)), (RATE,)))
    said = rf"run {run.id} \(write import\) brought answers in grid `write`; name it \(`--grid write`\)"
    assert_refused(study, lambda: study.grid("rate").withdraw(run.id, "labels"), StageError, said)
    assert_refused(study, lambda: study.grid("rate").withdraw(run.id), StageError, said)
    write.assign_round("edit")
    rows = [row for sheet in sheets_of(write, tmp_path / "e", "edit") for row in sheet]
    edited = write_csv(tmp_path / "ed.csv", [{**row, "text": "Better so.", "fit": "yes"} for row in rows])
    run = write.import_answers(edited, "edit")
    said = rf"brought no labels but answers; `fcpair answers withdraw {run.id}` takes them back"
    assert_refused(study, lambda: write.withdraw(run.id, "labels"), StageError, said)
    assert write.withdraw(run.id).counts["answers"] == 4


def test_no_question_is_called_as_a_column_of_its_files(write: Grid, tmp_path: Path) -> None:
    write.simulate(Simulate(seed=1))
    asked = {"text", "also"}
    write.assign_round("edit")
    sheet = sheets_of(write, tmp_path / "s", "edit")[0][0]
    assert {*write.answers("write").columns, *sheet} - {*asked, "fit"} <= RESERVED_COLUMNS
    for name in ("note", "Time"):
        plan = GridPlan("other", SidePlan(names=ROWS), SidePlan(names=TYPES), (RoundPlan("ask", f"{name}: text()"),))
        with pytest.raises(InputError, match=f"round `ask` has a question `{name}`, but files of answers use"):
            Study._of(write._store).add_grid(plan)


def test_codes_are_said_with_what_they_were_read_as(at: Callable[[str], Study], tmp_path: Path) -> None:
    grid = at("dealt").grid()
    grid.sheets.write_labels(tmp_path)
    sheet = read_table(tmp_path / "ana.csv").drop(columns="line")
    sheet = sheet.assign(label=["0", "1.0", "appropriate", *["2", "0", "2"] * 9][: len(sheet)])
    sheet.to_csv(tmp_path / "filled.csv", index=False)
    counts = sheet["label"].value_counts()
    (note,) = grid.import_labels(tmp_path / "filled.csv").notes
    assert note == (
        f"codes were read as labels: 0 as not_appropriate ({counts['0']}), 1 as not_sure (1), "
        f"2 as appropriate ({counts['2']})"
    )


def test_answers_in_columns_called_like_those_of_the_grid_are_not_lost(write: Grid, tmp_path: Path) -> None:
    path = tmp_path / "sheets"
    write.sheets.write_answers(path)
    sheet = next(iter(path.iterdir()))
    filled = read_table(sheet).drop(columns="line").assign(facts="There is more to it than that.")
    filled.to_csv(tmp_path / "beside.csv", index=False)
    with pytest.raises(InputError, match=r"column `facts` is called like a column of the grid, and its cells would be"):
        write.import_answers(tmp_path / "beside.csv")


def test_answers_in_a_frame_are_of_a_frame(at: Callable[[str], Study], tmp_path: Path) -> None:
    grid = at("dealt").grid()
    grid.sheets.write_labels(tmp_path)
    frame: Any = read_table(tmp_path / "ana.csv").drop(columns="line").assign(label="appropriate")
    run = grid.import_labels(frame)
    assert run.params["path"] == "frame (rows from 1)"
