"""What `Study.doctor` finds of things that somebody did behind fcpair's back, in a file and in PostgreSQL alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fcpair.store.database.backends.protocol import driver
from fcpair.study import Study
from steps.online import at_desk, give
from steps.oversight.test_promises import stirred
from steps.small import At, labels_of, record


def behind_its_back(study: Study, *statements: str) -> None:
    """Change a study as somebody would who knows the database: its triggers are as before afterwards."""
    with study._store.write(bulk=True) as tx:
        run = driver(tx).execute
        is_file = tx.dialect.name == "sqlite"
        triggers = run("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall() if is_file else []
        off = [f"DROP TRIGGER {name}" for name, _ in triggers] or ["SET LOCAL session_replication_role = replica"]
        for statement in (*off, *statements, *(sql for _, sql in triggers)):
            run(statement)


def findings(study: Study) -> dict[str, tuple[str, ...]]:
    """What is found, by check."""
    return {check.name: check.found for check in Study.doctor(study.place).checks if check.found}


NO_FIT = r".* does not fit the one before it"
PLANTED = [
    ("DELETE FROM judgement WHERE id = 20", "answers", NO_FIT),
    ("DELETE FROM judgement WHERE id = 20", "numbering", "`judgement` has"),
    ("DELETE FROM judgement WHERE id = (SELECT max(id) FROM judgement)", "extent", "judgement has"),
    ("DELETE FROM adjudication WHERE id = (SELECT max(id) FROM adjudication)", "extent", "adjudication has"),
    ("DELETE FROM run WHERE id = (SELECT max(id) FROM run)", "extent", "run has"),
    ("DELETE FROM guideline WHERE id = (SELECT max(id) FROM guideline)", "extent", "guideline has"),
    ("UPDATE judgement SET note = 'x' WHERE id = 8", "answers", NO_FIT),
    ("UPDATE adjudication SET note = 'x' WHERE id = 3", "decisions", NO_FIT),
    ("UPDATE text SET body = upper(body) WHERE id = 3", "texts", "text 3 was changed"),
    ("UPDATE guideline SET body = 'other'", "guidelines", "guideline 1 was changed"),
    ("UPDATE round SET blind = NOT blind WHERE id = 2", "rounds", "round 2 was changed"),
    ("UPDATE person SET name = 'anna' WHERE name = 'ana'", "names", "person 1 was changed"),
    ("INSERT INTO cell (id, row_id, column_id) VALUES (25, 1, 9)", "pairs", "the grid has 25 pairs"),
    ("DELETE FROM cell WHERE id = 24", "pairs", "the grid has 23 pairs, where it should have 24"),
    ("UPDATE assignment SET status = 'skipped' WHERE id = 4", "work", ".* is skipped, but its answers say otherwise"),
    ("UPDATE person SET role = 'owner' WHERE id = 2", "codes", "`ben` has an unknown role"),
    ("UPDATE judgement SET run_id = 999 WHERE id = 4", "references", "row 4 of `judgement` refers to"),
    ("UPDATE chain SET n = n + 1 WHERE person_id = 2", "answers", "answers of `ben`: "),
]


@pytest.mark.server
@pytest.mark.parametrize(("statement", "check", "message"), PLANTED)
def test_what_was_done_behind_its_back_is_found(at: At, statement: str, check: str, message: str) -> None:
    study = at("checked")
    behind_its_back(study, statement)
    assert any(re.match(message, finding) for finding in findings(study)[check])


SEQUENCE = {
    "sqlite": "UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'assignment'",
    "postgresql": "SELECT setval('assignment_id_seq', (SELECT max(id) - 1 FROM assignment))",
}
DROPPED = {"sqlite": "DROP TRIGGER judgement_no_update", "postgresql": "DROP TRIGGER judgement_no_update ON judgement"}
ADDED = {
    "sqlite": "CREATE TRIGGER mine AFTER INSERT ON text BEGIN SELECT 1; END",
    "postgresql": "CREATE TRIGGER mine AFTER INSERT ON text EXECUTE FUNCTION fcpair_refuse('x')",
}
DATABASES = [
    (SEQUENCE, "numbering", "`assignment` has number 61, and the database would use it again"),
    (DROPPED, "protection", "the trigger `judgement_no_update` is missing"),
    (ADDED, "protection", "there is a trigger `mine` that is not fcpair's"),
]
IN_POSTGRESQL = [
    ("ALTER TABLE judgement DISABLE TRIGGER judgement_no_update", "the trigger `judgement_no_update` is different"),
    ("ALTER TABLE cell DISABLE TRIGGER USER", "the trigger `cell_sealed` is different"),
    ("DROP FUNCTION fcpair_refuse CASCADE", "the trigger `fcpair_refuse` is missing"),
    (
        "CREATE OR REPLACE FUNCTION fcpair_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
        "the trigger `fcpair_refuse` is different",
    ),
]


def _run(study: Study, statement: str) -> None:
    with study._store.write() as tx:
        driver(tx).execute(statement)


def _database(study: Study) -> str:
    with study._store.read() as tx:
        return tx.dialect.name


@pytest.mark.server
@pytest.mark.parametrize(("statements", "check", "message"), DATABASES)
def test_what_guards_it_is_missed(at: At, statements: dict[str, str], check: str, message: str) -> None:
    study = at("checked")
    _run(study, statements[_database(study)])
    assert findings(study) == {check: (message,)}


@pytest.mark.server
@pytest.mark.parametrize(("statement", "message"), IN_POSTGRESQL)
def test_what_guards_it_in_postgresql_is_missed(at: At, statement: str, message: str) -> None:
    study = at("checked")
    if _database(study) == "sqlite":
        return  # which has neither functions nor triggers that sleep
    _run(study, statement)
    assert message in findings(study)["protection"]


@pytest.mark.server
def test_advice_speaks_of_what_there_is(at: At) -> None:
    study = at("checked")
    behind_its_back(study, "UPDATE text SET body = 'x' WHERE id = 3", "DELETE FROM guideline")
    advice = " ".join(check.advice for check in Study.doctor(study.place).checks if check.found)
    in_file = _database(study) == "sqlite"
    assert ("file" in advice.replace("restore FILE", "")) == in_file
    assert ("fcpair restore" in advice) != in_file


@pytest.mark.server
def test_a_study_is_sound_after_much_has_happened_in_it(at: At, tmp_path: Path) -> None:
    study = stirred(at("checked"), tmp_path)
    labels = [(who, pair, "1") for pair, who in list(labels_of(study))[:3]]
    study.grid().withdraw(record(study, tmp_path, labels, supersede=True).id, "labels")
    study.retire("ben")
    study.hand_over("cleo")
    study.edit_guidelines("Read *both*.", by="ada")
    desk, vera = at_desk(study, "vera")
    while desk.tasks(vera):
        give(desk, vera, "agree", note="…")
    assert findings(study) == {}
