"""The lead's first page, and what belongs to it: how far the study is, its rounds, their examples, imports, notes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fastapi import APIRouter, Response

from fcpair.errors import ConflictError, InputError, UnknownIdError
from fcpair.params import MAIN, Note
from fcpair.records import Role
from fcpair.sentences import Id
from fcpair.web.context import START
from fcpair.web.current_grid import COMPONENTS, EXAMPLES, PROGRESS, UPLOADS
from fcpair.web.form import MOST_DIGITS, Text, fields, fields_of, parse_number, read_params
from fcpair.web.lead.panels import build_panels, stage_title
from fcpair.web.visits import LeadVisit, Visit, go_to

router = APIRouter(include_in_schema=False)
NOTES, IMPORTS = "/lead/notes", "/lead/imports"


@router.get(PROGRESS.path)
def progress(visit: LeadVisit, run: int = 0) -> Response:
    """The study as it is going; its panels are read anew by themselves."""
    if visit.study.start.is_open:
        return go_to(START)
    here, overview, notes = visit.here, visit.overview, visit.context.grids.oldest.monitor.notes()
    # The rounds of a planned grid that are assigned by themselves.
    rounds = [round_ for round_ in overview["rounds"] if round_["role"] != Role.VALIDATOR] if here.is_planned else []
    return visit.lead_page(
        "lead_overview.html.j2",
        PROGRESS,
        run,
        n_cells=overview["cells"],
        rounds=[(stage_title(visit.language, round_["name"], round_["role"]), round_) for round_ in rounds],
        with_examples=here.grid.desk.rounds_with_examples() if here.is_planned else [],
        panels=build_panels(visit, PROGRESS),
        log=visit.study.log()[:-9:-1],  # the newest first
        simulated=notes.simulated,
        notes=notes.notes,
    )


@router.get(COMPONENTS.path)
def components(visit: LeadVisit) -> Response:
    """Show all components that pages are made of, for those who build them."""
    return visit.lead_page("lead_components.html.j2", COMPONENTS)


@router.post("/lead/rounds/pair")
def pair(visit: LeadVisit) -> Response:
    """Fill the sides of a planned grid, and make its cells."""
    return visit.act(visit.here.grid.pair, PROGRESS.path)


@router.post("/lead/rounds/assign")
def assign(visit: LeadVisit, round: Text = "") -> Response:
    """Deal the pairs to annotators, or a round of a planned grid to those who answer it."""
    here = visit.here
    if any(round_["dealt"] for round_ in visit.overview["rounds"] if round_["name"] == round):
        raise ConflictError.say("this was assigned after the page was loaded, so nothing was done; load Progress again")
    return visit.act(lambda: here.grid.assign_round(round) if here.is_planned else here.grid.assign(), PROGRESS.path)


@router.get(EXAMPLES.path)
def examples(visit: LeadVisit, round: str | None = None, row: str | None = None) -> Response:
    """A row with the examples that models of a round are shown: the one that is asked for, else the first to review."""
    here = visit.here
    round_names = here.grid.desk.rounds_with_examples()
    name = round if round is not None else next(iter(round_names), None)
    others = (grid for grid in map(visit.context.grids.by_name, visit.study.grids) if grid.grid is not here.grid)
    return visit.page(
        "lead_examples.html.j2",
        here,
        round=name,
        rounds=round_names,
        found=None if name is None else here.grid.desk.row_to_review(name, None if row is None else _parse_id(row)),
        elsewhere=[(other, names) for other in others if (names := other.grid.desk.rounds_with_examples())],
    )


@router.post(EXAMPLES.path)
def review(visit: LeadVisit, round: Text = "", row: Text = "", example: Text = "", used: Text = "") -> Response:
    """Let an example be used, or not; then back to its row, at the next example that nobody has reviewed."""
    here = visit.here
    if used not in ("yes", "no"):
        raise InputError.say("`%(answer)s` does not say whether the example is used; expected yes or no", answer=used)
    reviewed = _parse_id(example)
    here.grid.desk.review_example(round, reviewed, used=used == "yes", by=visit.visitor.id)
    address = here.address(EXAMPLES.path, round=round, row=row)
    if (reviewing := here.grid.desk.row_to_review(round, _parse_id(row))) is None:
        return go_to(address)
    all_examples = reviewing.examples
    after = next((at for at, shown in enumerate(all_examples, 1) if shown.id == reviewed), 0)
    to_review = [shown.rank for shown in (*all_examples[after:], *all_examples) if shown.used is None]
    return go_to(f"{address}#{f'example-{to_review[0]}' if to_review else 'row'}")  # else what stands above them


def _parse_id(digits: str) -> int:
    """A number from an address or a form; raises UnknownIdError for what is none, as of what is not there."""
    if (number := parse_number(digits)) is None:
        raise UnknownIdError.say("`%(text)s` is not the number of a row or an example", text=digits[:MOST_DIGITS])
    return number


@router.get(IMPORTS)
def imports(visit: LeadVisit, run: int = 0) -> Response:
    """List the imports of answers, newest first."""
    return visit.lead_page("lead_imports.html.j2", UPLOADS, run, imports=visit.here.grid.desk.brought_answers())


@router.get(f"{IMPORTS}/{{number}}")
def confirm(visit: LeadVisit, number: int) -> Response:
    """Show what withdrawing an import would do, and the button that does it."""
    here = visit.here
    brought = next((answer for answer in here.grid.desk.brought_answers() if answer.run.id == number), None)
    if brought is None:
        raise UnknownIdError.say("run %(number)s brought no answers into this grid", number=Id(number))
    return visit.page("lead_confirm_withdraw.html.j2", here, brought=brought)


@router.post(f"{IMPORTS}/{{number}}")
def withdraw(visit: LeadVisit, number: int) -> Response:
    """Withdraw an import as a whole."""
    return visit.act(lambda: visit.here.grid.withdraw(number), IMPORTS)


@router.get(NOTES)
def notes(visit: LeadVisit, run: int = 0, pair: str = "") -> Response:
    """Show the notes on the grid, newest first, and the form that adds one, about a `pair` if it is named."""
    return _show_notes(visit, {"pair": pair}, run)


@router.post(NOTES)
def add(visit: LeadVisit) -> Response:
    """Add a note to the log."""
    typed, desk = fields(visit.request), visit.here.grid.desk
    return visit.act(
        lambda: desk.add_note(read_params(Note(), typed)), NOTES, lambda refused: _show_notes(refused, typed)
    )


def _show_notes(visit: Visit, typed: Mapping[str, str] = MappingProxyType({}), run: int = 0) -> Response:
    newest_first = (record for record in reversed(visit.study.log()) if record.stage == Note.stage)
    own_name = visit.here.grid.grid.name
    notes = [record for record in newest_first if record.params.get("grid", MAIN) == own_name]
    shown = [(param, typed.get(name, "")) for name, param in fields_of(Note).items() if name != "flag"]
    return visit.lead_page("lead_notes.html.j2", PROGRESS, run, fields=shown, notes=notes)
