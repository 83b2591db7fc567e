"""Which judgement of an assignment is the newest, where it was looked up among them all; and an index on leases whose
condition does not name the status, for which SQLite planned every statement anew that compares one with a parameter.

Revision ID: 0009
Revises: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.add_column("assignment", sa.Column("judgement_id", NUMBER, nullable=True))
    op.execute(
        "UPDATE assignment SET judgement_id = newest.id "
        "FROM (SELECT assignment_id, max(id) AS id FROM judgement GROUP BY assignment_id) AS newest "
        "WHERE newest.assignment_id = assignment.id"
    )
    op.drop_index("ix_assignment_until", "assignment")
    leased = sa.text("until IS NOT NULL")
    columns = ["status", "until"]
    op.create_index("ix_assignment_status_until", "assignment", columns, sqlite_where=leased, postgresql_where=leased)
