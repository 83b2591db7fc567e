"""A small study at any stage, and the command line called on it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from click.testing import CliRunner, Result

from fcpair.cli import main


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
