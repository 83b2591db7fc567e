"""Examples that models of a round may be shown with its rows, and what people said of each; only the newest counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, delete, func, select

from fcpair.records import Example, Round
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import current_grid_id
from fcpair.store.database import latest_rows
from fcpair.store.database.statements import insert_rows
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import answer, cell, example, example_review, judgement, round_, side, text

Key = tuple[int, int, int]  # the row, the HS and the CN of an example, by the ids of their texts


class WrittenText(NamedTuple):
    """A text that was written on an HS, by the ids of both, and the body of the HS."""

    hs_id: int
    cn_id: int
    hs: str


def _texts_on_cells(source: Round, *columns: ColumnElement[Any]) -> Select[Any]:
    query = select(cell.c.row_id, answer.c.text_id, *columns).order_by(cell.c.id, judgement.c.id)
    query = query.select_from(latest_rows.joined(latest_rows.JUDGED, answer, cell))
    return query.where(rounds.in_round(source), answer.c.text_id.is_not(None))


def current_texts(tx: Tx, source: Round) -> list[WrittenText]:
    """The current text on each row of a round, by cell: of several that a row has, that of its first cell."""
    query = _texts_on_cells(source, text.c.body).join(text, text.c.id == cell.c.row_id).where(latest_rows.ANSWER)
    texts_by_row: dict[int, WrittenText] = {}
    for row in tx.execute(query):
        texts_by_row.setdefault(row.row_id, WrittenText(*row))
    return list(texts_by_row.values())


def replace_examples(tx: Tx, of: Round, examples: Iterable[tuple[Key, int, float]]) -> int:
    """Replace the examples of a round (ranks from 1, scores); what was said of those that stay is kept. Returns their
    number.
    """
    reviewed = (
        select(*example.c["row_id", "hs_id", "cn_id"], *example_review.c["person_id", "used", "at"])
        .join(example_review, example_review.c.example_id == example.c.id)
        .where(example.c.round_id == of.id)
        .order_by(example_review.c.id)
    )
    reviews: dict[tuple[int, ...], list[dict[str, object]]] = {}
    for row in tx.execute(reviewed):
        reviews.setdefault(tuple(row[:3]), []).append({"person_id": row[3], "used": row[4], "at": row[5]})
    _clear(tx, example.c.round_id == of.id)
    names = ("round_id", "row_id", "hs_id", "cn_id", "rank", "score")
    rows = (dict(zip(names, (of.id, *key, rank, score), strict=True)) for key, rank, score in examples)
    insert_rows(tx, example, rows)
    query = select(*example.c["id", "row_id", "hs_id", "cn_id"]).where(example.c.round_id == of.id)
    ids = {tuple(row[1:]): row.id for row in tx.execute(query)}
    kept = [(ids[key], before) for key, before in reviews.items() if key in ids]
    insert_rows(tx, example_review, ({**said, "example_id": number} for number, before in kept for said in before))
    return len(kept)


def clear(tx: Tx) -> None:
    """Forget the examples of all rounds of the grid, and what was said of them."""
    _clear(tx, example.c.round_id.in_(select(round_.c.id).where(round_.c.grid_id == current_grid_id(tx))))


def _clear(tx: Tx, condition: ColumnElement[bool]) -> None:
    tx.execute(delete(example_review).where(example_review.c.example_id.in_(select(example.c.id).where(condition))))
    tx.execute(delete(example).where(condition))


def list_examples(tx: Tx, of: Round, source: Round) -> list[Example]:
    """The examples of a round of the grid, row by row and by rank; they were written in the round `source`."""
    row, hs, cn = text.alias("row"), text.alias("hs"), text.alias("cn")
    newest = select(func.max(example_review.c.id)).where(example_review.c.example_id == example.c.id)
    bodies = (table.c.body.label(table.name) for table in (row, hs, cn))
    on_side = (side.c.text_id == example.c.row_id) & (side.c.grid_id == current_grid_id(tx)) & (side.c.axis == "row")
    is_newest = example_review.c.id == newest.correlate(example).scalar_subquery()
    query = select(*example.c["id", "row_id", "rank", "hs_id", "cn_id", "score"], *bodies, example_review.c.used)
    query = query.join(row, row.c.id == example.c.row_id).join(hs, hs.c.id == example.c.hs_id)
    query = query.join(cn, cn.c.id == example.c.cn_id).join(side, on_side).outerjoin(example_review, is_newest)
    query = query.where(example.c.round_id == of.id).order_by(side.c.position, example.c.rank)
    column = text.alias("column")  # of the first cell on which each was ever written
    own = select(example.c.cn_id).where(example.c.round_id == of.id)
    written = _texts_on_cells(source, column.c.body).join(column, column.c.id == cell.c.column_id)
    types: dict[tuple[int, int], str] = {}
    for written_row in tx.execute(written.where(answer.c.text_id.in_(own))):
        types.setdefault((written_row.row_id, written_row.text_id), written_row.body)
    return [
        Example(at.id, at.row_id, at.row, at.rank, at.hs, at.cn, types[at.hs_id, at.cn_id], at.score, at.used)
        for at in tx.execute(query)
    ]


def ids_without_current_text(tx: Tx, of: Round, source: Round) -> set[int]:
    """The ids of the examples of a round whose texts are no current answers of the round `source` any more."""
    stand = {(row.row_id, row.text_id) for row in tx.execute(_texts_on_cells(source).where(latest_rows.ANSWER))}
    own = select(*example.c["id", "hs_id", "cn_id"]).where(example.c.round_id == of.id)
    return {row.id for row in tx.execute(own) if (row.hs_id, row.cn_id) not in stand}


def add_reviews(tx: Tx, reviews: Sequence[tuple[int, bool]], person_id: int | None) -> None:
    """Note of examples, by their ids, whether they are used; nobody is named for what comes of a file."""
    same = {"person_id": person_id, "at": now()}
    insert_rows(tx, example_review, ({**same, "example_id": one, "used": used} for one, used in reviews))


def has_example(tx: Tx, of: Round, example_id: int) -> bool:
    """Return whether a round has the example with this id."""
    query = select(example.c.id).where(example.c.round_id == of.id, example.c.id == example_id)
    return tx.execute(query).first() is not None
