"""The lead's pages: every panel at every stage, the acts, and downloads that equal what the study writes."""

from __future__ import annotations

import io
import re
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from steps.online import admit, at_desk, give
from steps.scales import rated
from steps.small import STAGES, dump, labels_of, open_work, record, write_csv

from fcpair.grid import AdjudicationQueue, DecisionRequest
from fcpair.params import Adjudicate, Annotate, Assign, Export, Pair, Simulate, Validate
from fcpair.records import Role, Tier
from fcpair.report.figures import colours
from fcpair.report.table_rows import KappaCell
from fcpair.store.oversight import runs
from fcpair.study import Study
from fcpair.web.app import create_app
from fcpair.web.context import heat_class, replace_commands
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.languages import ENGLISH, Language
from fcpair.web.lead import panels
from fcpair.web.lead.files import CHOICES, DOWNLOADS
from fcpair.web.lead.panels import PANELS, Panel
from fcpair.web.server.static_files import FOLDER
from web.conftest import Site, csrf_of

Serve = Callable[..., Site]
PAGES = (
    "/lead",
    "/lead/people",
    "/lead/agreement",
    "/lead/grid",
    "/lead/conflicts",
    "/lead/guidelines",
    "/lead/evaluation",
    "/lead/downloads",
)
ELSEWHERE = ("results", "pilots", "known_pairs")  # panels of grids that are planned, or have known pairs
INLINE = re.compile(r"\sstyle=|<style|<script(?![^>]*\ssrc=)|\son\w+=", re.IGNORECASE)


@pytest.mark.parametrize("stage", STAGES)
def test_every_page_is_there_at_every_stage(serve: Serve, stage: str) -> None:
    browser = serve(stage).browser("lea")
    for page in PAGES:
        answer = browser.get(page)
        if (stage, page) == ("empty", "/lead"):  # where nothing is to be looked at, there is a study to be started
            assert (answer.status_code, answer.headers["location"]) == (303, "/lead/start")
            answer = browser.get("/lead/start/table")
        assert answer.status_code == 200, page
        assert not INLINE.search(answer.text), page


def nav_of(page: str) -> list[tuple[str, str]]:
    """The links of the one navigation: address and words."""
    nav = page[page.index('aria-label="Pages"') :]
    return re.findall(r'<a href="([^"]+)"[^>]*>([^<]+)</a>', nav[: nav.index("</nav>")])


@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_the_one_navigation_with_itself_marked(site: Site, page: str) -> None:
    html = site.browser("lea").get(page).text
    names = ("Progress", "People", "Agreement", "Grid", "Conflicts", "Guidelines", "Evaluation", "Downloads")
    assert nav_of(html) == [*zip(PAGES, names, strict=True), ("/settings", "Settings")]
    assert re.findall(r'<a href="([^"]+)"[^>]* aria-current="page"', html) == [page]
    assert html.count("<nav") == 1


@pytest.mark.parametrize(
    ("path", "page"), [("/lead/pair/1", "/lead/grid"), ("/lead/people/ana/retire", "/lead/people")]
)
def test_what_is_about_one_thing_belongs_to_its_page(site: Site, path: str, page: str) -> None:
    html = site.browser("lea").get(path).text
    assert re.findall(r'<a href="([^"]+)"[^>]* aria-current="true"', html) == [page]


PANELS_OF = {
    "/lead": ["glance", "progress", "tiers"],
    "/lead/people": ["labels", "with_others", "speed", "exposure"],
    "/lead/agreement": ["agreement", "every_two", "disputed"],
    "/lead/grid": ["coverage"],
    "/lead/guidelines": ["flags"],
}


@pytest.mark.parametrize("page", PAGES)
def test_only_the_panels_of_a_page_are_computed(serve: Serve, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    computed: list[str] = []

    def counted(name: str, panel: Panel) -> Panel:
        def count(here: CurrentGrid, language: Language) -> dict[str, Any]:
            computed.append(name)
            return panel.values(here, language)

        return replace(panel, values=count)

    monkeypatch.setattr(panels, "PANELS", {name: counted(name, one) for name, one in PANELS.items()})
    html = serve("checked").browser("lea").get(page).text
    assert computed == PANELS_OF.get(page, [])
    assert re.findall(r'<section id="(\w+)" class="lead-panel"', html) == computed


def test_the_page_of_next_steps_of_earlier_versions_leads_on(site: Site) -> None:
    answer = site.browser("lea").get("/lead/steps?policy=majority&ties=wait")
    assert (answer.status_code, answer.headers["location"]) == (303, "/lead/conflicts")


def test_a_page_says_all_that_can_be_done_now(serve: Serve) -> None:
    site = serve("checking")
    page = unescape(site.browser("lea").get("/lead").text)
    n_waiting = len(site.study.grid().waiting_pairs())
    n_open = site.study.status()["rounds"]["validate"]["open"]
    assert offers_of(page) == [
        (f"{n_waiting} pairs wait for a person's decision.", "See the conflicts"),
        (f"{n_open} verdicts are open.", "Invite 2 validators"),
    ]
    assert '<p class="lead-stage">Adjudicating</p>' in page


def offers_of(page: str) -> list[tuple[str, str]]:
    """What a page says that can be done now, each with its button."""
    said = re.findall(r'<div class="lead-offer">\s*<p>(.*?)</p>(.*?)</div>', page, re.DOTALL)
    return [(text, re.sub(r"<[^>]+>|\s+", " ", rest).strip()) for text, rest in said]


def tiles_of(page: str) -> dict[str, str]:
    """What the tiles say, by their names."""
    tiles = re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", page[page.index("lead-tiles") :].partition("</dl>")[0])
    return {name: " ".join(re.sub("<[^>]+>", " ", value).split()) for name, value in tiles}


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ("imported", ("The grid is not built yet. On the server: <code>fcpair select</code>.", "")),
        ("paired", ("The pairs are not assigned yet.", "Assign the pairs to annotators")),
        ("dealt", ("42 answers are open.", "Invite ")),
        ("decided", ("5 pairs wait for a person's decision.", "See the conflicts")),
        ("checked", ("5 pairs wait for a person's decision.", "See the conflicts")),
    ],
)
def test_the_next_thing_comes_first_with_its_button(serve: Serve, stage: str, said: tuple[str, str]) -> None:
    text, button = offers_of(unescape(serve(stage).browser("lea").get("/lead").text))[0]
    assert text == said[0]
    assert button.startswith(said[1])


