"""The first schema.

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op

from fcpair.store.database.backends.sqlite import protect

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "grid",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("row_kind", sa.String(length=16), nullable=False),
        sa.Column("column_kind", sa.String(length=16), nullable=False),
        sa.Column("scheme", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grid")),
        sa.UniqueConstraint("name", name=op.f("uq_grid_name")),
    )
    op.create_table(
        "person",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("token_hash", sa.String(length=128), nullable=True),
        sa.Column("demographics", sa.JSON(), nullable=True),
        sa.Column("retired_at", sa.String(length=32), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_person")),
        sa.UniqueConstraint("name", name=op.f("uq_person_name")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_person_token_hash")),
    )
    op.create_table(
        "release",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tier", sa.String(length=16), nullable=False),
        sa.Column("rule", sa.JSON(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_release")),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("stage", sa.String(length=32), nullable=False),
        sa.Column("params", sa.JSON(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("model", sa.JSON(), nullable=True),
        sa.Column("version", sa.String(length=32), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
    )
    op.create_table(
        "study",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("guidelines", sa.Text(), nullable=False),
        sa.Column("hs_name", sa.Text(), nullable=False),
        sa.Column("cn_name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
    )
    op.create_table(
        "text",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("language", sa.String(length=16), nullable=True),
        sa.Column("meta", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_text")),
        sa.UniqueConstraint("kind", "digest", name=op.f("uq_text_kind_digest")),
    )
    op.create_table(
        "candidate",
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.Column("drawn", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name=op.f("fk_candidate_text_id_text")),
        sa.PrimaryKeyConstraint("position", name=op.f("pk_candidate")),
        sa.UniqueConstraint("text_id", name=op.f("uq_candidate_text_id")),
    )
    op.create_table(
        "neighbour",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("cn_id", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["cn_id"], ["text.id"], name=op.f("fk_neighbour_cn_id_text")),
        sa.ForeignKeyConstraint(["source_id"], ["text.id"], name=op.f("fk_neighbour_source_id_text")),
        sa.PrimaryKeyConstraint("source_id", "rank", name=op.f("pk_neighbour")),
    )
    op.create_table(
        "pair",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("grid_id", sa.Integer(), nullable=False),
        sa.Column("hs_id", sa.Integer(), nullable=False),
        sa.Column("cn_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["cn_id"], ["text.id"], name=op.f("fk_pair_cn_id_text")),
        sa.ForeignKeyConstraint(["grid_id"], ["grid.id"], name=op.f("fk_pair_grid_id_grid")),
        sa.ForeignKeyConstraint(["hs_id"], ["text.id"], name=op.f("fk_pair_hs_id_text")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pair")),
    )
    op.create_table(
        "selected_hs",
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name=op.f("fk_selected_hs_text_id_text")),
        sa.PrimaryKeyConstraint("position", name=op.f("pk_selected_hs")),
        sa.UniqueConstraint("text_id", name=op.f("uq_selected_hs_text_id")),
    )
    op.create_table(
        "source_pair",
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("hs_id", sa.Integer(), nullable=False),
        sa.Column("cn_id", sa.Integer(), nullable=False),
        sa.Column("meta", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["cn_id"], ["text.id"], name=op.f("fk_source_pair_cn_id_text")),
        sa.ForeignKeyConstraint(["hs_id"], ["text.id"], name=op.f("fk_source_pair_hs_id_text")),
        sa.PrimaryKeyConstraint("row", name=op.f("pk_source_pair")),
    )
    op.create_index(op.f("ix_source_pair_hs_id_cn_id"), "source_pair", ["hs_id", "cn_id"], unique=False)
    op.create_table(
        "adjudication",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("rule", sa.String(length=16), nullable=False),
        sa.Column("code", sa.Integer(), nullable=True),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_adjudication_pair_id_pair")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_adjudication_person_id_person")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_adjudication")),
    )
    op.create_index(op.f("ix_adjudication_pair_id"), "adjudication", ["pair_id"], unique=False)
    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("round", sa.String(length=16), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("replaces", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["pair_id"], ["pair.id"], name=op.f("fk_assignment_pair_id_pair")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_assignment_person_id_person")),
        sa.ForeignKeyConstraint(["replaces"], ["assignment.id"], name=op.f("fk_assignment_replaces_assignment")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        sa.UniqueConstraint("pair_id", "person_id", "round", name=op.f("uq_assignment_pair_id_person_id_round")),
        sa.UniqueConstraint("replaces", name=op.f("uq_assignment_replaces")),
    )
    op.create_index(
        op.f("ix_assignment_person_id_round_position"),
        "assignment",
        ["person_id", "round", "position"],
        unique=False,
    )
    op.create_table(
        "judgement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Boolean(), nullable=False),
        sa.Column("code", sa.Integer(), nullable=True),
        sa.Column("own_code", sa.Integer(), nullable=True),
        sa.Column("adjudication_id", sa.Integer(), nullable=True),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.CheckConstraint("skipped = (code IS NULL)", name=op.f("ck_judgement_answer_or_skip")),
        sa.ForeignKeyConstraint(
            ["adjudication_id"], ["adjudication.id"], name=op.f("fk_judgement_adjudication_id_adjudication")
        ),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_judgement_assignment_id_assignment")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgement")),
    )
    op.create_index(op.f("ix_judgement_assignment_id"), "judgement", ["assignment_id"], unique=False)
    for table in ("judgement", "adjudication"):
        protect(op.get_bind(), table)
