"""Tiers of a study's own, from its recipe to every file: partition, explain, evaluation, exports, searches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.files.tables.tabular import read_table
from fcpair.params import Partition
from fcpair.study import Study

At = Callable[[str], Study]
TIERS = {
    "strict": {"labels": 2, "agreement": "unanimous", "within": "gold"},
    "draft": {"verdict": "none"},
}
RULES = Partition(own_tiers=TIERS)


@pytest.fixture
def study(at: At) -> Study:
    """The small study, checked, with tiers of its own from here on."""
    study = at("checked")
    study.grid().save.partition(RULES)
    return study


@pytest.mark.server
def test_the_grid_has_them_after_the_four(study: Study) -> None:
    grid = study.grid()
    assert grid.desk.list_tiers() == ("diamond", "gold", "silver", "bronze", "strict", "draft")
    tiers = grid.tiers().table()
    assert tiers.sizes == dict(zip(tiers.tables[0]["tier"], tiers.tables[0]["pairs"], strict=True))
    assert set(grid.tier("strict")["pair"]) == set(grid.tier("diamond")["pair"])  # by hand the same rule


def test_a_tier_without_verdicts_has_pairs_before_anybody_validates(at: At) -> None:
    grid = at("decided").grid()
    tiers = grid.tiers(own_tiers=TIERS).table()
    assert tiers.sizes["bronze"] == 0
    assert tiers.sizes["draft"] == int((tiers.pairs["final"] >= 0).sum()) > 0


def test_what_a_run_did_says_by_which_rules(study: Study, tmp_path: Path) -> None:
    (run,) = [run for run in study.log() if run.stage == "partition"][-1:]
    assert run.params["own_tiers"] == TIERS
    assert run.counts["strict"] == len(study.grid().tier("strict"))
    written = study.grid().release("draft", tmp_path / "draft.csv")
    assert (written.params["tier"], written.params["own_tiers"]) == ("draft", TIERS)
    assert written.notes == ("draft: 1 label or more; with or without a verdict",)
    assert (
        read_table(tmp_path / "draft.csv")["pair"].astype(int).tolist() == study.grid().tier("draft")["pair"].tolist()
    )


def test_a_pair_says_which_of_them_it_is_in_and_by_which_rule(study: Study) -> None:
    grid = study.grid()
    names = grid.tiers().table().pair_frame().set_index("pair")["own_tiers"]
    for pair, own in names.items():
        explanation = grid.explain(int(str(pair)))
        assert ", ".join(explanation.own_tiers) == own
        checks = {check.tier: check for check in explanation.checks}
        assert checks["strict"].rule == "2 labels or more, all equal to the final one; valid; within gold"
        assert checks["strict"].passed == (checks["strict"].reasons == ()) == ("strict" in own)


def test_systems_are_evaluated_on_them(study: Study) -> None:
    outcome = study.grid().evaluate(systems=["tfidf"], tiers=["draft", "gold"], measures=["MRR"], pool="all")
    assert [tier.tier for tier in outcome.tiers] == ["gold", "draft"]
    assert outcome.tiers[1].rule == "1 label or more; with or without a verdict"
    assert outcome.tiers[1].judged == len(study.grid().tier("draft"))


def test_exports_take_them_by_name(study: Study, tmp_path: Path) -> None:
    grid = study.grid()
    grid.export.qrels(tmp_path / "draft.qrels", "draft", pool="all")
    rows = pd.read_csv(tmp_path / "draft.qrels", sep=" ", header=None)
    by_pair = {(hs, cn): grade for hs, _, cn, grade in rows.itertuples(index=False)}
    for row in grid.tier("draft").itertuples():
        least = {"bronze": 1, "silver": 2, "gold": 3, "diamond": 4}.get(str(row.tier), 1)
        assert by_pair[row.hs_id, row.cn_id] == (least if row.label == "appropriate" else 0)
    grid.export.hf(tmp_path / "hf")
    names = {path.stem for path in (tmp_path / "hf" / "data").iterdir()}
    assert {"bronze", "draft"} <= names
    rows = pd.read_parquet(tmp_path / "hf" / "data" / "draft.parquet")
    assert rows["pair"].tolist() == grid.tier("draft")["pair"].tolist()
    card = (tmp_path / "hf" / "README.md").read_text("utf-8")
    assert "the others are this study's own" in card
    assert "| `draft` |" in card
    assert "- config_name: draft" in card


def test_the_published_columns_have_no_place_for_pairs_without_a_verdict(at: At, tmp_path: Path) -> None:
    grid = at("decided").grid()
    grid.save.partition(RULES)
    with pytest.raises(InputError, match="pairs have no verdict"):
        grid.release("draft", tmp_path / "draft.csv", published=True)
    assert not any(tmp_path.glob("draft*"))


@pytest.mark.server
def test_pairs_are_found_by_them(study: Study) -> None:
    grid = study.grid()
    assert grid.desk.search_choices().tiers == (*grid.desk.list_tiers(), "none")
    found = grid.find_pairs(tier="strict")
    assert [record[0] for record in found.records] == grid.tier("strict")["pair"].tolist()
    assert all("strict" in record[-1].split(", ") for record in found.records)
    in_none = {record[0] for record in grid.find_pairs(tier="none").records}
    assert not in_none & set(grid.tier("draft")["pair"])


def test_another_rule_of_diamond_leaves_them(study: Study) -> None:
    study.grid().save.partition(diamond="majority")
    assert study.grid().effective_options(Partition) == Partition("majority", own_tiers=TIERS)


def test_an_evaluation_on_a_tier_that_is_gone_is_refused(study: Study) -> None:
    grid = study.grid()
    with pytest.raises(InputError, match="there is no tier `strikt`; did you mean `strict`"):
        grid.evaluate(systems=["tfidf"], tiers=["strikt"])


def test_answers_that_the_question_lacks_are_refused(at: At) -> None:
    rules = Partition(own_tiers={"best": {"answers": ["apropriate"]}})
    with pytest.raises(InputError, match="the final label `apropriate`; did you mean `appropriate`"):
        at("checked").grid().tiers(rules).table()
