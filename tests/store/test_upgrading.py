"""Studies of an older fcpair: refused with the command that upgrades them, upgraded, and then used.

`tests/assets/` has a real study file of every older schema: the small study of `steps.small` at its stage `checking`,
made by the fcpair of that time.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from importlib import resources
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from servers import Server
from sqlalchemy import Connection
from steps.online import at_desk, give
from steps.small import build_to, dump, labels_of, write_csv
from web.served import Served

from fcpair.cli import main
from fcpair.errors import ConflictError, InputError, StudyError
from fcpair.params import Adjudicate, Annotate, Evaluate, Pair, Partition
from fcpair.records import Origin, Role
from fcpair.stages.questions.labels import read_labels
from fcpair.steps.answers.import_fc_conan import is_published_partition
from fcpair.store.answers import judgements
from fcpair.store.database import hash_chain, schema
from fcpair.store.database.backends.postgres_server import StudyServer
from fcpair.store.oversight import settings
from fcpair.study import Study
from fcpair.work_records import Submission

pytestmark = pytest.mark.files

SCHEMAS = Path(__file__).parents[1] / "assets"
FILES = sorted(SCHEMAS.glob("*.sqlite"))
BACKUPS = sorted(SCHEMAS.glob("*-postgresql.backup"))  # of each schema since 0006, which was the first there
# What is between the oldest and the newest of them is upgraded by `make test-slow`.
EACH = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path not in (FILES[0], FILES[-1]))) for path in FILES
]


@pytest.fixture(params=EACH)
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copy(request.param, tmp_path / "study.db"))


def older_of(revision: str, folder: Path, *statements: str) -> Path:
    """A copy of the file of a schema, with what is done to it behind its back."""
    path = Path(shutil.copy(SCHEMAS / f"{revision}.sqlite", folder / f"{revision}.db"))
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return path


ADD_RUN = "INSERT INTO run (stage, params, counts, version, at) VALUES ('{}', '{}', '{{}}', '0.3.0', '2026-11-20')"


def added_run(stage: str, **params: Any) -> str:
    return ADD_RUN.format(stage, json.dumps(params))


@pytest.fixture(scope="module", params=EACH)
def upgraded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A file of an older schema, and an upgraded copy of it; neither may be changed."""
    path = Path(shutil.copy(request.param, tmp_path_factory.mktemp("upgraded") / "study.db"))
    Study.upgrade(path)
    return request.param, path


