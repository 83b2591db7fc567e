"""Every answer of a study as arrays, in the order in which they came: what a lead's figures rest on."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sqlalchemy import Engine, Integer, func, select, type_coerce

from fcpair.records import Origin
from fcpair.store.assignment import rounds
from fcpair.store.database import latest_rows
from fcpair.store.database.statements import column_chunks
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import assignment, cell, judgement

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
NO_ANSWER = 0  # which is the id of none
_ORIGINS = {origin.value: at for at, origin in enumerate(Origin)}
_ORIGIN, _AT, _TIME_WIDTH, _TIME = 10, 11, 32, "S32"  # where these are among the columns, and bytes of a time
_USUAL_TIME = np.frombuffer(b"0000-00-00T00:00:00.000+00:00".ljust(_TIME_WIDTH, b"\0"), np.uint8)
_IS_MARK = np.not_equal(_USUAL_TIME, ord("0")) | (np.arange(_TIME_WIDTH) > len("0000-00-00T00:00:00.000"))


@dataclass(frozen=True, eq=False)
class AnswerArrays:
    """Answers, superseded or not, one place each."""

    person_id: Ints
    round_id: Ints
    assignment_id: Ints
    cell_id: Ints
    hs_id: Ints
    cn_id: Ints
    answer_id: Ints  # NO_ANSWER for a skip
    seconds: Floats  # NaN where not known
    origin: NDArray[np.int8]  # see `is_from`
    at: NDArray[np.bytes_]  # the time as it is stored
    skipped: Bools
    time: Floats  # POSIX time
    current: Bools  # the current answer to its assignment

    def __len__(self) -> int:
        return len(self.cell_id)

    def where(self, is_meant: Bools) -> AnswerArrays:
        """Those of which this is true."""
        return AnswerArrays(*(getattr(self, field.name)[is_meant] for field in fields(self)))

    def is_from(self, origin: Origin) -> Bools:
        """Return whether each came in this way."""
        return np.equal(self.origin, _ORIGINS[origin.value])

    def is_first(self) -> Bools:
        """Return whether each is the first among them on its assignment."""
        first = np.zeros(len(self), np.bool_)
        first[np.unique(self.assignment_id, return_index=True)[1]] = True
        return first


def answer_arrays(tx: Tx) -> AnswerArrays:
    """Every answer ever given, oldest first, those included that were withdrawn later; kept while the study is open."""
    with _MAKING:
        reader = _READERS.setdefault(tx.engine, _AnswerReader())
    return reader.read(tx)


def n_by_origin(tx: Tx) -> dict[str, int]:
    """Count the current answers by origin, as `judgements.n_by_origin` does, but from the answers that are kept."""
    answers = answer_arrays(tx)
    is_meant = answers.current & ~np.isin(answers.round_id, rounds.known_ids(tx, calibrations=True))
    if not is_meant.any():
        is_meant = answers.current & ~np.isin(answers.round_id, rounds.known_ids(tx))
    counts = np.bincount(answers.origin[is_meant], minlength=len(_ORIGINS)).tolist()
    return {origin: counts[at] for origin, at in sorted(_ORIGINS.items()) if counts[at]}


class _AnswerReader:
    """Reads every answer of a study, and from then on those that have come since: judgements are only ever added."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows = _to_rows([])
        self._answers = _to_answers(self._rows, 0)
        self._newest = 0

    def read(self, tx: Tx) -> AnswerArrays:
        """The answers as they are in a transaction."""
        newest = tx.execute(latest_rows.select_newest_id(judgement)).scalar_one()
        with self._lock:
            if newest > self._newest:
                newer = _to_rows(column_chunks(tx, _JUDGEMENTS.where(judgement.c.id > self._newest)))
                self._rows = [np.concatenate(column) for column in zip(self._rows, newer, strict=True)]
                self._answers, self._newest = _to_answers(self._rows, newest), newest
            # Of two who read at once, one may see an older state of the study.
            return self._answers if newest == self._newest else _to_answers(self._rows, newest)


_READERS: WeakKeyDictionary[Engine, _AnswerReader] = WeakKeyDictionary()
_MAKING = threading.Lock()


_JUDGEMENTS = (
    select(
        judgement.c.id,
        type_coerce(judgement.c.withdraws.is_not(None), Integer),
        *assignment.c["person_id", "round_id"],
        judgement.c.assignment_id,
        assignment.c.cell_id,
        *cell.c["row_id", "column_id"],
        func.coalesce(judgement.c.answer_id, NO_ANSWER).label("answer_id"),
        *judgement.c["seconds", "origin", "at"],
        type_coerce(judgement.c.skipped, Integer),
    )
    .select_from(latest_rows.joined(latest_rows.JUDGED, cell))
    .order_by(judgement.c.id)
)
# The kinds of its columns; a float that is None is NaN.
_COLUMNS: tuple[DTypeLike, ...] = (np.int64, np.bool_, *[np.int64] * 7, np.float64, np.int8, _TIME, np.bool_)


def _to_rows(chunks: Iterable[list[list[Any]]]) -> list[NDArray[Any]]:
    """The rows of `_JUDGEMENTS` as arrays, and behind them their times, which are read once, as that takes long."""
    parts = []
    for columns in chain(chunks, [[[] for _ in _COLUMNS]]):
        columns[_ORIGIN] = [_ORIGINS[code] for code in columns[_ORIGIN]]
        parts.append([np.array(values, kind) for values, kind in zip(columns, _COLUMNS, strict=True)])
    arrays = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return [*arrays, _posix_times(arrays[_AT])]


def _to_answers(rows: list[NDArray[Any]], newest: int) -> AnswerArrays:
    """The answers among the judgements up to the one of this number; what takes one back is none."""
    ids, withdraws, *columns = (column[: np.searchsorted(rows[0], newest, "right")] for column in rows)
    assignment_id, place = columns[2], np.arange(len(ids))
    newest_place = np.zeros(int(assignment_id.max(initial=0)) + 1, np.int64)
    newest_place[assignment_id] = place  # of several the last one stays
    answers = AnswerArrays(*[*columns, newest_place[assignment_id] == place])
    return answers.where(~withdraws) if withdraws.any() else answers


def _posix_times(at: NDArray[np.bytes_]) -> Floats:
    """The times as POSIX times; those that are written as this program does, in UTC, all at once."""
    written = at.view(np.uint8).reshape(len(at), _TIME_WIDTH)
    is_usual, times = (written[:, _IS_MARK] == _USUAL_TIME[_IS_MARK]).all(axis=1), np.empty(len(at))
    times[is_usual] = at[is_usual].astype("S23").astype("datetime64[ms]").astype(np.int64) / 1000
    times[~is_usual] = [datetime.fromisoformat(time.decode()).timestamp() for time in at[~is_usual].tolist()]
    return times
