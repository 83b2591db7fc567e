"""Exports of the small study: what is written, what is noted, and what is refused."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import pytest

from fcpair.errors import FcpairError, InputError, StageError
from fcpair.files.release.exports import EXPORTS
from fcpair.files.release.tier import COLUMNS
from fcpair.files.tables.tabular import read_table
from fcpair.params import Export, Import, Partition
from fcpair.records import RunRecord, Tier
from fcpair.store.corpus import texts
from fcpair.study import Study
from steps.small import CNS, HS, SELECTED, SHARED, assert_refused, dump, write_csv

At = Callable[[str], Study]
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
    files = [path] if path.is_file() else [one for one in sorted(path.rglob("*")) if one.is_file()]
    return {str(one.relative_to(path)): one.read_bytes() for one in files}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def graded(study: Study, tier: Tier) -> list[tuple[int, int, int]]:
    """HS, CN and grade of each pair, from the rows of the tier."""
    rows = study.grid().tier(tier)
    rank = rows["tier"].map({one.label: int(one) for one in Tier}).where(rows["label"] == "appropriate", 0)
    return list(zip(rows["hs_id"], rows["cn_id"], rank, strict=True))


@pytest.mark.parametrize("kind", ALL)
def test_the_same_study_gives_the_same_bytes(at: At, tmp_path: Path, kind: str) -> None:
    study = at("checked")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        ALL[kind](study, tmp_path / folder / kind)
    assert content(tmp_path / "a" / kind) == content(tmp_path / "b" / kind)


@pytest.mark.parametrize("kind", ALL)
def test_an_export_is_noted_with_its_kind_and_place(at: At, tmp_path: Path, kind: str) -> None:
    study = at("checked")
    run = ALL[kind](study, tmp_path / kind)
    assert study.log()[-1] == run
    assert run.stage == "export"
    wanted = {"kind": Path(kind).stem, "diamond": "unanimous", "out": str(tmp_path / kind)}
    assert wanted.items() <= run.params.items()


@pytest.mark.parametrize("kind", EXPORTS)  # of texts: test_written_texts.py
def test_the_note_of_an_export_has_the_parameters_that_its_kind_reads_and_no_other(
    at: At, tmp_path: Path, kind: str
) -> None:
    name = next(one for one in ALL if one.startswith(kind))
    params = ALL[name](at("checked"), tmp_path / name).params
    assert {one.name for one in fields(Export)} & set(params) == set(EXPORTS[kind].params)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"negatives": 0}, "negatives is 0; expected a whole number, 1 or more"),
        ({"test_share": 0.0}, "test_share is 0.0; expected a number between 0 and 1"),
        ({"test_share": 1.0}, "test_share is 1.0; expected a number between 0 and 1"),
        ({"test_share": math.nan}, "test_share is nan; expected a number between 0 and 1"),
        ({"seed": -1}, "seed is -1; expected a whole number, 0 or more"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(said)}$"):
        Export(**wrong)


@pytest.mark.parametrize("kind", sorted(set(ALL) - set(FOLDERS)))
def test_the_note_of_a_file_holds_its_hash(at: At, tmp_path: Path, kind: str) -> None:
    run = ALL[kind](at("checked"), tmp_path / kind)
    assert run.counts["sha256"] == hashlib.sha256((tmp_path / kind).read_bytes()).hexdigest()


@pytest.mark.parametrize("kind", ALL)
def test_an_empty_tier_is_not_written(at: At, tmp_path: Path, kind: str) -> None:
    study = at("decided")
    assert_refused(
        study,
        lambda: ALL[kind](study, tmp_path / kind),
        InputError,
        "is empty: no pair is in it yet, so nothing was writ",
    )
    assert not (tmp_path / kind).exists()


@pytest.mark.parametrize("kind", ALL)
def test_labels_come_first(at: At, tmp_path: Path, kind: str) -> None:
    study = at("paired")
    assert_refused(study, lambda: ALL[kind](study, tmp_path / kind), StageError, "needs labels first")


@pytest.mark.parametrize("kind", ALL)
def test_a_place_that_cannot_be_written_leaves_no_note_and_no_half_file(at: At, tmp_path: Path, kind: str) -> None:
    study = at("checked")
    place = tmp_path / "none" / kind
    assert_refused(study, lambda: ALL[kind](study, place), FcpairError, "there is no folder")
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("kind", FOLDERS)
def test_a_folder_that_holds_something_is_left_as_it_is(at: At, tmp_path: Path, kind: str) -> None:
    study = at("checked")
    (tmp_path / kind).mkdir()
    (tmp_path / kind / "mine").write_text("mine")
    assert_refused(study, lambda: ALL[kind](study, tmp_path / kind), InputError, "this folder is not empty")
    assert content(tmp_path / kind) == {"mine": b"mine"}


@pytest.mark.parametrize("kind", FOLDERS)
def test_a_failure_half_way_leaves_no_folder_and_no_note(
    at: At, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = at("checked")
    calls: list[Path] = []

    def second_fails(frame: pd.DataFrame, path: Path) -> None:
        calls.append(path)
        if len(calls) == 2:
            raise OSError("no space left")
        path.write_text("half")

    monkeypatch.setattr("fcpair.steps.release.export.write_table", second_fails)
    assert_refused(study, lambda: ALL[kind](study, tmp_path / kind), OSError, "no space left")
    assert {one.name for one in tmp_path.iterdir()} <= {"study.db"}


@pytest.mark.parametrize("tier", Tier)
def test_qrels_have_a_line_for_each_pair_of_the_tier_in_its_order(at: At, tmp_path: Path, tier: Tier) -> None:
    study = at("checked")
    run = study.grid().export.qrels(tmp_path / "t.qrels", tier)
    expected = [f"{hs} 0 {cn} {grade}" for hs, cn, grade in graded(study, tier)]
    assert (tmp_path / "t.qrels").read_text("utf-8").split("\n") == [*expected, ""]
    assert run.counts["pairs"] == len(expected) == sum(run.counts["grades"].values())


def test_qrels_follow_the_rule_for_diamond_that_is_given(at: At, tmp_path: Path) -> None:
    study = at("checked")
    for rule in ("unanimous", "majority"):
        study.grid().tiers(Partition(rule)).export.qrels(tmp_path / rule, Tier.DIAMOND)
    assert len(content(tmp_path / "majority")["."]) > len(content(tmp_path / "unanimous")["."])


def test_a_pool_from_a_file_limits_the_cns(at: At, tmp_path: Path) -> None:
    grid = at("checked").grid()
    pool = write_csv(tmp_path / "pool.csv", [{"cn": CNS[14]}, {"cn": CNS[12]}])
    grid.export.beir(tmp_path / "beir", Tier.BRONZE, Export(pool=str(pool)))
    assert [row["text"] for row in lines(tmp_path / "beir" / "corpus.jsonl")] == [CNS[12], CNS[14]]
    table = grid.tier(Tier.BRONZE)
    said = (tmp_path / "beir" / "qrels" / "test.tsv").read_text("utf-8").splitlines()
    assert len(said) == 1 + int(table["cn"].isin([CNS[14], CNS[12]]).sum())


def test_a_pool_without_a_pair_of_the_tier_is_refused(at: At, tmp_path: Path) -> None:
    study = at("checked")
    grid = study.grid()
    diamond = set(grid.tier(Tier.DIAMOND)["cn"])
    outside = next(cn for cn in CNS[12:] if cn not in diamond)
    pool = write_csv(tmp_path / "pool.csv", [{"cn": outside}])
    call = lambda: grid.export.qrels(tmp_path / "d.qrels", Tier.DIAMOND, Export(pool=str(pool)))  # noqa: E731
    assert_refused(study, call, InputError, r"no pair of diamond has a CN of the pool .* nothing was written")


def test_a_pool_that_is_not_there_is_refused(at: At, tmp_path: Path) -> None:
    study = at("checked")
    call = lambda: study.grid().export.beir(tmp_path / "beir", Tier.GOLD, Export(pool="some"))  # noqa: E731
    assert_refused(study, call, InputError, "--pool some: expected judged, positive, all, or a file")


def test_the_files_of_beir_speak_of_the_same_ids(at: At, tmp_path: Path) -> None:
    study = at("checked")
    study.grid().export.beir(tmp_path / "beir", Tier.SILVER, Export(pool="all"))
    corpus, queries = (lines(tmp_path / "beir" / f"{name}.jsonl") for name in ("corpus", "queries"))
    assert {row["text"] for row in corpus} == set(CNS[12:])
    assert {row["text"] for row in queries} <= set(SELECTED)
    qrels = pd.read_csv(tmp_path / "beir" / "qrels" / "test.tsv", sep="\t", dtype={"query-id": str, "corpus-id": str})
    assert set(qrels["query-id"]) == {row["_id"] for row in queries}
    assert set(qrels["corpus-id"]) <= {row["_id"] for row in corpus}


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
@pytest.mark.parametrize("kind", COLUMNS)
def test_the_hugging_face_library_reads_both_sides_of_a_training_set(at: At, tmp_path: Path, kind: str) -> None:
    import datasets

    run = ALL[kind](at("checked"), tmp_path / kind)
    read = datasets.load_dataset(str(tmp_path / kind), cache_dir=str(tmp_path / "cache"))
    assert {side: rows.num_rows for side, rows in read.items()} == {side: run.counts[side] for side in read}
    assert tuple(read["train"].column_names) == COLUMNS[kind]  # type: ignore[index]
    assert not set(read["train"][COLUMNS[kind][0]]) & set(read["test"][COLUMNS[kind][0]])  # type: ignore[index]


def test_every_triplet_was_judged_so_in_its_tier(at: At, tmp_path: Path) -> None:
    grid = at("checked").grid()
    grid.export.training("triplets", tmp_path / "t", Tier.SILVER, HALF)
    table = grid.tier(Tier.SILVER)
    said = dict(zip(zip(table["hs"], table["cn"], strict=True), table["label"], strict=True))
    rows = lines(tmp_path / "t" / "train.jsonl") + lines(tmp_path / "t" / "test.jsonl")
    assert {said[row["anchor"], row["positive"]] for row in rows} == {"appropriate"}
    assert {said[row["anchor"], row["negative"]] for row in rows} == {"not_appropriate"}


def test_texts_are_written_in_utf_8_and_end_in_a_line_feed(at: At, tmp_path: Path) -> None:
    at("checked").grid().export.training("pairs", tmp_path / "p", Tier.BRONZE, HALF)
    raw = (tmp_path / "p" / "train.jsonl").read_bytes()
    assert "نه؟".encode() in raw
    assert b"\r" not in raw
    assert raw.endswith(b"}\n")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_the_corpus_is_written_less_the_hs_of_the_tier_and_the_cns_of_the_pool(
    at: At, tmp_path: Path, suffix: str
) -> None:
    run = at("checked").grid().export.corpus(tmp_path / f"train{suffix}", Tier.BRONZE)
    rows = read_table(tmp_path / f"train{suffix}")
    # HS 5 and 6 are in no tier; their own CNs are the pool, so that the shared CN of the fifth HS alone is left
    assert rows[["hs", "cn", "hs_topic", "cn_type", "language"]].to_numpy().tolist() == [
        [HS[4], SHARED, HS[4][:12], "plain", "en"]
    ]
    assert {"rows": 1, "of": 21, "without_hs": 4, "without_cn": 6}.items() <= run.counts.items()


def test_a_corpus_of_which_nothing_is_left_is_refused(at: At, tmp_path: Path) -> None:
    study = at("empty")
    files = [{"hs": "a", "cn": "one"}, {"hs": "b", "cn": "two"}]
    study.import_corpus(Import(write_csv(tmp_path / "c.csv", files)))
    _grade_all_of(study, tmp_path)
    call = lambda: study.grid().export.corpus(tmp_path / "train.csv", Tier.BRONZE)  # noqa: E731
    assert_refused(study, call, InputError, "every row of the corpus has an HS of bronze or a CN of the pool `judged`")


def _grade_all_of(study: Study, folder: Path) -> None:
    """Pair `a` with `two`, and let one annotator and one validator say that it fits."""
    grid = study.grid()
    from fcpair.params import Adjudicate, Pair, Select, Validate
    from fcpair.records import Role
    from steps.small import check, record, set_candidates

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
    from steps.answers.test_import_fc_conan import ROWS

    study = at("empty")
    grid = study.grid()
    grid.import_published(write_csv(tmp_path / "p.csv", ROWS))
    before = dump(study)
    with pytest.raises(StageError, match=r"has no corpus(.|\n)*fcpair import CONAN.csv") as caught:
        grid.export.corpus(tmp_path / "train.csv", Tier.BRONZE)
    assert "labels import bronze_partition_df.csv --reader fc-conan" in str(caught.value)
    assert dump(study) == before


@pytest.mark.parametrize("name", ["train", "train.txt"])
def test_a_corpus_needs_a_suffix_that_says_what_it_is(at: At, tmp_path: Path, name: str) -> None:
    study = at("checked")
    call = lambda: study.grid().export.corpus(tmp_path / name, Tier.BRONZE)  # noqa: E731
    assert_refused(study, call, InputError, r"expected a name that ends in \.csv, \.jsonl, \.parquet")
