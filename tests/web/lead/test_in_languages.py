"""The lead's pages say nothing outside of messages: in a language that marks each of them, no word is unmarked."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from pprint import pformat

import pytest
from browser.states import PAGES, look
from steps import small
from steps.answers.test_writing import piloted
from steps.asked import STATEMENTS, surveyed

from fcpair.params import Annotate
from fcpair.study import Study
from fcpair.web.languages import LANGUAGES, Language
from fcpair.web.lead.panels import PANELS
from web import grids
from web.conftest import Site, csrf_of
from web.messages import message_texts

pytestmark = pytest.mark.slow

STAGES = ("imported", "dealt", "labelled", "checked")
ATTRIBUTES = ("aria-label", "title", "placeholder", "alt", "data-word", "label")
EMPTY = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
UNREAD = {"script", "style", "code", "kbd", "pre", "textarea", "time"}  # times are in the language of the page
OF_BUILDERS = "/lead/components"  # in English, as code is
ADDRESSES = sorted(
    path for path, states in PAGES.items() if path.startswith("/lead") and states and path != OF_BUILDERS
)
PLACES, THINGS = ("cars", "halls", "parks"), ("cats", "chess", "cycling", "jam", "maps", "rain", "tea", "trains")
PILOT = (
    *(f"Whoever sings in {place} is rude." for place in PLACES),
    *(f"People who like {one} are odd." for one in THINGS),
)
METADATA = (small.HS[0][:12], "hs_topic", "cn_type", "plain")
LABELS = ("write text", "try text", "ask answer", *(f"{answer}{sign}" for answer in ("yes", "no") for sign in ",:"))
# What a study says itself: its texts; its people, grids, rounds, sides and labels; and abbreviations.
TEXTS = (
    *(*small.HS, *small.CNS, small.SHARED, *grids.STATEMENTS, *STATEMENTS, grids.REPLY),
    *("kind of reply", "a joke", "a fact"),
    *("Label Studio", "Potato", "doccano", "Prodigy"),
    *("Leading a study in the browser", "Glossary"),  # pages of the documentation, which are in English
)
# Names of sides, where a study gives none; and `row`, `column`.
NAMES = ("hate speech", "Hate speech", "counter-narrative", "Counter-narrative")
OWN = {
    *(f"p{at}" for at in range(11)),
    *(*small.ANNOTATORS, *small.VALIDATORS, "judy", "lea", "wren", "fcpair", "HS", "CN", "UTC", "CSV", "JSON", "TOML"),
    *("Grids", "write", "taste", "tone", "judge", "statement", "flavour", "manner", "sweet", "sour", "warm", "cold"),
    *("also", "facts", "humour", "row", "column", "Small", "Bronze", "Silver", "Gold", "Diamond", "n", "label"),
    *(f"{role}{at}" for role in ("writer", "rater") for at in range(1, 5)),
    *("bronze", "silver", "gold", "diamond", "Facts", "Humour", "unkind", "warmth", "question", "woman", "man"),
    *("decline", "p", "κ", "ORCID", "Holm", "jbes", "REST_a_00552"),
    *("Judge", "topic", "odd", "even", "ask", "try", "grade", "pilot", "heard", "believed", "Gender", "survey"),
    *("half", "nobody", "golden", "cats", "agin", "again"),  # what somebody typed into an address
}
PLANNED: dict[str, Callable[[Path], Study]] = {
    "planned grids": lambda folder: Study(grids.build(folder)),
    "a survey": surveyed,
    "a pilot": piloted,
}
DAY = re.compile(r"\d{1,2} (gen|feb|mar|apr|mag|giu|lug|ago|set|ott|nov|dic)( \d{4})?\b")
VALUE = re.compile(r"%\(\w+\)s")


class Marking(Language):
    """A language whose messages are the English ones in brackets, with their values outside of these."""

    def find(self, text: str) -> str:
        return self._bracket(text) if text in message_texts() else text

    def _forms(self, one: str, many: str) -> tuple[str, ...]:
        return tuple(map(self.find, (one, many)))

    def _bracket(self, text: str) -> str:
        return f"⟦{VALUE.sub(lambda value: f'⟧{value[0]}⟦', text)}⟧"


class Reader(HTMLParser):
    """Reads a page, but for panels, scripts, commands, and what is said to be English."""

    def __init__(self, *, of_panel: bool) -> None:
        super().__init__()
        self._of_panel = of_panel
        self._hidden: list[bool] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        is_panel = not self._of_panel and "data-digest" in values
        is_hidden = tag in UNREAD or is_panel or values.get("lang", "it") != "it" or self._is_hidden
        if not is_hidden:
            self.words += [value for name, value in values.items() if name in ATTRIBUTES]
            if tag == "input" and values.get("type") in {"submit", "button"}:
                self.words.append(values.get("value", ""))
        if tag not in EMPTY:
            self._hidden.append(is_hidden)

    def handle_endtag(self, tag: str) -> None:
        if tag not in EMPTY and self._hidden:
            self._hidden.pop()

    def handle_data(self, data: str) -> None:
        if not self._is_hidden:
            self.words.append(data)

    @property
    def _is_hidden(self) -> bool:
        return bool(self._hidden) and self._hidden[-1]


def unmarked(page: str, *, of_panel: bool = False) -> list[str]:
    """What a page says outside of messages, but for the study's own words."""
    reader = Reader(of_panel=of_panel)
    reader.feed(page)
    said = re.sub(r"⟦[^⟧]*⟧", " ", "\n".join(reader.words))
    said = DAY.sub(" ", said)
    for text in (*TEXTS, *PILOT, *NAMES, *LABELS, *METADATA):
        said = said.replace(text, " ")
    return sorted({line.strip() for line in said.split("\n") if set(re.findall(r"[^\W\d_]\w*", line)) - OWN})


