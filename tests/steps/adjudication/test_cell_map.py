"""The map of a grid: its layers against a hand count and against what is said of each pair, and its orders."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fcpair.errors import UnknownIdError
from fcpair.grid import Grid, Monitor
from fcpair.pair_filter import FilterState
from fcpair.params import Partition, Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role, Tier
from fcpair.report.map_file import STATES, CellMap, count_answers, measure_side, pack
from fcpair.study import Study
from steps.online import at_desk, give
from steps.oversight.test_pair_search import unsettle
from steps.small import STAGES, At, with_grid

pytestmark = pytest.mark.server
DECIDED_STATES = ("decided, not validated", "valid", "not valid")


def map_of(grid: Grid, question: str = "") -> CellMap:
    """The map, whose layers are those that are named without it."""
    monitor = Monitor(grid)
    cell_map = monitor.cell_map(question)
    assert cell_map is not None
    layers, of_map = ([(layer.name, layer.title) for layer in of] for of in (monitor.layers(question), cell_map.layers))
    assert layers == of_map
    return cell_map


def layer(cell_map: CellMap, name: str) -> list[str]:
    """The meaning of each cell in a layer, in the order of the cells; the numbers in its legend are right."""
    (of_name,) = (layer for layer in cell_map.layers if layer.name == name)
    meanings = [of_name.classes[index].meaning for index in of_name.index.tolist()]
    assert Counter(meanings) == Counter({each.meaning: each.n for each in of_name.classes if each.n})
    return meanings


def pairs_in(cell_map: CellMap, name: str, *meanings: str) -> list[int]:
    """The numbers of the pairs that are in one of these classes."""
    meaning_of = zip(cell_map.numbers.tolist(), layer(cell_map, name), strict=True)
    return [number for number, meaning in meaning_of if meaning in meanings]


def numbers(grid: Grid, **conditions: Any) -> list[int]:
    return [int(pair) for pair in grid.find_pairs(**conditions).to_frame()["pair"]]


def test_states_are_counted_as_the_status_counts_them_once_there_is_a_grid(at: At) -> None:
    assert Monitor(at("retrieved").grid()).cell_map() is None
    for stage in STAGES[4:]:
        study = at(stage)
        cell_map = map_of(study.grid())
        (states,) = (layer for layer in cell_map.layers if layer.name == "state")
        assert [each.n for each in states.classes] == list(study.status()["pairs"].values())
        n_places = cell_map.shape[0] * cell_map.shape[1]
        assert n_places == len(cell_map.places) + sum(n for _, _, n in cell_map.outside)  # pairs of the corpus


def test_states_tiers_and_labels_are_those_that_a_search_finds_and_that_are_explained(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(unsettle(at("checked"), tmp_path))
    cell_map = map_of(grid)
    assert [each.n for each in cell_map.layers[0].classes] == list(study.status()["pairs"].values())
    assert pairs_in(cell_map, "state", "labelled, waits for a person") == numbers(grid, state=FilterState.WAITING)
    assert pairs_in(cell_map, "state", "discarded") == numbers(grid, state=FilterState.DISCARDED)
    assert pairs_in(cell_map, "state", *DECIDED_STATES) == numbers(grid, state=FilterState.DECIDED)
    assert pairs_in(cell_map, "state", "valid") == numbers(grid, state=FilterState.VALID)
    assert pairs_in(cell_map, "state", "not valid") == numbers(grid, state=FilterState.NOT_VALID)
    tiers = [tier.label for tier in Tier]
    for at_least, tier in enumerate(tiers):
        assert pairs_in(cell_map, "tier", *tiers[at_least:]) == numbers(grid, tier=tier)
    assert pairs_in(cell_map, "tier", "in no tier") == numbers(grid, tier="none")
    skipped = pairs_in(cell_map, "skips", "1 skip", "2 skips", "3 skips or more")
    assert skipped == numbers(grid, skipped=True)
    for number, tier in zip(cell_map.numbers.tolist(), layer(cell_map, "tier"), strict=True):
        assert (grid.explain(number).tier or "in no tier") == tier
    had = grid.labels()
    labels = Counter(had["pair"][had["label"] != "skip"])
    words = {0: "none", 1: "1 label", 2: "2 labels", 3: "3 labels"}
    assert layer(cell_map, "labels") == [words[labels[number]] for number in cell_map.numbers.tolist()]


def test_each_own_tier_has_a_layer_with_the_pairs_that_a_search_finds(at: At) -> None:
    grid = at("checked").grid()
    grid.save.partition(Partition(own_tiers={"strict": {"labels": 3, "within": "gold"}, "draft": {"verdict": "none"}}))
    cell_map = map_of(grid)
    assert [layer.title for layer in cell_map.layers][1:4] == ["Tier", "Tier strict", "Tier draft"]
    for name in ("strict", "draft"):
        assert pairs_in(cell_map, f"tier-{name}", f"in the tier {name}") == numbers(grid, tier=name)
    draft_alone = set(numbers(grid, tier="draft")) - set(numbers(grid, tier="bronze"))
    assert draft_alone <= set(pairs_in(cell_map, "tier", "in none of the four tiers"))


def planned(folder: Path) -> Study:
    """Two statements by three flavours, whose cells ana and ben answer in a form of two questions and a text."""
    plan = GridPlan(
        "taste",
        SidePlan(names=("Tea is for cowards.", "Cats are cold.")),
        SidePlan(names=("sweet", "sour", "salty")),
        (RoundPlan("judge", "good: one_of(no,yes+); how: scale(1,3,1); why: text(min_words=1)", answers=2),),
    )
    study = Study.create(folder / "planned.db", Setup(title="Planned"), grids=[plan])
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    study.grid("taste").pair()
    study.grid("taste").assign_round()
    return study


ANSWERS: dict[str, list[Any]] = {  # cell by cell: whether it is good, and how
    "ana": [("yes", 3), ("yes", 1), ("no", 2), ("no", 2), "skip", ("yes", 1)],
    "ben": [("yes", 2), ("no", 1), ("no", 2), "skip", "skip", ("yes", 3)],
}


def answer_all(study: Study) -> None:
    for name, answers in ANSWERS.items():
        desk, visitor = at_desk(study, name)
        for task in desk.tasks(visitor, 50):
            own = answers[task.cell_id - 1]
            answer = own if own == "skip" else {"good": own[0], "how": own[1], "why": "so"}
            give(desk, visitor, answer, task.assignment_id, seconds=4.0 if name == "ana" else 20.0)


def test_a_planned_grid_has_a_map_of_each_question_whose_sides_are_ordered_by_answers(tmp_path: Path) -> None:
    study = planned(tmp_path)
    answer_all(study)
    grid = study.grid("taste")
    good, how = map_of(grid), map_of(grid, "judge: how")
    assert good.questions == ("judge: good", "judge: how")
    assert (good.question, how.question) == good.questions
    assert good.shape == (2, 3)
    tie, none = "as many for one as for another", "no label yet"
    assert layer(good, "answer") == ["yes", tie, "no", "no", none, "yes"]
    assert layer(how, "answer") == [tie, "1", "2", "2", none, tie]
    same, single, half = "all are the same", "one label alone", "half of the labels or fewer are the same"
    assert layer(good, "agreement") == [same, half, same, single, none, same]
    assert layer(good, "skips") == ["never skipped"] * 3 + ["1 skip", "2 skips", "never skipped"]
    assert layer(good, "state") == ["answered"] * 4 + ["skipped, not answered", "answered"]
    assert layer(good, "time") == ["10 to 20 s"] * 6  # the median of 4 and 20
    assert "tier" not in {layer.name for layer in good.layers}
    with pytest.raises(UnknownIdError, match="no question `moods`"):
        map_of(grid, "moods")
    rows, columns = good.rows, good.columns
    np.testing.assert_allclose(rows.shares, [[3 / 6, 3 / 6], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(columns.shares, [[1 / 3, 2 / 3], [1 / 2, 1 / 2], [1 / 2, 1 / 2]])
    np.testing.assert_allclose(rows.disagreement, [1 / 3, 0])
    np.testing.assert_allclose(columns.disagreement, [0, 1, 0])
    assert rows.n_answers.tolist() == [6, 3]
    assert (rows.skips.tolist(), columns.skips.tolist()) == ([0, 3], [1, 2, 0])
    orders = {order.name: order.places.tolist() for order in columns.orders}
    assert orders.pop("likeness")[0] in (0, 2)
    assert orders == {"share-0": [1, 2, 0], "share-1": [0, 1, 2], "disagreement": [1, 0, 2]}
    titles = [order.title for order in columns.orders]
    assert titles == ["share of no", "share of yes", "disagreement", "likeness of answers"]


def test_the_median_time_is_that_of_numpy() -> None:
    rng = np.random.default_rng(1)
    cell, time = rng.integers(20, size=300), rng.integers(-1, 900, size=300)
    answers = count_answers(cell, np.zeros(300, np.int64), time, 22, ("yes",))
    for at in range(20):
        known = time[(cell == at) & (time >= 0)]
        assert answers.seconds[at] == pytest.approx(np.median(known) / 10)
    assert np.isnan(answers.seconds[20:]).all()


def test_texts_with_a_cluster_are_ordered_by_it() -> None:
    counted = count_answers(np.arange(3), np.full(3, -1), np.full(3, -1), 3, ())
    side = measure_side("rows", np.arange(3), np.zeros(3, np.int64), (3, 1), counted, ["b", "", "a"])
    assert [(order.name, order.places.tolist()) for order in side.orders] == [("cluster", [1, 2, 0])]


def test_a_file_has_arrays_as_its_head_lists_them(at: At) -> None:
    cell_map = map_of(at("checked").grid())
    content = pack(cell_map, "7")
    length = int.from_bytes(content[:4], "little")
    head = json.loads(content[4 : 4 + length])
    assert length % 4 == 0
    assert (head["version"], head["shape"], head["cells"]) == ("7", list(cell_map.shape), 24)
    arrays, at_byte = {}, 4 + length
    for name, size, n in head["arrays"]:
        arrays[name] = np.frombuffer(content, "<u4" if size == 4 else "u1", n, at_byte)
        at_byte += size * n
    assert at_byte == len(content)
    for layer in cell_map.layers:
        np.testing.assert_array_equal(arrays[layer.name], layer.index)
    np.testing.assert_array_equal(arrays["rows-disagreement"], cell_map.rows.orders[-2].places)
    assert [each["meaning"] for each in head["layers"][0]["classes"]] == [meaning for meaning, _ in STATES]
