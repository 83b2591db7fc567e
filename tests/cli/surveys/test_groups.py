"""fcpair groups: of a file, and of those who answered a round."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from steps.asked import surveyed
from steps.small import dump, write_csv

from cli.conftest import Fcpair

WORDS = ("--item", "pair", "--annotator", "who", "--labels", "label", "--by", "gender")


def labels(folder: Path, n_first: int = 6, n_other: int = 6, **changed: str) -> Path:
    rng = np.random.default_rng(1)
    rows = [
        {"pair": f"i{item}", "who": f"a{at}", "label": str(rng.choice(["yes", "no"])), "gender": "fm"[at >= n_first]}
        for at in range(n_first + n_other)
        for item in range(12)
    ]
    rows[1] |= changed
    return write_csv(folder / "labels.csv", rows)


@pytest.mark.slow
def test_groups_of_a_file(fcpair: Fcpair, tmp_path: Path) -> None:
    told = fcpair("groups", labels(tmp_path), *WORDS).output
    assert "never a cause" in told
    rows = list(csv.DictReader(io.StringIO(fcpair("groups", labels(tmp_path), *WORDS, "--format", "csv").output)))
    data = json.loads(fcpair("groups", labels(tmp_path), *WORDS, "--format", "json").output)
    assert [row["label"] for row in rows] == ["no"]
    (found,) = data["groups"]
    assert float(rows[0]["difference"]) == found["differences"][0]["value"]
    assert found["people"] == {"f": 6, "m": 6}


def test_differences_are_drawn(fcpair: Fcpair, tmp_path: Path) -> None:
    told = fcpair("groups", labels(tmp_path), *WORDS, "--figures", tmp_path / "figures").output
    assert "3 files in" in told
    svg = (tmp_path / "figures" / "gender.svg").read_text("utf-8")
    assert "never a cause" in svg
    assert (tmp_path / "figures" / "gender.png").read_bytes().startswith(b"\x89PNG")


def test_figures_where_nothing_can_be_written_are_refused(fcpair: Fcpair, tmp_path: Path) -> None:
    (tmp_path / "figures").write_text("a file")
    fcpair("groups", labels(tmp_path), *WORDS, "--figures", tmp_path / "figures" / "here", code=2)


def test_nine_annotators_are_told_that_they_support_nothing(fcpair: Fcpair, tmp_path: Path) -> None:
    told = " ".join(fcpair("groups", labels(tmp_path, 2, 7), *WORDS).output.split())
    assert "f: undefined, because there are 2 people; expected 5 or more" in told
    assert "the smallest p that 2 : 7 people can give is 0.056: exact, from all 36 ways" in told


@pytest.mark.slow
@pytest.mark.parametrize(("n", "exact", "least"), [(6, True, 2 / 924), (9, False, 2 / 10_001)])
def test_every_format_says_whether_p_is_exact_and_the_least_that_it_can_be(
    fcpair: Fcpair, tmp_path: Path, n: int, exact: bool, least: float
) -> None:
    file = labels(tmp_path, n, n)
    told = " ".join(fcpair("groups", file, *WORDS).output.split())
    (row,) = csv.DictReader(io.StringIO(fcpair("groups", file, *WORDS, "--format", "csv").output))
    (one,) = json.loads(fcpair("groups", file, *WORDS, "--format", "json").output)["groups"][0]["differences"]
    assert (one["exact"], one["least_p"]) == (exact, least)
    assert (row["exact"], float(row["least_p"])) == (str(exact), least)
    ways = "exact, from all 924 ways" if exact else "from 10,000 random ways"
    assert f"the smallest p that {n} : {n} people can give is {least:.2g}: {ways} to assign the groups, doubled" in told
    assert "two-sided, that is twice the smaller one-sided p" in told


@pytest.mark.slow
def test_every_format_has_the_mixed_model(fcpair: Fcpair, tmp_path: Path) -> None:
    file = labels(tmp_path)
    assert "Odds by one mixed model of all groups" in fcpair("groups", file, *WORDS, "--mixed").output
    (row,) = csv.DictReader(io.StringIO(fcpair("groups", file, *WORDS, "--mixed", "--format", "csv").output))
    data = json.loads(fcpair("groups", file, *WORDS, "--mixed", "--format", "json").output)
    odds = [float(row[f"mixed_odds_{name}"]) for name in ("ratio", "low", "high")]
    assert odds == data["groups"][0]["differences"][0]["mixed"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"gender": "m"}, "labels.csv:3: annotator a0: gender is `m`, before `f`"),
        ({"pair": "i0"}, "labels.csv:3: annotator a0 labels item i0 more than once"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(
    fcpair: Fcpair, tmp_path: Path, changed: dict[str, str], said: str
) -> None:
    assert said in fcpair("groups", labels(tmp_path, 6, 6, **changed), *WORDS, code=2).output


def test_a_group_without_a_common_item_is_said_with_its_line(fcpair: Fcpair, tmp_path: Path) -> None:
    file = labels(tmp_path)
    rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8"))))
    write_csv(file, [{**row, "pair": row["pair"] + row["gender"]} for row in rows])
    assert "labels.csv:2: gender: group `f` shares no item" in fcpair("groups", file, *WORDS, code=2).output


@pytest.mark.parametrize("left_out", range(0, 8, 2))
def test_the_columns_of_a_file_are_named(fcpair: Fcpair, tmp_path: Path, left_out: int) -> None:
    words = WORDS[:left_out] + WORDS[left_out + 2 :]
    assert "name the columns of the file" in fcpair("groups", labels(tmp_path), *words, code=2).output


def test_groups_of_a_study_leave_it_as_it_is(fcpair: Fcpair, tmp_path: Path) -> None:
    study = Path(surveyed(tmp_path).place)
    before = dump(study)
    data = json.loads(fcpair("groups", "--study", study, "--format", "json").output)
    assert (data["label"], data["exploratory"], bool(data["simulated"])) == ("answer", {}, True)
    assert (
        "--item has no effect without FILE; add that, or omit it"
        in fcpair("groups", "--study", study, "--item", "x", code=2).output
    )
    assert dump(study) == before