def test_the_button_assigns_the_pairs_once(serve: Serve) -> None:
    site = serve("paired")
    browser = site.browser("lea")
    assert "24 labels were assigned to " in post(browser, "/lead/rounds/assign", round="label")
    before = dump(site.study)
    answer = browser.post("/lead/rounds/assign", data={"csrf": csrf_of(browser), "round": "label"})
    assert answer.status_code == 409
    assert "was assigned after the page was loaded, so nothing was done" in answer.text
    assert dump(site.study) == before


def test_pairs_that_nobody_can_be_given_are_to_be_given_people_first(tmp_path: Path, serve: Serve) -> None:
    site = serve("paired")
    site.study.retire("ana")
    offered = offers_of(unescape(site.browser("lea").get("/lead").text))
    assert offered[0] == ("The pairs are not assigned yet.", "Add annotators")


def test_the_tiles_say_what_the_study_is_at(serve: Serve) -> None:
    site = serve("checked")
    tiles = tiles_of(unescape(site.browser("lea").get("/lead").text))
    alpha = site.study.grid().agreement().alpha
    sizes = site.study.grid().tiers().table().tables[0]
    assert tiles["Answered"] == "42 of 42 100.0 %"
    assert tiles["Agreement"] == f"{alpha.value:.2f} {alpha.low:z.3f} to {alpha.high:z.3f}"
    assert tiles["Conflicts"] == str(len(site.study.grid().waiting_pairs()))
    for tier, n in zip(sizes["tier"], sizes["pairs"], strict=True):
        assert f"{tier.capitalize()} {n}" in tiles["Tiers now"]
    assert tiles["To be looked at"] == "0"


def test_what_is_not_known_yet_is_a_dash_with_its_reason(site: Site) -> None:
    tiles = tiles_of(unescape(site.browser("lea").get("/lead").text))
    assert tiles["Agreement"] == "– not known yet: there are no labels yet not yet"
    assert tiles["Tiers now"] == "– not known yet: there are no labels yet not yet"
    assert tiles["Hours left"].startswith("– not known yet: everybody has fewer than 5 intervals")
    assert tiles["Active now"] == "0"


def test_a_pair_is_explained(serve: Serve) -> None:
    site = serve("checked")
    page = site.browser("lea").get("/lead/pair/1")
    assert page.status_code == 200
    told = site.study.grid().explain(1)
    assert told.cn in unescape(page.text)
    for row in told.answers:
        assert row["person"] in page.text


@pytest.mark.parametrize("number", ["0", "25", "99999999999999999999999"])
def test_a_pair_that_is_not_there_is_not_found(site: Site, number: str) -> None:
    assert site.browser("lea").get(f"/lead/pair/{number}").status_code == 404


@pytest.mark.parametrize("name", [name for name in PANELS if name not in ELSEWHERE])
def test_a_panel_comes_again_only_when_it_has_changed(serve: Serve, name: str) -> None:
    browser = serve("checked").browser("lea")
    panel = browser.get(f"/lead/panel/{name}")
    assert panel.status_code == 200
    seen = re.search(r'data-digest="(\w+)"', panel.text)
    assert seen
    assert browser.get(f"/lead/panel/{name}", params={"seen": seen[1]}).status_code == 204


def test_a_panel_shows_what_has_changed(site: Site) -> None:
    browser = site.browser("lea")
    seen = re.search(r'data-digest="(\w+)"', browser.get("/lead/panel/progress").text)
    assert seen
    site.study.grid().simulate(Simulate(seed=1))
    assert browser.get("/lead/panel/progress", params={"seen": seen[1]}).status_code == 200
    assert "SIMULATED" in browser.get("/lead").text


def test_the_agreement_panel_warns_where_intervals_hold_less_often(serve: Serve) -> None:
    panel = " ".join(serve("checked").browser("lea").get("/lead/panel/agreement").text.split())
    assert "CN differ strongly, and explain" in panel
    assert "in as few as 76 of 100 simulated studies like this." in panel


