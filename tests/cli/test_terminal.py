"""Any terminal will do: every encoding, 40 places, Ctrl-C, and a reader that goes away."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import one_quick
from steps.small import dump

from cli.calls import CALLS, LEAVES, LEAVES_OR_SLOW
from cli.conftest import At, Prepare
from cli.test_dialogue import Terminal
from fcpair.cli import main
from fcpair.cli.terminal import width_of
from fcpair.study import Study

BARE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
LATIN_1 = {"PYTHONIOENCODING": "latin-1"}


def test_the_walk_leaves_no_command_out() -> None:
    assert set(LEAVES) == set(CALLS)


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
@pytest.mark.parametrize("path", LEAVES_OR_SLOW, ids=" ".join)
def test_every_command_prints_what_the_encoding_can(
    prepare: Prepare, path: tuple[str, ...], encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fcpair.cli.adjudicate.check_terminal", lambda: None)  # keys come from the test
    result = CliRunner(charset=encoding).invoke(main, prepare(path), input=b"nok\nq")
    assert result.exit_code == 0, result.output
    assert (result.stdout_bytes + result.stderr_bytes).decode(encoding)


# -- real processes


def start(*words: str | Path, study: Path, **env: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "fcpair", *map(str, words)],
        env={**os.environ, "FCPAIR_STUDY": str(study), **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def run(*words: str | Path, study: Path, **env: str) -> tuple[int, str, str]:
    """The exit code of a command, and what it printed, which must be in its encoding."""
    encoding = "latin-1" if "PYTHONIOENCODING" in env else "ascii" if env.get("LC_ALL") == "C" else "utf-8"
    process = start(*words, study=study, **env)
    out, err = process.communicate(timeout=120)
    return process.returncode, out.decode(encoding), err.decode(encoding)


def called(*words: str, study: Path, charset: str = "utf-8") -> Result:
    """What a command prints in an encoding, in this process."""
    result = CliRunner(charset=charset).invoke(main, [*words, "--study", str(study)])
    assert result.exit_code == 0, result.output
    return result


def test_results_are_whole_or_say_what_they_lack_on_an_old_terminal(at: At) -> None:
    study = at("checked")
    for charset in ("latin-1", "ascii"):
        table = called("evaluate", "--system", "tfidf", "--tier", "bronze", study=study, charset=charset).stdout
        assert re.search(r"NDCG@10 +[01]\.\d{4} ", table)
        assert "-" * 30 in table
    words = ("partition", "--tier", "bronze", "--format")
    assert (
        "lacks some characters, which are escaped here" in called(*words, "csv", study=study, charset="latin-1").stderr
    )
    assert "lacks" not in called(*words, "csv", study=study).stderr
    utf_8 = json.loads(called(*words, "json", study=study).stdout)
    assert "é" in utf_8[0]["cn"]
    for command in ((*words, "json"), ("explain", "6", "--format", "json")):
        whole = json.loads(called(*command, study=study).stdout)
        assert json.loads(called(*command, study=study, charset="ascii").stdout) == whole
    assert json.loads(run(*command, study=study, **BARE)[1]) == whole


@pytest.mark.slow
def test_a_process_says_what_its_encoding_lacks(at: At, tmp_path: Path) -> None:
    code, _, err = run("partition", "--tier", "bronze", "--format", "csv", study=at("checked"), **LATIN_1)
    assert (code, "lacks some characters, which are escaped here" in err) == (0, True)
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")  # which is no UTF-8
    code, _, err = run("labels", "import", path, study=at("dealt"), PYTHONUTF8="1")
    assert (code, "there is no such file" in err) == (2, True)


# -- a reader that goes away


READ_IN_PART = [
    *("partition --tier bronze", "partition --tier bronze --format csv", "log --format json", "status", "explain 6"),
    *("--help", "partition --help", "--version"),
]


def test_a_command_ends_quietly_where_nobody_reads_it(at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCPAIR_STUDY", str(at("checked")))
    for words in READ_IN_PART:
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "w", encoding="utf-8") as gone, (tmp_path / "err").open("w", encoding="utf-8") as err:
            monkeypatch.setattr(sys, "stdout", gone)
            monkeypatch.setattr(sys, "stderr", err)
            with pytest.raises(SystemExit) as ended:
                main(words.split())
        assert ended.value.code == 141, words
        assert (tmp_path / "err").read_text("utf-8") == ""


@pytest.mark.parametrize("words", one_quick("partition --tier bronze --format csv", "log --format json", "--help"))
def test_a_pipe_that_is_closed_is_no_finding(at: At, words: str) -> None:
    with start(*words.split(), study=at("checked")) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


@pytest.mark.slow
def test_both_pipes_may_be_closed_and_head_gets_its_lines(at: At) -> None:
    study = at("checked")
    with start("asign", study=study) as process:
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
        assert process.wait(60) == 141
    command = f"{sys.executable} -m fcpair partition --tier bronze --study {study}"
    script = f"{command} | head -n 3; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("bronze: ")
    assert ended.stdout.splitlines()[-1] in {"0", "141"}
    assert ended.stderr == ""


def close(streams: Iterable[str]) -> None:
    """Close what took the place of streams that were closed from the start."""
    for stream in streams:
        getattr(sys, stream).close()


CLOSED = ["status", "partition --tier bronze --format csv", "evaluate --system random", "--help"]


@pytest.mark.parametrize("streams", [("stdout",), ("stdout", "stderr")], ids=" ".join)
def test_a_command_with_no_output_open_does_all_the_same(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streams: tuple[str, ...]
) -> None:
    for words in CLOSED:
        monkeypatch.setenv("FCPAIR_STUDY", str(at("labelled" if words == "status" else "checked")))
        with (tmp_path / "err").open("w", encoding="utf-8") as err:
            monkeypatch.setattr(sys, "stderr", err)
            for stream in streams:
                monkeypatch.setattr(sys, stream, None)
            with pytest.raises(SystemExit) as ended:
                main(words.split())
            close(streams)
        assert ended.value.code == 0, words
        assert "itself failed" not in (tmp_path / "err").read_text("utf-8")


CLOSED_AT_START = one_quick(
    "status >&- 2>&-",
    "partition --tier bronze --format csv >&-",
    "evaluate --system random >&- 2>&-",
    "--help >&- 2>&-",
    "status >&- <&-",
)


@pytest.mark.parametrize("words", CLOSED_AT_START)
def test_an_output_that_is_closed_from_the_start_gets_nothing_and_is_no_defect(at: At, words: str) -> None:
    command = f"{sys.executable} -m fcpair {words}"
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "FCPAIR_STUDY": str(at("labelled" if words.startswith("status") else "checked"))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout == ""
    assert "itself failed" not in done.stderr
    assert "Traceback" not in done.stderr


def test_an_error_keeps_its_code_where_nobody_hears_it(at: At) -> None:
    study = at("checked")
    for streams in (("stderr",), ("stdout",), ("stdout", "stderr")):
        with pytest.MonkeyPatch.context() as patch:
            for stream in streams:
                patch.setattr(sys, stream, None)
            with pytest.raises(SystemExit) as ended:
                main(["explain", "99", "--study", str(study)])
            close(streams)
        assert ended.value.code == 2, streams


@pytest.mark.slow
def test_a_process_keeps_its_code_and_changes_what_it_changes_with_no_output_open(at: At) -> None:
    study = at("decided")
    for words, code in (("explain 99", 2), ("adjudicate --policy majority --ties discard", 0)):
        command = f"{sys.executable} -m fcpair {words} --study {study} >&- 2>&-"
        assert subprocess.run(["bash", "-c", command], check=False).returncode == code
    assert Study(study).grid().waiting_pairs() == []


# -- Ctrl-C


@pytest.fixture
def heeded() -> Iterator[None]:
    """A command heeds Ctrl-C; one that is started by what a shell keeps in the background would pass it over."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
