"""What a killed act left under a temporary name is removed by the next start of that act, and nothing else is."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fcpair.files.tables.folders import new_folder, replace_file
from fcpair.study import Study
from fcpair.unfinished import new_path

HELD = """
import sys, time
from pathlib import Path
from fcpair.unfinished import new_path
with new_path(Path(sys.argv[1]), sys.argv[2], sys.argv[3], is_folder=sys.argv[4] == "folder") as path:
    print(path.name, flush=True)
    time.sleep(600)
"""


def begun(folder: Path, prefix: str, suffix: str = "", kind: str = "folder") -> tuple[subprocess.Popen[str], Path]:
    """An act in a process of its own, which is not at its end, and what it has written so far."""
    command = [sys.executable, "-c", HELD, str(folder), prefix, suffix, kind]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, folder / process.stdout.readline().strip()


def killed(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_what_a_killed_act_left_goes_when_the_next_begins_and_what_another_is_at_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    process, left = begun(tmp_path, ".v1.unfinished-")
    (left / "half.csv").write_text("half")
    with caplog.at_level(logging.WARNING), new_folder(tmp_path / "v1"):
        assert left.is_dir(), "its process is still at work"
    assert caplog.text == ""
    (tmp_path / "v1").rmdir()
    killed(process)
    others = [tmp_path / name for name in (".v2.unfinished-abcdefgh", ".v1.unfinished-mine", "notes.part")]
    for other in others:
        other.write_text("another's")
    with caplog.at_level(logging.WARNING), new_folder(tmp_path / "v1"):
        assert not left.exists()
    assert f"{left} was left by a process that was killed, and has been removed" in caplog.text
    assert all(other.exists() for other in others)


def test_a_file_and_a_backup_remove_what_was_left_of_them(tmp_path: Path) -> None:
    Study.create(tmp_path / "study.db").close()
    acts = [begun(tmp_path, ".tier.csv.unfinished-", ".csv", "file"), begun(tmp_path, "b.backup-", ".part", "file")]
    acts.append(begun(tmp_path, "fcpair-backup-"))
    for process, left in acts:
        killed(process)
        assert left.exists()
    with replace_file(tmp_path / "tier.csv") as temporary:
        temporary.write_text("whole")
    Study.back_up(tmp_path / "study.db", tmp_path / "b.backup")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["b.backup", "study.db", "tier.csv"]


def test_nothing_is_left_when_a_block_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), new_path(tmp_path, "x-") as folder:
        (folder / "a").mkdir()
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
