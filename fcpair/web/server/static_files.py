"""The static files, as they are sent: scripts joined, everything but pictures compressed, kept by their content's hash.

They are the same for everybody and hold no secret. Each is compressed once, when it is first asked for.

A script is joined with the modules that it imports, without comments, as style sheets are: a first visit takes 18
requests and 77 kB in place of 32 and 248 (`benchmarks page_weight`). Each module becomes a function that gives what it
exports, so that names never meet. Two scripts of one page must not import the same module: each would have its own.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from http import HTTPStatus
from mimetypes import guess_type
from pathlib import Path

from fastapi import HTTPException, Request, Response
from starlette.types import Receive, Scope, Send

from fcpair.web.form import takes_gzip
from fcpair.web.languages import LANGUAGES

FOLDER = Path(__file__).parent.parent / "static"
SCRIPT = "text/javascript"
PICTURE = "image/png"
NOT_JOINED = ("vendor/", "worker.js")  # classic scripts
_IMPORT = re.compile(r'^import (?:\{([\w\s,$]*)\} from )?"\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?s:.*?)\*/)\n", re.MULTILINE)  # whole lines; a fifth of a browser's fetch
_OTHER = re.compile(r"^(?:import|export)\b.*|\bimport\(.*", re.MULTILINE)


@dataclass(frozen=True)
class StaticFile:
    """One file: its version, which changes with its content, the media type, and how to get the content."""

    version: str
    media_type: str
    load: Callable[[], bytes]

    @classmethod
    def of(cls, content: bytes, media_type: str) -> StaticFile:
        """The file with this content; its version is a hash of that."""
        return cls(hashlib.sha256(content).hexdigest()[:12], media_type, lambda: content)

    @cached_property
    def content(self) -> bytes:
        """The content as it is sent."""
        return self.load()

    @cached_property
    def compressed(self) -> bytes | None:
        """The content as gzip; None where that is no gain."""
        return None if self.media_type == PICTURE else gzip.compress(self.content, mtime=0)

    def respond(self, request: Request) -> Response:
        """The response to a request for the file: compressed if the client takes that, empty if it has the file."""
        content = self.compressed if takes_gzip(request) else None
        etag = f'"{self.version}{"" if content is None else "-gzip"}"'
        headers = {"etag": etag, "vary": "accept-encoding"}
        if etag in map(str.strip, request.headers.get("if-none-match", "").split(",")):
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        if content is not None:
            headers["content-encoding"] = "gzip"
        return Response(self.content if content is None else content, media_type=self.media_type, headers=headers)


class StaticFiles:
    """The app that serves the static files; in `versions`, the version of each by its name below the folder."""

    def __init__(self, folder: Path) -> None:
        self._files: dict[str, StaticFile] = {}
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name, is_script = path.relative_to(folder).as_posix(), path.suffix == ".js"
            is_joined = path.suffix in {".js", ".css"} and not name.startswith(NOT_JOINED)
            content = join_script(path).encode() if is_joined else path.read_bytes()
            media_type = SCRIPT if is_script else guess_type(path.name)[0] or "text/plain"
            self._files[name] = StaticFile.of(content, media_type)
        for code, language in LANGUAGES.items():  # of whose scripts only the version is needed at first
            for name, leads in ((code, False), (f"{code}-lead", True)):
                make = partial(language.script, leads=leads)
                self._files[f"language/{name}.js"] = StaticFile(language.script_version, SCRIPT, make)
        self.versions = {name: file.version for name, file in self._files.items()}

    def __getitem__(self, name: str) -> StaticFile:
        """The file of this name."""
        return self._files[name]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a file."""
        request = Request(scope)
        if request.method not in {"GET", "HEAD"}:
            raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, headers={"allow": "GET, HEAD"})
        file = self._files.get(scope["path"].removeprefix(scope.get("root_path", "")).lstrip("/"))
        if file is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        await file.respond(request)(scope, receive, send)


@cache
def static_files() -> StaticFiles:
    """The static files of this version: read once, as they do not change while a server runs."""
    return StaticFiles(FOLDER)


def join_script(path: Path) -> str:
    """The text of a script after all modules that it imports; ValueError where these cannot be joined."""
    parts = []
    for name in _modules_of(path, ()):
        if name != path.name:
            body = _body(path.with_name(name))
            exported, body = ", ".join(match[1] for match in _EXPORT.finditer(body)), _EXPORT.sub("", body)
            parts.append(f"const {_variable(name)} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n")
    return "".join([*parts, _body(path)])


def _modules_of(path: Path, importers: tuple[str, ...]) -> list[str]:
    """The names of a script and of the modules that it needs, each after those that it imports itself."""
    if path.name in importers:
        raise ValueError(f"these modules import each other: {', '.join((*importers, path.name))}")
    imported = [match[2] for match in _IMPORT.finditer(path.read_text("utf-8"))]
    before = [name for module in imported for name in _modules_of(path.with_name(module), (*importers, path.name))]
    return list(dict.fromkeys([*before, path.name]))


def _body(path: Path) -> str:
    """A module without its comments, that takes what it imports from the functions before it."""
    body = _IMPORT.sub(
        lambda match: f"const {{ {match[1].strip()} }} = {_variable(match[2])};\n" if match[1] else "",
        _COMMENT.sub("", path.read_text("utf-8")),
    )
    if other := _OTHER.search(_EXPORT.sub("", body)):
        raise ValueError(f"{path.name} has a line that cannot be joined: {other[0]}")
    return body


def _variable(name: str) -> str:
    return "$" + name.removesuffix(".js").replace("-", "_")
