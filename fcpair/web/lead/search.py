"""The lead's page of the grid: its map, and the search for pairs, as an address and as a file."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from fcpair.errors import InputError
from fcpair.pair_filter import FilterChoices, FilterState, PairFilter, check_name
from fcpair.report.formatting import named
from fcpair.sentences import mark
from fcpair.web.current_grid import CONFLICTS, GRID, CurrentGrid, has_labels
from fcpair.web.languages import Language
from fcpair.web.lead.files import table_attachment
from fcpair.web.lead.panels import build_panels
from fcpair.web.visits import LeadVisit
from fcpair.words import Noun

router = APIRouter(include_in_schema=False)
PAGE = 50  # pairs on one page of them
NO_VALUE = {
    "skipped": mark("there is no value of `skipped` `%(name)s`; %(hint)s"),
    "noted": mark("there is no value of `noted` `%(name)s`; %(hint)s"),
}
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


async def read_query(request: Request) -> dict[str, str]:
    """The filters in an address, as they are written there; those that ask nothing left out."""
    asked = request.query_params
    names = [*TITLES, *filter(METADATA.fullmatch, asked)]
    return {name: text for name in names if (text := asked.get(name, "").strip())}


Query = Annotated[dict[str, str], Depends(read_query)]


@router.get(GRID.path)
def grid_pairs(visit: LeadVisit, query: Query, after: int = 0, run: int = 0) -> Response:
    """Show the grid, cell by cell; or, where the address has filters, the pairs that match them."""
    here, language = visit.here, visit.language
    is_search = has_labels(here) and any(name in TITLES or name in query for name in visit.request.query_params)
    choices = here.grid.desk.search_choices() if has_labels(here) else None

    def name_value(name: str, value: str) -> str:
        """What people read for a value of a filter; a person, and what a text came with, as it is."""
        if name == "state" and value in STATES:
            return language.find(STATES[FilterState(value)])
        return language.say(named(value), Noun.of("pair")) if name in NAMED else value

    values: dict[str, Any] = {}
    try:
        values = _search(here, query, after, language) if is_search else {}
    except InputError as refusal:
        visit, values = visit.refused(refusal), {"problem": str(refusal)}
    return visit.lead_page(
        "lead_grid.html.j2",
        GRID,
        run,
        panels=[] if is_search else build_panels(visit, GRID),
        simulated=here.monitor.simulated_note(),
        titles={name: language.find(title) for name, title in TITLES.items()} | _metadata_titles(here, query, choices),
        named=name_value,
        size=PAGE,
        query=query,
        choices=choices,
        is_search=is_search,
        acts=_acts_on_pairs(here, choices) if choices else [],
        **values,
    )


def _translate_record(record: tuple[Any, ...], language: Language) -> tuple[Any, ...]:
    """A pair as a search has it, with its labels (`2 not_appropriate, 1 appropriate`), decision, verdict and tier."""
    *texts, labels, decision, verdict, tier = record
    counts = (part.partition(" ") for part in labels.split(", ") if part)
    said = language.find(", ").join(f"{language.number(int(n))} {language.answer_name(name)}" for n, _, name in counts)
    facts = (language.say(named(fact), Noun.of("pair")) for fact in (decision, verdict))
    return *texts, said, *facts, ", ".join(language.say(named(name), Noun.of("pair")) for name in tier.split(", "))


def _search(here: CurrentGrid, query: dict[str, str], after: int, language: Language) -> dict[str, Any]:
    """The pairs that match; raises InputError for filters that cannot be."""
    matching = here.grid.find_pairs(**conditions_of(query), first=after, n=PAGE)
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
        check_name(NO_VALUE[name], query.get(name, ""), YES_OR_NO)
        conditions[name] = YES_OR_NO.get(query.get(name, ""))
    return PairFilter(**conditions).chosen


@router.get("/lead/grid/pairs.csv")
def matching_file(visit: LeadVisit, query: Query) -> Response:
    """All pairs that match, as a file."""
    return table_attachment(visit.here.grid.find_pairs(**conditions_of(query)).to_frame(), "pairs.csv")
