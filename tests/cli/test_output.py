"""What is printed where and in which form, exit codes, and how the study is named."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import rich.console
from click.testing import CliRunner
from steps.small import dump, labels_of, open_work, write_corpus, write_csv

from cli.conftest import Fcpair
from fcpair.cli import main
from fcpair.cli.output import Table, emit, progress, remaining_time_reporter
from fcpair.cli.terminal import Cell
from fcpair.report.formatting import bounds, decimal
from fcpair.study import Study

At = Callable[[str], Path]
REPORTING = [
    ("status",),
    ("people", "list"),
    ("agreement",),
    ("aggregate",),
    ("partition",),
    ("partition", "--tier", "bronze"),
    ("partition", "--tier", "bronze", "--layout", "fc-conan"),
    ("partition", "--tier", "diamond", "--diamond", "majority"),
    ("explain", "6"),
    ("log",),
]


def strict(text: str) -> Any:
    """JSON as the standard has it: no NaN, no Infinity."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


# -- forms


@pytest.mark.parametrize("command", REPORTING, ids=" ".join)
@pytest.mark.parametrize("stage", ["checked", "labelled"])
def test_json_is_valid(at: At, fcpair: Fcpair, command: tuple[str, ...], stage: str) -> None:
    at(stage)
    result = fcpair(*command, "--format", "json")
    assert strict(result.stdout) is not None
    assert result.stderr == ""


@pytest.mark.parametrize("command", REPORTING, ids=" ".join)
def test_csv_has_as_many_cells_in_each_row_as_names(at: At, fcpair: Fcpair, command: tuple[str, ...]) -> None:
    at("checked")
    table = list(csv.reader(io.StringIO(fcpair(*command, "--format", "csv").stdout)))
    assert len(table) > 1
    assert {len(row) for row in table} == {len(table[0])}
    assert {"<NA>", "nan", "None"}.isdisjoint(cell for row in table for cell in row)


@pytest.mark.parametrize("command", REPORTING, ids=" ".join)
def test_a_table_is_what_is_printed_if_nothing_else_is_asked(at: At, fcpair: Fcpair, command: tuple[str, ...]) -> None:
    at("checked")
    assert fcpair(*command).stdout == fcpair(*command, "--format", "table").stdout != ""


def test_the_forms_of_a_tier_hold_the_same_pairs(at: At, fcpair: Fcpair) -> None:
    at("checked")
    as_json = strict(fcpair("partition", "--tier", "silver", "--format", "json").stdout)
    as_csv = rows(fcpair("partition", "--tier", "silver", "--format", "csv").stdout)
    assert [str(row["pair"]) for row in as_json] == [row["pair"] for row in as_csv]
    assert len(as_csv) > 5


def test_a_printed_csv_does_not_run_in_a_spreadsheet(fcpair: Fcpair, tmp_path: Path) -> None:
    fcpair("init", "--title", "=1+1")
    fcpair("import", write_csv(tmp_path / "c.csv", [{"hs": "a", "cn": "b"}]))
    fcpair("people", "add", "=cmd")
    assert rows(fcpair("people", "list", "--format", "csv").stdout)[0]["name"] == "'=cmd"


def test_the_status_tells_the_stages_the_people_and_what_is_next(at: At, fcpair: Fcpair) -> None:
    at("dealt")
    state = strict(fcpair("status", "--format", "json").stdout)
    assert state["stages"] == {"import": 21, "select": 4, "retrieve": 6, "pair": 24, "assign": 42}
    assert state["overlap"] == {"1": 12, "2": 6, "3": 6}
    assert [row["open"] for row in state["people"]] == [14, 14, 14]
    assert "42" in state["next"]
    assert "`fcpair labels sheets DIR`" in state["next"]


@pytest.mark.parametrize("stage", ["dealt", "checking"])
def test_commands_that_the_status_names_can_be_pasted(at: At, fcpair: Fcpair, stage: str) -> None:
    at(stage)
    state = strict(fcpair("status", "--format", "json").stdout)
    named = [command for step in (state["next"], *state["also"]) for command in step.split("`")[1::2]]
    assert [command for command in named if not command.startswith("fcpair ")] == []
    assert {"labels import FILE", "validate import FILE"} & {command.removeprefix("fcpair ") for command in named}


