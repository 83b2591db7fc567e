"""Studies on the way to a browser: served by the real server, in a thread of this process."""

from __future__ import annotations

import socket
from threading import Thread

import uvicorn
from awaited import until
from web.conftest import Site

from fcpair.params import Annotate
from fcpair.study import Study

PATIENCE_S = 20.0


class Host(Site):
    """A study, and the address at which it is served; of each role somebody takes part."""

    def __init__(self, study: Study, annotate: Annotate) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        super().__init__(study, annotate, self.url)
        self._server = uvicorn.Server(
            uvicorn.Config(self.app, log_level="warning", access_log=False, server_header=False, ws="none")
        )
        self._thread = Thread(target=self._server.run, args=([listener],))
        self._thread.start()
        until(lambda: self._server.started or not self._thread.is_alive())
        assert self._server.started, "the server did not start"

    def close(self) -> None:
        """End the server, which lets go of the study."""
        self._server.should_exit = True
        self._thread.join(PATIENCE_S)
        super().close()
