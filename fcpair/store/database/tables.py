"""The schema, as the migrations make it. `tests/store/database/test_schema.py` holds the two against each other."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import JSON, Boolean, Column, ForeignKey, Index, LargeBinary, Table, UniqueConstraint, event
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import SchemaItem

# Column types, as each database has them.
POSTGRES = "postgresql"
# SQLite compares words by their bytes, which is the order of their characters' numbers; so must every other database.
_BYTE_ORDER = "C"

Number = sa.Integer().with_variant(sa.BigInteger(), POSTGRES)  # up to 2^63 - 1, which ids of cells can be
Real = sa.Float().with_variant(sa.Double(), POSTGRES)  # of 64 bits
Words = sa.Text().with_variant(sa.Text(collation=_BYTE_ORDER), POSTGRES)  # of any length


def words(length: int) -> sa.String:
    """A text of at most so many characters."""
    return sa.String(length).with_variant(sa.String(length, collation=_BYTE_ORDER), POSTGRES)


class _NoBytes(sa.ColumnElement[bytes]):
    """No bytes at all: as a digest it fits nothing, so that what is added behind fcpair's back is found by it."""

    type = LargeBinary()
    inherit_cache = True


@compiles(_NoBytes)
def _no_bytes(_element: Any, _compiler: Any, **_: Any) -> str:
    return "X''"


@compiles(_NoBytes, POSTGRES)
def _no_bytes_in_postgres(_element: Any, _compiler: Any, **_: Any) -> str:
    return "'\\x'::bytea"


NO_BYTES = _NoBytes()

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _table(name: str, *columns: SchemaItem) -> Table:
    return Table(name, metadata, *columns)


def _numbered(name: str, *columns: SchemaItem) -> Table:
    return _table(name, Column("id", Number, primary_key=True), *columns)


def _checksum_column() -> Column[bytes]:
    return Column("checksum", LargeBinary, nullable=False, server_default=NO_BYTES)


study = _numbered(
    "study",
    Column("title", Words, nullable=False),
    Column("created_at", words(32), nullable=False),
    Column("secret", words(64), nullable=False),  # what is drawn from it must stay: orders, numbers, the cookie's name
    Column("session_secret", words(64), nullable=False),  # what sessions are signed with, until it is renewed
)

run = _numbered(
    "run",
    Column("stage", words(32), nullable=False),
    Column("params", JSON, nullable=False),
    Column("counts", JSON, nullable=False),
    Column("model", JSON),
    Column("version", words(32), nullable=False),
    Column("at", words(32), nullable=False),
)

# What holds from now on, key by key, and the run that set it; a key that is missing has its default.
setting = _table(
    "setting",
    Column("grid_id", ForeignKey("grid.id"), primary_key=True),
    Column("key", words(64), primary_key=True),
    Column("value", JSON, nullable=False),
    Column("run_id", ForeignKey("run.id"), nullable=False),
)

text = _numbered(
    "text",
    Column("kind", words(16), nullable=False),
    Column("digest", words(64), nullable=False),
    Column("body", Words, nullable=False),
    Column("language", words(16)),
    Column("meta", JSON, nullable=False),
    Column("answers_id", ForeignKey("text.id")),  # what was written may answer a text; then it is known by both
    _checksum_column(),
    UniqueConstraint("kind", "digest"),
)

source_pair = _table(
    "source_pair",
    Column("row", Number, primary_key=True),
    Column("hs_id", ForeignKey("text.id"), nullable=False),
    Column("cn_id", ForeignKey("text.id"), nullable=False),
    Column("meta", JSON, nullable=False),
    Index(None, "hs_id", "cn_id"),
)

# What brought candidates in: a source CN whose neighbours they are (`run` is empty), or an HS for which a run has them.
neighbour = _table(
    "neighbour",
    Column("grid_id", ForeignKey("grid.id"), primary_key=True),
    Column("source_id", ForeignKey("text.id"), primary_key=True),
    Column("run", Words, primary_key=True),
    Column("rank", Number, primary_key=True),
    Column("cn_id", ForeignKey("text.id"), nullable=False),
    Column("score", Real, nullable=False),
)

