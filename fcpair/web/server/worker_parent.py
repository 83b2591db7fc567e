"""The process from which those that look are forked: it has loaded what they need, and shares its memory with them.

A process that begins by itself takes a second to load the pages and their libraries. So the server forks this one as
it starts, before it opens the study: what both have loaded is in memory once. It does nothing but fork when it is asked
to, and ends with the server.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import stat
import threading
import traceback
from contextlib import ExitStack, suppress
from importlib import import_module
from typing import NoReturn

WORKER = "fcpair.web.server.worker_main"  # by its name, as it stands on the app that begins it
STDERR = 2
ASKED = b"."
PID_BYTES = 8


class WorkerParent:
    """The server's end of that process."""

    def __init__(self, pid: int, control: socket.socket) -> None:
        self._pid, self._control = pid, control
        control.setblocking(False)

    @classmethod
    def fork(cls) -> WorkerParent | None:
        """Fork it; None where that cannot be done: not on every system, nor beside threads or in an event loop."""
        if not hasattr(os, "fork") or threading.active_count() > 1 or _is_in_loop():
            return None
        own, other = socket.socketpair()
        gc.freeze()  # lest what is garbage close a file of the fork, and looking for garbage copy what they share
        pid = os.fork()
        if pid == 0:
            _run_alone(other)
        other.close()
        return cls(pid, own)

    async def start_worker(self) -> tuple[int, socket.socket] | None:
        """The number of a new process that looks, and the socket to it; None where its parent has ended.

        The number comes by that socket, which is closed where nobody waits any longer: the new process ends then.
        """
        own, other = socket.socketpair()
        own.setblocking(False)
        with ExitStack() as closing:
            closing.enter_context(own)
            with other, suppress(OSError):
                socket.send_fds(self._control, [ASKED], [other.fileno()])
            with suppress(OSError):
                if answer := await asyncio.get_running_loop().sock_recv(own, PID_BYTES):
                    closing.pop_all()
                    return int.from_bytes(answer, "big"), own
        with suppress(ChildProcessError):
            os.waitpid(self._pid, os.WNOHANG)
        return None

    def end(self) -> None:
        """Have it end."""
        self._control.close()


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run_alone(control: socket.socket) -> NoReturn:
    """Be that process, in a session of its own, because Ctrl-C is for the server."""
    try:
        os.setsid()
        for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(signal_number, signal.SIG_IGN)
        _close_sockets(control.fileno())
        _fork_for_server(control)
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(0)


def _close_sockets(kept: int) -> None:
    """Close the sockets of the server, but for one: its port is free when it ends. Files are closed by who has them."""
    for number in map(int, os.listdir("/dev/fd")):
        with suppress(OSError):  # as that of the list itself is gone
            if number > STDERR and number != kept and stat.S_ISSOCK(os.fstat(number).st_mode):
                os.close(number)


def _fork_for_server(control: socket.socket) -> None:
    """Fork a process that looks each time that the server sends a socket for it, until the server ends."""
    gc.disable()  # what is loaded stays, so there is no garbage to look for
    worker_main = import_module(WORKER)
    worker_main.preload()
    gc.freeze()
    gc.enable()
    while True:
        message, sockets, _, _ = socket.recv_fds(control, len(ASKED), 1)
        if not message:
            return
        pid = os.fork()
        if pid == 0:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            with socket.socket(fileno=sockets[0]) as pipe:
                worker_main.look(pipe.makefile("rb"), pipe.makefile("wb"))
        with socket.socket(fileno=sockets[0]) as pipe, suppress(OSError):  # nobody waits for it any longer
            pipe.sendall(pid.to_bytes(PID_BYTES, "big"))
