"""Texts written in a round, which can be a side of a next grid: who wrote them, and where each is from.

Their writers then have no part in that grid. The origin of a text is what it answers, as what it was asked for, and who
or which model it is from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Select, case, func, select

from fcpair.lazy import pd
from fcpair.records import Role, Round
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, grids
from fcpair.store.database import latest_rows
from fcpair.store.database.statements import as_subquery, frame
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import answer, assignment, cell, judgement, person, text


def _written(of: Round, *columns: ColumnElement[Any]) -> Select[Any]:
    query = select(*columns).select_from(latest_rows.joined(latest_rows.ANSWERED, answer, person))
    return query.join(text, text.c.id == answer.c.text_id).where(rounds.in_round(of))


def texts_written(tx: Tx, in_round: Round) -> list[int]:
    """The ids of the distinct texts that the current answers of a round have, by the first cell that has each."""
    # Those of one cell by their digests: in the order of their ids, it would be that of their writers.
    query = _written(in_round, text.c.id).group_by(text.c.id, text.c.digest)
    return list(tx.scalars(query.order_by(func.min(assignment.c.cell_id), text.c.digest)))


def writers_of_cells(tx: Tx, cell_ids: list[int], person_ids: list[int]) -> NDArray[np.int64]:
    """Find who of these people ever wrote the row or column of these cells, or the same words: `(n, 2)` numbers."""
    rows = set[tuple[int, int]]()
    for kind, text_id in zip(grids.side_kinds(tx), cell.c["row_id", "column_id"], strict=True):
        if kind == rounds.WRITTEN:
            query = select(cell.c.id, assignment.c.person_id).join(text, text.c.id == text_id)
            query = query.where(cell.c.id.in_(as_subquery(cell_ids)))
            rows.update((row[0], row[1]) for row in tx.execute(_with_writers(query, person_ids)))
    if cells.has_comparisons(tx):
        located, shown = cells.compared_texts(tx, cell_ids)
        query = select(text.c.id, assignment.c.person_id).select_from(text).where(text.c.kind == rounds.WRITTEN)
        query = query.where(text.c.id.in_(as_subquery(np.unique(shown).tolist())))
        for written_id, person_id in tx.execute(_with_writers(query, person_ids)):
            rows.update((id_, person_id) for id_ in located["cell_id"][(shown == written_id).any(axis=1)].tolist())
    return np.array(sorted(rows), np.int64).reshape(-1, 2)


def _with_writers(query: Select[Any], person_ids: list[int]) -> Select[Any]:
    """A query on texts, joined with those of these people who ever wrote the same words."""
    same_text = text.alias("own")
    query = query.join(same_text, (same_text.c.kind == rounds.WRITTEN) & (same_text.c.body == text.c.body))
    query = query.join(answer, answer.c.text_id == same_text.c.id)
    query = query.join(judgement, judgement.c.answer_id == answer.c.id)
    query = query.join(assignment, assignment.c.id == judgement.c.assignment_id)
    return query.where(assignment.c.person_id.in_(as_subquery(person_ids))).distinct()


def authors_of_rows(tx: Tx, cell_ids: list[int], column: str) -> dict[int, frozenset[str]]:
    """Authors of the rows of these cells, folded, from a metadata column of names parted by commas or semicolons."""
    value = text.c.meta[column].as_string()
    query = select(cell.c.id, value).join(text, text.c.id == cell.c.row_id)
    rows = tx.execute(query.where(cell.c.id.in_(as_subquery(cell_ids)), value.is_not(None), value != ""))
    return {cell_id: frozenset(filter(None, map(fold_name, re.split("[,;]", names)))) for cell_id, names in rows}


def fold_name(name: str) -> str:
    """A name by which it is known whom an author's name means."""
    return name.strip().casefold()


def originals(tx: Tx, of: Round) -> dict[int, str]:
    """The text that a round gives to be edited on each cell; none where it edits nothing."""
    if of.options.edits_row:
        query = select(cell.c.id, text.c.body).join(text, text.c.id == cell.c.row_id)
        return {row[0]: row[1] for row in tx.execute(query.where(grids.cell_range(tx).holds(cell.c.id)))}
    edited = authored_texts(tx, rounds.by_name(tx, of.options.edits_round)) if of.options.edits_round else {}
    return {cell_id: one.body for cell_id, one in edited.items()}


class AuthoredText(NamedTuple):
    """A text, and the pseudonym of the person or the name of the model who wrote it."""

    body: str
    by: str


def authored_texts(tx: Tx, in_round: Round) -> dict[int, AuthoredText]:
    """The text that each cell has in a round by its current answer, and by whom; where it has several, the newest."""
    query = _written(in_round, assignment.c.cell_id, text.c.body, person.c.name).order_by(judgement.c.id)
    return {cell_id: AuthoredText(body, by) for cell_id, body, by in tx.execute(query)}


