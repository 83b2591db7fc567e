"""What is looked at is made by a process of its own, which ends with the server and is replaced when it is gone."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import psutil
import pytest
from awaited import go_on, run, turns_until, until
from conftest import one_short

from fcpair.errors import BusyError, ConflictError
from fcpair.records import Role
from fcpair.study import Study
from fcpair.web.app import create_app
from fcpair.web.context import ServedTerms
from fcpair.web.server import worker
from fcpair.web.server.child_process import EVALUATE, KILLED, RUNNING, Act, ChildProcess, ProcessState
from fcpair.web.server.worker import IDLE_S, ReportWorker
from web.conftest import Site, value_of
from web.served import Served, serving

LEAST_NICE = 19  # the kernel goes no further
HEAVY = ("pandas", "scipy", "matplotlib")


@pytest.fixture
def served(files: dict[str, Path], tmp_path: Path) -> Iterator[Callable[..., Served]]:
    with serving(Path(shutil.copy(files["decided"], tmp_path / "study.db"))) as started:
        yield started


def tokens(path: Path, **roles: Role) -> dict[str, str]:
    """Have people come in: their tokens, by name."""
    study = Study(path)
    found = {}
    for name, role in roles.items():
        study.add_people([name], role)
        found[name] = study.access.invite(name)
        visitor = study.access.by_token(found[name])
        assert visitor is not None
        study.access.consent(visitor.id, {})
    study._store._engine.dispose()  # the server is to have the file alone when it ends
    return found


def lookers(server: Served) -> list[psutil.Process]:
    """The processes that look, the leads' first; what `multiprocessing` has beside them does not."""
    assert server.ask("/join")[0] == 200
    children = psutil.Process(server.process.pid).children()
    return [one for one in children if "resource_tracker" not in " ".join(one.cmdline())]


def the_looker(server: Served) -> psutil.Process:
    (child,) = lookers(server)
    return child


def loaded(pid: int) -> set[str]:
    maps = Path(f"/proc/{pid}/maps").read_text()
    return {name for name in HEAVY if f"/{name}/" in maps}


def has_ended(process: psutil.Process, within_s: float = 10) -> bool:
    try:
        process.wait(within_s)
    except psutil.TimeoutExpired:
        return False
    return True


def mapped_libraries(pid: int) -> list[str]:
    return re.findall(r"\S+\.so\b\S*$", Path(f"/proc/{pid}/maps").read_text(), re.MULTILINE)


needs_proc = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="tells by /proc what a process has loaded")


@pytest.mark.slow
@needs_proc
def test_what_the_lead_and_adjudicators_look_at_is_made_elsewhere_so_the_server_loads_nothing_heavy(
    served: Callable[..., Served],
) -> None:
    server = served()
    lea, judy = tokens(server.place, lea=Role.LEAD, judy=Role.ADJUDICATOR).values()
    for path in ("/lead", "/lead/panel/tiers"):
        assert server.ask(path, lea)[0] == 200, path
    assert loaded(the_looker(server).pid) == set()
    for path in ("/lead/people", "/lead/conflicts", "/lead/grid/rows.csv"):
        assert server.ask(path, lea)[0] == 200, path
    assert server.ask("/api/conflicts/next", judy)[0] == 200
    assert server.ask("/adjudicate", judy)[0] == 200
    undo, bearer = f"{server.url}/adjudicate/1/undo?order=doubt", {"Authorization": f"Bearer {judy}"}
    refused = httpx2.post(undo, data={"request_id": "r-000000000"}, headers=bearer)
    assert refused.status_code == 409  # by the server itself, with the next case
    assert b"is being worked out" in refused.content
    assert loaded(server.process.pid) == set()
    leads, adjudicators = lookers(server)
    assert loaded(leads.pid) == {"pandas"}  # matplotlib comes with pictures of surveys alone
    assert loaded(adjudicators.pid) <= {"pandas"}
    niceness = psutil.Process(server.process.pid).nice() + worker.NICE
    assert {leads.nice(), adjudicators.nice()} == {min(niceness, LEAST_NICE)}


HANGS = """
from pathlib import Path
from time import sleep
from fcpair.steps.adjudication import case_queues
estimate = case_queues.estimate_doubts
def estimate_later(labels):
    while not Path({gate!r}).exists():
        sleep(0.01)
    return estimate(labels)
case_queues.estimate_doubts = estimate_later
"""


