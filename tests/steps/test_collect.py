"""Sides that are collected from sources: counted, noted, refused with lines, and held against the recipe."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import InputError, RecipeError
from fcpair.params import Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan, Source
from fcpair.recipe import Recipe, load_recipe
from fcpair.steps.grids import side_from_setting
from fcpair.store.corpus import texts
from fcpair.study import Study
from steps.plans import side
from steps.small import assert_refused, write_csv

ROWS = [
    {"text": "Tea is odd.", "about": "tea", "said": "odd; odd; normal", "lang": "x"},
    {"text": "Tea is fine.", "about": "tea", "said": "normal; normal; odd", "lang": "x"},
    {"text": "Teabags again", "about": "tea", "said": "odd;odd;odd", "lang": "x"},
    {
        "text": "Cats are cold and never come when they are called, not even once.",
        "about": "cat",
        "said": "odd",
        "lang": "x",
    },
    {"text": "Tea is odd.", "about": "cat", "said": "odd", "lang": "x"},
    {"text": "Cats are grey.", "about": "cats", "said": "odd", "lang": "x"},
]
WRITE = RoundPlan("write", "text: text()", role="writer")


def plan(*sources: Source) -> GridPlan:
    return GridPlan("write", SidePlan(sources=sources), SidePlan(names=("reply",)), (WRITE,))


@pytest.fixture
def source(tmp_path: Path) -> Source:
    slurs = tmp_path / "slurs.txt"
    slurs.write_text("teabags\n", "utf-8")
    aliases = write_csv(
        tmp_path / "groups.csv", [{"spelling": "cat", "label": "cats"}, {"spelling": "tea", "label": "tea"}]
    )
    return Source(
        file=write_csv(tmp_path / "texts.csv", ROWS),
        text="text",
        group="about",
        aliases=aliases,
        labels="said",
        without=("normal",),
        slurs=slurs,
        language="en",
        name="small",
    )


def test_what_is_left_out_and_drawn_is_counted(tmp_path: Path, source: Source) -> None:
    study = Study.create(tmp_path / "study.db", Setup(title="Collected"), grids=[plan(source)])
    run = study.grid("write").pair()
    assert run.counts["collected_rows"] == {
        "small": {"rows": 6, "by_label": 1, "with_slurs": 1, "repeated": 0, "drawn": 4}
    }
    assert run.notes == (
        "1 text is in several groups or sources, and kept once: texts.csv:6 (small cats), texts.csv:2 (small tea)",
    )
    assert side(study, "write", "row") == ["Tea is odd.", ROWS[3]["text"], "Cats are grey."]
    with study._store.read() as tx:
        kept = texts.texts_of(tx, "text")
    assert kept["language"].tolist() == ["en"] * 3
    assert kept["meta"].tolist()[0] == {"lang": "x", "source": "small", "group": "tea"}


def test_a_quota_draws_so_many_of_each_group_or_changes_nothing(tmp_path: Path, source: Source) -> None:
    plans = [replace(plan(replace(source, quota={"tea": tea, "cats": 2})), name=f"tea{tea}") for tea in (1, 3)]
    study = Study.create(tmp_path / "study.db", grids=plans)
    assert study.grid("tea1").pair().counts["collected_rows"]["small"]["drawn"] == 3
    message = r"texts.csv: quotas that cannot be reached: tea \(1 of 3\); the groups have cats 3"
    assert_refused(study, study.grid("tea3").pair, InputError, message)
    write_csv(source.file, [*ROWS, {**ROWS[0], "text": " "}])
    with pytest.raises(InputError) as error:
        study.grid("tea3").pair()
    assert [(finding.line, finding.message) for finding in error.value.findings] == [(8, "the text is empty")]


def test_several_sources_make_one_side_and_a_text_keeps_what_another_grid_says_of_it(
    tmp_path: Path, source: Source
) -> None:
    other = Source(file=write_csv(tmp_path / "more.csv", [{"t": "Rain is dull."}, {"t": "Tea is odd."}]), text="t")
    study = Study.create(
        tmp_path / "study.db", grids=[plan(source, other), replace(plan(replace(other, name="last")), name="second")]
    )
    run = study.grid("write").pair()
    assert run.counts["rows"] == 4
    assert "more" in run.notes[0]
    kept = "2 texts of the rows already occur in another grid; their metadata were kept"
    assert study.grid("second").pair().notes == (kept,)
    with study._store.read() as tx:
        assert not [meta for meta in texts.texts_of(tx, "text")["meta"] if meta["source"] == "last"]


def test_a_recipe_says_sources_and_a_changed_file_is_a_difference(tmp_path: Path, source: Source) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        """
[[grid]]
name = "write"
rows = { sources = [{ file = "texts.csv", text = "text", group = "about", quota = { tea = 2 }, seed = 3 }] }
columns = { names = ["reply"] }
[[grid.round]]
name = "write"
role = "writer"
form = "text()"
""",
        "utf-8",
    )
    loaded = load_recipe(recipe)
    assert loaded.grids[0].rows.sources[0].quota == {"tea": 2}
    study = Study.create(tmp_path / "study.db", grids=loaded.grids)
    study.grid("write").pair()
    list(study.walk(loaded))
    write_csv(source.file, ROWS[:3])
    with pytest.raises(RecipeError, match="rows"):
        list(study.walk(Recipe(grids=loaded.grids)))


def test_a_source_that_cannot_be_is_refused(source: Source) -> None:
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"labels": ""}, "`without` of a source needs `labels`"),
        ({"group": "", "aliases": None, "per_group": 2}, "`per_group` of a source needs `group`"),
        ({"quota": {"tea": 0}}, "the quota of `tea` is 0"),
        ({"quota": {"tea": 1}, "per_group": 1}, "`quota` and `per_group`; give one"),
        ({"sample": 0}, "sample is 0"),
    )
    for changed, problem in refused:
        with pytest.raises(InputError, match=problem):
            replace(source, **changed)


@pytest.mark.server
def test_a_side_that_is_made_again_has_what_its_file_says_now(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "texts.csv", [{"text": "Tea is odd.", "about": "tee"}])
    study = Study.create(tmp_path / "study.db", grids=[plan(Source(file=file, text="text", group="about"))])
    study.grid("write").pair()
    write_csv(file, [{"text": "Tea is odd.", "about": "tea"}])
    assert study.grid("write").pair(redo=True).notes == ()
    with study._store.read() as tx:
        assert texts.texts_of(tx, "text")["meta"].tolist() == [{"source": "texts", "group": "tea"}]
    assert study.doctor(study.place).is_sound


def test_a_side_is_read_back_from_its_setting_whatever_its_groups_are_called() -> None:
    files = {"file": {"path": "/texts.csv", "sha256": "0"}, "aliases": {"path": "/aliases.csv"}, "slurs": None}
    setting = {"sources": [{**files, "text": "text", "group": "about", "quota": {"path": 2}}]}
    source = Source(Path("/texts.csv"), "text", group="about", aliases=Path("/aliases.csv"), quota={"path": 2})
    assert side_from_setting(setting) == SidePlan(sources=(source,))
