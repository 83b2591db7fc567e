"""The lead's numbers: each part of each page says the same of the same thing, and what it is that it counts."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from steps.online import admit, give
from steps.small import STAGES

from fcpair.params import Adjudicate, Annotate
from fcpair.study import Study
from fcpair.web.lead.files import DOWNLOADS
from web.conftest import Site, csrf_of

Serve = Callable[..., Site]
PAGES = (
    "/lead",
    "/lead/people",
    "/lead/agreement",
    "/lead/grid",
    "/lead/conflicts",
    "/lead/evaluation",
    "/lead/downloads",
)


def words_of(html: str) -> str:
    """What a page says, without its tags; cells apart."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def panel(site: Site, name: str) -> str:
    return words_of(site.browser("lea").get(f"/lead/panel/{name}").text)


def cells(said: str, meaning: str) -> int:
    """How many cells of the map have a meaning; 0 where it is not in the legend."""
    found = re.search(rf"(?<!not ){re.escape(meaning)} ([\d,]+) [\d.]+ %", said)
    return int(found[1].replace(",", "")) if found else 0


def decide_some(study: Study) -> None:
    """A person decides two conflicts and discards a third; no policy has been applied."""
    grid = study.grid()
    first, second, third = grid.waiting_pairs()[:3]
    grid.decide(first, 2, by="judy")
    grid.decide(second, 0, by="judy")
    grid.decide(third, None, by="judy")


def apply_majority(study: Study) -> None:
    study.grid().adjudicate(Adjudicate("majority"))


def nothing(study: Study) -> None:
    del study


STATES = [
    *((stage, nothing) for stage in STAGES[4:]),
    ("labelled", decide_some),
    ("decided", decide_some),
    ("checked", decide_some),
]
LAST_QUICK = [*(pytest.param(*one, marks=pytest.mark.slow) for one in STATES[:-1]), STATES[-1]]


@pytest.mark.parametrize(("stage", "act"), STATES)
def test_every_pair_is_counted_once_and_the_map_counts_the_same(
    serve: Serve, stage: str, act: Callable[[Study], None]
) -> None:
    site = serve(stage)
    act(site.study)
    pairs = site.study.status()["pairs"]
    assert sum(pairs.values()) == 24
    said = panel(site, "coverage")
    with_label = pairs["no_verdict"] + pairs["valid"] + pairs["not_valid"]
    assert (
        cells(said, "labelled, waits for a person")
        == pairs["wait_for_person"]
        == len(site.study.grid().waiting_pairs())
    )
    assert cells(said, "labelled, waits for a policy") == pairs["wait_for_policy"]
    assert cells(said, "discarded") == pairs["discarded"]
    assert cells(said, "decided, not validated") == pairs["no_verdict"]
    assert cells(said, "valid") == pairs["valid"]
    assert cells(said, "not valid") == pairs["not_valid"]
    assert cells(said, "decided, not validated") + cells(said, "valid") + cells(said, "not valid") == with_label


@pytest.mark.parametrize(("stage", "act"), LAST_QUICK[2:])
def test_progress_tiers_and_next_step_say_the_same_of_what_waits(
    serve: Serve, stage: str, act: Callable[[Study], None]
) -> None:
    site = serve(stage)
    act(site.study)
    pairs = site.study.status()["pairs"]
    waiting = pairs["wait_for_person"]
    progress = panel(site, "progress")
    assert re.search(rf"decided by people, {waiting} waits? for a person", progress) or "nothing waits" in progress
    assert (f"; {pairs['wait_for_policy']} more with labels" in progress) == bool(pairs["wait_for_policy"])
    assert re.search(rf"[ ;]{waiting} pairs? without a final label waits? for a person\.", panel(site, "tiers"))
    if waiting:
        lead = words_of(site.browser("lea").get("/lead").text)
        assert re.search(rf" {waiting} pairs? waits? for a person's decision\.", lead)
        assert f" Conflicts {waiting} " in lead


def test_what_a_person_has_decided_is_counted_beside_their_name_everywhere(serve: Serve) -> None:
    """judy labels nothing: her work is three decisions, on the page of people as under Progress."""
    site = serve("labelled")
    decide_some(site.study)
    assert "3 pairs decided by people" in panel(site, "progress")
    assert re.search(r"judy 3 3 ", panel(site, "progress"))
    page = words_of(site.browser("lea").get("/lead/people").text)
    assert "Answers open Given Skipped Withdrawn Pairs decided" in page
    assert re.search(r"judy adjudicator 0 0 0 0 3 ", page)
    assert next(one for one in site.study.status()["people"] if one["name"] == "judy")["decided"] == 3


