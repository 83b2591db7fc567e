"""The kept list of conflicts is at any time the one that would be found anew, whoever changed the study, and how."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from conftest import one_short

from fcpair.grid import AdjudicationQueue
from fcpair.params import Adjudicate
from fcpair.records import Role
from fcpair.steps.adjudication.case_queues import current_conflicts
from fcpair.steps.base.context import GridContext
from fcpair.steps.rules import permissions, rule_decisions
from fcpair.study import Study
from fcpair.work_records import DecisionRequest
from steps.online import admit
from steps.people.test_slots import Walk
from steps.small import open_work, write_csv

At = Callable[[str], Study]
STEPS = 120


def assert_is_as_found_anew(study: Study, kept: GridContext) -> int:
    """Compare the kept list and its counts with what the labels say now; returns how many there are."""
    with study._store.read() as tx:
        found = rule_decisions.disputed_pairs(tx)
        now = current_conflicts(kept, tx)
        assert [now.by_id[cell_id] for cell_id in now.order] == found
        agenda = permissions.agenda(tx, None)
        assert now.due_ids == set(agenda.pairs)
        assert len(now.second_look_ids & now.due_ids) == len(agenda.again)
    return len(found)


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
    before = assert_is_as_found_anew(study, kept)
    rows = [{"pair": pair, "annotator": who, "label": "not_sure"} for who, pair in labels_given(study)[:6]]
    fcpair(study, "labels", "import", str(write_csv(tmp_path / "labels.csv", rows)), "--supersede")
    changed = assert_is_as_found_anew(study, kept)
    fcpair(study, "adjudicate", "--policy", "majority")
    decided = assert_is_as_found_anew(study, kept)
    assert len({before, changed, decided}) == 3
    study.close()


def labels_given(study: Study) -> list[tuple[str, int]]:
    rows = study.grid().labels()
    return list(zip(rows["annotator"].tolist(), rows["pair"].tolist(), strict=True))


def due_ids(study: Study, kept: GridContext) -> set[int]:
    with study._store.read() as tx:
        return current_conflicts(kept, tx).due_ids


@pytest.mark.server
def test_a_pair_comes_to_be_due_when_whoever_was_to_label_it_leaves(at: At) -> None:
    """No answer tells of it: work is taken back, and there is nobody left to take it over."""
    study = at("labelled")
    kept = study.grid()
    study.add_people(["zoe"], Role.ANNOTATOR)
    with study._store.write() as tx:
        from fcpair.store.assignment import assignments, rounds

        pair = rule_decisions.disputed_pairs(tx)[0].cell_id
        zoe = next(one.id for one in study.people if one.name == "zoe")
        import pandas as pd

        given = pd.DataFrame({"cell_id": [pair], "person_id": [zoe], "position": [1], "status": ["open"]})
        assignments.add_assignments(tx, given, rounds.primary(tx))
    assert_is_as_found_anew(study, kept)
    assert pair not in due_ids(study, kept)
    for name in [one.name for one in study.people if one.role is Role.ANNOTATOR]:
        study.retire(name)
    assert_is_as_found_anew(study, kept)
    assert pair in due_ids(study, kept)


@pytest.mark.server
def test_an_older_view_has_an_older_list_and_those_after_it_the_newest(at: At) -> None:
    study = at("labelled")
    kept = study.grid()
    study.share()
    study.add_people(["judy"], Role.ADJUDICATOR)
    judy = admit(study, "judy")
    with study._store.read() as old:
        rule_decisions.disputed_pairs(old)  # from here on this transaction sees the study as it is now
        case = AdjudicationQueue(study.grid()).next(judy.id)
        assert case is not None
        decide = DecisionRequest("request-1", case.cell_id, "appropriate", seen_answer_id=case.answer_id)
        other = Thread(target=AdjudicationQueue(study.grid()).decide, args=(judy.id, decide))
        other.start()
        other.join()
        assert_is_as_found_anew(study, kept)
        assert case.cell_id in current_conflicts(kept, old).due_ids
    assert_is_as_found_anew(study, kept)
    study.close()


@pytest.mark.server
def test_adjudicators_are_given_the_same_pairs_and_numbers_after_each_change(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    study.add_people(["judy"], Role.ADJUDICATOR)
    judy = admit(study, "judy")
    assert not open_work(study)
    waiting = AdjudicationQueue(grid).state(judy.id).waiting
    assert waiting > 2
    first = AdjudicationQueue(grid).next(judy.id)
    assert first is not None
    AdjudicationQueue(grid).decide(judy.id, DecisionRequest("request-1", first.cell_id, "irreconcilable"))
    assert AdjudicationQueue(grid).state(judy.id).waiting == waiting - 1
    AdjudicationQueue(grid).undo(judy.id, first.cell_id, "request-2")
    assert AdjudicationQueue(grid).state(judy.id).waiting == waiting
    grid.adjudicate(Adjudicate("majority", "discard"))
    assert AdjudicationQueue(grid).state(judy.id).waiting == 0
    assert AdjudicationQueue(grid).next(judy.id) is None
