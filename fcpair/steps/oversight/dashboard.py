"""What the study's lead sees while the study is on its way: read in read transactions, so that nobody is held up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fcpair.errors import BusyError, StudyError
from fcpair.params import Adjudicate
from fcpair.records import Person, Round, Rule
from fcpair.steps.base.context import OnGrid, has_own, is_planned, labels_of, scheme_of
from fcpair.steps.oversight import activity, status
from fcpair.steps.oversight.answer_shares import QuestionShares, shares
from fcpair.steps.rules import pair_counts, rule_decisions
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.answers import activity_log
from fcpair.store.assignment import assignments, open_slots, rounds, vacant_slots
from fcpair.store.corpus import grids, texts
from fcpair.store.corpus.grids import number_of
from fcpair.store.oversight import figure_versions
from fcpair.store.people import people

if TYPE_CHECKING:
    from fcpair.report.data import MainPart
    from fcpair.report.page import GridMaps
    from fcpair.report.survey_section import Section
    from fcpair.stages.assignment.reading_load import Exposure

Marks = tuple[int, ...]
Made = TypeVar("Made")
Act = TypeVar("Act", activity_log.Given, activity_log.Decision)
MINUTE_S = 60
SLOW_S = 1.0
"""What takes longer than this to make, in seconds, is not made anew at every change."""

REST = 10
"""... but kept for this many times as long as it took, so that looking costs at most a tenth of a processor."""

TRIES = 3
"""So often it is made where other servers make newer ones meanwhile."""


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

    people: tuple[activity.Speed, ...]
    newest: tuple[activity.Hasty, ...]


@dataclass(frozen=True)
class _Acts:
    everybody: list[Person]
    answers: activity_log.Answers
    decisions: list[activity_log.Decision]


@dataclass(frozen=True)
class _Value(Generic[Made]):
    """What was made: at which marks, how often by then, and until when it rests."""

    made: Made
    marks: Marks
    n_made: int
    until: float


class _Kept(Generic[Made]):
    """The newest value made, until what it rests on has changed; made by one thread while the others wait for it.

    One that takes long rests for a while, and another server may show a newer one meanwhile. So the study counts how
    often it was made, and a server that finds that another one has made it since makes it anew: whoever goes from one
    to the other never sees it go back. What no server has found slow is made at every change, and not counted.
    """

    def __init__(self, grid: OnGrid, name: str) -> None:
        self._grid, self._name = grid, name
        self._lock = Lock()
        self._kept: _Value[Made] | None = None

    def get(
        self, make: Callable[[], Made], also: Callable[[], Marks] = tuple, of: Callable[[], Marks] | None = None
    ) -> _Value[Made]:
        """The value as it is now, or an older one that rests. It has further marks `also`, and those `of` a value that
        is kept as well, where it is made of one.

        Raises BusyError where other servers made newer ones each time that this was being made.
        """
        with self._lock:
            for _ in range(TRIES):
                with self._grid.store.read() as tx:
                    marks, n_made = (*activity_log.marks(tx), *also()), figure_versions.n_made(tx, self._name)
                kept = self._kept
                if kept and (kept.marks == marks or (kept.n_made == n_made and monotonic() < kept.until)):
                    return kept
                begun = monotonic()
                marks = marks if of is None else (*of(), *also())  # before it is made, as that may change meanwhile
                made = make()
                took = monotonic() - begun
                self._kept = self._valued(made, marks, n_made, took)
                if self._kept.n_made >= n_made:
                    return self._kept
        raise BusyError(f"other servers of {self._grid.store.place} show newer figures")

    def _valued(self, made: Made, marks: Marks, n_made: int, took: float) -> _Value[Made]:
        is_slow = took > SLOW_S
        if is_slow or n_made:
            n_made = self._counted(n_made)
        return _Value(made, marks, n_made, monotonic() + REST * took if is_slow else 0.0)

    def _counted(self, before: int) -> int:
        """How often it was made, with this time; -1 where another server has made a newer one meanwhile.

        It is not counted in a file, which one server has: whoever writes there keeps all others from it, and a process
        that only looks gets little time. Where nothing can be written it is shown all the same: nothing changes there.
        """
        with self._grid.store.read() as tx:
            if not figure_versions.is_counted(tx):
                return before
        try:
            with self._grid.store.write(alone=False, grows=False) as tx:
                return before + 1 if figure_versions.note(tx, self._name, before) else -1
        except BusyError:
            raise
        except StudyError:
            return before


class Monitor:
    """The lead's view of a study. One object serves all requests, because it keeps what it made until things change."""

    def __init__(self, grid: OnGrid) -> None:
        self._grid = grid
        self._acts: _Kept[_Acts] = _Kept(grid, "acts")
        self._figures: _Kept[MainPart] = _Kept(grid, "figures")
        self._asked: _Kept[list[Section]] = _Kept(grid, "asked")
        self._shares: _Kept[tuple[QuestionShares, ...]] = _Kept(grid, "shares")
        self._maps: _Kept[GridMaps | None] = _Kept(grid, "maps")
        self._status: _Kept[dict[str, Any]] = _Kept(grid, "status")
        self._stages: _Kept[tuple[activity.StagePulse, ...]] = _Kept(grid, "stages")
        self._exposures: _Kept[list[tuple[Person, Exposure]]] = _Kept(grid, "exposures")
        self._speed: _Kept[SpeedFigures] = _Kept(grid, "speed")

    def marks(self) -> activity_log.Marks:
        """Numbers that change when anything happens in the study."""
        with self._grid.store.read() as tx:
            return activity_log.marks(tx)

    def figures(self) -> MainPart:
        """What the report says, by the study's own rules: agreement, label shares, tiers, the cells of the grid."""
        return self._newest_figures().made

    def _newest_figures(self) -> _Value[MainPart]:
        return self._figures.get(self._gather)

    def _gather(self) -> MainPart:
        from fcpair.steps.oversight.report_main import main_part

        with self._grid.store.read() as tx:
            return main_part(tx)

    def is_asked(self) -> bool:
        """Whether the grid may have something that `asked` shows."""
        from fcpair.steps.oversight.report_surveys import is_asked

        with self._grid.store.read() as tx:
            return is_asked(tx)

    def asked(self) -> list[Section]:
        """What people said in a survey, how biased models are, and groups of people, with figures."""
        return self._asked.get(self._ask).made

    def _ask(self) -> list[Section]:
        from fcpair.report.survey_section import sections
        from fcpair.steps.oversight.report_surveys import asked_part

        with self._grid.store.read() as tx:
            return sections(asked_part(tx, self._grid.grid.name, in_words=True))

    def shares(self) -> tuple[QuestionShares, ...]:
        """What each person answered in each round of a planned grid."""
        return self._shares.get(lambda: shares(self._grid)).made

    def maps(self) -> GridMaps | None:
        """The two maps of the grid, light and dark, with their legends; None before there is a grid."""
        return self._maps.get(self._draw, of=lambda: self._newest_figures().marks).made

    def _draw(self) -> GridMaps | None:
        from fcpair.report.figures.grid_map import OF_CORPUS, OF_PLAN
        from fcpair.report.page import grid_maps

        grid = self.figures().grid
        with self._grid.store.read() as tx:
            sides = OF_PLAN if is_planned(tx) else OF_CORPUS
        return None if grid is None else grid_maps(grid, sides)

    def status(self) -> dict[str, Any]:
        """The study at a glance, as `steps.overview.status` has it."""
        return self._status.get(lambda: status.status(self._grid)).made

    def stages(self, now: datetime | None = None) -> tuple[activity.StagePulse, ...]:
        """How each round of the grid and adjudicating go, stage by stage and person by person."""
        return self._at(now, self._stages, self._find_stages)

    def _at(self, now: datetime | None, kept: _Kept[Made], make: Callable[[activity.Clock], Made]) -> Made:
        """What rests on the time as well: kept for a minute at most, unless it takes long to make."""
        if now is not None:
            return make(activity.Clock.of(now))
        return kept.get(lambda: make(activity.Clock.of(datetime.now(UTC))), _minute, of=self._acts_at).made

    def _find_stages(self, clock: activity.Clock) -> tuple[activity.StagePulse, ...]:
        acts = self._all_acts()
        with self._grid.store.read() as tx:
            given, here, check = _given(tx), grids.span(tx), rounds.checking(tx)

            def answering(one: Round) -> activity.StagePulse:
                answers, left = (
                    _of_grid(here, acts.answers),
                    (len(vacant_slots.vacant(tx, one)), open_slots.n_free(tx, one)),
                )
                return activity.answering(one, acts.everybody, given.get(one.name, {}), answers, left, clock)

            stages = [answering(one) for one in rounds.asked(tx)]
            if labels_of(tx) and (not is_planned(tx) or has_own(tx, Adjudicate)):
                pairs, decided, again = (
                    pair_counts.tally(tx).pairs,
                    pair_counts.decided_by(tx),
                    len(rule_decisions.overtaken(tx)),
                )
                decisions = _of_grid(here, acts.decisions)
                stages.append(activity.adjudicating(acts.everybody, decisions, decided, pairs, again, clock))
            if check.ids:
                stages.append(replace(answering(check), not_due=disputes.verdicts_not_due(tx)))
        return tuple(stages)

    def exposures(self, now: datetime | None = None) -> list[tuple[Person, Exposure]]:
        """What each person has read in all grids, and for how long."""
        return self._at(now, self._exposures, self._find_exposures)

    def _find_exposures(self, clock: activity.Clock) -> list[tuple[Person, Exposure]]:
        acts = self._all_acts()
        return activity.exposures(acts.everybody, acts.answers, acts.decisions, clock)

    def speed(self) -> SpeedFigures:
        """Answers that came sooner than the text of the column can be read."""
        return self._speed.get(self._find_speed, of=self._acts_at).made

    def _find_speed(self) -> SpeedFigures:
        acts = self._all_acts()
        with self._grid.store.read() as tx:
            columns, here = texts.texts_of(tx, grids.kinds(tx)[1]), grids.span(tx)
        bodies = dict(zip(columns["id"].tolist(), columns["body"].tolist(), strict=True))
        found, newest = activity.speeds(acts.everybody, _of_grid(here, acts.answers), bodies)
        return SpeedFigures(tuple(found), tuple(newest))

    def flags(self) -> list[Flag]:
        """The decisions on which the guidelines should say more, newest first."""
        with self._grid.store.read() as tx:
            rows, question = activity_log.flags(tx), scheme_of(tx)
        names = {choice.code: choice.name for choice in question}
        return [
            Flag(number_of(row.cell_id), row.hs, row.cn, _outcome(row, names), row.by, row.note, row.at, row.stands)
            for row in rows
        ]

    def _all_acts(self) -> _Acts:
        return self._acts.get(self._read_acts).made

    def _acts_at(self) -> Marks:
        return self._acts.get(self._read_acts).marks

    def _read_acts(self) -> _Acts:
        with self._grid.store.read() as tx:
            return _Acts(people.people(tx), activity_log.answers(tx), activity_log.decisions_by_people(tx))


def _minute() -> Marks:
    return (int(datetime.now(UTC).timestamp() // MINUTE_S),)


def _of_grid(span: grids.Span, acts: Iterable[Act]) -> Iterator[Act]:
    """Those of all acts that are about cells of a grid."""
    return (one for one in acts if span.has(one.cell_id))


def _given(tx: Tx) -> dict[str, dict[int, dict[str, int]]]:
    """How many assignments there are: by round, person and status."""
    counts = assignments.counts(tx)
    given: dict[str, dict[int, dict[str, int]]] = {}
    columns = (counts[name].tolist() for name in ("round", "person_id", "status", "n"))
    for round_, person_id, state, n in zip(*columns, strict=True):
        given.setdefault(round_, {}).setdefault(person_id, {})[state] = n
    return given


def _outcome(row: activity_log.Flagged, names: dict[int, str]) -> str:
    if row.rule == Rule.REOPENED:
        return "taken back"
    return "discarded" if row.code is None else names[row.code]
