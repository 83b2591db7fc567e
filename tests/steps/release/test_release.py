"""Releases: the same study gives the same bytes, and the note of it holds their hash."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fcpair.errors import FcpairError, InputError
from fcpair.files.tables.tabular import SUFFIXES, read_table, write_table
from fcpair.params import Adjudicate, Import, Pair, Select, Validate
from fcpair.records import Role, Tier
from fcpair.store.corpus import texts
from fcpair.store.oversight import runs
from fcpair.study import Study
from steps.small import assert_refused, check, labels_of, set_candidates, write_csv

At = Callable[[str], Study]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_kind_of_file_has_the_same_bytes_each_time_the_same_rows_and_its_hash_in_the_note(
    at: At, tmp_path: Path, suffix: str
) -> None:
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


@pytest.mark.server
def test_no_cell_runs_in_a_spreadsheet_and_all_are_read_back(at: At, tmp_path: Path) -> None:
    """The texts, the metadata and the notes of a graded study are such as a spreadsheet would run."""
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
    path = tmp_path / "gold.csv"
    grid.release(Tier.GOLD, path)
    with path.open(encoding="utf-8", newline="") as file:
        cells = next(row for at, row in enumerate(csv.reader(file)) if at == 1)
    assert {"'+1 hs", "'=HYPERLINK(1)", "'@SUM(1)"} <= set(cells)
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    row = read_table(path).iloc[0]
    assert (row["hs"], row["cn"], row["cn.cn_x"]) == ("+1 hs", "=HYPERLINK(1)", "@SUM(1)")
    write_table(grid.labels(), tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text("utf-8").count(",'=cmd|") == 2
    assert set(read_table(tmp_path / "labels.csv")["note"]) == {"=cmd|' /C calc'!A0"}
    again = Study.create(tmp_path / "again.db")
    again.import_corpus(Import(path))
    again.grid().select(Select(hs=1))
    with again._store.read() as tx:
        assert texts.texts_of(tx, "cn")["body"].tolist() == ["=HYPERLINK(1)"]
