"""Notes of the lead in the log: adding one on the page, and what is refused beside its field."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

import pytest

from web.acts.test_settings_acts import send
from web.conftest import Site

Serve = Callable[..., Site]
PATH, TALKED = "/lead/notes", "Two annotators talked <on Tuesday>."


def wrong_fields(page: str) -> dict[str, str]:
    """What a page says beside each field that is wrong."""
    names = re.findall(r'<(?:input|textarea) name="(\w+)"[^>]* aria-invalid="true"', page)
    return {name: re.search(rf'id="help-{name}"><strong>(.*?)</strong>', page)[1] for name in names}  # type: ignore[index]


def test_a_note_is_added_in_the_leads_name_and_listed(serve: Serve) -> None:
    site = serve("dealt")
    lea = site.browser("lea")
    assert f'href="{PATH}"' in lea.get("/lead").text
    reply = send(lea, PATH, text=TALKED, pair="5")
    run = site.study.log()[-1]
    assert (run.stage, run.by, run.options) == ("note", "lea", {"text": TALKED, "pair": 5})
    assert (reply.status_code, reply.headers["location"]) == (303, f"{PATH}?run={run.id}")
    page = lea.get(reply.headers["location"]).text
    assert "a note about pair 5 was added to the log, by lea." in page
    assert "Two annotators talked &lt;on Tuesday&gt;." in page
    assert 'href="/lead/pair/5"' in page
    assert "a note about pair 5 was added to the log" in lea.get("/lead").text


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({"text": "", "pair": "5"}, {"text": "the note is empty; write what happened."}),
        ({"text": "x" * 2001}, {"text": "the note has 2,001 characters; expected at most 2,000."}),
        (
            {"text": TALKED, "pair": "999"},
            {"pair": "there is no pair 999; the pairs of the grid are numbered from 1 to 24."},
        ),
        (
            {"text": TALKED, "pair": "five"},
            {"pair": "“Pair, by its number”: `five` is not a number; enter a whole number, 1 or more."},
        ),
    ],
)
def test_what_is_refused_is_said_beside_its_field_and_stays_typed(
    serve: Serve, typed: dict[str, str], wrong: dict[str, str]
) -> None:
    site = serve("dealt")
    lea, n_runs = site.browser("lea"), len(site.study.log())
    reply = send(lea, PATH, **typed)
    assert reply.status_code == (404 if typed.get("pair") == "999" else 422)
    assert wrong_fields(reply.text) == wrong
    assert f'name="pair" value="{typed.get("pair", "")}"' in reply.text
    assert f"{escape(typed['text'])}</textarea>" in reply.text
    assert len(site.study.log()) == n_runs


@pytest.mark.parametrize("name", ["ana", "vera", "judy"])
def test_only_a_lead_reads_and_adds_notes(serve: Serve, name: str) -> None:
    site = serve("dealt")
    browser, n_runs = site.browser(name), len(site.study.log())
    assert browser.get(PATH).status_code == 403
    assert send(browser, PATH, text=TALKED).status_code == 403
    assert len(site.study.log()) == n_runs


def test_the_form_and_its_refusal_are_in_the_language_of_the_study(serve: Serve) -> None:
    site = serve("dealt")
    site.study.save_words(language="de")
    lea = site.browser("lea")
    refused = send(lea, PATH, text="").text
    assert wrong_fields(refused) == {"text": "die Notiz ist leer; schreiben Sie, was geschehen ist."}
    done = lea.get(send(lea, PATH, text=TALKED, pair="5").headers["location"]).text
    assert "eine Notiz zu Paar 5 wurde ins Protokoll aufgenommen" in done
