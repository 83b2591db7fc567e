"""What was decided is written to a file, and read back from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import InputError, StageError
from fcpair.files.surveys.items import read_item_answers
from fcpair.files.tables.tabular import read_table
from fcpair.params import Adjudicate
from fcpair.plans import GridPlan, RoundPlan, SidePlan, Source
from fcpair.records import Role
from fcpair.study import Grid, Study
from steps.small import labels_of, standing, write_csv

At = Callable[[str], Study]
TEMPLATES = Path(__file__).parents[3] / "examples" / "survey-templates.toml"
ANSWER = RoundPlan("answer", "answer: one_of(A,B,C)", role="rater")
PEOPLE = ("r1", "r2", "r3", "r4", "r5")


def exported(grid: Grid, folder: Path) -> pd.DataFrame:
    grid.export.decisions(folder / "decisions.csv")
    return read_table(folder / "decisions.csv").drop(columns="line")


def test_every_decision_is_there_with_its_rule_its_person_and_the_answers(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority"))
    one, other, *_ = grid.waiting_pairs()
    grid.decide(one, 2, by="ada", note="=both fit")
    grid.decide(other, None, by="ada")
    rows = exported(grid, tmp_path).set_index("pair")
    assert list(rows.columns) == ["hs", "cn", "decision", "rule", "adjudicator", "answers", "agree", "note"]
    assert {int(pair) for pair in rows.index} == set(range(1, 25)) - set(grid.waiting_pairs())
    said = [rows.loc[str(one), name] for name in ("decision", "rule", "adjudicator", "note")]
    assert said == ["appropriate", "person", "ada", "=both fit"]
    assert rows.loc[str(other), "decision"] == "irreconcilable"
    for pair, row in rows.iterrows():
        told = grid.explain(int(str(pair)))
        labels = list(labels_of(study, int(str(pair))).values())
        assert (int(row["answers"]), int(row["agree"])) == (len(labels), labels.count(row["decision"]))
        assert (row["hs"], row["cn"]) == (told.hs, told.cn)


def test_what_is_written_is_read_back(at: At, tmp_path: Path) -> None:
    grid = at("labelled").grid()
    grid.adjudicate(Adjudicate("majority"))
    grid.decide(grid.waiting_pairs()[0], None, by="ada")
    exported(grid, tmp_path)
    other = at("labelled")
    other.grid().import_outcomes(tmp_path / "decisions.csv")
    was = {pair: code for pair, (_, code) in standing(Study(grid._store.place)).items()}
    assert {pair: code for pair, (rule, code) in standing(other).items() if rule == "imported"} == was


def test_the_run_says_what_was_written(at: At, tmp_path: Path) -> None:
    run = at("decided").grid().export.decisions(tmp_path / "d.jsonl")
    assert (run.stage, run.params["kind"]) == ("export", "decisions")
    assert run.counts["decisions"] == sum(run.counts["by_rule"].values())


@pytest.mark.parametrize(("stage", "said"), [("dealt", "needs labels first"), ("labelled", "nothing has been decided")])
def test_there_must_be_decisions(at: At, tmp_path: Path, stage: str, said: str) -> None:
    with pytest.raises(StageError, match=said):
        at(stage).grid().export.decisions(tmp_path / "d.csv")
    assert not (tmp_path / "d.csv").exists()


# -- BBQ's validation of its items: any number of answers each, agreement, and what most of them say


@pytest.fixture
def items(tmp_path: Path) -> Grid:
    """Items that nobody was dealt."""
    rows = SidePlan(sources=(Source(TEMPLATES, "item", reader="items"),))
    plan = GridPlan("check", rows, SidePlan(names=("answer",)), (ANSWER,))
    study = Study.create(tmp_path / "study.db", grids=[plan])
    study.add_people(list(PEOPLE), Role.RATER)
    study.grid().pair()
    return study.grid()


def answers(grid: Grid, folder: Path, n_items: int = 40) -> Path:
    """Item after item is answered by one to five people: rightly, but for what r5 says."""
    right = grid.rows()["label"].tolist()[:n_items]
    rows = [
        {"cell": at + 1, "by": by, "answer": "ABC"[(int(label) + (by == "r5")) % 3]}
        for at, label in enumerate(right)
        for by in PEOPLE[: 1 + at % 5]
    ]
    return write_csv(folder / "answers.csv", rows)


@pytest.mark.server
def test_a_planned_grid_takes_any_number_of_answers_a_cell_from_a_file(items: Grid, tmp_path: Path) -> None:
    path = answers(items, tmp_path)
    run = items.import_answers(path)
    assert run.counts["answers"] == 8 * (1 + 2 + 3 + 4 + 5)
    assert items.answers().groupby("cell").size().value_counts().to_dict() == dict.fromkeys(range(1, 6), 8)
    assert items.import_answers(path).counts == {"answers": 0, "skips": 0, "already_there": 120}


def test_further_files_add_answers_and_then_nothing_is_dealt(items: Grid, tmp_path: Path) -> None:
    items.import_answers(write_csv(tmp_path / "one.csv", [{"cell": 1, "by": "r1", "answer": "A"}]))
    items.import_answers(write_csv(tmp_path / "two.csv", [{"cell": 1, "by": "r2", "answer": "A"}]))
    items.import_answers(write_csv(tmp_path / "three.csv", [{"cell": 9, "by": "r2", "answer": "skip"}]))
    assert len(items.answers()) == 3
    with pytest.raises(StageError, match=r"it has \d+ answers"):
        items.assign_round()


def test_what_was_dealt_takes_answers_of_those_who_have_it_alone(items: Grid, tmp_path: Path) -> None:
    items.assign_round()
    with pytest.raises(InputError, match="not assigned to"):
        items.import_answers(answers(items, tmp_path))


def test_the_majority_is_scored_as_a_model_is(items: Grid, tmp_path: Path) -> None:
    items.import_answers(answers(items, tmp_path))
    items.adjudicate(Adjudicate("majority"))
    rows = exported(items, tmp_path)
    assert {"item_id", "label", "target", "decision"} <= {*rows.columns}
    assert rows["column"].unique().tolist() == ["answer"]
    scored = read_item_answers([tmp_path / "decisions.csv"], "decision").answered
    assert len(scored) == 40
    assert scored.is_right.all()
    items.decide(3, None, by="ada")
    with pytest.raises(InputError, match="different decision"):
        items.import_outcomes(tmp_path / "decisions.csv")
    items.import_outcomes(tmp_path / "decisions.csv", supersede=True)
    assert exported(items, tmp_path)["decision"].tolist() == rows["decision"].tolist()


REVIEW = RoundPlan("review", "fit: one_of(no,yes+)", answers=0, author="author")


def test_a_file_brings_no_answer_of_who_may_not_give_it(tmp_path: Path) -> None:
    rows = SidePlan(sources=(Source(TEMPLATES, "template", reader="templates"),))
    study = Study.create(tmp_path / "s.db", grids=[GridPlan("review", rows, SidePlan(names=("Fit?",)), (REVIEW,))])
    study.add_people(["a1", "A2"], Role.ANNOTATOR)
    grid = study.grid()
    grid.pair()
    author = grid.rows()["author"].tolist()
    said = [{"cell": at, "by": "A2", "fit": "yes"} for at in range(1, 8)]
    with pytest.raises(InputError) as raised:
        grid.import_answers(write_csv(tmp_path / "own.csv", said))
    assert [one.line for one in raised.value.findings] == [at for at, one in enumerate(author, 2) if one == "a2"]
    assert "who made a row, wrote or answered it before" in str(raised.value)
    others = [row for row, one in zip(said, author, strict=True) if one != "a2"]
    assert grid.import_answers(write_csv(tmp_path / "others.csv", others)).counts["answers"] == len(others)
