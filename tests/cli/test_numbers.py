"""People and files speak of a cell by its number in its grid, in every grid."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from steps.online import admit
from steps.small import write_csv

from cli.conftest import Fcpair, rows_of
from fcpair.errors import UnknownIdError
from fcpair.grid import AdjudicationQueue, DecisionRequest, Monitor
from fcpair.params import Adjudicate, Simulate, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Grid, Study

PACKED = 2**32
ROWS = ("Tea is for cowards.", "Cats are cold.", "Cyclists own the road.")
WRITE = GridPlan(
    "write", SidePlan(names=ROWS), SidePlan(names=("facts", "humour")), (RoundPlan("write", "text: text()"),)
)
RATE = GridPlan(
    "rate",
    SidePlan(answers="write"),
    SidePlan(names=("fluent", "kind")),
    (RoundPlan("rate", "rating: scale(1,5,1,positive=4)", answers=2, people=3),),
    validate=Validate(validators=2),
)
READING = [
    *("status", "status --format json", "log", "log --format json", "people list", "doctor"),
    *("explain 1", "explain 12 --format json", "agreement", "partition", "partition --format json"),
    *("partition --tier bronze", "partition --tier bronze --format json", "adjudicate --adjudicator ada"),
    "adjudicate --policy median --dry-run",
]
NO_GRID = {"status", "log", "people", "doctor", "report"}
WRITING = {
    "labels export --out": "labels.csv",
    "answers export --out": "answers.csv",
    "answers export --round validate --out": "verdicts.csv",
    "validate sheets": "checks",
    "partition --tier bronze --out": "bronze.csv",
    "adjudicate --adjudicator ada --sheet": "conflicts.csv",
    "report --out": "report.html",
}


def build(place: Path) -> Path:
    """Add two grids to a study, the second with the texts of the first for its rows, and take them to the end."""
    with closing(Study(place)) as study:
        study.grid().simulate(Simulate(seed=1))
        study.add_grid(WRITE)
        study.add_grid(RATE)
        write = study.grid("write")
        write.pair()
        study.add_people(["wren"], Role.WRITER)
        write.assign_round()
        write.simulate(Simulate(seed=1))
        rate = study.grid("rate")
        rate.pair()
        rate.assign_round()
        rate.simulate(Simulate(accuracy=0.6, skips=0.1, seed=1))
        rate.adjudicate(Adjudicate("manual"))
        rate.decide(rate.waiting_pairs()[0], 3, by="ada", note="so it is")
        rate.assign_validation(Validate(validators=2))
        rate.simulate(Simulate(seed=2))
        rate.decide(rate.waiting_pairs()[0], 3, by="ada")
        rate.assign_validation(Validate(validators=2), more=True)
    return place


@pytest.fixture(scope="module")
def built(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(Path(shutil.copy(files["dealt"], tmp_path_factory.mktemp("numbers"))))


@pytest.fixture
def rate(built: Path, study: Path) -> Iterator[Grid]:
    """A grid whose rows were written in the first one."""
    with closing(Study(shutil.copy(built, study))) as opened:
        yield opened.grid("rate")


def packed(text: str) -> list[int]:
    """The numbers in a text that are ids of cells of a further grid."""
    return [int(found) for found in re.findall(r"(?<![\w.])\d{10}(?![\w.])", text) if PACKED <= int(found) < 9 * PACKED]


def on_rate(words: str) -> list[str]:
    """A command about the grid `rate`."""
    return [*words.split(), *(() if words.split(maxsplit=1)[0] in NO_GRID else ("--grid", "rate"))]


def test_no_command_and_no_file_shows_the_ids_of_the_database(rate: Grid, fcpair: Fcpair, tmp_path: Path) -> None:
    for words in READING:
        printed = fcpair(*on_rate(words), keys="q", code=1 if "--dry-run" in words else 0).output
        assert printed
        assert not packed(printed.replace(",", "")), words
    (tmp_path / "made").mkdir()
    for words, name in WRITING.items():
        place = tmp_path / "made" / name
        fcpair(*on_rate(f"{words} {place}"))
        for file in place.glob("*") if place.is_dir() else [place]:
            assert not packed(file.read_text("utf-8")), file
    assert re.search(r"pair.{0,80}grid.{0,80}rate", (tmp_path / "made" / "report.html").read_text("utf-8"), re.DOTALL)


def test_a_number_means_the_cell_of_the_grid_that_is_named(rate: Grid, fcpair: Fcpair) -> None:
    here, first = (fcpair.json("explain", "1", *words) for words in (("--grid", "rate"), ()))
    assert (here["cell_id"], here["hs"], here["cn"]) == (1, rate.answers()["row"][0], "fluent")
    assert first["cell_id"] == 1
    assert first["cn"] != "fluent"
    for number in (0, 13, PACKED + 1, 2 * PACKED + 1, -PACKED, 10**30):
        for refused in (rate.explain, rate.desk.conflict, lambda pair: rate.decide(pair, 3, by="ada")):
            numbered = f"no pair {number}; the pairs of the grid are numbered from 1 to 12"
            with pytest.raises(UnknownIdError, match=numbered):
                refused(number)


def test_sheets_of_a_further_grid_are_filled_in_and_come_back(rate: Grid, fcpair: Fcpair, tmp_path: Path) -> None:
    _, _, run, _ = (one.id for one in Study._of(rate._store).log() if one.stage == "simulate")
    fcpair("labels", "withdraw", str(run), "--grid", "rate")
    fcpair("labels", "sheets", tmp_path / "sheets", "--grid", "rate")
    for sheet in (tmp_path / "sheets").glob("*.csv"):
        assert not packed(sheet.read_text("utf-8"))
        rows = rows_of(sheet)
        filled = write_csv(tmp_path / sheet.name, [{**row, "label": "4"} for row in rows])
        assert f"{len(rows)} answers were imported" in fcpair("labels", "import", filled, "--grid", "rate").output
        other = write_csv(tmp_path / sheet.name, [{**rows[0], "label": "5"}])
        refused = fcpair("labels", "import", other, "--grid", "rate", code=2).output
        assert f"{sheet.stem} has already answered pair {rows[0]['pair']} differently" in refused
        elsewhere = write_csv(tmp_path / sheet.name, [{**rows[0], "hs": "Tea is fine.", "label": "4"}])
        assert "has other texts" in fcpair("labels", "import", elsewhere, "--grid", "rate", code=2).output


def test_who_decides_online_takes_and_gives_numbers(rate: Grid) -> None:
    study = Study._of(rate._store)
    ada = admit(study, "ada")
    case = AdjudicationQueue(rate).next(ada.id)
    assert case is not None
    assert 1 <= case.cell_id <= 12
    ruling = DecisionRequest("r1", case.cell_id, "4", seen_decision_id=case.decision_id, seen_answer_id=case.answer_id)
    kept = AdjudicationQueue(rate).decide(ada.id, ruling)
    assert kept["cell_id"] == case.cell_id == AdjudicationQueue(rate).decisions(ada.id)[0].cell_id
    assert AdjudicationQueue(rate).decide(ada.id, ruling) == kept
    assert AdjudicationQueue(rate).undo(ada.id, case.cell_id, "r2")["cell_id"] == case.cell_id
    assert case.cell_id in rate.waiting_pairs()


def test_the_doctor_names_the_grid_where_there_are_several(rate: Grid, fcpair: Fcpair, study: Path) -> None:
    number = PACKED * 2 + 3
    with closing(sqlite3.connect(study)) as connection, connection:
        connection.execute("UPDATE assignment SET status = 'skipped' WHERE cell_id = ?", (number,))
    assert "pair 3 of grid `rate` of `" in fcpair("doctor", code=1).stdout


def test_exports_of_a_further_grid_have_its_texts(rate: Grid, fcpair: Fcpair, tmp_path: Path) -> None:
    fcpair("export", "beir", "--tier", "bronze", "--out", tmp_path / "b", "--grid", "rate")
    queries = [json.loads(line) for line in (tmp_path / "b" / "queries.jsonl").read_text("utf-8").splitlines()]
    assert {row["text"] for row in queries} <= set(rate.answers()["row"])
    fcpair("export", "pairs", "--tier", "bronze", "--test-share", "0.5", "--out", tmp_path / "p", "--grid", "rate")
    rows = [json.loads(line) for line in (tmp_path / "p" / "train.jsonl").read_text("utf-8").splitlines()]
    assert {row["sentence1"] for row in rows} <= set(rate.answers()["row"])
    assert {row["sentence2"] for row in rows} <= {"fluent", "kind"}


def test_the_monitor_of_a_grid_is_about_its_own_cells(rate: Grid) -> None:
    study = Study._of(rate._store)
    ada, first = admit(study, "ada"), study.grid("main")
    case = AdjudicationQueue(rate).next(ada.id)
    assert case is not None
    ruling = DecisionRequest("r1", case.cell_id, "4", "say more", True, case.decision_id, case.answer_id)
    AdjudicationQueue(rate).decide(ada.id, ruling)
    assert [(one.cell_id, one.stands) for one in Monitor(rate).flags()] == [(case.cell_id, True)]
    assert Monitor(first).flags() == []
    timed = [sum(one.n_timed for one in Monitor(grid).speed().people) for grid in (rate, first)]
    assert timed == [
        sum(len(table[~table["skipped"]]) for table in (rate.answers(), rate.answers("validate"))),
        len(first.answers().query("not skipped")),
    ]
    decided = {grid: {one.name: one.done for one in Monitor(grid).stages()[1].people} for grid in (rate, first)}
    assert decided[rate]["ada"] == 3
    assert not decided[first].get("ada")
