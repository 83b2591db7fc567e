"""Context of every page: the study, its terms, the door, and the templates."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context as TemplateContext
from markupsafe import Markup, escape

from fcpair.errors import FcpairError
from fcpair.grid import AdjudicationQueue
from fcpair.params import Annotate
from fcpair.practice import PRACTISING
from fcpair.records import TIERS, WORKERS, Visitor
from fcpair.study import PageWords, Study, WorkQueue
from fcpair.web import refusals
from fcpair.web.auth import Auth
from fcpair.web.current_grid import CurrentGrid, Grids
from fcpair.web.languages import ENGLISH, LANGUAGES, Language, preferred_language
from fcpair.web.lead.navigation import lead_pages
from fcpair.web.local_formatting import LocalFormatting
from fcpair.web.page_hints import replace_commands
from fcpair.web.served_terms import ServedTerms
from fcpair.web.server.answer_batches import AnswerIntake, Batches
from fcpair.web.server.static_files import static_files
from fcpair.words import READERS, Noun
from fcpair.work_records import Task

HERE = Path(__file__).parent
START = "/lead/start"  # below it are the pages on which a study is made
_TIER_NAME = re.compile(rf"\b({'|'.join(TIERS)})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Context:
    """Context that an app has once, for all its requests; `context_of` gets it."""

    study: Study
    annotate: Annotate
    door: Auth
    templates: Environment
    url: str  # at which people reach the server; no request says so, as that is anybody's to write
    terms: ServedTerms  # of which `annotate` is what they were when this was made

    def __post_init__(self) -> None:
        _read = self.facts  # while it can be: the page that says that the study cannot be read needs it

    @cached_property
    def facts(self) -> dict[str, str]:
        """Facts that do not change while the study is served: `title`, `hs_name`, `cn_name`, `created_at`."""
        facts = self.study.facts
        return {name: facts[name] for name in ("title", "hs_name", "cn_name", "created_at")}

    @cached_property
    def grids(self) -> Grids:
        """The grids that are served."""
        return Grids(self.study)

    @cached_property
    def work_queue(self) -> WorkQueue:
        """The work of those who answer, on the terms on which the study is served."""
        return self.study.work_queue(self.annotate)

    @cached_property
    def intake(self) -> AnswerIntake:
        """Stores what they answer."""
        return AnswerIntake(self.work_queue)

    @cached_property
    def assigning(self) -> Batches[tuple[Visitor, int], list[Task]]:
        """Gives pairs to whoever asks, in open dealing."""
        return Batches("given", self.work_queue.assign_tasks)

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
        try:
            return self.study.page_words(visitor.role, here.grid.grid.name if here else None, visitor.language)
        except FcpairError:  # the page that says so needs words all the same
            return None

    def noun(self, visitor: Visitor | None, here: CurrentGrid | None = None) -> Noun:
        """What pages call a unit of a visitor's work."""
        words = self.page_words(visitor, here)
        return words.noun if words else Noun.of("pair")

    def has_practice(self, visitor: Visitor) -> bool:
        """Whether a visitor can practise on known pairs; not where that cannot be read."""
        try:
            return visitor.role in PRACTISING and bool(self.study.known_items())
        except FcpairError:
            return False

    def has_discussion(self, visitor: Visitor) -> bool:
        """Whether a visitor has a discussion of a calibration to read; not where that cannot be read."""
        try:
            return visitor.role in WORKERS and self.study.has_discussion(visitor)
        except FcpairError:
            return False

    def language(self, visitor: Visitor | None) -> Language:
        """The language of pages for a visitor: the one they chose, else the study's.

        Of a study that cannot be read now it is English.
        """
        try:
            return LANGUAGES[(visitor and visitor.language) or self.study.page_language()]
        except FcpairError:
            return ENGLISH

    def language_of(self, request: Request, visitor: Visitor | None) -> Language:
        """The language of the page that is asked for: where a study is only being made, the one of the browser."""
        if request.url.path.startswith(START) and not (visitor and visitor.language):
            return preferred_language(request.headers.get("accept-language", ""))
        return self.language(visitor)

    def translate_sentence(
        self, sentence: str, visitor: Visitor | None, language: Language, here: CurrentGrid | None = None
    ) -> str:
        """A sentence of fcpair's as a visitor reads it: in their language, and calling a pair what pages call it."""
        about_work = language is not ENGLISH or "pair" in sentence.lower()
        noun = self.noun(visitor, here) if about_work else Noun.of("pair")
        return refusals.translate(sentence, language, noun)

    def page(
        self, request: Request, visitor: Visitor | None, name: str, here: CurrentGrid | None = None, /, **values: Any
    ) -> HTMLResponse:
        """A page from a template, which also gets `visitor`, `csrf`, `place`, `facts`, `noun`, `phrases`, `language`,
        `words` (by which it writes figures), `practises`, `discusses`, `annotate` and `path`.

        One that is about a grid is `here`.
        """
        shared: dict[str, Any] = {
            "visitor": visitor,
            "csrf": self.door.csrf_token(request) if visitor else "",
            "here": here,
        }
        words = self.page_words(visitor, here)
        facts = here.facts if here else self.facts
        shared["facts"] = {**facts, "hs_name": words.row_name, "cn_name": words.column_name} if words else facts
        noun = shared["noun"] = words.noun if words else Noun.of("pair")
        language: Language = values.get("language") or self.language_of(request, visitor)
        shared |= {"language": language, "phrases": language.noun_phrases(noun), "words": LocalFormatting(language)}
        takes_part = visitor if visitor and visitor.consented else None
        shared["practises"] = takes_part is not None and self.has_practice(takes_part)
        shared["discusses"] = takes_part is not None and self.has_discussion(takes_part)
        shared["place"] = self.storage_key(visitor) if visitor else ""
        variables = {**shared, "annotate": self.annotate, "path": request.url.path, **values}
        return HTMLResponse(self.templates.get_template(name).render(variables))


