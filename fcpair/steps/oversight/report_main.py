"""The part of a report about the grid of HS and CNs: how far it is, its map, agreement, decisions, tiers, people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fcpair.params import Agree, Partition
from fcpair.records import Role, Round, Status
from fcpair.report import data as report_data
from fcpair.report.cells import block_size
from fcpair.report.data import GridMap, MainPart, Stage, SurveysPart
from fcpair.report.formatting import counted
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import VERDICT
from fcpair.stages.stats.agreement import compute_agreement
from fcpair.steps.adjudication.agreement import check_interval_scope, sides_of
from fcpair.steps.adjudication.calibration_result import load_calibration_result
from fcpair.steps.assignment.validate import look_again_notes
from fcpair.steps.base.context import effective_options, scheme_of
from fcpair.steps.base.sample_size import load_sample_size
from fcpair.steps.oversight.report_figures import decision_figures, people_figures, standing_decisions
from fcpair.steps.oversight.report_surveys import group_figures
from fcpair.steps.release.partition import GRADED
from fcpair.steps.rules import pair_counts
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import cells, sides
from fcpair.store.oversight import build_progress, runs

if TYPE_CHECKING:
    import pandas as pd

Where = Callable[["pd.DataFrame"], tuple[NDArray[np.intp], ...]]
BUILDING = {
    "import": ("corpus row", "corpus rows"),
    "select": ("selected HS", "selected HS"),
    "retrieve": ("candidate", "candidates"),
    "pair": ("pair", "pairs"),
    "assign": ("assignment", "assignments"),
}


def main_part(tx: Tx, partition: Partition | None = None, agree: Agree | None = None) -> MainPart:
    """Everything about a grid whose answers are labels, at any stage; by its own options where none are given."""
    rules, options = partition or effective_options(tx, Partition, {}), agree or effective_options(tx, Agree, {})
    check_interval_scope(tx, options)
    question, assignment_counts, decisions = scheme_of(tx), assignments.counts(tx), standing_decisions(tx)
    labels = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code")
    tally = pair_counts.tally(tx)
    return MainPart(
        **vars(decision_figures(tx, question, rules, tally, {name: labels[name].to_numpy() for name in GRADED})),
        look_again=tuple(look_again_notes(tx)),
        stages=_stages(tx, labels, decisions, assignment_counts),
        grid=grid_map(tx, labels, decisions, question, tally.waiting),
        agreement=compute_agreement(labels, question, options, sides_of(tx)) if len(labels) else None,
        annotators=people_figures(tx, Role.ANNOTATOR, rounds.primary(tx), question, assignment_counts),
        validators=people_figures(tx, Role.VALIDATOR, rounds.validation(tx), VERDICT, assignment_counts),
        asked=SurveysPart(groups=group_figures(tx, rounds.primary(tx))),
        sampled=load_sample_size(tx),
        calibration=load_calibration_result(tx, options),
    )


def _stages(
    tx: Tx, labels: pd.DataFrame, decisions: pd.DataFrame, assignment_counts: pd.DataFrame
) -> tuple[Stage, ...]:
    n_built = build_progress.n_built(tx)
    n_releases = len(runs.releases(tx))
    stages = [_building_stage(name, n, has_pairs=bool(n_built["pair"])) for name, n in n_built.items()]
    validation_counts = _n_by_status(assignment_counts, rounds.validation(tx))
    label_counts = _n_by_status(assignment_counts, rounds.primary(tx))
    n_free = open_slots.n_free(tx, rounds.primary(tx))
    label_counts |= {Status.OPEN.value: label_counts.get(Status.OPEN.value, 0) + n_free}
    return (
        *stages,
        _answering_stage("label", label_counts, "label", "fcpair labels import FILE"),
        Stage("agree", bool(len(labels)), f"on {counted(len(labels), 'label')}", "fcpair labels import FILE"),
        Stage("adjudicate", bool(len(decisions)), counted(len(decisions), "standing decision"), "fcpair adjudicate"),
        Stage(
            "validate assign",
            bool(validation_counts),
            counted(sum(validation_counts.values()), "assignment"),
            "fcpair validate assign",
        ),
        _answering_stage("validate", validation_counts, "verdict", "fcpair validate import FILE"),
        Stage("release", bool(n_releases), counted(n_releases, "release"), "fcpair partition --tier TIER --out FILE"),
    )


def _building_stage(name: str, n: int, *, has_pairs: bool) -> Stage:
    if not n and name in {"import", "select", "retrieve"} and has_pairs:
        return Stage(name, done=True, result="not needed: the grid was imported from a file", command="")
    return Stage(name, bool(n), counted(n, *BUILDING[name]), f"fcpair {name}")


def _n_by_status(assignment_counts: pd.DataFrame, round_: Round) -> dict[str, int]:
    """Count the assignments of a round by status."""
    sums = assignment_counts[assignment_counts["round"] == round_.name].groupby("status")["n"].sum()
    return dict(zip(sums.index.tolist(), sums.tolist(), strict=True))


def _answering_stage(name: str, n_by_status: dict[str, int], answer: str, command: str) -> Stage:
    n_done, n_open = n_by_status.get(Status.DONE.value, 0), n_by_status.get(Status.OPEN.value, 0)
    result = counted(n_done, answer) + (f", {n_open:,} still open" if n_open else "")
    return Stage(name, bool(n_done), result, command, n_open)


def grid_map(
    tx: Tx, labels: pd.DataFrame, decisions: pd.DataFrame, question: Closed, waiting: Sequence[int]
) -> GridMap | None:
    """The map of the grid: of its `labels`, its standing `decisions`, and the pairs `waiting` for a person.

    None before the grid has cells.
    """
    n_pairs = build_progress.n_built(tx)["pair"]
    if not n_pairs:
        return None
    sample = load_sample_size(tx)
    if sample and block_size(cells.shape(tx)) != (1, 1):
        return _sampled_grid_map(tx, labels, decisions, question, waiting)
    find_places = _CellPlaces(sides.text_ids(tx, "row"), sides.text_ids(tx, "column", drawn=True))
    cell_kinds = (
        _sampled_cell_kinds(tx, find_places, find_places.shape) if sample else _cell_kinds(tx, find_places, n_pairs)
    )
    return GridMap(
        cell_kinds, *_label_counts_and_decisions(find_places, find_places.shape, labels, decisions, question, waiting)
    )


def _sampled_grid_map(
    tx: Tx, labels: pd.DataFrame, decisions: pd.DataFrame, question: Closed, waiting: Sequence[int]
) -> GridMap:
    """The map of a grid that is too large to be shown cell by cell, and of which only some cells were drawn."""
    shown_places = np.union1d(cells.places_of(tx, cells.cells(tx)), cells.places_of(tx, cells.corpus_pairs(tx)))

    def find_shown_places(pairs: pd.DataFrame) -> tuple[NDArray[np.intp], ...]:
        return (np.searchsorted(shown_places, cells.places_of(tx, pairs)),)

    cell_kinds, label_counts = (
        _sampled_cell_kinds(tx, find_shown_places, shown_places.shape),
        _label_counts_and_decisions(find_shown_places, shown_places.shape, labels, decisions, question, waiting),
    )
    return GridMap(cell_kinds, *label_counts, shown_places, cells.shape(tx))


def _label_counts_and_decisions(
    find_places: Where,
    shape: tuple[int, ...],
    labels: pd.DataFrame,
    decisions: pd.DataFrame,
    question: Closed,
    waiting: Sequence[int],
) -> tuple[NDArray[np.int16], NDArray[np.int8]]:
    """Count the labels of each cell, and mark what was decided about it."""
    counts = np.zeros(shape, np.int16)
    np.add.at(counts, find_places(labels), 1)
    decision = np.full(shape, report_data.UNDECIDED, np.int8)
    kind = np.where(decisions["code"].isin(question.positive), report_data.POSITIVE, report_data.OTHER)
    waiting_labels = labels[labels["cell_id"].isin(waiting)] if len(labels) else labels
    decision[find_places(waiting_labels)] = report_data.WAITING
    decision[find_places(decisions)] = np.where(decisions["code"].isna(), report_data.DISCARDED, kind)
    return counts, decision


class _CellPlaces:
    """Where a cell of the grid is on the map: its row by HS, its column by CN, in the order of the ids given."""

    def __init__(self, hs_ids: list[int], cn_ids: list[int]) -> None:
        import pandas as pd

        self._hs, self._cn = pd.Index(hs_ids), pd.Index(cn_ids)
        self.shape = len(hs_ids), len(cn_ids)

    def __call__(self, cells: pd.DataFrame) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        import pandas as pd

        hs, cn = (cells[side].to_numpy(int) for side in ("hs_id", "cn_id"))
        return self._hs.get_indexer(pd.Index(hs)), self._cn.get_indexer(pd.Index(cn))


def _sampled_cell_kinds(tx: Tx, find_places: Where, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """Kind of each cell where only some were drawn."""
    cell_kinds = np.full(shape, report_data.HOLE, np.int8)
    cell_kinds[find_places(cells.corpus_pairs(tx))] = report_data.IN_CORPUS
    cell_kinds[find_places(cells.cells(tx))] = report_data.IN_GRID
    return cell_kinds


def _cell_kinds(tx: Tx, find_places: _CellPlaces, n_pairs: int) -> NDArray[np.int8]:
    """Kind of each cell. The pairs are counted, and read one by one only where the corpus does not explain the count:
    no pair of the grid stands in the corpus unless all that do were kept, so a product, or a product less the corpus,
    that has as many pairs has the same ones.
    """
    import pandas as pd

    cell_kinds = np.full(find_places.shape, report_data.IN_GRID, np.int8)
    if n_pairs == cell_kinds.size:
        return cell_kinds
    corpus = cells.corpus_pairs(tx)
    if n_pairs != cell_kinds.size - len(corpus):
        cell_kinds[:] = report_data.HOLE
        for part in cells.row_column_chunks(tx):
            cell_kinds[find_places(pd.DataFrame(np.array(part), columns=["hs_id", "cn_id"]))] = report_data.IN_GRID
    cell_kinds[find_places(corpus)] = report_data.IN_CORPUS
    return cell_kinds
