"""The corpus's own ids: they stay with their texts, and are beside them in whatever a study writes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from fcpair.files.answers.sheets import SheetFormat
from fcpair.files.corpus.corpus import read_corpus
from fcpair.files.tables.tabular import read_table
from fcpair.params import Assign, Import, Pair, Retrieve, Select, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.start_draft import CurateDraft, TagsDraft
from fcpair.steps.oversight.uploaded_table import sides
from fcpair.store.corpus import texts
from fcpair.study import Study
from steps.releasing import full_form
from steps.small import At, check, open_work, record, with_grid, write_csv

ROWS = [  # of which `ana` is the name of an annotator, too
    {"qid": "q1", "query": "Why?", "pid": "p1", "passage": "Because."},
    {"qid": "q1", "query": "Why?", "pid": "ana", "passage": "So."},
    {"qid": "q2", "query": "Why? ", "pid": "p3", "passage": "Because. "},
    {"qid": "", "query": "How?", "pid": "p3", "passage": "Because."},
]
IDS = {"Why?": "q1 q2", "How?": "", "Because.": "p1 p3", "So.": "ana"}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Two queries and two passages, all four pairs assigned to each of two annotators."""
    study, grid = with_grid(Study.create(tmp_path / "own.db"))
    path = write_csv(tmp_path / "own.csv", ROWS)
    study.import_corpus(Import(path, None, None, "query", "passage", "qid", "pid"))
    grid.select(Select(hs=2))
    grid.retrieve(Retrieve(every_cn=True))
    grid.pair(Pair(keep_known=True))
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    grid.assign(Assign(overlap={2: 1}))
    return study


def ids_beside(table: pd.DataFrame, sides: tuple[str, str] = ("hs", "cn"), end: str = "") -> None:
    """Each text of a table has its own ids in front of it."""
    names = [str(name) for name in table.columns]
    for side, name in zip(sides, (f"{sides[0]}.hs_id", f"{sides[1]}.cn_id"), strict=True):
        assert names.index(name) == names.index(f"{side}{end}") - 1
        if not end:
            assert [IDS[text] for text in table[side]] == table[name].tolist()


