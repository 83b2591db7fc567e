"""FC-CONAN's released files: what they hold, what is refused, and that a partition goes back into their columns."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.files.corpus.fc_conan import ANNOTATORS, ANONYMOUS, ANSWERS, COLUMNS, published_columns, read_published
from fcpair.files.tables.tabular import write_table
from fcpair.records import Verdict

FILES = {"diamond": 551, "gold": 663, "silver": 3580, "bronze": 3997}


def row(index: object = 1, hs: str = "h", cn: str = "c", final: object = 1, valid: object = 1, *given: object) -> str:
    answers = [str(answer) for answer in given] + [""] * (3 - len(given))
    return ",".join([str(index), hs, cn, str(final), str(valid), *["m"] * 7, *answers])


def written(folder: Path, *rows: str) -> Path:
    path = folder / "p.csv"
    header = ",".join(f'"{name}"' for name in COLUMNS)
    path.write_text("\n".join([header, *rows]), "utf-8")
    return path


def refused(folder: Path, *rows: str) -> list[tuple[int | None, str]]:
    with pytest.raises(InputError) as caught:
        read_published(written(folder, *rows))
    return [(finding.line, finding.message) for finding in caught.value.findings]


# -- the released files


@pytest.mark.parametrize(("name", "rows"), FILES.items())
def test_a_released_file_goes_back_into_the_same_rows(data: Path, tmp_path: Path, name: str, rows: int) -> None:
    path = data / "fc-conan" / f"{name}_partition_df.csv"
    read = read_published(path)
    assert len(read.pairs) == rows
    sizes = read.labels.groupby("pair").size()
    partition = read.pairs[["hs", "cn", "verdict"]].assign(
        cell_id=read.pairs["pair"], positive=read.pairs["final"] == 2, n_labels=read.pairs["pair"].map(sizes)
    )
    labels = read.labels.rename(columns={"pair": "cell_id"})[["cell_id", "code"]]
    write_table(published_columns(partition, read.pairs, labels), tmp_path / "p.csv")
    with path.open(encoding="utf-8-sig", newline="") as original, (tmp_path / "p.csv").open(newline="") as again:
        assert list(csv.reader(again)) == list(csv.reader(original))


def test_bronze_has_4897_labels(data: Path) -> None:
    """DESIGN, section 6: 199 pairs with three labels, 502 with two and 3,296 whose one label has no name."""
    bronze = read_published(data / "fc-conan" / "bronze_partition_df.csv")
    assert bronze.labels.groupby("pair").size().value_counts().to_dict() == {1: 3296, 2: 502, 3: 199}
    assert len(bronze.labels) == 4897
    assert (bronze.labels["person"] == ANONYMOUS).sum() == 3296
    assert set(bronze.labels["person"]) == {*ANNOTATORS, ANONYMOUS}
    alone = bronze.labels[bronze.labels["person"] == ANONYMOUS].merge(bronze.pairs, on="pair")
    assert (alone["code"] == alone["final"]).all()


# -- reading


def test_rows_by_hand(tmp_path: Path) -> None:
    content = (row(7, "h", "c", 1, 0, 2, 1, 2), row(1, "h", "d", 0, 1, 0, "", 2), row(2, "h", "e", 0, 1))
    read = read_published(written(tmp_path, *content))
    pair = read.pairs.to_dict("records")[0]
    assert {key: pair[key] for key in ("line", "pair", "hs", "cn", "final", "verdict", "hsType", "cn_id")} == {
        **{"line": 2, "pair": 7, "hs": "h", "cn": "c"},
        **{"final": 2, "verdict": Verdict.DISAGREE, "hsType": "m", "cn_id": "m"},
    }
    assert sorted(read.labels[["pair", "person", "code"]].to_numpy().tolist()) == [
        *([1, "annotator-1", 0], [1, "annotator-3", 2], [2, ANONYMOUS, 0]),
        *([7, "annotator-1", 2], [7, "annotator-2", 1], [7, "annotator-3", 2]),
    ]
    assert read.labels.set_index("pair")["line"].to_dict() == {7: 2, 1: 3, 2: 4}


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (row(2, final=2), "`2` in column `Appropriate counternarrative (1) or non appropriate (0)`; expected"),
        (row(2, final=""), "`` in column `Appropriate"),
        (row(2, valid="yes"), "`yes` in column `Valid (1) / Non Valid (0) annotation`; expected one of 0, 1"),
        (row(2, "h", "d", 1, 1, 2, 3), f"`3` in column `{ANSWERS[1]}`; expected one of , 0, 1, 2"),
        (row(2, "h", "d", 1, 1, "", "", "1.0"), f"`1.0` in column `{ANSWERS[2]}`"),
        (row("two"), "`two` is not an index"),
        (row(""), "`` is not an index"),
        (row("9" * 19), f"`{'9' * 19}` is not an index"),
        (row(2, hs=" "), "the text in `hate speech` is empty"),
        (row(2, cn=""), "the text in `counternarrative` is empty"),
        (row(1, cn="d"), "this original_index is already in the file"),
        (row(2), "this pair is already in the file"),
        (row(2, hs=" h "), "this pair is already in the file"),
    ],
)
def test_a_row_that_cannot_be_used(tmp_path: Path, broken: str, message: str) -> None:
    found = refused(tmp_path, row(1), broken)
    assert [line for line, _ in found] == [3] * len(found)
    assert any(text.startswith(message) for _, text in found)


def test_all_that_is_wrong_is_said_at_once_and_a_missing_column_is_named(tmp_path: Path) -> None:
    found = refused(tmp_path, row("x", final=7), row(2, cn="d"), row(2, cn="e", valid=2))
    assert [line for line, _ in found] == [2, 2, 4, 4]
    path = tmp_path / "p.csv"
    path.write_text("original_index,hate speech\n1,h\n")
    with pytest.raises(InputError, match="missing columns `counternarrative`"):
        read_published(path)


# -- writing


def partition(**columns: object) -> pd.DataFrame:
    row = {"cell_id": 5, "hs": "h", "cn": "c", "positive": True, "verdict": 1, "n_labels": 1}
    return pd.DataFrame([row | columns])


def published(pairs: pd.DataFrame, *codes: int, **metadata: str) -> pd.DataFrame:
    """The table of a pair with these labels, and with what the corpus says of it."""
    labels = pd.DataFrame({"cell_id": [5] * len(codes), "code": list(codes)})
    return published_columns(pairs, pd.DataFrame(metadata, index=range(9, 9 + len(pairs))), labels)


def test_labels_stand_in_the_order_of_annotators_and_a_single_one_nowhere() -> None:
    table = published(partition(), 2, 0, 1)
    assert table[list(ANSWERS)].to_numpy().tolist() == [[2, 0, 1]]
    assert table.columns.tolist() == list(COLUMNS)
    assert published(partition(), 2)[list(ANSWERS)].isna().to_numpy().all()


@pytest.mark.parametrize(("verdict", "valid"), [(1, 1), (0, 0)])
@pytest.mark.parametrize(("positive", "final"), [(True, 1), (False, 0)])
def test_final_and_valid_are_one_or_nought(verdict: int, valid: int, positive: bool, final: int) -> None:
    table = published(partition(verdict=verdict, positive=positive), 2)
    assert table.iloc[0, :5].tolist() == [5, "h", "c", final, valid]


def test_a_pair_without_a_verdict_is_refused_and_not_called_invalid() -> None:
    unvalidated = pd.concat([partition(), partition(verdict=-1)], ignore_index=True)
    with pytest.raises(InputError, match=r"1 pair has no verdict, and FC-CONAN's column `Valid .* has no value for"):
        published(unvalidated, 2)


def test_metadata_is_taken_where_the_corpus_has_it() -> None:
    table = published(partition(), 2, age="33", mood="x")
    assert (table["age"][0], table["gender"][0]) == ("33", "")
    assert "mood" not in table.columns


def test_a_text_that_a_spreadsheet_would_run_comes_back_as_it_was(tmp_path: Path) -> None:
    write_table(published(partition(cn="=1+1", hs="'@you"), 2, 2), tmp_path / "p.csv")
    assert ",=1+1," not in (tmp_path / "p.csv").read_text()
    pairs = read_published(tmp_path / "p.csv").pairs
    assert (pairs["hs"][0], pairs["cn"][0]) == ("'@you", "=1+1")
