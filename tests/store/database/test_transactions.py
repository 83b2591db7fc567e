"""All or nothing, one writer at a time, and what happens when the disk does not play along."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import Any

import pytest
from servers import execute
from sqlalchemy import Engine, event

from fcpair.errors import BusyError, InputError, StudyError
from fcpair.records import Role
from fcpair.store import Store
from fcpair.store.corpus.grids import current_grid_id
from fcpair.store.database.backends import sqlite
from fcpair.store.oversight import runs
from fcpair.store.people import people
from store.conftest import first_rows

pytestmark = pytest.mark.files

COULD_NOT_WAIT = "another process is writing to it; try again when that one is done; nothing was changed"


def engine_of(store: Store) -> Engine:
    return store._engine


def on_connect(store: Store, pragma: str) -> None:
    """Run a pragma on every connection that the store opens from now on."""
    engine_of(store).dispose()

    def run(connection: Any, _record: object) -> None:
        connection.execute(pragma)

    event.listen(engine_of(store), "connect", run)


def names(store: Store) -> list[str]:
    with store.read() as tx:
        return [one.name for one in people.people(tx)]


def add(store: Store, *new: str) -> None:
    with store.write() as tx:
        people.add_people(tx, list(new), Role.LEAD)


def add_and_fail(store: Store, error: BaseException, *, bulk: bool = False) -> None:
    with store.write(bulk=bulk) as tx:
        people.add_people(tx, ["ana"], Role.LEAD)
        raise error


def test_what_was_written_is_there_when_the_study_is_opened_again(store: Store) -> None:
    add(store, "ana")
    assert names(Store.open(Path(store.place))) == ["ana"]


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), InputError("x"), SystemExit(1)])
def test_an_exception_in_the_middle_undoes_everything(store: Store, error: BaseException) -> None:
    with pytest.raises(type(error)):
        add_and_fail(store, error)
    assert names(store) == []


def test_an_exception_in_bulk_work_undoes_everything(store: Store) -> None:
    with pytest.raises(ValueError, match="x"):
        add_and_fail(store, ValueError("x"), bulk=True)
    assert names(store) == []


def test_the_store_can_be_used_after_a_failure(store: Store) -> None:
    with pytest.raises(ValueError, match="x"), store.write():
        raise ValueError("x")
    add(store, "ana")
    assert names(store) == ["ana"]


def test_a_reader_sees_one_state_throughout(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE_S", 0.1)  # of a commit: a writer may begin here, and not end
    other = Store.open(Path(store.place))
    with store.read() as tx:
        before = people.people(tx)
        with pytest.raises(StudyError):
            add(other, "ana")
        assert people.people(tx) == before


def test_a_second_writer_is_told_that_another_one_writes(store: Store) -> None:
    other = Store.open(Path(store.place))
    other._writing.patience_s = 0.1
    with store.write() as tx:
        people.add_people(tx, ["ana"], Role.LEAD)
        with pytest.raises(StudyError, match=COULD_NOT_WAIT):
            add(other, "ben")
    assert names(store) == ["ana"]


def test_a_second_writer_waits_for_the_first(store: Store) -> None:
    other = Store.open(Path(store.place))
    with store.write() as tx:
        waiting = threading.Thread(target=add, args=(other, "ben"))
        waiting.start()
        people.add_people(tx, ["ana"], Role.LEAD)
    waiting.join(20)
    assert names(store) == ["ana", "ben"]


def test_a_write_is_on_the_disk_before_it_is_acknowledged(store: Store) -> None:
    with store.read() as tx:
        assert tx.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_a_process_that_is_killed_in_the_middle_leaves_the_study_as_it_was(store: Store) -> None:
    add(store, "ana")
    script = """
        import os, signal, sys
        from pathlib import Path
        from fcpair.records import Role
        from fcpair.store import Store
        from fcpair.store.people import people
        store = Store.open(Path(sys.argv[1]))
        with store.write() as tx:
            tx.exec_driver_sql("PRAGMA cache_size = 1")
            people.add_people(tx, [f"p{at}" for at in range(3_000)], Role.LEAD)
            os.kill(os.getpid(), signal.SIGKILL)
        """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(script), store.place], check=False)
    assert run.returncode == -signal.SIGKILL
    assert os.path.exists(f"{store.place}-journal")
    assert names(store) == ["ana"]


def test_what_was_acknowledged_survives_the_killing_of_the_process(store: Store) -> None:
    script = """
        import os, signal, sys
        from pathlib import Path
        from fcpair.records import Role
        from fcpair.store import Store
        from fcpair.store.people import people
        with Store.open(Path(sys.argv[1])).write() as tx:
            people.add_people(tx, ["ana"], Role.LEAD)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script), store.place], check=False)
    assert names(store) == ["ana"]


