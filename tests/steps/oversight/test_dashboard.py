"""The lead's view: right figures at every stage, nothing written, nobody held up; and the answers on which it rests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import text

from fcpair.errors import InputError, UnknownIdError
from fcpair.params import Adjudicate, Annotate, Note, Simulate
from fcpair.records import Origin, Role, Visitor
from fcpair.report.table_rows import log_lines
from fcpair.steps.base import figure_cache
from fcpair.steps.oversight import dashboard
from fcpair.steps.oversight.activity import StageActivity, current_labels
from fcpair.steps.oversight.dashboard import Monitor
from fcpair.steps.rules.tallies import tally
from fcpair.store import Tx
from fcpair.store.answers import activity_log, judgements
from fcpair.store.answers import answer_arrays as answer_arrays_module
from fcpair.store.answers.answer_arrays import answer_arrays, n_by_origin
from fcpair.store.assignment import rounds
from fcpair.store.database.statements import column_chunks
from fcpair.study import Study
from steps.calibrated import ALPHA, ALPHA_AFTER, calibrated
from steps.online import admit, give, stored_id
from steps.releasing import full_form
from steps.small import ANNOTATORS, STAGES, At, dump, with_grid


def answer(study: Study, visitor: Visitor, n: int, *, seconds: float | None = None) -> list[int]:
    """Answer the next `n` pairs online; returns them."""
    desk = study.work_queue(Annotate())
    answered = []
    for _ in range(n):
        task = desk.tasks(visitor)[0]
        give(desk, visitor, "appropriate", task.assignment_id, seconds=seconds)
        answered.append(task.cell_id)
    return answered


def change(study: Study, visitor: Visitor, *, seconds: float | None = None) -> None:
    """Change the latest answer online."""
    desk = study.work_queue(Annotate())
    give(desk, visitor, "not_sure", desk.answers(visitor)[0].assignment_id, seconds=seconds)


def stage(study: Study, name: str, now: datetime | None = None) -> StageActivity:
    return next(stage for stage in Monitor(study.grid()).stages(now) if stage.name == name)


@pytest.mark.server
@pytest.mark.parametrize("reached", STAGES)
def test_every_panel_has_something_to_say_at_every_stage_and_writes_nothing(at: At, reached: str) -> None:
    study = at(reached)
    before = dump(study)
    monitor = Monitor(study.grid())
    monitor.stages()
    monitor.exposures()
    monitor.speed()
    monitor.flags()
    monitor.people()
    assert (monitor.cell_map() is None) == (STAGES.index(reached) < STAGES.index("paired"))
    has_labels = STAGES.index(reached) >= STAGES.index("labelled")
    assert (monitor.agreement() is not None) == (monitor.decisions().tiers is not None) == has_labels
    assert dump(study) == before


def test_progress_and_the_end_by_the_daily_rate_rest_on_the_answers_online(at: At) -> None:
    study = at("dealt")
    ana = admit(study, "ana")
    answer(study, ana, 3)
    label = stage(study, "label")
    work = {person.name: (person.done, person.open, person.n_today) for person in label.people}
    assert (work["ana"], work["ben"]) == ((3, 11, 3), (0, 14, 0))
    assert (label.done, label.open, label.vacant) == (3, 39, 0)
    now = datetime.now(UTC) + timedelta(hours=1)
    label = stage(study, "label", now)
    assert label.per_day == 3
    assert label.end_at == pytest.approx((now + timedelta(days=13)).timestamp())
    assert [person.outlook.per_day for person in label.people] == [3, 0, 0]
    assert label.last_end is None
    assert label.longest_left_s is None
    label = stage(study, "label", datetime.now(UTC) + timedelta(days=8))
    assert (label.per_day, label.end_at) == (0, None)  # after a week without answers
    label = stage(at("labelled"), "label")  # from files, which have neither pace nor day
    assert [(person.done, person.n_today, person.outlook.pace_s) for person in label.people] == [(14, 0, None)] * 3


@pytest.mark.server
def test_neither_going_back_to_an_answer_nor_a_skip_is_progress(at: At) -> None:
    study = at("dealt")
    ana = admit(study, "ana")
    answer(study, ana, 2)
    change(study, ana)
    label = stage(study, "label")
    assert (label.done, label.people[0].n_today, label.per_day) == (2, 3, 2)
    give(study.work_queue(Annotate()), ana, "skip")
    assert stage(study, "label").per_day == 2
    for name in ("ana", "ben"):
        study.retire(name)
    assert stage(study, "label").vacant > 0  # a skip that nobody can take


def test_adjudicators_have_one_queue_and_a_pair_counts_for_the_one_whose_decision_stands(at: At) -> None:
    study, grid = with_grid(at("labelled"))
    waiting = grid.waiting_pairs()
    grid.decide(waiting[0], 2, by="judy")
    adjudicating = stage(study, "adjudicate")
    assert (adjudicating.done, adjudicating.open) == (1, len(waiting) - 1)
    assert [(person.name, person.done, person.n_today) for person in adjudicating.people] == [("judy", 1, 1)]
    grid.take_back(waiting[0], by="judy")
    grid.decide(waiting[0], 0, by="jack")
    work = [(person.name, person.done) for person in stage(study, "adjudicate").people]
    assert work == [("judy", 0), ("jack", 1)]


@pytest.mark.server
def test_exposure_counts_pairs_texts_and_decisions_but_not_of_simulated_people(at: At) -> None:
    grid = at("labelled").grid()
    grid.decide(grid.waiting_pairs()[0], 2, by="judy")
    read = {person.name: (own.n_pairs, own.n_hs, own.n_today) for person, own in Monitor(grid).exposures()}
    assert (read["ana"], read["judy"]) == ((14, 4, 0), (1, 1, 1))
    grid = at("dealt").grid()
    grid.simulate(Simulate(seed=3))
    assert {own.n_pairs for _, own in Monitor(grid).exposures()} == {0}
    assert "SIMULATED" in str(grid.desk.simulated_note)


def test_answers_faster_than_reading_are_found_newest_first_but_neither_skips_nor_changes(at: At) -> None:
    """Nobody has to read what they do not want to judge, or have judged before."""
    study = at("dealt")
    ana, ben = admit(study, "ana"), admit(study, "ben")
    give(study.work_queue(Annotate()), ben, "skip", seconds=0.1)
    assert Monitor(study.grid()).speed().people == ()
    fast = answer(study, ana, 2, seconds=0.2)
    answer(study, ana, 1, seconds=30.0)
    change(study, ana, seconds=0.1)
    answer(study, ben, 1)
    speed = Monitor(study.grid()).speed()
    assert [(person.name, person.n_timed, person.n_too_fast) for person in speed.people] == [("ana", 3, 2)]
    assert [fast_answer.cell_id for fast_answer in speed.newest] == fast[::-1]
    assert all(fast_answer.seconds < fast_answer.least_s for fast_answer in speed.newest)


def test_figures_are_those_of_the_study(at: At) -> None:
    grid = at("checked").grid()
    monitor = Monitor(grid)
    tiers = monitor.decisions().tiers
    assert monitor.agreement() == grid.agreement()
    assert monitor.alpha() == grid.agreement().alpha
    assert tiers is not None
    *tables, _of_verdicts = grid.tiers().table().tables
    assert [pd.DataFrame(rows).to_dict() for rows in tiers.tables] == [table.to_dict() for table in tables]


@pytest.mark.server
def test_figures_follow_what_happens_unless_they_take_long(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = at("labelled").grid()
    monitor = Monitor(grid)
    before = parts(monitor)
    assert all(new is old for new, old in zip(parts(monitor), before, strict=True))
    grid.adjudicate(Adjudicate("majority"))
    assert not any(new is old for new, old in zip(parts(monitor), before, strict=True))
    monkeypatch.setattr(figure_cache, "SLOW_S", 0.0)
    monkeypatch.setattr(figure_cache, "REST_FACTOR", 1e6)
    grid = at("labelled").grid()
    monitor = Monitor(grid)
    before = parts(monitor)
    grid.adjudicate(Adjudicate("majority"))
    assert all(new is old for new, old in zip(parts(monitor), before, strict=True))


def parts(monitor: Monitor) -> list[object]:
    return [monitor.alpha(), monitor.agreement(), monitor.decisions(), monitor.people(), monitor.cell_map()]


@pytest.mark.server
def test_looking_holds_up_nobody_who_answers(at: At) -> None:
    """An answer is saved while the lead's transaction is open, and the lead goes on seeing one state of the study."""
    study = at("dealt")
    study.share()
    ana = admit(study, "ana")
    monitor = Monitor(study.grid())
    with study._store.read() as tx:
        before = activity_log.change_marks(tx)
        writer = threading.Thread(target=answer, args=(study, ana, 1))
        writer.start()
        writer.join(timeout=60)
        assert not writer.is_alive()
        assert activity_log.change_marks(tx) == before
    assert monitor.marks() != before
    study.close()


