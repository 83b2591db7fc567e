"""A small study at any stage, and the command line called on it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Protocol

import pytest
from click.testing import CliRunner, Result

from cli.built import BUILT
from cli.calls import CALLS, files_for
from fcpair.cli import main
from fcpair.study import Study

Put = Callable[[str, Path], Path]
Prepare = Callable[[tuple[str, ...]], list[str]]


class Fcpair(Protocol):
    """Calls `fcpair` with these arguments on the study of the test."""

    def __call__(self, *arguments: str | Path, keys: str = "", code: int = 0) -> Result:
        """Return what was printed; the exit code must be `code`."""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Where the study of the test is."""
    return tmp_path / "study.db"


@pytest.fixture
def at(files: dict[str, Path], study: Path) -> Callable[[str], Path]:
    """Put the small study, as it is after a stage of `small.STAGES`, in its place."""
    return lambda stage: Path(shutil.copy(files[stage], study))


@pytest.fixture
def fcpair(study: Path, monkeypatch: pytest.MonkeyPatch) -> Fcpair:
    monkeypatch.setenv("FCPAIR_STUDY", str(study))
    monkeypatch.setattr("fcpair.cli.adjudication.adjudicate.check_terminal", lambda: None)  # keys come from the test

    def call(*arguments: str | Path, keys: str = "", code: int = 0) -> Result:
        result = CliRunner().invoke(main, [str(one) for one in arguments], input=keys)
        assert result.exit_code == code, result.output
        return result

    return call


@pytest.fixture(scope="session")
def put(tmp_path_factory: pytest.TempPathFactory) -> Put:
    """Put a copy of a study of BUILT into a folder, with the files beside it; each is built once."""

    @cache
    def built(name: str) -> Path:
        with closing(BUILT[name](tmp_path_factory.mktemp(name))) as study:
            return Path(study.place)

    return lambda name, folder: shutil.copytree(built(name).parent, folder, dirs_exist_ok=True) / built(name).name


@pytest.fixture
def prepare(at: Callable[[str], Path], put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepare:
    """Make ready what a command is called on in CALLS; returns its arguments."""

    def ready(path: tuple[str, ...]) -> list[str]:
        stage, words = CALLS[path]
        study = put(stage, tmp_path) if stage in BUILT else at(stage)
        monkeypatch.setenv("FCPAIR_STUDY", str(study))
        if path == ("people", "revoke"):
            Study(study).access.invite("ana")
        named = files_for(tmp_path, study) if "{" in words else {}
        return [*path, *(word.format(**named) for word in words.split())]

    return ready


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to write into."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder
