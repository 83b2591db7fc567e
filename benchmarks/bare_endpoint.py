"""The least that a label server can be: one FastAPI endpoint that inserts one row, with the study's own settings."""

from __future__ import annotations

import os
import sqlite3
import threading

from fastapi import FastAPI
from pydantic import BaseModel

_own = threading.local()
app = FastAPI()


class Label(BaseModel):
    assignment_id: int
    code: int


def _connect() -> sqlite3.Connection:
    """A connection with the settings that a study has while it is served."""
    connection = sqlite3.connect(os.environ["BARE_DATABASE"], timeout=30, isolation_level=None)
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")
    return connection


def _connection() -> sqlite3.Connection:
    """The connection of this thread."""
    if not hasattr(_own, "connection"):
        _own.connection = _connect()
    connection: sqlite3.Connection = _own.connection
    return connection


# Before there are threads: of several that switch to a write-ahead log at once, SQLite refuses all but one.
_connect().execute("CREATE TABLE label (id INTEGER PRIMARY KEY, assignment_id INT, code INT)")


@app.post("/label")
def add(label: Label) -> dict[str, int | None]:
    """Insert one label, committed before it is acknowledged."""
    row = (label.assignment_id, label.code)
    return {"id": _connection().execute("INSERT INTO label (assignment_id, code) VALUES (?, ?)", row).lastrowid}
