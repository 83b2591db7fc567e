"""How the work goes, person by person: progress, pace and end, hours and texts, and answers too fast to be read.

Times count only where somebody answered on the pages or through the API: answers from files carry the time at which
they were read in, and simulated people need none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from fcpair.records import Origin, Person, Role, Round, Rule, Status
from fcpair.stages.assignment.pace import Outlook, end_at, last_end, longest_left, outlook, per_day, shared
from fcpair.stages.assignment.reading_load import Exposure, exposure, least_s, n_words, start_of_day, too_fast
from fcpair.steps.rules.pair_counts import PairCounts
from fcpair.store.answers.activity_log import Decision, Given
from fcpair.store.corpus.grids import number_of

ADJUDICATE = "adjudicate"


@dataclass(frozen=True)
class PersonPulse:
    """How one person's work goes in one stage; who adjudicates takes from one queue, so has nothing open alone."""

    name: str
    role: Role
    retired: bool
    done: int
    open: int
    skipped: int
    withdrawn: int
    n_today: int
    outlook: Outlook


@dataclass(frozen=True)
class StagePulse:
    """How one stage goes: `name` is that of a round, or `adjudicate`; `vacant` pairs wait for somebody to take them,
    `free` ones of those that are open for whoever asks.

    `role` is that of those who do the work. In `adjudicate`, `done` pairs are decided by a person, `open` ones wait for
    one, `again` of them for a second look, and `by_policy` ones wait for a policy. In `validate`, `not_due` of the open
    ones wait until all labels of their pair are in.

    `per_day` and `end_at` are of everybody together, as if any of them could take any pair; `last_end` and
    `longest_left_s` are of whoever will be last with what they were given, None where that cannot be told.
    """

    name: str
    role: Role
    done: int
    open: int
    vacant: int
    people: tuple[PersonPulse, ...]
    per_day: float
    end_at: float | None
    last_end: float | None
    longest_left_s: float | None
    again: int = 0
    by_policy: int = 0
    not_due: int = 0
    free: int = 0


@dataclass(frozen=True)
class Hasty:
    """An answer that came after `seconds`, though the text of its column takes `least_s` seconds at the least."""

    name: str
    cell_id: int
    seconds: float
    least_s: float
    at: str


@dataclass(frozen=True)
class Speed:
    """Of `n_timed` first answers of a person whose time is known, `n_too_fast` came sooner than can be read."""

    name: str
    n_timed: int
    n_too_fast: int


@dataclass
class _Acts:
    """When one person acted in one stage: at `times`; at `new` about a pair for the first time.

    `together` has of each act what it shares with others that came at once, as `Round.together` says. At `gains`
    that took the stage on: a skip takes on the person, but the pair goes to somebody else.
    """

    times: list[float] = field(default_factory=list)
    together: list[Hashable | None] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)

    def add(self, at: str, *, new: bool, to_stage: bool = True, together: Hashable | None = None) -> None:
        time = _posix(at)
        self.times.append(time)
        self.together.append(together)
        if new:
            self.new.append(time)
            if to_stage:
                self.gains.append(time)


@dataclass(frozen=True)
class Clock:
    """The present, and when this day began where the server is: POSIX times."""

    now: float
    midnight: float

    @classmethod
    def of(cls, now: datetime) -> Clock:
        """The clock at a time that knows its zone."""
        return cls(now.timestamp(), start_of_day(now).timestamp())


def answering(
    round_: Round,
    everybody: Sequence[Person],
    given: Mapping[int, Mapping[str, int]],
    answers: Iterable[Given],
    left: tuple[int, int],
    clock: Clock,
) -> StagePulse:
    """How a round goes; `answers` are those of its grid, `given` counts each person's assignments by their status.

    `left` are how many slots are vacant and how many free.
    """
    acts: dict[int, _Acts] = {}
    seen: set[int] = set()
    for one in answers:
        if one.round == round_.name and one.origin == Origin.ONLINE:
            together = round_.together(one.hs_id)
            acts.setdefault(one.person_id, _Acts()).add(
                one.at, new=one.assignment_id not in seen, to_stage=not one.skipped, together=together
            )
            seen.add(one.assignment_id)
    there = [one for one in everybody if one.role is round_.role or one.id in given]
    people = tuple(_pulse(one, given.get(one.id, {}), acts.get(one.id, _Acts()), clock) for one in there)
    done, n_open, (vacant, n_free) = sum(one.done for one in people), sum(one.open for one in people), left
    stage = _stage((round_.name, round_.role), (done, n_open + n_free, vacant), people, acts, clock)
    return replace(stage, free=n_free)


