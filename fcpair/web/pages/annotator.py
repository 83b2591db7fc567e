"""The pages of those who answer pairs: coming in, the terms, the desk, and the end."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from fcpair.errors import BusyError, InputError
from fcpair.params import parse_people_question
from fcpair.practice import PRACTISING
from fcpair.records import WORKERS, Role, Visitor
from fcpair.stages.questions import SKIP
from fcpair.web.api.schemas import MOST_AHEAD, AnswerIn, ConsentIn, Words
from fcpair.web.auth import open_to
from fcpair.web.context import Context, context_of
from fcpair.web.languages import LANGUAGES, Language
from fcpair.web.page_phrases import mark
from fcpair.web.pages.markdown import render
from fcpair.words import Noun
from fcpair.work_records import RoundForm, Topic

router = APIRouter(include_in_schema=False)
READERS = (*WORKERS, Role.ADJUDICATOR)  # who reads the texts, and so consents first
AHEAD = {True: MOST_AHEAD, False: 5}  # how many pairs are at hand: with what is kept or a whole row, and without
HOME = {
    **dict.fromkeys(WORKERS, "/annotate"),
    **{Role.VALIDATOR: "/validate", Role.ADJUDICATOR: "/adjudicate", Role.LEAD: "/lead"},
}
PRACTICE = "/practice"
QUALIFICATION = "/qualification"
HEADINGS = {  # each with the noun of who reads
    Role.ANNOTATOR: mark("Label %(nouns)s"),
    Role.VALIDATOR: mark("Check labels"),
    Role.WRITER: mark("Write %(nouns)s"),
    Role.RATER: mark("Rate %(nouns)s"),
    Role.RESPONDENT: mark("Answer %(nouns)s"),
}
NO_CONSENT = mark("To take part, please tick the box under “Your consent”.")
TERMS_CHANGED = mark("The terms have changed since this page was loaded. Please read them again.")
NOT_NOW = mark("The server is busy just now, so this is not saved yet. Please tick the box again and press Begin.")
OWN_TEXTS = (  # what Annotate says where a study says nothing, see Annotate.worded
    mark("I have read this, I am an adult, and I take part of my own free will."),
    mark("Thank you. Every answer helps others to answer hate. Reading it leaves traces: do something pleasant now."),
    mark("Thank you. Every answer counts. If something that you have read stays with you, do something pleasant now."),
)
CONTROL_NOTE = mark(
    "Among my %(nouns)s are some whose answer is known, by which the study sees how well people answer."
)
OWN_WARNINGS = (  # each with the nouns of who reads
    mark(
        "The texts that you will read can be hateful, insulting or upsetting. You may pause, skip %(nouns)s or stop "
        "altogether at any time, and you never have to give a reason."
    ),
    mark(
        "The texts that you will read were written by others; some may upset you. You may pause, skip %(nouns)s or "
        "stop altogether at any time, and you never have to give a reason."
    ),
)
LONGEST_NOTE: int = AnswerIn.model_json_schema()["properties"]["note"]["maxLength"]
LONGEST_WORDS: int = ConsentIn.model_json_schema()["properties"]["demographics"]["additionalProperties"]["maxLength"]

Ticked = Annotated[bool, Form()]
Several = Annotated[list[Words], Form(default_factory=list)]


def word_warning(warning: str, language: Language, noun: Noun) -> str:
    """One of fcpair's own warnings in a language and with a noun; any other as the study has it."""
    message = next((own for own in OWN_WARNINGS if own % {"nouns": "pairs"} == warning), None)
    return warning if message is None else language.gettext(message, **language.noun_phrases(noun))


@dataclass(frozen=True)
class Particular:
    """Something that people may say about themselves: one of the options, or free text where there are none."""

    label: str
    options: tuple[str, ...]
    given: str = ""


def read_particulars(lines: tuple[str, ...], answers: list[str] | None = None) -> list[Particular]:
    """The recipe's questions (`Label: a | b | c`) with what was said, question by question.

    Raises:
        InputError: an answer too many or too few, or one that is neither empty nor among its question's options.
    """
    answers = [""] * len(lines) if answers is None else answers
    if len(answers) != len(lines):
        raise InputError(f"there are {len(lines)} questions, but {len(answers)} answers")
    return [_read_particular(line, given.strip()) for line, given in zip(lines, answers, strict=True)]


def _read_particular(line: str, answer: str) -> Particular:
    label, options = parse_people_question(line)
    if answer and options and answer not in options:
        raise InputError(f"`{answer}` is not an answer to `{label}`; expected one of {', '.join(options)}, or none")
    return Particular(label, options, answer)


@router.get("/")
@open_to(*Role)
def home(request: Request) -> Response:
    """To the page where the visitor's work is."""
    context = context_of(request)
    return RedirectResponse(HOME[context.door.require_visitor(request).role], HTTPStatus.SEE_OTHER)


@router.get("/join")
def join(request: Request) -> Response:
    """Where an invite link leads; join.js posts the token."""
    context = context_of(request)
    return context.page(request, context.door.visitor(request), "join.html.j2", problem="")