def _backup_of(older: Path) -> Path:
    """Where the upgrade keeps the study as it was."""
    with closing(sqlite3.connect(older)) as connection:
        (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return older.with_name(f"study-{revision}.backup")


def test_there_is_a_study_of_every_older_schema() -> None:
    assert tuple(path.stem for path in FILES) == schema.OLDER
    since = [revision for revision in (*schema.OLDER, schema.HEAD) if revision >= "0006"]
    assert [path.stem.partition("-")[0] for path in BACKUPS] == since


def test_it_is_refused_with_the_command_that_upgrades_it_once_and_keeps_a_backup_of_it_as_it_was(
    older: Path, tmp_path: Path
) -> None:
    before, backup, again = dump(older), _backup_of(older), tmp_path / "again.db"
    result = CliRunner().invoke(main, ["status", "--study", str(older)])
    assert result.exit_code == 2
    assert f"`fcpair upgrade --study {older}`" in result.stderr
    assert dump(older) == before
    result = CliRunner().invoke(main, ["upgrade", "--study", str(older)])
    assert result.stdout == f"{older}: upgraded; a backup from before is {backup}\n"
    restored = CliRunner().invoke(main, ["restore", str(backup), "--study", str(again)])
    assert (restored.exit_code, f"`fcpair upgrade --study {again}`" in restored.stderr) == (0, True)
    assert dump(again) == before
    upgraded = dump(older)
    result = CliRunner().invoke(main, ["upgrade", "--study", str(older)])
    assert result.stdout == f"{older}: up to date already\n"
    assert dump(older) == upgraded


def test_what_everybody_could_read_is_kept_to_its_owner_and_what_a_group_shares_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for before, after in {0o644: 0o600, 0o664: 0o600, 0o660: 0o660, 0o640: 0o640}.items():
        path = Path(shutil.copy(FILES[-1], tmp_path / f"study-{before:o}.db"))
        path.chmod(before)
        Study.upgrade(path)
        assert path.stat().st_mode & 0o777 == after
        note = f"its rights were {before:04o}), and now only its owner can; `chmod 660 {path}` lets its group in"
        assert (note in caplog.text) == (before != after)


def test_an_upgrade_that_fails_or_would_replace_a_file_leaves_it_as_it_was(
    older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, whole = dump(older), schema.upgrade

    def fail(conn: Connection) -> None:
        whole(conn)
        raise sqlite3.OperationalError("stopped before the end")

    with monkeypatch.context() as patch, pytest.raises(sqlite3.OperationalError):
        patch.setattr(schema, "upgrade", fail)
        Study.upgrade(older)
    assert dump(older) == before
    assert not _backup_of(older).exists()
    _backup_of(older).touch()
    with pytest.raises(StudyError, match="move that one away"):
        Study.upgrade(older)
    assert dump(older) == before


KILLED = """
import os, signal, sys
from fcpair.store.database import schema
from fcpair.study import Study

def die(_conn):
    os.kill(os.getpid(), signal.SIGKILL)

schema.upgrade = die
Study.upgrade(sys.argv[1])
"""


def kill_an_upgrade(place: str | Path) -> None:
    """Have an upgrade die when it has its backup and begins to change the study."""
    died = subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False)
    assert died.returncode == -signal.SIGKILL


def test_one_that_was_killed_is_in_no_way_of_the_next_and_no_backup_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, again = Path(shutil.copy(FILES[-1], tmp_path / "study.db")), tmp_path / "again.db"
    before, backup = dump(older), _backup_of(older)
    second = backup.with_name(f"{backup.stem}-2.backup")
    kill_an_upgrade(older)
    left = backup.read_bytes()

    def stop(_conn: Connection) -> None:
        raise sqlite3.OperationalError("stopped before the end")

    with monkeypatch.context() as patch, pytest.raises(sqlite3.OperationalError):
        patch.setattr(schema, "upgrade", stop)
        Study.upgrade(older)
    assert sorted(tmp_path.iterdir()) == [backup, older]
    result = CliRunner().invoke(main, ["upgrade", "--study", str(older)])
    assert result.stdout == f"{older}: upgraded; a backup from before is {second}\n"
    assert backup.read_bytes() == left
    for kept in (backup, second):
        Study.restore(kept, again)
        assert dump(again) == before
        again.unlink()
    assert Study.doctor(older).is_sound


def test_its_tables_are_those_of_a_new_study_and_its_neighbours_and_settings_hold(
    upgraded: tuple[Path, Path], tmp_path: Path
) -> None:
    schemas = []
    for path in (upgraded[1], Path(Study.create(tmp_path / "new.db").place)):
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            named = set(connection.execute("SELECT type, name FROM sqlite_master"))
            tables = [name for kind, name in named if kind == "table"]
            columns = {name: {row[1:] for row in connection.execute(f"PRAGMA table_info({name})")} for name in tables}
        schemas.append((columns, named - {("trigger", "cell_sealed")}))  # a new study has no pairs to seal
    assert schemas[0] == schemas[1]
    neighbours = "SELECT source_id, rank, cn_id, score FROM neighbour"
    with closing(sqlite3.connect(upgraded[0])) as before, closing(sqlite3.connect(upgraded[1])) as after:
        assert sorted(before.execute(neighbours)) == sorted(after.execute(f"{neighbours} WHERE run = ''"))
        assert after.execute("PRAGMA foreign_key_list(neighbour)").fetchall()
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            after.execute("UPDATE judgement SET guideline_id = 1")
    study = Study(upgraded[1])
    assert study.grid().effective_options(Adjudicate) == Adjudicate("majority", "wait")
    with study._store.read() as tx:
        kept = {stage: settings.of_stage(tx, stage) for stage in ("import", "select", "pair", "assign", "validate")}
    assert kept["import"]["only_language"] == "en"
    assert "path" in kept["import"]["path"]  # and since 0003 its digest
    assert kept["select"]["hs"] is None
    assert kept["pair"].items() >= {"candidates": None, "seed": 0}.items()
    overlap = {"2": 0.25, "3": 0.25}
    assigned = {"annotators": 3, "overlap": overlap, "annotator_groups": [], "order": "random", "seed": 1}
    assert kept["assign"].items() >= assigned.items()
    assert kept["validate"].items() >= {"validators": 2, "pairs": None, "blind": False, "seed": 1}.items()


def test_it_can_be_used_and_has_lost_nothing(upgraded: tuple[Path, Path], tmp_path: Path) -> None:
    with closing(sqlite3.connect(upgraded[0])) as connection:
        (n_before,) = connection.execute("SELECT count(*) FROM judgement").fetchone()
    study = Study(shutil.copy(upgraded[1], tmp_path / "study.db"))
    grid = study.grid()
    assert len(labels_of(study)) == n_before == 42
    assert study.facts["title"] == "Small"
    assert study.guidelines == (1, "")
    desk, vera = at_desk(study, "vera")
    while desk.tasks(vera):
        give(desk, vera, "agree")
    grid.adjudicate(Adjudicate("majority", "discard"))
    assert grid.tiers().table().pairs["tier"].max() == 4
    with study._store.read() as tx:
        assert judgements.n_by_origin(tx)[Origin.ONLINE.value] > 0


def test_the_log_of_0010_has_the_new_names_and_still_says_who_measured_agreement(tmp_path: Path) -> None:
    agreement = {"weights": "none", "not_sure": "drop", "by": "row"}
    planned = {"name": "other", "qualification": {"pairs": 3}, "agreement": agreement, "controls": None}
    added = added_run("agreement", **agreement), added_run("agreement", **{**agreement, "by": "lea"})
    path = older_of("0010", tmp_path, *added, added_run("grid", **planned))
    Study.upgrade(path)
    with Study(path) as study:
        *_, by_row, by_lea, grid = study.log()
        select = next(run for run in study.log() if run.stage == "select")
    assert by_row.params == {"weights": "none", "indefinite": "drop", "blocks": "row"}
    assert by_lea.by == "lea"
    assert grid.params["agreement"] == by_row.params
    assert grid.params["qualification"] == {"known_pairs": 3}
    assert list(select.params) == ["hs", "hs_list", "stratify", "seed", "sheet_name"]


LOSSES = (
    "DROP TRIGGER judgement_no_delete",
    "DELETE FROM judgement WHERE id = (SELECT max(id) FROM judgement)",
    "DELETE FROM run WHERE id = 2",
)
ACCEPTED = (
    "UPDATE extent SET last = last - 1 WHERE name = 'judgement'",
    "UPDATE extent SET last = last + 1, missing = 1 WHERE name = 'run'",
    "INSERT INTO run (stage, params, counts, version, at) VALUES ('accept', '{}', '{}', '0.8.0.dev0', '')",
)


def test_what_was_missing_in_0011_is_missed_unless_it_was_accepted(tmp_path: Path) -> None:
    missing = older_of("0011", tmp_path, *LOSSES)
    Study.upgrade(missing)
    message = r"judgement has 41 .* should have 42 .*run has 9 .* should have 10"
    with Study(missing) as study, pytest.raises(StudyError, match=message):
        study.examine()
    (tmp_path / "accepted").mkdir()
    accepted = older_of("0011", tmp_path / "accepted", *LOSSES, *ACCEPTED)
    Study.upgrade(accepted)
    with Study(accepted) as study:
        study.examine()
        study.add_people(["lea"], Role.LEAD)
        study.examine()


def test_what_0002_knew_of_limits_runs_and_a_verdict_that_waited_in_a_page_holds(tmp_path: Path) -> None:
    """The verdict, of 0.3.0, is not said to be about another label."""
    path = older_of("0002", tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        standing = dict(connection.execute("SELECT pair_id, max(id) FROM adjudication GROUP BY pair_id"))
    Study.upgrade(path)
    study = Study(path)
    own = study.grid().effective_options(Annotate)
    assert (own.daily_limit, own.total_limit, own.opt_out, own.contact) == (40, None, "hs_topic", "Ada")
    with closing(sqlite3.connect(path)) as connection:
        rows = dict(connection.execute("SELECT key, run_id FROM setting"))
    assert {rows["annotate.daily_limit"], rows["annotate.opt_out"]} == {11}
    assert (rows["adjudicate.policy"], rows["select.hs_list"]) == (8, 3)
    desk, vera = at_desk(study, "vera")
    (task,) = desk.tasks(vera)
    waited = Submission("waited", task.assignment_id, "agree", decision_id=standing[task.cell_id])
    with pytest.raises(ConflictError, match=r"does not say which label you saw.*look at the pair again"):
        desk.submit(vera, waited)
    assert give(desk, vera, "agree")


def test_labels_that_a_new_study_may_not_have_keep_their_figures(tmp_path: Path) -> None:
    """A name that files take for a number, and two that look the same, were no error up to schema 0004."""
    names = ["7.0", "\u0626", "\u064a\u0654"]
    study, usual = _named(tmp_path / "odd.db", names), _named(tmp_path / "usual.db", None)
    grid = study.grid()
    assert [one.name for one in grid.scheme] == names
    with pytest.raises(InputError, match="is duplicated"):
        read_labels(str(grid.scheme))
    as_usual = dict(zip(names, (one.name for one in usual.grid().scheme), strict=True))
    assert {key: as_usual[name] for key, name in labels_of(study).items()} == labels_of(usual)
    assert asdict(grid.agreement())["subsets"] == asdict(usual.grid().agreement())["subsets"]
    assert str(grid.tiers().table().tables) == str(usual.grid().tiers().table().tables)
    assert study.log()[0].params["scheme"] == usual.log()[0].params["scheme"]  # as the tables that it was then
    rows = [{"pair": pair, "annotator": who, "label": name} for (pair, who), name in labels_of(study).items()]
    sheet = write_csv(tmp_path / "labels.csv", rows)
    assert grid.import_labels(sheet).counts == {"answers": 0, "skips": 0, "already_there": 42}


def _named(path: Path, names: list[str] | None) -> Study:
    """The study of 0004, upgraded, with other names for its labels."""
    shutil.copy(SCHEMAS / "0004.sqlite", path)
    with closing(sqlite3.connect(path)) as connection, connection:
        ((*grid, scheme),) = connection.execute("SELECT id, name, row_kind, column_kind, scheme FROM grid")
        tables = json.loads(scheme)
        for table, name in zip(tables, names or [], strict=names is not None):
            table["name"] = name
        said = json.dumps([*grid, tables], separators=(",", ":")).encode()
        checksum = hashlib.sha256(hash_chain.FIRST + said).digest()
        connection.execute("UPDATE grid SET scheme = ?, checksum = ?", (json.dumps(tables), checksum))
    Study.upgrade(path)
    return Study(path)


def test_of_the_runs_of_a_stage_the_last_counts_and_what_only_shares_its_name_is_no_setting(tmp_path: Path) -> None:
    path = older_of(
        "0002",
        tmp_path,
        added_run("partition", diamond="majority"),
        added_run("partition", tier="gold", out="gold.csv", diamond="unanimous"),
        added_run("adjudicate", pair=3, by="ada"),
        added_run("evaluate", systems=["tfidf"], k=5, diamond="unanimous"),
        added_run("pair", candidates=4, seed=7),
        added_run("label import", path="bronze.csv", format="fc-conan"),
    )
    Study.upgrade(path)
    study = Study(path)
    grid = study.grid()
    assert grid.effective_options(Partition) == Partition("majority")
    assert grid.effective_options(Adjudicate) == Adjudicate("majority", "wait")
    assert not grid.desk.has_saved_options(Evaluate)
    assert grid.effective_options(Pair) == Pair(candidates=4, seed=7)
    with study._store.read() as tx:
        assert is_published_partition(tx)


TRIGGERS = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
CHANGES = {
    "UPDATE judgement SET note = 'x' WHERE id = 8": ("answers", "answer "),
    "UPDATE adjudication SET code = 2 - code WHERE id = 3": ("decisions", "decision "),
    "DELETE FROM judgement WHERE id = (SELECT max(id) FROM judgement)": ("answers", " stored, "),
    "UPDATE text SET body = 'other' WHERE id = 2": ("texts", "text 2 was changed"),
    "UPDATE grid SET scheme = replace(scheme, '\"not_sure\"', '\"unsure\"')": ("rounds", "grid 1 was changed"),
}


def test_what_was_changed_behind_its_back_before_the_upgrade_is_found_after_it_and_only_then(tmp_path: Path) -> None:
    sound = older_of("0004", tmp_path)
    with closing(sqlite3.connect(sound)) as connection:
        triggers = [f"DROP TRIGGER {name}" for (name,) in connection.execute(TRIGGERS)]
    Study.upgrade(sound)
    assert [check.found for check in Study.doctor(sound).checks if check.found] == []
    (tmp_path / "changed").mkdir()
    changed = older_of("0004", tmp_path / "changed", *triggers, *CHANGES)
    Study.upgrade(changed)
    faults = {check.name: check.found for check in Study.doctor(changed).checks if check.found}
    for check, fault in CHANGES.values():
        assert any(fault in line for line in faults[check])


@pytest.fixture
def database_url(postgres: Server, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of an empty database."""
    monkeypatch.chdir(tmp_path)
    yield str(postgres.make("upgraded").render_as_string(hide_password=False))
    postgres.drop("upgraded")


@pytest.mark.parametrize("backup", BACKUPS, ids=lambda path: path.stem)
def test_a_study_of_each_schema_is_restored_there_and_used(backup: Path, database_url: str, tmp_path: Path) -> None:
    Study.restore(backup, database_url)
    Study.upgrade(database_url)
    assert Study.doctor(database_url).is_sound
    study = Study(database_url)
    assert len(labels_of(study)) == 42
    desk, vera = at_desk(study, "vera")
    while desk.tasks(vera):
        give(desk, vera, "agree")
    study.grid().adjudicate(Adjudicate("majority", "discard"))
    assert study.grid().tiers().table().pairs["tier"].max() == 4
    study.close()


@pytest.mark.parametrize("older", ["0012.sqlite", "0012-postgresql.backup"])
def test_answers_of_0012_have_no_time_of_their_own_and_later_ones_may(
    older: str, database_url: str, tmp_path: Path
) -> None:
    place = str(tmp_path / "study.db") if older.endswith("sqlite") else database_url
    if place == database_url:
        Study.restore(SCHEMAS / older, place)
    else:
        shutil.copy(SCHEMAS / older, place)
    Study.upgrade(place)
    with closing(Study(place)) as study:
        desk, vera = at_desk(study, "vera")
        pair, own = desk.tasks(vera)[0].cell_id, study.facts["created_at"]
        give(desk, vera, "agree", answered_at=own)
        times = [row["answered_at"] for row in study.grid().explain(pair).answers]
        assert times == [*([None] * (len(times) - 1)), own]
        assert "answered_at" not in study.grid().labels().columns
    assert Study.doctor(place).is_sound


@pytest.fixture
def next_revision(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema that is one further than the newest."""
    folder = tmp_path_factory.mktemp("next") / "migrations"
    shutil.copytree(str(resources.files("fcpair._migrations")), folder)
    (folder / "versions" / "0999_next.py").write_text(
        "from alembic import op\n"
        f"revision, down_revision, branch_labels, depends_on = '0999', '{schema.HEAD}', None, None\n"
        "def upgrade():\n    op.execute(\"UPDATE study SET title = title || ', upgraded'\")\n"
    )
    monkeypatch.setattr(schema, "files", lambda package: folder)
    monkeypatch.setattr(schema, "OLDER", (*schema.OLDER, schema.HEAD))
    monkeypatch.setattr(schema, "HEAD", "0999")


@pytest.mark.usefixtures("next_revision")
def test_a_database_of_an_older_fcpair_is_upgraded_after_a_backup(database_url: str, tmp_path: Path) -> None:
    Study.restore(BACKUPS[0], database_url)
    with pytest.raises(StudyError, match="was made by an older fcpair"):
        Study(database_url)
    result = CliRunner().invoke(main, ["upgrade", "--study", database_url])
    assert result.stdout.endswith(": upgraded; a backup from before is upgraded-0006.backup\n")
    study = Study(database_url)
    assert study.facts["title"] == "Small, upgraded"
    study.close()
    assert Study.doctor(database_url).is_sound
    assert Study.check_backup(tmp_path / "upgraded-0006.backup").schema == "0006"
    assert Study.upgrade(database_url) is None


def test_an_upgrade_of_a_database_that_was_killed_is_in_no_way_of_the_next(database_url: str, tmp_path: Path) -> None:
    Study.restore(BACKUPS[0], database_url)
    kill_an_upgrade(database_url)
    assert [one.name for one in tmp_path.iterdir()] == ["upgraded-0006.backup"]
    assert Study.upgrade(database_url) == Path("upgraded-0006-2.backup")
    assert Study.doctor(database_url).is_sound
    assert [Study.check_backup(one).schema for one in sorted(tmp_path.iterdir())] == ["0006", "0006"]


@contextmanager
def served(place: str, folder: Path) -> Iterator[Callable[[], int]]:
    """A server of a new study, and somebody who answers: each time the status of that."""
    with closing(build_to("dealt", Study.create(place), folder)) as study:
        token, number = study.access.invite("ana"), count()
        visitor = study.access.by_token(token)
        assert visitor is not None
        study.access.consent(visitor.id, {})
    server = Served(place, output=folder / "server.log")

    def answer() -> int:
        (task,) = json.loads(server.ask("/api/next", token)[1])["tasks"]
        body = {"request_id": f"request-{next(number)}", "assignment_id": task["assignment_id"]}
        return server.ask("/api/judgements", token, {**body, "answer": "appropriate"})[0]

    try:
        yield answer
    finally:
        server.terminate()


@pytest.mark.slow
def test_a_file_that_is_being_served_is_not_upgraded(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    place = tmp_path / "study.db"
    with served(str(place), tmp_path) as answer:
        assert answer() == 200
        request.getfixturevalue("next_revision")
        with pytest.raises(StudyError, match="is being served: end `fcpair serve`"):
            Study.upgrade(place)
        assert answer() == 200
    assert Study.upgrade(place) == tmp_path / f"study-{schema.OLDER[-1]}.backup"
    assert len(labels_of(Study(place))) == 2


@pytest.mark.slow
def test_a_database_that_is_being_served_is_not_upgraded(
    database_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with served(database_url, tmp_path) as answer:
        assert answer() == 200
        request.getfixturevalue("next_revision")
        with pytest.raises(StudyError, match=r"is in use: connected to it from this machine \(process \d+\)"):
            Study.upgrade(database_url)
        assert answer() == 200
        assert list(tmp_path.glob("*.backup")) == []
    assert Study.upgrade(database_url) == Path(f"upgraded-{schema.OLDER[-1]}.backup")
    assert len(labels_of(Study(database_url))) == 2


def test_a_database_is_not_upgraded_while_what_may_be_a_server_is_connected(database_url: str) -> None:
    """An fcpair up to 0.7.0 gives its connections no name."""
    Study.restore(BACKUPS[0], database_url)
    for name in ("", "fcpair"):
        connection = psycopg.connect(database_url.replace("+psycopg", ""), application_name=name)
        with closing(connection), pytest.raises(StudyError, match="is in use"):
            Study.upgrade(database_url)
    with closing(psycopg.connect(database_url.replace("+psycopg", ""), application_name="psql")):
        assert Study.upgrade(database_url)


@pytest.mark.slow
def test_a_server_whose_database_was_upgraded_stores_nothing_more(
    database_url: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(database_url, tmp_path) as answer:
        assert answer() == 200
        request.getfixturevalue("next_revision")
        monkeypatch.setattr(StudyServer, "check_alone", lambda _: None)  # as if it had begun a moment later
        Study.upgrade(database_url)
        assert answer() == 503
        assert "was upgraded by a newer fcpair meanwhile" in (tmp_path / "server.log").read_text()
    assert len(labels_of(Study(database_url))) == 1
    assert Study.doctor(database_url).is_sound


@pytest.mark.usefixtures("next_revision")
def test_a_database_whose_upgrade_fails_is_as_it_was(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Study.restore(BACKUPS[0], database_url)

    def fail(tx: Connection, **_: Any) -> None:
        raise StudyError("stopped before the end")

    monkeypatch.setattr("fcpair.steps.rules.rule_decisions.repair_old_decisions", fail)
    with pytest.raises(StudyError, match="stopped before the end"):
        Study.upgrade(database_url)
    with pytest.raises(StudyError, match="its schema is 0006"):
        Study(database_url)
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_a_newer_fcpair_is_refused(database_url: str, tmp_path: Path) -> None:
    Study.restore(BACKUPS[-1], database_url)
    with closing(psycopg.connect(database_url.replace("+psycopg", ""), autocommit=True)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0999'")
    for use in (Study, Study.upgrade, Study.doctor):
        with pytest.raises(StudyError, match="was made by a newer fcpair"):
            use(database_url)
    with pytest.raises(StudyError, match="was made by a newer fcpair"):
        Study.back_up(database_url, tmp_path / "one.backup")
    assert list(tmp_path.iterdir()) == []
