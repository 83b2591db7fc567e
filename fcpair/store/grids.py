"""The grid: selected HS, neighbours, candidates, and every pair of the two sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, bindparam, delete, func, insert, select, update

from fcpair.records import GridKey
from fcpair.store import checksums, dialect
from fcpair.store.rows import CHUNK, frame, insert_rows, records
from fcpair.store.store import Tx
from fcpair.store.tables import assignment, candidate, grid, neighbour, pair, selected_hs, source_pair, text

if TYPE_CHECKING:
    import pandas as pd

GRID_ID = 1


def add_grid(tx: Tx, scheme: list[dict[str, Any]]) -> None:
    """Note the study's grid: HS x CN, answered by a closed choice."""
    row = {"name": "main", "row_kind": "hs", "column_kind": "cn", "scheme": scheme}
    tx.execute(insert(grid), list(checksums.summed(tx, grid, [row])))


def keys(tx: Tx) -> list[GridKey]:
    """The study's grids, oldest first."""
    return [GridKey(*row) for row in tx.execute(select(grid.c.id, grid.c.name).order_by(grid.c.id))]


def grid_scheme(tx: Tx) -> list[dict[str, Any]]:
    """The answer scheme of the grid."""
    return list(tx.execute(select(grid.c.scheme).where(grid.c.id == GRID_ID)).scalar_one())


def set_selected(tx: Tx, hs_ids: list[int]) -> None:
    """Put these HS, in this order, in place of those selected before."""
    tx.execute(delete(selected_hs))
    insert_rows(tx, selected_hs, ({"position": at, "text_id": hs} for at, hs in enumerate(hs_ids, 1)))


def selected(tx: Tx) -> list[int]:
    """The ids of the selected HS, in order."""
    return list(tx.execute(select(selected_hs.c.text_id).order_by(selected_hs.c.position)).scalars())


def source_cns(tx: Tx) -> list[int]:
    """The ids of all CNs that the corpus pairs with a selected HS, in corpus order."""
    query = select(source_pair.c.cn_id).where(source_pair.c.hs_id.in_(select(selected_hs.c.text_id)))
    return list(tx.execute(query.distinct().order_by(source_pair.c.cn_id)).scalars())


def set_candidates(tx: Tx, candidate_ids: list[int]) -> None:
    """Put these candidates, in this order, in place of those before; all go into the grid until some are drawn."""
    tx.execute(delete(candidate))
    rows = ({"position": at, "text_id": cn, "drawn": True} for at, cn in enumerate(candidate_ids, 1))
    insert_rows(tx, candidate, rows)


def selected_without_cn(tx: Tx) -> list[int]:
    """The ids of the selected HS that the corpus pairs with no CN, in order."""
    query = select(selected_hs.c.text_id).where(selected_hs.c.text_id.not_in(select(source_pair.c.hs_id)))
    return list(tx.execute(query.order_by(selected_hs.c.position)).scalars())


def set_neighbours(tx: Tx, neighbours: pd.DataFrame) -> None:
    """Put what brings candidates in (`source_id`, `run`, `rank`, `cn_id`, `score`) in place of what did before."""
    tx.execute(delete(neighbour))
    insert_rows(tx, neighbour, records(neighbours))


def candidates(tx: Tx) -> list[int]:
    """The ids of all candidates, in order."""
    return list(tx.execute(select(candidate.c.text_id).order_by(candidate.c.position)).scalars())


def neighbours_of(tx: Tx, cn_id: int) -> pd.DataFrame:
    """What brought a candidate in: `source_id`, `run`, `rank`, `score`, highest score first, one run after the other.

    The source is a CN and `run` None where it is a neighbour; it is an HS where a run has it.
    """
    run = func.nullif(neighbour.c.run, "").label("run")
    query = select(neighbour.c.source_id, run, neighbour.c.rank, neighbour.c.score).where(neighbour.c.cn_id == cn_id)
    return frame(tx, query.order_by(neighbour.c.run, neighbour.c.score.desc(), neighbour.c.source_id))


def set_drawn(tx: Tx, candidate_ids: list[int]) -> None:
    """Mark these candidates, and no others, as the ones that go into the grid."""
    tx.execute(update(candidate).values(drawn=False))
    drawn = update(candidate).where(candidate.c.text_id == bindparam("cn")).values(drawn=True)
    tx.execute(drawn, [{"cn": cn} for cn in candidate_ids])


def fill_grid(tx: Tx, *, keep_known: bool = False) -> tuple[int, int]:
    """Write every pair of a selected HS and a drawn candidate, less those of the corpus, and seal the grid.

    Pairs are numbered from 1, one HS after the other; a pair of the corpus leaves its number unused, or stays in with
    `keep_known`.

    Returns:
        How many pairs the grid has, and how many of the product stand in the corpus.
    """
    columns = (
        select(candidate.c.text_id, func.row_number().over(order_by=candidate.c.position).label("at"))
        .where(candidate.c.drawn)
        .subquery()
    )
    product = tx.exec_driver_sql(dialect.FILL_GRID, (GRID_ID,)).rowcount
    n_columns = select(func.count()).select_from(columns).scalar_subquery()
    known = (
        select((selected_hs.c.position - 1) * n_columns + columns.c.at)
        .select_from(source_pair)
        .join(selected_hs, selected_hs.c.text_id == source_pair.c.hs_id)
        .join(columns, columns.c.text_id == source_pair.c.cn_id)
    )
    if keep_known:
        n_known = int(tx.execute(select(func.count()).where(pair.c.id.in_(known))).scalar_one())
    else:
        n_known = tx.execute(delete(pair).where(pair.c.id.in_(known))).rowcount
    dialect.seal_pairs(tx)
    return product - (0 if keep_known else n_known), n_known