@router.get("/guidelines")
@open_to(*Role)
def guidelines(request: Request) -> Response:
    """The guidelines as they are now."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    version, body = context.study.guidelines
    return context.page(request, visitor, "guidelines.html.j2", version=version, guidelines=render(body))


def _show_welcome(
    request: Request, visitor: Visitor, particulars: list[Particular], problem: str = "", **chosen: Any
) -> Response:
    context = context_of(request)
    language = context.language(visitor)
    warning = word_warning(context.annotate.warning or "", language, context.noun(visitor))
    texts = {"about": render(context.annotate.about), "warning": render(warning), "languages": LANGUAGES.values()}
    texts["consent"] = consent_sentence(context, visitor)
    values = texts | {
        "guidelines": render(context.study.guidelines[1]),
        "questions": particulars,
        "shown": consent_digest(context, visitor),
        "longest": LONGEST_WORDS,
    }
    values |= {**_reading_facts(context, visitor), **chosen, "problem": problem}
    return context.page(request, visitor, "welcome.html.j2", **values)


def consent_sentence(context: Context, visitor: Visitor) -> str:
    """The sentence that people agree to; where there are control pairs, it says so to those who may have some."""
    language = context.language(visitor)
    sentence = language.find(context.annotate.consent)
    if visitor.role not in PRACTISING or not context.study.has_control_pairs():
        return sentence
    return f"{sentence} {language.gettext(CONTROL_NOTE, **language.noun_phrases(context.noun(visitor)))}"


def consent_digest(context: Context, visitor: Visitor) -> str:
    """Digest of the sentence that a page asks to agree to: nobody agrees to another one than they saw."""
    return hashlib.sha256(consent_sentence(context, visitor).encode()).hexdigest()[:16]


@router.get("/welcome")
@open_to(*READERS)
def welcome(request: Request) -> Response:
    """Show what the study is and asks, before the first pair."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    return _show_welcome(request, visitor, read_particulars(context.annotate.demographics))


@router.post("/welcome")
@open_to(*READERS)
def agree(
    request: Request,
    said: Several,
    topic: Several,
    consent: Ticked = False,
    shown: Annotated[str, Form()] = "",
    blurred: Ticked = False,
    keeps_refused: Ticked = False,
) -> Response:
    """Note consent, what the person says about themselves, and how they wish to read."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    answered = read_particulars(context.annotate.demographics, said)

    def show_again(problem: str, status: int) -> Response:
        topics = [replace(one, opted_out=one.value in topic) for one in _topics(context, visitor)]
        chosen = {"blurred": blurred, "keeps_refused": keeps_refused, "topics": topics}
        page = _show_welcome(request, visitor, answered, problem, **chosen)
        page.status_code = status
        return page

    if shown and shown != consent_digest(context, visitor):
        return show_again(TERMS_CHANGED, HTTPStatus.CONFLICT)
    if not consent:
        return show_again(NO_CONSENT, HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        _set_reading(context, visitor, topic, blurred=blurred, keeps_refused=keeps_refused)
        sentence = consent_sentence(context, visitor)
        context.study.access.consent(visitor.id, {one.label: one.given for one in answered if one.given}, sentence)
    except BusyError:
        return show_again(NOT_NOW, HTTPStatus.SERVICE_UNAVAILABLE)
    first_page = PRACTICE if context.has_practice(visitor) else HOME[visitor.role]
    return RedirectResponse(first_page, HTTPStatus.SEE_OTHER)


@router.get("/settings")
@open_to(*READERS, Role.LEAD)
def settings(request: Request, saved: bool = False) -> Response:
    """Show the settings by which a person wishes to read; of a lead, who reads no work, the language alone."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    reads = visitor.role in READERS
    values = {"saved": saved, "languages": LANGUAGES.values(), "reads": reads, **_reading_facts(context, visitor)}
    return context.page(request, visitor, "settings.html.j2", **values)


@router.post("/settings")
@open_to(*READERS)
def change(request: Request, topic: Several, blurred: Ticked = False, keeps_refused: Ticked = False) -> Response:
    """Change that."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    _set_reading(context, visitor, topic, blurred=blurred, keeps_refused=keeps_refused)
    return RedirectResponse("/settings?saved=1", HTTPStatus.SEE_OTHER)


@router.post("/language")
@open_to(*READERS, Role.LEAD)
def choose_language(request: Request, language: Annotated[str, Form()] = "") -> Response:
    """Show the pages in another language from now on, wherever the person comes in."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    context.study.access.set_language(visitor.id, language)
    has_settings = visitor.consented or visitor.role not in READERS
    return RedirectResponse("/settings?saved=1" if has_settings else "/welcome", HTTPStatus.SEE_OTHER)


def _show_desk(request: Request, visitor: Visitor) -> Response:
    context = context_of(request)
    if not visitor.consented:
        return RedirectResponse("/welcome", HTTPStatus.SEE_OTHER)
    if context.study.waits_for_lead(visitor):
        return RedirectResponse(QUALIFICATION, HTTPStatus.SEE_OTHER)
    values = {"heading": HEADINGS[visitor.role], "skip": SKIP, "longest": LONGEST_NOTE}
    facts = _desk_facts(context, visitor, context.work_queue.rounds(visitor))
    return context.page(request, visitor, "desk.html.j2", **values, **facts)


