"""What a lead does about conflicts and guidelines: a policy, assigning to validators, versions and flags."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing

import pytest
from fastapi.testclient import TestClient
from steps.online import admit, at_desk, give
from steps.small import dump, open_work

from fcpair.grid import AdjudicationQueue, DecisionRequest
from fcpair.params import Adjudicate, Validate
from web.conftest import LookAt, Serve, Site, hidden_of, page_of, post, send

POLICY = "/lead/conflicts/adjudicate"
GUIDELINES = "/lead/guidelines"


def taken_back(browser: TestClient, html: str, words: str) -> None:
    """Press the button that takes back what a page says was done."""
    form = html[: html.index(words)]
    post(browser, POLICY, **hidden_of(form[form.rindex("<form") :]))


@pytest.mark.parametrize("ties", ["wait", "discard"])
def test_what_is_selected_is_what_is_previewed(look_at: LookAt, ties: str) -> None:
    html = page_of(look_at("decided").browser("lea"), f"/lead/conflicts/policy?policy=majority&ties={ties}")
    assert ("<strong>5 pairs would be discarded.</strong>" in html) == (ties == "discard")
    assert f"{'0' if ties == 'discard' else '5'} pairs would wait for a person." in html
    assert f'<input type="hidden" name="ties" value="{ties}">' in html
    assert f'<option value="{ties}" selected>' in html


def test_the_first_policy_is_applied_and_taken_back_as_far_as_that_can_be(serve: Serve) -> None:
    """Before it, what all labels agree on waited for a policy; `manual` decides that, too."""
    site = serve("labelled")
    browser = site.browser("lea")
    assert "so nothing is final but what people decide" in page_of(browser, "/lead/conflicts/policy")
    html = post(browser, POLICY, policy="majority", ties="wait")
    assert "5 wait for a person" in html
    assert site.study.grid().policy == Adjudicate("majority")
    assert "In force: where labels differ, the majority decides, ties wait for a person." in html
    assert "No policy was applied before. Then only pairs whose labels all agree stay decided" in html
    assert "is then in force again" not in html
    n_unanimous = site.study.status()["adjudications"]["unanimous"]
    taken_back(browser, html, "Take most of it back")
    left = site.study.status()["adjudications"]
    assert left["unanimous"] == n_unanimous
    assert "majority" not in left


def test_a_policy_that_discards_is_confirmed_with_the_number_and_can_be_taken_back(serve: Serve) -> None:
    site = serve("decided")
    browser, grid = site.browser("lea"), site.study.grid()
    waiting, before = grid.waiting_pairs(), dump(site.study)
    form = {"policy": "majority", "ties": "discard"}
    asked = send(browser, POLICY, **form)
    assert asked.status_code == 200
    assert "<h1>Discard 5 pairs?</h1>" in asked.text
    assert '<button type="submit">Discard 5 pairs</button>' in asked.text
    assert send(browser, POLICY, **form, confirmed="4 0").status_code == 200
    assert dump(site.study) == before
    html = post(browser, POLICY, **hidden_of(asked.text))
    assert grid.waiting_pairs() == []
    assert "The previous policy is then in force again: where labels differ, the majority decides, ties wait" in html
    taken_back(browser, html, "Take it back")
    assert grid.waiting_pairs() == waiting
    assert grid.policy == Adjudicate("majority")
    run = grid.adjudicate(Adjudicate("manual"))
    grid.adjudicate(Adjudicate("majority"))  # so what was applied before is not offered to be taken back
    assert "Take it back" not in page_of(browser, f"/lead/conflicts/policy?run={run.id}")


def test_a_policy_that_another_lead_has_applied_meanwhile_is_not_replaced_unasked(serve: Serve) -> None:
    site = serve("labelled")
    browser, grid = site.browser("lea"), site.study.grid()
    html = page_of(browser, "/lead/conflicts/policy?policy=majority&ties=wait")
    form = hidden_of(html[html.index('id="preview"') :][: html.index("</form>")])
    grid.adjudicate(Adjudicate("manual"))
    asked = send(browser, POLICY, **form)
    assert asked.status_code == 200
    assert "applied since the page was loaded: pairs whose labels differ wait for a person." in asked.text
    assert "<h1>Apply the policy?</h1>" in asked.text
    assert grid.policy == Adjudicate("manual")
    post(browser, POLICY, **hidden_of(asked.text))
    assert grid.policy == Adjudicate("majority")


def test_pairs_are_assigned_to_validators_and_later_more(serve: Serve) -> None:
    site, path = serve("decided"), "/lead/conflicts/validate"
    browser = site.browser("lea")
    for pairs in ("many", "some", "0", "-1", "-3", "1.5", "9" * 5000):
        assert send(browser, path, pairs=pairs).status_code == 422, pairs
    assert "5 pairs were assigned to" in post(browser, path, pairs="5", blind="true")
    assert site.study.grid().effective_options(Validate).blind
    again = send(browser, path, pairs="")  # as another lead would who has not seen it
    assert again.status_code == 409
    assert "“Assign pairs to validators” on Conflicts adds pairs" in again.text
    post(browser, path, more="true", blind="true")
    assert len(open_work(site.study, checks=True)) > 5


def test_guidelines_are_previewed_and_a_saved_version_holds_while_earlier_ones_stay(
    site: Site, lea: TestClient
) -> None:
    before = dump(site.study)
    preview = send(lea, GUIDELINES, body="Be **kind**.\r\n", act="preview", version="1")
    assert "<strong>kind</strong>" in preview.text
    assert dump(site.study) == before
    html = post(lea, GUIDELINES, body="Be kind\r\nto all.", act="save", version="1")
    assert "Version 2 is in force" in html
    assert "<strong>Version 1</strong>" in html
    assert site.study.guidelines == (2, "Be kind\nto all.")


def test_a_version_shows_what_it_changed_and_who_has_been_shown_it(site: Site, lea: TestClient) -> None:
    site.study.edit_guidelines("Be kind to all.", by="lea")
    site.study.edit_guidelines("Be fair to all.", by="lea")
    html = page_of(lea, GUIDELINES)
    assert "Changes since version 2" in html
    visible = re.sub(r'<span class="visually-hidden">[^<]*</span>', "", html)
    assert "Be <del>kind</del><ins>fair</ins> to all." in visible
    assert "Version 3 is in force. It has been shown to 0 of 5 people who take part." in html
    give(*at_desk(site.study, "ana"), "appropriate")
    assert "It has been shown to 1 of 5 people who take part." in page_of(lea, GUIDELINES)


def test_a_version_that_somebody_has_replaced_meanwhile_is_not_overwritten(site: Site, lea: TestClient) -> None:
    site.study.edit_guidelines("Mine.", by="lea")
    answer = send(lea, GUIDELINES, body="Yours.", act="save", version="1")
    assert answer.status_code == 409
    assert site.study.guidelines[1] == "Mine."
    assert "somebody else has edited the guidelines since you opened them, and version 2 is current now" in answer.text
    assert ">\nYours.</textarea>" in answer.text
    assert 'name="version" value="2"' in answer.text


def test_guidelines_that_are_not_taken_stay_in_their_field(site: Site, lea: TestClient) -> None:
    form = {"body": "Read \r\n*both*.", "act": "save"}
    site.study._store._writing.patience_s = 0.1
    with closing(sqlite3.connect(site.study.place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = send(lea, GUIDELINES, **form, version="1")
    assert answer.status_code == 503
    assert "Not saved: the server is busy just now; nothing was changed." in answer.text
    assert ">\nRead \n*both*.</textarea>" in answer.text
    assert send(lea, GUIDELINES, **form, version="x").status_code == 409
    assert site.study.guidelines[0] == 1
    assert send(lea, GUIDELINES, **form, version="1").status_code == 303
    assert send(lea, GUIDELINES, **form, version="2").status_code == 409  # they hold already


def test_a_flag_is_put_at_a_sentence_of_the_guidelines(serve: Serve) -> None:
    site = serve("labelled")
    site.study.edit_guidelines("Be kind. Jokes count.", by="lea")
    pair = site.study.grid().waiting_pairs()[0]
    decision = DecisionRequest("r-1", pair, "appropriate", "Irony?", True)
    AdjudicationQueue(site.study.grid()).decide(admit(site.study, "judy").id, decision)
    browser = site.browser("lea")
    assert "At no sentence yet" not in page_of(browser, GUIDELINES)  # where none is at one, none need say so
    form = {"pair": str(pair), "sentence": "Jokes count."}
    html = post(browser, "/lead/guidelines/flags", **form)
    assert '<h3 dir="ltr">“Jokes count.”</h3>' in html
    assert "by lea" in html
    site.study.edit_guidelines("Be kind.", by="lea")
    assert "have this sentence no more" in page_of(browser, GUIDELINES)
