"""The two sides of a grid, rows and columns: texts in an order; and what brought columns in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count as count_from
from typing import Any, Literal

from sqlalchemy import ColumnElement, delete, exists, func, select, update

from fcpair.lazy import pd
from fcpair.store.corpus.grids import current_grid_id
from fcpair.store.database.statements import as_subquery, count, frame, insert_rows, records
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import grid, neighbour, side, source_pair, text
from fcpair.store.oversight import settings

Axis = Literal["row", "column"]
AXES: tuple[tuple[Axis, str], ...] = (("row", "rows"), ("column", "columns"))
CORPUS = ("hs", "cn")  # the kinds of the texts that the corpus brings
SPELLINGS, MERGED = "spellings", "merged"  # the setting that keeps which texts were merged into which


def on_side(tx: Tx, axis: Axis) -> ColumnElement[bool]:
    """Return whether a row of the table is of this side of the grid."""
    return (side.c.grid_id == current_grid_id(tx)) & (side.c.axis == axis)


def set_texts(tx: Tx, axis: Axis, text_ids: Iterable[int]) -> None:
    """Put these texts, in this order, in place of those on a side before; all go into the grid until some are drawn."""
    clear(tx, axis)
    common = {"grid_id": current_grid_id(tx), "axis": axis, "drawn": True}
    insert_rows(tx, side, ({**common, "position": at, "text_id": text_id} for at, text_id in enumerate(text_ids, 1)))


def append_texts(tx: Tx, axis: Axis, text_ids: Sequence[int]) -> None:
    """Put these texts behind those of a side, to go into the grid; one that was not drawn moves there."""
    tx.execute(delete(side).where(on_side(tx, axis), side.c.text_id.in_(as_subquery(text_ids))))
    last = tx.scalar(select(func.max(side.c.position)).where(on_side(tx, axis))) or 0
    common = {"grid_id": current_grid_id(tx), "axis": axis, "drawn": True}
    rows = ({**common, "position": at, "text_id": text_id} for at, text_id in enumerate(text_ids, last + 1))
    insert_rows(tx, side, rows)


def clear(tx: Tx, axis: Axis) -> None:
    """Forget a side."""
    tx.execute(delete(side).where(on_side(tx, axis)))


def text_ids(tx: Tx, axis: Axis, *, drawn: bool = False) -> list[int]:
    """The ids of the texts of a side, in order; only those that go into the grid, if asked."""
    query = select(side.c.text_id).where(on_side(tx, axis)).order_by(side.c.position)
    return list(tx.scalars(query.where(side.c.drawn) if drawn else query))


def bodies(tx: Tx, axis: Axis) -> list[tuple[int, str]]:
    """The id and the body of each text of a side, in order."""
    return list(zip(text_ids(tx, axis), values(tx, axis, "body"), strict=True))


def values(tx: Tx, axis: Axis, name: str, *, drawn: bool = False, first: int = 0, n: int | None = None) -> list[Any]:
    """The `body`, `digest` or `meta` of the texts of a side, or those `drawn`, in order; `n` from the place `first`."""
    query = select(text.c[name]).join(side, side.c.text_id == text.c.id).where(on_side(tx, axis))
    query = query.order_by(side.c.position).offset(first).limit(n)
    return list(tx.scalars(query.where(side.c.drawn) if drawn else query))


def n_texts(tx: Tx, axis: Axis) -> int:
    """Count the texts of a side."""
    return count(tx, side, on_side(tx, axis))


def set_drawn(tx: Tx, axis: Axis, text_ids: Iterable[int]) -> None:
    """Mark these texts of a side, and no others, as the ones that go into the grid."""
    tx.execute(update(side).where(on_side(tx, axis)).values(drawn=side.c.text_id.in_(as_subquery(text_ids))))


def spellings(tx: Tx) -> dict[int, int]:
    """The text of the grid that stands for each one that was merged into it."""
    if not (merged := settings.of_stage(tx, SPELLINGS).get(MERGED)):
        return {}
    query = select(side.c.text_id).where(side.c.grid_id == current_grid_id(tx), ~side.c.drawn)
    left_out = set(tx.scalars(query))  # what was built anew has forgotten of what it was merged
    return {int(text_id): kept_id for text_id, kept_id in merged.items() if int(text_id) in left_out}


def other_spellings(tx: Tx) -> dict[int, dict[str, str]]:
    """The other spellings of each text of the grid that has any, as an item of its metadata."""
    kept_ids, found = spellings(tx), dict[int, list[str]]()
    query = select(*text.c["id", "body"]).where(text.c.id.in_(as_subquery(kept_ids))).order_by(text.c.id)
    for text_id, body in tx.execute(query).all() if kept_ids else ():
        found.setdefault(kept_ids[text_id], []).append(body)
    return {kept_id: {SPELLINGS: " | ".join(bodies)} for kept_id, bodies in found.items()}


def grids_on_corpus(tx: Tx) -> list[str]:
    """The names of the other grids that have texts of the corpus."""
    query = select(grid.c.name).join(side, side.c.grid_id == grid.c.id).join(text, text.c.id == side.c.text_id)
    other_grids = query.where(grid.c.id != current_grid_id(tx), text.c.kind.in_(CORPUS))
    return list(tx.scalars(other_grids.distinct().order_by(grid.c.name)))


def source_cns(tx: Tx) -> list[int]:
    """The ids of all CNs that the corpus pairs with a selected HS, in corpus order."""
    rows = select(side.c.text_id).where(on_side(tx, "row"))
    query = select(source_pair.c.cn_id).where(source_pair.c.hs_id.in_(rows))
    return list(tx.scalars(query.distinct().order_by(source_pair.c.cn_id)))


def rows_without_cn(tx: Tx) -> list[int]:
    """The ids of the selected HS that the corpus pairs with no CN, in order."""
    paired = exists().where(source_pair.c.hs_id == side.c.text_id)
    return list(tx.scalars(select(side.c.text_id).where(on_side(tx, "row"), ~paired).order_by(side.c.position)))


def set_neighbours(tx: Tx, neighbours: pd.DataFrame) -> None:
    """Put what brings candidates in (`source_id`, `run`, `rank`, `cn_id`, `score`) in place of what did before."""
    clear_neighbours(tx)
    insert_rows(tx, neighbour, records(neighbours.assign(grid_id=current_grid_id(tx))))


def add_neighbours(tx: Tx, neighbours: pd.DataFrame) -> None:
    """Add what brings further candidates in, under the names of its runs, numbered where others were called so."""
    names = set(tx.scalars(select(neighbour.c.run).where(neighbour.c.grid_id == current_grid_id(tx)).distinct()))
    free = {
        name: next(each for n in count_from(1) if (each := name if n == 1 else f"{name} ({n})") not in names)
        for name in neighbours["run"].unique()
    }
    renamed = neighbours.assign(run=neighbours["run"].map(free), grid_id=current_grid_id(tx))
    insert_rows(tx, neighbour, records(renamed))


def clear_neighbours(tx: Tx) -> None:
    """Forget what brought candidates in."""
    tx.execute(delete(neighbour).where(neighbour.c.grid_id == current_grid_id(tx)))


def neighbours_of(tx: Tx, cn_id: int) -> pd.DataFrame:
    """Sources of a candidate: `source_id` (a CN where `run` is None, an HS where a run has it), `run`, `rank`, `score`,
    highest score first, one run after the other.
    """
    run = func.nullif(neighbour.c.run, "").label("run")
    query = select(neighbour.c.source_id, run, neighbour.c.rank, neighbour.c.score)
    query = query.where(neighbour.c.grid_id == current_grid_id(tx), neighbour.c.cn_id == cn_id)
    return frame(tx, query.order_by(neighbour.c.run, neighbour.c.score.desc(), neighbour.c.source_id))
