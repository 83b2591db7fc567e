"""Acts of the lead on the study's settings: overlap, rule of Diamond, words, terms, each shown before it is done."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from html import unescape
from typing import Any

import pytest
from awaited import until
from fastapi.testclient import TestClient

from fcpair.param_values import digest_params
from fcpair.params import Annotate, Assign, Partition
from fcpair.records import Role
from fcpair.web import app
from fcpair.words import Words
from web.conftest import Site, csrf_of

Serve = Callable[..., Site]
OVERLAP, DIAMOND, WORDS, TERMS = "/lead/people/overlap", "/lead/conflicts/diamond", "/lead/words", "/lead/terms"


def send(browser: TestClient, path: str, **form: str) -> Any:
    """Send a form, with the guard of the page."""
    return browser.post(path, data={"csrf": csrf_of(browser), **form})


def value_of(page: str, name: str) -> str:
    """What a field of a page has."""
    found = re.search(rf'name="{re.escape(name)}" value="([^"]*)"', page)
    assert found, name
    return unescape(found[1])


@pytest.mark.parametrize("path", [OVERLAP, DIAMOND, WORDS, TERMS])
@pytest.mark.parametrize("name", ["ana", "vera", "judy"])
def test_only_a_lead_acts_on_settings(serve: Serve, path: str, name: str) -> None:
    site = serve("labelled")
    browser = site.browser(name)
    n_runs = len(site.study.log())
    assert browser.get(path).status_code == 403
    assert send(browser, path, act="save").status_code == 403
    assert len(site.study.log()) == n_runs


def test_raising_the_overlap_shows_pairs_people_and_number_and_then_adds_them(serve: Serve) -> None:
    site = serve("dealt")
    lea, grid = site.browser("lea"), site.study.grid()
    n_open = site.study.status()["rounds"]["label"]["open"]
    assert f'href="{OVERLAP}"' in lea.get("/lead/people").text
    page = lea.get(OVERLAP, params={"share2": "50", "share3": "25"}).text
    plan = grid.desk.plan_more_labels(grid.recipe_options(Assign, more=True, overlap={2: 0.5, 3: 0.25}))
    assert plan.n_new > 0
    assert "How long that takes is not known yet" in page
    assert f"{plan.n_new} labels to {len(plan.by_pair)} pairs" in page
    assert all(f'<th scope="row">{name}</th>' in page for name in plan.by_person)
    assert all(f"/lead/pair/{pair}" in page for pair in plan.by_pair)
    assert site.study.status()["rounds"]["label"]["open"] == n_open, "nothing is done before it is confirmed"
    reply = send(lea, OVERLAP, overlap=value_of(page, "overlap"), expected=value_of(page, "expected"))
    run = site.study.log()[-1]
    assert (reply.status_code, reply.headers["location"]) == (303, f"{OVERLAP}?run={run.id}")
    assert (run.stage, run.by, run.counts["new"]) == ("assign", "lea", plan.n_new)
    assert grid.effective_options(Assign).overlap == {2: 0.5, 3: 0.25}
    assert site.study.status()["rounds"]["label"]["open"] == n_open + plan.n_new


def test_a_second_lead_who_raises_from_the_same_page_is_told(serve: Serve) -> None:
    site = serve("dealt")
    site.study.add_people(["leo"], Role.LEAD)
    lea, leo = site.browser("lea"), site.browser("leo")
    pages = [browser.get(OVERLAP, params={"share2": "50", "share3": "25"}).text for browser in (lea, leo)]
    forms = [{name: value_of(page, name) for name in ("overlap", "expected")} for page in pages]
    assert send(lea, OVERLAP, **forms[0]).status_code == 303
    n_runs = len(site.study.log())
    refused = send(leo, OVERLAP, **forms[1])
    assert refused.status_code == 409
    assert "Nothing was assigned" in refused.text
    assert len(site.study.log()) == n_runs


def test_more_labels_than_were_shown_are_not_added(serve: Serve) -> None:
    site = serve("dealt")
    refused = send(site.browser("lea"), OVERLAP, overlap="2:50 3:25", expected="1")
    assert refused.status_code == 409
    assert "not 1, because something was assigned or decided after the page was loaded" in refused.text


@pytest.mark.parametrize("share", ["half", "-1", "101", "nan"])
def test_what_is_no_share_is_refused_with_a_sentence(serve: Serve, share: str) -> None:
    page = serve("dealt").browser("lea").get(OVERLAP, params={"share2": share})
    assert page.status_code == 422
    assert "is not a share of pairs; enter a percentage from 0 to 100" in page.text


def test_nothing_to_add_is_a_sentence(serve: Serve) -> None:
    page = serve("dealt").browser("lea").get(OVERLAP, params={"share2": "25", "share3": "25"})
    assert page.status_code == 409
    assert "there is nothing to assign" in page.text


def test_open_assignment_gives_further_labels_to_whoever_asks(serve: Serve) -> None:
    site = serve("paired")
    site.study.grid().assign(Assign(open=True))
    lea = site.browser("lea")
    page = lea.get(OVERLAP, params={"share2": "50"}).text
    assert "They go to anybody who asks." in page
    n_expected = int(value_of(page, "expected"))
    assert n_expected > 0
    send(lea, OVERLAP, overlap="2:50", expected=str(n_expected))
    assert site.study.log()[-1].counts["free"] == n_expected


def test_the_rules_of_diamond_are_compared_and_one_is_chosen_for_everything(serve: Serve) -> None:
    site = serve("checked")
    lea, grid = site.browser("lea"), site.study.grid()
    page = lea.get(DIAMOND).text
    for rule in ("unanimous", "majority"):
        sizes = grid.tiers(Partition(rule)).table().tables[0]
        assert all(f'<td class="n">{n}</td>' in page for n in sizes.iloc[:, 1])
    reply = send(lea, DIAMOND, diamond="majority", seen=value_of(page, "seen"))
    run = site.study.log()[-1]
    assert reply.headers["location"] == f"{DIAMOND}?run={run.id}"
    assert (run.stage, run.by) == ("partition", "lea")
    assert grid.effective_options(Partition) == Partition("majority")
    assert "more than half" in str(grid.tiers().table().rules[-1])
    assert "The rule for Diamond is “majority”" in lea.get("/lead/panel/tiers").text


def test_a_rule_that_another_lead_has_chosen_meanwhile_stays(serve: Serve) -> None:
    site = serve("checked")
    lea = site.browser("lea")
    seen = value_of(lea.get(DIAMOND).text, "seen")
    site.study.grid().save.partition(Partition("majority"))
    n_runs = len(site.study.log())
    refused = send(lea, DIAMOND, diamond="unanimous", seen=seen)
    assert refused.status_code == 409
    assert "this was changed after the page was loaded" in refused.text
    assert len(site.study.log()) == n_runs
    assert send(lea, DIAMOND, diamond="golden", seen=seen).status_code == 422


def test_words_are_previewed_then_saved_and_read_at_the_next_pair(serve: Serve) -> None:
    site = serve("dealt")
    lea, ana = site.browser("lea"), site.browser("ana")
    page = lea.get(WORDS).text
    assert f'href="{WORDS}"' in lea.get("/lead/guidelines").text
    assert 'value="save"' not in page
    before = ana.get("/api/progress").json()["desk_version"]
    texts = {
        "options:not_sure:text": "I cannot tell",
        "options:not_sure:help": "It happens.",
        "noun:annotator": "reply",
    }
    form = {"seen": value_of(page, "seen"), "texts_in": "en", "language": "en", **texts}
    preview = send(lea, WORDS, **form, act="preview").text
    assert "Preview, not saved yet" in preview
    assert "I cannot tell" in preview
    assert "2 replies" in preview
    assert site.study.effective_options(Words) == Words()
    assert send(lea, WORDS, **form, act="save").status_code == 303
    words = site.study.effective_options(Words)
    assert words.options == {"not_sure": {"text": "I cannot tell", "help": "It happens."}}
    assert words.nouns == {"annotator": "reply"}
    assert site.study.log()[-1].by == "lea"
    progress = ana.get("/api/progress").json()
    assert progress["desk_version"] != before, "who is at work loads the page anew"
    assert "I cannot tell" in unescape(ana.get("/annotate").text)


def test_a_noun_that_is_not_on_the_list_is_refused_and_stays_as_it_was_typed(serve: Serve) -> None:
    lea = serve("dealt").browser("lea")
    form = {"seen": value_of(lea.get(WORDS).text, "seen"), "texts_in": "en", "language": "en", "noun:annotator": "duck"}
    for act in ("preview", "save"):
        refused = send(lea, WORDS, **form, act=act)
        assert refused.status_code == 422
        assert "pair, statement, text, reply, item, question" in refused.text


def test_a_text_in_another_language_is_added_and_the_first_one_kept(serve: Serve) -> None:
    site = serve("dealt")
    site.study.save_words(options={"not_sure": "I cannot tell"})
    lea = site.browser("lea")
    page = lea.get(WORDS, params={"texts_in": "fa"}).text
    assert value_of(page, "options:not_sure:text") == ""
    form = {"seen": value_of(page, "seen"), "texts_in": "fa", "language": "fa", "options:not_sure:text": "نمی‌دانم"}
    assert send(lea, WORDS, **form, act="save").status_code == 303
    words = site.study.effective_options(Words)
    assert words.options == {"not_sure": {"text": {"en": "I cannot tell", "fa": "نمی‌دانم"}}}
    assert words.language == "fa"
    assert value_of(lea.get(WORDS).text, "options:not_sure:text") == "نمی‌دانم"


def test_a_form_that_changes_nothing_leaves_the_words_as_they_are(serve: Serve) -> None:
    site = serve("dealt")
    words = Words(
        "fa",
        {"annotator": "case"},
        {"label": {"text": {"en": "Fit?", "fa": "مناسب؟"}}},
        {"agree": "Yes"},
        {"hs": "Post"},
    )
    site.study.save_words(words)
    lea = site.browser("lea")
    page = lea.get(WORDS).text
    fields = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', page))
    form = {name: unescape(value) for name, value in fields.items() if name not in ("csrf", "act")}
    send(lea, WORDS, **form, language="fa", **{"noun:annotator": "case"}, act="save")
    assert site.study.effective_options(Words) == words


def test_words_that_cannot_be_are_refused_and_stay_in_the_form(serve: Serve) -> None:
    site = serve("dealt")
    lea = site.browser("lea")
    page = lea.get(WORDS).text
    form = {"seen": value_of(page, "seen"), "texts_in": "en", "language": "en!", "options:not_sure:text": "Hm"}
    refused = send(lea, WORDS, **form, act="save")
    assert refused.status_code == 422
    assert "expected the code of one" in refused.text
    assert value_of(refused.text, "options:not_sure:text") == "Hm"
    assert site.study.effective_options(Words) == Words()


def test_words_that_another_lead_has_saved_meanwhile_are_not_overwritten_unknowingly(serve: Serve) -> None:
    site = serve("dealt")
    lea = site.browser("lea")
    form = {"texts_in": "en", "language": "en", "options:not_sure:text": "Hm"}
    seen = value_of(lea.get(WORDS).text, "seen")
    site.study.save_words(options={"not_sure": "I cannot tell"})
    refused = send(lea, WORDS, **form, seen=seen, act="save")
    assert refused.status_code == 409
    assert value_of(refused.text, "options:not_sure:text") == "Hm"
    assert site.study.effective_options(Words).options == {"not_sure": "I cannot tell"}
    assert send(lea, WORDS, **form, seen=value_of(refused.text, "seen"), act="save").status_code == 303
    assert site.study.effective_options(Words).options == {"not_sure": "Hm"}


def test_each_term_is_a_field_with_the_help_that_the_recipe_has(serve: Serve) -> None:
    page = unescape(serve("dealt").browser("lea").get(TERMS).text)
    for one in fields(Annotate):
        assert f'name="{one.name}"' in page
        assert f'id="help-{one.name}">{one.metadata["help"][0].upper()}{one.metadata["help"][1:]}' in page
        assert one.metadata["label"] in page


def test_a_refusal_is_beside_the_field_that_it_is_about(serve: Serve) -> None:
    lea = serve("dealt").browser("lea")
    refused = unescape(send(lea, TERMS, seen=value_of(lea.get(TERMS).text, "seen"), total_limit="0", act="save").text)
    assert 'name="total_limit" value="0" aria-describedby="help-total_limit" aria-invalid="true"' in refused
    assert refused.count('aria-invalid="true"') == 1
    assert 'id="help-total_limit"><strong>“Pairs that one person may read in all”: `0` is not a number' in refused


def test_terms_are_shown_then_saved_and_hold_at_once(serve: Serve) -> None:
    site = serve("dealt")
    lea, ana = site.browser("lea"), site.browser("ana")
    page = lea.get(TERMS).text
    form = {"seen": value_of(page, "seen"), "contact": "Dr Lee, 555 0100", "pause_pairs": "7", "daily_limit": "2"}
    preview = send(lea, TERMS, **form, act="preview").text
    assert "What would change, not saved yet" in preview
    assert "Dr Lee, 555 0100" in preview
    assert site.study.effective_options(Annotate) == Annotate()
    assert send(lea, TERMS, **form, act="save").status_code == 303
    assert site.study.effective_options(Annotate) == Annotate(contact="Dr Lee, 555 0100", pause_pairs=7, daily_limit=2)
    assert (site.study.log()[-1].stage, site.study.log()[-1].by) == ("annotate", "lea")
    desk = ana.get("/annotate").text
    assert 'data-pause-pairs="7"' in desk
    assert "Dr Lee, 555 0100" in desk
    assert ana.get("/api/progress").json()["daily_limit"] == 2


def test_a_changed_consent_is_asked_again_only_if_the_lead_says_so_and_both_are_kept(serve: Serve) -> None:
    site = serve("dealt")
    lea, ana = site.browser("lea"), site.browser("ana")
    assert ana.get("/api/next").status_code == 200
    first = next(row for row in site.study.access.terms() if row["name"] == "ana")
    page = lea.get(TERMS).text
    form = {"seen": value_of(page, "seen"), "consent": "I agree to the new terms."}
    assert "go on without being asked again" in send(lea, TERMS, **form, act="preview").text
    assert send(lea, TERMS, **form, act="save").status_code == 303
    assert ana.get("/annotate").status_code == 200, "nobody is asked again by a change alone"
    seen = value_of(lea.get(TERMS).text, "seen")
    assert send(lea, TERMS, seen=seen, ask_again="yes", act="save").status_code == 303
    assert ana.get("/annotate").headers["location"] == "/welcome"
    assert ana.get("/api/next").status_code == 403
    welcome = ana.get("/welcome").text
    assert "The terms have changed since you agreed to them" in welcome
    assert "I agree to the new terms." in welcome
    assert send(ana, "/welcome", consent="yes", shown=value_of(welcome, "shown")).status_code == 303
    assert ana.get("/api/next").status_code == 200
    now = next(row for row in site.study.access.terms() if row["name"] == "ana")
    assert now["consented_to"] == "I agree to the new terms."
    assert now["consented_at"] > first["consented_at"]
    assert now["earlier_consents"] == [[first["consented_at"], first["consented_to"]]]


def test_nobody_agrees_to_another_sentence_than_they_saw(serve: Serve) -> None:
    site = serve("dealt")
    lea, judy = site.browser("lea"), site.browser("judy")
    shown = value_of(judy.get("/welcome").text, "shown")
    seen = value_of(lea.get(TERMS).text, "seen")
    send(lea, TERMS, seen=seen, consent="Another sentence.", ask_again="yes", act="save")
    refused = send(judy, "/welcome", consent="yes", shown=shown)
    assert refused.status_code == 409
    assert "The terms have changed since this page was loaded" in refused.text
    assert judy.get("/adjudicate").status_code == 303


def test_a_looser_limit_is_confirmed_by_name(serve: Serve) -> None:
    site = serve("dealt")
    site.study.save_terms(daily_limit=40)
    lea = site.browser("lea")
    form = {"seen": value_of(lea.get(TERMS).text, "seen"), "daily_limit": ""}
    warned = send(lea, TERMS, **form, act="save").text
    assert "That takes back a limit or an opt-out that people may rely on" in warned
    assert site.study.effective_options(Annotate).daily_limit == 40
    assert send(lea, TERMS, **form, loosened=value_of(warned, "loosened"), act="save").status_code == 303
    assert site.study.effective_options(Annotate).daily_limit is None


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("pause_pairs", "many", "is not a number"),
        ("pause_pairs", "", "is empty; it needs a value"),
        ("consent", "", "is empty; it needs a value"),
        ("demographics", "Age\nAge", "Age"),
        ("compare", "Shoe size", "is not a question about people"),
        ("opt_out", "shoe_size", "no text of the study has metadata called"),
    ],
)
def test_terms_that_cannot_be_are_refused_and_stay_in_the_form(
    serve: Serve, field: str, value: str, sentence: str
) -> None:
    site = serve("dealt")
    lea = site.browser("lea")
    seen = value_of(lea.get(TERMS).text, "seen")
    refused = send(lea, TERMS, seen=seen, contact="Kim", act="save", **{field: value})
    assert refused.status_code == 422
    assert sentence in unescape(refused.text)
    assert value_of(refused.text, "contact") == "Kim"
    assert site.study.effective_options(Annotate) == Annotate()


def test_terms_that_another_lead_has_saved_meanwhile_are_not_overwritten_unknowingly(serve: Serve) -> None:
    site = serve("dealt")
    lea = site.browser("lea")
    seen = value_of(lea.get(TERMS).text, "seen")
    site.study.save_terms(contact="Kim")
    refused = send(lea, TERMS, seen=seen, contact="Lee", act="save")
    assert refused.status_code == 409
    assert site.study.effective_options(Annotate).contact == "Kim"
    assert value_of(refused.text, "seen") == digest_params(site.study.effective_options(Annotate))


def test_what_serve_was_given_holds_while_it_runs_and_the_page_says_so(serve: Serve) -> None:
    site = serve("dealt", Annotate(contact="The server's"))
    lea = site.browser("lea")
    page = lea.get(TERMS).text
    assert "While this server runs, “The server&#39;s” holds" in page
    send(lea, TERMS, seen=value_of(page, "seen"), contact="The lead's", pause_pairs="9", act="save")
    assert site.study.effective_options(Annotate).contact == "The lead's"
    desk = unescape(site.browser("ana").get("/annotate").text)
    assert "The server's" in desk
    assert 'data-pause-pairs="9"' in desk


def test_a_server_takes_up_terms_that_are_set_elsewhere(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "UPKEEP_S", 0.01)
    site = serve("dealt")
    with TestClient(site.app):  # begins and ends as a server does
        site.study.save_terms(contact="Kim")
        until(lambda: site.app.state.context.annotate.contact == "Kim")