@pytest.mark.parametrize(
    ("stage", "next_"),
    [
        ("empty", "run `fcpair import`"),
        ("imported", "run `fcpair select`"),
        ("selected", "run `fcpair retrieve`"),
        ("retrieved", "run `fcpair pair`"),
        ("paired", "run `fcpair assign`"),
        ("labelled", "run `fcpair adjudicate`"),
        ("decided", "run `fcpair adjudicate`"),
    ],
)
def test_the_status_names_the_next_command(at: At, fcpair: Fcpair, stage: str, next_: str) -> None:
    at(stage)
    told = fcpair("status").stdout.splitlines()
    assert next_ in next(line for line in told if line.startswith("Next: "))


def test_the_status_says_all_that_can_be_done(at: At, fcpair: Fcpair) -> None:
    at("checking")
    told = " ".join(fcpair("status").stdout.split())
    assert "Next: pairs that wait for a decision" in told
    assert "Also: open verdicts" in told
    state = strict(fcpair("status", "--format", "json").stdout)
    assert state["next"].startswith("pairs that wait for a decision")
    assert [step.partition(":")[0] for step in state["also"]] == ["open verdicts"]


def test_the_log_keeps_parameters_counts_and_version(at: At, fcpair: Fcpair) -> None:
    at("checked")
    runs = strict(fcpair("log", "--format", "json").stdout)
    assert [run["stage"] for run in runs][:3] == ["init", "import", "select"]
    assert all({"params", "counts", "version", "at"} <= set(run) for run in runs)


# -- where it is printed


def test_results_stand_on_stdout_and_progress_on_stderr_only(at: At, study: Path, tmp_path: Path) -> None:
    at("selected")
    environment = {**os.environ, "FCPAIR_STUDY": str(study)}
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
        env=environment,
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


