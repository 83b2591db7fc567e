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


def _connection() -> sqlite3.Connection:
    """The connection of this thread, with the settings that a study has while it is served."""
    if not hasattr(_own, "connection"):
        _own.connection = sqlite3.connect(os.environ["BARE_DATABASE"], timeout=30, isolation_level=None)
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            _own.connection.execute(f"PRAGMA {setting}")
        _own.connection.execute(
            "CREATE TABLE IF NOT EXISTS label (id INTEGER PRIMARY KEY, assignment_id INT, code INT)"
        )
    connection: sqlite3.Connection = _own.connection
    return connection


@app.post("/label")
def add(label: Label) -> dict[str, int | None]:
    """Insert one label, committed before it is acknowledged."""
    row = (label.assignment_id, label.code)
    return {"id": _connection().execute("INSERT INTO label (assignment_id, code) VALUES (?, ?)", row).lastrowid}
