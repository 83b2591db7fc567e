"""Settings have a place of their own; whole imports can be taken back; decisions by rule follow the labels.

Revision ID: 0003
Revises: 0002
"""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from fcpair.store.database.backends.sqlite import protect

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SETTING = (
    *("import", "select", "retrieve", "pair", "assign"),
    *("annotate", "agreement", "adjudicate", "validate", "partition", "evaluate"),
)
# Other runs of the same name set nothing: a person's decision, a release, an evaluation by hand.
NEEDED = {"adjudicate": "policy"}
FOREIGN = {"partition": "out", "evaluate": "diamond"}
COUNTED = {"assign": "annotators", "validate": "validators"}  # how many took part, where no number was given
FILES = (("import", "path"), ("select", "list"))


def upgrade() -> None:
    _give_settings_a_place()
    _note_what_decisions_saw()
    _tie_judgements_to_runs()
    _let_runs_bring_candidates_in()


def _let_runs_bring_candidates_in() -> None:
    columns = ("source_id", "run", "rank", "cn_id", "score")
    op.create_table(
        "neighbour_or_run",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("cn_id", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["cn_id"], ["text.id"], name=op.f("fk_neighbour_cn_id_text")),
        sa.ForeignKeyConstraint(["source_id"], ["text.id"], name=op.f("fk_neighbour_source_id_text")),
        sa.PrimaryKeyConstraint("source_id", "run", "rank", name=op.f("pk_neighbour")),
    )
    op.execute(
        f"INSERT INTO neighbour_or_run ({', '.join(columns)}) SELECT source_id, '', rank, cn_id, score FROM neighbour"
    )
    op.drop_table("neighbour")
    op.rename_table("neighbour_or_run", "neighbour")


def _tie_judgements_to_runs() -> None:
    # In words, and in place, because judgements are never moved and Alembic would copy them.
    op.execute("ALTER TABLE judgement ADD COLUMN run_id INTEGER CONSTRAINT fk_judgement_run_id_run REFERENCES run (id)")
    op.execute(
        "ALTER TABLE judgement ADD COLUMN withdraws INTEGER "
        "CONSTRAINT fk_judgement_withdraws_judgement REFERENCES judgement (id) "
        "CONSTRAINT ck_judgement_withdrawal_or_answer CHECK (withdraws IS NULL OR skipped)"
    )


def _give_settings_a_place() -> None:
    op.create_table(
        "setting",
        sa.Column("grid_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["grid_id"], ["grid.id"], name=op.f("fk_setting_grid_id_grid")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_setting_run_id_run")),
        sa.PrimaryKeyConstraint("grid_id", "key", name=op.f("pk_setting")),
    )
    grid = sa.table("grid", sa.column("id"))
    setting = sa.table("setting", *map(sa.column, ("grid_id", "key")), sa.column("value", sa.JSON), sa.column("run_id"))
    grid_id = op.get_bind().execute(sa.select(grid.c.id)).scalar()
    rows = [{"grid_id": grid_id, "key": key, "value": value, "run_id": run} for key, value, run in _settings_in_log()]
    if rows:
        op.bulk_insert(setting, rows)


def _settings_in_log() -> list[tuple[str, Any, int]]:
    """What the run log says that holds: each key, its value, and the run that set it."""
    run = sa.table("run", sa.column("id"), sa.column("stage"), *(sa.column(c, sa.JSON) for c in ("params", "counts")))
    held: dict[str, dict[str, tuple[Any, int]]] = {}
    for row in op.get_bind().execute(sa.select(run).order_by(run.c.id)):
        if row.stage == "label import" and row.params.get("format") == "fc-conan":
            taken_over = {"path": {"path": row.params["path"]}, "format": "fc-conan"}
            held["published"] = {"path": (taken_over["path"], row.id)}
            held.setdefault("import", {key: (value, row.id) for key, value in taken_over.items()})
        elif _sets(row.stage, row.params):
            of_stage = held.setdefault(row.stage, {})
            of_stage.update((key, (value, row.id)) for key, value in _values(row.stage, row.params, row.counts))
    return [(f"{stage}.{key}", *set_by) for stage, keys in held.items() for key, set_by in keys.items()]


def _sets(stage: str, params: dict[str, Any]) -> bool:
    return stage in SETTING and NEEDED.get(stage) in (None, *params) and FOREIGN.get(stage) not in params


def _values(stage: str, params: dict[str, Any], counts: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in params.items():
        if key == COUNTED.get(stage):
            yield key, counts[key]
        elif (stage, key) in FILES:
            yield key, value and {"path": value}
        else:
            yield key, value


def _note_what_decisions_saw() -> None:
    """Give each decision the newest judgement that there was; for older ones by hand, as far as their times tell."""
    op.add_column("adjudication", sa.Column("seen_judgement", sa.Integer(), nullable=False, server_default="0"))
    for act in ("update", "delete", "replace"):
        op.execute(f"DROP TRIGGER adjudication_no_{act}")
    op.execute(
        "UPDATE adjudication SET seen_judgement = coalesce((SELECT max(judgement.id) FROM judgement "
        "JOIN assignment ON assignment.id = judgement.assignment_id "
        "WHERE assignment.pair_id = adjudication.pair_id AND assignment.round = 'label' "
        "AND julianday(judgement.at) <= julianday(adjudication.at)), 0) WHERE rule IN ('person', 'imported')"
    )
    protect(op.get_bind(), "adjudication")
