"""Files by which the desk opens without a connection: the service worker, the manifest, and pages for all others."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from fcpair.records import WORKERS
from fcpair.web.auth import open_to
from fcpair.web.context import Context, context_of
from fcpair.web.server.static_files import static_files

router = APIRouter(include_in_schema=False)
ICONS = {
    "icon.svg": ("image/svg+xml", "any"),
    "icon-192.png": ("image/png", "192x192"),
    "icon-512.png": ("image/png", "512x512"),
}


@router.get("/worker.js")
def worker(request: Request) -> Response:
    """The service worker: here and not under /static, as it may serve only what lies beside or below it."""
    return static_files()["worker.js"].respond(request)


@router.get("/manifest.webmanifest")
@open_to(*WORKERS)
def manifest(request: Request) -> Response:
    """Send the manifest: how the desk looks among the apps of a phone."""
    context = context_of(request)
    context.door.require_visitor(request)
    return JSONResponse(_manifest(context), media_type="application/manifest+json")


@router.get("/offline")
@open_to(*WORKERS)
def no_connection(request: Request) -> Response:
    """Show the page that stands in for one that needs the server; it names nobody."""
    context = context_of(request)
    language = context.language(context.door.require_visitor(request))
    return context.page(request, None, "offline.html.j2", language=language)


@router.get("/offline/form")
@open_to(*WORKERS)
def not_sent(request: Request) -> Response:
    """Show the page that follows a form that did not reach the server."""
    context = context_of(request)
    language = context.language(context.door.require_visitor(request))
    return context.page(request, None, "offline_form.html.j2", language=language)


@router.get("/offline/leave")
@open_to(*WORKERS)
def not_left(request: Request) -> Response:
    """Show the page for somebody who wanted to leave, and did not reach the server."""
    context = context_of(request)
    language = context.language(context.door.require_visitor(request))
    return context.page(request, None, "offline_leave.html.j2", language=language)


def _manifest(context: Context) -> dict[str, Any]:
    static: Any = context.templates.globals["static"]
    icons = [{"src": static(name), "type": kind, "sizes": sizes} for name, (kind, sizes) in ICONS.items()]
    name = context.facts["title"] or "fcpair"
    return {"name": name, "start_url": "/", "scope": "/", "display": "standalone", "icons": icons}
