"""The next step of a study as the lead takes it on the pages: in words, with the button that does it or leads to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from fcpair.records import Role
from fcpair.web.languages import Language
from fcpair.web.lead.navigation import CALIBRATION, CONFLICTS, DOWNLOADS, PEOPLE
from fcpair.web.page_phrases import mark, mark_plural

if TYPE_CHECKING:
    from fcpair.grid import Headlines, LeadStep

BUILDING, ANSWERING, DECIDING, VALIDATING, DONE = (
    mark("Building the grid"),
    mark("Answering"),
    mark("Adjudicating"),
    mark("Validating"),
    mark("Everything is answered and decided"),
)
ADDING = {
    Role.ANNOTATOR: mark("Add annotators"),
    Role.ADJUDICATOR: mark("Add an adjudicator"),
    Role.VALIDATOR: mark("Add validators"),
    Role.WRITER: mark("Add writers"),
    Role.RATER: mark("Add raters"),
    Role.RESPONDENT: mark("Add respondents"),
}
INVITING = {
    Role.ANNOTATOR: mark_plural("Invite %(n)s annotator", "Invite %(n)s annotators"),
    Role.VALIDATOR: mark_plural("Invite %(n)s validator", "Invite %(n)s validators"),
    Role.WRITER: mark_plural("Invite %(n)s writer", "Invite %(n)s writers"),
    Role.RATER: mark_plural("Invite %(n)s rater", "Invite %(n)s raters"),
    Role.RESPONDENT: mark_plural("Invite %(n)s respondent", "Invite %(n)s respondents"),
}
OPEN_ANSWERS = mark_plural("%(n)s answer is open.", "%(n)s answers are open.")
OPEN_ANSWERS_OF_ROUND = mark_plural(
    "%(n)s answer is open in round “%(round)s”.", "%(n)s answers are open in round “%(round)s”."
)
VACANT_ANSWERS = mark_plural(
    "%(n)s answer with nobody left to give it.", "%(n)s answers with nobody left to give them."
)
VACANT_ANSWERS_OF_ROUND = mark_plural(
    "%(n)s answer with nobody left to give it in round “%(round)s”.",
    "%(n)s answers with nobody left to give them in round “%(round)s”.",
)
OPEN_VERDICTS = mark_plural("%(n)s verdict is open.", "%(n)s verdicts are open.")
VACANT_VERDICTS = mark_plural(
    "%(n)s verdict with nobody left to give it.", "%(n)s verdicts with nobody left to give them."
)
UNDECIDED = mark_plural("%(n)s pair waits for a person's decision.", "%(n)s pairs wait for a person's decision.")
CHANGED = mark_plural(
    "%(n)s pair waits for a second look, because labels changed.",
    "%(n)s pairs wait for a second look, because labels changed.",
)
WITHOUT_POLICY = mark_plural(
    "%(n)s pair waits for a policy that decides it.", "%(n)s pairs wait for a policy that decides them."
)
WITHOUT_VERDICT = mark_plural(
    "%(n)s decided pair without a verdict that holds.", "%(n)s decided pairs without a verdict that holds."
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


class _Next(NamedTuple):
    """A step that is due in a grid, which has a name if it is planned; the words are those of the language."""

    step: LeadStep
    headlines: Headlines
    grid: str
    language: Language

    def say(self, message: str) -> str:
        """A message, with the step's round in it."""
        return self.language.gettext(message, round=self.step.round or "")

    def say_number(self, message: tuple[str, str]) -> str:
        """A message with the step's number."""
        return self.language.ngettext(*message, self.step.n, round=self.step.round or "")

    def offer(self, stage: str, text: str, button: str = "", address: str = "", **other: Any) -> Offer:
        """An offer of the texts, in a stage; the messages of `stage` and `button` are translated here."""
        return Offer(self.say(stage), text, self.say(button) if button else "", address, **other)

    @property
    def is_of_round(self) -> bool:
        """Whether the round has a name that says more than that pairs are labelled in it."""
        return bool(self.step.round) and self.step.round != "label"


def offers(headlines: Headlines, grid: str, language: Language) -> list[Offer]:
    """All that can be done now in a grid, what a page does before what it does not; never empty."""
    all_offers = [_OFFERS[step.act](_Next(step, headlines, grid, language)) for step in headlines.steps]
    by_page = [one for one in all_offers if one.button]
    return [*by_page, *(one for one in all_offers if not one.button)] or [_nothing_left(language)]


def _nothing_left(language: Language) -> Offer:
    say = language.gettext
    return Offer(
        say(DONE), say(mark("Nobody has anything left to do.")), say(mark("Go to the downloads")), DOWNLOADS.path
    )


def _build(due: _Next) -> Offer:
    return due.offer(BUILDING, due.say(mark("The grid is not built yet.")), command=f"fcpair {due.step.act}")


