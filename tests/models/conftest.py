"""A service on this machine, set in the environment, with a cache of the test's own and waits that take no time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fcpair.models import service
from models.served import KEY, Served
from models.tiny_generators import save_gpt2, save_t5


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where answers are kept in this test."""
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "answers"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were to be waited between attempts."""
    waited: list[float] = []
    monkeypatch.setattr(service, "sleep", waited.append)
    return waited


@pytest.fixture
def served(answers: Path, waits: list[float], monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    running = Served()
    monkeypatch.setenv("OPENAI_BASE_URL", running.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def t5(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_t5(tmp_path_factory.mktemp("t5"))


@pytest.fixture(scope="session")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_gpt2(tmp_path_factory.mktemp("gpt2"))
