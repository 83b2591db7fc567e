"""The lead's pages on which a grid takes more texts, and rules ask further people: shown first, then done."""

from __future__ import annotations

from html import unescape
from pathlib import Path

from fastapi.testclient import TestClient
from steps.small import HS, open_work, record

from fcpair.params import Further
from web.conftest import Serve, Site, hidden_of, page_of, send, sentences_of

EXTEND, POLICY, FURTHER = "/lead/grid/extend", "/lead/conflicts/policy", "/lead/conflicts/further"


def test_an_extension_is_shown_first_and_done_once_it_is_confirmed(site: Site, lea: TestClient) -> None:
    assert f'href="{EXTEND}"' in page_of(lea, "/lead/grid")
    n = len(site.study.log())
    shown = send(lea, EXTEND, hs="2", seed="3")
    assert "6 pairs were added; 2 HS more" in sentences_of(shown.text)
    assert len(site.study.log()) == n
    hidden = {name: value for name, value in hidden_of(shown.text).items() if name != "csrf"}
    assert hidden["confirmed"] == "6"
    reply = send(lea, EXTEND, **hidden)
    assert reply.status_code == 303
    run = next(run for run in site.study.log() if run.stage == "extend")
    assert (run.by, run.counts["pairs"]) == ("lea", 6)
    page = page_of(lea, reply.headers["location"])
    assert "6 pairs were added" in sentences_of(page)
    for path in ("/lead", "/lead/agreement", "/lead/tiers"):
        assert "the grid has 2 blocks: it grew from 4 x 6 to 6 x 6" in sentences_of(page_of(lea, path))


def test_what_cannot_be_added_is_said_beside_the_form_with_what_was_typed(site: Site, lea: TestClient) -> None:
    n = len(site.study.log())
    for form, message in (
        ({"hs": "two"}, "`two` is not a number"),
        ({"hs": "9"}, "9 further HS cannot be drawn"),
        ({"hs_list": HS[0]}, "1 of 1 texts are in the grid already"),
        ({"cn_list": "Nobody wrote this."}, "not in the study"),
        ({"run": "q1 Q0 d1 1"}, "line 1 of the run has 4 columns"),
        ({}, "say what the grid is to take"),
    ):
        answer = send(lea, EXTEND, **form)
        assert answer.status_code in (409, 422), form
        assert message in unescape(answer.text), form
        assert all(value in unescape(answer.text) for value in form.values())
    assert len(site.study.log()) == n


def test_rules_that_ask_nobody_yet_are_set_at_once_and_others_once_confirmed(serve: Serve, tmp_path: Path) -> None:
    site = serve("dealt")
    browser = site.browser("lea")
    assert "Ask further people" in page_of(browser, POLICY)
    assert send(browser, FURTHER, if_tied="1", if_not_sure="0", most="3").status_code == 303
    assert site.study.grid().effective_options(Further) == Further(if_tied=1)
    holders: dict[int, list[str]] = {}
    for who, own in open_work(site.study):
        holders.setdefault(own, []).append(who)
    pair, people = next((own, names) for own, names in holders.items() if len(names) == 2)
    record(site.study, tmp_path, [(people[0], pair, "0"), (people[1], pair, "1")])
    shown = send(browser, FURTHER, if_tied="1", if_not_sure="1", most="3")
    assert shown.status_code == 200
    assert "because somebody is not sure" in sentences_of(shown.text)
    assert site.study.grid().effective_options(Further) == Further(if_tied=1)
    confirmed = hidden_of(shown.text)["confirmed"]
    assert send(browser, FURTHER, if_tied="1", if_not_sure="1", most="3", confirmed=confirmed).status_code == 303
    assert len([who for who, own in open_work(site.study) if own == pair]) == 1
    refused = send(browser, FURTHER, if_tied="1", if_not_sure="1", most="9")
    assert "there are 3 people" in unescape(refused.text)
