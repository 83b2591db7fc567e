"""Activity rests on every answer of a study: who gave it, when, on what, and which is the first on its pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from fcpair.params import Annotate
from fcpair.records import Origin
from fcpair.steps.oversight.activity import current_labels
from fcpair.store import Tx
from fcpair.store.answers import answer_arrays as answer_arrays_module
from fcpair.store.answers import judgements
from fcpair.store.answers.answer_arrays import answer_arrays, n_by_origin
from fcpair.store.assignment import rounds
from fcpair.store.database.statements import column_chunks
from fcpair.study import Study
from steps.online import admit, give, stored_id

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
        assert n_by_origin(tx) == {"online": 2}
    assert len(answers) == 3
    assert answers.assignment_id.tolist() == [stored_id(study, one) for one in (first, second, first)]
    assert answers.person_id.tolist() == [ana.id] * 3
    assert np.array_equal(answers.seconds, [2.5, np.nan, np.nan], equal_nan=True)
    assert answers.skipped.tolist() == [False, True, False]
    assert answers.is_first().tolist() == [True, True, False]
    assert answers.current.tolist() == [False, True, True]
    assert [bool(one) for one in answers.answer_id.tolist()] == [True, False, True]
    assert answers.is_from(Origin.ONLINE).all()
    assert not answers.is_from(Origin.SIMULATED).any()
    assert [one.decode() for one in answers.at.tolist()] == times
    assert answers.time.tolist() == [datetime.fromisoformat(one).timestamp() for one in times]
    assert answers.where(answers.skipped).assignment_id.tolist() == [stored_id(study, second)]


@pytest.mark.server
def test_a_study_without_answers_has_none(at: At) -> None:
    with at("dealt").grid()._store.read() as tx:
        answers = answer_arrays(tx)
    assert (len(answers), answers.is_first().tolist()) == (0, [])
    assert answers.cell_id.dtype == np.dtype(np.int64)


@pytest.mark.server
def test_answers_that_were_read_are_not_read_again(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    study = at("labelled")
    n_read: list[int] = []

    def noting(tx: Tx, query: Any) -> Iterator[Any]:
        for part in column_chunks(tx, query):
            n_read.append(len(part[0]))
            yield part

    monkeypatch.setattr(answer_arrays_module, "column_chunks", noting)
    with study._store.read() as tx:
        before = answer_arrays(tx)
        assert answer_arrays(tx) is before
    assert n_read == [len(before)]
    study.grid().withdraw(study.log()[-1].id, "labels")
    with study._store.read() as tx:
        after = answer_arrays(tx)
    n_withdrawn = int(before.current.sum() - after.current.sum())
    assert n_read == [len(before), n_withdrawn]
    assert len(after) == len(before)
    assert n_withdrawn > 0


def test_who_reads_an_older_state_of_the_study_gets_its_answers(at: At) -> None:
    study = at("dealt")
    study.share()
    ana, desk = admit(study, "ana"), study.work_queue(Annotate())
    give(desk, ana, "appropriate", desk.tasks(ana)[0].assignment_id)
    with study._store.read() as older:
        rounds.primary(older)  # from now on it sees one state
        give(desk, ana, "skip", desk.tasks(ana)[0].assignment_id)
        with study._store.read() as newer:
            assert len(answer_arrays(newer)) == 2
        assert len(answer_arrays(older)) == 1


@pytest.mark.parametrize("of", ["labelled", "checked"])
def test_current_labels_are_those_of_the_study(at: At, of: str) -> None:
    with at(of).grid()._store.read() as tx:
        expected = judgements.label_arrays(tx, "cell_id", "hs_id", "cn_id", "person_id", "code")
        labels = current_labels(tx, answer_arrays(tx))
    order = np.lexsort((labels["person_id"], labels["cell_id"]))
    assert {name: column[order].tolist() for name, column in labels.items()} == {
        name: column.tolist() for name, column in expected.items()
    }


TIMES = (
    "2026-03-02T08:00:00.000+00:00",
    "2026-03-02T08:00:00.001+00:00",
    "1969-12-31T23:59:59.999+00:00",
    "2026-03-02T08:00:00+00:00",
    "2026-03-02T08:00:00.123456+00:00",
    "2026-03-02T08:00:00.000+01:00",
    "2026-03-02T08:00:00Z",
    "2026-03-02T08:00+05:30",
)


def test_times_are_read_as_they_are_written() -> None:
    read = answer_arrays_module._posix_times(np.array(TIMES, "S32"))
    assert read.tolist() == [datetime.fromisoformat(one).timestamp() for one in TIMES]