@pytest.mark.parametrize(("at_once", "shown"), [(False, False), (True, True)])
def test_progress_at_once_is_shown_before_anything_is_reported(
    at_once: bool, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = io.StringIO()
    terminal = partial(rich.console.Console, file=printed, force_terminal=True, force_interactive=True)
    monkeypatch.setattr(rich.console, "Console", lambda **_: terminal())
    with progress("counting", at_once=at_once):
        pass
    assert ("counting" in printed.getvalue()) == shown


def test_that_people_are_simulated_is_said_beside_every_result(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("dealt")
    assert "SIMULATED" in fcpair("simulate", "--seed", "1", "--skips", "0").stderr
    for command in (("status",), ("agreement",)):
        assert "SIMULATED" in fcpair(*command).stdout
        csv_result = fcpair(*command, "--format", "csv")
        assert "SIMULATED" in csv_result.stderr
        assert "SIMULATED" not in csv_result.stdout
        assert "SIMULATED" in strict(fcpair(*command, "--format", "json").stdout)["simulated"]
    assert "SIMULATED" in fcpair("labels", "export", "--out", tmp_path / "l.csv").stderr
    assert "SIMULATED" in fcpair("report", "--out", tmp_path / "r.html").stderr


# -- exit codes and errors


def test_done_is_0(at: At, fcpair: Fcpair) -> None:
    at("checked")
    fcpair("status", code=0)


def test_a_dry_run_ends_with_0_when_everything_is_the_same(at: At, fcpair: Fcpair) -> None:
    at("decided")
    result = fcpair("adjudicate", "--policy", "majority", "--dry-run", code=0)
    assert "19 of 19 compared are the same" in result.stdout


def test_a_dry_run_ends_with_1_when_something_differs(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study = Study(at("decided"))
    fcpair("adjudicate", "--import", write_csv(tmp_path / "d.csv", [{"pair": 1, "label": "0"}]))
    before = dump(study)
    result = fcpair("adjudicate", "--policy", "majority", "--dry-run", code=1)
    assert "18 of 19 compared are the same" in result.stdout
    assert result.stderr == "different: pairs 1\n"
    assert dump(study) == before


def test_an_error_is_a_message_without_a_traceback(fcpair: Fcpair) -> None:
    result = fcpair("status", code=2)
    assert result.stderr.startswith("Error: there is no study at ")
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_debug_shows_where_it_happened(study: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "fcpair", "--debug", "status", "--study", str(study)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 0
    assert "Traceback (most recent call last)" in run.stderr
    assert "StudyError" in run.stderr


def test_a_process_ends_with_2_and_prints_only_the_message(study: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "fcpair", "status", "--study", str(study)], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.count("\n") == 1


def test_a_defect_is_told_from_an_error_of_the_user(at: At, fcpair: Fcpair, monkeypatch: pytest.MonkeyPatch) -> None:
    at("checked")

    def fail(_self: Study) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Study, "log", fail)
    result = fcpair("log", code=3)
    assert "fcpair itself failed (ZeroDivisionError: oh)" in result.stderr
    assert "fcpair --debug" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("partition", "--out", "x.csv"),
        ("adjudicate", "--policy", "majority", "--import", "x.csv"),
        ("assign", "--overlap", "2"),
        ("assign", "--overlap", "2:many"),
        ("select", "--hs", "2", "--seed", "-1"),
        ("people", "retire", "ana", "--seed", "-1"),
        ("explain", "99999999999999999999"),
        ("people", "add", "half \udcff"),
    ],
)
def test_values_that_cannot_be_used_end_with_2(at: At, fcpair: Fcpair, words: tuple[str, ...]) -> None:
    study = Study(at("imported"))
    before = dump(study)
    fcpair(*words, code=2)
    assert dump(study) == before


def test_a_title_that_is_no_text_leaves_no_study(fcpair: Fcpair, study: Path) -> None:
    assert "half a surrogate pair" in fcpair("init", "--title", "\udcff", code=2).stderr
    assert not study.exists()


# -- which study


def test_the_study_is_named_by_the_option_before_the_environment(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("checked")
    fcpair("init", "--study", tmp_path / "other.db")
    assert strict(fcpair("status", "--format", "json").stdout)["stages"]["pair"] == 24
    other = fcpair("status", "--format", "json", "--study", tmp_path / "other.db")
    assert strict(other.stdout)["stages"]["pair"] == 0


def test_the_study_is_study_db_here_if_nothing_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FCPAIR_STUDY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["init"]).exit_code == 0
    assert (tmp_path / "study.db").is_file()
    assert CliRunner().invoke(main, ["status"]).exit_code == 0


def test_init_never_writes_over_a_study(at: At, fcpair: Fcpair) -> None:
    study = Study(at("labelled"))
    before = dump(study)
    assert "exists already" in fcpair("init", code=2).stderr
    assert dump(study) == before


# -- commands that nothing else calls


def test_people_come_change_and_go_on_the_command_line(at: At, fcpair: Fcpair) -> None:
    study = Study(at("dealt"))
    added = fcpair("people", "add", "dora", "emil").stdout.splitlines()
    assert added[0] == "added as annotator: dora, emil"
    assert [line.partition("#")[0] for line in added[1:]] == [
        f"{name}: http://127.0.0.1:8000/join" for name in ("dora", "emil")
    ]
    assert "; 14 went to others" in fcpair("people", "handover", "ana", "--to", "dora").stdout
    assert fcpair("people", "role", "ana", "validator").stdout == "ana is validator now\n"
    assert "14 open assignments were taken back" in fcpair("people", "retire", "ben", "--seed", "3").stdout
    listed = rows(fcpair("people", "list", "--format", "csv").stdout)
    assert [(row["name"], row["role"], row["retired"]) for row in listed][:2] == [
        ("ana", "validator", "False"),
        ("ben", "annotator", "True"),
    ]
    assert {who for who, _ in open_work(study)} == {"cleo", "dora", "emil"}


def test_an_invite_link_holds_the_only_token_that_lets_its_owner_in(at: At, fcpair: Fcpair) -> None:
    study = Study(at("dealt"))
    links = [fcpair("people", "invite", "ana", "--url", "https://labels.example.org/").stdout for _ in range(2)]
    assert all(link.startswith("ana: https://labels.example.org/join#") for link in links)
    first, second = (study.access.by_token(link.strip().partition("#")[2]) for link in links)
    assert first is None
    assert second is not None
    assert second.name == "ana"
    assert "ana can no longer sign in" in fcpair("people", "revoke", "ana").stdout
    assert study.access.invited() == set()


def test_terms_are_printed_and_forgotten(at: At, fcpair: Fcpair) -> None:
    study = Study(at("dealt"))
    study.access.consent(study.people[0].id, {"Age": "30-49"})
    first, *_ = rows(fcpair("people", "terms", "--format", "csv").stdout)
    assert (first["name"], first["demographics"]) == ("ana", '{"Age": "30-49"}')
    assert "what ana said about themselves is deleted" in fcpair("people", "forget", "ana").stdout
    assert study.access.terms()[0]["demographics"] == {}


def test_labels_are_exported_as_they_are(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study = Study(at("labelled"))
    assert fcpair("labels", "export", "--out", tmp_path / "l.csv").stdout.endswith("l.csv: 42 answers\n")
    exported = rows((tmp_path / "l.csv").read_text("utf-8"))
    assert {(int(row["pair"]), row["annotator"]): row["label"] for row in exported} == labels_of(study)


def test_exported_labels_can_be_imported_into_a_copy_of_the_study(
    at: At, fcpair: Fcpair, tmp_path: Path, files: dict[str, Path]
) -> None:
    at("labelled")
    fcpair("labels", "export", "--out", tmp_path / "l.csv")
    copy = tmp_path / "copy.db"
    copy.write_bytes(files["dealt"].read_bytes())
    fcpair("labels", "import", tmp_path / "l.csv", "--study", copy)
    assert labels_of(Study(copy)) == labels_of(Study(files["labelled"]))


def test_a_report_is_one_file(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("checked")
    fcpair("report", "--out", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")


def test_a_report_in_a_folder_that_is_not_there_is_refused(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    at("checked")
    assert "there is no folder" in fcpair("report", "--out", tmp_path / "no" / "r.html", code=2).stderr


def test_overlap_and_groups_are_read_from_the_options(at: At, fcpair: Fcpair) -> None:
    study = Study(at("paired"))
    fcpair("people", "add", "ana", "ben", "cleo")
    fcpair("assign", "--overlap", "2:0.25", "--annotator-group", "ana, cleo", "--order", "hs", "--seed", "2")
    params = study.log()[-1].params
    assert params["overlap"] == {"2": 0.25}
    assert params["annotator_groups"] == [["ana", "cleo"]]
    assert study.status()["overlap"] == {"1": 18, "2": 6}


def test_redo_is_asked_for_by_name(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    study = Study(at("dealt"))
    corpus = write_corpus(tmp_path / "c.csv")
    said = "`--redo` would discard 21 corpus rows, 4 selected HS, 6 candidates, 24 pairs, 42 assignments"
    assert said in fcpair("import", corpus, code=2).stderr
    fcpair("import", corpus, "--redo")
    assert study.status()["stages"] == {"import": 21, "select": 0, "retrieve": 0, "pair": 0, "assign": 0}


@pytest.mark.parametrize("form", ["table", "csv"])
def test_what_is_rounded_to_nothing_has_no_sign(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[dict[str, Cell]] = [{"what": "a", "value": -0.00001 if form == "table" else -0.0}]
    emit(form, data=rows, tables=[Table("t", ("what", "value"), [list(row.values()) for row in rows])], rows=rows)
    assert "-0" not in capsys.readouterr().out


def test_a_difference_that_is_rounded_to_nothing_has_no_minus() -> None:
    assert (decimal(-0.00001, 4), bounds(-0.0001, 0.2)) == ("0.0000", "0.000 to 0.200")


def told(calls: list[tuple[float, int, int]], capsys: pytest.CaptureFixture[str]) -> str:
    """What is told of calls at these times."""
    clock = iter([at for at, _, _ in calls])
    advance = remaining_time_reporter("encoding", lambda: next(clock))
    for _, so_far, total in calls:
        advance(so_far, total)
    return capsys.readouterr().err


def test_what_takes_long_says_once_about_how_long(capsys: pytest.CaptureFixture[str]) -> None:
    calls = [(0.0, 10, 1010), (1.0, 20, 1010), (4.0, 60, 1010), (9.0, 110, 1010)]
    assert told(calls, capsys) == "encoding: 60 of 1,010 are done; at this pace the others take 76 seconds.\n"
    slower = [(0.0, 1, 1000), (10.0, 11, 1000)]
    assert told(slower, capsys) == "encoding: 11 of 1,000 are done; at this pace the others take 16 minutes.\n"


def test_what_is_done_soon_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert told([(0.0, 10, 100), (4.0, 60, 100), (7.0, 100, 100)], capsys) == ""


def test_what_begins_anew_is_looked_at_anew(capsys: pytest.CaptureFixture[str]) -> None:
    first, then = [(0.0, 1, 1000), (10.0, 11, 1000)], [(20.0, 1, 1000), (30.0, 11, 1000)]
    assert told([*first, *then], capsys).count("16 minutes") == 2
