"""serve."""

from __future__ import annotations

import errno
import functools
import gc
import json
import os
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fcpair.cli import USAGE_OR_DATA
from fcpair.cli.options import close_at_end, effective_params, option, shared_option, study_option
from fcpair.cli.output import print_message, print_note, studies
from fcpair.cli.terminal import print_raw
from fcpair.errors import require
from fcpair.param_values import as_params
from fcpair.params import Annotate
from fcpair.records import Role, invite_link
from fcpair.unfinished import open_file_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from fcpair.study import Place, Study

FIRST_LEAD = "lead"
"""The pseudonym of the lead of a study that is made here."""
END_S = 10  # how long requests that are under way may take to end after Ctrl-C
KEEP_S = 75  # how long a connection may be idle: longer than a proxy keeps it, or requests meet a closed one
N_FILES = 4_096
N_AT_ONCE = 4  # connections that are accepted at once: few, as each takes an open file and the time of those who wait
N_WAITING = 2_048  # connections that wait to be accepted


class _RefusedError(click.ClickException):
    exit_code = USAGE_OR_DATA


@dataclass(frozen=True)
class _NewStudy:
    """A study that is made once it is known that it can be served."""

    path: Path

    def effective_options(self, cls: type[Any], **options: Any) -> Any:
        """Options as they are given, the rest by default."""
        return cls(**options)

    def create(self) -> tuple[Study, str]:
        """Make the study, empty, with one lead; returns the token of the lead, too."""
        study = close_at_end(studies.Study.create(self.path))
        try:
            return study, study.access.add([FIRST_LEAD], Role.LEAD)[FIRST_LEAD]
        except BaseException:
            study.remove()
            raise


def _with_study_or_new(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give the command `--study`, and open the study, or where its folder has none at all, prepare a new one.

    A mistyped name of a study makes none, and databases on a server are made by `fcpair init`.
    """

    @study_option
    @functools.wraps(command)
    def call_with_study(study: Place, **arguments: Any) -> Any:
        is_new = isinstance(study, Path) and not studies.Study.exists(study) and study.parent.is_dir()
        if is_new and not any(Path(study).parent.glob("*.db")):
            return command(study=_NewStudy(Path(study)), **arguments)
        return command(study=close_at_end(studies.Study(study)), **arguments)

    return call_with_study


@click.command()
@_with_study_or_new
@effective_params(Annotate)
@option("--host", default="127.0.0.1", help="The address to listen on.")
@option("--port", type=click.IntRange(0, 65535), default=8000, help="The port; 0 takes a free one.")
@shared_option("--loosen", is_flag=True, detail="For this server run only.")
def serve(study: Study | _NewStudy, options: Annotate, host: str, port: int, loosen: bool) -> None:
    """Let people answer, decide and watch in the browser.

    Where the folder has no study yet, an empty one is made, and a link is printed for its lead, who uploads the texts
    and makes the study in the browser.

    Everybody signs in with a link of their own: `fcpair people invite NAME` prints it. Links that the lead's pages make
    point to FCPAIR_URL, or else to where the server listens. Ctrl-C ends the server; every answer that it has accepted
    is in the study.

    \b
    Example:
      fcpair serve --study study.db --port 8080
      fcpair serve --daily-limit 200 --contact "Dr Lee, 555 0100"
    """
    require("web", "`serve`", "fastapi", "httptools", "itsdangerous", "markdown_it", "python_multipart", "uvicorn")
    if isinstance(study, _NewStudy):
        listener = _listen(host, port)  # nothing is made where nothing can be served
        study, token = study.create()
    else:
        study.access.check_terms(options, loosen=loosen)
        study.share()
        study.examine()
        listener, token = _listen(host, port), ""
    study.share()  # said now if it cannot be had
    address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
    os.environ.setdefault("FCPAIR_URL", address)
    print_raw(f"{study.place} is served at {address}")
    invited = "Everybody signs in with a link of their own: `fcpair people invite NAME` prints a new one."
    nobody = (
        "Nobody can sign in yet: `fcpair people add NAME --role annotator` prints an invite link, `--role lead` one "
        "for yourself."
    )
    print_message(invited if study.access.invited() else nobody)
    try:
        is_loopback = ip_address(host).is_loopback
    except ValueError:
        is_loopback = host == "localhost"
    if not is_loopback:
        tls = "put a reverse proxy with TLS in front of it, or listen on 127.0.0.1"
        print_message(f"The connection is not encrypted: {tls}.")
    print_note(study.exposure_warning)
    if token:
        print_message(f"The study is new and empty. You lead it, as `{FIRST_LEAD}`; begin here:")
        print_raw(invite_link(os.environ["FCPAIR_URL"], token))
        again = f"fcpair people invite {FIRST_LEAD} --study {study.place}"
        print_message(f"The link is printed only this once; `{again}` makes another.")
    print_message("Ctrl-C ends it.")
    os.environ["FCPAIR_STUDY"] = study.address
    arguments = click.get_current_context().params
    os.environ["FCPAIR_ANNOTATE"] = json.dumps(
        {name: value for name, value in as_params(options).items() if arguments[name] not in (None, ())}
    )
    study.close()  # the app opens it for itself
    _serve_app(listener)


class _Listener(socket.socket):
    """Has many connections wait, however few are accepted at once; asyncio has one number for both."""

    def listen(self, backlog: int = N_WAITING, /) -> None:
        """Listen."""
        super().listen(N_WAITING)


def _serve_app(listener: socket.socket) -> None:
    # A KeyboardInterrupt in a callback of an import is lost, so Ctrl-C waits until all is loaded; a second does not.
    interrupts, raises_it = list[object](), signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, lambda number, _frame: interrupts.append(signal.signal(number, raises_it)))
    import uvicorn

    open_file_limit(N_FILES)
    limits: dict[str, Any] = {"backlog": N_AT_ONCE, "timeout_keep_alive": KEEP_S, "timeout_graceful_shutdown": END_S}
    told: dict[str, Any] = {"access_log": False, "log_level": "warning", "server_header": False}
    limits["http"] = "fcpair.web.server.connections:LimitedProtocol"
    config = uvicorn.Config("fcpair.web.app:from_environment", factory=True, ws="none", **limits, **told)
    with listener, suppress(KeyboardInterrupt):  # raised again by uvicorn when it has ended cleanly
        gc.disable()  # what is loaded stays, and to look for garbage in it takes a tenth of the start
        config.load()  # outside the event loop, where the app can still be forked
        gc.enable()
        signal.signal(signal.SIGINT, raises_it)
        if not interrupts:
            uvicorn.Server(config).run([listener])


def _listen(host: str, port: int) -> socket.socket:
    """A socket at the address; bound here, so that a port that is taken is reported as an error like any other."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = _Listener(family, kind, proto)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen()
        except OSError:
            listener.close()
            raise
    except UnicodeError:
        raise _RefusedError(f"`{host}` is neither a host name nor an address; give another `--host`") from None
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = "it is in use; stop what listens there" if taken else f"{error.strerror}; give another `--host`"
        raise _RefusedError(f"cannot listen on port {port} of {host}: {why}, or give another `--port`") from None
    return listener
