"""Acts that are killed, as in the benchmark `crashes` in short: what is left, and what the next start removes."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from servers import Server

from benchmarks.crash.places import Databases, Files, Places
from benchmarks.crashes import crash, warm_up
from fcpair.errors import StudyError
from fcpair.files.tables.folders import new_folder, replace_file
from fcpair.store import Store
from fcpair.store.database.backends import at
from fcpair.study import Study
from fcpair.unfinished import new_path

N_KILLS = 6
STAGES = ("init", "import", "select")


def _files(folder: Path, _request: pytest.FixtureRequest) -> Places:
    return Files(folder)


def _databases(_folder: Path, request: pytest.FixtureRequest) -> Places:
    server: Server = request.getfixturevalue("postgres")
    return Databases(server.url.render_as_string(hide_password=False))


@pytest.mark.slow
@pytest.mark.parametrize("make", [_files, _databases])
def test_a_stage_that_is_killed_is_done_or_not_begun(
    make: Callable[[Path, pytest.FixtureRequest], Places], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    warm_up(models=False)
    (tmp_path / "studies").mkdir()
    places = make(tmp_path / "studies", request)
    found = crash(places, tmp_path / "work", N_KILLS, ["process"], 3, lambda stage: stage.name in STAGES)
    assert found.broken == []
    assert found.kills["process"] == N_KILLS
    assert found.states["as before"] + found.states["as after"] == N_KILLS


def test_a_file_that_a_killed_init_left_empty_is_no_study_and_in_nobodys_way(tmp_path: Path) -> None:
    place = tmp_path / "study.db"
    place.touch()
    assert not at(place).is_there(place)
    Study.create(place).close()
    assert Study.doctor(place).is_sound


def test_an_empty_file_whose_maker_is_at_work_is_left_to_it(tmp_path: Path) -> None:
    place = tmp_path / "study.db"

    def fill(_tx: object) -> None:
        with pytest.raises(StudyError, match="exists already"):
            Store.create(place, lambda tx: None)
        raise StudyError("stop here")

    with pytest.raises(StudyError, match="stop here"):
        Store.create(place, fill)


def test_a_connection_lost_in_a_commit_is_not_said_to_have_changed_nothing(postgres: Server) -> None:
    place = postgres.make("lost_in_commit").render_as_string(hide_password=False)
    store = Study.create(place)._store
    with pytest.raises(StudyError, match="may have been done or not; look with `fcpair log`"), store.write() as tx:
        tx.exec_driver_sql(
            "CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS "
            "$$BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END$$"
        )
        tx.exec_driver_sql(
            "CREATE CONSTRAINT TRIGGER leaving AFTER UPDATE ON study DEFERRABLE INITIALLY DEFERRED "
            "FOR EACH ROW EXECUTE FUNCTION leave()"
        )
        tx.exec_driver_sql("UPDATE study SET title = 'another'")
    store.close()


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
