"""Studies of an older fcpair: refused with the command that upgrades them, upgraded, and then used.

`schemas/` has a real study file of every older schema: the small study of `steps.small` at its stage `checking`, made
by the fcpair of that time.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import Connection
from steps.online import at_desk, give
from steps.small import dump, labels_of

from fcpair.cli import main
from fcpair.errors import StudyError
from fcpair.params import Adjudicate
from fcpair.records import Origin
from fcpair.store import decisions, schema
from fcpair.study import Study

SCHEMAS = Path(__file__).parent / "schemas"
FILES = sorted(SCHEMAS.glob("*.sqlite"))


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copy(request.param, tmp_path / "study.db"))


def _copy_of(older: Path) -> Path:
    """Where the upgrade keeps the study as it was."""
    with closing(sqlite3.connect(older)) as connection:
        (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return older.with_name(f"study-{revision}.db")


def test_there_is_a_file_of_every_older_schema() -> None:
    assert tuple(path.stem for path in FILES) == schema.OLDER


def test_it_is_refused_with_the_command_that_upgrades_it(older: Path) -> None:
    before = dump(older)
    result = CliRunner().invoke(main, ["status", "--study", str(older)])
    assert result.exit_code == 2
    assert f"`fcpair upgrade --study {older}`" in result.stderr
    assert dump(older) == before


def test_the_upgrade_keeps_a_copy_of_it_as_it_was(older: Path) -> None:
    before, copy = dump(older), _copy_of(older)
    result = CliRunner().invoke(main, ["upgrade", "--study", str(older)])
    assert result.stdout == f"{older}: upgraded; as it was, it is {copy}\n"
    assert dump(copy) == before


def test_an_upgrade_that_has_been_done_changes_nothing(older: Path) -> None:
    Study.upgrade(older)
    before = dump(older)
    result = CliRunner().invoke(main, ["upgrade", "--study", str(older)])
    assert result.stdout == f"{older}: up to date already\n"
    assert dump(older) == before


def test_an_upgrade_that_fails_leaves_it_as_it_was(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dump(older)

    whole = schema.upgrade

    def fail(conn: Connection) -> None:
        whole(conn)
        raise sqlite3.OperationalError("stopped before the end")

    monkeypatch.setattr(schema, "upgrade", fail)
    with pytest.raises(sqlite3.OperationalError):
        Study.upgrade(older)
    assert dump(older) == before


def test_it_is_not_upgraded_where_the_copy_would_replace_a_file(older: Path) -> None:
    before = dump(older)
    _copy_of(older).touch()
    with pytest.raises(StudyError, match="move it away"):
        Study.upgrade(older)
    assert dump(older) == before


def test_the_tables_are_those_of_a_new_study(older: Path, tmp_path: Path) -> None:
    Study.upgrade(older)
    assert _schema(older) == _schema(Path(Study.create(tmp_path / "new.db").place))


def _schema(path: Path) -> dict[str, set[tuple[object, ...]]]:
    """The columns of each table, and every trigger and index by name."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        named = connection.execute("SELECT type, name FROM sqlite_master").fetchall()
        tables = [name for kind, name in named if kind == "table"]
        columns = {name: {row[1:] for row in connection.execute(f"PRAGMA table_info({name})")} for name in tables}
    kept = {(kind, name) for kind, name in named if name != "pair_sealed"}  # a new study has no pairs to seal
    return {**columns, "named": kept}


def test_it_can_be_used_and_has_lost_nothing(older: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(older)) as connection:
        (n_before,) = connection.execute("SELECT count(*) FROM judgement").fetchone()
    Study.upgrade(older)
    study = Study.open(older)
    assert len(labels_of(study)) == n_before == 42
    assert study.facts["title"] == "Small"
    assert study.guidelines == (1, "")
    desk, vera = at_desk(study, "vera")
    while desk.tasks(vera):
        give(desk, vera, "agree")
    study.adjudicate(Adjudicate("majority", "discard"))
    assert study.partition().pairs["tier"].max() == 4
    with study._store.read() as tx:
        assert decisions.n_judgements(tx, origin=Origin.ONLINE) > 0


def test_judgements_are_still_append_only(older: Path) -> None:
    Study.upgrade(older)
    with (
        closing(sqlite3.connect(older)) as connection,
        pytest.raises(sqlite3.IntegrityError, match="append-only"),
    ):
        connection.execute("UPDATE judgement SET guideline_id = 1")
