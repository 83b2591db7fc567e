"""Who answered blind and is asked again with the new label in sight has one verdict on the pair: the later one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.errors import StageError
from fcpair.params import Validate
from fcpair.records import Role
from fcpair.steps.answers.work_queue import WorkQueue
from fcpair.store.answers import judgements
from fcpair.study import Study
from steps.online import at_desk, give
from steps.small import NAMES, check, open_work, standing

At = Callable[[str], Study]


@pytest.fixture
def case(at: At) -> tuple[Study, WorkQueue, int, int]:
    """A study in which vera agreed blind with the label of a pair, which was then turned and dealt to her in sight;
    the desk, the pair and the code that it had.
    """
    study = at("decided")
    grid = study.grid()
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate(blind=True))
    desk, vera = at_desk(study, "vera")
    pair = desk.tasks(vera)[0].cell_id
    code = standing(study)[pair][1]
    assert code is not None
    while tasks := desk.tasks(vera):
        give(desk, vera, NAMES[standing(study)[tasks[0].cell_id][1] or 0])
    grid.decide(pair, 2 - code, by="ada")
    grid.assign_validation(Validate(), more=True)
    assert open_work(study, checks=True) == [("vera", pair)]
    return study, desk, pair, code


def verdicts(study: Study, pair: int) -> list[int]:
    with study._store.read() as tx:
        rows = judgements.current_verdicts(tx)
    return [int(code) for code in rows["code"][rows["cell_id"] == pair]]


def n_current(study: Study) -> int:
    with study._store.read() as tx:
        return sum(judgements.n_by_origin(tx).values())


def test_a_file_can_have_the_later_verdict(case: tuple[Study, WorkQueue, int, int], tmp_path: Path) -> None:
    study, _, pair, _ = case
    check(study, tmp_path, [("vera", pair, "disagree")], supersede=True)
    assert verdicts(study, pair) == [0]


def test_the_earlier_verdict_stays_gone_when_the_label_comes_back(case: tuple[Study, WorkQueue, int, int]) -> None:
    study, desk, pair, code = case
    n = n_current(study)
    vera = study.access.by_token(study.access.invite("vera"))
    assert vera is not None
    give(desk, vera, "agree")
    assert n_current(study) == n
    study.grid().decide(pair, code, by="ada")
    assert verdicts(study, pair) == []
    assert [task.cell_id for task in desk.answers(vera, n=50)].count(pair) == 1


def test_until_it_is_given_the_earlier_one_counts_when_the_label_comes_back(
    case: tuple[Study, WorkQueue, int, int],
) -> None:
    study, _, pair, code = case
    study.grid().decide(pair, code, by="ada")
    assert verdicts(study, pair) == [1]


def test_who_has_seen_the_label_since_is_not_asked_blind(
    case: tuple[Study, WorkQueue, int, int], tmp_path: Path
) -> None:
    study, _, pair, code = case
    check(study, tmp_path, [("vera", pair, "agree")], supersede=True)
    study.grid().decide(pair, code, by="ada")
    with pytest.raises(StageError, match="cannot be validated"):
        study.grid().assign_validation(Validate(blind=True), more=True)
