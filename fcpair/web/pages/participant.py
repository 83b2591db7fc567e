"""The pages of those who take part: coming in and leaving, the terms, the desk, the end, and where they learn.

The desk opens without a connection, too, by the service worker, the manifest, and pages that stand in for all others.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import JSONResponse

from fcpair.errors import BusyError, ConflictError, FcpairError, InputError, StudyError, TooManyError
from fcpair.known_pairs import MOST_ITEMS, PRACTISING
from fcpair.params import parse_people_question
from fcpair.records import WORKERS, Role
from fcpair.sentences import mark, mark_plural, say
from fcpair.stages.questions import SKIP
from fcpair.web import visits
from fcpair.web.context import context_of
from fcpair.web.form import Text, Ticked
from fcpair.web.languages import LANGUAGES, Language
from fcpair.web.pages.markdown import render
from fcpair.web.schemas import LONGEST_NOTE, LONGEST_WORDS, MOST_AHEAD, Words
from fcpair.web.server.static_files import static_files
from fcpair.words import Noun
from fcpair.work_records import Topic

router = APIRouter(include_in_schema=False)
AHEAD = {True: MOST_AHEAD, False: 5}  # how many pairs are at hand: with what is kept or a whole row, and without
HOME = {
    **dict.fromkeys(WORKERS, "/annotate"),
    **{Role.VALIDATOR: "/validate", Role.ADJUDICATOR: "/adjudicate", Role.LEAD: "/lead"},
}
PRACTICE = "/practice"
QUALIFICATION = "/qualification"
ICONS = {
    "icon.svg": ("image/svg+xml", "any"),
    "icon-192.png": ("image/png", "192x192"),
    "icon-512.png": ("image/png", "512x512"),
}
LONGEST_ANSWER = 200
HEADINGS = {  # each with the noun of who reads
    Role.ANNOTATOR: mark("Label %(nouns)s"),
    Role.VALIDATOR: mark("Check labels"),
    Role.WRITER: mark("Write %(nouns)s"),
    Role.RATER: mark("Rate %(nouns)s"),
    Role.RESPONDENT: mark("Answer %(nouns)s"),
}
TERMS_CHANGED = say("The terms have changed since this page was loaded. Please read them again.")
OWN_TEXTS = (  # what Annotate says where a study says nothing, see Annotate.worded
    mark("I have read this, I am an adult, and I take part of my own free will."),
    mark("Thank you. Every answer helps others to answer hate. Reading it leaves traces: do something pleasant now."),
    mark("Thank you. Every answer counts. If something that you have read stays with you, do something pleasant now."),
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

Several = Annotated[list[Words], Form(default_factory=list)]


def word_warning(warning: str, language: Language, noun: Noun) -> str:
    """One of fcpair's own warnings in a language and with a noun; any other as the study has it."""
    message = next((own for own in OWN_WARNINGS if own % {"nouns": "pairs"} == warning), None)
    return warning if message is None else language.gettext(message, **language.noun_phrases(noun))


class Particular(NamedTuple):
    """Something that people may say about themselves: one of the options, or free text if there are none."""

    label: str
    options: tuple[str, ...]
    given: str = ""


def read_particulars(lines: tuple[str, ...], answers: list[str] | None = None) -> list[Particular]:
    """The recipe's questions (`Label: a | b | c`) with what was said; raises InputError for what is no answer."""
    answers = [""] * len(lines) if answers is None else answers
    if len(answers) != len(lines):
        raise InputError.say(
            "there are %(lines)s questions, but %(answers)s answers", lines=len(lines), answers=len(answers)
        )
    particulars = []
    for line, given in zip(lines, map(str.strip, answers), strict=True):
        label, options = parse_people_question(line)
        if given and options and given not in options:
            raise InputError.say(
                "`%(answer)s` is not an answer to `%(label)s`; expected one of %(options)s, or none",
                answer=given,
                label=label,
                options=options,
            )
        particulars.append(Particular(label, options, given))
    return particulars


def show_farewell(request: Request, reason: str) -> Response:
    """Tell somebody who was dismissed why."""
    return context_of(request).page(request, None, "farewell.html.j2", None, HTTPStatus.FORBIDDEN, reason=reason)


@router.get("/join")
def ask_for_token(request: Request) -> Response:
    """Show the page to which an invite link leads; join.js posts the token."""
    context = context_of(request)
    return context.page(request, context.door.visitor(request), "join.html.j2", problem="")


