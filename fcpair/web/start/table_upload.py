"""Uploading the table that a study starts from: it goes to a file as it comes, and is kept when it is a table."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from fcpair.errors import FcpairError, InputError, StudyError
from fcpair.sentences import mark, say
from fcpair.start_draft import ColumnsDraft, TableDraft
from fcpair.web.context import START
from fcpair.web.form import parse_number
from fcpair.web.server.admission import Kind
from fcpair.web.server.security import UPLOAD_TABLE
from fcpair.web.server.worker import ReportWorker
from fcpair.web.start.draft_pages import StepVisit, step_of
from fcpair.web.visits import LeadVisit, Visit, status_of

router = APIRouter(include_in_schema=False)
MOST_UPLOAD = 50 * 1024 * 1024
PATIENCE_S = 600.0
LONGEST_NAME = 255
MEGABYTE = 1024 * 1024
TOO_LARGE = mark(
    "the file has more than %(number)s MB, which is the limit here; leave out rows or columns that the study does not "
    "need, or use `fcpair run` on the server"
)
EMPTY = say("the file is empty; choose one with a row of column names and at least one pair")
DISK_FULL = say(
    "the server's disk is full or read-only; make room there, or tell those who run it, and send the file again"
)
TOO_SLOW = say("the file came in too slowly; try again with a better connection")
GONE = say("there is no such file any more; upload the table again")
KEEP = f"{START}/keep"
UPLOADED = re.compile(r"[0-9a-f]{16}\.[a-z]+")


@router.get(f"{START}/table")
def table(visit: Annotated[StepVisit, StepVisit.due(TableDraft.step)]) -> Response:
    """Show where a table is uploaded, and the one that was."""
    return visit.show(most=MOST_UPLOAD)


@router.post(UPLOAD_TABLE[1])
async def upload(visit: LeadVisit, name: str = "", seen: str = "", kind: str = "pairs") -> Response:
    """Take a table, whose bytes are the body; answers with the address of the next step, or what is wrong.

    Of it pairs are made, or a survey, by its `kind`.
    """
    try:
        path = await run_in_threadpool(visit.study.start.new_table, name[:LONGEST_NAME])
    except FcpairError as error:
        return await run_in_threadpool(_refusal, visit, error)

    async def have_kept() -> Response:
        """Have the file kept by the process that looks, where there is one: reading tables takes much memory."""
        worker: ReportWorker | None = visit.request.app.state.workers.get(Kind.LOOK)
        if worker is None:
            return await run_in_threadpool(_keep, visit, path, name[:LONGEST_NAME], seen, kind)
        query = {"file": path.name, "name": name[:LONGEST_NAME], "seen": seen, "kind": kind}
        address = {"path": KEEP, "raw_path": KEEP.encode(), "query_string": urlencode(query).encode()}
        return await worker.forward({**visit.request.scope, **address})

    return await take_file(visit, path, UploadLimits(MOST_UPLOAD, TOO_LARGE, EMPTY), have_kept, path.unlink)


@router.post(KEEP)
def keep(visit: LeadVisit, file: str = "", name: str = "", seen: str = "", kind: str = "pairs") -> Response:
    """Let the draft have a table that was uploaded."""
    begun = visit.study.start
    if not UPLOADED.fullmatch(file) or not (begun.folder / file).is_file():
        return _refusal(visit, InputError(GONE))
    return _keep(visit, begun.folder / file, name[:LONGEST_NAME], seen, kind)


def _keep(visit: Visit, path: Path, name: str, seen: str, kind: Any) -> Response:
    """Let the draft have the table, in the place of an earlier one, whose file goes."""
    begun = visit.study.start
    earlier = begun.draft().table
    try:
        draft = begun.save(TableDraft(path.name, name, kind), by=visit.visitor.name, seen=parse_number(seen) or 0)
    except FcpairError as error:
        return _refusal(visit, error)
    if earlier is not None and earlier.file != path.name:
        (path.parent / earlier.file).unlink(missing_ok=True)
    return PlainTextResponse(step_of(draft, ColumnsDraft.step).address)


class UploadLimits(NamedTuple):
    """How many bytes a file may have, and the messages for one that has more, or none."""

    most: int
    too_large: str
    empty: str


async def take_file(
    visit: Visit,
    path: Path,
    limits: UploadLimits,
    use: Callable[[], Awaitable[Response]],
    discard: Callable[[], object],
) -> Response:
    """Write the body to a file, and answer with what `use` makes of it; where that is not OK, `discard` the file."""
    response = Response(status_code=HTTPStatus.BAD_REQUEST)  # which nobody reads any more
    try:
        await _receive(visit.request, path, limits)
        response = await use()
    except FcpairError as error:
        response = await run_in_threadpool(_refusal, visit, error)
    except ClientDisconnect:
        pass
    finally:
        if response.status_code != HTTPStatus.OK:
            discard()
    return response


async def _receive(request: Request, path: Path, limits: UploadLimits) -> None:
    """Write the body to the file.

    Raises InputError where it is too large, too slow or empty, StudyError where the disk is full.
    """
    most, refusal = limits.most, InputError.say(limits.too_large, number=limits.most // MEGABYTE)
    if (parse_number(request.headers.get("content-length", "0")) or 0) > most:
        raise refusal
    n_bytes = 0
    try:
        with path.open("wb") as file:
            async with asyncio.timeout(PATIENCE_S):
                async for chunk in request.stream():
                    n_bytes += len(chunk)
                    if n_bytes > most:
                        raise refusal
                    await run_in_threadpool(file.write, chunk)
    except TimeoutError:
        raise InputError(TOO_SLOW) from None
    except OSError as error:
        raise StudyError(DISK_FULL) from error
    if not n_bytes:
        raise InputError(limits.empty)


def _refusal(visit: Visit, error: FcpairError) -> Response:
    """What is wrong, as its script shows it: in the language of the page."""
    return PlainTextResponse(visit.translate(str(error)), status_of(error))
