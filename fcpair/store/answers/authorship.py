"""Texts written in a round, which can be a side of a next grid; and their writers, who then have no part in it."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select

from fcpair.records import Role, Round
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.assignment.distinct_answers import WRITTEN
from fcpair.store.corpus import grids
from fcpair.store.database import latest_rows, sql_lists
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import answer, assignment, cell, judgement, person, text

_PARTS = re.compile("[,;]")


def texts_written(tx: Tx, in_round: Round) -> list[int]:
    """The ids of the distinct texts that the current answers of a round have, by the first cell that has each.

    Those of one cell are in the order of their digests: in that of their ids, it would be the order of their writers.
    """
    query = (
        select(answer.c.text_id)
        .join(judgement, judgement.c.answer_id == answer.c.id)
        .join(assignment, latest_rows.ANSWER)
        .join(text, text.c.id == answer.c.text_id)
        .where(rounds.in_round(in_round))
        .group_by(answer.c.text_id, text.c.digest)
        .order_by(func.min(assignment.c.cell_id), text.c.digest)
    )
    return list(tx.execute(query).scalars())


def writers_of_cells(tx: Tx, cell_ids: list[int], person_ids: list[int]) -> NDArray[np.int64]:
    """Find which of these people ever wrote the text of the row or column of these cells, or the very same words.

    Their numbers, `(n, 2)`: cell and person. What was superseded or withdrawn counts, too. Where no side of the grid is
    what people have written, nothing is asked.
    """
    same_text = text.alias("own")
    rows: set[tuple[int, int]] = set()
    sides = (cell.c.row_id, cell.c.column_id)
    for kind, text_id in zip(grids.side_kinds(tx), sides, strict=True):
        if kind == WRITTEN:
            query = (
                select(cell.c.id, assignment.c.person_id)
                .join(text, text.c.id == text_id)
                .join(same_text, (same_text.c.kind == WRITTEN) & (same_text.c.body == text.c.body))
                .join(answer, answer.c.text_id == same_text.c.id)
                .join(judgement, judgement.c.answer_id == answer.c.id)
                .join(assignment, assignment.c.id == judgement.c.assignment_id)
                .where(
                    cell.c.id.in_(sql_lists.as_subquery(cell_ids)),
                    assignment.c.person_id.in_(sql_lists.as_subquery(person_ids)),
                )
            )
            rows.update((row[0], row[1]) for row in tx.execute(query.distinct()))
    return np.array(sorted(rows), np.int64).reshape(-1, 2)


def authors_of_rows(tx: Tx, cell_ids: list[int], column: str) -> dict[int, frozenset[str]]:
    """Authors of the rows of these cells, from a metadata column that has names separated by commas or semicolons.

    By the cell, in small letters and without outer spaces; cells of whose rows nothing is said are left out.
    """
    value = text.c.meta[column].as_string()
    query = select(cell.c.id, value).join(text, text.c.id == cell.c.row_id)
    rows = tx.execute(query.where(cell.c.id.in_(sql_lists.as_subquery(cell_ids)), value.is_not(None), value != ""))
    return {cell_id: frozenset(filter(None, map(fold_name, _PARTS.split(names)))) for cell_id, names in rows}


def fold_name(name: str) -> str:
    """A name by which it is known whom an author's name means."""
    return name.strip().casefold()


def originals(tx: Tx, of: Round) -> dict[int, str]:
    """The text that a round gives to be edited on each cell; none where it edits nothing."""
    if of.options.edits_row:
        query = select(cell.c.id, text.c.body).join(text, text.c.id == cell.c.row_id)
        return {row[0]: row[1] for row in tx.execute(query.where(grids.cell_range(tx).holds(cell.c.id)))}
    return texts_on_cells(tx, rounds.by_name(tx, of.options.edits_round)) if of.options.edits_round else {}


class AuthoredText(NamedTuple):
    """A text, and the pseudonym of the person or the name of the model who wrote it."""

    body: str
    by: str


def authored_texts(tx: Tx, in_round: Round) -> dict[int, AuthoredText]:
    """The text that each cell has in a round by its current answer, and by whom; where it has several, the newest."""
    query = (
        select(assignment.c.cell_id, text.c.body, person.c.name)
        .join(person, person.c.id == assignment.c.person_id)
        .join(judgement, latest_rows.ANSWER)
        .join(answer, answer.c.id == judgement.c.answer_id)
        .join(text, text.c.id == answer.c.text_id)
        .where(rounds.in_round(in_round))
        .order_by(judgement.c.id)
    )
    return {cell_id: AuthoredText(body, by) for cell_id, body, by in tx.execute(query)}


def cells_answered_before(tx: Tx, of: Round) -> set[int]:
    """The cells that have a current answer in the round on which this one rests.

    Where it edits, those with a text, and of a model's replies those that are empty, too: somebody may write one.
    """
    earlier = rounds.by_name(tx, of.options.rests_on)
    needs_text = of.options.edits_round and earlier.role is not Role.MODEL
    return set(authored_texts(tx, earlier) if needs_text else judgements.answered_cells(tx, earlier))


def texts_on_cells(tx: Tx, in_round: Round) -> dict[int, str]:
    """The text that each cell has in a round, as `authored_texts` says."""
    return {cell_id: one.body for cell_id, one in authored_texts(tx, in_round).items()}
