"""Origin of a written text: what it answers, as what it was asked for, and who or which model it is from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from fcpair.records import Role, Round
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.database import latest_rows, sql_lists
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import answer, assignment, cell, judgement, person, text

EditedSources = dict[int, dict[int, str]]
"""Of each round that edits, where the text that was given on a cell is from, as far as that is known."""
PEOPLE = "people"
BETWEEN = "; "


class TextOrigin(NamedTuple):
    """A written text: the text that it `answered` and the metadata of that, the names of the columns that it was
    `written_as`, and its `source`: the name of a model, or `people`; several of them separated by semicolons.
    """

    answered: str
    written_as: str
    source: str
    meta: Mapping[str, Any]


def origins_of(tx: Tx, text_ids: Sequence[int]) -> dict[int, TextOrigin]:
    """Origins of these texts, as far as they are current answers of a round; others are left out."""
    return _find_origins(tx, text_ids, _edited_sources(tx))


def _find_origins(tx: Tx, text_ids: Sequence[int], edited: EditedSources) -> dict[int, TextOrigin]:
    before, column = text.alias("before"), text.alias("column")
    query = (
        select(
            answer.c.text_id,
            assignment.c.cell_id,
            assignment.c.round_id,
            person.c.name,
            person.c.role,
            column.c.body,
            before.c.body.label("answered"),
            before.c.meta,
        )
        .join(judgement, judgement.c.answer_id == answer.c.id)
        .join(assignment, latest_rows.ANSWER)
        .join(person, person.c.id == assignment.c.person_id)
        .join(cell, cell.c.id == assignment.c.cell_id)
        .join(column, column.c.id == cell.c.column_id)
        .join(text, text.c.id == answer.c.text_id)
        .outerjoin(before, before.c.id == text.c.answers_id)
        .where(answer.c.text_id.in_(sql_lists.as_subquery(list(text_ids))))
        .order_by(judgement.c.id)
    )
    rows_by_text: dict[int, list[tuple[str, str, str, Mapping[str, Any]]]] = {}
    for row in tx.execute(query):
        source = edited.get(row.round_id, {}).get(row.cell_id) or _source_name(row.name, row.role)
        rows_by_text.setdefault(row.text_id, []).append((row.answered or "", row.body, source, row.meta or {}))
    return {one: _join_origins(rows) for one, rows in rows_by_text.items()}


def _join_origins(rows: Sequence[tuple[str, str, str, Mapping[str, Any]]]) -> TextOrigin:
    names = BETWEEN.join(dict.fromkeys(name for _, name, _, _ in rows))
    sources = BETWEEN.join(dict.fromkeys(source for _, _, source, _ in rows))
    return TextOrigin(rows[0][0], names, sources, rows[0][3])


def _source_name(name: str, role: str) -> str:
    return name if role == Role.MODEL.value else PEOPLE


def _edited_sources(tx: Tx) -> EditedSources:
    sources: EditedSources = {}
    for _ in grids.for_each_grid(tx):
        rounds_by_name = {round_.name: round_ for round_ in rounds.of_grid(tx)}
        for round_ in rounds_by_name.values():
            if round_.options.edits_row:
                sources[round_.id] = _row_sources(tx, sources)
            elif round_.options.edits in rounds_by_name:
                edited_round = rounds_by_name[round_.options.edits]
                sources[round_.id] = _writer_sources(tx, edited_round) | sources.get(edited_round.id, {})
    return sources


def sources_of_rows(tx: Tx) -> dict[int, str]:
    """Where the row of each cell of the grid is from, as far as that is known."""
    return _row_sources(tx, _edited_sources(tx))


def _row_sources(tx: Tx, edited: EditedSources) -> dict[int, str]:
    """Where the row of each cell is from: what its metadata say, or who or which model wrote it in an earlier grid."""
    query = select(cell.c.id, text.c.id.label("text_id"), text.c.meta).join(text, text.c.id == cell.c.row_id)
    rows = tx.execute(query.where(grids.cell_range(tx).holds(cell.c.id))).all()
    origins = _find_origins(tx, sorted({row.text_id for row in rows}), edited)
    source_by_cell = {
        row.id: origins[row.text_id].source if row.text_id in origins else row.meta.get("source") for row in rows
    }
    return {cell_id: source for cell_id, source in source_by_cell.items() if source}


def _writer_sources(tx: Tx, of: Round) -> dict[int, str]:
    """Person or model that the current text on each cell of a round is from."""
    query = (
        select(assignment.c.cell_id, person.c.name, person.c.role)
        .join(judgement, latest_rows.ANSWER)
        .join(person, person.c.id == assignment.c.person_id)
        .where(rounds.in_round(of), judgement.c.answer_id.is_not(None))
        .order_by(judgement.c.id)
    )
    return {row.cell_id: _source_name(row.name, row.role) for row in tx.execute(query)}