def test_the_agreement_panel_says_for_whom_its_intervals_speak(serve: Serve) -> None:
    panel = " ".join(serve("checked").browser("lea").get("/lead/panel/agreement").text.split())
    assert "intervals for new HS and CN, the same annotators; those of two annotators for the same two." in panel


def test_there_is_no_other_panel(site: Site) -> None:
    assert site.browser("lea").get("/lead/panel/weather").status_code == 404


@pytest.mark.parametrize("stage", ["empty", "dealt", "labelled", "checked"])
@pytest.mark.parametrize("page", PAGES)
def test_no_page_says_undefined(serve: Serve, stage: str, page: str) -> None:
    said = re.sub(r"<[^>]+>", " ", serve(stage).browser("lea").get(page).text)
    assert not re.search("undefined(?! and left out)", said, re.IGNORECASE)  # kappas that a mean does without


def test_a_figure_that_there_is_not_yet_is_a_dash_with_its_reason(site: Site) -> None:
    page = site.browser("lea").get("/lead").text
    why = "there was no answer on the pages in the last 7 days"
    dash = f'title="{why}" aria-hidden="true">–</span><span class="visually-hidden">none: {why}</span>'
    assert dash in page
    assert "No tiers yet: there are no labels." in page


def test_times_are_marked_for_the_browser_and_said_to_be_utc(serve: Serve) -> None:
    site = serve("checked")
    page = site.browser("lea").get("/lead").text
    newest = site.study.log()[-1].at
    assert f'<time datetime="{newest}">{newest[:19].replace("T", " ")} UTC</time>' in unescape(page)
    assert not re.search(r"UTC(?!\)?</)", re.sub(r"<th[^>]*>.*?</th>|<time.*?</time>", "", page[page.index("<main") :]))


@pytest.mark.parametrize(
    ("stage", "path", "form"),
    [
        ("paired", "/lead/rounds/assign", {"round": "label"}),
        ("labelled", "/lead/conflicts/adjudicate", {"policy": "majority", "ties": "wait"}),
        ("decided", "/lead/conflicts/validate", {"pairs": "5"}),
        ("dealt", "/lead/people/ana/retire", {}),
        ("dealt", "/lead/people/ana/hand-over", {}),
        ("dealt", "/lead/guidelines", {"body": "Be kind.", "act": "save", "version": "1"}),
    ],
)
def test_the_log_says_who_did_it(serve: Serve, stage: str, path: str, form: dict[str, str]) -> None:
    site = serve(stage)
    browser = site.browser("lea")
    assert "by lea." in post(browser, path, **form)
    assert site.study.log()[-1].by == "lea"
    assert "<td>lea</td>" in browser.get("/lead").text


def test_a_run_of_the_command_line_says_nobody(serve: Serve) -> None:
    assert serve("paired").study.log()[-1].by is None


def post(browser: TestClient, path: str, **form: str) -> str:
    """Send a form, and give the page that it ends at."""
    answer = browser.post(path, data={"csrf": csrf_of(browser), **form})
    assert answer.status_code == 303, answer.text
    return unescape(browser.get(answer.headers["location"]).text)


def test_retiring_asks_first_and_says_what_it_did(site: Site) -> None:
    browser = site.browser("lea")
    asked = browser.get("/lead/people/ana/retire")
    assert "14 open pairs" in asked.text
    assert not next(one for one in site.study.people if one.name == "ana").retired
    assert "14 open assignments were taken back" in post(browser, "/lead/people/ana/retire")
    assert next(one for one in site.study.people if one.name == "ana").retired


def test_open_work_is_handed_to_the_person_chosen(site: Site) -> None:
    browser = site.browser("lea")
    assert 'value="ben"' in browser.get("/lead/people/ana/hand-over").text
    page = post(browser, "/lead/people/ana/hand-over", to="ben")
    assert "14 open assignments were taken back" in page
    by_name = {one["name"]: one for one in site.study.status()["people"]}
    assert by_name["ana"]["open"] == 0
    assert by_name["ben"]["open"] > 14


def test_an_invite_link_is_shown_once_and_lets_in(site: Site) -> None:
    browser = site.browser("lea")
    shown = browser.post("/lead/people/ben/invite", data={"csrf": csrf_of(browser)})
    link = re.search(r"http://127.0.0.1:8000/join#([\w-]+)", shown.text)
    assert link
    visitor = site.study.access.by_token(link[1])
    assert visitor is not None
    assert visitor.name == "ben"
    assert link[1] not in browser.get("/lead/people").text


def test_an_invite_link_leads_where_people_reach_the_server_whatever_a_request_names(site: Site) -> None:
    app = create_app(site.study, Annotate(), "https://labels.example.org/")
    browser = TestClient(app, follow_redirects=False, base_url="http://evil.example")
    browser.post("/join", data={"token": site.token("lea")})
    shown = browser.post("/lead/people/ben/invite", data={"csrf": csrf_of(browser)})
    assert re.search(r'value="https://labels\.example\.org/join#[\w-]+"', shown.text)
    assert "evil.example" not in shown.text


def test_revoking_shuts_the_door(site: Site) -> None:
    browser, token = site.browser("lea"), site.token("ana")
    post(browser, "/lead/people/ana/revoke")
    assert site.study.access.by_token(token) is None


