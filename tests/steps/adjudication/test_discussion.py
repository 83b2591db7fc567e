"""The discussion: who sees which answers, and when."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fcpair.records import Role, Visitor
from fcpair.study import Study
from steps.calibrated import AGAIN, FIRST, NO, YES, answer_all, batch, begin, calibrated, discussing
from steps.online import admit, give

At = Callable[[str], Study]
pytestmark = pytest.mark.server


def lead(study: Study) -> Visitor:
    study.add_people(["lea"], Role.LEAD)
    return admit(study, "lea")


def test_it_shows_the_pairs_on_which_people_differ_with_answers_and_notes_but_no_names(at: At) -> None:
    study = at("paired")
    visitors = discussing(study)
    (shown,) = study.discussions(visitors["cleo"])
    assert [pair.answers for pair in shown.pairs] == [((YES, 2), (NO, 1)), ((NO, 2), (YES, 1))]
    assert [pair.own for pair in shown.pairs] == [NO, NO]
    assert [set(pair.notes) for pair in shown.pairs] == [{"cleo notes"}, {"ben notes", "cleo notes"}]
    assert (shown.grid, shown.row_name, shown.column_name, shown.n_left) == (
        "main",
        "hate speech",
        "counter-narrative",
        2,
    )


def test_pairs_come_in_the_order_in_which_they_are_answered_again(at: At) -> None:
    study = at("paired")
    visitors = discussing(study)
    (shown,) = study.discussions(visitors["ana"])
    tasks = study.work_queue().tasks(visitors["ana"], 50)
    assert [pair.row.body for pair in shown.pairs] == [task.row.body for task in tasks]
    assert [pair.column and pair.column.body for pair in shown.pairs] == [
        task.column and task.column.body for task in tasks
    ]


def test_nobody_sees_anything_before_it_is_opened(at: At) -> None:
    study = at("paired")
    visitors = begin(study)
    answer_all(study, visitors, FIRST)
    for visitor in visitors.values():
        assert study.discussions(visitor) == []
        assert not study.has_discussion(visitor)


def test_who_has_not_answered_a_pair_does_not_see_what_others_said(at: At) -> None:
    study = at("paired")
    visitors = begin(study)
    answer_all(study, {name: visitors[name] for name in ("ana", "ben")}, {name: FIRST[name] for name in ("ana", "ben")})
    give(study.work_queue(), visitors["cleo"], NO)
    study.grid().calibration.open_discussion(early=True)
    own = {task.cell_id for task in study.work_queue().tasks(visitors["cleo"], 50)}
    seen = [pair for one in study.discussions(visitors["cleo"]) for pair in one.pairs]
    assert len(seen) == len(own) <= 1
    assert all(pair.own == NO for pair in seen)
    assert {batch(study)[3]} <= {task.cell_id for task in study.work_queue().tasks(visitors["ana"], 50)}


def test_it_is_shut_when_the_calibration_is_closed(at: At) -> None:
    study = at("paired")
    visitors = calibrated(study)
    assert study.discussions(visitors["ana"]) == []
    assert not study.has_discussion(visitors["ana"])


def test_second_answers_of_others_are_never_shown(at: At) -> None:
    study = at("paired")
    visitors = discussing(study)
    before = study.discussions(visitors["ana"])
    answer_all(
        study, {name: visitors[name] for name in ("ben", "cleo")}, {name: AGAIN[name] for name in ("ben", "cleo")}
    )
    assert study.discussions(visitors["ana"]) == before


def test_a_lead_sees_it_once_it_was_opened_and_afterwards(at: At) -> None:
    study = at("paired")
    visitors = begin(study)
    lea = lead(study)
    answer_all(study, visitors, FIRST)
    assert study.discussions(lea) == []
    study.grid().calibration.open_discussion()
    (shown,) = study.discussions(lea)
    assert (len(shown.pairs), shown.n_left, shown.pairs[0].own) == (2, None, None)
    answer_all(study, visitors, AGAIN)
    study.grid().calibration.close()
    assert study.discussions(lea) == [shown]


def test_people_in_other_roles_have_no_part_in_it(at: At) -> None:
    study = at("paired")
    discussing(study)
    study.add_people(["vera"], Role.VALIDATOR)
    assert study.discussions(admit(study, "vera")) == []


def test_answers_are_in_the_wording_that_people_read(at: At) -> None:
    study = at("paired")
    study.save_words(options={YES: "It fits"})
    visitors = discussing(study)
    (shown,) = study.discussions(visitors["ana"])
    assert shown.pairs[0].answers == (("It fits", 2), (NO, 1))
