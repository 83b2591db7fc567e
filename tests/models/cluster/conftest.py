"""One cluster of two processes for all tests of a module, a small model, and vectors that no model has made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fcpair.models.cache import key_of, write_part
from fcpair.models.cluster import VectorPlaces, connect_cluster
from fcpair.models.model_files import Model, resolve
from models.tiny_cross import save_tiny


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cache folder of a module, which its workers share."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cluster")
        patch.setenv("FCPAIR_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="module")
def client(cache: Path) -> Iterator[Any]:
    with connect_cluster("local:2", cache) as client:
        yield client


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A BERT of one layer, whose tokens' mean is the vector, as ONNX Runtime runs it: workers need no torch."""
    folder = tmp_path_factory.mktemp("model")
    save_tiny(folder, head=False)
    return resolve(str(folder), backend="onnx")


def kept(folder: Path, vectors: NDArray[np.float32], cuts: list[int]) -> VectorPlaces:
    """The vectors written as parts that begin at the cuts, and where each is."""
    bounds = sorted({0, len(vectors), *(cut for cut in cuts if cut < len(vectors))})
    pairs = list(pairwise(bounds))
    paths = [
        write_part(folder, [key_of(str(at)) for at in range(start, stop)], vectors[start:stop]) for start, stop in pairs
    ]
    part = np.concatenate([np.full(stop - start, at) for at, (start, stop) in enumerate(pairs)])
    row = np.concatenate([np.arange(stop - start) for start, stop in pairs])
    return VectorPlaces(paths, part, row)


def pids(client: Any) -> list[int]:
    return list(client.run(os.getpid).values())