def test_a_full_disk_is_named_and_changes_nothing(store: Store) -> None:
    with store.read() as tx:
        pages = tx.exec_driver_sql("PRAGMA page_count").scalar()
    on_connect(store, f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StudyError, match="the disk is full; make room and try again; nothing was changed"):
        add(store, *(f"p{at}" for at in range(20_000)))
    assert names(store) == []


def test_the_study_can_be_written_again_when_there_is_room(store: Store) -> None:
    test_a_full_disk_is_named_and_changes_nothing(store)
    reopened = Store.open(Path(store.place))
    add(reopened, "ana")
    assert names(reopened) == ["ana"]


def test_an_error_of_the_machine_names_the_study_and_changes_nothing(store: Store) -> None:
    with (
        pytest.raises(StudyError, match=r"No space left on device; the study was not changed$") as caught,
        store.write(),
    ):
        raise OSError(28, "No space left on device")
    assert store.place in str(caught.value)


def test_an_error_about_another_file_names_that_file(store: Store) -> None:
    with pytest.raises(StudyError, match=r"^out\.csv: Is a directory") as caught, store.write():
        raise OSError(21, "Is a directory", "out.csv")
    assert store.place not in str(caught.value)


# -- making and opening


def test_a_study_is_never_made_over_something(store: Store) -> None:
    with pytest.raises(StudyError, match="exists already; choose another place"):
        Store.create(Path(store.place), first_rows)


@pytest.mark.parametrize("fill_error", [ValueError("x"), KeyboardInterrupt()])
def test_a_study_that_cannot_be_made_leaves_no_file(tmp_path: Path, fill_error: BaseException) -> None:
    def fill(_tx: object) -> None:
        raise fill_error

    with pytest.raises(type(fill_error)):
        Store.create(tmp_path / "s.db", fill)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["none/s.db", "file/s.db", "/proc/s.db"])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StudyError, match=r"it cannot be opened; check that the folder exists and can be written"):
        Store.create(tmp_path / place, first_rows)


def spoilt(path: Path, offset: int, count: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(b"\xff" * count)


def other_database(path: Path) -> None:
    import sqlite3

    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()


def of_another_program(path: Path) -> None:
    import sqlite3

    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num)")
        connection.execute("INSERT INTO alembic_version VALUES ('0001')")
    connection.close()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "there is no study at"),
        (lambda path: path.mkdir(), "there is no study at"),
        (lambda path: path.write_text("hs,cn\na,b\n"), "is not a study"),
        (lambda path: path.write_bytes(b""), "is not a study"),
        (lambda path: path.write_bytes(b"\x00" * 4096), "is not a study"),
        (lambda path: path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000), "not a study|damaged"),
        (lambda path: path.write_bytes(b"SQLite format 3\x00"), "not a study|damaged|no study"),
        (other_database, "is a database but not a study"),
        (of_another_program, "is a database but not a study"),
    ],
)
def test_what_is_no_study_is_refused(tmp_path: Path, make: Callable[[Path], object], said: str) -> None:
    make(tmp_path / "s.db")
    with pytest.raises(StudyError, match=said) as caught:
        Store.open(tmp_path / "s.db")
    assert str(tmp_path / "s.db") in str(caught.value)


def test_a_study_of_a_newer_fcpair_is_refused_with_the_remedy(store: Store) -> None:
    execute(store.place, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StudyError, match=r"made by a newer fcpair \(its schema is 9999.*pip install --upgrade fcpair"):
        Store.open(Path(store.place))


