"""Pages that tests only look at: a study is served once for all of them, and each visitor keeps one window."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from browser.hosts import Host
from browser.windows import WIDE, Windows
from fcpair.params import Annotate
from fcpair.study import Study


class Shown:
    """Servers of copies of studies, and the windows of who looks at them."""

    def __init__(self, browser: Browser, folder: Path, terms: Annotate) -> None:
        self._windows, self._folder, self._terms = Windows(browser), folder, terms
        self._hosts: dict[Path, Host] = {}
        self._pages: dict[tuple[object, ...], Page] = {}

    def host(self, path: Path, before: Callable[[Study], object] = lambda study: None) -> Host:
        """A server of a copy of a study; `before` is done to that when it is served for the first time."""
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
        page = self._pages[key]
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        return page

    def close(self) -> list[str]:
        """Close all; what was wrong in any window."""
        problems = self._windows.close()
        for host in self._hosts.values():
            host.close()
        return problems
