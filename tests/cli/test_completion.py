"""Completion in a real bash, as docs/howto/completion.md switches it on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig

import pytest

SCRIPT = """
eval "$(_FCPAIR_COMPLETE=bash_source fcpair)"
COMP_WORDS=({words}) COMP_CWORD={at}
_fcpair_completion fcpair
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("fcpair adj", ["adjudicate"]),
        ("fcpair partition --tier d", ["diamond"]),
        ("fcpair labels sheets --f", ["--format"]),
    ],
)
def test_bash_completes_commands_options_and_choices(words: str, offered: list[str]) -> None:
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    script = SCRIPT.format(words=words, at=len(words.split()) - 1)
    run = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, env={**os.environ, "PATH": path}
    )
    assert run.stdout.split() == offered
