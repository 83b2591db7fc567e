"""Which judgement of an assignment is the newest, where it was looked up among them all.

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
