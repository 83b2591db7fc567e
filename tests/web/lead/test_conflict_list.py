"""The lead's list of conflicts, deciding one after the other, and a pair with those beside it."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient
from steps.online import admit

from fcpair.grid import AdjudicationQueue, DecisionRequest
from fcpair.params import Adjudicate
from fcpair.records import Role
from fcpair.words import Words
from web.conftest import LookAt, Serve, hidden_of, page_of, post, send, words_of
from web.lead.test_pages import change_a_label

CONFLICTS = "/lead/conflicts"
BESIDE = re.compile(r'rel="(prev|next)" href="/lead/pair/(\d+)[^"]*"')


def listed(browser: TestClient, **query: str) -> list[int]:
    """The numbers in the list, in its order."""
    html = browser.get(CONFLICTS, params=query).text
    return [int(number) for number in re.findall(r'<th scope="row" class="n"><a href="/lead/pair/(\d+)', html)]


def case_form(html: str) -> dict[str, str]:
    """The hidden fields of the form that decides."""
    return hidden_of(html[html.index('name="seen_decision"') - 200 :])


def test_what_waits_is_listed_with_its_labels_and_who_gave_them(look_at: LookAt) -> None:
    site = look_at("decided")
    grid, browser = site.study.grid(), site.browser("lea")
    assert sorted(listed(browser)) == grid.waiting_pairs()
    words, labels = words_of(page_of(browser, CONFLICTS)), grid.labels()
    pair = grid.waiting_pairs()[0]
    own = labels[labels["pair"] == pair]
    for label, people in own.groupby("label")["annotator"]:
        assert f"{len(people)} {str(label).replace('_', ' ')} {', '.join(sorted(people))}" in words
    assert "Who decides: you, and as adjudicator judy." in words


def test_labels_have_a_dot_in_the_colour_of_the_study(serve: Serve) -> None:
    site = serve("decided")
    browser, dot = site.browser("lea"), '<span class="dot" data-colour="teal"></span>'
    pair = listed(browser)[0]
    site.study.save_words(Words(options={"not_sure": {"colour": "teal"}, "appropriate": {"colour": "teal"}}))
    for path in (CONFLICTS, f"/lead/pair/{pair}", f"/lead/pair/{pair}/decide"):
        html = page_of(browser, path)
        assert dot in html, path
        assert not re.search(re.escape(dot) + r"(\d+ )?not appropriate", html)
    told = browser.get("/lead/grid/pairs").json()
    assert told["colours"] == {"not appropriate": None, "not sure": "teal", "appropriate": "teal"}


def test_filters_are_in_the_address_and_a_wrong_one_is_refused(look_at: LookAt) -> None:
    site = look_at("decided")
    browser, waiting = site.browser("lea"), site.study.grid().waiting_pairs()
    labels = site.study.grid().labels()
    given = {name: set(rows["pair"]) & set(waiting) for name, rows in labels.groupby("annotator")}
    for name, pairs in given.items():
        assert set(listed(browser, person=str(name))) == pairs
    assert listed(browser, order="number") == waiting
    assert listed(browser, reason="again") == []
    assert "No conflict matches these filters." in page_of(browser, f"{CONFLICTS}?days=9999")
    for query in ("reason=agin", "days=soon", "order=up", "person=nobody"):
        assert browser.get(f"{CONFLICTS}?{query}").status_code == 422, query
    assert listed(browser, reason="agin") == listed(browser)  # what was wrong is said, and all are shown


def test_an_empty_list_says_what_comes_there_and_how(serve: Serve) -> None:
    assert "Nobody has labelled anything yet." in page_of(serve("dealt").browser("lea"), CONFLICTS)
    site = serve("decided")
    site.study.grid().adjudicate(Adjudicate("majority", "discard"))
    html = page_of(site.browser("lea"), CONFLICTS)
    assert 'class="empty"' in html
    assert "Pairs come here by themselves when labels differ" in html


def test_a_lead_decides_one_after_the_other_without_names_and_takes_one_back(serve: Serve) -> None:
    site = serve("decided")
    browser, grid = site.browser("lea"), site.study.grid()
    first, second = listed(browser)[:2]
    address = f"/lead/pair/{first}/decide?from=conflicts"
    html = page_of(browser, address)
    main = words_of(html[html.index("<main") :])
    assert not any(name in main for name in ("ana", "ben", "cleo"))
    sent = send(browser, address, outcome="appropriate", note="irony", flagged="true", **case_form(html))
    assert sent.headers["location"] == f"/lead/pair/{second}/decide?from=conflicts&decided={first}"
    assert f"pair {first} is decided." in words_of(page_of(browser, sent.headers["location"]))
    decision = grid.explain(first).decisions[-1]
    assert (decision["person"], decision["answer"], decision["note"]) == ("lea", "appropriate", "irony")
    assert [flag.cell_id for flag in site.app.state.context.grids.oldest.monitor.flags()] == [first]
    assert first not in listed(browser)
    assert "Decided: appropriate." in words_of(page_of(browser, f"/lead/pair/{first}"))
    story = post(browser, f"/lead/pair/{first}/take-back")
    assert "It waits for a decision." in words_of(story)
    assert first in listed(browser)


def test_after_the_last_of_a_filtered_list_one_is_back_on_it(serve: Serve) -> None:
    site = serve("decided")
    browser = site.browser("lea")
    site.study.grid().decide(pair := listed(browser)[0], 2, by="lea")
    change_a_label(site.study, pair)
    assert listed(browser, reason="again") == [pair]
    address = f"/lead/pair/{pair}/decide?from=conflicts&reason=again"
    html = post(browser, address, outcome="appropriate", **case_form(page_of(browser, address)))
    assert f"pair {pair} is decided." in words_of(html)
    assert "No conflict matches these filters." in html
    assert '<option value="again" selected>' in html


def test_another_label_is_offered_only_where_one_can_be_given(serve: Serve) -> None:
    site = serve("decided")
    browser, grid, offer = site.browser("lea"), site.study.grid(), "Ask for another label"
    labels = grid.labels().groupby("pair")["annotator"].count()
    pair = next(number for number in grid.waiting_pairs() if labels[number] < 3)
    assert offer in page_of(browser, f"/lead/pair/{pair}")
    grid.decide(pair, 2, by="lea")
    everybody_has = next(number for number, n in labels.items() if n == 3)
    assert offer not in page_of(browser, f"/lead/pair/{pair}") + page_of(browser, f"/lead/pair/{everybody_has}")


def test_what_somebody_else_decided_meanwhile_is_not_decided_again(serve: Serve) -> None:
    site = serve("decided")
    browser, grid = site.browser("lea"), site.study.grid()
    pair = grid.waiting_pairs()[0]
    form = case_form(page_of(browser, f"/lead/pair/{pair}/decide"))
    for outcome in ("", "nice"):
        assert send(browser, f"/lead/pair/{pair}/decide", outcome=outcome, note="mine", **form).status_code == 422
    decision = DecisionRequest("r-1", pair, "not_appropriate")
    AdjudicationQueue(grid).decide(admit(site.study, "judy").id, decision)
    late = send(browser, f"/lead/pair/{pair}/decide", outcome="appropriate", **form)
    assert late.status_code == 409
    assert "has been decided by judy meanwhile" in late.text
    assert grid.explain(pair).decisions[-1]["person"] == "judy"


def test_a_pair_whose_labels_changed_is_listed_for_a_second_look(serve: Serve) -> None:
    site = serve("decided")
    browser, grid = site.browser("lea"), site.study.grid()
    pair = grid.waiting_pairs()[0]
    site.study.add_people(["jo"], Role.ADJUDICATOR)
    grid.decide(pair, 2, by="jo")
    assert pair not in listed(browser)
    change_a_label(site.study, pair)
    assert listed(browser, reason="again") == [pair]
    assert "labels changed since it was decided" in page_of(browser, f"{CONFLICTS}?reason=again")
    assert "The same answer confirms it." in page_of(browser, f"/lead/pair/{pair}/decide")


def test_a_pair_leads_to_those_beside_it_in_the_list_one_came_from(look_at: LookAt) -> None:
    site = look_at("decided")
    browser = site.browser("lea")
    numbers = listed(browser)
    html = page_of(browser, f"/lead/pair/{numbers[1]}?from=conflicts")
    assert BESIDE.findall(html) == [("prev", str(numbers[0])), ("next", str(numbers[2]))]
    assert BESIDE.findall(page_of(browser, "/lead/pair/3")) == [("prev", "2"), ("next", "4")]
    own = sorted(site.study.grid().find_pairs(person="ana").to_frame()["pair"])
    html = page_of(browser, f"/lead/pair/{own[1]}?from=search&person=ana")
    assert BESIDE.findall(html) == [("prev", str(own[0])), ("next", str(own[2]))]
    assert 'href="/lead/grid?person=ana"' in html
    assert browser.get("/lead/pair/3?from=search&person=nobody").status_code == 422


def test_the_acts_of_a_pair_lead_back_to_it(serve: Serve) -> None:
    site = serve("decided")
    browser, grid = site.browser("lea"), site.study.grid()
    pair = next(number for number in range(1, 25) if number not in grid.waiting_pairs())
    html = page_of(browser, f"/lead/pair/{pair}")
    assert "Decide</a>" not in html
    assert f'href="/lead/pair/{pair}/act/decisions"' in html
    asked = page_of(browser, f"/lead/pair/{pair}/act/decisions")
    done = post(browser, f"/lead/pair/{pair}/act/decisions", **hidden_of(asked[asked.index("<main") :]))
    assert f"Pair {pair}" in done
    assert "It waits for a decision." in words_of(done)
    assert pair in grid.waiting_pairs()
    assert listed(browser, reason="requested") == [pair]


def test_the_pairs_before_and_after_one_are_those_of_the_search_in_its_order(look_at: LookAt) -> None:
    browser = look_at("labelled").browser("lea")
    expected = {"": ["2", "4"], "?from=search&sort=-pair": ["4", "2"], "?from=search&words=zebra": []}
    for query, beside in expected.items():
        html = page_of(browser, f"/lead/pair/3{query}")
        assert re.findall(r'rel="(?:prev|next)" href="/lead/pair/(\d+)', html) == beside


def test_the_list_one_came_from_is_marked_at_the_side(look_at: LookAt) -> None:
    site = look_at("decided")
    browser, pair = site.browser("lea"), site.study.grid().waiting_pairs()[0]
    for address, marked in (("?from=conflicts", "Conflicts"), ("/decide?from=conflicts", "Conflicts"), ("", "Grid")):
        assert f'aria-current="true">{marked}</a>' in page_of(browser, f"/lead/pair/{pair}{address}")


def test_a_lead_withdraws_one_answer_unless_it_was_given_anew_meanwhile(serve: Serve) -> None:
    site = serve("decided")
    browser, grid = site.browser("lea"), site.study.grid()
    pair = grid.waiting_pairs()[0]
    place, who = 0, str(grid.explain(pair).answers[0]["person"])
    address = f"/lead/pair/{pair}/withdraw?from=conflicts"
    assert f'<option value="0">{who}: ' in page_of(browser, f"/lead/pair/{pair}")
    assert send(browser, address, answer="99").status_code == 422
    done = post(browser, address, answer=str(place), note="a slip")
    assert "1 answer was withdrawn" in done
    assert "Back to Conflicts" in done
    assert (grid.explain(pair).answers[-1]["note"], site.study.log()[-1].by) == ("a slip", "lea")
    late = send(browser, address, answer=str(place))  # as another lead would, whose page still has it
    assert late.status_code == 409
    assert f"<code>{who}</code> has no such answer to pair {pair} now; it was withdrawn or given anew" in late.text


def test_a_lead_flags_a_pair_and_removes_the_flag(serve: Serve) -> None:
    site = serve("decided")
    browser, pair = site.browser("lea"), site.study.grid().waiting_pairs()[0]
    html = post(browser, f"/lead/pair/{pair}/flag", flag="set", text="irony <3")
    assert "1 pair is flagged, by lea" in words_of(html)
    assert "irony <3</q>" in html
    assert re.search(rf"Pair {pair} ?: note, by lea", words_of(page_of(browser, "/lead/guidelines")))
    assert "Flagged:" not in post(browser, f"/lead/pair/{pair}/flag", flag="remove")
