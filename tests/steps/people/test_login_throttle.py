"""Wrong tokens: counted by the study, whichever server was asked, and forgotten as soon as they do not count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from servers import execute

from fcpair.errors import StudyError, TooManyError
from fcpair.steps.people import access as attempts_module
from fcpair.steps.people.access import MAX_FAILURES, MAX_FAILURES_IN_ALL, WINDOW_S, LoginThrottle
from fcpair.store.people import people as stored
from fcpair.study import Study
from steps.small import dump

At = Callable[[str], Study]
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.after_s = 0.0

    def __call__(self) -> datetime:
        return NOON + timedelta(seconds=self.after_s)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def study(at: At) -> Iterator[Study]:
    with closing(at("dealt")) as opened:
        yield opened


@pytest.fixture
def attempts(study: Study, clock: Clock) -> LoginThrottle:
    return LoginThrottle(study._store, clock)


def n_kept(study: Study) -> int:
    return int(execute(study.place, "SELECT count(*) FROM attempt")[0][0])


def is_refused(attempts: LoginThrottle, address: str = HERE) -> bool:
    try:
        attempts.count_failure(address)
    except TooManyError:
        return True
    return False


def use_up(attempts: LoginThrottle, address: str = HERE) -> None:
    for _ in range(MAX_FAILURES):
        attempts.count_failure(address)


def test_so_many_are_counted_and_then_the_place_has_to_wait(attempts: LoginThrottle, clock: Clock) -> None:
    use_up(attempts)
    clock.after_s = WINDOW_S - 0.5
    with pytest.raises(TooManyError, match="try again in 1 second") as raised:
        attempts.count_failure(HERE)
    assert raised.value.wait_s == 1
    assert not is_refused(attempts, ELSEWHERE)
    clock.after_s = WINDOW_S + 0.5
    assert not is_refused(attempts)


def test_the_window_slides(attempts: LoginThrottle, clock: Clock) -> None:
    for clock.after_s in range(MAX_FAILURES):
        attempts.count_failure(HERE)
    clock.after_s = WINDOW_S
    assert [is_refused(attempts) for _ in range(2)] == [False, True]


def test_one_that_is_refused_writes_nothing(attempts: LoginThrottle, study: Study) -> None:
    use_up(attempts)
    before = dump(study)
    assert all(is_refused(attempts) for _ in range(5))
    assert dump(study) == before


def test_strangers_with_many_addresses_fill_no_disk(
    attempts: LoginThrottle, study: Study, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_FAILURES_IN_ALL * 100 < 1_000_000  # bytes, as a row and its place in the index take less than 100 each
    monkeypatch.setattr(attempts_module, "MAX_FAILURES_IN_ALL", 5)
    refused = [is_refused(attempts, f"2001:db8:0:{n:x}::1") for n in range(10)]
    assert refused == [False] * 5 + [True] * 5
    assert n_kept(study) == 5
    clock.after_s = WINDOW_S
    assert not is_refused(attempts, HERE)
    assert n_kept(study) == 1


def test_two_servers_of_a_study_count_together(attempts: LoginThrottle, study: Study, clock: Clock) -> None:
    with closing(Study(Path(study.place))) as other:
        second = LoginThrottle(other._store, clock)
        for one in [attempts, second] * (MAX_FAILURES // 2):
            one.count_failure(HERE)
        assert is_refused(attempts)
        assert is_refused(second)


def test_a_server_that_is_started_again_knows_what_was_tried(
    attempts: LoginThrottle, study: Study, clock: Clock
) -> None:
    use_up(attempts)
    study.close()
    with closing(Study(Path(study.place))) as again:
        assert is_refused(LoginThrottle(again._store, clock))


@pytest.mark.server
def test_of_many_at_once_at_two_servers_exactly_so_many_are_let_through(study: Study) -> None:
    with closing(Study(Path(study.place))) as other, ThreadPoolExecutor(30) as threads:
        both = (study.access.attempts, other.access.attempts) * 15
        refused = list(threads.map(partial(is_refused, address=HERE), both))
    assert refused.count(False) == MAX_FAILURES
    assert n_kept(study) == MAX_FAILURES


def test_while_somebody_else_writes_it_is_refused_and_not_let_through_uncounted(
    attempts: LoginThrottle, study: Study
) -> None:
    study._store._writing.patience_s = 0.1
    with closing(Study(Path(study.place))) as other, other._store.write():
        with pytest.raises(TooManyError, match="try again in 2 seconds"):
            attempts.count_failure(HERE)
        assert study.access.by_token("not-a-token") is None  # the door is as it was
    assert not is_refused(attempts)


def test_on_a_full_disk_it_is_refused(attempts: LoginThrottle, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StudyError("the disk is full")

    monkeypatch.setattr(stored, "add_attempt", full)
    assert is_refused(attempts)
    monkeypatch.undo()
    assert n_kept(study) == 0
    assert not is_refused(attempts)


def test_nobody_who_tries_takes_all_threads(attempts: LoginThrottle, monkeypatch: pytest.MonkeyPatch) -> None:
    while attempts._slots.acquire(blocking=False):
        pass
    assert is_refused(attempts)
    attempts._slots.release()
    assert not is_refused(attempts)


def test_a_right_token_writes_nothing(attempts: LoginThrottle, study: Study) -> None:
    token = study.access.invite("ana")
    use_up(attempts)
    before = dump(study)
    assert study.access.by_token(token) is not None
    assert dump(study) == before


def test_no_address_is_kept_and_the_same_one_looks_different_in_another_study(study: Study, at: At) -> None:
    study.access.attempts.count_failure(HERE)
    kept = execute(study.place, "SELECT place FROM attempt")[0][0]
    assert re.fullmatch(r"[0-9a-f]{64}", kept)
    assert HERE not in dump(study)
    execute(study.place, "UPDATE study SET secret = ?", "f" * 64)
    study.access.attempts.count_failure(HERE)
    assert len({row[0] for row in execute(study.place, "SELECT place FROM attempt")}) == 2


@pytest.mark.server
def test_what_does_not_count_any_more_is_deleted(attempts: LoginThrottle, study: Study, clock: Clock) -> None:
    for clock.after_s, n in ((0, 1), (30, 2), (75, 2), (500, 1)):
        attempts.count_failure(HERE)
        assert n_kept(study) == n
    clock.after_s += WINDOW_S - 1
    attempts.delete_expired()
    assert n_kept(study) == 1
    clock.after_s += 1
    attempts.delete_expired()
    assert n_kept(study) == 0
    before = dump(study)
    attempts.delete_expired()
    assert dump(study) == before


def test_a_clock_that_runs_ahead_by_some_seconds_lets_nobody_off(attempts: LoginThrottle, clock: Clock) -> None:
    clock.after_s = WINDOW_S / 2
    use_up(attempts)
    clock.after_s = 0.0
    with pytest.raises(TooManyError) as raised:
        attempts.count_failure(HERE)
    assert raised.value.wait_s == WINDOW_S


def test_a_clock_that_was_wrong_shuts_nobody_out(attempts: LoginThrottle, study: Study, clock: Clock) -> None:
    clock.after_s = 3600.0
    use_up(attempts)
    clock.after_s = 0.0
    assert not is_refused(attempts)
    assert n_kept(study) == 1


@pytest.mark.server
def test_a_study_with_attempts_is_sound_and_its_copy_counts_on(
    attempts: LoginThrottle, study: Study, clock: Clock, tmp_path: Path
) -> None:
    use_up(attempts)
    assert Study.doctor(Path(study.place)).is_sound
    Study.copy(Path(study.place), tmp_path / "copy.db", lambda done, total: None)
    with closing(Study(tmp_path / "copy.db")) as copy:
        assert n_kept(copy) == MAX_FAILURES
        assert is_refused(LoginThrottle(copy._store, clock))
