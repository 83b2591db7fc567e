"""Neighbours found on a cluster are those found on one machine, however the work is cut, ties included."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stages.corpus.test_nearest_neighbours import NOISES, crowd

from fcpair.models import cluster as module
from fcpair.models.cluster import nearest_on_cluster
from fcpair.stages.corpus.nearest_neighbours import Neighbours
from fcpair.stages.corpus.retrieve import nearest_to
from models.cluster.conftest import kept, pids


def same(found: Neighbours, expected: Neighbours) -> None:
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_are_those_of_one_machine(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """With duplicates and near ties, parts and blocks of any size, and a tree of any width.

    Drawn without Hypothesis, which the threads of a Dask client disturb: they draw random numbers as well.
    """
    rng = np.random.default_rng(seed)
    n, k, noise = int(rng.integers(1, 50)), int(rng.integers(1, 10)), float(rng.choice(NOISES))
    for name, size in zip(
        ("SOURCES_A_BLOCK", "TEXTS_A_BLOCK", "FAN_IN"), rng.integers([5, 3, 2], [60, 60, 5]).tolist(), strict=True
    ):
        monkeypatch.setattr(module, name, size)
    vectors, sources = crowd(n, 4, noise, seed), rng.permutation(n)[: 1 + n // 2]
    places = kept(tmp_path, vectors, rng.integers(1, 50, 3).tolist())
    same(nearest_on_cluster(client, places, sources, k), nearest_to(vectors, sources, k))


def test_a_worker_that_is_killed_while_texts_are_compared_changes_nothing(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its blocks are read and compared again by the other one, and by the process that takes its place."""
    monkeypatch.setattr(module, "SOURCES_A_BLOCK", 40)
    monkeypatch.setattr(module, "TEXTS_A_BLOCK", 300)
    vectors, sources = crowd(3000, 900, 1e-7, 1), np.arange(0, 3000, 2)
    told: list[int] = []

    def kill(done: int, total: int) -> None:
        told.append(done)
        if len(told) in (2, 20):
            os.kill(pids(client)[0], signal.SIGKILL)

    same(
        nearest_on_cluster(client, kept(tmp_path, vectors, [1000]), sources, 5, progress=kill),
        nearest_to(vectors, sources, 5),
    )
    assert len(told) == 38
    assert told[-1] == 1500
