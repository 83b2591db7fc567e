"""The lead's pages of pairs, answers and agreement: panels, a pair, answers, two people, calibration, and conflicts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from http import HTTPStatus
from itertools import accumulate
from operator import itemgetter
from typing import Any, get_args

from fastapi import APIRouter, Response

from fcpair.errors import InputError, StageError
from fcpair.grid import Grid
from fcpair.param_values import digest_params
from fcpair.params import Adjudicate, Calibration, DiamondRule, Partition, Policy, Ties, Validate
from fcpair.records import Role, RunRecord
from fcpair.sentences import mark, say
from fcpair.web.current_grid import AGREEMENT, CALIBRATION, CONFLICTS, PEOPLE
from fcpair.web.form import Text, Ticked, fields, read_params
from fcpair.web.lead.panels import build_panel, build_panels, compared_people, if_measured
from fcpair.web.visits import LeadVisit
from fcpair.work_records import DryRun

router = APIRouter(include_in_schema=False)
PAGE = 100  # answers on one page of them
COUNTS = {
    "neither": mark("neither answer: the pairs are assigned again"),
    "first": mark("the first answer"),
    "second": mark("the answer after the discussion"),
}
DIAMOND = f"{CONFLICTS.path}/diamond"
POLICY_NAMES = (mark("manual"), mark("majority"), mark("median"), mark("wait"), mark("discard"))
RULE_NAMES = (mark("unanimous"), mark("majority"))  # as pages show them
NONE = "none"  # in the place of a policy that held, where none did


@router.get("/lead/panel/{name}")
def panel(visit: LeadVisit, name: str, seen: str = "") -> Response:
    """One panel as it is now; nothing when it is as it was `seen`."""
    facts = build_panel(visit, name)
    if facts["digest"] == seen:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return visit.page("lead_panel.html.j2", visit.here, panel=facts)


@router.get("/lead/pair/{cell_id}")
def pair(visit: LeadVisit, cell_id: int) -> Response:
    """Explain why a pair is where it is."""
    explanation = visit.here.grid.explain(cell_id)
    # A decision that stands again has the time at which it was made.
    decided = accumulate((str(row["at"]) for row in explanation.decisions), max)
    timed = [(str(row["at"]), row) for row in explanation.answers]
    timed = sorted([*timed, *zip(decided, explanation.decisions, strict=True)], key=itemgetter(0))
    return visit.page("lead_pair.html.j2", visit.here, told=explanation, events=[row for _, row in timed])


@router.get("/lead/answers")
def answers(visit: LeadVisit, round: str | None = None, after: int = 0) -> Response:
    """Show the answers in a round as people read them, some at a time."""
    from fcpair.files.tables.tabular import plain_rows

    table = visit.here.grid.answers(round)
    names, begin = table.columns.tolist(), min(max(after, 0), len(table))
    return visit.page(
        "lead_answers.html.j2",
        visit.here,
        round=round,
        questions=names[names.index("skipped") + 1 : names.index("seconds")],
        answers=list(plain_rows(table[begin : begin + PAGE])),
        n=len(table),
        begin=begin,
        size=PAGE,
    )


@router.get(AGREEMENT.path)
def agreement(visit: LeadVisit, by: str = "") -> Response:
    """Show how far people agree; with `by`, such as `row topic`, on each value of this metadata as well."""
    here, monitor = visit.here, visit.here.monitor
    values: dict[str, Any] = {"compared": (), "by_choices": {}, "blocks": ()}
    if AGREEMENT.fits(here):
        columns = monitor.metadata_columns()
        # An axis and a column of its metadata in one value of the form.
        choices = {f"{axis} {name}": (axis, name) for axis, names in columns.items() for name in names}
        if by and by not in choices:
            names = list(choices) or say("none")
            raise InputError.say("there is no metadata `%(name)s` to compare; expected %(codes)s", name=by, codes=names)
        blocks = monitor.blocks(*choices[by]) if by and monitor.agreement() else ()
        values = {"compared": compared_people(here), "by_choices": choices, "by": by, "blocks": blocks}
    panels, simulated = build_panels(visit, AGREEMENT), monitor.simulated_note()
    return visit.lead_page("lead_agreement_page.html.j2", AGREEMENT, panels=panels, simulated=simulated, **values)


@router.get("/lead/people/beside")
def two_people(visit: LeadVisit, person: str = "", other: str = "") -> Response:
    """Show two people side by side, and let others be chosen."""
    here = visit.here
    compared = sorted({*compared_people(here), *filter(None, (person, other))})
    values = {"compared_labels": here.grid.compare_people(person, other), "simulated": here.monitor.simulated_note()}
    return visit.page("lead_beside.html.j2", here, page=PEOPLE, compared=compared, chosen=(person, other), **values)


@router.get(CALIBRATION.path)
def calibration(visit: LeadVisit, run: int = 0) -> Response:
    """Show how far the calibration is, and what can be done now."""
    grid = visit.here.grid
    result = if_measured(grid.calibration.measure)
    return visit.lead_page(
        "lead_calibration_page.html.j2",
        CALIBRATION,
        run,
        panels=build_panels(visit, CALIBRATION) if result else [],
        simulated=grid.calibration.simulated_note,
        result=result,
        n_open=sum(person.again_open or person.open for person in result.people) if result else 0,
        options=grid.recipe_options(Calibration),
        counts=COUNTS,
    )


@router.post(f"{CALIBRATION.path}/start")
def start(visit: LeadVisit) -> Response:
    """Draw the batch, and assign it to everybody."""
    grid, typed = visit.here.grid, fields(visit.request)
    return visit.act(
        lambda: grid.calibration.start(read_params(grid.recipe_options(Calibration), typed)),
        CALIBRATION.path,
        calibration,
    )


@router.post(f"{CALIBRATION.path}/discuss")
def discuss(visit: LeadVisit, early: Ticked = False) -> Response:
    """Open the discussion."""
    return visit.act(partial(visit.here.grid.calibration.open_discussion, early=early), CALIBRATION.path, calibration)


@router.post(f"{CALIBRATION.path}/close")
def close(visit: LeadVisit, early: Ticked = False) -> Response:
    """Close the calibration."""
    return visit.act(partial(visit.here.grid.calibration.close, early=early), CALIBRATION.path, calibration)


@router.get(CONFLICTS.path)
def conflicts(visit: LeadVisit, run: int = 0, policy: str = "", ties: str = "", before: str = "") -> Response:
    """Show the adjudication policy, with what it would do, and the assigning of pairs to validators."""
    here, log, notes = visit.here, visit.study.log(), visit.context.grids.oldest.monitor.notes()
    done, held = next((record for record in log if record.id == run), None), here.grid.policy
    shown = parse_policy(policy, ties) if policy else held or here.grid.effective_options(Adjudicate)
    try:
        would = here.grid.desk.adjudicate_dry_run(shown)
    except StageError:  # while there are no labels
        would = None
    return visit.lead_page(
        "lead_conflicts.html.j2",
        CONFLICTS,
        run,
        policy=shown,
        held=held,
        seen=policy_key(held),
        policies=get_args(Policy),
        all_ties=get_args(Ties),
        would=would,
        dealt=next((round_ for round_ in visit.overview["rounds"] if round_["role"] == Role.VALIDATOR), None),
        not_due=here.grid.desk.verdicts_not_due,
        dealing=here.grid.effective_options(Validate),
        back=_way_back(here.grid, log, done, before),
        simulated=notes.simulated,
        notes=notes.notes,
    )


def parse_policy(policy: Any, ties: Any) -> Adjudicate:
    """A policy from a form, which has a choice of ties, whatever the policy; raises InputError where it is none."""
    return Adjudicate(policy) if policy == "manual" else Adjudicate(policy, ties)


def policy_key(policy: Adjudicate | None) -> str:
    """A policy as the page's forms name the one that held when it was made; empty for none."""
    return f"{policy.policy} {policy.ties}" if policy else ""


