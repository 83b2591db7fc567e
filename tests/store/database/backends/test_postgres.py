"""What a study in PostgreSQL promises that a file gets from SQLite."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

import psycopg
import pytest
from click.testing import CliRunner
from servers import Server
from sqlalchemy import URL, exc, text

from fcpair.cli import main
from fcpair.errors import BusyError, StudyError
from fcpair.params import Setup
from fcpair.records import Role
from fcpair.store import Store
from fcpair.store.database import backends
from fcpair.store.database.backends import postgres_server
from fcpair.store.database.tables import person
from fcpair.store.oversight import runs
from fcpair.store.people import people
from fcpair.study import Study
from store.conftest import first_rows

pytestmark = pytest.mark.files  # of which there is none here; each test names its database


def as_text(url: URL) -> str:
    return url.render_as_string(hide_password=False)


@pytest.fixture
def url(postgres: Server) -> Iterator[str]:
    name = f"study_{uuid4().hex}"
    yield as_text(postgres.at(name))
    postgres.drop(name)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    made = Store.create(url, first_rows)
    yield made
    made.close()


def add(store: Store, name: str, *, alone: bool = True) -> None:
    with store.write(alone=alone) as tx:
        people.add_people(tx, [name], Role.LEAD)


def names(store: Store) -> list[str]:
    with store.read() as tx:
        return [one.name for one in people.people(tx)]


def test_the_database_is_made_where_it_is_not_there(url: str) -> None:
    study = Study.create(url, Setup(title="On a server"))
    study.close()
    again = Study(url)
    assert again.facts["title"] == "On a server"
    again.close()
    with pytest.raises(StudyError, match="has tables already; choose another database"):
        Study.create(url)


def test_a_database_with_tables_of_others_is_left_alone(url: str, postgres: Server) -> None:
    made = postgres.make(url.rpartition("/")[2].partition("?")[0])
    plain = as_text(made.set(drivername="postgresql"))
    with psycopg.connect(plain) as connection:
        connection.execute("CREATE TABLE theirs (id int)")
    with pytest.raises(StudyError, match="has tables already"):
        Study.create(url)
    with pytest.raises(StudyError, match="is a database but not a study"):
        Study(url)


def test_a_study_that_could_not_be_begun_leaves_an_empty_database(url: str) -> None:
    def fails(_tx: object) -> None:
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        Store.create(url, fails)
    assert not Study.exists(url)
    Study.create(url).close()


def test_a_study_that_is_not_there_is_said_with_what_makes_one(url: str, postgres: Server) -> None:
    result = CliRunner().invoke(main, ["status", "--study", url])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "does not exist" in result.stderr
    assert "nothing was changed" not in result.stderr
    postgres.make(url.rpartition("/")[2].partition("?")[0])
    with pytest.raises(StudyError, match=r"there is no study at .*; `fcpair init --study"):
        Study(url)


def test_a_password_is_in_no_message() -> None:
    place = "postgresql+psycopg://ana:s3cret@127.0.0.1:1/none"
    for command in (["status"], ["init"], ["doctor"], ["run", "examples/ask.toml"]):
        result = CliRunner().invoke(main, [*command, "--study", place])
        assert result.exit_code == 2
        assert "s3cret" not in result.output
        assert "cannot be reached" in result.stderr


def test_a_password_is_told_to_programs_of_postgresql_by_their_environment_alone() -> None:
    shows = "import os, sys; print(sys.argv[-1], os.environ['PGPASSWORD'])"
    place = "postgresql+psycopg://ana:s3cret@host/db"
    with postgres_server._tool_process([sys.executable, "-c", shows], place, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read().decode().split() == ["--dbname=postgresql://ana@host/db", "s3cret"]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("mysql://ana@host/db", "a study is a file or a PostgreSQL database, not mysql"),
        ("postgresql://host", "names no database"),
        ("postgresql+psycopg://h:port/db", "this is not a database URL"),
    ],
)
def test_what_is_no_url_of_a_study_is_refused(place: str, said: str) -> None:
    with pytest.raises(StudyError, match=said):
        Study(place)


@pytest.mark.parametrize("act", ["UPDATE adjudication SET note = ''", "DELETE FROM adjudication", "TRUNCATE judgement"])
def test_answers_and_decisions_are_only_ever_added(store: Store, act: str) -> None:
    with store.write() as tx:
        tx.execute(text("INSERT INTO text (kind, digest, body, meta) VALUES ('hs', 'a', 'a', '{}')"))
        tx.execute(text("INSERT INTO cell VALUES (1, 1, 1)"))
        tx.execute(text("INSERT INTO adjudication (cell_id, rule, note, at) VALUES (1, '', '', '')"))
    with pytest.raises(exc.IntegrityError, match="is append-only"), store.write() as tx:
        tx.execute(text(act))


def test_who_reads_sees_one_state_throughout(store: Store) -> None:
    with store.read() as tx:
        before = people.people(tx)
        add(store, "ana")
        assert people.people(tx) == before
    assert names(store) == ["ana"]


def test_who_only_reads_can_write_nothing(store: Store) -> None:
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


def test_what_was_acknowledged_waits_for_the_disk(store: Store) -> None:
    with store.read() as tx:
        assert tx.execute(text("SHOW synchronous_commit")).scalar() == "on"


def test_a_server_that_ends_connections_is_told_and_all_goes_on(store: Store, postgres: Server) -> None:
    add(store, "ana")
    name = store.place.rpartition("/")[2].partition("?")[0]
    with pytest.raises(StudyError, match="cannot be reached, or has ended the connection"), store.read() as tx:
        postgres.close_others(name)
        people.people(tx)
    assert names(store) == ["ana"]


def test_only_who_wrote_and_has_not_committed_is_told_that_nothing_was_changed(store: Store, postgres: Server) -> None:
    """A command that has written may read afterwards, and the reader does not know of it."""
    name = store.place.rpartition("/")[2].partition("?")[0]
    with pytest.raises(StudyError) as reading, store.read() as tx:
        postgres.close_others(name)
        people.people(tx)
    with pytest.raises(StudyError) as writing, store.write() as tx:
        postgres.close_others(name)
        people.add_people(tx, ["ben"], Role.LEAD)
    claims = ["nothing was changed" in str(one.value) for one in (reading, writing)]
    assert claims == [False, True]
    assert names(store) == []


def test_words_are_in_the_order_of_their_characters(store: Store) -> None:
    with store.write() as tx:
        people.add_people(tx, ["b", "B", "ä", "a-c", "ab"], Role.LEAD)
        found = tx.execute(person.select().order_by(person.c.name)).all()
    assert [row.name for row in found] == sorted(["b", "B", "ä", "a-c", "ab"])


def test_numbers_have_no_gap_after_what_was_undone(store: Store) -> None:
    for undone in (True, False):
        with store.write() as tx:
            run = runs.add_run(tx, "x", {}, {}, "1", None)
            if undone:
                tx.rollback()
    assert run.id == 1


def test_the_file_of_an_empty_path_is_no_url(tmp_path: Path) -> None:
    assert not backends.is_url(tmp_path / "postgresql:" / "x")
