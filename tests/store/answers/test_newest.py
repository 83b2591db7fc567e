"""Each assignment says which of its judgements is the newest, whichever way they came."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select, update

from fcpair.records import Origin, Status
from fcpair.store import Store, Tx
from fcpair.store.answers import judgements, task_queries
from fcpair.store.assignment import assignments, rounds
from fcpair.store.database.tables import assignment, judgement
from fcpair.store.maintenance import study_checks
from fcpair.store.oversight import runs
from store.conftest import undone
from store.database.test_hash_chain import fill_three, placed
from store.maintenance.test_invariant_checks import answered

pytestmark = pytest.mark.files

N = 3
ONE = st.integers(1, N)
CODE = st.sampled_from([None, 0, 1, 2])


def fill_with_run(tx: Tx) -> None:
    """Three assignments, of which the first is answered, and a run that takes answers back."""
    fill_three(tx)
    assert runs.add_run(tx, "withdraw labels", {}, {}, "0").id == 1


def newest(tx: Tx) -> dict[int, int | None]:
    """Which judgement each assignment says to be its newest."""
    return {row[0]: row[1] for row in tx.execute(select(assignment.c.id, assignment.c.judgement_id))}


def looked_up(tx: Tx) -> dict[int, int | None]:
    """The same, of all judgements that there are."""
    query = select(judgement.c.assignment_id, func.max(judgement.c.id)).group_by(judgement.c.assignment_id)
    return dict.fromkeys(range(1, N + 1)) | {row[0]: row[1] for row in tx.execute(query)}


def statuses(tx: Tx) -> list[str]:
    return list(tx.execute(select(assignment.c.status).order_by(assignment.c.id)).scalars())


def give(tx: Tx, one: int, code: int | None) -> None:
    """One answer, as it comes online."""
    row = {"skipped": code is None, "adjudication_id": None, "seconds": None, "note": "", "guideline_id": None}
    answer_id = None if code is None else rounds.label_ids(tx)[code]
    status = Status.SKIPPED if code is None else Status.DONE
    task_queries.add_judgement(tx, placed(tx, one), {**row, "answer_id": answer_id}, status)


def bring(tx: Tx, answers: list[tuple[int, int | None]]) -> None:
    """Answers that come together."""
    rows = [answered(one, code, skipped=code is None) for one, code in answers]
    judgements.add_judgements(tx, pd.concat(rows, ignore_index=True), Origin.IMPORTED)


def take_back(tx: Tx, one: int) -> None:
    """Withdraw the newest answer to an assignment, if there is any."""
    if (at := newest(tx)[one]) is not None:
        judgements.withdraw(tx, [at], 1)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just(give), ONE, CODE),
            st.tuples(st.just(bring), st.lists(st.tuples(ONE, CODE), min_size=1, max_size=4)),
            st.tuples(st.just(take_back), ONE),
        ),
        max_size=6,
    )
)
def test_the_judgement_that_an_assignment_names_is_its_newest(
    lasting_store: Store, acts: list[tuple[Any, ...]]
) -> None:
    with undone(lasting_store) as tx:
        fill_with_run(tx)
        for act, *what in acts:
            act(tx, *what)
            assert newest(tx) == looked_up(tx)
        assert study_checks.references(tx).faults == []


def test_what_became_of_assignments_is_what_was_said_last_and_of_one_taken_back_is_left_to_be_said(
    lasting_store: Store,
) -> None:
    with undone(lasting_store) as tx:
        fill_with_run(tx)
        assert statuses(tx) == ["done", "open", "open"]
        bring(tx, [(2, None), (3, 0), (2, 1), (3, None)])
        assert statuses(tx) == ["done", "done", "skipped"]
        assignments.set_status(tx, [1], Status.WITHDRAWN)
        take_back(tx, 1)
        assert (statuses(tx)[0], newest(tx)[1]) == ("withdrawn", 6)


def test_one_that_is_not_the_newest_is_found(lasting_store: Store) -> None:
    """An older one, none, one of another or that is not there, and one where there is none."""
    for assignment_id, named, newest_id in ((1, 1, "3"), (1, None, "3"), (1, 2, "3"), (1, 99, "3"), (3, 2, "none")):
        with undone(lasting_store) as tx:
            fill_with_run(tx)
            bring(tx, [(2, 0), (1, None)])
            tx.execute(update(assignment).where(assignment.c.id == assignment_id).values(judgement_id=named))
            fault = f"says that its newest judgement is {'none' if named is None else named}, but it is {newest_id}"
            assert study_checks.references(tx).faults == [f"row {assignment_id} of `assignment` {fault}"]
