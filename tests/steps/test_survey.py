"""Surveys, planned, answered and counted; items of templates, reviewed by others, answered by models or people."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fcpair.bias.answers import TIED, UNREADABLE
from fcpair.bias.scoring import score
from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.files.surveys.items import read_item_answers
from fcpair.files.surveys.templates import items_table
from fcpair.files.tables.tabular import read_table
from fcpair.params import Adjudicate, Annotate, Setup, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan, Source
from fcpair.records import Role
from fcpair.stages.assignment.plan import check_plan
from fcpair.stages.survey import add_shares, count_answers, survey_plans
from fcpair.steps.people.people import save_terms
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.study import Grid, Study
from steps.asked import STATEMENTS, surveyed
from steps.online import admit, column_of
from steps.small import dump, with_grid, write_csv

TEMPLATES = Path(__file__).parents[2] / "examples" / "survey-templates.toml"
REVIEW = RoundPlan("review", "fit: one_of(no,yes+); why: text(min_words=2) when fit=no", answers=0, author="author")


def review(folder: Path, *people: str, round_: RoundPlan = REVIEW) -> Study:
    rows = SidePlan(sources=(Source(TEMPLATES, "template", reader="templates"),))
    study = Study.create(folder / "s.db", grids=[GridPlan("review", rows, SidePlan(names=("Is it fit?",)), (round_,))])
    if people:
        study.add_people(list(people), Role.ANNOTATOR)
    study.grid().pair()
    return study


def given(study: Study) -> dict[str, set[str]]:
    """Which templates each person was given."""
    grid = study.grid()
    by_row = grid.rows().set_index("row")["id"]
    with grid._store.read() as tx:
        bodies = cells.texts_of_grid(tx).set_index("text_id")["body"]
        dealt = assignments.assignments(tx, rounds.primary(tx))[["cell_id", "person_id"]].merge(
            cells.cells(tx), on="cell_id"
        )
    templates: dict[str, set[str]] = {}
    for person in study.people:
        rows = dealt["hs_id"][dealt["person_id"] == person.id]
        templates[person.name] = {str(by_row[bodies[row]]) for row in rows}
    return templates


OWN = {"a1": {"sleep-1", "sleep-4", "travel-2"}, "a2": {"sleep-2", "sleep-5"}, "a3": {"sleep-3", "travel-1"}}
ALL = set().union(*OWN.values())


def test_every_template_is_reviewed_by_all_others_than_its_author(tmp_path: Path) -> None:
    """Whoever comes later is not given their own either, and a file brings no review of one's own."""
    study, grid = with_grid(review(tmp_path, "a1", "A2", "other"))
    with pytest.raises(StageError, match="are not items made from templates: they have no `template`"):
        grid.survey.items()
    grid.assign_round("review")
    study.add_people(["a3"], Role.ANNOTATOR)
    assert given(study) == {"a1": ALL - OWN["a1"], "A2": ALL - OWN["a2"], "other": ALL, "a3": ALL - OWN["a3"]}
    rows = [{"cell": grid.rows()["id"].tolist().index("sleep-1") + 1, "by": "a1", "fit": "yes", "why": ""}]
    with pytest.raises(InputError, match="was not assigned to a1"):
        grid.import_answers(write_csv(tmp_path / "r.csv", rows))


def test_what_is_passed_on_does_not_go_to_its_author(tmp_path: Path) -> None:
    study = review(tmp_path, "a1", "other", round_=RoundPlan("review", "fit: one_of(no,yes+)", author="author"))
    study.grid().assign_round("review")
    assert not given(study)["a1"] & OWN["a1"]
    study.hand_over("other")
    assert not given(study)["a1"] & OWN["a1"]


def asked(folder: Path, replies: list[dict[str, object]], **options: bool) -> Study:
    said = write_csv(folder / "said.csv", replies)
    rows = SidePlan(sources=(Source(TEMPLATES, "item", reader="items", seed=7),))
    answer = RoundPlan(
        "answer",
        "answer: one_of(A,B,C)",
        models=(f"m=canned:{said}(by=item_id)",),
        **options,  # type: ignore[arg-type]
    )
    study = Study.create(folder / "s.db", grids=[GridPlan("test", rows, SidePlan(names=("m",)), (answer,))])
    study.grid().pair()
    study.grid().generate("answer")
    return study


ITEMS = items_table(TEMPLATES, 7)


def test_answers_to_items_are_read_by_letter_or_text_and_all_others_counted(tmp_path: Path) -> None:
    said = ["A", "b.", str(ITEMS["option_2"][2]), "That depends.", ""]
    replies = [{"item_id": item, "reply": text} for item, text in zip(ITEMS["item_id"], said, strict=False)]
    (replied,) = asked(tmp_path, replies).grid().survey.items().values()
    assert replied.answered.chosen.tolist()[:6] == [0, 1, 2, UNREADABLE, UNREADABLE, UNREADABLE]
    assert len(replied.answered) == 320
    assert replied.statements == tuple(ITEMS["statement"])
    assert replied.unread[0] == "That depends."
    assert replied.answered.right.tolist() == ITEMS["label"].astype(int).tolist()
    scored = score(replied.answered, "bbq", replied.categories)
    assert (scored.n, scored.n_unreadable) == (320, 317)


