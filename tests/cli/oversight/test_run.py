"""`fcpair run` and `fcpair recipe`: a first run that fails, another study's recipe, defaults, and planned grids."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from steps.small import dump, write_corpus

from cli.conftest import At, Fcpair
from fcpair.study import Study

CORPUS = '[import]\npath = "corpus.csv"\n'
RECIPE = """\
[adjudicate]
policy = "majority"
ties = "discard"

[validate]
validators = 2
pairs = 9
blind = true
seed = 13

[partition]
diamond = "majority"
"""
UNANIMOUS = "2 labels or more, all equal to the final one; valid"
MAJORITY = "2 labels or more, at least two and more than half equal to the final one; valid"


def written(folder: Path, content: str) -> Path:
    recipe = folder / "r.toml"
    recipe.write_text(content, "utf-8")
    return recipe


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """The corpus of CORPUS, beside the recipe."""
    return write_corpus(tmp_path / "corpus.csv")


@pytest.mark.usefixtures("corpus")
def test_a_first_run_that_fails_leaves_no_study(
    fcpair: Fcpair, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_kept = f"{study} was not kept, because its first run failed"
    for content, message in (
        ('[import]\npath = "none.csv"\n', "none.csv: there is no such file"),
        (f"{CORPUS}[select]\nhs = 99\n", "99 HS"),
    ):
        recipe = written(tmp_path, content)
        before = set(tmp_path.iterdir())
        result = fcpair("run", recipe, code=2)
        assert message in result.stderr
        assert not_kept in result.stderr
        assert set(tmp_path.iterdir()) == before

    def stop(*_given: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Study, "walk", stop)
    assert fcpair("run", written(tmp_path, CORPUS), code=130).stderr == f"{not_kept}\n"
    assert not study.exists()


@pytest.mark.usefixtures("corpus")
def test_where_the_recipe_ends_it_says_what_comes_next(fcpair: Fcpair, at: At, study: Path, tmp_path: Path) -> None:
    result = fcpair("run", written(tmp_path, CORPUS))
    assert result.stderr == (
        "Note: the recipe has no section [select], which comes next; add it, or run the stage by hand.\n"
    )
    assert result.stdout.splitlines() == ["import: 21 rows were imported: 6 HS and 19 CNs", "next: run `fcpair select`"]
    assert [run.stage for run in Study(study).log()] == ["init", "import", "recipe"]
    assert "select: 3 HS were selected" in fcpair("select", "--hs", "3").stdout
    at("paired")
    assert "no section [assign]" in fcpair("run", written(tmp_path, "")).stderr
    longer = fcpair("run", written(tmp_path, "[assign]\nannotators = 3\n"))
    assert longer.stdout.startswith("assign: 24 labels were assigned to 3 annotators")
    assert longer.stderr == ""
    at("checking")
    lines = fcpair("run", written(tmp_path, "")).stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["next", "also"]
    assert lines[0].startswith("next: pairs that wait for a decision")
    assert lines[1].startswith("also: open verdicts")
    study.unlink()
    note = fcpair("run", written(tmp_path, '[partition]\ndiamond = "majority"\n')).stderr
    assert "no section [import]" in note
    assert "`fcpair labels import FILE --reader fc-conan`" in note


def test_the_rule_of_a_recipe_is_the_study_s_own_from_its_first_walk_on(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    grid = Study(at("checked")).grid()
    recipe = written(tmp_path, '[partition]\ndiamond = "majority"\n')
    assert fcpair.json("partition")["rules"]["diamond"] == UNANIMOUS
    assert "pairs that wait for a decision: 5" in fcpair("run", recipe).stdout
    assert "[default: the study's own, else unanimous]" in fcpair.line("partition", "--help")
    assert fcpair.json("partition")["rules"]["diamond"] == MAJORITY
    for pair in grid.waiting_pairs():
        grid.decide(pair, 2, by="ada")
    assert "partition: diamond" in fcpair("run", recipe).stdout
    assert fcpair.json("partition")["rules"]["diamond"] == MAJORITY


def test_another_study_s_recipe_is_refused_with_a_table(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    path = at("checked")
    before = dump(path)
    built = "[pair]\ncandidates = 129\nseed = 13\n[assign]\nannotators = 9\n"
    other = f'[study]\ntitle = "Other"\n{built}[simulate]\nseed = 1\n'
    result = fcpair("run", written(tmp_path, other), code=2)
    assert result.stderr.splitlines() == [
        f"Error: {path} differs from the recipe; nothing was done",
        "  stage     key         recipe                   study",
        "  study     title       Other                    Small",
        "  pair      candidates  129                      -",
        "  pair      seed        13                       0",
        "  assign    annotators  9                        3",
        "  assign    overlap     -                        2: 0.25, 3: 0.25",
        "  assign    seed        0                        1",
        "  simulate  -           simulated people answer  people have answered: 61",
        "Make the recipe match the study, or make another study from it: `fcpair run RECIPE --study OTHER`.",
        "`fcpair recipe` prints the recipe that matches the study.",
    ]
    assert result.stdout == ""
    assert "people have answered in this study (61 so far)" in fcpair.refusal("simulate")
    assert dump(path) == before


def test_a_study_outlives_a_failed_run_and_is_loosened_only_on_request(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    path = at("imported")
    before = dump(path)
    fcpair("run", written(tmp_path, "[select]\nhs = 99\n"), code=2)
    assert dump(path) == before
    at("dealt")
    fcpair("run", written(tmp_path, "[annotate]\ndaily_limit = 40\n"))
    looser = written(tmp_path, "[annotate]\ndaily_limit = 400\n")
    before = dump(path)
    assert "annotate  daily_limit  400     40" in fcpair("run", looser, code=2).stderr
    assert dump(path) == before
    assert "annotate" in fcpair("run", looser, "--loosen").stdout


# -- the recipe that a study keeps, and the defaults that commands take from it


def test_commands_do_what_the_recipe_says_and_options_depart_from_it(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    path, recipe = at("dealt"), written(tmp_path, RECIPE)
    fcpair("run", recipe)
    printed = fcpair("recipe").stdout
    assert printed.startswith("# The recipe of this study, version 1.\n\n[study]\n")
    assert RECIPE in printed
    before = dump(path)
    (tmp_path / "now.toml").write_text(printed, "utf-8")
    fcpair("run", tmp_path / "now.toml")  # what is printed is walked and changes nothing
    assert dump(path) == before
    fcpair("simulate", "--seed", "1")
    fcpair("adjudicate", "--policy", "majority")
    copy = Path(shutil.copy(path, tmp_path / "copy.db"))
    fcpair("validate", "assign")
    runs = {run.stage: run.params for run in Study(path).log()}
    assert runs["adjudicate"] == {"policy": "majority", "ties": "discard"}
    assert runs["validate"] == {"validators": 2, "pairs": 9, "blind": True, "seed": 13}
    assert "version 1." in fcpair("recipe").stdout
    there = ("--study", copy)
    fcpair("validate", "assign", "--no-blind", "--pairs", "4", *there)
    printed = fcpair("recipe", *there).stdout
    assert "# The recipe of this study, version 2.\n" in printed
    assert "[validate]\nvalidators = 2\npairs = 4\nblind = false\nseed = 13\n" in printed
    (tmp_path / "now.toml").write_text(printed, "utf-8")
    fcpair("run", tmp_path / "now.toml", *there)
    refused = fcpair("run", recipe, *there, code=2).stderr
    assert re.search(r"validate +pairs +9 +4\n +validate +blind +true +false\n", refused)
    options = fcpair.line("validate", "assign", "--help")
    assert "Random seed. [default: the recipe's, else 0]" in options
    assert "--blind / --no-blind" in options


# -- planned grids

GRIDS = """
[study]
title = "Write and rate"

