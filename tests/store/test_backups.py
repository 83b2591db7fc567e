"""Backups: whole or refused, of both databases, while people answer, and restored only where nothing is."""

from __future__ import annotations

import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from servers import Server
from steps.online import at_desk, give
from steps.small import dump

from fcpair.cli import main
from fcpair.errors import StudyError
from fcpair.store import backups
from fcpair.store.database import backends, backup_format, schema
from fcpair.store.database.backends import Place, postgres_server, sqlite_file
from fcpair.store.database.backup_format import Manifest
from fcpair.study import Study
from store.conftest import KINDS, NewPlace, being_answered

pytestmark = pytest.mark.files  # each is about both databases

N_FLIPS, N_CUTS = 150, 40


Studies = Callable[[str, str], Place]


@pytest.fixture
def studies(files: dict[str, Path], new: NewPlace, programs: Path) -> Studies:
    """The small study at a stage, of either kind."""

    def make(kind: str, stage: str) -> Place:
        place = new(kind)
        Study.copy(files[stage], place, lambda done, total: None)
        return place

    return make


def digest_of(place: Place, new: NewPlace) -> str:
    """The digest of all rows."""
    return Study.copy(place, new("file"), lambda done, total: None).digest


@pytest.fixture(scope="module")
def whole(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a small study in a file."""
    return Study.back_up(files["checked"], tmp_path_factory.mktemp("backup") / "small.backup")


def test_whoever_takes_it_for_a_study_is_told_of_restore_and_it_can_be_unpacked_without_fcpair(
    whole: Path, files: dict[str, Path], tmp_path: Path
) -> None:
    """Also one that is cut off, or of a database."""
    for words in (["status"], ["doctor"], ["doctor", "--as-it-is"], ["upgrade"], ["serve"], ["backup", "again.backup"]):
        result = CliRunner().invoke(main, [*words, "--study", str(whole)])
        assert result.exit_code == 2
        assert f"{whole} is a backup of a study; `fcpair restore {whole} --study OTHER` brings" in result.stderr
    cut = tmp_path / "cut.backup"
    cut.write_bytes(whole.read_bytes()[:3000])
    of_database = Path(__file__).parents[1] / "assets" / "0014-postgresql.backup"
    for file in (cut, of_database):
        with pytest.raises(StudyError, match="is a backup of a study; `fcpair restore"):
            Study(file)
    shutil.unpack_archive(whole, tmp_path, "zip")
    assert dump(tmp_path / "study.sqlite") == dump(files["checked"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stage", ["empty", "checked"])
def test_what_is_restored_is_the_same_study(
    studies: Studies, new: NewPlace, tmp_path: Path, kind: str, stage: str
) -> None:
    source, again = studies(kind, stage), new(kind)
    file = Study.back_up(source, tmp_path / "one.backup")
    restored = Study.restore(file, again)
    assert restored.health is not None
    kind_name = {"file": "sqlite", "database": "postgresql"}[kind]
    assert (restored.kind, restored.schema, restored.health.is_sound) == (kind_name, schema.HEAD, True)
    assert digest_of(again, new) == digest_of(source, new)


@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_study_is_worked_on(studies: Studies, new: NewPlace, tmp_path: Path, kind: str) -> None:
    again = new(kind)
    Study.restore(Study.back_up(studies(kind, "checking"), tmp_path / "one.backup"), again)
    study = Study(again)
    desk, vera = at_desk(study, "vera")
    while desk.tasks(vera):
        give(desk, vera, "agree")
    study.close()
    assert Study.doctor(again).is_sound


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_while_people_answer_is_sound(studies: Studies, new: NewPlace, tmp_path: Path, kind: str) -> None:
    source = studies(kind, "dealt")
    with being_answered(source):
        made = [Study.back_up(source, tmp_path / f"{at}.backup") for at in range(3)]
    for file in made:
        health = Study.restore(file, new(kind)).health
        assert health is not None
        assert health.is_sound


def test_a_backup_is_readable_to_its_owner_alone_nothing_else_is_left_and_no_file_is_replaced(
    files: dict[str, Path], tmp_path: Path
) -> None:
    file, again = tmp_path / "one.backup", tmp_path / "again.db"
    file.write_bytes(b"mine")
    with pytest.raises(StudyError, match="exists already; name another file"):
        Study.back_up(files["checked"], file)
    assert file.read_bytes() == b"mine"
    file.unlink()
    Study.back_up(files["checked"], file)
    assert list(tmp_path.iterdir()) == [file]
    Study.restore(file, again)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, again)] == [0o600, 0o600]
    assert sorted(tmp_path.iterdir()) == [again, file]


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_that_is_there_is_not_restored_over(studies: Studies, new: NewPlace, tmp_path: Path, kind: str) -> None:
    there, other = studies(kind, "dealt"), studies(kind, "checked")
    before = Study.doctor(there).digest
    file = Study.back_up(other, tmp_path / "one.backup")
    with pytest.raises(StudyError, match=r"exists already|has tables already"):
        Study.restore(file, there)
    assert Study.doctor(there).digest == before


def test_where_a_study_is_being_restored_none_is_begun(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Formerly its empty file was taken for one that was left, and then the study that had been begun was replaced."""
    target = tmp_path / "again.db"
    unpack, begun = sqlite_file.unpack, []

    def meanwhile(content: Any, path: Path) -> None:
        with pytest.raises(StudyError, match="exists already"):
            Study.create(target)
        begun.append(path)
        unpack(content, path)

    monkeypatch.setattr(sqlite_file, "unpack", meanwhile)
    Study.restore(whole, target)
    assert len(begun) == 1
    assert Study.doctor(target).is_sound


def test_a_backup_goes_back_to_the_kind_of_place_it_is_of(studies: Studies, new: NewPlace, tmp_path: Path) -> None:
    for kind, other in (KINDS, KINDS[::-1]):
        place = new(other)
        with pytest.raises(StudyError, match="`fcpair copy` takes it to"):
            Study.restore(Study.back_up(studies(kind, "empty"), tmp_path / f"{kind}.backup"), place)
        assert not backends.at(place).is_there(place)


def refused(file: Path, target: Path) -> str:
    """What is said of a backup that is not restored; nothing is left where it was to go."""
    with pytest.raises(StudyError) as found:
        Study.check_backup(file)
    with pytest.raises(StudyError) as again:
        Study.restore(file, target)
    assert str(found.value) == str(again.value)
    assert not target.exists()
    assert not list(target.parent.glob("tmp*"))
    return str(found.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_bit_that_has_turned_is_found_wherever_it_is(studies: Studies, tmp_path: Path, kind: str) -> None:
    file = Study.back_up(studies(kind, "checked"), tmp_path / "one.backup")
    content, draw = file.read_bytes(), random.Random(7)
    ends = [*range(40), *range(len(content) - 800, len(content))]
    for at in (*ends, *(draw.randrange(len(content)) for _ in range(N_FLIPS))):
        flipped = bytearray(content)
        flipped[at] ^= 1 << draw.randrange(8)
        file.write_bytes(flipped)
        with pytest.raises(StudyError, match=r"is damaged|is not a backup"):
            backups.check(file)
    assert "is damaged" in refused(file, tmp_path / "again.db")


def test_a_file_that_was_cut_off_is_found(whole: Path, tmp_path: Path) -> None:
    content, draw, file = whole.read_bytes(), random.Random(7), tmp_path / "cut.backup"
    for length in (0, 1, 3, 4, len(content) - 1, *(draw.randrange(len(content)) for _ in range(N_CUTS))):
        file.write_bytes(content[:length])
        assert "is truncated" in refused(file, tmp_path / "again.db")
    file.write_bytes(content + b"\0")
    assert "is not a backup" in refused(file, tmp_path / "again.db")


def test_another_file_is_no_backup(files: dict[str, Path], tmp_path: Path) -> None:
    for name, content in (("study", files["checked"].read_bytes()), ("text", b"PK\x03\x04" * 100)):
        file = tmp_path / name
        file.write_bytes(content)
        assert "is not a backup that `fcpair backup` wrote" in refused(file, tmp_path / "again.db")
    assert "there is no backup" in refused(tmp_path / "none", tmp_path / "again.db")


@pytest.mark.parametrize("change", [{"schema": "0999"}, {"kind": "oracle"}, {"format": 2}])
def test_one_of_a_newer_fcpair_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    like: dict[str, Any] = {"kind": "sqlite", "schema": "0006", "fcpair": "9.0", "at": "2030", "member": "study.sqlite"}
    file = tmp_path / "newer.backup"
    backup_format.write(file, Manifest(**(like | change)), lambda to: to.write(b"x"))
    assert "newer fcpair" in refused(file, tmp_path / "again.db")


def test_a_disk_that_fills_up_half_way_leaves_nothing(files: dict[str, Path], whole: Path, tmp_path: Path) -> None:
    program = f"{sys.executable} -m fcpair"
    for command in (
        f"backup {tmp_path}/one.backup --study {files['checked']}",
        f"restore {whole} --study {tmp_path}/one.db",
    ):
        made = subprocess.run(
            ["bash", "-c", f"ulimit -f 100; exec {program} {command}"], capture_output=True, text=True, check=False
        )
        assert (made.returncode, "Error: " in made.stderr) == (2, True), made.stderr
        assert list(tmp_path.iterdir()) == []


@pytest.fixture
def bin_(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which programs of PostgreSQL's are looked for, and which has none."""
    folder = tmp_path_factory.mktemp("bin")
    monkeypatch.setenv(postgres_server.FOLDER, str(folder))
    return folder


def test_a_pg_dump_that_is_missing_or_too_old_is_asked_for_and_one_that_fails_leaves_nothing(
    studies: Studies, bin_: Path, tmp_path: Path
) -> None:
    source, file = studies("database", "empty"), tmp_path / "one.backup"
    with pytest.raises(StudyError, match=r"pg_dump was not found in .*apt-get install postgresql-client"):
        Study.back_up(source, file)
    fails = "head -c 100000 /dev/zero; echo 'pg_dump: error: server closed' >&2; exit 1"
    for version, does, message in (
        ("9.6", "exit 0", r"pg_dump is of PostgreSQL 9, and \d+ or newer is needed"),
        ("99.1", fails, "pg_dump failed: pg_dump: error: server closed"),
    ):
        program = f'[ "$1" = --version ] && {{ echo "pg_dump (PostgreSQL) {version}"; exit 0; }}\n{does}'
        (bin_ / "pg_dump").write_text(f"#!/bin/sh\n{program}\n")
        (bin_ / "pg_dump").chmod(0o755)
        with pytest.raises(StudyError, match=message):
            Study.back_up(source, file)
    assert list(tmp_path.iterdir()) == []


def test_a_pg_restore_that_fails_leaves_nothing(
    studies: Studies, new: NewPlace, tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, target = Study.back_up(studies("database", "checked"), tmp_path / "one.backup"), new("database")
    monkeypatch.setattr("shutil.copyfileobj", lambda content, to: to.write(content.read(20_000)))
    with pytest.raises(StudyError, match="pg_restore failed"):
        Study.restore(file, target)
    assert not backends.at(target).is_there(target)


@pytest.mark.parametrize("kind", KINDS)
def test_the_commands_back_up_check_and_restore(studies: Studies, new: NewPlace, tmp_path: Path, kind: str) -> None:
    source, again, file = str(studies(kind, "checked")), str(new(kind)), str(tmp_path / "one.backup")
    run = CliRunner().invoke
    made = run(main, ["backup", file, "--study", source])
    assert (made.exit_code, made.stdout) == (0, f"{backends.display_name(source)}: backed up to {file}\n")
    checked = run(main, ["restore", file, "--check"])
    assert (checked.exit_code, checked.stdout.startswith(f"{file}: as it was written 20")) == (0, True)
    assert ("was not examined" in checked.stderr) == (kind == "database")
    restored = run(main, ["restore", file, "--study", again])
    assert (restored.exit_code, "All is well" in restored.stdout) == (0, True), restored.output
    refused_ = run(main, ["restore", file, "--study", again])
    assert (refused_.exit_code, refused_.stdout) == (2, "")
    assert "already" in refused_.stderr


@pytest.mark.parametrize("door", ["restore", "copy"])
def test_a_database_is_made_only_where_that_was_asked_for(
    studies: Studies, postgres: Server, tmp_path: Path, door: str
) -> None:
    """Its name may be mistyped."""
    source, name = str(studies("database", "checked")), f"typo_{tmp_path.name[-20:]}"
    target, file = str(postgres.at(name).render_as_string(hide_password=False)), str(tmp_path / "one.backup")
    Study.back_up(source, file)
    words = ["restore", file, "--study", target] if door == "restore" else ["copy", source, target]
    refused_ = CliRunner().invoke(main, words)
    assert (refused_.exit_code, refused_.stdout, postgres.has(name)) == (2, "", False)
    assert f"there is no database {name} at " in refused_.stderr
    assert "check its name, or create it with `--create`" in refused_.stderr
    try:
        made = CliRunner().invoke(main, [*words, "--create"])
        assert (made.exit_code, postgres.has(name)) == (0, True), made.output
    finally:
        postgres.drop(name)


def test_what_was_changed_before_the_backup_is_found_after_it(files: dict[str, Path], tmp_path: Path) -> None:
    changed = Path(shutil.copy(files["checked"], tmp_path / "changed.db"))
    with closing(sqlite3.connect(changed)) as connection, connection:
        connection.execute("UPDATE text SET body = 'other' WHERE id = 2")
    Study.back_up(changed, tmp_path / "one.backup")
    result = CliRunner().invoke(main, ["restore", str(tmp_path / "one.backup"), "--study", str(tmp_path / "again.db")])
    assert (result.exit_code, "text 2 was changed" in result.stdout) == (1, True)
