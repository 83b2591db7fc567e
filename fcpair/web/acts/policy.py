"""The adjudication policy on the lead's page: what one would do, applying it, and taking that back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, cast, get_args

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import InputError, StageError
from fcpair.grid import Grid
from fcpair.params import Adjudicate, Policy, Ties
from fcpair.records import Role, RunRecord
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.lead.navigation import CONFLICTS
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.lead.runs import redirect_to
from fcpair.web.page_phrases import mark
from fcpair.work_records import DryRun

router = APIRouter(include_in_schema=False)
POLICY_NAMES = (mark("manual"), mark("majority"), mark("median"), mark("wait"), mark("discard"))
NONE = "none"  # in the place of a policy that held, where none did
Text = Annotated[str, Form()]


@dataclass(frozen=True)
class PreviousPolicy:
    """The policy that held before the one that was applied; `confirmed` is what taking it back needs.

    Where `none` held, `policy` is the one that decides least.
    """

    policy: Adjudicate
    confirmed: str
    none: bool


@router.post("/lead/conflicts/adjudicate")
@open_to(Role.LEAD)
def adjudicate(request: Request, policy: Text = "", ties: Text = "", confirmed: Text = "", seen: Text = "") -> Response:
    """Decide what the policy decides; what discards or reopens pairs, after it is confirmed with their numbers.

    So is what would take the place of another policy than the one that the page showed (`seen`).
    """
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    grid = here.grid
    options, current = parse_policy(policy, ties), grid.policy
    preview = grid.adjudicate_dry_run(options)
    is_overtaken = current not in (None, options) and seen != policy_key(current)
    if is_overtaken or confirmation(preview) not in ("", confirmed):
        values = {
            "policy": options,
            "would": preview,
            "confirmed": confirmation(preview),
            "seen": policy_key(current),
        }
        values["overtaking"] = current if is_overtaken else None
        return context.page(request, visitor, "lead_confirm_policy.html.j2", here, **SHOWN_BY, **values)
    with context.study.acting_as(visitor.name):
        run = grid.adjudicate(options)
    return redirect_to(here, CONFLICTS.path, run, before=policy_key(current) or NONE)


def parse_policy(policy: str, ties: str) -> Adjudicate:
    """A policy from a form; raises InputError where it is none."""
    if policy not in get_args(Policy) or ties not in get_args(Ties):
        raise InputError(f"there is no policy `{policy}` with ties `{ties}`; choose one of those on the page")
    if policy == "manual":  # the form has a choice of ties, whatever the policy
        return Adjudicate()
    return Adjudicate(cast(Policy, policy), cast(Ties, ties))


def policy_key(policy: Adjudicate | None) -> str:
    """A policy as the page's forms name the one that held when it was made; empty for none."""
    return f"{policy.policy} {policy.ties}" if policy else ""


def confirmation(preview: DryRun) -> str:
    """Text that confirms that so many pairs are discarded and so many reopened; empty where none are."""
    n_reopened = len(preview.reopened)
    return f"{preview.discards} {n_reopened}" if preview.discards or n_reopened else ""


def policy_values(grid: Grid, requested: Adjudicate | None) -> dict[str, Any]:
    """Values that the page shows about a policy: the `requested` one, else the one that holds."""
    current = grid.policy
    policy = requested or current or grid.effective_options(Adjudicate)
    return {
        "policy": policy,
        "held": current,
        "seen": policy_key(current),
        "policies": get_args(Policy),
        "all_ties": get_args(Ties),
        "would": _preview_policy(grid, policy),
    }


def _preview_policy(grid: Grid, policy: Adjudicate) -> DryRun | None:
    """Preview what the policy would do; None while there are no labels."""
    try:
        return grid.adjudicate_dry_run(policy)
    except StageError:
        return None


def previous_policy(
    grid: Grid, log: list[RunRecord], done: RunRecord | None, previous_key: str
) -> PreviousPolicy | None:
    """Find the policy that takes back what was just done, before which `previous_key` was the policy.

    None where that set no other policy, or where another one was applied since.
    """
    policy_runs = [one for one in log if one.stage == Adjudicate.stage and "policy" in one.params]
    if done is None or not previous_key or not policy_runs or policy_runs[-1].id != done.id:
        return None
    before = Adjudicate() if previous_key == NONE else parse_policy(*f"{previous_key} ".split(" ")[:2])
    if before == Adjudicate(**done.options):
        return None
    return PreviousPolicy(before, confirmation(grid.adjudicate_dry_run(before)), none=previous_key == NONE)
