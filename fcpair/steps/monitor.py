"""What the study's lead sees while the study is on its way: read in read transactions only, so nobody is held up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fcpair.params import Adjudicate
from fcpair.records import Person, Round, Rule
from fcpair.steps import overview, pulse, settle, tally
from fcpair.steps.ground import OnGrid, has_own, is_planned, labels_of, scheme_of
from fcpair.steps.shares import QuestionShares, shares
from fcpair.store import Tx, docket, grids, people, rounds, slots, texts, watch, work
from fcpair.store.grids import number_of

if TYPE_CHECKING:
    from fcpair.report.data import MainPart
    from fcpair.report.page import GridMaps
    from fcpair.stages.effort import Exposure

Made = TypeVar("Made")
Act = TypeVar("Act", watch.Given, watch.Decision)
MINUTE_S = 60
SLOW_S = 1.0
"""What takes longer than this to make, in seconds, is not made anew at every change."""

REST = 10
"""... but kept for this many times as long as it took, so that looking costs at most a tenth of a processor."""


@dataclass(frozen=True)
class Flag:
    """A decision on which somebody noted that the guidelines should say more; `stands` while it is the newest one."""

    cell_id: int
    hs: str
    cn: str
    outcome: str
    by: str | None
    note: str
    at: str
    stands: bool


@dataclass(frozen=True)
class SpeedFigures:
    """Answers too fast to be read: how many each person gave, and the newest of them."""

    people: tuple[pulse.Speed, ...]
    newest: tuple[pulse.Hasty, ...]


@dataclass(frozen=True)
class _Acts:
    everybody: list[Person]
    answers: watch.Answers
    decisions: list[watch.Decision]


class _Kept(Generic[Made]):
    """The newest value made, until what it rests on has changed; made by one thread while the others wait for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: tuple[tuple[int, ...], Made] | None = None
        self._until = 0.0

    def get(self, marks: tuple[int, ...], make: Callable[[], Made]) -> Made:
        """The value at `marks`, or an older one while making another would come too soon."""
        with self._lock:
            if self._kept is None or (self._kept[0] != marks and monotonic() >= self._until):
                begun = monotonic()
                self._kept = marks, make()
                took = monotonic() - begun
                self._until = monotonic() + (REST * took if took > SLOW_S else 0.0)
            return self._kept[1]