def _pair(due: _Next) -> Offer:
    if not due.grid:
        return _build(due)
    text = due.say(mark("The grid has no cells yet."))
    return due.offer(BUILDING, text, mark("Fill the grid"), "/lead/rounds/pair", fields=())


def _assign(due: _Next) -> Offer:
    role = due.step.role or Role.ANNOTATOR
    if due.grid:
        text, button = mark("Round “%(round)s” is not assigned yet."), mark("Assign round “%(round)s”")
    else:
        text, button = mark("The pairs are not assigned yet."), mark("Assign the pairs to annotators")
    if role not in due.headlines.roles:
        return _add(due, role, BUILDING, due.say(text))
    fields = (("round", due.step.round),)
    return due.offer(BUILDING, due.say(text), button, "/lead/rounds/assign", fields=fields)


def _add(due: _Next, role: Role, stage: str, text: str) -> Offer:
    return due.offer(stage, text, ADDING[role], f"{PEOPLE.path}?role={role}#add")


def _see_people(due: _Next, role: Role | None, stage: str, text: str) -> Offer:
    if role and (n := due.headlines.uninvited.get(role, 0)):
        button = due.language.ngettext(*INVITING[role], n)
        return Offer(due.say(stage), text, button, f"{PEOPLE.path}#links")
    return due.offer(stage, text, mark("See how people get on"), PEOPLE.path)


def _answer(due: _Next) -> Offer:
    text = due.say_number(OPEN_ANSWERS_OF_ROUND if due.is_of_round else OPEN_ANSWERS)
    return _see_people(due, due.step.role, ANSWERING, text)


def _add_people(due: _Next) -> Offer:
    text = due.say_number(VACANT_ANSWERS_OF_ROUND if due.is_of_round else VACANT_ANSWERS)
    return _add(due, due.step.role or Role.ANNOTATOR, ANSWERING, text)


def _add_validators(due: _Next) -> Offer:
    return _add(due, Role.VALIDATOR, VALIDATING, due.say_number(VACANT_VERDICTS))


def _decide(due: _Next) -> Offer:
    return _see_conflicts(due, UNDECIDED)


def _look_again(due: _Next) -> Offer:
    return _see_conflicts(due, CHANGED)


def _see_conflicts(due: _Next, message: tuple[str, str]) -> Offer:
    text = due.say_number(message)
    if Role.ADJUDICATOR not in due.headlines.roles:
        return _add(due, Role.ADJUDICATOR, DECIDING, text)
    return due.offer(DECIDING, text, mark("See the conflicts"), CONFLICTS.path)


def _apply_policy(due: _Next) -> Offer:
    text = due.say_number(WITHOUT_POLICY)
    return due.offer(DECIDING, text, mark("Choose the policy"), f"{CONFLICTS.path}#adjudicating")


def _assign_validation(due: _Next) -> Offer:
    text = due.say_number(WITHOUT_VERDICT)
    if Role.VALIDATOR not in due.headlines.roles:
        return _add(due, Role.VALIDATOR, VALIDATING, text)
    return due.offer(VALIDATING, text, mark("Assign pairs to validators"), f"{CONFLICTS.path}#dealing")


def _validate(due: _Next) -> Offer:
    return _see_people(due, Role.VALIDATOR, VALIDATING, due.say_number(OPEN_VERDICTS))


def _wait_for_others(due: _Next) -> Offer:
    of_round = mark("Round “%(round)s” waits for another round or grid to be done.")
    of_grid = mark("This grid waits for another round or grid to be done.")
    return due.offer(ANSWERING, due.say(of_round if due.step.round else of_grid))


def _ask_server(due: _Next) -> Offer:
    text = due.say(mark("Models answer round “%(round)s”."))
    if due.step.act == "ask models":
        address = f"/lead/generate?{urlencode({'round': due.step.round or ''})}"
        return due.offer(ANSWERING, text, mark("See what asking them takes"), address)
    return due.offer(ANSWERING, text, command=f"fcpair examples find --grid {due.grid} --round {due.step.round}")


def _review(due: _Next) -> Offer:
    text = due.say(mark("Models are to be shown examples in round “%(round)s”, which somebody has to review."))
    return due.offer(ANSWERING, text, mark("Review the examples"), "/lead/examples")


_CALIBRATION = {
    "start calibration": (
        mark("People calibrate themselves before pairs are assigned."),
        mark("Start the calibration"),
    ),
    "discuss": (mark("Everybody has answered the calibration."), mark("Open the discussion")),
    "close calibration": (mark("Everybody has answered again."), mark("Close the calibration")),
}


def _calibrate(due: _Next) -> Offer:
    text, button = _CALIBRATION[due.step.act]
    return due.offer(ANSWERING, due.say(text), button, CALIBRATION.path)


_OFFERS: dict[str, Callable[[_Next], Offer]] = {
    **dict.fromkeys(("import", "select", "retrieve"), _build),
    "pair": _pair,
    "assign": _assign,
    **dict.fromkeys(_CALIBRATION, _calibrate),
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
