"""Pace, sittings, ends and reading speed, by hand and for all inputs."""

from __future__ import annotations

import itertools
import time
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


@pytest.mark.parametrize(
    ("intervals", "pace"),
    [
        ([4, 12, 6, 100, 9], 9),  # the median
        ([4, 12, 6, 100, 9, 8], 8.5),
        ([4, 6, 8, 10], None),  # four tell none
        ([4, 6, 601, 8, 10, 12], 8),  # a pause is left out
        ([10, 600, 600, 600, 10], 600),  # ten minutes are none
        ([100] * 30 + [7] * 50, 7),  # only the newest fifty count
        ([7] * 30 + [100] * 26, 100),
        ([7] * 30 + [100] * 25, (7 + 100) / 2),
        ([15] * 5, 15),
        ([15] * 5 + [540], 15),  # one long gap does not turn 25 minutes for 100 pairs into three hours
    ],
)
def test_a_pace_is_the_median_interval(intervals: list[float], pace: float | None) -> None:
    assert pace_s(at_intervals(*intervals)) == pace
    assert left_s(100, pace) == (None if pace is None else 100 * pace)
    assert left_s(0, pace) == 0


ON_ROWS = [(0.0, None), (10.0, None), (40.0, "a"), (40.1, "a"), (43.0, "a"), (55.0, "b"), (61.0, "b"), (62.0, None)]
ON_LISTS = [(40.0, None), *((at, LISTED) for at in (100.0, 100.5, 101.0, 141.0, 142.0)), (200.0, None)]


def test_answers_on_a_row_or_a_list_share_the_time_since_the_one_before() -> None:
    assert spread_batch_times(ON_ROWS) == pytest.approx([0, 10, 21, 32, 43, 52, 61, 62])
    assert spread_batch_times(ON_LISTS) == pytest.approx([40, 40 + 61 / 3, 40 + 122 / 3, 101, 121.5, 142, 200])
    assert spread_batch_times([(5.0, "a"), (5.1, "a"), (9.1, "b")]) == [5.1, 9.1]
    assert spread_batch_times([]) == []


@pytest.mark.parametrize(
    ("ages_s", "rate"),
    [
        ([20 * DAY_S, *(hours * 3600 for hours in range(35, 0, -1))], 5),  # of the last seven days
        ([2 * DAY_S, DAY_S, 60, 30], 2),  # over the two days that the study is old
        ([3600, 1800, 60], 3),  # an hour's work is not a whole day's
        ([8 * DAY_S], 0),
        ([], 0),
    ],
)
def test_an_end_is_the_open_pairs_by_the_daily_rate_of_the_last_seven_days(ages_s: list[float], rate: float) -> None:
    assert answers_per_day([NOW - age for age in ages_s], NOW) == rate
    assert end_time(30, rate, NOW) == (NOW + 30 / rate * DAY_S if rate else None)
    assert end_time(0, rate, NOW) == NOW


def test_an_answer_changed_does_not_bring_the_end_nearer() -> None:
    times = [NOW - 60 + 10 * i for i in range(6)]
    one = estimate_time(12, times, times[:3], NOW)
    assert (one.pace_s, one.left_s, one.per_day, one.end_at) == (10, 120, 3, NOW + 4 * DAY_S)


def test_the_last_of_several_people_decides_and_one_without_a_pace_leaves_it_open() -> None:
    quick, slow, done = (
        estimate_time(n, [NOW - s * 6 + s * i for i in range(6)], [NOW - 60] * 6, NOW)
        for n, s in ((6, 5.0), (12, 9.0), (0, 9.0))
    )
    assert (last_end([quick, slow, done]), longest_left([quick, slow, done])) == (NOW + 2 * DAY_S, 108)
    away = estimate_time(1, [], [], NOW)
    assert (last_end([quick, away]), longest_left([quick, away])) == (None, None)
    assert last_end([estimate_time(0, [], [], NOW)]) is None


def test_a_sitting_ends_with_a_pause_and_exposure_parts_today_from_before() -> None:
    found = measure_exposure(3, 2, [0, 100, 5000, 5300, 5400], day_start=5200)
    assert (found.n_pairs, found.n_hs, found.n_today, found.today_s, found.total_s) == (3, 2, 2, 200, 500)
    assert found.longest is not None
    assert (found.longest.start, found.longest.n) == (5000, 3)
    nothing = measure_exposure(0, 0, [], 0)
    assert (nothing.n_pairs, nothing.total_s, nothing.longest) == (0, 0, None)
    sittings = split_sittings([0, 10, 610, 1211, 1220])
    assert [(one.start, one.end, one.n, one.length_s) for one in sittings] == [(0, 610, 3, 610), (1211, 1220, 2, 9)]


@given(times_, st.integers(0, 10**7), st.integers(-(10**6), 10**6))
def test_what_holds_for_all_times(times: list[float], day_start: int, shift: int) -> None:
    """A pace is that of any day, sittings hold every answer once and lie apart, and today is part of the whole."""
    assert spread_batch_times([(at, None) for at in times]) == times
    pace = pace_s(times)
    assert pace is None or 0 <= pace <= PAUSE_S
    assert pace_s([at + shift for at in times]) == pace
    sittings = split_sittings(times)
    assert sum(sitting.n for sitting in sittings) == len(times)
    assert all(later.start - earlier.end > PAUSE_S for earlier, later in itertools.pairwise(sittings))
    exposure = measure_exposure(0, 0, times, float(day_start))
    assert 0 <= exposure.today_s <= exposure.total_s
    assert exposure.n_today <= len(times)


@given(st.integers(0, 10_000))
def test_an_answer_is_too_fast_below_seven_hundred_words_a_minute_and_twice_as_fast_as_most_is_not(words: int) -> None:
    assert (least_reading_s(35), least_reading_s(0)) == (3, 0)
    assert words * 60 / (2 * MEAN_WPM) >= least_reading_s(words)
    texts = ("", "one", "  two\nwords ", "سه واژه هست")
    assert [n_words(text) for text in texts] == [0, 1, 2, 3]


def test_a_day_begins_at_midnight_where_the_server_is_also_when_the_clocks_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In Chicago, clocks are six hours behind UTC, and five from 8 March 2026 on."""
    midnights = {
        "2026-03-02T03:00+00:00": "2026-03-01T06:00+00:00",
        "2026-03-02T06:00+00:00": "2026-03-02T06:00+00:00",
        "2026-03-08T18:00+00:00": "2026-03-08T06:00+00:00",
        "2026-03-09T18:00+00:00": "2026-03-09T05:00+00:00",
    }
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/Chicago")
        time.tzset()
        starts = {now: start_of_day(datetime.fromisoformat(now)) for now in midnights}
    time.tzset()
    assert starts == {now: datetime.fromisoformat(midnight) for now, midnight in midnights.items()}