@pytest.mark.parametrize("stage", ["labelled", "decided", "checked"])
def test_a_pair_that_waits_for_a_second_look_is_counted_as_that(serve: Serve, stage: str) -> None:
    """judy decides two pairs, then somebody changes their label of the first."""
    site = serve(stage)
    first, second = site.study.grid().waiting_pairs()[:2]
    site.study.grid().decide(first, 2, by="judy")
    site.study.grid().decide(second, 0, by="judy")
    before = site.study.status()["pairs"]
    change_a_label(site.study, first)
    state = site.study.status()
    waiting = len(site.study.grid().waiting_pairs())
    assert state["pairs"] == before
    assert (state["pairs"]["wait_for_person"], state["adjudications"]["second_look"]) == (waiting, 1)
    progress = panel(site, "progress")
    assert f"1 pair decided by people, {waiting + 1} wait for a person (1 of them for a second look" in progress
    assert re.search(r"judy 1 2 ", progress)
    assert f" {waiting} pairs without a final label wait for a person." in panel(site, "tiers")
    assert cells(panel(site, "coverage"), "labelled, waits for a person") == waiting
    assert re.search(r"judy adjudicator 0 0 0 0 1 ", words_of(site.browser("lea").get("/lead/people").text))
    said = words_of(site.browser("judy").get("/adjudicate").text)
    assert f"{waiting + 1} wait · 2 decided by you" in said
    assert "1 for a second look" in said


def change_a_label(study: Study, pair: int) -> None:
    """Whoever labelled a pair first labels it otherwise, on the pages."""
    row = next(one for one in study.grid().labels().to_dict("records") if one["pair"] == pair)
    visitor, desk = admit(study, row["annotator"]), study.work_queue(Annotate())
    task = next(one for one in desk.answers(visitor, n=99) if one.cell_id == pair)
    give(desk, visitor, "appropriate" if row["label"] == "not_sure" else "not_sure", task.assignment_id)


def test_a_decision_that_was_taken_back_counts_for_nobody(serve: Serve) -> None:
    site = serve("labelled")
    decide_some(site.study)
    before = site.study.status()["pairs"]
    discarded = next(pair for pair in range(1, 25) if site.study.grid().explain(pair).discarded)
    site.study.grid().take_back(discarded, by="judy")
    after = site.study.status()["pairs"]
    assert (before["discarded"], after["discarded"]) == (1, 0)
    assert after["wait_for_person"] == before["wait_for_person"] + 1
    assert "2 pairs decided by people" in panel(site, "progress")


@pytest.mark.parametrize(("stage", "act"), LAST_QUICK)
def test_nobody_who_reads_a_page_is_told_to_serve_it(serve: Serve, stage: str, act: Callable[[Study], None]) -> None:
    site = serve(stage)
    act(site.study)
    for page in PAGES:
        assert "fcpair serve" not in site.browser("lea").get(page).text


@pytest.mark.parametrize("name", ["partition", "qrels", "beir", "hf", "triplets", "pairs", "preferences", "corpus"])
def test_a_download_of_an_empty_tier_says_so_and_names_no_place_of_the_server(serve: Serve, name: str) -> None:
    browser = serve("decided").browser("lea")
    answer = browser.post(f"/lead/download/{name}", data={"csrf": csrf_of(browser), "tier": "gold"})
    assert answer.status_code == 422
    tier = "bronze" if name == "hf" else "gold"
    assert f"{tier} is empty: no pair is in it yet, so nothing was written" in unescape(answer.text).lower()
    assert "<h1>The form asks for something that cannot be done</h1>" in answer.text
    assert "/tmp" not in answer.text


@pytest.mark.parametrize("name", [name for name in DOWNLOADS if name not in {"report", "log", "recipe"}])
@pytest.mark.parametrize("stage", ["empty", "paired"])
def test_a_download_that_comes_too_early_says_so(serve: Serve, stage: str, name: str) -> None:
    browser = serve(stage).browser("lea")
    answer = browser.post(f"/lead/download/{name}", data={"csrf": csrf_of(browser)})
    assert answer.status_code == 409
    assert "<h1>The study is not at this stage</h1>" in answer.text
    assert "/tmp" not in answer.text
