"""The first look: the answers over the days as points of a picture, and who is at work."""

from __future__ import annotations

from datetime import UTC, date, datetime

from steps.online import at_desk, give

from fcpair.web.lead.glance import HEIGHT, WIDTH, draw_burn_up
from web.conftest import Site


def test_each_day_with_answers_is_a_step_up_to_the_line_of_all() -> None:
    burn_up = draw_burn_up([("2026-03-02", 10), ("2026-03-05", 30)], 80, None)
    assert burn_up is not None
    assert burn_up.rows == (("2026-03-02", 10, 10), ("2026-03-05", 30, 40))
    points = [tuple(map(float, one.split(","))) for one in burn_up.line.split()]
    quarter = WIDTH / 4
    assert points == [
        (0, HEIGHT),
        (0, HEIGHT),
        (quarter, HEIGHT * 7 / 8),
        (3 * quarter, HEIGHT * 7 / 8),
        (WIDTH, HEIGHT / 2),
    ]
    assert burn_up.outlook == ""


def test_the_outlook_goes_on_to_the_estimated_end() -> None:
    end_at = datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp()
    burn_up = draw_burn_up([("2026-03-02", 10)], 20, end_at)
    assert burn_up is not None
    assert burn_up.end == date(2026, 3, 4)
    assert burn_up.outlook.split()[-1] == f"{WIDTH:.1f},0.0"
    assert burn_up.outlook.split()[0] == burn_up.line.split()[-1]


def test_there_is_no_picture_of_nothing_and_no_outlook_when_all_is_answered() -> None:
    assert draw_burn_up([], 20, None) is None
    done = draw_burn_up([("2026-03-02", 20)], 20, datetime(2026, 3, 9, tzinfo=UTC).timestamp())
    assert done is not None
    assert (done.outlook, done.end) == ("", None)


def test_who_has_just_answered_is_active(site: Site) -> None:
    give(*at_desk(site.study, "ana"), "appropriate")
    page = site.browser("lea").get("/lead").text
    assert "ana" in page[page.index("Active now") :].partition("</div>")[0]
