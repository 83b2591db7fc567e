"""The pages of those who answer pairs, without a browser: what they show, what they take, and whom they let in."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from steps.online import admit, give
from steps.small import ANNOTATORS, NAMES, dump

from fcpair.errors import InputError
from fcpair.params import Annotate, Setup, Validate
from fcpair.records import Role
from fcpair.study import Study
from fcpair.web.app import create_app
from fcpair.web.context import HERE
from fcpair.web.pages.participant import Particular, read_particulars
from fcpair.web.server.static_files import FOLDER

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
Enter = Callable[..., TestClient]


@pytest.fixture
def study(files: dict[str, Path], tmp_path: Path) -> Study:
    """Pairs are dealt, and nobody has answered."""
    return Study(shutil.copy(files["dealt"], tmp_path / "study.db"))


@pytest.fixture
def checking(files: dict[str, Path], tmp_path: Path) -> Study:
    """Validators have their pairs."""
    return Study(shutil.copy(files["checking"], tmp_path / "checking.db"))


@pytest.fixture
def enter() -> Iterator[Enter]:
    """Lets somebody into a study, and gives their browser."""
    browsers: list[TestClient] = []

    def enter(study: Study, name: str, terms: Annotate = TERMS, *, consent: bool = True) -> TestClient:
        if consent:
            admit(study, name)
        browser = TestClient(create_app(study, terms), follow_redirects=False)
        browsers.append(browser)
        assert browser.post("/join", data={"token": study.access.invite(name)}).status_code == 303
        return browser

    yield enter
    for browser in browsers:
        browser.close()


def csrf(page: Response) -> str:
    match = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert match
    return match[1]


def send(browser: TestClient, address: str, **fields: str | list[str]) -> Response:
    """Fill in the form at an address, and send it there."""
    return browser.post(address, data={"csrf": csrf(browser.get(address)), **fields})


def visitor_of(browser: TestClient) -> dict[str, object]:
    said: dict[str, object] = browser.get("/api/me").json()
    return said


def answer(study: Study, name: str, n: int, terms: Annotate = TERMS) -> None:
    """Answer the next `n` pairs of somebody, all with the first choice."""
    visitor = study.access.by_id(next(one.id for one in study.people if one.name == name))
    assert visitor
    for _ in range(n):
        give(study.work_queue(terms), visitor, NAMES[0])


# Coming in


def test_an_invite_link_leads_to_a_form_that_a_script_fills_in(study: Study) -> None:
    with TestClient(create_app(study, TERMS)) as browser:
        page = browser.get("/join")
    assert page.status_code == 200
    assert '<form id="join" method="post" action="/join">' in page.text
    assert "/static/join.js?v=" in page.text


def test_a_wrong_token_is_told_so_and_may_try_again(study: Study) -> None:
    with TestClient(create_app(study, TERMS)) as browser:
        page = browser.post("/join", data={"token": "wrong"})
    assert 'role="alert"' in page.text
    assert '<form id="join"' in page.text
    assert 'value="wrong"' not in page.text


@pytest.mark.parametrize("address", ["/", "/welcome", "/guidelines", "/settings", "/annotate", "/validate", "/thanks"])
def test_who_has_not_come_in_is_sent_to_the_door(study: Study, address: str) -> None:
    with TestClient(create_app(study, TERMS), follow_redirects=False) as browser:
        page = browser.get(address)
    assert (page.status_code, page.headers["location"]) == (303, "/join")


@pytest.mark.parametrize(
    ("role", "home"),
    [
        (Role.ANNOTATOR, "/annotate"),
        (Role.VALIDATOR, "/validate"),
        (Role.ADJUDICATOR, "/adjudicate"),
        (Role.LEAD, "/lead"),
    ],
)
def test_everybody_is_led_to_their_own_work(study: Study, enter: Enter, role: Role, home: str) -> None:
    study.add_people(["new"], role)
    page = enter(study, "new", consent=False).get("/")
    assert (page.status_code, page.headers["location"]) == (303, home)


def test_a_form_without_its_token_changes_nothing(study: Study, enter: Enter) -> None:
    browser = enter(study, "ana", consent=False)
    browser.get("/welcome")
    page = browser.post("/welcome", data={"consent": "yes", "said": ["", ""]})
    assert page.status_code == 403
    assert visitor_of(browser)["consented"] is False


# The terms


def test_the_welcome_says_what_the_study_is_and_asks_what_the_recipe_asks(study: Study, enter: Enter) -> None:
    study.add_people(["lea"], Role.LEAD)
    study.edit_guidelines(f"# Rules\n\nBe fair. {SCRIPT}", by="lea")
    page = enter(study, "ana", consent=False).get("/welcome")
    assert "<strong>which replies</strong>" in page.text
    assert "<em>unpleasant</em>" in page.text
    assert "<h2>Rules</h2>" in page.text
    assert SCRIPT not in page.text
    assert "Kim, 0123" in page.text
    assert TERMS.consent in unescape(page.text)
    assert re.findall(r"<option[^>]*>([^<]+)", page.text.partition('name="said"')[2]) == [
        "I would rather not say",
        "18-29",
        "30 or more",
    ]
    assert f'value="{TOPIC}"' in page.text


@pytest.mark.parametrize(
    ("hs_name", "about_hate"), [("hate speech", True), ("Hateful post", True), ("question", False), ("", False)]
)
def test_words_of_hate_are_said_only_where_the_hs_are_called_so(
    tmp_path: Path, enter: Enter, hs_name: str, about_hate: bool
) -> None:
    study = Study.create(tmp_path / "s.db", Setup(hs_name=hs_name, cn_name="answer"))
    study.add_people(["ana"], Role.ANNOTATOR)
    browser = enter(study, "ana", Annotate(), consent=False)
    told = browser.get("/welcome").text
    assert ("hateful, insulting" in told) is about_hate
    assert ("some may upset you" in told) is not about_hate
    assert "skip pairs or stop" in told
    browser.post("/welcome", data={"consent": "yes"})
    thanks = enter(study, "ana", Annotate()).get("/thanks").text
    assert ("answer hate" in thanks) is about_hate
    assert "do something pleasant now" in thanks


def test_words_that_are_given_hold_whatever_the_hs_are_called() -> None:
    given = Annotate(warning="", thanks="Bye.").worded("hate speech")
    assert (given.warning, given.thanks) == ("", "Bye.")


@pytest.mark.parametrize("address", ["/annotate", "/thanks"])
def test_nobody_reads_a_pair_before_they_agreed(study: Study, enter: Enter, address: str) -> None:
    page = enter(study, "ana", consent=False).get(address)
    assert (page.status_code, page.headers["location"]) == (303, "/welcome")


def test_consent_is_noted_with_what_was_said_and_no_more(study: Study, enter: Enter) -> None:
    browser = enter(study, "ana", consent=False)
    page = send(browser, "/welcome", consent="yes", said=["30 or more", " "], blurred="yes")
    assert (page.status_code, page.headers["location"]) == (303, "/annotate")
    assert visitor_of(browser)["consented"] is True
    assert visitor_of(browser)["blurred"] is True
    assert demographics(study) == {"ana": '{"Age group": "30 or more"}'}


def demographics(study: Study) -> dict[str, str]:
    """What people said about themselves, as it is stored."""
    with closing(sqlite3.connect(study.place)) as connection:
        return dict(connection.execute("SELECT name, demographics FROM person WHERE demographics <> '{}'"))


def test_without_consent_the_page_says_what_is_missing_and_keeps_the_answers(study: Study, enter: Enter) -> None:
    browser = enter(study, "ana", consent=False)
    page = send(browser, "/welcome", said=["30 or more", "Basque"])
    assert page.status_code == 422
    assert 'role="alert"' in page.text
    assert "<option selected>30 or more" in page.text
    assert 'value="Basque"' in page.text
    assert visitor_of(browser)["consented"] is False


def test_what_was_said_at_the_first_visit_stays_on_the_page_while_nothing_can_be_written(
    study: Study, enter: Enter
) -> None:
    browser = enter(study, "ana", consent=False)
    study._store._writing.patience_s = 0.1
    with closing(sqlite3.connect(study.place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        page = send(browser, "/welcome", consent="yes", said=["30 or more", "Basque"], blurred="yes")
    assert page.status_code == 503
    assert "this is not saved yet" in page.text
    assert "<option selected>30 or more" in page.text
    assert 'value="Basque"' in page.text
    assert re.search(r'name="blurred"[^>]* checked', page.text)
    assert visitor_of(browser)["consented"] is False


@pytest.mark.parametrize("said", [["42", ""], ["", "", ""], ["", "x" * 1_001]])
def test_an_impossible_answer_about_oneself_is_refused(study: Study, enter: Enter, said: list[str]) -> None:
    browser = enter(study, "ana", consent=False)
    assert send(browser, "/welcome", consent="yes", said=said).status_code == 422
    assert visitor_of(browser)["consented"] is False


def test_a_question_offers_its_options_or_takes_any_text() -> None:
    assert read_particulars(("Age: 18-29 | 30 or more", "Language:")) == [
        Particular("Age", ("18-29", "30 or more")),
        Particular("Language", ()),
    ]
    with pytest.raises(InputError, match="`40` is not an answer to `Age`"):
        read_particulars(("Age: 18-29",), ["40"])


def test_topics_can_be_opted_out_of_at_once(study: Study, enter: Enter) -> None:
    browser = enter(study, "ana", consent=False)
    send(browser, "/welcome", consent="yes", said=["", ""], topic=TOPIC)
    assert browser.get("/api/next").json()["tasks"] == []


def test_no_topics_are_asked_for_where_the_recipe_names_none(study: Study, enter: Enter) -> None:
    page = enter(study, "ana", Annotate(), consent=False).get("/welcome")
    assert 'name="topic"' not in page.text
    assert "About you" not in page.text


# Settings


def test_settings_change_the_blur_and_the_topics_and_show_them(study: Study, enter: Enter) -> None:
    browser = enter(study, "ana")
    page = send(browser, "/settings", blurred="yes", topic=TOPIC)
    assert (page.status_code, page.headers["location"]) == (303, "/settings?saved=1")
    page = browser.get("/settings?saved=1")
    assert "Saved." in page.text
    assert page.text.count(" checked>") == 2
    send(browser, "/settings")
    assert browser.get("/settings").text.count(" checked>") == 0


def test_a_topic_that_no_text_has_is_refused(study: Study, enter: Enter) -> None:
    assert send(enter(study, "ana"), "/settings", topic="dragons").status_code == 422


def test_settings_that_stay_as_they_are_leave_the_study_alone(study: Study, enter: Enter) -> None:
    browser = enter(study, "ana")
    before = dump(study)
    assert send(browser, "/settings").status_code == 303
    assert dump(study) == before


# The desk


def choices(page: str) -> list[str]:
    """The answers that the desk is told to offer, in the order of their keys."""
    (told,) = re.findall(r'data-rounds="([^"]+)"', page)
    ((question,),) = [one["form"] for one in json.loads(unescape(told))]
    return list(question["choices"])


def test_the_desk_offers_the_answers_in_key_order_and_holds_no_pair(study: Study, enter: Enter) -> None:
    page = enter(study, "ana").get("/annotate")
    assert choices(page.text) == list(NAMES)
    assert re.findall(r'data-answer="(\w+)" data-key="(\w)"', page.text) == [("skip", "s")]
    assert "People who like" not in page.text  # texts come by the API alone


def test_the_desk_is_told_the_terms_and_whose_answers_to_keep_apart(study: Study, enter: Enter) -> None:
    first = enter(study, "ana", Annotate(pause_pairs=7, pause_minutes=3, contact="Kim")).get("/annotate")
    second = enter(study, "ben").get("/annotate")
    assert 'data-pause-pairs="7" data-pause-minutes="3"' in first.text
    assert "weighs on you: Kim" in first.text
    places = [re.findall(r'data-place="([^"]+)"', page.text) for page in (first, second)]
    assert places[0] != places[1]


def test_a_validator_agrees_or_disagrees(checking: Study, enter: Enter) -> None:
    page = enter(checking, "vera").get("/validate")
    assert choices(page.text) == ["agree", "disagree"]


def test_a_blind_validator_labels(checking: Study, enter: Enter) -> None:
    checking.grid().assign_validation(Validate(blind=True), redo=True)
    page = enter(checking, "vera").get("/validate")
    assert choices(page.text) == list(NAMES)


def test_each_works_at_their_own_desk(checking: Study, enter: Enter) -> None:
    assert enter(checking, "vera").get("/annotate").status_code == 403
    assert enter(checking, ANNOTATORS[0]).get("/validate").status_code == 403


def test_display_names_and_titles_are_escaped(tmp_path: Path, enter: Enter) -> None:
    study = Study.create(tmp_path / "odd.db", Setup(title=SCRIPT, hs_name="<i>a</i>", cn_name="<i>b</i>"))
    study.add_people(["ana"], Role.ANNOTATOR)
    page = enter(study, "ana", Annotate(contact=SCRIPT, thanks=SCRIPT)).get("/annotate")
    assert page.status_code == 200
    assert SCRIPT not in page.text
    assert "<i>" not in page.text


# The end


def test_the_thanks_say_what_was_done_and_what_is_left(study: Study, enter: Enter) -> None:
    browser = enter(study, "ana")
    answer(study, "ana", 2)
    text = " ".join(browser.get("/thanks").text.split())
    assert "Thank you for today" in text
    assert "You have answered 2 pairs." in text
    assert "are left: come back when you like" in text
    assert "Go for a &lt;b&gt;walk&lt;/b&gt;." in text
    assert "Kim, 0123" in text
    assert 'href="/annotate"' in text
    assert 'href="/annotate#answers"' in text


def test_a_limit_is_said_and_nobody_is_asked_to_go_on(study: Study, enter: Enter) -> None:
    terms = Annotate(daily_limit=1)
    browser = enter(study, "ana", terms)
    answer(study, "ana", 1, terms)
    page = browser.get("/thanks")
    assert "as many as one person may read in a day" in page.text
    assert "Go on" not in page.text


def test_the_last_pair_is_called_so(study: Study, enter: Enter) -> None:
    browser = enter(study, "ana")
    answer(study, "ana", browser.get("/api/progress").json()["open"])
    page = browser.get("/thanks")
    assert "that was the last pair" in page.text
    assert "Go on" not in page.text


def test_everybody_may_read_the_guidelines(study: Study, enter: Enter) -> None:
    study.add_people(["lea"], Role.LEAD)
    browser = enter(study, "lea", consent=False)
    assert "no guidelines" in browser.get("/guidelines").text
    study.edit_guidelines("Be *kind*.", by="lea")
    page = browser.get("/guidelines")
    assert "<em>kind</em>" in page.text
    assert "Version 2" in page.text


def test_what_is_not_there_is_said_in_plain_words_with_a_way_back(study: Study, enter: Enter) -> None:
    browser = enter(study, "ana")
    browser.get("/annotate")
    page = browser.get("/nothing")
    assert page.status_code == 404
    assert "<h1>There is nothing here</h1>" in page.text
    assert 'href="/"' in page.text


# The files


def test_no_page_holds_a_script_a_style_or_a_foreign_address(study: Study, enter: Enter) -> None:
    browser = enter(study, "ana")
    for address in ("/join", "/welcome", "/guidelines", "/settings", "/annotate", "/thanks", "/nothing"):
        page = browser.get(address).text
        assert not re.search(r"<script(?![^>]* src=\"/static/)|<style|\sstyle=|\son\w+=|https?://", page), address
        for found in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
            assert browser.get(found).status_code == 200


def test_scripts_and_styles_fetch_nothing_from_elsewhere() -> None:
    own = [path for path in FOLDER.iterdir() if path.suffix in {".js", ".css"}]
    assert own
    for path in own:
        assert not re.search(r"https?://|innerHTML|eval\(|document\.write", path.read_text("utf-8")), path


def test_in_the_dark_only_colours_differ() -> None:
    """So there the browser's tests ask axe-core about colours alone."""
    colour = r"#[0-9a-f]{3,8}|rgba?\([^)]*\)|var\(--[\w-]+\)|url\(\)|0?\.\d+|dark|brightness\(0\)"
    shadow = r"(?:(?:-?[\d.]+(?:rem)? )+rgba?\([^)]*\),?)+"
    n_values = 0
    for path in (FOLDER / "fcpair.css", FOLDER / "vendor" / "pico.min.css"):
        sheet = re.sub(r'url\("[^"]*"\)', "url()", path.read_text("utf-8"))
        for block in re.findall(r"prefers-color-scheme: ?dark\) ?\{((?:[^{}]*\{[^{}]*\})*)", sheet):
            values = re.findall(r": *([^:;{}]+)(?=[;}\n])", re.sub(r"[^{}]*\{", "{", block))
            assert [one for one in values if not re.fullmatch(f"{colour}|{shadow}", one.strip())] == []
            n_values += len(values)
    assert n_values > 100


