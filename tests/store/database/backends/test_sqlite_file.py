"""The file of a study: made by nobody but `create`, folded into one, and refused where its log is not its own."""

from __future__ import annotations

import gc
import logging
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fcpair.cli import main
from fcpair.errors import StudyError
from fcpair.records import Role
from fcpair.store import Store, people
from fcpair.store.database.backends import sqlite
from fcpair.store.database.backends.protocol import driver
from fcpair.store.database.backends.sqlite import Header
from fcpair.store.database.backends.sqlite_file import StudyFile, save_rescued
from fcpair.store.oversight import runs
from fcpair.study import Study
from store.conftest import command_elsewhere, die_elsewhere, first_rows, names
from store.test_upgrading import FILES as OLDER

WAL_HEADER, ROLLBACK_HEADER = b"\x02\x02", b"\x01\x01"
pytestmark = pytest.mark.files

WITHOUT_LOG = "lacks its log"
FOREIGN_LOG = "has a log beside it that belongs to another file"


def names_at(path: Path) -> list[str]:
    with closing(Store.open(path)) as store:
        return names(store)


def add(store: Store, *new: str) -> None:
    with store.write() as tx:
        people.add_people(tx, list(new), Role.LEAD)
        runs.add_run(tx, "people", {}, {"n": len(new)}, "0", None)


def versions(path: Path) -> bytes:
    """The two bytes of the header that say whether there should be a log."""
    return path.read_bytes()[18:20]


def invoke(words: list[str]) -> Result:
    return CliRunner().invoke(main, words)


def lying_at(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir() if file.name.startswith(path.name))


def linked(path: Path) -> Path:
    """A link to the study, in another folder."""
    link = path.parent / "links" / "study.db"
    link.parent.mkdir()
    link.symlink_to(path)
    return link


SERVE_AND_ADD = "store.share()\nfor name in sys.argv[2:]:\n    add(store, name)"
SERVE_AND_WRITE = """store.share()
print("shared", flush=True)
for line in sys.stdin:
    add(store, "elsewhere")
    print("written", flush=True)"""
BETWEEN = """store.share()
add(store, "ana")
store.close()
header = bytearray(Path(sys.argv[1]).read_bytes())
header[18:20] = b"\\x02\\x02"  # the log is gone, the header does not say so yet
Path(sys.argv[1]).write_bytes(header)"""


def die(path: Path, *new: str) -> None:
    """Serve the study in another process, add people one by one, and be killed."""
    die_elsewhere(path, SERVE_AND_ADD, *new)


@pytest.fixture
def path(store: Store) -> Path:
    store.close()
    return Path(store.place)


@pytest.fixture
def killed(path: Path) -> Path:
    """A study that was served and killed, with ana and ben in the log."""
    die(path, "ana", "ben")
    return path


@pytest.mark.parametrize("shared", [False, True])
def test_no_connection_makes_a_file_where_there_is_none_any_more(store: Store, *, shared: bool) -> None:
    add(store, "ana")
    if shared:
        store.share()
    for end in ("", "-wal", "-shm"):
        Path(f"{store.place}{end}").unlink(missing_ok=True)
    for attempt in (lambda: names(store), lambda: add(store, "ana"), store.check_writable, store.share):
        with pytest.raises(StudyError, match="moved, deleted or replaced"):
            attempt()
    assert lying_at(Path(store.place)) == []
    store.close()
    assert lying_at(Path(store.place)) == []


def test_a_study_that_was_replaced_is_not_read_and_none_made_beside_the_log_of_another(
    store: Store, make_store: Callable[[Path], Store], tmp_path: Path
) -> None:
    """SQLite deletes the log that it finds beside an empty file."""
    path = Path(store.place)
    (tmp_path / "other").mkdir()
    other = make_store(tmp_path / "other")
    other.close()
    Path(other.place).rename(path)
    with pytest.raises(StudyError, match="replaced"), store.read():
        pass
    store.close()
    die(path, "ana", "ben")
    moved = path.rename(path.with_name("moved.db"))
    with pytest.raises(StudyError, match=r"store\.db-wal is the log of a study that was at"):
        Store.create(path, first_rows)
    moved.rename(path)
    assert names_at(path) == ["ana", "ben"]


