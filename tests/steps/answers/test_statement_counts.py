"""Which texts came often is known at any time, though only what has come since is read; servers load checks at once."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from conftest import one_short

from fcpair.models.similarity import SimilarityIndex
from fcpair.params import Annotate, Setup
from fcpair.plans import Checks, GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.steps.rules import text_checks
from fcpair.store.assignment import rounds
from fcpair.study import Study
from steps.online import admit, give

TEXTS = ("Not at all.", "I do not think so.", "Where did you read this?")
ROWS = ("Tea is odd.", "Cats are cold.", "Rain is wet.", "Trains are late.")


def study_of(folder: Path, said: Checks | None = None) -> Study:
    asked = RoundPlan("write", "text: text()", role="writer", answers=0, checks=said, language="en" if said else "")
    plan = GridPlan("write", SidePlan(names=ROWS), SidePlan(names=("reply",)), (asked,))
    study = Study.create(folder / "study.db", Setup(title="Often"), grids=[plan])
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
    study, drawn, known = study_of(tmp_path), random.Random(seed), text_checks._RoundTextCounts()
    desk = study.work_queue(Annotate())
    visitors = {name: admit(study, name) for name in ("ann", "ben", "cleo")}
    open_ = {name: [one.assignment_id for one in desk.tasks(who, 9)] for name, who in visitors.items()}
    for step in range(30):
        name = drawn.choice(list(visitors))
        text = "skip" if drawn.random() < 0.2 else drawn.choice(TEXTS)
        give(desk, visitors[name], text, drawn.choice(open_[name]))
        if drawn.random() < 0.5:
            assert [often(study, known, n) for n in (0, 1, 3)] == [counted(study, n) for n in (0, 1, 3)], step
    study.grid().answers("write").query("by == 'ann' and not skipped")[["cell", "by", "text"]].assign(
        text="Said in a file."
    ).to_csv(tmp_path / "ann.csv", index=False)
    run = study.grid().import_answers(tmp_path / "ann.csv", supersede=True)
    assert often(study, known, 0) == counted(study, 0)
    study.grid().withdraw(run.id)
    assert often(study, known, 0) == counted(study, 0)
    assert "Said in a file." not in often(study, known, 0)


def test_the_list_is_the_same_one_while_its_texts_are_the_same(tmp_path: Path) -> None:
    study, known = study_of(tmp_path), text_checks._RoundTextCounts()
    desk, ann = study.work_queue(Annotate()), admit(study, "ann")
    first, second, *_ = (one.assignment_id for one in desk.tasks(ann, 9))
    give(desk, ann, TEXTS[0], first)
    there = often(study, known, 0)
    give(desk, ann, TEXTS[0], second)
    assert often(study, known, 0) is there
    assert often(study, known, 1) == [TEXTS[0]]


@pytest.mark.server
def test_what_is_compared_is_encoded_when_the_server_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[str]] = []
    monkeypatch.setattr(SimilarityIndex, "preload", lambda _, texts: given.append(sorted(texts)))
    study = study_of(tmp_path, Checks(similar=0.95, often=1))
    text_checks.warm_up(study._store)
    monkeypatch.setattr(text_checks, "check_answer", lambda *_: [])
    desk, ann = study.work_queue(Annotate()), admit(study, "ann")
    give(desk, ann, TEXTS[0], desk.tasks(ann)[0].assignment_id)
    text_checks.warm_up(study._store)
    assert given == [[], [TEXTS[0]]]
    text_checks.warm_up(study._store, lambda: True)
    assert len(given) == 2


@pytest.mark.server
def test_a_server_starts_though_an_encoder_cannot_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(tmp_path, Checks(similar=0.95))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(text_checks, "likeness", lambda _: SimilarityIndex("no/such"))
    text_checks.warm_up(study._store)
