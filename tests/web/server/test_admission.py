"""Nobody who works waits for those who look, for one person who asks too much, or for another program that writes."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, contextmanager
from threading import Event
from typing import Any

import awaited
import pytest
from awaited import a_turn, go_on, run, turns_until
from fastapi.routing import iter_route_contexts
from httpx2 import ASGITransport, AsyncClient, Response
from starlette.types import Message
from steps.small import open_work

from fcpair.params import Annotate
from fcpair.records import Role
from fcpair.steps.people.access import RETRY_S
from fcpair.store import disputes
from fcpair.store.database import store
from fcpair.web.lead.files import DOWNLOADS
from fcpair.web.server import admission
from fcpair.web.server.admission import KINDS, Kind, kind_of
from web.conftest import Site

TOPIC = "hs_topic"
QUICKLY_S = 1.0  # far below what the old waits took: 30 s for a connection, 30 s for the lock
PATIENCE_S = 1.0


@asynccontextmanager
async def clients(site: Site) -> AsyncIterator[Callable[[str], AsyncClient]]:
    """Clients of the app within this loop, by name, with a session's worth of rights; "" is a stranger."""
    async with AsyncExitStack() as opened:

        def client(name: str) -> AsyncClient:
            headers = {"Authorization": f"Bearer {site.token(name)}"} if name else {}
            transport = ASGITransport(site.app)
            made = AsyncClient(transport=transport, base_url="http://testserver", headers=headers)
            opened.push_async_callback(made.aclose)
            return made

        yield client


async def timed(asked: Awaitable[Response]) -> tuple[int, float]:
    begun = time.monotonic()
    response = await asked
    return response.status_code, time.monotonic() - begun


def answer_to(tasks: Response, number: str) -> dict[str, Any]:
    task = tasks.json()["tasks"][0]
    return {"request_id": f"request-{number}", "assignment_id": task["assignment_id"], "answer": "appropriate"}


