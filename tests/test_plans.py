"""Grids and tiers by recipe: what a recipe may plan, what it means, and what is refused with what to write instead."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import InputError, RecipeError
from fcpair.params import Adjudicate, Agree, Partition
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import Recipe, as_toml, load_recipe
from fcpair.tier_plans import MOST_TIERS

WRITE_AND_RATE = """
[study]
title = "Write and rate"

[[grid]]
name = "write"
row_name = "hate speech"
column_name = "type"
rows = { file = "hs.csv", column = "hs" }
columns = { names = ["facts", "humour"] }

[[grid.round]]
name = "write"
role = "writer"
form = { text = "text(min_words=6)", types = "any_of(facts,humour,question)" }
once_per_row = true

[[grid]]
name = "rate"
rows = { answers = "write" }
columns = { names = ["fluent", "specific"] }

[[grid.round]]
name = "rate"
role = "rater"
form = "scale(1,5,0.5,positive=4)"
answers = 2
screen = "row"

[grid.agreement]
intervals = "annotators"
[grid.adjudicate]
policy = "median"
[grid.partition]
diamond = "majority"
"""
ASK = """
[[grid]]
name = "ask"
rows = { names = ["a", "b"] }
columns = { names = ["heard"] }
"""
ROUND = '[[grid.round]]\nname = "ask"\nform = "one_of(no,yes+)"\n'
WRITE = '[[grid.round]]\nname = "a"\nform = "text()"\n'
EDIT = '[[grid.round]]\nname = "c"\nform = "edit()"\nedits = "a"\nafter = "b"'


def load(folder: Path, content: str) -> Recipe:
    path = folder / "recipe.toml"
    path.write_text(content, "utf-8")
    return load_recipe(path)


def test_grids_with_their_rounds_in_order(tmp_path: Path) -> None:
    recipe = load(tmp_path, WRITE_AND_RATE)
    form = "text: text(min_words=6); types: any_of(facts,humour,question)"
    assert recipe.grids == (
        GridPlan(
            name="write",
            rows=SidePlan(file=tmp_path / "hs.csv", column="hs"),
            columns=SidePlan(names=("facts", "humour")),
            rounds=(RoundPlan("write", form, role="writer", once_per_row=True),),
            row_name="hate speech",
            column_name="type",
        ),
        GridPlan(
            name="rate",
            rows=SidePlan(answers="write"),
            columns=SidePlan(names=("fluent", "specific")),
            rounds=(RoundPlan("rate", "rate: scale(1,5,0.5,positive=4)", role="rater", answers=2, screen="row"),),
            agreement=Agree(intervals="annotators"),
            adjudicate=Adjudicate(policy="median"),
            partition=Partition(diamond="majority"),
        ),
    )
    assert not recipe.has_main


def test_main_is_there_where_the_recipe_has_a_stage_of_it(tmp_path: Path) -> None:
    for section, has_main in {"": False, "[select]\nhs = 3": True, "[simulate]": False}.items():
        assert load(tmp_path, f"{section}\n{ASK}{ROUND}").has_main is has_main
        assert load(tmp_path, section).has_main
    called_main = ASK.replace('"ask"', '"main"', 1) + ROUND
    assert not load(tmp_path, called_main).has_main
    with pytest.raises(RecipeError, match="there is already a grid `main`"):
        load(tmp_path, f"[select]\nhs = 3\n{called_main}")


def test_a_plan_says_what_its_texts_are_who_answers_and_which_round_counts() -> None:
    assert SidePlan(names=("a",)).text_kind == "name"
    assert SidePlan(answers="write").text_kind == "answer"
    assert SidePlan(file=Path("a.csv"), column="a").text_kind == "text"
    assert SidePlan(file=Path("a.csv"), column="a", kind="hs").text_kind == "hs"
    first, last = RoundPlan("one", "one: text()"), RoundPlan("two", "two: text()", role="writer")
    model = RoundPlan("three", "three: text()", models=("tiny",))
    assert (model.answered_by, last.answered_by) == ("model", "writer")
    counted, uncounted = replace(first, counts=True), replace(last, counts=False)
    for rounds, counting in (
        ((first, last), last),
        ((first, model), first),
        ((model,), model),
        ((counted, last), counted),
        ((first, uncounted), first),
    ):
        plan = GridPlan("ask", SidePlan(names=("a",)), SidePlan(names=("b",)), rounds)
        assert plan.counting.name == counting.name


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("grid = 3", r"\[\[grid\]\] must be a list of tables, each with its heading in double brackets"),
        ("[grid]\nname = 'a'", r"\[\[grid\]\] must be a list of tables"),
        ("[[grid]]\nnam = 'a'", r"\[\[grid\]\] 1: unknown key `nam`; did you mean `name`\?"),
        ("[[grid]]\nname = 'a'\nrounds = []", r"\[\[grid\]\] a: unknown key `rounds`; did you mean `round`\?"),
        ("[[grid]]\nname = 'a'", r"\[\[grid\]\] a: `rows` is missing"),
        (ASK, r"\[\[grid\]\] ask: `round` is missing"),
        (ASK + "round = []", r"ask: grid `ask` has no round; give it one, as \[\[grid.round\]\]"),
        (ASK + ROUND + "anwers = 2", r"\[\[grid\]\] ask round ask: unknown key `anwers`; did you mean `answers`\?"),
        (ASK + "[[grid.round]]\nform = 'text()'", r"ask round 1: `name` is missing"),
        (ASK + "[[grid.round]]\nname = 'a'", r"ask round a: `form` is missing"),
        (ASK + "[[grid.round]]\nname = 1\nform = 'text()'", "name is 1; expected a text"),
        (ASK + "[[grid.round]]\nname = ['a']\nform = 'text()'", "name is .*a.*; expected a text"),
        (ASK + ROUND + "role = 'lead'", r"round ask: role is 'lead'; expected one of annotator, writer, rater, resp"),
        (ASK + ROUND + "answers = -1", "answers is -1; expected 1 or more, or 0 for everybody"),
        (ASK + ROUND + "answers = 0\nonce_per_row = true", "nobody can have only one cell of a row; give `answers` a"),
        (
            ASK + ROUND + "edits = 'write'",
            "`edits` of round `ask` names `write`, which is not an earlier round; it is the first",
        ),
        (ASK + ROUND + ROUND, r"\[\[grid\]\] ask: round `ask` is given twice"),
        (ASK + ROUND + "counts = false", "no round of grid `ask` counts; omit `counts = false`"),
        (ASK + ROUND + "models = ['a=canned:x.csv', 'a=canned:y.csv']", "name of a model `a` is given twice"),
        (ASK + "[[grid.round]]\nname = 'a'\nform = 'one_of(no,'", r"round a form: question `one_of\(no,`"),
        (ASK + "[[grid.round]]\nname = 'a'\nform = {x = 'text'}", "round a form: question `text`: expected a word and"),
        (ASK + "[[grid.round]]\nname = 'a'\nform = 3", "form must be a question such as one_of"),
        (ASK + "[[grid.round]]\nname = 'a b'\nform = 'text()'", "form: `a b` cannot name a question"),
        (ASK + "[[grid.round]]\nname = 'a/b'\nform = {x = 'text()'}", "`a/b` cannot name a round; use at most 60"),
        (ASK + "[[grid.round]]\nname = 'a'\nform = 'edit()'", "round `a` has `edit.*name in `edits` the round"),
        (
            ASK + "[[grid.round]]\nname = 'a'\nform = 'curate(b)'",
            "round `a` has `curate.*name in `edits` the round",
        ),
        (
            ASK + ROUND + "[[grid.round]]\nname = 'b'\nform = 'text()'\nedits = 'ask'",
            r"round `b` edits `ask`; ask `edit\(...\)` or `curate\(...\)` in its form, or use `after`",
        ),
        (
            ASK + ROUND + "[[grid.round]]\nname = 'b'\nform = 'edit()'\nedits = 'ask'",
            "round `b` edits `ask`, in which no text is written",
        ),
        (
            ASK + ROUND + "[[grid.round]]\nname = 'b'\nform = 'text()'\nafter = 'c'",
            "`after` of round `b` names `c`, which is not an earlier round; earlier rounds are ask",
        ),
        (ASK.replace("names", "file", 1) + ROUND, "rows file is .*; expected the name of a file"),
        (ASK + ROUND + "[grid.partition]\nx = 1", "ask partition: unknown key `x`; known are diamond, own_tiers"),
        (ASK.replace('["heard"]', "[]") + ROUND, r"ask columns: a side has nothing; give it one of `file`"),
        (ASK.replace('["heard"]', '["x"], answers = "b"') + ROUND, "a side has `names` and `answers`; give it one of"),
        (ASK.replace('names = ["heard"]', 'file = "a.csv"') + ROUND, "`file` and `column` go together, as in"),
        (ASK.replace('["heard"]', '["x"], kind = "hs"') + ROUND, "`kind` says what the texts of a file are; omit it"),
        (ASK.replace('["heard"]', '["x", "x "]') + ROUND, "name `x` is given twice"),
        (ASK.replace('["heard"]', '["x", " "]') + ROUND, "a name of a side is empty; give each a text"),
        (
            ASK.replace('names = ["heard"]', 'answers = "ask"') + ROUND,
            "cannot have its own answers as a side; name an",
        ),
        (
            ASK.replace('names = ["heard"]', 'answers = "write"') + ROUND,
            "grid `ask` takes the answers of `write`, which is not an earlier grid; it is the first",
        ),
        (
            ASK + ROUND + ASK.replace('"ask"', '"b"').replace('names = ["heard"]', 'answers = "ask"') + ROUND,
            r"`b` takes the answers of `ask`, but the main round of that grid asks for no text; ask `text\(\)` there",
        ),
        (
            ASK + ROUND + "counts = true\n" + ROUND.replace('"ask"', '"b"') + "counts = true",
            "rounds `ask` and `b` both have `counts = true`; decisions rest on one",
        ),
        (
            ASK + WRITE + WRITE.replace('"a"', '"b"') + EDIT,
            "the round edits texts of `a`, so it already comes after that; omit `after`",
        ),
        (ASK + ROUND + 'together = "source"\nanswers = 0', "`together`.*omit `once_per_row` and models"),
        (ASK + ROUND + 'together = "source"\nonce_per_row = true', "omit `once_per_row` and models"),
        (ASK + ROUND + ASK + ROUND, "there is already a grid `ask`; give each grid its own name"),
        (
            ASK + ROUND + "[grid.adjudicate]\npolicy = 'x'",
            r"\[\[grid\]\] ask adjudicate: policy is 'x'; expected one of",
        ),
    ],
)
def test_a_plan_that_cannot_be_used(tmp_path: Path, content: str, problem: str) -> None:
    with pytest.raises(RecipeError, match=problem) as caught:
        load(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "recipe.toml"))


def test_errors_of_several_rounds_and_grids_are_listed_at_once(tmp_path: Path) -> None:
    other = ASK.replace('"ask"', '"other"') + ROUND
    with pytest.raises(RecipeError) as caught:
        load(tmp_path, f"{ASK}{ROUND}anwers = 2\n{ROUND}role = 'lead'\n[grid.partition]\nx = 1\n{other}people = 0")
    assert [finding.message for finding in caught.value.findings] == [
        "[[grid]] ask round ask: unknown key `anwers`; did you mean `answers`?",
        "[[grid]] ask round ask: role is 'lead'; expected one of annotator, writer, rater, respondent",
        "[[grid]] ask partition: unknown key `x`; known are diamond, own_tiers",
        "[[grid]] other round ask: people is 0; expected a whole number from 1 to 10,000",
    ]


PLATINUM = {"platinum": {"labels": 3, "agreement": "unanimous", "within": "gold"}}


MAIN = """
[import]
path = "corpus.csv"

