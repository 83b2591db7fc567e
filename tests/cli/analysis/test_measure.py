"""`fcpair measure`, on a file and on a round."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Fcpair

ROOT = Path(__file__).parents[3]
ROWS = [
    {"hs": "x", "cn": "We drink tea", "gold": "We drink tea", "kind": "facts"},
    {"hs": "x", "cn": "We bake bread", "gold": "Cats", "kind": "humor"},
    {"hs": "y", "cn": "", "gold": "Tea", "kind": "facts"},
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "texts.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(ROWS[0]))
        writer.writeheader()
        writer.writerows(ROWS)
    return path


def test_a_file_is_measured_without_a_study(fcpair: Fcpair, table: Path) -> None:
    printed = fcpair("measure", table, "--text", "cn", "--measure", "dist-2", "--measure", "ent-2", "--format", "json")
    data = json.loads(printed.stdout)
    assert (data["place"], data["text"], data["n_texts"]) == (str(table), "cn", 3)
    assert [(one["name"], one["value"], one["n"]) for one in data["figures"]] == [("dist-2", 1, 2), ("ent-2", 2, 2)]
    assert data["figures"][0]["left_out"] == {"it has fewer than 2 tokens": 1}


def test_groups_and_references_are_columns(fcpair: Fcpair, table: Path) -> None:
    words = ("--text", "cn", "--reference", "gold", "--measure", "gleu", "--by", "kind", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(fcpair("measure", table, *words).stdout)))
    assert [(row["group"], row["n"]) for row in rows] == [("", "2"), ("facts", "1"), ("humor", "1")]
    assert float(rows[1]["value"]) == 1
    assert rows[1]["note"] == "1 text is left out, because it has no token"


def test_texts_of_the_same_row_share_their_references(fcpair: Fcpair, table: Path) -> None:
    words = ("--text", "cn", "--reference", "gold", "--row", "hs", "--measure", "gleu", "--format", "json")
    alone, shared = (json.loads(fcpair("measure", table, *some).stdout) for some in (words[:4] + words[6:], words))
    assert shared["figures"][0]["value"] > alone["figures"][0]["value"]


def test_a_table_says_what_a_figure_rests_on(fcpair: Fcpair, table: Path) -> None:
    printed = " ".join(fcpair("measure", table, "--text", "cn", "--measure", "dist-4", "--by", "hs").stdout.split())
    assert "column `cn`: 3 texts, language not given" in printed
    assert "dist-4: pooled" in printed
    assert "dist-4: undefined, because no text has 4 tokens; 3 texts are left out" in printed


def test_table_and_csv_name_the_tokens(fcpair: Fcpair, table: Path) -> None:
    words = ("measure", table, "--text", "cn", "--measure", "dist-1", "--measure", "dist-1(tokens=char)")
    printed = " ".join(fcpair(*words).stdout.split())
    assert "dist-1: tokens=space dist-1(tokens=char): tokens=char" in printed
    rows = list(csv.DictReader(io.StringIO(fcpair(*words, "--format", "csv").stdout)))
    assert [row["tokens"] for row in rows] == ["space", "char"]


def test_the_figures_of_each_text_are_written_beside_the_columns(fcpair: Fcpair, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "each.csv"
    fcpair("measure", table, "--text", "cn", "--measure", "dist-1(per_text=true)", "--measure", "dist-2", "--each", out)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [*ROWS[0], "dist-1(per_text=true)"]
    assert [row["dist-1(per_text=true)"] for row in rows] == ["1.0", "1.0", ""]
    assert [{name: row[name] for name in ROWS[0]} for row in rows] == ROWS


def test_the_first_output_of_the_page_is_real(fcpair: Fcpair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "howto" / "measuring.md").read_text("utf-8")
    console = page.split("```console\n$ fcpair ")[1].split("```")[0]
    command, _, printed = console.partition("\n")
    assert fcpair(*command.split()).stdout == printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--text", "cnn", "--measure", "dist-1"), "there is no column `cnn`; did you mean `cn`?"),
        (("--text", "cn", "--by", "kin", "--measure", "dist-1"), "did you mean `kind`?"),
        (("--text", "cn", "--measure", "dits-1"), "did you mean `dist`?"),
        (("--text", "cn", "--measure", "gleu"), "name the columns that hold them"),
        (("--text", "cn", "--reference", "cn", "--measure", "gleu"), "its own reference"),
        (("--text", "cn", "--measure", "fk"), "no language was given"),
        (("--text", "cn", "--measure", "dist-1", "--each", "x.txt"), "expected a name that ends in .csv"),
        (("--text", "cn", "--measure", "dist-1", "--each", "x.csv"), "no measure here gives a figure for each text"),
    ],
)
def test_what_cannot_be_measured_ends_with_2(
    fcpair: Fcpair, table: Path, words: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    printed = fcpair("measure", table, *words, code=2)
    assert (printed.stdout, message in printed.stderr) == ("", True)
    assert [path.name for path in table.parent.iterdir() if path.name.startswith("x")] == []


def test_the_texts_of_a_round_are_measured(fcpair: Fcpair, study: Path, walked: Callable[[str], Path]) -> None:
    shutil.copy(walked("write"), study)
    printed = fcpair("measure", "--grid", "write", "--text", "text", "--measure", "dist-1", "--format", "json")
    data = json.loads(printed.stdout)
    assert data["figures"][0]["n"] == data["n_texts"] > 0
    assert "SIMULATED" in data["simulated"]
