"""Adding people on the lead's pages, one or a pasted list, and the links by which they come in, shown this once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import InputError
from fcpair.records import Role, Visitor, invite_link
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.languages import LANGUAGES, Language
from fcpair.web.lead.navigation import PEOPLE
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.lead.people import NOT_ONESELF, ROLES, parse_role, show_people
from fcpair.web.page_hints import replace_commands
from fcpair.web.page_phrases import mark

router = APIRouter(include_in_schema=False)
Text = Annotated[str, Form()]
HELLO = mark("Hello %(name)s,")
INVITED = mark("you are invited to take part as %(role)s. This link lets you in, on any device:")
INVITED_TO = mark("you are invited to take part in “%(title)s” as %(role)s. This link lets you in, on any device:")
YOURS_ALONE = mark("It is yours alone: anybody who has it comes in as you. Please do not pass it on.")
NO_NAME = mark("there is no name in the list; write one person on each line")
LINE_WITHOUT_NAME = mark("line %(number)s has no name")
NO_ROLE = mark("line %(number)s: `%(role)s` is no role; expected one of %(roles)s")
NAMED_TWICE = mark("line %(number)s: `%(name)s` is in the list already")
NAME_TAKEN = mark("line %(number)s: `%(name)s` already takes part in the study; choose another pseudonym")
COMMAS = str.maketrans({"	": ",", "،": ","})
MOST_CODES = 40  # QR codes on one page: each takes the server 5 ms, in which nobody's answer is stored


@dataclass(frozen=True)
class Invitation:
    """The link of one person, a mail with it, and the QR code of it as the address of an image; empty where there are
    too many.
    """

    name: str
    role: str
    link: str
    mail: str
    code: str = ""


@router.post(PEOPLE.path)
@open_to(Role.LEAD)
def add(request: Request, people: Text = "", role: Text = Role.ANNOTATOR.value) -> Response:
    """Add all people of a list and show their links, or none of them and say what is wrong with it."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    language = context.language(visitor)
    try:
        roles = parse_people(people, parse_role(role), {one.name for one in context.study.people}, language)
        with context.study.acting_as(visitor.name):
            tokens = context.study.access.add_all(roles)
    except InputError as error:
        problem = context.translate_sentence(str(error), visitor, language)
        page = show_people(request, visitor, role=role, pasted=people, problem=replace_commands(problem, language))
        page.status_code = HTTPStatus.UNPROCESSABLE_ENTITY
        return page
    return _show_links(request, visitor, tokens, is_new=True)


@router.post("/lead/people/links")
@open_to(Role.LEAD)
def invite_others(request: Request) -> Response:
    """Make a link for everybody who takes part and has none, and show them this once."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    with context.study.acting_as(visitor.name):
        tokens = context.study.access.invite_all()
    return _show_links(request, visitor, tokens)


@router.post("/lead/people/{name}/invite")
@open_to(Role.LEAD)
def invite(request: Request, name: str) -> Response:
    """Make a new link, and show it this once."""
    context = context_of(request)
    visitor = context.door.require_visitor(request)
    if name == visitor.name:
        raise InputError(NOT_ONESELF)
    with context.study.acting_as(visitor.name):
        tokens = {name: context.study.access.invite(name)}
    return _show_links(request, visitor, tokens)


def _show_links(request: Request, visitor: Visitor, tokens: Mapping[str, str], *, is_new: bool = False) -> Response:
    from fcpair.files.tables.tabular import format_csv

    context = context_of(request)
    roles = {one.name: one.role.value for one in context.study.people}
    links = [(name, roles[name], invite_link(context.url, token)) for name, token in tokens.items()]
    codes = draw_codes({name: link for name, _, link in links})
    mail_language = LANGUAGES[context.study.page_language()]
    values = {
        "links": [
            Invitation(*row, write_mail(mail_language, *row, title=context.facts["title"]), codes.get(row[0], ""))
            for row in links
        ],
        "mail_language": mail_language,
        "most_codes": MOST_CODES,
        "is_new": is_new,
        "table": f"data:text/csv;charset=utf-8,{quote(format_csv([('name', 'role', 'link'), *links]))}",
    }
    return context.page(
        request, visitor, "lead_links.html.j2", context.grids.from_request(request), **SHOWN_BY, **values
    )


def write_mail(language: Language, name: str, role: str, link: str, *, title: str) -> str:
    """The text of a mail that invites a person, in the language in which they will read the pages."""
    invited = language.gettext(INVITED_TO if title else INVITED, title=title, role=language.find(role))
    return "\n\n".join((language.gettext(HELLO, name=name), invited, link, language.find(YOURS_ALONE)))


def draw_codes(links: Mapping[str, str]) -> dict[str, str]:
    """The QR code of each link by name, as a `data:` address, so that the secret is in this page and nowhere else.

    The page loads no image from the server, which could be cached or logged. Codes are dark on light in every theme,
    with the margin of four modules that ISO/IEC 18004 asks for, as many cameras read no other. There are none where
    they would be more than MOST_CODES.
    """
    import segno

    if len(links) > MOST_CODES:
        return {}
    codes = {name: segno.make_qr(link, error="m") for name, link in links.items()}
    return {name: code.svg_data_uri(scale=4, border=4, light="#fff") for name, code in codes.items()}


def parse_people(pasted: str, usual: Role, existing: set[str], language: Language) -> dict[str, Role]:
    """The people of a pasted list, each with their role: a line has a name, and after a comma or a tab a role, in
    English or in a language, if it is not the `usual` one.

    Raises InputError that lists every line with a name that is there twice, or in the study (`existing`), or with no
    role that there is, in the language.
    """
    role_by_word = {word: Role(role) for role in ROLES for word in (role, language.find(role))}
    roles: dict[str, Role] = {}
    role_names = language.find(", ").join(map(language.find, ROLES))
    problems = []
    for number, line in enumerate(pasted.splitlines(), 1):
        name, _, role = (part.strip() for part in line.translate(COMMAS).partition(","))
        if not name and not role:
            continue
        if problem := _problem_of_line(name, role in role_by_word or not role, name in roles, name in existing):
            problems.append(language.gettext(problem, number=number, name=name, role=role, roles=role_names))
        else:
            roles[name] = role_by_word[role] if role else usual
    if problems:
        raise InputError("; ".join(problems))
    if not roles:
        raise InputError(language.find(NO_NAME))
    return roles


def _problem_of_line(name: str, has_role: bool, is_listed: bool, is_known: bool) -> str:
    """The message for what is wrong with a line of a list; empty where nothing is."""
    if not name:
        return LINE_WITHOUT_NAME
    if not has_role:
        return NO_ROLE
    if is_listed:
        return NAMED_TWICE
    return NAME_TAKEN if is_known else ""
