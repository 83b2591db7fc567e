"""From labels to one label, and from there to verdicts; what is decided is searched, and put before a person again."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from servers import Places

from fcpair.errors import ConflictError, InputError, StageError, UnknownIdError
from fcpair.grid import AdjudicationQueue, DecidedCase, DecisionSearch
from fcpair.params import Adjudicate, Partition, Validate
from fcpair.records import Role, Status
from fcpair.steps.rules.tallies import as_ranges
from fcpair.store.assignment import assignments, rounds
from fcpair.study import Study
from steps.deciding import adjudicators, decision_on, first_case
from steps.small import ANNOTATORS, At, assert_refused, check, open_work, record, standing, with_grid, write_csv

MADE: dict[str, bytes] = {}  # the files of `given_labels`, by labels


def given_labels(at: At, folder: Path, labels: dict[int, dict[str, str]]) -> Study:
    """An undealt study in which these labels were given: by pair, then by annotator.

    In a file, each is made once and copied: many tests begin with the same labels.
    """
    if Places.now is not None:
        return give_labels(at, folder, labels)
    if (key := repr(labels)) not in MADE:
        with give_labels(at, folder, labels) as study:
            place = Path(study.place)
        MADE[key] = place.read_bytes()
    path = folder / "study.db"
    path.write_bytes(MADE[key])
    return Study(path)


def give_labels(at: At, folder: Path, labels: dict[int, dict[str, str]]) -> Study:
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    record(study, folder, [(who, pair, label) for pair, by in labels.items() for who, label in by.items()])
    return study


def votes(*labels: str) -> dict[str, str]:
    return dict(zip(ANNOTATORS, labels, strict=False))


ALL_KINDS = {1: votes("2", "2"), 2: votes("2", "2", "0"), 3: votes("2", "0"), 4: votes("1"), 5: votes("1", "0")}


REOPENED = ("reopened", None)

# -- policies and people; what each policy decides, and who may, is tested in `tests/doors`


def test_a_pair_whose_labels_have_all_become_skips_is_in_no_decision_or_figure(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(given_labels(at, tmp_path, {1: votes("2"), 2: votes("2")}))
    grid.adjudicate(Adjudicate("majority"))
    run = record(study, tmp_path, [("ana", 1, "skip")], supersede=True)
    assert standing(study)[1] == REOPENED
    assert run.counts["reopened"] == 1
    assert grid.adjudicate(Adjudicate("majority")).counts["reopened"] == 0
    record(study, tmp_path, [("ana", 2, "skip")], supersede=True)
    grid.adjudicate(Adjudicate("majority"))
    assert standing(study) == {1: REOPENED, 2: REOPENED}
    assert grid.waiting_pairs() == []
    assert grid.tiers().table().pairs.empty
    assert grid.agreement().n_labels == 0


WRONG_FILES: list[tuple[list[dict[str, object]], str]] = [
    ([{"pair": 3, "label": "not_sure"}], ":2: unknown label `not_sure`"),
    ([{"pair": 3, "label": "skip"}], ":2: unknown label `skip`"),
    ([{"pair": 99, "label": "2"}], ":2: pair 99 is not in the grid"),
    (
        [{"pair": 3, "label": "2"}, {"pair": 3, "label": "2"}],
        ":3: this pair has been answered by somebody already, in line 2",
    ),
    ([{"pair": 3, "label": "2", "adjudicator": "ana"}], "`ana` is annotator"),
    ([{"pair": 3}], ":1: no column `label`"),
]


def test_decisions_are_taken_from_a_file_once_and_replace_others_only_when_asked(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(given_labels(at, tmp_path, ALL_KINDS))
    for wrong, message in WRONG_FILES:
        file = write_csv(tmp_path / "wrong.csv", wrong)
        assert_refused(study, lambda file=file: grid.import_outcomes(file), InputError, message)  # type: ignore[misc]
    rows = [
        {"pair": 3, "label": "appropriate", "adjudicator": "ada", "note": "yes"},
        {"pair": 4, "label": "irreconcilable", "adjudicator": "", "note": ""},
        {"pair": 2, "label": "", "adjudicator": "ada", "note": ""},
    ]
    file = write_csv(tmp_path / "d.csv", rows)
    assert grid.import_outcomes(file).counts == {"imported": 2, "already_there": 0}
    assert standing(study) == {3: ("imported", 2), 4: ("imported", None)}
    assert grid.explain(3).decisions[-1]["person"] == "ada"
    assert grid.explain(4).decisions[-1]["person"] is None
    assert grid.import_outcomes(file).counts == {"imported": 0, "already_there": 2}
    assert len(grid.explain(3).decisions) == 1
    grid.decide(2, 2, by="ada")
    other = write_csv(tmp_path / "d.csv", [{"pair": 2, "label": "0"}])
    message = ":2: pair 2 already has a different decision"
    assert_refused(study, lambda: grid.import_outcomes(other), InputError, message)
    assert grid.import_outcomes(other, supersede=True).counts["imported"] == 1
    assert standing(study)[2] == ("imported", 0)


def verdicts(study: Study) -> dict[int, int]:
    pairs = study.grid().tiers(Partition()).table().pairs
    return dict(zip(pairs["cell_id"].tolist(), pairs["verdict"].tolist(), strict=True))


def validated(at: At, tmp_path: Path, *, blind: bool = False) -> Study:
    study, grid = with_grid(given_labels(at, tmp_path, {1: votes("2", "2"), 2: votes("0"), 3: votes("2")}))
    grid.adjudicate(Adjudicate())
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate(blind=blind))
    return study


def relabel(study: Study, folder: Path, label: str) -> None:
    """Have both who labelled pair 1 label it so, and the rules decide anew."""
    record(study, folder, [("ana", 1, label), ("ben", 1, label)], supersede=True)
    study.grid().adjudicate(Adjudicate())


def test_a_verdict_is_a_word_or_a_code(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    check(study, tmp_path, [("vera", 1, "agree"), ("vera", 2, "disagree")])
    run = check(study, tmp_path, [("vera", 1, "agree"), ("vera", 2, "disagree")])
    assert run.counts == {"answers": 0, "skips": 0, "already_there": 2}
    assert_refused(study, lambda: check(study, tmp_path, [("vera", 1, "disagree")]), InputError, "--supersede")
    words = {"disagree": 0, "agree": 1, "not valid": 0, "valid": 1, "0": 0, "1": 1, "skip": -1}
    for word, verdict in words.items():
        check(study, tmp_path, [("vera", 1, word)], supersede=True)
        assert verdicts(study) == {1: verdict, 2: 0, 3: -1}


def test_a_verdict_counts_while_the_label_is_the_one_that_it_was_about(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(validated(at, tmp_path))
    check(study, tmp_path, [("vera", pair, "agree") for pair in (1, 2, 3)])
    record(study, tmp_path, [("ana", 1, "0")], supersede=True)
    grid.adjudicate(Adjudicate())
    assert standing(study)[1] == REOPENED
    assert verdicts(study)[1] == -1
    relabel(study, tmp_path, "0")
    assert standing(study)[1] == ("unanimous", 0)
    assert verdicts(study) == {1: -1, 2: 1, 3: 1}
    check(study, tmp_path, [("vera", 1, "agree")])  # the old file, which says nothing of the new label
    assert verdicts(study)[1] == -1
    relabel(study, tmp_path, "2")
    assert verdicts(study)[1] == 1
    relabel(study, tmp_path, "0")
    study.add_people(["walt"], Role.VALIDATOR)
    grid.assign_validation(Validate(), more=True)
    assert open_work(study, checks=True) == [("walt", 1)]
    check(study, tmp_path, [("vera", 1, "agree")], supersede=True)  # the same word, on purpose
    assert verdicts(study)[1] == 1


def test_a_dealt_round_can_be_dealt_again_until_somebody_has_answered(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("checking"))
    message = "`--redo` would discard 19 assignments"
    assert_refused(study, lambda: grid.assign_validation(Validate()), StageError, message)
    grid.assign_validation(Validate(pairs=6, seed=4), redo=True)
    assert len(open_work(study, checks=True)) == 6
    who, pair = open_work(study, checks=True)[0]
    check(study, tmp_path, [(who, pair, "agree")])
    assert_refused(study, lambda: grid.assign_validation(Validate(), redo=True), StageError, "has 1 verdicts")


def test_discarded_and_reopened_pairs_are_not_validated(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(given_labels(at, tmp_path, ALL_KINDS))
    grid.adjudicate(Adjudicate("majority", "discard"))
    record(study, tmp_path, [("ana", 1, "skip"), ("ben", 1, "skip")], supersede=True)
    grid.assign_validation(Validate(validators=1))
    assert standing(study)[1] == REOPENED
    assert sorted(pair for _, pair in open_work(study, checks=True)) == [2, 5]


def own_label(folder: Path, own: str, *, pair: int = 1) -> Path:
    """A sheet with what vera would say of a pair."""
    return write_csv(folder / "v.csv", [{"pair": pair, "validator": "vera", "own_label": own}])


def test_a_blind_label_is_the_verdict_that_it_amounts_to(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(validated(at, tmp_path, blind=True))
    seeing = write_csv(tmp_path / "seeing.csv", [{"pair": 1, "validator": "vera", "verdict": "agree"}])
    assert_refused(study, lambda: grid.import_verdicts(seeing), InputError, "own_label")
    grid.import_verdicts(own_label(tmp_path, "0"))
    other = own_label(tmp_path, "1")  # another answer, though the same verdict
    assert_refused(study, lambda: grid.import_verdicts(other), InputError, "--supersede")
    for own, verdict in (("2", 1), ("0", 0), ("appropriate", 1), ("1", 0), ("skip", -1)):
        grid.import_verdicts(own_label(tmp_path, own), supersede=True)
        assert verdicts(study)[1] == verdict


def test_a_round_may_be_blind_after_one_that_was_not(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(validated(at, tmp_path))
    check(study, tmp_path, [("vera", pair, "agree") for pair in (1, 2, 3)])
    record(study, tmp_path, [("ana", 4, "2")])
    grid.adjudicate(Adjudicate())
    grid.assign_validation(Validate(blind=True), more=True)
    grid.import_verdicts(own_label(tmp_path, "2", pair=4))
    assert verdicts(study) == {1: 1, 2: 1, 3: 1, 4: 1}


@pytest.fixture
def searched(at: At) -> Study:
    """Where labels agree a rule has decided; of the rest judy and jack have decided a pair each, jack's flagged."""
    searched = at("labelled")
    judy, jack = adjudicators(searched, "judy", "jack")
    searched.grid().adjudicate(Adjudicate("manual"))
    queue = AdjudicationQueue(searched.grid())
    queue.decide(judy, decision_on(first_case(searched, judy)))
    queue.decide(jack, decision_on(first_case(searched, jack), "irreconcilable", flagged=True))
    return searched


