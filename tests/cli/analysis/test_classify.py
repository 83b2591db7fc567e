"""fcpair classify: of a file, of a round, by a model; as a table, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from models.test_multilabel import NAMES, named

from cli.conftest import Fcpair

ROWS = """hs,reply,type,more,guessed
h1,Tea is older than you think.,facts,,"facts; question"
h1,Have you tried it?,question,humour,question
h2,My cat agrees.,humour,,
h2,It says so in the almanac.,facts,humour,"[""facts"", ""humour""]"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "types.csv"
    path.write_text(ROWS, "utf-8")
    return path


def test_the_table_says_what_figures_rest_on(file: Path, fcpair: Fcpair) -> None:
    """Accuracy (1/2 + 1/2 + 0 + 1) / 4, precision (1/2 + 1 + 0 + 1) / 4, recall (1 + 1/2 + 0 + 1) / 4."""
    words = ("--truth", "type", "--truth", "more", "--predicted", "guessed")
    printed = " ".join(fcpair("classify", file, *words).stdout.split())
    assert "Classified: 4 rows, 3 labels 1 row without a prediction, 0 without a true label" in printed
    assert "accuracy 4 0.5000" in printed
    assert "precision 4 0.6250" in printed
    assert "1 row without a prediction count 0" in printed
    assert "scikit-learn's averages, with zero_division=nan" in printed
    assert "humour 3 1 1.0000 0.3333 0.5000" in printed


def test_json_and_csv_have_the_same_figures(file: Path, fcpair: Fcpair) -> None:
    words = ("classify", file, "--truth", "type", "--predicted", "guessed", "--by", "hs", "--resamples", "200")
    found = json.loads(fcpair(*words, "--format", "json").stdout)
    assert [(one["of"], one["n"]) for one in found["classified"]] == [(None, 4), ("h1", 2), ("h2", 2)]
    rows = list(csv.DictReader(io.StringIO(fcpair(*words, "--format", "csv").stdout)))
    first = found["classified"][1]["figures"][0]
    mine = next(row for row in rows if (row["of"], row["figure"]) == ("h1", first["name"]))
    assert float(mine["value"]) == pytest.approx(first["value"])


def test_a_label_that_is_not_known_is_refused_unless_it_is_to_be_ignored(file: Path, fcpair: Fcpair) -> None:
    words = ("classify", file, "--truth", "type", "--predicted", "guessed", "--label", "facts", "--label", "humour")
    refused = fcpair(*words, code=2).stderr
    assert f"{file}:2: `guessed`: `question` is not a label" in refused
    assert f"{file}:3: `type`: `question` is not a label" in refused
    told = fcpair(
        "classify", file, "--truth", "more", "--predicted", "guessed", "--ignore", "facts", "--ignore", "question"
    ).stdout
    assert "4 rows, 1 label, 4 predicted labels ignored" in told


@pytest.mark.slow
@pytest.mark.torch
def test_a_model_on_this_machine_predicts(file: Path, tmp_path: Path, fcpair: Fcpair) -> None:
    named(tmp_path / "tiny")
    words = ("classify", file, "--truth", "type", "--classifier", str(tmp_path / "tiny"), "--text", "reply")
    found = json.loads(fcpair(*words, "--format", "json").stdout)["classified"][0]
    assert found["labels"] == sorted(NAMES)
    assert sum(one["n_predicted"] for one in found["per_label"]) > 0
    few = json.loads(fcpair(*words, "--threshold", "0.999", "--format", "json").stdout)["classified"][0]
    assert few["n_no_prediction"] == 4


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--predicted", "guessed", "--classifier", "x", "--text", "reply"),
        ("--classifier", "x"),
    ],
)
def test_predictions_are_those_of_a_column_or_of_a_model(file: Path, fcpair: Fcpair, words: tuple[str, ...]) -> None:
    refused = fcpair("classify", file, "--truth", "type", *words, code=2).stderr
    assert "give either --predicted COLUMN, or --classifier NAME and --text COLUMN" in refused


def test_a_column_that_is_not_there_is_refused(file: Path, fcpair: Fcpair) -> None:
    refused = fcpair("classify", file, "--truth", "type", "--predicted", "guess", code=2).stderr
    assert "missing column `guess`; found hs, reply, type, more, guessed" in refused
