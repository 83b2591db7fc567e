"""The lead's page of the grid: its map, and the search for pairs, as an address and as a file."""

from __future__ import annotations

import re
from functools import partial
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from fcpair.errors import InputError
from fcpair.pair_filter import FilterChoices, FilterState, PairFilter, check_name
from fcpair.records import Role
from fcpair.report.formatting import named
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.languages import Language
from fcpair.web.lead.files import attachment
from fcpair.web.lead.navigation import CONFLICTS, GRID, has_labels
from fcpair.web.lead.panels import SHOWN_BY, build_panels
from fcpair.web.lead.runs import find_run
from fcpair.web.page_phrases import mark
from fcpair.web.refusals import translate
from fcpair.words import Noun

router = APIRouter(include_in_schema=False)
PAGE = 50  # pairs on one page of them
YES_OR_NO = {"yes": True, "no": False}
NAMED = ("answer", "other_answer", "tier", "skipped", "noted")  # filters whose values have names in a language
TITLES = {
    "words": mark("Words in either text"),
    "person": mark("Given to"),
    "answer": mark("Label"),
    "state": mark("State"),
    "tier": mark("Tier"),
    "skipped": mark("Skipped"),
    "noted": mark("With a note"),
    "other": mark("And given to"),
    "other_answer": mark("Label of theirs"),
}
"""What each filter is called, in the order in which the page has them; those of metadata come after them."""
STATES = {
    FilterState.OPEN: mark("open, a label is missing"),
    FilterState.LABELLED: mark("labelled"),
    FilterState.WAITING: mark("waits for a person"),
    FilterState.DECIDED: mark("decided"),
    FilterState.DISCARDED: mark("discarded"),
    FilterState.VALID: mark("valid"),
    FilterState.NOT_VALID: mark("not valid"),
}
METADATA = re.compile(r"(hs|cn|row|column)\..+", re.DOTALL)


def read_query(
    request: Request,
    words: str = "",
    person: str = "",
    answer: str = "",
    state: str = "",
    tier: str = "",
    skipped: str = "",
    noted: str = "",
    other: str = "",
    other_answer: str = "",
) -> dict[str, str]:
    """The filters in an address, as they are written there; those that ask nothing left out."""
    values = {"words": words, "person": person, "answer": answer, "state": state, "tier": tier}
    values |= {"skipped": skipped, "noted": noted, "other": other, "other_answer": other_answer}
    values |= {name: value for name, value in request.query_params.items() if METADATA.fullmatch(name)}
    return {name: value.strip() for name, value in values.items() if value.strip()}


Query = Annotated[dict[str, str], Depends(read_query)]


