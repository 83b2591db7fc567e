"""Pace, sittings, ends and reading speed, by hand and for all inputs."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.records import LISTED
from fcpair.stages.assignment.pace import (
    DAY_S,
    MEAN_WPM,
    PAUSE_S,
    answers_per_day,
    end_time,
    estimate_time,
    last_end,
    least_reading_s,
    left_s,
    longest_left,
    measure_exposure,
    n_words,
    pace_s,
    split_sittings,
    spread_batch_times,
    start_of_day,
)

NOW = 1_750_000_000.0
times_ = st.lists(st.integers(0, 10**7).map(float), max_size=80).map(sorted)


def at_intervals(*seconds: float) -> list[float]:
    return list(itertools.accumulate((0.0, *seconds)))


def test_a_pace_is_the_median_interval() -> None:
    assert pace_s(at_intervals(4, 12, 6, 100, 9)) == 9
    assert pace_s(at_intervals(4, 12, 6, 100, 9, 8)) == 8.5


def test_answers_on_a_row_share_the_time_since_the_one_before() -> None:
    answers = [(0.0, None), (10.0, None), (40.0, "a"), (40.1, "a"), (43.0, "a"), (55.0, "b"), (61.0, "b"), (62.0, None)]
    assert spread_batch_times(answers) == pytest.approx([0, 10, 21, 32, 43, 52, 61, 62])
    assert spread_batch_times([(5.0, "a"), (5.1, "a"), (9.1, "b")]) == [5.1, 9.1]
    assert spread_batch_times([]) == []


def test_answers_on_a_list_share_the_time_since_the_list_before() -> None:
    lists = [(100.0, LISTED), (100.5, LISTED), (101.0, LISTED), (141.0, LISTED), (142.0, LISTED), (200.0, None)]
    assert spread_batch_times([(40.0, None), *lists]) == pytest.approx(
        [40, 40 + 61 / 3, 40 + 122 / 3, 101, 121.5, 142, 200]
    )


@given(times_)
def test_answers_that_are_on_no_row_have_their_own_times(times: list[float]) -> None:
    assert spread_batch_times([(at, None) for at in times]) == times


def test_one_long_gap_does_not_turn_25_minutes_into_three_hours() -> None:
    quick = at_intervals(15, 15, 15, 15, 15)
    with_a_call = at_intervals(15, 15, 15, 15, 15, 540)
    assert left_s(100, pace_s(quick)) == left_s(100, pace_s(with_a_call)) == 25 * 60


def test_four_intervals_tell_no_pace() -> None:
    assert pace_s(at_intervals(4, 6, 8, 10)) is None


def test_a_pause_is_left_out_of_the_pace_and_ten_minutes_are_none() -> None:
    assert pace_s(at_intervals(4, 6, 601, 8, 10, 12)) == 8
    assert pace_s(at_intervals(10, 600, 600, 600, 10)) == 600


def test_only_the_newest_fifty_intervals_count() -> None:
    assert pace_s(at_intervals(*[100.0] * 30, *[7.0] * 50)) == 7
    assert pace_s(at_intervals(*[7.0] * 30, *[100.0] * 26)) == 100
    assert pace_s(at_intervals(*[7.0] * 30, *[100.0] * 25)) == (7 + 100) / 2


@given(times_)
def test_a_pace_lies_between_no_time_and_a_pause(times: list[float]) -> None:
    pace = pace_s(times)
    assert pace is None or 0 <= pace <= PAUSE_S


@given(times_, st.integers(-(10**6), 10**6))
def test_a_pace_does_not_depend_on_the_day(times: list[float], shift: int) -> None:
    assert pace_s([at + shift for at in times]) == pace_s(times)


@pytest.mark.parametrize(("n_open", "pace", "left"), [(12, 7.5, 90.0), (0, None, 0.0), (0, 7.5, 0.0), (3, None, None)])
def test_the_time_left_is_the_open_pairs_at_that_pace(n_open: int, pace: float | None, left: float | None) -> None:
    assert left_s(n_open, pace) == left


def test_a_daily_rate_counts_the_last_seven_days() -> None:
    times = [NOW - 20 * DAY_S, *(NOW - hours * 3600 for hours in range(35, 0, -1))]
    assert answers_per_day(times, NOW) == 5


def test_the_rate_of_a_study_that_is_two_days_old_is_over_two_days() -> None:
    assert answers_per_day([NOW - 2 * DAY_S, NOW - DAY_S, NOW - 60, NOW - 30], NOW) == 2


def test_the_work_of_an_hour_is_not_taken_for_that_of_a_whole_day() -> None:
    assert answers_per_day([NOW - 3600, NOW - 1800, NOW - 60], NOW) == 3


def test_without_an_answer_in_seven_days_there_is_no_end() -> None:
    assert answers_per_day([], NOW) == 0
    assert end_time(5, answers_per_day([NOW - 8 * DAY_S], NOW), NOW) is None


def test_an_end_is_the_open_pairs_by_the_daily_rate() -> None:
    assert end_time(30, 12.0, NOW) == NOW + 2.5 * DAY_S
    assert end_time(0, 0.0, NOW) == NOW


def test_an_answer_changed_does_not_bring_the_end_nearer() -> None:
    times = [NOW - 60 + 10 * i for i in range(6)]
    one = estimate_time(12, times, times[:3], NOW)
    assert (one.pace_s, one.left_s, one.per_day, one.end_at) == (10, 120, 3, NOW + 4 * DAY_S)


def test_the_last_of_several_people_decides() -> None:
    quick, slow, done = (
        estimate_time(n, [NOW - s * 6 + s * i for i in range(6)], [NOW - 60] * 6, NOW)
        for n, s in ((6, 5.0), (12, 9.0), (0, 9.0))
    )
    assert last_end([quick, slow, done]) == NOW + 2 * DAY_S
    assert longest_left([quick, slow, done]) == 108


def test_somebody_with_open_pairs_and_no_answers_leaves_the_end_undefined() -> None:
    busy = estimate_time(6, [NOW - 6 + i for i in range(6)], [NOW - 60] * 6, NOW)
    away, done = estimate_time(1, [], [], NOW), estimate_time(0, [], [], NOW)
    assert last_end([busy, away]) is None
    assert longest_left([busy, away]) is None
    assert last_end([done]) is None


def test_a_sitting_ends_with_a_pause() -> None:
    found = split_sittings([0, 10, 610, 1211, 1220])
    assert [(one.start, one.end, one.n, one.length_s) for one in found] == [(0, 610, 3, 610), (1211, 1220, 2, 9)]


@given(times_)
def test_sittings_hold_every_answer_once_and_lie_apart(times: list[float]) -> None:
    found = split_sittings(times)
    assert sum(one.n for one in found) == len(times)
    assert all(later.start - earlier.end > PAUSE_S for earlier, later in itertools.pairwise(found))


def test_exposure_parts_today_from_before() -> None:
    found = measure_exposure(3, 2, [0, 100, 5000, 5300, 5400], day_start=5200)
    assert (found.n_pairs, found.n_hs, found.n_today) == (3, 2, 2)
    assert (found.today_s, found.total_s) == (200, 500)
    assert found.longest is not None
    assert (found.longest.start, found.longest.n) == (5000, 3)


def test_somebody_who_read_nothing_has_no_longest_sitting() -> None:
    found = measure_exposure(0, 0, [], 0)
    assert (found.n_pairs, found.total_s, found.longest) == (0, 0, None)


@given(times_, st.integers(0, 10**7))
def test_today_is_part_of_the_whole(times: list[float], day_start: int) -> None:
    found = measure_exposure(0, 0, times, float(day_start))
    assert 0 <= found.today_s <= found.total_s
    assert found.n_today <= len(times)


def test_an_answer_is_too_fast_below_seven_hundred_words_a_minute() -> None:
    assert least_reading_s(35) == 3
    assert least_reading_s(0) == 0


@given(st.integers(0, 10_000))
def test_nobody_who_reads_twice_as_fast_as_most_is_too_fast(words: int) -> None:
    assert words * 60 / (2 * MEAN_WPM) >= least_reading_s(words)


@pytest.mark.parametrize(("text", "n"), [("", 0), ("one", 1), ("  two\nwords ", 2), ("سه واژه هست", 3)])
def test_words_are_parted_by_white_space(text: str, n: int) -> None:
    assert n_words(text) == n


@pytest.fixture
def in_chicago(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The server is where clocks are six hours behind UTC, and five from 8 March 2026 on."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/Chicago")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("now", "midnight"),
    [
        ("2026-03-02T03:00+00:00", "2026-03-01T06:00+00:00"),
        ("2026-03-02T06:00+00:00", "2026-03-02T06:00+00:00"),
        ("2026-03-08T18:00+00:00", "2026-03-08T06:00+00:00"),
        ("2026-03-09T18:00+00:00", "2026-03-09T05:00+00:00"),
    ],
)
@pytest.mark.usefixtures("in_chicago")
def test_a_day_begins_at_midnight_where_the_server_is_also_when_the_clocks_change(now: str, midnight: str) -> None:
    assert start_of_day(datetime.fromisoformat(now)) == datetime.fromisoformat(midnight)
