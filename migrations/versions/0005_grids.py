"""Any two sides, any question, any round: grids have sides and cells, rounds forms, and answers rows of their own.

Revision ID: 0005
Revises: 0004
"""

import hashlib
import json
import re
from typing import Any, NamedTuple

import sqlalchemy as sa
from alembic import op

from fcpair.store.database import checksums, hash_chain
from fcpair.store.database.backends import sqlite
from fcpair.store.database.backends.protocol import driver

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

MAIN = 1
LABEL, VALIDATE, BLIND = 1, 2, 3  # the rounds of every study until now
VERDICTS = [{"code": 0, "name": "disagree"}, {"code": 1, "name": "agree", "positive": True}]
NONE = b""  # a digest that fits nothing
APPEND_ONLY = ("judgement", "adjudication")
# What was in the digest of a row in schema 0004.
SAID = {
    "judgement": "SELECT j.digest, a.person_id, j.id, j.assignment_id, j.skipped, j.code, j.own_code, "
    "j.adjudication_id, j.origin, j.seconds, j.note, j.at, j.guideline_id, j.run_id, j.withdraws, a.person_id, "
    "a.pair_id, a.round, p.hs_id, p.cn_id FROM judgement AS j LEFT JOIN assignment AS a ON a.id = j.assignment_id "
    "LEFT JOIN pair AS p ON p.id = a.pair_id ORDER BY j.id",
    "adjudication": "SELECT d.digest, d.person_id, d.id, d.pair_id, d.rule, d.code, d.person_id, d.note, d.at, "
    "d.flagged, d.seen_judgement, p.hs_id, p.cn_id FROM adjudication AS d LEFT JOIN pair AS p ON p.id = d.pair_id "
    "ORDER BY d.id",
}
SUMMED = {
    "text": ("id", "kind", "digest", "body", "language", "meta"),
    "guideline": ("id", "body", "at", "person_id"),
    "grid": ("id", "name", "row_kind", "column_kind", "scheme"),
    "person": ("id", "name"),
}


class Misfits(NamedTuple):
    """What did not fit its digest before: it must not fit after the upgrade, which makes all digests anew."""

    rows: dict[str, set[int]]
    ends: dict[str, set[int]]  # people of whom the last rows are missing, by the kind of the chain
    sums: dict[str, set[int]]


def upgrade() -> None:
    wrong = Misfits({}, {}, {})
    if op.get_bind().exec_driver_sql("SELECT 1 FROM chain").fetchone():
        _find_misfits(wrong)
    for table in APPEND_ONLY:
        for act in ("update", "delete", "replace"):
            op.execute(f"DROP TRIGGER IF EXISTS {table}_no_{act}")
    _make_rounds()
    _name_sides()
    _make_sides()
    _make_cells()
    _give_neighbours_a_grid()
    _point_at_answers()
    _link_anew(wrong)
    for table in APPEND_ONLY:
        sqlite.protect(op.get_bind(), table)


def _link(before: bytes, says: Any) -> bytes:
    return hashlib.sha256(before + json.dumps(says, separators=(",", ":")).encode("ascii")).digest()


def _fits(before: Any, says: Any, digest: Any) -> bool:
    try:
        return _link(before, says) == digest
    except TypeError:  # damage can make anything of a value
        return False


def _find_misfits(wrong: Misfits) -> None:
    for kind, table in (("answer", "judgement"), ("decision", "adjudication")):
        wrong.rows[table], ends = set(), {}
        for digest, person, *says in _rows(SAID[table]):
            n, before = ends.get(person or hash_chain.NOBODY, (0, hash_chain.FIRST))
            ends[person or hash_chain.NOBODY] = (n + 1, digest)
            if not _fits(before, says, digest):
                wrong.rows[table].add(says[0])
        noted = {row[0]: (row[1], row[2]) for row in _rows("SELECT person_id, n, head FROM chain WHERE kind = ?", kind)}
        wrong.ends[kind] = {one for one in {*ends, *noted} if ends.get(one) != noted.get(one)}
    for table, names in SUMMED.items():
        found = _rows(f"SELECT checksum, {', '.join(names)} FROM {table} ORDER BY id")
        wrong.sums[table] = {row[1] for row in found if not _sum_fits(names, row[1:], row[0])}


def _sum_fits(names: tuple[str, ...], row: Any, checksum: Any) -> bool:
    try:
        says = [json.loads(one) if name in ("meta", "scheme") else one for name, one in zip(names, row, strict=True)]
    except (TypeError, ValueError):
        return False
    return _fits(hash_chain.FIRST, says, checksum)


