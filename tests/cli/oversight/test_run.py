"""`fcpair run` on a study that is another, and a first run that fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from steps.small import dump, write_corpus

from cli.conftest import Fcpair
from fcpair.study import Study

At = Callable[[str], Path]
CORPUS = '[import]\npath = "corpus.csv"\n'
UNANIMOUS = "2 labels or more, all equal to the final one; valid"
MAJORITY = "2 labels or more, at least two and more than half equal to the final one; valid"


def written(folder: Path, content: str) -> Path:
    recipe = folder / "r.toml"
    recipe.write_text(content, "utf-8")
    return recipe


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[import]\npath = "none.csv"\n', "none.csv: there is no such file"),
        (f"{CORPUS}[select]\nhs = 99\n", "99 HS"),
    ],
)
def test_a_first_run_that_fails_leaves_no_study_behind(
    fcpair: Fcpair, study: Path, tmp_path: Path, content: str, said: str
) -> None:
    write_corpus(tmp_path / "corpus.csv")
    recipe = written(tmp_path, content)
    before = set(tmp_path.iterdir())
    result = fcpair("run", recipe, code=2)
    assert said in result.stderr
    assert f"{study} was not kept, because its first run failed" in result.stderr
    assert set(tmp_path.iterdir()) == before


def test_a_first_run_whose_recipe_goes_no_further_keeps_what_was_done(
    fcpair: Fcpair, study: Path, tmp_path: Path
) -> None:
    write_corpus(tmp_path / "corpus.csv")
    result = fcpair("run", written(tmp_path, CORPUS), code=0)
    assert result.stderr == (
        "Note: the recipe has no section [select], which comes next; add it, or run the stage by hand.\n"
    )
    assert result.stdout.splitlines() == ["import: 21 rows were imported: 6 HS and 19 CNs", "next: run `fcpair select`"]
    assert [run.stage for run in Study(study).log()] == ["init", "import", "recipe"]


def test_a_recipe_that_makes_no_pairs_names_the_import_that_it_needs(fcpair: Fcpair, tmp_path: Path) -> None:
    said = fcpair("run", written(tmp_path, '[partition]\ndiamond = "majority"\n')).stderr
    assert "no section [import]" in said
    assert "`fcpair labels import FILE --reader fc-conan`" in said


def test_a_run_says_all_that_can_be_done_now(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    at("checking")
    said = fcpair("run", written(tmp_path, "")).stdout.splitlines()
    assert [line.partition(": ")[0] for line in said] == ["next", "also"]
    assert said[0].startswith("next: pairs that wait for a decision")
    assert said[1].startswith("also: open verdicts")


def test_where_the_recipe_ends_the_stage_is_run_by_hand_or_its_section_is_added(
    fcpair: Fcpair, at: At, tmp_path: Path
) -> None:
    write_corpus(tmp_path / "corpus.csv")
    fcpair("run", written(tmp_path, CORPUS))
    assert "select: 3 HS were selected" in fcpair("select", "--hs", "3").stdout
    at("paired")
    assert "no section [assign]" in fcpair("run", written(tmp_path, "")).stderr
    longer = fcpair("run", written(tmp_path, "[assign]\nannotators = 3\n"))
    assert longer.stdout.startswith("assign: 24 labels were assigned to 3 annotators")
    assert longer.stderr == ""


def test_a_first_run_that_is_stopped_leaves_no_study_behind(
    fcpair: Fcpair, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_given: object, **_options: object) -> None:
        raise KeyboardInterrupt

    write_corpus(tmp_path / "corpus.csv")
    monkeypatch.setattr(Study, "walk", stop)
    result = fcpair("run", written(tmp_path, CORPUS), code=130)
    assert not study.exists()
    assert result.stderr == f"{study} was not kept, because its first run failed\n"


def test_the_rule_of_a_recipe_is_the_study_s_own_from_its_first_walk_on_as_the_help_says(
    fcpair: Fcpair, at: At, tmp_path: Path
) -> None:
    grid = Study(at("checked")).grid()
    recipe = written(tmp_path, '[partition]\ndiamond = "majority"\n')
    assert json.loads(fcpair("partition", "--format", "json").stdout)["rules"]["diamond"] == UNANIMOUS
    assert "pairs that wait for a decision: 5" in fcpair("run", recipe).stdout
    assert "[default: the study's own, else unanimous]" in " ".join(fcpair("partition", "--help").stdout.split())
    assert json.loads(fcpair("partition", "--format", "json").stdout)["rules"]["diamond"] == MAJORITY
    for pair in grid.waiting_pairs():
        grid.decide(pair, 2, by="ada")
    assert "partition: diamond" in fcpair("run", recipe).stdout
    said = json.loads(fcpair("partition", "--format", "json").stdout)["rules"]["diamond"]
    assert "at least two and more than half" in said


def test_a_study_that_was_there_outlives_a_run_that_fails(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    path = at("imported")
    before = dump(path)
    fcpair("run", written(tmp_path, "[select]\nhs = 99\n"), code=2)
    assert dump(path) == before


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
    assert dump(path) == before


def test_simulate_is_refused_where_people_have_answered(fcpair: Fcpair, at: At) -> None:
    path = at("checking")
    before = dump(path)
    assert "people have answered in this study (42 so far)" in fcpair("simulate", code=2).stderr
    assert dump(path) == before


def test_a_looser_limit_is_taken_over_only_on_request(fcpair: Fcpair, at: At, tmp_path: Path) -> None:
    path = at("dealt")
    fcpair("run", written(tmp_path, "[annotate]\ndaily_limit = 40\n"))
    looser = written(tmp_path, "[annotate]\ndaily_limit = 400\n")
    before = dump(path)
    assert "annotate  daily_limit  400     40" in fcpair("run", looser, code=2).stderr
    assert dump(path) == before
    assert "annotate" in fcpair("run", looser, "--loosen").stdout