@router.get(GRID.path)
@open_to(Role.LEAD)
def grid_pairs(request: Request, query: Query, after: int = 0, run: int = 0) -> Response:
    """Show the grid, cell by cell; or, where the address has filters, the pairs that match them."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    is_search = has_labels(here) and any(name in TITLES or name in query for name in request.query_params)
    choices = here.grid.search_choices() if has_labels(here) else None
    language = context.language(visitor)
    values = {
        "page": GRID,
        "panels": [] if is_search else build_panels(request, visitor, here, GRID),
        "simulated": here.monitor.simulated_note(),
        "grids": context.grids.overview() if here.name else [],
        "titles": {
            **{name: language.find(title) for name, title in TITLES.items()},
            **_metadata_titles(here, query, choices),
        },
        "named": partial(_name_value, language=language),
        "size": PAGE,
        "query": query,
        "choices": choices,
        "is_search": is_search,
        "problem": "",
        "done": find_run(context.study.log(), run) if run else None,
        "acts": _acts_on_pairs(here, choices) if choices else [],
        **(_search(here, query, after, language) if is_search else {}),
    }
    page = context.page(request, visitor, "lead_grid.html.j2", here, **SHOWN_BY, **values)
    if values["problem"]:
        page.status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    return page


def _name_value(name: str, value: str, language: Language) -> str:
    """What people read for a value of a filter; a person, and what a text came with, as it is."""
    if name == "state" and value in STATES:
        return language.find(STATES[FilterState(value)])
    return translate(named(value), language, Noun.of("pair")) if name in NAMED else value


def _translate_record(record: tuple[Any, ...], language: Language) -> tuple[Any, ...]:
    """A pair as a search has it, with its labels, decision, verdict and tier in a language."""
    *texts, labels, decision, verdict, tier = record
    facts = (translate(named(fact), language, Noun.of("pair")) for fact in (decision, verdict))
    tiers = ", ".join(translate(named(name), language, Noun.of("pair")) for name in tier.split(", "))
    return *texts, _translate_counts(labels, language), *facts, tiers


def _translate_counts(labels: str, language: Language) -> str:
    """The labels of a pair, as in `2 not_appropriate, 1 appropriate`."""
    parts = (part.partition(" ") for part in labels.split(", ") if part)
    return language.find(", ").join(f"{language.number(int(n))} {language.answer_name(name)}" for n, _, name in parts)


def _search(here: CurrentGrid, query: dict[str, str], after: int, language: Language) -> dict[str, Any]:
    """The pairs that match, or the `problem` with the filters."""
    try:
        matching = here.grid.find_pairs(**conditions_of(query), first=after, n=PAGE)
    except InputError as error:
        return {"problem": str(error)}
    rest_by_name = {name: {other: query[other] for other in query if other != name} for name in query}
    return {
        "matching": matching,
        "rows": [_translate_record(record, language) for record in matching.records],
        "without": [
            (name, query[name], here.address(GRID.path, **(rest or {"words": ""})))
            for name, rest in rest_by_name.items()
        ],
    }


def _acts_on_pairs(here: CurrentGrid, choices: FilterChoices) -> list[tuple[str, str]]:
    """What can be done with pairs that are found, by its name in the address: its button."""
    can_have_labels = choices.people and not here.is_planned
    can_be_decided = choices.has_answers and CONFLICTS.fits(here)
    acts = (
        ("labels", mark("Ask for another label"), can_have_labels),
        ("decisions", mark("Send to an adjudicator"), can_be_decided),
    )
    return [(act, button) for act, button, applies in acts if applies]


def _metadata_titles(here: CurrentGrid, query: dict[str, str], choices: FilterChoices | None) -> dict[str, str]:
    """What filters by metadata are called, by their names: those that are offered, and those that are asked for."""
    side_names = {"hs": here.facts["hs_name"], "row": here.facts["hs_name"]}
    names = [*(choice.name for choice in choices.metadata), *query] if choices else [*query]
    parts = {name: name.partition(".") for name in names if name not in TITLES}
    return {
        name: f"{side_names.get(side, here.facts['cn_name']).capitalize()}: {key}"
        for name, (side, _, key) in parts.items()
    }


def conditions_of(query: dict[str, str]) -> dict[str, Any]:
    """The conditions that an address has, as `find_pairs` takes them; raises InputError for what is none."""
    conditions: dict[str, Any] = {name: value for name, value in query.items() if name in TITLES}
    conditions["metadata"] = {name: value for name, value in query.items() if name not in TITLES}
    for name in ("skipped", "noted"):
        check_name(f"value of `{name}`", query.get(name, ""), YES_OR_NO)
        conditions[name] = YES_OR_NO.get(query.get(name, ""))
    return PairFilter(**conditions).chosen


@router.get("/lead/grid/pairs.csv")
@open_to(Role.LEAD)
def matching_file(request: Request, query: Query) -> Response:
    """All pairs that match, as a file."""
    from fcpair.files.tables.tabular import write_table

    context = context_of(request)
    context.door.require_visitor(request)
    matching = context.grids.from_request(request).grid.find_pairs(**conditions_of(query))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.csv"
        write_table(matching.rows, path)
        return attachment(path)
