"""Figures of a grid, kept until something happens in the study: the one place where what was computed is kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Any, Generic, TypeVar

from fcpair.errors import BusyError, StudyError
from fcpair.store import Store, Tx
from fcpair.store.answers import activity_log

Marks = tuple[Any, ...]
Made = TypeVar("Made")
MOST_KEPT = 200  # figures of one grid; beyond them, the one that was asked for longest ago is forgotten
SLOW_S = 1.0  # what takes longer to make is not made anew at every change
REST_FACTOR = 10  # ... but kept so many times as long as it took: looking costs at most a tenth of a processor
MAX_TRIES = 3  # where other servers make newer ones meanwhile


@dataclass(frozen=True)
class Kept(Generic[Made]):
    """A value: at which marks it was made, how often it had been made by then, and until when it rests."""

    made: Made
    marks: Marks
    n_made: int = 0
    until: float = 0.0


@dataclass
class _Place:
    """Place of one figure; made by one thread while the others wait for it."""

    lock: Lock = field(default_factory=Lock)
    kept: Kept[Any] | None = None


class FigureCache:
    """The newest value of each figure of a grid, by its name, until the newest judgement, decision or run is another.

    One that takes long rests for a while. The study counts how often it was made, and a server that finds that another
    has made it since makes it anew: whoever goes from one to the other never sees it go back.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._places: OrderedDict[str, _Place] = OrderedDict()

    def _place(self, name: str) -> _Place:
        with self._lock:
            place = self._places.setdefault(name, _Place())
            self._places.move_to_end(name)
            while len(self._places) > MOST_KEPT:
                self._places.popitem(last=False)
            return place

    def at(
        self,
        tx: Tx,
        name: str,
        make: Callable[[Tx], Made],
        renew: Callable[[Tx, Made, Marks], Made] | None = None,
        rests_on: object = None,
    ) -> Made:
        """The value in a transaction that only reads: what one that writes takes back may come again.

        Where things have happened since, `renew`, if given, makes it from the one before and its marks. It rests on
        what is equal to `rests_on` as well.
        """
        place = self._place(name)
        with place.lock:
            marks, kept = (*activity_log.change_marks(tx), rests_on), place.kept
            if kept and kept.marks == marks:
                return kept.made  # type: ignore[no-any-return]
            is_older = kept is not None and any(now < then for now, then in zip(marks[:3], kept.marks[:3], strict=True))
            if kept and renew and kept.marks[3:] == marks[3:] and not is_older:
                value = renew(tx, kept.made, kept.marks)
            else:
                value = make(tx)
            place.kept = Kept(value, marks)
            return value

    def get(
        self,
        name: str,
        make: Callable[[], Made],
        extra_marks: Callable[[], Marks] = tuple,
        base_marks: Callable[[], Marks] | None = None,
    ) -> Kept[Made]:
        """The value as it is now, or an older one that rests, as long as `extra_marks` and `base_marks` are the same.

        Raises BusyError where other servers made newer ones each time that this was being made.
        """
        place = self._place(name)
        with place.lock:
            for _ in range(MAX_TRIES):
                with self._store.read() as tx:
                    marks = (*activity_log.change_marks(tx), *extra_marks())
                    n_made = activity_log.n_made(tx, name)
                kept: Kept[Made] | None = place.kept
                if kept and (kept.marks == marks or (kept.n_made == n_made and monotonic() < kept.until)):
                    return kept
                started_at = monotonic()
                if base_marks is not None:  # as they are before it is made: they may change meanwhile
                    marks = (*base_marks(), *extra_marks())
                value = make()
                duration_s = monotonic() - started_at
                is_slow = duration_s > SLOW_S
                n_now = self._count_version(name, n_made) if is_slow or n_made else n_made
                until = monotonic() + REST_FACTOR * duration_s if is_slow else 0.0
                kept = place.kept = Kept(value, marks, n_now, until)
                if n_now >= n_made:
                    return kept
        raise BusyError(f"other servers of {self._store.place} show newer figures")

    def _count_version(self, name: str, n_before: int) -> int:
        """Count that it was made, and return how often; -1 where another server has made a newer one meanwhile.

        Not in a file, which one server has: whoever writes there keeps all others from it. Where nothing can be written
        it is shown all the same.
        """
        with self._store.read() as tx:
            if not activity_log.is_counted(tx):
                return n_before
        try:
            with self._store.write(alone=False) as tx:
                return n_before + 1 if activity_log.record_made(tx, name, n_before) else -1
        except BusyError:
            raise
        except StudyError:
            return n_before
