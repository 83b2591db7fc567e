"""The search below the map of the grid: as a page, as an address, and as a file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from steps.small import record

from fcpair.web.lead import search
from web.conftest import Site

Serve = Callable[..., Site]
LINKS = re.compile(r'<a href="/lead/pair/(\d+)">')


def shown(html: str) -> list[int]:
    return list(map(int, LINKS.findall(html)))


def fields(html: str) -> list[str]:
    form = html[html.index('role="search"') :]
    return re.findall(r'<(?:input type="search"|select) name="(\w+)"', form[: form.index("</form>")])


def test_the_search_is_below_the_map_and_finds_nothing_unasked(serve: Serve) -> None:
    html = serve("checked").browser("lea").get("/lead/grid").text
    assert html.index('id="coverage"') < html.index('role="search"')
    assert fields(html) == [*search.TITLES]
    assert shown(html) == []


@pytest.mark.parametrize(
    ("stage", "names"),
    [
        ("empty", ["words"]),
        ("paired", ["words"]),
        ("dealt", ["words", "person", "state"]),
        ("labelled", [*search.TITLES]),
    ],
)
def test_only_filters_that_apply_are_offered(serve: Serve, stage: str, names: list[str]) -> None:
    assert fields(serve(stage).browser("lea").get("/lead/grid").text) == names


def test_rows_lead_to_their_pairs_with_labels_decision_verdict_and_tier(serve: Serve) -> None:
    html = serve("checked").browser("lea").get("/lead/grid?words=cyclists&tier=gold").text
    assert shown(html) == [2, 6]
    assert '<p role="status">2 pairs.' in html
    row = html[html.index("/lead/pair/6") :]
    assert "2 not appropriate, 1 appropriate</td><td>not appropriate</td><td>valid</td><td>gold</td>" in row
    assert '<option value="gold" selected>' in html
    assert 'name="words" value="cyclists"' in html


def test_long_texts_are_shortened_and_escaped(serve: Serve) -> None:
    html = serve("checked").browser("lea").get("/lead/grid", params={"words": '"><script>alert(1)</script>'}).text
    assert "<script>alert" not in html


def test_pages_of_fifty_have_addresses_of_their_own(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    assert search.PAGE == 50
    monkeypatch.setattr(search, "PAGE", 10)
    browser = serve("checked").browser("lea")
    html, seen = browser.get("/lead/grid?words=PEOPLE&state=labelled").text, list[int]()
    while True:
        seen += shown(html)
        link = re.search(r'<a href="([^"]+)">Further pairs', html)
        if not link:
            break
        assert "words=PEOPLE" in link[1]
        html = browser.get(unescape(link[1])).text
    assert seen == [*range(1, 25)]
    assert "here are 21 to 24" in html
    assert shown(browser.get("/lead/grid?words=&after=999999999999999999999").text) == [21, 22, 23, 24]


def test_what_matches_nothing_says_so_and_what_to_remove(serve: Serve) -> None:
    browser = serve("checked").browser("lea")
    html = browser.get("/lead/grid?words=cyclists&state=open").text
    assert "No pair matches. Remove a filter:" in html
    links = dict(re.findall(r'<li><a href="([^"]+)">([^<]+)</a>', html[html.index("No pair matches") :]))
    assert links == {
        "/lead/grid?state=open": "Words in either text: cyclists",
        "/lead/grid?words=cyclists": "State: open, a label is missing",
    }
    assert len(shown(browser.get("/lead/grid?words=cyclists").text)) == 6
    assert "The grid has no pairs yet" in serve("retrieved").browser("lea").get("/lead/grid?words=").text


def test_metadata_are_offered_kept_in_the_address_and_removed(serve: Serve) -> None:
    browser = serve("checked").browser("lea")
    html = browser.get("/lead/grid?hs.hs_topic=people who L&state=open").text
    assert '<select name="cn.cn_type">' in html
    assert "<details open>" in html[html.index('role="search"') :]
    links = dict(re.findall(r'<li><a href="([^"]+)">([^<]+)</a>', html[html.index("No pair matches") :]))
    assert links == {
        "/lead/grid?state=open": "Hate speech: hs_topic: people who L",
        "/lead/grid?hs.hs_topic=people+who+L": "State: open, a label is missing",
    }
    assert len(shown(browser.get("/lead/grid?hs.hs_topic=people+who+L").text)) == 24
    refused = browser.get("/lead/grid?hs.topic=tea")
    assert refused.status_code == 422
    said = unescape(re.sub(r"</?code>", "`", refused.text))
    assert "there is no metadata `hs.topic`; did you mean `hs.hs_topic`?" in said


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("person=anna", "there is no person `anna`; did you mean `ana`?"),
        ("answer=apropriate", "there is no answer `apropriate`; did you mean `appropriate`?"),
        ("tier=golden", "there is no tier `golden`; did you mean `gold`?"),
        ("state=opened", "there is no state `opened`; did you mean `open`?"),
        ("skipped=yess", "there is no value of `skipped` `yess`; did you mean `yes`?"),
        ("words=%00&noted=maybe", "there is no value of `noted` `maybe`; expected yes, no"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest_and_the_form_stays(serve: Serve, query: str, said: str) -> None:
    browser = serve("checked").browser("lea")
    answer = browser.get(f"/lead/grid?words=cats&{query}")
    assert answer.status_code == 422
    assert said in unescape(re.sub(r"</?code>", "`", answer.text))
    assert fields(answer.text) == [*search.TITLES]
    assert browser.get(f"/lead/grid/pairs.csv?{query}").status_code == 422


def test_the_file_has_all_rows_that_match_and_guards_formulas(serve: Serve, tmp_path: Path) -> None:
    site = serve("checked")
    browser = site.browser("lea")
    html = browser.get("/lead/grid?state=decided").text
    link = re.search(r'<a href="([^"]+)" download>', html)
    assert link
    answer = browser.get(unescape(link[1]))
    assert answer.headers["content-disposition"] == 'attachment; filename="pairs.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [int(row["pair"]) for row in rows] == shown(html)
    assert rows[1]["labels"] == "2 not_appropriate"
    with site.study._store.write() as tx:
        tx.exec_driver_sql("UPDATE text SET body = '=1+1 ' || body WHERE kind = 'hs'")
    guarded = list(csv.DictReader(io.StringIO(browser.get("/lead/grid/pairs.csv?words=").text)))
    assert {row["hs"][:5] for row in guarded} == {"'=1+1"}
    assert len(guarded) == 24


def test_only_leads_search(serve: Serve) -> None:
    site = serve("checked")
    for name in ("ana", "vera", "judy"):
        for address in ("/lead/grid?words=cats", "/lead/grid/pairs.csv?words=cats"):
            assert site.browser(name).get(address).status_code == 403


def test_a_filter_of_one_person_is_about_their_answers(serve: Serve, tmp_path: Path) -> None:
    site = serve("labelled")
    browser = site.browser("lea")
    whose = site.study.grid().labels()
    both = whose[whose["annotator"] == "cleo"]["pair"].tolist()
    record(site.study, tmp_path, [("cleo", both[0], "skip")], supersede=True)
    html = browser.get("/lead/grid?person=cleo&skipped=yes").text
    assert shown(html) == both[:1]
    assert "are those of cleo" in html
    assert shown(browser.get("/lead/grid?person=ana&skipped=yes").text) == []
