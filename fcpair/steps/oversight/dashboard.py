"""Figures for the study's lead while the study is under way: read in read transactions, so that nobody is held up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar
from zlib import crc32

from fcpair.errors import BusyError, StudyError
from fcpair.pair_filter import check_name
from fcpair.params import Adjudicate
from fcpair.records import Figure, Person, Round
from fcpair.steps.adjudication.flags import Flag, load_flags
from fcpair.steps.base.context import GridContext, has_saved_options, is_planned, labels_of
from fcpair.steps.oversight import activity
from fcpair.steps.oversight.answer_shares import QuestionShares, question_shares
from fcpair.steps.oversight.headlines import Headlines, find_headlines
from fcpair.steps.oversight.status import StudyNotes, load_notes
from fcpair.steps.rules import pair_counts, rule_decisions
from fcpair.steps.rules.pair_counts import Tally, tally
from fcpair.steps.rules.study_notes import simulated_note
from fcpair.store import Tx
from fcpair.store.adjudication import disputes
from fcpair.store.answers import activity_log
from fcpair.store.answers.answer_arrays import AnswerArrays, answer_arrays, n_by_origin
from fcpair.store.assignment import assignments, open_slots, rounds, vacant_slots
from fcpair.store.corpus import grids, texts
from fcpair.store.corpus.sides import Axis
from fcpair.store.oversight import figure_versions, map_answers
from fcpair.store.people import people

if TYPE_CHECKING:
    from fcpair.report.data import DecisionsPart, PeopleFigures
    from fcpair.report.map_file import CellMap
    from fcpair.report.survey_section import Section
    from fcpair.stages.assignment.reading_load import Exposure
    from fcpair.stages.stats.agreement import Agreement, PartAgreements
    from fcpair.steps.adjudication.people_agreement import DisputedTexts

Marks = tuple[int, ...]
Made = TypeVar("Made")
MINUTE_S = 60
SLOW_S = 1.0
"""What takes longer than this to make, in seconds, is not made anew at every change."""

REST_FACTOR = 10
"""... but kept for this many times as long as it took, so that looking costs at most a tenth of a processor."""

MAX_TRIES = 3
"""So often it is made where other servers make newer ones meanwhile."""


@dataclass(frozen=True)
class _Acts:
    everybody: list[Person]
    answers: AnswerArrays
    decisions: list[activity_log.Decision]


@dataclass(frozen=True)
class _CacheEntry(Generic[Made]):
    """Value that was made: at which marks, how often it had been made by then, and until when it rests."""

    made: Made
    marks: Marks
    n_made: int
    until: float


class _Cached(Generic[Made]):
    """The newest value made, until what it rests on has changed; made by one thread while the others wait for it.

    One that takes long rests for a while, and another server may show a newer one meanwhile. So the study counts how
    often it was made, and a server that finds that another one has made it since makes it anew: whoever goes from one
    to the other never sees it go back. What no server has found slow is made at every change, and not counted.
    """

    def __init__(self, grid: GridContext, name: str) -> None:
        self._grid, self._name = grid, name
        self._lock = Lock()
        self._entry: _CacheEntry[Made] | None = None

    def get(
        self,
        make: Callable[[], Made],
        extra_marks: Callable[[], Marks] = tuple,
        base_marks: Callable[[], Marks] | None = None,
    ) -> _CacheEntry[Made]:
        """The value as it is now, or an older one that rests. It rests on `extra_marks` as well,
        and where it is made of a value that is kept, on that one's `base_marks`.

        Raises BusyError where other servers made newer ones each time that this was being made.
        """
        with self._lock:
            for _ in range(MAX_TRIES):
                with self._grid._store.read() as tx:
                    marks = (*activity_log.change_marks(tx), *extra_marks())
                    n_made = figure_versions.n_made(tx, self._name)
                entry = self._entry
                if entry and (entry.marks == marks or (entry.n_made == n_made and monotonic() < entry.until)):
                    return entry
                started_at = monotonic()
                if base_marks is not None:  # as they are before it is made: they may change meanwhile
                    marks = (*base_marks(), *extra_marks())
                value = make()
                duration_s = monotonic() - started_at
                self._entry = self._make_entry(value, marks, n_made, duration_s)
                if self._entry.n_made >= n_made:
                    return self._entry
        raise BusyError(f"other servers of {self._grid._store.place} show newer figures")

    def _make_entry(self, value: Made, marks: Marks, n_made: int, duration_s: float) -> _CacheEntry[Made]:
        is_slow = duration_s > SLOW_S
        if is_slow or n_made:
            n_made = self._count_version(n_made)
        return _CacheEntry(value, marks, n_made, monotonic() + REST_FACTOR * duration_s if is_slow else 0.0)

    def _count_version(self, n_before: int) -> int:
        """Count that it was made, and return how often; -1 where another server has made a newer one meanwhile.

        It is not counted in a file, which one server has: whoever writes there keeps all others from it, and a process
        that only looks gets little time. Where nothing can be written it is shown all the same: nothing changes there.
        """
        with self._grid._store.read() as tx:
            if not figure_versions.is_counted(tx):
                return n_before
        try:
            with self._grid._store.write(alone=False, grows=False) as tx:
                return n_before + 1 if figure_versions.record_made(tx, self._name, n_before) else -1
        except BusyError:
            raise
        except StudyError:
            return n_before


class SharedTally:
    """The tally of the pairs of one grid, which all figures share until something happens in the study."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counted: tuple[activity_log.ChangeMarks, Tally] | None = None

    def __call__(self, tx: Tx) -> Tally:
        """The tally as it is in a transaction that only reads: what one that writes takes back may come again."""
        marks = activity_log.change_marks(tx)
        with self._lock:
            if self._counted is None or self._counted[0] != marks:
                self._counted = marks, tally(tx)
            return self._counted[1]


