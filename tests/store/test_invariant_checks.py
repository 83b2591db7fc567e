"""What the database itself refuses: changed answers, second copies of a pair, references to nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from operator import methodcaller

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, insert, select, update
from sqlalchemy import text as sql
from sqlalchemy.exc import DBAPIError, IntegrityError

from fcpair.records import Origin, Role, Status
from fcpair.store import Store, Tx, adjudications, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, sides, texts
from fcpair.store.database.tables import adjudication, assignment, cell
from fcpair.store.oversight import build_progress
from store.conftest import undone

pytestmark = pytest.mark.files


def fill(tx: Tx, *, n_hs: int = 2, n_cn: int = 3) -> None:
    """A grid, two people, and one answer and one decision on pair 1."""
    texts.add_texts(tx, "hs", [(f"h{at}", f"hs {at}", "", {}) for at in range(n_hs)])
    cns = texts.add_texts(tx, "cn", [(f"c{at}", f"cn {at}", "", {}) for at in range(n_cn)])
    sides.set_texts(tx, "row", list(range(1, n_hs + 1)))
    sides.set_texts(tx, "column", list(cns.values()))
    cells.fill(tx)
    people.add_people(tx, ["ana", "ben"], Role.ANNOTATOR)
    assignments.add_assignments(tx, assigned(1, 1), rounds.primary(tx))
    judgements.add_judgements(tx, answered(1, 2), Origin.IMPORTED)
    adjudications.add_adjudications(tx, pd.DataFrame({"cell_id": [1], "rule": ["unanimous"], "code": [2]}))


def assigned(cell_id: int, person_id: int) -> pd.DataFrame:
    row = {"cell_id": cell_id, "person_id": person_id, "position": 1, "status": Status.OPEN.value}
    return pd.DataFrame([row])


def answered(assignment_id: int, code: int | None, *, skipped: bool = False) -> pd.DataFrame:
    row = {"assignment_id": assignment_id, "skipped": skipped, "code": code, "note": ""}
    return pd.DataFrame([row], dtype=object)


@pytest.fixture
def filled(store: Store) -> Store:
    with store.write() as tx:
        fill(tx)
    return store


def assert_refused(store: Store, attempt: Callable[[Tx], object], match: str = "") -> None:
    with pytest.raises(DBAPIError, match=match), store.write() as tx:
        attempt(tx)


STATEMENTS = (
    "UPDATE {} SET note = 'changed'",
    "UPDATE {} SET note = note WHERE id = 1",
    "DELETE FROM {}",
    "DELETE FROM {} WHERE id = 1",
    "INSERT OR REPLACE INTO {} SELECT * FROM {} WHERE id = 1",
    "UPDATE OR IGNORE {} SET note = 'changed'",
    "INSERT INTO {} SELECT * FROM {} WHERE id = 1 ON CONFLICT (id) DO UPDATE SET note = 'changed'",
)


def test_an_answer_or_decision_cannot_be_changed_or_deleted_or_go_with_its_assignment_or_grid(filled: Store) -> None:
    for table in ("judgement", "adjudication"):
        for statement in STATEMENTS:
            wrong = sql(statement.format(table, table))
            assert_refused(filled, methodcaller("execute", wrong), f"{table} is append-only")
    assert_refused(filled, lambda tx: assignments.clear_assignments(tx, rounds.primary(tx)), "FOREIGN KEY")
    assert_refused(filled, lambda tx: build_progress.clear_from(tx, "pair"), "FOREIGN KEY")
    with filled.write() as tx:
        judgements.add_judgements(tx, answered(1, 0), Origin.IMPORTED)
        assert judgements.answer_history(tx, 1)["code"].tolist() == [2, 0]


def test_a_second_copy_of_a_pair_or_of_a_grid_is_refused(filled: Store) -> None:
    for row_id, column_id in ((1, 3), (1, 4), (2, 5)):
        row = {"row_id": row_id, "column_id": column_id}
        assert_refused(filled, methodcaller("execute", insert(cell), [row]), "the grid is sealed")
    with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: cell\.id"), filled.write() as tx:
        cells.fill(tx)


def test_a_grid_that_came_from_a_file_is_sealed_too(store: Store) -> None:
    with store.write() as tx:
        texts.add_texts(tx, "hs", [("h", "hs", "", {})])
        texts.add_texts(tx, "cn", [("c", "cn", "", {})])
        cells.add(tx, pd.DataFrame({"id": [7], "hs_id": [1], "cn_id": [2]}))
    again = pd.DataFrame({"id": [8], "hs_id": [1], "cn_id": [2]})
    assert_refused(store, lambda tx: cells.add(tx, again), "the grid is sealed")


@pytest.mark.slow
@given(
    n_hs=st.integers(1, 4),
    n_cn=st.integers(1, 6),
    drawn=st.sets(st.integers(0, 5), min_size=1),
    corpus=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=30),
    order=st.randoms(use_true_random=False),
)
def test_the_grid_is_the_product_less_the_corpus_each_pair_once(
    lasting_store: Store, n_hs: int, n_cn: int, drawn: set[int], corpus: list[tuple[int, int]], order: object
) -> None:
    with undone(lasting_store) as tx:
        hs = list(texts.add_texts(tx, "hs", [(f"h{at}", "x", "", {}) for at in range(n_hs)]).values())
        cn = list(texts.add_texts(tx, "cn", [(f"c{at}", "x", "", {}) for at in range(n_cn)]).values())
        known = [(hs[i % n_hs], cn[j % n_cn]) for i, j in corpus]
        texts.add_source_pairs(tx, [(*sides, {}) for sides in known])
        order.shuffle(hs)  # type: ignore[attr-defined]
        order.shuffle(cn)  # type: ignore[attr-defined]
        taken = list(dict.fromkeys(cn[at % n_cn] for at in drawn))
        sides.set_texts(tx, "row", hs)
        sides.set_texts(tx, "column", cn)
        sides.set_drawn(tx, "column", taken)
        n_pairs, left_out = cells.fill(tx)
        made = cells.cells(tx)
    expected = [(h, c) for h in hs for c in cn if c in taken and (h, c) not in known]
    assert list(zip(made["hs_id"], made["cn_id"], strict=True)) == expected
    assert (n_pairs, left_out) == (len(expected), len(hs) * len(taken) - len(expected))


def assign(cell_id: int, person_id: int, **more: int) -> Callable[[Tx], object]:
    return lambda tx: assignments.add_assignments(tx, assigned(cell_id, person_id).assign(**more), rounds.primary(tx))


def judge(assignment_id: int, code: int | None, *, skipped: bool) -> Callable[[Tx], object]:
    row = answered(assignment_id, code, skipped=skipped)
    return lambda tx: judgements.add_judgements(tx, row, Origin.IMPORTED)


WRONG: list[tuple[Callable[[Tx], object], str]] = [
    (assign(1, 1), "UNIQUE"),  # nobody is given a pair twice in a round
    (assign(2, 2, replaces=1), "UNIQUE"),  # a slot is taken over once
    (judge(1, None, skipped=False), "answer_or_skip"),
    (judge(1, 2, skipped=True), "answer_or_skip"),
    # what refers to nothing
    (assign(999, 1), "FOREIGN KEY"),
    (assign(1, 999), "FOREIGN KEY"),
    (judge(999, None, skipped=True), "FOREIGN KEY"),
    (
        lambda tx: adjudications.add_adjudications(
            tx, pd.DataFrame({"cell_id": [999], "rule": ["person"], "code": [2]})
        ),
        "FOREIGN KEY",
    ),
    (lambda tx: tx.execute(update(assignment).values(cell_id=999)), "FOREIGN KEY"),
    (lambda tx: sides.set_texts(tx, "column", [999]), "FOREIGN KEY"),
    (lambda tx: texts.add_source_pairs(tx, [(1, 999, {})]), "FOREIGN KEY"),
]


def test_rows_that_cannot_be_are_refused(filled: Store) -> None:
    with filled.write() as tx:
        assignments.add_assignments(tx, assigned(1, 2).assign(replaces=1), rounds.primary(tx))
        assignments.add_assignments(tx, assigned(1, 1), rounds.validation(tx))  # the two rounds are apart
        assert len(assignments.assignments(tx, rounds.validation(tx))) == 1
    for attempt, message in WRONG:
        assert_refused(filled, attempt, message)


def test_references_are_checked_again_after_bulk_work_also_if_it_failed(filled: Store) -> None:
    with filled.write(bulk=True):
        pass
    assert_refused(filled, assign(999, 1), "FOREIGN KEY")
    with pytest.raises(ZeroDivisionError), filled.write(bulk=True):
        raise ZeroDivisionError
    assert_refused(filled, assign(999, 1), "FOREIGN KEY")


def test_answers_may_be_added_by_the_thousand_and_are_undone_by_a_failing_row(filled: Store) -> None:
    more = pd.concat([answered(1, 2)] * 3000, ignore_index=True)
    with filled.write() as tx:
        judgements.add_judgements(tx, more, Origin.SIMULATED)
    with pytest.raises(IntegrityError), filled.write() as tx:
        judgements.add_judgements(tx, pd.concat([more, answered(1, None)], ignore_index=True), Origin.IMPORTED)
    with filled.read() as tx:
        assert judgements.n_judgements(tx) == 3001
        assert tx.execute(select(func.count()).select_from(adjudication)).scalar_one() == 1
