"""The lead's pages of labels, of the policy that decides, of validation, and of the tiers with the rule of Diamond."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, get_args

from fastapi import APIRouter, Response

from fcpair.done import tell
from fcpair.errors import InputError, StageError
from fcpair.grid import Grid
from fcpair.param_values import digest_params
from fcpair.params import Adjudicate, DiamondRule, Further, Partition, Policy, Relabel, Ties, Validate
from fcpair.records import Role, RunRecord
from fcpair.sentences import mark
from fcpair.web.current_grid import CONFLICTS, LABELS, TIERS
from fcpair.web.form import Text, Ticked, fields, fields_of, read_params
from fcpair.web.lead.panels import PANELS
from fcpair.web.visits import REFUSALS, LeadVisit, Visit
from fcpair.work_records import DryRun

router = APIRouter(include_in_schema=False)
POLICY, VALIDATION = f"{CONFLICTS.path}/policy", f"{CONFLICTS.path}/validation"
RULE_NAMES = (mark("unanimous"), mark("majority"), mark("median"))  # as pages show them
KINDS = (mark("rename"), mark("merge"), mark("split"), mark("add"))
NONE = "none"  # in the place of a policy that held, where none did


@router.get(POLICY)
def show_policy(visit: LeadVisit, run: int = 0, policy: str = "", ties: str = "", before: str = "") -> Response:
    """Show the adjudication policy, and what the one that is chosen would do; and the rules that ask further people."""
    return _show_policy(visit, run, policy, ties, before)


def _show_policy(
    visit: Visit, run: int = 0, policy: str = "", ties: str = "", before: str = "", **asking: Any
) -> Response:
    here, log = visit.here, visit.study.log()
    done, held = next((record for record in log if record.id == run), None), here.grid.policy
    shown = parse_policy(policy, ties) if policy else held or here.grid.effective_options(Adjudicate)
    try:
        would = here.grid.desk.adjudicate_dry_run(shown)
    except StageError:  # while there are no labels
        would = None
    return visit.lead_page(
        "lead_policy.html.j2",
        CONFLICTS,
        run,
        policy=shown,
        held=held,
        seen=policy_key(held),
        policies=get_args(Policy),
        all_ties=get_args(Ties),
        would=would,
        back=_way_back(here.grid, log, done, before),
        further=fields_of(Further).values(),
        rules=here.grid.effective_options(Further),
        simulated=here.monitor.simulated_note(),
        **asking,
    )


@router.post(f"{CONFLICTS.path}/further")
def ask_further(visit: LeadVisit, confirmed: Text = "") -> Response:
    """Set the rules that ask further people, once what they ask for now has been shown and confirmed."""
    grid, typed = visit.here.grid, fields(visit.request)
    try:
        rules = read_params(grid.effective_options(Further), typed)
        asked = grid.desk.forecast_further(rules)
    except REFUSALS as refusal:
        return _show_policy(visit.refused(refusal), typed=typed)
    forecast = f"{digest_params(rules)} {sum(asked.values())}"
    if asked and confirmed != forecast:
        return _show_policy(visit, typed=typed, asked=tell(Further.stage, {}, asked), confirmed=forecast)
    return visit.act(lambda: grid.save.further(rules), POLICY, lambda refused: _show_policy(refused, typed=typed))


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
    return visit.act(lambda: grid.adjudicate(options), POLICY, before=policy_key(current) or NONE)


@router.get(VALIDATION)
def show_validation(visit: LeadVisit, run: int = 0) -> Response:
    """Show how far validation is, and the form that assigns pairs to validators."""
    here, rounds = visit.here, visit.overview["rounds"]
    return visit.lead_page(
        "lead_validation.html.j2",
        CONFLICTS,
        run,
        dealt=next((round_ for round_ in rounds if round_["role"] == Role.VALIDATOR), None),
        not_due=here.grid.desk.verdicts_not_due,
        dealing=here.grid.effective_options(Validate),
        typed=fields(visit.request).get("pairs"),
        simulated=here.monitor.simulated_note(),
    )


@router.post(f"{CONFLICTS.path}/validate")
def validate(visit: LeadVisit, blind: Ticked = False, more: Ticked = False) -> Response:
    """Deal adjudicated pairs to those who validate."""
    grid = visit.here.grid
    validators = grid.recipe_options(Validate, more=more).validators
    own = replace(grid.effective_options(Validate), validators=validators, blind=blind)
    typed = {"pairs": fields(visit.request).get("pairs", "")}
    return visit.act(lambda: grid.assign_validation(read_params(own, typed), more=more), VALIDATION, show_validation)


@router.post(TIERS.path)
def choose_rule(visit: LeadVisit, seen: Text = "") -> Response:
    """Let a rule hold for the grid: in its tiers, report, downloads and evaluation."""
    grid, typed = visit.here.grid, fields(visit.request)
    return visit.act(
        lambda: grid.save.partition(read_params(grid.effective_options(Partition), typed), seen=seen),
        TIERS.path,
        show_tiers,
    )


@router.get(TIERS.path)
def show_tiers(visit: LeadVisit, run: int = 0) -> Response:
    """Show the tiers as they are now, their rules, and what each rule of Diamond makes of them."""
    here, all_rules = visit.here, get_args(DiamondRule)
    rows: list[tuple[str, list[int]]] = []  # the size of each tier, the best first, by each rule
    with suppress(InputError, StageError):  # nobody has answered, or the answers cannot be in tiers
        tables: list[Any] = [here.grid.tiers(diamond=rule).table().tables[0] for rule in all_rules]
        by_tier = zip(*(table.itertuples(index=False, name=None) for table in tables), strict=True)
        rows = [(str(tier[0][0]), [int(row[1]) for row in tier]) for tier in by_tier]
    held = here.grid.effective_options(Partition)
    values: dict[str, Any] = {"held": held.diamond, "seen": digest_params(held), "rules": all_rules, "rows": rows}
    if TIERS.fits(here):
        values |= PANELS["tiers"].values(here, visit.language)
    values |= {"simulated": here.monitor.simulated_note(), "blocks_noted": here.grid.desk.block_notes}
    return visit.lead_page("lead_tiers_page.html.j2", TIERS, run, **values)


@router.get(LABELS.path)
def show_labels(visit: LeadVisit, run: int = 0) -> Response:
    """Show the labels, how they were changed, and the form that changes them."""
    return _labels_page(visit, {}, run)


@router.post(LABELS.path)
def change_labels(visit: LeadVisit, confirmed: Text = "") -> Response:
    """Change the labels, once it was `confirmed` what would follow, in the words in which the page says it."""
    grid, typed = visit.here.grid, fields(visit.request)
    try:
        change = read_params(Relabel(), typed)
        would = grid.relabel(change, dry_run=True)
    except REFUSALS as refusal:
        return _labels_page(visit.refused(refusal), typed)
    if confirmed != would.told:
        return _labels_page(visit, typed, would=would)
    return visit.act(lambda: grid.relabel(change), LABELS.path, lambda refused: _labels_page(refused, typed))


def _labels_page(visit: Visit, typed: Mapping[str, str], run: int = 0, would: RunRecord | None = None) -> Response:
    grid = visit.here.grid
    shown = [(param, typed.get(name, "")) for name, param in fields_of(Relabel).items()]
    versions = grid.label_versions()[::-1] if LABELS.fits(visit.here) else []
    choices = grid.scheme if versions else ()
    values = {"fields": shown, "versions": versions, "choices": choices, "would": would}
    return visit.lead_page("lead_label_changes.html.j2", LABELS, run, **values)
