"""Encoding on a cluster: in parts that are kept as they are done, so that nothing is encoded twice."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLES

from fcpair.errors import ClusterError, InputError, ModelError
from fcpair.models import cluster as module
from fcpair.models.cache import folder_of, read_parts
from fcpair.models.cluster import _load, encode_on_cluster
from fcpair.models.encode import encode
from fcpair.models.model_files import Model
from fcpair.params import Import, Retrieve, Select
from fcpair.store.corpus import sides
from fcpair.study import Study
from models.cluster.conftest import pids

pytestmark = pytest.mark.torch

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def texts(n: int, seed: int) -> list[str]:
    """Texts of some letters; each has its own."""
    rng = np.random.default_rng(seed)
    return [f"{seed} {at} {' '.join(rng.choice(list(LETTERS), rng.integers(1, 40)))}" for at in range(n)]


def files(model: Model) -> dict[str, int]:
    """The parts that are kept, with what tells whether one was written again."""
    return {path.name: path.stat().st_ino for path in folder_of(model).glob("[!.]*.parquet")}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PART", 50)


def test_vectors_are_those_of_one_machine_which_takes_them_over(
    client: Any, tiny: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    some = texts(230, 1)
    told: list[tuple[int, int]] = []
    places = encode_on_cluster(client, [*some, some[3]], tiny, lambda done, total: told.append((done, total)))
    vectors = _load(places)
    assert sorted(told) == sorted({(done, 230) for done, _ in told})
    assert told[-1] == (230, 230)
    np.testing.assert_array_equal(encode([*some, some[3]], tiny), vectors)
    monkeypatch.setenv("FCPAIR_CACHE", str(tmp_path))
    np.testing.assert_allclose(encode([*some, some[3]], tiny), vectors, atol=1e-6)


def test_what_is_kept_is_not_encoded_again_and_new_texts_are(client: Any, tiny: Model) -> None:
    some = texts(120, 2)
    encode(some[:60], tiny)
    before = files(tiny)
    told: list[tuple[int, int]] = []
    encode_on_cluster(client, some, tiny, lambda done, total: told.append((done, total)))
    assert told[-1] == (60, 60)
    assert files(tiny).items() > before.items()
    after = files(tiny)
    encode_on_cluster(client, some, tiny, lambda done, total: told.append((done, total)))
    assert len(told) == 2
    assert files(tiny) == after


def test_a_run_that_is_stopped_goes_on_where_it_stood(client: Any, tiny: Model) -> None:
    some = texts(600, 3)
    before = files(tiny)

    def stop(done: int, total: int) -> None:
        if done >= 150:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_on_cluster(client, some, tiny, stop)
    client.run(lambda: None)
    stood = files(tiny)
    assert len(stood) >= len(before) + 3
    told: list[tuple[int, int]] = []
    encode_on_cluster(client, some, tiny, lambda done, total: told.append((done, total)))
    assert told[0][1] <= 450
    assert files(tiny).items() >= stood.items()


def test_a_worker_that_is_killed_costs_its_part_again_and_nothing_else(client: Any, tiny: Model) -> None:
    """What was kept when it was killed is not written again; the rest is encoded by those who are left."""
    some = texts(1500, 4)
    before, stood = files(tiny), dict[str, int]()

    def kill(done: int, total: int) -> None:
        if not stood:
            os.kill(pids(client)[0], signal.SIGKILL)
            stood.update(files(tiny))

    places = encode_on_cluster(client, some, tiny, kill)
    assert files(tiny).items() > stood.items()
    np.testing.assert_array_equal(_load(places), encode(some, tiny))
    written = [key for path, keys, _ in read_parts(folder_of(tiny)) if path.name not in before for key in keys]
    assert len(written) == len(set(written)) == 1500


def test_a_worker_with_another_model_by_the_same_name_is_refused(client: Any, tiny: Model) -> None:
    with pytest.raises(ModelError, match=r"a worker has another .*: weights, configuration or libraries differ"):
        encode_on_cluster(client, ["a"], replace(tiny, config="f" * 64))


def test_parts_that_are_not_found_are_missed(tiny: Model, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="the vectors of 1 texts that workers have kept are not found"):
        module.cached_places(["a"], tmp_path)


def test_without_texts_nothing_is_encoded(client: Any, tiny: Model) -> None:
    with pytest.raises(ModelError, match="no texts"):
        encode_on_cluster(client, [], tiny)


# -- The command


def retrieved(path: Path, options: Retrieve) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The neighbours of a study of the example corpus, and what its run counted and was asked for."""
    study = Study.create(path)
    study.import_corpus(Import(EXAMPLES / "corpus.csv", only_language="en"))
    study.grid().select(Select(hs=4, seed=13))
    run = study.grid().retrieve(options)
    with study._store.read() as tx:
        found = [sides.neighbours_of(tx, cn) for cn in sides.text_ids(tx, "column")]
    study.close()
    return [frame.to_dict("records") for frame in found], run.counts, run.params


def test_what_a_cluster_retrieves_is_what_one_machine_retrieves(cache: Path, tiny: Model, tmp_path: Path) -> None:
    """The vectors are encoded by the workers, and the machine alone takes them over."""
    options = Retrieve(3, tiny.name, "onnx", dask="local:1")
    found, counts, params = retrieved(tmp_path / "cluster.db", options)
    assert any(found)
    assert (found, counts) == retrieved(tmp_path / "alone.db", replace(options, dask=None))[:2]
    assert (params["backend"], params["dask"]) == ("onnx", "local:1")


def test_what_is_no_cluster_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="dask is `four`"):
        retrieved(tmp_path / "study.db", Retrieve(dask="four"))
