"""Tiers of a study's own as a recipe declares them: what is kept, and which contradict each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import InputError, RecipeError
from fcpair.params import Partition
from fcpair.recipe import as_toml, load_recipe
from fcpair.tier_plans import MOST_TIERS

PLATINUM = {"platinum": {"labels": 3, "agreement": "unanimous", "within": "gold"}}
MAIN = """
[import]
path = "corpus.csv"

[assign]
annotators = 3

[validate]
validators = 2
"""


def recipe(folder: Path, text: str) -> Path:
    path = folder / "recipe.toml"
    path.write_text(text, "utf-8")
    return path


def test_what_differs_from_the_defaults_is_kept() -> None:
    tiers = {"wide": {"labels": 1, "verdict": "none", "answers": ("appropriate",), "within": ""}}
    assert Partition(own_tiers=tiers).own_tiers == {"wide": {"verdict": "none", "answers": ["appropriate"]}}


@pytest.mark.parametrize(
    ("tiers", "message"),
    [
        ({"gold": {"labels": 3}}, "the tier `gold` is one of the four that every study has; choose another name"),
        ({"Gold": {}}, "the name of a tier is 'Gold'; expected up to 16 small letters, digits, - and _"),
        ({"none": {}}, "the name of a tier is 'none'"),
        ({"../x": {}}, r"the name of a tier is '\.\./x'"),
        ({"a" * 17: {}}, "the name of a tier is 'aaaaaaaaaaaaaaaaa'"),
        ({"best": 3}, r"the tier `best` is 3; expected a table such as \{labels = 3\}"),
        ({"best": {"label": 3}}, "the tier `best`: unknown key `label`; did you mean `labels`"),
        ({"best": {"labels": 0}}, "the tier `best`: labels is 0; expected a whole number, 1 or more"),
        ({"best": {"agreement": "most"}}, "the tier `best`: agreement is 'most'; expected one of any, majority, unan"),
        ({"best": {"within": "golf"}}, "the tier `best` is within `golf`, which is no tier; did you mean `gold`"),
        ({"best": {"within": "best"}}, "`best` within `best`: no tier can be within itself"),
        (
            {"a": {"within": "b"}, "b": {"within": "c"}, "c": {"within": "a"}},
            "`a` within `b` within `c` within `a`: no tier can be within itself",
        ),
        (
            {"yes": {"answers": ["appropriate"]}, "no": {"answers": ["not_appropriate"], "within": "yes"}},
            "no pair can be in the tier `no`: `no` and `yes` have no final label in common",
        ),
        ({"a": {"answers": []}}, "the tier `a`: answers is empty; name at least one final label, or omit the key"),
        ({"a": {"answers": ["yes", "no", "yes"]}}, "the tier `a`: answers has `yes` more than once"),
        ({"a": {"labels": 3}, "b": {"labels": 3}}, "the tier `b` has the same rule as `a`; change one of them"),
        (
            {
                "a": {"agreement": "majority", "within": "gold"},
                "b": {"labels": 2, "agreement": "majority", "within": "gold"},
            },
            "the tier `b` has the same rule as `a`",
        ),
        (
            {"a": {"verdict": "none", "answers": ["x", "y"]}, "b": {"verdict": "none", "answers": ["y", "x"]}},
            "the tier `b` has the same rule as `a`",
        ),
        ({"a": {"labels": 3}, "b": {"labels": 3, "agreeing": "side"}}, "the tier `b` has the same rule as `a`"),
        ({f"t{n}": {} for n in range(MOST_TIERS + 1)}, "there are 33 tiers; expected 32 at most"),
    ],
)
def test_tiers_that_cannot_be_are_refused(tiers: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Partition(own_tiers=tiers)


def test_tiers_that_differ_by_one_key_are_all_kept() -> None:
    plans = [
        {"labels": 3},
        {"labels": 3, "within": "gold"},
        {"labels": 3, "counted": "definite"},
        {"labels": 3, "agreement": "majority"},
        {"labels": 3, "agreement": "majority", "agreeing": "side"},
        {"labels": 3, "verdict": "none"},
        {"labels": 3, "answers": ["appropriate"]},
    ]
    assert len(Partition(own_tiers={f"t{at}": plan for at, plan in enumerate(plans)}).own_tiers) == len(plans)


def test_a_tier_may_have_the_rule_of_one_of_the_four() -> None:
    tiers = {"strict": {"labels": 2, "agreement": "unanimous"}, "twice": {"labels": 2}}
    assert Partition("unanimous", own_tiers=tiers).own_tiers == tiers


def test_a_tier_that_leads_into_a_cycle_of_others_is_no_second_error() -> None:
    with pytest.raises(InputError) as caught:
        Partition(own_tiers={"a": {"within": "b"}, "b": {"within": "b"}})
    assert str(caught.value) == "`b` within `b`: no tier can be within itself; remove one `within`"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[partition.own_tiers.gold]\nlabels = 3\n", "[partition]: the tier `gold` is one of the four"),
        (
            '[partition.own_tiers.a]\nwithin = "b"\n[partition.own_tiers.b]\nwithin = "a"\n',
            "[partition]: `a` within `b` within `a`: no tier can be within itself",
        ),
        (
            "[partition.own_tiers.four]\nlabels = 4\n",
            "[partition]: no pair can be in the tier `four`: it requires 4 labels, and 3 people label",
        ),
        (
            '[partition.own_tiers.sure]\nanswers = ["not_sure"]\n',
            "[partition]: no pair of the tier `sure` can have the final label `not_sure`",
        ),
        (
            '[partition.own_tiers.sure]\nanswers = ["apropriate"]\n',
            "the final label `apropriate`; did you mean `appropriate`",
        ),
        ('[partition]\nown_tiers = ["best"]\n', "own_tiers is ['best']; expected a table of values by names"),
        ('[evaluate]\nsystems = ["bm25"]\ntiers = ["platinum"]\n', "[evaluate]: there is no tier `platinum`"),
    ],
)
def test_a_recipe_with_such_tiers_is_refused_when_it_is_read(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RecipeError) as caught:
        load_recipe(recipe(tmp_path, MAIN + text))
    assert message in str(caught.value)


def test_a_verdict_is_not_asked_where_nobody_validates(tmp_path: Path) -> None:
    unvalidated = MAIN[: MAIN.index("[validate]")]
    with pytest.raises(RecipeError, match="the tier `best` requires a verdict, and nobody validates"):
        load_recipe(recipe(tmp_path, f"{unvalidated}[partition.own_tiers.best]\nlabels = 2\n"))
    best = f'{unvalidated}[partition.own_tiers.best]\nlabels = 2\nverdict = "none"\n'
    load_recipe(recipe(tmp_path, best))
    with pytest.raises(RecipeError, match="the tier `best` is within `gold`, which requires a verdict, and nobody"):
        load_recipe(recipe(tmp_path, f'{best}within = "gold"\n'))


def test_a_majority_takes_two_people(tmp_path: Path) -> None:
    one_person = MAIN.replace("annotators = 3", "annotators = 1")
    with pytest.raises(RecipeError, match="the tier `most`: it requires 2 labels, and 1 person labels"):
        load_recipe(recipe(tmp_path, f'{one_person}[partition.own_tiers.most]\nagreement = "majority"\n'))


def test_a_planned_grid_is_held_to_the_same(tmp_path: Path) -> None:
    grid = """
