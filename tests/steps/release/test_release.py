"""Releases: the same study gives the same bytes, and the note of it holds their hash."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.errors import FcpairError, InputError
from fcpair.files.tables.tabular import SUFFIXES, read_table, write_table
from fcpair.params import Adjudicate, Import, Pair, Select, Validate
from fcpair.records import Role, Tier
from fcpair.store.corpus import texts
from fcpair.store.oversight import runs
from fcpair.study import Study
from steps.small import check, dump, labels_of, set_candidates, write_csv

At = Callable[[str], Study]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("published", [False, True])
def test_the_same_study_gives_the_same_bytes(at: At, tmp_path: Path, suffix: str, published: bool) -> None:
    study = at("checked")
    paths = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for path in paths:
        study.grid().release(Tier.SILVER, path, published=published)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_note_of_a_release_holds_its_rule_counts_and_hash(at: At, tmp_path: Path, suffix: str) -> None:
    study = at("checked")
    path = tmp_path / f"gold{suffix}"
    run = study.grid().tiers(diamond="majority").release(Tier.GOLD, path)
    with study._store.read() as tx:
        kept = runs.releases(tx)
    assert len(kept) == 1
    assert kept[0]["sha256"] == run.counts["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert kept[0]["counts"] == {"pairs": len(read_table(path))}
    assert (kept[0]["tier"], kept[0]["rule"]) == ("gold", {"rule": "2 labels or more; valid"})


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_kind_of_file_holds_the_same(at: At, tmp_path: Path, suffix: str) -> None:
    grid = at("checked").grid()
    grid.release(Tier.BRONZE, tmp_path / f"b{suffix}")
    grid.release(Tier.BRONZE, tmp_path / "b.csv")
    one, other = (read_table(tmp_path / f"b{kind}").drop(columns="line") for kind in (suffix, ".csv"))
    assert list(one.columns) == list(other.columns)
    spelt_in_csv = {"true": "True", "false": "False"}  # as pandas spells them
    assert one.replace(spelt_in_csv).to_numpy().tolist() == other.to_numpy().tolist()


def test_a_release_holds_texts_labels_verdicts_and_metadata(at: At) -> None:
    study = at("checked")
    rows = study.grid().tier(Tier.GOLD).set_index("pair")
    labels = labels_of(study)
    assert list(rows.columns[:8]) == ["hs_id", "cn_id", "hs", "cn", "label", "verdict", "tier", "n_labels"]
    for pair in rows.index:
        for who in ("ana", "ben", "cleo"):
            assert rows.loc[pair, f"label.{who}"] == labels.get((pair, who), "")
    assert set(rows["verdict"]) == {"valid"}
    assert {"hs.hs_topic", "cn.cn_type"} <= set(rows.columns)


def test_an_empty_tier_is_not_written(at: At, tmp_path: Path) -> None:
    study = at("decided")
    before = dump(study)
    with pytest.raises(InputError, match="gold is empty: no pair is in it yet, so nothing was written"):
        study.grid().release(Tier.GOLD, tmp_path / "gold.csv")
    assert not (tmp_path / "gold.csv").exists()
    assert dump(study) == before


@pytest.mark.parametrize("name", ["gold.xlsx", "gold", "none/gold.csv", "folder.csv"])
def test_a_place_that_cannot_be_written_leaves_no_note(at: At, tmp_path: Path, name: str) -> None:
    study = at("checked")
    (tmp_path / "folder.csv").mkdir()
    before = dump(study)
    with pytest.raises(FcpairError) as caught:
        study.grid().release(Tier.GOLD, tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert dump(study) == before
    assert not list(tmp_path.glob(".*"))


def test_a_release_that_fails_leaves_the_older_file(at: At, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("mine")
    with pytest.raises(InputError):
        at("decided").grid().release(Tier.GOLD, tmp_path / "gold.csv")
    assert (tmp_path / "gold.csv").read_text() == "mine"


@pytest.fixture
def evil(at: At, tmp_path: Path) -> Study:
    """A graded study in which the texts, the metadata and the notes are such as a spreadsheet would run."""
    study = at("empty")
    grid = study.grid()
    rows = [{"hs": "+1 hs", "cn": "one", "cn_x": "x"}, {"hs": "other", "cn": "=HYPERLINK(1)", "cn_x": "@SUM(1)"}]
    study.import_corpus(Import(write_csv(tmp_path / "c.csv", rows)))
    grid.select(Select(hs_list=write_csv(tmp_path / "l.csv", [{"hs": "+1 hs"}])))
    set_candidates(study, ["=HYPERLINK(1)"])
    grid.pair(Pair())
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    answers = [{"pair": 1, "annotator": who, "label": "2", "note": "=cmd|' /C calc'!A0"} for who in ("ana", "ben")]
    grid.import_labels(write_csv(tmp_path / "n.csv", answers))
    grid.adjudicate(Adjudicate())
    grid.assign_validation(Validate(validators=1))
    check(study, tmp_path, [("v1", 1, "agree")])
    return study


@pytest.mark.server
def test_no_cell_of_a_release_runs_in_a_spreadsheet_and_all_are_read_back(evil: Study, tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    evil.grid().release(Tier.GOLD, path)
    with path.open(encoding="utf-8", newline="") as file:
        cells = next(row for at, row in enumerate(csv.reader(file)) if at == 1)
    assert {"'+1 hs", "'=HYPERLINK(1)", "'@SUM(1)"} <= set(cells)
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    row = read_table(path).iloc[0]
    assert (row["hs"], row["cn"], row["cn.cn_x"]) == ("+1 hs", "=HYPERLINK(1)", "@SUM(1)")


def test_no_cell_of_the_exported_labels_runs_in_a_spreadsheet(evil: Study, tmp_path: Path) -> None:
    write_table(evil.grid().labels(), tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text("utf-8").count(",'=cmd|") == 2
    assert set(read_table(tmp_path / "labels.csv")["note"]) == {"=cmd|' /C calc'!A0"}


@pytest.mark.server
def test_a_release_that_was_made_from_a_guarded_file_is_the_same_study(evil: Study, tmp_path: Path) -> None:
    evil.grid().release(Tier.GOLD, tmp_path / "gold.csv")
    again = Study.create(tmp_path / "again.db")
    again.import_corpus(Import(tmp_path / "gold.csv"))
    again.grid().select(Select(hs=1))
    with again._store.read() as tx:
        assert texts.texts_of(tx, "cn")["body"].tolist() == ["=HYPERLINK(1)"]