def cells_answered_before(tx: Tx, of: Round) -> set[int]:
    """The cells with a current answer in the round on which this rests; if it edits, with a text or of a model."""
    earlier = rounds.by_name(tx, of.options.rests_on)
    needs_text = of.options.edits_round and earlier.role is not Role.MODEL
    return set(authored_texts(tx, earlier) if needs_text else judgements.answered_cells(tx, earlier))


def written_cells(tx: Tx, in_round: Round) -> pd.DataFrame:
    """The distinct texts that current answers of a round wrote in each cell: `cell_id`, `hs_id`, `cn_id` (the text)."""
    columns = (assignment.c.cell_id, cell.c.row_id.label("hs_id"), text.c.id.label("cn_id"))
    query = _written(in_round, *columns).join(cell, cell.c.id == assignment.c.cell_id)
    return frame(tx, query.distinct().order_by(*columns))


def texts_by_writer(tx: Tx, of: Round) -> dict[int, list[int]]:
    """The texts of everybody's current answers in a round, by the person."""
    by_writer: dict[int, list[int]] = {}
    for person_id, text_id in tx.execute(_written(of, person.c.id, text.c.id).order_by(assignment.c.id)):
        by_writer.setdefault(person_id, []).append(text_id)
    return by_writer


EditedSources = dict[int, dict[int, str]]  # of each round that edits, where the text given on a cell is from, if known


class TextOrigin(NamedTuple):
    """A written text by what it answered; several names are separated by semicolons."""

    answered: str  # the text
    written_as: str  # the names of its columns
    source: str  # the name of a model, or `people`
    meta: Mapping[str, Any]  # of the text that it answered


def origins_of(tx: Tx, text_ids: Sequence[int], edited: EditedSources | None = None) -> dict[int, TextOrigin]:
    """Origins of these texts, as far as they are current answers of a round; others are left out."""
    edited = _edited_sources(tx) if edited is None else edited
    before, column = text.alias("before"), text.alias("column")
    question = (before.c.body.label("answered"), before.c.meta)
    who_and_where = (*assignment.c["cell_id", "round_id"], _SOURCE)
    answers = latest_rows.joined(latest_rows.ANSWERED, answer, person, cell).join(text, text.c.id == answer.c.text_id)
    answers = answers.join(column, column.c.id == cell.c.column_id).outerjoin(before, before.c.id == text.c.answers_id)
    query = select(answer.c.text_id, *who_and_where, column.c.body, *question).select_from(answers)
    rows_by_text: dict[int, list[TextOrigin]] = {}
    for row in tx.execute(query.where(answer.c.text_id.in_(as_subquery(text_ids))).order_by(judgement.c.id)):
        source = edited.get(row.round_id, {}).get(row.cell_id) or row.source
        origin = TextOrigin(row.answered or "", row.body, source, row.meta or {})
        rows_by_text.setdefault(row.text_id, []).append(origin)
    return {
        text_id: of_text[0]._replace(
            written_as="; ".join(dict.fromkeys(origin.written_as for origin in of_text)),
            source="; ".join(dict.fromkeys(origin.source for origin in of_text)),
        )
        for text_id, of_text in rows_by_text.items()
    }


_SOURCE = case((person.c.role == Role.MODEL.value, person.c.name), else_="people").label("source")


def _edited_sources(tx: Tx) -> EditedSources:
    sources: EditedSources = {}
    for _ in grids.for_each_grid(tx):
        rounds_by_name = {round_.name: round_ for round_ in rounds.of_grid(tx)}
        for round_ in rounds_by_name.values():
            if round_.options.edits_row:
                sources[round_.id] = sources_of_rows(tx, sources)
            elif round_.options.edits in rounds_by_name:
                edited_round = rounds_by_name[round_.options.edits]
                query = select(assignment.c.cell_id, _SOURCE).order_by(judgement.c.id)
                query = query.select_from(latest_rows.joined(latest_rows.ANSWERED, person))
                rows = tx.execute(query.where(rounds.in_round(edited_round), judgement.c.answer_id.is_not(None)))
                sources[round_.id] = {row.cell_id: row.source for row in rows} | sources.get(edited_round.id, {})
    return sources


def sources_of_rows(tx: Tx, edited: EditedSources | None = None) -> dict[int, str]:
    """Source of the row of each cell, if known: what its metadata say, or who wrote it in an earlier grid."""
    query = select(cell.c.id, text.c.id.label("text_id"), text.c.meta).join(text, text.c.id == cell.c.row_id)
    rows = tx.execute(query.where(grids.cell_range(tx).holds(cell.c.id))).all()
    origins = origins_of(tx, sorted({row.text_id for row in rows}), edited)
    sources = {row.id: (origins.get(row.text_id), row.meta.get("source")) for row in rows}
    return {id_: source for id_, (origin, noted) in sources.items() if (source := origin.source if origin else noted)}
