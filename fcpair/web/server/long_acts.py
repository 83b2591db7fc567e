"""What the lead has done that takes minutes, evaluating systems and asking models, in a process of its own."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from fcpair.study import Study
from fcpair.web.server.child_process import ChildProcess, ProcessState

KILLED = "the process has ended, perhaps for lack of memory; what models have replied is kept, so try again"
RUNNING = "something else is being done that takes long; wait until that is done, or stop it"
EVALUATE, GENERATE = "evaluate", "generate"


class LongActs(ChildProcess):
    """Does one long act at a time, in the name of a lead; files that were sent for it are deleted when it ends."""

    def __init__(self, study: Study) -> None:
        self._address = study.address
        self._folder: Path | None = None
        super().__init__("fcpair.web.server.long_act_main", self._clear, busy=RUNNING, killed=KILLED)

    def begin(self, what: str, *, grid: str, by: str, values: dict[str, Any], folder: Path | None = None) -> None:
        """Begin an act in a grid; raises ConflictError while there is another. A `folder` of its files goes with it."""
        state = ProcessState(what=what, grid=grid, by=by)
        self.start({"address": self._address, "act": what, "grid": grid, "by": by, "values": values}, state)
        self._folder = folder

    @staticmethod
    def new_folder() -> Path:
        """A new folder for files that are sent for an act."""
        return Path(mkdtemp(prefix="fcpair-"))

    def _clear(self, _ended: ProcessState) -> None:
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
