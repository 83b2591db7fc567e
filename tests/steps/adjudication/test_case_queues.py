"""The queues that an adjudicator can choose, and the order by rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.files.tables.tabular import read_table
from fcpair.grid import AdjudicationQueue, CaseOrder, CaseQueue, DecisionRequest
from fcpair.records import Role
from fcpair.study import Study
from steps.online import admit
from steps.small import record

At = Callable[[str], Study]
NAMES = ("judy", "jack", "jill")


@pytest.fixture
def study(at: At) -> Study:
    """A study whose labels are all in, with three adjudicators."""
    study = at("labelled")
    study.add_people([name for name in NAMES if name not in {one.name for one in study.people}], Role.ADJUDICATOR)
    for name in NAMES:
        admit(study, name)
    return study


def id_of(study: Study, name: str) -> int:
    return next(one.id for one in study.people if one.name == name)


def walk(study: Study, name: str, queue: CaseQueue = CaseQueue.ALL, order: CaseOrder = CaseOrder.SPREAD) -> list[int]:
    """The pairs that somebody is shown who leaves each for later, until one comes again."""
    docket, person = AdjudicationQueue(study.grid()), id_of(study, name)
    if order is CaseOrder.DOUBT:
        docket.next(person, queue=queue, order=order)
        docket.wait_for_ranking()
    pairs: list[int] = []
    case = docket.next(person, queue=queue, order=order)
    while case and case.cell_id not in pairs:
        pairs.append(case.cell_id)
        case = docket.next(person, case.cell_id, queue=queue, order=order)
    return pairs


def count(study: Study, name: str) -> dict[CaseQueue, int]:
    return AdjudicationQueue(study.grid()).n_in_queues(id_of(study, name))


def decide(study: Study, name: str, pair: int, outcome: str = "appropriate", *, flagged: bool = False) -> None:
    docket, person = AdjudicationQueue(study.grid()), id_of(study, name)
    case = docket.case(person, pair)
    ruling = DecisionRequest(f"decide-{name}-{pair}", pair, outcome, "", flagged, case.decision_id, case.answer_id)
    docket.decide(person, ruling)


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


def test_flagged_has_one_s_own_decisions_that_were_flagged_and_ends(study: Study) -> None:
    first, second, third = study.grid().waiting_pairs()[:3]
    decide(study, "judy", first, flagged=True)
    decide(study, "judy", second, flagged=True)
    decide(study, "judy", third)
    docket, judy = AdjudicationQueue(study.grid()), id_of(study, "judy")
    assert walk(study, "judy", CaseQueue.FLAGGED) == [first, second]
    assert docket.next(judy, second, queue=CaseQueue.FLAGGED) is None
    assert count(study, "judy")[CaseQueue.FLAGGED] == 2
    assert walk(study, "jack", CaseQueue.FLAGGED) == []


def test_a_flag_stays_with_a_pair_that_waits_again(study: Study) -> None:
    pair = study.grid().waiting_pairs()[0]
    decide(study, "judy", pair, flagged=True)
    AdjudicationQueue(study.grid()).undo(id_of(study, "judy"), pair, "undo-request")
    assert walk(study, "jack", CaseQueue.FLAGGED) == [pair]


def test_second_looks_have_what_was_decided_before_its_labels_changed(study: Study, tmp_path: Path) -> None:
    rows, pairs = study.grid().labels(), study.grid().waiting_pairs()
    pair = next(
        pair for pair in pairs if set(rows["label"][rows["pair"] == pair]) == {"appropriate", "not_appropriate"}
    )
    decide(study, "judy", pair)
    assert walk(study, "judy", CaseQueue.AGAIN) == []
    who = rows["annotator"][rows["pair"] == pair].iloc[0]
    record(study, tmp_path, [(str(who), pair, "not_sure")], supersede=True)
    assert walk(study, "judy", CaseQueue.AGAIN) == [pair]
    assert count(study, "jack")[CaseQueue.AGAIN] == 1


@pytest.mark.parametrize("name", NAMES)
def test_by_row_all_conflicts_of_a_row_come_one_after_the_other(study: Study, name: str) -> None:
    rows = study.grid().labels()
    row_of = dict(zip(rows["pair"].tolist(), rows["hs_id"].tolist(), strict=True))
    pairs = walk(study, name, order=CaseOrder.ROW)
    assert sorted(pairs) == sorted(study.grid().waiting_pairs())
    runs = [row for row, _ in groupby(row_of[pair] for pair in pairs)]
    assert len(runs) == len(set(runs)) > 1


def doubts_of(study: Study) -> dict[int, float]:
    """The doubt of each pair that waits, by Dawid and Skene's model; 1 where it says nothing."""
    frame = study.grid().aggregate(["dawid-skene"]).to_frame()
    doubt = dict(zip(frame["pair"].tolist(), frame["doubt"].tolist(), strict=True))
    return {pair: doubt.get(pair, 1.0) for pair in study.grid().waiting_pairs()}


