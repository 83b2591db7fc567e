"""fcpair ask: a survey from its statements to what was said, of a study and of a file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from steps.asked import surveyed
from steps.small import dump, write_csv

from cli.conftest import Fcpair

EXAMPLES = Path(__file__).parents[3] / "examples"
STATEMENTS = EXAMPLES / "survey-statements.csv"


def said(folder: Path, **changed: str) -> Path:
    """250 people on one statement: 200 of 240 believe it, and ten decline; a line each, from line 2."""
    rows = [
        {"row": "Tea is odd.", "column": "believed", "by": f"p{at}", "answer": answer, "gender": "fm"[at % 2]}
        for at, answer in enumerate(["yes"] * 200 + ["no"] * 40 + ["decline"] * 10)
    ]
    rows[1] |= changed
    return write_csv(folder / "said.csv", rows)


def test_a_survey_goes_from_statements_to_what_is_kept(fcpair: Fcpair, study: Path, tmp_path: Path) -> None:
    assert "16 cells of 8 rows" in fcpair("ask", "import", STATEMENTS, "--title", "Sleep").output
    opened = fcpair("ask", "open", "--respondents", "20").output
    assert "320 answers of round `ask` were assigned to 20 people" in opened
    fcpair("simulate", "--grid", "survey", "--positive", "0.7", "--seed", "3")
    out = tmp_path / "kept.csv"
    told = json.loads(fcpair("ask", "results", "--keep", "believed > 0.60", "--out", out, "--format", "json").stdout)
    kept = [one for one in told["statements"] if one.get("verdict") == "kept"]
    assert told["people"] == 20
    assert all(one["share"] > 0.6 for one in kept)
    assert {one["undecided"] for one in kept if one["low"] > 0.6} <= {"no"}
    rows = list(csv.DictReader(io.StringIO(out.read_text("utf-8"))))
    assert [row["statement"] for row in rows] == [one["statement"] for one in kept]
    assert {row["category"] for row in rows} <= {"sleep", "travel"}
    assert {row["language"] for row in rows} == {"en", "fa"}
    assert rows


def test_answers_of_a_file_are_read_in_any_capitals_and_the_kept_ones_are_confirmed(
    fcpair: Fcpair, tmp_path: Path
) -> None:
    file, out = said(tmp_path, answer="YES "), tmp_path / "kept.csv"
    result = fcpair("ask", "results", file, "--keep", "believed > 0.60", "--out", out, "--format", "json")
    assert json.loads(result.stdout)["statements"][0]["yes"] == 200
    assert f"{out}: 1 of 1 statements" in result.stderr


def test_a_study_that_is_there_gets_the_survey_as_well(fcpair: Fcpair, study: Path) -> None:
    fcpair("init")
    fcpair("ask", "import", STATEMENTS, "--question", "Have you heard this?", "--suggest", "", "--part", "2")
    assert "there is already a grid `survey`" in fcpair("ask", "import", STATEMENTS, code=2).output
    fcpair("ask", "import", STATEMENTS, "--grid", "second")
    assert "there are no respondents" in fcpair("ask", "open", code=2).output
    assert "no grid `third`" in fcpair("ask", "open", "--grid", "third", "--respondents", "3", code=2).output
    assert "nobody" in fcpair("people", "list").output or "respondent" not in fcpair("people", "list").output


def test_a_survey_that_cannot_be_made_leaves_no_study(fcpair: Fcpair, study: Path, tmp_path: Path) -> None:
    file = write_csv(tmp_path / "twice.csv", [{"statement": "Tea."}, {"statement": "Tea."}])
    assert "twice.csv:3" in fcpair("ask", "import", file, code=2).output
    assert "expected three" in fcpair("ask", "import", STATEMENTS, "--answers", "yes,no", code=2).output
    assert not study.exists()


def test_people_who_are_there_keep_their_names(fcpair: Fcpair) -> None:
    fcpair("ask", "import", STATEMENTS)
    fcpair("people", "add", "p1", "--role", "respondent")
    fcpair("ask", "open", "--respondents", "2")
    listed = json.loads(fcpair("people", "list", "--format", "json").stdout)
    assert len({one["name"] for one in listed}) == 3


def test_figures_of_a_file_by_hand(fcpair: Fcpair, tmp_path: Path) -> None:
    words = (
        "ask",
        "results",
        said(tmp_path),
        "--keep",
        "believed > 0.60",
        "--margin",
        "0.05",
        "--population-size",
        "1000",
    )
    told = json.loads(fcpair(*words, "--format", "json").stdout)
    (one,) = told["statements"]
    assert (one["yes"], one["no"], one["decline"], one["n"]) == (200, 40, 10, 240)
    assert (one["share"], one["verdict"]) == (pytest.approx(200 / 240), "kept")
    assert (told["people"], told["people_needed"], told["assumption"]) == (250, 278, "assumes a random sample")
    alone = json.loads(fcpair("ask", "results", said(tmp_path), "--format", "json").stdout)
    assert round(alone["margin"], 6) == 0.06198


def test_all_that_the_published_rule_keeps_is_written_undecided_or_not(fcpair: Fcpair, tmp_path: Path) -> None:
    rows = [
        {"row": text, "column": "believed", "by": f"p{at}", "answer": "yes" if at < n else "no"}
        for text, n in {"Tea calms.": 25, "Tea warms.": 19, "Tea cools.": 18}.items()
        for at in range(30)
    ]
    out = tmp_path / "kept.csv"
    words = ("ask", "results", write_csv(tmp_path / "said.csv", rows), "--keep", "believed > 0.60")
    shown = " ".join(fcpair(*words).output.split())
    assert "believed > 0.6: 2 kept (1 undecided), 1 dropped (1 undecided)" in shown
    assert "Tea warms. 19 11 0 0.6333 0.455–0.781 kept, undecided" in shown
    as_csv = list(csv.DictReader(io.StringIO(fcpair(*words, "--format", "csv").stdout)))
    assert [one["verdict"] for one in as_csv] == ["kept", "kept", "dropped"]
    assert [one["undecided"] for one in as_csv] == ["no", "yes", "yes"]
    fcpair(*words, "--out", out)
    written = list(csv.DictReader(io.StringIO(out.read_text("utf-8"))))
    assert [(one["statement"], one["undecided"]) for one in written] == [("Tea calms.", "no"), ("Tea warms.", "yes")]


def test_groups_of_fewer_than_five_have_no_figures(fcpair: Fcpair, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(said(tmp_path).read_text("utf-8"))))
    for row in rows[:4]:
        row["gender"] = "x"
    file = write_csv(tmp_path / "groups.csv", rows)
    told = json.loads(fcpair("ask", "results", file, "--by", "gender", "--format", "json").stdout)
    found = {one["group"]: one for one in told["statements"]}
    assert {name for name in ("people", "n", "yes", "share", "low") if found["x"][name] is not None} == set()
    assert found["f"]["people"] == 123


@pytest.mark.parametrize(
    ("changed", "more", "message"),
    [
        ({"by": "p0"}, (), "said.csv:3: respondent p0 has answered `believed` on this statement in line 2"),
        ({"answer": "maybe"}, (), "said.csv:3: the answer is `maybe`; expected yes, no, decline"),
        ({"by": "p3", "column": "heard"}, ("--by", "gender"), ""),
        ({"by": "p2", "column": "heard"}, ("--by", "gender"), "gender is `f`, before `m`"),
        ({}, ("--keep", "believed >= 0.6"), "expected a question, `>` and a share"),
        ({}, ("--keep", "beleived > 0.6"), "did you mean `believed`"),
        ({}, ("--keep", "believed > 0.6", "--by", "gender"), "give `--keep` or `--by`"),
        ({}, ("--out", "x.csv"), "give `--keep`"),
        ({}, ("--answer", "said"), "missing column `said`"),
        ({}, ("--population-size", "10"), "250 respondents of a population of 10"),
        ({}, ("--margin", "2"), "between 0 and 1"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    fcpair: Fcpair, tmp_path: Path, changed: dict[str, str], more: tuple[str, ...], message: str
) -> None:
    result = fcpair("ask", "results", said(tmp_path, **changed), *more, code=2 if message else 0)
    assert message in " ".join(result.output.split())


def test_results_leave_the_study_as_it_is(fcpair: Fcpair, tmp_path: Path) -> None:
    study = Path(surveyed(tmp_path).place)
    before = dump(study)
    table = fcpair("ask", "results", "--study", study, "--by", "Gender").output
    assert "never crossed" in table
    assert "SIMULATED" in table
    export = tmp_path / "answers.csv"
    fcpair("answers", "export", "--study", study, "--out", export)
    of_study = json.loads(fcpair("ask", "results", "--study", study, "--format", "json").stdout)
    of_file = json.loads(fcpair("ask", "results", export, "--format", "json").stdout)
    assert of_file["statements"] == of_study["statements"]
    assert dump(study) == before
