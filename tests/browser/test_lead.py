"""What the lead does in the browser: files that are saved, people who go, guidelines that change."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from conftest import one_short
from playwright.sync_api import ViewportSize, expect

from browser.axe import IS_WIDER
from browser.hosts import Host
from browser.shown import Shown
from browser.sitting import answer, await_sent, enter
from browser.windows import Windows
from fcpair.params import Assign, Simulate
from fcpair.records import Role
from fcpair.study import Study


def test_a_download_is_saved_under_its_name(desk: Host, windows: Windows) -> None:
    ana = windows.open(desk.url, desk.token("ana"))
    enter(ana)
    answer(ana, "appropriate")
    await_sent(ana)
    page = windows.open(desk.url, desk.token("lea"))
    page.goto("/lead/downloads")
    with page.expect_download() as saving:
        page.locator("form[action='/lead/download/labels']").get_by_role("button").click()
    assert saving.value.suggested_filename == "labels.csv"
    assert len(saving.value.path().read_text("utf-8").splitlines()) == 2


def test_who_is_retired_is_shown_the_door_and_others_get_the_work(desk: Host, windows: Windows) -> None:
    ana = windows.open(desk.url, desk.token("ana"))
    enter(ana)
    page = windows.open(desk.url, desk.token("lea"))
    page.goto("/lead/people")
    page.get_by_label("Change: ana", exact=True).click()
    page.get_by_role("link", name="Retire ana").click()
    page.get_by_role("button", name="Retire").click()
    expect(page.locator(".notice[role=status]")).to_contain_text("Done")
    ana.goto("/annotate")
    expect(ana).to_have_url(re.compile("/join$"))
    ben = windows.open(desk.url, desk.token("ben"))
    enter(ben)
    expect(ben.locator("#count")).to_have_text("0 answered, 30 open")


def test_the_preview_follows_the_selection_and_discarding_is_confirmed_and_taken_back(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["decided"])
    page = windows.open(served.url, served.token("lea"))
    page.goto("/lead/conflicts")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("Then 5 pairs wait for a person")
    page.get_by_label("Ties, with").select_option("discard")
    expect(preview).to_contain_text("5 pairs would be discarded. Then 0 pairs wait")
    page.get_by_role("button", name="Apply the policy").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Discard 5 pairs?")
    assert len(served.study.grid().waiting_pairs()) == 5
    page.get_by_role("button", name="Discard 5 pairs").click()
    expect(page.get_by_role("status")).to_contain_text("decided anew by the policy")
    assert served.study.grid().waiting_pairs() == []
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("status")).to_contain_text("5 wait for a person")


def test_the_link_that_is_shown_lets_in(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("lea"))
    page.goto("/lead/people/ana/invite")
    page.get_by_role("button", name="Make the link").click()
    ana = windows.open(desk.url)
    ana.goto(page.get_by_role("textbox", name="The link").input_value())
    expect(ana).to_have_url(re.compile("/welcome$"))


def test_new_guidelines_are_one_key_away_and_kept_with_the_answer(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("lea"))
    page.goto("/lead/guidelines")
    page.get_by_label("Text, in Markdown").fill("Be **kind**.")
    page.get_by_role("button", name="Save as version 2").click()
    expect(page.locator(".notice[role=status]")).to_contain_text("Done")
    ana = windows.open(desk.url, desk.token("ana"))
    enter(ana)
    ana.keyboard.press("g")
    expect(ana.locator("dialog#guidelines")).to_contain_text("Be kind.")
    ana.keyboard.press("g")
    answer(ana, "appropriate")
    await_sent(ana)
    assert [one["judgements"] for one in desk.study.guideline_versions()] == [0, 1]


def test_long_guidelines_are_pasted_and_saved(desk: Host, windows: Windows) -> None:
    """1.1 MB, part of it not ASCII: three times as much as the form that is sent."""
    text = "- Read both texts before you decide.\n" * 24_000 + "هر دو متن را بخوانید.\n" * 6_000
    assert len(text.encode()) > 1_100_000
    page = windows.open(desk.url, desk.token("lea"))
    page.goto("/lead/guidelines")
    page.get_by_label("Text, in Markdown").evaluate("(area, text) => { area.value = text; }", text)
    page.get_by_role("button", name="Save as version 2").click(timeout=60_000)
    expect(page.locator(".notice[role=status]")).to_contain_text("Done", timeout=60_000)
    assert desk.study.guidelines == (2, text)


def test_guidelines_that_are_too_long_are_refused_with_what_is_allowed(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("lea"), forgive=("422",))
    page.goto("/lead/guidelines")
    page.get_by_label("Text, in Markdown").evaluate("area => { area.value = 'x '.repeat(1024 * 1024) + 'x'; }")
    page.get_by_role("button", name="Save as version 2").click()
    expect(page.get_by_role("main")).to_contain_text("the limit is 2,097,152")


PAGES = ("", "/people", "/agreement", "/grid", "/conflicts", "/guidelines", "/evaluation", "/downloads")
SCREEN: ViewportSize = {"width": 1440, "height": 900}


@pytest.mark.parametrize("path", [f"/lead{part}" for part in PAGES])
def test_a_page_is_at_most_three_screens_long(path: str, shown: Shown, files: dict[str, Path]) -> None:
    page = shown.page(shown.host(files["checked"]), "lea")
    page.set_viewport_size(SCREEN)
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollHeight") <= 3 * SCREEN["height"]


def with_thirty_people(study: Study) -> None:
    """Thirty people label 24 pairs, each of which gets three labels."""
    study.add_people([f"a{number:02d}" for number in range(1, 31)], Role.ANNOTATOR)
    study.grid().assign(Assign(overlap={3: 1.0}, seed=1))
    study.grid().simulate(Simulate(seed=1))


@pytest.mark.parametrize("path", ["/lead/people", "/lead/agreement", "/lead/guidelines"])
def test_so_is_a_page_with_thirty_people(
    path: str, host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["paired"])
    with_thirty_people(served.study)
    page = windows.open(served.url, served.token("lea"))
    page.set_viewport_size(SCREEN)
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollHeight") <= 3 * SCREEN["height"]


def test_a_link_to_a_panel_of_the_long_page_of_earlier_versions_leads_to_its_page(
    shown: Shown, files: dict[str, Path]
) -> None:
    page = shown.page(shown.host(files["checked"]), "lea")
    for panel, address in (("agreement", "/lead/agreement"), ("coverage", "/lead/grid"), ("tiers", "/lead")):
        page.goto("/lead/downloads")
        page.goto(f"/lead#{panel}")
        expect(page).to_have_url(re.compile(f"{address}#{panel}$"))
        expect(page.locator(f"#{panel}")).to_be_visible()


@pytest.mark.parametrize("stage", ["dealt", "checking", "checked"])
@pytest.mark.parametrize("size", [{"width": 1440, "height": 900}, {"width": 375, "height": 667}])
def test_the_first_screen_has_the_stage_the_next_thing_and_every_tile(
    size: dict[str, int], stage: str, shown: Shown, files: dict[str, Path]
) -> None:
    page = shown.page(shown.host(files[stage]), "lea", size=size)
    page.goto("/lead")
    glance = page.locator("#glance")
    expect(glance.locator(".lead-tiles > div")).to_have_count(7)
    for part in (glance.locator(".lead-stage"), glance.locator(".lead-offer").first, glance.locator(".lead-tiles")):
        box = part.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= size["height"], part


def test_the_button_leads_to_the_page_that_does_it(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["paired"])
    page = windows.open(served.url, served.token("lea"))
    page.goto("/lead")
    page.get_by_role("button", name="Assign the pairs to annotators").click()
    expect(page.locator(".notice[role=status]")).to_contain_text("labels were assigned to 1 annotator")
    page.locator("#glance").get_by_role("button", name="Invite 1 annotator").click()
    expect(page).to_have_url(re.compile("/lead/people#links$"))


def test_times_are_in_the_zone_and_language_of_the_reader(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["checked"])
    newest = datetime.fromisoformat(served.study.log()[-1].at).astimezone(ZoneInfo("Asia/Tehran"))
    page = windows.open(served.url, served.token("lea"), timezone_id="Asia/Tehran", locale="de-DE")
    page.goto("/lead")
    page.locator("summary", has_text="Latest runs").click()
    time = page.locator(".lead-runs time").first
    expect(time).to_have_text(f"{newest:%d.%m.%Y, %H:%M}")
    expect(time).to_have_attribute("title", re.compile(" UTC$"))


@pytest.mark.parametrize("width", one_short(320, 1440))
def test_people_are_added_and_come_in_by_the_links_that_are_copied(desk: Host, windows: Windows, width: int) -> None:
    page = windows.open(desk.url, desk.token("lea"), viewport={"width": width, "height": 800})
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/lead/people")
    page.locator("#add summary").click()
    page.get_by_label("Pseudonyms").fill("zoe\nyan, validator")
    page.get_by_role("button", name="Add and invite them").click()
    expect(page.locator(".notice[role=status]")).to_contain_text("2 people added")
    page.get_by_role("button", name="Copy the link of zoe").click()
    expect(page.locator("#copied")).to_have_text("Copied.")
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == page.get_by_role("textbox", name="The link of zoe").input_value()
    )
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save all links as CSV").click()
    assert len(saving.value.path().read_text("utf-8").splitlines()) == 3
    assert not page.evaluate(IS_WIDER)
    zoe = windows.open(desk.url)
    zoe.goto(page.get_by_role("textbox", name="The link of zoe").input_value())
    expect(zoe).to_have_url(re.compile("/welcome$"))
