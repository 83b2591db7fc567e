"""The next step of a study as the lead takes it on the pages: in words, with the button that does it or leads to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from fcpair.records import Role
from fcpair.report.formatting import counted
from fcpair.web.lead.navigation import CONFLICTS, DOWNLOADS, PEOPLE

if TYPE_CHECKING:
    from fcpair.grid import Headlines, LeadStep

BUILDING, ANSWERING, DECIDING, VALIDATING, DONE = (
    "Building the grid",
    "Answering",
    "Adjudicating",
    "Validating",
    "Everything is answered and decided",
)


@dataclass(frozen=True)
class Offer:
    """What is next, in words, in a `stage` of the study.

    A `button` does it, by a form of `fields` that is sent to an `address`, or it leads there; without one there is a
    `command` for it at most, or nothing to do but to wait.
    """

    stage: str
    text: str
    button: str = ""
    address: str = ""
    fields: tuple[tuple[str, str], ...] | None = None
    command: str = ""


def offers(headlines: Headlines, grid: str) -> list[Offer]:
    """All that can be done now in a grid, what a page does before what it does not; never empty."""
    all_offers = [_OFFERS[step.act](step, headlines, grid) for step in headlines.steps]
    by_page = [one for one in all_offers if one.button]
    return [*by_page, *(one for one in all_offers if not one.button)] or [_NOTHING_LEFT]


_NOTHING_LEFT = Offer(DONE, "Nobody has anything left to do.", "Go to the downloads", DOWNLOADS.path)


def _build(step: LeadStep, _headlines: Headlines, _grid: str) -> Offer:
    return Offer(BUILDING, "The grid is not built yet.", command=f"fcpair {step.act}")


def _pair(step: LeadStep, headlines: Headlines, grid: str) -> Offer:
    if not grid:
        return _build(step, headlines, grid)
    return Offer(BUILDING, "The grid has no cells yet.", "Fill the grid", "/lead/rounds/pair", ())


def _assign(step: LeadStep, headlines: Headlines, grid: str) -> Offer:
    role = step.role or Role.ANNOTATOR
    text = f"Round “{step.round}” is not assigned yet." if grid else "The pairs are not assigned yet."
    if role not in headlines.roles:
        return _add(role, BUILDING, text)
    button = f"Assign round “{step.round}”" if grid else "Assign the pairs to annotators"
    return Offer(BUILDING, text, button, "/lead/rounds/assign", (("round", step.round),))


def _add(role: Role, stage: str, text: str) -> Offer:
    article = "an" if role.value[0] in "aeiou" else "a"
    button = f"Add {article} {role}" if role is Role.ADJUDICATOR else f"Add {role}s"
    return Offer(stage, text, button, f"{PEOPLE.path}?role={role}#add")


def _see_people(stage: str, text: str, step: LeadStep, headlines: Headlines) -> Offer:
    if step.role and (n := headlines.uninvited.get(step.role, 0)):
        button = f"Invite {counted(n, step.role.value)}"
        return Offer(stage, text, button, f"{PEOPLE.path}#links")
    return Offer(stage, text, "See how people get on", PEOPLE.path)


def _answer(step: LeadStep, headlines: Headlines, _grid: str) -> Offer:
    return _see_people(ANSWERING, f"{_are(step.n, 'answer')} open{_in_round(step)}.", step, headlines)


def _add_people(step: LeadStep, _headlines: Headlines, _grid: str) -> Offer:
    text = f"{counted(step.n, 'answer')} with nobody left to give {_them(step.n)}{_in_round(step)}."
    return _add(step.role or Role.ANNOTATOR, ANSWERING, text)


def _add_validators(step: LeadStep, _headlines: Headlines, _grid: str) -> Offer:
    return _add(Role.VALIDATOR, VALIDATING, f"{counted(step.n, 'verdict')} with nobody left to give {_them(step.n)}.")


def _decide(step: LeadStep, headlines: Headlines, _grid: str) -> Offer:
    return _see_conflicts(f"{_wait(step.n)} for a person's decision.", headlines)


def _look_again(step: LeadStep, headlines: Headlines, _grid: str) -> Offer:
    return _see_conflicts(f"{_wait(step.n)} for a second look, because labels changed.", headlines)


def _see_conflicts(text: str, headlines: Headlines) -> Offer:
    if Role.ADJUDICATOR not in headlines.roles:
        return _add(Role.ADJUDICATOR, DECIDING, text)
    return Offer(DECIDING, text, "See the conflicts", CONFLICTS.path)


def _apply_policy(step: LeadStep, _headlines: Headlines, _grid: str) -> Offer:
    text = f"{_wait(step.n)} for a policy that decides {_them(step.n)}."
    return Offer(DECIDING, text, "Choose the policy", f"{CONFLICTS.path}#adjudicating")


def _assign_validation(step: LeadStep, headlines: Headlines, _grid: str) -> Offer:
    text = f"{counted(step.n, 'decided pair')} without a verdict that holds."
    if Role.VALIDATOR not in headlines.roles:
        return _add(Role.VALIDATOR, VALIDATING, text)
    return Offer(VALIDATING, text, "Assign pairs to validators", f"{CONFLICTS.path}#dealing")


def _validate(step: LeadStep, headlines: Headlines, _grid: str) -> Offer:
    return _see_people(VALIDATING, f"{_are(step.n, 'verdict')} open.", step._replace(role=Role.VALIDATOR), headlines)


def _wait_for_others(step: LeadStep, _headlines: Headlines, _grid: str) -> Offer:
    what = f"Round “{step.round}”" if step.round else "This grid"
    return Offer(ANSWERING, f"{what} waits for another round or grid to be done.")


def _ask_server(step: LeadStep, _headlines: Headlines, grid: str) -> Offer:
    text = f"Models answer round “{step.round}”."
    if step.act == "ask models":
        address = f"/lead/generate?{urlencode({'round': step.round or ''})}"
        return Offer(ANSWERING, text, "See what asking them takes", address)
    return Offer(ANSWERING, text, command=f"fcpair examples find --grid {grid} --round {step.round}")


def _review(step: LeadStep, _headlines: Headlines, _grid: str) -> Offer:
    text = f"Models are to be shown examples in round “{step.round}”, which somebody has to review."
    return Offer(ANSWERING, text, "Review the examples", "/lead/examples")


def _are(n: int, noun: str) -> str:
    return f"{counted(n, noun)} {'is' if n == 1 else 'are'}"


def _wait(n: int) -> str:
    return f"{counted(n, 'pair')} {'waits' if n == 1 else 'wait'}"


def _them(n: int) -> str:
    return "it" if n == 1 else "them"


def _in_round(step: LeadStep) -> str:
    return f" in round “{step.round}”" if step.round and step.round != "label" else ""


_OFFERS: dict[str, Callable[[LeadStep, Headlines, str], Offer]] = {
    **dict.fromkeys(("import", "select", "retrieve"), _build),
    "pair": _pair,
    "assign": _assign,
    "wait": _wait_for_others,
    **dict.fromkeys(("find examples", "ask models"), _ask_server),
    "review examples": _review,
    "answer": _answer,
    "add people": _add_people,
    "decide": _decide,
    "apply policy": _apply_policy,
    "look again": _look_again,
    **dict.fromkeys(("assign validation", "assign more validation", "validate again"), _assign_validation),
    "add validators": _add_validators,
    "validate": _validate,
}
