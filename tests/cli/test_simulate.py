"""`fcpair simulate` with effects: shares, agreement and variances are as asked, and nothing changes without any."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy.special import ndtr
from steps.small import set_candidates, write_csv

from cli.conftest import At, Fcpair, rows_of
from fcpair.params import Assign, Import, Select, Setup
from fcpair.records import Role
from fcpair.stages.answers.simulate import Habits, fit_habits
from fcpair.stages.questions.labels import APPROPRIATENESS
from fcpair.stages.stats.latent_labels import Effects, class_model_at
from fcpair.study import Study

N_HS, N_CN = 80, 90
HABITS = Habits(positive=0.3, accuracy=0.85, leaning=0.0, leaning_to=2, unsure=0.05, skips=0.0)
EFFECTS = Effects(hs=0.4, cn=0.1, leniency=0.5)
ASKED = ("--positive", "0.3", "--accuracy", "0.85", "--not-sure", "0.05", "--skips", "0", "--seed", "13")
WITH_EFFECTS = ("--hs-effect", "0.4", "--cn-effect", "0.1", "--annotator-effect", "0.5")
BEFORE_EFFECTS = "f3df420c1f0a734127462bcb13c8c8e1bccf44b332d59ddcd567dd032653f5de"
"""Digest of the labels that code without effects drew for the small study with seed 3."""


@pytest.fixture
def large(study: Path, tmp_path: Path) -> Path:
    """A study of 80 x 90 pairs, all of which two of six people are to label."""
    sources = [{"hs": f"People who like tea no. {at} are odd.", "cn": f"Source {at}."} for at in range(N_HS)]
    others = [{"hs": "Cats.", "cn": f"Tea no. {at} is fine."} for at in range(N_CN)]
    made = Study.create(study, Setup())
    grid = made.grid()
    made.import_corpus(Import(write_csv(tmp_path / "corpus.csv", [*sources, *others])))
    grid.select(Select(hs_list=write_csv(tmp_path / "hs.csv", [{"hs": row["hs"]} for row in sources])))
    set_candidates(made, [row["cn"] for row in others])
    grid.pair()
    made.add_people([f"p{at}" for at in range(6)], Role.ANNOTATOR)
    grid.assign(Assign(overlap={2: 1.0}, seed=1))
    made.close()
    return study


def sd_between(positive: pd.Series, text: pd.Series) -> float:
    """The standard deviation of texts' shares of positive labels, without what chance adds (analysis of variance)."""
    groups = positive.groupby(text)
    n_each, within = len(positive) / groups.ngroups, float(groups.var().mean())
    return float(np.sqrt(max(float(groups.mean().var()) - within / n_each, 0.0)))


def expected_sd(variance: float) -> float:
    """The same by the model, where what a text adds has this variance; labels by annotators drawn anew."""
    fitted = fit_habits(APPROPRIATENESS, HABITS, EFFECTS)
    rest = np.sqrt(1 - variance + fitted.noise**2 + EFFECTS.leniency**2)
    added: npt.NDArray[np.float64] = np.random.default_rng(0).normal(0, np.sqrt(variance), 200_000)
    return float(ndtr((added - fitted.thresholds[-1]) / rest).std())


@pytest.mark.slow
def test_shares_agreement_and_variances_come_out_as_asked(large: Path, fcpair: Fcpair, tmp_path: Path) -> None:
    fcpair("simulate", *ASKED, *WITH_EFFECTS)
    fcpair("labels", "export", "--out", tmp_path / "labels.csv")
    found = pd.read_csv(tmp_path / "labels.csv")
    expected = class_model_at(APPROPRIATENESS, 0.3, 0.05, 0.85)
    shares = found["label"].value_counts(normalize=True)
    assert [shares[choice.name] for choice in APPROPRIATENESS] == pytest.approx(expected.shares, abs=0.06)
    two = found.groupby("pair")["label"].agg(["first", "last"])
    agreed = float((two["first"] == two["last"]).mean())
    by_chance = float((shares**2).sum())
    assert (agreed - by_chance) / (1 - by_chance) == pytest.approx(expected.kappa, abs=0.06)
    positive = (found["label"] == "appropriate").astype(float)
    of_hs, of_cn = (sd_between(positive, found[name]) for name in ("hs_id", "cn_id"))
    assert of_hs == pytest.approx(expected_sd(EFFECTS.hs), rel=0.2)
    assert of_cn == pytest.approx(expected_sd(EFFECTS.cn), rel=0.2)
    assert of_cn < of_hs / 1.5


def test_without_effects_labels_are_those_of_code_without_any(at: At, fcpair: Fcpair, tmp_path: Path) -> None:
    for effects in ((), ("--hs-effect", "0", "--cn-effect", "0", "--annotator-effect", "0")):
        at("dealt")
        fcpair("simulate", "--seed", "3", *effects)
        fcpair("labels", "export", "--out", tmp_path / "labels.csv")
        rows = [(row["pair"], row["annotator"], row["label"]) for row in rows_of(tmp_path / "labels.csv")]
        assert sha256(repr(sorted(rows)).encode()).hexdigest() == BEFORE_EFFECTS