class Monitor:
    """The lead's view of a study. One object serves all requests, because it keeps what it made until things change."""

    def __init__(self, grid: GridContext) -> None:
        self._grid = grid
        self._tally = SharedTally()
        self._acts: _Cached[_Acts] = _Cached(grid, "acts")
        self._alpha: _Cached[Figure | None] = _Cached(grid, "alpha")
        self._agreement: _Cached[Agreement | None] = _Cached(grid, "agreement")
        self._disputed_texts: _Cached[dict[Axis, DisputedTexts]] = _Cached(grid, "disputed_texts")
        self._blocks: dict[tuple[Axis, str], _Cached[PartAgreements]] = {}
        self._decisions: _Cached[DecisionsPart] = _Cached(grid, "decisions")
        self._people: _Cached[PeopleFigures] = _Cached(grid, "people")
        self._survey_sections: _Cached[list[Section]] = _Cached(grid, "asked")
        self._shares: _Cached[tuple[QuestionShares, ...]] = _Cached(grid, "shares")
        self._maps: dict[str, _Cached[CellMap | None]] = {}
        self._notes: _Cached[StudyNotes] = _Cached(grid, "notes")
        self._stages: _Cached[tuple[activity.StageActivity, ...]] = _Cached(grid, "stages")
        self._headlines: _Cached[Headlines] = _Cached(grid, "headlines")
        self._exposures: _Cached[list[tuple[Person, Exposure]]] = _Cached(grid, "exposures")
        self._speed: _Cached[activity.SpeedFigures] = _Cached(grid, "speed")

    @staticmethod
    def preload() -> None:
        """Load what the headlines need, so that the first who asks for them need not wait."""
        import fcpair.steps.oversight.label_figures  # noqa: F401

    def marks(self) -> activity_log.ChangeMarks:
        """Numbers that change when anything happens in the study."""
        with self._grid._store.read() as tx:
            return activity_log.change_marks(tx)

    def alpha(self) -> Figure | None:
        """The alpha of `agreement`, without the rest of it."""
        return self._alpha.get(self._measure_alpha).made

    def _measure_alpha(self) -> Figure | None:
        from fcpair.steps.oversight.label_figures import current_labels, load_alpha

        with self._grid._store.read() as tx:
            return load_alpha(tx, current_labels(tx, answer_arrays(tx)))

    def agreement(self) -> Agreement | None:
        """Agreement on the labels, by the grid's own options; None before there are any."""
        return self._agreement.get(self._measure_agreement).made

    def _measure_agreement(self) -> Agreement | None:
        from fcpair.steps.oversight.label_figures import load_agreement

        with self._grid._store.read() as tx:
            return load_agreement(tx)

    def disputed_texts(self) -> dict[Axis, DisputedTexts]:
        """The rows and the columns on which people disagree most."""
        return self._disputed_texts.get(self._find_disputed_texts).made

    def _find_disputed_texts(self) -> dict[Axis, DisputedTexts]:
        from fcpair.steps.adjudication.people_agreement import load_disputed_texts

        with self._grid._store.read() as tx:
            return load_disputed_texts(tx)

    def metadata_columns(self) -> dict[Axis, tuple[str, ...]]:
        """The metadata columns of each side for which `blocks` may be asked."""
        from fcpair.steps.adjudication.agreement import metadata_columns

        with self._grid._store.read() as tx:
            return metadata_columns(tx)

    def blocks(self, axis: Axis, column: str) -> PartAgreements:
        """Agreement on the pairs with each value of one of the `metadata_columns`; raises InputError for another."""
        from fcpair.steps.adjudication.agreement import metadata_blocks

        check_name(f"metadata of {axis}s", column, self.metadata_columns()[axis])
        cached = self._blocks.setdefault((axis, column), _Cached(self._grid, f"blocks {axis} {column}"))
        return cached.get(lambda: metadata_blocks(self._grid, axis, column)).made

    def decisions(self) -> DecisionsPart:
        """What was decided, and the tiers that follow, by the grid's own rules."""
        return self._decisions.get(self._find_decisions).made

    def _find_decisions(self) -> DecisionsPart:
        from fcpair.steps.oversight.label_figures import current_labels, load_decisions

        with self._grid._store.read() as tx:
            return load_decisions(tx, self._tally(tx), current_labels(tx, answer_arrays(tx)))

    def people(self) -> PeopleFigures:
        """Labels and verdicts of each person."""
        return self._people.get(self._count_answers).made

    def _count_answers(self) -> PeopleFigures:
        from fcpair.steps.oversight.label_figures import load_people

        with self._grid._store.read() as tx:
            return load_people(tx)

    def may_have_surveys(self) -> bool:
        """Whether the grid may have something that `survey_sections` shows."""
        from fcpair.steps.oversight.report_surveys import may_have_asked_part

        with self._grid._store.read() as tx:
            return may_have_asked_part(tx)

    def survey_sections(self) -> list[Section]:
        """Sections with figures on the answers to a survey, on the bias of models, and on groups of people."""
        return self._survey_sections.get(self._make_survey_sections).made

    def _make_survey_sections(self) -> list[Section]:
        from fcpair.report.survey_section import build_sections
        from fcpair.steps.oversight.report_surveys import asked_part

        with self._grid._store.read() as tx:
            return build_sections(asked_part(tx, self._grid.grid.name, in_words=True))

    def shares(self) -> tuple[QuestionShares, ...]:
        """Answers of each person in each round of a planned grid."""
        return self._shares.get(lambda: question_shares(self._grid)).made

    def cell_map(self, question: str = "") -> CellMap | None:
        """The map of the grid, as `load_cell_map` has it."""
        name = f"map {crc32(question.encode()):08x}" if question else "map"
        cached = self._maps.get(question) or _Cached(self._grid, name)
        cell_map = cached.get(lambda: self._make_map(question)).made
        self._maps.setdefault(question, cached)  # which names that are none do not fill
        return cell_map

    def _make_map(self, question: str) -> CellMap | None:
        from fcpair.steps.adjudication.cell_map import load_cell_map

        with self._grid._store.read() as tx:
            return load_cell_map(tx, question)

    def side_texts(self, axis: Axis, first: int = 0, n: int | None = None) -> list[str]:
        """The texts of the rows or the columns that are drawn, in order: `n` of them from place `first` on, from 0."""
        with self._grid._store.read() as tx:
            return map_answers.side_texts(tx, axis, first, n)

    def simulated_note(self) -> str | None:
        """A sentence that says how much of what was answered is made up; None where nothing is."""
        with self._grid._store.read() as tx:
            return simulated_note(n_by_origin(tx))

    def notes(self) -> StudyNotes:
        """What whoever reads a figure of the study must know; of its oldest grid, as `Study.status` has it."""
        return self._notes.get(self._load_notes).made

    def _load_notes(self) -> StudyNotes:
        with self._grid._store.read() as tx:
            return load_notes(tx, n_by_origin(tx), self._tally)

    def stages(self, now: datetime | None = None) -> tuple[activity.StageActivity, ...]:
        """Progress of each round of the grid and of adjudication, stage by stage and person by person."""
        return self._cached_for_a_minute(now, self._stages, self._find_stages)

    def _cached_for_a_minute(
        self, now: datetime | None, cached: _Cached[Made], make: Callable[[activity.Clock], Made]
    ) -> Made:
        """Get a value that depends on the time as well: cached for a minute at most, unless it takes long to make."""
        if now is not None:
            return make(activity.Clock.at_time(now))
        return cached.get(
            lambda: make(activity.Clock.at_time(datetime.now(UTC))), _minute_marks, base_marks=self._acts_marks
        ).made

    def _find_stages(self, clock: activity.Clock) -> tuple[activity.StageActivity, ...]:
        acts = self._all_acts()
        with self._grid._store.read() as tx:
            counts_by_round = activity.counts_by_round(assignments.counts_of_grid(tx))
            cell_span, check_round = grids.cell_range(tx), rounds.validation(tx)

            def round_stage(round_: Round) -> activity.StageActivity:
                vacant_and_free = len(vacant_slots.find_vacant(tx, round_)), open_slots.n_free(tx, round_)
                counts = counts_by_round.get(round_.name, {})
                return activity.round_activity(round_, acts.everybody, counts, acts.answers, vacant_and_free, clock)

            stages = [round_stage(one) for one in rounds.answer_rounds(tx)]
            if labels_of(tx) and (not is_planned(tx) or has_saved_options(tx, Adjudicate)):
                pairs, n_decided_by_person, n_again = (
                    self._tally(tx).pairs,
                    pair_counts.n_decided_by_person(tx),
                    len(rule_decisions.stale_decisions(tx)),
                )
                decisions = [one for one in acts.decisions if cell_span.has(one.cell_id)]
                stages.append(
                    activity.adjudication_activity(
                        acts.everybody, decisions, n_decided_by_person, pairs, n_again, clock
                    )
                )
            if check_round.ids:
                stages.append(replace(round_stage(check_round), not_due=disputes.n_verdicts_not_due(tx)))
        return tuple(stages)

    def headlines(self) -> Headlines:
        """What is next in the grid, who is at work just now, and how many answers came on which day."""
        return self._headlines.get(self._find_headlines, _minute_marks).made

    def _find_headlines(self) -> Headlines:
        with self._grid._store.read() as tx:
            return find_headlines(tx, datetime.now(UTC), answer_arrays(tx), self._tally)

    def exposures(self, now: datetime | None = None) -> list[tuple[Person, Exposure]]:
        """Pairs that each person has read in all grids, and for how long."""
        return self._cached_for_a_minute(now, self._exposures, self._find_exposures)

    def _find_exposures(self, clock: activity.Clock) -> list[tuple[Person, Exposure]]:
        acts = self._all_acts()
        return activity.exposures(acts.everybody, acts.answers, acts.decisions, clock)

    def speed(self) -> activity.SpeedFigures:
        """Answers that came sooner than the text of the column can be read."""
        return self._speed.get(self._find_speed, base_marks=self._acts_marks).made

    def _find_speed(self) -> activity.SpeedFigures:
        acts = self._all_acts()
        with self._grid._store.read() as tx:
            columns, cell_span = texts.texts_of(tx, grids.side_kinds(tx)[1]), grids.cell_range(tx)
        bodies = dict(zip(columns["id"].tolist(), columns["body"].tolist(), strict=True))
        ids = acts.answers.cell_id
        answers = acts.answers.where((ids >= cell_span.first) & (ids <= cell_span.last))
        speeds, newest = activity.answer_speeds(acts.everybody, answers, bodies)
        return activity.SpeedFigures(tuple(speeds), tuple(newest))

    def flags(self) -> list[Flag]:
        """The decisions on which the guidelines should say more, newest first."""
        with self._grid._store.read() as tx:
            return load_flags(tx)

    def _all_acts(self) -> _Acts:
        return self._acts.get(self._read_acts).made

    def _acts_marks(self) -> Marks:
        return self._acts.get(self._read_acts).marks

    def _read_acts(self) -> _Acts:
        with self._grid._store.read() as tx:
            return _Acts(people.people(tx), answer_arrays(tx), activity_log.decisions_by_people(tx))


def _minute_marks() -> Marks:
    return (int(datetime.now(UTC).timestamp() // MINUTE_S),)