class Monitor:
    """The lead's view of a study. One object serves all requests, because it keeps what it made until things change."""

    def __init__(self, grid: OnGrid) -> None:
        self._grid = grid
        self._acts: _Kept[_Acts] = _Kept()
        self._figures: _Kept[MainPart] = _Kept()
        self._shares: _Kept[tuple[QuestionShares, ...]] = _Kept()
        self._maps: _Kept[GridMaps | None] = _Kept()
        self._status: _Kept[dict[str, Any]] = _Kept()
        self._stages: _Kept[tuple[pulse.StagePulse, ...]] = _Kept()
        self._exposures: _Kept[list[tuple[Person, Exposure]]] = _Kept()
        self._speed: _Kept[SpeedFigures] = _Kept()

    def marks(self) -> watch.Marks:
        """Numbers that change when anything happens in the study."""
        with self._grid.store.read() as tx:
            return watch.marks(tx)

    def figures(self) -> MainPart:
        """What the report says, by the study's own rules: agreement, label shares, tiers, the cells of the grid."""
        return self._figures.get(self.marks(), self._gather)

    def _gather(self) -> MainPart:
        from fcpair.steps.report_main import main_part

        with self._grid.store.read() as tx:
            return main_part(tx)

    def shares(self) -> tuple[QuestionShares, ...]:
        """What each person answered in each round of a planned grid."""
        return self._shares.get(self.marks(), lambda: shares(self._grid))

    def maps(self) -> GridMaps | None:
        """The two maps of the grid, light and dark, with their legends; None before there is a grid."""
        return self._maps.get(self.marks(), self._draw)

    def _draw(self) -> GridMaps | None:
        from fcpair.report.figures import OF_CORPUS, OF_PLAN
        from fcpair.report.page import grid_maps

        grid = self.figures().grid
        with self._grid.store.read() as tx:
            sides = OF_PLAN if is_planned(tx) else OF_CORPUS
        return None if grid is None else grid_maps(grid, sides)

    def status(self) -> dict[str, Any]:
        """The study at a glance, as `steps.overview.status` has it."""
        return self._status.get(self.marks(), lambda: overview.status(self._grid))

    def stages(self, now: datetime | None = None) -> tuple[pulse.StagePulse, ...]:
        """How each round of the grid and adjudicating go, stage by stage and person by person."""
        return self._at(now, self._stages, self._find_stages)

    def _at(self, now: datetime | None, kept: _Kept[Made], make: Callable[[pulse.Clock], Made]) -> Made:
        """What rests on the time as well: kept for a minute at most, unless it takes long to make."""
        if now is not None:
            return make(pulse.Clock.of(now))
        present = datetime.now(UTC)
        marks = (*self.marks(), int(present.timestamp() // MINUTE_S))
        return kept.get(marks, lambda: make(pulse.Clock.of(present)))

    def _find_stages(self, clock: pulse.Clock) -> tuple[pulse.StagePulse, ...]:
        acts = self._all_acts()
        with self._grid.store.read() as tx:
            given, here, check = _given(tx), grids.span(tx), rounds.checking(tx)

            def answering(one: Round) -> pulse.StagePulse:
                vacant, answers = len(slots.vacant(tx, one)), _of_grid(here, acts.answers)
                return pulse.answering(one, acts.everybody, given.get(one.name, {}), answers, vacant, clock)

            stages = [answering(one) for one in rounds.asked(tx)]
            if labels_of(tx) and (not is_planned(tx) or has_own(tx, Adjudicate)):
                pairs, decided, again = tally.pair_counts(tx), tally.decided_by(tx), len(settle.overtaken(tx))
                decisions = _of_grid(here, acts.decisions)
                stages.append(pulse.adjudicating(acts.everybody, decisions, decided, pairs, again, clock))
            if check.ids:
                stages.append(replace(answering(check), not_due=docket.verdicts_not_due(tx)))
        return tuple(stages)

    def exposures(self, now: datetime | None = None) -> list[tuple[Person, Exposure]]:
        """What each person has read in all grids, and for how long."""
        return self._at(now, self._exposures, self._find_exposures)

    def _find_exposures(self, clock: pulse.Clock) -> list[tuple[Person, Exposure]]:
        acts = self._all_acts()
        return pulse.exposures(acts.everybody, acts.answers, acts.decisions, clock)

    def speed(self) -> SpeedFigures:
        """Answers that came sooner than the text of the column can be read."""
        return self._speed.get(self.marks(), self._find_speed)

    def _find_speed(self) -> SpeedFigures:
        acts = self._all_acts()
        with self._grid.store.read() as tx:
            columns, here = texts.texts_of(tx, grids.kinds(tx)[1]), grids.span(tx)
        bodies = dict(zip(columns["id"].tolist(), columns["body"].tolist(), strict=True))
        found, newest = pulse.speeds(acts.everybody, _of_grid(here, acts.answers), bodies)
        return SpeedFigures(tuple(found), tuple(newest))

    def flags(self) -> list[Flag]:
        """The decisions on which the guidelines should say more, newest first."""
        with self._grid.store.read() as tx:
            rows, question = watch.flags(tx), scheme_of(tx)
        names = {choice.code: choice.name for choice in question}
        return [
            Flag(number_of(row.cell_id), row.hs, row.cn, _outcome(row, names), row.by, row.note, row.at, row.stands)
            for row in rows
        ]

    def _all_acts(self) -> _Acts:
        def read() -> _Acts:
            with self._grid.store.read() as tx:
                return _read_acts(tx)

        return self._acts.get(self.marks(), read)


def _read_acts(tx: Tx) -> _Acts:
    return _Acts(people.people(tx), watch.answers(tx), watch.decisions_by_people(tx))


def _of_grid(span: grids.Span, acts: Iterable[Act]) -> Iterator[Act]:
    """Those of all acts that are about cells of a grid."""
    return (one for one in acts if span.has(one.cell_id))


def _given(tx: Tx) -> dict[str, dict[int, dict[str, int]]]:
    """How many assignments there are: by round, person and status."""
    counts = work.counts(tx)
    given: dict[str, dict[int, dict[str, int]]] = {}
    columns = (counts[name].tolist() for name in ("round", "person_id", "status", "n"))
    for round_, person_id, status, n in zip(*columns, strict=True):
        given.setdefault(round_, {}).setdefault(person_id, {})[status] = n
    return given


def _outcome(row: watch.Flagged, names: dict[int, str]) -> str:
    if row.rule == Rule.REOPENED:
        return "taken back"
    return "discarded" if row.code is None else names[row.code]
