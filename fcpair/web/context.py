"""Context of every page: the study, its terms, the door, and the templates."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from http import HTTPStatus
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar, cast

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context as TemplateContext
from markupsafe import Markup, escape

from fcpair.errors import FcpairError
from fcpair.grid import AdjudicationQueue
from fcpair.known_pairs import PRACTISING
from fcpair.params import Annotate
from fcpair.records import TIERS, WORKERS, Role, Visitor
from fcpair.report import formatting
from fcpair.report.table_rows import KappaCell
from fcpair.sentences import isolate, mark
from fcpair.stages.assignment import pace
from fcpair.study import PageWords, Study
from fcpair.web.auth import Auth
from fcpair.web.current_grid import CurrentGrid, Grids, lead_pages
from fcpair.web.languages import ENGLISH, LANGUAGES, Language, notice_plain, preferred_language
from fcpair.web.pages.documentation import glossary, help_address
from fcpair.web.server.answer_batches import Batches
from fcpair.web.server.static_files import static_files
from fcpair.words import READERS, Noun
from fcpair.work_records import Submission, Task, direction_of

HERE = Path(__file__).parent
Read = TypeVar("Read")
START = "/lead/start"  # below it are the pages on which a study is made
HEATS = 10
LOOKS = ("light", "dark")  # as the cookie of a browser has them, where it is not as the reader's system
PLACES: Mapping[str, str] = {
    "serve": mark("use these pages"),
    "validate assign": mark("“Assign pairs to validators” on Conflicts"),
    "partition": mark("“Tiers as they would be now” on Progress"),
    "report": mark("“Report” on Downloads"),
}
_COMMAND = re.compile(rf"(run )?`fcpair ({'|'.join(PLACES)})( --[^`]*)?`")
_TIER_NAME = re.compile(rf"\b({'|'.join(TIERS)})\b", re.IGNORECASE)


@dataclass(frozen=True)
class ServedTerms:
    """Terms of a study; what is `given`, by the names of Annotate, holds whatever the study says."""

    study: Study
    given: Mapping[str, Any]

    def now(self) -> Annotate:
        """The terms as they are now, with fcpair's own words where the study has none."""
        return self.study.effective_options(Annotate, **self.given).worded(self.study.facts["hs_name"])


class Context:
    """Context that an app has once, for all its requests; `context_of` gets it."""

    def __init__(
        self, study: Study, annotate: Annotate, door: Auth, templates: Environment, url: str, terms: ServedTerms
    ) -> None:
        self.study, self.annotate, self.door, self.templates = study, annotate, door, templates
        self.url = url  # at which people reach the server; no request says so, as that is anybody's to write
        self.terms = terms  # of which `annotate` is what they were when this was made
        facts = study.facts  # while it can be read: the page that says that the study cannot be read needs it
        self.facts: dict[str, str] = {name: facts[name] for name in ("title", "hs_name", "cn_name", "created_at")}
        self.grids = Grids(study)
        self.work_queue = work_queue = study.work_queue(annotate)
        # Stores what people answer, and acknowledges each answer when its batch is on disk.
        self.intake = Batches[tuple[Visitor, Submission], dict[str, int]](
            "intake", work_queue.submit_all, partial(work_queue.submit_all, wait=False)
        )
        # Gives pairs to whoever asks, in open assignment.
        self.assigning = Batches[tuple[Visitor, int], list[Task]]("given", work_queue.assign_tasks)

    def storage_key(self, visitor: Visitor) -> str:
        """Key under which a browser keeps one person's data: of one study, whatever else this address served."""
        return f"{self.facts['created_at']}/{visitor.id}"

    def adjudication_queue(self, here: CurrentGrid) -> AdjudicationQueue:
        """The adjudicators' work in a grid, on the terms on which the study is served."""
        return here.adjudication_queue.with_terms(self.annotate)

    def page_words(self, visitor: Visitor | None, here: CurrentGrid | None = None) -> PageWords | None:
        """The words of pages for a visitor who answers or decides; None for others, and where they cannot be read."""
        if visitor is None or visitor.role.value not in READERS:
            return None
        grid = here.grid.grid.name if here else None
        return _if_readable(lambda: self.study.page_words(visitor.role, grid, visitor.language), None)

    def noun(self, visitor: Visitor | None, here: CurrentGrid | None = None) -> Noun:
        """Noun for a unit of a visitor's work."""
        words = self.page_words(visitor, here)
        return words.noun if words else Noun.of("pair")

    def has_practice(self, visitor: Visitor) -> bool:
        """Return whether a visitor can practise on known pairs; not where that cannot be read."""
        return _if_readable(lambda: visitor.role in PRACTISING and bool(self.study.known_items()), False)

    def language(self, visitor: Visitor | None) -> Language:
        """The language of pages for a visitor: the one they chose, else the study's; English where it is unreadable."""
        return _if_readable(lambda: LANGUAGES[(visitor and visitor.language) or self.study.page_language()], ENGLISH)

    def language_of(self, request: Request, visitor: Visitor | None) -> Language:
        """The language of the page that is asked for: where a study is only being made, the one of the browser."""
        if request.url.path.startswith(START) and not (visitor and visitor.language):
            return preferred_language(request.headers.get("accept-language", ""))
        return self.language(visitor)

    def translate_sentence(
        self, sentence: str, visitor: Visitor | None, language: Language, here: CurrentGrid | None = None
    ) -> str:
        """A sentence of fcpair's as a visitor reads it: in their language, and calling a pair what pages call it."""
        notice_plain(sentence)
        about_work = language is not ENGLISH or "pair" in sentence.lower()
        return language.say(sentence, self.noun(visitor, here) if about_work else Noun.of("pair"))

    def page(
        self,
        request: Request,
        visitor: Visitor | None,
        name: str,
        here: CurrentGrid | None = None,
        status: int = HTTPStatus.OK,
        /,
        **values: Any,
    ) -> HTMLResponse:
        """A page from a template, about the grid `here` if there is one, which also gets the variables below."""
        words, facts = self.page_words(visitor, here), here.facts if here else self.facts
        noun = words.noun if words else Noun.of("pair")
        language: Language = values.get("language") or self.language_of(request, visitor)
        practises = discusses = False
        if visitor and visitor.consented:
            practises = self.has_practice(visitor)
            discusses = visitor.role in WORKERS and _if_readable(partial(self.study.has_discussion, visitor), False)
        nav_grid = here
        if not here and visitor and visitor.role is Role.LEAD:
            starts = request.url.path.startswith(START)
            is_made = _if_readable(lambda: bool(self.study.grids) and not (starts and self.study.start.is_open), False)
            nav_grid = _if_readable(lambda: self.grids.from_request(request), None) if is_made else None
        variables = {
            "nav_grid": nav_grid,
            "visitor": visitor,
            "csrf": self.door.csrf_token(request) if visitor else "",
            "place": self.storage_key(visitor) if visitor else "",
            "here": here,
            "facts": {**facts, "hs_name": words.row_name, "cn_name": words.column_name} if words else facts,
            "noun": noun,
            "language": language,
            "phrases": language.noun_phrases(noun),
            "practises": practises,
            "discusses": discusses,
            "annotate": self.annotate,
            "look": look if (look := request.cookies.get("look")) in LOOKS else "",
            "path": request.url.path,
            "origin": request.query_params.get("from", ""),
            **values,
        }
        return HTMLResponse(self.templates.get_template(name).render(variables), status)


