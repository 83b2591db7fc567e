"""A study whose labels are five points: its grades stay grades, and FC-CONAN's columns are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.params import Adjudicate, Assign, Evaluate, Export, Import, Pair, Select, Setup, Validate
from fcpair.records import Role, Tier
from fcpair.stages.questions import Choice, OneOf
from fcpair.study import Study
from steps.small import CNS, SELECTED, assert_refused, check, open_work, record, set_candidates, write_corpus, write_csv

At = Callable[[str], Study]
NAMES = ("useless", "weak", "fair", "good", "excellent")
FIVE = OneOf(tuple(Choice(code, name, positive=code >= 4) for code, name in enumerate(NAMES, 1)))


def point(pair: int) -> int:
    """The code that a pair gets, 1 to 5."""
    return 1 + pair * 7 % 5


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """24 pairs, 22 of them judged and validated."""
    folder = tmp_path_factory.mktemp("five")
    study = Study.create(folder / "study.db", Setup(scheme=str(FIVE)))
    grid = study.grid()
    study.import_corpus(Import(write_corpus(folder / "corpus.csv"), only_language="en"))
    grid.select(Select(hs_list=write_csv(folder / "hs.csv", [{"hs": hs} for hs in SELECTED])))
    set_candidates(study, CNS[12:])
    grid.pair(Pair())
    study.add_people(["ana"], Role.ANNOTATOR)
    grid.assign(Assign(seed=1))
    answers = [(who, pair, NAMES[point(pair) - 1]) for who, pair in open_work(study) if pair not in {3, 17}]
    record(study, folder, answers)
    grid.adjudicate(Adjudicate("majority"))
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate(seed=1))
    check(study, folder, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    return study


def qrels(study: Study, folder: Path, *, binary: bool = False) -> pd.DataFrame:
    study.grid().export.qrels(folder / "silver.qrels", Tier.SILVER, Export(pool="all", binary=binary))
    names = ["hs_id", "zero", "cn_id", "grade"]
    return pd.read_csv(folder / "silver.qrels", sep=" ", header=None, names=names)


def test_the_grade_in_qrels_is_how_far_the_label_is_from_the_worst(five: Study, tmp_path: Path) -> None:
    silver = five.grid().tier(Tier.SILVER)
    assert qrels(five, tmp_path)["grade"].tolist() == [point(pair) - 1 for pair in silver["pair"]]
    assert {point(pair) for pair in silver["pair"]} == {1, 2, 3, 4, 5}


def test_binary_qrels_have_1_for_good_and_excellent_alone(five: Study, tmp_path: Path) -> None:
    expected = [int(point(pair) >= 4) for pair in five.grid().tier(Tier.SILVER)["pair"]]
    assert qrels(five, tmp_path, binary=True)["grade"].tolist() == expected


def test_a_beir_folder_has_the_same_grades(five: Study, tmp_path: Path) -> None:
    five.grid().export.beir(tmp_path / "beir", Tier.SILVER, Export(pool="all"))
    scores = pd.read_csv(tmp_path / "beir" / "qrels" / "test.tsv", sep="\t")["score"]
    assert scores.tolist() == qrels(five, tmp_path)["grade"].tolist()


def test_what_is_evaluated_is_what_ir_measures_finds_in_the_exported_files(five: Study, tmp_path: Path) -> None:
    options = Evaluate(systems=("random",), measures=("NDCG@3", "MRR@3"), tiers=("silver",), pool="all", resamples=100)
    grid = five.grid()
    found = {score.measure: score.score for score in grid.evaluate(options, runs=tmp_path).scores if not score.expected}
    run = list(ir_measures.read_trec_run(str(tmp_path / "random.trec")))  # type: ignore[no-untyped-call]
    for ours, theirs, binary in (("NDCG@3", "nDCG@3", False), ("MRR@3", "RR@3", True), ("MRR@3", "RR(rel=3)@3", False)):
        qrels(five, tmp_path, binary=binary)
        there = list(ir_measures.read_trec_qrels(str(tmp_path / "silver.qrels")))  # type: ignore[no-untyped-call]
        values = [one.value for one in ir_measures.iter_calc([ir_measures.parse_measure(theirs)], there, run)]
        assert found[ours] == pytest.approx(np.mean(values))


def test_the_outcome_says_what_the_gains_are(five: Study) -> None:
    found = five.grid().evaluate(Evaluate(systems=("random",), measures=("NDCG",), tiers=("silver",), resamples=100))
    listed = "useless 0, weak 1, fair 2, good 3, excellent 4"
    assert found.gains == f"the gain of NDCG is the grade of the label: {listed}"
    run, chance = found.scores
    assert run.lowest is not None
    assert run.score is not None
    assert run.highest is not None
    assert run.lowest < run.score < run.highest
    assert chance.score is not None


def test_three_labels_have_no_grades(at: At) -> None:
    options = Evaluate(systems=("random",), measures=("NDCG",), tiers=("silver",), resamples=100)
    assert at("checked").grid().evaluate(options).gains is None


def test_fc_conan_s_columns_are_refused_for_other_labels_and_nothing_is_written(five: Study, tmp_path: Path) -> None:
    grid = five.grid()
    said = r"hold its labels \(not_appropriate, not_sure, appropriate\), and the labels of this study are useless, weak"
    path = tmp_path / "bronze.csv"
    assert_refused(five, lambda: grid.release(Tier.BRONZE, path, published=True), InputError, said)
    assert_refused(five, lambda: grid.tier(Tier.BRONZE, published=True), InputError, said)
    assert not path.exists()
    assert len(grid.tier(Tier.BRONZE)) == 22