def add_pairs(tx: Tx, pairs: pd.DataFrame) -> None:
    """Write a grid that was made elsewhere, `id`, `hs_id`, `cn_id`, and seal it."""
    insert_rows(tx, pair, records(pairs.assign(grid_id=GRID_ID)))
    dialect.seal_pairs(tx)


def number_range(tx: Tx) -> tuple[int | None, int | None]:
    """The lowest and the highest number of a pair; None for an empty grid."""
    first, last = tx.execute(select(func.min(pair.c.id), func.max(pair.c.id))).one()
    return first, last


def pairs(tx: Tx) -> pd.DataFrame:
    """All pairs of the grid, by number: `pair_id`, `hs_id`, `cn_id`."""
    return frame(tx, select(pair.c.id.label("pair_id"), pair.c.hs_id, pair.c.cn_id).order_by(pair.c.id))


def pairs_by_number(tx: Tx, pair_ids: Iterable[int]) -> pd.DataFrame:
    """Those pairs of the grid that have one of these numbers: `pair_id`, `hs_id`, `cn_id`."""
    return _pairs_in(tx, pair.c.id, pair_ids)


def pairs_of_hs(tx: Tx, hs_ids: Iterable[int]) -> pd.DataFrame:
    """The pairs of some HS: `pair_id`, `hs_id`, `cn_id`."""
    return _pairs_in(tx, pair.c.hs_id, hs_ids)


def _pairs_in(tx: Tx, column: ColumnElement[int], values: Iterable[int]) -> pd.DataFrame:
    """Pairs by a list that may be longer than a statement can have parameters: it goes as one JSON value."""
    listed = dialect.listed(sorted(set(values)))
    query = select(pair.c.id.label("pair_id"), pair.c.hs_id, pair.c.cn_id).where(column.in_(listed))
    return frame(tx, query.order_by(pair.c.id))


def given_pairs(tx: Tx) -> pd.DataFrame:
    """The pairs that anybody was given, in any round, by number: `pair_id`, `hs_id`, `cn_id`."""
    given = select(assignment.c.pair_id).distinct().subquery()
    query = select(pair.c.id.label("pair_id"), pair.c.hs_id, pair.c.cn_id)
    return frame(tx, query.join(given, given.c.pair_id == pair.c.id).order_by(pair.c.id))


def pair_texts(tx: Tx) -> pd.DataFrame:
    """The texts of both sides of the grid: `text_id`, `kind`, `body`, `language`, `meta`, in corpus order."""
    used = select(pair.c.hs_id).union(select(pair.c.cn_id))
    query = select(text.c.id.label("text_id"), text.c.kind, text.c.body, text.c.language, text.c.meta)
    return frame(tx, query.where(text.c.id.in_(used)).order_by(text.c.id))


_TEXTS_OF_PAIR = tuple(
    select(text.c.id.label("text_id"), text.c.body, text.c.language, text.c.meta)
    .join(pair, side == text.c.id)
    .where(pair.c.id == bindparam("one"))
    for side in (pair.c.hs_id, pair.c.cn_id)
)


def texts_of_pair(tx: Tx, pair_id: int) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The two texts of a pair, HS first: `text_id`, `body`, `language`, `meta`; None when the grid has no such pair."""
    sides = []
    for side in _TEXTS_OF_PAIR:
        row = tx.execute(side, {"one": pair_id}).first()
        if row is None:
            return None
        sides.append(dict(row._mapping))
    return sides[0], sides[1]


def drawn_candidates(tx: Tx) -> list[int]:
    """The ids of the candidates that go into the grid, in order."""
    query = select(candidate.c.text_id).where(candidate.c.drawn).order_by(candidate.c.position)
    return list(tx.execute(query).scalars())


def corpus_cells(tx: Tx) -> pd.DataFrame:
    """The pairs of the corpus between a selected HS and a drawn candidate: `hs_id`, `cn_id`, each once."""
    query = (
        select(source_pair.c.hs_id, source_pair.c.cn_id)
        .join(selected_hs, selected_hs.c.text_id == source_pair.c.hs_id)
        .join(candidate, candidate.c.text_id == source_pair.c.cn_id)
        .where(candidate.c.drawn)
        .distinct()
        .order_by(source_pair.c.hs_id, source_pair.c.cn_id)
    )
    return frame(tx, query)


def pair_parts(tx: Tx) -> Iterator[list[tuple[int, int]]]:
    """The two sides of every pair of the grid, `(hs_id, cn_id)` by number, a chunk at a time."""
    query = select(pair.c.hs_id, pair.c.cn_id).order_by(pair.c.id)
    result = tx.execution_options(stream_results=True).execute(query)
    return iter(lambda: [(row[0], row[1]) for row in result.fetchmany(CHUNK)], [])
