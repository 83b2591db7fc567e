"""What `connections.py` uses of uvicorn's protocol, which uvicorn promises nobody, is still what it was written for."""

from __future__ import annotations

import ast
import asyncio
import inspect
import logging
from collections.abc import Iterator

import pytest
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from fcpair.web.server.connections import LimitedProtocol

EXTENDED = {  # methods that call uvicorn's own, and what those take
    "__init__": ["config", "server_state", "app_state", "_loop"],
    "connection_made": ["transport"],
    "connection_lost": ["exc"],
    "data_received": ["data"],
    "on_headers_complete": [],
    "on_body": ["body"],
    "on_response_complete": [],
    "send_400_response": ["msg"],
    "shutdown": [],
    "pause_writing": [],
    "resume_writing": [],
}
OF_A_CONNECTION = {"cycle", "headers", "logger", "loop", "parser", "pipeline", "scope", "transport"}
OF_A_CYCLE = {"more_body", "response_complete"}


@pytest.fixture
def connection() -> Iterator[HttpToolsProtocol]:
    loop = asyncio.new_event_loop()
    yield HttpToolsProtocol(
        Config(lambda _scope, _receive, _send: None, lifespan="off", log_config=None), ServerState(), {}, loop
    )
    loop.close()


def attributes_of(owner: str) -> set[str]:
    """The attributes of this expression that our protocol names."""
    tree = ast.parse(inspect.getsource(LimitedProtocol))
    named = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in named if ast.unparse(node.value) == owner}


def test_all_that_we_use_is_listed_here(connection: HttpToolsProtocol) -> None:
    assert attributes_of("super()") == EXTENDED.keys()
    assert attributes_of("self") & vars(connection).keys() == OF_A_CONNECTION
    assert attributes_of("self.cycle") == OF_A_CYCLE


@pytest.mark.parametrize("name", EXTENDED)
def test_a_method_of_uvicorn_takes_what_it_took(name: str) -> None:
    assert list(inspect.signature(vars(HttpToolsProtocol)[name]).parameters)[1:] == EXTENDED[name]


def test_a_connection_of_uvicorn_has_what_it_had(connection: HttpToolsProtocol) -> None:
    assert vars(connection).keys() >= OF_A_CONNECTION


def test_a_cycle_of_uvicorn_begins_as_it_did(connection: HttpToolsProtocol) -> None:
    logger = logging.getLogger("nobody")
    names = inspect.signature(RequestResponseCycle).parameters
    cycle = RequestResponseCycle(**dict.fromkeys(names, logger))  # type: ignore[arg-type]
    assert (cycle.more_body, cycle.response_complete) == (True, False)
