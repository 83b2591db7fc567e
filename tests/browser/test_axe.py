"""Every page: nothing that axe-core finds wrong; long tests look at it in all states, in the dark and wide, too."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from _pytest.mark import ParameterSet
from playwright.sync_api import Page
from web.test_roles import routes

from browser.axe import LOOKS, violations
from browser.hosts import EXAMPLES, Host, Serve
from browser.states import ELSEWHERE, NO_PAGES, PAGES, State
from browser.windows import Shown, Windows
from fcpair.study import Study

STATES = [*(state for states in PAGES.values() for state in states), *ELSEWHERE]
IN_EVERY_LOOK = {"open pair", "conflict", "overview of a finished study", "grid"}  # one of each kind, in all runs
FIRST = {states[0].name for states in PAGES.values() if states}
STATUS_ERRORS = (r"status of \d{3}", r"net::ERR_FAILED")  # which the browser tells in its console


def test_every_page_is_in_the_table(desk: Host) -> None:
    pages = {path for method, path, _ in routes(desk) if method == "GET" and not path.startswith("/api/")}
    assert pages - NO_PAGES == set(PAGES)


def _named(names: set[str]) -> list[ParameterSet]:
    return [pytest.param(one, id=one.name) for one in STATES if one.name in names]


def write_guidelines(study: Study) -> None:
    study.edit_guidelines((EXAMPLES / "guidelines.md").read_text("utf-8"), by="lea")


@pytest.fixture
def visit(shown: Shown, serve: Serve, windows: Windows) -> Callable[[State], Page]:
    """Opens a page in one of its states."""

    def visit(state: State) -> Page:
        if state.only_looks and state.consent:
            page = shown.page(shown.host(state.stage, write_guidelines), state.who, forgive=STATUS_ERRORS)
        else:
            served = serve(state.stage)
            write_guidelines(served.study)
            if state.before:
                state.before(served.study)
            token = served.token(state.who, consent=state.consent) if state.who else None
            page = windows.open(served.url, token, forgive=STATUS_ERRORS)
        answer = page.goto(state.path)
        assert answer is not None
        assert answer.status == state.status
        state.act(page)
        page.wait_for_load_state()
        return page

    return visit


@pytest.mark.parametrize("state", _named(FIRST - IN_EVERY_LOOK))
def test_a_page_is_open_to_all(visit: Callable[[State], Page], state: State) -> None:
    assert violations(visit(state)) == []


@pytest.mark.parametrize(
    "state",
    [pytest.param(one, id=one.name, marks=[] if one.name in IN_EVERY_LOOK else [pytest.mark.long]) for one in STATES],
)
def test_a_page_is_open_to_all_in_every_look(visit: Callable[[State], Page], state: State) -> None:
    assert violations(visit(state), LOOKS) == []


def test_what_is_wrong_is_found(windows: Windows, desk: Host) -> None:
    page = windows.open(desk.url)
    grey = "<style>p {color: #ccc} @media (prefers-color-scheme: dark) {p {color: #333; background: #000}}</style>"
    page.set_content(f"{grey}<main><h1>Wrong</h1><img src='data:,'><p style='width: 900px'>Wide.</p></main>")
    found = violations(page, LOOKS)
    assert sum("image-alt" in one for one in found) == 2  # the same in the dark
    assert sum("color-contrast" in one for one in found) == 4
    assert [one for one in found if "sideways" in one] == ["375 px: the page scrolls sideways"]
