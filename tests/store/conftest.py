"""The database of the store's tests comes from here alone, so that a second backend means a second parameter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.params import Setup
from fcpair.steps import init
from fcpair.store import Store, Tx


def first_rows(tx: Tx) -> None:
    init.fill(tx, Setup(title="A study"), "")


@pytest.fixture(scope="session")
def make_store() -> Callable[[Path], Store]:
    return lambda folder: Store.create(folder / "store.db", first_rows)


@pytest.fixture
def store(make_store: Callable[[Path], Store], tmp_path: Path) -> Store:
    return make_store(tmp_path)


@pytest.fixture(scope="module")
def lasting_store(make_store: Callable[[Path], Store], tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One store for many tests, each of which must roll back what it writes."""
    return make_store(tmp_path_factory.mktemp("store"))
