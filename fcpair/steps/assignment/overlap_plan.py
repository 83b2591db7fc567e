"""Planning an overlap before it costs anything, and writing it into the study's recipe."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fcpair.errors import InputError, StageError
from fcpair.files.answers.answer_files import read_pilot_labels
from fcpair.param_values import as_params
from fcpair.params import Assign, Plan, PlannedFigure
from fcpair.records import Role, RunRecord
from fcpair.stages.assignment.overlap_plan import AssignedPairs, OverlapPlan, plan_grid
from fcpair.steps.base import departures
from fcpair.steps.base.calibration_state import load_calibration
from fcpair.steps.base.context import GridContext, as_settings, effective_options, is_planned, note_run, scheme_of
from fcpair.steps.base.keywords import takes_params
from fcpair.store import adjudications, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells
from fcpair.store.oversight import build_progress, settings

LEAST_PAIRS = 2  # with several labels, for the study's own labels to be a pilot
LEAST_MEASURED = 5  # labels whose seconds are known, for their median to count


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
    file, else of the study where two pairs or more have several labels, else on the calibration before its discussion;
    without any, on what is assumed. What is assigned is the least overlap planned, unless the plan is for another size
    of grid.

    Raises:
        StageError: the grid is planned: its rounds say how many answers each cell gets.
        InputError: a size that is not known, shares and kappa that cannot be, a pilot that cannot be read or has no
            overlap, a width that no overlap leaves. The message says what can be had.
    """
    options = options or Plan()
    with grid._store.read() as tx:
        if is_planned(tx):
            raise StageError(
                "a plan is for a grid made from a corpus; in a planned grid each round says how many answers each "
                "cell gets"
            )
        question, (n_hs, n_cn) = scheme_of(tx), cells.shape(tx)
        n_people = len(people.people(tx, Role.ANNOTATOR, active=True)) or effective_options(tx, Assign, {}).annotators
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
        calibration = load_calibration(tx)
        sources = [rounds.primary(tx), *([calibration.first] if calibration else [])]  # the better ones first
        times = (judgements.current_answers(tx, round_, "seconds")["seconds"].dropna() for round_ in sources)
        measured = next((time for time in times if len(time) >= LEAST_MEASURED), None)
        if options.seconds is None and measured is not None:
            known["seconds"] = round(float(measured.median()), 1)
            basis.append(f"{known['seconds']:g} seconds a label, the median of {len(measured):,}")
        sentences = [f"from the study: {', '.join(basis)}"] if basis else []
        if n_decided := len(adjudications.pairs_decided_by_hand(tx)):
            sentences.append(f"{n_decided:,} pairs that somebody has decided get no further labels")
        labels = None
        for round_ in () if options.pilot else sources:
            given = judgements.current_labels(tx, "cell_id", "hs_id", "cn_id", "annotator", "code", of=round_)
            if int((given.groupby("cell_id").size() > 1).sum()) >= LEAST_PAIRS:
                labels = given
                if round_.options.calibrates:
                    sentences.append("the pilot is the calibration: what people answered before its discussion")
                break
        assigned, by_labels = None, assignments.labels_per_pair(tx)
        if by_labels and (options.hs or n_hs, options.cn or n_cn) == (n_hs, n_cn):
            of_hs, of_cn = assignments.overlap_per_text(tx)
            assigned = AssignedPairs(by_labels, tuple(of_hs), tuple(of_cn))
    if labels is not None:
        try:
            replace(options, pilot=Path("<labels of the study>"))
        except InputError as error:
            raise InputError(f"{error}: the study's own labels are the pilot") from None
    if options.pilot:
        labels = read_pilot_labels(options.pilot, question)
    plan = plan_grid(replace(options, **known), question, labels, assigned)  # type: ignore[arg-type]
    return replace(plan, basis=(*sentences, *plan.basis))


def save_overlap(grid: GridContext, plan: OverlapPlan) -> RunRecord:
    """Write the recommended overlap into the recipe; InputError if there is none, StageError for assigned pairs."""
    if plan.recommended is None:
        raise InputError("the plan recommends no overlap; give the `width` that is wished for")
    with grid._store.write() as tx:
        if build_progress.n_built(tx)["assign"]:
            step = plan.next_step or "the plan is for a grid of another size"
            raise StageError(f"pairs have been assigned, so the recipe stays as it is: {step}")
        rung, overlap = plan.recommended_rung, {str(n): share for n, share in (plan.recommended or {}).items()}
        run = note_run(
            tx, "plan", as_params(plan.options), {"overlap": overlap, "labels": rung.expected.labels if rung else 0}
        )
        overlap = as_settings(Assign(overlap=plan.recommended))["overlap"]
        settings.save_settings(tx, settings.RECIPE + Assign.stage, {"overlap": overlap}, run.id)
        departures.add_recipe_version(tx, run.id)
        return run