@router.post("/join")
def join(request: Request, token: Text = "") -> Response:
    """Begin a session by a token; a whole invite link will do."""
    context, code = context_of(request), token.rpartition("#")[2].strip()
    context.door.check_origin(request)
    try:
        visitor = context.door.login_with_token(request, code)
    except TooManyError as error:
        forms = mark_plural(
            "Too many links that do not work were tried, so wait a second before you try another. A link that works "
            "lets you in at once.",
            "Too many links that do not work were tried, so wait %(n)s seconds before you try another. A link that "
            "works lets you in at once.",
        )
        problem = context.language(None).ngettext(*forms, error.wait_s)
        page = context.page(request, None, "join.html.j2", None, HTTPStatus.TOO_MANY_REQUESTS, problem=problem)
        page.headers["Retry-After"] = str(error.wait_s)
        return page
    if visitor is None:
        if reason := context.study.access.farewell(code):
            return show_farewell(request, reason)
        message = mark(
            "This link does not work. It may have been replaced by a newer one: look for that, or ask the people who "
            "run the study for another."
        )
        problem = context.language(None).find(message)
        return context.page(request, None, "join.html.j2", None, HTTPStatus.FORBIDDEN, problem=problem)
    response = visits.go_to("/")
    context.door.open_session(request, response, visitor)
    return response


@router.post("/leave")
def leave(visit: visits.AnyVisit) -> Response:
    """End the session in this browser."""
    response = visits.go_to("/join")
    visit.context.door.end_session(visit.request, response)
    return response


@router.get("/")
async def home(visit: visits.AnyVisit) -> Response:  # which waits for nothing, and so needs no thread
    """To the page where the visitor's work is."""
    return visits.go_to(HOME[visit.visitor.role])


@router.get("/guidelines")
def guidelines(visit: visits.AnyVisit) -> Response:
    """The guidelines as they are now."""
    version, body = visit.study.guidelines
    return visit.page("guidelines.html.j2", version=version, guidelines=render(body))


def _show_welcome(visit: visits.Visit, particulars: list[Particular], **chosen: Any) -> Response:
    annotate = visit.context.annotate
    warning = word_warning(annotate.warning or "", visit.language, visit.context.noun(visit.visitor))
    return visit.page(
        "welcome.html.j2",
        about=render(annotate.about),
        warning=render(warning),
        languages=LANGUAGES.values(),
        consent=consent_sentence(visit),
        guidelines=render(visit.study.guidelines[1]),
        questions=particulars,
        shown=consent_digest(visit),
        longest=LONGEST_WORDS,
        **(_reading_facts(visit) | chosen),
    )


def consent_sentence(visit: visits.Visit) -> str:
    """The sentence that people agree to; if there are control pairs, it says so to those who may have some."""
    language, visitor = visit.language, visit.visitor
    sentence = language.find(visit.context.annotate.consent)
    if visitor.role not in PRACTISING or not visit.study.has_control_pairs():
        return sentence
    note = mark("Among my %(nouns)s are some whose answer is known, by which the study sees how well people answer.")
    return f"{sentence} {language.gettext(note, **language.noun_phrases(visit.context.noun(visitor)))}"


def consent_digest(visit: visits.Visit) -> str:
    """Digest of the sentence that a page asks to agree to: nobody agrees to another one than they saw."""
    return hashlib.sha256(consent_sentence(visit).encode()).hexdigest()[:16]


@router.get("/welcome")
def welcome(visit: visits.ReaderVisit) -> Response:
    """Show what the study is and asks, before the first pair."""
    return _show_welcome(visit, read_particulars(visit.context.annotate.demographics))


@router.post("/welcome")
def agree(
    visit: visits.ReaderVisit,
    said: Several,
    topic: Several,
    consent: Ticked = False,
    shown: Text = "",
    blurred: Ticked = False,
    keeps_refused: Ticked = False,
) -> Response:
    """Note consent, what the person says about themselves, and how they wish to read."""
    answered = read_particulars(visit.context.annotate.demographics, said)

    def show_again(refusal: FcpairError) -> Response:
        topics = [replace(offered, opted_out=offered.value in topic) for offered in _topics(visit)]
        chosen = {"blurred": blurred, "keeps_refused": keeps_refused, "topics": topics}
        return _show_welcome(visit.refused(refusal), answered, **chosen)

    if shown and shown != consent_digest(visit):
        return show_again(ConflictError(TERMS_CHANGED))
    if not consent:
        return show_again(InputError.say("To take part, please tick the box under “Your consent”."))
    try:
        _set_reading(visit, topic, blurred=blurred, keeps_refused=keeps_refused)
        demographics = {particular.label: particular.given for particular in answered if particular.given}
        visit.study.access.consent(visit.visitor.id, demographics, consent_sentence(visit))
    except BusyError:
        sentence = say(
            "The server is busy just now, so this is not saved yet. Please tick the box again and press Begin."
        )
        return show_again(StudyError(sentence))
    return visits.go_to(PRACTICE if visit.context.has_practice(visit.visitor) else HOME[visit.visitor.role])


