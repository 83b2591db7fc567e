"""All or nothing, one writer at a time, and what happens when the disk does not play along."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Lock, Semaphore, Timer
from time import monotonic
from typing import Any, SupportsIndex

import pytest
from servers import execute
from sqlalchemy import event

from fcpair.errors import BusyError, InputError, StudyError
from fcpair.records import Role
from fcpair.store import Store, people
from fcpair.store.corpus.grids import current_grid_id
from fcpair.store.database.backends import sqlite
from fcpair.store.database.store import FairLock
from fcpair.store.oversight import runs
from store.conftest import add, die_elsewhere, first_rows, names

pytestmark = pytest.mark.files

COULD_NOT_WAIT = "another process is writing to it; try again when that one is done; nothing was changed"


def test_what_was_written_is_there_when_the_study_is_opened_again_and_nothing_after_an_exception(store: Store) -> None:
    """In bulk work or not; then the store can be used as before."""
    for bulk in (False, True):
        for error in (ValueError("x"), KeyboardInterrupt(), InputError("x"), SystemExit(1)):
            with pytest.raises(type(error)), store.write(bulk=bulk) as tx:
                people.add_people(tx, ["ana"], Role.LEAD)
                raise error
    assert names(store) == []
    add(store, "ana")
    assert names(store) == names(Store.open(Path(store.place))) == ["ana"]
    with store.read() as tx:
        assert runs.study_facts(tx)["title"] == "A study"
        assert tx.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # on the disk before it is acknowledged


def test_a_reader_sees_one_state_throughout_and_more_can_read_than_any_pool_has_connections(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE_S", 0.1)  # of a commit: a writer may begin here, and not end
    other = Store.open(Path(store.place))
    with store.read() as tx:
        before = people.people(tx)
        with pytest.raises(StudyError):
            add(other, "ana")
        assert people.people(tx) == before
    with ExitStack() as readers:
        seen = [readers.enter_context(store.read()) for _ in range(60)]
        assert len({id(tx) for tx in seen}) == 60


def test_a_second_writer_waits_for_the_first_or_is_told_that_it_writes(store: Store) -> None:
    waits, leaves = Store.open(Path(store.place)), Store.open(Path(store.place))
    leaves._writing.patience_s = 0.1
    with store.write() as tx:
        waiting = threading.Thread(target=add, args=(waits, "ben"))
        waiting.start()
        people.add_people(tx, ["ana"], Role.LEAD)
        with pytest.raises(StudyError, match=COULD_NOT_WAIT):
            add(leaves, "cleo")
    waiting.join(20)
    assert names(store) == ["ana", "ben"]


def test_a_process_that_is_killed_in_the_middle_leaves_the_study_as_it_was(store: Store) -> None:
    """What was acknowledged before it stays."""
    die_elsewhere(store.place, 'add(store, "ana")')
    assert names(store) == ["ana"]
    half = """with store.write() as tx:
    tx.exec_driver_sql("PRAGMA cache_size = 1")
    people.add_people(tx, [f"p{at}" for at in range(3_000)], Role.LEAD)
    die()"""
    die_elsewhere(store.place, half)
    assert os.path.exists(f"{store.place}-journal")
    assert names(store) == ["ana"]


def test_a_full_disk_is_named_and_changes_nothing_and_the_study_can_be_written_when_there_is_room(store: Store) -> None:
    with store.read() as tx:
        pages = tx.exec_driver_sql("PRAGMA page_count").scalar()
    store._engine.dispose()

    def full(connection: Any, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(store._engine, "connect", full)
    with pytest.raises(StudyError, match="the disk is full; make room and try again; nothing was changed"):
        add(store, *(f"p{at}" for at in range(20_000)))
    assert names(store) == []
    reopened = Store.open(Path(store.place))
    add(reopened, "ana")
    assert names(reopened) == ["ana"]


@pytest.mark.parametrize(
    ("error", "message", "names_study"),
    [
        (OSError(28, "No space left on device"), r"No space left on device; the study was not changed$", True),
        (OSError(21, "Is a directory", "out.csv"), r"^out\.csv: Is a directory", False),  # it is about another file
    ],
)
def test_an_error_of_the_machine_names_the_study_or_its_file(
    store: Store, error: OSError, message: str, names_study: bool
) -> None:
    with pytest.raises(StudyError, match=message) as caught, store.write():
        raise error
    assert (store.place in str(caught.value)) == names_study


def test_a_study_that_cannot_be_made_is_named_and_leaves_no_file(tmp_path: Path) -> None:
    for error in (ValueError("x"), KeyboardInterrupt()):

        def fill(_tx: object, error: BaseException = error) -> None:
            raise error

        with pytest.raises(type(error)):
            Store.create(tmp_path / "s.db", fill)
        assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("x")
    for place in ("none/s.db", "file/s.db", "/proc/s.db"):
        with pytest.raises(StudyError, match="it cannot be opened; check that the folder exists and can be written"):
            Store.create(tmp_path / place, first_rows)
    Store.create(tmp_path / "s.db", first_rows)
    with pytest.raises(StudyError, match="exists already; choose another place"):
        Store.create(tmp_path / "s.db", first_rows)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no study at"),
        ("a folder", "there is no study at"),
        (b"hs,cn\na,b\n", "is not a study"),
        (b"", "is not a study"),
        (b"\x00" * 4096, "is not a study"),
        (b"SQLite format 3\x00" + b"\xff" * 5000, "not a study|damaged"),
        (b"SQLite format 3\x00", "not a study|damaged|no study"),
        ("CREATE TABLE other (x)", "is a database but not a study"),
        (
            "CREATE TABLE alembic_version (version_num); INSERT INTO alembic_version VALUES ('0001')",
            "is a database but not a study",
        ),
    ],
)
def test_what_is_no_study_is_refused(tmp_path: Path, content: bytes | str | None, message: str) -> None:
    path = tmp_path / "s.db"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content == "a folder":
        path.mkdir()
    elif content:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(content)
    with pytest.raises(StudyError, match=message) as caught:
        Store.open(path)
    assert str(path) in str(caught.value)


def test_a_study_of_a_newer_fcpair_is_refused_with_the_remedy(store: Store) -> None:
    execute(store.place, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StudyError, match=r"made by a newer fcpair \(its schema is 9999.*pip install --upgrade fcpair"):
        Store.open(Path(store.place))


def test_a_damaged_study_is_named_as_such(store: Store) -> None:
    add(store, *(f"p{at}" for at in range(2000)))
    store._engine.dispose()
    with Path(store.place).open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (os.path.getsize(store.place) - 4096))
    with pytest.raises(StudyError, match="the file is damaged; restore it from a copy"):
        names(Store.open(Path(store.place)))


def test_a_study_that_is_replaced_takes_nothing_more(store: Store, tmp_path: Path) -> None:
    """What is written into a file that nobody can find any more is lost."""
    place = Path(store.place)
    place.rename(tmp_path / "moved.db")
    with pytest.raises(StudyError, match="moved, deleted or replaced"), store.write():
        pass
    (tmp_path / "moved.db").rename(place)
    with store.write() as tx:
        people.add_people(tx, ["ana"], Role.ANNOTATOR)


def test_a_study_is_shared_as_soon_as_others_let_go_of_it_and_else_not_served(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(store.place, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        Timer(0.5, other.rollback).start()
        store.share()
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.close()
    again = Store.open(Path(store.place))
    monkeypatch.setattr("fcpair.store.database.store.SHARE_TRIES", 2)
    with closing(sqlite3.connect(store.place)) as writer:
        assert writer.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(StudyError, match="cannot be shared"):
            again.share()


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


def test_all_reads_of_a_look_see_one_state_each_of_its_grid(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE_S", 0.1)
    with closing(Store.open(Path(store.place), look=True)) as looking:
        assert names(looking) == []
        with pytest.raises(StudyError):
            add(store, "ana")
        assert names(looking) == names(looking.for_grid(1)) == []
        with looking.read(), looking.for_grid(2).read() as of_second:
            assert current_grid_id(of_second) == 2
        with looking.read() as tx:
            assert current_grid_id(tx) == 1
        looking.end_look()
        add(store, "ben")
        assert names(looking) == ["ben"]


def test_whoever_writes_or_fails_ends_their_look(store: Store) -> None:
    with closing(Store.open(Path(store.place), look=True)) as looking:
        add(looking, "ana")
        assert names(looking) == names(store) == ["ana"]
        with pytest.raises(ValueError, match="x"), looking.read():
            raise ValueError("x")
        add(store, "ben")
        assert names(looking) == ["ana", "ben"]


PATIENCE_S = 10.0


class Line(deque[Lock]):
    """Those who wait; `joined` counts how many have come."""

    def __init__(self) -> None:
        super().__init__()
        self.joined = Semaphore(0)

    def insert(self, i: SupportsIndex, x: Lock) -> None:
        super().insert(int(i), x)
        self.joined.release()


def in_line(turns: FairLock, *names: str, first: frozenset[str] = frozenset()) -> list[str]:
    """The order in which threads that ask one after the other get their turn, while somebody else has it."""
    order: list[str] = []

    def write(name: str) -> None:
        assert turns.acquire(PATIENCE_S, first=name in first)
        order.append(name)
        turns.release()

    turns._waiting = line = Line()
    assert turns.acquire(0)
    with ThreadPoolExecutor(len(names)) as pool:
        for name in names:
            pool.submit(write, name)
            assert line.joined.acquire(timeout=PATIENCE_S)
        turns.release()
    return order


def test_who_came_first_is_first_but_an_answer_goes_before_all_that_wait() -> None:
    assert in_line(FairLock(30), "one", "two", "three", "four") == ["one", "two", "three", "four"]
    assert in_line(FairLock(30), "one", "two", "answer", first=frozenset({"answer"})) == ["answer", "one", "two"]


def test_who_gives_up_keeps_nobody_waiting() -> None:
    turns = FairLock(30)
    assert turns.acquire(0)
    assert not turns.acquire(0)
    assert not turns.acquire(0.01)
    turns.release()
    assert in_line(turns, "one") == ["one"]
