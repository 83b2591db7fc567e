"""Receipts are numbered: they are inserted before what they are for is done, and by their numbers none is missing.

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("receipt", sa.Column("number", sa.Integer(), nullable=True))
    op.execute("UPDATE receipt SET number = rowid")
    op.create_index("ix_receipt_number", "receipt", ["number"], unique=True)
