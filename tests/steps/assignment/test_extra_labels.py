"""Dealing more while people are at work: what is there stays, what is added is fair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from servers import execute

from fcpair.errors import InputError, StageError
from fcpair.params import Assign
from fcpair.records import Role
from fcpair.study import Study
from steps.small import assert_refused, labels_of, open_work, record, who_had

At = Callable[[str], Study]


def rows(study: Study) -> set[tuple[int, int, int, int, str]]:
    """Every assignment as it stands: its number, pair, person, position, status."""
    return {*execute(study.place, "SELECT id, cell_id, person_id, position, status FROM assignment")}


def n_labels(study: Study) -> Counter[int]:
    """How many pairs have been given to how many people who answered or will."""
    given = Counter(pair for _, pair in open_work(study))
    given.update(pair for (pair, _), label in labels_of(study).items() if label != "skip")
    return Counter(given.values())


def test_the_overlap_is_raised_and_everything_that_was_there_stays(at: At, tmp_path: Path) -> None:
    """12 of 24 pairs have one label, 6 two and 6 three: with half of them at three, six pairs get one label more."""
    study = at("dealt")
    grid = study.grid()
    record(study, tmp_path, [(who, pair, "2") for who, pair in open_work(study)[::2]])
    before, labels = rows(study), labels_of(study)
    run = grid.assign(Assign(overlap={3: 0.5}), more=True)
    assert before <= rows(study)
    assert labels_of(study) == labels
    assert n_labels(study) == {1: 12, 3: 12}
    assert run.counts == {
        "annotators": 3,
        "new": 6,
        "moved": 0,
        "reassigned": 0,
        "not_possible": 0,
        "pairs_by_labels": {"1": 12, "3": 12},
    }
    assert study.log()[-1].params == {"more": True, "overlap": {"3": 0.5}, "order": "random", "seed": 0}
    for again in (Assign(overlap={3: 0.5}), Assign(), Assign(overlap={2: 0.25, 3: 0.25}, seed=7)):
        assert_refused(study, partial(grid.assign, again, more=True), StageError, "nothing to assign")


def test_what_is_added_comes_after_what_people_have_and_nobody_gets_a_pair_twice(at: At) -> None:
    study = at("dealt")
    before = {row[0]: row for row in rows(study)}
    study.grid().assign(Assign(overlap={3: 1.0}), more=True)
    assert Counter(len(had) for had in who_had(study).values()) == {3: 24}
    assert Counter(who for who, _ in open_work(study)) == {"ana": 24, "ben": 24, "cleo": 24}
    new = [row for row in rows(study) if row[0] not in before]
    for person in {row[2] for row in before.values()}:
        last = max(row[3] for row in before.values() if row[2] == person)
        places = sorted(row[3] - last for row in new if row[2] == person)
        assert places == list(range(1, len(places) + 1))
    study.retire("cleo")
    with pytest.raises(StageError, match="nobody may give the 24 labels"):
        study.grid().assign(Assign(), more=True)


def test_a_late_joiner_gets_an_even_share_of_what_is_open(at: At, tmp_path: Path) -> None:
    """42 labels, 14 each. With twelve given, four by each, 30 are open: dora gets 30 / 4, seven or eight."""
    study = at("dealt")
    grid = study.grid()
    first = {who: [pair for name, pair in open_work(study) if name == who][:4] for who in ("ana", "ben", "cleo")}
    record(study, tmp_path, [(who, pair, "2") for who, pairs in first.items() for pair in pairs])
    study.add_people(["dora"], Role.ANNOTATOR)
    had, slots = who_had(study), n_labels(study)
    run = grid.assign(Assign(), more=True)
    open_ = Counter(who for who, _ in open_work(study))
    assert sorted(open_.values()) == [7, 7, 8, 8]
    assert (run.counts["new"], run.counts["moved"]) == (0, open_["dora"])
    assert all("dora" not in had[pair] for who, pair in open_work(study) if who == "dora")
    assert n_labels(study) == slots
    assert_refused(study, lambda: grid.assign(Assign(), more=True), StageError, "nothing to assign")


def test_new_labels_come_first_so_that_less_is_moved_and_nothing_that_is_about_to_be_read(at: At) -> None:
    """48 labels for four people: the six new ones go to dora, who takes over six of the others beside."""
    study = at("dealt")
    shards: dict[str, list[int]] = {}
    for who, pair in open_work(study):
        shards.setdefault(who, []).append(pair)
    study.add_people(["dora"], Role.ANNOTATOR)
    run = study.grid().assign(Assign(overlap={3: 0.5}), more=True)
    assert Counter(who for who, _ in open_work(study)) == {"ana": 12, "ben": 12, "cleo": 12, "dora": 12}
    assert (run.counts["new"], run.counts["moved"]) == (6, 6)
    for who, shard in shards.items():
        assert [pair for name, pair in open_work(study) if name == who][:8] == shard[:8]


@pytest.mark.server
def test_pairs_that_a_file_left_out_are_dealt(at: At, tmp_path: Path) -> None:
    """Labels of ana and ben for ten pairs came from a file; the 14 others are dealt evenly to the three."""
    study = at("paired")
    grid = study.grid()
    study.add_people(["ana", "ben", "cleo"], Role.ANNOTATOR)
    record(study, tmp_path, [(("ana", "ben")[pair % 2], pair, "2") for pair in range(1, 11)])
    with pytest.raises(StageError, match="assign --more"):
        grid.assign(Assign())
    grid.assign(Assign(), more=True)
    assert sorted(Counter(who for who, _ in open_work(study)).values()) == [4, 5, 5]
    assert n_labels(study) == {1: 24}


def test_a_pair_that_a_person_decided_gets_no_further_label(at: At) -> None:
    study = at("decided")
    grid = study.grid()
    single = next(pair for pair, had in who_had(study).items() if len(had) == 1)
    grid.decide(single, 2, by="petra")
    grid.assign(Assign(overlap={3: 1.0}), more=True)
    assert single not in {pair for _, pair in open_work(study)}
    with pytest.raises(StageError, match="the 1 pair that somebody has decided gets no further labels"):
        grid.assign(Assign(overlap={3: 1.0}), more=True)


def test_who_checks_a_pair_is_not_asked_to_label_it(at: At) -> None:
    study = at("checked")
    checked = {pair for pair, had in who_had(study).items() if "vera" in had}
    study.change_role("vera", Role.ANNOTATOR)
    study.grid().assign(Assign(overlap={4: 1.0}), more=True)
    assert checked
    assert not checked & {pair for who, pair in open_work(study) if who == "vera"}


def test_what_cannot_be_is_refused(at: At) -> None:
    study = at("dealt")
    for options, message in (
        (Assign(overlap={4: 0.5}), "4 labels on 12 pairs, but there are 3"),
        (Assign(overlap={2: 0.5}, annotator_groups=(("ana", "ben"),)), "groups are for the first assignment"),
        (Assign(annotators=5), "5 annotators were asked for"),
    ):
        assert_refused(study, partial(study.grid().assign, options, more=True), InputError, message)
    dora = study.add_people(["dora"], Role.ANNOTATOR)[0]
    study.access.opt_out(dora.id, "hs_topic", ["People who l"])  # that is every HS
    assert_refused(study, lambda: study.grid().assign(Assign(), more=True), StageError, "nothing to assign")
    study = at("paired")
    assert_refused(study, lambda: study.grid().assign(Assign(), more=True), StageError, "nothing has been assigned yet")