[assign]
annotators = 3

[validate]
validators = 2
"""


def test_what_differs_from_the_defaults_is_kept() -> None:
    wide = {"labels": 1, "verdict": "none", "answers": ("appropriate",), "within": ""}
    assert Partition(own_tiers={"wide": wide}).own_tiers == {"wide": {"verdict": "none", "answers": ["appropriate"]}}
    by_one_key = [
        {"labels": 3},
        {"labels": 3, "within": "gold"},
        {"labels": 3, "counted": "definite"},
        {"labels": 3, "agreement": "majority"},
        {"labels": 3, "agreement": "majority", "agreeing": "side"},
        {"labels": 3, "verdict": "none"},
        {"labels": 3, "answers": ["appropriate"]},
    ]
    assert len(Partition(own_tiers={f"t{at}": plan for at, plan in enumerate(by_one_key)}).own_tiers) == 7
    of_the_four = {"strict": {"labels": 2, "agreement": "unanimous"}, "twice": {"labels": 2}}
    assert Partition("unanimous", own_tiers=of_the_four).own_tiers == of_the_four


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
        load(tmp_path, MAIN + text)
    assert message in str(caught.value)


def test_a_tier_asks_for_no_verdict_or_label_that_nobody_gives(tmp_path: Path) -> None:
    unvalidated = MAIN[: MAIN.index("[validate]")]
    best = f'{unvalidated}[partition.own_tiers.best]\nlabels = 2\nverdict = "none"\n'
    load(tmp_path, best)
    one_person = MAIN.replace("annotators = 3", "annotators = 1")
    grid = """
