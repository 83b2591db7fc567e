"""The lead's and the adjudicators' pages of a study with several grids, in a browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from web import grids
from web.conftest import add_everybody

from browser.axe import violations
from browser.hosts import Host
from browser.sitting import HASTE_MS
from browser.windows import Windows
from fcpair.params import Adjudicate
from fcpair.study import Study

NARROW = {"width": 360, "height": 740}
OPEN = [("lea", f"/lead{page}?grid={name}") for name in ("write", "tone") for page in ("", "/steps", "/downloads")]
OPEN += [("lea", "/lead/answers?round=write&grid=write"), ("judy", "/adjudicate?grid=tone")]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = grids.build(tmp_path_factory.mktemp("grids"))
    study = Study(path)
    add_everybody(study)
    study.close()
    return path


@pytest.fixture
def served(built: Path, host: Callable[..., Host], tmp_path: Path) -> Host:
    return host(Path(shutil.copy(built, tmp_path / "grids.db")))


@pytest.mark.long
def test_pages_about_a_grid_are_open_to_all(served: Host, windows: Windows) -> None:
    for name, path in OPEN:
        page = windows.open(served.url, served.token(name))
        page.goto(path)
        page.wait_for_load_state()
        assert violations(page) == [], path
        page.set_viewport_size(NARROW)  # type: ignore[arg-type]
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"], path


def test_two_tabs_at_two_grids_each_act_on_their_own(served: Host, windows: Windows) -> None:
    first = windows.open(served.url, served.token("judy"))
    first.goto("/adjudicate?grid=taste")
    second = first.context.new_page()
    second.goto("/adjudicate?grid=tone")
    first.get_by_role("button", name="yes").click()
    expect(first.locator(".progress")).to_contain_text("taste: 3 wait · 1 decided by you")
    assert "grid=taste" in first.url
    assert len(served.study.grid("tone").waiting_pairs()) == 4
    first.wait_for_timeout(HASTE_MS)
    first.get_by_role("button", name="Undo").click()
    expect(first.locator(".progress")).to_contain_text("taste: 4 wait · 0 decided by you")


def test_the_preview_of_a_policy_is_of_the_grid_of_its_tab(served: Host, windows: Windows) -> None:
    served.study.grid("taste").adjudicate(Adjudicate("majority", "discard"))
    page = windows.open(served.url, served.token("lea"))
    page.goto("/lead/conflicts?grid=tone")
    page.get_by_label("Pairs whose labels differ").select_option("majority")
    expect(page.locator("#preview")).to_contain_text("By “majority” (ties: wait)")
    page.get_by_label("Ties, with the majority or the median").select_option("discard")
    expect(page.locator("#preview")).to_contain_text("4 pairs would be discarded.")
    page.get_by_role("button", name="Apply the policy").click()
    page.get_by_role("button", name="Discard 4 pairs").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Conflicts of tone")
    assert served.study.grid("tone").policy == Adjudicate("majority", "discard")


def test_panels_are_read_anew_of_their_own_grid(served: Host, windows: Windows) -> None:
    page = windows.open(served.url, served.token("lea"))
    page.goto("/lead?grid=tone")
    served.study.grid("tone").decide(served.study.grid("tone").waiting_pairs()[0], 1, by="jo")
    page.get_by_role("button", name="Refresh now").click()
    expect(page.locator("#progress")).to_contain_text("1 pair decided by people, 3 wait for a person")
