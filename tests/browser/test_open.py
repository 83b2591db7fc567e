"""Open dealing in a browser: pairs come as long as any are free, and the end says whether there will be more."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.hosts import Host
from browser.sitting import HASTE_MS, answer, await_sent, enter, pair
from browser.windows import Windows
from fcpair.params import Assign
from fcpair.study import Study


@pytest.fixture(scope="module")
def volunteers(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example study, 30 pairs, of which half get two labels, for whoever asks."""
    path = Path(shutil.copy(example, tmp_path_factory.mktemp("open") / "study.db"))
    study = Study(path)
    study.grid().assign(Assign(open=True, overlap={2: 0.5}, seed=1), redo=True)
    study.close()
    return path


def sit(served: Host, windows: Windows, name: str) -> Page:
    page = windows.open(served.url, served.token(name))
    enter(page)
    return page


@pytest.mark.long
def test_pairs_come_until_none_is_free(host: Callable[..., Host], volunteers: Path, windows: Windows) -> None:
    served = host(volunteers)
    page = sit(served, windows, "ana")
    expect(page.locator("#count")).to_have_text("0 answered, more when you like")
    expect(page.locator("#bar")).to_be_hidden()
    seen = []
    for n in range(1, 31):  # three times as many as one holds at once
        seen.append(pair(page))
        page.wait_for_timeout(HASTE_MS)  # what the server says meanwhile changes the line of progress, too
        answer(page, "appropriate")
        if n < 30:
            expect(page.locator("#count")).to_contain_text(f"{n} answered, ")
    expect(page).to_have_url(f"{served.url}/thanks")
    expect(page.locator("main")).to_contain_text("You have answered 30 pairs. Everything is kept.")
    expect(page.locator("main")).to_contain_text("Nothing else is free at the moment.")
    assert len({*seen}) == 30
    assert served.study.status()["rounds"]["label"]["free"] == 15


def test_who_leaves_in_between_is_told_that_there_is_more(
    host: Callable[..., Host], volunteers: Path, windows: Windows
) -> None:
    page = sit(host(volunteers), windows, "ben")
    answer(page, "appropriate")
    await_sent(page)
    page.goto(f"{page.url.rpartition('/')[0]}/thanks")
    expect(page.locator("h1")).to_have_text("Thank you for today")
    expect(page.locator("main")).to_contain_text("There are more: come back when you like")
    page.get_by_role("link", name="Go on").click()
    expect(page.locator("#pair")).to_be_visible()
