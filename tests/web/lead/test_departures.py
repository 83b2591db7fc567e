"""Whatever pages and commands do otherwise than the recipe says: the recipe that is then printed changes nothing."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from steps.small import SELECTED, dump, label_of, open_work, record, write_corpus, write_csv

from fcpair.cli import main
from fcpair.errors import FcpairError, RecipeEndError
from fcpair.params import Adjudicate, Agree, Annotate, Assign, Import, Pair, Partition, Select, Setup, Validate
from fcpair.recipe import Recipe, load_recipe
from fcpair.steps.base import departures
from fcpair.study import Study
from web.conftest import Site, csrf_of

Serve = Callable[..., Site]
Departure = Callable[[Site], object]
STAGES = ("dealt", "labelled", "decided", "checked")


def recipe(folder: Path, stage: str) -> Recipe:
    """A recipe by which the small study could have been made, and what it says of later stages."""
    return Recipe(
        Setup(title="Small"),
        import_=Import(write_corpus(folder / "corpus.csv"), only_language="en"),
        select=Select(hs_list=write_csv(folder / "hs.csv", [{"hs": hs} for hs in SELECTED])),
        pair=Pair(),
        assign=Assign(overlap={2: 0.25, 3: 0.25}, seed=1),
        annotate=Annotate(daily_limit=400, about="A *small* study"),
        agreement=Agree(level=0.9),
        adjudicate=Adjudicate("majority"),
        validate=Validate(seed=1) if stage == "checked" else Validate(validators=1, pairs=9, seed=13),
        partition=Partition("majority"),
    )


SEEN = {"seen": ""}  # what the page shows just now
SAVED = {**SEEN, "act": "save"}


def page(path: str, **form: str) -> Departure:
    """A lead sends a form; what is refused departs from nothing."""

    def send(site: Site) -> object:
        browser = site.browser("lea")
        fields = {"csrf": csrf_of(browser), **form}
        if "seen" in form:
            found = re.search('name="seen" value="([^"]*)"', browser.get(path).text)
            fields["seen"] = found[1] if found else ""
        return browser.post(path, data=fields)

    return send


def command(*arguments: str) -> Departure:
    """A command on the study; what is refused departs from nothing."""

    def call(site: Site) -> object:
        result = CliRunner().invoke(main, [*arguments, "--study", site.study.place])
        assert result.exit_code in (0, 2), result.output
        return result

    return call


def python(act: Callable[[Study], object]) -> Departure:
    """What somebody calls in Python; what is refused departs from nothing."""

    def call(site: Site) -> object:
        with suppress(FcpairError):
            return act(site.study)
        return None

    return call


DEPARTURES: dict[str, Departure] = {
    "page, validate": page("/lead/conflicts/validate"),
    "page, validate some blind": page("/lead/conflicts/validate", pairs="5", blind="true"),
    "page, validate more": page("/lead/conflicts/validate", more="true", pairs="2"),
    "page, policy": page("/lead/conflicts/adjudicate", policy="median", ties="wait"),
    "page, another policy": page("/lead/conflicts/adjudicate", policy="manual", ties="wait"),
    "page, guidelines": page("/lead/guidelines", body="Be kind."),
    "page, retire": page("/lead/people/vera/retire"),
    "page, add": page("/lead/people", people="walter", role="validator"),
    "page, role": page("/lead/people/judy/role", role="validator"),
    "page, overlap": page("/lead/people/overlap", overlap="2:50 3:25"),
    "page, Diamond": page("/lead/tiers", diamond="unanimous", **SEEN),
    "page, words": page(
        "/lead/words", **{"options:not_sure:text": "I cannot tell", "noun:annotator": "reply"}, **SAVED
    ),
    "page, words in Persian": page("/lead/words", texts_in="fa", **{"questions:label:text": "؟"}, **SAVED),
    "page, terms": page("/lead/terms", contact="Kim", demographics="Age: 18-29 | 30 or more", pause_pairs="9", **SAVED),
    "page, limits": page("/lead/terms", daily_limit="", loosened="daily_limit=None", **SAVED),
    "page, consent": page("/lead/terms", consent="I agree.", ask_again="yes", **SAVED),
    "command, validators": command("people", "add", "walda", "wilma", "--role", "validator"),
    "command, validate": command("validate", "assign", "--seed", "3", "--redo"),
    "command, validate blind": command("validate", "assign", "--blind", "--more"),
    "command, policy": command("adjudicate", "--policy", "majority", "--ties", "discard"),
    "command, manual": command("adjudicate", "--policy", "manual"),
    "command, deal again": command("assign", "--redo", "--overlap", "2:0.5", "--order", "hs"),
    "command, deal more": command("assign", "--more", "--overlap", "2:0.5", "--overlap", "3:0.25"),
    "command, deal openly": command("assign", "--redo", "--open", "--lease-minutes", "9"),
    "command, close": command("assign", "--close"),
    "command, select": command("select", "--hs", "3", "--seed", "4", "--redo"),
    "command, pair": command("pair", "--candidates", "4", "--redo"),
    "command, simulate": command("simulate", "--seed", "8"),
    "command, tiers": command("partition", "--diamond", "unanimous"),
    "python, defaults": python(lambda study: study.grid().adjudicate()),
}


def settled(study: Study) -> dict[tuple[int, str], str]:
    """What holds of the stages that are done."""
    with closing(sqlite3.connect(study.place)) as connection:
        rows = connection.execute("SELECT grid_id, key, value FROM setting WHERE key NOT LIKE 'recipe.%'").fetchall()
    return {(grid, key): value for grid, key, value in rows}


def walk(study: Study, path: Path) -> list[str]:
    """The stages that a recipe file runs, to where it ends."""
    stages = []
    try:
        for run in study.walk(load_recipe(path)):
            stages.append(run.stage)
    except RecipeEndError:
        pass
    return stages


def check_printed(study: Study, folder: Path) -> None:
    """What is printed can be walked; that changes nothing that is done, and the second time nothing at all."""
    said, before, rows = study.recipe_text(), settled(study), dump(study)
    (path := folder / "printed.toml").write_text(said, "utf-8")
    stages = walk(study, path)
    assert before.items() <= settled(study).items()
    assert stages or dump(study) == rows
    after = dump(study)
    (path := folder / "again.toml").write_text(study.recipe_text(), "utf-8")
    assert walk(study, path) == []
    assert dump(study) == after


@pytest.mark.parametrize("stage", ["labelled", "checked"])
@pytest.mark.parametrize("name", DEPARTURES)
@pytest.mark.slow
def test_the_recipe_that_is_printed_after_a_departure_changes_nothing(
    serve: Serve, tmp_path: Path, stage: str, name: str
) -> None:
    site = serve(stage)
    walk_recipe(site.study, recipe(tmp_path, stage))
    DEPARTURES[name](site)
    check_printed(site.study, tmp_path)


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("page, overlap", "dealt"),
        ("page, Diamond", "checked"),
        ("page, words", "dealt"),
        ("page, words in Persian", "dealt"),
        ("page, terms", "dealt"),
        ("page, limits", "dealt"),
        ("page, consent", "dealt"),
        ("page, add", "labelled"),
        ("page, role", "labelled"),
    ],
)
@pytest.mark.slow
def test_another_study_that_is_made_by_the_printed_recipe_has_what_a_page_set(
    serve: Serve, tmp_path: Path, name: str, stage: str
) -> None:
    site = serve(stage)
    walk_recipe(site.study, recipe(tmp_path, stage))
    before = site.study.recipe()
    DEPARTURES[name](site)
    assert site.study.recipe() != before
    (path := tmp_path / "printed.toml").write_text(site.study.recipe_text(), "utf-8")
    with closing(Study.create(tmp_path / "other.db", load_recipe(path).setup)) as other:
        walk(other, path)
        assert other.recipe() == site.study.recipe()


def walk_recipe(study: Study, said: Recipe) -> None:
    """Begin to walk a recipe: it is kept, and the first stage that is due is run."""
    next(iter(study.walk(said)), None)


@given(stage=st.sampled_from(STAGES), names=st.lists(st.sampled_from(sorted(DEPARTURES)), min_size=2, max_size=5))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.long
def test_so_it_does_after_any_departures(serve: Serve, tmp_path: Path, stage: str, names: list[str]) -> None:
    site = serve(stage)
    walk_recipe(site.study, recipe(tmp_path, stage))
    for name in names:
        DEPARTURES[name](site)
    check_printed(site.study, tmp_path)


@pytest.mark.parametrize("stage", ["labelled", "decided"])
def test_it_has_the_validators_that_came_before_any_pair_was_assigned_to_them(
    serve: Serve, tmp_path: Path, stage: str
) -> None:
    site = serve(stage)
    walk_recipe(site.study, recipe(tmp_path, stage))
    for name in ("command, validators", "command, policy"):
        DEPARTURES[name](site)
    check_printed(site.study, tmp_path)


def test_next_steps_deal_as_the_recipe_says_and_the_recipe_then_runs_on(serve: Serve, tmp_path: Path) -> None:
    site = serve("dealt")
    said = replace(recipe(tmp_path, "dealt"), validate=Validate(validators=1, pairs=9, seed=13))
    assert list(site.study.walk(said)) != []  # what people are told
    record(site.study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in open_work(site.study)])
    steps = "".join(site.browser("lea").get(f"/lead/conflicts/{part}").text for part in ("policy", "validation"))
    assert '<option value="majority" selected>' in steps
    assert "Random seed: 13." in steps
    assert 'name="pairs" value="9"' in steps
    page("/lead/conflicts/adjudicate", policy="majority", ties="wait")(site)
    page("/lead/conflicts/validate", pairs="9")(site)
    assert site.study.log()[-1].params == {"validators": None, "pairs": 9, "blind": False, "seed": 13, "by": "lea"}
    assert list(site.study.walk(said)) == []
    assert version(site.study) == 1


def test_overview_and_downloads_grade_as_the_recipe_says_before_the_walk_gets_there(
    serve: Serve, tmp_path: Path
) -> None:
    site = serve("checking")
    graded = site.study.grid().tiers().table().rules[-1]
    walk_recipe(site.study, recipe(tmp_path, "checked"))
    assert not site.study.grid().desk.has_saved_options(Partition)
    assert site.study.grid().tiers().table().rules[-1] != graded
    assert "more than half" in site.browser("lea").get("/lead/tiers").text
    assert site.study.grid().explain(1).checks[-1].rule == str(site.study.grid().tiers().table().rules[-1])


def version(study: Study) -> int:
    with study._store.read() as tx:
        return departures.recipe_version(tx)
