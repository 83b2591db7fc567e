"""Why a standing rule asked for a label: because labels tied, or somebody was not sure.

Revision ID: 0015
Revises: 0014
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

WORDS = sa.String(16).with_variant(sa.String(16, collation="C"), "postgresql")


def upgrade() -> None:
    for table in ("assignment", "slot"):
        op.add_column(table, sa.Column("because", WORDS, nullable=True))
