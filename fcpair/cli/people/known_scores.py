"""The table of people's right answers to known pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fcpair.cli.output import Table

COLUMNS = ("name", "use", "answered", "right", "share", "low", "high", "standing")
NOTE = (
    "right answers of those answered, which the pass mark is about, with Wilson's interval at 95 %; a skip is no "
    "answer, and in a qualification another known pair comes in its place, as long as there is one."
)


def score_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Table:
    """The scores on known pairs as a table."""
    return Table("Known pairs", columns, [[row[column] for column in columns] for row in rows], [NOTE])
