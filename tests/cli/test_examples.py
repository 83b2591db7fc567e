"""What the command line says of the studies of the example recipes, walked to their end."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import At, Fcpair
from fcpair.study import Study

Walked = Callable[[str], Path]


@pytest.fixture
def example(walked: Walked, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Study]:
    monkeypatch.chdir(tmp_path)
    return lambda name: Study(shutil.copy(walked(name), study))


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("write", ["answers export --grid write --out FILE", "agreement --grid rate", "partition --grid rate"]),
        ("ask", ["agreement --grid survey", "answers export --grid survey --out FILE"]),
        ("curate", ["answers export --grid replies --out FILE"]),
        ("localise", ["answers export --grid localise --out FILE", "answers export --grid reply --out FILE"]),
    ],
)
def test_what_is_next_is_what_the_answers_allow_and_every_command_that_is_named_runs(
    name: str, commands: list[str], example: Callable[[str], Study], fcpair: Fcpair
) -> None:
    study = example(name)
    commands.append("report --out report.html")
    named = ", ".join(f"`fcpair {command}`" for command in commands)
    assert f"Next: everything has been answered: {named}" in fcpair.line("status")
    assert study.status()["next"].split("`")[1::2] == [f"fcpair {command}" for command in commands]
    for command in commands:
        assert fcpair(*command.replace("FILE", "answers.csv").split()).stdout


def test_the_tiers_of_ratings_are_about_cells_rows_and_columns_and_those_of_pairs_about_hs_and_cn(
    at: At, example: Callable[[str], Study], fcpair: Fcpair
) -> None:
    example("write")
    printed = fcpair("partition", "--grid", "rate").stdout
    assert "Table 1. The tiers: their cells, and the rule that each follows" in printed
    assert "Table 2. Positive and not positive cells" in printed
    assert "Table 3. How many labels the cells rest on" in printed
    assert fcpair("partition", "--grid", "rate", "--format", "csv").stdout.splitlines()[0] == (
        "tier,cells,rows,columns,rule,positive,not_positive,share,3+ labels,2 labels,1 label"
    )
    at("checked")
    assert "Table 2. Appropriate and not appropriate pairs" in fcpair("partition").stdout
    assert fcpair("partition", "--format", "csv").stdout.splitlines()[0] == (
        "tier,pairs,hs,cn,rule,appropriate,not_appropriate,share,3+ labels,2 labels,1 label"
    )


def test_a_cell_is_explained_in_every_round_as_people_read_it(example: Callable[[str], Study], fcpair: Fcpair) -> None:
    study = example("write")
    written = study.grid("write").answers().iloc[0]
    printed = fcpair("explain", "1", "--grid", "write").stdout
    assert f"write: {written['by']} answered text: {written['text']}; also: {written['also']} SIMULATED" in printed
    assert f"statement: {written['row']}\nkind of reply: facts" in printed
    assert "bronze   no, because the answers in this grid are not labels" in printed
    grid = study.grid("rate")
    rated = grid.answers().iloc[0]
    printed = fcpair("explain", str(rated["cell"]), "--grid", "rate").stdout
    assert f"rate: {rated['by']} answered {rated['rating']} SIMULATED" in printed
    checked = int(grid.answers("validate").iloc[0]["cell"])
    verdicts = {one["answer"] for one in grid.explain(checked).answers if one["round"] == "validate"}
    assert verdicts
    assert verdicts <= {"agree", "disagree", "skip"}
    grid = example("curate").grid()
    proposed, curated = (grid.answers(name).iloc[0] for name in ("propose", "curate"))
    printed = fcpair("explain", "1").stdout
    assert f"propose: careful answered {proposed['text']}\n" in printed
    assert f"curate: {curated['by']} answered text: {curated['text']}; fit: {curated['fit']} SIMULATED" in printed
    assert [sorted(one) for one in fcpair.json("explain", "1")["answers"]] == 2 * [
        ["answer", "answered_at", "at", "given", "note", "origin", "person", "round", "run", "withdrawn"]
    ]
