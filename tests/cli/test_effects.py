"""Every option of every command changes what comes of it, or is refused where it would have no effect."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner

from cli.built import BUILT
from cli.calls import CALLS, ENCODERS, files_for
from cli.conftest import Put
from cli.effects import EFFECTS, Rows, write_files
from cli.test_commands import ALL, found
from fcpair.cli import main
from fcpair.cli.given_options import rules_of

# Tested for all commands together, in test_output.py, test_json.py and test_answers.py.
GENERAL = {"--study", "--grid", "--format", "--sheet-name"}
FIGURES = {"--figures", "--figure-width", "--caption"}  # made once for all, and tested with `plan`
SLOW = {("plan",), ("groups",), ("simulate",), ("release",), ("evaluate",), ("report",)}
ROW = re.compile(r"(?:(?P<stage>\w+)/)? ?(?P<alone>=)?(?P<words>.*)")
DRAWN = re.compile(r"[\w-]{32,}|\d{4}-\d\d-\d\d[T ][\d:.+]+|\d+ ms")
KEPT_APART = ("run", "sqlite_sequence")  # the log, where an option without effect is noted, too
CALLED = CALLS | {("retrieve",): ("selected", "--every-cn"), ("serve",): ("empty", "")}
LEAVES = [path for path in ALL if not hasattr(found(path), "commands")]


class Call(NamedTuple):
    """A call of a command on the study at a stage: what is given, and the option in question."""

    stage: str
    given: tuple[str, ...]
    option: tuple[str, ...]

    @property
    def flags(self) -> list[str]:
        """The options in question."""
        return [word for word in self.option if word.startswith("--")]


def read_row(path: tuple[str, ...], row: str) -> Call:
    """The call that a row stands for."""
    context, _, option = row.rpartition(" > ") if " > " in row else ("", "", row)
    match = ROW.fullmatch(context.replace(" > ", " "))
    assert match is not None
    stage, words = CALLED[path]
    given = match["words"] if match["alone"] else f"{words} {match['words']}"
    return Call(match["stage"] or stage, tuple(given.split()), tuple(option.split()))


class Bench:
    """Calls commands, each time on a fresh copy of what was prepared, at the same place."""

    def __init__(self, stages: dict[str, Path], put: Put, place: Path) -> None:
        self._stages, self._put, self._place = stages, put, place
        self._prepared = cache(self._prepare)
        self.outcome = cache(self.outcome_anew)

    def _prepare(self, stage: str) -> tuple[Path, Path, dict[str, str]]:
        folder = self._place / stage
        (self._place / "now").mkdir()
        if stage in BUILT:
            study = self._put(stage, self._place / "now")
        else:
            study = Path(shutil.copy(self._stages[stage], self._place / "now" / "study.db"))
        names = write_files(self._place / "now") | files_for(self._place / "now", study)
        (self._place / "now").rename(folder)
        return folder, study, names

    def outcome_anew(self, stage: str, args: tuple[str, ...]) -> tuple[int, tuple[object, ...]]:
        """The exit code, and what was printed and written."""
        folder, study, names = self._prepared(stage)
        now = self._place / "now"
        shutil.copytree(folder, now)
        try:
            os.environ["FCPAIR_STUDY"] = str(study)
            os.chdir(now)
            words = [part for word in args for part in word.format_map(names).split()]
            result = CliRunner().invoke(main, words)
            printed = DRAWN.sub("…", result.output)
            return result.exit_code, (printed, *sorted(contents(now)))
        finally:
            os.chdir(self._place)
            shutil.rmtree(now)

    def printed(self, call: Call, path: tuple[str, ...]) -> str:
        """What is printed where the option is given, too."""
        return str(self.outcome(call.stage, (*path, *call.given, *call.option))[1][0])


def contents(folder: Path) -> Iterator[tuple[str, str]]:
    """Each file below a folder, with what it holds: of a study without its log, times and drawn texts."""
    for path in folder.rglob("*"):
        if path.suffix == ".db":
            yield path.name, "".join(rows_of(path))
        elif path.is_file():
            yield str(path.relative_to(folder)), hashlib.sha256(path.read_bytes()).hexdigest()


def rows_of(study: Path) -> Iterator[str]:
    with closing(sqlite3.connect(study)) as connection:
        for line in connection.iterdump():
            if line.startswith("INSERT") and line.split('"')[1] not in KEPT_APART:
                yield DRAWN.sub("…", line)


@pytest.fixture(scope="session")
def calls(files: dict[str, Path], put: Put, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """One bench for all, as many commands are called on the same stages."""
    return Bench(files, put, tmp_path_factory.mktemp("bench"))


@pytest.fixture
def bench(calls: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    """The bench, which leaves where the test is, and on which study, as it was."""
    monkeypatch.setenv("FCPAIR_STUDY", "")
    monkeypatch.chdir(tmp_path)
    return calls


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow, pytest.mark.torch] if path in ENCODERS else [pytest.mark.slow])
        if path in SLOW | ENCODERS
        else path
        for path in EFFECTS
    ],
    ids=" ".join,
)
def test_an_option_changes_what_comes_of_a_command(bench: Bench, path: tuple[str, ...]) -> None:
    idle = []
    for row in EFFECTS[path].changing:
        call = read_row(path, row)
        if bench.outcome(call.stage, (*path, *call.given)) == bench.outcome(
            call.stage, (*path, *call.given, *call.option)
        ):
            idle.append(row)
    assert idle == []


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted({*EFFECTS} - ENCODERS - SLOW), ids=" ".join)
def test_the_same_call_gives_the_same_again(bench: Bench, path: tuple[str, ...]) -> None:
    for call in (read_row(path, row) for row in EFFECTS[path].changing[:1]):
        again = bench.outcome_anew(call.stage, (*path, *call.given))
        assert bench.outcome(call.stage, (*path, *call.given)) == again


@pytest.mark.parametrize("path", EFFECTS, ids=" ".join)
def test_an_option_without_effect_is_refused_by_name(bench: Bench, path: tuple[str, ...]) -> None:
    taken = []
    for row in EFFECTS[path].idle:
        call = read_row(path, row)
        code, _ = bench.outcome(call.stage, (*path, *call.given, *call.option))
        message = bench.printed(call, path).replace("\n", " ")
        if code != 2 or call.flags[0].lstrip("-").replace("-", "_") not in message.replace("-", "_"):
            taken.append((row, code, message[-200:]))
    assert taken == []


def test_every_option_is_in_a_row() -> None:
    assert [path for path in LEAVES if path not in EFFECTS] == []
    for path in LEAVES:
        if path == ("serve",):  # which does not end by itself
            continue
        rows: Rows = EFFECTS[path]
        tested = {flag for row in (*rows.changing, *rows.idle) for flag in read_row(path, row).flags}
        options = [one for one in found(path).params if isinstance(one, click.Option)]
        tested |= {*rows.elsewhere, *GENERAL} | (FIGURES if path != ("plan",) else set())
        assert [one.opts[0] for one in options if not tested & {*one.opts}] == [], path
        assert {flag for rule in rules_of(found(path)) for flag in rule.flags} <= {
            flag for row in rows.idle for flag in read_row(path, row).flags
        }, path
