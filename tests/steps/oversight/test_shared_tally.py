"""The tally that several figures share is the one that would be counted now, and counted once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fcpair.params import Adjudicate, Simulate
from fcpair.records import Role
from fcpair.steps.oversight import dashboard
from fcpair.steps.oversight.dashboard import Monitor
from fcpair.steps.rules.tallies import tally
from fcpair.store import Tx
from fcpair.store.answers import answer_arrays, judgements
from fcpair.study import Study
from steps.calibrated import calibrated
from steps.online import admit, give
from steps.small import ANNOTATORS

At = Callable[[str], Study]


def test_panels_of_a_moment_count_the_pairs_once(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    n_counted: list[int] = []

    def counting(tx: Tx) -> object:
        n_counted.append(1)
        return tally(tx)

    monkeypatch.setattr(dashboard, "tally", counting)
    monitor = Monitor(at("labelled").grid())
    for _ in range(2):
        monitor.notes()
        monitor.stages()
        monitor.headlines()
        monitor.decisions()
        monitor.cell_map()
    assert len(n_counted) == 1


@pytest.mark.server
def test_the_tally_follows_what_happens(at: At) -> None:
    grid = at("labelled").grid()
    monitor = Monitor(grid)
    for change in (lambda: None, lambda: grid.adjudicate(Adjudicate("majority"))):
        change()
        with grid._store.read() as tx:
            assert monitor._tally(tx) == tally(tx)


def test_the_notes_are_those_of_the_status(at: At) -> None:
    study = at("dealt")
    study.grid().simulate(Simulate(seed=1))
    study.save_words(language="nl")  # in which there are no pages
    monitor, status = Monitor(study.grid()), study.status()
    assert list(monitor.notes().notes) == status["notes"] != []
    assert monitor.simulated_note() == monitor.notes().simulated == status["simulated"] is not None


@pytest.mark.server
def test_a_calibration_counts_once_where_its_answers_are_carried_over(at: At) -> None:
    """Twelve first answers and six second ones; once the first are labels, these twelve are what figures rest on."""
    study = at("paired")
    calibrated(study, "first")
    for n in (18, 12):
        with study.grid()._store.read() as tx:
            assert judgements.n_by_origin(tx) == answer_arrays.n_by_origin(tx) == {"online": n}
        assert study.status()["judgements"] == {"online": n}
        if n == 18:
            study.grid().assign()
    with study.grid()._store.read() as tx:
        assert judgements.n_by_people(tx) == 30


@pytest.mark.server
def test_figures_of_a_simulated_calibration_say_so_whatever_people_answer_later(at: At) -> None:
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    grid = study.grid()
    grid.calibration.start(pairs=4, seed=2)
    assert grid.calibration.simulated_note is None
    grid.simulate(seed=2)
    grid.calibration.open_discussion()
    grid.calibration.close()
    assert (
        grid.desk.simulated_note
        == grid.calibration.simulated_note
        == "12 of 12 judgements are SIMULATED; no figure here is about people"
    )
    grid.assign()
    desk, ana = study.work_queue(), admit(study, "ana")
    give(desk, ana, "appropriate", desk.tasks(ana, 1)[0].assignment_id)
    assert grid.desk.simulated_note is Monitor(grid).simulated_note() is None
    assert str(grid.calibration.simulated_note).startswith("12 of 12 judgements are SIMULATED")
