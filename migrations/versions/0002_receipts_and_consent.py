"""People answer in the browser: receipts, versions of the guidelines, consent, opt-outs, flags.

Revision ID: 0002
Revises: 0001
"""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _keep_guidelines_by_version()
    # Columns are added in place, not in batch mode, which copies a table: other tables refer to people, and judgements
    # and adjudications are never moved.
    op.add_column("person", sa.Column("consented_at", sa.String(length=32), nullable=True))
    op.add_column("person", sa.Column("consented_to", sa.Text(), nullable=True))
    op.add_column("person", sa.Column("blurred", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("person", sa.Column("opted_out", sa.JSON(), nullable=True))
    op.drop_index(op.f("ix_assignment_person_id_round_position"), "assignment")
    # Copied, because SQLite cannot make a table that is there give each number out only once.
    unique_numbers = {"sqlite_autoincrement": True}
    with op.batch_alter_table("assignment", recreate="always", table_kwargs=unique_numbers) as assignment:
        assignment.add_column(sa.Column("answered_at", sa.String(length=32), nullable=True))
    for columns in (["person_id", "round", "status", "position"], ["person_id", "answered_at"]):
        op.create_index(op.f(f"ix_assignment_{'_'.join(columns)}"), "assignment", columns)
    op.execute(  # in words, because Alembic has none for a reference that comes with a column in SQLite
        "ALTER TABLE judgement ADD COLUMN guideline_id INTEGER "
        "CONSTRAINT fk_judgement_guideline_id_guideline REFERENCES guideline (id)"
    )
    op.add_column("adjudication", sa.Column("flagged", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "receipt",
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("request_id", sa.String(length=64), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("reply", sa.JSON(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_receipt_person_id_person")),
        sa.PrimaryKeyConstraint("person_id", "request_id", name=op.f("pk_receipt")),
    )


def _keep_guidelines_by_version() -> None:
    op.create_table(
        "guideline",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_guideline_person_id_person")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_guideline")),
    )
    op.execute("INSERT INTO guideline (body, at) SELECT guidelines, created_at FROM study")
    with op.batch_alter_table("study") as study:
        study.add_column(sa.Column("secret", sa.String(length=64), nullable=True))
        study.drop_column("guidelines")
    op.execute(sa.text("UPDATE study SET secret = :secret").bindparams(secret=secrets.token_hex(32)))
    with op.batch_alter_table("study") as study:
        study.alter_column("secret", existing_type=sa.String(length=64), nullable=False)
