"""The report: everything about a study, read in one transaction, written as one HTML file."""

from __future__ import annotations

from heapq import merge
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.evaluate.outcome import Outcome
from fcpair.files.tabular import replacing
from fcpair.params import Adjudicate, Agree, Partition
from fcpair.records import Person, Role, Round, Rule, RunRecord, Status, Verdict
from fcpair.report import data as report_data
from fcpair.report.data import EvaluationFigures, GridMap, PersonFigures, ReportData, Stage, TierFigures
from fcpair.report.page import render
from fcpair.report.words import counted
from fcpair.stages.agree import Agreement, agreement
from fcpair.stages.intervals import Sides
from fcpair.stages.question import Closed
from fcpair.stages.question.labels import VERDICT, no_tiers
from fcpair.steps import adjudicate, tally
from fcpair.steps.agree import sides_of
from fcpair.steps.ground import OnStudy, own, scheme_of
from fcpair.steps.overview import look_again_notes, simulated_note
from fcpair.steps.partition import tiers_of
from fcpair.store import Tx, cells, decisions, grids, people, progress, rounds, runs, sides, watch, work

if TYPE_CHECKING:
    import pandas as pd

BUILDING = {
    "import": ("corpus row", "corpus rows"),
    "select": ("selected HS", "selected HS"),
    "retrieve": ("candidate", "candidates"),
    "pair": ("pair", "pairs"),
    "assign": ("assignment", "assignments"),
}
# The stages that change labels, decisions, verdicts or tier rules; the grid is fixed as soon as there are labels.
CHANGING = (
    "label import",
    "label withdraw",
    "simulate",
    "adjudicate",
    "validate import",
    "validate withdraw",
    "partition",
)


def write(study: OnStudy, path: str | Path, partition: Partition | None = None, agreement: Agree | None = None) -> Path:
    """Write everything about the study into one HTML file, at whatever stage it is; changes nothing in it.

    It is written whole or not at all, and the same study gives the same bytes. The study's own options hold where
    none are given. Raises InputError where there is no such folder.
    """
    page = render(gather(study, partition, agreement))
    with replacing(path) as temporary:
        temporary.write_text(page, "utf-8", newline="\n")
    return Path(path)


def gather(study: OnStudy, partition: Partition | None = None, agreement: Agree | None = None) -> ReportData:
    """Everything that the report says, at whatever stage the study is."""
    with study.store.read() as tx:
        rules, options = partition or own(tx, Partition, {}), agreement or own(tx, Agree, {})
        question = scheme_of(tx)
        labels = decisions.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code")
        origins = decisions.origins(tx)
        standing = decisions.standing_cells(tx)
        standing = standing[standing["rule"] != Rule.REOPENED.value]
        rules_used = standing["rule"].value_counts().sort_index()
        given, log = work.counts(tx), _log(tx)
        return ReportData(
            facts=runs.study_facts(tx),
            question=question,
            version=version("fcpair"),
            simulated=simulated_note(origins),
            look_again=tuple(look_again_notes(tx)),
            stages=_stages(tx, labels, standing, given),
            log=log,
            grid=_grid(tx, labels, standing, question),
            agreement=_agreement(labels, question, options, sides_of(tx)),
            rules_used=dict(zip(rules_used.index.tolist(), rules_used.tolist(), strict=True)),
            n_need_person=tally.pair_counts(tx).wait_for_person,
            tiers=_tier_figures(tx, rules) if len(labels) and not no_tiers(question) else None,
            no_tiers=no_tiers(question),
            releases=tuple(runs.releases(tx)),
            evaluation=_evaluation(tx, log),
            annotators=_people(tx, Role.ANNOTATOR, rounds.counting(tx), question, given),
            validators=_people(tx, Role.VALIDATOR, rounds.checking(tx), VERDICT, given),
        )


def _agreement(labels: pd.DataFrame, question: Closed, options: Agree, called: Sides) -> Agreement | None:
    return agreement(labels, question, options, called) if len(labels) else None


