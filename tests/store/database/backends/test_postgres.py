"""What a study in PostgreSQL promises that a file gets from SQLite."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

import psycopg
import pytest
from click.testing import CliRunner
from servers import Server
from sqlalchemy import exc, text

from fcpair.cli import main
from fcpair.errors import BusyError, StudyError
from fcpair.params import Setup
from fcpair.records import Role
from fcpair.store import Store, people
from fcpair.store.database import backends
from fcpair.store.database.backends import postgres_server
from fcpair.store.database.tables import person
from fcpair.store.oversight import runs
from fcpair.study import Study
from store.conftest import add, first_rows, names, undone

pytestmark = pytest.mark.files  # of which there is none here; each test names its database


@pytest.fixture
def url(postgres: Server) -> Iterator[str]:
    name = f"study_{uuid4().hex}"
    yield postgres.at(name).render_as_string(hide_password=False)
    postgres.drop(name)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    made = Store.create(url, first_rows)
    yield made
    made.close()


def test_the_database_is_made_where_it_is_not_there_and_begun_again_where_it_is_empty(url: str) -> None:
    def fails(_tx: object) -> None:
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        Store.create(url, fails)
    assert not Study.exists(url)
    study = Study.create(url, Setup(title="On a server"))
    study.close()
    with closing(Study(url)) as again:
        assert again.facts["title"] == "On a server"
    with pytest.raises(StudyError, match="has tables already; choose another database"):
        Study.create(url)


def test_a_database_without_a_study_is_named_and_what_others_have_in_it_left_alone(url: str, postgres: Server) -> None:
    result = CliRunner().invoke(main, ["status", "--study", url])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "does not exist" in result.stderr
    assert "nothing was changed" not in result.stderr
    made = postgres.make(url.rpartition("/")[2].partition("?")[0])
    with pytest.raises(StudyError, match=r"there is no study at .*; `fcpair init --study"):
        Study(url)
    plain = made.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as connection:
        connection.execute("CREATE TABLE theirs (id int)")
    with pytest.raises(StudyError, match="has tables already"):
        Study.create(url)
    with pytest.raises(StudyError, match="is a database but not a study"):
        Study(url)


def test_a_password_is_in_no_message_and_told_to_programs_by_their_environment_alone() -> None:
    place = "postgresql+psycopg://ana:s3cret@127.0.0.1:1/none"
    for command in (["status"], ["init"], ["doctor"], ["run", "examples/ask.toml"]):
        result = CliRunner().invoke(main, [*command, "--study", place])
        assert result.exit_code == 2
        assert "s3cret" not in result.output
        assert "cannot be reached" in result.stderr
    shows = "import os, sys; print(sys.argv[-1], os.environ['PGPASSWORD'])"
    place = "postgresql+psycopg://ana:s3cret@host/db"
    with postgres_server._tool_process([sys.executable, "-c", shows], place, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read().decode().split() == ["--dbname=postgresql://ana@host/db", "s3cret"]


def test_what_is_no_url_of_a_study_is_refused(tmp_path: Path) -> None:
    for place, message in {
        "mysql://ana@host/db": "a study is a file or a PostgreSQL database, not mysql",
        "postgresql://host": "names no database",
        "postgresql+psycopg://h:port/db": "this is not a database URL",
    }.items():
        with pytest.raises(StudyError, match=message):
            Study(place)
    assert not backends.is_url(tmp_path / "postgresql:" / "x")


def test_answers_are_only_ever_added_on_the_disk_and_numbers_have_no_gap_after_what_was_undone(store: Store) -> None:
    with store.write() as tx:
        tx.execute(text("INSERT INTO text (kind, digest, body, meta) VALUES ('hs', 'a', 'a', '{}')"))
        tx.execute(text("INSERT INTO cell VALUES (1, 1, 1)"))
        tx.execute(text("INSERT INTO adjudication (cell_id, rule, note, at) VALUES (1, '', '', '')"))
    for act in ("UPDATE adjudication SET note = ''", "DELETE FROM adjudication", "TRUNCATE judgement"):
        with pytest.raises(exc.IntegrityError, match="is append-only"), store.write() as tx:
            tx.execute(text(act))
    for is_undone in (True, False):
        with store.write() as tx:
            run = runs.add_run(tx, "x", {}, {}, "1", None)
            if is_undone:
                tx.rollback()
    assert run.id == 1
    with store.read() as tx:
        assert tx.execute(text("SHOW synchronous_commit")).scalar() == "on"


def test_who_reads_sees_one_state_throughout_and_can_write_nothing(store: Store) -> None:
    with store.read() as tx:
        before = people.people(tx)
        add(store, "ana")
        assert people.people(tx) == before
    assert names(store) == ["ana"]
    words = ["b", "B", "ä", "a-c", "ab"]
    with undone(store) as tx:  # which are in the order of their characters
        people.add_people(tx, words, Role.LEAD)
        rows = tx.execute(person.select().where(person.c.name != "ana").order_by(person.c.name)).all()
    assert [row.name for row in rows] == sorted(words)
    with pytest.raises(StudyError, match="takes no changes"), store.read() as tx:
        runs.add_run(tx, "x", {}, {}, "1", None)


def test_who_writes_alone_waits_for_all_others_and_they_for_it(store: Store, url: str) -> None:
    other = Store.open(url)
    other._writing.patience_s = 0.3
    for first, second in ((True, True), (True, False), (False, True)):
        with store.write(alone=first), pytest.raises(BusyError, match="another process is writing"):
            add(other, "ben", alone=second)
    with store.write(alone=False):
        add(other, "ben", alone=False)
    assert names(store) == ["ben"]
    other.close()


def test_a_row_that_is_held_is_had_by_one_at_a_time(store: Store, url: str) -> None:
    add(store, "ana")
    other, order, held = Store.open(url), list[str](), Event()

    def hold_too() -> None:
        held.wait(20)
        with other.write(alone=False) as tx:
            backends.backend_of(tx).hold_rows(tx, person, [1])
            order.append("second")

    waiting = Thread(target=hold_too)
    waiting.start()
    with store.write(alone=False) as tx:
        backends.backend_of(tx).hold_rows(tx, person, [1])
        held.set()
        waiting.join(0.3)
        order.append("first")
    waiting.join(20)
    assert order == ["first", "second"]
    other.close()


def test_a_server_that_ends_connections_is_told_with_whether_nothing_was_changed_and_all_goes_on(
    store: Store, postgres: Server
) -> None:
    """A command that has written may read afterwards, and the reader does not know of it."""
    add(store, "ana")
    name = store.place.rpartition("/")[2].partition("?")[0]
    ended = "cannot be reached, or has ended the connection"
    with pytest.raises(StudyError, match=ended) as reading, store.read() as tx:
        postgres.close_others(name)
        people.people(tx)
    with pytest.raises(StudyError) as writing, store.write() as tx:
        postgres.close_others(name)
        people.add_people(tx, ["ben"], Role.LEAD)
    assert ["nothing was changed" in str(error.value) for error in (reading, writing)] == [False, True]
    assert names(store) == ["ana"]