[[grid]]
name = "fit"
rows = { file = "rows.csv", column = "row" }
columns = { names = ["a", "b"] }
[[grid.round]]
name = "label"
form = "one_of(no,unsure?,yes+)"
"""
    with pytest.raises(RecipeError, match="the tier `best` requires a verdict, and nobody validates"):
        load_recipe(recipe(tmp_path, f"{grid}[grid.partition.own_tiers.best]\nlabels = 2\n"))
    with pytest.raises(RecipeError, match="no pair of the tier `best` can have the final label `unsure`"):
        load_recipe(recipe(tmp_path, f'{grid}[grid.validate]\n[grid.partition.own_tiers.best]\nanswers = ["unsure"]\n'))


def test_a_recipe_with_own_tiers_is_written_and_read_back(tmp_path: Path) -> None:
    text = f"""{MAIN}
[partition]
diamond = "majority"
[partition.own_tiers.platinum]
labels = 3
agreement = "unanimous"
within = "gold"
[partition.own_tiers.draft]
verdict = "none"
counted = "definite"
answers = ["appropriate"]
[evaluate]
systems = ["bm25"]
tiers = ["platinum", "gold"]
"""
    read = load_recipe(recipe(tmp_path, text))
    assert read.partition == Partition(
        "majority",
        own_tiers={**PLATINUM, "draft": {"verdict": "none", "counted": "definite", "answers": ["appropriate"]}},
    )
    assert load_recipe(recipe(tmp_path, as_toml(read))) == read