grid = _numbered(
    "grid",
    Column("name", words(64), nullable=False, unique=True),
    Column("row_kind", words(16), nullable=False),
    Column("row_name", Words, nullable=False),
    Column("column_kind", words(16), nullable=False),
    Column("column_name", Words, nullable=False),
    _checksum_column(),
)

# The rows (axis `row`) and the columns (axis `column`) of a grid, in their order; what is not `drawn` stays out of it.
side = _table(
    "side",
    Column("grid_id", ForeignKey("grid.id"), primary_key=True),
    Column("axis", words(8), primary_key=True),
    Column("position", Number, primary_key=True),
    Column("text_id", ForeignKey("text.id"), nullable=False),
    Column("drawn", Boolean, nullable=False, server_default=sa.true()),
    UniqueConstraint("grid_id", "axis", "text_id"),
)

# The grid of a cell, and its number there, are both in its id, see cells.py. No unique constraint here: an index on
# every cell would more than double the time to write a large grid. The cells are written in one statement from two
# sides that have primary keys, and then sealed (see backends/).
cell = _numbered(
    "cell",
    Column("row_id", ForeignKey("text.id"), nullable=False),
    Column("column_id", ForeignKey("text.id"), nullable=False),
)

# A form put on the cells of a grid: who answers it, by role; which round's decisions it `checks`, if any; whether what
# is answered `counts` for decisions and tiers; and `options` that change nothing of what an answer is.
round_ = _numbered(
    "round",
    Column("grid_id", ForeignKey("grid.id"), nullable=False),
    Column("name", words(64), nullable=False),
    Column("role", words(16), nullable=False),
    Column("form", Words, nullable=False),
    Column("checks", ForeignKey("round.id")),
    Column("counts", Boolean, nullable=False),
    Column("blind", Boolean, nullable=False),  # shown without what was decided
    Column("options", JSON, nullable=False),
    _checksum_column(),
    UniqueConstraint("grid_id", "name"),
)

# A distinct answer of a round, once; `code` stands for it in arrays, where the round asks one closed question.
answer = _numbered(
    "answer",
    Column("round_id", ForeignKey("round.id"), nullable=False),
    Column("digest", words(64), nullable=False),  # the same for answers that are the same
    Column("value", Words, nullable=False),
    Column("code", Number),
    Column("text_id", ForeignKey("text.id")),  # what was written
    _checksum_column(),
    # The answer that this one reads as since labels were renamed or merged; what was given stays as it was.
    Column("reads_as", ForeignKey("answer.id")),
    UniqueConstraint("round_id", "digest"),
)

person = _numbered(
    "person",
    Column("name", words(128), nullable=False, unique=True),
    Column("role", words(16), nullable=False),
    Column("token_hash", words(128), unique=True),
    Column("demographics", JSON),
    Column("retired_at", words(32)),
    Column("consented_at", words(32)),
    Column("consented_to", Words),
    Column("blurred", Boolean, nullable=False, server_default=sa.false()),
    Column("opted_out", JSON),
    Column("keeps_refused", Boolean, nullable=False, server_default=sa.false()),  # lets their refused texts be kept
    Column("language", words(16)),  # of the pages, where they chose one
    _checksum_column(),
)

# Sessions whose people have left, until their cookies would be too old anyway: a copy of a cookie is no way in.
ended_session = _table(
    "ended_session",
    Column("session", words(32), primary_key=True),
    Column("person_id", ForeignKey("person.id"), nullable=False),
    Column("until", words(32), nullable=False),
)

# Attempts to come in with a wrong token, by where they came from, for as long as they count.
attempt = _numbered(
    "attempt",
    Column("place", words(64), nullable=False),
    Column("at", words(32), nullable=False),
    Index(None, "place", "at"),
)

guideline = _numbered(
    "guideline",
    Column("body", Words, nullable=False),
    Column("at", words(32), nullable=False),
    Column("person_id", ForeignKey("person.id")),
    _checksum_column(),
)

