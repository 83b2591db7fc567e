"""From labels to one label, and from there to verdicts: what is decided, what waits, what is taken back."""

from __future__ import annotations

from pathlib import Path

from servers import Places

from fcpair.errors import InputError, StageError
from fcpair.params import Adjudicate, Partition, Validate
from fcpair.records import Role
from fcpair.study import Study
from steps.small import ANNOTATORS, At, assert_refused, check, dump, open_work, record, standing, write_csv

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


def test_a_rule_s_decision_follows_its_labels(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority"))
    run = record(study, tmp_path, [("ana", 1, "0"), ("cleo", 2, "1")], supersede=True)
    assert standing(study)[1] == REOPENED
    assert 1 in grid.waiting_pairs()
    assert (run.counts["reopened"], run.counts["decided"]) == (1, 1)
    assert [row["rule"] for row in grid.explain(1).decisions] == ["unanimous", "reopened"]
    for changes, pair, decision in (
        ([("ana", 1, "2")], 1, ("unanimous", 2)),
        ([("ana", 2, "0"), ("cleo", 2, "0")], 2, ("majority", 0)),
        ([("ana", 2, "1")], 2, REOPENED),
    ):
        record(study, tmp_path, changes, supersede=True)
        grid.adjudicate(Adjudicate("majority"))
        assert standing(study)[pair] == decision
        assert (pair in grid.waiting_pairs()) == (decision == REOPENED)


def test_a_pair_whose_labels_have_all_become_skips_is_in_no_decision_or_figure(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, {1: votes("2"), 2: votes("2")})
    grid = study.grid()
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


WRONG_FILES: list[tuple[list[dict[str, object]], str]] = [
    ([{"pair": 3, "label": "not_sure"}], ":2: unknown label `not_sure`"),
    ([{"pair": 3, "label": "skip"}], ":2: unknown label `skip`"),
    ([{"pair": 99, "label": "2"}], ":2: pair 99 is not in the grid"),
    ([{"pair": 3, "label": "2"}, {"pair": 3, "label": "2"}], ":3: this pair has been answered already, in line 2"),
    ([{"pair": 3, "label": "2", "adjudicator": "ana"}], "`ana` is annotator"),
    ([{"pair": 3}], ":1: no column `label`"),
]


def test_decisions_are_taken_from_a_file_once_and_replace_others_only_when_asked(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
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
    study = given_labels(at, tmp_path, {1: votes("2", "2"), 2: votes("0"), 3: votes("2")})
    grid = study.grid()
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
    study = validated(at, tmp_path)
    grid = study.grid()
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
    study = at("checking")
    grid = study.grid()
    message = "`--redo` would discard 19 assignments"
    assert_refused(study, lambda: grid.assign_validation(Validate()), StageError, message)
    grid.assign_validation(Validate(pairs=6, seed=4), redo=True)
    assert len(open_work(study, checks=True)) == 6
    who, pair = open_work(study, checks=True)[0]
    check(study, tmp_path, [(who, pair, "agree")])
    assert_refused(study, lambda: grid.assign_validation(Validate(), redo=True), StageError, "has 1 verdicts")


def test_validators_share_the_decided_pairs_evenly(at: At) -> None:
    study = at("decided")
    run = study.grid().assign_validation(Validate(validators=4))
    assert (run.counts["load_min"], run.counts["load_max"]) == (4, 5)
    assert [person.name for person in study.people][-4:] == ["v1", "v2", "v3", "v4"]


def test_discarded_and_reopened_pairs_are_not_validated(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, ALL_KINDS)
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority", "discard"))
    record(study, tmp_path, [("ana", 1, "skip"), ("ben", 1, "skip")], supersede=True)
    grid.assign_validation(Validate(validators=1))
    assert standing(study)[1] == REOPENED
    assert sorted(pair for _, pair in open_work(study, checks=True)) == [2, 5]


def own_label(folder: Path, own: str, *, pair: int = 1) -> Path:
    """A sheet with what vera would say of a pair."""
    return write_csv(folder / "v.csv", [{"pair": pair, "validator": "vera", "own_label": own}])


def test_a_blind_label_is_the_verdict_that_it_amounts_to(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path, blind=True)
    grid = study.grid()
    seeing = write_csv(tmp_path / "seeing.csv", [{"pair": 1, "validator": "vera", "verdict": "agree"}])
    assert_refused(study, lambda: grid.import_verdicts(seeing), InputError, "own_label")
    grid.import_verdicts(own_label(tmp_path, "0"))
    other = own_label(tmp_path, "1")  # another answer, though the same verdict
    assert_refused(study, lambda: grid.import_verdicts(other), InputError, "--supersede")
    for own, verdict in (("2", 1), ("0", 0), ("appropriate", 1), ("1", 0), ("skip", -1)):
        grid.import_verdicts(own_label(tmp_path, own), supersede=True)
        assert verdicts(study)[1] == verdict


def test_a_round_may_be_blind_after_one_that_was_not(at: At, tmp_path: Path) -> None:
    study = validated(at, tmp_path)
    grid = study.grid()
    check(study, tmp_path, [("vera", pair, "agree") for pair in (1, 2, 3)])
    record(study, tmp_path, [("ana", 4, "2")])
    grid.adjudicate(Adjudicate())
    grid.assign_validation(Validate(blind=True), more=True)
    grid.import_verdicts(own_label(tmp_path, "2", pair=4))
    assert verdicts(study) == {1: 1, 2: 1, 3: 1, 4: 1}
