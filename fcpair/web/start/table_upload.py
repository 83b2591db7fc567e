"""Uploading the table that a study starts from: it goes to a file as it comes, and is kept when it is a table."""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from fcpair.errors import FcpairError, InputError, StudyError
from fcpair.records import Role, Visitor
from fcpair.start_draft import ColumnsDraft, TableDraft
from fcpair.web.auth import open_to
from fcpair.web.context import START, context_of
from fcpair.web.errors import status_of
from fcpair.web.form import parse_number
from fcpair.web.server.security import UPLOAD_TABLE
from fcpair.web.start.draft_pages import StepVisit, due_step, start_of, step_of

if TYPE_CHECKING:
    from fcpair.web.server.worker import ReportWorker

router = APIRouter(include_in_schema=False)
MOST_UPLOAD = 50 * 1024 * 1024
PATIENCE_S = 600.0
LONGEST_NAME = 255
TOO_LARGE = (
    "the file has more than {:,} MB, which is the limit here; leave out rows or columns that the study does not need, "
    "or use `fcpair run` on the server"
)
EMPTY = "the file is empty; choose one with a row of column names and at least one pair"
DISK_FULL = "the server's disk is full or read-only; make room there, or tell those who run it, and send the file again"
TOO_SLOW = "the file came in too slowly; try again with a better connection"
GONE = "there is no such file any more; upload the table again"
MEGABYTE = 1024 * 1024
KEEP = f"{START}/keep"
UPLOADED = re.compile(r"[0-9a-f]{16}\.[a-z]+")


@router.get(f"{START}/table")
@open_to(Role.LEAD)
@due_step(TableDraft.step)
def table(visit: StepVisit) -> Response:
    """Show where a table is uploaded, and the one that was."""
    return visit.show(most=MOST_UPLOAD)


@router.post(UPLOAD_TABLE[1])
@open_to(Role.LEAD)
async def upload(request: Request, name: str = "", seen: str = "", kind: str = "pairs") -> Response:
    """Take a table, whose bytes are the body; answers with the address of the next step, or what is wrong.

    Of it pairs are made, or a survey, by its `kind`.
    """
    visitor = await run_in_threadpool(context_of(request).door.require_visitor, request)
    begun = start_of(request)
    try:
        path = await run_in_threadpool(begun.new_table, name[:LONGEST_NAME])
    except FcpairError as error:
        return await run_in_threadpool(_refusal, request, visitor, error)
    try:
        await receive_file(request, path, MOST_UPLOAD, too_large=TOO_LARGE, empty=EMPTY)
        kept = await _have_kept(request, visitor, path, name[:LONGEST_NAME], seen, kind)
    except FcpairError as error:
        path.unlink()
        return await run_in_threadpool(_refusal, request, visitor, error)
    except ClientDisconnect:
        path.unlink()
        return Response(status_code=HTTPStatus.BAD_REQUEST)
    except BaseException:
        path.unlink()
        raise
    if kept.status_code != HTTPStatus.OK:
        path.unlink()
    return kept


async def _have_kept(request: Request, visitor: Visitor, path: Path, name: str, seen: str, kind: str) -> Response:
    """Have the file kept by the process that looks, where there is one: reading tables takes much memory."""
    worker: ReportWorker | None = getattr(request.app.state, "aside", None)
    if worker is None:
        return await run_in_threadpool(_keep, request, visitor, path, name, seen, kind)
    query = urlencode({"file": path.name, "name": name, "seen": seen, "kind": kind}).encode()
    return await worker.forward({**request.scope, "path": KEEP, "raw_path": KEEP.encode(), "query_string": query})


@router.post(KEEP)
@open_to(Role.LEAD)
def keep(request: Request, file: str = "", name: str = "", seen: str = "", kind: str = "pairs") -> Response:
    """Let the draft have a table that was uploaded."""
    visitor = context_of(request).door.require_visitor(request)
    begun = start_of(request)
    if not UPLOADED.fullmatch(file) or not (begun.folder / file).is_file():
        return _refusal(request, visitor, InputError(GONE))
    return _keep(request, visitor, begun.folder / file, name[:LONGEST_NAME], seen, kind)


def _keep(request: Request, visitor: Visitor, path: Path, name: str, seen: str, kind: Any) -> Response:
    """Let the draft have the table, in the place of an earlier one, whose file goes."""
    begun = start_of(request)
    earlier = begun.draft().table
    try:
        draft = begun.save(TableDraft(path.name, name, kind), by=visitor.name, seen=parse_number(seen) or 0)
    except FcpairError as error:
        return _refusal(request, visitor, error)
    if earlier is not None and earlier.file != path.name:
        (path.parent / earlier.file).unlink(missing_ok=True)
    return PlainTextResponse(step_of(draft, ColumnsDraft.step).address)


async def receive_file(request: Request, path: Path, most: int, *, too_large: str, empty: str) -> None:
    """Write the body to the file.

    Raises InputError where it has more than `most` bytes, is too slow or empty, StudyError where the disk is full.
    """
    refusal = InputError(too_large.format(most // MEGABYTE))
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
        raise InputError(empty)


def _refusal(request: Request, visitor: Visitor, error: FcpairError) -> Response:
    """What is wrong, as its script shows it: in the language of the page."""
    context = context_of(request)
    language = context.language_of(request, visitor)
    return PlainTextResponse(context.translate_sentence(str(error), visitor, language), status_of(error))
