"""Assigning the pairs of a list or of a search alone, in their order and in batches."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from servers import execute

from fcpair.errors import InputError
from fcpair.pair_filter import PairFilter, parse_query
from fcpair.params import Assign
from fcpair.records import Role
from fcpair.study import Study
from steps.small import ANNOTATORS, At, assert_refused, open_work, record, who_had, with_grid, write_csv

LISTED = [20, 3, 11, 7, 1, 24]


def ready(at: At) -> Study:
    """The small study with three annotators, to whom nothing is assigned."""
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    return study


def shards(study: Study) -> dict[str, list[int]]:
    rows = execute(
        study.place,
        "SELECT p.name, a.cell_id FROM assignment a JOIN person p ON p.id = a.person_id ORDER BY p.name, a.position",
    )
    return {name: [pair for who, pair in rows if who == name] for name, _ in rows}


def test_a_list_is_assigned_in_its_order_and_nothing_else(at: At, tmp_path: Path) -> None:
    """Six pairs to three people: two each, and nobody sees an earlier one after a later one."""
    study, grid = with_grid(ready(at))
    run = grid.assign(cells=write_csv(tmp_path / "list.csv", [{"pair": pair} for pair in LISTED]))
    assert sorted(pair for shard in shards(study).values() for pair in shard) == sorted(LISTED)
    for shard in shards(study).values():
        assert len(shard) == 2
        assert [LISTED.index(pair) for pair in shard] == sorted(LISTED.index(pair) for pair in shard)
    assert run.counts["new"] == 6
    assert study.log()[-1].params["cells"] == "1, 3, 7, 11, 20, 24"


def test_each_batch_has_the_overlap_and_comes_after_the_one_before(at: At) -> None:
    """12 pairs in batches of four, half of each with two labels: in every batch two with two labels."""
    study, grid = with_grid(ready(at))
    numbers = list(range(24, 12, -1))
    grid.assign(Assign(overlap={2: 0.5}, seed=3), cells=numbers, batch=4)
    n_labels = {pair: len(had) for pair, had in who_had(study).items()}
    for first in range(0, 12, 4):
        assert Counter(n_labels[pair] for pair in numbers[first : first + 4]) == {1: 2, 2: 2}
    for shard in shards(study).values():
        batches = [numbers.index(pair) // 4 for pair in shard]
        assert batches == sorted(batches)


def test_what_a_search_finds_can_be_assigned(at: At) -> None:
    study, grid = with_grid(ready(at))
    grid.assign(cells=[1, 2])
    left = grid.find_pairs(state="unassigned", words="cyclists")
    assert 0 < left.total < 22
    grid.assign(cells=left.to_frame())
    assert {pair for _, pair in open_work(study)} == {1, 2, *left.to_frame()["pair"]}
    assert grid.find_pairs(state="unassigned", words="cyclists").total == 0


def test_the_rest_is_assigned_with_more(at: At) -> None:
    study, grid = with_grid(ready(at))
    grid.assign(cells=LISTED)
    grid.assign(more=True)
    assert Counter(map(len, who_had(study).values())) == {1: 24}


def test_with_open_assignment_a_list_is_given_to_whoever_asks_in_its_order(at: At) -> None:
    study, grid = with_grid(ready(at))
    grid.assign(Assign(open=True), cells=LISTED)
    assert [pair for (pair,) in execute(study.place, "SELECT cell_id FROM slot ORDER BY position")] == LISTED


def test_a_list_that_cannot_be_assigned_is_refused_with_its_lines(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(ready(at))
    grid.assign(cells=[5])
    path = write_csv(tmp_path / "list.csv", [{"pair": pair} for pair in (5, 7, 99, 7)])
    with pytest.raises(InputError) as refused:
        grid.assign(cells=path)
    assert [(finding.line, str(finding.message)) for finding in refused.value.findings] == [
        (2, "pair 5 has been assigned already"),
        (4, "there is no pair 99 in the grid"),
        (5, "pair 7 is listed in line 3 already"),
    ]
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"cells": [7], "more": True}, "omit `more`"),
        ({"cells": [7], "batch": 0}, "batch is 0"),
        ({"batch": 3}, "`batch` is for `cells`"),
        ({"cells": []}, "no pair is named"),
        ({"cells": pd.DataFrame({"pair": ["x"]})}, "x"),
    ]
    for arguments, message in refusals:
        assert_refused(study, partial(grid.assign, **arguments), InputError, message)
    assert_refused(study, partial(grid.assign, Assign(overlap={4: 1.0}), cells=[7]), InputError, "3 annotators")


def test_who_has_answered_a_pair_is_not_given_it_again(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(ready(at))
    grid.assign(Assign(overlap={2: 1.0}), cells=LISTED)
    record(study, tmp_path, [(who, pair, "2") for who, pair in open_work(study)])
    grid.assign(more=True, pairs=LISTED)
    assert all(len(had) == 3 for pair, had in who_had(study).items() if pair in LISTED)


def test_a_query_has_the_conditions_of_an_address_alone() -> None:
    found = parse_query("?state=open&hs.topic=night%20owls&noted=yes")
    assert found == PairFilter(state="open", noted=True, metadata={"hs.topic": "night owls"})
    for wrong, message in (("topic=cats", "condition `topic`"), ("state=opne", "opne"), ("words=", "is no query")):
        with pytest.raises(InputError, match=message):
            parse_query(wrong)