def test_probabilities_of_options_are_scored(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    shares = rng.dirichlet([1, 1, 1], 320)
    told = [json.dumps(dict(zip("ABC", share, strict=True))) for share in shares.tolist()]
    told[0], told[1] = "A", '{"A": 0.4, "B": 0.4, "C": 0.2}'
    replies = [{"item_id": item, "reply": text} for item, text in zip(ITEMS["item_id"], told, strict=True)]
    study = asked(tmp_path, replies, probabilities=True)
    (replied,) = study.grid().survey.items().values()
    assert replied.answered.chosen.tolist() == [UNREADABLE, TIED, *shares.argmax(axis=1).tolist()[2:]]
    shares[1] = (0.4, 0.4, 0.2)
    here = (ITEMS["context_condition"] == "ambig").to_numpy() & (np.arange(320) > 0)
    at = np.arange(320)
    target, unknown = (ITEMS[name].astype(int).to_numpy() for name in ("target", "unknown"))
    sign = np.where(ITEMS["question_polarity"] == "neg", 1, -1)
    difference = sign * (shares[at, target] - shares[at, 3 - target - unknown])
    (figure,) = (
        figure
        for figure in score(replied.answered, "pbbq", replied.categories).figures
        if (figure.score, figure.category) == ("bias_ambiguous", "sleep")
    )
    sleep = here & (ITEMS["category"] == "sleep").to_numpy()
    assert figure.value == pytest.approx(difference[sleep].mean())
    assert figure.n == sleep.sum()


def test_people_are_not_asked_how_probable_answers_are() -> None:
    with pytest.raises(InputError, match="name some in `models`, or omit it"):
        RoundPlan("ask", "answer: one_of(A,B)", probabilities=True)
    with pytest.raises(InputError, match=r"ask one question with one_of"):
        rounds_ = (RoundPlan("ask", "text: text()", models=("m=canned:x.csv",), probabilities=True),)
        check_plan(GridPlan("test", SidePlan(names=("a",)), SidePlan(names=("m",)), rounds_))


ANSWER = RoundPlan("answer", "answer: one_of(A,B,C)", role="rater")
PEOPLE = ("r1", "r2", "r3", "r4", "r5")


def exported(grid: Grid, folder: Path) -> pd.DataFrame:
    grid.export.decisions(folder / "decisions.csv")
    return read_table(folder / "decisions.csv").drop(columns="line")


@pytest.fixture
def items(tmp_path: Path) -> Grid:
    """Items that nobody was dealt."""
    rows = SidePlan(sources=(Source(TEMPLATES, "item", reader="items"),))
    plan = GridPlan("check", rows, SidePlan(names=("answer",)), (ANSWER,))
    study = Study.create(tmp_path / "study.db", grids=[plan])
    study.add_people(list(PEOPLE), Role.RATER)
    study.grid().pair()
    return study.grid()


def answers(grid: Grid, folder: Path, n_items: int = 40) -> Path:
    """Item after item is answered by one to five people: rightly, but for what r5 says."""
    right = grid.rows()["label"].tolist()[:n_items]
    rows = [
        {"cell": at + 1, "by": by, "answer": "ABC"[(int(label) + (by == "r5")) % 3]}
        for at, label in enumerate(right)
        for by in PEOPLE[: 1 + at % 5]
    ]
    return write_csv(folder / "answers.csv", rows)


@pytest.mark.server
def test_a_planned_grid_takes_any_number_of_answers_a_cell_from_a_file(items: Grid, tmp_path: Path) -> None:
    path = answers(items, tmp_path)
    run = items.import_answers(path)
    assert run.counts["answers"] == 8 * (1 + 2 + 3 + 4 + 5)
    assert items.answers().groupby("cell").size().value_counts().to_dict() == dict.fromkeys(range(1, 6), 8)
    assert items.import_answers(path).counts == {"answers": 0, "skips": 0, "already_there": 120}


def test_further_files_add_answers_and_then_nothing_is_dealt(items: Grid, tmp_path: Path) -> None:
    for row in ({"cell": 1, "by": "r1"}, {"cell": 1, "by": "r2"}, {"cell": 9, "by": "r2", "answer": "skip"}):
        items.import_answers(write_csv(tmp_path / "more.csv", [{"answer": "A"} | row]))
    assert len(items.answers()) == 3
    with pytest.raises(StageError, match=r"it has \d+ answers"):
        items.assign_round()


def test_the_majority_is_scored_as_a_model_is(items: Grid, tmp_path: Path) -> None:
    items.import_answers(answers(items, tmp_path))
    items.adjudicate(Adjudicate("majority"))
    rows = exported(items, tmp_path)
    assert {"item_id", "label", "target", "decision"} <= {*rows.columns}
    assert rows["column"].unique().tolist() == ["answer"]
    scored = read_item_answers([tmp_path / "decisions.csv"], "decision").answered
    assert len(scored) == 40
    assert scored.is_right.all()
    items.decide(3, None, by="ada")
    with pytest.raises(InputError, match="different decision"):
        items.import_outcomes(tmp_path / "decisions.csv")
    items.import_outcomes(tmp_path / "decisions.csv", supersede=True)
    assert exported(items, tmp_path)["decision"].tolist() == rows["decision"].tolist()


def test_a_file_brings_no_answer_of_who_may_not_give_it(tmp_path: Path) -> None:
    fit = RoundPlan("review", "fit: one_of(no,yes+)", answers=0, author="author")
    grid = review(tmp_path, "a1", "A2", round_=fit).grid()
    author = grid.rows()["author"].tolist()
    said = [{"cell": at, "by": "A2", "fit": "yes"} for at in range(1, 8)]
    with pytest.raises(InputError) as raised:
        grid.import_answers(write_csv(tmp_path / "own.csv", said))
    lines = [finding.line for finding in raised.value.findings]
    assert lines == [line for line, name in enumerate(author, 2) if name == "a2"]
    assert "who made a row, wrote or answered it before" in str(raised.value)
    others = [row for row, name in zip(said, author, strict=True) if name != "a2"]
    assert grid.import_answers(write_csv(tmp_path / "others.csv", others)).counts["answers"] == len(others)


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
    survey = grid.survey.answers()
    assert set(survey.given["answer"]) == {"yes", "no", "decline", ""}
    counts = count_answers(survey.given)
    assert counts["statement"].drop_duplicates().tolist() == list(STATEMENTS)
    assert int(counts[["yes", "no", "decline", "skipped"]].to_numpy().sum()) == len(survey.given)
    assert survey.statements["category"].tolist() == ["sleep"] * len(STATEMENTS)


def test_a_skip_and_a_refusal_to_say_are_not_the_same_and_no_part_of_a_share(tmp_path: Path) -> None:
    """Groups of a survey are what people said about themselves."""
    grid = surveyed(tmp_path).grid()
    shares = add_shares(count_answers(grid.survey.answers().given))
    assert (shares["n"] == shares["yes"] + shares["no"]).all()
    assert shares["decline"].sum() > 0
    assert shares["skipped"].sum() == 0
    counts = count_answers(grid.survey.answers(("Gender",)).given, "Gender")
    assert set(counts["group"]) == {"woman", "man"}
    assert (counts["people"] == 5).all()


@pytest.mark.slow
def test_groups_are_those_that_were_declared_beforehand(tmp_path: Path) -> None:
    grid = surveyed(tmp_path).grid()
    groups = grid.survey.groups()
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
        study.grid().survey.groups()
    assert study.grid().survey.groups(["Gender"]).exploratory == {"Gender": "it was not declared beforehand"}
    save_terms(study, Annotate(demographics=("Gender",), compare=("Gender",)))
    assert "after the first answer" in study.grid().survey.groups().exploratory["Gender"]


def test_who_was_forgotten_is_in_no_group_and_a_group_of_fewer_than_five_has_no_figures(tmp_path: Path) -> None:
    study, grid = with_grid(surveyed(tmp_path, "wwwwwwmmmmmaaaa"))
    (gender,) = grid.survey.groups().compared
    assert all(share.value is None for share in gender.shares if share.group == "another")
    assert all(figure.value is None for figure in gender.differences if "another" in figure.groups)
    assert all(figure.value is None for figure in gender.together if "another" in figure.groups)
    study.access.forget("p0")
    assert grid.survey.groups().compared[0].people == {"another": 4, "man": 5, "woman": 5}
    with pytest.raises(InputError, match="nobody has answered `Gendre`; did you mean `Gender`"):
        grid.survey.groups(["Gendre"])
    with pytest.raises(InputError, match="asks no question `heard`"):
        grid.survey.groups(labels="heard")
    with pytest.raises(UnknownIdError):
        grid.survey.groups(round="asked")
    for compare in (("Height",), ("Age", "Age")):
        with pytest.raises(InputError):
            Annotate(demographics=("Gender: woman | man", "Age"), compare=compare)


def test_a_round_with_another_question_is_no_survey(tmp_path: Path) -> None:
    ask = RoundPlan("rate", "rating: scale(1,5,1)", "rater", people=1)
    plan = GridPlan("rate", SidePlan(names=("a",)), SidePlan(names=("b",)), (ask,))
    study = Study.create(tmp_path / "r.db", grids=[plan])
    with pytest.raises(StageError, match="is not a survey"):
        study.grid().survey.answers()