@pytest.mark.parametrize("act", ["retire", "dismiss", "role", "invite", "revoke"])
def test_nobody_shuts_the_door_on_themselves(site: Site, act: str) -> None:
    browser = site.browser("lea")
    assert browser.post(f"/lead/people/lea/{act}", data={"csrf": csrf_of(browser)}).status_code == 422
    assert browser.get("/lead").status_code == 200


def test_names_of_all_kinds_have_their_pages(site: Site) -> None:
    site.study.add_people(["نور & <b>#1?"], Role.ANNOTATOR)
    browser = site.browser("lea")
    page = browser.get("/lead/people").text
    address = re.search(r'href="(/lead/people/%D9[^"]+/retire)"', page)
    assert address
    assert browser.get(address[1]).status_code == 200
    assert "<b>#1" not in page


@pytest.mark.parametrize("path", ["/lead/people/nobody/retire", "/lead/people/ana/praise"])
def test_a_person_or_act_that_is_not_there_is_not_found(site: Site, path: str) -> None:
    assert site.browser("lea").get(path).status_code == 404


def test_a_form_without_its_token_does_nothing(site: Site) -> None:
    browser = site.browser("lea")
    before = dump(site.study)
    for path in ("/lead/people/ana/retire", "/lead/conflicts/adjudicate", "/lead/guidelines", "/lead/download/report"):
        assert browser.post(path).status_code == 403
    assert dump(site.study) == before


def test_the_policy_is_applied_as_chosen(serve: Serve) -> None:
    site = serve("labelled")
    browser = site.browser("lea")
    assert "No policy is in force yet" in browser.get("/lead/conflicts").text
    page = post(browser, "/lead/conflicts/adjudicate", policy="majority", ties="wait")
    assert "5 wait for a person" in page
    assert site.study.grid().policy == Adjudicate("majority")


@pytest.mark.parametrize("ties", ["wait", "discard"])
def test_what_is_selected_is_what_is_previewed(serve: Serve, ties: str) -> None:
    site = serve("decided")
    page = site.browser("lea").get(f"/lead/conflicts?policy=majority&ties={ties}").text
    assert ("<strong>5 pairs would be discarded.</strong>" in page) == (ties == "discard")
    assert f"Then {'0' if ties == 'discard' else '5'} pairs wait for a person." in page
    assert f'<input type="hidden" name="ties" value="{ties}">' in page
    assert f'<option value="{ties}" selected>' in page


def test_a_policy_that_discards_is_confirmed_with_the_number_and_can_be_taken_back(serve: Serve) -> None:
    site = serve("decided")
    browser, waiting = site.browser("lea"), site.study.grid().waiting_pairs()
    before = dump(site.study)
    form = {"csrf": csrf_of(browser), "policy": "majority", "ties": "discard"}
    asked = browser.post("/lead/conflicts/adjudicate", data=form)
    assert asked.status_code == 200
    assert "<h1>Discard 5 pairs?</h1>" in asked.text
    assert '<button type="submit">Discard 5 pairs</button>' in asked.text
    assert dump(site.study) == before
    assert browser.post("/lead/conflicts/adjudicate", data=form | {"confirmed": "4 0"}).status_code == 200
    assert dump(site.study) == before
    page = post(browser, "/lead/conflicts/adjudicate", **hidden_of(asked.text))
    assert site.study.grid().waiting_pairs() == []
    assert "Take it back</button> The previous policy, “majority” (ties: wait), is then in force again" in page
    back = page[: page.index("Take it back")]
    post(browser, "/lead/conflicts/adjudicate", **hidden_of(back[back.rindex("<form") :]))
    assert site.study.grid().waiting_pairs() == waiting
    assert site.study.grid().policy == Adjudicate("majority")


def test_a_policy_that_another_lead_has_applied_meanwhile_is_not_replaced_unasked(serve: Serve) -> None:
    site = serve("labelled")
    browser = site.browser("lea")
    page = browser.get("/lead/conflicts?policy=majority&ties=wait").text
    form = {"csrf": csrf_of(browser), **hidden_of(page[page.index('id="preview"') :][: page.index("</form>")])}
    site.study.grid().adjudicate(Adjudicate("manual"))
    asked = browser.post("/lead/conflicts/adjudicate", data=form)
    assert asked.status_code == 200
    assert "The policy “manual” (ties: wait) has been applied since the page was loaded" in asked.text
    assert "<h1>Apply the policy?</h1>" in asked.text
    assert site.study.grid().policy == Adjudicate("manual")
    post(browser, "/lead/conflicts/adjudicate", **hidden_of(asked.text))
    assert site.study.grid().policy == Adjudicate("majority")


def test_a_round_that_another_lead_has_dealt_meanwhile_is_said_to_be_there(serve: Serve) -> None:
    site = serve("checking")
    browser = site.browser("lea")
    answer = browser.post("/lead/conflicts/validate", data={"csrf": csrf_of(browser), "pairs": ""})
    assert answer.status_code == 409
    assert "“Assign pairs to validators” on Conflicts adds pairs" in unescape(answer.text)


def hidden_of(page: str) -> dict[str, str]:
    """The hidden fields of a form, but for the one that guards it."""
    fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    return {name: unescape(value) for name, value in fields if name != "csrf"}


