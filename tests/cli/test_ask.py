"""`fcpair ask` and `fcpair groups`: a survey from its statements to what was said, of a study and of a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from steps.asked import surveyed
from steps.small import dump, write_csv

from cli.conftest import Fcpair, rows_of

STATEMENTS = Path(__file__).parents[2] / "examples" / "survey-statements.csv"
RESULTS = ("ask", "results")
KEEP = ("--keep", "believed > 0.60")


def answers_file(folder: Path, **changed: str) -> Path:
    """250 people on one statement: 200 of 240 believe it, and ten decline; a line each, from line 2."""
    rows = [
        {"row": "Tea is odd.", "column": "believed", "by": f"p{at}", "answer": answer, "gender": "fm"[at % 2]}
        for at, answer in enumerate(["yes"] * 200 + ["no"] * 40 + ["decline"] * 10)
    ]
    rows[1] |= changed
    return write_csv(folder / "said.csv", rows)


def test_a_survey_goes_from_statements_to_what_is_kept(fcpair: Fcpair, tmp_path: Path) -> None:
    assert "16 cells of 8 rows" in fcpair("ask", "import", STATEMENTS, "--title", "Sleep").output
    opened = fcpair("ask", "open", "--respondents", "20").output
    assert "320 answers of round `ask` were assigned to 20 people" in opened
    fcpair("simulate", "--grid", "survey", "--positive", "0.7", "--seed", "3")
    found = fcpair.json(*RESULTS, *KEEP, "--out", tmp_path / "kept.csv")
    kept = [one for one in found["statements"] if one.get("verdict") == "kept"]
    assert found["people"] == 20
    assert all(one["share"] > 0.6 for one in kept)
    assert {one["undecided"] for one in kept if one["low"] > 0.6} <= {"no"}
    rows = rows_of(tmp_path / "kept.csv")
    assert [row["statement"] for row in rows] == [one["statement"] for one in kept] != []
    assert {row["category"] for row in rows} <= {"sleep", "travel"}
    assert {row["language"] for row in rows} == {"en", "fa"}


def test_a_study_that_is_there_gets_the_survey_as_well_and_people_keep_their_names(fcpair: Fcpair) -> None:
    fcpair("init")
    fcpair("ask", "import", STATEMENTS, "--question", "Have you heard this?", "--suggest", "", "--part", "2")
    assert "there is already a grid `survey`" in fcpair.refusal("ask", "import", STATEMENTS)
    fcpair("ask", "import", STATEMENTS, "--grid", "second")
    assert "there are no respondents" in fcpair.refusal("ask", "open")
    assert "no grid `third`" in fcpair.refusal("ask", "open", "--grid", "third", "--respondents", "3")
    assert fcpair.json("people", "list") == []
    fcpair("people", "add", "p1", "--role", "respondent")
    fcpair("ask", "open", "--respondents", "2")
    assert len({person["name"] for person in fcpair.json("people", "list")}) == 3


def test_a_survey_that_cannot_be_made_leaves_no_study(fcpair: Fcpair, study: Path, tmp_path: Path) -> None:
    file = write_csv(tmp_path / "twice.csv", [{"statement": "Tea."}, {"statement": "Tea."}])
    assert "twice.csv:3" in fcpair.refusal("ask", "import", file)
    assert "expected three" in fcpair.refusal("ask", "import", STATEMENTS, "--answers", "yes,no")
    assert not study.exists()


def test_figures_of_a_file_by_hand(fcpair: Fcpair, tmp_path: Path) -> None:
    file, out = answers_file(tmp_path, answer="YES "), tmp_path / "kept.csv"
    found = fcpair.json(*RESULTS, file, *KEEP, "--margin", "0.05", "--population-size", "1000", "--out", out)
    (one,) = found["statements"]
    assert (one["yes"], one["no"], one["decline"], one["n"]) == (200, 40, 10, 240)
    assert (one["share"], one["verdict"]) == (pytest.approx(200 / 240), "kept")
    assert (found["people"], found["people_needed"], found["assumption"]) == (250, 278, "assumes a random sample")
    assert round(fcpair.json(*RESULTS, file)["margin"], 6) == 0.06198
    assert f"{out}: 1 of 1 statements" in fcpair(*RESULTS, file, *KEEP, "--out", tmp_path / "kept.csv").stderr
    rows = rows_of(file)
    for row in rows[:4]:
        row["gender"] = "x"
    by_group = fcpair.json(*RESULTS, write_csv(tmp_path / "groups.csv", rows), "--by", "gender")["statements"]
    groups = {one["group"]: one for one in by_group}
    few = [groups["x"][name] for name in ("people", "n", "yes", "share", "low")]
    assert few == [None] * 5  # of fewer than five people there are no figures
    assert groups["f"]["people"] == 123


def test_all_that_the_published_rule_keeps_is_written_undecided_or_not(fcpair: Fcpair, tmp_path: Path) -> None:
    rows = [
        {"row": text, "column": "believed", "by": f"p{at}", "answer": "yes" if at < n else "no"}
        for text, n in {"Tea calms.": 25, "Tea warms.": 19, "Tea cools.": 18}.items()
        for at in range(30)
    ]
    words = (*RESULTS, write_csv(tmp_path / "said.csv", rows), *KEEP)
    printed = fcpair.line(*words)
    assert "believed > 0.6: 2 kept (1 undecided), 1 dropped (1 undecided)" in printed
    assert "Tea warms. 19 11 0 0.6333 0.455–0.781 kept, undecided" in printed
    assert [(row["verdict"], row["undecided"]) for row in fcpair.csv(*words)] == [
        ("kept", "no"),
        ("kept", "yes"),
        ("dropped", "yes"),
    ]
    fcpair(*words, "--out", tmp_path / "kept.csv")
    kept = [(row["statement"], row["undecided"]) for row in rows_of(tmp_path / "kept.csv")]
    assert kept == [("Tea calms.", "no"), ("Tea warms.", "yes")]


def test_what_is_wrong_with_a_file_is_said(fcpair: Fcpair, tmp_path: Path) -> None:
    cases: list[tuple[dict[str, str], tuple[str, ...], str]] = [
        ({"by": "p0"}, (), "said.csv:3: respondent p0 has answered `believed` on this statement in line 2"),
        ({"answer": "maybe"}, (), "said.csv:3: the answer is `maybe`; expected yes, no, decline"),
        ({"by": "p2", "column": "heard"}, ("--by", "gender"), "gender is `f`, before `m`"),
        ({}, ("--keep", "believed >= 0.6"), "expected a question, `>` and a share"),
        ({}, ("--keep", "beleived > 0.6"), "did you mean `believed`"),
        ({}, ("--keep", "believed > 0.6", "--by", "gender"), "give `--keep` or `--by`"),
        ({}, ("--out", "x.csv"), "give `--keep`"),
        ({}, ("--answer", "said"), "missing column `said`"),
        ({}, ("--population-size", "10"), "250 respondents of a population of 10"),
        ({}, ("--margin", "2"), "between 0 and 1"),
    ]
    for changed, more, message in cases:
        assert message in fcpair.refusal(*RESULTS, answers_file(tmp_path, **changed), *more)
    fcpair(*RESULTS, answers_file(tmp_path, by="p3", column="heard"), "--by", "gender")


def test_results_and_groups_leave_the_study_as_it_is(fcpair: Fcpair, tmp_path: Path) -> None:
    study, export = Path(surveyed(tmp_path).place), tmp_path / "answers.csv"
    before = dump(study)
    printed = fcpair(*RESULTS, "--study", study, "--by", "Gender").output
    assert "never crossed" in printed
    assert "SIMULATED" in printed
    fcpair("answers", "export", "--study", study, "--out", export)
    of_study, of_file = (fcpair.json(*RESULTS, *source)["statements"] for source in (("--study", study), (export,)))
    assert of_file == of_study
    found = fcpair.json("groups", "--study", study)
    assert (found["label"], found["exploratory"], bool(found["simulated"])) == ("answer", {}, True)
    refused = fcpair.refusal("groups", "--study", study, "--item", "x")
    assert "--item has no effect without FILE; add that, or omit it" in refused
    assert dump(study) == before


# -- groups of annotators

GROUPS = ("--item", "pair", "--annotator", "who", "--labels", "label", "--by", "gender")


def labels(folder: Path, n_first: int = 6, n_other: int = 6, **changed: str) -> Path:
    """Labels of two groups of people on twelve items."""
    rng = np.random.default_rng(1)
    rows = [
        {"pair": f"i{item}", "who": f"a{at}", "label": str(rng.choice(["yes", "no"])), "gender": "fm"[at >= n_first]}
        for at in range(n_first + n_other)
        for item in range(12)
    ]
    rows[1] |= changed
    return write_csv(folder / "labels.csv", rows)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "exact", "least"), [(6, True, 2 / 924), (9, False, 2 / 10_001)])
def test_every_format_has_the_difference_and_says_whether_p_is_exact_and_the_least_that_it_can_be(
    fcpair: Fcpair, tmp_path: Path, n: int, exact: bool, least: float
) -> None:
    words = ("groups", labels(tmp_path, n, n), *GROUPS)
    printed = fcpair.line(*words)
    (row,) = fcpair.csv(*words)
    (found,) = fcpair.json(*words)["groups"]
    (difference,) = found["differences"]
    assert found["people"] == {"f": n, "m": n}
    assert (row["label"], float(row["difference"])) == ("no", difference["value"])
    assert (difference["exact"], difference["least_p"]) == (exact, least)
    assert (row["exact"], float(row["least_p"])) == (str(exact), least)
    ways = "exact, from all 924 ways" if exact else "from 10,000 random ways"
    smallest = f"the smallest p that {n} : {n} people can give is {least:.2g}: {ways} to assign the groups, doubled"
    assert smallest in printed
    assert "two-sided, that is twice the smaller one-sided p" in printed
    assert "never a cause" in printed


@pytest.mark.slow
def test_every_format_has_the_mixed_model(fcpair: Fcpair, tmp_path: Path) -> None:
    words = ("groups", labels(tmp_path), *GROUPS, "--mixed")
    assert "Odds by one mixed model of all groups" in fcpair(*words).output
    (row,) = fcpair.csv(*words)
    odds = [float(row[f"mixed_odds_{name}"]) for name in ("ratio", "low", "high")]
    assert odds == fcpair.json(*words)["groups"][0]["differences"][0]["mixed"]


def test_differences_are_drawn_in_a_folder_that_can_be_written(fcpair: Fcpair, tmp_path: Path) -> None:
    words = ("groups", labels(tmp_path), *GROUPS, "--figures")
    assert "3 files in" in fcpair(*words, tmp_path / "figures").output
    assert "never a cause" in (tmp_path / "figures" / "gender.svg").read_text("utf-8")
    assert (tmp_path / "figures" / "gender.png").read_bytes().startswith(b"\x89PNG")
    fcpair.refusal(*words, tmp_path / "labels.csv" / "here")


def test_nine_annotators_are_told_that_they_support_nothing(fcpair: Fcpair, tmp_path: Path) -> None:
    printed = fcpair.line("groups", labels(tmp_path, 2, 7), *GROUPS)
    assert "f: undefined, because there are 2 people; expected 5 or more" in printed
    assert "the smallest p that 2 : 7 people can give is 0.056: exact, from all 36 ways" in printed


def test_what_is_wrong_with_a_file_of_groups_is_said_with_its_line(fcpair: Fcpair, tmp_path: Path) -> None:
    for changed, message in (
        ({"gender": "m"}, "labels.csv:3: annotator a0: gender is `m`, before `f`"),
        ({"pair": "i0"}, "labels.csv:3: annotator a0 labels item i0 more than once"),
    ):
        assert message in fcpair.refusal("groups", labels(tmp_path, 6, 6, **changed), *GROUPS)
    file = labels(tmp_path)
    for at in range(0, len(GROUPS), 2):
        assert "name the columns of the file" in fcpair.refusal("groups", file, *GROUPS[:at], *GROUPS[at + 2 :])
    write_csv(file, [{**row, "pair": row["pair"] + row["gender"]} for row in rows_of(file)])
    assert "labels.csv:2: gender: group `f` shares no item" in fcpair.refusal("groups", file, *GROUPS)
