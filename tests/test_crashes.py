"""The benchmark `crashes` in short: stages that are killed at random moments, and what is left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from servers import Server

from benchmarks.crash.places import Databases, Files, Places
from benchmarks.crashes import crash, warm_up
from fcpair.errors import StudyError
from fcpair.store import Store
from fcpair.store.database.backends import at
from fcpair.study import Study

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
