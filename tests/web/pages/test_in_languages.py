"""Each page of those who answer or decide, in each language: it says nothing in English, and keeps to its direction."""

from __future__ import annotations

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from fcpair.params import Annotate
from fcpair.sentences import Id, say
from fcpair.web.languages import LANGUAGES
from fcpair.web.pages.participant import TERMS_CHANGED
from fcpair.words import PAGE_LANGUAGES, Noun
from web.conftest import Serve, Site, csrf_of, page_of, send
from web.messages import all_messages, message_texts

CODES = [code for code in PAGE_LANGUAGES if code != "en"]
PAGES = {
    "ana": (
        *("/settings", "/annotate", "/guidelines", "/thanks", "/offline", "/offline/form", "/offline/leave"),
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


def check_language(page: str, code: str) -> None:
    """The page is in a language and its direction, and says in English no message that the language says otherwise."""
    assert f'<html lang="{code}" dir="{LANGUAGES[code].direction}"' in page
    texts = {part.strip() for part in re.split(r"(?s)<[^>]*>", UNSAID.sub("", page)) if part.strip()}
    texts |= set(re.findall(r'(?:aria-label|data-word|title)="([^"]+)"', page))
    whole = {unescape(text).strip() for text in texts}
    messages = {text for text in message_texts() if not NUMBERS.search(text)}
    assert sorted(text for text in messages & whole if LANGUAGES[code].find(text) != text) == []


@pytest.mark.parametrize("code", CODES)
def test_pages_are_in_the_language_of_the_recipe(site: Site, code: str) -> None:
    site.study.save_words(language=code, options={"not_sure": {"text": {"en": "Hmm", code: "◆"}}})
    for name, paths in PAGES.items():
        client = site.browser(name)
        for path in paths:
            check_language(client.get(path).text, code)
    site.study.save_practice(items=[{"row": "a", "column": "b", "answer": "appropriate", "explanation": "c"}])
    ana, language = site.browser("ana"), LANGUAGES[code]
    for query in ("", "?answer=appropriate", "?answer=not_sure", "?n=2"):
        check_language(ana.get(f"/practice{query}").text, code)
    asked = ana.get("/practice").text
    assert f"<bdi>{language.answer_name('appropriate')}</bdi>" in asked
    assert "<bdi>◆</bdi>" in asked
    site.study.save_terms(consent="I agree to the new terms.", ask_again=True)
    page = ana.get("/welcome").text
    assert ASKED_AGAIN in {message for message, _ in all_messages()}
    assert language.find(ASKED_AGAIN) in unescape(page)
    check_language(page, code)
    assert language.find(TERMS_CHANGED) in unescape(send(ana, "/welcome", consent="yes", shown="0").text)


@pytest.mark.parametrize("code", CODES)
def test_a_first_visit_and_a_row_are_in_the_language_of_the_recipe(serve: Serve, code: str) -> None:
    site = serve("labelled", Annotate(daily_limit=9, total_limit=99))
    site.study.save_words(language=code)
    client = new_visitor(site)
    for page in (client.get("/welcome"), send(client, "/welcome")):
        check_language(page.text, code)
    client, language = site.browser("judy"), LANGUAGES[code]
    (case, *_) = site.study.grid().waiting_pairs()
    form = {"cell_id": case, "outcome": "appropriate", "request_id": site.new_request(), "seen_answer_id": 10_000}
    decided = send(client, "/adjudicate/row", **form)
    assert decided.status_code == 409
    message = "a label of pair %(number)s has changed since it was shown; look at it again"
    reason = language.say(say(message, number=Id(case)), Noun.of("pair"))
    for html in (decided.text, client.get(f"/adjudicate/row?pair={case}").text):
        check_language(html, code)
    assert reason[1:] in unescape(decided.text)


def test_a_person_may_choose_and_each_of_their_devices_has_it(site: Site) -> None:
    client = new_visitor(site)
    refused = send(client, "/language", language="pl")
    assert refused.status_code == 422
    assert "there are no pages in <code>pl</code>" in refused.text.lower()
    site.study.save_words(language="fa")
    assert send(client, "/language", language="it").headers["location"] == "/welcome"
    welcome = page_of(client, "/welcome")
    assert '<html lang="it" dir="ltr"' in welcome
    assert '<option value="it" lang="it" dir="ltr" selected>Italiano</option>' in welcome
    send(client, "/welcome", consent="yes")
    assert '<html lang="it" dir="ltr"' in page_of(site.browser("ana"), "/annotate")
    assert '<html lang="fa" dir="rtl"' in page_of(site.browser("judy"), "/adjudicate")


def test_consent_is_kept_and_a_refusal_is_said_in_the_words_that_were_read(site: Site) -> None:
    site.study.save_words(language="de")
    client = new_visitor(site)
    send(client, "/welcome", consent="yes")
    [consented_to] = [terms["consented_to"] for terms in site.study.access.terms() if terms["name"] == "ana"]
    assert consented_to.endswith("nehme aus freien Stücken teil.")
    body = {"request_id": site.new_request(), "assignment_id": 9999, "answer": "skip"}
    reply = client.post("/api/judgements", json=body, headers={"X-CSRF-Token": csrf_of(client)})
    assert reply.status_code in {403, 409}
    assert reply.json()["detail"].startswith("Dieses Paar ist Ihnen nicht")


def test_leads_are_told_of_a_language_without_pages(site: Site) -> None:
    run = site.study.save_words(language="pl")
    for name, path in (("lea", "/lead"), ("lea", "/guidelines"), ("ana", "/annotate")):
        assert '<html lang="en" dir="ltr"' in page_of(site.browser(name), path)
    [note] = run.notes
    assert note.startswith("the pages are in English, as there are none in `pl`")
    assert note in site.study.status()["notes"]
