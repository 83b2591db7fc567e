"""Slots that whoever asks next is given, for as long as a lease runs; what servers of one study know of each other:
attempts at the door, and how often figures were made that take long.

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
LEASED = sa.text("status = 'open' AND until IS NOT NULL")


def _words(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "slot",
        sa.Column("id", NUMBER, primary_key=True),
        sa.Column("cell_id", NUMBER, sa.ForeignKey("cell.id", name="fk_slot_cell_id_cell"), nullable=False),
        sa.Column("round_id", NUMBER, sa.ForeignKey("round.id", name="fk_slot_round_id_round"), nullable=False),
        sa.Column("position", NUMBER, nullable=False),
        sa.Column("replaces", NUMBER, sa.ForeignKey("assignment.id", name="fk_slot_replaces_assignment")),
        sa.UniqueConstraint("replaces", name="uq_slot_replaces"),
    )
    op.create_index("ix_slot_round_id_position", "slot", ["round_id", "position"])
    op.create_index("ix_slot_cell_id", "slot", ["cell_id"])
    op.add_column("assignment", sa.Column("until", _words(32), nullable=True))
    op.create_index("ix_assignment_until", "assignment", ["until"], sqlite_where=LEASED, postgresql_where=LEASED)
    op.create_table(
        "attempt",
        sa.Column("id", NUMBER, primary_key=True),
        sa.Column("place", _words(64), nullable=False),
        sa.Column("at", _words(32), nullable=False),
    )
    op.create_index("ix_attempt_place_at", "attempt", ["place", "at"])
    op.create_table(
        "shown",
        sa.Column("grid_id", NUMBER, sa.ForeignKey("grid.id", name="fk_shown_grid_id_grid"), primary_key=True),
        sa.Column("name", _words(32), primary_key=True),
        sa.Column("n", NUMBER, nullable=False),
    )