def test_the_first_policy_is_taken_back_as_far_as_that_can_be_and_no_further_is_claimed(serve: Serve) -> None:
    """Before it, what all labels agree on waited for a policy; `manual` decides that, too."""
    site = serve("labelled")
    browser = site.browser("lea")
    page = post(browser, "/lead/conflicts/adjudicate", policy="majority", ties="wait")
    assert "No policy was in force before. “manual” then takes over" in page
    assert "it decides only pairs whose labels all agree" in page
    assert "is then in force again" not in page
    n_unanimous = site.study.status()["adjudications"]["unanimous"]
    back = page[: page.index("Take most of it back")]
    post(browser, "/lead/conflicts/adjudicate", **hidden_of(back[back.rindex("<form") :]))
    left = site.study.status()["adjudications"]
    assert left["unanimous"] == n_unanimous
    assert "majority" not in left


def test_what_was_applied_before_something_else_is_not_offered_to_be_taken_back(serve: Serve) -> None:
    site = serve("decided")
    run = site.study.grid().adjudicate(Adjudicate("manual"))
    site.study.grid().adjudicate(Adjudicate("majority"))
    assert "Take it back" not in site.browser("lea").get(f"/lead/conflicts?run={run.id}").text


def test_the_lead_s_pages_say_what_waits_for_a_second_look(serve: Serve, tmp_path: Path) -> None:
    site = serve("decided")
    pair = site.study.grid().waiting_pairs()[0]
    site.study.grid().decide(pair, 2, by="jack")
    annotator, label = next((who, label) for (_, who), label in labels_of(site.study, pair).items())
    record(site.study, tmp_path, [(annotator, pair, "0" if label != "not_appropriate" else "1")], supersede=True)
    browser = site.browser("lea")
    for page in ("/lead", "/lead/conflicts", f"/lead/pair/{pair}"):
        assert "for a second look" in browser.get(page).text


def test_pairs_are_dealt_to_validators_and_later_more(serve: Serve) -> None:
    site = serve("decided")
    browser = site.browser("lea")
    assert "5 pairs were assigned to" in post(browser, "/lead/conflicts/validate", pairs="5", blind="true")
    assert site.study.grid().effective_options(Validate).blind
    post(browser, "/lead/conflicts/validate", more="true", blind="true")
    assert len(open_work(site.study, checks=True)) > 5


@pytest.mark.parametrize("form", [{"pairs": "many"}, {"pairs": "0"}, {"pairs": "-3"}])
def test_a_number_of_pairs_that_is_none_is_refused(serve: Serve, form: dict[str, str]) -> None:
    browser = serve("decided").browser("lea")
    assert browser.post("/lead/conflicts/validate", data={"csrf": csrf_of(browser), **form}).status_code == 422


def test_guidelines_are_previewed_without_being_saved(site: Site) -> None:
    browser = site.browser("lea")
    before = dump(site.study)
    data = {"csrf": csrf_of(browser), "body": "Be **kind**.\r\n", "act": "preview", "version": "1"}
    assert "<strong>kind</strong>" in browser.post("/lead/guidelines", data=data).text
    assert dump(site.study) == before


def test_a_saved_version_holds_and_the_earlier_ones_stay(site: Site) -> None:
    browser = site.browser("lea")
    page = post(browser, "/lead/guidelines", body="Be kind.\r\n\r\nAlways.", act="save", version="1")
    assert "Version 2 is in force" in page
    assert "Version 1," in page
    assert site.study.guidelines == (2, "Be kind.\n\nAlways.")
    assert site.study.guideline_versions()[-1]["by"] == "lea"


def test_a_version_shows_what_it_changed_and_who_has_been_shown_it(site: Site) -> None:
    browser = site.browser("lea")
    site.study.edit_guidelines("Be kind to all.", by="lea")
    site.study.edit_guidelines("Be fair to all.", by="lea")
    page = browser.get("/lead/guidelines").text
    assert "Changes since version 2" in page
    said = re.sub(r'<span class="visually-hidden">[^<]*</span>', "", page)
    assert "Be <del>kind</del><ins>fair</ins> to all." in said
    assert "Version 3 has been shown to 0 of 5 people who take part." in page
    give(*at_desk(site.study, "ana"), "appropriate")
    page = browser.get("/lead/guidelines").text
    assert "Version 3 has been shown to 1 of 5 people who take part." in page


def test_a_flag_is_put_at_a_sentence_of_the_guidelines(serve: Serve) -> None:
    site = serve("labelled")
    site.study.edit_guidelines("Be kind. Jokes count.", by="lea")
    pair = site.study.grid().waiting_pairs()[0]
    decision = DecisionRequest("r-1", pair, "appropriate", "Irony?", True)
    AdjudicationQueue(site.study.grid()).decide(admit(site.study, "judy").id, decision)
    browser = site.browser("lea")
    assert "At no sentence yet" not in browser.get("/lead/guidelines").text  # where none is at one, none need say so
    page = post(browser, "/lead/guidelines/flags", pair=str(pair), sentence="Jokes count.")
    assert '<h3 dir="ltr">“Jokes count.”</h3>' in page
    assert "by lea" in page
    site.study.edit_guidelines("Be kind.", by="lea")
    assert "have this sentence no more" in browser.get("/lead/guidelines").text
    data = {"csrf": csrf_of(browser), "pair": str(pair), "sentence": "Jokes count."}
    assert browser.post("/lead/guidelines/flags", data=data).status_code == 422


