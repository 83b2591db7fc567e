"""Many at once: receipts are numbered, work can be taken instead of dealt, and all servers count attempts alike.

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
    _number_receipts()
    _let_work_be_taken()
    _count_attempts()


def _number_receipts() -> None:
    op.add_column("receipt", sa.Column("number", sa.Integer(), nullable=True))
    op.execute("UPDATE receipt SET number = rowid")
    op.create_index("ix_receipt_number", "receipt", ["number"], unique=True)


def _let_work_be_taken() -> None:
    op.create_table(
        "slot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("cell_id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("replaces", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["cell_id"], ["cell.id"], name=op.f("fk_slot_cell_id_cell")),
        sa.ForeignKeyConstraint(["replaces"], ["assignment.id"], name=op.f("fk_slot_replaces_assignment")),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], name=op.f("fk_slot_round_id_round")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slot")),
        sa.UniqueConstraint("replaces", name=op.f("uq_slot_replaces")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_slot_round_id_position", "slot", ["round_id", "position"])
    op.create_index("ix_slot_cell_id", "slot", ["cell_id"])
    op.create_table(
        "lease",
        sa.Column("assignment_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("until", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"], name=op.f("fk_lease_assignment_id_assignment")),
        sa.PrimaryKeyConstraint("assignment_id", name=op.f("pk_lease")),
    )
    op.create_index("ix_lease_until", "lease", ["until"])


def _count_attempts() -> None:
    op.create_table(
        "attempt",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("place", sa.String(length=64), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempt")),
    )
    op.create_index("ix_attempt_place_at", "attempt", ["place", "at"])