[[grid]]
name = "write"
rows = { file = "statements.csv", column = "statement" }
columns = { names = ["facts", "humour"] }
[[grid.round]]
name = "write"
role = "writer"
form = "text(min_words=2)"
once_per_row = true

[[grid]]
name = "rate"
rows = { answers = "write" }
columns = { names = ["fluent", "kind"] }
[[grid.round]]
name = "rate"
role = "rater"
form = "one_of(no,yes+)"
answers = 2
people = 3
"""


def test_a_recipe_of_grids_from_the_first_run_to_the_end(fcpair: Fcpair, tmp_path: Path) -> None:
    (tmp_path / "statements.csv").write_text("statement\nTea is odd.\nCats are odd.\nChess is odd.\n", "utf-8")
    recipe = written(tmp_path, GRIDS)
    waits = "round `write` of grid `write` waits for people: `fcpair people add NAME --role writer`, then `fcpair"
    assert fcpair("run", recipe).stdout.splitlines() == [
        "pair: grid `write` was made: 6 cells of 3 rows and 2 columns",
        f"next: {waits} assign --grid write --round write`",
    ]
    lines = fcpair("grids").stdout.splitlines()
    assert [line.split() for line in lines if line.startswith(("  write", "  rate"))] == [
        ["write", "3", "2", "6", "write", "writer", "-", "-", "-"],
        ["rate", "0", "0", "0", "rate", "rater", "-", "-", "-"],
    ]
    assert [(grid["name"], grid["cells"], grid["rounds"][0]["dealt"]) for grid in fcpair.json("grids")] == [
        ("write", 6, False),
        ("rate", 0, False),
    ]
    header = fcpair("grids", "--format", "csv").stdout.splitlines()[0]
    assert header == "grid,rows,columns,cells,round,role,open,done,vacant"
    written(tmp_path, GRIDS.replace("answers = 2", "answers = 3"))
    assert "grid rate, round rate  answers  3       2" in fcpair("run", recipe, code=2).stderr
    fcpair("people", "add", "ana", "ben", "--role", "writer")
    assigning = ("assign", "--grid", "write", "--round", "write")
    assert "a round is assigned as planned" in fcpair.refusal(*assigning, "--annotators", "3")
    assigned = "assign: 6 answers of round `write` were assigned to 2 people, in 6 cells of grid `write`"
    assert fcpair(*assigning).stdout.startswith(assigned)
    printed = fcpair("status").stdout
    assert "Write and rate: grids" in printed
    assert "Next: open answers in round `write` of grid `write`: 6 (ana 3, ben 3); `fcpair serve`" in printed
    assert "grids,write / write,open,6" in fcpair("status", "--format", "csv").stdout.splitlines()
    state = fcpair.json("status")
    assert (state["stages"], state["grids"][0]["rounds"][0]["open"]) == ({}, 6)
    written(tmp_path, f"{GRIDS}\n[simulate]\nskips = 0\n")
    lines = fcpair("run", recipe).stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["simulate", "pair", "assign", "simulate", "next"]


def test_main_is_a_grid_among_the_others(fcpair: Fcpair) -> None:
    fcpair("init")
    lines = fcpair("grids").stdout.splitlines()
    assert [line.split()[4:6] for line in lines if line.startswith("  main")] == [
        ["label", "annotator"],
        ["validate", "validator"],
    ]


@pytest.mark.usefixtures("corpus")
def test_each_run_of_a_recipe_extends_the_grid_once_more(fcpair: Fcpair, study: Path, tmp_path: Path) -> None:
    """4 HS and 6 CNs, then a fifth HS, then a sixth; the recipe that is kept has what was done."""
    built = f"{CORPUS}[select]\nhs = 4\n[retrieve]\nevery_cn = true\n[pair]\ncandidates = 6\nkeep_known = true\n"
    built += '[assign]\nannotators = 2\n[simulate]\nskips = 0.0\nnot_sure = 0.0\n[adjudicate]\npolicy = "majority"\n'
    recipe = written(tmp_path, f"{built}[validate]\nvalidators = 2\n[[extend]]\nhs = 1\n[[extend]]\nhs = 1\nseed = 5\n")
    result = fcpair("run", recipe)
    assert "pair: 24 pairs were made" in result.stdout
    assert "extend:" not in result.stdout
    for seed in (0, 5):
        assert "extend: 6 pairs were added; 1 HS more" in fcpair("run", recipe).stdout
        assert fcpair.json("recipe")["extend"][-1] == {"hs": 1, "seed": seed}
    assert "extend" not in fcpair("run", recipe).stdout
    assert len(fcpair.json("blocks")["blocks"]) == 3
    written(tmp_path, f"{built}[[extend]]\nhs = 2\n")
    assert "extend 1" in fcpair("run", recipe, code=2).stderr


@pytest.mark.usefixtures("corpus")
def test_an_extension_of_a_recipe_that_cannot_be_is_refused_before_anything_is_done(
    fcpair: Fcpair, study: Path, tmp_path: Path
) -> None:
    for section, message in (
        ("[[extend]]\nseed = 3\n", "say what the grid is to take"),
        ("[[extend]]\nhs = 1\ndepth = 3\n", "`depth` (--depth) has no effect without"),
        ("[extend]\nhs = 1\n", "extend"),
    ):
        assert message in fcpair.refusal("run", written(tmp_path, f"{CORPUS}{section}"))
        assert not study.exists()
