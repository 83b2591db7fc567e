"""Surveys: planned, dealt, answered and counted, by every way in."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.params import Annotate, Setup, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.stages.survey import add_shares, count_answers, survey_plans
from fcpair.steps.people.terms import save_terms
from fcpair.study import Study
from steps.asked import STATEMENTS, surveyed
from steps.online import admit, column_of
from steps.small import dump, write_csv


def statements(folder: Path, *texts: str) -> Path:
    rows = [{"statement": text, "category": "sleep"} for text in texts or STATEMENTS]
    return write_csv(folder / "statements.csv", rows)


def planned(folder: Path, **options: object) -> Study:
    study = Study.create(folder / "s.db", Setup(title="t"))
    study.import_survey(survey_plans("survey", statements(folder), **options))  # type: ignore[arg-type]
    return study


def test_a_survey_asks_everybody_everything_and_suggestions_at_the_end(tmp_path: Path) -> None:
    study = planned(tmp_path)
    with pytest.raises(InputError, match="there is already a grid `survey`"):
        study.import_survey(survey_plans("survey", statements(tmp_path)))
    with pytest.raises(StageError, match="there are no respondents"):
        study.open_survey("survey")
    with pytest.raises(UnknownIdError):
        study.open_survey("surveys")
    study.add_people(["ana"], Role.RESPONDENT)
    study.open_survey("survey")
    with pytest.raises(StageError, match="is already open"):
        study.open_survey("survey")
    study.add_people(["late"], Role.RESPONDENT)
    for name in ("ana", "late"):
        tasks = study.work_queue(Annotate()).tasks(admit(study, name), 100)
        assert [column_of(task) for task in tasks] == ["heard", "believed"] * len(STATEMENTS) + ["suggestion"]
        assert {task.row.body for task in tasks[:-1]} == set(STATEMENTS)


def test_a_part_is_dealt_evenly(tmp_path: Path) -> None:
    study = planned(tmp_path, part=2, suggest="")
    study.add_people([f"p{at}" for at in range(4)], Role.RESPONDENT)
    (run,) = study.open_survey("survey")
    assert (run.counts["load_min"], run.counts["load_max"]) == (8, 8)  # 8 statements, twice, over 4 people


def test_a_survey_is_imported_wholly_or_not_at_all(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "s.db")
    before = dump(Path(study.place))
    plans = survey_plans("survey", statements(tmp_path, "Tea is odd.", "", "Tea is odd."))
    with pytest.raises(InputError) as refused:
        study.import_survey(plans)
    assert [finding.line for finding in refused.value.findings] == [3, 4]
    assert dump(Path(study.place)) == before


def test_answers_may_be_called_otherwise(tmp_path: Path) -> None:
    study = planned(tmp_path, answers=("بله", "خیر", "نمی‌گویم"), suggest="")
    study.add_people(["ana", "ben"], Role.RESPONDENT)
    study.open_survey("survey")
    grid = study.grid("survey")
    grid.simulate(Simulate(skips=0.2, not_sure=0.2, seed=3))
    survey = grid.survey_answers()
    assert set(survey.given["answer"]) == {"yes", "no", "decline", ""}
    counts = count_answers(survey.given)
    assert counts["statement"].drop_duplicates().tolist() == list(STATEMENTS)
    assert int(counts[["yes", "no", "decline", "skipped"]].to_numpy().sum()) == len(survey.given)
    assert survey.statements["category"].tolist() == ["sleep"] * len(STATEMENTS)


def test_a_skip_and_a_refusal_to_say_are_not_the_same_and_no_part_of_a_share(tmp_path: Path) -> None:
    """Groups of a survey are what people said about themselves."""
    grid = surveyed(tmp_path).grid()
    shares = add_shares(count_answers(grid.survey_answers().given))
    assert (shares["n"] == shares["yes"] + shares["no"]).all()
    assert shares["decline"].sum() > 0
    assert shares["skipped"].sum() == 0
    counts = count_answers(grid.survey_answers(("Gender",)).given, "Gender")
    assert set(counts["group"]) == {"woman", "man"}
    assert (counts["people"] == 5).all()


def test_a_round_with_another_question_is_no_survey(tmp_path: Path) -> None:
    ask = RoundPlan("rate", "rating: scale(1,5,1)", "rater", people=1)
    plan = GridPlan("rate", SidePlan(names=("a",)), SidePlan(names=("b",)), (ask,))
    study = Study.create(tmp_path / "r.db", grids=[plan])
    with pytest.raises(StageError, match="is not a survey"):
        study.grid().survey_answers()


def test_answers_are_three_and_differ(tmp_path: Path) -> None:
    for answers in (("yes", "no"), ("yes", "yes", "decline"), ("yes", "no", "")):
        with pytest.raises(InputError):
            survey_plans("survey", statements(tmp_path), answers=answers)


@pytest.mark.slow
def test_groups_are_those_that_were_declared_beforehand(tmp_path: Path) -> None:
    grid = surveyed(tmp_path).grid()
    groups = grid.groups()
    (gender,) = groups.compared
    assert (groups.round, groups.question, gender.by, groups.exploratory) == ("ask", "answer", "Gender", {})
    assert (gender.people, gender.n, gender.n_without) == ({"man": 5, "woman": 5}, 160, 16)
    table = grid.answers()
    answers = table["answer"][table["by"].isin([f"p{at}" for at in range(5)])].tolist()
    share = next(share for share in gender.shares if (share.label, share.group) == ("yes", "woman"))
    assert share.value == pytest.approx(answers.count("yes") / len(answers))


@pytest.mark.slow
def test_what_is_declared_after_the_first_answer_is_exploratory(tmp_path: Path) -> None:
    study = surveyed(tmp_path, compare=())
    with pytest.raises(StageError, match="no question was declared beforehand"):
        study.grid().groups()
    assert study.grid().groups(["Gender"]).exploratory == {"Gender": "it was not declared beforehand"}
    save_terms(study, Annotate(demographics=("Gender",), compare=("Gender",)))
    assert "after the first answer" in study.grid().groups().exploratory["Gender"]


def test_who_was_forgotten_is_in_no_group_and_a_group_of_fewer_than_five_has_no_figures(tmp_path: Path) -> None:
    study = surveyed(tmp_path, "wwwwwwmmmmmaaaa")
    grid = study.grid()
    (gender,) = grid.groups().compared
    assert all(share.value is None for share in gender.shares if share.group == "another")
    assert all(figure.value is None for figure in gender.differences if "another" in figure.groups)
    assert all(figure.value is None for figure in gender.together if "another" in figure.groups)
    study.access.forget("p0")
    assert grid.groups().compared[0].people == {"another": 4, "man": 5, "woman": 5}
    with pytest.raises(InputError, match="nobody has answered `Gendre`; did you mean `Gender`"):
        grid.groups(["Gendre"])
    with pytest.raises(InputError, match="asks no question `heard`"):
        grid.groups(labels="heard")
    with pytest.raises(UnknownIdError):
        grid.groups(round="asked")
    for compare in (("Height",), ("Age", "Age")):
        with pytest.raises(InputError):
            Annotate(demographics=("Gender: woman | man", "Age"), compare=compare)