def test_a_version_that_somebody_has_replaced_meanwhile_is_not_overwritten(site: Site) -> None:
    browser = site.browser("lea")
    site.study.edit_guidelines("Mine.", by="lea")
    data = {"csrf": csrf_of(browser), "body": "Yours.", "act": "save", "version": "1"}
    answer = browser.post("/lead/guidelines", data=data)
    assert answer.status_code == 409
    assert site.study.guidelines[1] == "Mine."
    assert "somebody else has edited the guidelines since you opened them, and version 2 is current now" in answer.text
    assert ">\nYours.</textarea>" in answer.text
    assert 'name="version" value="2"' in answer.text


def test_guidelines_that_are_not_taken_stay_in_their_field(site: Site) -> None:
    browser = site.browser("lea")
    data = {"csrf": csrf_of(browser), "body": "Read \r\n*both*.", "act": "save", "version": "1"}
    site.study._store._writing.patience_s = 0.1
    with closing(sqlite3.connect(site.study.place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = browser.post("/lead/guidelines", data=data)
    assert answer.status_code == 503
    assert "Not saved: the server is busy just now; nothing was changed." in answer.text
    assert ">\nRead \n*both*.</textarea>" in answer.text
    assert browser.post("/lead/guidelines", data={**data, "version": "x"}).status_code == 409
    assert site.study.guidelines[0] == 1
    assert browser.post("/lead/guidelines", data=data).status_code == 303
    assert browser.post("/lead/guidelines", data={**data, "version": "2"}).status_code == 409  # they hold already


def download(site: Site, name: str, **form: str) -> tuple[str, bytes]:
    browser = site.browser("lea")
    answer = browser.post(f"/lead/download/{name}", data={"csrf": csrf_of(browser), **form})
    assert answer.status_code == 200, unescape(answer.text)
    named = re.fullmatch(r'attachment; filename="(.+)"', answer.headers["content-disposition"])
    assert named
    return named[1], answer.content


@pytest.mark.parametrize("form", CHOICES["form"])
@pytest.mark.parametrize("published", [False, True])
def test_a_tier_is_what_the_study_releases(serve: Serve, tmp_path: Path, form: str, published: bool) -> None:
    site = serve("checked")
    site.study.grid().release(Tier.SILVER, tmp_path / f"silver.{form}", published=published)
    columns = "fc-conan" if published else "fcpair"
    name, content = download(site, "partition", tier="silver", form=form, columns=columns)
    assert name == f"silver.{form}"
    assert content == (tmp_path / name).read_bytes()


def test_a_downloaded_tier_is_recorded_by_its_name_and_is_not_missing(serve: Serve) -> None:
    site = serve("checked")
    name, content = download(site, "partition", tier="silver", form="csv", columns="fcpair")
    run = site.study.log()[-1]
    assert (run.params["out"], run.counts["sha256"]) == (name, sha256(content).hexdigest())
    with site.study._store.read() as tx:
        (record,) = runs.releases(tx)
    assert (record["file"], record["path"], record["sha256"]) == (name, None, run.counts["sha256"])
    (check,) = (check for check in Study.doctor(site.study.place).checks if check.name == "releases")
    assert (check.found, check.note) == ((), "downloaded, so not here to be checked: 1")


@pytest.mark.parametrize("binary", [False, True])
def test_qrels_are_what_the_study_exports(serve: Serve, tmp_path: Path, binary: bool) -> None:
    site = serve("checked")
    site.study.grid().export.qrels(tmp_path / "silver.qrels", Tier.SILVER, Export(pool="positive", binary=binary))
    form = {"binary": "true"} if binary else {}
    name, content = download(site, "qrels", tier="silver", pool="positive", **form)
    assert content == (tmp_path / name).read_bytes()


FORMS = re.compile(r'action="/lead/download/([\w-]+)".*?<p>[^<]*<span class="soft">([^<]*)</span>', re.DOTALL)


@pytest.mark.parametrize(
    ("stage", "held"),
    [
        ("paired", {"report": "The whole study."}),
        ("dealt", {"report": "The whole study.", "sheets": "42 open pairs."}),
        (
            "checked",
            {
                "labels": "42 rows.",
                "partition": "19 pairs in the largest tier.",
                "report": "The whole study.",
                "agreement": "Measured on 42 labels.",
            },
        ),
    ],
)
def test_what_is_offered_says_how_much_it_holds(serve: Serve, stage: str, held: dict[str, str]) -> None:
    site = serve(stage)
    html = site.browser("lea").get("/lead/downloads").text
    n_runs = len(site.study.log())
    always = {"log": f"{n_runs} runs.", "recipe": "With all that was changed since."}
    assert dict(FORMS.findall(html)) == held | always
    assert ("/lead/downloads#layouts" in html) == (stage == "checked")


def test_each_tier_has_its_size_and_an_empty_one_is_not_offered(serve: Serve) -> None:
    html = serve("checked").browser("lea").get("/lead/downloads").text
    sizes = re.findall(r'<option value="\w+">(\w+ \(\d+ pairs?\))</option>', html)
    assert sizes == ["diamond (7 pairs)", "gold (9 pairs)", "silver (13 pairs)", "bronze (19 pairs)"]
    decided = serve("decided").browser("lea").get("/lead/downloads").text
    assert "pairs in the largest tier" not in decided
    assert 'name="tier"' not in decided


def test_layouts_are_behind_one_choice(serve: Serve) -> None:
    browser = serve("checked").browser("lea")
    html = browser.get("/lead/downloads").text
    layouts = re.findall(r'<option value="([\w-]+)">', html[html.index('name="layout"') :].partition("</select>")[0])
    assert layouts == [name for name, one in DOWNLOADS.items() if one.layout]
    for name in layouts:
        assert f'action="/lead/download/{name}"' not in html
        chosen = browser.get(f"/lead/downloads?layout={name}").text
        assert chosen.count(f'action="/lead/download/{name}"') == 1
        assert f'<option value="{name}" selected>' in chosen
    assert browser.get("/lead/downloads?layout=weather").status_code == 404


def files_in(folder: Path) -> dict[str, bytes]:
    inside = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder.parent).as_posix(): path.read_bytes() for path in inside}


