"""The examples that models of a round are shown, as the lead reviews them: one row of the round after the other."""

from __future__ import annotations

from fastapi import APIRouter, Response

from fcpair.errors import InputError, UnknownIdError
from fcpair.grid import ExampleReview
from fcpair.sentences import say
from fcpair.web.context import Context
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.form import MOST_DIGITS, Text, parse_number
from fcpair.web.visits import LeadVisit, go_to

router = APIRouter(include_in_schema=False)
PAGE = "/lead/examples"
IS_USED = {"yes": True, "no": False}


@router.get(PAGE)
def examples(visit: LeadVisit, round: str | None = None, row: str | None = None) -> Response:
    """A row with its examples: the one that is asked for, else the first that has some to review."""
    here = visit.here
    round_names = here.grid.desk.rounds_with_examples()
    name = round if round is not None else next(iter(round_names), None)
    reviewing = here.grid.desk.row_to_review(name, _parse_optional_id(row)) if name is not None else None
    values = {
        "round": name,
        "rounds": round_names,
        "found": reviewing,
        "elsewhere": _grids_with_examples(visit.context, here),
    }
    return visit.page("lead_examples.html.j2", here, **values)


@router.post(PAGE)
def review(visit: LeadVisit, round: Text = "", row: Text = "", example: Text = "", used: Text = "") -> Response:
    """Let an example be used, or not; then back to its row, at the next example that nobody has reviewed."""
    here = visit.here
    if used not in IS_USED:
        raise InputError(say("`%(answer)s` does not say whether the example is used; expected yes or no", answer=used))
    here.grid.desk.review_example(round, _parse_id(example), used=IS_USED[used], by=visit.visitor.id)
    reviewing = here.grid.desk.row_to_review(round, _parse_optional_id(row))
    anchor = f"#{_next_anchor(reviewing, _parse_id(example))}" if reviewing else ""
    return go_to(f"{here.address(PAGE, round=round, row=row)}{anchor}")


def _grids_with_examples(context: Context, here: CurrentGrid) -> list[tuple[CurrentGrid, list[str]]]:
    """Other grids with rounds that have examples."""
    others = (one for one in map(context.grids.by_name, context.study.grids) if one.grid is not here.grid)
    return [(one, names) for one in others if (names := one.grid.desk.rounds_with_examples())]


def _next_anchor(reviewing: ExampleReview, reviewed: int) -> str:
    """Where the page goes on after an example: the next one of the row to review, else what stands above them."""
    ids = [one.id for one in reviewing.examples]
    after = reviewing.examples[ids.index(reviewed) + 1 :] if reviewed in ids else reviewing.examples
    to_review = [one.rank for one in (*after, *reviewing.examples) if one.used is None]
    return f"example-{to_review[0]}" if to_review else "row"


def _parse_optional_id(number: str | None) -> int | None:
    return None if number is None else _parse_id(number)


def _parse_id(digits: str) -> int:
    """A number from an address or a form; raises UnknownIdError for what is none, as of what is not there."""
    if (number := parse_number(digits)) is None:
        raise UnknownIdError(say("`%(text)s` is not the number of a row or an example", text=digits[:MOST_DIGITS]))
    return number
