"""Tables of items whose answer is known, for practice, qualification and controls: in a file, or pasted as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from fcpair.errors import Finding, InputError, reject
from fcpair.files.tables.delimited import RawTable, check_texts, parse_csv
from fcpair.files.tables.tabular import READERS, check_file, kind_of, require_columns, unguard
from fcpair.known_pairs import COLUMNS, EXPLANATION, MAY_BE_EMPTY, KnownItem, check_number, item_problems
from fcpair.stages.corpus.text_identity import fold_name

PASTED = "the table"


def read_known_items(path: Path, answers: Sequence[str]) -> list[KnownItem]:
    """The known items in a table with the columns COLUMNS, whose answers are among `answers`.

    Raises InputError: no such file, no table, a column that is missing, or what is wrong with items, by line.
    """
    items, _ = read_known_pairs(path, answers, explained=True)
    check_number(len(items))
    return items


def read_known_pairs(path: Path, answers: Sequence[str], *, explained: bool) -> tuple[list[KnownItem], list[int]]:
    """Any number of pairs as `read_known_items` reads them, and the line of each; all `explained`, or maybe not."""
    check_file(path)
    raw = READERS[kind_of(path)](path, _needed(explained=explained))
    return _known_items(raw, answers, explained=explained)


def _needed(*, explained: bool) -> tuple[str, ...]:
    may_lack = {MAY_BE_EMPTY, *(() if explained else (EXPLANATION,))}
    return tuple(name for name in COLUMNS if name not in may_lack)


def parse_known_items(text: str, answers: Sequence[str]) -> list[KnownItem]:
    """The known items in a table that was pasted: CSV, or cells separated by tabs; raises as `read_known_items`."""
    if not text.strip():
        raise InputError(f"{PASTED} is empty; expected a line of column names, {', '.join(COLUMNS)}, and a line a pair")
    items, _ = _known_items(parse_csv(text, PASTED), answers)
    check_number(len(items))
    return items


def format_known_items(items: Sequence[KnownItem]) -> str:
    """The items as a CSV that `parse_known_items` reads."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([COLUMNS, *items] if items else [])
    return written.getvalue()


def _known_items(raw: RawTable, answers: Sequence[str], *, explained: bool = True) -> tuple[list[KnownItem], list[int]]:
    check_texts(raw)
    names = {fold_name(name): name for name in COLUMNS}
    header = [names.get(fold_name(name), name) for name in raw.header]
    require_columns(raw.place, header, _needed(explained=explained))
    items, findings = [], []
    for row, line in zip(raw.rows, raw.lines, strict=True):
        cells = {name: unguard(cell).strip() for name, cell in zip(header, row, strict=False) if name in COLUMNS}
        findings += [
            Finding(raw.place, line, problem) for problem in item_problems(cells, answers, explained=explained)
        ]
        items.append(KnownItem(*(cells.get(name, "") for name in COLUMNS)))
    reject(raw.place, findings)
    if not items:
        raise InputError.say("%(file)s has no pair below the column names", file=raw.place)
    return items, list(raw.lines)
