"""fcpair ratings and fcpair correlate: of files and of rating rounds."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from cli.conftest import Fcpair
from fcpair.params import Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study

REPLIES = tuple(f"A mild reply about the weather, number {at}." for at in range(8))
PLAN = GridPlan(
    "rate",
    SidePlan(names=REPLIES),
    SidePlan(names=("fluency", "tone")),
    (RoundPlan("rate", "rating: scale(1,5,0.5)", "rater", answers=2, screen="row"),),
)


@pytest.fixture
def dealt(study: Path) -> Path:
    """Eight replies on two criteria, dealt to two raters."""
    with closing(Study.create(study, grids=[PLAN])) as opened:
        opened.grid().pair()
        opened.add_people(["ana", "ben"], Role.RATER)
        opened.grid().assign_round()
    return study


def write(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


def test_ratings_of_a_round_are_averaged_by_criterion_and_rater(dealt: Path, fcpair: Fcpair) -> None:
    with closing(Study(dealt)) as opened:
        opened.grid().simulate(Simulate(seed=2, skips=0.0))
        given = opened.grid().answers()
    words = ("ratings", "--rating", "rating", "--criterion", "column", "--text", "row", "--resamples", "200")
    found = fcpair.json(*words)
    assert "SIMULATED" in found["simulated"]
    means = given.assign(rating=given["rating"].astype(float)).groupby(["column", "by"])["rating"].mean()
    for one in found["ratings"]:
        own = means[one["criterion"]]
        assert {rater["name"]: rater["value"] for rater in one["raters"]} == pytest.approx(own.to_dict())
        assert one["mean"]["value"] == pytest.approx(own.mean())
    assert "fluency: 32 ratings by 2 raters" in fcpair(*words).stdout


def test_a_rating_off_the_scale_is_refused_and_the_study_untouched(dealt: Path, tmp_path: Path, fcpair: Fcpair) -> None:
    before = dealt.read_bytes()
    for rating, problem in {
        "2.25": "`2.25` is between the steps of the scale; the nearest are 2 and 2.5",
        "6": "`6` is outside of the scale",
    }.items():
        path = write(tmp_path / "answers.csv", ["cell,by,rating", "1,ana,4.5", f"2,ana,{rating}"])
        assert f"{path}:3: {problem}" in fcpair.refusal("answers", "import", path)
    with closing(Study(dealt)) as opened:
        assert opened.grid().answers().empty
    assert dealt.read_bytes() == before


def test_ratings_of_a_file_have_their_sources(tmp_path: Path, fcpair: Fcpair) -> None:
    rated = "mild,A1,1,4 mild,A2,1,5 mild,A1,2,3 mild,A2,2,3 bold,A1,3,1 bold,A1,4,2"
    path = write(tmp_path / "rated.csv", ["model,who,id,fluency", *rated.split()])
    words = ("ratings", path, "--rating", "fluency", "--source", "model", "--rater", "who", "--text", "id")
    assert [(row["source"], row["figure"], row["n"], row["value"]) for row in fcpair.csv(*words)] == [
        ("bold", "A1", "2", "1.5"),
        ("bold", "mean", "2", "1.5"),
        ("mild", "A1", "2", "3.5"),
        ("mild", "A2", "2", "4.0"),
        ("mild", "mean", "2", "3.75"),
    ]


def test_texts_picked_by_the_extremes_of_a_measure_are_warned_about_by_type(tmp_path: Path, fcpair: Fcpair) -> None:
    everything = [f"{at},{at / 10},{'facts' if at % 2 else 'humour'}" for at in range(100)]
    write(tmp_path / "all.csv", ["id,score,type", *everything])
    facts = [row for row in everything if row.endswith("facts")]
    some = [*facts[:8], *facts[-8:], *[row for row in everything if row.endswith("humour")][::3]]
    rated = [f"{row},{who},{1 + (int(row.split(',')[0]) * 7 + at) % 5}" for row in some for at, who in enumerate("xy")]
    path = write(tmp_path / "rated.csv", ["id,score,type,who,rating", *rated])
    words = ("correlate", path, "--score", "score", "--rating", "rating", "--text", "id", "--rater", "who")
    result = fcpair(*words, "--by", "type", "--population", tmp_path / "all.csv", "--resamples", "200")
    assert "Warning: type facts: the texts look picked by the extremes of the measure: 0 of 16" in result.stderr
    assert "humour: the texts" not in result.stderr
    assert "score and mean rating: 33 texts, 66 ratings by 2 raters" in result.stdout
    found = fcpair.json(*words, "--by", "type")["correlated"]
    assert [(one["of"], one["n"], one["picked"]["test"]) for one in found] == [
        (None, 33, "gap"),
        ("facts", 16, "gap"),
        ("humour", 17, "gap"),
    ]