def _confirmation(preview: DryRun) -> str:
    """Text that confirms that so many pairs are discarded and so many reopened; empty where none are."""
    return f"{preview.discards} {len(preview.reopened)}" if preview.discards or preview.reopened else ""


def _way_back(grid: Grid, log: list[RunRecord], done: RunRecord | None, previous_key: str) -> dict[str, Any] | None:
    """Act that takes back the policy that was just set, unless another followed: the `policy` before it, and what
    `confirmed` it needs. Where `none` held, it is the one that decides least.
    """
    policy_runs = [run for run in log if run.stage == Adjudicate.stage and "policy" in run.params]
    if done is None or not previous_key or not policy_runs or policy_runs[-1].id != done.id:
        return None
    before = Adjudicate() if previous_key == NONE else parse_policy(*f"{previous_key} ".split(" ")[:2])
    if before == Adjudicate(**done.options):
        return None
    confirmed = _confirmation(grid.desk.adjudicate_dry_run(before))
    return {"policy": before, "confirmed": confirmed, "none": previous_key == NONE}


@router.post(f"{CONFLICTS.path}/adjudicate")
def adjudicate(visit: LeadVisit, policy: Text = "", ties: Text = "", confirmed: Text = "", seen: Text = "") -> Response:
    """Decide what the policy decides; what discards or reopens pairs, after it is confirmed with their numbers.

    So is what would take the place of another policy than the one that the page showed (`seen`).
    """
    grid = visit.here.grid
    options, current = parse_policy(policy, ties), grid.policy
    preview = grid.desk.adjudicate_dry_run(options)
    is_overtaken = current not in (None, options) and seen != policy_key(current)
    confirmation = _confirmation(preview)
    if is_overtaken or confirmation not in ("", confirmed):
        values = {"policy": options, "would": preview, "confirmed": confirmation, "seen": policy_key(current)}
        overtaking = current if is_overtaken else None
        return visit.page("lead_confirm_policy.html.j2", visit.here, overtaking=overtaking, **values)
    return visit.act(lambda: grid.adjudicate(options), CONFLICTS.path, before=policy_key(current) or NONE)


