"""The map of the grid: its file, the texts of its sides, its numbers on the page and as tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fcpair.records import TIERS
from fcpair.report.map_file import CORPUS, OUTSIDE, CellAnswers, CellStandings, build_layers, measure_side
from fcpair.web.languages import ENGLISH, LANGUAGES
from fcpair.web.lead import grid_map
from fcpair.words import Noun
from web.conftest import Site
from web.lead.test_in_languages import Marking

Serve = Callable[..., Site]


def head_of(content: bytes) -> dict[str, Any]:
    end = 4 + int.from_bytes(content[:4], "little")
    head: dict[str, Any] = json.loads(content[4:end])
    return head


def test_the_file_says_what_can_be_coloured_and_ordered_and_is_compressed(serve: Serve) -> None:
    response = serve("checked").browser("lea").get("/lead/grid/map")
    assert response.headers["content-encoding"] == "gzip"
    assert response.headers["cache-control"] == "no-store"
    head = head_of(response.content)
    assert head["shape"] == [4, 6]
    names = ["state", "tier", "answer", "agreement", "labels", "time", "skips"]
    assert [one["name"] for one in head["layers"]] == names
    orders = ["share-0", "share-1", "share-2", "disagreement", "likeness"]
    assert [one["name"] for one in head["orders"]["rows"]] == orders
    assert [one["name"] for one in head["orders"]["columns"]] == orders
    for layer in head["layers"]:
        assert all(one["light"].startswith("#") and one["dark"].startswith("#") for one in layer["classes"])
        colours = [one["light"] for one in layer["classes"]]
        assert len(set(colours)) == len(colours)
    assert "cyclists" not in str(head)


def words_of_maps() -> set[str]:
    """All that a map says in words, of answers that are decided on and of others; tiers have names."""
    counts = np.stack([np.arange(12), np.zeros(12, np.int64)], axis=1)
    choices = "not_appropriate", "appropriate"
    answers = CellAnswers(choices, counts, counts.sum(axis=1), np.arange(12) % 5, np.linspace(0, 100, 12))
    standings = CellStandings(np.arange(12) % 7, np.full(12, -1), np.arange(12) % 5)
    with_own = replace(standings, own_tiers={"24": np.arange(12) > 5})  # a name without letters needs no translation
    layers = [layer for of in (standings, with_own, None) for layer in build_layers(answers, of)]
    side = measure_side("rows", np.arange(12) % 3, np.arange(12) % 4, (3, 4), answers, ("a", "b", "c"))
    words = {meaning for layer in layers for meaning in (layer.title, *(one.meaning for one in layer.classes))}
    return (words | {order.title for order in side.orders} | {CORPUS[0], OUTSIDE[0]}) - {*TIERS}


@pytest.mark.parametrize("words", sorted(words_of_maps()))
def test_the_words_of_a_map_are_messages_and_the_same_in_english(words: str) -> None:
    assert ENGLISH.say(words, Noun.of("pair")) == words
    assert "⟦" in Marking("it").say(words, Noun.of("pair"))


def test_its_words_are_in_the_language_of_the_page(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    site = serve("checked")
    monkeypatch.setitem(LANGUAGES, "it", Marking("it"))
    site.study.save_words(language="it")
    head = head_of(site.browser("lea").get("/lead/grid/map").content)
    classes = [one for layer in head["layers"] for one in layer["classes"]] + head["outside"]
    words = [one["meaning"] for one in classes]
    words += [one["title"] for one in (*head["layers"], *head["orders"]["rows"], *head["orders"]["columns"])]
    assert {one for one in words if "⟦" not in one} == {*TIERS}
    assert "⟦not appropriate⟧" in words


def test_it_is_sent_as_it_is_to_who_takes_no_gzip(serve: Serve) -> None:
    response = serve("checked").browser("lea").get("/lead/grid/map", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in response.headers
    assert head_of(response.content)["cells"] == 24


def test_only_a_lead_may_have_it(serve: Serve) -> None:
    browser = serve("checked").browser("ana")
    for path in ("map", "texts", "rows.csv"):
        assert browser.get(f"/lead/grid/{path}").status_code == 403


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("map?question=moods", "there is no question `moods`"),
        ("texts?side=diagonal", "a grid has no side `diagonal`; it has rows and columns"),
        ("corners.csv", "a grid has no side `corners`"),
        ("rows.csv?question=moods", "there is no question `moods`"),
    ],
)
def test_what_there_is_not_is_said(serve: Serve, path: str, sentence: str) -> None:
    response = serve("checked").browser("lea").get(f"/lead/grid/{path}")
    assert response.status_code == 404
    assert sentence.lower() in response.text.lower()


def test_before_there_are_pairs_the_page_has_no_map(serve: Serve) -> None:
    browser = serve("imported").browser("lea")
    html = browser.get("/lead/grid").text
    assert 'id="map"' not in html
    assert "The study has no grid yet." in html
    for path in ("map", "rows.csv"):
        response = browser.get(f"/lead/grid/{path}")
        assert response.status_code == 404
        assert "has no pairs yet" in response.text


def test_texts_come_some_at_a_time_and_shortened(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = serve("checked").browser("lea")
    rows = browser.get("/lead/grid/texts?side=rows").json()
    assert len(rows) == 4
    assert rows[0] == "People who like cyclists cannot be trusted."
    monkeypatch.setattr(grid_map, "N_TEXTS", 2)
    monkeypatch.setattr(grid_map, "N_CHARACTERS", 6)
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
    html = browser.get("/lead/panel/coverage").text
    assert "<summary>4 rows: hs" in html.lower() or "<summary>4 rows:" in html
    assert "People who like cyclists cannot be trusted." in html
    monkeypatch.setattr(grid_map, "MOST_LISTED", 3)
    html = browser.get("/lead/panel/coverage").text
    assert "People who like cyclists" not in html
    assert html.count("More than a page can show.") == 2


def test_a_search_takes_the_place_of_the_map(serve: Serve) -> None:
    assert 'id="map"' not in serve("checked").browser("lea").get("/lead/grid?words=cats").text
    assert 'id="map"' in serve("checked").browser("lea").get("/lead/grid?colour=answer&rows=likeness&zoom=2").text