def validated(study: Study, folder: Path) -> Study:
    record(study, folder, [(who, pair, "appropriate") for who, pair in open_work(study)])
    study.grid().adjudicate(policy="majority")
    study.add_people(["vera"], Role.VALIDATOR)
    study.grid().assign_validation(Validate())
    check(study, folder, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    return study


def test_a_text_has_all_its_ids_and_a_row_of_the_corpus_its_own(study: Study, tmp_path: Path) -> None:
    with study._store.read() as tx:
        kept = pd.concat([texts.texts_of(tx, kind) for kind in ("hs", "cn")])
    own_ids = kept["meta"].map(lambda meta: meta.get("hs_id", meta.get("cn_id")))
    assert dict(zip(kept["body"], own_ids, strict=True)) == IDS
    study.grid().export.corpus(tmp_path / "again.csv")
    again = read_table(tmp_path / "again.csv")
    assert again["hs_id"].tolist() == [row["qid"] for row in ROWS]
    assert again["cn_id"].tolist() == [row["pid"] for row in ROWS]


def test_tables_have_them_in_front_of_the_texts(study: Study, tmp_path: Path) -> None:
    grid = validated(study, tmp_path).grid()
    for tier in ("gold", "bronze"):
        ids_beside(grid.tiers().frame(tier))
    grid.export.decisions(tmp_path / "decisions.csv")
    ids_beside(read_table(tmp_path / "decisions.csv"))
    labels = grid.labels()
    assert [*labels.columns[:5]] == ["pair", "hs_id", "cn_id", "hs.hs_id", "cn.cn_id"]
    assert set(labels["cn.cn_id"]) == {"p1 p3", "ana"}
    grid.export.hf(tmp_path / "hf")
    assert "| `hs.hs_id` | the own id" in (tmp_path / "hf/README.md").read_text("utf-8")
    assert grid.tiers().frame("gold", published=True)["cn_id"].tolist() == ["p1", "ana", "p1", "ana"]


@pytest.mark.parametrize("has_texts", [True, False])
def test_releases_have_them_with_texts_or_without_and_take_none_for_a_name(
    study: Study, tmp_path: Path, has_texts: bool
) -> None:
    validated(study, tmp_path).release("v1", tmp_path / "v1", full_form(tmp_path), texts=has_texts)
    gold, pairs = (pd.read_parquet(tmp_path / f"v1/data/{name}.parquet") for name in ("gold", "pairs"))
    ids_beside(gold, end="" if has_texts else "_sha256")
    ids_beside(pairs, end="_sha256")
    assert set(gold["cn.cn_id"]) == set(pairs["cn.cn_id"]) == {"p1 p3", "ana"}
    assert (tmp_path / "v1/README.md").read_text("utf-8").count("the own id of the text") == 2


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_sheets_have_them_and_come_back(study: Study, tmp_path: Path, form: SheetFormat) -> None:
    grid = study.grid()

    def filled_in(path: Path, column: str, word: str) -> pd.DataFrame:
        sheet = read_table(path, headings={"hate speech": "hs", "counter-narrative": "cn"}).drop(columns="line")
        ids_beside(sheet)
        return sheet.assign(**{column: word})

    grid.sheets.write_labels(tmp_path / "labels", form)
    for name, label in (("ana", "appropriate"), ("ben", "not_appropriate")):
        assert grid.import_labels(filled_in(tmp_path / f"labels/{name}.{form}", "label", label)).counts["answers"] == 4
    grid.write_conflicts(tmp_path / f"conflicts.{form}", by="zoe")
    grid.import_outcomes(filled_in(tmp_path / f"conflicts.{form}", "label", "appropriate"))
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    grid.sheets.write_verdicts(tmp_path / "verdicts", form)
    grid.import_verdicts(filled_in(tmp_path / f"verdicts/vera.{form}", "verdict", "agree"))
    assert grid.tiers().table().sizes["gold"] == 4


def test_a_corpus_without_ids_has_no_such_columns(at: At, tmp_path: Path) -> None:
    grid = at("checked").grid()
    grid.export.decisions(tmp_path / "decisions.csv")
    for table in (grid.labels(), grid.tiers().frame("gold"), read_table(tmp_path / "decisions.csv")):
        assert not [name for name in table.columns if str(name).endswith((".hs_id", ".cn_id"))]


def test_a_planned_grid_has_those_of_the_files_of_its_sides(tmp_path: Path) -> None:
    rows = [{"text": "Why?", "hs_id": "q1 q2"}, {"text": "How?", "hs_id": ""}]
    columns = [{"text": "Because.", "cn_id": "p1 p3"}, {"text": "So.", "cn_id": "ana"}]
    files = write_csv(tmp_path / "rows.csv", rows), write_csv(tmp_path / "columns.csv", columns)
    first, second = (SidePlan(path, "text") for path in files)
    plan = GridPlan("tag", first, second, (RoundPlan("tag", "tags: any_of(polite,short)"),))
    study = Study.create(tmp_path / "tag.db", grids=[plan])
    grid = study.grid("tag")
    grid.pair()
    study.add_people(["ana"], Role.ANNOTATOR)
    grid.assign_round("tag")
    grid.sheets.write_answers(tmp_path / "sheets")
    sheet = read_table(tmp_path / "sheets/ana.csv").drop(columns="line")
    ids_beside(sheet, ("row", "column"))
    assert grid.import_answers(sheet.assign(tags="polite")).counts["answers"] == 4
    ids_beside(grid.answers(), ("row", "column"))
    study.release("v1", tmp_path / "v1", full_form(tmp_path), texts=False)
    ids_beside(pd.read_parquet(tmp_path / "v1/data/tag-tag.parquet"), ("row", "column"), "_sha256")
    assert pd.read_parquet(tmp_path / "v1/data/tag-rows.parquet")["hs_id"].tolist() == ["q1 q2", ""]


def test_a_study_started_from_a_table_keeps_them_in_every_task(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "own.csv", ROWS)
    pairs = read_corpus(
        Import(path, hs_column="query", cn_column="passage", hs_id_column="qid", cn_id_column="pid")
    ).pairs
    first, second = (read_table(side.file or "").drop(columns="line") for side in sides(tmp_path, TagsDraft(), pairs))
    assert dict([*first[["text", "hs_id"]].to_numpy(), *second[["text", "cn_id"]].to_numpy()]) == IDS
    replies = read_table(sides(tmp_path, CurateDraft(), pairs)[0].file or "")
    assert replies[["row", "hs_id", "cn_id"]].to_numpy().tolist() == [["Why?", "q1 q2", "p1"], ["How?", "", "p3"]]
