"""The page of the grid: its map as a file and in tables, the search below it, and acts on what that finds."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from fcpair.records import TIERS
from fcpair.report.map_file import CORPUS, OUTSIDE, CellAnswers, CellStandings, build_layers, measure_side
from fcpair.web import languages
from fcpair.web.languages import ENGLISH, LANGUAGES
from fcpair.web.lead import pair_view, panels, search
from fcpair.words import Noun
from web.conftest import LookAt, Serve, page_of, post, send, sentences_of, value_of
from web.lead.test_in_languages import Marking

CHIP = re.compile(r'<li><a href="([^"]+)" class="chip"[^>]*>([^<]+)')
LINKS = re.compile(r'<a href="/lead/pair/(\d+)\?[^"]*from=search">')


def head_of(content: bytes) -> dict[str, Any]:
    end = 4 + int.from_bytes(content[:4], "little")
    head: dict[str, Any] = json.loads(content[4:end])
    return head


def test_the_file_says_what_can_be_coloured_and_ordered_and_is_compressed_for_who_takes_that(look_at: LookAt) -> None:
    browser = look_at("checked").browser("lea")
    response = browser.get("/lead/grid/map")
    assert response.headers["content-encoding"] == "gzip"
    assert response.headers["cache-control"] == "no-store"
    head = head_of(response.content)
    assert head["shape"] == [4, 6]
    names = ["state", "tier", "answer", "agreement", "labels", "time", "skips"]
    assert [layer["name"] for layer in head["layers"]] == names
    orders = ["share-0", "share-1", "share-2", "disagreement", "likeness"]
    assert [order["name"] for order in head["orders"]["rows"]] == orders
    assert [order["name"] for order in head["orders"]["columns"]] == orders
    for layer in head["layers"]:
        assert all(one["light"].startswith("#") and one["dark"].startswith("#") for one in layer["classes"])
        colours = [one["light"] for one in layer["classes"]]
        assert len(set(colours)) == len(colours)
    assert "cyclists" not in str(head)
    plain = browser.get("/lead/grid/map", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert head_of(plain.content)["cells"] == 24


def test_all_that_a_map_says_in_words_is_a_message_and_the_same_in_english() -> None:
    """Of answers that are decided on and of others; tiers have names."""
    counts = np.stack([np.arange(12), np.zeros(12, np.int64)], axis=1)
    choices = "not_appropriate", "appropriate"
    answers = CellAnswers(choices, counts, counts.sum(axis=1), np.arange(12) % 5, np.linspace(0, 100, 12))
    standings = CellStandings(np.arange(12) % 7, np.full(12, -1), np.arange(12) % 5)
    with_own = replace(standings, own_tiers={"24": np.arange(12) > 5})  # a name without letters needs no translation
    layers = [layer for of in (standings, with_own, None) for layer in build_layers(answers, of)]
    side = measure_side("rows", np.arange(12) % 3, np.arange(12) % 4, (3, 4), answers, ("a", "b", "c"))
    words = {meaning for layer in layers for meaning in (layer.title, *(one.meaning for one in layer.classes))}
    words |= {order.title for order in side.orders} | {CORPUS[0], OUTSIDE[0]}
    assert len(words) > 20
    for meaning in words - {*TIERS}:
        assert ENGLISH.say(meaning, Noun.of("pair")) == meaning
        assert "⟦" in Marking("it").say(meaning, Noun.of("pair")), meaning


def test_its_words_are_in_the_language_of_the_page(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    site = serve("checked")
    monkeypatch.setitem(LANGUAGES, "it", Marking("it"))
    site.study.save_words(language="it")
    head = head_of(site.browser("lea").get("/lead/grid/map").content)
    classes = [one for layer in head["layers"] for one in layer["classes"]] + head["outside"]
    words = [one["meaning"] for one in classes]
    words += [one["title"] for one in (*head["layers"], *head["orders"]["rows"], *head["orders"]["columns"])]
    assert {meaning for meaning in words if "⟦" not in meaning} == {*TIERS}
    assert "⟦not appropriate⟧" in words


def test_what_there_is_not_is_said(look_at: LookAt) -> None:
    site = look_at("checked")
    for path, sentence in {
        "map?question=moods": "there is no question `moods`",
        "texts?side=diagonal": "a grid has no side `diagonal`; it has rows and columns",
        "corners.csv": "a grid has no side `corners`",
        "rows.csv?question=moods": "there is no question `moods`",
    }.items():
        response = site.browser("lea").get(f"/lead/grid/{path}")
        assert response.status_code == 404
        assert sentence in re.sub("</?code>", "`", response.text.lower())
    browser = look_at("imported").browser("lea")
    html = page_of(browser, "/lead/grid")
    assert 'id="map"' not in html
    assert "No grid yet" in html
    for path in ("map", "rows.csv"):
        response = browser.get(f"/lead/grid/{path}")
        assert response.status_code == 404
        assert "has no pairs yet" in response.text


def test_texts_come_some_at_a_time_and_shortened(look_at: LookAt, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = look_at("checked").browser("lea")
    rows = browser.get("/lead/grid/texts?side=rows").json()
    assert len(rows) == 4
    assert rows[0] == "People who like cyclists cannot be trusted."
    monkeypatch.setattr(search, "N_TEXTS", 2)
    monkeypatch.setattr(search, "N_CHARACTERS", 6)
    assert browser.get("/lead/grid/texts?side=rows&first=3").json() == ["People…"]
    assert len(browser.get("/lead/grid/texts?side=columns&first=1").json()) == 2


def test_a_side_is_a_table_and_a_file(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = serve("checked").browser("lea")
    response = browser.get("/lead/grid/rows.csv")
    assert 'filename="rows.csv"' in response.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert [row["number"] for row in rows] == ["1", "2", "3", "4"]
    assert sum(int(row["answers"]) for row in rows) == 42
    shares = ("share of not appropriate", "share of not sure", "share of appropriate")
    assert all(abs(sum(float(row[name]) for name in shares) - 1) < 1e-9 for row in rows)
    html = page_of(browser, "/lead/panel/coverage")
    assert "<summary>4 rows:" in html.lower()
    assert "People who like cyclists cannot be trusted." in html
    monkeypatch.setattr(panels, "MOST_LISTED", 3)
    html = page_of(browser, "/lead/panel/coverage")
    assert "People who like cyclists" not in html
    assert html.count("More than a page can show.") == 2


# Searching


def shown(html: str) -> list[int]:
    return list(map(int, LINKS.findall(html)))


def filters(html: str) -> list[str]:
    form = html[html.index('role="search"') :]
    return re.findall(r'<(?:input type="search"|select) name="(\w+)"', form[: form.index("</form>")])


def test_the_filters_offer_what_applies_above_the_map_and_all_pairs(look_at: LookAt) -> None:
    browser = look_at("checked").browser("lea")
    html = page_of(browser, "/lead/grid?colour=answer&rows=likeness&zoom=2")
    assert html.index('role="search"') < html.index('id="map"') < html.index('id="pairs"') < html.index('id="coverage"')
    assert shown(html) == [*range(1, 25)]
    offered = {
        "paired": ["words"],
        "dealt": ["words", "state", "person"],
        "labelled": [*pair_view.TITLES],
        "checked": [*pair_view.TITLES],
    }
    for stage, names in offered.items():
        assert filters(page_of(look_at(stage).browser("lea"), "/lead/grid")) == names, stage
    assert 'role="search"' not in page_of(look_at("empty").browser("lea"), "/lead/grid")


def test_rows_lead_to_their_pairs_with_labels_decision_verdict_and_tier(look_at: LookAt) -> None:
    browser = look_at("checked").browser("lea")
    html = page_of(browser, "/lead/grid?words=cyclists&tier=gold")
    assert shown(html) == [2, 6]
    assert "2 pairs match" in html
    assert ">1–2 of 2<" in html
    row = html[html.index("/lead/pair/6") :]
    assert "2 not appropriate, 1 appropriate</td><td>not appropriate</td><td>valid</td><td>gold</td>" in row
    assert '<option value="gold" selected>' in html
    assert 'name="words" value="cyclists"' in html
    html = browser.get("/lead/grid", params={"words": '"><script>alert(1)</script>'}).text
    assert "<script>alert" not in html


def test_labels_keep_their_numbers_on_a_page_from_right_to_left(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "ANSWER_NAMES", ())  # as those are that a study thinks up
    site = serve("checked")
    site.study.save_words(language="fa")
    html = page_of(site.browser("lea"), "/lead/grid?words=cyclists&tier=gold")
    assert "۲ \u2068not appropriate\u2069، ۱ \u2068appropriate\u2069</td>" in html


def test_pages_of_fifty_have_addresses_of_their_own(look_at: LookAt, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pair_view.PAGE == 50
    monkeypatch.setattr(pair_view, "PAGE", 10)
    browser = look_at("checked").browser("lea")
    html, seen = page_of(browser, "/lead/grid?words=PEOPLE&state=labelled"), list[int]()
    while True:
        seen += shown(html)
        link = re.search(r'href="([^"]+)">Further pairs', html)
        if not link:
            break
        assert "words=PEOPLE" in link[1]
        html = page_of(browser, link[1])
    assert seen == [*range(1, 25)]
    assert "21–24 of 24" in html
    assert shown(page_of(browser, "/lead/grid?words=&after=999999999999999999999")) == [21, 22, 23, 24]


def test_what_matches_nothing_says_so_and_what_to_remove(look_at: LookAt) -> None:
    browser = look_at("checked").browser("lea")

    def removable(query: str) -> dict[str, str]:
        html = browser.get(f"/lead/grid?{query}").text
        assert "No pair matches" in html
        return {address: unescape(text.strip()) for address, text in re.findall(CHIP, html)}

    assert removable("words=cyclists&state=open") == {
        "/lead/grid?state=open": "Words in either text: cyclists",
        "/lead/grid?words=cyclists": "State: open, a label is missing",
    }
    assert len(shown(page_of(browser, "/lead/grid?words=cyclists"))) == 6
    html = page_of(browser, "/lead/grid?hs.hs_topic=people who L&state=open")
    assert '<select name="cn.cn_type">' in html
    assert "<details open>" in html[html.index('role="search"') :]
    assert removable("hs.hs_topic=people who L&state=open") == {
        "/lead/grid?state=open": "Hate speech: hs_topic: people who L",
        "/lead/grid?hs.hs_topic=people+who+L": "State: open, a label is missing",
    }
    assert len(shown(page_of(browser, "/lead/grid?hs.hs_topic=people+who+L"))) == 24
    assert "No grid yet" in page_of(look_at("retrieved").browser("lea"), "/lead/grid?words=")


def test_unknown_names_are_refused_with_the_nearest_and_the_form_stays(look_at: LookAt) -> None:
    browser = look_at("checked").browser("lea")
    for query, sentence in {
        "hs.topic=tea": "there is no metadata `hs.topic`; did you mean `hs.hs_topic`?",
        "person=anna": "there is no person `anna`; did you mean `ana`?",
        "answer=apropriate": "there is no answer `apropriate`; did you mean `appropriate`?",
        "tier=golden": "there is no tier `golden`; did you mean `gold`?",
        "state=opened": "there is no state `opened`; did you mean `open`?",
        "skipped=yess": "there is no value of `skipped` `yess`; did you mean `yes`?",
        "words=%00&noted=maybe": "there is no value of `noted` `maybe`; expected yes, no",
    }.items():
        answer = browser.get(f"/lead/grid?words=cats&{query}")
        assert answer.status_code == 422
        assert sentence in sentences_of(answer.text)
        assert filters(answer.text) == [*pair_view.TITLES]
        assert browser.get(f"/lead/grid/pairs.csv?{query}").status_code == 422


def test_the_file_has_all_rows_that_match_and_guards_formulas(serve: Serve) -> None:
    site = serve("checked")
    browser = site.browser("lea")
    html = page_of(browser, "/lead/grid?state=decided")
    answer = browser.get("/lead/grid/pairs.csv?state=decided&scope=all")
    assert answer.headers["content-disposition"] == 'attachment; filename="pairs.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [int(row["pair"]) for row in rows] == shown(html)
    assert rows[1]["labels"] == "2 not_appropriate"
    with site.study._store.write() as tx:
        tx.exec_driver_sql("UPDATE text SET body = '=1+1 ' || body WHERE kind = 'hs'")
    guarded = list(csv.DictReader(io.StringIO(browser.get("/lead/grid/pairs.csv?words=").text)))
    assert [row["hs"][:5] for row in guarded] == ["'=1+1"] * 24


def test_a_filter_of_one_person_is_about_their_answers(look_at: LookAt) -> None:
    site = look_at("labelled")
    labels = site.study.grid().labels().query("annotator == 'ben' and label == 'not_sure'")
    html = page_of(site.browser("lea"), "/lead/grid?person=ben&answer=not_sure")
    assert shown(html) == labels["pair"].tolist() != []
    assert "are those of ben" in html


# Acting on the pairs that were found

LABELS, DECISIONS = "/lead/grid/act/labels", "/lead/grid/act/decisions"


def test_what_nobody_may_give_is_a_warning(look_at: LookAt) -> None:
    html = look_at("dealt").browser("lea").get(f"{LABELS}?scope=all").text
    assert '<p class="notice warning" data-word="Warning">Nobody may give' in html


def confirm(browser: TestClient, html: str) -> str:
    action = re.search(r'<form method="post" action="(/lead/grid/act/[^"]+)"', html)
    assert action
    return post(browser, unescape(action[1]), confirmed=value_of(html, "confirmed"))


def test_ticked_pairs_get_another_label_and_the_log_names_the_lead(serve: Serve) -> None:
    site = serve("decided")
    browser, grid = site.browser("lea"), site.study.grid()
    html = browser.get(f"{LABELS}?words=cyclists&scope=ticked&pair=1&pair=2&pair=3").text
    assert "<h1>Ask for another label?</h1>" in html
    n = sum(map(int, re.findall(r"<li>\w+: (\d+) pairs?</li>", html)))
    assert f"Ask for {n} label" in html
    before = grid.find_pairs(state="open").total
    done = confirm(browser, html)
    assert "<strong>Done:</strong> " in done
    assert "by lea" in done
    assert grid.find_pairs(state="open").total == before + n
    run = site.study.log()[-1]
    assert (run.params["pairs"], run.by, run.counts["new"]) == ("1-3", "lea", n)
    assert "`fcpair assign --more --pairs-file FILE`" in site.study.recipe_text()


def test_all_pairs_that_match_are_sent_to_an_adjudicator_and_leave_their_tiers(serve: Serve) -> None:
    site = serve("checked")
    browser, grid = site.browser("lea"), site.study.grid()
    gold = grid.find_pairs(tier="gold").to_frame()["pair"].tolist()
    html = browser.get(f"{DECISIONS}?tier=gold&scope=all").text
    assert f"{len(gold)} decisions by a rule are reopened" in html
    assert "<li>Gold: " in html or "<li>Diamond: " in html
    confirm(browser, html)
    assert set(gold) <= set(grid.waiting_pairs())
    assert grid.find_pairs(tier="gold").total == 0
    assert site.study.log()[-1].by == "lea"
    story = page_of(browser, f"/lead/pair/{gold[0]}")
    assert "sent to an adjudicator" in story
    assert "asked by lea" in story


def test_what_has_changed_meanwhile_is_shown_before_it_is_done(serve: Serve) -> None:
    site = serve("checked")
    browser, grid = site.browser("lea"), site.study.grid()
    address = f"{DECISIONS}?tier=silver&scope=all"
    confirmed = value_of(browser.get(address).text, "confirmed")
    grid.request_decisions([grid.find_pairs(tier="silver").to_frame()["pair"].tolist()[0]])
    answer = send(browser, address, confirmed=confirmed)
    assert answer.status_code == 200
    assert "This has changed since the page was loaded" in answer.text
    assert grid.find_pairs(tier="silver").total > 0


def test_what_cannot_be_done_is_refused_with_what_to_do(look_at: LookAt) -> None:
    site = look_at("checked")
    browser = site.browser("lea")
    for query, sentence in {
        "words=cats&scope=ticked": "no pair is ticked",
        "words=nowhere&scope=all": "none of these pairs matches the search any more",
        "words=&scope=ticked&pair=999": "none of these pairs matches the search any more",
        "tier=golden&scope=all": "there is no tier `golden`",
    }.items():
        answer = browser.get(f"{DECISIONS}?{query}")
        assert answer.status_code == 422
        assert sentence in sentences_of(answer.text).lower()
    waiting = site.study.grid().waiting_pairs()
    html = page_of(browser, f"{DECISIONS}?words=&scope=ticked&pair={waiting[0]}")
    assert "stays as it is" in html
    assert 'name="confirmed"' not in html
    assert browser.get("/lead/grid/act/burn?words=&scope=all").status_code == 404
    assert "Send to an adjudicator" in page_of(browser, "/lead/grid?words=")
    dealt = page_of(look_at("dealt").browser("lea"), "/lead/grid?words=")
    assert "Ask for another label" in dealt
    assert "Send to an adjudicator" not in dealt
    assert 'type="radio"' not in page_of(look_at("paired").browser("lea"), "/lead/grid?words=")


# The view in the address: order, columns, and parts of the map


def test_any_column_sorts_either_way_and_the_number_breaks_ties(look_at: LookAt) -> None:
    browser, grid = look_at("checked").browser("lea"), look_at("checked").study.grid()
    assert shown(page_of(browser, "/lead/grid?sort=-pair")) == [*range(24, 0, -1)]
    found = grid.find_pairs()
    rows: list[dict[str, Any]] = [dict(zip(found.columns, record, strict=True)) for record in found.records]
    tiers = {tier: rank for rank, tier in enumerate(("diamond", "gold", "silver", "bronze"))}
    best = sorted(rows, key=lambda row: (tiers.get(row["tier"], 9), row["pair"]))
    assert shown(page_of(browser, "/lead/grid?sort=-tier")) == [row["pair"] for row in best]
    by_text = sorted(rows, key=lambda row: (row["cn"].casefold(), row["pair"]))
    assert shown(page_of(browser, "/lead/grid?sort=cn")) == [row["pair"] for row in by_text]
    by_count = sorted(rows, key=lambda row: (sum(map(int, re.findall(r"\d+", row["labels"]))), row["pair"]))
    assert shown(page_of(browser, "/lead/grid?sort=labels")) == [row["pair"] for row in by_count]
    for name in ("decision", "verdict", "-hs.hs_topic", "map.agreement", "-map.time", "map.state"):
        assert sorted(shown(page_of(browser, f"/lead/grid?sort={name}"))) == [*range(1, 25)], name


def test_columns_that_are_chosen_are_on_the_page_in_its_data_and_in_its_file(look_at: LookAt) -> None:
    browser = look_at("checked").browser("lea")
    query = "show=cn,map.agreement,cn.cn_type&tier=gold"
    html = page_of(browser, f"/lead/grid?{query}")
    heads = re.findall(r'<th scope="col"[^>]*><a href="[^"]*">([^<]+)', html)
    assert [head.strip() for head in heads] == ["Pair", "Counter-narrative", "Agreement", "Counter-narrative: cn_type"]
    data = browser.get(f"/lead/grid/pairs?{query}&size=2").json()
    names = [column["name"] for column in data["columns"] if column["is_shown"]]
    assert names == ["pair", "cn", "map.agreement", "cn.cn_type"]
    assert (len(data["rows"]), data["total"]) == (2, len(shown(html)))
    assert {row["map.agreement"] for row in data["rows"]} <= {"all are the same", "more than half are the same"}
    lines = browser.get(f"/lead/grid/pairs.csv?{query}&scope=all").text.splitlines()
    assert lines[0].endswith("map.agreement,cn.cn_type")
    assert len(lines) == data["total"] + 1


def test_a_part_of_the_map_is_a_filter_with_a_name(look_at: LookAt) -> None:
    browser, grid = look_at("checked").browser("lea"), look_at("checked").study.grid()
    html = page_of(browser, "/lead/grid?map.state=5&area=1-2.2-3")
    valid = set(grid.find_pairs(state="valid").to_frame()["pair"])
    assert shown(html) == sorted({2, 3, 8, 9} & valid)
    assert "State: valid" in html
    assert "Selected on the map: rows 1–2, columns 2–3" in html
    whole = page_of(browser, "/lead/grid?area=1-1.1-6&rows=share-2")
    assert len(shown(whole)) == 6
    data = browser.get("/lead/grid/pairs?map.state=99").json()
    assert data["problem"] == "the layer `state` of the map has no class 99"
    for query in ("map.mood=1", "map.state=x", "area=4-1", "sort=mood", "area=1-2.2-3&rows=mood"):
        assert browser.get(f"/lead/grid?{query}").status_code == 422, query
        assert browser.get(f"{DECISIONS}?{query}&scope=all").status_code == 422, query


def test_two_leads_who_act_on_one_selection_do_it_once(serve: Serve) -> None:
    site = serve("checked")
    grid, address = site.study.grid(), f"{DECISIONS}?map.tier=4&scope=all"
    first, second = site.browser("lea"), site.browser("lea")
    pages = [browser.get(address).text for browser in (first, second)]
    confirm(first, pages[0])
    waiting = grid.waiting_pairs()
    answer = send(second, address, confirmed=value_of(pages[1], "confirmed"))
    assert answer.status_code == 422
    assert "none of these pairs matches the search any more" in sentences_of(answer.text).lower()
    assert grid.waiting_pairs() == waiting
