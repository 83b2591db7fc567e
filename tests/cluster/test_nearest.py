"""Neighbours found on a cluster are those found on one machine, however the work is cut, ties included."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stages.test_nearest import crowd, noises

from cluster.conftest import kept, pids
from fcpair.cluster import nearest as module
from fcpair.cluster.nearest import nearest
from fcpair.stages.nearest import Found
from fcpair.stages.retrieve import nearest_to


def same(found: Found, expected: Found) -> None:
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(1, 50),
    noise=noises,
    k=st.integers(1, 9),
    cuts=st.lists(st.integers(1, 50), max_size=3),
    sizes=st.tuples(st.integers(5, 60), st.integers(3, 60), st.integers(2, 4)),
    seed=st.integers(0, 99),
)
def test_neighbours_are_those_of_one_machine(
    client: Any, cache: Path, n: int, noise: float, k: int, cuts: list[int], sizes: tuple[int, int, int], seed: int
) -> None:
    """With duplicates and near ties, parts and blocks of any size, and a tree of any width."""
    vectors = crowd(n, 4, noise, seed)
    sources = np.random.default_rng(seed).permutation(n)[: 1 + n // 2]
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory(dir=cache) as folder:
        for name, size in zip(("SOURCES", "TEXTS", "FAN_IN"), sizes, strict=True):
            patch.setattr(module, name, size)
        found = nearest(client, kept(Path(folder), vectors, cuts), sources, k)
    same(found, nearest_to(vectors, sources, k))


def test_a_worker_that_is_killed_while_texts_are_compared_changes_nothing(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its blocks are read and compared again by the other one, and by the process that takes its place."""
    monkeypatch.setattr(module, "SOURCES", 40)
    monkeypatch.setattr(module, "TEXTS", 300)
    vectors, sources = crowd(3000, 900, 1e-7, 1), np.arange(0, 3000, 2)
    told: list[int] = []

    def kill(done: int, total: int) -> None:
        told.append(done)
        if len(told) in (2, 20):
            os.kill(pids(client)[0], signal.SIGKILL)

    same(nearest(client, kept(tmp_path, vectors, [1000]), sources, 5, progress=kill), nearest_to(vectors, sources, 5))
    assert len(told) == 38
    assert told[-1] == 1500