def files_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {one.filename: archive.read(one) for one in archive.infolist() if not one.is_dir()}


FOLDERS: dict[str, Callable[[Site, Path], object]] = {
    "beir": lambda site, path: site.study.grid().export.beir(path / "silver-beir", Tier.SILVER),
    "hf": lambda site, path: site.study.grid().export.hf(path / "dataset"),
    "pairs": lambda site, path: site.study.grid().export.training(
        "pairs", path / "silver-pairs", Tier.SILVER, Export(test_share=0.5, seed=2)
    ),
    "triplets": lambda site, path: site.study.grid().export.training(
        "triplets", path / "silver-triplets", Tier.SILVER, Export(test_share=0.5, seed=2, negatives=1)
    ),
    "preferences": lambda site, path: site.study.grid().export.training(
        "preferences", path / "silver-preferences", Tier.SILVER, Export(test_share=0.5, seed=2, negatives=1)
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_what_the_study_exports(serve: Serve, tmp_path: Path, name: str) -> None:
    site = serve("checked")
    folder = tmp_path / "made"
    folder.mkdir()
    FOLDERS[name](site, folder)
    asked = {"tier": "silver", "test_share": "0.5", "seed": "2", "negatives": "1"}
    found, content = download(site, name, **asked)
    made = next(folder.iterdir())
    assert found == f"{made.name}.zip"
    assert files_of(content) == files_in(made)


@pytest.mark.parametrize(("stage", "name"), [("dealt", "sheets"), ("checking", "validation-sheets")])
def test_sheets_are_those_that_the_study_writes(serve: Serve, tmp_path: Path, stage: str, name: str) -> None:
    site = serve(stage)
    write = site.study.grid().sheets.write_labels if name == "sheets" else site.study.grid().sheets.write_verdicts
    write(tmp_path / name)
    assert files_of(download(site, name)[1]) == files_in(tmp_path / name)


def test_the_report_and_the_labels_are_those_of_the_study(serve: Serve, tmp_path: Path) -> None:
    site = serve("checked")
    browser = site.browser("lea")
    site.study.report(tmp_path / "report.html")
    page = browser.post("/lead/download/report", data={"csrf": csrf_of(browser)}).content
    assert page == (tmp_path / "report.html").read_bytes()
    rows = download(site, "labels")[1].decode().splitlines()
    assert len(rows) == 1 + len(site.study.grid().labels())


@pytest.mark.parametrize("name", DOWNLOADS)
def test_a_download_that_cannot_be_made_says_why(serve: Serve, name: str) -> None:
    """On a study without labels nothing but the report and the log can be had, and nothing fails."""
    browser = serve("paired").browser("lea")
    status = browser.post(f"/lead/download/{name}", data={"csrf": csrf_of(browser)}).status_code
    assert status == (200 if name in {"report", "log", "recipe"} else 409)


@pytest.mark.parametrize(
    "form",
    [
        {"tier": "platinum"},
        {"form": "../../etc/passwd"},
        {"pool": "/etc/passwd"},
        {"test_share": "nan"},
        {"test_share": "1"},
        {"seed": "-1"},
        {"seed": "x"},
        {"negatives": "0"},
    ],
)
def test_a_choice_that_is_not_offered_is_refused(serve: Serve, form: dict[str, str]) -> None:
    browser = serve("checked").browser("lea")
    data = {"csrf": csrf_of(browser), "tier": "silver", "test_share": "0.5", **form}
    assert browser.post("/lead/download/triplets", data=data).status_code == 422


def test_there_is_no_other_download(site: Site) -> None:
    browser = site.browser("lea")
    assert browser.post("/lead/download/weather", data={"csrf": csrf_of(browser)}).status_code == 404


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(None, "–"), (0, "0 s"), (59.4, "59 s"), (60, "1 min"), (3599, "1 h 00 min"), (7500, "2 h 05 min")],
)
def test_time_spans_in_words(seconds: float | None, said: str) -> None:
    assert ENGLISH.duration(seconds) == said


