"""Exports of the small study: what is written, what is noted, and what is refused."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import pytest

from fcpair.errors import FcpairError, InputError, StageError
from fcpair.files.release.exports import EXPORTS
from fcpair.files.release.tier import COLUMNS
from fcpair.files.tables.tabular import read_table
from fcpair.params import Adjudicate, Export, Import, Pair, Select, Validate
from fcpair.records import Role, RunRecord, Tier
from fcpair.store.corpus import texts
from fcpair.study import Study
from steps.answers.test_import_fc_conan import ROWS
from steps.small import (
    CNS,
    HS,
    SELECTED,
    SHARED,
    At,
    assert_refused,
    check,
    record,
    set_candidates,
    with_grid,
    write_csv,
)

Write = Callable[[Study, Path], RunRecord]
HALF = Export(test_share=0.5)
ALL: dict[str, Write] = {
    "qrels": lambda study, path: study.grid().export.qrels(path, Tier.SILVER),
    "beir": lambda study, path: study.grid().export.beir(path, Tier.SILVER),
    "hf": lambda study, path: study.grid().export.hf(path),
    "triplets": lambda study, path: study.grid().export.training("triplets", path, Tier.BRONZE, HALF),
    "pairs": lambda study, path: study.grid().export.training("pairs", path, Tier.BRONZE, HALF),
    "preferences": lambda study, path: study.grid().export.training("preferences", path, Tier.BRONZE, HALF),
    "corpus.csv": lambda study, path: study.grid().export.corpus(path, Tier.BRONZE),
    "corpus.jsonl": lambda study, path: study.grid().export.corpus(path, Tier.BRONZE),
    "corpus.parquet": lambda study, path: study.grid().export.corpus(path, Tier.BRONZE),
}
FOLDERS = ["beir", "hf", "triplets", "pairs", "preferences"]


def content(path: Path) -> dict[str, bytes]:
    """What stands in a file, or in each file of a folder."""
    files = [path] if path.is_file() else [file for file in sorted(path.rglob("*")) if file.is_file()]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("kind", ALL)
def test_each_export_needs_a_tier_with_pairs_is_noted_and_has_the_same_bytes_again(
    at: At, tmp_path: Path, kind: str
) -> None:
    write, path = ALL[kind], tmp_path / kind
    for stage, error, message in (
        ("paired", StageError, "needs labels first"),
        ("decided", InputError, "is empty: no pair is in it yet, so nothing was writ"),
    ):
        study = at(stage)
        assert_refused(study, partial(write, study, path), error, message)
    study = at("checked")
    assert_refused(study, partial(write, study, tmp_path / "none" / kind), FcpairError, "there is no folder")
    assert {left.name for left in tmp_path.iterdir()} <= {"study.db"}
    run = write(study, path)
    assert study.log()[-1] == run
    assert run.stage == "export"
    wanted = {"kind": path.stem, "diamond": "unanimous", "out": str(path)}
    assert wanted.items() <= run.params.items()
    assert {field.name for field in fields(Export)} & set(run.params) == set(EXPORTS[path.stem].params)
    if kind not in FOLDERS:
        assert run.counts["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    (tmp_path / "again").mkdir()
    write(study, tmp_path / "again" / kind)
    assert content(path) == content(tmp_path / "again" / kind)


def test_every_kind_of_export_is_tried_and_parameters_that_cannot_be_used_are_refused() -> None:
    assert {Path(kind).stem for kind in ALL} == set(EXPORTS)  # of texts: test_written_texts.py
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"negatives": 0}, "negatives is 0; expected a whole number, 1 or more"),
        ({"test_share": 0.0}, "test_share is 0.0; expected a number between 0 and 1"),
        ({"test_share": 1.0}, "test_share is 1.0; expected a number between 0 and 1"),
        ({"test_share": math.nan}, "test_share is nan; expected a number between 0 and 1"),
        ({"seed": -1}, "seed is -1; expected a whole number, 0 or more"),
    )
    for options, message in wrong:
        with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
            Export(**options)


@pytest.mark.parametrize("kind", FOLDERS)
def test_a_folder_that_holds_something_stays_as_it_is_and_a_failure_half_way_leaves_none(
    at: At, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, path = at("checked"), tmp_path / kind
    path.mkdir()
    (path / "mine").write_text("mine")
    assert_refused(study, partial(ALL[kind], study, path), InputError, "this folder is not empty")
    assert content(path) == {"mine": b"mine"}
    shutil.rmtree(path)
    calls: list[Path] = []

    def second_fails(frame: pd.DataFrame, path: Path) -> None:
        calls.append(path)
        if len(calls) == 2:
            raise OSError("no space left")
        path.write_text("half")

    monkeypatch.setattr("fcpair.steps.release.export.write_table", second_fails)
    assert_refused(study, partial(ALL[kind], study, path), OSError, "no space left")
    assert {left.name for left in tmp_path.iterdir()} <= {"study.db"}


def test_the_files_of_beir_speak_of_the_same_ids_and_have_the_pool_that_is_given(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("checked"))
    grid.export.beir(tmp_path / "beir", Tier.SILVER, Export(pool="all"))
    corpus, queries = (lines(tmp_path / "beir" / f"{name}.jsonl") for name in ("corpus", "queries"))
    assert {row["text"] for row in corpus} == set(CNS[12:])
    assert {row["text"] for row in queries} <= set(SELECTED)
    qrels = pd.read_csv(tmp_path / "beir" / "qrels" / "test.tsv", sep="\t", dtype={"query-id": str, "corpus-id": str})
    assert set(qrels["query-id"]) == {row["_id"] for row in queries}
    assert set(qrels["corpus-id"]) <= {row["_id"] for row in corpus}

    pool = write_csv(tmp_path / "pool.csv", [{"cn": CNS[14]}, {"cn": CNS[12]}])
    grid.export.beir(tmp_path / "limited", Tier.BRONZE, Export(pool=str(pool)))
    assert [row["text"] for row in lines(tmp_path / "limited" / "corpus.jsonl")] == [CNS[12], CNS[14]]
    table = grid.tier(Tier.BRONZE)
    judged = (tmp_path / "limited" / "qrels" / "test.tsv").read_text("utf-8").splitlines()
    assert len(judged) == 1 + int(table["cn"].isin([CNS[14], CNS[12]]).sum())

    diamond = set(grid.tier(Tier.DIAMOND)["cn"])
    outside = next(cn for cn in CNS[12:] if cn not in diamond)
    pool = write_csv(tmp_path / "pool.csv", [{"cn": outside}])
    call = partial(grid.export.qrels, tmp_path / "d.qrels", Tier.DIAMOND, Export(pool=str(pool)))
    assert_refused(study, call, InputError, r"no pair of diamond has a CN of the pool .* nothing was written")
    call = partial(grid.export.beir, tmp_path / "some", Tier.GOLD, Export(pool="some"))
    assert_refused(study, call, InputError, "--pool some: expected judged, positive, all, or a file")


@pytest.mark.torch
def test_the_hugging_face_library_reads_every_tier(at: At, tmp_path: Path) -> None:
    import datasets

    grid = at("checked").grid()
    grid.export.hf(tmp_path / "hf")
    folder, cache = str(tmp_path / "hf"), str(tmp_path / "cache")
    assert datasets.get_dataset_config_names(folder) == ["bronze", "silver", "gold", "diamond"]
    for tier in Tier:
        read = datasets.load_dataset(folder, tier.label, split="train", cache_dir=cache)
        wanted = grid.tier(tier)
        assert read["hs"] == wanted["hs"].tolist()
        assert read["label"] == wanted["label"].tolist()
        assert set(wanted.columns) <= set(read.column_names)
    assert len(datasets.load_dataset(folder, split="train", cache_dir=cache)) == len(grid.tier(Tier.BRONZE))


@pytest.mark.torch
def test_the_hugging_face_library_reads_both_sides_of_a_training_set(at: At, tmp_path: Path) -> None:
    import datasets

    study = at("checked")
    for kind, columns in COLUMNS.items():
        run = ALL[kind](study, tmp_path / kind)
        read = datasets.load_dataset(str(tmp_path / kind), cache_dir=str(tmp_path / "cache"))
        assert {side: rows.num_rows for side, rows in read.items()} == {side: run.counts[side] for side in read}
        assert tuple(read["train"].column_names) == columns
        assert not set(read["train"][columns[0]]) & set(read["test"][columns[0]])


def test_the_corpus_is_written_less_the_hs_of_the_tier_and_the_cns_of_the_pool(at: At, tmp_path: Path) -> None:
    study = at("checked")
    for suffix in (".csv", ".jsonl", ".parquet"):
        run = study.grid().export.corpus(tmp_path / f"train{suffix}", Tier.BRONZE)
        rows = read_table(tmp_path / f"train{suffix}")
        # HS 5 and 6 are in no tier; their own CNs are the pool, so that the shared CN of the fifth HS alone is left
        assert rows[["hs", "cn", "hs_topic", "cn_type", "language"]].to_numpy().tolist() == [
            [HS[4], SHARED, HS[4][:12], "plain", "en"]
        ]
        assert {"rows": 1, "of": 21, "without_hs": 4, "without_cn": 6}.items() <= run.counts.items()
    for name in ("train", "train.txt"):
        call = partial(study.grid().export.corpus, tmp_path / name, Tier.BRONZE)
        assert_refused(study, call, InputError, r"expected a name that ends in \.csv, \.jsonl, \.parquet")


def test_a_corpus_of_which_nothing_is_left_is_refused(at: At, tmp_path: Path) -> None:
    study = at("empty")
    files = [{"hs": "a", "cn": "one"}, {"hs": "b", "cn": "two"}]
    study.import_corpus(Import(write_csv(tmp_path / "c.csv", files)))
    _grade_all_of(study, tmp_path)
    call = partial(study.grid().export.corpus, tmp_path / "train.csv", Tier.BRONZE)
    assert_refused(study, call, InputError, "every row of the corpus has an HS of bronze or a CN of the pool `judged`")


def _grade_all_of(study: Study, folder: Path) -> None:
    """Pair `a` with `two`, and let one annotator and one validator say that it fits."""
    grid = study.grid()
    grid.select(Select(hs_list=write_csv(folder / "l.csv", [{"hs": "a"}])))
    set_candidates(study, ["two"])
    grid.pair(Pair())
    study.add_people(["ana"], Role.ANNOTATOR)
    record(study, folder, [("ana", 1, "appropriate")])
    grid.adjudicate(Adjudicate())
    grid.assign_validation(Validate(validators=1))
    check(study, folder, [("v1", 1, "agree")])


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_written_corpus_is_the_corpus_of_another_study(
    at: At, tmp_path: Path, form: Literal["csv", "jsonl", "parquet"]
) -> None:
    study = at("empty")
    cells = ["=1+1", "'-1 for manners", "-1 for manners", "two"]
    rows = [{"hs": hs, "cn": cn, "note": f"@{cn}"} for hs, cn in zip("abcd", cells, strict=True)]
    study.import_corpus(Import(write_csv(tmp_path / "c.csv", rows)))
    _grade_all_of(study, tmp_path)
    study.grid().export.corpus(tmp_path / f"train.{form}", Tier.BRONZE)
    other = Study.create(tmp_path / "other.db")
    other.import_corpus(Import(tmp_path / f"train.{form}", reader=form))
    with other._store.read() as tx:
        again = texts.source_rows(tx)
    assert again[["hs", "cn"]].to_numpy().tolist() == [["b", "'-1 for manners"], ["c", "-1 for manners"]]
    assert [meta["note"] for meta in again["meta"]] == ["@'-1 for manners", "@-1 for manners"]


def test_a_study_without_a_corpus_is_told_how_to_make_one_that_has_it(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("empty"))
    grid.import_published(write_csv(tmp_path / "p.csv", ROWS))
    export = partial(grid.export.corpus, tmp_path / "train.csv", Tier.BRONZE)
    message = (
        r"has no corpus(.|\n)*fcpair import CONAN.csv(.|\n)*labels import bronze_partition_df.csv --reader fc-conan"
    )
    assert_refused(study, export, StageError, message)
