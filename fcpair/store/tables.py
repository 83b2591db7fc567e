"""The schema, as the migrations make it. `tests/store/test_schema.py` holds the two against each other."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    true,
)
from sqlalchemy import text as sql

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_NONE = sql("X''")  # fits nothing: what is added behind fcpair's back is found by it


def _checksum() -> Column[bytes]:
    """The SHA-256 of what a row says that never changes, see checksums.py."""
    return Column("checksum", LargeBinary, nullable=False, server_default=_NONE)


study = Table(
    "study",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("title", Text, nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("secret", String(64), nullable=False),  # what is drawn from it must stay: orders, numbers, the cookie's name
    Column("session_secret", String(64), nullable=False),  # what sessions are signed with, until it is renewed
)

run = Table(
    "run",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("stage", String(32), nullable=False),
    Column("params", JSON, nullable=False),
    Column("counts", JSON, nullable=False),
    Column("model", JSON),
    Column("version", String(32), nullable=False),
    Column("at", String(32), nullable=False),
)

# What holds from now on, key by key, and the run that set it; a key that is missing has its default.
setting = Table(
    "setting",
    metadata,
    Column("grid_id", ForeignKey("grid.id"), primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("value", JSON, nullable=False),
    Column("run_id", ForeignKey("run.id"), nullable=False),
)

text = Table(
    "text",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("body", Text, nullable=False),
    Column("language", String(16)),
    Column("meta", JSON, nullable=False),
    _checksum(),
    UniqueConstraint("kind", "digest"),
)

source_pair = Table(
    "source_pair",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("hs_id", ForeignKey("text.id"), nullable=False),
    Column("cn_id", ForeignKey("text.id"), nullable=False),
    Column("meta", JSON, nullable=False),
    Index(None, "hs_id", "cn_id"),
)

# What brought candidates in: a source CN whose neighbours they are (`run` is empty), or an HS for which a run has them.
neighbour = Table(
    "neighbour",
    metadata,
    Column("grid_id", ForeignKey("grid.id"), primary_key=True),
    Column("source_id", ForeignKey("text.id"), primary_key=True),
    Column("run", Text, primary_key=True),
    Column("rank", Integer, primary_key=True),
    Column("cn_id", ForeignKey("text.id"), nullable=False),
    Column("score", Float, nullable=False),
)

grid = Table(
    "grid",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("row_kind", String(16), nullable=False),
    Column("row_name", Text, nullable=False),
    Column("column_kind", String(16), nullable=False),
    Column("column_name", Text, nullable=False),
    _checksum(),
)

# The rows (axis `row`) and the columns (axis `column`) of a grid, in their order; what is not `drawn` stays out of it.
side = Table(
    "side",
    metadata,
    Column("grid_id", ForeignKey("grid.id"), primary_key=True),
    Column("axis", String(8), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("text_id", ForeignKey("text.id"), nullable=False),
    Column("drawn", Boolean, nullable=False, server_default=true()),
    UniqueConstraint("grid_id", "axis", "text_id"),
)

# The grid of a cell, and its number there, are both in its id, see cells.py. No unique constraint here: an index on
# every cell would more than double the time to write a large grid. The cells are written in one statement from two
# sides that have primary keys, and then sealed (see dialect.py).
cell = Table(
    "cell",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("row_id", ForeignKey("text.id"), nullable=False),
    Column("column_id", ForeignKey("text.id"), nullable=False),
)

# A form put on the cells of a grid: who answers it, by role; which round's decisions it `checks`, if any; whether what
# is answered `counts` for decisions and tiers; and `options` that change nothing of what an answer is.
round_ = Table(
    "round",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("grid_id", ForeignKey("grid.id"), nullable=False),
    Column("name", String(64), nullable=False),
    Column("role", String(16), nullable=False),
    Column("form", Text, nullable=False),
    Column("checks", ForeignKey("round.id")),
    Column("counts", Boolean, nullable=False),
    Column("blind", Boolean, nullable=False),  # shown without what was decided
    Column("options", JSON, nullable=False),
    _checksum(),
    UniqueConstraint("grid_id", "name"),
)

# A distinct answer of a round, once; `code` stands for it in arrays, where the round asks one closed question.
answer = Table(
    "answer",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("round_id", ForeignKey("round.id"), nullable=False),
    Column("digest", String(64), nullable=False),  # the same for answers that are the same
    Column("value", Text, nullable=False),
    Column("code", Integer),
    Column("text_id", ForeignKey("text.id")),  # what was written
    _checksum(),
    UniqueConstraint("round_id", "digest"),
)

person = Table(
    "person",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(128), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("token_hash", String(128), unique=True),
    Column("demographics", JSON),
    Column("retired_at", String(32)),
    Column("consented_at", String(32)),
    Column("consented_to", Text),
    Column("blurred", Boolean, nullable=False, server_default=false()),
    Column("opted_out", JSON),
    _checksum(),
)

# Sessions whose people have left, until their cookies would be too old anyway: a copy of a cookie is no way in.
ended_session = Table(
    "ended_session",
    metadata,
    Column("session", String(32), primary_key=True),
    Column("person_id", ForeignKey("person.id"), nullable=False),
    Column("until", String(32), nullable=False),
)

guideline = Table(
    "guideline",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("body", Text, nullable=False),
    Column("at", String(32), nullable=False),
    Column("person_id", ForeignKey("person.id")),
    _checksum(),
)

assignment = Table(
    "assignment",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("cell_id", ForeignKey("cell.id"), nullable=False),
    Column("person_id", ForeignKey("person.id"), nullable=False),
    Column("round_id", ForeignKey("round.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("status", String(16), nullable=False),
    Column("replaces", ForeignKey("assignment.id"), unique=True),
    Column("answered_at", String(32)),  # online, the last time: what a person has read today, and at what pace
    UniqueConstraint("cell_id", "person_id", "round_id"),
    Index(None, "person_id", "round_id", "status", "position"),
    Index(None, "person_id", "answered_at"),
    sqlite_autoincrement=True,  # a page may still hold a number whose row is gone: it must not come to mean another
)

judgement = Table(
    "judgement",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("assignment_id", ForeignKey("assignment.id"), nullable=False),
    Column("skipped", Boolean, nullable=False),
    Column("answer_id", ForeignKey("answer.id")),
    Column("adjudication_id", ForeignKey("adjudication.id")),
    Column("origin", String(16), nullable=False),
    Column("seconds", Float),
    Column("note", Text, nullable=False),
    Column("at", String(32), nullable=False),
    Column("guideline_id", ForeignKey("guideline.id")),
    Column("run_id", ForeignKey("run.id")),  # the run that brought it; online, and before schema 0003, none
    Column("withdraws", ForeignKey("judgement.id")),  # an answer that this row takes back, putting none in its place
    Column("digest", LargeBinary, nullable=False, server_default=_NONE),  # see chain.py
    CheckConstraint("skipped = (answer_id IS NULL)", name="answer_or_skip"),
    CheckConstraint("withdraws IS NULL OR skipped", name="withdrawal_or_answer"),
    Index(None, "assignment_id"),
)

adjudication = Table(
    "adjudication",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("cell_id", ForeignKey("cell.id"), nullable=False),
    Column("rule", String(16), nullable=False),
    Column("answer_id", ForeignKey("answer.id")),
    Column("person_id", ForeignKey("person.id")),
    Column("note", Text, nullable=False),
    Column("at", String(32), nullable=False),
    Column("flagged", Boolean, nullable=False, server_default=false()),
    # The newest judgement that there was, so that it can be told whether labels have changed since. No time says so:
    # an answer from a file has the time at which it was given.
    Column("seen_judgement", Integer, nullable=False, server_default="0"),
    Column("digest", LargeBinary, nullable=False, server_default=_NONE),  # see chain.py
    Index(None, "cell_id"),
    Index(None, "person_id"),
)

# Where each chain ends (see chain.py): how many rows it has, and the digest of the newest. Person 0 stands for nobody.
chain = Table(
    "chain",
    metadata,
    Column("kind", String(16), primary_key=True),
    Column("person_id", Integer, primary_key=True, autoincrement=False),
    Column("n", Integer, nullable=False),
    Column("head", LargeBinary, nullable=False),
)

# What a submit was answered, so that a request that comes twice is answered alike and stored once.
receipt = Table(
    "receipt",
    metadata,
    Column("person_id", ForeignKey("person.id"), primary_key=True),
    Column("request_id", String(64), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("reply", JSON, nullable=False),
    Column("at", String(32), nullable=False),
)

release = Table(
    "release",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("tier", String(16), nullable=False),
    Column("rule", JSON, nullable=False),
    Column("counts", JSON, nullable=False),
    Column("file", Text, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("at", String(32), nullable=False),
)

# How far each table that only grows had grown with the last write; see extent.py.
extent = Table(
    "extent",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("last", Integer, nullable=False),
    Column("missing", Integer, nullable=False, server_default="0"),  # of the numbers up to `last`, known and accepted
)
