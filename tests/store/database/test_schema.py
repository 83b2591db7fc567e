"""The tables: the migrations make what the code speaks about."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from servers import execute
from sqlalchemy import Column, Integer, MetaData, Table, inspect

from fcpair.errors import StudyError
from fcpair.records import Role
from fcpair.store import Store
from fcpair.store.database import schema, tables
from fcpair.store.people import people


def differences(store: Store, metadata: MetaData) -> list[object]:
    with store.read() as tx:
        context = MigrationContext.configure(tx, opts={"compare_type": True, "compare_server_default": True})
        return list(compare_metadata(context, metadata))


def test_the_migrations_make_the_tables_of_the_code(store: Store) -> None:
    assert differences(store, tables.metadata) == []


def test_a_column_that_no_migration_makes_is_seen(store: Store) -> None:
    changed = MetaData(naming_convention=tables.metadata.naming_convention)
    for table in tables.metadata.sorted_tables:
        table.to_metadata(changed)
    Table("study", changed, Column("mood", Integer), extend_existing=True)
    assert len(differences(store, changed)) == 1


def test_the_checks_on_answers_are_in_the_database(store: Store) -> None:
    with store.read() as tx:
        names = {check["name"] for check in inspect(tx).get_check_constraints("judgement")}
    assert names == {"ck_judgement_answer_or_skip", "ck_judgement_withdrawal_or_answer"}


def test_head_is_the_newest_script() -> None:
    assert ScriptDirectory.from_config(schema.alembic_config()).get_heads() == [schema.HEAD]


def test_a_new_study_is_at_head(store: Store) -> None:
    with store.read() as tx:
        assert MigrationContext.configure(tx).get_current_revision() == schema.HEAD


def test_nothing_more_is_written_into_a_study_that_a_newer_fcpair_has_upgraded_meanwhile(store: Store) -> None:
    """Such as by a server that was forgotten."""
    execute(store.place, "UPDATE alembic_version SET version_num = '9999'")
    for alone in (True, False):
        with (
            pytest.raises(StudyError, match=r"was upgraded by a newer fcpair meanwhile.*nothing was changed"),
            store.write(alone=alone) as tx,
        ):
            people.add_people(tx, ["ana"], Role.ANNOTATOR)
    with store.read() as tx:
        assert people.people(tx) == []
