"""`fcpair plan`: with and without a study, what it writes, and what it refuses with exit 2 and an untouched study."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import At, Fcpair
from fcpair.study import Study

GRID = ("--hs", "20", "--cn", "40", "--annotators", "4")


@pytest.mark.slow
def test_without_a_study_the_grid_is_told(fcpair: Fcpair, tmp_path: Path) -> None:
    assert "give --hs, --cn and --annotators" in fcpair.refusal("plan")
    result = fcpair("plan", *GRID, "--width", "0.3")
    assert "20 HS x 40 CN, 4 annotators: costs and yields" in result.stdout
    assert "assumed: 20.0% of labels positive" in result.stdout
    assert "[assign]\noverlap = { 2 = " in result.stderr
    pilot = tmp_path / "pilot.csv"
    pilot.write_text("hs_id,cn_id,annotator,label\n1,1,ana,2\n1,2,ben,0\n", "utf-8")
    assert "no pair in it has two labels" in fcpair.refusal("plan", *GRID, "--pilot", pilot)
    fcpair("plan", *GRID, "--hs-effect", "0.2", "--width", "0.4", "--figures", tmp_path / "figures")
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".svg", ".pdf", ".png"}


def test_the_recommended_overlap_is_written_into_the_recipe_until_pairs_are_assigned(at: At, fcpair: Fcpair) -> None:
    path = at("paired")
    share = fcpair.json("plan", "--annotators", "3", "--width", "1.3", "--save")["recommended"]["2"]
    assert f"overlap = {{ 2 = {share:g} }}" in fcpair("recipe").stdout
    with Study(path) as study:
        assert study.log()[-1].stage == "plan"
    path = at("dealt")
    before = path.read_bytes()
    assert "`fcpair assign --more --overlap 2:" in fcpair.refusal("plan", "--width", "1.3", "--save")
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_study_with_labels_is_planned_from_what_is_assigned_and_by_the_high_end(at: At, fcpair: Fcpair) -> None:
    path = at("labelled")
    result = fcpair("plan", "--width", "2")
    printed = " ".join(result.stdout.split())
    assert "0.5 * =" in printed
    assert "=: what is assigned already, which can only be raised" in printed
    assert "* rests on the high end of the range" in printed
    assert result.stderr.startswith("What is assigned is enough, and an overlap can only be raised.")
    before = path.read_bytes()
    assert "what is assigned is enough" in fcpair("plan", "--width", "2", "--save", code=2).stderr
    assert path.read_bytes() == before


def test_what_cannot_be_planned_leaves_the_study_as_it_is(at: At, fcpair: Fcpair) -> None:
    path = at("paired")
    before = path.read_bytes()
    for options, message in (
        ("--width 0.001", "no overlap makes the interval"),
        ("--prevalence 0", "prevalence is 0; expected a share between 0 and 1"),
        ("--prevalence 1", "prevalence is 1; expected a share between 0 and 1"),
        ("--save", "--save needs a study, and --width"),
        ("--sd 0.2", "--sd has no effect without --power; add that, or omit it"),
        ("--power 0.8 --width 0.2", "--width has no effect beside --power; omit it"),
    ):
        assert message in fcpair.refusal("plan", "--annotators", "3", *options.split())
        assert path.read_bytes() == before


def test_power_says_how_many_hs_it_takes_and_takes_the_systems_of_an_evaluated_study(at: At, fcpair: Fcpair) -> None:
    options = ("--power", "0.8", "--difference", "0.05", "--sd", "0.2")
    assert "128 HS find a difference of 0.05 in NDCG@10 with power 0.8" in fcpair("plan", *options).stdout
    assert fcpair.json("plan", *options)["needed"]["hs"] == 128
    at("checked")
    result = fcpair("plan", "--power", "0.8", "--difference", "0.3", "--system", "tfidf", "--system", "random")
    assert "of tfidf and random on the" in result.stdout
