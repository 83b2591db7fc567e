"""The calibration on the lead's pages: each act does what the method does, says by whom, and is refused in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fcpair.params import Simulate
from fcpair.records import Role
from web.conftest import Site, csrf_of

PATH = "/lead/calibration"
SIMULATED = Simulate(accuracy=0.5, skips=0, seed=1)


@pytest.fixture
def site(serve: Callable[..., Site]) -> Site:
    site = serve("paired")
    site.study.add_people(["ben", "cleo"], Role.ANNOTATOR)
    return site


def test_a_calibration_is_begun_discussed_and_closed_on_the_page(site: Site) -> None:
    lea, grid = site.browser("lea"), site.study.grid()

    def post(act: str, **form: str) -> str:
        token = csrf_of(lea)
        answer = lea.post(f"{PATH}/{act}", data={"csrf": token, **form})
        assert answer.status_code == 303, answer.text
        return lea.get(answer.headers["location"]).text

    assert "Start the calibration" in lea.get("/lead/calibration").text
    page = post("start", pairs="6", counts="second")
    assert "Open the discussion" in page
    assert "Go on without 18 answers that are still open" in page
    grid.simulate(SIMULATED)
    page = post("discuss")
    assert "Close the calibration" in page
    grid.simulate(SIMULATED)
    page = post("close")
    assert "Agreement before and after the discussion" in page
    assert [(run.stage, run.by) for run in site.study.log() if run.by] == [
        ("calibration", "lea"),
        ("discussion", "lea"),
        ("close calibration", "lea"),
    ]


@pytest.mark.parametrize(
    ("act", "form", "status", "words"),
    [
        ("start", {"pairs": "many", "counts": "neither"}, 422, "“How many pairs”: `many` is not a number"),
        ("start", {"pairs": "25", "counts": "neither"}, 422, "25 pairs cannot be drawn"),
        ("start", {"pairs": "5", "counts": "both"}, 422, "expected one of neither, first, second"),
        ("discuss", {}, 409, "there is no calibration"),
        ("close", {}, 409, "there is no calibration"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    site: Site, act: str, form: dict[str, str], status: int, words: str
) -> None:
    lea, before = site.browser("lea"), len(site.study.log())
    answer = lea.post(f"{PATH}/{act}", data={"csrf": csrf_of(lea), **form})
    assert answer.status_code == status
    assert words in answer.text
    assert len(site.study.log()) == before


def test_the_first_page_leads_to_what_is_next_in_the_calibration(site: Site) -> None:
    lea, grid = site.browser("lea"), site.study.grid()
    grid.calibration.start(pairs=4, seed=2)
    assert "12 answers are open in round “calibrate”." in lea.get("/lead").text
    grid.simulate(SIMULATED)
    assert "Everybody has answered the calibration." in lea.get("/lead").text
    grid.calibration.open_discussion()
    grid.simulate(SIMULATED)
    assert "Everybody has answered again." in lea.get("/lead").text
