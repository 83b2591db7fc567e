"""The README's own lines: its commands and its Python come to the tiers, from nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples, as a checkout has them, and the command on the path."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.setenv("PATH", sysconfig.get_path("scripts"), prepend=":")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_it_can_be_read_in_a_few_minutes() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.slow
def test_its_commands_come_to_the_tiers(folder: Path) -> None:
    commands = [line.partition("#")[0].strip() for line in blocks("sh")[1].splitlines()]
    assert len(commands) == 8
    assert commands.pop() == "fcpair serve"  # which would not end
    for command in commands:
        run = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"{command}\n{run.stderr}"
    assert len((folder / "gold.csv").read_text("utf-8").splitlines()) == 88


@pytest.mark.slow
def test_its_python_comes_to_gold(folder: Path) -> None:
    (code,) = blocks("python")
    script = [sys.executable, "-c", f"{code}\nprint(len(gold))"]
    run = subprocess.run(script, cwd=folder, capture_output=True, text=True, check=False)
    assert (run.stdout, run.returncode) == ("92\n", 0), run.stderr