@router.get("/settings")
def settings(visit: visits.ReaderOrLeadVisit, saved: bool = False) -> Response:
    """Show the settings by which a person wishes to read; of a lead, who reads no work, the language alone."""
    values = {"saved": saved, "languages": LANGUAGES.values(), **_reading_facts(visit)}
    return visit.page("settings.html.j2", reads=visit.visitor.role in visits.READERS, **values)


@router.post("/settings")
def change(
    visit: visits.ReaderVisit, topic: Several, blurred: Ticked = False, keeps_refused: Ticked = False
) -> Response:
    """Change that."""
    _set_reading(visit, topic, blurred=blurred, keeps_refused=keeps_refused)
    return visits.go_to("/settings?saved=1")


@router.post("/language")
def choose_language(visit: visits.ReaderOrLeadVisit, language: Text = "") -> Response:
    """Show the pages in another language from now on, wherever the person comes in."""
    visit.study.access.set_language(visit.visitor.id, language)
    has_settings = visit.visitor.consented or visit.visitor.role not in visits.READERS
    return visits.go_to("/settings?saved=1" if has_settings else "/welcome")


@router.get("/annotate")
def label(visit: visits.LabellerVisit) -> Response:
    """Show what an annotator, a writer, a rater or a respondent has to answer, one screen after the other."""
    return _show_desk(visit)


@router.get("/validate")
def validate(visit: visits.ValidatorVisit) -> Response:
    """A validator's pairs, one a screen."""
    return _show_desk(visit)


def _show_desk(visit: visits.Visit) -> Response:
    if not visit.visitor.consented:
        return visits.go_to("/welcome")
    if visit.study.waits_for_lead(visit.visitor):
        return visits.go_to(QUALIFICATION)
    context, (version, guidelines) = visit.context, visit.study.guidelines
    rounds, files = context.work_queue.rounds(visit.visitor), context.templates.globals["files"]
    return visit.page(
        "desk.html.j2",
        heading=HEADINGS[visit.visitor.role],
        skip=SKIP,
        longest=LONGEST_NOTE,
        rounds=json.dumps([vars(round_) for round_ in rounds]),
        guidelines=render(guidelines),
        guideline_version=version,
        ahead=AHEAD[context.annotate.offline or any(round_.screen != "cell" for round_ in rounds)],
        files=f"{files}-{visit.language.code}" * context.annotate.offline,
        outbox=f"fcpair-outbox/{context.storage_key(visit.visitor)}",
    )


@router.get("/thanks")
def thanks(visit: visits.ReaderVisit) -> Response:
    """The end, of the day or of it all."""
    visitor, context = visit.visitor, visit.context
    if not visitor.consented:
        return visits.go_to("/welcome")
    if decides := visitor.role is Role.ADJUDICATOR:  # in all grids together
        queues = [(grid, context.adjudication_queue(grid)) for grid in context.grids.with_policy()]
        counts = [queue.state(visitor.id) for _, queue in queues]
        grids = (grid for (grid, _), count in zip(queues, counts, strict=True) if count.decided)
        own = next((grid.address("/adjudicate/decided", by=visitor.name) for grid in grids), "")
        limit = next((queue.reading_allowance(visitor.id).limit for _, queue in queues), None)
        n_open, done = sum(count.waiting for count in counts), sum(count.decided for count in counts)
        facts: dict[str, Any] = {"open": n_open, "done": done, "skipped": 0, "more": None}
    elif visit.study.waits_for_lead(visitor):
        return visits.go_to(QUALIFICATION)
    else:
        progress = context.work_queue.progress(visitor)
        facts = {name: getattr(progress, name) for name in ("open", "done", "skipped", "more")}
        limit, own = progress.limit, f"{HOME[visitor.role]}#answers"  # where their answers can be seen
    facts |= {"limit": limit and visit.translate(limit), "decides": decides, "own": own, "desk": HOME[visitor.role]}
    return visit.page("thanks.html.j2", thanks=render(visit.language.find(context.annotate.thanks or "")), **facts)


def desk_version(visit: visits.Visit) -> str:
    """A hash of what the desk's page is made of: files, terms, guidelines, and what a visitor is asked."""
    context = visit.context
    served = context.templates.globals["files"], context.annotate, context.facts
    asked = visit.study.guidelines[0], context.work_queue.rounds(visit.visitor), visit.language.code
    return hashlib.sha256(repr((served, asked)).encode()).hexdigest()[:12]


def _reading_facts(visit: visits.Visit) -> dict[str, Any]:
    own = {name: getattr(visit.visitor, name) for name in ("blurred", "keeps_refused")}
    return {**own, "writes": visit.visitor.role is Role.WRITER, "topics": _topics(visit)}


