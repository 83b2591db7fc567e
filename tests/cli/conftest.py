"""A small study at any stage, and the command line called on it."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.built import BUILT
from cli.calls import CALLS, files_for
from fcpair.cli import main
from fcpair.study import Study

At = Callable[[str], Path]
Put = Callable[[str, Path], Path]
Prepare = Callable[[tuple[str, ...]], list[str]]


class Fcpair:
    """Calls `fcpair` with these arguments on the study of the test."""

    def __call__(self, *arguments: str | Path, keys: str = "", code: int = 0) -> Result:
        """Return what was printed; the exit code must be `code`."""
        result = CliRunner().invoke(main, [str(word) for word in arguments], input=keys)
        assert result.exit_code == code, result.output
        return result

    def json(self, *arguments: str | Path, code: int = 0) -> Any:
        """Return what is printed for programs."""
        return json.loads(self(*arguments, "--format", "json", code=code).stdout)

    def csv(self, *arguments: str | Path) -> list[dict[str, str]]:
        return rows_of(self(*arguments, "--format", "csv").stdout)

    def line(self, *arguments: str | Path, keys: str = "") -> str:
        """Return standard output as one line, however the terminal broke it."""
        return " ".join(self(*arguments, keys=keys).stdout.split())

    def refusal(self, *arguments: str | Path) -> str:
        """Return the error of a command that is refused, as one line; for programs it prints nothing."""
        result = self(*arguments, code=2)
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        return " ".join(result.stderr.split())


def rows_of(source: str | Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(source if isinstance(source, str) else source.read_text("utf-8-sig"))))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Where the study of the test is."""
    return tmp_path / "study.db"


@pytest.fixture
def at(files: dict[str, Path], study: Path) -> At:
    """Put the small study, as it is after a stage of `small.STAGES`, in its place."""
    return lambda stage: Path(shutil.copy(files[stage], study))


@pytest.fixture
def fcpair(study: Path, monkeypatch: pytest.MonkeyPatch) -> Fcpair:
    monkeypatch.setenv("FCPAIR_STUDY", str(study))
    monkeypatch.setattr("fcpair.cli.adjudicate.check_terminal", lambda: None)  # keys come from the test
    return Fcpair()


@pytest.fixture(scope="session")
def put(tmp_path_factory: pytest.TempPathFactory) -> Put:
    """Put a copy of a study of BUILT into a folder, with the files beside it; each is built once."""

    @cache
    def built(name: str) -> Path:
        with closing(BUILT[name](tmp_path_factory.mktemp(name))) as study:
            return Path(study.place)

    return lambda name, folder: shutil.copytree(built(name).parent, folder, dirs_exist_ok=True) / built(name).name


@pytest.fixture
def prepare(at: At, put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepare:
    """Make ready what a command is called on in CALLS; returns its arguments."""

    def ready(path: tuple[str, ...]) -> list[str]:
        stage, words = CALLS[path]
        study = put(stage, tmp_path) if stage in BUILT else at(stage)
        monkeypatch.setenv("FCPAIR_STUDY", str(study))
        if path == ("people", "revoke"):
            Study(study).access.invite("ana")
        named = files_for(tmp_path, study, words)
        return [*path, *(word.format(**named) for word in words.split())]

    return ready


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to write into."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder
