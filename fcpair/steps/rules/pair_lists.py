"""Lists of pairs that an act is about: from the numbers that people give to pairs of the grid, and back in short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from fcpair.errors import InputError
from fcpair.steps.base.context import find_cell
from fcpair.store import Tx
from fcpair.store.corpus import cells
from fcpair.store.corpus.grids import cell_range, to_cell_id


def find_cells(tx: Tx, numbers: Iterable[int]) -> list[int]:
    """The ids of the pairs with these numbers, ascending, each once.

    Raises InputError where none is named, UnknownIdError for a number that no pair of the grid has.
    """
    ids = sorted({int(to_cell_id(tx, number)) for number in numbers})
    if not ids:
        raise InputError("no pair is named; name at least one")
    known = set(cells.by_id(tx, [cell_id for cell_id in ids if cell_range(tx).has(cell_id)])["cell_id"].tolist())
    if unknown := [cell_id for cell_id in ids if cell_id not in known]:
        find_cell(tx, unknown[0] - cell_range(tx).first)
    return ids


def as_ranges(numbers: Sequence[int]) -> str:
    """Numbers in short, such as `1-3, 7`."""
    runs = (
        [number for _, number in group]
        for _, group in groupby(enumerate(sorted(set(numbers))), key=lambda item: item[1] - item[0])
    )
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
