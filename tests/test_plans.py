"""Grids by recipe: what a recipe may plan, what it means, and what is refused with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.errors import RecipeError
from fcpair.params import Adjudicate, Agree, Partition
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import Recipe, load_recipe

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


@pytest.mark.parametrize(("section", "has_main"), [("", False), ("[select]\nhs = 3", True), ("[simulate]", False)])
def test_main_is_there_where_the_recipe_has_a_stage_of_it(tmp_path: Path, section: str, has_main: bool) -> None:
    assert load(tmp_path, f"{section}\n{ASK}{ROUND}").has_main is has_main
    assert load(tmp_path, section).has_main


def test_a_grid_may_be_called_main_where_that_is_all_there_is(tmp_path: Path) -> None:
    recipe = ASK.replace('"ask"', '"main"', 1) + ROUND
    assert not load(tmp_path, recipe).has_main
    with pytest.raises(RecipeError, match="there is already a grid `main`"):
        load(tmp_path, f"[select]\nhs = 3\n{recipe}")


def test_what_a_text_is_in_the_study() -> None:
    assert SidePlan(names=("a",)).text_kind == "name"
    assert SidePlan(answers="write").text_kind == "answer"
    assert SidePlan(file=Path("a.csv"), column="a").text_kind == "text"
    assert SidePlan(file=Path("a.csv"), column="a", kind="hs").text_kind == "hs"


def plan(*rounds: RoundPlan) -> GridPlan:
    return GridPlan("ask", SidePlan(names=("a",)), SidePlan(names=("b",)), rounds)


def test_the_last_round_that_people_answer_counts() -> None:
    first, last = RoundPlan("one", "one: text()"), RoundPlan("two", "two: text()")
    model = RoundPlan("three", "three: text()", models=("tiny",))
    assert plan(first, last).counting is last
    assert plan(first, model).counting is first
    assert plan(model).counting is model
    assert plan(RoundPlan("one", "one: text()", counts=True), last).counting.name == "one"
    assert plan(first, RoundPlan("two", "two: text()", counts=False)).counting is first


def test_models_answer_in_a_role_of_their_own() -> None:
    assert RoundPlan("a", "a: text()", models=("tiny",)).answered_by == "model"
    assert RoundPlan("a", "a: text()", role="writer").answered_by == "writer"


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


def test_two_rounds_cannot_both_count(tmp_path: Path) -> None:
    second = ROUND.replace('"ask"', '"b"')
    with pytest.raises(RecipeError, match="rounds `ask` and `b` both have `counts = true`; decisions rest on one"):
        load(tmp_path, f"{ASK}{ROUND}counts = true\n{second}counts = true")


def test_what_is_edited_needs_no_other_round_before(tmp_path: Path) -> None:
    write = '[[grid.round]]\nname = "a"\nform = "text()"\n'
    edit = '[[grid.round]]\nname = "c"\nform = "edit()"\nedits = "a"\nafter = "b"'
    with pytest.raises(RecipeError, match="the round edits texts of `a`, so it already comes after that; omit `after`"):
        load(tmp_path, ASK + write + write.replace('"a"', '"b"') + edit)
