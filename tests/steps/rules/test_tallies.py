"""How many pairs are where, counted by the database, against the same counted pair by pair."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import one_short

from fcpair.params import Adjudicate, Validate
from fcpair.records import Role, Rule, Verdict
from fcpair.stages.adjudication.adjudicate import combine_verdicts
from fcpair.steps.base.context import scheme_of
from fcpair.steps.rules import tallies
from fcpair.store import Tx, adjudications, disputes
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.study import Study
from steps.small import NAMES, VALIDATORS, check, open_work, record, write_csv
from steps.small import standing as standing_of

N_PAIRS = 24


def waiting_pairs(tx: Tx) -> list[int]:
    return disputes.undecided_pairs(tx, scheme_of(tx).definite)[1]


def pair_by_pair(tx: Tx) -> tuple[tallies.PairCounts, Counter[str], set[int]]:
    standing = adjudications.current_adjudications(tx, "cell_id", "rule", "code").set_index("cell_id")
    labels = set(standing["code"].dropna().index)
    labelled = set(judgements.current_labels(tx, "cell_id")["cell_id"])
    verdicts = judgements.current_verdicts(tx, "cell_id", "code")
    pairs, verdict = combine_verdicts(verdicts["cell_id"].to_numpy(np.int64), verdicts["code"].to_numpy(np.int64))
    checked, waiting = dict(zip(pairs.tolist(), verdict.tolist(), strict=True)), set(waiting_pairs(tx))
    lost = set(judgements.current_labels(tx, "cell_id", of=rounds.validation(tx))["cell_id"]) - set(checked)
    where: Counter[str] = Counter()
    for cell_id in range(1, N_PAIRS + 1):
        if cell_id not in standing.index or standing["rule"][cell_id] == Rule.REOPENED:
            waits = "wait_for_person" if cell_id in waiting else "wait_for_policy"
            where[waits if cell_id in labelled else "no_label"] += 1
        elif cell_id not in labels:
            where["discarded"] += 1
        else:
            said = checked.get(cell_id)
            where["no_verdict" if said is None else "valid" if said == Verdict.AGREE else "not_valid"] += 1
    names = ("no_label", "wait_for_person", "wait_for_policy", "discarded", "no_verdict", "valid", "not_valid")
    return tallies.PairCounts(*(where[name] for name in names)), Counter(standing["rule"]), lost


def assert_counted(study: Study) -> tallies.Tally:
    with study._store.read() as tx:
        pairs, rules, lost = pair_by_pair(tx)
        counted, waiting = tallies.tally(tx), tuple(waiting_pairs(tx))
        assert judgements.lost_verdicts(tx) == sorted(lost)
    assert counted == tallies.Tally(pairs, dict(sorted(rules.items())), len(lost), waiting)
    return counted


@pytest.mark.server
@pytest.mark.parametrize("stage", ["paired", "labelled", "decided", "checking", "checked"])
def test_each_pair_is_counted_once_where_it_is(at: Callable[[str], Study], stage: str) -> None:
    assert_counted(at(stage))


@pytest.mark.server
@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize("seed", one_short(*range(3)))
def test_whatever_is_changed_afterwards(at: Callable[[str], Study], tmp_path: Path, seed: int, *, blind: bool) -> None:
    rng, study = random.Random(seed), at("labelled")
    grid = study.grid()
    had = list(grid.labels()[["annotator", "pair"]].itertuples(index=False, name=None))
    grid.adjudicate(Adjudicate("majority", "discard" if seed else "wait"))
    study.add_people(["bo"], Role.ADJUDICATOR)
    assert_counted(study)
    study.add_people([*VALIDATORS, "xena"], Role.VALIDATOR)
    for more in (False, True):
        grid.assign_validation(Validate(blind=blind, seed=seed), more=more)
        has_label = {pair for pair, (_, code) in standing_of(study).items() if code is not None}
        open_ = [(who, pair) for who, pair in open_work(study, checks=True) if pair in has_label]
        if blind:
            rows = [{"pair": pair, "validator": who, "own_label": rng.choice(NAMES)} for who, pair in open_]
            grid.import_verdicts(write_csv(tmp_path / "own.csv", rows))
        else:
            check(study, tmp_path, [(who, pair, rng.choice(("agree", "disagree", "skip"))) for who, pair in open_])
        assert_counted(study)
        changed = rng.sample(had, len(had) // 2)
        record(study, tmp_path, [(who, pair, rng.choice((*NAMES, "skip"))) for who, pair in changed], supersede=True)
        assert_counted(study)
    grid.adjudicate(Adjudicate("manual"))
    counted = assert_counted(study)
    assert counted.n_lost
    assert counted.pairs.wait_for_person
