"""Acts of the lead on data, from the page to what comes of it, on a wide window and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import one_short
from playwright.sync_api import Page, expect

from browser.axe import violations
from browser.hosts import Host
from browser.windows import PHONE, Windows
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study

SCREEN = {"width": 1440, "height": 900}
SIZES = pytest.mark.parametrize("size", one_short(PHONE, SCREEN), ids=["phone", "wide"])
Serve = Callable[..., Host]


def assert_open_to_all(page: Page, size: dict[str, int]) -> None:
    """Nothing that axe-core finds, and nothing beside the window at this size."""
    assert violations(page) == []
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(size)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@SIZES
def test_pairs_that_are_ticked_or_all_are_acted_on(
    host: Serve, files: dict[str, Path], windows: Windows, size: dict[str, int]
) -> None:
    served = host(files["checked"])
    page = windows.open(served.url, served.token("lea"), viewport=size)
    page.goto("/lead/grid?words=cyclists")
    page.get_by_label("Tick pair 1", exact=True).check()
    page.get_by_label("Tick pair 2", exact=True).check()
    assert_open_to_all(page, size)
    page.get_by_role("button", name="Send to an adjudicator").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Send to an adjudicator?")
    assert_open_to_all(page, size)
    page.get_by_role("button", name="Send 2 pairs to an adjudicator").click()
    expect(page.locator(".notice[role=status]")).to_contain_text("a person is to decide 2 pairs more")
    assert {1, 2} <= set(served.study.grid().waiting_pairs())
    page.get_by_role("radio", name=re.compile("that match")).check()
    page.get_by_role("button", name="Ask for another label").click()
    assert_open_to_all(page, size)
    page.get_by_role("button", name=re.compile("Ask for \\d+ labels?")).click()
    expect(page.locator(".notice[role=status]")).to_contain_text("further label")
    assert served.study.grid().find_pairs(state="open").total > 0


@SIZES
def test_systems_are_evaluated_and_a_run_is_sent(
    host: Serve, files: dict[str, Path], windows: Windows, size: dict[str, int], tmp_path: Path
) -> None:
    served = host(files["checked"])
    page = windows.open(served.url, served.token("lea"), viewport=size, forgive=("status of 422",))
    page.goto("/lead/evaluation")
    assert_open_to_all(page, size)
    page.get_by_role("button", name="Evaluate now").click()
    expect(page).to_have_url(re.compile("/lead/acts$"))
    assert_open_to_all(page, size)
    expect(page).to_have_url(re.compile("/lead/evaluation\\?run="), timeout=60_000)
    expect(page.locator(".notice[role=status]").first).to_contain_text("systems ranked a pool of 6 texts")
    assert_open_to_all(page, size)
    run = tmp_path / "mine.trec"
    run.write_text("1 Q0\n", "utf-8")
    page.get_by_label("A TREC run").set_input_files(run)
    page.get_by_role("button", name="Send and evaluate").click()
    expect(page.locator("[role=alert]")).to_contain_text("mine.trec:1: 2 columns; expected 6", timeout=60_000)
    assert_open_to_all(page, size)


@SIZES
def test_an_import_is_withdrawn(host: Serve, files: dict[str, Path], windows: Windows, size: dict[str, int]) -> None:
    served = host(files["labelled"])
    page = windows.open(served.url, served.token("lea"), viewport=size)
    page.goto("/lead/imports")
    page.get_by_role("link", name=re.compile("Withdraw run")).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Withdraw the answers of run")
    assert_open_to_all(page, size)
    page.get_by_role("button", name=re.compile("Withdraw \\d+ answers")).click()
    expect(page.locator(".notice[role=status]")).to_contain_text("withdrawn")
    expect(page.get_by_role("cell", name="withdrawn", exact=True)).to_be_visible()
    assert_open_to_all(page, size)


@SIZES
def test_models_are_asked(host: Serve, windows: Windows, size: dict[str, int], tmp_path: Path) -> None:
    near = tmp_path / "near.csv"
    near.write_text("row,reply\nTea is odd.,It is not so odd.\n", "utf-8")
    propose = RoundPlan("propose", "text: text()", models=(f"near=canned:{near}",), prompt="Answer {row}")
    sides = SidePlan(names=("Tea is odd.",)), SidePlan(names=("near",))
    with Study.create(tmp_path / "models.db", grids=[GridPlan("replies", *sides, (propose,))]) as study:
        study.grid().pair()
        study.add_people(["lea"], Role.LEAD)
    served = host(tmp_path / "models.db")
    page = windows.open(served.url, served.token("lea"), viewport=size)
    page.goto("/lead")
    page.get_by_role("link", name="ask the models").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Ask the models of round “propose”")
    assert_open_to_all(page, size)
    page.get_by_role("button", name="Ask the models").click()
    expect(page.locator(".notice[role=status]").first).to_contain_text("1 answer was given by 1 model", timeout=60_000)
    assert served.study.grid().answers("propose")["skipped"].tolist() == [False]
