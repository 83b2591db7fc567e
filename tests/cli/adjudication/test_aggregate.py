"""Label models on the command line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

from cli.conftest import Fcpair

At = Callable[[str], Path]


def test_the_table_has_checks_people_and_the_pairs_in_most_doubt(at: At, fcpair: Fcpair) -> None:
    at("checked")
    printed = fcpair("aggregate").stdout
    places = [printed.index(words) for words in ("Label models: ", "one-coin: share of each label", "in most doubt")]
    assert places == sorted(places)
    assert "too few labels: 20 are needed" in printed
    assert "dawid-skene: the pairs in most doubt" in printed
    assert "majority: the pairs in most doubt" in fcpair("aggregate", "--label-model", "majority").stdout


def test_json_has_every_pair_and_csv_every_figure(at: At, fcpair: Fcpair) -> None:
    at("checked")
    found = json.loads(fcpair("aggregate", "--label-model", "majority", "--format", "json").stdout)
    (model,) = found["models"]
    assert len(model["pairs"]) == found["n_pairs"]
    assert [check["against"] for check in model["checks"]] == ["decisions by people", "verdicts of validators"]
    rows = list(csv.DictReader(io.StringIO(fcpair("aggregate", "--format", "csv").stdout)))
    assert len(rows) == 3 * (2 + 3 * 2 * 2)  # two checks, and two by two shares of three people
    assert {row["note"] for row in rows if row["label"]} == {"too few labels: 20 are needed"}


def test_the_probabilities_of_all_pairs_are_written(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("checked")
    path = tmp_path / "p.csv"
    assert f"{path}: 21 pairs." in fcpair("aggregate", "--label-model", "one-coin", "--out", path).stderr
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
    assert list(rows[0]) == [
        "model",
        "pair",
        "n_labels",
        "label",
        "tied",
        "doubt",
        "p_not_appropriate",
        "p_appropriate",
    ]
    assert len(rows) == 21  # three of 24 have no definite label
    assert "expected" in fcpair("aggregate", "--out", tmp_path / "p.txt", code=2).output


def test_what_cannot_be_modelled_ends_with_2(at: At, fcpair: Fcpair) -> None:
    at("dealt")
    assert "`aggregate` needs labels first" in fcpair("aggregate", code=2).output
    assert "there is no label model `em`" in fcpair("aggregate", "--label-model", "em", code=2).output


def test_the_dialogue_begins_with_the_pair_in_most_doubt(at: At, fcpair: Fcpair) -> None:
    at("labelled")
    fcpair("adjudicate", "--policy", "manual")
    rows = json.loads(fcpair("aggregate", "--label-model", "dawid-skene", "--format", "json").stdout)["models"][0][
        "pairs"
    ]
    doubt = {row["pair"]: row["doubt"] for row in rows}
    by_row, by_doubt = (
        [int(line.split()[1]) for line in shown.stdout.splitlines() if line.startswith("pair ")]
        for shown in (
            fcpair("adjudicate", "--adjudicator", "eva", "--order", order, keys="l" * 20) for order in ("row", "doubt")
        )
    )
    assert sorted(by_doubt) == by_row != by_doubt
    assert by_doubt == sorted(by_row, key=lambda pair: (-doubt.get(pair, 1.0), pair))
