"""Each page of those who answer or decide, in each language: it says nothing in English, and keeps to its direction."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from fastapi.testclient import TestClient

from fcpair.params import Annotate
from fcpair.sentences import Id, say
from fcpair.web.languages import LANGUAGES
from fcpair.web.pages.participant import TERMS_CHANGED
from fcpair.words import PAGE_LANGUAGES, Noun
from web.conftest import Site, csrf_of
from web.messages import all_messages, message_texts

CODES = [code for code in PAGE_LANGUAGES if code != "en"]
PAGES = {
    "ana": (
        "/settings",
        "/annotate",
        "/guidelines",
        "/thanks",
        "/offline",
        "/offline/form",
        "/offline/leave",
        "/nowhere",
    ),
    "vera": ("/validate", "/thanks", "/adjudicate"),
    "judy": ("/settings", "/adjudicate", "/adjudicate/decided", "/adjudicate/decided?words=xyzzy", "/thanks"),
}
ASKED_AGAIN = "The terms have changed since you agreed to them. Please read them again; what you answered is kept."
UNSAID = re.compile(r"(?s)<(script|style|option|p id=|dd|strong|kbd)[^>]*>.*?</\1>|<span lang=\"en\".*?</span>")
NUMBERS = re.compile(r"%\(\w+\)s")


def new_visitor(site: Site) -> TestClient:
    """The browser of ana, who has not consented."""
    site.token("ana", consent=False)
    return site.browser("ana")


def _english(page: str, code: str) -> list[str]:
    """The messages that a page says in English, which its language says otherwise."""
    said = {part.strip() for part in re.split(r"(?s)<[^>]*>", UNSAID.sub("", page)) if part.strip()}
    said |= set(re.findall(r'(?:aria-label|data-word|title)="([^"]+)"', page))
    whole = {unescape(one).strip() for one in said}
    messages = {text for text in message_texts() if not NUMBERS.search(text)}
    return sorted(one for one in messages & whole if LANGUAGES[code].find(one) != one)


@pytest.mark.parametrize("code", CODES)
def test_pages_are_in_the_language_of_the_recipe(site: Site, code: str) -> None:
    site.study.save_words(language=code)
    for name, paths in PAGES.items():
        client = site.browser(name)
        for path in paths:
            page = client.get(path).text
            assert f'<html lang="{code}" dir="{LANGUAGES[code].direction}">' in page, path
            assert _english(page, code) == [], path


@pytest.mark.parametrize("code", CODES)
def test_the_practice_round_is_in_the_language_of_the_recipe(site: Site, code: str) -> None:
    site.study.save_words(language=code, options={"not_sure": {"text": {"en": "Hmm", code: "◆"}}})
    site.study.save_practice(items=[{"row": "a", "column": "b", "answer": "appropriate", "explanation": "c"}])
    client, language = site.browser("ana"), LANGUAGES[code]
    for query in ("", "?answer=appropriate", "?answer=not_sure", "?n=2"):
        page = client.get(f"/practice{query}").text
        assert f'<html lang="{code}"' in page
        assert _english(page, code) == [], query
    asked = client.get("/practice").text
    assert f"<bdi>{language.answer_name('appropriate')}</bdi>" in asked
    assert "<bdi>◆</bdi>" in asked


@pytest.mark.parametrize("code", CODES)
def test_a_row_is_decided_in_the_language_of_the_recipe(serve: Callable[..., Site], code: str) -> None:
    site = serve("labelled", Annotate(daily_limit=9, total_limit=99))
    site.study.save_words(language=code)
    client, language = site.browser("judy"), LANGUAGES[code]
    (case, *_) = site.study.grid().waiting_pairs()
    decision = {"csrf": csrf_of(client), "cell_id": case, "outcome": "appropriate", "request_id": site.new_request()}
    decided = client.post("/adjudicate/row", data={**decision, "seen_answer_id": 10_000})
    assert decided.status_code == 409
    message = "a label of pair %(number)s has changed since it was shown; look at it again"
    reason = language.say(say(message, number=Id(case)), Noun.of("pair"))
    for page in (decided.text, client.get(f"/adjudicate/row?pair={case}").text):
        assert f'<html lang="{code}" dir="{language.direction}">' in page
        assert _english(page, code) == []
    assert reason[1:] in unescape(decided.text)


@pytest.mark.parametrize("code", CODES)
def test_terms_that_have_changed_are_asked_again_in_the_language_of_the_recipe(site: Site, code: str) -> None:
    site.study.save_words(language=code)
    client = site.browser("ana")
    site.study.save_terms(consent="I agree to the new terms.", ask_again=True)
    page = client.get("/welcome").text
    assert ASKED_AGAIN in {one for one, _ in all_messages()}
    assert LANGUAGES[code].find(ASKED_AGAIN) in unescape(page)
    assert _english(page, code) == []
    outdated = client.post("/welcome", data={"csrf": csrf_of(client), "consent": "yes", "shown": "0"})
    assert LANGUAGES[code].find(TERMS_CHANGED) in unescape(outdated.text)


@pytest.mark.parametrize("code", CODES)
def test_a_first_visit_is_in_the_language_of_the_recipe(site: Site, code: str) -> None:
    site.study.save_words(language=code)
    client = new_visitor(site)
    for page in (client.get("/welcome"), client.post("/welcome", data={"csrf": csrf_of(client)})):
        assert _english(page.text, code) == []
        assert f'<html lang="{code}"' in page.text


def test_a_person_may_choose_and_each_of_their_devices_has_it(site: Site) -> None:
    site.study.save_words(language="fa")
    client = new_visitor(site)
    reply = client.post("/language", data={"csrf": csrf_of(client), "language": "it"})
    assert reply.headers["location"] == "/welcome"
    assert '<html lang="it" dir="ltr">' in client.get("/welcome").text
    assert '<option value="it" lang="it" dir="ltr" selected>Italiano</option>' in client.get("/welcome").text
    client.post("/welcome", data={"csrf": csrf_of(client), "consent": "yes"})
    assert '<html lang="it" dir="ltr">' in site.browser("ana").get("/annotate").text
    assert '<html lang="fa" dir="rtl">' in site.browser("judy").get("/adjudicate").text


def test_a_language_without_pages_cannot_be_chosen(site: Site) -> None:
    client = new_visitor(site)
    reply = client.post("/language", data={"csrf": csrf_of(client), "language": "pl"})
    assert reply.status_code == 422
    assert "there are no pages in `pl`" in reply.text.lower()


def test_consent_is_kept_in_the_words_that_were_agreed_to(site: Site) -> None:
    site.study.save_words(language="de")
    client = new_visitor(site)
    client.post("/welcome", data={"csrf": csrf_of(client), "consent": "yes"})
    [said] = [one["consented_to"] for one in site.study.access.terms() if one["name"] == "ana"]
    assert said.endswith("nehme aus freien Stücken teil.")


def test_leads_are_told_of_a_language_without_pages(site: Site) -> None:
    run = site.study.save_words(language="pl")
    for name, path in (("lea", "/lead"), ("lea", "/guidelines"), ("ana", "/annotate")):
        assert '<html lang="en" dir="ltr">' in site.browser(name).get(path).text
    [note] = run.notes
    assert note.startswith("the pages are in English, as there are none in `pl`")
    assert note in site.study.status()["notes"]


def test_a_refusal_is_in_the_language_of_whoever_meets_it(site: Site) -> None:
    site.study.save_words(language="de")
    client = site.browser("ana")
    client.headers["X-CSRF-Token"] = csrf_of(client)
    reply = client.post(
        "/api/judgements", json={"request_id": site.new_request(), "assignment_id": 9999, "answer": "skip"}
    )
    assert reply.status_code in {403, 409}
    assert reply.json()["detail"].startswith("Dieses Paar ist Ihnen nicht")
