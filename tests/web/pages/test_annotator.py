"""The pages of those who answer pairs, without a browser: what they show, what they take, and whom they let in."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from contextlib import closing
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from steps.online import give
from steps.small import ANNOTATORS, NAMES, dump

from fcpair.params import Annotate, Setup, Validate
from fcpair.records import Role
from fcpair.study import Study
from fcpair.web.context import HERE
from fcpair.web.server.static_files import FOLDER
from web.conftest import Serve, Site, page_of, send

TOPIC = "People who l"  # what every HS of the small study has as its `hs_topic`
TERMS = Annotate(
    about="We ask **which replies** suit.",
    warning="It can be *unpleasant*.",
    thanks="Go for a <b>walk</b>.",
    contact="Kim, 0123",
    demographics=("Age group: 18-29 | 30 or more", "First language"),
    opt_out="hs_topic",
)
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def site(serve: Serve) -> Site:
    """Pairs are dealt, and nobody has answered."""
    return serve("dealt", TERMS)


@pytest.fixture
def ana(site: Site) -> TestClient:
    return site.browser("ana")


@pytest.fixture
def new(site: Site) -> TestClient:
    """The browser of ana, who has not consented."""
    return newcomer(site)


def newcomer(site: Site, name: str = "ana") -> TestClient:
    site.token(name, consent=False)
    return site.browser(name)


def has(browser: TestClient, name: str) -> bool:
    return bool(browser.get("/api/me").json()[name])


def answer(site: Site, name: str, n: int, terms: Annotate = TERMS) -> None:
    """Answer the next `n` pairs of somebody, all with the first choice."""
    for _ in range(n):
        give(site.study.work_queue(terms), site.visitor(name), NAMES[0])


# Coming in


def test_an_invite_link_leads_to_a_form_that_a_script_fills_in_and_a_wrong_one_may_be_tried_again(site: Site) -> None:
    stranger = site.stranger()
    for address in ("/", "/welcome", "/guidelines", "/settings", "/annotate", "/validate", "/thanks"):
        page = stranger.get(address)
        assert (page.status_code, page.headers["location"]) == (303, "/join")
    html = page_of(stranger, "/join")
    assert '<form id="join" method="post" action="/join">' in html
    assert "/static/join.js?v=" in html
    html = stranger.post("/join", data={"token": "wrong"}).text
    assert 'role="alert"' in html
    assert '<form id="join"' in html
    assert 'value="wrong"' not in html


def test_everybody_is_led_to_their_own_work_and_may_read_the_guidelines(site: Site) -> None:
    homes = {"ana": "/annotate", "vera": "/validate", "judy": "/adjudicate", "lea": "/lead"}
    for name, home in homes.items():
        page = newcomer(site, name).get("/")
        assert (page.status_code, page.headers["location"]) == (303, home)
    browser = site.browser("lea")
    assert "no guidelines" in page_of(browser, "/guidelines")
    site.study.edit_guidelines("Be *kind*.", by="lea")
    html = page_of(browser, "/guidelines")
    assert "<em>kind</em>" in html
    assert "Version 2" in html


# The terms


def test_the_welcome_says_what_the_study_is_and_asks_what_the_recipe_asks(site: Site, new: TestClient) -> None:
    site.study.edit_guidelines(f"# Rules\n\nBe fair. {SCRIPT}", by="lea")
    for address in ("/annotate", "/thanks"):  # nobody reads a pair before they agreed
        page = new.get(address)
        assert (page.status_code, page.headers["location"]) == (303, "/welcome")
    html = new.get("/welcome").text
    assert "<strong>which replies</strong>" in html
    assert "<em>unpleasant</em>" in html
    assert "<h2>Rules</h2>" in html
    assert SCRIPT not in html
    assert "Kim, 0123" in html
    assert TERMS.consent in unescape(html)
    options = re.findall(r"<option[^>]*>([^<]+)", html.partition('name="said"')[2])
    assert options == ["I would rather not say", "18-29", "30 or more"]
    assert f'value="{TOPIC}"' in html


@pytest.mark.parametrize(
    ("hs_name", "about_hate"), [("hate speech", True), ("Hateful post", True), ("question", False), ("", False)]
)
def test_words_of_hate_are_said_only_where_the_hs_are_called_so(tmp_path: Path, hs_name: str, about_hate: bool) -> None:
    study = Study.create(tmp_path / "s.db", Setup(hs_name=hs_name, cn_name="answer"))
    study.add_people(["ana"], Role.ANNOTATOR)
    with closing(Site(study, Annotate())) as site:
        browser = newcomer(site)
        html = page_of(browser, "/welcome")
        assert ("hateful, insulting" in html) is about_hate
        assert ("some may upset you" in html) is not about_hate
        assert "skip pairs or stop" in html
        assert 'name="topic"' not in html  # which no recipe asks for
        assert "About you" not in html
        send(browser, "/welcome", consent="yes")
        html = page_of(browser, "/thanks")
        assert ("answer hate" in html) is about_hate
        assert "do something pleasant now" in html
    given = Annotate(warning="", thanks="Bye.").worded("hate speech")  # words that are given hold
    assert (given.warning, given.thanks) == ("", "Bye.")


def test_consent_is_noted_with_what_was_said_and_no_more(site: Site, new: TestClient) -> None:
    assert new.post("/welcome", data={"consent": "yes", "said": ["", ""]}).status_code == 403  # without its token
    page = send(new, "/welcome", consent="yes", said=["30 or more", " "], blurred="yes", topic=TOPIC)
    assert (page.status_code, page.headers["location"]) == (303, "/annotate")
    assert has(new, "consented")
    assert has(new, "blurred")
    assert new.get("/api/next").json()["tasks"] == []  # all are about the topic that was left out
    with closing(sqlite3.connect(site.study.place)) as connection:
        rows = connection.execute("SELECT name, demographics FROM person WHERE demographics <> '{}'").fetchall()
    assert rows == [("ana", '{"Age group": "30 or more"}')]


def test_what_is_missing_or_cannot_be_is_said_and_the_answers_stay_on_the_page(site: Site, new: TestClient) -> None:
    for answers in (["42", ""], ["", "", ""], ["", "x" * 1_001]):
        assert send(new, "/welcome", consent="yes", said=answers).status_code == 422
    page = send(new, "/welcome", said=["30 or more", "Basque"])
    assert page.status_code == 422
    assert 'role="alert"' in page.text
    typed = ("<option selected>30 or more", 'value="Basque"')
    assert all(words in page.text for words in typed)
    site.study._store._writing.patience_s = 0.1
    with closing(sqlite3.connect(site.study.place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # nothing can be written
        page = send(new, "/welcome", consent="yes", said=["30 or more", "Basque"], blurred="yes")
    assert page.status_code == 503
    assert "this is not saved yet" in page.text
    assert all(words in page.text for words in typed)
    assert re.search(r'name="blurred"[^>]* checked', page.text)
    assert not has(new, "consented")


def test_settings_change_the_blur_and_the_topics_and_show_them(site: Site, ana: TestClient) -> None:
    before = dump(site.study)
    assert send(ana, "/settings").status_code == 303
    assert dump(site.study) == before  # settings that stay as they are leave the study alone
    assert send(ana, "/settings", topic="dragons").status_code == 422
    page = send(ana, "/settings", blurred="yes", topic=TOPIC)
    assert (page.status_code, page.headers["location"]) == (303, "/settings?saved=1")
    html = page_of(ana, "/settings?saved=1")
    assert "Saved." in html
    assert html.count(" checked>") == 2
    send(ana, "/settings")
    assert page_of(ana, "/settings").count(" checked>") == 0


# The desk


def choices(html: str) -> list[str]:
    """The answers that the desk is told to offer, in the order of their keys."""
    (told,) = re.findall(r'data-rounds="([^"]+)"', html)
    ((question,),) = [one["form"] for one in json.loads(unescape(told))]
    return list(question["choices"])


def test_the_desk_offers_the_answers_in_key_order_and_holds_no_pair(ana: TestClient) -> None:
    html = ana.get("/annotate").text
    assert choices(html) == list(NAMES)
    assert re.findall(r'data-answer="(\w+)" data-key="(\w)"', html) == [("skip", "s")]
    assert "People who like" not in html  # texts come by the API alone
    scripts = "".join((FOLDER / name).read_text("utf-8") for name in ("desk.js", "view.js"))
    asked = re.findall(r'(?:element|shown|getElementById|\bon)\("([\w-]+)"', scripts)
    assert len(asked) > 20
    assert [name for name in asked if f'id="{name}"' not in html] == []


def test_the_desk_is_told_the_terms_and_whose_answers_to_keep_apart(serve: Serve) -> None:
    site = serve("dealt", Annotate(pause_pairs=7, pause_minutes=3, contact="Kim"))
    first, second = (page_of(site.browser(name), "/annotate") for name in ("ana", "ben"))
    assert 'data-pause-pairs="7" data-pause-minutes="3"' in first
    assert "weighs on you: Kim" in first
    places = [re.findall(r'data-place="([^"]+)"', html) for html in (first, second)]
    assert places[0] != places[1]


def test_a_validator_agrees_or_disagrees_and_a_blind_one_labels(serve: Serve) -> None:
    site = serve("checking", TERMS)
    vera = site.browser("vera")
    assert choices(vera.get("/validate").text) == ["agree", "disagree"]
    site.study.grid().assign_validation(Validate(blind=True), redo=True)
    assert choices(vera.get("/validate").text) == list(NAMES)
    assert vera.get("/annotate").status_code == 403
    assert site.browser(ANNOTATORS[0]).get("/validate").status_code == 403


def test_display_names_and_titles_are_escaped(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "odd.db", Setup(title=SCRIPT, hs_name="<i>a</i>", cn_name="<i>b</i>"))
    study.add_people(["ana"], Role.ANNOTATOR)
    with closing(Site(study, Annotate(contact=SCRIPT, thanks=SCRIPT))) as site:
        page = site.browser("ana").get("/annotate")
    assert page.status_code == 200
    assert SCRIPT not in page.text
    assert "<i>" not in page.text


# The end


def test_the_thanks_say_what_was_done_and_what_is_left_until_the_last_pair(site: Site, ana: TestClient) -> None:
    answer(site, "ana", 2)
    text = " ".join(ana.get("/thanks").text.split())
    assert "Thank you for today" in text
    assert "You have answered 2 pairs." in text
    assert "are left: come back when you like" in text
    assert "Go for a &lt;b&gt;walk&lt;/b&gt;." in text
    assert "Kim, 0123" in text
    assert 'href="/annotate"' in text
    assert 'href="/annotate#answers"' in text
    answer(site, "ana", ana.get("/api/progress").json()["open"])
    html = page_of(ana, "/thanks")
    assert "that was the last pair" in html
    assert "Go on" not in html


def test_a_limit_is_said_and_nobody_is_asked_to_go_on(serve: Serve) -> None:
    terms = Annotate(daily_limit=1)
    site = serve("dealt", terms)
    answer(site, "ana", 1, terms)
    html = page_of(site.browser("ana"), "/thanks")
    assert "as many as one person may read in a day" in html
    assert "Go on" not in html


# The files


def test_no_page_holds_a_script_a_style_or_a_foreign_address(ana: TestClient) -> None:
    for address in ("/join", "/welcome", "/guidelines", "/settings", "/annotate", "/thanks", "/nothing"):
        html = ana.get(address).text
        assert not re.search(r"<script(?![^>]* src=\"/static/)|<style|\sstyle=|\son\w+=|https?://", html), address
        for linked in re.findall(r'(?:src|href)="(/static/[^"]+)"', html):
            assert ana.get(linked).status_code == 200
    assert ana.get("/nothing").status_code == 404  # said in plain words, with a way back
    assert "<h1>There is nothing here</h1>" in html
    assert 'href="/"' in html


def test_scripts_and_styles_fetch_nothing_from_elsewhere_and_all_that_they_import_is_there() -> None:
    own = [path for path in FOLDER.iterdir() if path.suffix in {".js", ".css"}]
    assert own
    for path in own:
        text = path.read_text("utf-8")
        assert not re.search(r"https?://|innerHTML|eval\(|document\.write", text), path
        for name in re.findall(r'from "\./([^"]+)"', text):
            assert (FOLDER / name).is_file(), (path, name)


def test_in_the_dark_only_colours_differ() -> None:
    """So there the browser's tests ask axe-core about colours alone."""
    colour = r"#[0-9a-f]{3,8}|rgba?\([^)]*\)|var\(--[\w-]+\)|url\(\)|0?\.\d+|dark|brightness\(0\)"
    shadow = r"(?:(?:-?[\d.]+(?:rem)? )+rgba?\([^)]*\),?)+"
    n_values = 0
    for path in (FOLDER / "fcpair.css", FOLDER / "vendor" / "pico.min.css"):
        sheet = re.sub(r'url\("[^"]*"\)', "url()", path.read_text("utf-8"))
        for block in re.findall(r"prefers-color-scheme: ?dark\) ?\{((?:[^{}]*\{[^{}]*\})*)", sheet):
            values = re.findall(r": *([^:;{}]+)(?=[;}\n])", re.sub(r"[^{}]*\{", "{", block))
            assert [value for value in values if not re.fullmatch(f"{colour}|{shadow}", value.strip())] == []
            n_values += len(values)
    assert n_values > 100


def test_vendored_files_are_the_ones_that_are_named() -> None:
    vendor = HERE / "static" / "vendor"
    table = (vendor / "VENDORED.md").read_text("utf-8")
    named = re.findall(r"^\| `([\w.]+)` .* `([\w.]+\.txt)` .* `([0-9a-f]{64})` \|$", table, re.MULTILINE)
    assert {name for name, _, _ in named} == {path.name for path in vendor.iterdir() if path.suffix in {".js", ".css"}}
    for name, licence, digest in named:
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest
        assert (vendor / licence).is_file()
