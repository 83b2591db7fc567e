"""Acts of the lead on the study's settings: overlap, rule of Diamond, words, terms, each shown before it is done."""

from __future__ import annotations

import re
from dataclasses import fields
from html import unescape

import pytest
from awaited import until
from fastapi.testclient import TestClient

from fcpair.param_values import digest_params
from fcpair.params import Annotate, Assign, Partition
from fcpair.records import Role
from fcpair.web import app
from fcpair.words import Words
from web.conftest import Serve, Site, page_of, send, value_of

OVERLAP, DIAMOND, WORDS, TERMS = "/lead/people/overlap", "/lead/tiers", "/lead/words", "/lead/terms"


def seen_on(browser: TestClient, path: str) -> dict[str, str]:
    """What a form sends of the settings that its page has shown."""
    return {"seen": value_of(page_of(browser, path), "seen")}


def refusal(browser: TestClient, path: str, status: int, **form: str) -> str:
    """The page that refuses a form."""
    answer = send(browser, path, **form)
    assert answer.status_code == status, (form, answer.text)
    return unescape(answer.text)


def test_raising_the_overlap_shows_pairs_people_and_number_and_then_adds_them_once(site: Site, lea: TestClient) -> None:
    grid, path = site.study.grid(), f"{OVERLAP}?share2=50&share3=25"
    site.study.add_people(["leo"], Role.LEAD)
    n_open = site.study.status()["rounds"]["label"]["open"]
    assert f'href="{OVERLAP}"' in page_of(lea, "/lead/people")
    html, of_leo = page_of(lea, path), page_of(site.browser("leo"), path)
    plan = grid.desk.plan_more_labels(grid.recipe_options(Assign, more=True, overlap={2: 0.5, 3: 0.25}))
    assert plan.n_new > 0
    assert "How long that takes is not known yet" in html
    assert f"{plan.n_new} labels to {len(plan.by_pair)} pairs" in html
    assert all(f'<th scope="row">{name}</th>' in html for name in plan.by_person)
    assert all(f"/lead/pair/{pair}" in html for pair in plan.by_pair)
    assert site.study.status()["rounds"]["label"]["open"] == n_open, "nothing is done before it is confirmed"
    less = refusal(lea, OVERLAP, 409, overlap="2:50 3:25", expected="1")
    assert "not 1, because something was assigned or decided after the page was loaded" in less
    reply = send(lea, OVERLAP, overlap=value_of(html, "overlap"), expected=value_of(html, "expected"))
    run = site.study.log()[-1]
    assert (reply.status_code, reply.headers["location"]) == (303, f"{OVERLAP}?run={run.id}")
    assert (run.stage, run.by, run.counts["new"]) == ("assign", "lea", plan.n_new)
    assert grid.effective_options(Assign).overlap == {2: 0.5, 3: 0.25}
    assert site.study.status()["rounds"]["label"]["open"] == n_open + plan.n_new
    form = {name: value_of(of_leo, name) for name in ("overlap", "expected")}
    assert "Nothing was assigned" in refusal(site.browser("leo"), OVERLAP, 409, **form)
    assert len(site.study.log()) == run.id


def test_what_is_no_share_or_adds_nothing_is_refused_with_a_sentence(lea: TestClient) -> None:
    for share in ("half", "-1", "101", "nan"):
        answer = lea.get(OVERLAP, params={"share2": share})
        assert answer.status_code == 422
        assert "is not a share of pairs; enter a percentage from 0 to 100" in answer.text
    answer = lea.get(OVERLAP, params={"share2": "25", "share3": "25"})
    assert answer.status_code == 409
    assert "there is nothing to assign" in answer.text


def test_open_assignment_gives_further_labels_to_whoever_asks(serve: Serve) -> None:
    site = serve("paired")
    site.study.grid().assign(Assign(open=True))
    browser = site.browser("lea")
    html = page_of(browser, f"{OVERLAP}?share2=50")
    assert "They go to anybody who asks." in html
    n_expected = int(value_of(html, "expected"))
    assert n_expected > 0
    send(browser, OVERLAP, overlap="2:50", expected=str(n_expected))
    assert site.study.log()[-1].counts["free"] == n_expected