assignment = _numbered(
    "assignment",
    Column("cell_id", ForeignKey("cell.id"), nullable=False),
    Column("person_id", ForeignKey("person.id"), nullable=False),
    Column("round_id", ForeignKey("round.id"), nullable=False),
    Column("position", Number, nullable=False),
    Column("status", words(16), nullable=False),
    Column("replaces", ForeignKey("assignment.id"), unique=True),
    Column("answered_at", words(32)),  # online, the last time: what a person has read today, and at what pace
    Column("until", words(32)),  # given for so long to whoever asked, where it is not answered; else for good
    Column("because", words(16)),  # of a label that a standing rule asked for: what the labels before it were like
    # The newest judgement of it, if it has any. No reference: each table would need the other first, and that there is
    # such a judgement says less than what `fcpair doctor` looks at, which is that there is no newer one.
    Column("judgement_id", Number),
    UniqueConstraint("cell_id", "person_id", "round_id"),
    Index(None, "person_id", "round_id", "status", "position"),
    Index(None, "person_id", "answered_at"),
)

# Its condition must not name the status: SQLite would plan every statement that compares it with a parameter anew, each
# time that it is run, as the value might let this index serve. That took a label 0.3 ms.
_leases_index = Index(None, assignment.c.status, assignment.c.until)


@event.listens_for(assignment, "before_create")
def _adapt_to_dialect(table: Table, conn: sa.Connection, **_options: Any) -> None:
    """Index only what is given for a time, and give no number out again: a page may still hold one whose row is gone,
    and it must not come to mean another. Said for one database alone: SQLAlchemy loads each that is named above.
    """
    name = conn.dialect.name
    _leases_index.dialect_options[name]["where"] = assignment.c.until.is_not(None)
    if name == "sqlite":  # others do not anyway
        table.dialect_options[name]["autoincrement"] = True


# A slot of open assignment that nobody has: whoever asks next may be given the cell, in the order of `position`.
slot = _numbered(
    "slot",
    Column("cell_id", ForeignKey("cell.id"), nullable=False),
    Column("round_id", ForeignKey("round.id"), nullable=False),
    Column("position", Number, nullable=False),
    Column("replaces", ForeignKey("assignment.id"), unique=True),  # who had it and skipped it, or let it lapse
    Column("because", words(16)),
    Index(None, "round_id", "position"),
    Index(None, "cell_id"),
)

judgement = _numbered(
    "judgement",
    Column("assignment_id", ForeignKey("assignment.id"), nullable=False),
    Column("skipped", Boolean, nullable=False),
    Column("answer_id", ForeignKey("answer.id")),
    Column("adjudication_id", ForeignKey("adjudication.id")),
    Column("origin", words(16), nullable=False),
    Column("seconds", Real),
    Column("note", Words, nullable=False),
    Column("at", words(32), nullable=False),  # when it came: limits, pace and order rest on this alone
    Column("answered_at", words(32)),  # when it was given, where it came later, as after an outage; see late_time
    Column("guideline_id", ForeignKey("guideline.id")),
    Column("run_id", ForeignKey("run.id")),  # the run that brought it; online, and before schema 0003, none
    Column("withdraws", ForeignKey("judgement.id")),  # an answer that this row takes back, putting none in its place
    Column("digest", LargeBinary, nullable=False, server_default=NO_BYTES),  # see hash_chain.py
    sa.CheckConstraint("skipped = (answer_id IS NULL)", name="answer_or_skip"),
    sa.CheckConstraint("withdraws IS NULL OR skipped", name="withdrawal_or_answer"),
    Index(None, "assignment_id"),
)

adjudication = _numbered(
    "adjudication",
    Column("cell_id", ForeignKey("cell.id"), nullable=False),
    Column("rule", words(16), nullable=False),
    Column("answer_id", ForeignKey("answer.id")),
    Column("person_id", ForeignKey("person.id")),
    Column("note", Words, nullable=False),
    Column("at", words(32), nullable=False),
    Column("decided_at", words(32)),  # as `answered_at` of a judgement
    Column("flagged", Boolean, nullable=False, server_default=sa.false()),
    # The newest judgement that there was, so that it can be told whether labels have changed since. No time says so:
    # an answer from a file has the time at which it was given.
    Column("seen_judgement", Number, nullable=False, server_default="0"),
    Column("digest", LargeBinary, nullable=False, server_default=NO_BYTES),  # see hash_chain.py
    Index(None, "cell_id"),
    Index(None, "person_id"),
)

