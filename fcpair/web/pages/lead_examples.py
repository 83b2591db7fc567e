"""The examples that models of a round are shown, as the lead reviews them: one row of the round after the other."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.errors import InputError, UnknownIdError
from fcpair.grid import Reviewing
from fcpair.records import Role
from fcpair.web.auth import open_to
from fcpair.web.context import Context
from fcpair.web.current_grid import Here
from fcpair.web.pages.lead_panels import SHOWN_BY
from fcpair.web.pages.lead_runs import SEE_OTHER

PAGE = "/lead/examples"
MOST_DIGITS = 15
SAID = {"yes": True, "no": False}
Text = Annotated[str, Form()]


def add(routes: APIRouter, context: Context) -> None:
    """Add the page on which examples are reviewed, and the act of it."""
    door, grids = context.door, context.grids

    @routes.get(PAGE)
    @open_to(Role.LEAD)
    def examples(request: Request, round: str | None = None, row: str | None = None) -> Response:
        """A row with its examples: the one that is asked for, else the first that has some to review."""
        visitor, here = door.enter(request), grids.at(request)
        there = here.grid.rounds_with_examples()
        name = round if round is not None else next(iter(there), None)
        found = here.grid.row_to_review(name, _place(row)) if name is not None else None
        values = {"round": name, "rounds": there, "found": found, "elsewhere": _elsewhere(context, here)}
        return context.page(request, visitor, "lead_examples.html.j2", here, **SHOWN_BY, **values)

    @routes.post(PAGE)
    @open_to(Role.LEAD)
    def review(request: Request, round: Text = "", row: Text = "", example: Text = "", used: Text = "") -> Response:
        """Let an example be used, or not; then back to its row, at the next example that nobody has reviewed."""
        visitor, here = door.enter(request), grids.at(request)
        if used not in SAID:
            raise InputError(f"`{used}` does not say whether the example is used; expected yes or no")
        here.grid.review_example(round, _number(example), used=SAID[used], by=visitor.id)
        found = here.grid.row_to_review(round, _place(row))
        at = f"#{_next(found, _number(example))}" if found else ""
        return RedirectResponse(f"{here.to(PAGE, round=round, row=row)}{at}", SEE_OTHER)


def _elsewhere(context: Context, here: Here) -> list[tuple[Here, list[str]]]:
    """Other grids with rounds that have examples."""
    others = (one for one in map(context.grids.one, context.study.grids) if one.grid is not here.grid)
    return [(one, names) for one in others if (names := one.grid.rounds_with_examples())]


def _next(found: Reviewing, reviewed: int) -> str:
    """Where the page goes on after an example: the next one of the row to review, else what stands above them."""
    ids = [one.id for one in found.examples]
    after = found.examples[ids.index(reviewed) + 1 :] if reviewed in ids else found.examples
    to_review = [one.rank for one in (*after, *found.examples) if one.used is None]
    return f"example-{to_review[0]}" if to_review else "row"


def _place(given: str | None) -> int | None:
    return None if given is None else _number(given)


def _number(given: str) -> int:
    """A number from an address or a form; raises UnknownIdError for what is none, as of what is not there."""
    if not given.isdecimal() or len(given) > MOST_DIGITS:
        raise UnknownIdError(f"`{given[:MOST_DIGITS]}` is no number of a row or an example")
    return int(given)
