"""The recipes of two kindred studies, walked from their public files to tables; people are simulated, models canned."""

from __future__ import annotations

import json
import shutil
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

pytestmark = [pytest.mark.files, pytest.mark.slow, pytest.mark.torch]


def answered(grid: Grid, name: str | None = None) -> pd.DataFrame:
    table = grid.answers(name)
    return table[~table["skipped"]]


def test_crowdcounter(data: Path, walked: Callable[[str], Path], tmp_path: Path) -> None:
    """Only who passed the pilot writes, in the required type, and it comes out in the layout of the released file."""
    with closing(Study(Path(shutil.copy(walked("crowdcounter"), tmp_path / "study.db")))) as study:
        write = study.grid("write")
        given, written, pilot = write.answers(), answered(write), answered(study.grid("pilot"))
        grades = answered(study.grid("grade")).rename(columns={"row": "try", "answered": "row"})
        spot = answered(write, "spot")
        write.export.texts(tmp_path / "texts.json", "crowdcounter")
    # every post is answered in three types, each as often as any other
    cells = given.drop_duplicates("cell")
    assert cells["row"].nunique() == 1325
    assert set(cells.groupby("row").size()) == {3}
    assert set(cells.groupby("column").size()) == {662, 663}
    assert not written.duplicated(["row", "by"]).any()

    judged = pilot.merge(grades[["row", "try", "grade"]], on=["row", "try"], validate="many_to_one")
    good = (judged["grade"] == "yes").groupby(judged["by"]).sum()
    wrote = set(given["by"])
    assert wrote == set(good[good >= 8].index)
    assert 0 < len(wrote) < len(good) == 12
    assert spot["cell"].nunique() == 27 * 3  # three of each batch: 1,325 posts in batches of 50

    asked = written[written["abusive"] == "yes"]
    assert all(column in types.split("; ") for column, types in zip(asked["column"], asked["types"], strict=True))
    assert (written.loc[written["abusive"] == "no", ["text", "types"]] == "").all(axis=None)

    called = ["describe", str(tmp_path / "texts.json"), "--reader", "crowdcounter", "--text", "cn", "--row", "hs"]
    result = CliRunner().invoke(main, [*called, "--labels", "types", "--writer", "by", "--format", "json"])
    assert result.exit_code == 0, result.output
    figures = {row["figure"]: row["value"] for row in json.loads(result.stdout)["figures"] if row["of"] == ""}
    assert figures["texts"] == int((written["text"] != "").sum())


@pytest.fixture(scope="module")
def parscn(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """ParsCN's recipe with a tenth of its posts."""
    with closing(Study(build_smaller_parscn(tmp_path_factory.mktemp("parscn")))) as study:
        yield study


def test_parscn_draws_posts_to_the_quota_of_each_group_and_shows_each_ten_examples(parscn: Study) -> None:
    for grid, n in {"write": 6, "replies": 5}.items():
        drawn = answered(parscn.grid(grid)).drop_duplicates("row")["group"].value_counts()
        assert drawn.max() == 10
        assert (drawn >= 9).sum() == n
    assert len(answered(parscn.grid("write"), "shared")) == 3 * 8
    shown = parscn.grid("replies").examples.table("propose")
    assert set(shown.groupby("row").size()) == {10}
    assert (shown["row"] != shown["hs"]).all()  # no post is among its own examples
    assert set(shown["hs"]) <= set(parscn.grid("write").answers()["row"])


def test_parscn_has_the_released_replies_and_those_that_are_too_long_are_marked(data: Path, parscn: Study) -> None:
    released = pd.read_csv(data / "parscn" / "ParsCN-Dataset.csv")
    first = released.assign(post=released["Hate_Speech"].str.strip()).drop_duplicates("post").set_index("post")
    given = parscn.grid("replies").answers("propose")
    known = given["row"].str.strip().map(first["Counter_Narrative"])
    assert known.notna().sum() >= len(given) - 5  # spelt in two ways, which folding makes one
    same = given["propose"].str.strip() == known.str.strip()
    assert same.sum() >= len(given) - 5
    is_long = given["propose"].map(lambda text: len(text.split()) > 49)
    assert ((given["marks"] == "too long") == is_long).all()
    assert is_long.sum() > 0


def test_parscn_rates_what_was_not_rejected_by_the_same_two_and_mends_translations(parscn: Study) -> None:
    rated = parscn.grid("rate").texts()
    written, curated = answered(parscn.grid("write")), answered(parscn.grid("replies"))
    n_kept = int((curated["act"] != "rejected").sum())
    n_rows = rated.groupby("source")["row_number"].nunique()
    assert n_rows.to_dict() == {"people": len(written), "released": n_kept, "machine": 5}
    table = rated.astype(str)
    given = read_ratings(table, "rate", ["rate"], source="source", rater="by", text="row_number", criterion="column")
    averages = average_ratings(given, draws=200)
    assert [(average.source, len(average.raters)) for average in averages] == [
        (source, 2) for source in ("machine", "people", "released") for _ in range(4)
    ]
    assert all(1 <= average.mean.value <= 5 for average in averages if average.mean.value is not None)
    assert parscn.grid("rate").agreement().on_bins
    proposed, mended = parscn.grid("translated").answers("translate"), answered(parscn.grid("translated"))
    assert set(proposed["by"]) == {"machine"}
    assert list(mended["original"]) == list(proposed["translate"])
    assert set(mended["by"]) <= {"w1", "w2", "w3"}
    assert (mended["types"] != "").all()
