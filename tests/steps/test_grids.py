"""Planned grids: what a side holds, how a round is dealt, and what the promises ask of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.params import Assign, Import, Pair, Select, Setup, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role, Status
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import texts
from fcpair.study import Study
from steps.online import at_desk, give
from steps.plans import (
    ALL_ANSWER,
    CRITERIA,
    RATE,
    RATED,
    STATEMENTS,
    TYPES,
    WRITTEN,
    assigned,
    dealt,
    side,
    study_of,
    with_round,
    written,
    wrote,
)
from steps.small import CNS, HS, assert_refused, write_corpus, write_csv


def from_file(path: Path, **more: str) -> GridPlan:
    return replace(WRITTEN, rows=SidePlan(file=path, column="statement", **more))  # type: ignore[arg-type]


def test_a_side_has_names_in_their_order_and_grids_share_the_texts_that_they_both_name(tmp_path: Path) -> None:
    study = study_of(tmp_path, WRITTEN, replace(WRITTEN, name="again", columns=SidePlan(names=("humour", "new"))))
    assert study.grids == ["write", "again"], "and no main"
    assert [row["cells"] for row in study.grid_overview()] == [0, 0]
    assert study.grid("write").pair().counts == {"grid": "write", "rows": 4, "columns": 3, "cells": 12}
    assert side(study, "write", "row") == list(STATEMENTS)
    assert side(study, "write", "column") == list(TYPES)
    study.grid("again").pair()
    assert side(study, "again", "column") == ["humour", "new"]
    with study._store.read() as tx:
        assert len(texts.texts_of(tx, "name")) == len(STATEMENTS) + len(TYPES) + 1
    other = replace(RATED, rows=SidePlan(answers="other"))
    message = "takes the answers of `other`, which is not an earlier grid; earlier are write"
    assert_refused(study, lambda: study.add_grid(WRITTEN), InputError, "there is already a grid `write`")
    assert_refused(study, lambda: study.add_grid(other), InputError, message)


def test_a_grid_is_added_to_a_study_that_has_main(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study.db")
    run = study.add_grid(WRITTEN)
    assert (run.stage, run.counts) == ("grid", {"grid": "write", "rounds": 1})
    assert study.grids == ["main", "write"]
    study.grid("write").pair()
    assert study.grid().grid.name == "main"
    assert study.status()["stages"]["pair"] == 0
    with pytest.raises(StageError, match="`main` are assigned by `fcpair assign` and `fcpair validate assign`"):
        study.grid().assign_round("label")


@pytest.mark.server
def test_a_side_is_a_file_in_its_order_with_metadata(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "statements.csv", [{"statement": text} for text in ("One.", " ", "Two.", "One. ")])
    study = study_of(tmp_path, from_file(file))
    with pytest.raises(InputError, match="2 things are wrong") as caught:
        study.grid("write").pair()
    assert "statements.csv:3: the text is empty" in str(caught.value)
    assert "statements.csv:5: this text is already in line 2" in str(caught.value)
    write_csv(file, [{"statement": text, "topic": text.split()[3], "language": "en"} for text in STATEMENTS[::-1]])
    study.grid("write").pair()
    assert side(study, "write", "row") == list(STATEMENTS[::-1])
    with study._store.read() as tx:
        stored = texts.texts_of(tx, "text")
    assert stored["meta"].tolist()[0] == {"topic": "chess"}
    assert set(stored["language"]) == {"en"}


def test_texts_of_a_file_can_be_some_of_the_corpus_which_then_stays(tmp_path: Path) -> None:
    corpus = Import(path=write_corpus(tmp_path / "corpus.csv"))
    study = Study.create(tmp_path / "study.db")
    study.import_corpus(corpus)
    study.add_grid(replace(WRITTEN, name="named"))
    study.grid("named").pair()
    study.import_corpus(corpus, redo=True)
    assert side(study, "named", "row") == list(STATEMENTS)
    file = write_csv(tmp_path / "hs.csv", [{"statement": "A new one."}])
    study.add_grid(from_file(file, kind="hs"))
    with pytest.raises(InputError, match=r"hs\.csv:2: this text is not in the corpus of the study"):
        study.grid("write").pair()
    write_csv(file, [{"statement": text} for text in HS[:2]])
    study.grid("write").pair()
    with study._store.read() as tx:
        assert len(texts.texts_of(tx, "hs")) == len(HS)
    with pytest.raises(StageError, match="grid `write` has texts of the corpus, so the corpus cannot be replaced"):
        study.import_corpus(corpus, redo=True)


def test_pairs_of_the_corpus_stay_in_a_planned_grid(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study.db")
    study.import_corpus(Import(path=write_corpus(tmp_path / "corpus.csv")))
    file = write_csv(tmp_path / "hs.csv", [{"statement": text} for text in HS[:2]])
    replies = write_csv(tmp_path / "cn.csv", [{"reply": text} for text in CNS[:4]])
    plan = from_file(file, kind="hs")
    study.add_grid(replace(plan, columns=SidePlan(kind="cn", file=replies, column="reply")))
    assert study.grid("write").pair().counts["cells"] == 8  # the first HS stands in the corpus with three of these CNs


@pytest.mark.server
def test_a_side_of_answers_has_each_text_once_for_each_text_that_it_answers(tmp_path: Path) -> None:
    """Whoever judges a text reads what it answers; a row on one screen comes at once, and stays in one hand."""
    study = written(tmp_path, RATED, rater=4)
    grid = assigned(study, "rate")
    assert grid.pair(redo=True).counts["columns"] == len(CRITERIA), "answers elsewhere are not in the way"
    grid.assign_round()
    replies = study.grid("write").answers()
    once = replies.drop_duplicates(["row", "text"])
    assert len(set(once["text"])) < len(once)  # the same words to two statements
    assert sorted(side(study, "rate", "row")) == sorted(once["text"])
    assert side(study, "rate", "column") == list(CRITERIA)
    desk, visitor = at_desk(study, "rater1")
    tasks = desk.tasks(visitor, 50)
    assert tasks
    assert all(task.answered for task in tasks)
    answered = set(zip(replies["text"], replies["row"], strict=True))
    assert {(task.row.body, task.answered.body) for task in tasks if task.answered} <= answered
    for _, own in dealt(study, "rate", "rate").sort_values("position").groupby("person"):
        rows = own["hs_id"].tolist()
        assert sum(row != other for row, other in pairwise(rows)) == len(set(rows)) - 1
    for name in ("rater1", "rater2"):
        study.retire(name)
        given = dealt(study, "rate", "rate")
        held = given[given["status"] == Status.OPEN.value]
        assert (held.groupby("cell_id")["person"].nunique() == 2).all()
        assert (held.groupby(["hs_id", "person"]).size() == len(CRITERIA)).all()


def test_a_side_and_a_round_are_made_anew_until_somebody_has_answered(tmp_path: Path) -> None:
    """And a side of answers waits until all are in."""
    study = study_of(tmp_path, WRITTEN, RATED)
    grid, later = study.grid("write"), study.grid("rate")
    with pytest.raises(StageError, match="round `write` of grid `write` comes first, and has not been assigned"):
        later.pair()
    with pytest.raises(StageError, match="grid `write` has no cells yet; run `fcpair pair --grid write`"):
        grid.assign_round()
    grid.pair()
    with pytest.raises(StageError, match="`pair` has been done; `--redo` would discard"):
        grid.pair()
    with pytest.raises(StageError, match=r"there are no writers; .*`fcpair people add NAME --role writer`"):
        grid.assign_round()
    study.add_people([f"writer{at}" for at in range(1, 5)], Role.WRITER)
    grid.assign_round()
    grid.pair(redo=True)
    assert dealt(study, "write", "write").empty
    grid.assign_round()
    with pytest.raises(StageError, match="12 answers are still open in round `write` of grid `write`"):
        later.pair()
    with pytest.raises(StageError, match="round `write` has been assigned; `--redo` would discard 12 assignments"):
        grid.assign_round()
    study.add_people(["late"], Role.WRITER)
    assert grid.assign_round(redo=True).counts["people"] == 5
    assert len(dealt(study, "write", "write")) == 12
    grid.simulate(ALL_ANSWER)
    with pytest.raises(StageError, match="round `write` cannot be assigned again: it has 12 answers"):
        grid.assign_round(redo=True)
    with pytest.raises(StageError, match="judgements rest on its results"):
        grid.pair(redo=True)


def test_the_stages_of_a_corpus_are_refused_and_a_round_is_named_where_there_are_several(tmp_path: Path) -> None:
    plan = replace(WRITTEN, rounds=(*WRITTEN.rounds, replace(RATE, name="fit")))
    study = study_of(tmp_path, plan, annotator=2)
    grid = study.grid("write")
    planned = "is for a grid made from a corpus; this one is planned"
    refused: tuple[tuple[Callable[[], object], type[Exception], str], ...] = (
        (lambda: grid.select(Select(hs=1)), StageError, planned),
        (lambda: grid.assign(Assign()), StageError, planned),
        (lambda: grid.assign(Assign(), more=True), StageError, planned),
        (lambda: grid.assign_validation(Validate()), StageError, "decisions of this grid are not validated"),
        (
            lambda: grid.pair(Pair(candidates=2)),
            InputError,
            "the sides of grid `write` are planned, so nothing is drawn",
        ),
        (grid.assign_round, InputError, "grid `write` has several rounds; name one: write, fit"),
        (
            lambda: grid.assign_round("other"),
            UnknownIdError,
            "there is no round `other` in this grid; its rounds: write, fit",
        ),
    )
    for call, error, message in refused:
        assert_refused(study, call, error, message)


def test_nobody_writes_twice_on_a_row_even_where_somebody_skipped(tmp_path: Path) -> None:
    study = study_of(tmp_path, WRITTEN, writer=5)
    grid = study.grid("write")
    grid.pair()
    of_round = {"grid": "write", "round": "write", "people": 5, "cells": 12, "assignments": 12}
    assert grid.assign_round("write").counts == {**of_round, "load_min": 2, "load_max": 3}
    given = dealt(study, "write", "write")
    assert not given.duplicated(["row", "person"]).any()
    assert sorted(given["cell_id"]) == list(range(1, 13))
    grid.simulate(replace(ALL_ANSWER, skips=0.4, seed=2))
    given = dealt(study, "write", "write")
    assert (given["status"] == Status.SKIPPED.value).any()
    assert len(given) > 12
    assert not given.duplicated(["row", "person"]).any()


@pytest.mark.server
def test_people_are_added_where_the_plan_says_how_many_and_a_row_needs_enough(tmp_path: Path) -> None:
    study = study_of(tmp_path, replace(with_round(WRITTEN, people=4), name="first"), WRITTEN)
    study.add_people(["one", "two"], Role.WRITER)
    study.grid("write").pair()
    with pytest.raises(InputError, match="a row of 3 cells, each to be answered by 1, needs 3 people, but there are 2"):
        study.grid("write").assign_round()
    for name in ("one", "two"):
        study.retire(name)
    assigned(study, "first")
    added = [(person.name, person.role) for person in study.people if not person.retired]
    assert added == [(f"w{at}", Role.WRITER) for at in range(1, 5)]


@pytest.mark.server
def test_everybody_is_asked_everything_and_so_is_who_comes_later(tmp_path: Path) -> None:
    ask = RoundPlan("ask", "ask: one_of(no,yes+)", role="respondent", answers=0)
    again = replace(ask, name="believed", form="b: one_of(no,yes+)", after="ask")
    study = study_of(tmp_path, replace(WRITTEN, rounds=(ask, again)), respondent=2)
    study.add_people(["early"], Role.RESPONDENT)
    grid = study.grid("write")
    grid.pair()
    assert grid.assign_round("ask").counts["assignments"] == 12 * 3
    study.add_people(["late", "later"], Role.RESPONDENT)
    study.add_people(["rater"], Role.RATER)
    given = dealt(study, "write", "ask")
    asked = ["respondent1", "respondent2", "early", "late", "later"]
    assert given.groupby("person").size().to_dict() == dict.fromkeys(asked, 12)
    orders = {tuple(own.sort_values("position")["cell_id"]) for _, own in given.groupby("person")}
    assert len(orders) == 5
    assert study.retire("early").counts == {"withdrawn": 12, "reassigned": 0, "vacant": 0}
    assert study.grid_overview()[0]["rounds"][0]["vacant"] == 0
    grid.simulate(ALL_ANSWER)
    assert grid.assign_round("believed").counts["assignments"] == 12 * 4, "everybody may answer two rounds"


def raters_of_own(study: Study, grid: str = "rate") -> int:
    own, given = wrote(study), dealt(study, grid, "rate")
    return sum(row in own.get(person, set()) for person, row in zip(given["person"], given["row"], strict=True))


def all_rate(study: Study) -> None:
    """Let all who write rate as well."""
    for one in study.people:
        if one.role is Role.WRITER:
            study.change_role(one.name, Role.RATER)


@pytest.mark.server
def test_nobody_rates_what_they_wrote_even_when_somebody_leaves(tmp_path: Path) -> None:
    study = written(tmp_path, RATED, replace(with_round(RATED, answers=1), name="left"), rater=1)
    assigned(study, "left")
    all_rate(study)
    n = len(dealt(study, "left", "rate"))
    assert study.retire("rater1").counts == {"withdrawn": n, "reassigned": n, "vacant": 0}
    assert raters_of_own(study, "left") == 0
    assigned(study, "rate")
    assert raters_of_own(study) == 0


@pytest.mark.server
def test_a_text_that_two_wrote_is_rated_by_neither(tmp_path: Path) -> None:
    """One word is all that may be written, so that several people write the same."""
    short = RoundPlan("write", "text: text(min_words=1,max_words=1)", role="writer")
    study = written(tmp_path, with_round(RATED, answers=1), rater=1, first=replace(WRITTEN, rounds=(short,)))
    all_rate(study)
    study.grid("rate").pair()
    by_two = [text for text in side(study, "rate", "row") if sum(text in own for own in wrote(study).values()) > 1]
    assert by_two
    study.grid("rate").assign_round()
    assert raters_of_own(study) == 0


EDIT = RoundPlan("edit", "text: edit(min_words=2)", role="writer", edits="write", once_per_row=True)
AFTER = RoundPlan("again", "again: one_of(no,yes+)", role="writer", after="write")


@pytest.mark.parametrize("later", [EDIT, AFTER])
def test_a_later_round_waits_and_goes_to_others(tmp_path: Path, later: RoundPlan) -> None:
    study = study_of(tmp_path, replace(WRITTEN, rounds=(*WRITTEN.rounds, later)), writer=5)
    grid = study.grid("write")
    grid.pair()
    with pytest.raises(StageError, match="round `write` of grid `write` comes first, and has not been assigned"):
        grid.assign_round(later.name)
    grid.assign_round("write")
    with pytest.raises(StageError, match="12 answers are still open in round `write`"):
        grid.assign_round(later.name)
    grid.simulate(ALL_ANSWER)
    assert grid.assign_round(later.name).counts["cells"] == 12
    first, second = (dealt(study, "write", name) for name in ("write", later.name))
    assert first.merge(second, on=["cell_id", "person"]).empty


@pytest.mark.server
def test_who_comes_gets_what_nobody_could_take_and_nobody_with_open_work_changes_role(tmp_path: Path) -> None:
    study = study_of(tmp_path, replace(WRITTEN, name="first"), WRITTEN, writer=3)
    assigned(study)
    with pytest.raises(StageError, match="`writer1` has 4 open pairs"):
        study.change_role("writer1", Role.RATER)
    assert study.retire("writer1").counts == {"withdrawn": 4, "reassigned": 0, "vacant": 4}
    study.add_people(["new"], Role.WRITER)
    assert (dealt(study, "write", "write")["person"] == "new").sum() == 4


def test_the_overview_says_how_far_each_round_is_and_a_round_has_the_options_of_its_plan(tmp_path: Path) -> None:
    study = written(tmp_path, RATED, adjudicator=1)
    first, second = study.grid_overview()
    assert (first["rows"], first["columns"], first["cells"]) == (4, 3, 12)
    counts = {"open": 0, "done": 12, "skipped": 0, "withdrawn": 0, "vacant": 0}
    assert first["rounds"] == [{"name": "write", "role": "writer", "counts": True, "dealt": True, **counts}]
    assert not second["rounds"][0]["dealt"]
    with study.grid("rate")._store.read() as tx:
        round_ = rounds.by_name(tx, "rate")
    assert (round_.role, round_.counts, round_.form) == (Role.RATER, True, RATE.form)
    options = {"answers": 2, "screen": "row", "once_per_row": False, "edits": "", "after": ""}
    assert {name: getattr(round_.options, name) for name in options} == options
    with pytest.raises(StageError, match="is adjudicator and may have seen labels"):
        study.change_role("adjudicator1", Role.RATER)


def test_a_pilot_is_on_cells_that_are_drawn_and_asks_everybody(tmp_path: Path) -> None:
    pilot = RoundPlan("pilot", "pilot: one_of(no,yes)", answers=0, people=3, cells=2, counts=False, seed=5)
    plan = replace(WRITTEN, rounds=(pilot, replace(pilot, name="all", cells=10_000), *WRITTEN.rounds))
    drawn = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        grid = study_of(tmp_path / name, plan).grid("write")
        grid.pair()
        assert grid.assign_round("pilot").counts["assignments"] == 2 * 3
        with grid._store.read() as tx:
            drawn.append(assignments.assignments(tx, rounds.by_name(tx, "pilot"))["cell_id"].tolist())
        with pytest.raises(InputError, match=r"10,000 cells cannot be drawn; there are 12"):
            grid.assign_round("all")
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 2
    for wrong in ({"cells": 0}, {"cells": 3, "screen": "row"}):
        with pytest.raises(InputError, match="cells is"):
            RoundPlan("pilot", "pilot: one_of(no,yes)", **wrong)


BOTH = ("Tea is odd.", "Cats are cold.")
WRITE_ALL = GridPlan(
    "write", SidePlan(names=BOTH), SidePlan(names=("reply",)), (RoundPlan("write", "text: text()", role="writer"),)
)
RATED_ALL = RoundPlan("rate", "rating: scale(1,5,1)", role="rater")


def propose(said: Path) -> GridPlan:
    models = (f"plain=canned:{said}(row=HS,reply=CN,several=first)",)
    return GridPlan(
        "replies", SidePlan(names=BOTH), SidePlan(names=("plain",)), (RoundPlan("say", "text: text()", models=models),)
    )


@pytest.fixture
def of_both(tmp_path: Path) -> Study:
    """Wren has written to both statements, and the model has a reply to each, of several in its file."""
    rows = [{"HS": row, "CN": f"{row} {how}"} for row in BOTH for how in ("I do not think so.", "Not at all.")]
    said = Path(write_csv(tmp_path / "released.csv", rows))
    rate = GridPlan("rate", SidePlan(answers=("write", "replies")), SidePlan(names=("kind",)), (RATED_ALL,))
    of_both = Study.create(tmp_path / "of_both.db", Setup(title="t"), grids=[WRITE_ALL, propose(said), rate])
    of_both.add_people(["wren"], Role.WRITER)
    of_both.add_people(["rob"], Role.RATER)
    of_both.grid("write").pair()
    of_both.grid("write").assign_round()
    of_both.grid("replies").pair()
    return of_both


@pytest.mark.server
def test_a_side_has_what_was_written_in_each_grid_and_says_by_whom(of_both: Study) -> None:
    desk, visitor = at_desk(of_both, "wren")
    rate = of_both.grid("rate")
    tasks = desk.tasks(visitor, 9)
    with pytest.raises(StageError, match="2 answers are still open in round `write` of grid `write`"):
        rate.pair()
    for task in tasks:
        give(desk, visitor, f"{task.row.body} Is it?", task.assignment_id)
    with pytest.raises(StageError, match="round `say` of grid `replies` comes first"):
        rate.pair()
    of_both.grid("replies").generate("say")
    rate.pair()
    rate.assign_round()
    desk, visitor = at_desk(of_both, "rob")
    for task in desk.tasks(visitor, 9):
        give(desk, visitor, 3, task.assignment_id)
    table = rate.answers().sort_values("cell")
    assert table["row"].tolist() == [f"{row} {how}" for how in ("Is it?", "I do not think so.") for row in BOTH]
    assert table["source"].tolist() == ["people", "people", "plain", "plain"]
    assert table["answered"].tolist() == [*BOTH, *BOTH]


def test_only_cells_that_were_answered_are_edited(tmp_path: Path) -> None:
    grid = study_of(tmp_path, replace(WRITTEN, rounds=(*WRITTEN.rounds, EDIT)), writer=3, annotator=1).grid("write")
    grid.pair()
    grid.assign_round("write")
    grid.simulate(replace(ALL_ANSWER, skips=1.0))
    with pytest.raises(StageError, match="no cell has a text to edit in round `write`, so there is none for `edit`"):
        grid.assign_round("edit")
