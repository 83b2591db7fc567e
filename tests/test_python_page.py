"""docs/tutorials/python.md: its lines run from the top to the bottom, and print what stands below them.

`python tests/test_python_page.py`, in a folder with a copy of `examples`, renews what it prints.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "tutorials" / "python.md"
BLOCK = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def printed_by_each(blocks: list[str]) -> list[str]:
    """What each block prints, all in one module."""
    module: dict[str, object] = {}
    outputs = []
    for block in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(block, module)
        outputs.append(out.getvalue().rstrip() + "\n")
    return outputs


def renew() -> None:
    """Write what the blocks print into the page."""
    page = PAGE.read_text("utf-8")
    outputs = iter(printed_by_each([code for code, _ in BLOCK.findall(page)]))
    PAGE.write_text(BLOCK.sub(lambda block: f"```python\n{block[1]}```\n\n```text\n{next(outputs)}```", page), "utf-8")


def test_the_page_for_python_users_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(PAGE.read_text("utf-8"))
    assert len(blocks) == PAGE.read_text("utf-8").count("```python")
    assert printed_by_each([code for code, _ in blocks]) == [text for _, text in blocks]


if __name__ == "__main__":
    renew()
