"""Changes of labels, each with what there was before it, and which answer one reads as since; and why a standing rule
asked for a label.

Revision ID: 0014
Revises: 0013
"""

import sqlalchemy as sa
from alembic import op

from fcpair.store.database import backends

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

NUMBER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
AT = sa.String(32).with_variant(sa.String(32, collation="C"), "postgresql")


def upgrade() -> None:
    number = "BIGINT" if op.get_bind().dialect.name == "postgresql" else "INTEGER"
    op.execute(  # in words, because Alembic has none for a reference that comes with a column in SQLite
        f"ALTER TABLE answer ADD COLUMN reads_as {number} CONSTRAINT fk_answer_reads_as_answer REFERENCES answer (id)"
    )
    op.create_table(
        "relabelling",
        sa.Column("id", NUMBER, primary_key=True),
        sa.Column("grid_id", NUMBER, sa.ForeignKey("grid.id", name="fk_relabelling_grid_id_grid"), nullable=False),
        sa.Column("change", sa.JSON(), nullable=False),
        sa.Column("before", sa.JSON(), nullable=False),
        *(sa.Column(name, NUMBER, nullable=False) for name in ("answer_id", "judgement_id", "adjudication_id")),
        sa.Column("run_id", NUMBER, sa.ForeignKey("run.id", name="fk_relabelling_run_id_run"), nullable=False),
        sa.Column("at", AT, nullable=False),
    )
    backends.backend_of(op.get_bind()).protect(op.get_bind(), "relabelling")
    for table in ("assignment", "slot"):
        words = sa.String(16).with_variant(sa.String(16, collation="C"), "postgresql")
        op.add_column(table, sa.Column("because", words))