def test_the_rules_of_diamond_are_compared_and_one_is_chosen_for_everything(serve: Serve) -> None:
    site = serve("checked")
    browser, grid = site.browser("lea"), site.study.grid()
    html = page_of(browser, DIAMOND)
    for rule in ("unanimous", "majority"):
        sizes = grid.tiers(Partition(rule)).table().tables[0]
        assert all(f'<td class="n">{n}</td>' in html for n in sizes.iloc[:, 1])
    reply = send(browser, DIAMOND, diamond="majority", seen=value_of(html, "seen"))
    run = site.study.log()[-1]
    assert reply.headers["location"] == f"{DIAMOND}?run={run.id}"
    assert (run.stage, run.by) == ("partition", "lea")
    assert grid.effective_options(Partition) == Partition("majority")
    assert "more than half" in str(grid.tiers().table().rules[-1])
    assert "The rule for Diamond is “majority”" in page_of(browser, "/lead/panel/tiers")
    outdated = {"seen": value_of(html, "seen")}  # another lead's page, loaded before
    assert "this was changed after the page was loaded" in refusal(
        browser, DIAMOND, 409, diamond="unanimous", **outdated
    )
    assert len(site.study.log()) == run.id
    refusal(browser, DIAMOND, 422, diamond="golden", **outdated)


# Words

IN_ENGLISH = {"texts_in": "en", "language": "en"}


def test_words_are_previewed_then_saved_and_read_at_the_next_pair(site: Site, lea: TestClient) -> None:
    ana = site.browser("ana")
    html = page_of(lea, WORDS)
    assert f'href="{WORDS}"' in page_of(lea, "/lead/guidelines")
    assert 'value="save"' not in html
    before = ana.get("/api/progress").json()["desk_version"]
    texts = {"options:not_sure:text": "I cannot tell", "options:not_sure:help": "It happens."}
    form = {"seen": value_of(html, "seen"), **IN_ENGLISH, **texts, "noun:annotator": "reply"}
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
    assert ana.get("/api/progress").json()["desk_version"] != before, "who is at work loads the page anew"
    assert "I cannot tell" in page_of(ana, "/annotate")


def test_a_key_and_a_colour_are_set_kept_and_taken_back(site: Site, lea: TestClient) -> None:
    own, field = {"text": "Fits", "key": "a", "colour": "green"}, "options:appropriate"
    typed = {f"{field}:text": "Fits", f"{field}:key": "A", f"{field}:colour": "green"}
    assert 'data-colour="green"' in send(lea, WORDS, **seen_on(lea, WORDS), **IN_ENGLISH, **typed, act="preview").text
    assert send(lea, WORDS, **seen_on(lea, WORDS), **IN_ENGLISH, **typed, act="save").status_code == 303
    assert site.study.effective_options(Words).options == {"appropriate": own}
    html = page_of(lea, WORDS)
    assert value_of(html, f"{field}:key") == "a"
    assert '<option selected value="green">' in html
    send(lea, WORDS, **seen_on(lea, WORDS), **IN_ENGLISH, **{"options:not_sure:text": "Hm"}, act="save")
    assert site.study.effective_options(Words).options == {"appropriate": own, "not_sure": "Hm"}
    taken_back = {f"{field}:key": "", f"{field}:colour": "", "options:not_sure:text": "", "act": "save"}
    send(lea, WORDS, **seen_on(lea, WORDS), **IN_ENGLISH, **taken_back)
    assert site.study.effective_options(Words).options == {"appropriate": "Fits"}
    html = refusal(lea, WORDS, 422, **seen_on(lea, WORDS), **IN_ENGLISH, **{f"{field}:key": "s"}, act="save")
    assert "is one of the pages' own keys" in html


def test_words_that_cannot_be_are_refused_and_stay_in_the_form(site: Site, lea: TestClient) -> None:
    seen = seen_on(lea, WORDS)
    for act in ("preview", "save"):
        form = {**IN_ENGLISH, "noun:annotator": "duck", "act": act}
        assert "pair, statement, text, reply, item, question" in refusal(lea, WORDS, 422, **seen, **form)
    form = {"texts_in": "en", "language": "en!", "options:not_sure:text": "Hm"}
    html = refusal(lea, WORDS, 422, **seen, **form, act="save")
    assert "expected the code of one" in html
    assert value_of(html, "options:not_sure:text") == "Hm"
    assert site.study.effective_options(Words) == Words()