def _if_readable(read: Callable[[], Read], otherwise: Read) -> Read:
    """Read from a study, or return something else where it cannot be read now, for the page that says so."""
    try:
        return read()
    except FcpairError:
        return otherwise


def replace_commands(sentence: str, language: Language = ENGLISH) -> str:
    """The sentence with the place on the pages instead of each command that they have a place for."""

    def replace(command: re.Match[str]) -> str:
        place = language.find(PLACES[command[2]])
        return language.gettext(mark("go to %(place)s"), place=place) if command[1] else place

    return _COMMAND.sub(replace, sentence)


@pass_context
def _translate(values: TemplateContext, sentence: str) -> str:
    """A sentence or a word of the floors below in the language of the page; a word of the study's own as it is."""
    return cast(Language, values["language"]).say(sentence, values["noun"])


@pass_context
def _say(values: TemplateContext, sentence: str) -> str:
    """The same of what is always fcpair's own, such as a reason, a notice or an outcome."""
    if values["language"] is ENGLISH:  # in any other, what is shown twice is translated already
        notice_plain(sentence)
    return _translate(values, sentence)


context_of: Callable[[Request], Context] = attrgetter("app.state.context")  # of the app that a request came to


def mark_tiers(text: str) -> Markup:
    """A text in which each name of a tier has a mark in its colour, see `report.figures.colours`."""
    parts = str(escape(text)).split(" · ")  # each has a direction of its own, where its number has another
    marked = [_TIER_NAME.sub(lambda name: str(mark_tier(name[0])), part) for part in parts]
    return Markup(" · ".join(f"<bdi>{part}</bdi>" for part in marked) if len(parts) > 1 else marked[0])


def mark_tier(name: str) -> Markup:
    """The name of a tier with a mark beside it: in the colour that one of the four is called by, or of one's own."""
    return Markup('<span class="tier {}">{}</span>').format(name.lower() if name.lower() in TIERS else "own", name)


def heat_class(cell: KappaCell) -> str:
    """The class of a cell of the kappa map: `heat-0` for 0 or less, up to `heat-9`."""
    return f"heat-{min(max(int(float(cell.kappa) * HEATS), 0), HEATS - 1)}"


@cache
def load_templates() -> Environment:
    """The templates, loaded once; in them, `static("keys.js")` is the address of that file in its present version."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    versions = static_files().versions
    environment.filters |= {  # in the language of the page
        "on_pages": pass_context(lambda page, sentence: replace_commands(sentence, page["language"])),
        **{"translated": _translate, "said": _say, "mark_tiers": mark_tiers, "mark_tier": mark_tier},
    }
    environment.globals |= {
        "_": pass_context(lambda shown, text, /, **own: shown["language"].to_html(text, **shown["phrases"] | own)),
        "ngettext": pass_context(
            lambda shown, /, *forms, **own: shown["language"].to_html_by_number(*forms, **shown["phrases"] | own)
        ),
        "files": hashlib.sha256("".join(versions.values()).encode()).hexdigest()[:12],
        "static": lambda name: f"/static/{name}?v={versions[name]}",
        "lead_pages": lead_pages,
        "help_address": help_address,
        "glossary": glossary,
        "NOTHING": formatting.NOTHING,
        "settings": formatting.settings,
        "file_name": formatting.file_name,
        "direction": direction_of,
        "isolate": isolate,
        "iso": lambda at: datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds"),  # a POSIX time for browsers
        "heat": heat_class,
        "PAUSE_MINUTES": round(pace.PAUSE_S / 60),
        **{name: getattr(pace, name) for name in ("LEAST_INTERVALS", "RATE_DAYS", "LAST_INTERVALS")},
        **{name: getattr(pace, name) for name in ("FASTEST_WPM", "MEAN_WPM")},
    }
    return environment