@contextmanager
def locked(site: Site) -> Iterator[None]:
    """While another program holds the lock of the study."""
    with closing(sqlite3.connect(site.study.place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


# What is heavy


def test_an_address_is_of_the_kind_of_what_is_above_it_and_no_kind_is_of_nothing(site: Site) -> None:
    kinds = {
        ("GET", "/lead/panel/tiers"): Kind.LOOK,
        ("POST", "/lead/download/hf"): Kind.LOOK,
        ("POST", "/lead/download/backup"): Kind.ACT,
        ("POST", "/lead/people/ana/retire"): Kind.ACT,
        ("GET", "/adjudicate/17"): Kind.LIST,
        ("GET", "/api/conflicts/next"): Kind.LIST,
        ("POST", "/api/decisions/17/undo"): Kind.ACT,
        ("GET", "/lead/start/progress"): None,
        ("POST", "/lead/start/plan"): Kind.LOOK,
        ("GET", "/api/next"): None,
        ("POST", "/api/judgements"): None,
        ("PUT", "/api/settings"): Kind.ACT,
    }
    assert {route: kind_of(*route) for route in kinds} == kinds
    used = set()
    for context in iter_route_contexts(site.app.routes):
        for method in {*(getattr(context, "methods", None) or ())} - {"HEAD"}:
            names = [*DOWNLOADS] if context.path == "/lead/download/{name}" else []
            for path in (context.path, *(f"/lead/download/{name}" for name in names)):
                used |= {above for above in KINDS if above[0] == method and f"{path}/".startswith(f"{above[1]}/")}
    assert set(KINDS) == used


# Whoever answers waits for nobody who looks


def test_an_answer_is_kept_while_more_read_than_any_pool_has_connections(site: Site) -> None:
    """Formerly the sixteenth waited 30 s for a connection, and all others for the sixteenth."""
    site.study.share()

    async def answer_thrice() -> None:
        async with clients(site) as client:
            ana = client("ana")
            took_s = []
            for n in range(3):  # a disk may keep one of them waiting
                tasks = await ana.get("/api/next")
                answer = answer_to(tasks, f"slow-readers-{n}")
                status, seconds = await timed(ana.post("/api/judgements", json=answer))
                assert status == 200
                took_s.append(seconds)
            assert min(took_s) < QUICKLY_S

    with ExitStack() as readers:
        for _ in range(20):
            readers.enter_context(site.study._store.read())
        run(answer_thrice())


def test_16_adjudicators_at_once_hold_up_nobody_and_none_is_told_that_the_server_failed(
    serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Formerly each of them compared all labels anew, which takes long in a large study."""
    site, calm = serve("dealt"), disputes.disputed_pairs
    site.study.share()
    begun, answered = Event(), Event()

    def slow(*given: Any) -> Any:
        begun.set()
        assert answered.wait(awaited.PATIENCE_S)
        return calm(*given)

    monkeypatch.setattr(disputes, "disputed_pairs", slow)

    async def everybody() -> None:
        async with clients(site) as client:
            judy = [client("judy") for _ in range(5)]
            others = [f"judge{n}" for n in range(11)]
            ana = client("ana")
            tasks = await ana.get("/api/next")
            asked = [asyncio.create_task(timed(one.get("/api/conflicts/next"))) for one in judy]
            asked += [asyncio.create_task(timed(client(name).get("/adjudicate"))) for name in others]
            await turns_until(begun.is_set)
            status, took_s = await timed(ana.post("/api/judgements", json=answer_to(tasks, "meanwhile")))
            assert (status, took_s < QUICKLY_S) == (200, True)
            answered.set()
            assert {status for status, _ in await asyncio.gather(*asked)} <= {200, 503}

    site.study.add_people([f"judge{n}" for n in range(11)], Role.ADJUDICATOR)
    run(everybody())


def test_who_looks_when_two_do_is_asked_to_come_back(site: Site) -> None:
    app = held(site)

    async def three() -> None:
        async with clients(site) as client:
            looks = [asyncio.create_task(client("lea").get("/lead")) for _ in range(3)]
            await turns_until(lambda: app.paths.count("/lead") == 2)
            await go_on(admission.AT_ONCE[Kind.LOOK][1])
            done, _ = await asyncio.wait(looks, return_when=asyncio.FIRST_COMPLETED, timeout=10)
            refused = done.pop().result()
            assert refused.status_code == 503
            assert int(refused.headers["retry-after"]) == int(refused.headers["refresh"]) > 0
            assert "One moment, please" in refused.text
            lists = [asyncio.create_task(client("judy").get("/api/conflicts/next")) for _ in range(2)]
            await turns_until(lambda: app.paths.count("/api/conflicts/next") == 2)  # they have their own turns
            app.let_go()
            assert [one.status_code for one in await asyncio.gather(*looks, *lists)].count(200) == 4

    run(three())


# One person, and all strangers together, have only so many requests under way


class Held:
    """Stands in the app's place, and answers when it is let go."""

    def __init__(self) -> None:
        self._go = asyncio.Event()
        self.paths: list[str] = []  # that it was asked for

    def let_go(self) -> None:
        self._go.set()

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        self.paths.append(scope["path"])
        await self._go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})


def held(site: Site) -> Held:
    """Have all that the turnstile lets in wait."""
    guard: Any = site.app.middleware_stack
    there, app = guard._app, Held()
    guard._app = admission.AdmissionControl(app, there._door, there._problems)
    return app


def n_done(asked: list[asyncio.Task[Response]]) -> int:
    return sum(one.done() for one in asked)


def test_one_person_has_only_so_many_requests_under_way(site: Site) -> None:
    app, most = held(site), admission.MOST_OF_ONE

    async def many() -> None:
        async with clients(site) as client:
            asked = [asyncio.create_task(client("ana").get("/api/me")) for _ in range(most + 3)]
            await turns_until(lambda: (len(app.paths), n_done(asked)) == (most, 3))
            refused = [one.result() for one in asked if one.done()]
            assert [one.status_code for one in refused] == 3 * [503]
            assert {int(one.headers["retry-after"]) for one in refused} == {1}
            assert all("detail" in one.json() for one in refused)
            ben = asyncio.create_task(client("ben").get("/api/me"))
            await a_turn()
            app.let_go()
            assert (await ben).status_code == 200
            assert [one.status_code for one in await asyncio.gather(*asked)].count(200) == most
            assert (await client("ana").get("/api/me")).status_code == 200  # they are counted down again

    run(many())


def test_strangers_wait_for_one_another_and_for_nobody_else(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    most, patience_s = 4, admission.STRANGERS[1]
    monkeypatch.setattr(admission, "STRANGERS", (most, patience_s))
    app = held(site)

    async def many() -> None:
        async with clients(site) as client:
            asked = [asyncio.create_task(client("").get("/join")) for _ in range(most + 3)]
            await turns_until(lambda: app.paths.count("/join") == most)
            await go_on(patience_s / 2)
            assert n_done(asked) == 0
            ana = asyncio.create_task(client("ana").get("/api/me"))
            await go_on(patience_s)
            await turns_until(lambda: n_done(asked) == 3)
            refused = [one.result() for one in asked if one.done()]
            assert [one.status_code for one in refused] == 3 * [503]  # whose time has run out
            waiting = [asyncio.create_task(client("").get("/join")) for _ in range(3)]
            await go_on(patience_s / 2)
            assert n_done(waiting) == 0
            app.let_go()
            assert (await ana).status_code == 200
            assert {one.status_code for one in await asyncio.gather(*waiting)} == {200}  # as soon as there is room

    run(many())


def test_strangers_who_do_not_read_what_they_asked_for_keep_nobody_from_coming_in(site: Site) -> None:
    """On this many connections it takes no more than asking, and every invite link would be answered 503."""

    answered: list[Message] = []

    async def unread(message: Message) -> None:
        answered.append(message)
        await asyncio.Event().wait()

    async def many() -> None:
        async with clients(site) as client:
            request = client("").build_request("GET", "/join")
            never = asyncio.Event()

            async def receive() -> Message:
                await never.wait()
                return {"type": "http.disconnect"}

            scope: dict[str, Any] = {"type": "http", "http_version": "1.1", "method": "GET", "scheme": "http"}
            scope |= {"path": "/join", "raw_path": b"/join", "query_string": b""}
            scope |= {"headers": request.headers.raw, "client": ("::1", 1)}
            n = admission.STRANGERS[0] + 3
            asked = [asyncio.create_task(site.app({**scope}, receive, unread)) for _ in range(n)]
            await turns_until(lambda: len(answered) == n)
            assert not any(one.done() for one in asked)
            joined = await client("").post("/join", data={"token": site.token("ben")})
            assert joined.status_code == 303
            for one in asked:
                one.cancel()

    run(many())


# Waits for the lock are short, and whoever reads does not wait at all


@pytest.fixture
def impatient(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A study that is served, with less patience, so that the tests are quick."""
    monkeypatch.setattr(store, "SHARED_PATIENCE_S", PATIENCE_S)
    site.study.share()
    return site


@pytest.fixture
def writers(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows by each that begins to write."""
    begun: list[object] = []
    write = store.Store.write

    def noted(self: store.Store, *given: Any, **options: Any) -> Any:
        begun.append(given)
        return write(self, *given, **options)

    monkeypatch.setattr(store.Store, "write", noted)
    return begun


def test_while_another_program_writes_answers_are_put_off_in_time_and_nobody_else_waits(
    impatient: Site, writers: list[object]
) -> None:
    async def work() -> None:
        async with clients(impatient) as client:
            ana, ben = client("ana"), client("ben")
            sent = answer_to(await ana.get("/api/next"), "put-off")
            await ben.get("/annotate")  # the first time takes longer
            writers.clear()
            with locked(impatient):
                answers = [asyncio.create_task(ana.post("/api/judgements", json=sent)) for _ in range(4)]
                answers.append(asyncio.create_task(ben.put("/api/settings", json={"blurred": True})))
                await turns_until(writers.__len__)
                for path in ("/api/next", "/api/progress", "/annotate"):
                    status, took_s = await timed(ben.get(path))
                    assert (status, took_s < PATIENCE_S) == (200, True), path
                begun = time.monotonic()
                told = await asyncio.gather(*answers)
                assert time.monotonic() - begun < 3 * PATIENCE_S
                assert {one.status_code for one in told} == {503}
                assert all(int(one.headers["retry-after"]) > 0 for one in told)
            assert (await ana.post("/api/judgements", json=sent)).status_code == 200

    run(work())
    assert len(impatient.study.grid().labels()) == 1


@pytest.mark.slow
def test_while_another_program_writes_strangers_who_guess_hold_up_nobody_and_learn_nothing(
    impatient: Site, writers: list[object]
) -> None:
    guess = {"Authorization": "Bearer not-a-token"}

    async def work() -> None:
        async with clients(impatient) as client:
            ben, stranger = client("ben"), client("")
            await ben.get("/annotate")  # the first time takes longer
            writers.clear()
            with locked(impatient):
                guesses = [asyncio.create_task(stranger.get("/api/me", headers=guess)) for _ in range(15)]
                guesses += [asyncio.create_task(stranger.post("/join", data={"token": "x"})) for _ in range(15)]
                large = asyncio.create_task(stranger.put("/api/settings", headers=guess, content=b"x" * 9_000))
                await turns_until(writers.__len__)
                for path in ("/api/next", "/api/progress", "/annotate"):
                    status, took_s = await timed(ben.get(path))
                    assert (status, took_s < PATIENCE_S) == (200, True), path
                told = await asyncio.gather(*guesses)
                assert {one.status_code for one in told} == {429}
                assert {one.headers["retry-after"] for one in told} == {str(RETRY_S)}
                assert (await large).status_code == 401
            assert (await stranger.get("/api/me", headers=guess)).status_code == 401

    run(work())


@pytest.mark.slow
def test_45_connections_of_one_person_who_toggles_topics_hold_up_nobody(
    serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch, writers: list[object]
) -> None:
    monkeypatch.setattr(store, "SHARED_PATIENCE_S", PATIENCE_S)
    site = serve("dealt", Annotate(opt_out=TOPIC))
    site.study.share()
    before = len(open_work(site.study))

    async def work() -> None:
        async with clients(site) as client:
            ana, ben = [client("ana") for _ in range(45)], client("ben")
            (topic,) = site.study.access.topics(1, TOPIC)
            await ben.get("/annotate")
            forms: list[dict[str, str]] = [{}, {"topic": topic.value}]
            toggles = [asyncio.create_task(one.post("/settings", data=forms[at % 2])) for at, one in enumerate(ana)]
            writers.clear()
            with locked(site):
                await turns_until(writers.__len__)
                for path in ("/api/next", "/api/progress", "/annotate", "/api/me"):
                    status, took_s = await timed(ben.get(path))
                    assert (status, took_s < PATIENCE_S) == (200, True), path
                await asyncio.wait(toggles, timeout=PATIENCE_S)
            statuses = [one.status_code for one in await asyncio.gather(*toggles)]
            assert set(statuses) <= {303, 503}
            assert statuses.count(503) >= 45 - admission.MOST_OF_ONE

    run(work())
    assert len(open_work(site.study)) <= before
