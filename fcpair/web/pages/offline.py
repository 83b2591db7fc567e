"""What lets the desk open without a connection: the service worker, the manifest, and the pages for all others."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, JSONResponse

from fcpair.records import WORKERS
from fcpair.web.auth import open_to
from fcpair.web.context import STATIC, Context

ICONS = {
    "icon.svg": ("image/svg+xml", "any"),
    "icon-192.png": ("image/png", "192x192"),
    "icon-512.png": ("image/png", "512x512"),
}


def router(context: Context) -> APIRouter:
    """GET /worker.js, /manifest.webmanifest, /offline, /offline/form and /offline/leave."""
    routes = APIRouter()
    door = context.door

    @routes.get("/worker.js")
    def worker() -> Response:
        """The service worker: here and not under /static, as it may serve only what lies beside or below it."""
        return FileResponse(STATIC / "worker.js", media_type="text/javascript")

    @routes.get("/manifest.webmanifest")
    @open_to(*WORKERS)
    def manifest(request: Request) -> Response:
        """How the desk looks among the apps of a phone."""
        door.require_visitor(request)
        return JSONResponse(_manifest(context), media_type="application/manifest+json")

    @routes.get("/offline")
    @open_to(*WORKERS)
    def no_connection(request: Request) -> Response:
        """What is shown instead of a page that needs the server; it names nobody."""
        door.require_visitor(request)
        return context.page(request, None, "offline.html.j2")

    @routes.get("/offline/form")
    @open_to(*WORKERS)
    def not_sent(request: Request) -> Response:
        """What is shown after a form that did not reach the server."""
        door.require_visitor(request)
        return context.page(request, None, "offline_form.html.j2")

    @routes.get("/offline/leave")
    @open_to(*WORKERS)
    def not_left(request: Request) -> Response:
        """What is shown to who wanted to leave, and did not reach the server."""
        door.require_visitor(request)
        return context.page(request, None, "offline_leave.html.j2")

    return routes


def _manifest(context: Context) -> dict[str, Any]:
    static: Any = context.templates.globals["static"]
    icons = [{"src": static(name), "type": kind, "sizes": sizes} for name, (kind, sizes) in ICONS.items()]
    name = context.facts["title"] or "fcpair"
    return {"name": name, "start_url": "/", "scope": "/", "display": "standalone", "icons": icons}
