"""Any form at the desk: what is asked, what is taken, kept and given back, in the rounds of several grids."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from servers import Database, copy_study, execute

from fcpair.errors import InputError, StageError
from fcpair.grid import Monitor
from fcpair.params import Adjudicate, Annotate, Setup, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan, Source
from fcpair.records import Role
from fcpair.store.corpus import grids
from fcpair.study import Study
from fcpair.work_records import Submission, Task
from steps import forms
from steps.adjudication.test_case_queues import reading_all
from steps.online import admit, at_desk, column_of, give
from steps.small import assert_refused, dump, write_csv

TEXT = "Most of them pay for the road like anybody else."
WRITTEN = {"text": TEXT, "types": ["facts"]}


@pytest.fixture(scope="module")
def path(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with database():
        return forms.build(tmp_path_factory.mktemp("forms"))


@pytest.fixture
def study(path: Path, tmp_path: Path) -> Iterator[Study]:
    with closing(Study(copy_study(path, tmp_path / "study.db"))) as opened:
        yield opened


def rows(study: Study, query: str) -> list[Any]:
    return execute(study.place, query)


def said(study: Study) -> list[tuple[str, int | None, str | None]]:
    """What each judgement says, its code, and the text that it wrote, in their order."""
    return rows(
        study,
        "SELECT value, code, body FROM judgement LEFT JOIN answer ON answer.id = answer_id "
        "LEFT JOIN text ON text.id = text_id ORDER BY judgement.id",
    )


def write(study: Study, n: int = 1, **given: Any) -> list[Task]:
    desk, wren = at_desk(study, "wren")
    tasks = desk.tasks(wren, n)
    for task in tasks:
        give(desk, wren, {**WRITTEN, **given}, task.assignment_id)
    return tasks


def submission(request_id: str, task: Task, answer: Any) -> Submission:
    return Submission(request_id, task.assignment_id, answer)


@pytest.mark.server
def test_each_is_asked_in_the_rounds_of_their_role_in_all_grids(study: Study) -> None:
    desk = study.work_queue(Annotate())
    visitors = {name: admit(study, name) for name in forms.PEOPLE}
    asked = {name: desk.rounds(visitor) for name, visitor in visitors.items()}
    assert [(form.grid, form.round, form.screen) for form in asked["ana"]] == [
        ("main", "label", "cell"),
        ("write", "curate", "cell"),
    ]
    (of_rae,) = asked["rae"]
    assert (of_rae.row_name, of_rae.column_name, of_rae.screen, of_rae.blind) == ("hate speech", "aspect", "row", False)
    assert of_rae.form[0]["choices"] == ["1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5"]
    assert [question["name"] for question in asked["wren"][0].form] == ["text", "types"]
    tasks = desk.tasks(visitors["wren"], 9)
    assert [(task.grid, task.round, task.cell_id) for task in tasks] == [
        ("write", "write", n) for n in (1, 3, 5, 2, 4, 6)
    ]
    assert (tasks[1].row.body, column_of(tasks[1]), tasks[1].original) == (forms.PERSIAN, "facts", None)


def test_what_was_written_is_a_text_of_the_study_verbatim_and_comes_back_as_it_was_sent(study: Study) -> None:
    text = f"  {TEXT}\n"
    write(study, text=text)
    assert said(study) == [(f'{{"text":"  {TEXT}\\n","types":["facts"]}}', None, text)]
    assert rows(study, f"SELECT kind, language FROM text WHERE body = '{text}'") == [("answer", "")]
    desk, wren = at_desk(study, "wren")
    assert desk.answers(wren)[0].answer == {"text": text, "types": ["facts"]}


def test_an_answer_and_a_text_that_were_given_before_are_kept_once(study: Study) -> None:
    write(study, 2)
    write(study, text=f" {TEXT} ")
    write(study, types=[])
    assert rows(study, "SELECT count(*) FROM answer WHERE text_id IS NOT NULL") == [(2,)]
    assert rows(study, f"SELECT count(*) FROM text WHERE body LIKE '%{TEXT}%'") == [(1,)]
    assert len(said(study)) == 4
    write(study, text=forms.ROWS[0])
    assert rows(study, f"SELECT count(*) FROM text WHERE body = '{forms.ROWS[0]}'") == [(1,)]
    assert [check.found for check in Study.doctor(study.place).checks if check.found] == []


def test_what_is_no_answer_to_the_form_is_refused_and_a_repeated_request_changes_nothing(study: Study) -> None:
    desk, wren = at_desk(study, "wren")
    refusals: list[tuple[Any, str]] = [
        ({"text": "Too few words.", "types": []}, "text: the text has 3 words; expected at least 6"),
        ({"text": TEXT, "types": ["irony"]}, "types: .* expected a list of some of facts, humour, question"),
        ({"text": TEXT}, "types: an answer is missing"),
        ({**WRITTEN, "more": 1}, "`more` is not a question here"),
        (TEXT, "several questions here; expected an object with text, types"),
    ]
    for answer, match in refusals:
        assert_refused(study, partial(give, desk, wren, answer), InputError, match)
    given = submission("request", desk.tasks(wren)[0], WRITTEN)
    first = desk.submit(wren, given)
    before = dump(study)
    assert desk.submit(wren, given) == first
    assert dump(study) == before


def test_a_row_comes_together_wherever_its_cells_were_dealt(study: Study) -> None:
    desk, rae = at_desk(study, "rae")
    assert [task.cell_id for task in desk.tasks(rae, 9)] == list(range(1, 10))
    assert [task.cell_id for task in desk.tasks(rae, 4)] == [1, 2, 3, 4]
    for answer in (4.5, 4, "skip"):
        give(desk, rae, answer)
    assert said(study)[:2] == [('{"rating":4.5}', 7, None), ('{"rating":4}', 6, None)]
    assert [task.answer for task in desk.answers(rae, n=3)] == ["skip", 4, 4.5]
    assert_refused(study, lambda: give(desk, rae, 4.25), InputError, "between the steps")
    assert_refused(study, lambda: give(desk, rae, "4.5"), InputError, "expected a number")


@pytest.mark.server
def test_a_text_is_given_to_be_edited_as_its_writer_has_it_now(study: Study) -> None:
    desk, ana = at_desk(study, "ana")
    assert desk.tasks(ana, 9) == []
    assert desk.progress(ana).open == 0
    first, second, third = write(study, 3)
    assert [task.cell_id for task in desk.tasks(ana, 9)] == [first.cell_id, second.cell_id, third.cell_id]
    _, wren = at_desk(study, "wren")
    again = {"text": "One two three four five six.", "types": ["humour"]}
    give(desk, wren, again, second.assignment_id, note="a note")
    give(desk, wren, "skip", third.assignment_id)
    shown = desk.tasks(ana, 9)
    assert [task.cell_id for task in shown] == [first.cell_id, second.cell_id]
    assert desk.progress(ana).open == 2
    assert [task.original.body for task in shown if task.original] == [TEXT, again["text"]]
    assert [task.answer for task in shown] == [None, None]
    for word in ("wren", "a note", "humour"):  # and nothing else of them
        assert word not in repr(shown[1])
    give(desk, ana, TEXT)
    give(desk, ana, "Most of them pay for it.")
    assert [body for _, _, body in said(study)[-2:]] == [TEXT, "Most of them pay for it."]
    assert [task.original.body for task in desk.answers(ana, n=2) if task.original] == [again["text"], TEXT]


@pytest.mark.server
def test_decisions_by_rule_follow_the_round_that_counts_where_it_asks_one_closed_question(study: Study) -> None:
    desk, rae = at_desk(study, "rae")
    give(desk, rae, 4.5)
    study.grid("rate").adjudicate(Adjudicate(policy="median"))
    write(study)
    give(desk, rae, 2)
    assert rows(study, "SELECT cell_id & 4294967295, rule FROM adjudication") == [(1, "unanimous"), (2, "unanimous")]


def test_a_batch_of_answers_is_about_several_grids(study: Study) -> None:
    desk, rae = at_desk(study, "rae")
    _, rob = at_desk(study, "rob")
    given = [
        (rae, submission("one", desk.tasks(rae)[0], 3)),
        (rob, submission("two", desk.tasks(rob)[0], ["facts"])),
        (rae, submission("three", desk.tasks(rae, 2)[1], "skip")),
    ]
    assert all(isinstance(reply, dict) for reply in desk.submit_all(given))
    assert [value for value, _, _ in said(study)] == ['{"rating":3}', '{"types":["facts"]}', None]
    with study._store.read() as tx:
        assert grids.current_grid_id(tx) == 1


@pytest.mark.server
@pytest.mark.files
@pytest.mark.parametrize(("who", "answer"), [("wren", WRITTEN), ("ana", TEXT), ("rae", 4.5), ("rob", ["facts"])])
def test_an_answer_to_any_form_reads_no_table_through(
    study: Study, monkeypatch: pytest.MonkeyPatch, who: str, answer: Any
) -> None:
    write(study)
    desk, visitor = at_desk(study, who)

    def act() -> None:
        give(desk, visitor, answer)
        desk.tasks(visitor, 5)
        desk.progress(visitor)

    assert reading_all(study, monkeypatch, act) == []


@pytest.mark.server
def test_the_answers_on_a_row_share_the_time_that_the_row_took(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    times = [f"2026-11-22T10:{minute:02}:00.{at}00+00:00" for minute in range(3) for at in range(3)]
    desk, rae = at_desk(study, "rae")
    for time in times:
        monkeypatch.setattr("fcpair.store.answers.task_queries.now", lambda at=time: at)
        give(desk, rae, 3)
    assert desk.progress(rae).pace_s == pytest.approx(20, abs=0.1)
    (stage, *_) = Monitor(study.grid("rate")).stages()
    assert [person.outlook.pace_s for person in stage.people if person.name == "rae"] == [pytest.approx(20, abs=0.1)]


KINDS = ("books", "letters", "songs")
CRITERIA = ("kind", "clear", "short", "apt")
RATE = RoundPlan(
    "rate", "rating: scale(1,5,0.5)", role="rater", answers=2, screen="row", together="source", people=6, seed=4
)


def study_of(folder: Path, n: int = 6) -> Study:
    """Three sources of four texts each, to be rated by four criteria, and so many raters."""
    sources = []
    for kind in KINDS:
        rows = [{"text": f"The {at} of the {kind} is fine."} for at in ("first", "second", "third", "last")]
        sources.append(Source(Path(write_csv(folder / f"{kind}.csv", rows)), "text", language="en"))
    plan = GridPlan("rate", SidePlan(sources=tuple(sources)), SidePlan(names=CRITERIA), (RATE,))
    study = Study.create(folder / "study.db", Setup(title="Rated"), grids=[plan])
    study.grid().pair()
    study.add_people([f"r{at}" for at in range(1, n + 1)], Role.RATER)
    return study


def raters(answers: pd.DataFrame) -> dict[str, set[str]]:
    return {str(source): set(rows) for source, rows in answers.groupby("source")["by"]}


def test_the_same_two_rate_all_texts_from_a_source_with_criteria_in_another_order_on_each(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    study.grid().assign_round()
    desk, orders = study.work_queue(Annotate()), set()
    for name in ("r1", "r2", "r3", "r4", "r5", "r6"):
        tasks = desk.tasks(admit(study, name), 16)
        for at in range(0, 16, 4):
            assert len({task.row.body for task in tasks[at : at + 4]}) == 1
            orders.add(tuple(column_of(task) for task in tasks[at : at + 4]))
    assert len(orders) > 8
    study.grid().simulate(Simulate(skips=0.0, seed=1))
    answers = study.grid().answers()
    by_source = raters(answers)
    assert [len(by_source[kind]) for kind in KINDS] == [2, 2, 2]
    assert len(set.union(*by_source.values())) == 6
    assert len(answers) == 3 * 4 * len(CRITERIA) * 2


@pytest.mark.server
def test_who_takes_over_has_all_that_was_left_from_a_source(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    study.grid().assign_round()
    study.retire("r1")
    study.grid().simulate(Simulate(skips=0.0, seed=1))
    by_source = raters(study.grid().answers())
    assert [len(by_source[kind]) for kind in KINDS] == [2, 2, 2]
    assert "r1" not in set.union(*by_source.values())


def test_too_few_raters_and_rows_that_are_from_nowhere_are_refused(tmp_path: Path) -> None:
    with pytest.raises((InputError, StageError), match="2 people, but there"):
        study_of(tmp_path, 1).grid().assign_round()
    plan = GridPlan("rate", SidePlan(names=("Tea is warm.", "Cats are cold.")), SidePlan(names=CRITERIA), (RATE,))
    study = Study.create(tmp_path / "nowhere.db", Setup(title="Rated"), grids=[plan])
    study.grid().pair()
    study.add_people([f"r{at}" for at in range(6)], Role.RATER)
    with pytest.raises(StageError, match="2 rows have no source, so it is unknown who should answer them"):
        study.grid().assign_round()