def search(searched: Study, words: str = "", **conditions: str | bool) -> list[DecidedCase]:
    return AdjudicationQueue(searched.grid()).decisions(search=DecisionSearch(words, **conditions))  # type: ignore[arg-type]


def texts(case: DecidedCase) -> str:
    return f"{case.hs.body} {case.cn.body}".lower()


@pytest.mark.server
def test_each_condition_finds_the_decisions_that_meet_it_with_the_labels_of_their_pairs(searched: Study) -> None:
    everything = search(searched)
    first = everything[0]
    words = [max(body.split(), key=len) for body in (first.hs.body, first.cn.body)]
    expected = [case for case in everything if all(word.lower() in texts(case) for word in words)]
    assert search(searched, f"  {words[0].upper()}\t{words[1].lower()} ") == expected
    assert first in expected
    assert len(expected) < len(everything)
    assert search(searched, f"{words[0]} zebra") == []
    for outcome in ("appropriate", "not_appropriate", "irreconcilable"):
        decisions = search(searched, outcome=outcome)
        assert decisions
        assert decisions == [case for case in everything if case.outcome == outcome]
    for name in ("judy", "jack"):
        assert [case.by for case in search(searched, by=name)] == [name]
    assert search(searched, by=DecisionSearch.NO_PERSON) == [case for case in everything if case.by is None]
    assert [case.by for case in search(searched, flagged=True)] == ["jack"]
    rows = searched.grid().labels()
    for case in everything:
        assert case.labels == Counter(rows["label"][rows["pair"] == case.cell_id])