# Where each chain ends (see hash_chain.py): how many rows it has, and the digest of the newest. Person 0 is nobody.
# Beside these, how many rows some tables without a chain should have (see schema.py).
chain = _table(
    "chain",
    Column("kind", words(16), primary_key=True),
    Column("person_id", Number, primary_key=True, autoincrement=False),
    Column("n", Number, nullable=False),
    Column("head", LargeBinary, nullable=False),
)

# What a submit was answered, so that a request that comes twice is answered alike and stored once.
receipt = _table(
    "receipt",
    Column("person_id", ForeignKey("person.id"), primary_key=True),
    Column("request_id", words(64), primary_key=True),
    Column("digest", words(64), nullable=False),
    Column("reply", JSON, nullable=False),
    Column("at", words(32), nullable=False),
    Column("number", Number),  # in the order in which they were acknowledged; none while it is being done
    Index(None, "number", unique=True),
)

release = _numbered(
    "release",
    Column("tier", words(16), nullable=False),
    Column("rule", JSON, nullable=False),
    Column("counts", JSON, nullable=False),
    Column("file", Words, nullable=False),
    Column("sha256", words(64), nullable=False),
    Column("at", words(32), nullable=False),
)

# A text that was sent and refused: by which `rule` and `version` of it, with which score; and the text itself where the
# writer lets it be kept.
refusal = _numbered(
    "refusal",
    Column("assignment_id", ForeignKey("assignment.id"), nullable=False),
    Column("rule", words(32), nullable=False),
    Column("version", Words, nullable=False),
    Column("score", Real),
    Column("body", Words),
    Column("at", words(32), nullable=False),
    Index(None, "assignment_id"),
)

# What a model replied, verbatim, and how it was marked: as too long, a refusal, ...
reply = _numbered(
    "reply",
    Column("assignment_id", ForeignKey("assignment.id"), nullable=False),
    Column("run_id", ForeignKey("run.id"), nullable=False),
    Column("body", Words, nullable=False),
    Column("marks", JSON, nullable=False),
    Index(None, "assignment_id"),
)

# What models of a round may be shown with a row: pairs of another grid, the nearest first.
example = _numbered(
    "example",
    Column("round_id", ForeignKey("round.id"), nullable=False),
    Column("row_id", ForeignKey("text.id"), nullable=False),
    Column("rank", Number, nullable=False),
    Column("hs_id", ForeignKey("text.id"), nullable=False),
    Column("cn_id", ForeignKey("text.id"), nullable=False),
    Column("score", Real, nullable=False),
    UniqueConstraint("round_id", "row_id", "rank"),
)

# What a person said of an example; the newest counts.
example_review = _numbered(
    "example_review",
    Column("example_id", ForeignKey("example.id"), nullable=False),
    Column("person_id", ForeignKey("person.id")),
    Column("used", Boolean, nullable=False),
    Column("at", words(32), nullable=False),
    Index(None, "example_id"),
)

# How often each of the lead's figures that take long to make was made, at whatever server: nobody shows an older one.
shown_figure = _table(
    "shown",
    Column("grid_id", ForeignKey("grid.id"), primary_key=True),
    Column("name", words(32), primary_key=True),
    Column("n", Number, nullable=False),
)

# A change of the labels of a grid, and what there was before it: the forms of the rounds, what answers read as and the
# rules of tiers (`before`), and the newest answer, judgement and decision. With these, tiers of then are derived again.
relabelling = _numbered(
    "relabelling",
    Column("grid_id", ForeignKey("grid.id"), nullable=False),
    Column("change", JSON, nullable=False),
    Column("before", JSON, nullable=False),
    Column("answer_id", Number, nullable=False),
    Column("judgement_id", Number, nullable=False),
    Column("adjudication_id", Number, nullable=False),
    Column("run_id", ForeignKey("run.id"), nullable=False),
    Column("at", words(32), nullable=False),
)

# Tables whose rows nobody changes or deletes, which the database itself refuses.
APPEND_ONLY = (judgement, adjudication, relabelling)
