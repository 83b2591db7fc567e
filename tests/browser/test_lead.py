"""What only a browser shows of the lead's pages: live parts, long acts, drafts, lengths, keys, times and grids."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

import pytest
from conftest import one_short
from playwright.sync_api import Page, Route, expect
from steps.shown import CATS, put_examples, study_of
from steps.small import open_work, write_csv
from web import grids

from browser import acts
from browser.axe import violations
from browser.hosts import Host, Serve
from browser.layout import IS_WIDER
from browser.windows import LAPTOP, PHONE, SMALL, Shown, Windows
from fcpair.params import Adjudicate, Assign, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study

EVERY_MS = 20_000
NOTICE = ".notice[role=status]"
HEIGHT = "document.documentElement.scrollHeight"
ROWS_OF_MANY = """(tables) => tables.filter((it) => it.rows.length >= 30).flatMap((it) => [...it.rows])
  .map((it) => it.offsetHeight)"""
ROW_PX = 40
PAGES = ("", "/people", "/agreement", "/grid", "/conflicts", "/guidelines", "/evaluation", "/downloads")
GUIDELINES = "# Rules\n\nRead both texts.\n\n" + "راهنما " * 40
DRAFTS = "() => Object.keys(sessionStorage).filter((key) => key.startsWith('fcpair-draft')).length"
EXAMPLES_PAGE = "/lead/examples?grid=replies"
OF_GRIDS = [("lea", f"/lead{page}?grid={name}") for name in ("write", "tone") for page in ("", "/downloads")]
OF_GRIDS += [("lea", "/lead/answers?round=write&grid=write"), ("judy", "/adjudicate?grid=tone")]


def assert_open_to_all(page: Page, size: dict[str, int]) -> None:
    """Nothing that axe-core finds, and nothing beside the window at this size."""
    assert violations(page) == []
    page.emulate_media(color_scheme="light")
    acts.resize(page, size)
    assert not page.evaluate(IS_WIDER)


# Live


def test_the_overview_keeps_itself_up_to_date_also_with_other_processes_until_it_is_stopped(
    desk: Host, windows: Windows, tmp_path: Path
) -> None:
    lead = windows.open(desk.url, desk.token("lea"))
    lead.clock.install()
    lead.goto("/lead")
    tiers, refreshing = lead.locator("#tiers"), lead.locator("#refreshing")
    expect(refreshing).to_contain_text("every 20 seconds")
    expect(tiers).to_contain_text("there are no labels")
    line = lead.locator("#progress tr", has_text="ana").first
    before = line.inner_text()
    ana = windows.sit(desk, "ana")
    acts.answer(ana, "appropriate")
    acts.await_sent(ana)
    lead.clock.fast_forward(EVERY_MS)
    expect(tiers).to_contain_text("Of 1 pair with a label")
    expect(line).not_to_have_text(before)
    rows = [{"pair": pair, "annotator": who, "label": "appropriate"} for who, pair in open_work(desk.study)[:3]]
    labels = write_csv(tmp_path / "labels.csv", rows)
    command = [sys.executable, "-m", "fcpair", "labels", "import", str(labels), "--study", str(desk.study.place)]
    subprocess.run(command, check=True, capture_output=True)
    lead.clock.fast_forward(EVERY_MS)
    expect(tiers).to_contain_text("Of 4 pairs with a label")
    asked: list[str] = []
    lead.get_by_role("button", name="Stop refreshing").click()
    expect(refreshing).to_have_text("The page stays as it is.")
    lead.wait_for_load_state("networkidle")
    lead.on("request", lambda request: asked.append(request.url))
    lead.clock.fast_forward(3 * EVERY_MS)
    acts.rest(lead)
    assert asked == []
    with lead.expect_response("**/lead/panel/tiers**"):
        lead.get_by_role("button", name="Refresh now").click()


def test_panels_are_read_one_after_the_other_and_pages_later_when_the_server_had_no_time(
    desk: Host, windows: Windows
) -> None:
    page = windows.open(desk.url, desk.token("lea"), forgive=("status of (404|503)", "Status Error Code 503"))
    under_way, most = [0], [0]
    put_off: list[str] = []

    def put_off_page(route: Route) -> None:
        put_off.append(route.request.url)
        headers = {"Content-Type": "text/html", "Refresh": "1", "Retry-After": "1"}
        route.fulfill(status=503, headers=headers, body="<h1>One moment, please</h1>")

    def count(route: Route) -> None:
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        response = route.fetch()
        under_way[0] -= 1
        if "tiers" in route.request.url and len(put_off) < 3:
            put_off.append(route.request.url)
            route.fulfill(status=503, headers={"Retry-After": "1"}, body="busy")
        else:
            route.fulfill(response=response)

    page.route("**/lead", put_off_page, times=1)
    page.goto("/lead")
    expect(page.get_by_role("heading", name="One moment, please")).to_be_visible()
    expect(page.get_by_role("heading", name="Progress", exact=True)).to_be_visible()
    assert len(put_off) == 1
    acts.intercept(page, "**/lead/panel/**", count)
    before = page.locator("#tiers").inner_text()
    ana = windows.sit(desk, "ana")
    acts.answer(ana, "appropriate")
    acts.await_sent(ana)
    page.get_by_role("button", name="Refresh now").click()
    expect(page.locator("#tiers")).to_contain_text("Of 1 pair with a label")
    assert "Of 1 pair" not in before
    assert (len(put_off), most[0]) == (3, 1)
    page.unroute_all(behavior="wait")  # the panels after it are being read


@pytest.mark.parametrize("size", one_short(PHONE, LAPTOP), ids=["phone", "wide"])
def test_long_acts_lead_from_their_progress_to_their_results(
    serve: Serve, windows: Windows, size: dict[str, int], tmp_path: Path
) -> None:
    page = windows.show(serve("checked"), "lea", "/lead/evaluation", viewport=size, forgive=("status of 422",))
    page.get_by_role("button", name="Evaluate now").click()
    expect(page).to_have_url(re.compile("/lead/acts$"))
    assert_open_to_all(page, size)
    expect(page).to_have_url(re.compile("/lead/evaluation\\?run="), timeout=60_000)
    expect(page.locator(NOTICE).first).to_contain_text("systems ranked a pool of 6 texts")
    assert_open_to_all(page, size)
    run = tmp_path / "mine.trec"
    run.write_text("1 Q0\n", "utf-8")
    page.get_by_label("A TREC run").set_input_files(run)
    page.get_by_role("button", name="Send and evaluate").click()
    expect(page.locator("[role=alert]")).to_contain_text("mine.trec:1: 2 columns; expected 6", timeout=60_000)
    assert_open_to_all(page, size)

    near = tmp_path / "near.csv"
    near.write_text("row,reply\nTea is odd.,It is not so odd.\n", "utf-8")
    propose = RoundPlan("propose", "text: text()", models=(f"near=canned:{near}",), prompt="Answer {row}")
    sides = SidePlan(names=("Tea is odd.",)), SidePlan(names=("near",))
    with Study.create(tmp_path / "models.db", grids=[GridPlan("replies", *sides, (propose,))]) as study:
        study.grid().pair()
        study.add_people(["lea"], Role.LEAD)
    served = serve(tmp_path / "models.db")
    page = windows.show(served, "lea", "/lead", viewport=size)
    page.get_by_role("link", name="ask the models").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Ask the models of round “propose”")
    assert_open_to_all(page, size)
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator(NOTICE).first).to_contain_text("1 answer was given by 1 model", timeout=60_000)
    assert served.study.grid().answers("propose")["skipped"].tolist() == [False]


# Drafts


def test_guidelines_are_in_their_field_again_until_they_are_saved_dropped_or_their_lead_leaves(
    labelled: Host, windows: Windows
) -> None:
    page = windows.show(labelled, "lea", "/lead/guidelines", forgive=("status of 40[13]",))
    body, asked = page.locator("#body"), page.get_by_role("dialog", name="Leave now?")
    body.fill(GUIDELINES)
    labelled.study.access.rotate_secret()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/join")
    acts.come_in(page, labelled.token("lea"))
    page.goto("/lead/guidelines")
    expect(body).to_have_value(GUIDELINES)
    restored = "The text that you typed here and did not save is back in the field"
    expect(page.locator("#draft-said")).to_contain_text(restored)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/lead/guidelines?run=*")
    assert labelled.study.guidelines == (2, GUIDELINES)
    expect(page.locator("#draft-said")).to_be_hidden()
    assert page.evaluate(DRAFTS) == 0
    body.fill("# Others")  # on the page that says what was done
    page.reload()
    expect(body).to_have_value("# Others")
    page.get_by_role("button", name="Discard it").click()
    expect(body).to_have_value(GUIDELINES)
    page.reload()
    expect(body).to_have_value(GUIDELINES)
    body.fill("# Others")
    page.get_by_role("button", name="Leave").click()
    expect(asked).to_contain_text("What you have begun and not saved will be deleted.")
    asked.get_by_role("button", name="Stay").click()
    expect(asked).to_be_hidden()
    assert page.evaluate(DRAFTS) == 1
    page.get_by_role("button", name="Leave").click()
    page.keyboard.press("l")
    page.wait_for_url("**/join")
    assert page.evaluate(DRAFTS) == 0


# What is on a screen


def test_a_page_is_at_most_three_screens_long_but_for_its_rows_of_thirty_people(
    serve: Serve, windows: Windows, shown: Shown
) -> None:
    served = serve("paired")
    served.study.add_people([f"a{number:02d}" for number in range(1, 31)], Role.ANNOTATOR)
    served.study.grid().assign(Assign(overlap={3: 1.0}, seed=1))
    served.study.grid().simulate(Simulate(seed=1))
    few = shown.page(shown.host("checked"), "lea", size=LAPTOP)
    many = windows.open(served.url, served.token("lea"), viewport=LAPTOP)
    for page, paths in ((few, PAGES), (many, ("/people", "/agreement", "/guidelines"))):
        for path in paths:
            page.goto(f"/lead{path}")
            rows = cast("list[int]", page.locator("main tbody").evaluate_all(ROWS_OF_MANY))
            assert max(rows, default=0) <= ROW_PX, page.url
            assert page.evaluate(HEIGHT) - sum(rows) <= (2 if rows else 3) * LAPTOP["height"], page.url


@pytest.mark.parametrize("stage", ["dealt", "checking", "checked"])
def test_the_first_screen_has_the_stage_the_next_thing_and_every_tile(stage: str, shown: Shown) -> None:
    for size in (LAPTOP, PHONE):
        page = shown.page(shown.host(stage), "lea", size=size)
        page.goto("/lead")
        glance = page.locator("#glance")
        expect(glance.locator(".lead-tiles > div")).to_have_count(7)
        for part in (glance.locator(".lead-stage"), glance.locator(".lead-offer").first, glance.locator(".lead-tiles")):
            box = part.bounding_box()
            assert box is not None
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= size["height"], part


def test_a_link_to_a_panel_of_the_long_page_of_earlier_versions_leads_to_its_page(shown: Shown) -> None:
    page = shown.page(shown.host("checked"), "lea")
    for panel, address in (("agreement", "/lead/agreement"), ("coverage", "/lead/grid"), ("tiers", "/lead")):
        page.goto("/lead/downloads")
        page.goto(f"/lead#{panel}")
        expect(page).to_have_url(re.compile(f"{address}#{panel}$"))
        expect(page.locator(f"#{panel}")).to_be_visible()


def test_times_are_in_the_zone_of_the_reader_and_the_form_of_the_page(serve: Serve, windows: Windows) -> None:
    served = serve("checked")
    newest = datetime.fromisoformat(served.study.log()[-1].at).astimezone(ZoneInfo("Asia/Tehran"))
    page = windows.show(served, "lea", "/lead", timezone_id="Asia/Tehran", locale="de-DE")
    time = page.locator(".lead-runs time").first
    expect(time).to_have_text(f"{newest.day} {newest:%b %Y, %H:%M}")  # as all others on a page in English
    expect(time).to_have_attribute("title", re.compile(" UTC$"))


def test_the_days_of_the_chart_are_read_by_pointer_and_by_keyboard(shown: Shown) -> None:
    page = shown.page(shown.host("checked"), "lea")
    page.goto("/lead")
    day, reading = page.locator(".days-day").last, page.locator(".days output")
    page.locator(".days-plot").hover()
    expect(reading).to_have_text(day.get_attribute("data-reading") or "")
    expect(day).to_have_class(re.compile("is-read"))
    page.locator(".days-plot").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".days-day").first).to_have_class(re.compile("is-read"))


@pytest.mark.parametrize("width", one_short(320, 1440))
def test_people_are_added_and_come_in_by_the_links_that_are_copied(desk: Host, windows: Windows, width: int) -> None:
    page = windows.show(desk, "lea", "/lead/people", viewport={"width": width, "height": 800})
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Add people").click()
    page.get_by_label("Pseudonyms").fill("zoe\nyan, validator")
    page.get_by_role("button", name="Add and invite them").click()
    expect(page.locator(NOTICE)).to_contain_text("2 people added")
    page.get_by_role("button", name="Copy the link of zoe").click()
    expect(page.locator("#copied")).to_have_text("Copied.")
    link = page.get_by_role("textbox", name="The link of zoe").input_value()
    assert page.evaluate("navigator.clipboard.readText()") == link
    assert not page.evaluate(IS_WIDER)
    zoe = windows.open(desk.url)
    zoe.goto(link)
    expect(zoe).to_have_url(re.compile("/welcome$"))


def test_a_person_opens_in_a_drawer_from_their_menu_and_the_focus_comes_back(desk: Host, windows: Windows) -> None:
    page = windows.show(desk, "lea", "/lead/people", viewport=PHONE)
    menu = page.get_by_role("button", name="Actions on ana")
    expect(menu).to_be_in_viewport(ratio=1)
    menu.click()
    page.get_by_role("link", name="Details").click()
    drawer = page.get_by_role("dialog", name="ana")
    expect(drawer.get_by_role("button", name="Retire ana")).to_be_attached()
    expect(drawer.get_by_role("button", name="Close")).to_be_focused()
    assert not page.evaluate(IS_WIDER)
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(menu).to_be_focused()
    expect(page).to_have_url(re.compile("/lead/people$"))


# Several grids


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grids.build(tmp_path_factory.mktemp("grids"))


@pytest.mark.long
def test_pages_about_a_grid_are_open_to_all(serve: Serve, several: Path, windows: Windows) -> None:
    served = serve(several)
    for name, path in OF_GRIDS:
        assert_open_to_all(windows.show(served, name, path), SMALL)


def test_two_tabs_at_two_grids_each_act_on_their_own(serve: Serve, several: Path, windows: Windows) -> None:
    served = serve(several)
    lead = windows.show(served, "lea", "/lead?grid=tone")
    first = windows.show(served, "judy", "/adjudicate?grid=taste")
    second = first.context.new_page()
    second.goto("/adjudicate?grid=tone")
    acts.rest(first)
    first.get_by_role("button", name="yes").click()
    expect(first.locator(".progress")).to_contain_text("taste: 3 wait · 1 decided by you")
    assert "grid=taste" in first.url
    assert len(served.study.grid("tone").waiting_pairs()) == 4
    acts.rest(first)
    first.get_by_role("button", name="Undo").click()
    expect(first.locator(".progress")).to_contain_text("taste: 4 wait · 0 decided by you")
    served.study.grid("tone").decide(served.study.grid("tone").waiting_pairs()[0], 1, by="jo")
    lead.get_by_role("button", name="Refresh now").click()
    expect(lead.locator("#progress")).to_contain_text("1 pair decided by people, 3 wait for a person")


def test_the_preview_of_a_policy_follows_the_selection_and_the_grid_of_its_tab(
    serve: Serve, several: Path, windows: Windows
) -> None:
    served = serve(several)
    served.study.grid("taste").adjudicate(Adjudicate("majority", "discard"))
    page = windows.show(served, "lea", "/lead/conflicts/policy?grid=tone")
    with page.expect_response("**/lead/conflicts/policy?*"):
        page.get_by_label("Pairs whose labels differ").select_option("majority")
    expect(page.locator("#preview")).to_contain_text("would wait for a person")
    page.get_by_label("Ties").select_option("discard")
    expect(page.locator("#preview")).to_contain_text("4 pairs would be discarded.")
    page.get_by_role("button", name="Apply the policy").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Discard 4 pairs in tone?")
    assert len(served.study.grid("tone").waiting_pairs()) == 4
    page.get_by_role("button", name="Discard 4 pairs").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Conflicts of tone")
    assert served.study.grid("tone").policy == Adjudicate("majority", "discard")


# Examples for models


def test_a_lead_reviews_by_keyboard_alone_and_hidden_texts_stay_hidden(
    serve: Serve, windows: Windows, tmp_path: Path
) -> None:
    with closing(study_of(tmp_path)) as study:
        put_examples(study)
    served = serve(Path(study.place))
    served.hide_texts("lea")
    page = windows.show(served, "lea", EXAMPLES_PAGE)
    hidden = page.get_by_text(CATS, exact=True)
    expect(hidden).not_to_be_visible()
    page.locator("article summary").first.click()
    expect(hidden).to_be_visible()
    assert violations(page) == []
    served.study.access.set_blurred(served.person("lea"), False)
    page.goto(EXAMPLES_PAGE)
    page.get_by_role("button", name="Use example 1", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#example-2$"))
    page.keyboard.press("Tab")  # goes on where the page went: to the first button of the next example
    expect(page.get_by_role("button", name="Use example 2", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("1 row of 2 has examples that nobody has reviewed")
    assert_open_to_all(page, SMALL)
    page.get_by_role("link", name="Next row to review").press("Enter")
    expect(page.get_by_role("heading", level=2)).to_have_text("Row 2 of 2")
    assert [str(one) for one in served.study.grid("replies").examples.table("propose")["used"]] == ["yes", "no", "", ""]
