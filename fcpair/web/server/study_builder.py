"""Building a study of its draft, in a process of its own: models that find candidates need much memory."""

from __future__ import annotations

from collections.abc import Callable

from fcpair.study import Study
from fcpair.web.server.child_process import ChildProcess, ProcessState

KILLED = "the process that built the study has ended, perhaps for lack of memory; nothing was kept, so try again"
RUNNING = "the study is being built already; wait until that is done"


class StudyBuilder(ChildProcess):
    """Builds the study once at a time; calls `on_end` when it has been built."""

    def __init__(self, study: Study, on_end: Callable[[], None]) -> None:
        self._address, self._on_built = study.address, on_end
        super().__init__("fcpair.web.server.build_main", self._tell, busy=RUNNING, killed=KILLED)

    def begin(self) -> None:
        """Begin; raises ConflictError where it is being built already."""
        self.start(self._address, ProcessState())

    def _tell(self, ended: ProcessState) -> None:
        if not ended.problem:
            self._on_built()