@router.get("/annotate")
@open_to(*(role for role in WORKERS if HOME[role] == "/annotate"))
def label(request: Request) -> Response:
    """Show what an annotator, a writer, a rater or a respondent has to answer, one screen after the other."""
    context = context_of(request)
    return _show_desk(request, context.door.require_visitor(request))


@router.get("/validate")
@open_to(Role.VALIDATOR)
def validate(request: Request) -> Response:
    """A validator's pairs, one a screen."""
    context = context_of(request)
    return _show_desk(request, context.door.require_visitor(request))


@router.get("/thanks")
@open_to(*READERS)
def thanks(request: Request) -> Response:
    """The end, of the day or of it all."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if not visitor.consented:
        return RedirectResponse("/welcome", HTTPStatus.SEE_OTHER)
    if visitor.role is not Role.ADJUDICATOR and context.study.waits_for_lead(visitor):
        return RedirectResponse(QUALIFICATION, HTTPStatus.SEE_OTHER)
    facts = _decision_facts(context, visitor) if visitor.role is Role.ADJUDICATOR else _answer_facts(context, visitor)
    closing = context.language(visitor).find(context.annotate.thanks or "")
    values = {"thanks": render(closing), "desk": HOME[visitor.role], **facts}
    return context.page(request, visitor, "thanks.html.j2", **values)


def _answer_facts(context: Context, visitor: Visitor) -> dict[str, Any]:
    """Facts for the last page of an annotator or validator; `own` is where their answers can be seen."""
    progress = context.work_queue.progress(visitor)
    counts = {"open": progress.open, "done": progress.done, "skipped": progress.skipped, "limit": progress.limit}
    counts["more"] = progress.more
    counts["limit"] = progress.limit and context.translate_sentence(progress.limit, visitor, context.language(visitor))
    return {**counts, "decides": False, "own": f"{HOME[visitor.role]}#answers"}


def _decision_facts(context: Context, visitor: Visitor) -> dict[str, Any]:
    """The same of an adjudicator, of all grids together."""
    dockets = [(one, context.adjudication_queue(one)) for one in context.grids.with_policy()]
    queues = [(one, docket.state(visitor.id)) for one, docket in dockets]
    own = next((one.address("/adjudicate/decided", by=visitor.name) for one, queue in queues if queue.decided), "")
    n_open, done = (sum(getattr(queue, name) for _, queue in queues) for name in ("waiting", "decided"))
    limit = next((docket.reading_allowance(visitor.id).limit for _, docket in dockets), None)
    if limit:
        limit = context.translate_sentence(limit, visitor, context.language(visitor))
    return {"open": n_open, "done": done, "skipped": 0, "limit": limit, "more": None, "decides": True, "own": own}


def desk_version(context: Context, visitor: Visitor) -> str:
    """A hash of what the desk's page is made of: files, terms, guidelines, and what a visitor is asked."""
    served = context.templates.globals["files"], context.annotate, context.facts
    asked = context.study.guidelines[0], context.work_queue.rounds(visitor), context.language(visitor).code
    return hashlib.sha256(repr((served, asked)).encode()).hexdigest()[:12]


def _desk_facts(context: Context, visitor: Visitor, rounds: list[RoundForm]) -> dict[str, Any]:
    """Values for the desk's script."""
    version, guidelines = context.study.guidelines
    return {
        "rounds": json.dumps([vars(one) for one in rounds]),
        "guidelines": render(guidelines),
        "guideline_version": version,
        "ahead": AHEAD[context.annotate.offline or any(one.screen != "cell" for one in rounds)],
        "files": f"{context.templates.globals['files']}-{context.language(visitor).code}" * context.annotate.offline,
        "outbox": f"fcpair-outbox/{context.storage_key(visitor)}",
    }


def _reading_facts(context: Context, visitor: Visitor) -> dict[str, Any]:
    own = {"blurred": visitor.blurred, "keeps_refused": visitor.keeps_refused}
    return {**own, "writes": visitor.role is Role.WRITER, "topics": _topics(context, visitor)}


def _topics(context: Context, visitor: Visitor) -> list[Topic]:
    """Topics that a visitor may opt out of; none of conflicts, since somebody must read them all."""
    column = context.annotate.opt_out if visitor.role in WORKERS else None
    return context.study.access.topics(visitor.id, column, context.annotate.opt_out_split) if column else []


def _set_reading(context: Context, visitor: Visitor, topics: list[str], *, blurred: bool, keeps_refused: bool) -> None:
    column, access, offered = context.annotate.opt_out, context.study.access, _topics(context, visitor)
    opted_out = {topic.value for topic in offered if topic.opted_out}
    if column and offered and set(topics) != opted_out:
        access.opt_out(visitor.id, column, sorted(set(topics)), split=context.annotate.opt_out_split)
    if blurred != visitor.blurred:
        access.set_blurred(visitor.id, blurred)
    if keeps_refused != visitor.keeps_refused:
        access.set_keeps_refused(visitor.id, keeps_refused)
