"""The pairs of a grid as an address asks for them: filters, columns, order and page, in the language of the page."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Request

from fcpair.errors import InputError, UnknownIdError
from fcpair.grid import FoundPairs
from fcpair.lazy import np
from fcpair.pair_filter import LAYER, METADATA, Area, FilterState, MapPart, filter_of
from fcpair.report.formatting import named
from fcpair.sentences import mark, mark_plural
from fcpair.web.current_grid import GRID
from fcpair.web.form import parse_number
from fcpair.web.visits import Visit
from fcpair.words import Noun

PAGE, MOST_ROWS = 50, 200  # pairs on one page of them
NAMED = ("answer", "other_answer", "tier", "skipped", "noted")  # filters whose values have names in a language
TITLES = {
    "words": mark("Words in either text"),
    "state": mark("State"),
    "answer": mark("Label"),
    "tier": mark("Tier"),
    "person": mark("Given to"),
    "skipped": mark("Skipped"),
    "noted": mark("With a note"),
    "other": mark("And given to"),
    "other_answer": mark("Label of theirs"),
}
"""The name of each filter, in the order of the page; those of metadata come after them."""
STATES = {
    FilterState.UNASSIGNED: mark("not assigned"),
    FilterState.OPEN: mark("open, a label is missing"),
    FilterState.LABELLED: mark("labelled"),
    FilterState.WAITING: mark("waits for a person"),
    FilterState.DECIDED: mark("decided"),
    FilterState.DISCARDED: mark("discarded"),
    FilterState.VALID: mark("valid"),
    FilterState.NOT_VALID: mark("not valid"),
}
FACTS = {"labels": mark("Labels"), "decision": mark("Decision"), "verdict": mark("Verdict"), "tier": mark("Tier")}
"""Columns of what people said of a pair, after its number and its texts."""
CLASS = re.compile(rf"{re.escape(LAYER)}.+", re.DOTALL)  # of a layer of the map, as a filter
AREA = re.compile(r"([1-9]\d{0,8})-([1-9]\d{0,8})\.([1-9]\d{0,8})-([1-9]\d{0,8})")
VIEW = ("show", "sort", "size", "question", "rows", "columns", "colour")  # what an address has beside the filters


async def read_query(request: Request) -> dict[str, str]:
    """The filters in an address, as they are written there; those that ask nothing left out."""
    asked = request.query_params
    names = [*TITLES, *filter(METADATA.fullmatch, asked), *filter(CLASS.fullmatch, asked), "area"]
    return {name: text for name in names if (text := asked.get(name, "").strip())}


Query = Annotated[dict[str, str], Depends(read_query)]


class Column(NamedTuple):
    """A column of the pairs; `kind` is `number`, `text` (of the study) or `fact`."""

    name: str
    title: str
    kind: str
    is_shown: bool


class PairView:
    """The pairs as an address asks for them: filters, columns, order and page, with their names in its language."""

    def __init__(self, visit: Visit, query: dict[str, str]) -> None:
        self.visit, self.here, self.language, self.query = visit, visit.here, visit.language, query
        self.asked = {name: text for name in VIEW if (text := visit.request.query_params.get(name, ""))}
        self.choices = self.here.grid.desk.search_choices()
        facts, planned = self.here.facts, self.here.is_planned
        row, column = ("row", "column") if planned else ("hs", "cn")
        self.sides = {row: facts["hs_name"], column: facts["cn_name"]}
        self.number = "cell" if planned else "pair"

    @cached_property
    def layers(self) -> dict[str, str]:
        """The columns of the layers of the map, for the question in the address, and what they are called."""
        try:
            layers = self.here.monitor.layers(self.asked.get("question", ""))
        except UnknownIdError:
            return {}
        return {LAYER + layer.name: self.say(layer.title) for layer in layers}

    def say(self, words: str) -> str:
        """Words of fcpair's in the language of the page."""
        return self.language.say(words, Noun.of("pair"))

    @cached_property
    def titles(self) -> dict[str, str]:
        """What filters and columns are called, by their names."""
        find, titles = self.language.find, {name: self.language.find(title) for name, title in TITLES.items()}
        titles |= {self.number: find(mark("Pair"))} | {name: text.capitalize() for name, text in self.sides.items()}
        titles |= {name: find(title) for name, title in FACTS.items() if self.choices.has_answers}
        for name in (*(choice.name for choice in self.choices.metadata), *filter(METADATA.fullmatch, self.query)):
            side, _, key = name.partition(".")
            titles[name] = f"{self.sides.get(side, side).capitalize()}: {key}"
        return titles | self.layers

    @cached_property
    def columns(self) -> list[Column]:
        """All columns that there are, those that are shown first, in the order of the address."""
        facts, texts = [*FACTS] if self.choices.has_answers else [], [choice.name for choice in self.choices.metadata]
        usual = [self.number, *self.sides, *facts]
        every = [*usual, *(name for name in self.layers if name.removeprefix(LAYER) not in FACTS), *texts]
        shown = [name for name in self.asked.get("show", "").split(",") if name in every] or usual
        kinds = {self.number: "number"} | dict.fromkeys((*self.sides, *texts), "text")
        names = dict.fromkeys([self.number, *shown, *every])
        return [
            Column(name, self.titles[name], kinds.get(name, "fact"), name in (*shown, self.number)) for name in names
        ]

    def value_name(self, name: str, value: str) -> str:
        """Name that people read for a value of a filter; a person, and what a text came with, as it is."""
        if name == "state" and value in STATES:
            return self.language.find(STATES[FilterState(value)])
        if name in self.layers and (map_ := self.here.monitor.cell_map(self.asked.get("question", ""))):
            classes = dict(enumerate(map_.layer(name.removeprefix(LAYER)).classes))
            return self.say(classes[at].meaning) if (at := parse_number(value)) in classes else value
        if name == "area" and (place := AREA.fullmatch(value)):
            first_row, last_row, first, last = map(self.language.digits, place.groups())
            places = {"first_row": first_row, "last_row": last_row, "first": first, "last": last}
            return self.language.gettext(mark("rows %(first_row)s–%(last_row)s, columns %(first)s–%(last)s"), **places)
        return self.say(named(value)) if name in NAMED else value

    def chips(self) -> list[tuple[str, str]]:
        """Each filter that is set, in words, and the address without it."""
        titles = self.titles | {"area": self.language.find(mark("Selected on the map"))}
        return [
            (f"{titles.get(name, name)}: {self.value_name(name, value)}", self.address({**self.query, name: ""}))
            for name, value in self.query.items()
        ]

    def address(self, query: Mapping[str, str] | None = None, **changes: Any) -> str:
        """The address of this view, with other filters or other choices."""
        values = {**(self.query if query is None else query), **self.asked, **changes}
        return self.here.address(GRID.path, **{name: value for name, value in values.items() if value})

    def find(self, first: int = 0, n: int | None = None, pairs: Collection[int] | None = None) -> FoundPairs:
        """The pairs that match, `n` from place `first` on, or all; of these `pairs`, where some are named."""
        usual = (self.number, *self.sides, *FACTS)
        shown = [column.name for column in self.columns if column.is_shown and column.name not in usual]
        numbers = None if pairs is None else np.array(sorted(pairs), np.int64)
        wanted, sort = filter_of(self.query), self.asked.get("sort", "")
        return self.here.monitor.find_pairs(wanted, self._map_part(), shown, sort, first, n, numbers)

    def neighbours(self, number: int) -> tuple[int | None, int | None]:
        """The numbers of the pairs before and after one, in the order of this view."""
        wanted, sort = filter_of(self.query), self.asked.get("sort", "")
        return self.here.monitor.neighbours(number, wanted, self._map_part(), sort)

    def _map_part(self) -> MapPart:
        classes = {name.removeprefix(LAYER): value for name, value in self.query.items() if name.startswith(LAYER)}
        area, asked = self.query.get("area", ""), self.asked
        for name, value in classes.items():
            if not value.isdecimal():
                raise InputError.say("`%(value)s` is not a class of the layer `%(name)s`", value=value, name=name)
        if area and not AREA.fullmatch(area):
            unread = mark("`%(area)s` is not an area of the map; expected rows and columns as in `1-4.2-9`")
            raise InputError.say(unread, area=area)
        place = AREA.fullmatch(area)
        return MapPart(
            asked.get("question", ""),
            {name: int(value) for name, value in classes.items()},
            Area(*map(int, place.groups())) if place else None,
            asked.get("rows", ""),
            asked.get("columns", ""),
        )

    def page(self, first: int) -> dict[str, Any]:
        """The pairs of a page as it shows them, and what it says of them."""
        size = min(max(parse_number(self.asked.get("size", "")) or PAGE, 1), MOST_ROWS)
        found, say = self.find(first, size), self.language
        ends = {"first": say.number(found.first + 1), "last": say.number(found.first + len(found.records))}
        total = {"n_all": say.number(found.total)}
        is_theirs = "person" in self.query and not {"answer", "skipped", "noted"}.isdisjoint(self.query)
        theirs = mark("The label, the skip and the note are those of %(person)s.")
        return {
            "rows": [self._in_words(row) for row in found.rows()],
            "total": found.total,
            "first": found.first,
            "size": size,
            "range": say.gettext(mark("%(first)s–%(last)s of %(n_all)s"), **ends, **total) if found.total else "",
            "matching": say.ngettext(*mark_plural("%(n)s pair matches", "%(n)s pairs match"), found.total),
            "all": say.ngettext(*mark_plural("The pair that matches", "All %(n)s pairs that match"), found.total),
            "note": say.gettext(theirs, person=self.query["person"]) if is_theirs else "",
            "chips": self.chips(),
            "columns": [column._asdict() for column in self.columns],
            "colours": {say.answer_name(name): own for name, own in self.here.grid.desk.label_colours.items()},
        }

    def _in_words(self, row: dict[str, Any]) -> dict[str, Any]:
        """A pair as a search has it (`2 not_appropriate, 1 appropriate`), in the language of the page."""
        language, words = self.language, dict(row)
        counts = (part.partition(" ") for part in row["labels"].split(", ") if part)
        parts = (f"{language.number(int(n))} {language.isolate(language.answer_name(name))}" for n, _, name in counts)
        words["labels"] = language.find(", ").join(parts)
        for name in filter(CLASS.fullmatch, row):
            words[name] = self.say(row[name])
        words["tier"] = ", ".join(self.say(named(tier)) for tier in row["tier"].split(", "))
        return words | {name: self.say(named(row[name])) for name in ("decision", "verdict")}


def ticked_pairs(request: Request) -> set[int] | None:
    """The pairs that are ticked, where these are meant; raises InputError where none is."""
    if request.query_params.get("scope") != "ticked":
        return None
    numbers = {parse_number(number) for number in request.query_params.getlist("pair")} - {None}
    if not numbers:
        raise InputError.say("no pair is ticked; tick those that are meant, or choose all that match")
    return {number for number in numbers if number is not None}
