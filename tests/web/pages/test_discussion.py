"""What others answered in a calibration: told to nobody early, and to nobody who has not answered the pair."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from steps.small import ANNOTATORS

from fcpair.records import Role
from web.conftest import Site

YES, NO = "appropriate", "not_appropriate"
READ_BY_WORKERS = (
    "/annotate",
    "/discussion",
    "/api/next?n=50",
    "/api/answers?n=50",
    "/api/progress",
    "/api/me",
    "/thanks",
)


@pytest.fixture
def site(serve: Callable[..., Site]) -> Site:
    """Ana, ben and cleo calibrate themselves on all pairs; ana and ben disagree on each, each with a note."""
    site = serve("paired")
    site.study.add_people([name for name in ANNOTATORS if name != "ana"], Role.ANNOTATOR)
    site.study.grid().calibration.start(pairs=6, seed=1)
    for name, answer in {"ana": YES, "ben": NO}.items():
        answer_all(site, name, answer)
    return site


def answer_all(site: Site, name: str, answer: str) -> None:
    machine = site.machine(name)
    for at, task in enumerate(machine.get("/api/next?n=50").json()["tasks"]):
        sent = {"request_id": f"{name}-{task['round']}-{at}".replace(" ", "-"), "assignment_id": task["assignment_id"]}
        note = f"secret of {name}"
        assert machine.post("/api/judgements", json={**sent, "answer": answer, "note": note}).status_code == 200


def told(site: Site, name: str) -> str:
    """All that somebody who answers is told by any address."""
    browser, machine = site.browser(name), site.machine(name)
    return "\n".join((machine if path.startswith("/api/") else browser).get(path).text for path in READ_BY_WORKERS)


def test_nobody_reads_what_others_said_before_the_discussion_is_open(site: Site) -> None:
    for name in ANNOTATORS:
        others = {one for one in ANNOTATORS if one != name}
        assert not any(f"secret of {one}" in told(site, name) for one in others)
    assert "There is nothing to discuss now." in site.browser("cleo").get("/discussion").text


def test_what_somebody_is_told_before_is_the_same_whatever_others_answer(
    serve: Callable[..., Site], site: Site
) -> None:
    before = site.machine("cleo").get("/api/next?n=50").json()
    answer_all(site, "ben", NO)
    assert site.machine("cleo").get("/api/next?n=50").json() == before


def test_who_has_not_answered_sees_nothing_afterwards_either(site: Site) -> None:
    site.study.grid().calibration.open_discussion(early=True)
    assert "secret of" not in told(site, "cleo")
    assert "secret of ben" in told(site, "ana")


def test_the_page_has_counts_and_notes_but_no_names(site: Site) -> None:
    site.study.grid().calibration.open_discussion(early=True)
    main = main_of(site, "ana")
    assert main.count('<article aria-labelledby="discussed-') == 6
    assert main.count("<bdi>not appropriate</bdi>: 1") == 6
    assert main.count("(yours was this)") == 6
    assert "Answer again: 6 left" in main
    assert "cleo" not in main.replace("secret of", "")


def test_it_is_linked_from_every_page_while_it_lasts(site: Site) -> None:
    link = '<a href="/discussion"'
    assert link not in nav(site, "ana")
    site.study.grid().calibration.open_discussion(early=True)
    assert link in nav(site, "ana")
    assert link not in nav(site, "cleo")
    site.study.grid().calibration.close(early=True)
    assert link not in nav(site, "ana")


def nav(site: Site, name: str) -> str:
    page = site.browser(name).get("/settings").text
    return page[page.index("<nav") : page.index("</nav>")]


def test_second_answers_are_told_to_nobody(site: Site) -> None:
    site.study.grid().calibration.open_discussion(early=True)
    before = main_of(site, "ana")
    answer_all(site, "ben", YES)
    assert main_of(site, "ana") == before


def main_of(site: Site, name: str) -> str:
    page = site.browser(name).get("/discussion").text
    return page[page.index("<main") :]


def test_somebody_who_has_not_consented_is_led_to_the_terms(serve: Callable[..., Site]) -> None:
    site = serve("paired")
    site.token("ana", consent=False)
    answer = site.browser("ana").get("/discussion")
    assert (answer.status_code, answer.headers["location"]) == (303, "/welcome")
