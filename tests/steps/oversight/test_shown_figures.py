"""Figures that rest because they take long to make: none that any server shows is older than what was shown before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fcpair.errors import BusyError, StudyError
from fcpair.params import Adjudicate
from fcpair.steps.base import figure_cache
from fcpair.steps.base.figure_cache import MAX_TRIES, REST_FACTOR, SLOW_S, FigureCache
from fcpair.steps.oversight import dashboard
from fcpair.steps.oversight.dashboard import Monitor
from fcpair.store import Store, Tx
from fcpair.store.answers import activity_log
from fcpair.store.answers.activity_log import ChangeMarks
from fcpair.store.database.backends import sqlite
from fcpair.store.oversight import runs
from fcpair.study import Study
from steps.small import At, dump

Both = tuple[Study, Study]
SLOW, REST_S = 2.0, 20.0
assert SLOW_S < SLOW < SLOW_S * REST_FACTOR == REST_S / 2
names = iter(f"figure{n}" for n in range(10_000))


class Clock:
    """A clock that goes on when it is told to, and by a little whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1e-6
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(figure_cache, "monotonic", clock)
    monkeypatch.setattr(figure_cache, "SLOW_S", SLOW_S)
    return clock


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked here of a server holds for files, too, where it is counted."""
    monkeypatch.setattr(sqlite.SQLITE, "MANY_WRITE", True)


@pytest.fixture
def both(at: At) -> Iterator[Both]:
    """One study, as two servers have it."""
    with closing(at("labelled")) as first, closing(Study(Path(first.place))) as second:
        yield first, second


class Figure:
    """A figure at one server: what it shows are the marks of the study when it was made."""

    def __init__(self, study: Study, clock: Clock, name: str) -> None:
        self._study, self._clock = study, clock
        self._figures, self._name = FigureCache(study.grid()._store), name
        self.takes_s, self.n_made = SLOW, 0
        self.meanwhile: Callable[[], object] = lambda: None

    def show(self) -> ChangeMarks:
        return self._figures.get(self._name, self._make).made

    def _make(self) -> ChangeMarks:
        self.n_made += 1
        with self._study._store.read() as tx:
            made = activity_log.change_marks(tx)
        self._clock.now += self.takes_s
        self.meanwhile()
        return made


Two = tuple[Figure, Figure]


@pytest.fixture
def two(both: Both, clock: Clock) -> Two:
    return at_both(both, clock)


def at_both(both: Both, clock: Clock) -> Two:
    """A new figure at two servers."""
    name = next(names)
    return Figure(both[0], clock, name), Figure(both[1], clock, name)


def change(study: Study) -> None:
    with study._store.write() as tx:
        runs.add_run(tx, "report", {}, {}, "0", None)


@pytest.mark.server
def test_one_that_rests_is_made_anew_where_another_server_has_shown_a_newer_one(both: Both, clock: Clock) -> None:
    for takes_s in (SLOW, 0.0):  # a server that is quick to make it leaves word where another one is slow, too
        first, second = at_both(both, clock)
        first.takes_s = takes_s
        old = second.show()
        change(both[0])
        if takes_s:
            assert second.show() == old
        new = first.show()
        assert new > old
        assert second.show() == new
        assert first.show() == new  # nothing has changed since


def test_one_server_alone_has_it_rest_as_long_as_before(both: Both, two: Two, clock: Clock) -> None:
    first, _ = two
    first.show()
    for _ in range(3):
        change(both[0])
        first.show()
    assert first.n_made == 1
    clock.now += 2 * REST_S
    first.show()
    assert first.n_made == 2


def test_what_no_server_finds_slow_is_made_at_every_change_and_nothing_is_written(both: Both, two: Two) -> None:
    first, second = two
    first.takes_s = second.takes_s = 0.0
    for _ in range(2):
        change(both[0])
        before = dump(both[0])
        assert first.show() == second.show() == first.show()
        assert dump(both[0]) == before
    assert (first.n_made, second.n_made) == (2, 2)


@pytest.mark.server
def test_what_another_server_overtakes_while_it_is_made_is_not_shown(both: Both, two: Two, clock: Clock) -> None:
    first, second = two
    seen: list[ChangeMarks] = []

    def overtake_once() -> None:
        first.meanwhile = lambda: None
        change(both[0])
        seen.append(second.show())

    first.meanwhile = overtake_once
    assert first.show() == seen[0]
    assert first.n_made == 2
    first, second = at_both(both, clock)

    def overtake() -> None:
        clock.now += 2 * REST_S
        change(both[0])
        second.show()

    first.meanwhile = overtake  # where others are always quicker, one is asked to come back
    with pytest.raises(BusyError, match="newer figures"):
        first.show()
    assert first.n_made == MAX_TRIES


def test_it_is_shown_where_nothing_can_be_written(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def full(_store: Store, **_: object) -> Iterator[None]:
        raise StudyError("the disk is full")
        yield

    monkeypatch.setattr(Store, "write", full)
    assert two[0].show() == two[1].show()


@pytest.mark.server
def test_what_is_made_of_a_value_that_rests_is_made_anew_when_that_has_rested(
    at: At, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Formerly it stayed as it was until something else happened."""
    study = at("labelled")
    monitor = Monitor(study.grid())
    read, n_made = dashboard._read_acts, []

    def slowly(tx: Tx) -> object:
        n_made.append(1)
        clock.now += SLOW
        return read(tx)

    monkeypatch.setattr(dashboard, "_read_acts", slowly)
    monkeypatch.setattr(monitor, "_find_speed", lambda: monitor._kept_acts().made)
    before = monitor.speed()
    study.grid().adjudicate(Adjudicate("majority"))
    assert monitor.speed() is before
    clock.now += 2 * REST_S
    after = monitor.speed()
    assert after is not before
    assert monitor.speed() is after
    assert len(n_made) == 2