@pytest.mark.server
def test_panels_of_a_moment_count_once_and_follow_what_happens(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    n_counted: list[int] = []

    def counting(tx: Tx) -> object:
        n_counted.append(1)
        return tally(tx)

    monkeypatch.setattr(dashboard, "tally", counting)
    grid = at("labelled").grid()
    monitor = Monitor(grid)
    for _ in range(2):
        monitor.notes()
        monitor.stages()
        monitor.headlines()
        monitor.decisions()
        monitor.cell_map()
    assert len(n_counted) == 1
    for _ in range(2):
        with grid._store.read() as tx:
            assert monitor._tally(tx) == tally(tx)
        grid.adjudicate(Adjudicate("majority"))


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
            assert judgements.n_by_origin(tx) == n_by_origin(tx) == {"online": n}
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


@pytest.mark.server
def test_answers_come_in_order_with_what_is_known_of_them(at: At) -> None:
    study = at("dealt")
    with study.grid()._store.read() as tx:
        none = answer_arrays(tx)
    assert (len(none), none.is_first().tolist()) == (0, [])
    assert none.cell_id.dtype == np.dtype(np.int64)
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
    assert answers.assignment_id.tolist() == [stored_id(study, task) for task in (first, second, first)]
    assert answers.person_id.tolist() == [ana.id] * 3
    assert np.array_equal(answers.seconds, [2.5, np.nan, np.nan], equal_nan=True)
    assert answers.skipped.tolist() == [False, True, False]
    assert answers.is_first().tolist() == [True, True, False]
    assert answers.current.tolist() == [False, True, True]
    assert [bool(answer_id) for answer_id in answers.answer_id.tolist()] == [True, False, True]
    assert answers.is_from(Origin.ONLINE).all()
    assert not answers.is_from(Origin.SIMULATED).any()
    assert [at.decode() for at in answers.at.tolist()] == times
    assert answers.time.tolist() == [datetime.fromisoformat(time).timestamp() for time in times]
    assert answers.where(answers.skipped).assignment_id.tolist() == [stored_id(study, second)]


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


def test_current_labels_are_those_of_the_study(at: At) -> None:
    for stage_name in ("labelled", "checked"):
        with at(stage_name).grid()._store.read() as tx:
            expected = judgements.label_arrays(tx, "cell_id", "hs_id", "cn_id", "person_id", "code")
            labels = current_labels(tx, answer_arrays(tx))
        order = np.lexsort((labels["person_id"], labels["cell_id"]))
        assert {name: column[order].tolist() for name, column in labels.items()} == {
            name: column.tolist() for name, column in expected.items()
        }


def test_times_are_read_as_they_are_written() -> None:
    times = [
        "2026-03-02T08:00:00.000+00:00",
        "2026-03-02T08:00:00.001+00:00",
        "1969-12-31T23:59:59.999+00:00",
        "2026-03-02T08:00:00+00:00",
        "2026-03-02T08:00:00.123456+00:00",
        "2026-03-02T08:00:00.000+01:00",
        "2026-03-02T08:00:00Z",
        "2026-03-02T08:00+05:30",
    ]
    read = answer_arrays_module._posix_times(np.array(times, "S32"))
    assert read.tolist() == [datetime.fromisoformat(time).timestamp() for time in times]


TALKED = "Two annotators talked on Tuesday."


def test_a_note_is_a_run_with_its_text_and_its_pair_and_no_release_publishes_it(at: At, tmp_path: Path) -> None:
    study = at("checked")
    grid, before, n_runs = study.grid(), study.status(), len(study.log())
    for note, error in (
        (Note(" \n"), InputError),
        (Note(TALKED, 25), UnknownIdError),
        (Note(TALKED, 2**62), UnknownIdError),
    ):
        with pytest.raises(error) as refused:
            grid.desk.add_note(note)
        assert refused.value.parameter == ("pair" if note.pair else "text")
    assert len(study.log()) == n_runs
    run = grid.desk.add_note(text=TALKED, pair=5)
    assert study.log()[-1] == run
    assert (run.stage, run.params, run.counts) == ("note", {"text": TALKED, "pair": 5, "flag": None}, {})
    assert run.told == "a note about pair 5 was added to the log"
    assert grid.desk.add_note(Note(TALKED)).told == "a note was added to the log"
    assert study.status() == before
    runs = tuple(grid.desk.add_note(text=TALKED, pair=pair) for pair in (5, 6))
    assert [line.n for line in log_lines(runs)] == [1, 1]  # in a row, yet lines of their own
    study.release("v1", tmp_path / "v1", full_form(tmp_path))
    assert TALKED not in (tmp_path / "v1" / "runs.jsonl").read_text("utf-8")


def test_the_report_has_agreement_before_and_after_a_calibration_where_there_was_one(at: At, tmp_path: Path) -> None:
    study = at("paired")
    calibrated(study)
    page = study.report(tmp_path / "r.html").read_text("utf-8")
    section = page[page.index("Calibration for round label") :]
    assert "4 pairs that everybody answered first; people differ on 2, after the discussion on 1." in section
    row = section[section.index("Krippendorff&#39;s alpha, nominal") :].split("</tr>")[0]
    assert f"{ALPHA:.3f}" in row
    assert f"{ALPHA_AFTER:.3f}" in row
    assert "alibration" not in at("checked").report(tmp_path / "r.html").read_text("utf-8")


def test_a_note_flags_a_pair_until_its_flag_is_removed(at: At) -> None:
    study, grid = with_grid(at("labelled"))
    monitor = Monitor(grid)
    with pytest.raises(InputError, match="has no effect without `pair`"):
        grid.desk.add_note(Note("irony", flag="set"))
    with study.acting_as("lea"):
        run = grid.desk.add_note(Note("irony", 5, "set"))
    grid.desk.add_note(Note(pair=7, flag="set"))
    assert run.told == "a note about pair 5 was added to the log; 1 pair is flagged"
    assert [(flag.cell_id, flag.by, flag.note, flag.outcome) for flag in monitor.flags()] == [
        (7, None, "", ""),
        (5, "lea", "irony", ""),
    ]
    assert grid.desk.place_flag(5, "").counts == {"pairs": 1}
    grid.desk.add_note(Note(pair=7, flag="remove"))
    assert [flag.cell_id for flag in monitor.flags()] == [5]
    assert sum(run.stage == "note" for run in study.log()) == 3


def test_what_is_left_to_validate_is_counted_whether_it_is_assigned_or_not(at: At) -> None:
    study, grid = with_grid(at("decided"))
    n_decided = study.status()["pairs"]["no_verdict"]
    assert stage(study, "validate").unchecked == n_decided
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(pairs=2)
    assert (stage(study, "validate").open, stage(study, "validate").unchecked) == (2, n_decided)