@pytest.mark.server
def test_conditions_hold_together_and_pages_go_on(searched: Study) -> None:
    queue, wanted = AdjudicationQueue(searched.grid()), DecisionSearch("a", "appropriate", DecisionSearch.NO_PERSON)
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
            search(searched, **conditions)


def relabel_all(searched: Study, folder: Path, case: DecidedCase, label: str) -> int:
    """Have all who labelled a pair label it again; returns how many they are."""
    rows = searched.grid().labels()
    annotators = rows["annotator"][rows["pair"] == case.cell_id].tolist()
    record(searched, folder, [(name, case.cell_id, label) for name in annotators], supersede=True)
    return len(annotators)


@pytest.mark.server
def test_a_person_s_decision_keeps_its_labels_and_a_rule_s_has_those_of_now(searched: Study, tmp_path: Path) -> None:
    (case,) = search(searched, by="judy")
    n = relabel_all(searched, tmp_path, case, "appropriate")
    (kept,) = search(searched, by="judy")
    assert kept.labels == case.labels != {"appropriate": n}
    assert case.labels
    by_rule = search(searched, outcome="appropriate", by=DecisionSearch.NO_PERSON)[0]
    n = relabel_all(searched, tmp_path, by_rule, "not_appropriate")
    assert {row.cell_id: row.labels for row in search(searched)}[by_rule.cell_id] == {"not_appropriate": n}
    (nora,) = searched.add_people(["nora"], Role.ANNOTATOR)
    rows = pd.DataFrame({"cell_id": [case.cell_id], "person_id": nora.id, "status": Status.OPEN.value, "position": 1})
    with searched._store.write() as tx:
        assignments.add_assignments(tx, rows, rounds.primary(tx))
    assert [again.labels for again in search(searched, by="judy")] == [{}]  # while somebody has still to label the pair