@pytest.mark.slow
def test_a_model_of_doubt_that_takes_long_holds_nobody_up(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, address = tmp_path / "gate", "/adjudicate?order=doubt"
    (tmp_path / "sitecustomize.py").write_text(HANGS.format(gate=str(gate)))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with serving(Path(shutil.copy(files["labelled"], tmp_path / "study.db"))) as started:
        server = started()
        lea, judy = tokens(server.place, lea=Role.LEAD, judy=Role.ADJUDICATOR).values()
        for at in range(3):
            status, page = server.ask(address, judy)
            assert (status, b"is being worked out" in page) == (200, True)
            case = json.loads(server.ask("/api/conflicts/next", judy)[1])["case"]
            decision = {"request_id": f"r-0000000{at}", "cell_id": case["cell_id"], "outcome": "irreconcilable"}
            assert server.ask("/api/decisions", judy, decision)[0] == 200
        assert server.ask("/lead/conflicts", lea)[0] == 200
        gate.touch()
        until(lambda: b"is being worked out" not in server.ask(address, judy)[1])
        first = Study(server.place).grid().desk.agenda("judy", order="doubt").pairs[0]
        assert f'name="cell_id" value="{first}"'.encode() in server.ask(address, judy)[1]


@pytest.mark.slow
def test_what_it_refuses_is_told_as_the_server_would_and_forms_reach_it_with_their_guard(
    served: Callable[..., Served],
) -> None:
    server = served()
    lea, judy = tokens(server.place, lea=Role.LEAD, judy=Role.ADJUDICATOR).values()
    assert server.ask("/lead", judy)[0] == 403
    assert server.ask("/lead")[0] == 200  # the page of those who are not signed in
    for path, token, message in (
        ("/lead/panel/nonsense", lea, b"There is no panel"),
        ("/lead/pair/999999", lea, b""),
        ("/api/conflicts/999999", judy, b"there is no pair 999999"),
    ):
        status, page = server.ask(path, token)
        assert (status, message in page) == (404, True)
    with httpx2.Client(base_url=server.url, timeout=60) as browser:  # a bearer token needs no guard against forgery
        assert browser.post("/join", data={"token": lea}).status_code == 303
        form = {"csrf": value_of(browser.get("/lead/downloads").text, "csrf"), "form": "jsonl"}
        got = browser.post("/lead/download/labels", data=form)
        assert got.status_code == 200
        assert got.headers["content-disposition"] == 'attachment; filename="labels.jsonl"'
        assert browser.post("/lead/download/labels", data={"form": "jsonl"}).status_code == 403


@pytest.mark.slow
def test_what_is_large_comes_whole_and_leaves_no_file_behind(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(files["decided"], tmp_path / "study.db"))
    between = tmp_path / "between"
    between.mkdir()
    monkeypatch.setenv("TMPDIR", str(between))
    (lea,) = tokens(path, lea=Role.LEAD).values()
    study = Study(path)
    study.edit_guidelines("Word after word. " * (worker.LARGE // 10), by="lea")
    study.close()
    with serving(path) as started:
        server = started()
        status, page = server.ask("/lead/guidelines", lea)
        assert status == 200
        assert len(page) > 2 * worker.LARGE
        assert page.count(b"Word after word.") >= 2 * (worker.LARGE // 10)
        assert page.rstrip().endswith(b"</html>")
        assert list(between.iterdir()) == []


@pytest.mark.slow
def test_when_it_is_killed_another_takes_its_place_and_it_never_listens(served: Callable[..., Served]) -> None:
    server = served()
    (lea,) = tokens(server.place, lea=Role.LEAD).values()
    assert server.ask("/lead/guidelines", lea)[0] == 200
    first = the_looker(server)
    # So the port is free as soon as the server is killed.
    assert [one for one in first.net_connections() if one.status == psutil.CONN_LISTEN] == []
    first.send_signal(signal.SIGKILL)
    assert has_ended(first)
    assert server.ask("/lead/guidelines", lea)[0] == 200
    assert the_looker(server).pid != first.pid


@pytest.mark.slow
@pytest.mark.parametrize("told", one_short(signal.SIGKILL, signal.SIGINT, signal.SIGTERM))
def test_it_ends_with_the_server_however_that_ends(served: Callable[..., Served], told: signal.Signals) -> None:
    server = served()
    lea, judy = tokens(server.place, lea=Role.LEAD, judy=Role.ADJUDICATOR).values()
    assert server.ask("/lead/guidelines", lea)[0] == 200
    assert server.ask("/adjudicate", judy)[0] == 200
    children = psutil.Process(server.process.pid).children(recursive=True)
    begun = time.monotonic()
    server.process.send_signal(told)
    server.process.wait(15)
    assert all(map(has_ended, children))
    assert time.monotonic() < begun + 5
    if told is not signal.SIGKILL:  # it is one file again, as nobody else has it open
        assert not server.place.with_name("study.db-wal").exists()


@pytest.mark.slow
def test_what_is_under_way_when_it_is_killed_is_to_be_asked_again(site: Site) -> None:
    """Its end is told at once, and not when the patience of whoever asked is over."""
    site.study.share()

    async def work() -> None:
        aside = ReportWorker(create_app, ServedTerms(site.study, {}))
        asked = asyncio.create_task(aside.forward(scope(site, "/lead/guidelines")))
        await turns_until(lambda: aside.pid is not None)
        assert aside.pid is not None
        os.kill(aside.pid, signal.SIGKILL)
        with pytest.raises(BusyError):
            await asked
        assert (await aside.forward(scope(site, "/lead/guidelines"))).status_code == 200
        await aside.end()
        assert aside.pid is None

    run(work())


def test_it_says_how_an_act_has_ended_which_only_the_server_knows(site: Site) -> None:
    site.study.share()
    site.app.state.long_acts.state = ProcessState(what=EVALUATE, grid="main", problem="the disk is full")

    async def work() -> None:
        aside = ReportWorker(create_app, ServedTerms(site.study, {}))
        page = bytes((await aside.forward(scope(site, "/lead/evaluation"))).body).decode()
        assert re.search("The last evaluation gave no result: .*the disk is full", page)
        await aside.end()

    run(work())


@pytest.mark.slow
@needs_proc
def test_it_begins_with_all_loaded_that_a_first_look_needs(served: Callable[..., Served]) -> None:
    """A second of loading was most of what a first look at a small study took."""
    server = served()
    (lea,) = tokens(server.place, lea=Role.LEAD).values()
    looker = the_looker(server).pid
    until(lambda: any("numpy" in one for one in mapped_libraries(looker)))
    until(lambda: psutil.Process(looker).status() == psutil.STATUS_SLEEPING)
    before = set(mapped_libraries(looker))
    assert server.ask("/lead", lea)[0] == 200
    assert set(mapped_libraries(the_looker(server).pid)) == before


def scope(site: Site, path: str) -> dict[str, object]:
    headers = [(b"authorization", f"Bearer {site.token('lea')}".encode()), (b"host", b"testserver")]
    asked = {"type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "query_string": b""}
    addresses = {"path": path, "raw_path": path.encode(), "client": ("127.0.0.1", 1), "server": ("testserver", 80)}
    return {**asked, **addresses, "headers": headers, "app": site.app}


@pytest.mark.slow
def test_its_memory_is_given_back_when_nobody_has_looked_for_a_while(site: Site) -> None:
    site.study.share()

    async def work() -> None:
        aside = ReportWorker(create_app, ServedTerms(site.study, {}))
        assert (await aside.forward(scope(site, "/lead/guidelines"))).status_code == 200
        assert aside.pid is not None
        process = psutil.Process(aside.pid)
        await go_on(IDLE_S - 1)
        assert aside.pid == process.pid
        await go_on(2)
        assert aside.pid is None
        assert await asyncio.to_thread(has_ended, process)
        assert (await aside.forward(scope(site, "/lead/guidelines"))).status_code == 200
        await aside.end()

    run(work())


# How a process of its own ends, whatever ends it

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
    assert (child.state.problem, child.state.by, done) == (KILLED, "lea", ["done"])
    assert not folder.exists()
    child.start(Act(EVALUATE, NO_STUDY))
    assert (child.state.is_running, child.state.problem) == (True, "")
    child.end()


def test_what_is_ended_says_why_and_leaves_no_process(folder: Path) -> None:
    done: list[str] = []
    child = started(folder, done)
    process = process_of(child)
    child.end("lea")
    assert (child.state.is_running, child.state.problem, child.state.cancelled) == (False, KILLED, "lea")
    assert done == ["done"]
    assert not process.is_running()
    assert not folder.exists()
    child.end("leo")
    assert child.state.cancelled == "lea"


def test_what_goes_wrong_is_said_in_its_own_words(folder: Path) -> None:
    done: list[str] = []
    child = started(folder, done)
    until(lambda: not child.state.is_running)
    assert NO_STUDY in child.state.problem
    assert (done, folder.exists()) == (["done"], False)