@pytest.mark.parametrize(
    ("kappa", "name"),
    [("-0.400", "heat-0"), ("0.000", "heat-0"), ("0.577", "heat-5"), ("0.999", "heat-9"), ("1.000", "heat-9")],
)
def test_the_heat_of_a_kappa(kappa: str, name: str) -> None:
    assert heat_class(KappaCell("kappa", kappa)) == name


def test_each_heat_has_the_colour_of_the_report_and_ink_that_stands_out() -> None:
    sheet = (FOLDER / "lead.css").read_text("utf-8")
    for at in range(10):
        ground = colours.cividis((at + 0.5) / 10)
        rule = re.search(rf"\.heat-{at} {{\s*background: (#\w+);\s*color: (#\w+);", sheet)
        assert rule
        assert rule.groups() == (colours.to_hex(ground), colours.to_hex(colours.ink_on(ground)))


@pytest.mark.parametrize("pairs", ["9" * 5000, "-1", "0", "some", "1.5"])
def test_what_is_no_number_of_pairs_is_refused(serve: Callable[..., Site], pairs: str) -> None:
    site = serve("decided")
    browser = site.browser("lea")
    sent = {"csrf": csrf_of(browser), "pairs": pairs}
    assert browser.post("/lead/conflicts/validate", data=sent).status_code == 422


def test_a_late_joiner_is_told_of_to_the_lead_and_not_that_it_is_over(serve: Serve) -> None:
    site = serve("dealt")
    site.study.add_people(["gina"], Role.ANNOTATOR)
    said = (
        "gina joined after the pairs were assigned and got none; <code>fcpair assign --more</code> gives an even share."
    )
    for path in ("/lead", "/lead/conflicts"):
        assert said in site.browser("lea").get(path).text
    page = site.browser("gina").get("/thanks").text
    assert "There is nothing for you yet" in page
    assert "last pair" not in page
    site.study.grid().assign(Assign(), more=True)
    assert site.study.status()["notes"] == []
    assert "Thank you for today" in site.browser("gina").get("/thanks").text


def test_the_lead_sees_that_only_some_cells_of_the_grid_were_drawn(serve: Serve) -> None:
    site = serve("paired")
    assert "sampled" not in site.browser("lea").get("/lead").text
    site.study.grid().pair(Pair(sample=9), redo=True)
    assert "sampled 9 of 24 cells." in site.browser("lea").get("/lead").text
    assert "0 labels on 9 pairs" in site.browser("lea").get("/lead/grid").text


def test_a_decision_that_stands_again_is_the_last_that_is_told(serve: Serve, tmp_path: Path) -> None:
    site = serve("labelled")
    study, pair = site.study, site.study.grid().waiting_pairs()[0]
    study.grid().decide(pair, 2, by="judy")
    study.grid().import_outcomes(
        write_csv(tmp_path / "d.csv", [{"pair": pair, "label": "0", "adjudicator": "bo"}]), supersede=True
    )
    study.grid().take_back(pair, by="lea")
    told = re.findall(r"judy|taken back", site.browser("lea").get(f"/lead/pair/{pair}").text)
    assert told[-1] == "judy"
    assert "taken back" in told


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("run `fcpair validate assign`", "go to “Assign pairs to validators” on Conflicts"),
        ("3; `fcpair validate assign --more --pairs 3`", "3; “Assign pairs to validators” on Conflicts"),
        ("`fcpair partition` shows every tier", "“Tiers as they would be now” on Progress shows every tier"),
        ("run `fcpair adjudicate`, or `fcpair serve`", "run `fcpair adjudicate`, or use these pages"),
        ("`fcpair assign --more` gives", "`fcpair assign --more` gives"),
    ],
)
def test_what_the_pages_do_is_not_looked_for_in_a_terminal(sentence: str, said: str) -> None:
    assert replace_commands(sentence) == said


def test_it_is_said_how_many_verdicts_wait_for_labels(serve: Callable[..., Site]) -> None:
    site = serve("checking")
    lead = site.browser("lea")
    assert "until all labels" not in lead.get("/lead").text + lead.get("/lead/conflicts").text
    site.study.grid().assign(Assign(overlap={3: 1.0}), more=True)
    n = site.study.status()["verdicts_not_due"]
    assert n > 1
    for path in ("/lead/panel/progress", "/lead/conflicts"):
        assert f"({n} of them wait until all labels of their pairs are in)" in lead.get(path).text
    assert f"{n} open verdicts wait until all labels of their pairs are in" in lead.get("/lead").text


def test_a_lead_s_pages_of_a_study_with_numbers_name_them(tmp_path: Path) -> None:
    site = Site(rated(tmp_path), Annotate())
    browser = site.browser("lea")
    site.study.grid().adjudicate(Adjudicate("median"))
    for name in PANELS:
        assert browser.get(f"/lead/panel/{name}").status_code == (404 if name in ELSEWHERE else 200), name
    assert '<th scope="col">4.5</th>' in browser.get("/lead/panel/labels").text
    assert "3.5" in browser.get("/lead/pair/1").text
    assert "Krippendorff&#39;s alpha, interval" in browser.get("/lead/panel/agreement").text
    site.close()
