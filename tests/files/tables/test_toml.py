"""TOML that is written is read back by `tomllib`, and recipes by what reads recipes."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.files.tables.text_files import format_section
from fcpair.params import Annotate, Evaluate, Import
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import Recipe, as_toml, load_recipe
from fcpair.values import is_blank

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
PLAIN = st.one_of(TEXTS, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False))
VALUES = st.recursive(PLAIN, lambda of: st.lists(of, max_size=3) | st.dictionaries(TEXTS, of, max_size=3))


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_every_value_is_read_back(values: dict[str, Any]) -> None:
    assert tomllib.loads(format_section("[one]", values)) == {"one": values}


def test_a_text_of_several_lines_is_written_in_as_many_and_a_dollar_in_a_path_is_no_variable(tmp_path: Path) -> None:
    written = format_section("[annotate]", {"about": "One\n\nTwo\n", "warning": None})
    assert written == '[annotate]\nabout = """\nOne\n\nTwo\n"""\n'
    evaluate = Evaluate(systems=("random(seed=0)",), pool="/$x.csv")
    recipe = Recipe(import_=Import(Path("/data/$HOME/c.csv")), evaluate=evaluate)
    (tmp_path / "r.toml").write_text(as_toml(recipe), "utf-8")
    assert load_recipe(tmp_path / "r.toml") == recipe


@given(
    names=st.lists(TEXTS.filter(lambda text: not is_blank(text)), min_size=1, max_size=3, unique_by=str.strip),
    about=TEXTS,
)
def test_a_recipe_is_read_back_whatever_its_texts_hold(names: list[str], about: str, tmp_path_factory: Any) -> None:
    plan = GridPlan("g", SidePlan(names=tuple(names)), SidePlan(names=("a",)), (RoundPlan("r", "r: one_of(no,yes)"),))
    recipe = Recipe(annotate=Annotate(about=about, demographics=tuple(names[:1])), grids=(plan,))
    path = tmp_path_factory.getbasetemp() / "written.toml"
    path.write_text(as_toml(recipe), "utf-8", newline="")
    assert load_recipe(path) == recipe


@pytest.mark.parametrize("name", ["recipe", "curate", "localise", "printers", "survey", "write", "writing", "fc-conan"])
def test_each_example_is_read_back(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCPAIR_DATA", "/data")
    recipe = load_recipe(Path(__file__).parents[3].absolute() / "examples" / f"{name}.toml")
    (tmp_path / "r.toml").write_text(as_toml(recipe), "utf-8")
    assert _of_one_piece(load_recipe(tmp_path / "r.toml")) == _of_one_piece(recipe)


def _of_one_piece(recipe: Recipe) -> Recipe:
    """Without the names of files with prompts, as what is printed has the prompts themselves."""
    grids = (
        replace(one, rounds=tuple(replace(round_, prompt_file=None) for round_ in one.rounds)) for one in recipe.grids
    )
    return replace(recipe, grids=tuple(grids))