def test_a_text_in_another_language_is_added_and_the_first_one_kept(site: Site, lea: TestClient) -> None:
    site.study.save_words(options={"not_sure": "I cannot tell"})
    html = page_of(lea, f"{WORDS}?texts_in=fa")
    assert value_of(html, "options:not_sure:text") == ""
    form = {"seen": value_of(html, "seen"), "texts_in": "fa", "language": "fa", "options:not_sure:text": "نمی‌دانم"}
    assert send(lea, WORDS, **form, act="save").status_code == 303
    words = site.study.effective_options(Words)
    assert words.options == {"not_sure": {"text": {"en": "I cannot tell", "fa": "نمی‌دانم"}}}
    assert words.language == "fa"
    assert value_of(page_of(lea, WORDS), "options:not_sure:text") == "نمی‌دانم"


def test_a_form_that_changes_nothing_leaves_the_words_as_they_are(site: Site, lea: TestClient) -> None:
    questions = {"label": {"text": {"en": "Fit?", "fa": "مناسب؟"}}}
    words = Words("fa", {"annotator": "case"}, questions, {"agree": "Yes"}, {"hs": "Post"})
    site.study.save_words(words)
    shown = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', lea.get(WORDS).text))
    form = {name: unescape(value) for name, value in shown.items() if name not in ("csrf", "act")}
    send(lea, WORDS, **form, language="fa", **{"noun:annotator": "case"}, act="save")
    assert site.study.effective_options(Words) == words


def test_words_that_another_lead_has_saved_meanwhile_are_not_overwritten_unknowingly(
    site: Site, lea: TestClient
) -> None:
    form = {**IN_ENGLISH, "options:not_sure:text": "Hm", "act": "save"}
    seen = seen_on(lea, WORDS)
    site.study.save_words(options={"not_sure": "I cannot tell"})
    html = refusal(lea, WORDS, 409, **form, **seen)
    assert value_of(html, "options:not_sure:text") == "Hm"
    assert site.study.effective_options(Words).options == {"not_sure": "I cannot tell"}
    assert send(lea, WORDS, **form, seen=value_of(html, "seen")).status_code == 303
    assert site.study.effective_options(Words).options == {"not_sure": "Hm"}


# Terms


def test_each_term_is_a_field_with_the_help_that_the_recipe_has(lea: TestClient) -> None:
    html = page_of(lea, TERMS)
    for term in fields(Annotate):
        assert f'name="{term.name}"' in html
        assert f'id="help-{term.name}">{term.metadata["help"][0].upper()}{term.metadata["help"][1:]}' in html
        assert term.metadata["label"] in html


def test_terms_are_shown_then_saved_and_hold_at_once(site: Site, lea: TestClient) -> None:
    form = {**seen_on(lea, TERMS), "contact": "Dr Lee, 555 0100", "pause_pairs": "7", "daily_limit": "2"}
    preview = send(lea, TERMS, **form, act="preview").text
    assert "What would change, not saved yet" in preview
    assert "Dr Lee, 555 0100" in preview
    assert site.study.effective_options(Annotate) == Annotate()
    assert send(lea, TERMS, **form, act="save").status_code == 303
    terms = Annotate(contact="Dr Lee, 555 0100", pause_pairs=7, daily_limit=2)
    assert site.study.effective_options(Annotate) == terms
    assert (site.study.log()[-1].stage, site.study.log()[-1].by) == ("annotate", "lea")
    ana = site.browser("ana")
    desk = page_of(ana, "/annotate")
    assert 'data-pause-pairs="7"' in desk
    assert "Dr Lee, 555 0100" in desk
    assert ana.get("/api/progress").json()["daily_limit"] == 2
    html = refusal(lea, TERMS, 409, **(form | {"contact": "Kim"}), act="save")  # by a page that another lead loaded
    assert site.study.effective_options(Annotate) == terms
    assert value_of(html, "seen") == digest_params(terms)