def _topics(visit: visits.Visit) -> list[Topic]:
    """Topics that a visitor may opt out of; none of conflicts, since somebody must read them all."""
    annotate = visit.context.annotate
    column = annotate.opt_out if visit.visitor.role in WORKERS else None
    return visit.study.access.topics(visit.visitor.id, column, annotate.opt_out_split) if column else []


def _set_reading(visit: visits.Visit, topics: list[str], *, blurred: bool, keeps_refused: bool) -> None:
    annotate, access, visitor, offered = visit.context.annotate, visit.study.access, visit.visitor, _topics(visit)
    opted_out = {topic.value for topic in offered if topic.opted_out}
    if annotate.opt_out and offered and set(topics) != opted_out:
        access.opt_out(visitor.id, annotate.opt_out, sorted(set(topics)), split=annotate.opt_out_split)
    if blurred != visitor.blurred:
        access.set_blurred(visitor.id, blurred)
    if keeps_refused != visitor.keeps_refused:
        access.set_keeps_refused(visitor.id, keeps_refused)


@router.get(PRACTICE)
def practice(
    visit: visits.PractisingVisit,
    n: Annotated[int, Query(ge=1, le=MOST_ITEMS + 1)] = 1,
    answer: Annotated[str, Query(max_length=LONGEST_ANSWER)] = "",
) -> Response:
    """Ask the known item `n`; with an `answer`, say what was to be answered, and why. After the last comes the end."""
    if not visit.visitor.consented:
        return visits.go_to("/welcome")
    round_ = visit.study.practice_round(visit.visitor.role, visit.visitor.language)
    if round_ is None:
        return visits.go_to(HOME[visit.visitor.role])
    item = round_.items[n - 1] if n <= len(round_.items) else None
    choices = choices_of(round_.question, visit.language)
    by_name = {choice["name"]: choice for choice in choices}
    return visit.page(
        "practice.html.j2",
        round=round_,
        n=n,
        item=item,
        choices=choices,
        answered=by_name.get(answer),
        known=item and by_name.get(item.answer),
        onward=f"{PRACTICE}?{urlencode({'n': n + 1})}",
        desk=HOME[visit.visitor.role],
    )


def choices_of(question: dict[str, Any], language: Language) -> list[dict[str, Any]]:
    """The answers of a question: the name, what is read in its place, and the keys of each."""
    names = question["choices"]
    texts, colours = (question.get(part) or [None] * len(names) for part in ("texts", "colours"))
    choices = zip(names, texts, question["keys"], colours, strict=True)
    return [
        {"name": name, "text": text or language.answer_name(str(name)), "keys": keys, "colour": colour}
        for name, text, keys, colour in choices
    ]


@router.get(QUALIFICATION)
def qualification(visit: visits.WorkerVisit) -> Response:
    """Show what was right, to whoever has answered all; others go on with their work."""
    reviews = visit.study.review_qualifications(visit.visitor) if visit.visitor.consented else []
    if not reviews:
        return visits.go_to(HOME[visit.visitor.role])
    choices = ((review, choices_of(review.question, visit.language)) for review in reviews)
    shown = [(review, {choice["name"]: choice["text"] for choice in of}) for review, of in choices]
    waits = visit.study.waits_for_lead(visit.visitor)
    return visit.page("qualification.html.j2", reviews=shown, waits=waits, desk=HOME[visit.visitor.role])


@router.get("/discussion")
def discussion(visit: visits.WorkerOrLeadVisit) -> Response:
    """Show where people differ: to those who do, on pairs that they have answered, and to leads."""
    if visit.visitor.role in WORKERS and not visit.visitor.consented:
        return visits.go_to("/welcome")
    values = {"discussions": visit.study.discussions(visit.visitor), "desk": HOME[visit.visitor.role]}
    return visit.page("discussion.html.j2", **values)


@router.get("/worker.js")
def worker(request: Request) -> Response:
    """The service worker: here and not under /static, as it may serve only what lies beside or below it."""
    return static_files()["worker.js"].respond(request)


@router.get("/manifest.webmanifest")
def manifest(visit: visits.WorkerVisit) -> Response:
    """Send the manifest: how the desk looks among the apps of a phone."""
    static: Any = visit.context.templates.globals["static"]
    icons = [{"src": static(name), "type": kind, "sizes": sizes} for name, (kind, sizes) in ICONS.items()]
    name = visit.context.facts["title"] or "fcpair"
    content = {"name": name, "start_url": "/", "scope": "/", "display": "standalone", "icons": icons}
    return JSONResponse(content, media_type="application/manifest+json")


@router.get("/offline")
@router.get("/offline/form")
@router.get("/offline/leave")
def stand_in(visit: visits.WorkerVisit) -> Response:
    """Show the page that stands in for one that needs the server, which may follow a form; it names nobody."""
    name = visit.request.url.path.strip("/").replace("/", "_")
    return visit.context.page(visit.request, None, f"{name}.html.j2", language=visit.language)
