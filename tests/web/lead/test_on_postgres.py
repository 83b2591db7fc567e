"""The lead's pages of a study in PostgreSQL: each is, to the letter, that of the same study in a file."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
from browser.states import PAGES, evaluate, flag_at_sentence, practise, topics
from fastapi.testclient import TestClient
from servers import Server

from fcpair.pair_filter import NO_TIER, FilterState
from fcpair.params import Annotate
from fcpair.records import TIERS
from fcpair.study import Study
from fcpair.web.lead.panels import PANELS
from web.conftest import Site, csrf_of

pytestmark = pytest.mark.slow
STAGES = ("empty", "dealt", "labelled", "decided", "checking", "checked")
# From one session to the next, and from one second to the next where an end is estimated.
CHANGING = re.compile(r'(?:name="csrf" value|data-csrf|data-digest)="\w+"|"X-CSRF-Token": "\w+"|[^"]*" data-day')
DATA = (
    "/lead/grid/map",
    "/lead/grid/texts?row=1&column=1",
    "/lead/grid/row.csv",
    "/lead/grid/column.csv",
    *(f"/lead/panel/{name}" for name in PANELS),
)
SEARCHES: tuple[dict[str, str], ...] = (
    *({"words": words} for words in ("CATS", "نه؟ É", "100%_", "cats that")),
    {"person": "ana"},
    {"person": "ana", "answer": "appropriate"},
    {"person": "ana", "answer": "appropriate", "other": "cleo", "other_answer": "not_appropriate"},
    {"answer": "not_sure"},
    *({"state": state.value} for state in FilterState),
    *({"tier": tier} for tier in (*TIERS, NO_TIER)),
    *({name: answer} for name in ("skipped", "noted") for answer in ("yes", "no")),
    {"hs.topic": "ODD"},
    {"cn.topic": "even", "words": "about"},
)
ACTS: dict[str, tuple[tuple[str, dict[str, str]], ...]] = {
    "dealt": (
        ("/lead/people", {"role": "validator", "people": "zoe\nyan"}),
        ("/lead/people/overlap?share2=50&share3=30", {}),
        ("/lead/people/ana/hand-over", {"to": "ben", "n": "2"}),
        ("/lead/people/ben/retire", {}),
    ),
    "labelled": (("/lead/conflicts/adjudicate", {"policy": "majority", "ties": "discard"}),),
    "decided": (("/lead/conflicts/validate", {"pairs": "4"}),),
    "checked": (
        ("/lead/conflicts/adjudicate", {"policy": "manual", "ties": "wait"}),
        ("/lead/tiers", {"diamond": "majority"}),
        ("/lead/grid/act/labels?words=cats&scope=all", {}),
        ("/lead/grid/act/decisions?words=&scope=all", {}),
        ("/lead/guidelines", {"body": "# Other guidelines", "act": "preview"}),
        ("/lead/words", {"act": "preview", "language": "en"}),
        ("/lead/terms", {"daily_limit": "5"}),
        ("/lead/people/ana/role", {"role": "validator"}),
        ("/lead/people/cleo/dismiss", {}),
        ("/lead/people/ana/forget", {}),
    ),
}


class Both(NamedTuple):
    """The lead's browsers of a study in a file, and of its copy on a server."""

    file: TestClient
    server: TestClient


@pytest.fixture(scope="module")
def browsers(
    visited: Callable[[str], Path], postgres: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Both]]:
    """Both browsers of the study as it is after a stage, of which the last has all that pages can show."""
    folder, sites, made = tmp_path_factory.mktemp("both"), list[Site](), list[str]()

    def opened(stage: str) -> Both:
        path = shutil.copy(visited(stage), folder / f"{stage}-{len(sites)}.db")
        in_file = Site(Study(path), Annotate())
        if stage == "checked":
            in_file.study.edit_guidelines("# Guidelines\n\nA reply answers the claim. Irony may, too.\n", by="lea")
            for fill in (topics, flag_at_sentence, practise, evaluate):
                fill(in_file.study)
        in_file.token("lea")
        made.append(f"lead_{folder.name[-8:]}_{len(sites)}".lower())
        url = postgres.make(made[-1]).render_as_string(hide_password=False)
        Study.copy(path, url, lambda done, total: None)
        on_server = Site(Study(url), Annotate())
        on_server.tokens |= in_file.tokens
        sites.extend((in_file, on_server))
        return Both(in_file.browser("lea"), on_server.browser("lea"))

    yield opened
    for site in sites:
        site.close()
    postgres.drop(*made)


def shown(browser: TestClient, address: str) -> tuple[int, str]:
    """The status and the page, but for what changes from one session to the next."""
    answer = browser.get(address)
    return answer.status_code, CHANGING.sub("", answer.text)


def changes(page: str, other: str) -> list[str]:
    """The lines in which two pages differ."""
    return [] if page == other else list(unified_diff(page.splitlines(), other.splitlines(), n=0, lineterm=""))[2:]


@pytest.mark.parametrize("stage", STAGES)
def test_each_page_of_a_lead_is_the_same_on_both(browsers: Callable[[str], Both], stage: str) -> None:
    both = browsers(stage)
    states = [state for states in PAGES.values() for state in states if state.who == "lea" and state.stage == stage]
    addresses = dict.fromkeys([*(state.path for state in states), *DATA])
    if stage == "checked":
        addresses |= dict.fromkeys(
            f"/lead/grid{form}?{urlencode(one)}" for one in SEARCHES for form in ("", "/pairs.csv")
        )
    for address in addresses:
        status, page = shown(both.file, address)
        assert status < 500
        other_status, other_page = shown(both.server, address)
        assert (address, other_status, changes(page, other_page)) == (address, status, [])


def seen_on(browser: TestClient, address: str) -> dict[str, str]:
    """The fields of a form at an address that say what its page has shown."""
    page = browser.get(address)
    return dict(re.findall(r'name="(seen|version|overlap|expected)" value="([^"]+)"', page.text))


@pytest.mark.parametrize("stage", ACTS)
def test_each_act_of_a_lead_does_or_asks_the_same_on_both(browsers: Callable[[str], Both], stage: str) -> None:
    both = browsers(stage)
    for address, form in ACTS[stage]:
        sent = [one.post(address, data={"csrf": csrf_of(one), **seen_on(one, address), **form}) for one in both]
        assert sent[0].status_code in {200, 303}, (address, sent[0].text)
        assert len({(one.status_code, one.headers.get("location")) for one in sent}) == 1, address
