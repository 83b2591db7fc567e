"""The queues that adjudicators can choose, their orders, and the kept list of conflicts, as it would be found anew."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from threading import Event, Thread

import pandas as pd
import pytest
from conftest import one_short
from sqlalchemy import Connection

from fcpair.errors import InputError, StudyError
from fcpair.files.tables.tabular import read_table
from fcpair.grid import AdjudicationQueue, CaseOrder, CaseQueue
from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.stages.adjudication.aggregate import LabelData
from fcpair.steps.adjudication import case_queues
from fcpair.steps.adjudication.case_queues import current_conflicts
from fcpair.steps.base.context import GridContext
from fcpair.steps.rules import permissions, rule_decisions
from fcpair.store.assignment import assignments, rounds
from fcpair.store.database.backends import sqlite
from fcpair.store.database.backends.protocol import driver
from fcpair.study import Study
from steps.deciding import adjudicators, decide, decision_on, first_case, wait_for_ranking
from steps.online import at_desk, give
from steps.people.test_slots import Walk
from steps.small import At, labels_of, record, write_csv

Alone = tuple[Study, AdjudicationQueue, int]
NAMES = ("judy", "jack", "jill")
DOUBT = CaseOrder.DOUBT


@pytest.fixture
def study(at: At) -> Study:
    """A study whose labels are all in, with three adjudicators."""
    study = at("labelled")
    adjudicators(study, *NAMES)
    return study


def id_of(study: Study, name: str) -> int:
    return next(person.id for person in study.people if person.name == name)


def walk(study: Study, name: str, queue: CaseQueue = CaseQueue.ALL, order: CaseOrder = CaseOrder.SPREAD) -> list[int]:
    """The pairs that somebody is shown who leaves each for later, until one comes again."""
    cases, person = AdjudicationQueue(study.grid()), id_of(study, name)
    if order is DOUBT:
        cases.next(person, queue=queue, order=order)
        wait_for_ranking(cases)
    pairs: list[int] = []
    case = cases.next(person, queue=queue, order=order)
    while case and case.cell_id not in pairs:
        pairs.append(case.cell_id)
        case = cases.next(person, case.cell_id, queue=queue, order=order)
    return pairs


def count(study: Study, name: str) -> dict[CaseQueue, int]:
    return AdjudicationQueue(study.grid()).n_in_queues(id_of(study, name))


def test_not_sure_has_the_pairs_with_such_a_label_alone(study: Study) -> None:
    rows, waiting = study.grid().labels(), set(study.grid().waiting_pairs())
    unsure = set(rows["pair"][rows["label"] == "not_sure"]) & waiting
    assert 0 < len(unsure) < len(waiting)
    assert set(walk(study, "judy", CaseQueue.UNSURE)) == unsure
    assert count(study, "judy") == {
        CaseQueue.ALL: len(waiting),
        CaseQueue.UNSURE: len(unsure),
        CaseQueue.FLAGGED: 0,
        CaseQueue.AGAIN: 0,
    }


def test_flagged_has_one_s_own_flagged_decisions_and_those_that_wait_again(study: Study) -> None:
    cases, judy = AdjudicationQueue(study.grid()), id_of(study, "judy")
    first, second, third = study.grid().waiting_pairs()[:3]
    for pair in (first, second, third):
        decide(study, judy, pair, flagged=pair != third)
    assert walk(study, "judy", CaseQueue.FLAGGED) == [first, second]
    assert cases.next(judy, second, queue=CaseQueue.FLAGGED) is None
    assert count(study, "judy")[CaseQueue.FLAGGED] == 2
    assert walk(study, "jack", CaseQueue.FLAGGED) == []
    cases.undo(judy, first, "undo-request")
    assert walk(study, "jack", CaseQueue.FLAGGED) == [first]


def test_time_left_is_by_one_s_own_pace_once_that_is_known(study: Study) -> None:
    cases, judy = AdjudicationQueue(study.grid()), id_of(study, "judy")
    pairs = study.grid().waiting_pairs()
    for pair in pairs[:5]:
        decide(study, judy, pair)
    assert cases.left_s(judy, 2) is None
    decide(study, judy, pairs[5])
    left = cases.left_s(judy, 10)
    assert left is not None
    assert left == pytest.approx(5 * (cases.left_s(judy, 2) or 0))
    assert cases.left_s(judy, 0) == 0


def test_second_looks_have_what_was_decided_before_its_labels_changed(study: Study, tmp_path: Path) -> None:
    rows, pairs = study.grid().labels(), study.grid().waiting_pairs()
    pair = next(
        pair for pair in pairs if set(rows["label"][rows["pair"] == pair]) == {"appropriate", "not_appropriate"}
    )
    decide(study, id_of(study, "judy"), pair)
    assert walk(study, "judy", CaseQueue.AGAIN) == []
    who = rows["annotator"][rows["pair"] == pair].iloc[0]
    record(study, tmp_path, [(str(who), pair, "not_sure")], supersede=True)
    assert walk(study, "judy", CaseQueue.AGAIN) == [pair]
    assert count(study, "jack")[CaseQueue.AGAIN] == 1


def test_by_row_all_conflicts_of_a_row_come_one_after_the_other(study: Study) -> None:
    rows = study.grid().labels()
    row_of = dict(zip(rows["pair"].tolist(), rows["hs_id"].tolist(), strict=True))
    for name in NAMES:
        pairs = walk(study, name, order=CaseOrder.ROW)
        assert sorted(pairs) == sorted(study.grid().waiting_pairs())
        runs = [row for row, _ in groupby(row_of[pair] for pair in pairs)]
        assert len(runs) == len(set(runs)) > 1


def test_by_doubt_they_take_turns_and_the_pair_in_most_doubt_is_first(study: Study, tmp_path: Path) -> None:
    """Doubt is that of Dawid and Skene's model, and 1 where it says nothing."""
    grid = study.grid()
    frame = grid.aggregate(["dawid-skene"]).to_frame()
    doubt = dict(zip(frame["pair"].tolist(), frame["doubt"].tolist(), strict=True))
    doubts = {pair: doubt.get(pair, 1.0) for pair in grid.waiting_pairs()}
    ranked = sorted(doubts, key=lambda pair: (-doubts[pair], pair))
    assert len(set(doubts.values())) > 2
    walks = [walk(study, name, order=DOUBT) for name in NAMES]
    assert all(sorted(pairs) == sorted(ranked) for pairs in walks)
    assert [walks[at % 3][at // 3] for at in range(len(ranked))] == ranked
    assert list(grid.desk.agenda("judy").pairs) == sorted(ranked) != ranked
    assert list(grid.desk.agenda("judy", order="doubt").pairs) == ranked
    grid.write_conflicts(tmp_path / "conflicts.csv", by="judy", order="doubt")
    assert read_table(tmp_path / "conflicts.csv")["pair"].astype(int).tolist() == ranked
    with pytest.raises(InputError, match="order is 'doubtful'; expected one of row, doubt"):
        grid.desk.agenda("judy", order="doubtful")  # type: ignore[arg-type]


def test_new_labels_change_the_order_by_doubt(study: Study, tmp_path: Path) -> None:
    cases, judy = AdjudicationQueue(study.grid()), id_of(study, "judy")
    cases.next(judy, order=DOUBT)
    wait_for_ranking(cases)
    first = next_pair(cases, judy)
    rows = study.grid().labels()
    who = rows["annotator"][rows["pair"] == first].tolist()
    record(study, tmp_path, [(str(name), first, "appropriate") for name in who], supersede=True)
    cases.next(judy, order=DOUBT)
    wait_for_ranking(cases)
    assert next_pair(cases, judy) == next(iter(walk(study, "judy", order=DOUBT))) != first


def test_where_no_model_can_be_fitted_cases_go_by_number(study: Study, at: At, tmp_path: Path) -> None:
    rows = study.grid().labels()
    only_ana = rows.drop_duplicates("pair", keep=False).query("annotator == 'ana'")["pair"].tolist()[:3]
    alone = at("dealt")
    record(alone, tmp_path, [("ana", pair, "not_sure") for pair in only_ana])
    adjudicators(alone, "judy")
    assert walk(alone, "judy", order=DOUBT) == only_ana
    with pytest.raises(InputError, match="there are no definite labels"):
        alone.grid().desk.agenda("judy", order="doubt")


# -- the order by doubt is worked out beside the work: nobody waits for it, and it holds as soon as it is there


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """No model is fitted until this is set."""
    event, estimate = Event(), case_queues.estimate_doubts

    def estimate_when_released(labels: LabelData) -> dict[int, float]:
        event.wait()
        return estimate(labels)

    monkeypatch.setattr(case_queues, "estimate_doubts", estimate_when_released)
    yield event
    event.set()


def ranked_pairs(study: Study) -> list[int]:
    """The pairs that wait, as one who is alone would be shown them."""
    return list(study.grid().desk.agenda("judy", order="doubt").pairs)


@pytest.fixture
def alone(at: At) -> Alone:
    """A study whose labels are all in, its queue, and its one adjudicator."""
    study = at("labelled")
    (judy,) = adjudicators(study, "judy")
    return study, AdjudicationQueue(study.grid()), judy


def next_pair(cases: AdjudicationQueue, person: int, after: int | None = None, order: CaseOrder = DOUBT) -> int:
    case = cases.next(person, after, order=order)
    assert case
    return case.cell_id


def test_while_the_model_is_fitted_cases_come_and_go_in_the_usual_order(alone: Alone, released: Event) -> None:
    study, cases, judy = alone
    pair, seen = next_pair(cases, judy), []
    while pair not in seen:
        seen.append(pair)
        assert pair == next_pair(cases, judy, seen[-2] if len(seen) > 1 else None, CaseOrder.SPREAD)
        pair = next_pair(cases, judy, pair)
    assert sorted(seen) == study.grid().waiting_pairs()
    decide(study, judy, seen[0])
    assert cases.state(judy).decided == 1
    assert not cases.is_ranked
    released.set()
    wait_for_ranking(cases)
    assert cases.is_ranked
    assert next_pair(cases, judy) == next(pair for pair in ranked_pairs(study) if pair != seen[0])


def test_who_went_on_before_the_order_was_there_goes_on_at_its_beginning(alone: Alone, released: Event) -> None:
    """Without those at hand: these come again only at their place in it."""
    study, cases, judy = alone
    first = next_pair(cases, judy)
    second = next_pair(cases, judy, first)
    released.set()
    wait_for_ranking(cases)
    ranked = ranked_pairs(study)
    start = next(at for at, pair in enumerate(ranked) if pair not in (first, second))
    assert {next_pair(cases, judy, second) for _ in range(3)} == {ranked[start]}  # a request may be repeated
    walked = [ranked[start]]
    for _ in ranked:
        walked.append(next_pair(cases, judy, walked[-1]))
    assert walked == [*ranked, *ranked][start : start + len(walked)]


def test_a_process_that_could_not_read_tries_again_or_leaves_it_to_another(
    alone: Alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, cases, judy = alone
    assert cases.next(judy, order=DOUBT, estimates=False) == cases.next(judy, order=CaseOrder.SPREAD)
    wait_for_ranking(cases)
    assert not cases.is_ranked
    with monkeypatch.context() as patch:

        def fail(_: object) -> None:
            raise StudyError("the disk is gone")

        patch.setattr(case_queues, "load_label_data", fail)
        next_pair(cases, judy)
        wait_for_ranking(cases)
        assert not cases.is_ranked
    next_pair(cases, judy)
    wait_for_ranking(cases)
    assert next_pair(cases, judy) == ranked_pairs(study)[0]


STEPS = 120
READS_ALL = re.compile(
    r"SCAN (judgement|adjudication|newer|later|seen|answer|text|assignment|earlier|cell)\b|AUTOMATIC"
)


@pytest.mark.files
@pytest.mark.parametrize(("stage", "who", "answer"), [("dealt", "ana", "appropriate"), ("checking", "vera", "agree")])
def test_an_answer_online_reads_no_table_of_answers_or_decisions_through(
    at: At, monkeypatch: pytest.MonkeyPatch, stage: str, who: str, answer: str
) -> None:
    study = at(stage)
    desk, visitor = at_desk(study, who, Annotate())

    def act() -> None:
        give(desk, visitor, answer)
        desk.tasks(visitor, 5)

    assert reading_all(study, monkeypatch, act) == []


def reading_all(study: Study, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> list[tuple[str, str]]:
    """The statements of an act that read a table through, each with the step of its plan that does."""
    statements: list[str] = []
    begin = sqlite.SQLITE.begin

    def traced(conn: Connection, **how: bool) -> None:
        driver(conn).set_trace_callback(statements.append)
        begin(conn, **how)

    monkeypatch.setattr(sqlite.SQLITE, "begin", traced)
    act()
    asked = [statement for statement in statements if statement.startswith("SELECT")]
    monkeypatch.undo()
    with study._store.read() as tx:
        own = driver(tx)
        plans = {query: [row[3] for row in own.execute(f"EXPLAIN QUERY PLAN {query}")] for query in asked}
    assert plans
    return [(query, step) for query, plan in plans.items() for step in plan if READS_ALL.search(step)]


def assert_is_as_found_anew(study: Study, kept: GridContext) -> int:
    """Compare the kept list and its counts with what the labels say now; returns how many there are."""
    with study._store.read() as tx:
        conflicts = rule_decisions.disputed_pairs(tx)
        now = current_conflicts(kept, tx)
        assert [now.by_id[cell_id] for cell_id in now.order] == conflicts
        agenda = permissions.agenda(tx, None)
        assert now.due_ids == set(agenda.pairs)
        assert len(now.second_look_ids & now.due_ids) == len(agenda.again)
    return len(conflicts)


@pytest.mark.server
@pytest.mark.parametrize("seed", one_short(*range(3)))
def test_the_kept_list_is_that_which_would_be_found_anew_after_whatever_people_do(
    at: At, tmp_path: Path, seed: int
) -> None:
    walk, sizes = Walk(at("dealt"), tmp_path, seed), set()
    kept = walk.study.grid()
    for _ in range(STEPS):
        walk.step()
        if walk.random.random() < 0.5:  # at times much has happened since it was last asked for
            sizes.add(assert_is_as_found_anew(walk.study, kept))
    sizes.add(assert_is_as_found_anew(walk.study, kept))
    assert len(sizes) > 1


def fcpair(study: Study, *words: str) -> None:
    command = [sys.executable, "-m", "fcpair", *words, "--study", study.place]
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.files
def test_the_kept_list_follows_what_other_processes_do_while_the_study_is_served(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    kept = study.grid()
    study.share()

    def fcpair(*words: str) -> None:
        command = [sys.executable, "-m", "fcpair", *words, "--study", study.place]
        subprocess.run(command, check=True, capture_output=True)

    before = assert_is_as_found_anew(study, kept)
    rows = [{"pair": pair, "annotator": who, "label": "not_sure"} for pair, who in list(labels_of(study))[:6]]
    fcpair("labels", "import", str(write_csv(tmp_path / "labels.csv", rows)), "--supersede")
    changed = assert_is_as_found_anew(study, kept)
    fcpair("adjudicate", "--policy", "majority")
    decided = assert_is_as_found_anew(study, kept)
    assert len({before, changed, decided}) == 3
    study.close()


def due_ids(study: Study, kept: GridContext) -> set[int]:
    with study._store.read() as tx:
        return current_conflicts(kept, tx).due_ids


@pytest.mark.server
def test_a_pair_comes_to_be_due_when_whoever_was_to_label_it_leaves(at: At) -> None:
    """No answer tells of it: work is taken back, and there is nobody left to take it over."""
    study = at("labelled")
    kept = study.grid()
    (zoe,) = study.add_people(["zoe"], Role.ANNOTATOR)
    with study._store.write() as tx:
        pair = rule_decisions.disputed_pairs(tx)[0].cell_id
        given = pd.DataFrame({"cell_id": [pair], "person_id": [zoe.id], "position": [1], "status": ["open"]})
        assignments.add_assignments(tx, given, rounds.primary(tx))
    assert_is_as_found_anew(study, kept)
    assert pair not in due_ids(study, kept)
    for name in [person.name for person in study.people if person.role is Role.ANNOTATOR]:
        study.retire(name)
    assert_is_as_found_anew(study, kept)
    assert pair in due_ids(study, kept)


@pytest.mark.server
def test_an_older_view_has_an_older_list_and_those_after_it_the_newest(at: At) -> None:
    study = at("labelled")
    kept = study.grid()
    study.share()
    (judy,) = adjudicators(study, "judy")
    with study._store.read() as old:
        rule_decisions.disputed_pairs(old)  # from here on this transaction sees the study as it is now
        case = first_case(study, judy)
        other = Thread(target=AdjudicationQueue(study.grid()).decide, args=(judy, decision_on(case)))
        other.start()
        other.join()
        assert_is_as_found_anew(study, kept)
        assert case.cell_id in current_conflicts(kept, old).due_ids
    assert_is_as_found_anew(study, kept)
    study.close()


def test_cases_that_were_flagged_end_with_the_last_in_a_new_order_too(alone: Alone, released: Event) -> None:
    study, cases, judy = alone
    pairs = study.grid().waiting_pairs()[:3]
    for pair in pairs:
        decide(study, judy, pair, flagged=True)
    first = cases.next(judy, queue=CaseQueue.FLAGGED, order=DOUBT)
    assert first
    released.set()
    wait_for_ranking(cases)
    shown, case = [first.cell_id], cases.next(judy, first.cell_id, queue=CaseQueue.FLAGGED, order=DOUBT)
    while case:
        shown.append(case.cell_id)
        case = cases.next(judy, case.cell_id, queue=CaseQueue.FLAGGED, order=DOUBT)
    assert set(shown) == set(pairs)
    assert len(shown) <= len(pairs) + 1
