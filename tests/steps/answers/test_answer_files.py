"""Answers to any form, and decisions, in files: sheets for each person, their way back, and what is listed."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.files.tables.tabular import read_table, write_table
from fcpair.params import Adjudicate, Setup, Simulate, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Origin, Role
from fcpair.stages.assignment.plan import RESERVED_COLUMNS
from fcpair.store.answers import authorship
from fcpair.store.assignment import rounds
from fcpair.study import Grid, Study
from steps.online import at_desk, give
from steps.small import At, assert_refused, dump, labels_of, standing, with_grid, write_csv

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
    rows = [row for sheet in sheets_of(grid, folder / "blank", "write") for row in sheet]
    said = [{**row, "text": SAID[int(row["cell"])], "also": ALSO[int(row["cell"])]} for row in rows]
    return write_csv(folder / "filled.csv", said)


def edited(grid: Grid, folder: Path) -> Path:
    """All that is open in the round that edits, answered; it is assigned before."""
    grid.assign_round("edit")
    rows = [row for sheet in sheets_of(grid, folder / "edit", "edit") for row in sheet]
    return write_csv(folder / "edited.csv", [{**row, "text": "Better so.", "fit": "yes"} for row in rows])


def rated(grid: Grid, folder: Path, *ratings: str) -> Path:
    """All that is open in the round that rates, with these ratings by turns."""
    rows = [row for sheet in sheets_of(grid, folder / "blank") for row in sheet]
    said = [{**row, "rating": ratings[at % len(ratings)]} for at, row in enumerate(rows)]
    return write_csv(folder / "rated.csv", said)


def test_each_person_has_a_sheet_of_each_question_and_filled_in_ones_are_kept(write: Grid, tmp_path: Path) -> None:
    sheets = sheets_of(write, tmp_path / "s", "write")
    assert list(sheets[0][0]) == ["by", "cell", "row", "column", "text", "also", "note"]
    assert [len({row["by"] for row in sheet}) for sheet in sheets] == [1, 1]
    rows = [row for sheet in sheets for row in sheet]
    assert sorted(row["cell"] for row in rows) == ["1", "2", "3", "4"]
    assert {(row["row"], row["column"]) for row in rows} == {(row, to) for row in ROWS for to in TYPES}
    assert {row["text"] + row["also"] + row["note"] for row in rows} == {""}
    first, second = sorted((tmp_path / "s").glob("*.csv"))
    write_csv(first, [{**row, "also": "warm"} for row in read(first)])
    assert list(write.sheets.write_answers(tmp_path / "s", "write")) == [second.stem]
    (kept,) = write.sheets.old_answers(tmp_path / "s", "write")
    assert (kept.person, str(kept.kept)) == (first.stem, "it holds answers")


def test_a_filled_in_sheet_comes_in_and_texts_stay_as_they_were_written(write: Grid, tmp_path: Path) -> None:
    run = write.import_answers(filled(write, tmp_path), "write")
    assert (run.counts["answers"], run.counts["skips"], run.counts["already_there"]) == (4, 0, 0)
    assert (run.stage, run.params["grid"], run.params["round"]) == ("write import", "write", "write")
    with write._store.read() as tx:
        written = authorship.authored_texts(tx, rounds.by_name(tx, "write"))
    assert {at: text.body for at, text in written.items()} == SAID
    table = write.answers("write")
    assert dict(zip(table["cell"], table["also"], strict=True)) == {**ALSO, 1: "facts; warm"}
    assert set(table["origin"]) == {Origin.IMPORTED}
    path = tmp_path / "filled.csv"
    first, *others = read(path)
    other = write_csv(tmp_path / "o.csv", [{**first, "also": "question; facts; warm"}, *others])
    message = rf"{first['by']} has already answered cell {first['cell']} differently; --sup"
    with pytest.raises(InputError, match=message):
        write.import_answers(other, "write")
    run = write.import_answers(other, "write", supersede=True)
    assert (run.counts["answers"], run.counts["already_there"]) == (1, 3)


def test_what_is_listed_has_a_column_for_each_question_and_can_be_imported_again(write: Grid, tmp_path: Path) -> None:
    write.simulate(Simulate(skips=0.5, seed=3))
    table = write.answers("write")
    columns = ["cell", "row", "column", "by", "skipped", "text", "also", "seconds", "time", "note", "origin"]
    assert table.columns.tolist() == columns
    assert set(zip(table["row"], table["column"], strict=True)) == {(row, column) for row in ROWS for column in TYPES}
    given, skipped = table[~table["skipped"]], table[table["skipped"]]
    assert min(len(text.split()) for text in given["text"]) >= 4
    assert set("; ".join(given["also"]).split("; ")) <= {"facts", "warm", "question", "none"}
    assert len(skipped)
    assert (skipped[["text", "also"]] == "").to_numpy().all()
    assert set(table["origin"]) == {"simulated"}
    with pytest.raises(UnknownIdError, match=r"no round `rate` in this grid; its rounds: write"):
        write.answers("rate")
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        write_table(table, tmp_path / name)
        before = dump(Study._of(write._store))
        run = write.import_answers(tmp_path / name, "write")
        assert (run.counts["answers"], run.counts["skips"], run.counts["already_there"]) == (0, 0, len(table))
        assert len(dump(Study._of(write._store))) > len(before)  # by the run


def test_labels_of_the_first_grid_are_answers_as_well_and_blind_verdicts_are_labels(at: At) -> None:
    study = at("labelled")
    table = study.grid().answers()
    said = dict(zip(zip(table["cell"], table["by"], strict=True), table["label"].replace("", "skip"), strict=True))
    assert said == labels_of(study)
    study = at("decided")
    study.add_people(["vera"], Role.VALIDATOR)
    study.grid().assign_validation(Validate(pairs=2, blind=True))
    desk, vera = at_desk(study, "vera")
    for name in ("appropriate", "not_sure"):
        give(desk, vera, name)
    study.grid().assign_validation(Validate(pairs=2), more=True)
    give(desk, vera, "agree")
    table = study.grid().answers("validate")
    assert sorted(table["own_label"]) == ["", "appropriate", "not_sure"]
    assert sorted(table["verdict"]) == ["", "", "agree"]


def test_all_that_is_wrong_is_said_at_once_and_the_study_stays_as_it_was(write: Grid, tmp_path: Path) -> None:
    study, path = Study._of(write._store), tmp_path / "w.csv"
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
    write_csv(path, [*wrong, {**mine, "by": stranger}, {**mine, "row": "Tea is fine."}, mine])
    assert_refused(study, lambda: write.import_answers(path, "write"), InputError, "things are wrong")
    with pytest.raises(InputError) as caught:
        write.import_answers(path, "write")
    assert len({finding.line for finding in caught.value.findings}) == 7
    messages = "\n".join(finding.message for finding in caught.value.findings)
    for message in (
        "text: the text has 2 words; expected at least 4",
        "also: unknown label `sad`",
        "cell 77 is not in the grid",
        "no writer is called `nobody`",
        f"cell 1 was not assigned to {stranger}",
        "cell 1 has other texts in this study",
    ):
        assert message in messages
    beside = "column `facts` is called like a column of the grid, and its cells would be"
    blank = [{**row, "text": "", "also": "", "facts": "There is more to it than that."} for row in rows]
    for changed, message in (
        ([{**row, "also": ""} for row in rows], "also: an answer is missing"),
        ([{**rows[0], "skipped": "True"}], "the row has an answer and `skipped` too"),
        ([{**rows[0], "skipped": "perhaps"}], "`perhaps` in column `skipped`"),
        (blank, beside),
    ):
        write_csv(path, changed)
        assert_refused(study, lambda: write.import_answers(path, "write"), InputError, message)
    by_texts = [{name: value for name, value in row.items() if name != "cell"} for row in rows]
    assert write.import_answers(write_csv(path, by_texts), "write").counts["answers"] == 4


def test_codes_are_said_with_what_they_were_read_as(at: At, tmp_path: Path) -> None:
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


def test_a_sheet_to_edit_shows_the_text_and_is_refused_once_that_has_changed(write: Grid, tmp_path: Path) -> None:
    write.import_answers(filled(write, tmp_path), "write")
    path = edited(write, tmp_path)
    rows = read(path)
    assert list(rows[0]) == ["by", "cell", "row", "column", "original", "text", "fit", "note"]
    assert {int(row["cell"]): row["original"].lstrip("'") for row in rows} == SAID
    again = read(tmp_path / "filled.csv")[0]
    changed = write_csv(tmp_path / "again.csv", [{**again, "text": "Once more with four."}])
    write.import_answers(changed, "write", supersede=True)
    with pytest.raises(InputError, match=rf"the text of cell {again['cell']} has changed since this sheet"):
        write.import_answers(path, "edit")
    skip = write_csv(tmp_path / "skip.csv", [{**again, "text": "skip", "also": "skip"}])
    write.import_answers(skip, "write", supersede=True)
    with pytest.raises(InputError, match=rf"cell {again['cell']} has no answer in round `write` yet"):
        write.import_answers(path, "edit")
    due = [row for sheet in sheets_of(write, tmp_path / "new", "edit") for row in sheet]
    assert sorted(row["cell"] for row in due) == sorted({"1", "2", "3", "4"} - {again["cell"]})
    others = [row for row in rows if row["cell"] != again["cell"]]
    assert write.import_answers(write_csv(path, others), "edit").counts["answers"] == 3


def test_models_and_rounds_that_there_are_not_are_refused(rate: Grid, tmp_path: Path) -> None:
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


def test_verdicts_have_files_of_their_own(at: At, tmp_path: Path) -> None:
    grid = at("checking").grid()
    for call in (partial(grid.sheets.write_answers, tmp_path), partial(grid.import_answers, "f")):
        with pytest.raises(StageError, match="fcpair validate import"):
            call("validate")


def test_a_file_is_taken_back_in_its_own_grid_and_round(write: Grid, tmp_path: Path) -> None:
    study = Study._of(write._store)
    brought = write.import_answers(filled(write, tmp_path), "write")
    run = write.withdraw(brought.id)
    assert (run.stage, run.counts["answers"], run.counts["skips"]) == ("write withdraw", 4, 0)
    assert write.answers("write").empty
    with pytest.raises(StageError, match="has been withdrawn already"):
        write.withdraw(brought.id)
    run = write.import_answers(tmp_path / "filled.csv", "write")
    assert run.counts["answers"] == 4
    study.add_grid(GridPlan("rate", SidePlan(answers="write"), SidePlan(names=("kind",)), (RATE,)))
    message = rf"run {run.id} \(write import\) brought answers in grid `write`; name it \(`--grid write`\)"
    for act in ((run.id, "labels"), (run.id,)):
        assert_refused(study, partial(study.grid("rate").withdraw, *act), StageError, message)
    run = write.import_answers(edited(write, tmp_path), "edit")
    message = rf"brought no labels but answers; `fcpair answers withdraw {run.id}` takes them back"
    assert_refused(study, lambda: write.withdraw(run.id, "labels"), StageError, message)
    assert write.withdraw(run.id).counts["answers"] == 4


def test_no_question_is_called_as_a_column_of_its_files(write: Grid, tmp_path: Path) -> None:
    write.simulate(Simulate(seed=1))
    write.assign_round("edit")
    sheet = sheets_of(write, tmp_path / "s", "edit")[0][0]
    assert {*write.answers("write").columns, *sheet} - {"text", "also", "fit"} <= RESERVED_COLUMNS
    for name in ("note", "Time"):
        plan = GridPlan("other", SidePlan(names=ROWS), SidePlan(names=TYPES), (RoundPlan("ask", f"{name}: text()"),))
        with pytest.raises(InputError, match=f"round `ask` has a question `{name}`, but files of answers use"):
            Study._of(write._store).add_grid(plan)


def exported(grid: Grid, folder: Path) -> pd.DataFrame:
    grid.export.decisions(folder / "decisions.csv")
    return read_table(folder / "decisions.csv").drop(columns="line")


def test_every_decision_is_written_with_its_rule_its_person_and_the_answers_and_read_back(
    at: At, tmp_path: Path
) -> None:
    study, grid = with_grid(at("labelled"))
    grid.adjudicate(Adjudicate("majority"))
    first, second, *_ = grid.waiting_pairs()
    grid.decide(first, 2, by="ada", note="=both fit")
    grid.decide(second, None, by="ada")
    run = grid.export.decisions(tmp_path / "d.jsonl")
    assert (run.stage, run.params["kind"]) == ("export", "decisions")
    assert run.counts["decisions"] == sum(run.counts["by_rule"].values())
    rows = exported(grid, tmp_path).set_index("pair")
    assert list(rows.columns) == ["hs", "cn", "decision", "rule", "adjudicator", "answers", "agree", "note"]
    assert {int(pair) for pair in rows.index} == set(range(1, 25)) - set(grid.waiting_pairs())
    cells = [rows.loc[str(first), name] for name in ("decision", "rule", "adjudicator", "note")]
    assert cells == ["appropriate", "person", "ada", "=both fit"]
    assert rows.loc[str(second), "decision"] == "irreconcilable"
    for pair, row in rows.iterrows():
        told = grid.explain(int(str(pair)))
        labels = list(labels_of(study, int(str(pair))).values())
        assert (int(row["answers"]), int(row["agree"])) == (len(labels), labels.count(row["decision"]))
        assert (row["hs"], row["cn"]) == (told.hs, told.cn)
    was = {pair: code for pair, (_, code) in standing(study).items()}
    study.close()
    other = at("labelled")
    other.grid().import_outcomes(tmp_path / "decisions.csv")
    assert {pair: code for pair, (rule, code) in standing(other).items() if rule == "imported"} == was


@pytest.mark.parametrize(("stage", "said"), [("dealt", "needs labels first"), ("labelled", "nothing has been decided")])
def test_there_must_be_decisions(at: At, tmp_path: Path, stage: str, said: str) -> None:
    with pytest.raises(StageError, match=said):
        at(stage).grid().export.decisions(tmp_path / "d.csv")
    assert not (tmp_path / "d.csv").exists()
