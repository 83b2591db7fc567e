"""What takes long is done in a process of its own: how it ends, whatever ends it."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from awaited import until

from fcpair.errors import ConflictError
from fcpair.web.server.child_process import EVALUATE, KILLED, RUNNING, Act, ChildProcess

NO_STUDY = "no-study.db"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sent"
    made.mkdir()
    (made / "mine.trec").write_text("1 Q0 2 1 0.5 mine\n")
    return made


def started(folder: Path, done: list[str]) -> ChildProcess:
    child = ChildProcess(busy=RUNNING, killed=KILLED, on_done=lambda: done.append("done"))
    child.start(Act(EVALUATE, str(folder.parent / NO_STUDY), grid="main", by="lea", folder=folder))
    return child


def process_of(child: ChildProcess) -> psutil.Process:
    assert child._process is not None
    assert child._process.pid is not None
    return psutil.Process(child._process.pid)


def test_a_process_that_dies_is_said_to_have_ended_and_another_can_begin(folder: Path) -> None:
    done: list[str] = []
    child = started(folder, done)
    with pytest.raises(ConflictError, match="takes long"):
        child.start(Act(EVALUATE, NO_STUDY))
    process_of(child).kill()
    until(lambda: not child.state.is_running)
    assert (child.state.problem, child.state.by, done) == (KILLED, "lea", [])
    assert not folder.exists()
    child.start(Act(EVALUATE, NO_STUDY))
    assert (child.state.is_running, child.state.problem) == (True, "")
    child.end("enough")


def test_what_is_ended_says_why_and_leaves_no_process(folder: Path) -> None:
    done: list[str] = []
    child = started(folder, done)
    process = process_of(child)
    child.end("lea has stopped it")
    assert (child.state.is_running, child.state.problem, done) == (False, "lea has stopped it", [])
    assert not process.is_running()
    assert not folder.exists()
    child.end("and once more")
    assert child.state.problem == "lea has stopped it"


def test_what_goes_wrong_is_said_in_its_own_words(folder: Path) -> None:
    done: list[str] = []
    child = started(folder, done)
    until(lambda: not child.state.is_running)
    assert NO_STUDY in child.state.problem
    assert (done, folder.exists()) == ([], False)
