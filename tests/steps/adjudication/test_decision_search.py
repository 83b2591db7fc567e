"""What is decided: searched by each condition alone and together, and put before a person again."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from fcpair.errors import ConflictError, InputError, StageError, UnknownIdError
from fcpair.grid import AdjudicationQueue, DecidedCase, DecisionSearch
from fcpair.params import Adjudicate
from fcpair.records import Role, Status
from fcpair.steps.rules.tallies import as_ranges
from fcpair.store.assignment import assignments, rounds
from fcpair.study import Study
from steps.docket import adjudicators, decision_on, first_case
from steps.small import At, assert_refused, open_work, record, write_csv

pytestmark = pytest.mark.server  # the same is found in each database


@pytest.fixture
def study(at: At) -> Study:
    """Where labels agree a rule has decided; of the rest judy and jack have decided a pair each, jack's flagged."""
    study = at("labelled")
    judy, jack = adjudicators(study, "judy", "jack")
    study.grid().adjudicate(Adjudicate("manual"))
    queue = AdjudicationQueue(study.grid())
    queue.decide(judy, decision_on(first_case(study, judy)))
    queue.decide(jack, decision_on(first_case(study, jack), "irreconcilable", flagged=True))
    return study


def search(study: Study, words: str = "", **conditions: str | bool) -> list[DecidedCase]:
    return AdjudicationQueue(study.grid()).decisions(search=DecisionSearch(words, **conditions))  # type: ignore[arg-type]


def texts(case: DecidedCase) -> str:
    return f"{case.hs.body} {case.cn.body}".lower()


def test_each_condition_finds_the_decisions_that_meet_it_with_the_labels_of_their_pairs(study: Study) -> None:
    everything = search(study)
    first = everything[0]
    words = [max(body.split(), key=len) for body in (first.hs.body, first.cn.body)]
    expected = [case for case in everything if all(word.lower() in texts(case) for word in words)]
    assert search(study, f"  {words[0].upper()}\t{words[1].lower()} ") == expected
    assert first in expected
    assert len(expected) < len(everything)
    assert search(study, f"{words[0]} zebra") == []
    for outcome in ("appropriate", "not_appropriate", "irreconcilable"):
        decisions = search(study, outcome=outcome)
        assert decisions
        assert decisions == [case for case in everything if case.outcome == outcome]
    for name in ("judy", "jack"):
        assert [case.by for case in search(study, by=name)] == [name]
    assert search(study, by=DecisionSearch.NO_PERSON) == [case for case in everything if case.by is None]
    assert [case.by for case in search(study, flagged=True)] == ["jack"]
    rows = study.grid().labels()
    for case in everything:
        assert case.labels == Counter(rows["label"][rows["pair"] == case.cell_id])


def test_conditions_hold_together_and_pages_go_on(study: Study) -> None:
    queue, wanted = AdjudicationQueue(study.grid()), DecisionSearch("a", "appropriate", DecisionSearch.NO_PERSON)
    decisions = queue.decisions(search=wanted)
    assert [decisions[0], *queue.decisions(None, 50, decisions[0].decision_id, wanted)] == decisions
    assert all((case.outcome, case.by) == ("appropriate", None) for case in decisions)
    wrong: tuple[tuple[dict[str, str], str], ...] = (
        ({"outcome": "not_sure"}, "`not_sure` is not an outcome; expected one of"),
        ({"by": "zoe"}, "nobody called `zoe` decides here; expected one of jack, judy"),
        ({"by": "ana"}, "nobody called `ana` decides here"),  # who only labels
    )
    for conditions, message in wrong:
        with pytest.raises(InputError, match=message):
            search(study, **conditions)


def relabel(study: Study, folder: Path, case: DecidedCase, label: str) -> int:
    """Have all who labelled a pair label it again; returns how many they are."""
    rows = study.grid().labels()
    annotators = rows["annotator"][rows["pair"] == case.cell_id].tolist()
    record(study, folder, [(name, case.cell_id, label) for name in annotators], supersede=True)
    return len(annotators)


def test_a_person_s_decision_keeps_its_labels_and_a_rule_s_has_those_of_now(study: Study, tmp_path: Path) -> None:
    (case,) = search(study, by="judy")
    n = relabel(study, tmp_path, case, "appropriate")
    (kept,) = search(study, by="judy")
    assert kept.labels == case.labels != {"appropriate": n}
    assert case.labels
    by_rule = search(study, outcome="appropriate", by=DecisionSearch.NO_PERSON)[0]
    n = relabel(study, tmp_path, by_rule, "not_appropriate")
    assert {row.cell_id: row.labels for row in search(study)}[by_rule.cell_id] == {"not_appropriate": n}
    (nora,) = study.add_people(["nora"], Role.ANNOTATOR)
    rows = pd.DataFrame({"cell_id": [case.cell_id], "person_id": nora.id, "status": Status.OPEN.value, "position": 1})
    with study._store.write() as tx:
        assignments.add_assignments(tx, rows, rounds.primary(tx))
    assert [again.labels for again in search(study, by="judy")] == [{}]  # while somebody has still to label the pair


def test_numbers_are_said_in_short() -> None:
    numbers_by_text = {"": [], "7": [7], "1-3": [3, 1, 2, 2], "0-1, 5-6, 9": [9, 1, 5, 6, 0]}
    assert {as_ranges(numbers): numbers for numbers in numbers_by_text.values()} == numbers_by_text


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
    assert_refused(study, partial(grid.request_decisions, waiting[:2]), StageError, message)
    assert_refused(study, partial(grid.request_decisions, []), InputError, "no pair is named")
    assert_refused(study, partial(grid.request_decisions, [99]), UnknownIdError, "there is no pair 99")


def test_the_recipe_says_what_was_done_with_pairs_and_doctor_finds_nothing_wrong(at: At) -> None:
    study = at("checked")
    pairs = agreed(study)
    study.grid().request_decisions(pairs)
    study.grid().assign(more=True, pairs=pairs)
    comments = " ".join(line.removeprefix("# ") for line in study.recipe_text().splitlines() if line.startswith("#"))
    assert "`fcpair adjudicate --request FILE`, which had a person decide the pairs" in comments
    assert "`fcpair assign --more --pairs-file FILE`, which asked for one label more of the pairs" in comments
    study.close()
    assert [check.name for check in Study.doctor(study.place).checks if check.found] == []
