"""The language in which a person wants the pages.

Revision ID: 0010
Revises: 0009
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

WORDS = sa.String(16).with_variant(sa.String(16, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("person", sa.Column("language", WORDS, nullable=True))
