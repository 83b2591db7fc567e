"""Every answer of a study as arrays, in the order in which they came: what a lead's figures of activity rest on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Integer, select, type_coerce

from fcpair.records import Origin
from fcpair.store.database.frames import column_chunks
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import assignment, cell, judgement

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
_ORIGINS = {origin.value: at for at, origin in enumerate(Origin)}


@dataclass(frozen=True, eq=False)
class AnswerArrays:
    """Answers, superseded or not, one place each: `seconds` is NaN where it is not known, `time` is POSIX time.

    `at` is the time as it is stored (ASCII); `is_from` tells what `origin` means.
    """

    person_id: Ints
    round_id: Ints
    assignment_id: Ints
    cell_id: Ints
    hs_id: Ints
    cn_id: Ints
    seconds: Floats
    origin: NDArray[np.int8]
    at: NDArray[np.bytes_]
    skipped: Bools
    time: Floats

    def __len__(self) -> int:
        return len(self.cell_id)

    def where(self, is_meant: Bools) -> AnswerArrays:
        """Those of which this is true."""
        return AnswerArrays(*(getattr(self, one.name)[is_meant] for one in fields(self)))

    def is_from(self, origin: Origin) -> Bools:
        """Whether each came in this way."""
        return np.equal(self.origin, _ORIGINS[origin.value])

    def is_first(self) -> Bools:
        """Whether each is the first among them on its assignment."""
        first = np.zeros(len(self), np.bool_)
        first[np.unique(self.assignment_id, return_index=True)[1]] = True
        return first


def answer_arrays(tx: Tx) -> AnswerArrays:
    """Every answer ever given, oldest first, those included that were withdrawn later."""
    query = (
        select(
            assignment.c.person_id,
            assignment.c.round_id,
            judgement.c.assignment_id,
            assignment.c.cell_id,
            cell.c.row_id,
            cell.c.column_id,
            judgement.c.seconds,
            judgement.c.origin,
            judgement.c.at,
            type_coerce(judgement.c.skipped, Integer),
        )
        .select_from(judgement)
        .join(assignment, assignment.c.id == judgement.c.assignment_id)
        .join(cell, cell.c.id == assignment.c.cell_id)
        .where(judgement.c.withdraws.is_(None))
        .order_by(judgement.c.id)
    )
    parts = [_part(columns) for columns in column_chunks(tx, query)] or [_part([[] for _ in _COLUMNS])]
    return AnswerArrays(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _part(columns: list[list[Any]]) -> list[NDArray[Any]]:
    """The arrays of some answers, in the order of AnswerArrays; their times are read once, as that takes long."""
    arrays = [as_array(values) for as_array, values in zip(_COLUMNS, columns, strict=True)]
    times = np.fromiter((datetime.fromisoformat(at).timestamp() for at in columns[8]), np.float64)
    return [*arrays, times]


def _ints(values: list[Any]) -> Ints:
    return np.fromiter(values, np.int64, len(values))


def _seconds(values: list[Any]) -> Floats:
    return np.array(values, np.float64)  # in which None is NaN


def _origins(values: list[Any]) -> NDArray[np.int8]:
    return np.fromiter(map(_ORIGINS.__getitem__, values), np.int8, len(values))


def _times(values: list[Any]) -> NDArray[np.bytes_]:
    return np.array(values, "S32")


def _bools(values: list[Any]) -> Bools:
    return np.array(values, np.bool_)


_COLUMNS: tuple[Callable[[list[Any]], NDArray[Any]], ...] = (*[_ints] * 6, _seconds, _origins, _times, _bools)