def _stages(tx: Tx, labels: pd.DataFrame, standing: pd.DataFrame, given: pd.DataFrame) -> tuple[Stage, ...]:
    built = progress.built(tx)
    n_releases = len(runs.releases(tx))
    stages = [_building(name, n, taken_over=bool(built["pair"])) for name, n in built.items()]
    dealt = _in_round(given, rounds.checking(tx))
    return (
        *stages,
        _answering("label", _in_round(given, rounds.counting(tx)), "label", "fcpair labels import FILE"),
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
    n_pairs = progress.built(tx)["pair"]
    if not n_pairs:
        return None
    at = _Places(sides.texts(tx, "row"), sides.texts(tx, "column", drawn=True))
    counts = np.zeros(at.shape, np.int16)
    np.add.at(counts, at(labels), 1)
    decision = np.full(at.shape, report_data.UNDECIDED, np.int8)
    kind = np.where(standing["code"].isin(question.positive), report_data.POSITIVE, report_data.OTHER)
    waiting = labels[labels["cell_id"].isin(adjudicate.waiting(tx))] if len(labels) else labels
    decision[at(waiting)] = report_data.WAITING
    decision[at(standing)] = np.where(standing["code"].isna(), report_data.DISCARDED, kind)
    return GridMap(_places(tx, at, n_pairs), counts, decision)


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


def _tier_figures(tx: Tx, options: Partition) -> TierFigures:
    tiers = tiers_of(tx, options)
    verdict = tiers.pairs["verdict"]
    return TierFigures(
        diamond=options.diamond,
        rules=tuple((rule.tier.label, str(rule)) for rule in reversed(tiers.rules)),
        tables=tiers.tables,
        n_labelled=len(tiers.pairs),
        n_final=int((tiers.pairs["final"] >= 0).sum()),
        n_verdicts=int((verdict >= 0).sum()),
        n_valid=int((verdict == Verdict.AGREE).sum()),
    )


def _log(tx: Tx) -> tuple[RunRecord, ...]:
    """Every run, and between them each decision of a person on a single pair, which leaves none; oldest first."""
    names = {one.id: one.name for one in people.people(tx)}
    kinds = {Rule.PERSON.value: "person", Rule.REOPENED.value: "reopened"}
    of = {one.id: one.name for one in grids.keys(tx)}

    def place(cell_id: int) -> dict[str, Any]:
        return {"pair": grids.number_of(cell_id)} | ({"grid": of[grids.grid_of(cell_id)]} if len(of) > 1 else {})

    by_hand = (
        RunRecord(
            0, Adjudicate.stage, {**place(one.cell_id), "by": names[one.person_id]}, {kinds[one.rule]: 1}, "", one.at
        )
        for one in watch.decisions_by_people(tx)
        if one.rule in kinds
    )
    noted = (run for run in runs.runs(tx) if run.stage != Adjudicate.stage or "pair" not in run.params)
    return tuple(merge(noted, by_hand, key=attrgetter("at")))  # an older fcpair noted decisions by hand as runs, too


def _evaluation(tx: Tx, log: tuple[RunRecord, ...]) -> EvaluationFigures | None:
    found = runs.latest_outcome(tx)
    if found is None:
        return None
    run, outcome = found
    later = [one for one in log[log.index(run) + 1 :] if one.stage in CHANGING and not _is_release(one)]
    return EvaluationFigures(Outcome.from_data(outcome), run, len(later))


def _is_release(run: RunRecord) -> bool:
    """Whether the run only wrote a tier to a file."""
    return "out" in run.params


def _people(tx: Tx, role: Role, round_: Round, question: Closed, given: pd.DataFrame) -> tuple[PersonFigures, ...]:
    """Everybody in a role, and whoever else has had work in its round."""
    answers = decisions.all_answers(tx, round_)
    given = given[given["round"] == round_.name]
    there = [one for one in people.people(tx) if one.role is role or (given["person_id"] == one.id).any()]
    return tuple(_person(one, answers[answers["person_id"] == one.id], question, given) for one in there)


def _person(one: Person, answers: pd.DataFrame, question: Closed, given: pd.DataFrame) -> PersonFigures:
    own = given[given["person_id"] == one.id]
    n: dict[str, Any] = {status.value: int(own["n"][own["status"] == status.value].sum()) for status in Status}
    seconds = answers["seconds"].dropna()
    return PersonFigures(
        name=one.name,
        role=one.role,
        retired=one.retired,
        assigned=int(own["n"].sum()),
        **n,
        answers=tuple(int((answers["code"] == choice.code).sum()) for choice in question),
        median_s=float(seconds.median()) if len(seconds) else None,
        n_timed=len(seconds),
        notes=int((answers["note"] != "").sum()),
    )
