"""The adjudicators' pages, case by case or a row at once: deciding, looking again, and what nobody may be shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path
from threading import Event

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from steps.deciding import wait_for_ranking
from steps.scales import dealt, rated
from steps.small import ANNOTATORS, dump, open_work, record, standing

from fcpair.grid import AdjudicationQueue, CaseQueue, DecisionRequest
from fcpair.params import Adjudicate, Annotate
from fcpair.records import Role
from fcpair.steps.adjudication import adjudication_queue, case_queues
from fcpair.study import Study
from fcpair.web.languages import ENGLISH
from fcpair.web.pages.adjudicate import in_words
from web.conftest import Serve, Site, page_of, words_of

SCRIPT = "<script>alert(1)</script>"
AWAITED = "the order by doubt is being worked out; mixed until then"
DECIDED = "/adjudicate/decided"
Enter = Callable[..., TestClient]


@pytest.fixture
def site(serve: Serve) -> Site:
    """All labels are in, and nothing is decided."""
    return serve("labelled")


@pytest.fixture
def study(site: Site) -> Study:
    return site.study


@pytest.fixture
def enter(site: Site) -> Enter:
    """Lets somebody in, as an adjudicator unless they are there already, and gives their browser."""

    def enter(name: str, *, consent: bool = True) -> TestClient:
        if name not in {person.name for person in site.study.people}:
            site.study.add_people([name], Role.ADJUDICATOR)
        site.token(name, consent=consent)
        return site.browser(name)

    return enter


def form(page: Response, action: str = "/adjudicate") -> dict[str, str]:
    """The hidden fields of the form that a page sends to an address."""
    match = re.search(rf'<form[^>]* action="{re.escape(action)}".*?</form>', page.text, re.DOTALL)
    assert match, f"no form to {action}"
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', match[0])
    return {name: unescape(value) for name, value in fields}


def decide(browser: TestClient, page: Response, outcome: str, **more: str) -> Response:
    return browser.post("/adjudicate", data={**form(page), "outcome": outcome, **more})


def pair_on(page: Response) -> int:
    return int(form(page)["cell_id"])


def test_notes_of_annotators_are_shown_escaped(study: Study, enter: Enter, tmp_path: Path) -> None:
    grid = study.grid()
    rows = grid.labels()
    pair = next(pair for pair in grid.waiting_pairs() if "not_sure" not in set(rows["label"][rows["pair"] == pair]))
    turned = rows[rows["pair"] == pair][["pair", "annotator", "label"]]
    turned = turned.assign(label=turned["label"].map({"appropriate": 0, "not_appropriate": 2}), note=SCRIPT)
    turned.to_csv(tmp_path / "labels.csv", index=False)
    grid.import_labels(tmp_path / "labels.csv", supersede=True)
    page = enter("judy").get(f"/adjudicate/{pair}")
    assert escape(SCRIPT) in page.text
    assert SCRIPT not in page.text


def test_a_decision_is_kept_once_looked_at_again_changed_and_taken_back(study: Study, enter: Enter) -> None:
    browser = enter("judy")
    page = browser.get("/adjudicate")
    pair, onward = pair_on(page), f"/adjudicate?after={pair_on(page)}"
    keys = re.findall(r'name="outcome" value="(\w+)" data-key="(\w)"', page.text)
    assert keys == [("not_appropriate", "1"), ("appropriate", "3"), ("irreconcilable", "x")]
    assert "/undo" not in page.text
    assert f'href="{onward}"' in page.text  # to leave it for later
    assert pair_on(browser.get(onward)) != pair
    for _ in range(2):
        reply = decide(browser, page, "appropriate", note=" because, نه \n", flagged="yes")
        assert (reply.status_code, reply.headers["location"]) == (303, onward)
    again = browser.get(f"/adjudicate/{pair}")
    assert "Your decision on this pair: <strong>appropriate</strong>" in again.text
    assert "because, نه</textarea>" in again.text
    assert re.search(r'name="flagged"[^>]* checked', again.text)
    other = decide(browser, page, "irreconcilable", note="on second thoughts")  # by the form from before
    assert other.status_code == 409
    assert "Your decision on this pair: <strong>appropriate</strong>" in other.text
    assert "on second thoughts</textarea>" in other.text
    assert decide(browser, other, "not_appropriate").status_code == 303
    assert standing(study)[pair] == ("person", 0)
    address = f"/adjudicate/{pair}/undo"
    reply = browser.post(address, data=form(browser.get(onward), address))
    assert (reply.status_code, reply.headers["location"]) == (303, f"/adjudicate/{pair}")


def test_who_comes_second_is_told_who_was_first_and_goes_on_with_another_pair(study: Study, enter: Enter) -> None:
    judy = enter("judy")
    page = judy.get("/adjudicate")
    study.grid().decide(pair_on(page), 2, by="lea")
    reply = decide(judy, page, "irreconcilable")
    assert reply.status_code == 409
    assert f"Pair {pair_on(page)} has been decided by lea meanwhile." in reply.text
    assert pair_on(reply) != pair_on(page)


# In which order


@pytest.fixture
def queue(site: Site) -> AdjudicationQueue:
    queue: AdjudicationQueue = site.app.state.context.grids.oldest.adjudication_queue
    return queue


def test_a_queue_and_an_order_are_chosen_by_links_and_kept_from_case_to_case(
    study: Study, enter: Enter, queue: AdjudicationQueue
) -> None:
    browser, rows = enter("judy"), study.grid().labels()
    unsure = set(rows["pair"][rows["label"] == "not_sure"]) & set(study.grid().waiting_pairs())
    html = browser.get("/adjudicate").text
    assert '<a href="/adjudicate?order=row">row by row</a>' in html
    (link,) = re.findall(rf'<a href="([^"]+)">{len(unsure)} not sure</a>', html)
    assert link == "/adjudicate?queue=not_sure"
    html = browser.get(f"{link}&order=row").text
    assert 'action="/adjudicate?queue=not_sure&amp;order=row"' in html
    assert '<a href="/adjudicate?queue=not_sure">mixed</a>' in html
    assert '<a href="/adjudicate?queue=not_sure&amp;order=doubt">doubtful first</a>' in html
    html = browser.get("/adjudicate?order=doubt").text
    assert '<a href="/adjudicate">mixed</a> · <a href="/adjudicate?order=row">row by row</a>' in html
    wait_for_ranking(queue)
    page, seen = browser.get(link), set[int]()
    for _ in unsure:
        seen.add(pair := int(form(page, link)["cell_id"]))
        page = browser.get(
            browser.post(link, data={**form(page, link), "outcome": "irreconcilable"}).headers["location"]
        )
        assert f'action="/adjudicate/{pair}/undo?queue=not_sure"' in page.text
    assert seen == unsure
    assert "Nothing is waiting for you" in page.text
    assert '<a href="/adjudicate">Go on with all that wait</a>' in page.text


def test_until_the_order_by_doubt_is_there_the_page_says_so_and_everything_goes_on(
    study: Study, enter: Enter, queue: AdjudicationQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranked, decided = study.grid().desk.agenda("judy", order="doubt").pairs, []
    fitting, estimate, address = Event(), case_queues.estimate_doubts, "/adjudicate?order=doubt"
    monkeypatch.setattr(case_queues, "estimate_doubts", lambda labels: estimate(labels) if fitting.wait() else {})
    judy, jack = enter("judy"), enter("jack")
    page = judy.get(address)
    assert AWAITED in page.text
    assert form(page, address)["cell_id"] == str(pair_on(judy.get("/adjudicate")))
    for browser, path in ((judy, address), (jack, "/adjudicate")):
        case = form(browser.get(path), path)
        assert browser.post(path, data={**case, "outcome": "irreconcilable"}).status_code == 303
        decided.append(int(case["cell_id"]))
    fitting.set()
    wait_for_ranking(queue)
    page = judy.get(f"{address}&after={decided[0]}")
    assert AWAITED not in page.text
    in_turn = [*ranked[::2], *ranked[1::2]]
    assert int(form(page, address)["cell_id"]) == next(pair for pair in in_turn if pair not in decided)


def test_the_time_left_is_told_once_it_is_known_and_the_last_decision_can_be_undone(study: Study, enter: Enter) -> None:
    browser = enter("judy")
    for at, _ in enumerate(study.grid().waiting_pairs()):
        page = browser.get("/adjudicate")
        assert ("· about a minute left" in " ".join(page.text.split())) is (at > 5), at
        decide(browser, page, "irreconcilable")
    html = page_of(browser, "/adjudicate")
    assert "Nothing is waiting for you" in html
    assert "/undo" in html
    words = {None: "", 0: "", 20: "about a minute", 700: "about 12 min", 2_300: "about 40 min", 5_000: "about 85 min"}
    words[9_000] = "about 2.5 h"
    assert {seconds: in_words(seconds, ENGLISH) for seconds in words} == words


# What has been decided


def test_the_list_says_what_is_decided_by_whom_and_why_and_is_searched(study: Study, enter: Enter) -> None:
    judy, jack = enter("judy"), enter("jack")
    assert "Nothing is decided yet." in page_of(judy, DECIDED)
    study.grid().adjudicate(Adjudicate("majority"))
    page = jack.get("/adjudicate")
    pair = pair_on(page)
    decide(jack, page, "irreconcilable", note="<b>why</b>", flagged="yes")
    listed = judy.get(DECIDED).text
    assert f"Pair {pair}: irreconcilable" in listed
    assert "&lt;b&gt;why&lt;/b&gt;" in listed
    assert re.search(r"jack · .*the guidelines should say more here", listed, re.DOTALL)
    assert "the labels agree" in listed
    assert "majority of the labels" in listed
    assert "again</a>" not in listed
    assert not any(name in listed for name in ANNOTATORS)
    labels = study.grid().labels().query(f"pair == {pair}")["label"].value_counts()
    (shown,) = re.findall("<p>Labels: ([^<]*)</p>", listed[listed.index(f"Pair {pair}:") :].partition("</article>")[0])
    assert sorted(shown.split(", ")) == sorted(f"{n} {name}".replace("_", " ") for name, n in labels.items())
    assert f"Look at pair {pair} again" in page_of(jack, f"{DECIDED}?by=jack")
    for mine in ("by=judy", "mine=true"):
        assert 'id="decision-' not in judy.get(f"{DECIDED}?{mine}", follow_redirects=True).text
    leading = jack.get(f"{DECIDED}?mine=true")  # the address in earlier versions
    assert (leading.status_code, leading.headers["location"]) == (303, f"{DECIDED}?by=jack")
    assert f"Pair {pair}:" in page_of(judy, f"{DECIDED}?mine=false")
    listed = page_of(judy, f"{DECIDED}?words=&outcome=irreconcilable&by=jack&flagged=true")
    assert re.findall(r"Pair (\d+):", listed) == [str(pair)]
    assert '<option value="irreconcilable" selected>' in listed
    assert '<option value="jack" selected>' in listed
    assert 'value="true" checked>' in listed
    listed = judy.get(f"{DECIDED}?words=<zebra>").text
    assert "No decision matches this search. Try fewer words or another choice" in listed
    assert 'value="&lt;zebra&gt;"' in listed


def test_the_list_has_pages_that_keep_the_search(study: Study, enter: Enter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcpair.web.pages.adjudicate.LISTED", 8)
    study.grid().adjudicate(Adjudicate("majority"))
    browser, address, seen = enter("judy"), DECIDED, list[str]()
    while address:
        html = page_of(browser, address)
        seen += re.findall(r"Pair (\d+):", html)
        older = re.search(r'href="([^"]+)">Older', html)
        address = older[1] if older else ""
    assert sorted(map(int, seen)) == sorted(standing(study))
    monkeypatch.setattr("fcpair.web.pages.adjudicate.LISTED", 2)
    (older_link,) = re.findall(r'href="([^"]+)">Older', browser.get(f"{DECIDED}?outcome=appropriate&words=A").text)
    assert "outcome=appropriate" in older_link
    assert "words=A" in older_link


# What makes no sense


def test_addresses_and_forms_that_make_no_sense_are_refused(study: Study, enter: Enter) -> None:
    browser = enter("judy")
    statuses = {
        200: ("?after=999", "/decided?before=1", "/decided?words=%25%27%00_", "/decided?words=&outcome=&by=judy"),
        404: ("/999", "/row?pair=999"),
        422: (
            *("/0", f"/{2**63}", "/x", "/row?pair=x", "?after=0", "?queue=mine", "?order=column"),
            *("/decided?outcome=not_sure", "/decided?by=zoe", "/decided?by=ana", "/decided?flagged=perhaps"),
            *("/decided?mine=perhaps", "/decided?words=" + "w" * 201),
        ),
    }
    for status, addresses in statuses.items():
        assert {address: browser.get(f"/adjudicate{address}").status_code for address in addresses} == dict.fromkeys(
            addresses, status
        )
    page = browser.get("/adjudicate")
    before = dump(study)
    for name, value in (("outcome", "not_sure"), ("request_id", "short"), ("cell_id", "x"), ("note", "n" * 4001)):
        assert decide(browser, page, **{"outcome": "appropriate", name: value}).status_code == 422, name
    assert decide(browser, page, "appropriate", csrf="x").status_code == 403
    assert dump(study) == before


# Care


def test_the_limit_is_shown_and_no_case_is_given_ahead_beyond_it(serve: Serve) -> None:
    browser = serve("labelled", Annotate(daily_limit=2)).browser("judy")
    page = browser.get("/adjudicate")
    onward = f"/adjudicate?after={pair_on(page)}"
    assert "0 of 2 today" in page.text
    assert 'id="pair"' in browser.get(f"{onward}&ahead=1").text
    assert 'id="pair"' not in browser.get(f"{onward}&ahead=2").text
    assert browser.get(f"{onward}&ahead=-1").status_code == 422
    for _ in range(2):
        decide(browser, browser.get("/adjudicate"), "appropriate")
    html = page_of(browser, "/adjudicate")
    assert "You have read 2 pairs today" in html
    assert 'id="pair"' not in html


def test_a_hidden_text_is_shown_before_a_decision_counts(site: Site) -> None:
    browser = site.browser("judy")
    site.study.access.set_blurred(site.visitor("judy").id, True)
    page = browser.get("/adjudicate")
    assert 'class="words veiled" aria-hidden="true"' in page.text
    before = dump(site.study)
    shown = decide(browser, page, "appropriate", note="tea", flagged="yes")
    assert "veiled" not in shown.text
    assert re.search(r"<textarea[^>]*>\ntea</textarea>", shown.text)
    row = f"/adjudicate/row?pair={pair_on(page)}"
    hidden = browser.get(row)
    assert 'class="words veiled" aria-hidden="true"' in hidden.text
    reply = browser.post("/adjudicate/row", data={**cases_on(hidden)[pair_on(page)], "outcome": "appropriate"})
    assert "veiled" not in reply.text
    assert "veiled" not in browser.get(f"{row}&shown=yes").text
    assert dump(site.study) == before
    assert decide(browser, shown, "appropriate").status_code == 303
    assert len(AdjudicationQueue(site.study.grid()).decisions()) == 1


def test_a_number_is_typed_as_it_is_written(tmp_path: Path) -> None:
    site = Site(rated(tmp_path), Annotate())
    html = page_of(site.browser("judy"), "/adjudicate")
    keys = dict(re.findall(r'name="outcome" value="([^"]+)" data-key="([^"]+)"', html))
    halves = {f"{at}.5": f"{at}. {at}.5" for at in range(1, 5)}
    assert keys == {**{str(at): str(at) for at in range(1, 6)}, **halves, "irreconcilable": "x"}
    site.close()


def test_what_decides_nothing_has_the_word_of_the_study(tmp_path: Path) -> None:
    study = dealt(tmp_path, "one_of(bad,cannot_tell?,good+)")
    said = [(who, pair, "cannot_tell") for who, pair in open_work(study)]
    record(study, tmp_path, said)
    site = Site(study, Annotate())
    html = page_of(site.browser("judy"), "/adjudicate")
    assert ">24 cannot tell</a>" in html
    assert "not sure" not in html
    site.close()


# All conflicts of one row on one screen


def waiting_by_row(site: Site) -> dict[str, list[int]]:
    """The pairs that wait, by the text of their row, the fullest row first."""
    rows: dict[str, list[int]] = {}
    for pair in site.study.grid().waiting_pairs():
        rows.setdefault(site.study.grid().desk.conflict(pair).hs.body, []).append(pair)
    return dict(sorted(rows.items(), key=lambda item: -len(item[1])))


def cases_on(page: Response) -> dict[int, dict[str, str]]:
    """The hidden fields of each case on the page of a row, by its pair."""
    cases = re.findall(r'<form class="row-case".*?</form>', page.text, re.DOTALL)
    fields = [dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', case)) for case in cases]
    return {int(case["cell_id"]): case for case in fields}


def decide_pair(site: Site, pair: int) -> None:
    queue, judy = AdjudicationQueue(site.study.grid()), site.visitor("judy").id
    queue.decide(judy, DecisionRequest(site.new_request(), pair, "appropriate"))


def test_all_that_waits_of_a_row_is_shown_below_its_text_without_names(site: Site) -> None:
    rows, browser = waiting_by_row(site), site.browser("judy")
    for pairs in rows.values():  # a case leads to its row where more of it waits
        link = f'href="/adjudicate/row?pair={pairs[0]}" data-key="r">all {len(pairs)} of this row'
        assert (link in browser.get(f"/adjudicate/{pairs[0]}").text) == (len(pairs) > 1)
    hs, pairs = next(iter(rows.items()))
    assert len(pairs) > 1
    page = browser.get(f"/adjudicate/row?pair={pairs[-1]}")
    assert list(cases_on(page)) == sorted(pairs)
    assert page.text.count(escape(hs)) == 1
    for pair in pairs:
        conflict = site.study.grid().desk.conflict(pair)
        assert conflict.cn.body in unescape(page.text)
        assert all(f"<strong>{answer.label.replace('_', ' ')}</strong>" in page.text for answer in conflict.answers)
    assert not any(name in page.text for name in ANNOTATORS)
    assert "no-store" in page.headers["cache-control"]


def test_a_row_is_decided_case_by_case_and_leads_on_to_the_next_one(site: Site) -> None:
    browser, rows = site.browser("judy"), waiting_by_row(site)
    pairs = next(iter(rows.values()))
    address = f"/adjudicate/row?pair={pairs[0]}"
    fields = cases_on(browser.get(address))[pairs[0]]
    before = dump(site.study)
    overtaken = {**fields, "seen_answer_id": str(int(fields["seen_answer_id"]) + 1), "outcome": "appropriate"}
    reply = browser.post("/adjudicate/row", data={**overtaken, "note": "typed before"})
    assert reply.status_code == 409
    assert "typed before</textarea>" in reply.text
    assert dump(site.study) == before
    reply = browser.post("/adjudicate/row", data={**fields, "outcome": "appropriate", "note": "so"})
    assert (reply.status_code, reply.headers["location"]) == (303, address)
    assert standing(site.study)[pairs[0]] == ("person", 2)
    page = browser.get(address)
    assert list(cases_on(page)) == sorted(pairs[1:])
    assert f"Undo pair {pairs[0]}: appropriate" in page.text
    for pair in pairs[1:]:
        decide_pair(site, pair)
    assert "Nothing of this row is waiting for you" in page_of(browser, address)
    reply = browser.get(f"/adjudicate/row?after={pairs[0]}")
    assert reply.status_code == 303
    (other,) = re.findall(r"^/adjudicate/row\?pair=(\d+)$", reply.headers["location"])
    assert int(other) not in pairs
    for pair in {pair for row in rows.values() for pair in row} - set(pairs):
        decide_pair(site, pair)
    assert browser.get("/adjudicate/row").headers["location"] == "/adjudicate"


def test_no_more_of_a_row_is_shown_than_may_be_read(serve: Serve) -> None:
    site = serve("labelled", Annotate(daily_limit=2))
    pairs, browser = next(iter(waiting_by_row(site).values())), site.browser("judy")
    for pair, n in zip(pairs[:2], (min(1, len(pairs) - 1), 0), strict=True):
        decide_pair(site, pair)
        page = browser.get(f"/adjudicate/row?pair={pairs[0]}")
        assert len(cases_on(page)) == n
    assert "You have reached the limit" in words_of(page.text)


def test_a_long_row_is_shown_in_parts_and_a_queue_holds_in_it_too(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    queue, judy = AdjudicationQueue(site.study.grid()), site.visitor("judy").id
    labels = site.study.grid().labels()
    unsure = set(labels["pair"][labels["label"] == "not_sure"])
    rows = waiting_by_row(site)
    for pairs in rows.values():
        cases = {case.cell_id for case in queue.row_cases(judy, pairs[0], CaseQueue.UNSURE)}
        assert cases == unsure & set(pairs)
    monkeypatch.setattr(adjudication_queue, "MOST_OF_ROW", 2)
    pairs = sorted(next(iter(rows.values())))
    parts = [[case.cell_id for case in queue.row_cases(judy, pair)] for pair in pairs]
    assert parts == [pairs[at - at % 2 :][:2] for at in range(len(pairs))]
    assert queue.n_in_row(judy, pairs[0]) == len(pairs)
