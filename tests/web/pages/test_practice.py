"""The practice round: known pairs before the first real one, each explained; nothing of it is stored."""

from __future__ import annotations

import re
from html import unescape

import pytest
from steps.small import dump

from fcpair.known_pairs import Practice
from fcpair.records import Role
from web.conftest import Site, csrf_of

ITEMS = (
    {"row": "Cats are <b>dull</b>.", "column": "Mine juggles.", "answer": "appropriate", "explanation": "A case."},
    {"row": "Tea is vile.", "column": "You are vile.", "answer": "not_appropriate", "explanation": "It insults."},
)
LEAD_PAGE = "/lead/guidelines/practice"
TABLE = "row\tcolumn\tanswer\texplanation\nTea is vile.\tTry it.\tnot_sure\tIt says little, but is kind.\n"


def practise(site: Site) -> None:
    site.study.save_practice(items=ITEMS)


def test_the_first_visit_leads_to_the_practice_round_where_there_is_one(site: Site) -> None:
    site.study.add_people(["new", "newer"], Role.ANNOTATOR)
    for name, expected in {"new": "/annotate", "newer": "/practice"}.items():
        site.token(name, consent=False)
        browser = site.browser(name)
        token = re.search(r'name="csrf" value="(\w+)"', browser.get("/welcome").text)
        assert token
        reply = browser.post("/welcome", data={"csrf": token[1], "consent": "yes"})
        assert (reply.status_code, reply.headers["location"]) == (303, expected)
        practise(site)


def test_a_known_pair_is_asked_with_the_labels_of_the_study_and_their_keys(site: Site) -> None:
    practise(site)
    page = site.browser("ana").get("/practice").text
    assert "Cats are &lt;b&gt;dull&lt;/b&gt;." in page
    assert "Mine juggles." in page
    keys = re.findall(r'name="answer" value="(\w+)" data-key="(\d)"', page)
    assert keys == [("not_appropriate", "1"), ("not_sure", "2"), ("appropriate", "3")]
    assert "A case." not in page
    assert "Pair 1 of 2, for practice" in page
    assert "no-store" in site.browser("ana").get("/practice").headers["cache-control"]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("appropriate", "The guidelines say the same: “appropriate”"),
        ("not_sure", "The guidelines say “appropriate”; you said “not sure”"),
    ],
)
def test_each_answer_is_explained_and_nothing_is_stored(site: Site, answer: str, sentence: str) -> None:
    practise(site)
    browser, before = site.browser("ana"), dump(site.study)
    page = browser.get(f"/practice?n=1&answer={answer}").text
    assert sentence in unescape(re.sub(r"</?bdi>", "", page))
    assert "A case." in page
    assert 'href="/practice?n=2" data-key="enter"' in page
    assert dump(site.study) == before


def test_after_the_last_known_pair_come_the_real_ones(site: Site) -> None:
    practise(site)
    page = site.browser("vera").get("/practice?n=3").text
    assert "That was the last pair for practice. Nothing of it was kept." in page
    assert 'href="/validate"' in page
    assert 'href="/practice"' in page


def test_the_menu_offers_it_to_those_who_judge_as_long_as_there_are_known_pairs(site: Site) -> None:
    link = '<a href="/practice"'
    assert link not in site.browser("ana").get("/annotate").text
    assert site.browser("ana").get("/practice").headers["location"] == "/annotate"
    practise(site)
    assert link in site.browser("ana").get("/annotate").text
    assert link in site.browser("vera").get("/validate").text
    assert link not in site.browser("judy").get("/guidelines").text
    assert site.browser("judy").get("/practice").status_code == 403
    site.study.save_practice(Practice())
    assert link not in site.browser("ana").get("/annotate").text


def test_who_has_the_row_hidden_opens_it(site: Site) -> None:
    practise(site)
    site.study.access.set_blurred(site.visitor("ana").id, True)
    browser = site.browser("ana")
    assert "<details><summary" in browser.get("/practice").text
    assert '<summary data-key="b">' not in browser.get("/practice?answer=appropriate").text


def test_the_lead_pastes_a_table_looks_at_it_and_sets_it(site: Site) -> None:
    browser = site.browser("lea")
    assert f'href="{LEAD_PAGE}"' in browser.get("/lead/guidelines").text
    looked = browser.post(LEAD_PAGE, data={"csrf": csrf_of(browser), "table": TABLE, "act": "check"})
    assert "1 pair, not set yet" in looked.text
    assert site.study.known_items() == []
    seen = re.search(r'name="seen" value="(\w+)"', looked.text)
    assert seen
    sent = {"csrf": csrf_of(browser), "table": TABLE, "act": "save", "seen": seen[1]}
    reply = browser.post(LEAD_PAGE, data=sent)
    assert reply.status_code == 303
    assert "practice" in browser.get(reply.headers["location"]).text
    (item,) = site.study.known_items()
    assert item == ("Tea is vile.", "Try it.", "not_sure", "It says little, but is kind.")
    run = site.study.log()[-1]
    assert (run.stage, run.by, run.counts) == ("practice", "lea", {"items": 1})
    again = browser.post(LEAD_PAGE, data={**sent, "table": ""})
    assert again.status_code == 409
    assert "somebody else has set other pairs" in again.text
    assert len(site.study.known_items()) == 1


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("one,two\n1,2\n", "no column `row`, `answer`, `explanation`"),
        ("row,column,answer,explanation\na,b,apropriate,c\n", "line 2: `answer` is 'apropriate'; did you mean"),
        ("row,answer,explanation\na,not_sure,\n", "line 2: `explanation` is empty"),
        ("row,column,answer,explanation\n", "no pair"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_line_by_line(site: Site, table: str, sentence: str) -> None:
    browser = site.browser("lea")
    reply = browser.post(LEAD_PAGE, data={"csrf": csrf_of(browser), "table": table, "act": "save"})
    assert reply.status_code == 422
    assert sentence in unescape(reply.text)
    assert site.study.known_items() == []
