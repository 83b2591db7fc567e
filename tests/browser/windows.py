"""Windows of the browser, watched: what goes elsewhere, or wrong without a word on the page, fails the test."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, WebError

HERE = "127.0.0.1"
WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 667}
PATIENCE_MS = 15_000


@dataclass
class Watch:
    """What one window did that it should not do."""

    forgiven: tuple[str, ...] = ()
    seen: list[str] = field(default_factory=list)

    def follow(self, context: BrowserContext) -> None:
        """Watch every page of the window."""
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.seen.append(f"console: {message.text}")

    def _error(self, error: WebError) -> None:
        self.seen.append(f"error: {error.error}")

    def _request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in {"data", "blob"} and address.hostname != HERE:
            self.seen.append(f"request: {request.url}")

    @property
    def problems(self) -> list[str]:
        """What was not to be expected."""
        return [one for one in self.seen if not any(re.search(pattern, one) for pattern in self.forgiven)]


class Windows:
    """Opens windows; each is somebody's own browser, which knows nothing of the others."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._open: list[tuple[BrowserContext, Watch]] = []

    def open(self, url: str, token: str | None = None, *, forgive: tuple[str, ...] = (), **options: Any) -> Page:
        """An empty page, let in at a server by `token` if one is given; `forgive` lists what the console may say."""
        options = {"viewport": WIDE, "reduced_motion": "reduce", "base_url": url, **options}
        context = self._browser.new_context(**options)
        context.set_default_timeout(PATIENCE_MS)
        watch = Watch(forgive)
        watch.follow(context)
        self._open.append((context, watch))
        page = context.new_page()
        if token is not None:
            assert context.request.post("/join", form={"token": token}, max_redirects=0).status == 303
        return page

    def close(self) -> list[str]:
        """Close them all; what was wrong in any."""
        for context, _ in self._open:
            context.close()
        return [problem for _, watch in self._open for problem in watch.problems]


def come_in(page: Page, token: str) -> None:
    """Open an invite link, and wait until it has led in."""
    page.goto(f"/join#{token}")
    page.wait_for_url(lambda url: urlsplit(url).path != "/join")