def test_a_changed_consent_is_asked_again_only_if_the_lead_says_so_and_both_are_kept(
    site: Site, lea: TestClient
) -> None:
    ana, judy = site.browser("ana"), site.browser("judy")
    shown = value_of(page_of(judy, "/welcome"), "shown")
    (first,) = (row for row in site.study.access.terms() if row["name"] == "ana")
    form = {**seen_on(lea, TERMS), "consent": "I agree to the new terms."}
    assert "go on without being asked again" in send(lea, TERMS, **form, act="preview").text
    assert send(lea, TERMS, **form, act="save").status_code == 303
    assert ana.get("/annotate").status_code == 200, "nobody is asked again by a change alone"
    assert send(lea, TERMS, **seen_on(lea, TERMS), ask_again="yes", act="save").status_code == 303
    assert ana.get("/annotate").headers["location"] == "/welcome"
    assert ana.get("/api/next").status_code == 403
    welcome = page_of(ana, "/welcome")
    assert "The terms have changed since you agreed to them" in welcome
    assert "I agree to the new terms." in welcome
    assert send(ana, "/welcome", consent="yes", shown=value_of(welcome, "shown")).status_code == 303
    (now,) = (row for row in site.study.access.terms() if row["name"] == "ana")
    assert now["consented_to"] == "I agree to the new terms."
    assert now["earlier_consents"] == [[first["consented_at"], first["consented_to"]]]
    html = refusal(judy, "/welcome", 409, consent="yes", shown=shown)  # nobody agrees to what they did not see
    assert "The terms have changed since this page was loaded" in html
    assert judy.get("/adjudicate").status_code == 303


def test_a_looser_limit_is_confirmed_by_name(site: Site, lea: TestClient) -> None:
    site.study.save_terms(daily_limit=40)
    form = {**seen_on(lea, TERMS), "daily_limit": "", "act": "save"}
    warned = send(lea, TERMS, **form).text
    assert "That takes back a limit or an opt-out that people may rely on" in warned
    assert site.study.effective_options(Annotate).daily_limit == 40
    assert send(lea, TERMS, **form, loosened=value_of(warned, "loosened")).status_code == 303
    assert site.study.effective_options(Annotate).daily_limit is None


def test_terms_that_cannot_be_are_refused_beside_their_field_and_stay_in_the_form(site: Site, lea: TestClient) -> None:
    seen = seen_on(lea, TERMS)
    for field, value, sentence in (
        ("pause_pairs", "many", "is not a number"),
        ("pause_pairs", "", "is empty; it needs a value"),
        ("consent", "", "is empty; it needs a value"),
        ("demographics", "Age\nAge", "Age"),
        ("compare", "Shoe size", "is not a question about people"),
        ("opt_out", "shoe_size", "no text of the study has metadata called"),
        ("total_limit", "0", 'id="help-total_limit"><strong>“Pairs that one person may read in all”: `0` is'),
    ):
        html = refusal(lea, TERMS, 422, **seen, contact="Kim", act="save", **{field: value})
        assert sentence in html
        assert value_of(html, "contact") == "Kim"
    assert 'name="total_limit" value="0" aria-describedby="help-total_limit" aria-invalid="true"' in html
    assert html.count('aria-invalid="true"') == 1
    assert site.study.effective_options(Annotate) == Annotate()


def test_what_serve_was_given_holds_while_it_runs_and_the_page_says_so(serve: Serve) -> None:
    site = serve("dealt", Annotate(contact="The server's"))
    browser = site.browser("lea")
    html = page_of(browser, TERMS)
    assert "While this server runs, “The server's” holds" in html
    send(browser, TERMS, seen=value_of(html, "seen"), contact="The lead's", pause_pairs="9", act="save")
    assert site.study.effective_options(Annotate).contact == "The lead's"
    desk = page_of(site.browser("ana"), "/annotate")
    assert "The server's" in desk
    assert 'data-pause-pairs="9"' in desk


def test_a_server_takes_up_terms_that_are_set_elsewhere(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "UPKEEP_S", 0.01)
    with TestClient(site.app):  # begins and ends as a server does
        site.study.save_terms(contact="Kim")
        until(lambda: site.app.state.context.annotate.contact == "Kim")
