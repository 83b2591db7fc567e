"""Activity rests on every answer of a study: who gave it, when, on what, and which is the first on its pair."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import numpy as np
import pytest
from sqlalchemy import text

from fcpair.params import Annotate
from fcpair.records import Origin
from fcpair.store.answers.answer_arrays import answer_arrays
from fcpair.study import Study
from steps.online import admit, give

At = Callable[[str], Study]


@pytest.mark.server
def test_answers_come_in_order_with_what_is_known_of_them(at: At) -> None:
    study = at("dealt")
    ana, desk = admit(study, "ana"), study.work_queue(Annotate())
    first, second = desk.tasks(ana, 2)
    give(desk, ana, "appropriate", first.assignment_id, seconds=2.5)
    give(desk, ana, "skip", second.assignment_id)
    give(desk, ana, "not_sure", first.assignment_id)
    with study.grid()._store.read() as tx:
        answers = answer_arrays(tx)
        times = tx.execute(text("SELECT at FROM judgement ORDER BY id")).scalars().all()
    assert len(answers) == 3
    assert answers.assignment_id.tolist() == [one.assignment_id for one in (first, second, first)]
    assert answers.person_id.tolist() == [ana.id] * 3
    assert np.array_equal(answers.seconds, [2.5, np.nan, np.nan], equal_nan=True)
    assert answers.skipped.tolist() == [False, True, False]
    assert answers.is_first().tolist() == [True, True, False]
    assert answers.is_from(Origin.ONLINE).all()
    assert not answers.is_from(Origin.SIMULATED).any()
    assert [one.decode() for one in answers.at.tolist()] == times
    assert answers.time.tolist() == [datetime.fromisoformat(one).timestamp() for one in times]
    assert answers.where(answers.skipped).assignment_id.tolist() == [second.assignment_id]


@pytest.mark.server
def test_a_study_without_answers_has_none(at: At) -> None:
    with at("dealt").grid()._store.read() as tx:
        answers = answer_arrays(tx)
    assert (len(answers), answers.is_first().tolist()) == (0, [])
    assert answers.cell_id.dtype == np.dtype(np.int64)