def test_a_damaged_study_is_named_as_such(store: Store) -> None:
    add(store, *(f"p{at}" for at in range(2000)))
    engine_of(store).dispose()
    size = os.path.getsize(store.place)
    spoilt(Path(store.place), 4096, size - 4096)
    with pytest.raises(StudyError, match="the file is damaged; restore it from a copy"):
        names(Store.open(Path(store.place)))


def test_facts_are_there_from_the_start(store: Store) -> None:
    with store.read() as tx:
        assert runs.study_facts(tx)["title"] == "A study"


def test_a_study_that_is_replaced_takes_nothing_more(store: Store, tmp_path: Path) -> None:
    """What is written into a file that nobody can find any more is lost."""
    place = Path(store.place)
    place.rename(tmp_path / "moved.db")
    with pytest.raises(StudyError, match="moved, deleted or replaced"), store.write():
        pass
    (tmp_path / "moved.db").rename(place)
    with store.write() as tx:
        people.add_people(tx, ["ana"], Role.ANNOTATOR)


def test_a_study_is_shared_as_soon_as_others_let_go_of_it(store: Store) -> None:
    with closing(sqlite3.connect(store.place, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        Timer(0.5, other.rollback).start()
        store.share()
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.close()
    with closing(sqlite3.connect(store.place)) as again:
        assert again.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_study_that_cannot_be_shared_is_not_served(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcpair.store.database.store.SHARE_TRIES", 2)
    other = Store.open(Path(store.place))
    with closing(sqlite3.connect(store.place)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(StudyError, match="cannot be shared"):
            other.share()


@pytest.mark.parametrize("who", ["a thread", "another program"])
def test_while_a_study_is_served_a_writer_waits_for_another_only_for_a_while(
    store: Store, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    monkeypatch.setattr("fcpair.store.database.store.SHARED_PATIENCE_S", 0.3)
    store.share()
    with closing(sqlite3.connect(store.place, isolation_level=None)) as other:
        if who == "a thread":
            assert store._writing.acquire(0)
        else:
            other.execute("BEGIN IMMEDIATE")
        begun = monotonic()
        with pytest.raises(BusyError, match=COULD_NOT_WAIT) as told:
            add(store, "ana")
        assert 0.2 < monotonic() - begun < 3
        assert told.value.wait_s > 0
    if who == "a thread":
        store._writing.release()
    add(store, "ben")
    assert names(store) == ["ben"]
    store.close()


@pytest.mark.slow
def test_a_command_waits_long_enough_for_a_server_to_be_done(store: Store) -> None:
    """What is not served waits as long as it always did: half a minute."""
    assert store._writing.patience_s == 30
    with closing(sqlite3.connect(store.place, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        Timer(4, lambda: other.execute("ROLLBACK")).start()
        add(store, "ana")
    assert names(store) == ["ana"]


def test_more_can_read_at_once_than_any_pool_has_connections(store: Store) -> None:
    with ExitStack() as readers:
        seen = [readers.enter_context(store.read()) for _ in range(60)]
        assert len({id(tx) for tx in seen}) == 60


def test_all_reads_of_a_look_see_one_state(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE_S", 0.1)
    with closing(Store.open(Path(store.place), look=True)) as looking:
        assert names(looking) == []
        with pytest.raises(StudyError):
            add(store, "ana")
        assert names(looking) == names(looking.for_grid(1)) == []
        looking.end_look()
        add(store, "ben")
        assert names(looking) == ["ben"]


def test_a_read_within_a_look_is_about_the_grid_of_its_store(store: Store) -> None:
    with closing(Store.open(Path(store.place), look=True)) as looking:
        with looking.read(), looking.for_grid(2).read() as of_second:
            assert current_grid_id(of_second) == 2
        with looking.read() as tx:
            assert current_grid_id(tx) == 1


def test_whoever_writes_ends_their_look(store: Store) -> None:
    with closing(Store.open(Path(store.place), look=True)) as looking:
        add(looking, "ana")
        assert names(looking) == names(store) == ["ana"]


def test_an_error_ends_a_look(store: Store) -> None:
    with closing(Store.open(Path(store.place), look=True)) as looking:
        with pytest.raises(ValueError, match="x"), looking.read():
            raise ValueError("x")
        add(store, "ana")
        assert names(looking) == ["ana"]
