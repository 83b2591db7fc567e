"""References from the columns of a table: several beside each text, and those of all rows of the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fcpair.errors import InputError
from fcpair.stages.corpus.text_identity import identity

Columns = Mapping[str, Sequence[str]]


def references_of(columns: Columns, text: str, names: Sequence[str], row: str | None = None) -> list[tuple[str, ...]]:
    """The references of each text: what stands in some columns beside it, empty cells left out, each once.

    With `row`, a column, those of all rows that have the same there: all counter-narratives of an HS, say. The column
    of the texts may then be among the names: what stands in the other rows are references, and never the text's own.

    Raises:
        InputError: a text would be its own reference.
    """
    if text in names and row is None:
        raise InputError(
            f"column `{text}` holds the texts, and each would be its own reference; name another column, or one whose "
            "rows belong together (row)"
        )
    others = [name for name in names if name != text]
    beside = [[columns[name][at] for name in others] for at in range(len(columns[text]))]
    if row is None:
        return [_distinct(cells) for cells in beside]
    rows: dict[str, list[int]] = {}
    for at, of in enumerate(columns[row]):
        rows.setdefault(identity(of), []).append(at)
    references = []
    for at, of in enumerate(columns[row]):
        same_rows = rows[identity(of)]
        own_column = [columns[text][other_row] for other_row in same_rows if other_row != at] if text in names else []
        references.append(_distinct([*own_column, *(cell for other_row in same_rows for cell in beside[other_row])]))
    return references


def _distinct(cells: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cell for cell in cells if cell.strip()))
