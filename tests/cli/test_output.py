"""What is printed where and in which form, exit codes, and how the study is named."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest
import rich.console
from sqlalchemy import Connection, event
from sqlalchemy.engine import Engine
from steps.small import dump, write_corpus, write_csv

from cli.conftest import At, Fcpair
from fcpair.cli import output
from fcpair.cli.output import Table, emit, print_csv, print_json, progress, remaining_time_reporter
from fcpair.cli.terminal import Cell
from fcpair.report.formatting import bounds, decimal
from fcpair.stages.adjudication import partition as tiers
from fcpair.study import Study

REPORTING = [
    *(("status",), ("people", "list"), ("agreement",), ("aggregate",), ("partition",), ("explain", "6"), ("log",)),
    *(("partition", "--tier", "bronze"), ("partition", "--tier", "bronze", "--layout", "fc-conan")),
    ("partition", "--tier", "diamond", "--diamond", "majority"),
]
LOOKS = [
    *(("status",), ("grids",), ("log",), ("people", "list"), ("explain", "1"), ("partition",)),
    *(("partition", "--tier", "gold"), ("partition", "--diamond", "majority", "--format", "csv")),
]
BRONZE = ("partition", "--tier", "bronze")


def strict(text: str) -> Any:
    """JSON as the standard has it: no NaN, no Infinity."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


# -- forms


def test_every_report_is_valid_json_a_whole_csv_and_a_table_if_nothing_else_is_asked(at: At, fcpair: Fcpair) -> None:
    for stage in ("labelled", "checked"):
        at(stage)
        for command in REPORTING:
            result = fcpair(*command, "--format", "json")
            assert strict(result.stdout) is not None
            assert result.stderr == ""
    for command in REPORTING:
        table = list(csv.reader(io.StringIO(fcpair(*command, "--format", "csv").stdout)))
        assert len(table) > 1
        assert {len(row) for row in table} == {len(table[0])}
        assert {"<NA>", "nan", "None"}.isdisjoint(cell for row in table for cell in row)
        assert fcpair(*command).stdout == fcpair(*command, "--format", "table").stdout != ""
    as_json, as_csv = (form("partition", "--tier", "silver") for form in (fcpair.json, fcpair.csv))
    assert [str(row["pair"]) for row in as_json] == [row["pair"] for row in as_csv]
    assert len(as_csv) > 5
    assert [run["stage"] for run in fcpair.json("log")][:3] == ["init", "import", "select"]
    assert all({"params", "counts", "version", "at"} <= set(run) for run in fcpair.json("log"))