@pytest.mark.server
def test_numbers_are_said_in_short() -> None:
    numbers_by_text = {"": [], "7": [7], "1-3": [3, 1, 2, 2], "0-1, 5-6, 9": [9, 1, 5, 6, 0]}
    assert {as_ranges(numbers): numbers for numbers in numbers_by_text.values()} == numbers_by_text


def agreed(searched: Study) -> list[int]:
    return searched.grid().find_pairs(state="decided").to_frame()["pair"].tolist()[:3]


@pytest.mark.server
def test_a_request_reopens_what_a_rule_decided_until_a_person_decides(at: At) -> None:
    searched = at("checked")
    grid, pairs = searched.grid(), agreed(searched)
    before, waiting = grid.tiers().table(), grid.waiting_pairs()
    run = grid.request_decisions(pairs)
    assert run.params == {"request": as_ranges(pairs)}
    assert run.counts == {"requested": 3, "reopened": 3, "waiting": 0, "by_hand": 0, "unlabelled": 0}
    assert grid.waiting_pairs() == sorted([*waiting, *pairs])
    assert not set(pairs) & set(grid.tiers().table().pairs.query("tier > 0")["cell_id"])
    grid.adjudicate(grid.policy)
    assert set(pairs) <= set(grid.waiting_pairs())
    searched.add_people(["judy"], Role.ADJUDICATOR)
    for pair in pairs:
        label = next(row["answer"] for row in grid.explain(pair).answers if row["round"] == "label")
        grid.decide(pair, {"not_appropriate": 0, "appropriate": 2}[label], by="judy")
    assert len(grid.tiers().table().pairs) == len(before.pairs)
    assert grid.waiting_pairs() == waiting
    assert searched.grid().explain(pairs[0]).decisions[-2]["answer"] == "waits for a person"


@pytest.mark.server
def test_a_new_label_does_not_settle_what_a_person_is_to_decide(at: At, tmp_path: Path) -> None:
    searched = at("labelled")
    grid = searched.grid()
    grid.adjudicate(Adjudicate("majority"))
    pair = agreed(searched)[0]
    grid.request_decisions([pair])
    run = grid.assign(more=True, pairs=[pair])
    (who,) = [name for name, open_pair in open_work(searched) if open_pair == pair]
    assert (run.params["pairs"], run.counts["new"], run.counts["moved"]) == (str(pair), 1, 0)
    with pytest.raises(ConflictError, match="still being labelled"):
        grid.decide(pair, 2, by="judy")
    record(searched, tmp_path, [(who, pair, "appropriate")])
    assert pair in grid.waiting_pairs()


@pytest.mark.server
def test_what_waits_or_a_person_decided_or_nobody_labelled_stays_as_it_is(at: At, tmp_path: Path) -> None:
    searched = at("checked")
    grid = searched.grid()
    waiting = grid.waiting_pairs()
    outcomes = [{"pair": waiting[0], "label": "appropriate"}]
    grid.import_outcomes(write_csv(tmp_path / "outcomes.csv", outcomes))
    forecast = grid.desk.forecast_decision_requests([*waiting[:2], agreed(searched)[0]])
    assert forecast.by_hand == (waiting[0],)
    assert forecast.waiting == (waiting[1],)
    assert len(forecast.requested) == 1
    message = "none of these pairs can be put before adjudicators: 1 wait for a person already; 1 have been decided"
    assert_refused(searched, partial(grid.request_decisions, waiting[:2]), StageError, message)
    assert_refused(searched, partial(grid.request_decisions, []), InputError, "no pair is named")
    assert_refused(searched, partial(grid.request_decisions, [99]), UnknownIdError, "there is no pair 99")


@pytest.mark.server
def test_the_recipe_says_what_was_done_with_pairs_and_doctor_finds_nothing_wrong(at: At) -> None:
    searched = at("checked")
    pairs = agreed(searched)
    searched.grid().request_decisions(pairs)
    searched.grid().assign(more=True, pairs=pairs)
    comments = " ".join(line.removeprefix("# ") for line in searched.recipe_text().splitlines() if line.startswith("#"))
    assert "`fcpair adjudicate --request FILE`, which had a person decide the pairs" in comments
    assert "`fcpair assign --more --pairs-file FILE`, which asked for one label more of the pairs" in comments
    searched.close()
    assert [check.name for check in Study.doctor(searched.place).checks if check.found] == []
