"""Whatever is lost or changed behind the program's back is found.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

from fcpair.store import chain, checksums
from fcpair.store.dialect import protect

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _chain_answers_and_decisions()
    _add_checksums()


def _chain_answers_and_decisions() -> None:
    op.create_table(
        "chain",
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("person_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("head", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "person_id", name=op.f("pk_chain")),
    )
    for of in (chain.ANSWERS, chain.DECISIONS):
        _add_bytes(of.table.name, "digest")
        for act in ("update", "delete", "replace"):
            op.execute(f"DROP TRIGGER {of.table.name}_no_{act}")
        chain.make(op.get_bind(), of)
        protect(op.get_bind(), of.table.name)


def _add_checksums() -> None:
    for table in checksums.SAYS:
        _add_bytes(table.name, "checksum")
        checksums.make(op.get_bind(), table)


def _add_bytes(table: str, column: str) -> None:
    """Add a column in place, because other tables refer to these rows, and answers are never moved."""
    op.add_column(table, sa.Column(column, sa.LargeBinary(), nullable=False, server_default=sa.text("X''")))
