"""Qualifying on known pairs, being let on or dismissed by the lead, and control pairs that nobody can tell."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from steps.online import give
from steps.people.known import assign_with_known_pairs, right_answer

from fcpair.params import Annotate
from fcpair.steps.base.context import load_opaque_ids
from fcpair.store.assignment import assignments, rounds
from web.conftest import Site, csrf_of


def answer_all(site: Site, name: str, *, right: bool) -> None:
    """Answer a qualification to the end."""
    desk, visitor = site.study.work_queue(Annotate()), site.visitor(name)
    for task in desk.tasks(visitor, 50):
        give(desk, visitor, right_answer(task.cell_id) if right else "not_sure", task.assignment_id)


@pytest.mark.parametrize("right", [True, False])
def test_who_has_answered_all_reads_what_was_right_and_why(site: Site, tmp_path: Path, right: bool) -> None:
    assign_with_known_pairs(site.study, tmp_path)
    assert site.browser("ana").get("/qualification").headers["location"] == "/annotate"
    answer_all(site, "ana", right=right)
    browser = site.browser("ana")
    page = unescape(re.sub(r"</?bdi>", "", browser.get("/qualification").text))
    assert f"You answered {2 if right else 0} of 2 as the guidelines say." in page
    assert page.count("The guidelines say so of pair") == 2
    assert ("decide how to go on" in page) is not right
    assert ('href="/annotate" data-key="enter"' in page) is right
    for address in ("/annotate", "/thanks"):
        assert browser.get(address).status_code == (200 if right else 303)


def test_the_api_takes_no_answer_of_who_has_still_to_qualify(site: Site, tmp_path: Path) -> None:
    """Whoever knows the numbers of their shard sends answers to all of it, control pairs among it: each is refused."""
    assign_with_known_pairs(site.study, tmp_path)
    machine, person_id = site.machine("ana"), site.visitor("ana").id
    with site.study._store.read() as tx:
        shard, numbers = rounds.with_known_pairs(tx, rounds.primary(tx)), load_opaque_ids(tx)
        rows = assignments.assignments(tx, shard)
        ids = list(map(numbers.encrypt_assignment, rows["id"][rows["person_id"] == person_id].tolist()))

    def replies() -> set[tuple[int, str]]:
        sent = [{"request_id": site.new_request(), "assignment_id": one, "answer": "appropriate"} for one in ids]
        got = [machine.post("/api/judgements", json=one) for one in sent]
        return {(one.status_code, one.json().get("detail", "")) for one in got}

    for right in (None, False):
        ((status, error),) = replies()
        assert (status, error.startswith("you have not qualified yet")) == (403, True)
        if right is None:
            answer_all(site, "ana", right=False)
    assert site.study.grid().labels().empty
    site.study.grid().desk.let_on("ana")
    assert replies() == {(200, "")}


def test_the_lead_sees_who_waits_and_lets_them_begin(site: Site, tmp_path: Path) -> None:
    assign_with_known_pairs(site.study, tmp_path)
    answer_all(site, "ana", right=False)
    lead = site.browser("lea")
    page = lead.get("/lead/people").text
    assert "below the pass mark: waits for you" in page
    assert '/lead/people/ana/let-on"' in page
    assert "waits for you" in lead.get("/lead/people/ana/let-on").text
    lead.post("/lead/people/ana/let-on", data={"csrf": csrf_of(lead)})
    assert "let on by a lead" in lead.get("/lead/people").text
    assert site.browser("ana").get("/annotate").status_code == 200


def test_who_is_dismissed_reads_the_reason(site: Site, tmp_path: Path) -> None:
    assign_with_known_pairs(site.study, tmp_path)
    answer_all(site, "ana", right=False)
    browser, token = site.browser("ana"), site.token("ana")
    lead = site.browser("lea")
    reason = "Thank you. We need <people> who know these forums."
    lead.post(
        "/lead/people/ana/dismiss",
        data={"csrf": csrf_of(lead), "reason": reason},
    )
    reply = site.stranger().post("/join", data={"token": token})
    assert reply.status_code == 403
    assert reason in unescape(reply.text)
    assert "<people>" not in reply.text
    assert site.study.access.by_token(token) is None
    assert "ana" not in site.study.access.invited()
    assert site.stranger().post("/join", data={"token": "nonsense"}).text.count("wrote to you") == 0
    page = browser.get("/annotate")
    assert (page.status_code, reason in unescape(page.text)) == (403, True)


def test_consent_says_that_there_are_control_pairs(site: Site, tmp_path: Path) -> None:
    note = "some whose answer is known"
    site.token("ana", consent=False)
    assert note not in site.browser("ana").get("/welcome").text
    assign_with_known_pairs(site.study, tmp_path)
    browser = site.browser("ana")
    page = browser.get("/welcome").text
    assert note in page
    shown = re.search(r'name="shown" value="(\w+)"', page)
    assert shown
    browser.post("/welcome", data={"csrf": csrf_of(browser), "consent": "yes", "shown": shown[1]})
    consents = {one["name"]: one["consented_to"] for one in site.study.access.terms()}
    assert note in consents["ana"]
