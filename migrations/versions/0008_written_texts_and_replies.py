"""What a written text answers; what was refused while one wrote; what models replied, and examples that they are shown.

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
REAL = sa.Float().with_variant(sa.Double(), "postgresql")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _words(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def _to(table: str, name: str, of: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, NUMBER, sa.ForeignKey(f"{of}.id", name=f"fk_{table}_{name}_{of}"), nullable=nullable)


def upgrade() -> None:
    number = "BIGINT" if op.get_bind().dialect.name == "postgresql" else "INTEGER"
    op.execute(  # in words, because Alembic has none for a reference that comes with a column in SQLite
        f"ALTER TABLE text ADD COLUMN answers_id {number} CONSTRAINT fk_text_answers_id_text REFERENCES text (id)"
    )
    op.add_column("person", sa.Column("keeps_refused", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "refusal",
        sa.Column("id", NUMBER, primary_key=True),
        _to("refusal", "assignment_id", "assignment"),
        sa.Column("rule", _words(32), nullable=False),
        sa.Column("version", WORDS, nullable=False),
        sa.Column("score", REAL, nullable=True),
        sa.Column("body", WORDS, nullable=True),
        sa.Column("at", _words(32), nullable=False),
    )
    op.create_index("ix_refusal_assignment_id", "refusal", ["assignment_id"])
    op.create_table(
        "reply",
        sa.Column("id", NUMBER, primary_key=True),
        _to("reply", "assignment_id", "assignment"),
        _to("reply", "run_id", "run"),
        sa.Column("body", WORDS, nullable=False),
        sa.Column("marks", sa.JSON(), nullable=False),
    )
    op.create_index("ix_reply_assignment_id", "reply", ["assignment_id"])
    op.create_table(
        "example",
        sa.Column("id", NUMBER, primary_key=True),
        _to("example", "round_id", "round"),
        _to("example", "row_id", "text"),
        sa.Column("rank", NUMBER, nullable=False),
        _to("example", "hs_id", "text"),
        _to("example", "cn_id", "text"),
        sa.Column("score", REAL, nullable=False),
        sa.UniqueConstraint("round_id", "row_id", "rank", name="uq_example_round_id_row_id_rank"),
    )
    op.create_table(
        "example_review",
        sa.Column("id", NUMBER, primary_key=True),
        _to("example_review", "example_id", "example"),
        _to("example_review", "person_id", "person", nullable=True),
        sa.Column("used", sa.Boolean(), nullable=False),
        sa.Column("at", _words(32), nullable=False),
    )
    op.create_index("ix_example_review_example_id", "example_review", ["example_id"])
