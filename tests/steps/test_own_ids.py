"""The corpus's own ids: they stay with their texts, and are beside them in whatever a study writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.evaluate.outcome import Outcome
from fcpair.files.answers.sheets import SheetFormat
from fcpair.files.corpus.corpus import read_corpus
from fcpair.files.tables.tabular import read_table
from fcpair.known_pairs import Qualification
from fcpair.params import Assign, Ids, Import, Pair, Retrieve, Select, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Known, Role
from fcpair.start_draft import CurateDraft, TagsDraft
from fcpair.steps.oversight.uploaded_table import sides
from fcpair.steps.people.known_pairs import known_pairs_of
from fcpair.store.corpus import texts
from fcpair.study import Study
from steps.releasing import full_form
from steps.small import At, assert_refused, check, open_work, record, with_grid, write_csv

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


WHOLE = [{**row, "qid": row["qid"] or "q3"} for row in ROWS]  # every text has an id


@pytest.fixture
def whole(tmp_path: Path) -> Study:
    """The same study, of a corpus in which every text has an id, with labels and verdicts."""
    study, grid = with_grid(Study.create(tmp_path / "whole.db"))
    path = write_csv(tmp_path / "whole.csv", WHOLE)
    study.import_corpus(Import(path, None, None, "query", "passage", "qid", "pid"))
    grid.select(Select(hs=2))
    grid.retrieve(Retrieve(every_cn=True))
    grid.pair(Pair(keep_known=True))
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    grid.assign(Assign(overlap={2: 1}))
    labels = [(who, pair, "appropriate" if pair % 2 else "not_appropriate") for who, pair in open_work(study)]
    record(study, tmp_path, labels)
    grid.adjudicate(policy="majority")
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    return study


def graded(study: Study, ids: Ids | None, folder: Path) -> tuple[str, dict[str, str], Outcome]:
    """The qrels and the BEIR folder with these ids, and what a run with these ids scores that is read back."""
    grid, folder = study.grid(), folder / str(ids)
    folder.mkdir()
    grid.export.qrels(folder.with_suffix(".qrels"), "bronze", binary=True, ids=ids)
    grid.export.beir(folder / "beir", "bronze", ids=ids)
    beir = {path.name: path.read_text("utf-8") for path in sorted((folder / "beir").rglob("*.*"))}
    words: dict[str, Any] = {"tiers": ["bronze"], "measures": ["NDCG@2", "MRR@2"], "ids": ids}
    grid.evaluate(functions={"abc": lambda _hs, cns: sorted(cns)}, runs=folder / "runs", **words)
    outcome = grid.evaluate(systems=[f"run:{folder}/runs/function_abc.trec"], **words)
    return folder.with_suffix(".qrels").read_text("utf-8"), beir, outcome


def test_qrels_beir_and_runs_have_own_ids_where_every_text_has_one_and_score_the_same(
    whole: Study, tmp_path: Path
) -> None:
    """Of several ids a text has the first; ir_measures gives the figures of `evaluate` by either ids."""
    by_ids = {ids: graded(whole, ids, tmp_path) for ids in (None, "own", "study")}
    assert by_ids[None][:2] == by_ids["own"][:2]
    assert by_ids["own"][0].splitlines() == ["q1 0 p1 1", "q1 0 ana 0", "q3 0 p1 1", "q3 0 ana 0"]
    assert by_ids["study"][0].splitlines() == ["1 0 3 1", "1 0 4 0", "2 0 3 1", "2 0 4 0"]
    own, numbered = by_ids["own"][1], by_ids["study"][1]
    assert "ids: of HS the corpus's own, of CN the corpus's own" in own["README.md"]
    assert "ids: of HS the study's numbers, of CN the study's numbers" in numbered["README.md"]
    assert own["test.tsv"].splitlines()[1] == "q1\tp1\t4"
    assert [json.loads(line)["_id"] for line in own["corpus.jsonl"].splitlines()] == ["p1", "ana"]
    assert [json.loads(line)["_id"] for line in own["queries.jsonl"].splitlines()] == ["q1", "q3"]
    scores = {ids: [of.score for of in outcome.scores] for ids, (_, _, outcome) in by_ids.items()}
    assert scores["own"] == scores["study"] == scores[None]
    for ids in ("own", "study"):
        qrels = ir_measures.read_trec_qrels(str(tmp_path / f"{ids}.qrels"))  # type: ignore[no-untyped-call]
        run = ir_measures.read_trec_run(str(tmp_path / f"{ids}/runs/function_abc.trec"))  # type: ignore[no-untyped-call]
        measures = [ir_measures.nDCG @ 2, ir_measures.RR @ 2]
        found = ir_measures.calc_aggregate(measures, list(qrels), list(run))
        assert [found[measure] for measure in measures] == pytest.approx(scores[ids])


def test_own_ids_in_a_part_of_the_corpus_are_refused_where_asked_for_and_else_numbers_are_written(
    study: Study, tmp_path: Path
) -> None:
    """`How?` has no id; the CNs have one each."""
    grid = validated(study, tmp_path).grid()
    own_only = r"1 of 2 HS have no id of their own .* hs_id 2 of the study; import .*`--ids study`"
    acts: list[Callable[[Ids | None], Any]] = [
        lambda ids: grid.export.qrels(tmp_path / f"{ids}.qrels", "bronze", ids=ids),
        lambda ids: grid.export.beir(tmp_path / f"beir-{ids}", "bronze", ids=ids),
        lambda ids: grid.export.hf(tmp_path / f"hf-{ids}", ids=ids),
        lambda ids: grid.export.corpus(tmp_path / f"{ids}.csv", ids=ids),
        lambda ids: grid.export.decisions(tmp_path / f"d-{ids}.csv", ids=ids),
        lambda ids: grid.evaluate(systems=["tfidf"], tiers=["bronze"], runs=tmp_path / f"runs-{ids}", ids=ids),
        lambda ids: grid.tiers().frame("bronze", ids=ids),
        lambda ids: grid.labels(ids=ids),
        lambda ids: study.release(f"v-{ids}", tmp_path / f"v-{ids}", full_form(tmp_path), ids=ids),
    ]
    for act in acts:
        assert_refused(study, partial(act, "own"), InputError, own_only)
        act(None)
        act("study")
    assert (tmp_path / "None.qrels").read_text("utf-8").startswith("1 0 p1 ")
    assert (tmp_path / "study.qrels").read_text("utf-8").startswith("1 0 3 ")
    for table in (grid.labels(ids="study"), read_table(tmp_path / "d-study.csv"), grid.tier("bronze", ids="study")):
        assert not {"hs.hs_id", "cn.cn_id"} & {*table.columns}
    assert read_table(tmp_path / "study.csv")["hs_id"].tolist() == ["1", "1", "1", "2"]
    assert not list(tmp_path.glob("*own*.qrels"))


def test_a_release_says_which_ids_its_qrels_have_and_is_verified_by_these(whole: Study, tmp_path: Path) -> None:
    wanted: dict[Ids | None, tuple[str, str]] = {
        None: ("q1 0 p1 4", "the corpus's own"),
        "study": ("1 0 3 4", "the study's numbers"),
    }
    for ids, (line, what) in wanted.items():
        folder = tmp_path / f"v-{ids}"
        whole.release(f"v-{ids}", folder, full_form(tmp_path), ids=ids)
        assert (folder / "qrels/gold.qrels").read_text("utf-8").splitlines()[0] == line
        assert f"TREC qrels (ids: of HS {what}, of CN {what})" in (folder / "README.md").read_text("utf-8")
        assert ("cn.cn_id" in pd.read_parquet(folder / "data/gold.parquet")) == (ids is None)
        assert Study.verify(folder, whole).is_sound


def test_an_id_that_a_cell_shares_with_another_text_is_noted_and_written_nowhere(tmp_path: Path) -> None:
    """A cell with spaces lists several ids: of `doc 1` and `doc 2`, `doc` is the id of both texts."""
    rows = [{"hs": "Why?", "cn": "Because.", "cn_id": "doc 1"}, {"hs": "How?", "cn": "So.", "cn_id": "doc 2"}]
    study, grid = with_grid(Study.create(tmp_path / "s.db"))
    run = study.import_corpus(pd.DataFrame([*rows, {"hs": "Where?", "cn": "Here.", "cn_id": ""}]))
    assert run.notes == (
        "cn_id: 1 of 3 texts have no id, the first in line 3; files have the study's numbers for all of them by "
        "default",
        "cn_id: cells with spaces list several ids (2), such as `doc 1` (line 1); 1 of these ids, such as `doc`, are "
        "those of several texts",
    )
    study.import_corpus(pd.DataFrame(rows), redo=True)
    grid.select(hs=2)
    grid.retrieve(cn_list=["Because.", "So."])
    grid.pair()
    study.add_people(["ana"], Role.ANNOTATOR)
    grid.assign()
    record(study, tmp_path, [(who, pair, "appropriate") for who, pair in open_work(study)])
    grid.adjudicate(policy="majority")
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    said = r"cn_id `doc` is the id of 2 texts .*; a cell with spaces lists several ids.*`--ids study`"
    for ids in ("own", None):
        asked = "1 of|2 of 2 HS have no id" if ids == "own" else said  # no HS has an id
        act = partial(grid.export.qrels, tmp_path / "q", "bronze", ids=ids)
        assert_refused(study, act, InputError, asked)
    grid.export.qrels(tmp_path / "q", "bronze", ids="study")


def test_lists_name_texts_by_either_ids(whole: Study, tmp_path: Path) -> None:
    redo: dict[str, Any] = {"redo": True}
    listed = {ids: write_csv(tmp_path / f"{ids}.csv", [{"hs_id": of}]) for ids, of in (("own", "q2"), ("study", "1"))}
    cases: list[tuple[str, Ids | None]] = [("own", None), ("own", "own"), ("study", "study")]
    for name, ids in cases:
        study, other = with_grid(Study.create(tmp_path / f"{name}-{ids}.db"))
        study.import_corpus(
            pd.DataFrame(WHOLE), hs_column="query", cn_column="passage", hs_id_column="qid", cn_id_column="pid"
        )
        other.select(hs_list=listed[name], ids=ids)
        assert other.select(hs_list=["Why?"], **redo).counts["hs"] == 1
        other.retrieve(cn_list=pd.DataFrame({"cn_id": ["p3", "ana"] if ids != "study" else ["3", "4"]}), ids=ids)
        assert other.pair(keep_known=True).counts["pairs"] == 2
        wrong = pd.DataFrame({"cn_id": ["p1", "p3", "p9"] if ids != "study" else ["3", "3", "p1"]})
        where = "corpus" if ids != "study" else "study"
        findings = (
            rf"2 things are wrong[\s\S]*:2: this CN is already in line 1[\s\S]*:3: cn_id `p.` is not in the {where}"
        )
        assert_refused(study, lambda: other.retrieve(cn_list=wrong, ids=ids, redo=True), InputError, findings)  # noqa: B023
    no_effect = r"the file lists texts, so `ids` \(--ids\) has no effect"
    assert_refused(study, lambda: other.select(hs_list=["Why?"], ids="own", redo=True), InputError, no_effect)
    pool = write_csv(tmp_path / "pool.csv", [{"cn_id": "p3"}])
    whole.grid().export.qrels(tmp_path / "pool.qrels", "bronze", pool=str(pool))
    assert (tmp_path / "pool.qrels").read_text("utf-8").splitlines() == ["q1 0 p1 4", "q3 0 p1 4"]


def test_known_pairs_are_named_by_either_ids(study: Study, tmp_path: Path) -> None:
    study.grid().pair(keep_known=True, redo=True)
    named = [("q2", "ana"), ("2", "p3"), ("Why?", "3"), ("How?", "So.")]
    rows = [{"row": hs, "column": cn, "answer": "appropriate", "explanation": "So."} for hs, cn in named]
    study.grid().save.qualification(Qualification(write_csv(tmp_path / "known.csv", rows)))
    with study._store.read() as tx:
        assert [pair[:2] for pair in known_pairs_of(tx, Known.QUALIFICATION)] == [(1, 4), (2, 3), (1, 3), (2, 4)]
    rows[0]["row"] = "q9"
    act = partial(study.grid().save.qualification, Qualification(write_csv(tmp_path / "wrong.csv", rows)))
    assert_refused(study, act, InputError, "wrong.csv:2")


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