@router.post(f"{CONFLICTS.path}/validate")
def validate(visit: LeadVisit, blind: Ticked = False, more: Ticked = False) -> Response:
    """Deal adjudicated pairs to those who validate."""
    grid = visit.here.grid
    validators = grid.recipe_options(Validate, more=more).validators
    own = replace(grid.effective_options(Validate), validators=validators, blind=blind)
    options = read_params(own, {"pairs": fields(visit.request).get("pairs", "")})
    return visit.act(lambda: grid.assign_validation(options, more=more), CONFLICTS.path)


@router.post(DIAMOND)
def choose_rule(visit: LeadVisit, seen: Text = "") -> Response:
    """Let a rule hold for the grid: in its tiers, report, downloads and evaluation."""
    grid, typed = visit.here.grid, fields(visit.request)
    return visit.act(
        lambda: grid.save.partition(read_params(grid.effective_options(Partition), typed), seen=seen),
        DIAMOND,
        compare_rules,
    )


@router.get(DIAMOND)
def compare_rules(visit: LeadVisit, run: int = 0) -> Response:
    """Show the tiers as each rule of Diamond makes them."""
    here, all_rules, no_tiers = visit.here, get_args(DiamondRule), ""
    rows: list[tuple[str, list[int]]] = []  # the size of each tier, the best first, by each rule
    try:
        tables: list[Any] = [here.grid.tiers(diamond=rule).table().tables[0] for rule in all_rules]
        by_tier = zip(*(table.itertuples(index=False, name=None) for table in tables), strict=True)
        rows = [(str(tier[0][0]), [int(row[1]) for row in tier]) for tier in by_tier]
    except (InputError, StageError) as error:  # nobody has answered, or the answers cannot be in tiers
        no_tiers = str(error)
    held = here.grid.effective_options(Partition)
    values = {"held": held.diamond, "seen": digest_params(held), "rules": all_rules}
    return visit.page("lead_diamond.html.j2", here, run, page=CONFLICTS, rows=rows, no_tiers=no_tiers, **values)
