"""From labels to one label, and from there to verdicts: what is decided, what waits, what is taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from servers import Places

from fcpair.errors import ConflictError, InputError, StageError, UnknownIdError
from fcpair.params import Adjudicate, Partition, Validate
from fcpair.records import Role
from fcpair.study import Study
from steps.small import ANNOTATORS, assert_refused, check, dump, labels_of, open_work, record, standing, write_csv

At = Callable[[str], Study]
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


# -- policies


def test_manual_decides_only_what_is_unanimous(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.adjudicate(Adjudicate("manual"))
    assert standing(study) == {1: ("unanimous", 2), 5: ("unanimous", 0)}
    assert grid.waiting_pairs() == [2, 3, 4]


def test_majority_decides_what_has_one_and_leaves_ties(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    run = grid.adjudicate(Adjudicate("majority"))
    assert standing(study) == {1: ("unanimous", 2), 2: ("majority", 2), 5: ("unanimous", 0)}
    assert grid.waiting_pairs() == [3, 4]
    assert run.counts["waiting"] == 2


def test_ties_and_not_sure_alone_can_be_discarded(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    run = grid.adjudicate(Adjudicate("majority", "discard"))
    assert standing(study)[3] == standing(study)[4] == ("no_majority", None)
    assert (run.counts["no_majority"], run.counts["waiting"]) == (2, 0)
    assert set(grid.tiers().table().pairs.set_index("cell_id").loc[[3, 4], "final"]) == {-1}


def test_majority_and_then_manual_reopens_what_only_the_majority_decided(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority", "discard"))
    run = grid.adjudicate(Adjudicate("manual"))
    reopened = ("reopened", None)
    assert standing(study) == {1: ("unanimous", 2), 2: reopened, 3: reopened, 4: reopened, 5: ("unanimous", 0)}
    assert run.counts == {"unanimous": 2, "new": 0, "reopened": 3, "waiting": 3}
    assert grid.waiting_pairs() == [2, 3, 4]


def test_the_policy_before_brings_back_what_it_had_decided(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority"))
    before, waiting = standing(study), grid.waiting_pairs()
    grid.adjudicate(Adjudicate("majority", "discard"))
    grid.adjudicate(Adjudicate("majority"))
    assert {pair: kept for pair, kept in standing(study).items() if kept[0] != "reopened"} == before
    assert grid.waiting_pairs() == waiting == [3, 4]


def test_a_policy_holds_until_another_is_set(at: At, tmp_path: Path) -> None:
    grid = given_labels(at, tmp_path, ALL_KINDS).grid()
    assert grid.policy is None
    grid.adjudicate(Adjudicate("majority", "discard"))
    grid.decide(3, 2, by="ada")
    assert grid.policy == Adjudicate("majority", "discard")


def test_a_second_time_writes_nothing_new(at: At, tmp_path: Path) -> None:
    grid = given_labels(at, tmp_path, ALL_KINDS).grid()
    grid.adjudicate(Adjudicate("majority"))
    assert grid.adjudicate(Adjudicate("majority")).counts["new"] == 0
    assert len(grid.explain(1).decisions) == 1


def test_what_a_person_decided_stands_against_every_policy(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.adjudicate(Adjudicate("manual"))
    grid.decide(2, 0, by="ada", note="irony")
    grid.decide(3, None, by="ada")
    grid.adjudicate(Adjudicate("majority", "discard"))
    assert standing(study)[2] == ("person", 0)
    assert standing(study)[3] == ("person", None)
    assert grid.explain(2).decisions[-1]["note"] == "irony"


def test_what_a_person_decided_stands_when_the_labels_change(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.decide(2, 0, by="ada")
    record(study, tmp_path, [("cleo", 2, "2")], supersede=True)
    grid.adjudicate(Adjudicate("majority"))
    assert standing(study)[2] == ("person", 0)


# -- labels that change afterwards


def test_a_decision_is_replaced_when_the_labels_say_otherwise(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority"))
    record(study, tmp_path, [("ana", 2, "0")], supersede=True)
    grid.adjudicate(Adjudicate("majority"))
    assert standing(study)[2] == ("majority", 0)


def test_a_decision_is_reopened_when_the_labels_no_longer_bear_it_out(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority"))
    run = record(study, tmp_path, [("ana", 1, "0"), ("cleo", 2, "1")], supersede=True)
    assert standing(study)[1] == ("reopened", None)
    assert 1 in grid.waiting_pairs()
    assert (run.counts["reopened"], run.counts["decided"]) == (1, 1)
    assert [row["rule"] for row in grid.explain(1).decisions] == ["unanimous", "reopened"]


def test_a_majority_decision_that_no_longer_has_one_is_reopened(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority"))
    record(study, tmp_path, [("ana", 2, "1")], supersede=True)
    grid.adjudicate(Adjudicate("majority"))
    assert standing(study)[2] == ("reopened", None)
    assert 2 in grid.waiting_pairs()


def test_a_decision_is_reopened_when_its_labels_have_all_become_skips(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, {1: votes("2"), 2: votes("2")})
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority"))
    run = record(study, tmp_path, [("ana", 1, "skip")], supersede=True)
    assert standing(study)[1] == ("reopened", None)
    assert run.counts["reopened"] == 1
    assert grid.adjudicate(Adjudicate("majority")).counts["reopened"] == 0


def test_a_study_whose_only_label_has_become_a_skip_is_graded_without_it(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, {1: votes("2")})
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority"))
    record(study, tmp_path, [("ana", 1, "skip")], supersede=True)
    grid.adjudicate(Adjudicate("majority"))
    assert standing(study) == {1: ("reopened", None)}
    assert grid.waiting_pairs() == []
    assert grid.tiers().table().pairs.empty
    assert grid.agreement().n_labels == 0


def test_a_reopened_pair_is_decided_again_when_labels_agree_again(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.adjudicate(Adjudicate())
    record(study, tmp_path, [("ana", 1, "0")], supersede=True)
    grid.adjudicate(Adjudicate())
    record(study, tmp_path, [("ana", 1, "2")], supersede=True)
    grid.adjudicate(Adjudicate())
    assert standing(study)[1] == ("unanimous", 2)


# -- a dry run


def test_a_dry_run_says_what_would_be_decided_and_changes_nothing(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.adjudicate(Adjudicate())
    grid.decide(2, 0, by="ada")
    before = dump(study)
    result = grid.desk.adjudicate_dry_run(Adjudicate("majority"))
    assert result.counts == {"unanimous": 2, "new": 0, "reopened": 0, "waiting": 2}
    assert (result.standing, result.compared, result.n_same, result.different) == (3, 3, 2, (2,))
    assert dump(study) == before


# -- decisions by people


def test_a_decision_can_be_taken_back_and_stays_in_the_record(at: At, tmp_path: Path) -> None:
    grid = given_labels(at, tmp_path, ALL_KINDS).grid()
    grid.decide(3, 2, by="ada")
    assert grid.waiting_pairs() == [2, 4]
    grid.take_back(3, by="ada")
    assert grid.waiting_pairs() == [2, 3, 4]
    assert [row["rule"] for row in grid.explain(3).decisions] == ["person", "reopened"]


def test_there_must_be_a_decision_to_take_back(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    assert_refused(study, lambda: grid.take_back(3, by="ada"), ConflictError, "pair 3 has no current decision")
    grid.decide(3, 2, by="ada")
    grid.take_back(3, by="ada")
    assert_refused(study, lambda: grid.take_back(3, by="ada"), ConflictError, "pair 3 has no current decision")


@pytest.mark.parametrize("code", [1, 7, -1])
def test_only_a_definite_label_is_a_decision(at: At, tmp_path: Path, code: int) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    assert_refused(study, lambda: study.grid().decide(3, code, by="ada"), InputError, f"{code} is not a definite label")


@pytest.mark.parametrize("call", ["decide", "take_back"])
def test_a_pair_that_is_not_there_cannot_be_decided(at: At, tmp_path: Path, call: str) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    calls: dict[str, Callable[[], object]] = {
        "decide": lambda: grid.decide(99, 2, by="ada"),
        "take_back": lambda: grid.take_back(99, by="ada"),
    }
    assert_refused(study, calls[call], UnknownIdError, "there is no pair 99")


@pytest.mark.parametrize("name", ["", "a,b", "../ada"])
def test_an_adjudicator_has_a_pseudonym_like_everybody(at: At, tmp_path: Path, name: str) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    assert_refused(study, lambda: study.grid().decide(3, 2, by=name), InputError, "cannot be a pseudonym")


def test_annotators_do_not_adjudicate(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    assert_refused(
        study,
        lambda: study.grid().decide(3, 2, by="ana"),
        InputError,
        "`ana` is annotator; adjudicators have that role",
    )


def test_somebody_new_who_decides_is_an_adjudicator(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    study.grid().decide(3, 2, by="ada")
    assert [one.role for one in study.people if one.name == "ada"] == [Role.ADJUDICATOR]


# -- decisions from a file


def test_decisions_are_taken_from_a_file(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    rows = [
        {"pair": 3, "label": "appropriate", "adjudicator": "ada", "note": "yes"},
        {"pair": 4, "label": "irreconcilable", "adjudicator": "", "note": ""},
        {"pair": 2, "label": "", "adjudicator": "ada", "note": ""},
    ]
    run = grid.import_outcomes(write_csv(tmp_path / "d.csv", rows))
    assert standing(study) == {3: ("imported", 2), 4: ("imported", None)}
    assert run.counts == {"imported": 2, "already_there": 0}
    assert grid.explain(3).decisions[-1]["person"] == "ada"
    assert grid.explain(4).decisions[-1]["person"] is None


def test_the_same_decisions_again_are_not_written_again(at: At, tmp_path: Path) -> None:
    grid = given_labels(at, tmp_path, ALL_KINDS).grid()
    file = write_csv(tmp_path / "d.csv", [{"pair": 3, "label": "2"}, {"pair": 4, "label": "irreconcilable"}])
    grid.import_outcomes(file)
    assert grid.import_outcomes(file).counts == {"imported": 0, "already_there": 2}
    assert len(grid.explain(3).decisions) == 1


def test_another_decision_by_hand_is_replaced_only_when_asked(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.decide(3, 2, by="ada")
    file = write_csv(tmp_path / "d.csv", [{"pair": 3, "label": "0"}])
    assert_refused(study, lambda: grid.import_outcomes(file), InputError, ":2: pair 3 already has a different decision")
    assert grid.import_outcomes(file, supersede=True).counts["imported"] == 1
    assert standing(study)[3] == ("imported", 0)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"pair": 3, "label": "not_sure"}], ":2: unknown label `not_sure`"),
        ([{"pair": 3, "label": "skip"}], ":2: unknown label `skip`"),
        ([{"pair": 99, "label": "2"}], ":2: pair 99 is not in the grid"),
        ([{"pair": 3, "label": "2"}, {"pair": 3, "label": "2"}], ":3: this pair has been answered already, in line 2"),
        ([{"pair": 3, "label": "2", "adjudicator": "ana"}], "`ana` is annotator"),
        ([{"pair": 3}], ":1: no column `label`"),
    ],
)
def test_a_file_of_decisions_that_is_wrong_changes_nothing(
    at: At, tmp_path: Path, rows: list[dict[str, object]], said: str
) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    path = write_csv(tmp_path / "d.csv", rows)
    assert_refused(study, lambda: study.grid().import_outcomes(path), InputError, said)


# -- validation


def verdicts(study: Study) -> dict[int, int]:
    pairs = study.grid().tiers(Partition()).table().pairs
    return dict(zip(pairs["cell_id"].tolist(), pairs["verdict"].tolist(), strict=True))


def validated(at: At, tmp_path: Path, *, blind: bool = False) -> Study:
    study = given_labels(at, tmp_path, {1: votes("2", "2"), 2: votes("0"), 3: votes("2")})
    grid = study.grid()
    grid.adjudicate(Adjudicate())
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate(blind=blind))
    return study


@pytest.mark.parametrize(
    ("word", "verdict"),
    [("agree", 1), ("disagree", 0), ("valid", 1), ("not valid", 0), ("1", 1), ("0", 0), ("skip", -1)],
)
def test_a_verdict_is_a_word_or_a_code(at: At, tmp_path: Path, word: str, verdict: int) -> None:
    study = validated(at, tmp_path)
    check(study, tmp_path, [("vera", 1, word)])
    assert verdicts(study) == {1: verdict, 2: -1, 3: -1}


def test_an_unknown_verdict_is_refused(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    assert_refused(study, lambda: check(study, tmp_path, [("vera", 1, "appropriate")]), InputError, "unknown verdict")


def test_a_verdict_by_one_who_was_not_asked_is_refused(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    study.add_people(["walt"], Role.VALIDATOR)
    assert_refused(
        study, lambda: check(study, tmp_path, [("walt", 1, "agree")]), InputError, "pair 1 was not assigned to walt"
    )


def test_the_same_verdicts_twice_add_nothing(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    check(study, tmp_path, [("vera", 1, "agree"), ("vera", 2, "disagree")])
    run = check(study, tmp_path, [("vera", 1, "agree"), ("vera", 2, "disagree")])
    assert run.counts == {"answers": 0, "skips": 0, "already_there": 2}


def test_another_verdict_is_refused_unless_it_is_to_supersede(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    check(study, tmp_path, [("vera", 1, "agree")])
    assert_refused(study, lambda: check(study, tmp_path, [("vera", 1, "disagree")]), InputError, "--supersede")
    check(study, tmp_path, [("vera", 1, "disagree")], supersede=True)
    assert verdicts(study)[1] == 0


def test_a_verdict_about_an_older_label_does_not_count(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    check(study, tmp_path, [("vera", 1, "agree"), ("vera", 2, "agree")])
    record(study, tmp_path, [("ana", 1, "0"), ("ben", 1, "0")], supersede=True)
    study.grid().adjudicate(Adjudicate())
    assert standing(study)[1] == ("unanimous", 0)
    assert verdicts(study) == {1: -1, 2: 1, 3: -1}


def test_a_verdict_counts_again_when_the_label_is_what_it_was(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    check(study, tmp_path, [("vera", 1, "agree")])
    for label in ("0", "2"):
        record(study, tmp_path, [("ana", 1, label), ("ben", 1, label)], supersede=True)
        study.grid().adjudicate(Adjudicate())
    assert verdicts(study)[1] == 1


def test_a_verdict_on_a_reopened_pair_does_not_count(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    check(study, tmp_path, [("vera", 1, "agree")])
    record(study, tmp_path, [("ana", 1, "0")], supersede=True)
    study.grid().adjudicate(Adjudicate())
    assert verdicts(study)[1] == -1


def test_the_same_word_about_a_changed_label_is_a_new_verdict(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    check(study, tmp_path, [("vera", 1, "agree")])
    record(study, tmp_path, [("ana", 1, "0"), ("ben", 1, "0")], supersede=True)
    study.grid().adjudicate(Adjudicate())
    check(study, tmp_path, [("vera", 1, "agree")], supersede=True)
    assert verdicts(study)[1] == 1


def test_an_old_file_of_verdicts_does_not_become_one_about_a_changed_label(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    check(study, tmp_path, [("vera", 1, "agree")])
    record(study, tmp_path, [("ana", 1, "0"), ("ben", 1, "0")], supersede=True)
    study.grid().adjudicate(Adjudicate())
    check(study, tmp_path, [("vera", 1, "agree")])
    assert verdicts(study)[1] == -1


def test_a_pair_whose_label_changed_can_be_dealt_to_another_validator(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    grid = study.grid()
    check(study, tmp_path, [("vera", pair, "agree") for pair in (1, 2, 3)])
    record(study, tmp_path, [("ana", 1, "0"), ("ben", 1, "0")], supersede=True)
    grid.adjudicate(Adjudicate())
    study.add_people(["walt"], Role.VALIDATOR)
    grid.assign_validation(Validate(), more=True)
    assert open_work(study, checks=True) == [("walt", 1)]


def test_more_pairs_are_dealt_when_more_are_decided(at: At, tmp_path: Path) -> None:
    study = at("checked")
    grid = study.grid()
    waiting = grid.waiting_pairs()
    for pair in waiting:
        grid.decide(pair, 2, by="ada")
    assert_refused(study, lambda: grid.assign_validation(Validate()), StageError, r"has 19 verdicts.*--more")
    run = grid.assign_validation(Validate(), more=True)
    assert sorted(pair for _, pair in open_work(study, checks=True)) == waiting
    assert run.counts["pairs"] == len(waiting)


def test_no_more_pairs_is_said(at: At) -> None:
    study = at("checked")
    assert_refused(
        study,
        lambda: study.grid().assign_validation(Validate(), more=True),
        StageError,
        "has its verdict or has been assigned",
    )


def test_a_dealt_round_can_be_dealt_again_until_somebody_has_answered(at: At, tmp_path: Path) -> None:
    study = at("checking")
    grid = study.grid()
    assert_refused(
        study, lambda: grid.assign_validation(Validate()), StageError, "`--redo` would discard 19 assignments"
    )
    grid.assign_validation(Validate(pairs=6, seed=4), redo=True)
    assert len(open_work(study, checks=True)) == 6
    who, pair = open_work(study, checks=True)[0]
    check(study, tmp_path, [(who, pair, "agree")])
    assert_refused(study, lambda: grid.assign_validation(Validate(), redo=True), StageError, "has 1 verdicts")


def test_only_adjudicated_pairs_can_be_validated(at: At) -> None:
    study = at("decided")
    options = Validate(validators=2, pairs=20)
    assert_refused(
        study, lambda: study.grid().assign_validation(options), InputError, "20 pairs cannot be validated; 19"
    )


@pytest.mark.parametrize("n", [0, -3])
def test_no_pairs_and_fewer_cannot_be_asked_for(n: int) -> None:
    with pytest.raises(InputError, match=f"pairs is {n}; expected a whole number, 1 or more"):
        Validate(pairs=n)


def test_validators_share_the_pairs_evenly(at: At) -> None:
    study = at("decided")
    run = study.grid().assign_validation(Validate(validators=4))
    assert (run.counts["load_min"], run.counts["load_max"]) == (4, 5)
    assert [one.name for one in study.people][-4:] == ["v1", "v2", "v3", "v4"]


def test_discarded_and_reopened_pairs_are_not_validated(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority", "discard"))
    record(study, tmp_path, [("ana", 1, "skip"), ("ben", 1, "skip")], supersede=True)
    grid.assign_validation(Validate(validators=1))
    assert standing(study)[1] == ("reopened", None)
    assert sorted(pair for _, pair in open_work(study, checks=True)) == [2, 5]


# -- blind validation


@pytest.mark.parametrize(("own", "verdict"), [("2", 1), ("appropriate", 1), ("0", 0), ("1", 0), ("skip", -1)])
def test_a_blind_label_is_the_verdict_that_it_amounts_to(at: At, tmp_path: Path, own: str, verdict: int) -> None:
    study = validated(at, tmp_path, blind=True)
    study.grid().import_verdicts(write_csv(tmp_path / "v.csv", [{"pair": 1, "validator": "vera", "own_label": own}]))
    assert verdicts(study)[1] == verdict


def test_a_blind_round_asks_for_the_validator_s_own_label(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path, blind=True)
    path = write_csv(tmp_path / "v.csv", [{"pair": 1, "validator": "vera", "verdict": "agree"}])
    assert_refused(study, lambda: study.grid().import_verdicts(path), InputError, "own_label")


@pytest.mark.parametrize("blind", [True, False])
def test_open_blind_work_does_not_become_seeing_by_adding_to_the_round(at: At, blind: bool) -> None:
    study = at("decided")
    grid = study.grid()
    grid.assign_validation(Validate(validators=2, pairs=5, blind=blind))
    options = Validate(pairs=5, blind=not blind)
    assert_refused(
        study, lambda: grid.assign_validation(options, more=True), StageError, "the round has open verdicts that"
    )
    grid.assign_validation(Validate(pairs=5, blind=blind), more=True)
    assert len(open_work(study, checks=True)) == 10


def test_a_round_may_be_blind_after_one_that_was_not(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    grid = study.grid()
    check(study, tmp_path, [("vera", pair, "agree") for pair in (1, 2, 3)])
    record(study, tmp_path, [("ana", 4, "2")])
    grid.adjudicate(Adjudicate())
    grid.assign_validation(Validate(blind=True), more=True)
    grid.import_verdicts(write_csv(tmp_path / "v.csv", [{"pair": 4, "validator": "vera", "own_label": "2"}]))
    assert verdicts(study) == {1: 1, 2: 1, 3: 1, 4: 1}


def test_another_own_label_of_the_same_verdict_is_not_taken_for_the_same_answer(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path, blind=True)
    grid = study.grid()
    first, second = ([{"pair": 1, "validator": "vera", "own_label": own}] for own in ("0", "1"))
    grid.import_verdicts(write_csv(tmp_path / "v.csv", first))
    assert_refused(
        study, lambda: grid.import_verdicts(write_csv(tmp_path / "v.csv", second)), InputError, "--supersede"
    )


def test_the_study_s_labels_are_untouched_by_validation(at: At) -> None:
    assert labels_of(at("checked")) == labels_of(at("labelled"))
