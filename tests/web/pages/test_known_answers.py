"""Pages on which people learn what is right or what others said: practice, qualification, and a discussion."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from steps.online import give
from steps.people.known import assign_with_known_pairs, right_answer
from steps.small import ANNOTATORS, dump

from fcpair.known_pairs import Practice
from fcpair.params import Annotate
from fcpair.records import Role
from web.conftest import Serve, Site, page_of, send, value_of

ITEMS = (
    {"row": "Cats are <b>dull</b>.", "column": "Mine juggles.", "answer": "appropriate", "explanation": "A case."},
    {"row": "Tea is vile.", "column": "You are vile.", "answer": "not_appropriate", "explanation": "It insults."},
)
LEAD_PAGE = "/lead/guidelines/practice"
TABLE = "row\tcolumn\tanswer\texplanation\nTea is vile.\tTry it.\tnot_sure\tIt says little, but is kind.\n"
YES, NO = "appropriate", "not_appropriate"


# Practice: known pairs before the first real one, each explained; nothing of it is stored


def test_the_first_visit_leads_to_the_practice_round_where_there_is_one(site: Site) -> None:
    site.study.add_people(["new", "newer"], Role.ANNOTATOR)
    for name, expected in {"new": "/annotate", "newer": "/practice"}.items():
        site.token(name, consent=False)
        browser = site.browser(name)
        reply = send(browser, "/welcome", consent="yes")
        assert (reply.status_code, reply.headers["location"]) == (303, expected)
        site.study.save_practice(items=ITEMS)


def test_a_known_pair_is_asked_then_explained_and_nothing_is_stored(site: Site) -> None:
    browser = site.browser("ana")
    site.study.save_practice(items=ITEMS)
    before, page = dump(site.study), browser.get("/practice")
    assert "Cats are &lt;b&gt;dull&lt;/b&gt;." in page.text
    assert "Mine juggles." in page.text
    keys = re.findall(r'name="answer" value="(\w+)" data-key="(\d)"', page.text)
    assert keys == [("not_appropriate", "1"), ("not_sure", "2"), ("appropriate", "3")]
    assert "A case." not in page.text
    assert "Pair 1 of 2, for practice" in page.text
    assert "no-store" in page.headers["cache-control"]
    sentences = {
        "appropriate": "The guidelines say the same: “appropriate”",
        "not_sure": "The guidelines say “appropriate”; you said “not sure”",
    }
    for answer, sentence in sentences.items():
        html = page_of(browser, f"/practice?n=1&answer={answer}")
        assert sentence in re.sub(r"</?bdi>", "", html)
        assert "A case." in html
        assert 'href="/practice?n=2" data-key="enter"' in html
    assert dump(site.study) == before
    html = page_of(site.browser("vera"), "/practice?n=3")
    assert "That was the last pair for practice. Nothing of it was kept." in html
    assert 'href="/validate"' in html
    assert 'href="/practice"' in html
    site.study.access.set_blurred(site.visitor("ana").id, True)
    assert "<details><summary" in page_of(browser, "/practice")
    assert '<summary data-key="b">' not in page_of(browser, "/practice?answer=appropriate")


def test_the_menu_offers_practice_to_those_who_judge_as_long_as_there_are_known_pairs(site: Site) -> None:
    link, ana = '<a href="/practice"', site.browser("ana")
    assert link not in page_of(ana, "/annotate")
    assert ana.get("/practice").headers["location"] == "/annotate"
    site.study.save_practice(items=ITEMS)
    assert link in page_of(ana, "/annotate")
    assert link in page_of(site.browser("vera"), "/validate")
    assert link not in page_of(site.browser("judy"), "/guidelines")
    assert site.browser("judy").get("/practice").status_code == 403
    site.study.save_practice(Practice())
    assert link not in page_of(ana, "/annotate")


def test_the_lead_pastes_a_table_looks_at_it_and_sets_it(site: Site, lea: TestClient) -> None:
    assert f'href="{LEAD_PAGE}"' in page_of(lea, "/lead/guidelines")
    looked = send(lea, LEAD_PAGE, table=TABLE, act="check")
    assert "1 pair, not set yet" in looked.text
    for table, sentence in {
        "one,two\n1,2\n": "no column `row`, `answer`, `explanation`",
        "row,column,answer,explanation\na,b,apropriate,c\n": "line 2: `answer` is 'apropriate'; did you mean",
        "row,answer,explanation\na,not_sure,\n": "line 2: `explanation` is empty",
        "row,column,answer,explanation\n": "no pair",
    }.items():
        reply = send(lea, LEAD_PAGE, table=table, act="save")
        assert reply.status_code == 422
        assert sentence in unescape(re.sub("</?code>", "`", reply.text))
    assert site.study.known_items() == []
    sent = {"act": "save", "seen": value_of(looked.text, "seen")}
    reply = send(lea, LEAD_PAGE, table=TABLE, **sent)
    assert reply.status_code == 303
    assert "practice" in page_of(lea, reply.headers["location"])
    (item,) = site.study.known_items()
    assert item == ("Tea is vile.", "Try it.", "not_sure", "It says little, but is kind.")
    run = site.study.log()[-1]
    assert (run.stage, run.by, run.counts) == ("practice", "lea", {"items": 1})
    again = send(lea, LEAD_PAGE, table="", **sent)
    assert again.status_code == 409
    assert "somebody else has set other pairs" in again.text
    assert len(site.study.known_items()) == 1


# Qualification


def qualify(site: Site, name: str, *, right: bool) -> None:
    desk, visitor = site.study.work_queue(Annotate()), site.visitor(name)
    for task in desk.tasks(visitor, 50):
        give(desk, visitor, right_answer(task.cell_id) if right else "not_sure", task.assignment_id)


@pytest.mark.parametrize("right", [True, False])
def test_who_has_answered_all_reads_what_was_right_and_why(site: Site, tmp_path: Path, right: bool) -> None:
    assign_with_known_pairs(site.study, tmp_path)
    browser = site.browser("ana")
    assert browser.get("/qualification").headers["location"] == "/annotate"
    qualify(site, "ana", right=right)
    html = re.sub(r"</?bdi>", "", page_of(browser, "/qualification"))
    assert f"You answered {2 if right else 0} of 2 as the guidelines say." in html
    assert html.count("The guidelines say so of pair") == 2
    assert ("decide how to go on" in html) is not right
    assert ('href="/annotate" data-key="enter"' in html) is right
    for address in ("/annotate", "/thanks"):
        assert browser.get(address).status_code == (200 if right else 303)


def test_who_is_below_the_pass_mark_waits_until_the_lead_lets_them_on(
    site: Site, tmp_path: Path, lea: TestClient
) -> None:
    assign_with_known_pairs(site.study, tmp_path)
    qualify(site, "ana", right=False)
    html = page_of(lea, "/lead/people")
    assert "below the pass mark: waits for you" in html
    assert '/lead/people/ana/let-on"' in html
    assert "waits for you" in page_of(lea, "/lead/people/ana/let-on")
    send(lea, "/lead/people/ana/let-on")
    assert "waits for you" not in page_of(lea, "/lead/people")
    for path in ("/lead/people?view=known_pairs", "/lead/people/ana"):
        assert "let on by a lead" in page_of(lea, path)
    assert site.browser("ana").get("/annotate").status_code == 200


def test_who_is_dismissed_reads_the_reason(site: Site, tmp_path: Path, lea: TestClient) -> None:
    assign_with_known_pairs(site.study, tmp_path)
    qualify(site, "ana", right=False)
    browser, token = site.browser("ana"), site.token("ana")
    reason = "Thank you. We need <people> who know these forums."
    send(lea, "/lead/people/ana/dismiss", reason=reason)
    reply = site.stranger().post("/join", data={"token": token})
    assert reply.status_code == 403
    assert reason in unescape(reply.text)
    assert "<people>" not in reply.text
    assert site.stranger().post("/join", data={"token": "nonsense"}).text.count("wrote to you") == 0
    page = browser.get("/annotate")
    assert (page.status_code, reason in unescape(page.text)) == (403, True)


def test_consent_says_that_there_are_control_pairs(site: Site, tmp_path: Path) -> None:
    note = "some whose answer is known"
    site.token("ana", consent=False)
    browser = site.browser("ana")
    assert note not in page_of(browser, "/welcome")
    assign_with_known_pairs(site.study, tmp_path)
    html = page_of(browser, "/welcome")
    assert note in html
    send(browser, "/welcome", consent="yes", shown=value_of(html, "shown"))
    consents = {terms["name"]: terms["consented_to"] for terms in site.study.access.terms()}
    assert note in consents["ana"]


# A discussion: told to nobody early, and to nobody who has not answered the pair

READ_BY_WORKERS = (
    *("/annotate", "/discussion", "/thanks"),
    *("/api/next?n=50", "/api/answers?n=50", "/api/progress", "/api/me"),
)


@pytest.fixture
def calibrating(serve: Serve) -> Site:
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


def main_of(site: Site, name: str) -> str:
    html = site.browser(name).get("/discussion").text
    return html[html.index("<main") :]


def has_link(site: Site, name: str) -> bool:
    html = site.browser(name).get("/settings").text
    return '<a href="/discussion"' in html[html.index("<nav") : html.index("</nav>")]


def test_only_who_answered_reads_what_others_said_while_it_is_open_as_counts_and_notes(calibrating: Site) -> None:
    for name in ANNOTATORS:
        others = {other for other in ANNOTATORS if other != name}
        assert not any(f"secret of {other}" in told(calibrating, name) for other in others)
    assert "There is nothing to discuss now." in page_of(calibrating.browser("cleo"), "/discussion")
    assert not has_link(calibrating, "ana")
    calibration = calibrating.study.grid().calibration
    calibration.open_discussion(early=True)
    assert "secret of" not in told(calibrating, "cleo")
    assert "secret of ben" in told(calibrating, "ana")
    main = main_of(calibrating, "ana")
    assert main.count('<article aria-labelledby="discussed-') == 6
    assert main.count("<bdi>not appropriate</bdi>: 1") == 6
    assert main.count("(yours was this)") == 6
    assert "Answer again: 6 left" in main
    assert "cleo" not in main.replace("secret of", "")
    answer_all(calibrating, "ben", YES)
    assert main_of(calibrating, "ana") == main  # second answers are told to nobody
    assert has_link(calibrating, "ana")
    assert not has_link(calibrating, "cleo")
    calibration.close(early=True)
    assert not has_link(calibrating, "ana")
