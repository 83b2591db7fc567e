"""Files by which the desk opens without a connection: the service worker, the manifest, and pages for all others."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from fcpair.web.server.static_files import static_files
from fcpair.web.visits import WorkerVisit

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
def manifest(visit: WorkerVisit) -> Response:
    """Send the manifest: how the desk looks among the apps of a phone."""
    static: Any = visit.context.templates.globals["static"]
    icons = [{"src": static(name), "type": kind, "sizes": sizes} for name, (kind, sizes) in ICONS.items()]
    name = visit.context.facts["title"] or "fcpair"
    content = {"name": name, "start_url": "/", "scope": "/", "display": "standalone", "icons": icons}
    return JSONResponse(content, media_type="application/manifest+json")


@router.get("/offline")
@router.get("/offline/form")
@router.get("/offline/leave")
def stand_in(visit: WorkerVisit) -> Response:
    """Show the page that stands in for one that needs the server, which may follow a form; it names nobody."""
    name = visit.request.url.path.strip("/").replace("/", "_")
    return visit.context.page(visit.request, None, f"{name}.html.j2", language=visit.language)
