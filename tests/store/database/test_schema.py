"""On both databases: the migrations make what the code speaks about, and frames of whole numbers come as they are."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from hypothesis import example, given
from hypothesis import strategies as st
from servers import execute
from sqlalchemy import BigInteger, Column, Integer, MetaData, Select, Table, bindparam, func, inspect, select, union_all

from fcpair.errors import StudyError
from fcpair.records import Role
from fcpair.store import Store, people
from fcpair.store.database import schema, tables
from fcpair.store.database.statements import frame
from fcpair.store.database.tables import text


def differences(store: Store, metadata: MetaData) -> list[object]:
    with store.read() as tx:
        context = MigrationContext.configure(tx, opts={"compare_type": True, "compare_server_default": True})
        return list(compare_metadata(context, metadata))


def test_the_migrations_make_the_tables_of_the_code(store: Store) -> None:
    assert ScriptDirectory.from_config(schema.alembic_config()).get_heads() == [schema.HEAD]
    assert differences(store, tables.metadata) == []
    changed = MetaData(naming_convention=tables.metadata.naming_convention)
    for table in tables.metadata.sorted_tables:
        table.to_metadata(changed)
    Table("study", changed, Column("mood", Integer), extend_existing=True)
    assert len(differences(store, changed)) == 1  # a column that no migration makes is seen
    with store.read() as tx:
        assert MigrationContext.configure(tx).get_current_revision() == schema.HEAD
        checks = {check["name"] for check in inspect(tx).get_check_constraints("judgement")}
    assert checks == {"ck_judgement_answer_or_skip", "ck_judgement_withdrawal_or_answer"}


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


WHOLE = st.integers(-(2**63) + 1, 2**63 - 1)
EXACT = st.integers(-(2**53), 2**53)  # beside what is missing, numbers are floats
ROWS = st.lists(st.tuples(WHOLE, EXACT | st.none()), min_size=1, max_size=12)


def asked(rows: list[tuple[int, int | None]]) -> Select[Any]:
    """A query whose rows are these, the last one first."""
    each = [
        select(
            *(bindparam(None, value, BigInteger).label(name) for name, value in zip(("at", "a", "b"), row, strict=True))
        )
        for row in ((at, *row) for at, row in enumerate(rows))
    ]
    there = union_all(*each).subquery()
    return select(there.c.a, there.c.b.label("second")).order_by(there.c.at.desc())


@given(rows=ROWS)
@example(rows=[(1, None), (2, None)])
@example(rows=[(2**62 + 1, 0), (-1, -1)])
def test_whole_numbers_come_in_the_order_of_the_query_and_are_missing_where_they_are(
    lasting_store: Store, rows: list[tuple[int, int | None]]
) -> None:
    with lasting_store.read() as tx:
        found = frame(tx, asked(rows))
    assert list(found.columns) == ["a", "second"]
    assert found["a"].dtype == "int64"
    assert found["a"].tolist() == [a for a, _ in reversed(rows)]
    assert [None if pd.isna(b) else int(b) for b in found["second"]] == [b for _, b in reversed(rows)]


def test_a_sum_is_a_whole_number_and_no_rows_are_an_empty_frame(lasting_store: Store) -> None:
    """PostgreSQL's own sum of such numbers is a decimal one."""
    rows = asked([(1, 2), (3, None)]).subquery()
    with lasting_store.read() as tx:
        assert frame(tx, select(func.sum(rows.c.a).label("n")))["n"].tolist() == [4]
        for query in (select(rows).where(rows.c.a > 5), select(text.c.id, text.c.body.label("words"))):
            read = frame(tx, query)
            assert (list(read.columns), len(read)) == ([column.name for column in query.selected_columns], 0)
