"""Asking for a person's decision on pairs that labels or a rule have settled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.errors import ConflictError, InputError, StageError, UnknownIdError
from fcpair.params import Adjudicate
from fcpair.records import Role
from fcpair.steps.rules.tallies import as_ranges
from fcpair.study import Study
from steps.small import assert_refused, open_work, record, write_csv

pytestmark = pytest.mark.server
At = Callable[[str], Study]


@pytest.mark.parametrize(
    ("numbers", "said"), [([], ""), ([7], "7"), ([3, 1, 2, 2], "1-3"), ([9, 1, 5, 6, 0], "0-1, 5-6, 9")]
)
def test_numbers_are_said_in_short(numbers: list[int], said: str) -> None:
    assert as_ranges(numbers) == said


def agreed(study: Study) -> list[int]:
    return study.grid().find_pairs(state="decided").to_frame()["pair"].tolist()[:3]


def test_a_request_reopens_what_a_rule_decided_until_a_person_decides(at: At) -> None:
    study = at("checked")
    grid, pairs = study.grid(), agreed(study)
    before, waiting = grid.tiers().table(), grid.waiting_pairs()
    run = grid.request_decisions(pairs)
    assert run.params == {"request": as_ranges(pairs)}
    assert run.counts == {"requested": 3, "reopened": 3, "waiting": 0, "by_hand": 0, "unlabelled": 0}
    assert grid.waiting_pairs() == sorted([*waiting, *pairs])
    assert not set(pairs) & set(grid.tiers().table().pairs.query("tier > 0")["cell_id"])
    grid.adjudicate(grid.policy)
    assert set(pairs) <= set(grid.waiting_pairs())
    study.add_people(["judy"], Role.ADJUDICATOR)
    for pair in pairs:
        label = next(row["answer"] for row in grid.explain(pair).answers if row["round"] == "label")
        grid.decide(pair, {"not_appropriate": 0, "appropriate": 2}[label], by="judy")
    assert len(grid.tiers().table().pairs) == len(before.pairs)
    assert grid.waiting_pairs() == waiting
    assert study.grid().explain(pairs[0]).decisions[-2]["answer"] == "waits for a person"


def test_doctor_finds_nothing_wrong_with_requests(at: At) -> None:
    study = at("checked")
    study.grid().request_decisions(agreed(study))
    place = study.place
    study.close()
    assert [one.name for one in Study.doctor(place).checks if one.found] == []


def test_a_new_label_does_not_settle_what_a_person_is_to_decide(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority"))
    pair = agreed(study)[0]
    grid.request_decisions([pair])
    run = grid.assign(more=True, pairs=[pair])
    (who,) = [name for name, open_pair in open_work(study) if open_pair == pair]
    assert (run.params["pairs"], run.counts["new"], run.counts["moved"]) == (str(pair), 1, 0)
    with pytest.raises(ConflictError, match="still being labelled"):
        grid.decide(pair, 2, by="judy")
    record(study, tmp_path, [(who, pair, "appropriate")])
    assert pair in grid.waiting_pairs()


def test_what_waits_or_a_person_decided_or_nobody_labelled_stays_as_it_is(at: At, tmp_path: Path) -> None:
    study = at("checked")
    grid = study.grid()
    waiting = grid.waiting_pairs()
    outcomes = [{"pair": waiting[0], "label": "appropriate"}]
    grid.import_outcomes(write_csv(tmp_path / "outcomes.csv", outcomes))
    forecast = grid.desk.forecast_decision_requests([*waiting[:2], agreed(study)[0]])
    assert forecast.by_hand == (waiting[0],)
    assert forecast.waiting == (waiting[1],)
    assert len(forecast.requested) == 1
    message = "none of these pairs can be put before adjudicators: 1 wait for a person already; 1 have been decided"
    assert_refused(study, lambda: grid.request_decisions(waiting[:2]), StageError, message)
    assert_refused(study, lambda: grid.request_decisions([]), InputError, "no pair is named")
    assert_refused(study, lambda: grid.request_decisions([99]), UnknownIdError, "there is no pair 99")


def test_the_recipe_says_what_was_done_with_pairs(at: At) -> None:
    study = at("checked")
    pairs = agreed(study)
    study.grid().request_decisions(pairs)
    study.grid().assign(more=True, pairs=pairs)
    comments = " ".join(line.removeprefix("# ") for line in study.recipe_text().splitlines() if line.startswith("#"))
    assert "`fcpair adjudicate --request FILE`, which had a person decide the pairs" in comments
    assert "`fcpair assign --more --pairs-file FILE`, which asked for one label more of the pairs" in comments


def test_extra_labels_go_to_people_who_have_not_the_pair(at: At) -> None:
    study = at("labelled")
    grid = study.grid()
    plan = grid.desk.plan_more_labels(pairs=[1, 2, 3])
    run = grid.assign(more=True, pairs=[3, 1, 2, 1])
    open_pairs = open_work(study)
    by_person = {who: sum(name == who for name, _ in open_pairs) for who, _ in open_pairs}
    assert (run.counts["new"], by_person) == (plan.n_new, {name: n for name, (n, _) in plan.by_person.items() if n})
    assert {pair for _, pair in open_pairs} <= {1, 2, 3}
    assert_refused(study, lambda: grid.assign(pairs=[1]), InputError, "`pairs` are for more labels")
    assert_refused(study, lambda: grid.assign(more=True, pairs=[77]), UnknownIdError, "there is no pair 77")