def test_a_printed_csv_holds_no_formula_and_always_its_columns(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    fcpair("init", "--title", "=1+1")
    fcpair("import", write_csv(tmp_path / "c.csv", [{"hs": "a", "cn": "b"}]))
    fcpair("people", "add", "=cmd")
    assert fcpair.csv("people", "list")[0]["name"] == "'=cmd"
    at("labelled")
    assert fcpair("people", "terms", "--format", "csv").stdout.splitlines()[0].startswith("name,role,consented_at")
    header = fcpair("answers", "refusals", "--format", "csv").stdout
    assert header.count("\n") == 1
    assert "rule" in header.split(",")


def test_the_status_tells_the_stages_the_people_what_is_next_and_what_else(at: At, fcpair: Fcpair) -> None:
    at("dealt")
    state = strict(fcpair("status", "--format", "json").stdout)
    assert state["stages"] == {"import": 21, "select": 4, "retrieve": 6, "pair": 24, "assign": 42}
    assert state["overlap"] == {"1": 12, "2": 6, "3": 6}
    assert [row["open"] for row in state["people"]] == [14, 14, 14]
    assert "42" in state["next"]
    assert "`fcpair labels sheets DIR`" in state["next"]
    assert "labels import FILE" in named_commands(state)
    at("checking")
    shown, state = fcpair.line("status"), fcpair.json("status")
    assert "Next: pairs that wait for a decision" in shown
    assert "Also: open verdicts" in shown
    assert state["next"].startswith("pairs that wait for a decision")
    assert [step.partition(":")[0] for step in state["also"]] == ["open verdicts"]
    assert "validate import FILE" in named_commands(state)


def named_commands(state: dict[str, Any]) -> list[str]:
    """The commands that a status names, each of which can be pasted."""
    named = [command for step in (state["next"], *state["also"]) for command in step.split("`")[1::2]]
    assert [command for command in named if not command.startswith("fcpair ")] == []
    return [command.removeprefix("fcpair ") for command in named]


def test_the_status_names_the_next_command(at: At, fcpair: Fcpair) -> None:
    following = {"empty": "import", "imported": "select", "selected": "retrieve", "retrieved": "pair"}
    for stage, command in {**following, "paired": "assign", "labelled": "adjudicate", "decided": "adjudicate"}.items():
        at(stage)
        (line,) = (line for line in fcpair("status").stdout.splitlines() if line.startswith("Next: "))
        assert f"run `fcpair {command}`" in line


@pytest.mark.parametrize("form", ["table", "csv"])
def test_what_is_rounded_to_nothing_has_no_sign(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[dict[str, Cell]] = [{"what": "a", "value": -0.00001 if form == "table" else -0.0}]
    emit(form, data=rows, tables=[Table("t", ("what", "value"), [list(row.values()) for row in rows])], rows=rows)
    assert "-0" not in capsys.readouterr().out
    assert (decimal(-0.00001, 4), bounds(-0.0001, 0.2)) == ("0.0000", "0.000 to 0.200")


# -- long results: a table for people is cut with a word on how to get all, what programs read is streamed and whole


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five rows are long, and are printed two at a time."""
    monkeypatch.setattr(output, "LONGEST_TABLE", 5)
    monkeypatch.setattr(output, "ROWS_AT_ONCE", 2)


@pytest.mark.usefixtures("short")
def test_a_long_table_is_cut_and_what_programs_read_is_whole(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    grid = Study(at("checked")).grid()
    as_json, as_csv = fcpair.json(*BRONZE), fcpair.csv(*BRONZE)
    fcpair(*BRONZE, "--out", tmp_path / "b.jsonl")
    written = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text("utf-8").splitlines()]
    assert as_json == written
    assert [row["pair"] for row in as_csv] == [str(row["pair"]) for row in written]
    for layout in ("fcpair", "fc-conan"):
        printed = fcpair.line(*BRONZE, "--layout", layout)
        assert printed.startswith(f"bronze: {len(written)} pairs")
        assert f"the first 5 of {len(written)} rows; `--format csv` prints all, `--out FILE` writes them" in printed
    n_runs = len(fcpair.json("log"))
    assert f"the first 5 of {n_runs} rows; `--format csv` prints all" in fcpair.line("log")
    whole, (first, n) = grid.tier("bronze"), grid.tiers().head("bronze", 3)
    assert n == len(whole)
    for column in ("pair", "label.ana"):
        assert first[column].tolist() == whole[column].tolist()[:3]


ROWS: list[dict[str, Cell]] = [{"a": at, 'b"': "é\n", "c": None} for at in range(5)]


@pytest.mark.usefixtures("short")
def test_streamed_json_is_what_a_list_would_be_and_is_printed_as_it_comes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for rows in (ROWS, ROWS[:1], []):
        print_json(iter(rows))
        streamed = capsys.readouterr().out
        print_json(rows)
        assert streamed == capsys.readouterr().out
    taken: list[int] = []
    seen: list[int] = []

    def stream() -> Iterator[dict[str, Cell]]:
        for at in range(6):
            taken.append(at)
            yield {"a": at}

    monkeypatch.setattr("click.echo", lambda text, nl: seen.append(len(taken)))
    print_csv(stream())
    assert seen == [2, 4, 6]


# -- what is printed is of one moment


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What was begun, and what was printed, which is not to be done while a transaction is open."""
    done: list[str] = []
    n_open = 0

    def begin(_conn: Connection) -> None:
        nonlocal n_open
        n_open += 1
        done.append("begun")

    def end(_conn: Connection) -> None:
        nonlocal n_open
        n_open = 0

    def echo(text: str, **named: Any) -> None:
        assert not n_open, "printed while others may have to wait"
        done.append("printed")
        usual(text, **named)

    usual = click.echo
    monkeypatch.setattr(click, "echo", echo)
    listeners = (("begin", begin), ("commit", end), ("rollback", end))
    for name, listener in listeners:
        event.listen(Engine, name, listener)
    yield done
    for name, listener in listeners:
        event.remove(Engine, name, listener)


def test_a_look_is_one_transaction_before_anything_is_printed(at: At, fcpair: Fcpair, events: list[str]) -> None:
    at("checked")
    for words in LOOKS:
        events.clear()
        fcpair(*words)
        assert events[0] == "begun", words
        assert {*events[1:]} == {"printed"}, words


def test_the_pairs_of_a_tier_are_printed_without_the_tables_of_all_and_its_name_has_any_capitals(
    at: At, fcpair: Fcpair, monkeypatch: pytest.MonkeyPatch
) -> None:
    at("checked")
    whole = fcpair(*BRONZE, "--format", "csv").stdout
    assert whole == fcpair("partition", "--tier", "Bronze", "--format", "csv").stdout != ""
    monkeypatch.setattr(tiers, "tier_table_rows", None)
    monkeypatch.setattr(tiers, "verdict_table_rows", None)
    assert fcpair(*BRONZE, "--format", "csv").stdout == whole


# -- where it is printed


def test_results_stand_on_stdout_and_progress_on_stderr_only(at: At, study: Path, tmp_path: Path) -> None:
    at("selected")
    script = (
        "import sys, numpy as np; from fcpair.models import encode, model_files; from fcpair.cli import main\n"
        "model_files.resolve = lambda name, **_: model_files.Model(name, '', 'test', 'ab', 'cd')\n"
        "def encoded(texts, model, progress):\n"
        "    progress(len(texts), len(texts)); n = len(texts)\n"
        "    return np.stack([np.cos(np.arange(n) / n), np.sin(np.arange(n) / n)], axis=1).astype('float32')\n"
        "encode.encode = encoded; main(sys.argv[1:])"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, "retrieve", "--k", "5"],
        env={**os.environ, "FCPAIR_STUDY": str(study)},
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert run.stdout.startswith("retrieve: ")
    assert len(run.stdout.splitlines()) == 1
    assert "retrieve" not in run.stderr


@pytest.mark.parametrize("at_once", [False, True])
def test_progress_is_for_terminals_only(at_once: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with progress("counting", at_once=at_once) as report:
        report(1, 2)
        report(2, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("at_once", [False, True])
def test_progress_at_once_is_shown_before_any_is_reported(at_once: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.StringIO()
    terminal = partial(rich.console.Console, file=printed, force_terminal=True, force_interactive=True)
    monkeypatch.setattr(rich.console, "Console", lambda **_: terminal())
    with progress("counting", at_once=at_once):
        pass
    assert ("counting" in printed.getvalue()) == at_once


def test_what_takes_long_says_once_about_how_long(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(*calls: tuple[float, int, int]) -> str:
        clock = iter([at for at, _, _ in calls])
        advance = remaining_time_reporter("encoding", lambda: next(clock))
        for _, so_far, total in calls:
            advance(so_far, total)
        return capsys.readouterr().err

    long = "encoding: 60 of 1,010 are done; at this pace the others take 76 seconds.\n"
    assert shown((0.0, 10, 1010), (1.0, 20, 1010), (4.0, 60, 1010), (9.0, 110, 1010)) == long
    slower = (0.0, 1, 1000), (10.0, 11, 1000)
    assert shown(*slower) == "encoding: 11 of 1,000 are done; at this pace the others take 16 minutes.\n"
    assert shown((0.0, 10, 100), (4.0, 60, 100), (7.0, 100, 100)) == ""
    assert shown(*slower, (20.0, 1, 1000), (30.0, 11, 1000)).count("16 minutes") == 2  # it begins anew


def test_that_people_are_simulated_is_said_beside_every_result(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    assert "SIMULATED" in fcpair("simulate", "--seed", "1", "--skips", "0").stderr
    for command in ("status", "agreement"):
        assert "SIMULATED" in fcpair(command).stdout
        as_csv = fcpair(command, "--format", "csv")
        assert "SIMULATED" in as_csv.stderr
        assert "SIMULATED" not in as_csv.stdout
        assert "SIMULATED" in strict(fcpair(command, "--format", "json").stdout)["simulated"]
    assert "SIMULATED" in fcpair("labels", "export", "--out", tmp_path / "l.csv").stderr
    assert "SIMULATED" in fcpair("report", "--out", tmp_path / "r.html").stderr


# -- exit codes and errors


def test_a_dry_run_ends_with_1_where_something_is_different(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study = at("decided")
    rehearsing = ("adjudicate", "--policy", "majority", "--dry-run")
    assert "19 of 19 compared are the same" in fcpair(*rehearsing).stdout
    fcpair("adjudicate", "--import", write_csv(tmp_path / "d.csv", [{"pair": 1, "label": "0"}]))
    before = dump(study)
    result = fcpair(*rehearsing, code=1)
    assert "18 of 19 compared are the same" in result.stdout
    assert result.stderr == "different: pairs 1\n"
    assert dump(study) == before


def test_an_error_is_one_line_and_ends_with_2_and_debug_shows_where_it_happened(study: Path) -> None:
    command = [sys.executable, "-m", "fcpair", "status", "--study", str(study)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("Error: there is no study at ")
    assert run.stderr.count("\n") == 1
    command.insert(3, "--debug")
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert "Traceback (most recent call last)" in run.stderr
    assert "StudyError" in run.stderr


def test_a_defect_is_told_from_an_error_of_the_user(at: At, fcpair: Fcpair, monkeypatch: pytest.MonkeyPatch) -> None:
    at("checked")

    def fail(_self: Study) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Study, "log", fail)
    message = fcpair("log", code=3).stderr
    assert "fcpair itself failed (ZeroDivisionError: oh)" in message
    assert "fcpair --debug" in message
    assert "`fcpair log` shows what was finished" in message
    assert "as it was" not in message


def test_values_that_cannot_be_used_end_with_2(at: At, fcpair: Fcpair) -> None:
    study = at("imported")
    before = dump(study)
    for words in (
        ("partition", "--out", "x.csv"),
        ("adjudicate", "--policy", "majority", "--import", "x.csv"),
        ("assign", "--overlap", "2"),
        ("assign", "--overlap", "2:many"),
        ("select", "--hs", "2", "--seed", "-1"),
        ("people", "retire", "ana", "--seed", "-1"),
        ("explain", "99999999999999999999"),
        ("people", "add", "half \udcff"),
    ):
        fcpair(*words, code=2)
        assert dump(study) == before, words


# -- options of all commands


def test_an_option_that_takes_one_value_is_refused_where_it_is_given_twice(at: At, fcpair: Fcpair) -> None:
    at("checked")
    for words in (
        ("partition", "--tier", "gold", "--tier", "silver"),
        ("describe", "t.csv", "--text", "text", "--by", "types", "--by=targets"),
        ("people", "add", "eva", "--role", "annotator", "--role", "validator"),
        ("select", "--hs", "2", "--seed", "1", "--seed", "1"),
        ("retrieve", "--redo", "--redo"),
    ):
        option = next(word.partition("=")[0] for word in reversed(words) if word.startswith("--"))
        assert f"{option} is given twice; it takes one value, so give it once" in fcpair(*words, code=2).stderr
    systems = [row["system"] for row in fcpair.csv("evaluate", "--system", "tfidf", "--system", "random")]
    assert {name.partition("(")[0] for name in systems} == {"tfidf", "random"}


def test_a_grid_is_named_by_an_option_and_one_that_is_not_there_is_refused(at: At, fcpair: Fcpair) -> None:
    at("checked")
    assert fcpair("partition", "--grid", "main").stdout == fcpair("partition").stdout
    for command in (("labels", "export", "--out", "l.csv"), ("explain", "1"), ("pair", "--redo")):
        message = fcpair(*command, "--grid", "other", code=2).stderr
        assert message == "Error: there is no grid `other`; the grids of this study: main\n"


def test_the_study_is_named_by_the_option_before_the_environment_and_is_else_here(
    at: At, fcpair: Fcpair, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at("checked")
    fcpair("init", "--study", here / "other.db")
    assert fcpair.json("status")["stages"]["pair"] == 24
    assert fcpair.json("status", "--study", here / "other.db")["stages"]["pair"] == 0
    monkeypatch.delenv("FCPAIR_STUDY")
    fcpair("init")
    assert (here / "study.db").is_file()
    fcpair("status")


def test_init_overwrites_no_study_and_makes_none_whose_title_is_no_text(at: At, fcpair: Fcpair, study: Path) -> None:
    assert "half a surrogate pair" in fcpair.refusal("init", "--title", "\udcff")
    assert not study.exists()
    before = dump(at("labelled"))
    assert "exists already" in fcpair.refusal("init")
    assert dump(study) == before


def test_options_of_a_stage_reach_it_and_redo_is_asked_for_by_name(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study = Study(at("paired"))
    fcpair("people", "add", "ana", "ben", "cleo")
    fcpair("assign", "--overlap", "2:0.25", "--annotator-group", "ana, cleo", "--order", "hs", "--seed", "2")
    params = study.log()[-1].params
    assert params["overlap"] == {"2": 0.25}
    assert params["annotator_groups"] == [["ana", "cleo"]]
    assert study.status()["overlap"] == {"1": 18, "2": 6}
    study = Study(at("dealt"))
    corpus = write_corpus(tmp_path / "c.csv")
    lost = "`--redo` would discard 21 corpus rows, 4 selected HS, 6 candidates, 24 pairs, 42 assignments"
    assert lost in fcpair.refusal("import", corpus)
    fcpair("import", corpus, "--redo")
    assert study.status()["stages"] == {"import": 21, "select": 0, "retrieve": 0, "pair": 0, "assign": 0}


# -- commands that are called a little wrong, and what follows from hints


def test_a_command_that_is_nearly_right_gets_a_hint_and_one_like_none_gets_none(fcpair: Fcpair) -> None:
    assert "Did you mean 'select'?" in fcpair("selct", code=2).output
    assert "Did you mean" not in fcpair("xyzzy", code=2).output


def test_who_follows_the_hint_that_there_are_no_validators_has_one(at: At, fcpair: Fcpair) -> None:
    at("decided")
    message = fcpair("validate", "assign", code=2).stderr
    hinted = message[message.index("`fcpair ") + len("`fcpair ") : message.rindex("`")]
    assert hinted == "people add NAME --role validator"
    fcpair(*hinted.replace("NAME", "vera").split())
    assert "19 pairs were assigned to 1 validator" in fcpair("validate", "assign").stdout
