"""When an answer or a decision was given by the clock of whoever gave it, where it came later, as after an outage.

Older rows have none, and their digests hold: this is part of one only where it is there.

Revision ID: 0013
Revises: 0012
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

WORDS = sa.String(32).with_variant(sa.String(32, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("judgement", sa.Column("answered_at", WORDS, nullable=True))
    op.add_column("adjudication", sa.Column("decided_at", WORDS, nullable=True))
