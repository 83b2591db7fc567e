"""Studies of queries and documents: candidates from TREC runs, ids of the researcher's own, texts without a pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from fcpair.cli import main
from fcpair.errors import InputError, StageError
from fcpair.models import encode, model_files
from fcpair.models.model_files import Model
from fcpair.params import Export, Import, Pair, Retrieve, Select
from fcpair.recipe import load_recipe
from fcpair.store.corpus import cells, sides, texts
from fcpair.store.oversight import build_progress
from fcpair.study import Study
from steps.small import CNS, HS, SHARED, At, assert_refused, with_grid, write_corpus, write_csv

COLLECTION = """qid,query,docid,document
q1,How do I mend a puncture?,,
q2,Why does my chain squeak?,d1,Oil the chain.
,,d2,"Find the hole, roughen the rubber and glue a patch on."
,,d3,Oil the chain.
,,d4,Pump the tyres up.
q3,Which saddle is best?,,
"""


def a_run(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def ids(study: Study, side: str) -> dict[str, int]:
    with study._store.read() as tx:
        there = texts.texts_of(tx, side)
    return dict(zip(there["body"].tolist(), there["id"].tolist(), strict=True))


def candidates(study: Study) -> set[str]:
    bodies = {number: body for body, number in ids(study, "cn").items()}
    with study._store.read() as tx:
        return {bodies[cn] for cn in sides.text_ids(tx, "column")}


@pytest.fixture
def collection(tmp_path: Path) -> Study:
    """Three queries and four documents, two of one text; one query has a document; all are selected."""
    path = tmp_path / "collection.csv"
    path.write_text(COLLECTION, "utf-8")
    study = Study.create(tmp_path / "collection.db")
    own = ("qid", "docid")
    run = study.import_corpus(Import(path, "csv", None, "query", "document", *own, unpaired=True))
    assert run.counts == {"rows": 6, "hs": 3, "cn": 3, "without_pair": 5, "repeated": 1}
    assert run.notes == (
        "1 row without a pair repeats a text of another row, which is kept once: `status` and exports have 5 rows of "
        "the 6 that were read",
        "cn_id: 1 text has several ids, such as `d1` (line 3) and `d3` (line 5); runs may name any of them, "
        "tables have all",
    )
    study.grid().select(Select(hs=3))
    return study


def test_candidates_are_the_union_of_the_first_of_each_run_for_each_selected_hs(at: At, tmp_path: Path) -> None:
    """Depth 2: two of three for the first HS by one run, one more by the other; the sixth HS is not selected."""
    study = at("selected")
    hs, cn = ids(study, "hs"), ids(study, "cn")
    one = a_run(
        tmp_path / "one.trec",
        f"{hs[HS[0]]} Q0 {cn[CNS[9]]} 3 1.0 x",
        f"{hs[HS[0]]} Q0 {cn[CNS[10]]} 1 9.5 x",
        f"{hs[HS[0]]} Q0 {cn[CNS[11]]} 2 9.0 x",
        f"{hs[HS[5]]} Q0 {cn[CNS[12]]} 1 1.0 x",
    )
    two = a_run(tmp_path / "two.trec", f"{hs[HS[0]]} Q0 {cn[CNS[10]]} 0 7 x", f"{hs[HS[1]]} Q0 {cn[SHARED]} 0 7 x")
    run = study.grid().retrieve(Retrieve(runs=(one, two), depth=2))
    assert run.counts == {"runs": {"one.trec": 2, "two.trec": 2}, "candidates": 3}
    assert run.told == "3 candidates were brought in; runs: one.trec: 2, two.trec: 2"
    assert candidates(study) == {CNS[10], CNS[11], SHARED}
    assert run.notes == (
        "selected HS with no line in any run, which bring in no candidates of their own: "
        f"2 of 4 (hs_id {hs[HS[2]]}, {hs[HS[3]]})",
    )


def test_explain_says_which_run_brought_a_cn_in(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("selected"))
    hs, cn = ids(study, "hs")[HS[2]], ids(study, "cn")[CNS[0]]
    one = a_run(tmp_path / "one.trec", f"{hs} Q0 {cn} 1 9.5 x")
    (tmp_path / "more").mkdir()
    two = a_run(tmp_path / "more" / "one.trec", f"{hs} Q0 {ids(study, 'cn')[CNS[1]]} 1 3 x", f"{hs} Q0 {cn} 2 2.5 x")
    grid.retrieve(Retrieve(runs=(one, two)))
    grid.pair(Pair())
    with study._store.read() as tx:
        pairs = cells.cells(tx)
    pair = int(pairs["cell_id"][pairs["cn_id"] == cn].iloc[0])
    assert [(row["run"], row["source_id"], row["rank"], row["score"]) for row in grid.explain(pair).brought_in_by] == [
        (str(two), hs, 2, 2.5),
        (str(one), hs, 1, 9.5),
    ]
    output = CliRunner().invoke(main, ["explain", str(pair), "--study", study.place]).output
    assert f"brought in: rank 1 for HS {hs} in the run {one}, score 9.5000" in " ".join(output.split())


def test_a_run_that_cannot_be_is_refused_and_a_rank_for_which_a_system_named_nothing_takes_its_place(
    at: At, tmp_path: Path
) -> None:
    study, grid = with_grid(at("selected"))
    run = a_run(tmp_path / "r.trec", "5 Q0 7 1 2 x")
    strange = a_run(tmp_path / "strange.trec", "1 Q0 99 1 2 x", "q7 Q0 99 1 2 x", "q7 Q0 7 2 1 x")
    listed = write_csv(tmp_path / "l.csv", [{"cn": CNS[0]}])
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        (
            {"runs": (strange,)},
            r"2 things[\s\S]*:1: cn_id `99` is not in the study\n.*:2: hs_id `q7` is not in the stu",
        ),
        ({"runs": (run,), "cn_list": listed}, "either .*--cn-list FILE.* or .*--run FILE"),
        ({"runs": (run, tmp_path / "." / "r.trec")}, "a run is given twice"),
        ({"runs": (run,), "depth": 0}, "depth is 0; expected a whole number, 1 or more"),
        ({"runs": (tmp_path / "none",)}, "there is no such file"),
        ({"runs": (run,)}, "the runs name no CN for any of the selected HS"),
    )
    for options, message in refused:
        assert_refused(study, lambda: grid.retrieve(Retrieve(**options)), InputError, message)  # noqa: B023
    hs, cn = ids(study, "hs")[HS[0]], ids(study, "cn")
    ranked = (f"{hs} Q0 nothing-1 1 3 x", f"{hs} Q0 {cn[CNS[9]]} 2 2 x", f"{hs} Q0 {cn[CNS[10]]} 3 1 x")
    grid.retrieve(Retrieve(runs=(a_run(tmp_path / "r.trec", *ranked),), depth=2))
    assert candidates(study) == {CNS[9]}


@pytest.mark.server
def test_a_run_names_texts_by_the_ids_of_the_corpus_and_never_by_the_numbers_of_the_study(
    collection: Study, tmp_path: Path
) -> None:
    grid = collection.grid()
    run = tmp_path / "r.trec"
    for line, refusal in (
        ("1 Q0 d2 1 2 x", "hs_id `1` is not in"),
        ("1 Q0 4 1 2 x", "its ids are the study's numbers; expected the corpus's own ids"),
    ):
        a_run(run, line)
        assert_refused(collection, lambda: grid.retrieve(Retrieve(runs=(run,))), InputError, refusal)
    a_run(run, "q1 Q0 d2 1 2 x", "q2 Q0 d3 1 2 x", "q2 Q0 d1 2 1 x")  # d1 and d3 are one text
    grid.retrieve(Retrieve(runs=(run,)))
    assert candidates(collection) == {"Oil the chain.", "Find the hole, roughen the rubber and glue a patch on."}


@pytest.mark.server
def test_the_corpus_is_written_with_the_ids_by_which_runs_name_its_texts(at: At, tmp_path: Path) -> None:
    """Before there is a label, or even a selection: a run over that file brings in what it names."""
    with pytest.raises(StageError, match="fcpair import"):
        at("empty").grid().export.corpus(tmp_path / "c.csv")
    study, grid = with_grid(at("imported"))
    with pytest.raises(InputError, match="name the tier"):
        grid.export.corpus(tmp_path / "c.csv", options=Export(pool="all"))
    assert grid.export.corpus(tmp_path / "corpus.csv").counts["rows"] == 21
    written = pd.read_csv(tmp_path / "corpus.csv")
    grid.select(Select(hs=6))
    row = written[written["cn"] == CNS[4]].iloc[0]
    assert row["hs"] == HS[1]
    grid.retrieve(Retrieve(runs=(a_run(tmp_path / "r.trec", f"{row['hs_id']} Q0 {row['cn_id']} 1 1 x"),)))
    assert candidates(study) == {CNS[4]}


@pytest.mark.server
def test_texts_without_a_pair_are_selected_crossed_written_and_read_back_with_their_ids(
    collection: Study, tmp_path: Path
) -> None:
    """3 queries x 3 documents; the one known pair is left out. Of six rows, one repeats a text."""
    grid = collection.grid()
    assert collection.status()["stages"]["import"] == 5
    assert (
        collection.methods()
        .sections[0]
        .text.startswith(
            "The corpus had 5 rows, with 3 distinct hate-speech messages and 3 distinct counter-narratives."
        )
    )
    listed = write_csv(tmp_path / "l.csv", [{"cn": cn} for cn in ids(collection, "cn")])
    grid.retrieve(Retrieve(cn_list=listed))
    assert grid.pair(Pair()).counts["pairs"] == 8
    collection.report(tmp_path / "report.html")
    run = a_run(tmp_path / "r.trec", "q3 Q0 d3 1 1 x")
    forms: tuple[Literal["csv", "jsonl", "parquet"], ...] = ("csv", "jsonl", "parquet")
    for form in forms:
        path = tmp_path / f"again.{form}"
        assert grid.export.corpus(path).counts["rows"] == 5
        other = Study.create(tmp_path / f"{form}.db")
        assert other.import_corpus(Import(path, form, unpaired=True)).counts["without_pair"] == 4
        assert all(set(ids(other, side)) == set(ids(collection, side)) for side in ("hs", "cn"))
        other.grid().select(Select(hs=3))
        other.grid().retrieve(Retrieve(runs=(run,)))
        assert candidates(other) == {"Oil the chain."}


def test_two_lists_of_texts_are_a_corpus_and_can_be_begun_again(tmp_path: Path) -> None:
    study, grid = with_grid(Study.create(tmp_path / "lists.db"))
    path = write_csv(tmp_path / "c.csv", [{"hs": "a", "cn": ""}, {"hs": "b", "cn": ""}, {"hs": "", "cn": "c"}])
    study.import_corpus(Import(path, unpaired=True))
    with study._store.read() as tx:
        assert build_progress.n_built(tx)["import"] == 3
    with pytest.raises(StageError, match="would discard 3 corpus rows"):
        study.import_corpus(Import(path, unpaired=True))
    study.import_corpus(Import(path, unpaired=True), redo=True)
    grid.select(Select(hs=2))
    said = "no selected HS has a CN in the corpus to search from; give candidates by --cn-list or --run"
    assert_refused(study, lambda: grid.retrieve(Retrieve()), InputError, said)
    grid.retrieve(Retrieve(cn_list=write_csv(tmp_path / "l.csv", [{"cn": "c"}])))
    assert grid.pair(Pair()).counts["pairs"] == 2


@pytest.mark.server
def test_neighbours_are_looked_for_among_cns_without_a_pair_and_hs_without_a_cn_are_told(
    collection: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def encoded(bodies: list[str], _model: Model, _progress: object = None) -> NDArray[np.float32]:
        angles = np.linspace(0, np.pi, len(bodies))
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    monkeypatch.setattr(model_files, "resolve", lambda name, **_: Model(name, "nowhere", "test", "ab" * 32, "cd" * 32))
    monkeypatch.setattr(encode, "encode", encoded)
    run = collection.grid().retrieve(Retrieve(k=2))
    assert (run.counts["source_cns"], run.counts["candidates"]) == (1, 2)
    assert run.notes == (
        "selected HS with no CN in the corpus to search from, which bring in no candidates of their own: 2 of 3 "
        "(hs_id q1, q3)",
    )


def test_a_recipe_names_runs_beside_it_and_is_held_against_their_content(tmp_path: Path) -> None:
    write_corpus(tmp_path / "c.csv")
    run = a_run(tmp_path / "r.trec", "1 Q0 12 1 2 x")
    recipe = tmp_path / "r.toml"
    recipe.write_text('[import]\npath="c.csv"\n[select]\nhs=6\n[retrieve]\nruns=["r.trec"]\ndepth=3\n[pair]\n', "utf-8")
    read = load_recipe(recipe)
    assert read.retrieve == Retrieve(runs=(run,), depth=3)
    study, stages = Study.create(tmp_path / "s.db"), []
    with pytest.raises(InputError, match=r"has no section \[assign\]"):
        for done in study.walk(read):
            stages.append(done.stage)
    assert stages == ["import", "select", "retrieve", "pair"]
    a_run(run, "1 Q0 13 1 2 x")
    with pytest.raises(InputError, match=r"retrieve +runs .*r\.trec +that file with different content"):
        list(study.walk(read))