@pytest.mark.slow
def test_two_monitors_of_a_study_never_go_back(both: Both, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_cache, "SLOW_S", -1.0)
    monkeypatch.setattr(figure_cache, "REST_FACTOR", 1e12)
    first, second = (Monitor(study.grid()) for study in both)
    before = looked_at(second)
    both[0].grid().adjudicate(Adjudicate("majority"))
    assert all(new is old for new, old in zip(looked_at(second), before, strict=True))
    looked_at(first)
    assert not any(new is old for new, old in zip(looked_at(second), before, strict=True))
    assert repr(first.decisions()) == repr(second.decisions()) != repr(before[0])


def looked_at(monitor: Monitor) -> list[object]:
    figures = [monitor.decisions(), monitor.agreement(), monitor.people(), monitor.cell_map()]
    return [*figures, monitor.notes(), monitor.speed(), monitor.stages(), monitor.exposures()]


ACTS = st.lists(
    st.tuples(st.sampled_from(("change", "wait", "first", "second")), st.sampled_from((0.0, SLOW, 3 * SLOW))),
    max_size=25,
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS)
def test_whoever_is_asked_and_however_long_it_takes_no_figure_goes_back(
    both: Both, clock: Clock, acts: list[tuple[str, float]]
) -> None:
    servers = dict(zip(("first", "second"), at_both(both, clock), strict=True))
    seen: list[ChangeMarks] = []
    for what, seconds in acts:
        if what == "change":
            change(both[0])
        elif what == "wait":
            clock.now += 5 * seconds
        else:
            servers[what].takes_s = seconds
            seen.append(servers[what].show())
    assert seen == sorted(seen)


def test_of_more_than_are_kept_the_one_asked_for_longest_ago_goes(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_cache, "MOST_KEPT", 2)
    figures = FigureCache(at("labelled").grid()._store)
    made: list[str] = []
    for name in ("a", "b", "a", "c", "a", "b"):
        figures.get(name, lambda name=name: made.append(name))  # type: ignore[misc]
    assert made == ["a", "b", "c", "b"]


@pytest.mark.files
def test_looking_writes_nothing_into_the_file_of_one(both: Both, two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite.SQLITE, "MANY_WRITE", False)
    before = dump(both[0])
    for _ in range(2):
        assert two[0].show() == two[1].show()
    assert (two[0].n_made, two[1].n_made) == (1, 1)
    assert dump(both[0]) == before
