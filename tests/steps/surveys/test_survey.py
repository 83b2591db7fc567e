"""Surveys: planned, dealt, answered and counted, by every way in."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.params import Annotate, Setup, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.stages.surveys.survey import add_shares, count_answers, survey_plans
from fcpair.study import Study
from steps.asked import STATEMENTS, surveyed
from steps.online import column_of
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
    (ana,) = study.add_people(["ana"], Role.RESPONDENT)
    study.open_survey("survey")
    study.add_people(["late"], Role.RESPONDENT)
    for name in ("ana", "late"):
        visitor = study.access.by_token(study.access.invite(name))
        assert visitor is not None
        study.access.consent(visitor.id, {})
        visitor = study.access.by_id(visitor.id)
        assert visitor is not None
        tasks = study.work_queue(Annotate()).tasks(visitor, 100)
        assert [column_of(one) for one in tasks] == ["heard", "believed"] * len(STATEMENTS) + ["suggestion"]
        assert {one.row.body for one in tasks[:-1]} == set(STATEMENTS)
    assert ana.role is Role.RESPONDENT


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
    assert [one.line for one in refused.value.findings] == [3, 4]
    assert dump(Path(study.place)) == before


def test_a_survey_is_not_imported_twice_nor_opened_twice(tmp_path: Path) -> None:
    study = planned(tmp_path)
    with pytest.raises(InputError, match="there is already a grid `survey`"):
        study.import_survey(survey_plans("survey", statements(tmp_path)))
    with pytest.raises(StageError, match="there are no respondents"):
        study.open_survey("survey")
    study.add_people(["ana"], Role.RESPONDENT)
    study.open_survey("survey")
    with pytest.raises(StageError, match="is already open"):
        study.open_survey("survey")
    with pytest.raises(UnknownIdError):
        study.open_survey("surveys")


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
    survey = surveyed(tmp_path).grid().survey_answers()
    found = add_shares(count_answers(survey.given))
    assert (found["n"] == found["yes"] + found["no"]).all()
    assert found["decline"].sum() > 0
    assert found["skipped"].sum() == 0


def test_groups_of_a_survey_are_what_people_said_about_themselves(tmp_path: Path) -> None:
    survey = surveyed(tmp_path).grid().survey_answers(("Gender",))
    counts = count_answers(survey.given, "Gender")
    assert set(counts["group"]) == {"woman", "man"}
    assert (counts["people"] == 5).all()


def test_a_round_with_another_question_is_no_survey(tmp_path: Path) -> None:
    ask = RoundPlan("rate", "rating: scale(1,5,1)", "rater", people=1)
    plan = GridPlan("rate", SidePlan(names=("a",)), SidePlan(names=("b",)), (ask,))
    study = Study.create(tmp_path / "r.db", grids=[plan])
    with pytest.raises(StageError, match="is not a survey"):
        study.grid().survey_answers()


@pytest.mark.parametrize("answers", [("yes", "no"), ("yes", "yes", "decline"), ("yes", "no", "")])
def test_answers_are_three_and_differ(tmp_path: Path, answers: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        planned(tmp_path, answers=answers)