@pass_context
def _to_html(values: TemplateContext, message: str, **own: Any) -> Markup:
    """A message in the language of the page."""
    language: Language = values["language"]
    return language.to_html(message, **(values["phrases"] | own))


@pass_context
def _to_html_by_number(values: TemplateContext, one: str, many: str, n: int, **own: Any) -> Markup:
    """A message with a number in the language of the page."""
    language: Language = values["language"]
    return language.to_html_by_number(one, many, n, **(values["phrases"] | own))


@pass_context
def _replace_commands(values: TemplateContext, sentence: str) -> str:
    """A sentence with places on the pages instead of commands, in the language of the page."""
    return replace_commands(sentence, values["language"])


@pass_context
def _translate(values: TemplateContext, sentence: str) -> str:
    """A sentence of the floors below, or several, in the language of the page."""
    return refusals.translate(sentence, values["language"], values["noun"])


context_of: Callable[[Request], Context] = attrgetter("app.state.context")
"""The context of the app that a request came to."""


def mark_tiers(text: str) -> Markup:
    """A text in which each name of a tier has a mark in its colour, see `report.figures.colours`."""

    def mark(name: re.Match[str]) -> str:
        return f'<span class="tier {name[0].lower()}">{name[0]}</span>'

    return Markup(_TIER_NAME.sub(mark, str(escape(text))))


def mark_tier(name: str) -> Markup:
    """The name of a tier with a mark beside it: in the colour that one of the four is called by, or of one's own."""
    kind = name.lower() if name.lower() in TIERS else "own"
    return Markup('<span class="tier {}">{}</span>').format(kind, name)


@cache
def load_templates() -> Environment:
    """The templates, loaded once. In them, `static("keys.js")` is the address of that file in its present version, and
    `files` the version of them all.
    """
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    versions = static_files().versions
    environment.filters["on_pages"] = _replace_commands
    environment.filters["mark_tiers"] = mark_tiers
    environment.filters["mark_tier"] = mark_tier
    environment.filters["translated"] = _translate
    environment.globals |= {"_": _to_html, "ngettext": _to_html_by_number}
    environment.globals["files"] = hashlib.sha256("".join(versions.values()).encode()).hexdigest()[:12]
    environment.globals["lead_pages"] = lead_pages
    environment.globals["static"] = lambda name: f"/static/{name}?v={versions[name]}"
    return environment