def _rows(statement: str, *given: Any) -> Any:
    return driver(op.get_bind()).execute(statement, given)


def _make_sides() -> None:
    op.create_table(
        "side",
        sa.Column("grid_id", sa.Integer(), nullable=False),
        sa.Column("axis", sa.String(length=8), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.Column("drawn", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.ForeignKeyConstraint(["grid_id"], ["grid.id"], name=op.f("fk_side_grid_id_grid")),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name=op.f("fk_side_text_id_text")),
        sa.PrimaryKeyConstraint("grid_id", "axis", "position", name=op.f("pk_side")),
        sa.UniqueConstraint("grid_id", "axis", "text_id", name=op.f("uq_side_grid_id_axis_text_id")),
    )
    op.execute(f"INSERT INTO side SELECT {MAIN}, 'row', position, text_id, 1 FROM selected_hs")
    op.execute(f"INSERT INTO side SELECT {MAIN}, 'column', position, text_id, drawn FROM candidate")
    op.drop_table("selected_hs")
    op.drop_table("candidate")


def _make_cells() -> None:
    """A cell's id says of which grid it is; those of the first grid are the numbers that its pairs have."""
    op.execute("DROP TRIGGER IF EXISTS pair_sealed")
    op.rename_table("pair", "cell")  # what refers to it follows
    op.create_table(
        "new_cell",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("row_id", sa.Integer(), nullable=False),
        sa.Column("column_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["row_id"], ["text.id"], name=op.f("fk_cell_row_id_text")),
        sa.ForeignKeyConstraint(["column_id"], ["text.id"], name=op.f("fk_cell_column_id_text")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cell")),
    )
    op.execute("INSERT INTO new_cell SELECT id, hs_id, cn_id FROM cell ORDER BY id")
    op.drop_table("cell")
    op.rename_table("new_cell", "cell")
    sqlite.seal(op.get_bind(), _sealed())


def _sealed() -> list[tuple[int, int]]:
    there = op.get_bind().exec_driver_sql("SELECT 1 FROM cell LIMIT 1").fetchone()
    return [(0, 2**32 - 1)] if there else []


def _give_neighbours_a_grid() -> None:
    op.create_table(
        "neighbour_of_grid",
        sa.Column("grid_id", sa.Integer(), nullable=False),
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("cn_id", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["grid_id"], ["grid.id"], name=op.f("fk_neighbour_grid_id_grid")),
        sa.ForeignKeyConstraint(["cn_id"], ["text.id"], name=op.f("fk_neighbour_cn_id_text")),
        sa.ForeignKeyConstraint(["source_id"], ["text.id"], name=op.f("fk_neighbour_source_id_text")),
        sa.PrimaryKeyConstraint("grid_id", "source_id", "run", "rank", name=op.f("pk_neighbour")),
    )
    columns = "source_id, run, rank, cn_id, score"
    op.execute(f"INSERT INTO neighbour_of_grid (grid_id, {columns}) SELECT {MAIN}, {columns} FROM neighbour")
    _put_in_place("neighbour_of_grid", "neighbour")


def _put_in_place(new: str, old: str) -> None:
    op.drop_table(old)
    op.rename_table(new, old)


def _name_sides() -> None:
    """What the sides are called is said of the grid, and no longer of the study; the labels are its rounds'."""
    op.create_table(
        "named_grid",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("row_kind", sa.String(length=16), nullable=False),
        sa.Column("row_name", sa.Text(), nullable=False),
        sa.Column("column_kind", sa.String(length=16), nullable=False),
        sa.Column("column_name", sa.Text(), nullable=False),
        sa.Column("checksum", sa.LargeBinary(), server_default=sa.text("X''"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grid")),
        sa.UniqueConstraint("name", name=op.f("uq_grid_name")),
    )
    op.execute(
        "INSERT INTO named_grid (id, name, row_kind, row_name, column_kind, column_name) "
        "SELECT grid.id, name, row_kind, hs_name, column_kind, cn_name FROM grid, study"
    )
    _put_in_place("named_grid", "grid")
    with op.batch_alter_table("study") as study:
        study.drop_column("hs_name")
        study.drop_column("cn_name")


def _make_rounds() -> None:
    op.create_table(
        "round",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("grid_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("checks", sa.Integer(), nullable=True),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.Column("blind", sa.Boolean(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("checksum", sa.LargeBinary(), server_default=sa.text("X''"), nullable=False),
        sa.ForeignKeyConstraint(["checks"], ["round.id"], name=op.f("fk_round_checks_round")),
        sa.ForeignKeyConstraint(["grid_id"], ["grid.id"], name=op.f("fk_round_grid_id_grid")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round")),
        sa.UniqueConstraint("grid_id", "name", name=op.f("uq_round_grid_id_name")),
    )
    op.create_table(
        "answer",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("code", sa.Integer(), nullable=True),
        sa.Column("text_id", sa.Integer(), nullable=True),
        sa.Column("checksum", sa.LargeBinary(), server_default=sa.text("X''"), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], name=op.f("fk_answer_round_id_round")),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name=op.f("fk_answer_text_id_text")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answer")),
        sa.UniqueConstraint("round_id", "digest", name=op.f("uq_answer_round_id_digest")),
    )
    for (scheme,) in _rows("SELECT scheme FROM grid").fetchall():
        _add_rounds(json.loads(scheme))


def _add_rounds(scheme: list[dict[str, Any]]) -> None:
    rounds = (
        (LABEL, "label", "annotator", "label", scheme, None),
        (VALIDATE, "validate", "validator", "verdict", VERDICTS, LABEL),
        (BLIND, "validate blind", "validator", "own_label", scheme, LABEL),
    )
    for number, name, role, question, choices, checks in rounds:
        form = f"{question}: one_of({','.join(_printed(at, choice) for at, choice in enumerate(choices))})"
        values = (number, MAIN, name, role, form, checks, checks is None, number == BLIND)
        _run("INSERT INTO round VALUES (?, ?, ?, ?, ?, ?, ?, ?, '{}', X'')", *values)
        for choice in choices:
            said = json.dumps({question: choice["name"]}, ensure_ascii=False, separators=(",", ":"))
            values = (number, hashlib.sha256(said.encode()).hexdigest(), said, choice["code"])
            _run("INSERT INTO answer (round_id, digest, value, code) VALUES (?, ?, ?, ?)", *values)


def _printed(at: int, choice: dict[str, Any]) -> str:
    """A choice as a question writes it."""
    name = choice["name"]
    plain = name if re.fullmatch("[A-Za-z0-9_.-]+", name) else json.dumps(name, ensure_ascii=False)
    code = "" if choice["code"] == at else f"={choice['code']}"
    return plain + code + ("+" if choice.get("positive") else "" if choice.get("definite", True) else "?")


def _run(statement: str, *given: Any) -> None:
    driver(op.get_bind()).execute(statement, given)


def _point_at_answers() -> None:
    """Assignments are of a round; judgements and decisions point at an answer in the place of its code."""
    op.rename_table("assignment", "old_assignment")
    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("cell_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("replaces", sa.Integer(), nullable=True),
        sa.Column("answered_at", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(["cell_id"], ["cell.id"], name=op.f("fk_assignment_cell_id_cell")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_assignment_person_id_person")),
        sa.ForeignKeyConstraint(["replaces"], ["assignment.id"], name=op.f("fk_assignment_replaces_assignment")),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], name=op.f("fk_assignment_round_id_round")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        sa.UniqueConstraint("cell_id", "person_id", "round_id", name=op.f("uq_assignment_cell_id_person_id_round_id")),
        sa.UniqueConstraint("replaces", name=op.f("uq_assignment_replaces")),
        sqlite_autoincrement=True,
    )
    op.execute(
        "INSERT INTO assignment SELECT id, pair_id, person_id, "
        f"CASE WHEN round = 'label' THEN {LABEL} WHEN blind THEN {BLIND} ELSE {VALIDATE} END, "
        "position, status, replaces, answered_at FROM old_assignment ORDER BY id"
    )
    op.execute(  # numbers of rows that are gone are not given out again
        "UPDATE sqlite_sequence SET seq = (SELECT max(seq) FROM sqlite_sequence WHERE name LIKE '%assignment') "
        "WHERE name = 'assignment'"
    )
    op.drop_table("old_assignment")
    for columns in (["person_id", "round_id", "status", "position"], ["person_id", "answered_at"]):
        op.create_index(op.f(f"ix_assignment_{'_'.join(columns)}"), "assignment", columns)
    _point_decisions()
    _point_judgements()


def _point_decisions() -> None:
    op.create_table(
        "new_adjudication",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("cell_id", sa.Integer(), nullable=False),
        sa.Column("rule", sa.String(length=16), nullable=False),
        sa.Column("answer_id", sa.Integer(), nullable=True),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("flagged", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("seen_judgement", sa.Integer(), server_default="0", nullable=False),
        sa.Column("digest", sa.LargeBinary(), server_default=sa.text("X''"), nullable=False),
        sa.ForeignKeyConstraint(["answer_id"], ["answer.id"], name=op.f("fk_adjudication_answer_id_answer")),
        sa.ForeignKeyConstraint(["cell_id"], ["cell.id"], name=op.f("fk_adjudication_cell_id_cell")),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name=op.f("fk_adjudication_person_id_person")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_adjudication")),
    )
    op.execute(
        "INSERT INTO new_adjudication SELECT d.id, d.pair_id, d.rule, a.id, d.person_id, d.note, d.at, d.flagged, "
        f"d.seen_judgement, X'' FROM adjudication AS d LEFT JOIN answer AS a ON a.round_id = {LABEL} "
        "AND a.code = d.code ORDER BY d.id"
    )
    _put_in_place("new_adjudication", "adjudication")
    for column in ("cell_id", "person_id"):
        op.create_index(f"ix_adjudication_{column}", "adjudication", [column])


def _point_judgements() -> None:
    op.create_table(
        "new_judgement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Boolean(), nullable=False),
        sa.Column("answer_id", sa.Integer(), nullable=True),
        sa.Column("adjudication_id", sa.Integer(), nullable=True),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("guideline_id", sa.Integer(), nullable=True),
        sa.Column("run_id", sa.Integer(), nullable=True),
        sa.Column("withdraws", sa.Integer(), nullable=True),
        sa.Column("digest", sa.LargeBinary(), server_default=sa.text("X''"), nullable=False),
        sa.CheckConstraint("skipped = (answer_id IS NULL)", name=op.f("ck_judgement_answer_or_skip")),
        sa.CheckConstraint("withdraws IS NULL OR skipped", name=op.f("ck_judgement_withdrawal_or_answer")),
        sa.ForeignKeyConstraint(
            ["adjudication_id"], ["adjudication.id"], name=op.f("fk_judgement_adjudication_id_adjudication")
        ),
        sa.ForeignKeyConstraint(["answer_id"], ["answer.id"], name=op.f("fk_judgement_answer_id_answer")),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_judgement_assignment_id_assignment")
        ),
        sa.ForeignKeyConstraint(["guideline_id"], ["guideline.id"], name=op.f("fk_judgement_guideline_id_guideline")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_judgement_run_id_run")),
        sa.ForeignKeyConstraint(["withdraws"], ["judgement.id"], name=op.f("fk_judgement_withdraws_judgement")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgement")),
    )
    # An answer that was given blind stays one, also where the validator was asked again with the label in sight.
    asked = f"CASE WHEN j.own_code IS NOT NULL THEN {BLIND} WHEN s.round_id = {LABEL} THEN {LABEL} ELSE {VALIDATE} END"
    op.execute(
        "INSERT INTO new_judgement SELECT j.id, j.assignment_id, j.skipped, a.id, j.adjudication_id, j.origin, "
        "j.seconds, j.note, j.at, j.guideline_id, j.run_id, j.withdraws, X'' FROM judgement AS j "
        "JOIN assignment AS s ON s.id = j.assignment_id "
        f"LEFT JOIN answer AS a ON a.round_id = {asked} AND a.code = coalesce(j.own_code, j.code) ORDER BY j.id"
    )
    _put_in_place("new_judgement", "judgement")
    op.create_index("ix_judgement_assignment_id", "judgement", ["assignment_id"])


def _link_anew(wrong: Misfits) -> None:
    """Give all rows their digests anew; what did not fit before does not fit now, so that it can still be found."""
    for table in checksums.SAYS:
        checksums.make(op.get_bind(), table)
        for number in wrong.sums.get(table.name, ()):
            _run(f"UPDATE {table.name} SET checksum = ? WHERE id = ?", NONE, number)
    noted = {(kind, who): n for kind, who, n in _rows("SELECT kind, person_id, n FROM chain")}
    op.execute("DELETE FROM chain")
    for of in (hash_chain.ANSWERS, hash_chain.DECISIONS):
        hash_chain.make(op.get_bind(), of, wrong.rows.get(of.table.name, set()))
        for who in wrong.ends.get(of.kind, ()):
            _run("INSERT OR REPLACE INTO chain VALUES (?, ?, ?, ?)", of.kind, who, noted.get((of.kind, who), 0), NONE)
