"""A cluster is reached or started, on this machine alone, and what stands in the way is said in time."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from stages.corpus.test_nearest_neighbours import crowd

from fcpair.errors import ClusterError, InputError, MissingExtraError
from fcpair.models import cluster
from fcpair.models.cluster import connect_cluster, nearest_on_cluster
from fcpair.stages.corpus.retrieve import nearest_to
from models.cluster.conftest import kept, pids

ELSEWHERE = """
import json, sys
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(
        n_workers=int(sys.argv[1]), threads_per_worker=1, processes=False, protocol="tcp://", host="127.0.0.1",
        dashboard_address="127.0.0.1:0", silence_logs=50,
    )
    print(json.dumps(cluster.scheduler_address), flush=True)
    sys.stdin.read()  # until whoever started it has ended
"""


@pytest.fixture
def elsewhere() -> Iterator[Any]:
    """Starts a scheduler with some workers as a process of its own; gives its address and the process."""
    running: list[subprocess.Popen[str]] = []

    def start(n_workers: int) -> tuple[str, subprocess.Popen[str]]:
        process = subprocess.Popen(
            [sys.executable, "-c", ELSEWHERE, str(n_workers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        running.append(process)
        assert process.stdout
        return json.loads(process.stdout.readline()), process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ANSWERS_WITHIN_S", 1)
    monkeypatch.setitem(cluster._SETTINGS, "distributed.comm.timeouts.connect", 1)


@pytest.mark.parametrize("where", ["local", "local:", "local:0", "local:-1", "local:two", "node1", "", "tcp://node1"])
def test_what_is_no_cluster_is_refused(where: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected local:N for N processes on this machine, or the address"):
        connect_cluster(where, tmp_path).__enter__()


def test_without_the_extra_it_is_said_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"^`--dask` needs distributed; .*fcpair\[cluster\]"):
        connect_cluster("local:1", tmp_path).__enter__()


@pytest.mark.usefixtures("impatient")
def test_an_address_that_does_not_answer_is_given_up(tmp_path: Path) -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"no Dask scheduler answers at {address} within 1 s"):
            connect_cluster(address, tmp_path).__enter__()


@pytest.mark.usefixtures("impatient")
def test_a_cluster_without_workers_is_given_up(tmp_path: Path, elsewhere: Any) -> None:
    address, _ = elsewhere(0)
    with pytest.raises(ClusterError, match=r"has no worker; start one with `dask worker tcp://"):
        connect_cluster(address, tmp_path).__enter__()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    no_client: Any = None
    with pytest.raises(ClusterError, match=r"vectors cannot be kept in .*; set FCPAIR_CACHE"):
        cluster._check_folder(no_client, tmp_path / "file" / "folder")


def test_workers_that_do_not_see_the_folder_are_named(tmp_path: Path) -> None:
    class Blind:
        def run(self, *_: Any) -> dict[str, bool]:
            return {"tcp://node1:1": False, "tcp://node2:1": True}

    blind: Any = Blind()

    with pytest.raises(ClusterError, match="1 workers, such as tcp://node1:1, do not see the folder"):
        cluster._check_folder(blind, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_local_cluster_listens_on_this_machine_alone_and_ends_with_its_block(tmp_path: Path) -> None:
    me = psutil.Process()
    before = {process.pid for process in me.children(recursive=True)}
    with connect_cluster("local:1", tmp_path) as client:
        assert client.run(os.environ.get, "OMP_NUM_THREADS").popitem()[1] == "1"
        assert client.run(os.environ.get, "MALLOC_TRIM_THRESHOLD_").popitem()[1] is None
        (worker,) = pids(client)
        there = [me, *(process for process in me.children(recursive=True) if process.pid not in before)]
        hosts = {one.laddr.ip for process in there for one in process.net_connections("inet") if one.status == "LISTEN"}
        assert hosts == {"127.0.0.1"}
    assert not psutil.pid_exists(worker)


@pytest.mark.usefixtures("impatient")
def test_a_cluster_elsewhere_works_and_when_it_is_lost_that_is_said(
    tmp_path: Path, elsewhere: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "SOURCES_A_BLOCK", 10)
    address, process = elsewhere(1)
    vectors, sources = crowd(300, 20, 1e-7, 1), np.arange(300)
    places = kept(tmp_path, vectors, [100])
    with connect_cluster(address, tmp_path) as client:
        np.testing.assert_array_equal(
            nearest_on_cluster(client, places, sources, 3)[0], nearest_to(vectors, sources, 3)[0]
        )
    with (
        pytest.raises(ClusterError, match=f"the cluster {address} was lost; what was encoded is kept"),
        connect_cluster(address, tmp_path) as client,
    ):
        nearest_on_cluster(client, places, sources, 4, progress=lambda *_: os.kill(process.pid, signal.SIGKILL))
