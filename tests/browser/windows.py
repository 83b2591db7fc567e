"""Windows of the browser, watched: what goes elsewhere, or wrong without a word on the page, fails the test."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, WebError

from browser.acts import HASTE_MS, PATIENCE_MS, await_pair, resize
from browser.hosts import Host
from fcpair.params import Annotate
from fcpair.study import Study

HERE = "127.0.0.1"
WIDE, LAPTOP = {"width": 1280, "height": 900}, {"width": 1440, "height": 900}
PHONE, SMALL = {"width": 375, "height": 667}, {"width": 320, "height": 568}
TOUCH: dict[str, Any] = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
CUT = (r"net::ERR_\w+", "status of (403|503)", "when fetching the script")  # which the browser tells in its console
REFUSED = ("status of 40[0139]", *CUT)


@dataclass
class Watch:
    """What one window did that it should not do."""

    forgiven: tuple[str, ...] = ()
    seen: list[str] = field(default_factory=list)

    def follow(self, context: BrowserContext) -> None:
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

    def show(self, host: Host, who: str, path: str, *, consent: bool = True, **options: Any) -> Page:
        """A page as somebody sees it in a window of their own, who answers yes to what the browser asks."""
        page = self.open(host.url, host.token(who, consent=consent), **options)
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(path)
        return page

    def sit(self, host: Host, who: str, path: str = "/annotate", **options: Any) -> Page:
        """The desk of somebody, when it takes answers."""
        page = self.show(host, who, path, **options)
        await_pair(page)
        page.wait_for_timeout(HASTE_MS)
        return page

    def close(self) -> list[str]:
        """Close them all; what was wrong in any."""
        for context, _ in self._open:
            context.close()
        return [problem for _, watch in self._open for problem in watch.problems]


class Shown:
    """Pages that tests only look at: a study is served once for all of them, and each visitor keeps one window."""

    def __init__(self, browser: Browser, folder: Path, terms: Annotate, files: dict[str, Path]) -> None:
        self._windows, self._folder, self._terms, self._files = Windows(browser), folder, terms, files
        self._hosts: dict[Path, Host] = {}
        self._pages: dict[tuple[object, ...], Page] = {}

    def host(self, stage: str, before: Callable[[Study], object] = lambda study: None) -> Host:
        """A server of the small study after a stage; `before` is done to that when it is served for the first time."""
        path = self._files[stage]
        if path not in self._hosts:
            study = Study(shutil.copy(path, self._folder / f"study-{len(self._hosts)}.db"))
            self._hosts[path] = Host(study, self._terms)
            before(study)
        return self._hosts[path]

    def page(self, host: Host, who: str, *, size: dict[str, int] = WIDE, consent: bool = True, **options: Any) -> Page:
        """The window of somebody, or of a stranger, made as large as that; what it shows is to be opened anew."""
        key = (host.url, who, consent, repr(options))
        if key not in self._pages:
            token = host.token(who, consent=consent) if who else None
            self._pages[key] = self._windows.open(host.url, token, **options)
        resize(self._pages[key], size)
        return self._pages[key]

    def close(self) -> list[str]:
        """Close all; what was wrong in any window."""
        problems = self._windows.close()
        for host in self._hosts.values():
            host.close()
        return problems
