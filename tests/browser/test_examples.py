"""The example studies through real pages: the recipe is walked as far as people, who then answer in the browser."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from steps.online import admit, give

from browser.hosts import Host
from browser.sitting import HASTE_MS, await_sent, enter
from browser.windows import Windows
from fcpair.params import Annotate, Validate
from fcpair.recipe import Recipe, load_recipe
from fcpair.study import Study

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXT = "I would rather ask them about it than guess."


def recipe_of(name: str) -> Recipe:
    """An example's recipe, for people instead of simulated ones; whoever is a validator there validates."""
    recipe = load_recipe(EXAMPLES / f"{name}.toml")
    grids = tuple(replace(one, validate=one.validate and Validate()) for one in recipe.grids)
    return replace(recipe, simulate=None, grids=grids)


@pytest.fixture
def begun(tmp_path: Path, host: Callable[..., Host]) -> Callable[[str], Host]:
    """An example, walked as far as it goes without people, and served."""

    def begun(name: str) -> Host:
        recipe = recipe_of(name)
        with closing(Study.create(tmp_path / f"{name}.db", recipe.setup, grids=recipe.grids)) as study:
            list(study.walk(recipe))
            return host(Path(study.place))

    return begun


@pytest.fixture
def sit(windows: Windows) -> Callable[..., Page]:
    def sit(served: Host, who: str, path: str = "/annotate") -> Page:
        page = windows.open(served.url, served.token(who))
        enter(page, path)
        page.wait_for_timeout(HASTE_MS)
        return page

    return sit


def names(study: Study, role: str) -> list[str]:
    return [one.name for one in study.people if one.role == role]


def save(page: Page) -> None:
    page.get_by_role("button", name="Save").click()
    await_sent(page)
    page.wait_for_timeout(HASTE_MS)


def choose_first(page: Page) -> None:
    """The first answer of each question on the screen."""
    for group in page.locator("#form fieldset").all():
        group.locator(".option").first.click()


def others_answer(study: Study, role: str, but: str, answer: Any) -> None:
    """Everybody else in a role answers all that they have open."""
    for name in [one for one in names(study, role) if one != but]:
        desk, visitor = study.work_queue(Annotate()), admit(study, name)
        while desk.tasks(visitor):
            give(desk, visitor, answer)


def test_everybody_is_asked_of_every_statement_on_one_screen(begun: Callable[[str], Host], sit: Any) -> None:
    served = begun("ask")
    page = sit(served, "p1")
    for _ in range(6):
        expect(page.locator("#form fieldset")).to_have_count(2)
        choose_first(page)
        save(page)
    expect(page).to_have_url("/thanks")
    given = served.study.grid().answers()
    assert given["by"].tolist() == ["p1"] * 12
    assert set(given["ask"]) == {"yes"}
    assert set(given["origin"]) == {"online"}


def test_people_write_and_others_rate_what_they_wrote(begun: Callable[[str], Host], sit: Any) -> None:
    served = begun("write")
    study, recipe = served.study, recipe_of("write")
    page = sit(served, "w1")
    for at in range(3):
        page.locator("#form textarea").fill(f"{TEXT} {at}")
        page.get_by_role("group", name="What else is your reply?").get_by_text("a question").click()
        save(page)
    expect(page).to_have_url("/thanks")
    others_answer(study, "writer", "w1", {"text": "There is more to it than that.", "also": ["facts"]})
    list(study.walk(recipe))
    page = sit(served, "r1")
    expect(page.locator("#form legend")).to_have_text(["Is it to the point?", "Is it kind?", "Is its language good?"])
    while page.locator("#form fieldset").count() == 3:
        for group in page.locator("#form fieldset").all():
            group.get_by_text("4.5", exact=True).click()
        save(page)
    expect(page).to_have_url("/thanks")
    ratings = study.grid("rate").answers()
    assert len(ratings) >= 3
    assert set(ratings["rating"]) == {"4.5"}
    others_answer(study, "rater", "r1", 4.5)
    assert [run.stage for run in study.walk(recipe)] == ["adjudicate", "validate"]
    page = sit(served, names(study, "validator")[0], "/validate")
    expect(page.locator("#label")).to_have_text("4.5")
    page.keyboard.press("1")
    await_sent(page)
    assert study.grid("rate").answers("validate")["verdict"].tolist() == ["agree"]


def test_people_curate_what_models_proposed(begun: Callable[[str], Host], sit: Any) -> None:
    served = begun("curate")
    proposed = served.study.grid().answers("propose")
    assert set(proposed["origin"]) == {"generated"}
    page = sit(served, "a1")
    original = page.get_by_role("region", name="As it was given")
    shown = original.locator("p").text_content() or ""
    assert shown in proposed["text"].tolist()
    page.get_by_role("radio", name="Edit").check(force=True)
    page.locator("#form textarea").first.fill(f"{shown} {TEXT}")
    page.get_by_role("group", name="How good is what you kept?").get_by_text("usable").click()
    save(page)
    (curated,) = served.study.grid().answers("curate").to_dict("records")
    assert (curated["text"], curated["fit"], curated["by"]) == (f"{shown} {TEXT}", "usable", "a1")
