"""The lead's page keeps itself up to date, also with what other processes do to the study."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, Route, expect
from steps.small import open_work, write_csv

from browser.hosts import Host
from browser.sitting import answer, await_sent, enter, intercept
from browser.windows import Windows

EVERY_MS = 20_000


def overview(desk: Host, windows: Windows) -> Page:
    page = windows.open(desk.url, desk.token("lea"))
    page.clock.install()
    page.goto("/lead")
    expect(page.locator("#refreshing")).to_contain_text("every 20 seconds")
    return page


def test_an_answer_given_on_the_pages_appears_by_itself(desk: Host, windows: Windows) -> None:
    lead = overview(desk, windows)
    line = lead.locator("#progress tr", has_text="ana").first
    before = line.inner_text()
    ana = windows.open(desk.url, desk.token("ana"))
    enter(ana)
    answer(ana, "appropriate")
    await_sent(ana)
    lead.clock.fast_forward(EVERY_MS)
    expect(lead.locator("#tiers")).to_contain_text("Of 1 pair with a label")
    expect(line).not_to_have_text(before)


def test_labels_that_another_process_imports_appear_by_themselves(desk: Host, windows: Windows, tmp_path: Path) -> None:
    lead = overview(desk, windows)
    expect(lead.locator("#tiers")).to_contain_text("there are no labels")
    rows = [{"pair": pair, "annotator": who, "label": "appropriate"} for who, pair in open_work(desk.study)[:3]]
    labels = write_csv(tmp_path / "labels.csv", rows)
    command = [sys.executable, "-m", "fcpair", "labels", "import", str(labels), "--study", str(desk.study.place)]
    subprocess.run(command, check=True, capture_output=True)
    lead.clock.fast_forward(EVERY_MS)
    expect(lead.locator("#tiers")).to_contain_text("Of 3 pairs with a label")


def test_the_lead_can_keep_the_page_as_it_is(desk: Host, windows: Windows) -> None:
    lead = overview(desk, windows)
    asked: list[str] = []
    lead.on("request", lambda request: asked.append(request.url))
    lead.get_by_role("button", name="Stop refreshing").click()
    expect(lead.locator("#refreshing")).to_have_text("The page stays as it is.")
    lead.clock.fast_forward(3 * EVERY_MS)
    assert asked == []
    with lead.expect_response("**/lead/panel/tiers**"):
        lead.get_by_role("button", name="Refresh now").click()


def test_panels_are_read_one_after_the_other_and_again_when_the_server_had_no_time(
    desk: Host, windows: Windows
) -> None:
    page = windows.open(desk.url, desk.token("lea"), forgive=("status of 503", "Status Error Code 503"))
    page.goto("/lead")
    under_way, most = [0], [0]
    told: list[str] = []

    def count(route: Route) -> None:
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        response = route.fetch()
        under_way[0] -= 1
        if "tiers" in route.request.url and len(told) < 2:
            told.append(route.request.url)
            route.fulfill(status=503, headers={"Retry-After": "1"}, body="busy")
        else:
            route.fulfill(response=response)

    intercept(page, "**/lead/panel/**", count)
    before = page.locator("#tiers").inner_text()
    ana = windows.open(desk.url, desk.token("ana"))
    enter(ana)
    answer(ana, "appropriate")
    await_sent(ana)
    page.get_by_role("button", name="Refresh now").click()
    expect(page.locator("#tiers")).to_contain_text("Of 1 pair with a label")
    assert "Of 1 pair" not in before
    assert (len(told), most[0]) == (2, 1)
    page.unroute_all(behavior="wait")  # the panels after it are being read


def test_a_lead_who_comes_while_others_look_gets_the_page_a_little_later(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("lea"), forgive=("status of (404|503)",))
    told: list[str] = []

    def put_off(route: Route) -> None:
        told.append(route.request.url)
        headers = {"Content-Type": "text/html", "Refresh": "1", "Retry-After": "1"}
        route.fulfill(status=503, headers=headers, body="<h1>One moment, please</h1>")

    page.route("**/lead", put_off, times=1)
    page.goto("/lead")
    expect(page.get_by_role("heading", name="One moment, please")).to_be_visible()
    expect(page.get_by_role("heading", name="Progress", exact=True)).to_be_visible()
    assert len(told) == 1
