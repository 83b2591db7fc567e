"""The adjudicators' pages: deciding, looking again, taking back, and what nobody may be shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path
from threading import Event

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from steps.scales import rated
from steps.small import ANNOTATORS, dump, open_work, record, standing

from fcpair.grid import AdjudicationQueue
from fcpair.params import Adjudicate, Annotate
from fcpair.records import Role
from fcpair.steps.adjudication import case_queues
from fcpair.study import Study
from fcpair.web.context import Context
from fcpair.web.languages import ENGLISH
from fcpair.web.pages.adjudicate import in_words
from web.conftest import Site

SCRIPT = "<script>alert(1)</script>"
AWAITED = "the order by doubt is being worked out; mixed until then"
Enter = Callable[..., TestClient]


@pytest.fixture
def site(serve: Callable[..., Site]) -> Site:
    """All labels are in, and nothing is decided."""
    return serve("labelled")


@pytest.fixture
def study(site: Site) -> Study:
    return site.study


@pytest.fixture
def enter(site: Site) -> Enter:
    """Lets somebody in, as an adjudicator unless they are there already, and gives their browser."""

    def enter(name: str, *, consent: bool = True) -> TestClient:
        if name not in {one.name for one in site.study.people}:
            site.study.add_people([name], Role.ADJUDICATOR)
        site.token(name, consent=consent)
        return site.browser(name)

    return enter


def form(page: Response, action: str) -> dict[str, str]:
    """The hidden fields of the form that a page sends to an address."""
    match = re.search(rf'<form[^>]* action="{action}".*?</form>', page.text, re.DOTALL)
    assert match, f"no form to {action}"
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', match[0])
    return {name: unescape(value) for name, value in fields}


def decide(browser: TestClient, page: Response, outcome: str, **more: str) -> Response:
    return browser.post("/adjudicate", data={**form(page, "/adjudicate"), "outcome": outcome, **more})


def pair_on(page: Response) -> int:
    return int(form(page, "/adjudicate")["cell_id"])


def test_a_conflict_is_shown_with_its_texts_labels_and_keys_and_without_names(study: Study, enter: Enter) -> None:
    page = enter("judy").get("/adjudicate")
    conflict = study.grid().desk.conflict(pair_on(page))
    text = unescape(page.text)
    assert page.status_code == 200
    assert conflict.hs.body in text
    assert conflict.cn.body in text
    assert all(f"<strong>{one.label.replace('_', ' ')}</strong>" in text for one in conflict.answers)
    keys = re.findall(r'name="outcome" value="(\w+)" data-key="(\w)"', text)
    assert keys == [("not_appropriate", "1"), ("appropriate", "3"), ("irreconcilable", "x")]
    assert not any(name in text for name in ANNOTATORS)


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


def _labels(study: Study) -> list[tuple[int, str]]:
    rows = study.grid().labels()
    return list(zip(rows["pair"].tolist(), rows["annotator"].tolist(), strict=True))


def test_a_decision_is_kept_and_the_next_conflict_shown(study: Study, enter: Enter) -> None:
    browser = enter("judy")
    page = browser.get("/adjudicate")
    reply = decide(browser, page, "appropriate", note=" because, نه \n", flagged="yes")
    assert (reply.status_code, reply.headers["location"]) == (303, f"/adjudicate?after={pair_on(page)}")
    (kept,) = AdjudicationQueue(study.grid()).decisions()
    assert (kept.cell_id, kept.outcome, kept.by) == (pair_on(page), "appropriate", "judy")
    assert (kept.note, kept.flagged) == ("because, نه", True)
    assert pair_on(browser.get(reply.headers["location"])) != pair_on(page)


def test_the_same_form_sent_again_is_kept_once(study: Study, enter: Enter) -> None:
    browser = enter("judy")
    page = browser.get("/adjudicate")
    replies = [decide(browser, page, "irreconcilable") for _ in range(2)]
    assert [reply.status_code for reply in replies] == [303, 303]
    assert len(study.grid().explain(pair_on(page)).decisions) == 1


def test_another_answer_on_the_same_form_shows_the_decision_and_what_was_typed(study: Study, enter: Enter) -> None:
    browser = enter("judy")
    page = browser.get("/adjudicate")
    decide(browser, page, "irreconcilable")
    reply = decide(browser, page, "appropriate", note="on second thoughts")
    assert reply.status_code == 409
    assert "Your decision on this pair: <strong>irreconcilable</strong>" in reply.text
    assert "on second thoughts</textarea>" in reply.text
    assert decide(browser, reply, "appropriate").status_code == 303
    assert standing(study)[pair_on(page)] == ("person", 2)


def test_who_comes_second_is_told_who_was_first_and_overrules_nobody(study: Study, enter: Enter) -> None:
    judy, jack = enter("judy"), enter("jack")
    page = judy.get("/adjudicate")
    assert decide(jack, jack.get(f"/adjudicate/{pair_on(page)}"), "irreconcilable").status_code == 303
    before = dump(study)
    reply = decide(judy, page, "appropriate")
    assert reply.status_code == 409
    assert f"Pair {pair_on(page)} has been decided by jack meanwhile." in reply.text
    assert pair_on(reply) != pair_on(page)
    assert dump(study) == before


def test_one_s_own_decision_is_looked_at_again_and_changed(study: Study, enter: Enter) -> None:
    browser = enter("judy")
    pair = pair_on(page := browser.get("/adjudicate"))
    decide(browser, page, "irreconcilable", note="hm", flagged="yes")
    again = browser.get(f"/adjudicate/{pair}")
    assert "Your decision on this pair: <strong>irreconcilable</strong>" in again.text
    assert "hm</textarea>" in again.text
    assert re.search(r'name="flagged"[^>]* checked', again.text)
    decide(browser, again, "not_appropriate")
    assert standing(study)[pair] == ("person", 0)


def test_the_last_decision_is_taken_back_and_shown_again(study: Study, enter: Enter) -> None:
    browser = enter("judy")
    pair = pair_on(page := browser.get("/adjudicate"))
    assert "/undo" not in page.text
    after = browser.get(decide(browser, page, "appropriate").headers["location"])
    address = f"/adjudicate/{pair}/undo"
    replies = [browser.post(address, data=form(after, address)) for _ in range(2)]
    assert [(one.status_code, one.headers["location"]) for one in replies] == [(303, f"/adjudicate/{pair}")] * 2
    assert pair_on(browser.get(f"/adjudicate/{pair}")) == pair
    assert [row["rule"] for row in study.grid().explain(pair).decisions] == ["person", "reopened"]


def test_somebody_else_s_decision_is_not_taken_back(study: Study, enter: Enter) -> None:
    judy, jack = enter("judy"), enter("jack")
    decide(jack, page := jack.get("/adjudicate"), "appropriate")
    fields = {"csrf": form(judy.get("/adjudicate"), "/adjudicate")["csrf"], "request_id": "undo-request"}
    reply = judy.post(f"/adjudicate/{pair_on(page)}/undo", data=fields)
    assert reply.status_code == 409
    assert f"Pair {pair_on(page)} has been decided by jack meanwhile" in reply.text
    assert standing(study)[pair_on(page)] == ("person", 2)


def test_later_goes_on_to_another_conflict(enter: Enter) -> None:
    browser = enter("judy")
    page = browser.get("/adjudicate")
    onward = f"/adjudicate?after={pair_on(page)}"
    assert f'href="{onward}"' in page.text
    assert pair_on(browser.get(onward)) != pair_on(page)
    assert pair_on(browser.get("/adjudicate")) == pair_on(page)


def test_a_queue_is_chosen_by_a_link_with_its_count_and_kept_from_case_to_case(study: Study, enter: Enter) -> None:
    browser, rows = enter("judy"), study.grid().labels()
    unsure = set(rows["pair"][rows["label"] == "not_sure"]) & set(study.grid().waiting_pairs())
    (link,) = re.findall(rf'<a href="([^"]+)">{len(unsure)} not sure</a>', browser.get("/adjudicate").text)
    assert link == "/adjudicate?queue=not_sure"
    page, action, seen = browser.get(link), re.escape(link), set[int]()
    for _ in unsure:
        seen.add(pair := int(form(page, action)["cell_id"]))
        data = {**form(page, action), "outcome": "irreconcilable"}
        page = browser.get(browser.post(link, data=data).headers["location"])
        assert f'action="/adjudicate/{pair}/undo?queue=not_sure"' in page.text
    assert seen == unsure
    assert "Nothing is waiting for you" in page.text
    assert '<a href="/adjudicate">Go on with all that wait</a>' in page.text


@pytest.fixture
def docket(site: Site) -> AdjudicationQueue:
    """What the pages show."""
    context: Context = site.app.state.context
    return context.grids.oldest.adjudication_queue


def test_the_order_by_rows_is_chosen_by_a_link_and_kept(enter: Enter, docket: AdjudicationQueue) -> None:
    browser = enter("judy")
    assert '<a href="/adjudicate?order=row">row by row</a>' in browser.get("/adjudicate").text
    page = browser.get("/adjudicate?order=row&queue=not_sure")
    assert 'action="/adjudicate?queue=not_sure&amp;order=row"' in page.text
    assert '<a href="/adjudicate?queue=not_sure">mixed</a>' in page.text
    assert '<a href="/adjudicate?queue=not_sure&amp;order=doubt">doubtful first</a>' in page.text
    page = browser.get("/adjudicate?order=doubt")
    assert '<a href="/adjudicate">mixed</a> · <a href="/adjudicate?order=row">row by row</a>' in page.text
    docket.wait_for_ranking()


def test_until_the_order_by_doubt_is_there_the_page_says_so_and_everything_goes_on(
    study: Study, enter: Enter, docket: AdjudicationQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranked, decided = study.grid().desk.agenda("judy", order="doubt").pairs, []
    fitting, estimate, address = Event(), case_queues.estimate_doubts, "/adjudicate?order=doubt"
    monkeypatch.setattr(case_queues, "estimate_doubts", lambda labels: estimate(labels) if fitting.wait() else {})
    judy, jack = enter("judy"), enter("jack")
    page = judy.get(address)
    assert AWAITED in page.text
    assert form(page, re.escape(address))["cell_id"] == str(pair_on(judy.get("/adjudicate")))
    for browser, path in ((judy, address), (jack, "/adjudicate")):
        case = form(browser.get(path), re.escape(path))
        assert browser.post(path, data={**case, "outcome": "irreconcilable"}).status_code == 303
        decided.append(int(case["cell_id"]))
    fitting.set()
    docket.wait_for_ranking()
    page = judy.get(f"{address}&after={decided[0]}")
    assert AWAITED not in page.text
    in_turn = [*ranked[::2], *ranked[1::2]]
    assert int(form(page, re.escape(address))["cell_id"]) == next(pair for pair in in_turn if pair not in decided)


def test_the_time_that_the_rest_takes_is_told_once_it_is_known(study: Study, enter: Enter) -> None:
    browser = enter("judy")
    for _ in range(5):
        decide(browser, browser.get("/adjudicate"), "irreconcilable")
    assert not re.search(r"about a minute\s+left", browser.get("/adjudicate").text)
    decide(browser, browser.get("/adjudicate"), "irreconcilable")
    assert "· about a minute left" in browser.get("/adjudicate").text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (0.0, ""),
        (20.0, "about a minute"),
        (700.0, "about 12 min"),
        (2_300.0, "about 40 min"),
        (5_000.0, "about 85 min"),
        (9_000.0, "about 2.5 h"),
    ],
)
def test_a_time_is_told_no_more_exactly_than_a_pace_can_be(seconds: float | None, words: str) -> None:
    assert in_words(seconds, ENGLISH) == words


def test_when_nothing_waits_that_is_said_and_the_last_decision_can_still_be_undone(study: Study, enter: Enter) -> None:
    browser = enter("judy")
    for _ in study.grid().waiting_pairs():
        decide(browser, browser.get("/adjudicate"), "irreconcilable")
    page = browser.get("/adjudicate")
    assert "Nothing is waiting for you" in page.text
    assert "/undo" in page.text


def test_what_is_not_due_is_counted_and_not_shown(study: Study, enter: Enter, tmp_path: Path) -> None:
    pair = study.grid().waiting_pairs()[0]
    who = next(name for number, name in _labels(study) if number == pair)
    record(study, tmp_path, [(who, pair, "skip")], supersede=True)
    assert pair in {number for _, number in open_work(study)}
    browser = enter("judy")
    page = browser.get(f"/adjudicate/{pair}")
    assert page.status_code == 409
    assert f"Pair {pair} is still being labelled" in page.text
    assert pair_on(page) != pair


def test_the_list_says_what_is_decided_by_whom_and_why(study: Study, enter: Enter) -> None:
    study.grid().adjudicate(Adjudicate("majority"))
    judy, jack = enter("judy"), enter("jack")
    decide(jack, page := jack.get("/adjudicate"), "irreconcilable", note="<b>why</b>", flagged="yes")
    listed = judy.get("/adjudicate/decided").text
    assert f"Pair {pair_on(page)}: irreconcilable" in listed
    assert "&lt;b&gt;why&lt;/b&gt;" in listed
    assert re.search(r"jack · .*the guidelines should say more here", listed, re.DOTALL)
    assert "the labels agree" in listed
    assert "majority of the labels" in listed
    assert "again</a>" not in listed
    assert f"Look at pair {pair_on(page)} again" in jack.get("/adjudicate/decided?by=jack").text
    assert 'id="decision-' not in judy.get("/adjudicate/decided?by=judy").text


def test_the_earlier_address_of_ones_own_decisions_leads_to_them(study: Study, enter: Enter) -> None:
    judy, jack = enter("judy"), enter("jack")
    decide(jack, page := jack.get("/adjudicate"), "irreconcilable")
    leading = jack.get("/adjudicate/decided?mine=true", follow_redirects=False)
    assert (leading.status_code, leading.headers["location"]) == (303, "/adjudicate/decided?by=jack")
    assert 'id="decision-' in jack.get("/adjudicate/decided?mine=true", follow_redirects=True).text
    assert 'id="decision-' not in judy.get("/adjudicate/decided?mine=true", follow_redirects=True).text
    assert f"Pair {pair_on(page)}:" in judy.get("/adjudicate/decided?mine=false").text
    assert judy.get("/adjudicate/decided?mine=perhaps").status_code == 422


def test_the_list_has_pages(study: Study, enter: Enter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcpair.web.pages.adjudicate.LISTED", 8)
    study.grid().adjudicate(Adjudicate("majority"))
    browser, address, seen = enter("judy"), "/adjudicate/decided", list[str]()
    while address:
        page = browser.get(address).text
        seen += re.findall(r"Pair (\d+):", page)
        older = re.search(r'href="([^"]+)">Older', page)
        address = unescape(older[1]) if older else ""
    assert sorted(map(int, seen)) == sorted(standing(study))


def test_the_list_is_searched_by_an_address_and_its_form_holds_the_search(study: Study, enter: Enter) -> None:
    study.grid().adjudicate(Adjudicate("majority"))
    judy, jack = enter("judy"), enter("jack")
    decide(jack, page := jack.get("/adjudicate"), "irreconcilable", flagged="yes")
    search = {"words": "", "outcome": "irreconcilable", "by": "jack", "flagged": "true"}
    listed = judy.get("/adjudicate/decided", params=search).text
    assert re.findall(r"Pair (\d+):", listed) == [str(pair_on(page))]
    assert '<option value="irreconcilable" selected>' in listed
    assert '<option value="jack" selected>' in listed
    assert 'value="true" checked>' in listed


def test_each_decision_shows_its_labels_with_counts_and_without_names(study: Study, enter: Enter) -> None:
    judy = enter("judy")
    decide(judy, page := judy.get("/adjudicate"), "irreconcilable")
    listed = judy.get("/adjudicate/decided").text
    labels = study.grid().labels().query(f"pair == {pair_on(page)}")["label"].value_counts()
    (shown,) = re.findall("<p>Labels: (.*)</p>", listed)
    assert sorted(shown.split(", ")) == sorted(f"{n} {name}".replace("_", " ") for name, n in labels.items())
    assert not any(name in listed for name in ANNOTATORS)


def test_older_pages_keep_the_search(study: Study, enter: Enter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcpair.web.pages.adjudicate.LISTED", 2)
    study.grid().adjudicate(Adjudicate("majority"))
    listed = enter("judy").get("/adjudicate/decided?outcome=appropriate&words=A").text
    (older,) = re.findall(r'href="([^"]+)">Older', listed)
    assert "outcome=appropriate" in older
    assert "words=A" in older


def test_a_search_that_finds_nothing_says_what_to_do(study: Study, enter: Enter) -> None:
    judy = enter("judy")
    assert "Nothing is decided yet." in judy.get("/adjudicate/decided").text
    listed = judy.get("/adjudicate/decided?words=<zebra>").text
    assert "No decision matches this search. Try fewer words or another choice" in listed
    assert 'value="&lt;zebra&gt;"' in listed


ADDRESSES = ("/adjudicate", "/adjudicate/decided", "/adjudicate/1")


def test_before_consent_every_page_leads_to_the_welcome(study: Study, enter: Enter) -> None:
    browser = enter("judy", consent=False)
    for address in ADDRESSES:
        reply = browser.get(address)
        assert (reply.status_code, reply.headers["location"]) == (303, "/welcome")


@pytest.mark.parametrize("name", ["ana", "vera", "lea"])
def test_the_pages_are_for_adjudicators_alone(enter: Enter, name: str) -> None:
    browser = enter(name)
    assert [browser.get(address).status_code for address in ADDRESSES] == [403, 403, 403]
    sent = {"request_id": "a-request", "cell_id": "1", "outcome": "appropriate"}
    assert [browser.post(address, data=sent).status_code for address in ("/adjudicate", "/adjudicate/1/undo")] == [
        403,
        403,
    ]


def test_a_form_without_its_guard_changes_nothing(study: Study, enter: Enter) -> None:
    browser = enter("judy")
    page = browser.get("/adjudicate")
    before = dump(study)
    assert decide(browser, page, "appropriate", csrf="x").status_code == 403
    assert dump(study) == before


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/adjudicate/999", 404),
        ("/adjudicate/0", 422),
        (f"/adjudicate/{2**63}", 422),
        ("/adjudicate/x", 422),
        ("/adjudicate?after=0", 422),
        ("/adjudicate?queue=mine", 422),
        ("/adjudicate?order=column", 422),
        ("/adjudicate?after=999", 200),
        ("/adjudicate/decided?before=1", 200),
        ("/adjudicate/decided?outcome=not_sure", 422),
        ("/adjudicate/decided?by=zoe", 422),
        ("/adjudicate/decided?by=ana", 422),
        ("/adjudicate/decided?flagged=perhaps", 422),
        ("/adjudicate/decided?words=" + "w" * 201, 422),
        ("/adjudicate/decided?words=%25%27%00_", 200),
        ("/adjudicate/decided?words=&outcome=&by=judy", 200),
    ],
)
def test_addresses_that_make_no_sense_are_refused(enter: Enter, address: str, status: int) -> None:
    assert enter("judy").get(address).status_code == status


@pytest.mark.parametrize(
    "wrong", [{"outcome": "not_sure"}, {"request_id": "short"}, {"cell_id": "x"}, {"note": "n" * 4001}]
)
def test_forms_that_make_no_sense_are_refused(study: Study, enter: Enter, wrong: dict[str, str]) -> None:
    browser = enter("judy")
    page = browser.get("/adjudicate")
    before = dump(study)
    assert decide(browser, page, **{"outcome": "appropriate", **wrong}).status_code == 422
    assert dump(study) == before


# Care


def test_the_limit_holds_at_the_page_too(serve: Callable[..., Site]) -> None:
    site = serve("labelled", Annotate(daily_limit=1))
    browser = site.browser("judy")
    page = browser.get("/adjudicate")
    assert "0 of 1 today" in page.text
    sent = form(page, "/adjudicate")
    decide(browser, page, "appropriate")
    assert "You have read 1 pair today" in browser.get("/adjudicate").text
    waiting = str(site.study.grid().waiting_pairs()[0])
    before = dump(site.study)
    more = {**sent, "request_id": site.new_request(), "cell_id": waiting, "outcome": "appropriate"}
    assert browser.post("/adjudicate", data=more).status_code == 403
    assert browser.get(f"/adjudicate/{waiting}").status_code == 403
    assert dump(site.study) == before
    assert 'id="pair"' not in browser.get("/adjudicate").text


def test_no_case_is_given_ahead_that_could_not_be_read_any_more(serve: Callable[..., Site]) -> None:
    browser = serve("labelled", Annotate(daily_limit=2)).browser("judy")
    onward = f"/adjudicate?after={pair_on(browser.get('/adjudicate'))}"
    assert 'id="pair"' in browser.get(f"{onward}&ahead=1").text
    assert 'id="pair"' not in browser.get(f"{onward}&ahead=2").text
    assert browser.get(f"{onward}&ahead=-1").status_code == 422


def test_a_hidden_hs_is_shown_before_a_decision_counts(site: Site) -> None:
    browser = site.browser("judy")
    site.study.access.set_blurred(next(one.id for one in site.study.people if one.name == "judy"), True)
    page = browser.get("/adjudicate")
    assert 'class="words veiled" aria-hidden="true"' in page.text
    before = dump(site.study)
    shown = decide(browser, page, "appropriate", note="tea", flagged="yes")
    assert "veiled" not in shown.text
    assert re.search(r"<textarea[^>]*>\ntea</textarea>", shown.text)
    assert dump(site.study) == before
    assert decide(browser, shown, "appropriate").status_code == 303
    assert len(AdjudicationQueue(site.study.grid()).decisions()) == 1


def test_a_number_is_typed_as_it_is_written(tmp_path: Path) -> None:
    site = Site(rated(tmp_path), Annotate())
    page = site.browser("judy").get("/adjudicate").text
    keys = dict(re.findall(r'name="outcome" value="([^"]+)" data-key="([^"]+)"', page))
    halves = {f"{at}.5": f"{at}. {at}.5" for at in range(1, 5)}
    assert keys == {**{str(at): str(at) for at in range(1, 6)}, **halves, "irreconcilable": "x"}
    site.close()
