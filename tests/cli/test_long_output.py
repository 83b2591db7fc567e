"""Long results: a table for people is cut with a word on how to get all, what programs read is streamed and whole."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.conftest import Fcpair
from fcpair.cli import main, output
from fcpair.cli.output import print_csv, print_json
from fcpair.cli.oversight import status
from fcpair.cli.release import partition
from fcpair.cli.terminal import Cell
from fcpair.study import Study

At = Callable[[str], Path]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five rows are long, and are printed two at a time."""
    for module, name, n in (
        (output, "LONGEST_TABLE", 5),
        (partition, "LONGEST_TABLE", 5),
        (status, "LONGEST_TABLE", 5),
    ):
        monkeypatch.setattr(module, name, n)
    for module in (partition, output):
        monkeypatch.setattr(module, "ROWS_AT_ONCE", 2)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("columns", ["fcpair", "fc-conan"])
def test_a_long_tier_is_cut_and_says_how_to_get_it_all(at: At, fcpair: Fcpair, columns: str) -> None:
    at("checked")
    n = len(json.loads(fcpair("partition", "--tier", "bronze", "--format", "json").stdout))
    printed = fcpair("partition", "--tier", "bronze", "--layout", columns).stdout
    assert printed.startswith(f"bronze: {n} pairs")
    said = f"the first 5 of {n} rows; `--format csv` prints all, `--out FILE` writes them"
    assert said in " ".join(printed.split())


@pytest.mark.usefixtures("short")
def test_a_long_log_is_cut_too(at: At, fcpair: Fcpair) -> None:
    at("checked")
    printed = " ".join(fcpair("log").stdout.split())
    n = len(json.loads(fcpair("log", "--format", "json").stdout))
    assert f"the first 5 of {n} rows; `--format csv` prints all" in printed


@pytest.mark.usefixtures("short")
def test_what_programs_read_is_whole(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("checked")
    as_json = json.loads(fcpair("partition", "--tier", "bronze", "--format", "json").stdout)
    as_csv = list(csv.DictReader(io.StringIO(fcpair("partition", "--tier", "bronze", "--format", "csv").stdout)))
    fcpair("partition", "--tier", "bronze", "--out", tmp_path / "b.jsonl")
    written = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text("utf-8").splitlines()]
    assert as_json == written
    assert [row["pair"] for row in as_csv] == [str(row["pair"]) for row in written]


ROWS: list[dict[str, Cell]] = [{"a": at, 'b"': "é\n", "c": None} for at in range(5)]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], []], ids=len)
def test_streamed_json_is_what_a_list_would_be(rows: list[dict[str, Cell]], capsys: pytest.CaptureFixture[str]) -> None:
    print_json(iter(rows))
    streamed = capsys.readouterr().out
    print_json(rows)
    assert streamed == capsys.readouterr().out


@pytest.mark.usefixtures("short")
def test_a_stream_is_printed_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    seen: list[int] = []

    def rows() -> Iterator[dict[str, Cell]]:
        for at in range(6):
            taken.append(at)
            yield {"a": at}

    monkeypatch.setattr("click.echo", lambda text, nl: seen.append(len(taken)))
    print_csv(rows())
    assert seen == [2, 4, 6]


def test_the_first_pairs_of_a_tier_are_those_of_the_whole(at: At) -> None:
    grid = Study(at("checked")).grid()
    whole = grid.tier("bronze")
    first, n = grid.tiers().head("bronze", 3)
    assert n == len(whole)
    assert first["pair"].tolist() == whole["pair"].tolist()[:3]
    assert first["label.ana"].tolist() == whole["label.ana"].tolist()[:3]


def test_escaped_json_reads_as_the_same(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCPAIR_STUDY", str(at("checked")))
    words = ["partition", "--tier", "bronze", "--format", "json"]
    plain = CliRunner(charset="ascii").invoke(main, words).stdout
    assert plain.isascii()
    assert json.loads(plain) == json.loads(CliRunner().invoke(main, words).stdout)
