"""Writing rounds: what is drawn and in which batches, spot checks, the pilot, letting somebody go, and checks."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import one_short
from sqlalchemy import select

from fcpair.errors import InputError, StageError
from fcpair.models import grammar
from fcpair.models.similarity import SimilarityIndex
from fcpair.params import Annotate, Setup
from fcpair.plans import Checks, GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.steps.rules import text_checks
from fcpair.store.answers import authorship
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import to_public_number
from fcpair.store.database.tables import text
from fcpair.study import Study
from steps.online import admit, at_desk, column_of, give
from steps.plans import dealt as dealt_in
from steps.writing import PERSIAN, REPLIES, TYPES, answer, checked, dealt, plan, study_of, write_all


def test_each_row_has_so_many_columns_each_as_often_as_any_other(tmp_path: Path) -> None:
    given = dealt_in(dealt(tmp_path, plan(), writer=4), "write", "write")
    assert (given.groupby("row")["column"].nunique() == 3).all()
    assert sorted(given["column"].value_counts()) == [6, 6, 6, 6]  # 8 rows x 3 of 4 columns
    assert not given.duplicated(["row", "person"]).any()


def test_one_batch_comes_after_the_other(tmp_path: Path) -> None:
    study = dealt(tmp_path, plan(batch=2), writer=3)
    given = dealt_in(study, "write", "write").sort_values(["person", "position"])
    for _, own in given.groupby("person"):
        assert own["position"].tolist() == list(range(1, 9))
        rows = own["row"].tolist()
        assert all(len({*rows[at : at + 2]}) == 2 for at in range(0, 8, 2))
    firsts = {frozenset(own["row"].head(2)) for _, own in given.groupby("person")}
    assert len(firsts) == 1  # all write on the same two statements first


SPOT = RoundPlan("spot", "good: one_of(no,yes+)", role="rater", after="write", per_batch=1, counts=False, seed=5)


def test_what_cannot_be_dealt_or_checked_is_refused(tmp_path: Path) -> None:
    refusals: list[tuple[dict[str, Any], int, str]] = [
        ({}, 2, "needs 3 people, but there are 2"),
        ({"columns_per_row": 5}, 5, "5 columns of each row cannot be drawn; a row has 4"),
        ({"language": "xx", "checks": Checks()}, 3, "`xx` is not a language that can be detected"),
        ({"language": "fa", "checks": Checks(grammar="harper")}, 3, "harper knows only English"),
        (
            {"language": "en", "checks": Checks(similar=0.95, model="no/such")},
            3,
            "the model `no/such` is not available",
        ),
    ]
    for number, (changed, n_writers, message) in enumerate(refusals):
        (tmp_path / str(number)).mkdir()
        with pytest.raises((InputError, OSError), match=message):
            dealt(tmp_path / str(number), plan(**changed), writer=n_writers)
    with pytest.raises(InputError, match=r"draws from batches \(`per_batch`\), but `write` has none"):
        GridPlan("write", plan().rows, plan().columns, (*plan().rounds, SPOT))
    write = RoundPlan("write", "text: text(); also: any_of(facts,humour,always=column)")
    grid = GridPlan("write", SidePlan(names=("Tea is odd.",)), SidePlan(names=("fact",)), (write,))
    with pytest.raises(InputError, match=r"column `fact` is not one of its labels; did you mean `facts`\?"):
        Study.create(":memory:", grids=[grid])


def test_cells_are_drawn_from_a_batch_as_soon_as_it_is_done(tmp_path: Path) -> None:
    grid_plan = GridPlan("write", plan().rows, plan().columns, (*plan(batch=2).rounds, SPOT))
    study = dealt(tmp_path, grid_plan, writer=3, rater=1)
    grid = study.grid("write")
    with pytest.raises(StageError, match="no further batch of round `write` is done"):
        grid.assign_round("spot")
    for name in ("writer1", "writer2", "writer3"):
        write_all(study, name, 2)
    assert grid.assign_round("spot").counts["assignments"] == 1
    with pytest.raises(StageError, match="no further batch of round `write` is done"):
        grid.assign_round("spot")
    for name in ("writer1", "writer2", "writer3"):
        write_all(study, name)
    assert grid.assign_round("spot").counts["assignments"] == 3
    checks = dealt_in(study, "write", "spot")
    assert checks["row"].nunique() == 4  # one in each of four batches
    assert sorted(checks["position"]) == [1, 2, 3, 4]


PILOT = GridPlan(
    "pilot",
    SidePlan(names=tuple(f"Whoever sings in {place} is rude." for place in ("cars", "halls", "parks"))),
    SidePlan(names=TYPES),
    (RoundPlan("try", "text: text(min_words=6)", role="writer", answers=0, columns_per_row=1),),
)
GRADE = GridPlan(
    "grade",
    SidePlan(answers="pilot"),
    SidePlan(names=("good",)),
    (RoundPlan("grade", "good: one_of(no,yes+)", role="rater"),),
)


def piloted(folder: Path, **changed: object) -> Study:
    """Four writers have done the pilot, of whom writer1 wrote what the expert then finds wanting."""
    write = plan(passed="grade", pass_at=2, **changed)
    study = study_of(folder, PILOT, GRADE, write, writer=4, rater=1)
    for name in ("pilot", "write"):
        study.grid(name).pair()
    study.grid("pilot").assign_round()
    for name in (f"writer{at}" for at in range(1, 5)):
        desk, visitor = study.work_queue(Annotate()), admit(study, name)
        for at, task in enumerate(desk.tasks(visitor, 50)):
            said = f"{REPLIES[at]} {'No more.' if name == 'writer1' else 'So says ' + name + '.'}"
            give(desk, visitor, said, task.assignment_id)
    return study


def grade(study: Study, *, passes: bool = True) -> None:
    """Have the expert judge the pilot: all of it but what writer1 wrote is good, or nothing is."""
    study.grid("grade").pair()
    study.grid("grade").assign_round()
    desk, visitor = at_desk(study, "rater1")
    while tasks := desk.tasks(visitor, 50):
        for task in tasks:
            assert "writer" not in str(task.answered)  # nothing says who wrote it
            assert task.answered is not None
            assert task.answered.body in PILOT.rows.names
            good = passes and "No more." not in task.row.body
            give(desk, visitor, "yes" if good else "no", task.assignment_id)


@pytest.mark.server
def test_only_who_passed_the_pilot_is_dealt_the_round(tmp_path: Path) -> None:
    study = piloted(tmp_path, once_per_row=False)
    with study.grid("pilot")._store.read() as tx:
        wrote = authorship.texts_by_writer(tx, rounds.primary(tx))
    assert [len(texts) for texts in wrote.values()] == [3, 3, 3, 3]
    with pytest.raises(StageError, match="round `grade` of grid `grade` comes first"):
        study.grid("write").assign_round()
    grade(study)
    results = study.grid("write").desk.pilot_results()
    assert [(row["name"], row["passed"]) for row in results] == [(f"writer{at}", at > 1) for at in range(1, 5)]
    assert [(row["good"], row["judged"], row["wrote"]) for row in results] == [(0, 3, 3)] + [(3, 3, 3)] * 3
    rows = study.grid("grade").answers()
    assert set(rows["answered"]) == set(PILOT.rows.names)
    assert set(rows["written_as"]) <= set(TYPES)
    assert set(rows["source"]) == {"people"}
    assert "group" not in rows.columns
    assert study.grid("write").assign_round().counts["people"] == 3
    assert set(dealt_in(study, "write", "write")["person"]) == {"writer2", "writer3", "writer4"}
    study.retire("writer2")  # what is passed on goes to nobody who has not passed
    given = dealt_in(study, "write", "write")
    assert set(given["person"][given["status"] == "open"]) == {"writer3", "writer4"}


@pytest.mark.server
def test_nobody_who_passed_is_said(tmp_path: Path) -> None:
    study = piloted(tmp_path)
    grade(study, passes=False)
    with pytest.raises(StageError, match=r"nobody has passed grid `grade` \(2 positive judgements\)"):
        study.grid("write").assign_round()


@pytest.mark.server
def test_what_somebody_wrote_is_set_aside_and_dealt_again_and_nothing_is_lost(tmp_path: Path) -> None:
    study = dealt(tmp_path, plan(), writer=4)
    with pytest.raises(StageError, match="`writer1` has no answers that could go to others"):
        study.dismiss("writer1")
    own = {task.cell_id for task in write_all(study, "writer1")}
    write_all(study, "writer2")
    before = study.grid("write").answers()
    assert (before["also"] == before["column"]).all()  # the type that was given is always among the types
    counts = study.dismiss("writer1").counts
    assert (counts["set_aside"], counts["reassigned"], counts["vacant"]) == (len(own), len(own), 0)
    after = study.grid("write").answers()
    assert set(after["by"]) == {"writer2"}
    assert len(after) == len(before) - len(own)
    given = dealt_in(study, "write", "write")
    again = given[(to_public_number(given["cell_id"]).isin(own)) & (given["status"] == "open")]
    assert len(again) == len(own)
    assert "writer1" not in set(again["person"])
    with study._store.read() as tx:
        kept = {row[0] for row in tx.execute(select(text.c.body).where(text.c.kind == "answer"))}
    assert set(before["text"]) <= kept
    assert Study.doctor(study.place).is_sound


def refused(study: Study, name: str, text: str) -> str:
    desk, visitor = study.work_queue(Annotate()), admit(study, name)
    (task, *_) = desk.tasks(visitor)
    with pytest.raises(InputError) as error:
        give(desk, visitor, answer(text), task.assignment_id)
    return str(error.value)


def refusals_of(study: Study) -> list[tuple[str, float | None, str | None]]:
    rows = study.grid("write").refusals("write")
    return list(zip(rows["rule"], rows["score"], rows["text"], strict=True))


@pytest.mark.server
def test_what_was_refused_is_kept_by_rule_and_score_and_its_text_with_consent_alone(tmp_path: Path) -> None:
    study = dealt(tmp_path, checked(), writer=3)
    desk, visitor = at_desk(study, "writer1")
    (task, *_) = desk.tasks(visitor)
    (remark,) = desk.check_text(visitor, task.assignment_id, answer("Why is that?"))
    assert (remark.rule, remark.refuses, remark.score) == ("words", True, 3)
    assert refusals_of(study) == []  # foretelling keeps nothing
    assert refused(study, "writer1", "Why is that?") == "Please write 6 words or more; this text has 3."
    assert refusals_of(study) == [("words", 3.0, None)]
    study.access.set_keeps_refused(next(person.id for person in study.people if person.name == "writer1"), True)
    refused(study, "writer1", "Why on earth?")
    assert refusals_of(study)[1:] == [("words", 3.0, "Why on earth?")]
    study.access.forget("writer1")
    assert refusals_of(study) == [("words", 3.0, None)] * 2
    assert "Please write 40 words or fewer" in refused(study, "writer2", "word " * 41)
    message = "seems to be in another language (`fa`); please write it in `en`"
    assert message in refused(study, "writer2", PERSIAN)


@pytest.mark.torch
def test_the_writers_own_words_are_refused_a_second_time(tmp_path: Path) -> None:
    study = dealt(tmp_path, checked(similar=0.95), writer=3)
    desk, visitor = at_desk(study, "writer1")
    give(desk, visitor, answer(REPLIES[0]))
    shown = f"{REPLIES[0][:60].rstrip()}..."
    said = refused(study, "writer1", REPLIES[0])
    assert f"very much like one that you or many others have written (\u201c{shown}\u201d)" in said
    assert "very much like" in refused(study, "writer1", REPLIES[0].replace("that I know", "I know"))
    give(desk, visitor, answer(REPLIES[1]))
    assert f"(\u201c{REPLIES[1]}\u201d)" in refused(study, "writer1", REPLIES[1])


@pytest.mark.server
def test_one_may_change_ones_own_answer_a_little(tmp_path: Path) -> None:
    study = dealt(tmp_path, checked(similar=0.95), writer=3)
    desk, visitor = at_desk(study, "writer1")
    (task, *_) = desk.tasks(visitor)
    give(desk, visitor, answer(REPLIES[0]), task.assignment_id)
    give(desk, visitor, answer(REPLIES[0] + " Really."), task.assignment_id)
    assert desk.answers(visitor)[0].answer["text"].endswith("Really.")


@pytest.mark.server
@pytest.mark.torch
def test_what_many_have_written_is_refused_to_anybody(tmp_path: Path) -> None:
    study = dealt(tmp_path, checked(similar=0.95, often=2), writer=4)
    for name in ("writer1", "writer2", "writer3"):
        desk, visitor = study.work_queue(Annotate()), admit(study, name)
        give(desk, visitor, answer(REPLIES[0]))
    assert "many others" in refused(study, "writer4", REPLIES[0])


def test_a_text_is_taken_though_nobody_can_look_at_its_grammar(tmp_path: Path) -> None:
    study = dealt(tmp_path, checked(grammar="http://127.0.0.1:9", refuses=("TYPOS",)), writer=3)
    desk, visitor = at_desk(study, "writer1")
    task = desk.tasks(visitor)[0]
    answer = {"unkind": "yes", "text": "I see that quite another way, and so do many.", "also": [column_of(task)]}
    (remark,) = desk.check_text(visitor, task.assignment_id, answer)
    assert (remark.rule, remark.refuses) == ("grammar", False)
    assert "cannot be checked right now; your text can be saved" in remark.sentence
    give(desk, visitor, answer, task.assignment_id)
    assert len(study.grid("write").answers()) == 1


@pytest.mark.slow
def test_grammar_warns_and_only_the_kinds_that_are_named_refuse(tmp_path: Path) -> None:
    study, faulty = (
        dealt(tmp_path, checked(grammar="harper"), writer=3),
        "My neighbour likes the the rain, and so do I.",
    )
    desk, visitor = at_desk(study, "writer1")
    (task, *_) = desk.tasks(visitor)
    remarks = desk.check_text(visitor, task.assignment_id, answer(faulty))
    assert remarks
    assert not any(remark.refuses for remark in remarks)
    kind = remarks[0].version.rpartition(", ")[2]
    give(desk, visitor, answer(faulty), task.assignment_id)
    (tmp_path / "strict").mkdir()
    strict = dealt(tmp_path / "strict", checked(grammar="harper", refuses=(kind,)), writer=3)
    assert kind in refused(strict, "writer1", faulty)


def sheet_of(study: Study, path: Path, *texts: str) -> Path:
    """A file with what writer1 writes on the first cells of theirs."""
    own = dealt_in(study, "write", "write").query("person == 'writer1'").sort_values("position")
    cells = zip(to_public_number(own["cell_id"]).tolist(), texts, strict=False)
    lines = ["cell,by,unkind,text,also", *(f'{cell},writer1,yes,"{text}",none' for cell, text in cells)]
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_what_only_warns_is_not_looked_at_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = dealt(tmp_path, checked(grammar="harper"), writer=3)
    asked: list[str] = []
    monkeypatch.setattr(grammar, "find_faults", lambda text, *_: asked.append(text))
    assert study.grid("write").import_answers(sheet_of(study, tmp_path / "s.csv", *REPLIES[:2])).counts["answers"] == 2
    assert asked == []


@pytest.mark.server
@pytest.mark.torch
def test_a_file_is_held_against_the_same_checks_line_by_line(tmp_path: Path) -> None:
    study = dealt(tmp_path, checked(similar=0.95), writer=3)
    texts = [REPLIES[0], REPLIES[0], "Warum sollte das denn ein Problem für irgendjemanden sein?"]
    path = sheet_of(study, tmp_path / "sheet.csv", *texts)
    with pytest.raises(InputError) as error:
        study.grid("write").import_answers(path)
    assert [
        (finding.line, "very much like" in finding.message, "`de`" in finding.message)
        for finding in error.value.findings
    ] == [(3, True, False), (4, False, True)]
    assert study.grid("write").answers().empty


# Which texts came often is known at any time, though only what has come since is read; servers load checks at once

SAID = ("Not at all.", "I do not think so.", "Where did you read this?")


def asked_alike(folder: Path, checks: Checks | None = None) -> Study:
    """Ann, ben and cleo are to reply to each of four statements."""
    write = RoundPlan("write", "text: text()", role="writer", answers=0, checks=checks, language="en" if checks else "")
    rows = ("Tea is odd.", "Cats are cold.", "Rain is wet.", "Trains are late.")
    grid_plan = GridPlan("write", SidePlan(names=rows), SidePlan(names=("reply",)), (write,))
    study = Study.create(folder / "study.db", Setup(title="Often"), grids=[grid_plan])
    study.add_people(["ann", "ben", "cleo"], Role.WRITER)
    study.grid().pair()
    study.grid().assign_round()
    return study


def often(study: Study, known: text_checks._RoundTextCounts, n: int) -> list[str]:
    with study.grid()._store.read() as tx:
        return known.frequent_texts(tx, rounds.by_name(tx, "write"), n)


def counted(study: Study, n: int) -> list[str]:
    table = study.grid().answers("write")
    return sorted(text for text, times in Counter(table.loc[~table["skipped"], "text"]).items() if times > n)


@pytest.mark.parametrize("seed", one_short(*range(3)))
def test_what_came_often_is_what_counting_all_answers_gives_whatever_is_changed(tmp_path: Path, seed: int) -> None:
    study, drawn, known = asked_alike(tmp_path), random.Random(seed), text_checks._RoundTextCounts()
    desk = study.work_queue(Annotate())
    visitors = {name: admit(study, name) for name in ("ann", "ben", "cleo")}
    open_ = {name: [task.assignment_id for task in desk.tasks(who, 9)] for name, who in visitors.items()}
    for step in range(30):
        name = drawn.choice(list(visitors))
        text = "skip" if drawn.random() < 0.2 else drawn.choice(SAID)
        give(desk, visitors[name], text, drawn.choice(open_[name]))
        if drawn.random() < 0.5:
            assert [often(study, known, n) for n in (0, 1, 3)] == [counted(study, n) for n in (0, 1, 3)], step
    own = study.grid().answers("write").query("by == 'ann' and not skipped")[["cell", "by", "text"]]
    own.assign(text="Said in a file.").to_csv(tmp_path / "ann.csv", index=False)
    run = study.grid().import_answers(tmp_path / "ann.csv", supersede=True)
    assert often(study, known, 0) == counted(study, 0)
    study.grid().withdraw(run.id)
    assert often(study, known, 0) == counted(study, 0)
    assert "Said in a file." not in often(study, known, 0)


@pytest.mark.server
def test_what_is_compared_is_encoded_when_the_server_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preloaded: list[list[str]] = []
    study = asked_alike(tmp_path, Checks(similar=0.95, often=1))
    with monkeypatch.context() as patch:
        patch.setattr(SimilarityIndex, "preload", lambda _, texts: preloaded.append(sorted(texts)))
        text_checks.warm_up(study._store)
        patch.setattr(text_checks, "check_answer", lambda *_: [])
        desk, ann = study.work_queue(Annotate()), admit(study, "ann")
        give(desk, ann, SAID[0], desk.tasks(ann)[0].assignment_id)
        text_checks.warm_up(study._store)
        assert preloaded == [[], [SAID[0]]]
        text_checks.warm_up(study._store, lambda: True)
        assert len(preloaded) == 2
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(text_checks, "likeness", lambda _: SimilarityIndex("no/such"))
    text_checks.warm_up(study._store)  # a server starts though an encoder cannot be had
