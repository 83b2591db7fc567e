"""What the command line says of the studies of the example recipes, walked to their end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import Fcpair
from fcpair.study import Study

Walked = Callable[[str], Path]


@pytest.fixture
def example(walked: Walked, study: Path) -> Callable[[str], Study]:
    """The study of an example recipe, in the place of the test's own."""
    return lambda name: Study(shutil.copy(walked(name), study))


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        (
            "write",
            [
                "answers export --grid write --out FILE",
                "agreement --grid rate",
                "partition --grid rate",
            ],
        ),
        ("ask", ["agreement --grid survey", "answers export --grid survey --out FILE"]),
        ("curate", ["answers export --grid replies --out FILE"]),
        ("localise", ["answers export --grid localise --out FILE", "answers export --grid reply --out FILE"]),
    ],
)
def test_what_is_next_is_what_the_answers_allow(
    name: str, commands: list[str], example: Callable[[str], Study], fcpair: Fcpair
) -> None:
    example(name)
    said = ", ".join(f"`fcpair {one}`" for one in [*commands, "report --out report.html"])
    assert f"Next: everything has been answered: {said}" in " ".join(fcpair("status").stdout.split())


@pytest.mark.parametrize("name", ["write", "ask", "curate", "localise"])
def test_every_command_that_is_next_runs(name: str, example: Callable[[str], Study], fcpair: Fcpair) -> None:
    said = example(name).status()["next"].split("`")[1::2]
    assert len(said) > 1
    for command in said:
        words = command.split()[1:]
        assert fcpair(*(word.replace("FILE", "answers.csv") for word in words)).stdout


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_tiers_of_ratings_are_about_cells_rows_and_columns(example: Callable[[str], Study], fcpair: Fcpair) -> None:
    example("write")
    told = fcpair("partition", "--grid", "rate").stdout
    assert "Table 1. The tiers: their cells, and the rule that each follows" in told
    assert "Table 2. Positive and not positive cells" in told
    assert "Table 3. How many labels the cells rest on" in told
    assert fcpair("partition", "--grid", "rate", "--format", "csv").stdout.splitlines()[0] == (
        "tier,cells,rows,columns,rule,positive,not_positive,share,3+ labels,2 labels,1 label"
    )


def test_the_tiers_of_pairs_are_about_hs_and_cn(at: Callable[[str], Path], fcpair: Fcpair) -> None:
    at("checked")
    assert "Table 2. Appropriate and not appropriate pairs" in fcpair("partition").stdout
    assert fcpair("partition", "--format", "csv").stdout.splitlines()[0] == (
        "tier,pairs,hs,cn,rule,appropriate,not_appropriate,share,3+ labels,2 labels,1 label"
    )


def test_a_cell_that_was_written_is_explained_with_its_text(example: Callable[[str], Study], fcpair: Fcpair) -> None:
    written = example("write").grid("write").answers().iloc[0]
    told = fcpair("explain", "1", "--grid", "write").stdout
    assert f"write: {written['by']} answered text: {written['text']}; also: {written['also']} SIMULATED" in told
    assert f"statement: {written['row']}\nkind of reply: facts" in told
    assert "bronze   no, because the answers in this grid are not labels" in told


def test_every_round_of_a_cell_is_explained_as_people_read_it(example: Callable[[str], Study], fcpair: Fcpair) -> None:
    grid = example("curate").grid()
    proposed, curated = (grid.answers(name).iloc[0] for name in ("propose", "curate"))
    told = fcpair("explain", "1").stdout
    assert f"propose: careful answered {proposed['text']}\n" in told
    assert f"curate: {curated['by']} answered text: {curated['text']}; fit: {curated['fit']} SIMULATED" in told
    answers = json.loads(fcpair("explain", "1", "--format", "json").stdout)["answers"]
    assert [sorted(one) for one in answers] == 2 * [
        ["answer", "at", "note", "origin", "person", "round", "run", "withdrawn"]
    ]


def test_ratings_and_verdicts_are_explained_by_their_names(example: Callable[[str], Study], fcpair: Fcpair) -> None:
    grid = example("write").grid("rate")
    rated = grid.answers().iloc[0]
    told = fcpair("explain", str(rated["cell"]), "--grid", "rate").stdout
    assert f"rate: {rated['by']} answered {rated['rating']} SIMULATED" in told
    checked = int(grid.answers("validate").iloc[0]["cell"])
    said = [one["answer"] for one in grid.explain(checked).answers if one["round"] == "validate"]
    assert said
    assert set(said) <= {"agree", "disagree", "skip"}