@pytest.mark.parametrize("name", ["a?mode=memory.db", "a#b.db", "50%41.db", "über 'x\" &.db", "\udcff.db", "file:x.db"])
def test_any_name_will_do_from_any_folder(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store.create(Path(name), first_rows)
    store.share()
    monkeypatch.chdir("/")
    add(store, "ana")
    store.close()
    assert names_at(tmp_path / name) == ["ana"]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_whoever_opens_it_after_a_kill_leaves_one_file_however_they_end(killed: Path) -> None:
    """Also by a link, whose log is where it leads."""
    assert versions(killed) == WAL_HEADER
    assert names_at(linked(killed)) == ["ana", "ben"]
    assert (lying_at(killed), versions(killed)) == (["store.db"], ROLLBACK_HEADER)
    words = (["status"], ["log"], ["people", "add", "cleo", "--role", "lead"], ["explain", "999"])
    for command, code in zip(words, (0, 0, 0, 2), strict=True):
        die(killed)  # before the first answer it has its log as well
        assert not Header.from_bytes(killed.read_bytes()[:100]).is_whole
        result = invoke([*command, "--study", str(killed)])
        assert result.exit_code == code, result.output
        assert (lying_at(killed), versions(killed)) == (["store.db"], ROLLBACK_HEADER)
    assert names_at(killed) == ["ana", "ben", "cleo"]


def test_a_store_that_nobody_closed_leaves_one_file_also_at_the_end_of_its_process(killed: Path) -> None:
    store = Store.open(killed)
    add(store, "cleo")
    del store
    gc.collect()
    assert (lying_at(killed), versions(killed)) == (["store.db"], ROLLBACK_HEADER)
    subprocess.run(command_elsewhere(killed, SERVE_AND_ADD, "dan"), check=True)
    assert (lying_at(killed), versions(killed)) == (["store.db"], ROLLBACK_HEADER)
    assert names_at(killed) == ["ana", "ben", "cleo", "dan"]


def test_closing_leaves_the_log_to_another_process_that_has_it_open(path: Path) -> None:
    line = command_elsewhere(path, SERVE_AND_WRITE)
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "shared\n"
        other = Store.open(path)
        add(other, "ana")
        other.close()
        assert lying_at(path) == ["store.db", "store.db-shm", "store.db-wal"]
        process.stdin.write("write\n")
        process.stdin.flush()
        assert process.stdout.readline() == "written\n"
        process.kill()
    assert names_at(path) == ["ana", "elsewhere"]


def test_opening_it_twice_keeps_the_locks_of_the_first(store: Store) -> None:
    """Closing any descriptor of a file gives up all locks of the process: another one would take the log away."""
    store.share()
    add(store, "ana")
    again = Store.open(Path(store.place))
    again.close()
    del again
    gc.collect()
    script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM person').fetchall()"
    subprocess.run([sys.executable, "-c", f"{script}; c.close()", store.place], check=True)
    assert Path(f"{store.place}-wal").exists()
    add(store, "ben")
    store.close()
    assert names_at(Path(store.place)) == ["ana", "ben"]


def test_a_kill_between_the_two_steps_of_folding_does_not_look_like_a_lost_log(path: Path) -> None:
    die_elsewhere(path, BETWEEN)
    assert Header.from_bytes(path.read_bytes()[:100]).is_whole
    assert names_at(path) == ["ana"]
    die(path, "ben")
    assert not Header.from_bytes(path.read_bytes()[:100]).is_whole


@pytest.mark.slow
def test_a_copy_without_its_log_is_refused_at_every_door(killed: Path, tmp_path: Path) -> None:
    """Without it, or with one that holds nothing; with its log it is whole."""
    copy = Path(shutil.copy(killed, tmp_path / "copy.db"))
    before, whole = copy.read_bytes(), Path(f"{killed}-wal").read_bytes()
    for log in (None, b"", b"\0" * 4096, whole[:16] + bytes(8) + whole[24:]):
        if log is not None:
            Path(f"{copy}-wal").write_bytes(log)
        for command in (["status"], ["serve"], ["log"], ["upgrade"], ["partition"]):
            result = invoke([*command, "--study", str(copy)])
            assert (result.exit_code, WITHOUT_LOG in result.stderr) == (2, True), result.output
            assert "fcpair doctor --as-it-is" in result.stderr
        with pytest.raises(StudyError, match=WITHOUT_LOG):
            Study(copy)
        assert copy.read_bytes() == before
        assert log is not None or lying_at(copy) == ["copy.db"]
    Path(f"{copy}-wal").write_bytes(whole)
    assert names_at(copy) == ["ana", "ben"]


def test_neither_looking_at_a_copy_nor_a_link_to_it_makes_it_whole(killed: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(killed, tmp_path / "copy.db"))
    link = linked(copy)
    shutil.copy(f"{killed}-wal", f"{link}-wal")  # where SQLite does not look for it
    with pytest.raises(StudyError, match=re.escape(f"{copy} was being served and lacks its log, {copy}-wal")):
        Study(link)
    with closing(sqlite3.connect(f"file:{copy}?mode=ro", uri=True)) as connection:
        connection.execute("SELECT count(*) FROM person").fetchone()
        left = Path(f"{copy}-wal").read_bytes()
    Path(f"{copy}-wal").write_bytes(left)
    with pytest.raises(StudyError, match=WITHOUT_LOG):
        Study(copy)
    assert left == b""
    assert Study.accept(copy) is not None


def test_a_copy_over_an_old_log_is_refused_and_left_as_it_is(path: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(path, tmp_path / "copy.db"))
    die(path, "ana", "ben")
    log = Path(f"{path}-wal").read_bytes()
    shutil.copyfile(copy, path)
    for command in ("status", "serve", "upgrade", "log"):
        result = invoke([command, "--study", str(path)])
        assert (result.exit_code, FOREIGN_LOG in result.stderr) == (2, True), result.output
    assert path.read_bytes() == copy.read_bytes()
    assert Path(f"{path}-wal").read_bytes() == log
    Path(f"{path}-wal").rename(tmp_path / "old-wal")
    Path(f"{path}-shm").rename(tmp_path / "old-shm")
    assert names_at(path) == []


def test_the_backup_that_is_advised_is_whole_and_what_cannot_be_told_from_a_torn_copy_is_taken_when_asked(
    store: Store, tmp_path: Path
) -> None:
    """`docs/howto/deploy.md` advises VACUUM INTO; `.backup` of `sqlite3` keeps the header of what was shared."""
    store.share()
    add(store, "ana")
    vacuumed, copied = tmp_path / "vacuumed.db", tmp_path / "copied.db"
    with closing(sqlite3.connect(store.place)) as source, closing(sqlite3.connect(copied)) as target:
        source.execute("VACUUM INTO ?", (str(vacuumed),))
        source.backup(target)
    assert names_at(vacuumed) == ["ana"]
    Study(vacuumed).examine()
    with pytest.raises(StudyError, match=WITHOUT_LOG):
        Store.open(copied)
    assert Study.accept(copied) == {}
    assert names_at(copied) == ["ana"]


@pytest.fixture
def mixed(path: Path, tmp_path: Path) -> Path:
    """The file as it was before 400 people came, under the log of what came after them."""
    die(path, "first")
    old = shutil.copy(path, tmp_path / "old.db")
    fold_all(path)
    die(path, *(f"p{at}" for at in range(400)))
    fold_all(path)
    die(path, "last")
    shutil.copyfile(old, path)
    return path


def fold_all(path: Path) -> None:
    store = Store.open(path)
    store.share()
    store.close()


@pytest.mark.slow
def test_a_file_under_a_log_of_another_time_is_recognised_by_serve_and_status(mixed: Path) -> None:
    before = {end: Path(f"{mixed}{end}").read_bytes() for end in ("", "-wal")}
    for command in ("status", "serve"):
        result = invoke([command, "--study", str(mixed)])
        assert result.exit_code == 2, result.output
        assert "is inconsistent" in result.stderr or "is damaged" in result.stderr
    assert {end: Path(f"{mixed}{end}").read_bytes() for end in ("", "-wal")} == before


def lose_rows(path: Path, which: str) -> None:
    """Take runs out, as a file would have lost them that is put together of two."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"DELETE FROM run WHERE id IN ({which})")
        connection.commit()


def test_rows_that_are_missing_are_counted_and_accepted_once_and_noted(path: Path) -> None:
    with closing(Store.open(path)) as store:
        for at in range(5):
            add(store, f"p{at}")
    lose_rows(path, "1, 2")
    with pytest.raises(StudyError, match=r"run has 3 rows up to number 5, and should have 5 up to 5"):
        Study(path).examine()
    assert Study.accept(path) == {"run": 2}
    study = Study(path)
    study.examine()
    assert (study.log()[-1].stage, study.log()[-1].counts) == ("accept", {"missing": {"run": 2}})
    add(Store.open(path), "cleo")
    study.examine()
    assert Study.accept(path) is None
    assert [run.stage for run in study.log()].count("accept") == 1
    lose_rows(path, "SELECT max(id) FROM run")  # the newest are missed as well
    with pytest.raises(StudyError, match=r"run has 4 rows up to number 6, and should have 5 up to 7"):
        study.examine()


def test_a_study_whose_log_is_lost_is_accepted_as_it_is_and_then_examined(killed: Path) -> None:
    for end in ("-wal", "-shm"):
        Path(f"{killed}{end}").unlink()
    line = ["doctor", "--study", str(killed)]
    refused = invoke(line)
    assert (refused.exit_code, WITHOUT_LOG in refused.stderr) == (2, True)
    taken = invoke([*line, "--as-it-is"])
    known = "rows known to be missing: none (a lost log may have held more)"
    assert f"{killed} is accepted as it is; {known}" in taken.stderr
    assert "All is well" in taken.stdout, taken.output
    again = invoke([*line, "--as-it-is"])
    assert "there is nothing to accept" in again.stderr
    assert (again.exit_code, lying_at(killed), versions(killed)) == (0, ["store.db"], ROLLBACK_HEADER)
    assert names_at(killed) == []
    assert Study(killed).log()[-1].stage == "accept"


@pytest.mark.parametrize("older", OLDER, ids=lambda one: one.stem)
def test_an_older_study_without_its_log_is_accepted_and_then_upgraded(older: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(older, tmp_path / "study.db"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(StudyError, match=WITHOUT_LOG):
        Study.upgrade(path)
    assert Study.accept(path) == {}
    assert versions(path) == ROLLBACK_HEADER
    copy = Study.upgrade(path)
    assert copy is not None
    assert copy.stat().st_mode & 0o777 == 0o600
    Study(path).examine()


def test_a_damaged_file_or_a_foreign_log_is_not_accepted(path: Path) -> None:
    with closing(Store.open(path)) as store:
        add(store, *(f"p{at}" for at in range(2000)))
    with path.open("r+b") as file:
        file.seek(12 * 4096)
        file.write(b"\xff" * 4096)
    with pytest.raises(StudyError, match="damaged"):
        Study.accept(path)
    result = invoke(["status", "--study", str(path)])
    assert (result.exit_code, "is damaged" in result.stderr) == (2, True)
    Path(f"{path}-wal").write_bytes(b"x" * 5000)
    with pytest.raises(StudyError, match=FOREIGN_LOG):
        Study.accept(path)


@pytest.fixture
def gone(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A shared study with ana in the log, whose files were deleted."""
    for name in ("cwd", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    store.share()
    add(store, "ana")
    for end in sqlite.FILES:
        Path(f"{store.place}{end}").unlink(missing_ok=True)
    yield store
    store.close()


def test_what_cannot_be_saved_beside_the_study_is_saved_elsewhere_and_said_in_one_line(
    gone: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole = sqlite.copy

    def full(connection: sqlite3.Connection, path: Path) -> None:
        if path.parent == tmp_path:
            raise OSError(28, "No space left on device")
        whole(connection, path)

    monkeypatch.setattr(sqlite, "copy", full)
    with caplog.at_level(logging.WARNING):
        gone.close()
    (copy,) = tmp_path.rglob("store-rescued-*")
    assert copy.parent == tmp_path / "cwd"
    assert names_at(copy) == ["ana"]
    (message,) = (record.getMessage() for record in caplog.records)
    assert message.startswith(f"{gone.place} is no longer the file that was opened")
    assert f"All answers that were acknowledged are in {copy}" in message


def test_it_is_said_when_nothing_can_be_saved_and_a_second_copy_of_the_same_second_has_another_name(
    gone: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(connection: sqlite3.Connection, path: Path) -> None:
        raise OSError(28, "No space left on device")

    assert isinstance(gone._home, StudyFile)
    with monkeypatch.context() as patched, caplog.at_level(logging.ERROR):
        patched.setattr(sqlite, "copy", full)
        gone._home.rescue()
    assert "could not be saved elsewhere" in caplog.text
    assert gone._home._keeper is not None
    paths = [save_rescued(gone._home._keeper, gone.place) for _ in range(3)]
    gone.close()
    assert [names_at(path) for path in paths] == [["ana"]] * 3
    assert len({*paths, *tmp_path.rglob("store-rescued-*")}) == 4


def test_copies_are_one_file_for_the_owner_alone_and_never_written_over_another(store: Store, tmp_path: Path) -> None:
    store.share()
    copy = tmp_path / "copy.db"
    with store.read() as tx:
        sqlite.copy(driver(tx), copy)
        before = copy.read_bytes()
        with pytest.raises(FileExistsError):
            sqlite.copy(driver(tx), copy)
    store.close()
    assert copy.stat().st_mode & 0o777 == 0o600
    assert (copy.read_bytes(), versions(copy)) == (before, ROLLBACK_HEADER)


def test_a_study_that_others_may_read_is_named_with_a_command_that_can_be_pasted(path: Path, tmp_path: Path) -> None:
    warning = f"others on this machine may read or write {path} (its rights are 0644); `chmod 600 {path}` ends that"
    assert Study(path).exposure_warning is None
    path.chmod(0o644)
    assert Study(path).exposure_warning == warning
    assert warning in invoke(["status", "--study", str(path)]).stderr
    spaced = path.rename(tmp_path / "my study.db")
    assert f"`chmod 600 '{spaced}'`" in str(Study(spaced).exposure_warning)
    shutil.copy(OLDER[-1], spaced)
    with pytest.raises(StudyError, match=f"`fcpair upgrade --study '{spaced}'`"):
        Study(spaced)


def test_the_umask_is_left_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        Store.create(tmp_path / "new.db", first_rows).close()
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert (tmp_path / "new.db").stat().st_mode & 0o777 == 0o600


def test_a_removed_study_takes_its_log_along_and_another_one_stays(store: Store, tmp_path: Path) -> None:
    other = Path(store.place).with_name("other.db")
    shutil.copy(store.place, other)
    Path(store.place).unlink()
    other.rename(store.place)
    store.remove()
    assert lying_at(Path(store.place)) == ["store.db"]
