"""Measuring agreement on what was answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fcpair.params import Agree
from fcpair.records import RunRecord
from fcpair.stages.agree import Agreement, agreement
from fcpair.steps.ground import OnGrid, need_labels, note, own, scheme_of
from fcpair.store import decisions

if TYPE_CHECKING:
    pass


def measure_agreement(grid: OnGrid, options: Agree | None = None) -> Agreement:
    """Measure agreement on the current labels, before adjudication; by the grid's own options when none are given."""
    with grid.store.read() as tx:
        need_labels(tx, "agreement")
        labels = decisions.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code")
        return agreement(labels, scheme_of(tx), options or own(tx, Agree, {}))


def note_agreement(grid: OnGrid, options: Agree) -> RunRecord:
    """Measure agreement, and make these options the study's own."""
    measured = measure_agreement(grid, options)
    counts = {"labels": measured.n_labels, "pairs": measured.n_pairs, "overlapped": measured.n_overlapped}
    with grid.store.write() as tx:
        return note(tx, options, counts | {figure.name: figure.value for figure in measured.pooled})
