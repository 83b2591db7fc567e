"""Measuring agreement on what was answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fcpair.params import Agree
from fcpair.records import RunRecord
from fcpair.stages.agree import Agreement, agreement
from fcpair.steps.ground import need_labels, note, scheme_of
from fcpair.store import Store, decisions

if TYPE_CHECKING:
    pass


def measure_agreement(store: Store, options: Agree) -> Agreement:
    """Measure agreement on the current labels, before adjudication."""
    with store.read() as tx:
        need_labels(tx, "agreement")
        labels = decisions.current_labels(tx, "pair_id", "hs_id", "cn_id", "annotator", "code")
        return agreement(labels, scheme_of(tx), options)


def note_agreement(store: Store, options: Agree) -> RunRecord:
    """Measure agreement, and make these options the study's own."""
    measured = measure_agreement(store, options)
    counts = {"labels": measured.n_labels, "pairs": measured.n_pairs, "overlapped": measured.n_overlapped}
    with store.write() as tx:
        return note(tx, options, counts | {figure.name: figure.value for figure in measured.pooled})