def test_by_doubt_each_begins_with_those_in_most_doubt_and_they_take_turns(study: Study) -> None:
    doubts = doubts_of(study)
    ranked = sorted(doubts, key=lambda pair: (-doubts[pair], pair))
    assert len(set(doubts.values())) > 2
    walks = [walk(study, name, order=CaseOrder.DOUBT) for name in NAMES]
    assert all(sorted(pairs) == sorted(ranked) for pairs in walks)
    assert [walks[at % 3][at // 3] for at in range(len(ranked))] == ranked


def test_the_dialogue_and_the_sheet_have_the_pair_in_most_doubt_first(study: Study, tmp_path: Path) -> None:
    grid, doubts = study.grid(), doubts_of(study)
    ranked = sorted(doubts, key=lambda pair: (-doubts[pair], pair))
    assert list(grid.desk.agenda("judy").pairs) == sorted(ranked) != ranked
    assert list(grid.desk.agenda("judy", order="doubt").pairs) == ranked
    grid.write_conflicts(tmp_path / "conflicts.csv", by="judy", order="doubt")
    assert read_table(tmp_path / "conflicts.csv")["pair"].astype(int).tolist() == ranked
    with pytest.raises(InputError, match="order is 'doubtful'; expected one of row, doubt"):
        grid.desk.agenda("judy", order="doubtful")  # type: ignore[arg-type]


def test_new_labels_change_the_order_by_doubt(study: Study, tmp_path: Path) -> None:
    docket, judy = AdjudicationQueue(study.grid()), id_of(study, "judy")
    docket.next(judy, order=CaseOrder.DOUBT)
    docket.wait_for_ranking()
    first = docket.next(judy, order=CaseOrder.DOUBT)
    assert first
    rows = study.grid().labels()
    who = rows["annotator"][rows["pair"] == first.cell_id].tolist()
    record(study, tmp_path, [(str(name), first.cell_id, "appropriate") for name in who], supersede=True)
    docket.next(judy, order=CaseOrder.DOUBT)
    docket.wait_for_ranking()
    second = docket.next(judy, order=CaseOrder.DOUBT)
    assert second
    assert second.cell_id == next(iter(walk(study, "judy", order=CaseOrder.DOUBT))) != first.cell_id


def test_where_no_model_can_be_fitted_cases_go_by_number(study: Study, at: At, tmp_path: Path) -> None:
    rows = study.grid().labels()
    only_ana = rows.drop_duplicates("pair", keep=False).query("annotator == 'ana'")["pair"].tolist()[:3]
    alone = at("dealt")
    record(alone, tmp_path, [("ana", pair, "not_sure") for pair in only_ana])
    alone.add_people(["judy"], Role.ADJUDICATOR)
    admit(alone, "judy")
    assert walk(alone, "judy", order=CaseOrder.DOUBT) == only_ana
    with pytest.raises(InputError, match="there are no definite labels"):
        alone.grid().desk.agenda("judy", order="doubt")


def test_time_left_is_by_one_s_own_pace_once_that_is_known(study: Study) -> None:
    docket, judy = AdjudicationQueue(study.grid()), id_of(study, "judy")
    pairs = study.grid().waiting_pairs()
    for pair in pairs[:5]:
        decide(study, "judy", pair)
    assert docket.left_s(judy, 2) is None
    decide(study, "judy", pairs[5])
    left = docket.left_s(judy, 10)
    assert left is not None
    assert left == pytest.approx(5 * (docket.left_s(judy, 2) or 0))
    assert docket.left_s(judy, 0) == 0
