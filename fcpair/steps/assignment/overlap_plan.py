"""Planning an overlap before it costs anything, and writing it into the study's recipe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from fcpair.errors import InputError, StageError
from fcpair.files.answers.answer_files import read_pilot_labels
from fcpair.lazy import pd
from fcpair.param_values import as_params
from fcpair.params import Assign, Plan, PlannedFigure
from fcpair.records import Role, Round, RunRecord
from fcpair.stages.assignment.overlap_plan import AssignedPairs, OverlapPlan, plan_grid
from fcpair.stages.questions import Closed
from fcpair.steps.base import departures
from fcpair.steps.base.calibration_state import load_calibration
from fcpair.steps.base.context import GridContext, as_settings, effective_options, is_planned, note_run, scheme_of
from fcpair.steps.base.keywords import takes_params
from fcpair.store import Tx
from fcpair.store.adjudication import adjudications
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.store.oversight import build_progress, settings
from fcpair.store.people import people

LEAST_PAIRS = 2  # with several labels, for the study's own labels to be a pilot
_OWN_LABELS = Path("<labels of the study>")
LEAST_MEASURED = 5  # labels whose seconds are known, for their median to count


@dataclass(frozen=True)
class _Known:
    """Parameters of a plan that the study fills in, the sentences that say so, and its labels if they are a pilot."""

    values: Mapping[str, int | float]
    basis: tuple[str, ...]
    labels: pd.DataFrame | None
    assigned: AssignedPairs | None


class _Pilot(NamedTuple):
    """Labels of the study that are its pilot, and the round in which they were given."""

    round: Round
    labels: pd.DataFrame


@takes_params
def plan_overlap(
    grid: GridContext,
    options: Plan | None = None,
    *,
    width: float | None = None,
    coefficient: PlannedFigure = "alpha",
    hs: int | None = None,
    cn: int | None = None,
    annotators: int | None = None,
    seconds: float | None = None,
    prevalence: float = 0.2,
    not_sure: float = 0.05,
    kappa: float = 0.5,
    three: float = 0.0,
    validated: float = 1.0,
    valid: float = 0.9,
    hs_effect: float = 0.0,
    cn_effect: float = 0.0,
    annotator_effect: float = 0.0,
    pilot: str | Path | None = None,
    level: float = 0.95,
) -> OverlapPlan:
    """Plan how much overlap a grid needs, before anybody is asked: what each costs, yields, and narrows.

    What is not given of texts, people and seconds is the study's own. Widths rest on the labels of a pilot: of the
    file, else of the study where two pairs or more have several labels, else on what people answered in a calibration
    before its discussion; without any, on what is assumed. What is assigned already is the least overlap that is
    planned, unless the plan is for a grid of another size.

    Raises:
        StageError: the grid is planned: its rounds say how many answers each cell gets.
        InputError: the study does not say how large the grid is; shares and kappa that cannot be; a pilot that cannot
            be read, or without overlap; a width that no overlap leaves. The message says what can be had.
    """
    options = options or Plan()
    with grid._store.read() as tx:
        if is_planned(tx):
            raise StageError(
                "a plan is for a grid made from a corpus; in a planned grid each round says how many answers each "
                "cell gets"
            )
        question = scheme_of(tx)
        known = _read_known(tx, question, options)
    if known.labels is not None:
        try:
            replace(options, pilot=_OWN_LABELS)
        except InputError as error:
            raise InputError(f"{error}: the study's own labels are the pilot") from None
    labels = read_pilot_labels(options.pilot, question) if options.pilot else known.labels
    plan = plan_grid(replace(options, **known.values), question, labels, known.assigned)  # type: ignore[arg-type]
    return replace(plan, basis=(*known.basis, *plan.basis))


def _read_known(tx: Tx, question: Closed, options: Plan) -> _Known:
    n_hs, n_cn = cells.shape(tx)
    n_people = len(people.people(tx, Role.ANNOTATOR, active=True)) or effective_options(tx, Assign, {}).annotators
    calibration = load_calibration(tx)
    sources = [rounds.primary(tx), *([calibration.first] if calibration else [])]  # the better ones first
    seconds = (judgements.current_answers(tx, round_, "seconds")["seconds"].dropna() for round_ in sources)
    measured = next((one for one in seconds if len(one) >= LEAST_MEASURED), None)
    known: dict[str, int | float] = {}
    basis = []
    for name, number, what in (
        ("hs", n_hs, f"{n_hs:,} HS"),
        ("cn", n_cn, f"{n_cn:,} CN"),
        ("annotators", n_people, f"{n_people} annotators"),
    ):
        if number and getattr(options, name) is None:
            known[name] = number
            basis.append(what)
    if options.seconds is None and measured is not None:
        known["seconds"] = round(float(measured.median()), 1)
        basis.append(f"{known['seconds']:g} seconds a label, the median of {len(measured):,}")
    sentences = [f"from the study: {', '.join(basis)}"] if basis else []
    if n_decided := len(adjudications.pairs_decided_by_hand(tx)):
        sentences.append(f"{n_decided:,} pairs that somebody has decided get no further labels")
    pilot = None if options.pilot else _read_pilot(tx, sources)
    if pilot and pilot.round.options.calibrates:
        sentences.append("the pilot is the calibration: what people answered before its discussion")
    return _Known(
        values=known,
        basis=tuple(sentences),
        labels=pilot.labels if pilot else None,
        assigned=_read_assigned(tx) if (options.hs or n_hs, options.cn or n_cn) == (n_hs, n_cn) else None,
    )


def _read_pilot(tx: Tx, sources: Iterable[Round]) -> _Pilot | None:
    """The labels of the first round in which enough pairs have several."""
    for round_ in sources:
        labels = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code", of=round_)
        if int((labels.groupby("cell_id").size() > 1).sum()) >= LEAST_PAIRS:
            return _Pilot(round_, labels)
    return None


def _read_assigned(tx: Tx) -> AssignedPairs | None:
    """What is assigned already, if anything is."""
    by_labels = assignments.labels_per_pair(tx)
    of_hs, of_cn = assignments.overlap_per_text(tx)
    return AssignedPairs(by_labels, tuple(of_hs), tuple(of_cn)) if by_labels else None


def save_overlap(grid: GridContext, plan: OverlapPlan) -> RunRecord:
    """Write the recommended overlap into the study's recipe, for `assign` to take.

    Raises:
        InputError: the plan recommends none.
        StageError: the pairs have been assigned.
    """
    if plan.recommended is None:
        raise InputError("the plan recommends no overlap; give the `width` that is wished for")
    with grid._store.write() as tx:
        if build_progress.n_built(tx)["assign"]:
            step = plan.next_step or "the plan is for a grid of another size"
            raise StageError(f"pairs have been assigned, so the recipe stays as it is: {step}")
        rung = plan.recommended_rung
        overlap = {str(n): share for n, share in (plan.recommended or {}).items()}
        run = note_run(
            tx, "plan", as_params(plan.options), {"overlap": overlap, "labels": rung.expected.labels if rung else 0}
        )
        overlap = as_settings(Assign(overlap=plan.recommended))["overlap"]
        settings.save_settings(tx, settings.RECIPE + Assign.stage, {"overlap": overlap}, run.id)
        if departures.recipe_version(tx):
            departures.add_recipe_version(tx, run.id)
        return run
