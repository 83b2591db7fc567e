"""The words of the pages: each role reads its own noun for a unit of its work, and no other, on every page."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from steps.plans import RATED, STATEMENTS

from fcpair.grid import AdjudicationQueue, DecisionRequest
from fcpair.params import Annotate
from fcpair.plans import GridPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study
from fcpair.web.server.static_files import FOLDER
from fcpair.words import NOUNS, Noun
from web.conftest import Serve, Site

PAGES = ("/", "/annotate", "/validate", "/welcome", "/guidelines", "/settings", "/thanks", "/practice")
DECIDING_PAGES = ("/adjudicate", "/adjudicate/row", "/adjudicate/decided")
GENERAL = {"text", "question"}  # also said of what people read and are asked, whatever a unit of it is called
DESK_SCRIPTS = ("desk.js", "view.js", "form.js", "questions.js", "pause.js", "goal.js", "keys.js", "make.js")
DECIDING_SCRIPTS = ("adjudicate.js", "adjudicate-row.js", "decisions.js", "case-sheet.js")
TERMS = Annotate(opt_out="hs_topic", daily_limit=1, thanks="Thank you.")
PEOPLE = {
    **{"ana": Role.ANNOTATOR, "vera": Role.VALIDATOR, "judy": Role.ADJUDICATOR},
    **{"wren": Role.WRITER, "rae": Role.RATER, "rob": Role.RESPONDENT},
}


@pytest.fixture
def site(request: pytest.FixtureRequest, files: dict[str, Path], forms_study: Path, tmp_path: Path) -> Iterator[Site]:
    """A study in which the person that the test is about has something to do."""
    stage = {"ana": "dealt", "vera": "checking", "judy": "checking"}.get(request.node.callspec.params["name"])
    path = shutil.copy(files[stage] if stage else forms_study, tmp_path / "study.db")
    site = Site(Study(path), TERMS)
    yield site
    site.close()


def spoken(page: str) -> str:
    """The words of a page, as people read them or have them read out; without scripts and addresses."""
    labels = " ".join(re.findall(r'(?:aria-label|title|placeholder)="([^"]*)"', page))
    labels += " ".join(re.findall(r"data-phrases='([^']*)'", page))
    return unescape(re.sub(r"<[^>]*>", " ", page) + " " + labels)


def other_nouns(words: str, noun: str) -> set[str]:
    """The nouns that the words have beside the one that they should."""
    others = [Noun.of(one) for one in NOUNS if one != noun and one not in GENERAL]
    return {word for one in others for word in one if re.search(rf"\b{word}\b", words, re.IGNORECASE)}


@pytest.mark.parametrize("name", PEOPLE)
def test_every_page_of_a_role_says_its_noun_and_no_other(site: Site, name: str) -> None:
    browser = site.browser(name)
    for noun in NOUNS:
        site.study.save_words(nouns={PEOPLE[name].value: noun}, sides={"hate speech": "Post"})
        seen = 0
        for address in PAGES:
            answer = browser.get(address)
            if answer.status_code == 200:
                assert other_nouns(spoken(answer.text), noun) == set(), address
                seen += 1
        assert seen >= 4
        if name != "judy":
            many = Noun.of(noun).many
            desk = browser.get("/validate" if name == "vera" else "/annotate").text
            assert f">{many.capitalize()}</a>" in desk
            phrases = json.loads(re.search(r"data-phrases='([^']*)'", desk)[1])  # type: ignore[index]
            assert (phrases["noun"], phrases["nouns"], phrases["this_noun"]) == (noun, many, f"this {noun}")
            assert f"The first {noun} is on its way." in desk


def test_every_page_of_a_decision_says_the_adjudicator_s_noun(serve: Serve) -> None:
    site = serve("labelled")
    queue, judy = AdjudicationQueue(site.study.grid()), site.visitor("judy").id
    case = queue.next(judy)
    assert case is not None
    queue.decide(judy, DecisionRequest(site.new_request(), case.cell_id, "appropriate"))
    browser = site.browser("judy")
    for noun in NOUNS:
        site.study.save_words(nouns={"adjudicator": noun}, sides={"hate speech": "Post"})
        for address in (*DECIDING_PAGES, f"/adjudicate/{case.cell_id}", f"/adjudicate/row?pair={case.cell_id}"):
            answer = browser.get(address, follow_redirects=True)
            assert answer.status_code == 200
            assert other_nouns(spoken(answer.text), noun) == set(), address
        assert f"{noun.capitalize()} {case.cell_id}" in browser.get(f"/adjudicate/{case.cell_id}").text
    ana = site.browser("ana")  # pages without a person say none
    for address in ("/offline", "/offline/form", "/offline/leave"):
        assert other_nouns(spoken(ana.get(address).text), "") == set()


@pytest.mark.parametrize(("name", "noun"), [("ana", "reply"), ("wren", "case"), ("rob", "statement")])
def test_refusals_and_limits_say_the_noun_too(site: Site, name: str, noun: str) -> None:
    site.study.save_words(nouns={PEOPLE[name].value: noun})
    machine = site.machine(name)
    body = {"request_id": site.new_request(), "assignment_id": 2**40, "answer": "skip"}
    assert machine.post("/api/judgements", json=body).json()["detail"].startswith(f"this {noun} is not assigned to you")
    (task,) = machine.get("/api/next").json()["tasks"]
    machine.post("/api/judgements", json={**body, "assignment_id": task["assignment_id"]})
    limit = machine.get("/api/progress").json()["limit"]
    assert limit.startswith(f"You have read 1 {noun} today, as many as one person may read in a day.")
    assert limit in spoken(site.browser(name).get("/thanks").text)


def test_the_sentences_of_the_scripts_say_no_noun() -> None:
    for script in (*DESK_SCRIPTS, *DECIDING_SCRIPTS):
        source = re.sub(r"(^|\s)//.*", "", (FOLDER / script).read_text("utf-8"))
        sentences = [text for text in re.findall(r'"[^"\n]*"|`[^`]*`', source) if re.search(r"\w [a-z]", text)]
        nouns = {text: other_nouns(re.sub(r"\$\{[^}]*\}", "", text), "") for text in sentences}
        assert [text for text, others in nouns.items() if others] == [], script


def test_pages_and_api_show_wordings_beside_the_names(tmp_path: Path) -> None:
    plan = GridPlan("rate", SidePlan(names=STATEMENTS), SidePlan(names=("good",)), RATED.rounds)
    study = Study.create(tmp_path / "study.db", grids=[plan])
    study.add_people(["rae", "rik"], Role.RATER)
    study.grid("rate").pair()
    study.grid("rate").assign_round()
    study.save_words(
        language="fa", questions={"rate": {"text": {"en": "How good?", "fa": "چه‌قدر خوب؟"}}}, sides={"row": "Reply"}
    )
    site = Site(study, Annotate())
    (asked,) = site.machine("rae").get("/api/me").json()["rounds"]
    assert (asked["form"][0]["name"], asked["form"][0]["text"]) == ("rate", "چه‌قدر خوب؟")
    assert (asked["row_text"], asked["single_column"]) == ("Reply", True)
    assert "هر «\u2068Reply\u2069» را تا وقتی نخواسته‌ام پنهان کن" in site.browser("rae").get("/settings").text
    site.close()