def adjudicating(
    everybody: Sequence[Person],
    decisions: Iterable[Decision],
    decided: Counter[int],
    pairs: PairCounts,
    again: int,
    clock: Clock,
) -> StagePulse:
    """How adjudication by people goes.

    `decided` says on how many pairs each person's decision stands and is not to be looked at again; `again` on how many
    pairs one is.
    """
    acts: dict[int, _Acts] = {}
    seen: set[int] = set()
    for one in decisions:
        if one.rule == Rule.PERSON:
            acts.setdefault(one.person_id, _Acts()).add(one.at, new=one.cell_id not in seen)
            seen.add(one.cell_id)
    there = [one for one in everybody if one.role is Role.ADJUDICATOR or one.id in acts]
    people = tuple(_pulse(one, {Status.DONE.value: decided[one.id]}, acts.get(one.id, _Acts()), clock) for one in there)
    stage = _stage(
        (ADJUDICATE, Role.ADJUDICATOR), (decided.total(), pairs.wait_for_person + again, 0), people, acts, clock
    )
    return replace(stage, again=again, by_policy=pairs.wait_for_policy)


def _stage(
    of: tuple[str, Role],
    counts: tuple[int, int, int],
    people: tuple[PersonPulse, ...],
    acts: dict[int, _Acts],
    clock: Clock,
) -> StagePulse:
    daily = per_day(sorted(at for own in acts.values() for at in own.gains), clock.now)
    outlooks = [one.outlook for one in people]
    end = end_at(counts[1], daily, clock.now)
    return StagePulse(*of, *counts, people, daily, end, last_end(outlooks), longest_left(outlooks))


def _pulse(one: Person, counts: Mapping[str, int], acts: _Acts, clock: Clock) -> PersonPulse:
    n_open = counts.get(Status.OPEN.value, 0)
    return PersonPulse(
        name=one.name,
        role=one.role,
        retired=one.retired,
        done=counts.get(Status.DONE.value, 0),
        open=n_open,
        skipped=counts.get(Status.SKIPPED.value, 0),
        withdrawn=counts.get(Status.WITHDRAWN.value, 0),
        n_today=sum(at >= clock.midnight for at in acts.times),
        outlook=outlook(n_open, shared(zip(acts.times, acts.together, strict=True)), acts.new, clock.now),
    )


def _posix(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def exposures(
    everybody: Sequence[Person], answers: Iterable[Given], decisions: Iterable[Decision], clock: Clock
) -> list[tuple[Person, Exposure]]:
    """What each person has read: answers and decisions, those of simulated people left out."""
    read: dict[int, set[tuple[int, int]]] = {one.id: set() for one in everybody}
    times: dict[int, list[float]] = {one.id: [] for one in everybody}
    for one in answers:
        if one.origin != Origin.SIMULATED:
            read[one.person_id].add((one.cell_id, one.hs_id))
        if one.origin == Origin.ONLINE:
            times[one.person_id].append(_posix(one.at))
    for act in decisions:
        read[act.person_id].add((act.cell_id, act.hs_id))
        if act.rule != Rule.IMPORTED:
            times[act.person_id].append(_posix(act.at))
    return [(one, exposure(read[one.id], sorted(times[one.id]), clock.midnight)) for one in everybody]


def speeds(
    everybody: Sequence[Person], answers: Iterable[Given], bodies: Mapping[int, str]
) -> tuple[list[Speed], list[Hasty]]:
    """How often each person answered sooner than the column's text can be read, and the newest such answers.

    Only the first answer on a pair counts: somebody who goes back to change it has read it before. Skips do not count:
    nobody has to read what they do not want to judge. `bodies` are the texts of the columns by their id.
    """
    words = {cn_id: n_words(body) for cn_id, body in bodies.items()}
    names = {one.id: one.name for one in everybody}
    n_timed: Counter[int] = Counter()
    n_fast: Counter[int] = Counter()
    seen: set[int] = set()
    fast: list[Hasty] = []
    for one in answers:
        if one.seconds is not None and not one.skipped and one.assignment_id not in seen:
            n_timed[one.person_id] += 1
            if too_fast(one.seconds, words[one.cn_id]):
                n_fast[one.person_id] += 1
                fast.append(
                    Hasty(names[one.person_id], number_of(one.cell_id), one.seconds, least_s(words[one.cn_id]), one.at)
                )
        seen.add(one.assignment_id)
    return [Speed(one.name, n_timed[one.id], n_fast[one.id]) for one in everybody if n_timed[one.id]], fast[::-1]
