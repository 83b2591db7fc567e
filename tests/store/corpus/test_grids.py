"""Several grids in one study: each with sides, cells, rounds, settings and work of its own."""

from __future__ import annotations

import pandas as pd
import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from fcpair.params import Setup
from fcpair.records import Role, Status
from fcpair.steps.grids import add_corpus_grid
from fcpair.store import Store, Tx, adjudications, doctor_checks, people
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, grids, sides, texts
from fcpair.store.database.tables import cell
from fcpair.store.oversight import build_progress, runs, settings

SECOND = 2**32


@pytest.fixture
def both(store: Store) -> Store:
    """A study with the grid `main`, 2 x 3, and the grid `other`, 2 x 2, on the same HS."""
    with store.write() as tx:
        hs = list(texts.add_texts(tx, "hs", [(f"h{at}", f"hs {at}", "", {}) for at in range(2)]).values())
        cn = list(texts.add_texts(tx, "cn", [(f"c{at}", f"cn {at}", "", {}) for at in range(3)]).values())
        fill(tx, hs, cn)
        add_corpus_grid(tx, "other", Setup(title="A study"))
    with store.for_grid(2).write() as tx:
        fill(tx, hs, cn[1:])
    return store


def fill(tx: Tx, rows: list[int], columns: list[int]) -> None:
    sides.set_texts(tx, "row", rows)
    sides.set_texts(tx, "column", columns)
    cells.fill(tx)


def test_cells_are_numbered_from_1_in_each_grid_and_every_grid_is_sealed(both: Store) -> None:
    with both.read() as tx:
        assert cells.cells(tx)["cell_id"].tolist() == [1, 2, 3, 4, 5, 6]
        assert cells.number_range(tx) == (1, 6)
    with both.for_grid(2).read() as tx:
        made = cells.cells(tx)
        assert (made["cell_id"] - SECOND).tolist() == [1, 2, 3, 4]
        assert list(zip(made["hs_id"], made["cn_id"], strict=True)) == [(1, 4), (1, 5), (2, 4), (2, 5)]
    for number in (7, SECOND + 5):
        with pytest.raises(IntegrityError, match="the grid is sealed"), both.write() as tx:
            tx.execute(insert(cell), [{"id": number, "row_id": 1, "column_id": 3}])


def test_a_grid_is_made_anew_without_the_others(both: Store) -> None:
    with both.write() as tx:
        build_progress.clear_from(tx, "pair")
        assert cells.n_cells(tx) == 0
        sides.set_drawn(tx, "column", [3, 5])
        assert cells.fill(tx) == (4, 0)
        found = cells.cells(tx)
    assert found["cell_id"].tolist() == [1, 2, 3, 4]
    assert found["cn_id"].tolist() == [3, 5, 3, 5]
    with both.for_grid(2).read() as tx:
        assert cells.n_cells(tx) == 4


def test_cells_follow_the_order_of_the_sides(store: Store) -> None:
    with store.write() as tx:
        hs = list(texts.add_texts(tx, "hs", [(f"h{at}", f"hs {at}", "", {}) for at in range(3)]).values())
        cn = list(texts.add_texts(tx, "cn", [(f"c{at}", f"cn {at}", "", {}) for at in range(3)]).values())
        add_corpus_grid(tx, "other", Setup(title="A study"))
    rows, columns = [hs[2], hs[0], hs[1]], [cn[1], cn[2], cn[0]]
    for grid in (1, 2):
        with store.for_grid(grid).write() as tx:
            fill(tx, rows, columns)
            found = cells.cells(tx)
            assert (found["cell_id"] - (grid - 1) * SECOND).tolist() == list(range(1, 10))
            expected = [(row, column) for row in rows for column in columns]
            assert list(zip(found["hs_id"], found["cn_id"], strict=True)) == expected
            assert not doctor_checks.whole_grid(tx, keep_known=True).faults


def test_work_answers_and_settings_are_of_one_grid(both: Store) -> None:
    with both.write() as tx:
        ana = people.add_people(tx, ["ana"], Role.ANNOTATOR)[0].id
    for grid, pair in ((1, 1), (2, SECOND + 1)):
        with both.for_grid(grid).write() as tx:
            row = {"cell_id": [pair], "person_id": [ana], "position": [1], "status": [Status.OPEN.value]}
            assignments.add_assignments(tx, pd.DataFrame(row), rounds.primary(tx))
            assert assignments.assignments(tx, rounds.primary(tx))["cell_id"].tolist() == [pair]
            assert build_progress.n_built(tx)["assign"] == 1
    with both.for_grid(2).write() as tx:
        adjudications.add_adjudications(tx, pd.DataFrame({"cell_id": [SECOND + 1], "rule": ["person"], "code": [2]}))
        assert adjudications.current_adjudications(tx)["cell_id"].tolist() == [SECOND + 1]
        run = runs.add_run(tx, "partition", {}, {}, "0.6", None)
        settings.save_settings(tx, "partition", {"diamond": "majority"}, run.id)
        assert settings.of_stage(tx, "partition") == {"diamond": "majority"}
    with both.read() as tx:
        assert adjudications.current_adjudications(tx).empty
        assert settings.of_stage(tx, "partition") == {}
        assert [grid.name for grid in grids.keys(tx)] == ["main", "other"]
