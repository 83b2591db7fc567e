"""How many pairs are where: each number that a status, a page or a report shows is counted here, and only here."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fcpair.records import Rule, Verdict
from fcpair.stages.validate import combine
from fcpair.steps import adjudicate, settle
from fcpair.store import Tx, decisions, progress

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PairCounts:
    """Every pair of the grid once, by how far it is.

    `no_label`: nobody has labelled it. `wait_for_person`: labelled, no rule can decide it. `wait_for_policy`: labelled,
    and a policy would decide it, but none has. `discarded`: decided to have no label. Decided to have one:
    `no_verdict` on that label, `valid` or `not_valid`.
    """

    no_label: int
    wait_for_person: int
    wait_for_policy: int
    discarded: int
    no_verdict: int
    valid: int
    not_valid: int


def pair_counts(tx: Tx) -> PairCounts:
    """Where the pairs of the grid are now."""
    standing = standing_decisions(tx)
    decided = standing["cell_id"][standing["code"].notna()].to_numpy(np.int64)
    labels = decisions.current_labels(tx, "cell_id")["cell_id"].to_numpy(np.int64)
    labelled = np.setdiff1d(labels, standing["cell_id"].to_numpy(np.int64))
    for_person = np.intersect1d(labelled, adjudicate.waiting(tx)) if len(labelled) else labelled
    given = decisions.current_verdicts(tx, "cell_id", "code")
    pairs, verdict = combine(given["cell_id"].to_numpy(), given["code"].to_numpy())
    verdict = verdict[np.isin(pairs, decided)]
    valid = int((verdict == Verdict.AGREE).sum())
    return PairCounts(
        no_label=progress.built(tx)["pair"] - len(labelled) - len(standing),
        wait_for_person=len(for_person),
        wait_for_policy=len(labelled) - len(for_person),
        discarded=len(standing) - len(decided),
        no_verdict=len(decided) - len(verdict),
        valid=valid,
        not_valid=len(verdict) - valid,
    )


def standing_decisions(tx: Tx) -> pd.DataFrame:
    """The decision that stands on each pair, without those taken back: `cell_id`, `rule`, `code`, `person_id`."""
    standing = decisions.current_adjudications(tx, "cell_id", "rule", "code", "person_id")
    return standing[standing["rule"] != Rule.REOPENED.value]


def decided_by(tx: Tx) -> Counter[int]:
    """On how many pairs the decision of each person stands and waits for no second look, by their id."""
    standing = standing_decisions(tx)
    own = (standing["rule"] == Rule.PERSON.value) & ~standing["cell_id"].isin(settle.overtaken(tx))
    return Counter(standing["person_id"][own].astype(int).tolist())
