"""Evidence of labels, decisions and verdicts on pairs, and the tiers that these are in by it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fcpair.arrays import Ints
from fcpair.stages.adjudication.adjudicate import combine_verdicts, tally
from fcpair.stages.adjudication.partition import Evidence, TierRule, best_of_four, memberships
from fcpair.stages.questions import NO_CODE, Closed
from fcpair.store import Tx, adjudications
from fcpair.store.answers import judgements

LabelArrays = Mapping[str, Ints]
GRADED = ("cell_id", "hs_id", "cn_id", "code")
"""Columns of labels that tiers follow from."""


def graded_pairs(tx: Tx, question: Closed, rules: tuple[TierRule, ...], labels: LabelArrays) -> dict[str, Ints]:
    """The columns of `TierTable.pairs`; `labels` are the current ones, with the columns of GRADED."""
    evidence = evidence_of(tx, labels, question)
    tiers = memberships(evidence, rules)
    cell_ids, first = np.unique(labels["cell_id"], return_index=True)
    return {
        "cell_id": cell_ids,
        **{name: labels[name][first] for name in ("hs_id", "cn_id")},
        "n_labels": evidence.tally.n_labels,
        "final": evidence.final,
        "verdict": evidence.verdict,
        "tier": best_of_four(tiers),
        "tiers": tiers,
    }


def evidence_of(tx: Tx, labels: LabelArrays, question: Closed) -> Evidence:
    """The evidence on the pairs with these `labels`, which have the columns `cell_id` and `code`."""
    label_tally = tally(labels["cell_id"], labels["code"], question)
    decisions, verdicts = adjudications.decided_codes(tx), judgements.verdict_arrays(tx)
    final = align(label_tally.cell_id, decisions["cell_id"], decisions["code"])
    verdict = align(label_tally.cell_id, *combine_verdicts(verdicts["cell_id"], verdicts["code"]))
    return Evidence(label_tally, final, verdict)


def align(pairs: Ints, keys: Ints, values: Ints) -> Ints:
    """The value of each pair in `pairs` (ascending), -1 where `keys` (ascending) lacks it."""
    if not len(keys):
        return np.full(len(pairs), NO_CODE, np.int64)
    index = np.clip(np.searchsorted(keys, pairs), 0, len(keys) - 1)
    return np.where(keys[index] == pairs, values[index], NO_CODE)
