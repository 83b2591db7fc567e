"""Whatever is lost or changed behind the program's back is found.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

GROWING = ("judgement", "adjudication", "receipt", "run", "guideline")


def upgrade() -> None:
    _chain_answers_and_decisions()
    _add_checksums()
    _let_sessions_end()
    _note_what_is_blind()
    _note_how_far_tables_go()
    _find_decisions_by_person()


def _note_what_is_blind() -> None:
    """Whether a validator sees the label is said of each pair: of an answered one the answer tells it, of an open one
    the round; a skipped one counts as blind where any was, so that its label stays hidden.
    """
    op.add_column("assignment", sa.Column("blind", sa.Boolean(), nullable=False, server_default=sa.false()))
    newest = "SELECT max(id) FROM judgement WHERE assignment_id = assignment.id"
    is_now = "EXISTS (SELECT 1 FROM setting WHERE key = 'validate.blind' AND value = 'true')"
    ever_was = f"({is_now} OR EXISTS (SELECT 1 FROM judgement WHERE own_code IS NOT NULL))"
    op.execute(
        "UPDATE assignment SET blind = CASE status "
        f"WHEN 'done' THEN EXISTS (SELECT 1 FROM judgement WHERE id = ({newest}) AND own_code IS NOT NULL) "
        f"WHEN 'open' THEN {is_now} ELSE {ever_was} END WHERE round = 'validate'"
    )


def _chain_answers_and_decisions() -> None:
    op.create_table(
        "chain",
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("person_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("head", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "person_id", name=op.f("pk_chain")),
    )
    for table in ("judgement", "adjudication"):
        _add_bytes(table, "digest")  # 0005 makes them, for the rows as they are then


def _add_checksums() -> None:
    for table in ("text", "guideline", "grid", "person"):
        _add_bytes(table, "checksum")  # made by 0005, too


def _add_bytes(table: str, column: str) -> None:
    """Add a column in place, because other tables refer to these rows, and answers are never moved."""
    op.add_column(table, sa.Column(column, sa.LargeBinary(), nullable=False, server_default=sa.text("X''")))


def _let_sessions_end() -> None:
    """Sessions get a secret of their own, which can be renewed: at first the one that they were signed with."""
    with op.batch_alter_table("study") as study:
        study.add_column(sa.Column("session_secret", sa.String(length=64), nullable=True))
    op.execute("UPDATE study SET session_secret = secret")
    with op.batch_alter_table("study") as study:
        study.alter_column("session_secret", existing_type=sa.String(length=64), nullable=False)
    op.create_table(
        "ended_session",
        sa.Column("session", sa.String(length=32), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("until", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_ended_session_person_id_person")),
        sa.PrimaryKeyConstraint("session", name=op.f("pk_ended_session")),
    )


def _note_how_far_tables_go() -> None:
    op.create_table(
        "extent",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("missing", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_extent")),
    )
    for name in GROWING:
        last = f"coalesce(max({name}.rowid), 0)"
        op.execute(f"INSERT INTO extent (name, last, missing) SELECT '{name}', {last}, {last} - count(*) FROM {name}")


def _find_decisions_by_person() -> None:
    op.create_index("ix_adjudication_person_id", "adjudication", ["person_id"])