def test_ctrl_c_ends_with_130_and_says_what_is_kept(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    before = dump(study)
    os.mkfifo(tmp_path / "recipe.toml")
    process = start("run", tmp_path / "recipe.toml", study=study)
    with (tmp_path / "recipe.toml").open("w"):  # it is read now, until somebody writes to it
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.decode() == "\nStopped. What was finished is in the study; `fcpair status` shows it.\n"
    assert dump(study) == before


@pytest.mark.slow
def test_ctrl_c_in_the_dialogue_keeps_what_was_decided(at: At) -> None:
    study = Study(at("decided"))
    command = (sys.executable, "-m", "fcpair", "adjudicate", "--adjudicator", "ada", "--study", study.place)
    with Terminal(*command) as terminal:
        terminal.read("[q] quit")
        terminal.press("3")
        terminal.read("[q] quit")
        terminal.press("\x03")
        printed = terminal.read("shows it.")
        assert terminal.process.wait(30) == 130
    assert "1 decided now, 4 wait" in printed
    assert "Traceback" not in printed
    assert len(study.grid().waiting_pairs()) == 4


# -- narrow terminals


NUMBER = re.compile(r"\d[\d,.]*\d")
AT_EVERY_WIDTH = [
    *(("status",), ("people", "list"), ("agreement",), ("partition",), ("explain", "6"), ("log",)),
    *(("partition", "--tier", "bronze"), ("partition", "--tier", "bronze", "--layout", "fc-conan")),
    ("evaluate", "--system", "tfidf", "--system", "random", "--tier", "bronze", "--tier", "silver", "--seed", "3"),
]


def printed_at(width: int, study: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    result = CliRunner().invoke(main, [*words, "--study", str(study)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_no_number_is_split_and_no_line_too_long(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    study = at("checked")
    for words in AT_EVERY_WIDTH:
        wide = printed_at(400, study, words, monkeypatch)
        numbers = set(NUMBER.findall(re.sub(r"\d\d:\d\d", "", wide)))
        for width in (40, 80):
            narrow = printed_at(width, study, words, monkeypatch)
            assert [line for line in narrow.splitlines() if width_of(line) > width] == []
            assert numbers - set(NUMBER.findall(narrow)) == set() or words == ("log",)


@pytest.mark.parametrize("width", [40, 80])
def test_the_dialogue_fits(at: At, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("fcpair.cli.adjudicate.check_terminal", lambda: None)  # keys come from the test
    study = Study(at("decided"))
    grid = study.grid()
    shown = grid.desk.conflict(grid.waiting_pairs()[0])
    texts = shown.hs.body, shown.cn.body
    printed = CliRunner().invoke(main, ["adjudicate", "--study", study.place, "--adjudicator", "ada"], input="q").stdout
    assert [line for line in printed.splitlines() if width_of(line) > width] == []
    flat = " ".join(printed.split())
    assert all(text in flat for text in (*texts, "[1] not_appropriate", "[x] irreconcilable", "[q] quit"))