[[grid]]
name = "fit"
rows = { file = "rows.csv", column = "row" }
columns = { names = ["a", "b"] }
[[grid.round]]
name = "label"
form = "one_of(no,unsure?,yes+)"
"""
    unasked = "the tier `best` requires a verdict, and nobody validates"
    for text, message in {
        f"{unvalidated}[partition.own_tiers.best]\nlabels = 2\n": unasked,
        f'{best}within = "gold"\n': "the tier `best` is within `gold`, which requires a verdict, and nobody",
        f'{one_person}[partition.own_tiers.most]\nagreement = "majority"\n': (
            "the tier `most`: it requires 2 labels, and 1 person labels"
        ),
        f"{grid}[grid.partition.own_tiers.best]\nlabels = 2\n": unasked,
        f'{grid}[grid.validate]\n[grid.partition.own_tiers.best]\nanswers = ["unsure"]\n': (
            "no pair of the tier `best` can have the final label `unsure`"
        ),
    }.items():
        with pytest.raises(RecipeError, match=message):
            load(tmp_path, text)


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
    read = load(tmp_path, text)
    assert read.partition == Partition(
        "majority",
        own_tiers={**PLATINUM, "draft": {"verdict": "none", "counted": "definite", "answers": ["appropriate"]}},
    )
    assert load(tmp_path, as_toml(read)) == read
