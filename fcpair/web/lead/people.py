"""The people of the study, as the lead sees them: adding, inviting (links are shown once), and letting them go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Response

from fcpair.errors import InputError, UnknownIdError
from fcpair.records import Role, RunRecord, invite_link
from fcpair.sentences import join, mark, say
from fcpair.stages.stats.people_agreement import agreement_with_others
from fcpair.study import Study
from fcpair.web.context import START
from fcpair.web.current_grid import PEOPLE
from fcpair.web.form import Text, field, parse_number
from fcpair.web.languages import LANGUAGES, Language
from fcpair.web.lead.panels import PANELS, STANDINGS, build_panel, compared_people
from fcpair.web.visits import REFUSALS, LeadVisit, Visit

router = APIRouter(include_in_schema=False)
ROLES = tuple(role.value for role in Role if role is not Role.MODEL)
HELLO = mark("Hello %(name)s,")
YOURS_ALONE = mark("It is yours alone: anybody who has it comes in as you. Please do not pass it on.")
COMMAS = str.maketrans({"	": ",", "،": ","})
MOST_CODES = 40  # QR codes on one page: each takes the server 5 ms, in which nobody's answer is stored
Act = Callable[[Visit, str], RunRecord]
ACTS: dict[str, Act] = {
    "retire": lambda visit, name: visit.study.retire(name),
    "dismiss": lambda visit, name: visit.study.dismiss(name, reason=field(visit.request, "reason")),
    "let-on": lambda visit, name: visit.here.grid.desk.let_on(name),
    "forget": lambda visit, name: visit.study.access.forget(name),
    "hand-over": lambda visit, name: visit.study.hand_over(
        name, field(visit.request, "to") or None, last=parse_pairs(field(visit.request, "n"))
    ),
    "role": lambda visit, name: visit.study.change_role(name, parse_role(field(visit.request, "role"))),
    "revoke": lambda visit, name: visit.study.access.revoke(name),
}
"""Acts on a person, whose name is given; an invite link, which is shown this once, is no such act."""
INVITE = "invite"
VIEWS = {
    "": mark("Everybody"),
    "known_pairs": mark("Known pairs"),
    "pilots": mark("Pilot"),
    "labels": mark("Answers"),
    "with_others": mark("Agreement"),
    "speed": mark("Speed"),
    "exposure": mark("Reading"),
}
"""The tabs of the page, by the panel that each of them shows; first the table of everybody."""
NOT_ONESELF = say("you cannot do this to yourself here; ask another lead, or use `fcpair people` on the server")


@router.get(PEOPLE.path)
def people(visit: LeadVisit, run: int = 0, role: str = "", view: str = "") -> Response:
    """Everybody with the work they have, or one panel about them all."""
    return _show_people(visit, run, role, view=view if view in PEOPLE.panels else "")


def _show_people(visit: Visit, run: int = 0, role: str = "", pasted: str = "", view: str = "") -> Response:
    here, access = visit.here, visit.study.access
    is_assigned = any(round_["dealt"] for round_ in visit.overview["rounds"] if round_["counts"])
    facts_of, workload = _facts_by_name(visit), [] if view else visit.study.workload()
    return visit.lead_page(
        "lead_people.html.j2",
        PEOPLE,
        run,
        view=view,
        views=[(name, title) for name, title in VIEWS.items() if not name or PANELS[name].fits(here)],
        panels=[build_panel(visit, view)] if view else [],
        people=[row | facts_of(row["name"]) for row in workload],
        n_people=sum(not person.retired for person in visit.study.people),
        invited=access.invited(),
        waiting={score["name"] for score in here.grid.desk.known_scores() if score["standing"] == "waits"},
        standings=STANDINGS,
        n_uninvited=len(uninvited_people(visit.study)),
        roles=ROLES,
        role=role or Role.ANNOTATOR.value,
        adding=bool(role),
        pasted=pasted,
        compared=compared_people(here) if view == "with_others" else [],
        can_add_labels=here.has_labels and not here.is_planned and is_assigned,
        simulated=visit.context.grids.oldest.monitor.simulated_note(),
    )


def _facts_by_name(visit: Visit) -> Callable[[str], dict[str, Any]]:
    """What the pages say of each person beside their work: in this grid, and when they were last seen."""
    monitor = visit.here.monitor
    stages, last_seen, speeds = monitor.stages(), monitor.headlines().last_seen, monitor.speed().people
    figures = monitor.agreement() if visit.here.has_labels else None
    n_shared = sum(one.grid.desk.conflicts(n=1).n_waiting for one in visit.context.grids.with_policy())
    agreements = {person.name: person for person in agreement_with_others(figures.subsets)} if figures else {}

    def facts_of(name: str) -> dict[str, Any]:
        paces = (person.outlook.pace_s for stage in stages for person in stage.people if person.name == name)
        return {
            "seen": last_seen.get(name),
            "shared": n_shared,
            "pace_s": next((pace for pace in paces if pace is not None), None),
            "speed": next((speed for speed in speeds if speed.name == name), None),
            "agreement": agreements.get(name),
        }

    return facts_of


def _find_row(visit: Visit, name: str) -> dict[str, Any]:
    """A person with the work they have; raises UnknownIdError where there is nobody of that name."""
    row = next((dict(row) for row in visit.study.workload() if row["name"] == name), None)
    if row is None:
        raise UnknownIdError.say("there is nobody called `%(name)s`", name=name)
    return row


@router.get("/lead/people/{name}")
def show_person(visit: LeadVisit, name: str) -> Response:
    """All that a lead may read about a person, and the acts on them: a page, and what its table shows in a drawer."""
    here, row = visit.here, _find_row(visit, name)
    return visit.page(
        "lead_person.html.j2",
        here,
        page=PEOPLE,
        one=row | _facts_by_name(visit)(name),
        is_invited=name in visit.study.access.invited(),
        terms=next(terms for terms in visit.study.access.terms() if terms["name"] == name),
        reading=next((read for entry, read in here.monitor.exposures() if entry.name == name), None),
        scores=[score for score in here.grid.desk.known_scores() if score["name"] == name],
        standings=STANDINGS,
        limits=visit.context.annotate,
    )


def uninvited_people(study: Study) -> list[str]:
    """The names of those who take part and have no link yet."""
    left_out = study.access.invited()
    people = (person for person in study.people if not person.retired and person.role is not Role.MODEL)
    return [person.name for person in people if person.name not in left_out]


@router.get("/lead/people/{name}/{act}")
def confirm(visit: LeadVisit, name: str, act: str) -> Response:
    """Show what an act would do, and the button that does it."""
    if act != INVITE:
        _find_act(act)
    row = _find_row(visit, name)
    others = (other for other in visit.study.people if not other.retired and other.name != name)
    heirs = [other.name for other in others if other.role == row["role"]]  # who could take the work over
    has_link = name in visit.study.access.invited()
    values = {"one": row, "act": act, "heirs": heirs, "roles": ROLES, "has_link": has_link}
    return visit.page("lead_confirm.html.j2", visit.here, **values)


def _find_act(act: str) -> Act:
    if act not in ACTS:
        unknown = mark("there is no action `%(name)s` for people; expected one of %(names)s")
        raise UnknownIdError.say(unknown, name=act, names=[*ACTS, INVITE])
    return ACTS[act]


@router.post(PEOPLE.path)
def add(visit: LeadVisit, people: Text = "", role: Text = Role.ANNOTATOR.value) -> Response:
    """Add all people of a list and show their links, or none of them and say what is wrong with it."""
    try:
        roles = parse_people(people, parse_role(role), {person.name for person in visit.study.people}, visit.language)
        with visit.study.acting_as(visit.visitor.name):
            tokens = visit.study.access.add_all(roles)
    except REFUSALS as refusal:
        return _show_people(visit.refused(refusal), role=role, pasted=people)
    return _show_links(visit, tokens, is_new=True)


@router.post("/lead/people/links")
@router.post(f"{START}/links")
def invite_others(visit: LeadVisit) -> Response:
    """Make a link for everybody who takes part and has none, and show them this once."""
    with visit.study.acting_as(visit.visitor.name):
        return _show_links(visit, visit.study.access.invite_all())


@router.post("/lead/people/{name}/invite")
def invite(visit: LeadVisit, name: str) -> Response:
    """Make a new link, and show it this once."""
    if name == visit.visitor.name:
        raise InputError(NOT_ONESELF)
    with visit.study.acting_as(visit.visitor.name):
        return _show_links(visit, {name: visit.study.access.invite(name)})


@router.post("/lead/people/{name}/{act}")
def do(visit: LeadVisit, name: str, act: str) -> Response:
    """Do it, and show what was done."""
    do_act = _find_act(act)
    if name == visit.visitor.name and act not in ("forget", "hand-over"):
        raise InputError(NOT_ONESELF)
    return visit.act(lambda: do_act(visit, name), PEOPLE.path)


def parse_pairs(n: str) -> int | None:
    """A number of pairs from a form, None for all; raises InputError where it is no number."""
    if not n.strip():
        return None
    if (number := parse_number(n)) is None:
        raise InputError.say("`%(text)s` is no number of pairs; expected a whole number, or nothing for all", text=n)
    return number


def parse_role(role: str) -> Role:
    """A role from a form; raises InputError where it is none that people have."""
    if role not in ROLES:
        roles = [*map(say, ROLES)]
        raise InputError.say("there is no role `%(name)s`; expected one of %(roles)s", name=role, roles=roles)
    return Role(role)


def _show_links(visit: Visit, tokens: Mapping[str, str], *, is_new: bool = False) -> Response:
    import segno

    from fcpair.files.tables.tabular import format_csv

    roles = {person.name: person.role.value for person in visit.study.people}
    rows = [(name, roles[name], invite_link(visit.context.url, token)) for name, token in tokens.items()]
    # The mail is in the language in which they will read the pages.
    language, title = LANGUAGES[visit.study.page_language()], visit.context.facts["title"]
    invited = mark("you are invited to take part as %(role)s. This link lets you in, on any device:")
    if title:
        invited = mark("you are invited to take part in “%(title)s” as %(role)s. This link lets you in, on any device:")
    links = []
    for name, role, link in rows:
        invitation = language.gettext(invited, title=title, role=language.find(role))
        mail = "\n\n".join((language.gettext(HELLO, name=name), invitation, link, language.find(YOURS_ALONE)))
        # In an address that nothing caches or logs. Dark on light in every theme, with the margin of four modules that
        # ISO/IEC 18004 asks for, as many cameras read no other.
        code = segno.make_qr(link, error="m") if len(rows) <= MOST_CODES else None
        address = code.svg_data_uri(scale=4, border=4, light="#fff") if code else ""
        links.append({"name": name, "role": role, "link": link, "mail": mail, "code": address})
    table = f"data:text/csv;charset=utf-8,{quote(format_csv([('name', 'role', 'link'), *rows]))}"
    values = {"links": links, "mail_language": language, "most_codes": MOST_CODES, "is_new": is_new, "table": table}
    return visit.page("lead_links.html.j2", visit.here, **values)


def parse_people(pasted: str, usual: Role, existing: set[str], language: Language) -> dict[str, Role]:
    """The people of a pasted list, each with their role: a line has a name, and after a comma or a tab a role, in
    English or in a language, if it is not the `usual` one. Raises InputError that lists every line that cannot be.
    """
    role_by_word = {word: Role(role) for role in ROLES for word in (role, language.find(role))}
    roles: dict[str, Role] = {}
    role_names, problems = [*map(say, ROLES)], []
    for number, line in enumerate(pasted.splitlines(), 1):
        name, _, role = (part.strip() for part in line.translate(COMMAS).partition(","))
        if not name and not role:
            continue
        problem = ""
        if not name:
            problem = mark("line %(number)s has no name")
        elif role not in {"", *role_by_word}:
            problem = mark("line %(number)s: `%(role)s` is no role; expected one of %(roles)s")
        elif name in roles:
            problem = mark("line %(number)s: `%(name)s` is in the list already")
        elif name in existing:
            problem = mark("line %(number)s: `%(name)s` already takes part in the study; choose another pseudonym")
        else:
            roles[name] = role_by_word[role] if role else usual
        if problem:
            problems.append(say(problem, number=number, name=name, role=role, roles=role_names))
    if problems:
        raise InputError(join(problems, "; "))
    if not roles:
        raise InputError.say("there is no name in the list; write one person on each line")
    return roles