@pytest.fixture
def marking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Italian pages in which each message is marked."""
    monkeypatch.setitem(LANGUAGES, "it", Marking("it"))


@pytest.fixture(scope="module")
def site_at(visited: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Site]]:
    """Gives the small study after a stage, in Italian: the same each time, or a new one to which something is done."""
    folder, sites = tmp_path_factory.mktemp("marked"), list[Site]()

    def make(stage: str, before: Callable[[Study], object] | None) -> Site:
        study = Study(shutil.copy(visited(stage), folder / f"{len(sites)}.db"))
        study.edit_guidelines("Judge facts.", by="lea")
        if before:
            before(study)
        study.save_words(language="it")
        sites.append(Site(study, Annotate()))
        return sites[-1]

    yield cache(make)
    for site in sites:
        site.close()


@pytest.fixture(scope="module")
def planned_sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Site]]:
    """Studies with planned grids, in Italian."""
    studies = {name: make(tmp_path_factory.mktemp("planned")) for name, make in PLANNED.items()}
    for study in studies.values():
        study.save_words(language="it")
    sites = {name: Site(study, Annotate()) for name, study in studies.items()}
    yield sites
    for site in sites.values():
        site.close()


@pytest.mark.usefixtures("marking")
@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_says_nothing_outside_of_messages(site_at: Callable[..., Site], address: str) -> None:
    said = {}
    for state in PAGES[address]:
        client = site_at(state.stage, state.before).browser(state.who, headers={"Accept-Language": "it"})
        reply = client.get(state.path, follow_redirects=True)
        assert reply.status_code == state.status or state.act is not look
        if words := unmarked(reply.text):
            said[state.name] = words
    assert not said, pformat(said, width=160)


@pytest.mark.usefixtures("marking")
@pytest.mark.parametrize("name", [*PANELS])
def test_a_panel_says_nothing_outside_of_messages(
    site_at: Callable[..., Site], planned_sites: dict[str, Site], name: str
) -> None:
    said = {}
    for study, site in ({stage: site_at(stage, None) for stage in STAGES} | planned_sites).items():
        client = site.browser("lea")
        for grid in site.study.grids:
            reply = client.get(f"/lead/panel/{name}", params={"grid": grid})
            if reply.status_code == 200 and (words := unmarked(reply.text, of_panel=True)):
                said[f"{study}, {grid}"] = words
    assert not said, pformat(said, width=160)


def _language(page: str) -> str:
    return page.partition('<html lang="')[2][:2]


def test_a_lead_reads_the_language_of_the_study_until_they_choose_another(site_at: Callable[..., Site]) -> None:
    client = site_at("checked", None).browser("lea")
    assert _language(client.get("/lead").text) == "it"
    settings = client.get("/settings").text
    assert '<option value="it" lang="it" dir="ltr" selected>Italiano</option>' in settings
    assert 'name="blurred"' not in settings
    reply = client.post("/language", data={"csrf": csrf_of(client), "language": "fa"})
    assert reply.headers["location"] == "/settings?saved=1"
    page = site_at("checked", None).browser("lea").get("/lead").text
    assert '<html lang="fa" dir="rtl"' in page
    assert "۲۴" in page
    client.post("/language", data={"csrf": csrf_of(client), "language": "it"})


def test_a_study_is_started_in_the_language_of_the_browser_or_of_the_lead(serve: Callable[..., Site]) -> None:
    site = serve("empty")
    asked = {"Accept-Language": "pl, de-AT;q=0.9, fr;q=0.5"}
    client = site.browser("lea", headers=asked)
    assert _language(client.get("/lead/start/task").text) == "de"
    assert _language(client.get("/lead/people").text) == "en"
    assert _language(site.browser("lea").get("/lead/start/task").text) == "en"
    client.post("/language", data={"csrf": csrf_of(client), "language": "ar"})
    assert _language(client.get("/lead/start/task").text) == "ar"


def test_who_is_no_lead_and_has_settings_of_reading_keeps_them(site: Site) -> None:
    lead = site.browser("lea")
    assert lead.post("/settings", data={"csrf": csrf_of(lead)}).status_code == 403
    assert 'name="blurred"' in site.browser("ana").get("/settings").text
