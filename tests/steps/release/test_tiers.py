"""Tiers by their names, those of a study's own, and tiers in files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fcpair.errors import FcpairError, InputError
from fcpair.files.tables.tabular import SUFFIXES, read_table
from fcpair.grid import Grid
from fcpair.params import Export, Partition
from fcpair.records import Tier
from fcpair.store.oversight import runs
from fcpair.study import Study
from steps.small import At, assert_refused

TIERS = {"strict": {"labels": 2, "agreement": "unanimous", "within": "gold"}, "draft": {"verdict": "none"}}
RULES = Partition(own_tiers=TIERS)
CALLS: tuple[Callable[[Grid, Any, Path], object], ...] = (
    lambda grid, tier, _: grid.tier(tier),
    lambda grid, tier, _: grid.tiers().head(tier, 3),
    lambda grid, tier, folder: grid.release(tier, folder / "r.csv"),
    lambda grid, tier, folder: grid.export.qrels(folder / "q", tier),
    lambda grid, tier, folder: grid.export.beir(folder / "b", tier),
    lambda grid, tier, folder: grid.export.training("pairs", folder / "t", tier, Export(test_share=0.5)),
    lambda grid, tier, folder: grid.export.corpus(folder / "c.csv", tier),
)


def test_a_tier_is_asked_for_by_name_and_another_refused_with_the_nearest(at: At, tmp_path: Path) -> None:
    grid = at("checked").grid()
    for name in ("gold", "Gold", " GOLD "):
        assert grid.tier(name).equals(grid.tier(Tier.GOLD))
    for call in CALLS:
        for wrong, message in (
            ("glod", "there is no tier `glod`; did you mean `gold`?"),
            ("best", "there is no tier `best`; expected diamond, gold, silver, bronze"),
            (3.5, "there is no tier `3.5`"),
        ):
            with pytest.raises(InputError) as caught:
                call(grid, wrong, tmp_path)
            assert message in str(caught.value)
        call(grid, "bronze", tmp_path)


@pytest.fixture
def study(at: At) -> Study:
    """The small study, checked, with tiers of its own from here on."""
    study = at("checked")
    study.grid().save.partition(RULES)
    return study


@pytest.mark.server
def test_own_tiers_come_after_the_four_and_pairs_are_found_and_explained_by_them(study: Study) -> None:
    grid = study.grid()
    (run,) = [run for run in study.log() if run.stage == "partition"][-1:]
    assert run.params["own_tiers"] == TIERS
    assert run.counts["strict"] == len(grid.tier("strict"))
    assert grid.desk.list_tiers() == ("diamond", "gold", "silver", "bronze", "strict", "draft")
    tiers = grid.tiers().table()
    assert tiers.sizes == dict(zip(tiers.tables[0]["tier"], tiers.tables[0]["pairs"], strict=True))
    assert set(grid.tier("strict")["pair"]) == set(grid.tier("diamond")["pair"])  # by hand the same rule
    for pair, own in tiers.pair_frame().set_index("pair")["own_tiers"].items():
        explanation = grid.explain(int(str(pair)))
        assert ", ".join(explanation.own_tiers) == own
        checks = {check.tier: check for check in explanation.checks}
        assert checks["strict"].rule == "2 labels or more, all equal to the final one; valid; within gold"
        assert checks["strict"].passed == (checks["strict"].reasons == ()) == ("strict" in own)
    assert grid.desk.search_choices().tiers == (*grid.desk.list_tiers(), "none")
    strict = grid.find_pairs(tier="strict").records
    assert [record[0] for record in strict] == grid.tier("strict")["pair"].tolist()
    assert all("strict" in record[-1].split(", ") for record in strict)
    in_none = {record[0] for record in grid.find_pairs(tier="none").records}
    assert not in_none & set(grid.tier("draft")["pair"])
    grid.save.partition(diamond="majority")
    assert grid.effective_options(Partition) == Partition("majority", own_tiers=TIERS)


def test_own_tiers_are_evaluated_released_and_exported_by_name(study: Study, tmp_path: Path) -> None:
    grid = study.grid()
    draft = grid.tier("draft")
    outcome = grid.evaluate(systems=["tfidf"], tiers=["draft", "gold"], measures=["MRR"], pool="all")
    assert [tier.tier for tier in outcome.tiers] == ["gold", "draft"]
    assert outcome.tiers[1].rule == "1 label or more; with or without a verdict"
    assert outcome.tiers[1].judged == len(draft)
    with pytest.raises(InputError, match="there is no tier `strikt`; did you mean `strict`"):
        grid.evaluate(systems=["tfidf"], tiers=["strikt"])
    written = grid.release("draft", tmp_path / "draft.csv")
    assert (written.params["tier"], written.params["own_tiers"]) == ("draft", TIERS)
    assert written.notes == ("draft: 1 label or more; with or without a verdict",)
    assert read_table(tmp_path / "draft.csv")["pair"].astype(int).tolist() == draft["pair"].tolist()
    grid.export.qrels(tmp_path / "draft.qrels", "draft", pool="all")
    rows = pd.read_csv(tmp_path / "draft.qrels", sep=" ", header=None)
    by_pair = {(hs, cn): grade for hs, _, cn, grade in rows.itertuples(index=False)}
    for row in draft.itertuples():
        least = {"bronze": 1, "silver": 2, "gold": 3, "diamond": 4}.get(str(row.tier), 1)
        assert by_pair[row.hs_id, row.cn_id] == (least if row.label == "appropriate" else 0)
    grid.export.hf(tmp_path / "hf")
    names = {path.stem for path in (tmp_path / "hf" / "data").iterdir()}
    assert {"bronze", "draft"} <= names
    rows = pd.read_parquet(tmp_path / "hf" / "data" / "draft.parquet")
    assert rows["pair"].tolist() == draft["pair"].tolist()
    card = (tmp_path / "hf" / "README.md").read_text("utf-8")
    assert "the others are this study's own" in card
    assert "| `draft` |" in card
    assert "- config_name: draft" in card


def test_a_tier_without_verdicts_has_pairs_before_anybody_validates(at: At, tmp_path: Path) -> None:
    grid = at("decided").grid()
    tiers = grid.tiers(own_tiers=TIERS).table()
    assert tiers.sizes["bronze"] == 0
    assert tiers.sizes["draft"] == int((tiers.pairs["final"] >= 0).sum()) > 0
    grid.save.partition(RULES)
    with pytest.raises(InputError, match="pairs have no verdict"):
        grid.release("draft", tmp_path / "draft.csv", published=True)
    assert not any(tmp_path.glob("draft*"))
    wrong = Partition(own_tiers={"best": {"answers": ["apropriate"]}})
    with pytest.raises(InputError, match="the final label `apropriate`; did you mean `appropriate`"):
        grid.tiers(wrong).table()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_kind_of_file_has_the_same_rows_and_its_hash_in_the_note(at: At, tmp_path: Path, suffix: str) -> None:
    study = at("checked")
    path = tmp_path / f"gold{suffix}"
    run = study.grid().tiers(diamond="majority").release(Tier.GOLD, path)
    with study._store.read() as tx:
        kept = runs.releases(tx)
    assert len(kept) == 1
    assert kept[0]["sha256"] == run.counts["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert kept[0]["counts"] == {"pairs": len(read_table(path))}
    assert (kept[0]["tier"], kept[0]["rule"]) == ("gold", {"rule": "2 labels or more; valid"})
    for published in (False, True):
        paths = [tmp_path / f"{name}{suffix}" for name in "ab"]
        for path in paths:
            study.grid().release(Tier.SILVER, path, published=published)
        assert paths[0].read_bytes() == paths[1].read_bytes()
    for kind in (suffix, ".csv"):
        study.grid().release(Tier.BRONZE, tmp_path / f"bronze{kind}")
    rows, in_csv = (read_table(tmp_path / f"bronze{kind}").drop(columns="line") for kind in (suffix, ".csv"))
    assert list(rows.columns) == list(in_csv.columns)
    spelt_in_csv = {"true": "True", "false": "False"}  # as pandas spells them
    assert rows.replace(spelt_in_csv).to_numpy().tolist() == in_csv.to_numpy().tolist()


def test_what_cannot_be_written_leaves_no_note_and_the_older_file(at: At, tmp_path: Path) -> None:
    study = at("decided")
    (tmp_path / "mine.csv").write_text("mine")
    for name in ("gold.csv", "mine.csv"):
        release = partial(study.grid().release, Tier.GOLD, tmp_path / name)
        message = "gold is empty: no pair is in it yet, so nothing was written"
        assert_refused(study, release, InputError, message)
    assert not (tmp_path / "gold.csv").exists()
    assert (tmp_path / "mine.csv").read_text() == "mine"
    study = at("checked")
    (tmp_path / "folder.csv").mkdir()
    for name in ("gold.xlsx", "gold", "none/gold.csv", "folder.csv"):
        release = partial(study.grid().release, Tier.GOLD, tmp_path / name)
        assert_refused(study, release, FcpairError, re.escape(str(tmp_path / name)))
    assert not list(tmp_path.glob(".*"))