def test_every_module_that_a_script_imports_is_there() -> None:
    for path in FOLDER.glob("*.js"):
        for name in re.findall(r'from "\./([^"]+)"', path.read_text("utf-8")):
            assert (FOLDER / name).is_file(), (path, name)


def test_every_element_that_the_desk_s_scripts_ask_for_is_on_the_page(study: Study, enter: Enter) -> None:
    page = enter(study, "ana").get("/annotate").text
    scripts = "".join((FOLDER / name).read_text("utf-8") for name in ("desk.js", "view.js"))
    asked = re.findall(r'(?:element|shown|getElementById|\bon)\("([\w-]+)"', scripts)
    assert len(asked) > 20
    assert [name for name in asked if f'id="{name}"' not in page] == []


def test_vendored_files_are_the_ones_that_are_named() -> None:
    vendor = HERE / "static" / "vendor"
    table = (vendor / "VENDORED.md").read_text("utf-8")
    named = re.findall(r"^\| `([\w.]+)` .* `([\w.]+\.txt)` .* `([0-9a-f]{64})` \|$", table, re.MULTILINE)
    there = {path.name for path in vendor.iterdir() if path.suffix in {".js", ".css"}}
    assert {name for name, _, _ in named} == there
    for name, licence, digest in named:
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest
        assert (vendor / licence).is_file()
