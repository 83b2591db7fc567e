"""The part of a report about the grid of HS and CNs: how far it is, its map, agreement, decisions, tiers, people."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fcpair.params import Agree, Partition
from fcpair.records import Role, Round, Status
from fcpair.report import data as report_data
from fcpair.report.cells import block_size
from fcpair.report.data import AskedPart, GridMap, MainPart, Stage
from fcpair.report.formatting import counted
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import VERDICT
from fcpair.stages.stats.agreement import agreement
from fcpair.steps.adjudication.agreement import sides_of
from fcpair.steps.assignment.validate import look_again_notes
from fcpair.steps.base.context import own, scheme_of
from fcpair.steps.base.sample_size import sampled
from fcpair.steps.oversight.report_figures import decided, given_people, standing
from fcpair.steps.oversight.report_surveys import group_figures
from fcpair.steps.rules import rule_decisions
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
    rules, options = partition or own(tx, Partition, {}), agree or own(tx, Agree, {})
    question, given, there = scheme_of(tx), assignments.counts(tx), standing(tx)
    labels = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code")
    return MainPart(
        **vars(decided(tx, question, rules, there, labelled=bool(len(labels)))),
        look_again=tuple(look_again_notes(tx)),
        stages=_stages(tx, labels, there, given),
        grid=_grid(tx, labels, there, question),
        agreement=agreement(labels, question, options, sides_of(tx)) if len(labels) else None,
        annotators=given_people(tx, Role.ANNOTATOR, rounds.counting(tx), question, given),
        validators=given_people(tx, Role.VALIDATOR, rounds.checking(tx), VERDICT, given),
        asked=AskedPart(groups=group_figures(tx, rounds.counting(tx))),
        sampled=sampled(tx),
    )


def _stages(tx: Tx, labels: pd.DataFrame, standing: pd.DataFrame, given: pd.DataFrame) -> tuple[Stage, ...]:
    built = build_progress.built(tx)
    n_releases = len(runs.releases(tx))
    stages = [_building(name, n, taken_over=bool(built["pair"])) for name, n in built.items()]
    dealt = _in_round(given, rounds.checking(tx))
    labelling = _in_round(given, rounds.counting(tx))
    n_free = open_slots.n_free(tx, rounds.counting(tx))
    labelling |= {Status.OPEN.value: labelling.get(Status.OPEN.value, 0) + n_free}
    return (
        *stages,
        _answering("label", labelling, "label", "fcpair labels import FILE"),
        Stage("agree", bool(len(labels)), f"on {counted(len(labels), 'label')}", "fcpair labels import FILE"),
        Stage("adjudicate", bool(len(standing)), counted(len(standing), "standing decision"), "fcpair adjudicate"),
        Stage("validate assign", bool(dealt), counted(sum(dealt.values()), "assignment"), "fcpair validate assign"),
        _answering("validate", dealt, "verdict", "fcpair validate import FILE"),
        Stage("release", bool(n_releases), counted(n_releases, "release"), "fcpair partition --tier TIER --out FILE"),
    )


def _building(name: str, n: int, *, taken_over: bool) -> Stage:
    if not n and name in {"import", "select", "retrieve"} and taken_over:
        return Stage(name, done=True, result="not needed: the grid was taken over from a file", command="")
    return Stage(name, bool(n), counted(n, *BUILDING[name]), f"fcpair {name}")


def _in_round(given: pd.DataFrame, round_: Round) -> dict[str, int]:
    """How many assignments of a round have each status."""
    sums = given[given["round"] == round_.name].groupby("status")["n"].sum()
    return dict(zip(sums.index.tolist(), sums.tolist(), strict=True))


def _answering(name: str, dealt: dict[str, int], answer: str, command: str) -> Stage:
    done, open_ = dealt.get(Status.DONE.value, 0), dealt.get(Status.OPEN.value, 0)
    result = counted(done, answer) + (f", {open_:,} still open" if open_ else "")
    return Stage(name, bool(done), result, command, open_)


def _grid(tx: Tx, labels: pd.DataFrame, standing: pd.DataFrame, question: Closed) -> GridMap | None:
    n_pairs = build_progress.built(tx)["pair"]
    if not n_pairs:
        return None
    drawn = sampled(tx)
    if drawn and block_size(cells.shape(tx)) != (1, 1):
        return _drawn_grid(tx, labels, standing, question)
    at = _Places(sides.texts(tx, "row"), sides.texts(tx, "column", drawn=True))
    place = _drawn_places(tx, at, at.shape) if drawn else _places(tx, at, n_pairs)
    return GridMap(place, *_counts(tx, at, at.shape, labels, standing, question))


def _drawn_grid(tx: Tx, labels: pd.DataFrame, standing: pd.DataFrame, question: Closed) -> GridMap:
    """The map of a grid that is too large to be shown cell by cell, and of which only some cells were drawn."""
    listed = np.union1d(cells.places_of(tx, cells.cells(tx)), cells.places_of(tx, cells.known(tx)))

    def at(pairs: pd.DataFrame) -> tuple[NDArray[np.intp], ...]:
        return (np.searchsorted(listed, cells.places_of(tx, pairs)),)

    place, counted = (
        _drawn_places(tx, at, listed.shape),
        _counts(tx, at, listed.shape, labels, standing, question),
    )
    return GridMap(place, *counted, listed, cells.shape(tx))


def _counts(
    tx: Tx, at: Where, shape: tuple[int, ...], labels: pd.DataFrame, standing: pd.DataFrame, question: Closed
) -> tuple[NDArray[np.int16], NDArray[np.int8]]:
    """How many labels each cell has, and what was decided about it."""
    counts = np.zeros(shape, np.int16)
    np.add.at(counts, at(labels), 1)
    decision = np.full(shape, report_data.UNDECIDED, np.int8)
    kind = np.where(standing["code"].isin(question.positive), report_data.POSITIVE, report_data.OTHER)
    waiting = labels[labels["cell_id"].isin(rule_decisions.waiting(tx))] if len(labels) else labels
    decision[at(waiting)] = report_data.WAITING
    decision[at(standing)] = np.where(standing["code"].isna(), report_data.DISCARDED, kind)
    return counts, decision


class _Places:
    """Where a cell of the grid is on the map: its row by HS, its column by CN, in the order of the ids given."""

    def __init__(self, hs_ids: list[int], cn_ids: list[int]) -> None:
        import pandas as pd

        self._hs, self._cn = pd.Index(hs_ids), pd.Index(cn_ids)
        self.shape = len(hs_ids), len(cn_ids)

    def __call__(self, cells: pd.DataFrame) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        import pandas as pd

        hs, cn = (cells[side].to_numpy(int) for side in ("hs_id", "cn_id"))
        return self._hs.get_indexer(pd.Index(hs)), self._cn.get_indexer(pd.Index(cn))


def _drawn_places(tx: Tx, at: Where, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """What each cell is where only some were drawn."""
    place = np.full(shape, report_data.HOLE, np.int8)
    place[at(cells.known(tx))] = report_data.IN_CORPUS
    place[at(cells.cells(tx))] = report_data.IN_GRID
    return place


def _places(tx: Tx, at: _Places, n_pairs: int) -> NDArray[np.int8]:
    """What each cell is. The pairs are counted, and read one by one only where the corpus does not explain the count:
    no pair of the grid stands in the corpus unless all that do were kept, so a product, or a product less the corpus,
    that has as many pairs has the same ones.
    """
    import pandas as pd

    place = np.full(at.shape, report_data.IN_GRID, np.int8)
    if n_pairs == place.size:
        return place
    corpus = cells.known(tx)
    if n_pairs != place.size - len(corpus):
        place[:] = report_data.HOLE
        for part in cells.parts(tx):
            place[at(pd.DataFrame(np.array(part), columns=["hs_id", "cn_id"]))] = report_data.IN_GRID
    place[at(corpus)] = report_data.IN_CORPUS
    return place
