"""The chart of answers over the days: where its points are, and what its axes name."""

from __future__ import annotations

from datetime import UTC, date, datetime

from fcpair.report.figures.days import chart_days


def test_each_day_with_answers_is_a_step_up_to_the_line_of_all() -> None:
    chart = chart_days([("2026-03-02", 10), ("2026-03-05", 30)], 80, None)
    assert chart is not None
    assert chart.rows == ((date(2026, 3, 2), 10, 10), (date(2026, 3, 5), 30, 40))
    low, high = chart.down(10), chart.down(40)
    assert chart.line == [(0, 100), (0, 100), (25, low), (75, low), (100, high)]
    assert 0 < chart.down(80) < high < low < 100
    assert chart.outlook == []
    assert chart.counts == [0, 50]
    assert chart.days[-1] == date(2026, 3, 5)


def test_the_outlook_goes_on_to_the_estimated_end_while_something_is_open() -> None:
    chart = chart_days([("2026-03-02", 10)], 20, datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp())
    assert chart is not None
    assert chart.end == date(2026, 3, 4)
    assert chart.outlook == [chart.line[-1], (100, chart.down(20))]
    assert chart_days([], 20, None) is None
    today = chart_days([("2026-03-02", 10)], 20, datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp())
    assert today
    assert today.outlook == []
    done = chart_days([("2026-03-02", 20)], 20, datetime(2026, 3, 9, tzinfo=UTC).timestamp())
    assert done is not None
    assert (done.outlook, done.end) == ([], None)


def test_the_axes_name_a_few_round_values_however_long_it_takes() -> None:
    for n_days, wanted in ((1, 1), (2, 7), (45, 504), (400, 186_400)):
        first = date(2026, 1, 1).toordinal()
        chart = chart_days([(date.fromordinal(first + at).isoformat(), 1) for at in range(n_days)], wanted, None)
        assert chart is not None
        assert 2 <= len(chart.days) <= 7
        assert 2 <= len(chart.counts) <= 5
        assert chart.counts == sorted(set(chart.counts))
