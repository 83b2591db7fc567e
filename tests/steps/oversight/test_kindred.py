"""The recipes of two kindred studies, walked from their public files to tables; people are simulated, models canned."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from fcpair.cli import main
from fcpair.study import Grid, Study
from fcpair.texts.ratings import average_ratings, read_ratings
from steps.kindred import build_smaller_parscn

Walked = Callable[[str], Path]
GROUPS = {"write": 6, "replies": 5}
pytestmark = [pytest.mark.files, pytest.mark.slow, pytest.mark.torch]


@pytest.fixture(scope="module")
def crowdcounter(data: Path, walked: Walked) -> Iterator[Study]:
    with closing(Study(walked("crowdcounter"))) as study:
        yield study


@pytest.fixture(scope="module")
def parscn(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """ParsCN's recipe with a tenth of its posts."""
    folder = tmp_path_factory.mktemp("parscn")
    with closing(Study(build_smaller_parscn(folder))) as study:
        yield study


def answered(grid: Grid, name: str | None = None) -> pd.DataFrame:
    table = grid.answers(name)
    return table[~table["skipped"]]


# CrowdCounter


def test_every_post_is_answered_in_three_types_each_as_often_as_any_other(crowdcounter: Study) -> None:
    table = crowdcounter.grid("write").answers()
    there = table.drop_duplicates("cell")
    assert there["row"].nunique() == 1325
    assert set(there.groupby("row").size()) == {3}
    assert set(there.groupby("column").size()) == {662, 663}
    assert not answered(crowdcounter.grid("write")).duplicated(["row", "by"]).any()


def test_only_who_passed_the_pilot_writes_and_three_of_each_batch_are_looked_at(crowdcounter: Study) -> None:
    grades = answered(crowdcounter.grid("grade")).rename(columns={"row": "try", "answered": "row"})
    pilot = answered(crowdcounter.grid("pilot"))
    judged = pilot.merge(grades[["row", "try", "grade"]], on=["row", "try"], validate="many_to_one")
    good = (judged["grade"] == "yes").groupby(judged["by"]).sum()
    wrote = set(crowdcounter.grid("write").answers()["by"])
    assert wrote == set(good[good >= 8].index)
    assert 0 < len(wrote) < len(good) == 12
    assert answered(crowdcounter.grid("write"), "spot")["cell"].nunique() == 27 * 3  # 1,325 posts in batches of 50


def test_the_required_type_is_among_those_of_a_text_and_what_is_not_abusive_has_none(crowdcounter: Study) -> None:
    table = answered(crowdcounter.grid("write"))
    asked = table[table["abusive"] == "yes"]
    assert all(one in said.split("; ") for one, said in zip(asked["column"], asked["types"], strict=True))
    assert (table.loc[table["abusive"] == "no", ["text", "types"]] == "").all(axis=None)


def test_what_was_written_comes_out_in_the_layout_of_the_released_file(crowdcounter: Study, tmp_path: Path) -> None:
    crowdcounter.grid("write").export.texts(tmp_path / "texts.json", "crowdcounter")
    called = ["describe", str(tmp_path / "texts.json"), "--reader", "crowdcounter", "--text", "cn", "--row", "hs"]
    result = CliRunner().invoke(main, [*called, "--labels", "types", "--writer", "by", "--format", "json"])
    assert result.exit_code == 0, result.output
    n = int((answered(crowdcounter.grid("write"))["text"] != "").sum())
    figures = {one["figure"]: one["value"] for one in json.loads(result.stdout)["figures"] if one["of"] == ""}
    assert figures["texts"] == n


# ParsCN


def test_posts_are_drawn_to_the_quota_of_each_group(parscn: Study) -> None:
    drawn = {grid: answered(parscn.grid(grid)).drop_duplicates("row")["group"].value_counts() for grid in GROUPS}
    for grid, n in GROUPS.items():
        assert drawn[grid].max() == 10
        assert (drawn[grid] >= 9).sum() == n
    assert len(answered(parscn.grid("write"), "shared")) == 3 * 8


def test_no_post_is_among_its_own_examples_and_each_has_ten(parscn: Study) -> None:
    shown = parscn.grid("replies").examples("propose")
    assert set(shown.groupby("row").size()) == {10}
    assert (shown["row"] != shown["hs"]).all()
    assert set(shown["hs"]) <= set(parscn.grid("write").answers()["row"])


def test_the_replies_are_the_released_ones_and_those_that_are_too_long_are_marked(data: Path, parscn: Study) -> None:
    released = pd.read_csv(data / "parscn" / "ParsCN-Dataset.csv")
    first = released.assign(post=released["Hate_Speech"].str.strip()).drop_duplicates("post").set_index("post")
    given = parscn.grid("replies").answers("propose")
    said = given["row"].str.strip().map(first["Counter_Narrative"])
    assert said.notna().sum() >= len(given) - 5  # spelt in two ways, which folding makes one
    same = given["propose"].str.strip() == said.str.strip()
    assert same.sum() >= len(given) - 5
    is_long = given["propose"].map(lambda text: len(text.split()) > 49)
    assert ((given["marks"] == "too long") == is_long).all()
    assert is_long.sum() > 0


def test_what_was_rejected_is_not_rated_and_both_halves_are_by_the_same_two(parscn: Study) -> None:
    rated = parscn.grid("rate").texts()
    written, curated = answered(parscn.grid("write")), answered(parscn.grid("replies"))
    n_kept = int((curated["act"] != "rejected").sum())
    n_rows = rated.groupby("source")["row_number"].nunique()
    assert n_rows.to_dict() == {"people": len(written), "released": n_kept, "machine": 5}
    table = rated.astype(str)
    given = read_ratings(table, "rate", ["rate"], source="source", rater="by", text="row_number", criterion="column")
    found = average_ratings(given, draws=200)
    assert [(one.source, len(one.raters)) for one in found] == [
        (source, 2) for source in ("machine", "people", "released") for _ in range(4)
    ]
    assert all(1 <= one.mean.value <= 5 for one in found if one.mean.value is not None)
    assert parscn.grid("rate").agreement().on_bins


def test_what_a_machine_translated_is_mended_by_people_who_also_say_its_types(parscn: Study) -> None:
    proposed, mended = parscn.grid("translated").answers("translate"), answered(parscn.grid("translated"))
    assert set(proposed["by"]) == {"machine"}
    assert list(mended["original"]) == list(proposed["translate"])
    assert set(mended["by"]) <= {"w1", "w2", "w3"}
    assert (mended["types"] != "").all()
