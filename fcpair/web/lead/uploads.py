"""Answers that were given elsewhere, taken back in: a sheet or an export is sent, looked through, and then recorded."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool

from fcpair.errors import ConflictError, UnknownIdError
from fcpair.files.exchange.catalogue import TOOLS
from fcpair.files.tables.folders import digest_file
from fcpair.grid import ImportForecast
from fcpair.records import Role, RunRecord
from fcpair.sentences import mark, say
from fcpair.web.current_grid import UPLOADS, CurrentGrid
from fcpair.web.form import Text
from fcpair.web.lead.evaluation import begin_act
from fcpair.web.server.child_process import IMPORT
from fcpair.web.server.held_files import HeldFile, HeldFiles
from fcpair.web.server.security import UPLOAD_ANSWERS
from fcpair.web.start import take_file
from fcpair.web.visits import LeadVisit, Visit, go_to

router = APIRouter(include_in_schema=False)
IMPORTS = "/lead/imports"
MOST_UPLOAD = 50 * 1024 * 1024
LARGE = 2 * 1024 * 1024  # bytes: what takes longer than a page may is done in a process of its own
TOO_LARGE = mark("the file has more than %(number)s MB, which is the limit here; send it in parts")
EMPTY = say("the file is empty; choose a sheet that is filled in, or the export of an annotation tool")
CHANGED = say("the study or the file has changed since this page was shown; look at it again")


def _held_files(visit: Visit) -> HeldFiles:
    return HeldFiles(visit.study.start.folder, "answers")


def readers_of(here: CurrentGrid) -> dict[str, str]:
    """What can be taken in, by the name of what reads it."""
    sheets = {"cells": mark("Sheets of a round")} if here.is_planned else {"pairs": mark("Sheets of annotators")}
    checked = {"verdicts": mark("Sheets of validators")} if here.has_labels else {}
    return {**sheets, **checked, **{name: tool.title for name, tool in TOOLS.items()}}


@router.get(UPLOADS.path)
def uploads(visit: LeadVisit, run: int = 0) -> Response:
    """Show where a file is sent, and those that were sent and not recorded."""
    values = {"held": _held_files(visit).all(), "reader": "", "round": ""}
    return visit.lead_page("lead_uploads.html.j2", UPLOADS, run, **values, **_choices(visit))


def _choices(visit: Visit) -> dict[str, Any]:
    rounds = visit.overview["rounds"] if visit.here.is_planned else ()
    by_people = [round_["name"] for round_ in rounds if round_["role"] not in (Role.VALIDATOR, Role.MODEL)]
    return {"readers": readers_of(visit.here), "rounds": by_people, "most": MOST_UPLOAD}


@router.post(UPLOAD_ANSWERS[1])
async def upload(visit: LeadVisit, name: str = "", reader: str = "", round: str = "", instead: str = "") -> Response:
    """Take a file, `instead` of one that was sent before, and answer with the page that says what it would do."""
    held = await run_in_threadpool(_held_files(visit).new, name)

    async def look_through() -> Response:
        with suppress(UnknownIdError):
            _held_files(visit).find(instead).discard()
        return PlainTextResponse(visit.here.address(f"{UPLOADS.path}/{held.token}", reader=reader, round=round))

    return await take_file(visit, held.path, (MOST_UPLOAD, TOO_LARGE, EMPTY), look_through, held.discard)


@router.get(f"{UPLOADS.path}/{{token}}")
def check(visit: LeadVisit, token: str, reader: str = "", round: str = "") -> Response:
    """Show what recording a file would do, and the button that does it."""
    held, choices = _held_files(visit).find(token), _choices(visit)
    if reader not in (readers := choices["readers"]):
        raise UnknownIdError.say("nothing here reads `%(name)s`; there are %(names)s", name=reader, names=[*readers])
    forecast = visit.here.grid.desk.forecast_import(**_values(held, reader, round))
    return visit.lead_page(
        "lead_upload.html.j2",
        UPLOADS,
        held=held,
        seen=_seen(held, forecast),
        reader=reader,
        tool=TOOLS.get(reader),
        round=round,
        forecast=forecast,
        refused=getattr(forecast.refusal, "findings", ()),
        why=held.hide_folder(forecast.refusal.args[0]) if forecast.refusal else "",
        users=held.users.read_text("utf-8") if held.users.is_file() else "",
        is_large=held.path.stat().st_size > LARGE,
        **choices,
    )


def _seen(held: HeldFile, forecast: ImportForecast) -> str:
    """What a lead has seen who records a file: its digest, and how many answers it replaces."""
    return f"{digest_file(held.path)} {forecast.counts.get('superseded', 0)}"


def _values(held: HeldFile, reader: str, round: str) -> dict[str, Any]:
    users = held.users if held.users.is_file() else None
    return {"path": held.path, "reader": reader, "round": round or None, "people": users}


@router.post(f"{UPLOADS.path}/{{token}}/users")
def save_users(visit: LeadVisit, token: str, reader: Text = "", round: Text = "", users: Text = "") -> Response:
    """Keep which user of a tool is which person, and look through the export again."""
    held = _held_files(visit).find(token)
    held.users.parent.mkdir(mode=0o700, exist_ok=True)
    lines = [line.strip() for line in users.splitlines() if line.strip()]
    header = [] if lines and lines[0].replace(" ", "").lower() == "user,annotator" else ["user,annotator"]
    held.users.write_text("\n".join([*header, *lines, ""]), "utf-8")
    return go_to(visit.here.address(f"{UPLOADS.path}/{token}", reader=reader, round=round))


@router.post(f"{UPLOADS.path}/{{token}}/discard")
def discard(visit: LeadVisit, token: str) -> Response:
    """Delete a file that was sent."""
    _held_files(visit).find(token).discard()
    return go_to(visit.here.address(UPLOADS.path))


@router.post(f"{UPLOADS.path}/{{token}}")
def record(visit: LeadVisit, token: str, reader: Text = "", round: Text = "", seen: Text = "") -> Response:
    """Record the answers of a file, if it is the one that was shown, and would do what was said."""
    held, desk = _held_files(visit).find(token), visit.here.grid.desk
    values = _values(held, reader, round)
    forecast = desk.forecast_import(**values)
    if forecast.refusal or seen != _seen(held, forecast):
        return check(visit.refused(ConflictError(CHANGED)), token, reader, round)

    def act() -> RunRecord:
        run = desk.import_file(**values, supersede=forecast.counts.get("superseded", 0) > 0)
        held.discard()
        return run

    return visit.act(act, IMPORTS)


@router.post(f"{UPLOADS.path}/begin/{{token}}")
def begin(visit: LeadVisit, token: str, reader: Text = "", round: Text = "", seen: Text = "") -> Response:
    """Have the answers of a large file recorded, if it is the one that was shown."""
    held = _held_files(visit).find(token)
    digest, _, n_superseded = seen.partition(" ")
    if digest != digest_file(held.path):
        raise ConflictError(CHANGED)
    return begin_act(
        visit, IMPORT, {**_values(held, reader, round), "supersede": n_superseded != "0"}, held.path.parent
    )
