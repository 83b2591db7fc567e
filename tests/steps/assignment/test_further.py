"""Standing rules: further people are asked where labels tie, or somebody is not sure."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from servers import execute

from fcpair.errors import InputError
from fcpair.params import Adjudicate, Agree, Annotate, Assign, Further
from fcpair.records import Role
from fcpair.stages.assignment.rounds import further_labels
from fcpair.stages.questions.labels import APPROPRIATENESS
from fcpair.study import Study
from steps.deciding import adjudicators, decide
from steps.online import at_desk, give
from steps.small import At, assert_refused, labels_of, open_work, record, who_had, with_grid

PEOPLE = ("ana", "ben", "cleo", "dora", "emil")


def ready(at: At, *, two: float = 1.0, options: Assign | None = None) -> Study:
    """The small study with five people; a share of its 24 pairs has two labels, the others one."""
    study = at("paired")
    study.add_people(list(PEOPLE), Role.ANNOTATOR)
    study.grid().assign(options or Assign(overlap={2: two} if two else {}, seed=1))
    return study


def reasons(study: Study) -> Counter[str | None]:
    return Counter(why for (why,) in execute(study.place, "SELECT because FROM assignment"))


def answer(study: Study, folder: Path, labels: dict[int, list[str]]) -> None:
    """Have those who have these pairs open give the labels, in the order of their names."""
    waiting = {pair: sorted(who for who, own in open_work(study) if own == pair) for pair in labels}
    record(study, folder, [(waiting[pair][at], pair, said) for pair in labels for at, said in enumerate(labels[pair])])


def test_what_rules_ask_for_of_the_labels_of_a_pair() -> None:
    """One more where two tie; two more, once, where one is not sure; never beyond four labels."""
    counts = np.array([[1, 0, 1], [2, 0, 1], [0, 1, 0], [0, 1, 2], [1, 1, 1], [2, 0, 2], [0, 0, 1], [1, 1, 1]])
    asked = np.array([0, 0, 0, 2, 0, 0, 0, 1])
    more, unsure = further_labels(counts, APPROPRIATENESS, asked, Further(if_tied=1, if_not_sure=2, most=4))
    assert more.tolist() == [1, 0, 2, 0, 1, 0, 0, 1]
    assert unsure.tolist() == [0, 0, 2, 0, 1, 0, 0, 0]


def test_a_third_person_is_asked_where_two_differ_once_both_have_answered(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(ready(at))
    grid.save.further(if_tied=1)
    first = open_work(study)[0][1]
    had = who_had(study)[first]
    (who, *_), *_ = [sorted(name for name, pair in open_work(study) if pair == first)]
    record(study, tmp_path, [(who, first, "0")])
    assert who_had(study)[first] == had
    answer(study, tmp_path, {first: ["2"]})
    assert len(who_had(study)[first]) == 3
    assert reasons(study) == {None: 48, "ties": 1}
    answer(study, tmp_path, {first: ["2"]})
    assert len(who_had(study)[first]) == 3


def test_two_more_are_asked_once_where_somebody_is_not_sure(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(ready(at, two=0))
    grid.save.further(if_not_sure=2, most=4)
    answer(study, tmp_path, {1: ["1"], 2: ["2"]})
    assert len(who_had(study)[1]) == 3
    assert len(who_had(study)[2]) == 1
    answer(study, tmp_path, {1: ["1", "2"]})
    assert len(who_had(study)[1]) == 3
    assert reasons(study) == {None: 24, "not_sure": 2}


def test_answers_on_the_page_ask_as_those_of_a_file_do(at: At) -> None:
    study, grid = with_grid(ready(at))
    grid.save.further(if_tied=1)
    pair = open_work(study)[0][1]
    people = sorted(name for name, own in open_work(study) if own == pair)
    for who, said in zip(people, ("not_appropriate", "appropriate"), strict=True):
        desk, visitor = at_desk(study, who)
        while next(iter(desk.tasks(visitor))).cell_id != pair:
            give(desk, visitor, "skip")
        give(desk, visitor, said)
    assert reasons(study)["ties"] == 1


def test_whoever_takes_over_a_skipped_pair_was_asked_for_the_same_reason(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(ready(at))
    grid.save.further(if_tied=1)
    pair = open_work(study)[0][1]
    answer(study, tmp_path, {pair: ["0", "2"]})
    answer(study, tmp_path, {pair: ["skip"]})
    assert reasons(study)["ties"] == 2
    assert len(who_had(study)[pair]) == 4


def test_with_open_assignment_whoever_asks_next_is_given_it(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(ready(at, options=Assign(open=True)))
    grid.save.further(if_not_sure=1)
    desk, ana = at_desk(study, "ana")
    (task, *_) = desk.assign_tasks([(ana, 1)])[0]
    give(desk, ana, "not_sure")
    assert execute(study.place, "SELECT because FROM slot WHERE because IS NOT NULL") == [("not_sure",)]
    other, ben = at_desk(study, "ben")
    while not any(task.cell_id == own.cell_id for own in other.tasks(ben)):
        other.assign_tasks([(ben, 5)])
        if not any(task.cell_id == own.cell_id for own in other.tasks(ben)):
            give(other, ben, "appropriate")
    assert reasons(study)["not_sure"] == 1


def test_nobody_is_asked_beyond_their_limit_and_what_nobody_may_give_is_said(at: At, tmp_path: Path) -> None:
    """All five have read nine or ten pairs, which is as many as they may."""
    study, grid = with_grid(ready(at))
    study.save_terms(Annotate(total_limit=9))
    pair = open_work(study)[0][1]
    grid.save.further(if_tied=1)
    answer(study, tmp_path, {pair: ["0", "2"]})
    assert study.log()[-1].counts["not_possible"] == 1
    assert reasons(study) == {None: 48}


def test_what_a_person_has_decided_is_not_asked_again(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(ready(at))
    pair = open_work(study)[0][1]
    answer(study, tmp_path, {pair: ["0", "2"]})
    grid.adjudicate(Adjudicate())
    assert grid.desk.forecast_further(Further(if_tied=1)) == {"further_ties": 1}
    (vera,) = adjudicators(study, "vera")
    decide(study, vera, pair)
    assert grid.desk.forecast_further(Further(if_tied=1)) == {}


def test_rules_that_are_set_later_ask_about_the_labels_that_there_are(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(ready(at))
    pair = open_work(study)[0][1]
    answer(study, tmp_path, {pair: ["0", "2"]})
    forecast = grid.desk.forecast_further(Further(if_tied=2, most=5))
    assert grid.save.further(if_tied=2, most=5).counts == forecast == {"further_ties": 2}
    assert grid.save.further(if_tied=0).counts == {}


def test_agreement_leaves_out_what_was_asked_for_because_people_differed_unless_asked(at: At, tmp_path: Path) -> None:
    """Of 48 labels on 24 pairs, one pair ties; the third label on it changes agreement only where it is meant to."""
    study, grid = with_grid(ready(at))
    pairs = {pair: ["0", "0"] for pair in range(1, 25)}
    answer(study, tmp_path, pairs | {7: ["0", "2"]})
    alone = grid.agreement()
    grid.save.further(if_tied=1)
    answer(study, tmp_path, {7: ["2"]})
    assert grid.agreement().pooled == alone.pooled
    assert (grid.agreement().n_labels, grid.agreement(Agree(further=True)).n_labels) == (48, 49)
    assert len(labels_of(study, 7)) == 3
    assert grid.desk.block_notes == [
        "1 label was asked for because labels tied or somebody was not sure: tiers count it, but agreement does not"
    ]


def test_a_limit_that_nobody_can_meet_is_refused(at: At) -> None:
    study, grid = with_grid(ready(at))
    assert_refused(study, partial(grid.save.further, if_tied=1, most=6), InputError, "there are 5 people")
    with pytest.raises(InputError, match="most"):
        Further(if_tied=1, most=1)
